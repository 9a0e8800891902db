//! Reading: the container, the archive above it, and the geometry above that.

mod archive;
mod curves;
mod mesh;
mod param;
pub(super) mod reader;
pub(super) mod session;
mod xform;

pub use archive::Archive;

use std::collections::{BTreeMap, BTreeSet};

use glam::{DMat4, Vec3};
use hairloom::body::TriMesh;
use hairloom::groom::Groom;

use self::archive::Schema;
use self::session::{Property, Session};
use super::error::AlembicError;
use super::header::Kind;
use super::names;
use crate::cache::layout;
use crate::grooms::decimal;
use crate::space::{Axis, Space};
use crate::spline;
use crate::stage::{StageMesh, merge, scene_from_file};

/// Samples a second where the file does not say [1/s].
const FILM: f64 = 24.0;

impl Archive {
    /// Whether there are curves.
    pub fn has_curves(&self) -> bool {
        self.of_schema(Schema::Curves).next().is_some()
    }

    /// Whether there are polygon meshes.
    pub fn has_meshes(&self) -> bool {
        self.of_schema(Schema::Mesh).next().is_some()
    }

    /// The length of the file's unit [m]: 1 unless Hairloom wrote another.
    pub fn unit(&self) -> f64 {
        let unit = self.metadata(names::UNIT).and_then(|text| text.parse::<f64>().ok());
        unit.filter(|unit| unit.is_normal() && *unit > 0.0).unwrap_or(1.0)
    }

    /// The unit and axes of the file: metres and y up unless Hairloom wrote others.
    pub(crate) fn space(&self) -> Space {
        let up = if self.metadata(names::UP) == Some("z") { Axis::Z } else { Axis::Y };
        Space { unit: self.unit() as f32, up }
    }

    /// Takes the file for one in this unit and these axes from now on.
    pub(crate) fn place(&mut self, space: Space) {
        self.placement = Some(scene_from_file(decimal(space.unit), space.up));
    }

    /// The unit and axes that the curves' own points are in: those that Hairloom noted, or else those of the file.
    pub(crate) fn points_space(&self) -> Space {
        self.metadata(names::POINTS).and_then(names::noted_space).unwrap_or_else(|| self.space())
    }

    /// Leaves everything in a unit and axes, rather than in metres and y up.
    pub(crate) fn leave_in(&mut self, space: Space) {
        let scene_from_space = scene_from_file(decimal(space.unit), space.up);
        self.placement = Some(scene_from_space.inverse() * scene_from_file(self.unit(), self.space().up));
    }

    /// Metres and y up, from the file's unit and axes.
    fn scene_from_file(&self) -> DMat4 {
        self.placement.unwrap_or_else(|| scene_from_file(self.unit(), self.space().up))
    }

    /// The fingerprint of the run that wrote the archive, if it is known.
    pub(crate) fn fingerprint(&self) -> Option<u64> {
        u64::from_str_radix(self.metadata(names::RUN)?, 16).ok()
    }

    /// Samples a second [1/s]; 24 where the file does not say.
    pub fn per_second(&self) -> f64 {
        // The first sampling, one a second, is in every file and means nothing.
        let rates = self.samplings.iter().skip(1).filter_map(|sampling| sampling.per_second());
        rates.reduce(f64::max).unwrap_or(FILM)
    }

    /// The times at which curves have samples, or their transforms [s].
    pub fn curve_times(&self) -> Result<Vec<f64>, AlembicError> {
        self.times(Schema::Curves)
    }

    /// The widths and attributes of curves that have several samples, by their names in a groom.
    pub(crate) fn changing(&self) -> Result<Vec<String>, AlembicError> {
        let session = Session::new(self);
        let mut found = BTreeSet::new();
        for object in self.of_schema(Schema::Curves) {
            let geometry = session.geometry(object)?;
            let widths = session.property(&geometry, "width").ok().flatten();
            if widths.is_some_and(|widths| widths.samples.count > 1) {
                found.insert("widths".to_owned());
            }
            let Some(params) = session.compound(&geometry, ".arbGeomParams")? else { continue };
            for (index, header) in params.headers.iter().enumerate() {
                let changes = header.kind != Kind::Compound
                    && session.property_at(&params, index)?.is_some_and(|param| param.samples.count > 1);
                if changes {
                    found.insert(match header.name.as_str() {
                        names::WIDTH => "widths".to_owned(),
                        names::COLOR => layout::COLOR.to_owned(),
                        name => name.to_owned(),
                    });
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    /// The times at which meshes have samples, or their transforms [s].
    pub fn mesh_times(&self) -> Result<Vec<f64>, AlembicError> {
        self.times(Schema::Mesh)
    }

    /// All curves at a time [s] as one groom: metres, y up.
    pub fn groom(&self, time: f64) -> Result<Groom, AlembicError> {
        let session = Session::new(self);
        let curves = self.of_schema(Schema::Curves);
        let parts = curves
            .map(|object| session.curves(object, time, self.scene_from_file()))
            .collect::<Result<Vec<_>, _>>()?;
        let pay = |bytes| {
            let problem = "its curves unfold to more than is in proportion to the file";
            session.reader.pay(bytes, 0).map_err(|_| problem.to_owned())
        };
        let laid = spline::lay_all(parts, session.reader.worth(), pay, &self.notes);
        laid.and_then(|parts| merge(parts, pay)).map_err(|problem| self.problem(0, problem))
    }

    /// The velocities of all curves' points at a time [s], one after the other [m/s]; nothing if not all have them.
    pub fn velocities(&self, time: f64) -> Result<Vec<Vec3>, AlembicError> {
        let session = Session::new(self);
        let mut all = Vec::new();
        for object in self.of_schema(Schema::Curves) {
            let Some(velocities) = session.velocities(object, time, self.scene_from_file())? else {
                return Ok(Vec::new());
            };
            all.extend(velocities);
        }
        Ok(all)
    }

    /// All meshes at a time [s].
    pub(crate) fn meshes(&self, time: f64) -> Result<Vec<StageMesh>, AlembicError> {
        let session = Session::new(self);
        self.of_schema(Schema::Mesh)
            .map(|object| session.mesh(object, time, self.scene_from_file()))
            .collect()
    }

    /// All meshes at a time [s], in triangles: metres, y up.
    pub fn triangle_meshes(&self, time: f64) -> Result<Vec<TriMesh>, AlembicError> {
        Ok(self.meshes(time)?.into_iter().map(|mesh| mesh.mesh).collect())
    }

    /// The points of all meshes at a time [s], one after the other [m].
    pub(crate) fn mesh_points(&self, time: f64) -> Result<Vec<Vec3>, AlembicError> {
        let session = Session::new(self);
        let mut points = Vec::new();
        for object in self.of_schema(Schema::Mesh) {
            points.extend(session.points(
                object,
                &session.geometry(object)?,
                time,
                self.scene_from_file(),
            )?);
        }
        Ok(points)
    }

    fn times(&self, schema: Schema) -> Result<Vec<f64>, AlembicError> {
        let session = Session::new(self);
        // For every sampling the most samples that a property has.
        let mut counts = BTreeMap::new();
        let mut note = |property: &Property| {
            let count = counts.entry(property.samples.sampling).or_insert(0);
            *count = property.samples.count.max(*count);
        };
        let mut seen = std::collections::HashSet::new();
        for object in self.of_schema(schema) {
            session.points_of(object, &session.geometry(object)?)?.iter().for_each(&mut note);
            let mut above = self.objects[object as usize].parent;
            while above != 0 && seen.insert(above) {
                if self.objects[above as usize].schema == Schema::Xform {
                    session.xform_samples(above)?.iter().for_each(&mut note);
                }
                above = self.objects[above as usize].parent;
            }
        }
        // A sample that nothing follows is no animation.
        counts.retain(|_, count| *count > 1);
        let mut times = Vec::new();
        for (index, count) in counts {
            let Some(sampling) = self.samplings.get(index as usize) else { continue };
            session.reader.pay(u64::from(count) * 8, 0)?;
            times.extend((0..count).map(|sample| sampling.time(sample)));
        }
        times.sort_by(f64::total_cmp);
        times.dedup_by(|next, time| (*next - *time).abs() < 1e-6);
        Ok(times)
    }
}
