//! Caches from one format to another, a frame at a time.

use std::path::Path;

use glam::{DMat4, Vec3};
use hairloom::groom::{Groom, Values};
use hairloom::simulate::{BodyView, Simulation};

use super::usd_groom::declare_stage;
use super::usd_writer::{
    BodySamples, Samples, body_paths, declare_body, declare_samples, extent, picked, put,
};
use super::{Cache, CacheError, CacheFormat, CacheFrame, CacheWriter, layout};
use crate::BodyMesh;
use crate::alembic::{AlembicFrames, WriteOptions};
use crate::file::FileProblem;
use crate::grooms::{FileGroom, Said, replaced};
use crate::space::Space;
use crate::usd::{AttributeId, Value, Writer};

/// Writes all frames of a cache that was opened in its own space (see [`Cache::open_in_own_space`]) as another cache, USD or
/// Alembic by its ending; `edit` is done to the groom of each frame, which must keep its strands. Only one frame is in memory at
/// a time, and an old file is replaced when all is written. USD keeps the unit and axes, Alembic is in metres and y up, unless
/// others are said; hair keeps its bits there, placed by a transform. A body gives its normals at the roots. Answers how many strands and vertices were written.
pub fn convert_frames(
    cache: &Cache,
    space: Space,
    path: impl AsRef<Path>,
    said: &Said,
    body: Option<&BodyMesh>,
    edit: impl Fn(Groom) -> Result<Groom, String>,
) -> Result<(usize, usize), CacheError> {
    let path = path.as_ref();
    let refused = |problem: String| CacheError::from(FileProblem::Groom(problem).at(path));
    let format = CacheFormat::of_file(path)?;
    let to = said.or(if format == CacheFormat::Alembic { Space::SCENE } else { space });
    if !to.is_valid() {
        return Err(FileProblem::Unit { unit: to.unit }.at(path).into());
    }
    if format == CacheFormat::Alembic && to.unit != 1.0 {
        return Err(refused("animated Alembic caches are written in metres; leave the unit out".into()));
    }
    let hair_space = if format == CacheFormat::Alembic { space } else { to };
    let read = |index: usize| -> Result<CacheFrame, CacheError> {
        let mut frame = cache.frame(index)?;
        // What stays the same is written with the first frame.
        if let Some(body) = body.filter(|_| index == 0) {
            frame.groom = body.with_root_normals(FileGroom { groom: frame.groom, space }).groom;
        }
        let mut frame = frame.in_spaces(space, hair_space, to);
        let vertices = frame.groom.vertices();
        frame.groom = edit(frame.groom).map_err(refused)?;
        if frame.groom.vertices() != vertices {
            frame.velocities.clear();
        }
        Ok(frame)
    };
    let changing = cache.changing()?;
    let mut answer = (0, 0);
    replaced(path, |temporary| {
        let first = read(0)?;
        let mut writer = match format {
            CacheFormat::Alembic => Kind::Alembic(Box::new(AlembicFrames::create(
                temporary,
                &first,
                &cache.times(),
                cache.fps(),
                &WriteOptions { file: to, points: hair_space },
                &changing,
            )?)),
            _ => Kind::Usd(Box::new(UsdFrames::create(temporary, &first, &to, cache, &changing)?)),
        };
        let (offsets, bodies) = (first.groom.curves.offsets.clone(), body_sizes(&first));
        let has_velocities = !first.velocities.is_empty();
        writer.write(&first)?;
        answer = (first.groom.strands(), first.groom.vertices());
        // One frame at a time.
        drop(first);
        for index in 1..cache.frames() {
            let frame = read(index)?;
            let same = frame.groom.curves.offsets == offsets
                && body_sizes(&frame) == bodies
                && frame.velocities.is_empty() != has_velocities;
            if !same {
                return Err(refused(format!(
                    "frame {index} has other strands, bodies or velocities than the first; convert single frames with --frame"
                )));
            }
            writer.write(&frame)?;
        }
        writer.finish()
    })?;
    Ok(answer)
}

/// Writes what a simulation holds now as a cache of one frame; an old file is replaced when all is written.
pub fn write_still(path: impl AsRef<Path>, simulation: &Simulation) -> Result<(), CacheError> {
    replaced(path.as_ref(), |temporary| {
        let mut writer = CacheWriter::create(temporary, simulation)?;
        writer.write_still(simulation)?;
        writer.finish()
    })
}

fn body_sizes(frame: &CacheFrame) -> Vec<usize> {
    frame.bodies.iter().map(|body| body.mesh.points.len()).collect()
}

impl CacheFrame {
    /// The same frame with its hair in one space and its bodies in another.
    fn in_spaces(mut self, from: Space, hair: Space, bodies: Space) -> Self {
        self.groom = FileGroom { groom: self.groom, space: from }.in_space(hair).groom;
        let move_all = |points: &mut [Vec3], to: &Space| {
            if from != *to {
                let convert = from.conversion(*to);
                points.iter_mut().for_each(|point| *point = convert(*point));
            }
        };
        move_all(&mut self.velocities, &hair);
        self.bodies.iter_mut().for_each(|body| move_all(&mut body.mesh.points, &bodies));
        self
    }

    /// Its bodies as things that deform.
    pub(crate) fn body_views(&self) -> Vec<BodyView> {
        let view = |body: &super::CacheBody| BodyView {
            name: body.name.clone(),
            mesh: body.mesh.clone(),
            deforms: true,
            color: body.color,
            point_colors: body.point_colors.iter().map(|&color| Vec3::from_array(color)).collect(),
        };
        self.bodies.iter().map(view).collect()
    }
}

enum Kind {
    Usd(Box<UsdFrames>),
    Alembic(Box<AlembicFrames>),
}

impl Kind {
    fn write(&mut self, frame: &CacheFrame) -> Result<(), CacheError> {
        match self {
            Self::Usd(frames) => frames.write(frame),
            Self::Alembic(frames) => Ok(frames.write(frame)?),
        }
    }

    fn finish(self) -> Result<(), CacheError> {
        match self {
            Self::Usd(frames) => Ok(frames.writer.finish()?),
            Self::Alembic(frames) => Ok(frames.finish()?),
        }
    }
}

struct UsdFrames {
    writer: Writer,
    samples: Samples,
    radius: f32,
    /// Whether there is more than one frame.
    moves: bool,
    /// What the hair has at each frame besides its points: the name in the groom.
    changing: Vec<(String, AttributeId)>,
}

impl UsdFrames {
    fn create(
        path: &Path,
        first: &CacheFrame,
        space: &Space,
        cache: &Cache,
        changing: &[String],
    ) -> Result<Self, CacheError> {
        let (fps, moves) = (cache.fps(), cache.frames() > 1);
        let mut writer = Writer::create(path)?;
        declare_stage(&mut writer, space, "A cache, written by Hairloom")?;
        if moves {
            writer.set_metadata("timeCodesPerSecond", &Value::Double(fps))?;
            writer.set_metadata("framesPerSecond", &Value::Double(fps))?;
            writer.set_metadata("startTimeCode", &Value::Double(time_code(first)))?;
        }
        let mut samples = declare_samples(&mut writer, &first.groom, true, !first.velocities.is_empty())?;
        let views = first.body_views();
        if !views.is_empty() {
            writer.define(layout::BODIES, "Scope")?;
        }
        for (view, path) in views.iter().zip(body_paths(&views)) {
            samples.bodies.push(declare_body(&mut writer, view, &path)?);
        }
        let radius = 0.5 * first.groom.widths.iter().copied().fold(0.0, f32::max);
        let sampled = |name: &String| {
            let place = if name == "widths" { name.clone() } else { format!("primvars:{name}") };
            Some((name.clone(), writer.attribute(format!("{}.{place}", layout::HAIR))?))
        };
        let changing = changing.iter().filter_map(sampled).collect();
        Ok(Self { writer, samples, radius, moves, changing })
    }

    /// Writes widths and attributes at a time code.
    fn write_changing(&mut self, groom: &Groom, time: f64) -> Result<(), CacheError> {
        for (name, attribute) in &self.changing {
            if name == "widths" {
                self.writer.write_sample(*attribute, time, &groom.widths[..])?;
                continue;
            }
            let found = groom.attributes.iter().find(|one| one.name == *name);
            match found.map(|attribute| &attribute.values) {
                Some(Values::Float(values)) => self.writer.write_sample(*attribute, time, &values[..])?,
                Some(Values::Vec3(values)) => self.writer.write_sample(*attribute, time, &values[..])?,
                Some(Values::Vec2(values)) => {
                    let values = values.iter().map(|pair| pair.to_array()).collect();
                    self.writer.write_sample(*attribute, time, &Value::Vec2fArray(values))?;
                }
                Some(Values::Int(values)) => {
                    self.writer.write_sample(*attribute, time, &Value::IntArray(values.clone()))?;
                }
                None => {}
            }
        }
        Ok(())
    }

    fn write(&mut self, frame: &CacheFrame) -> Result<(), CacheError> {
        let (time, points) = (self.moves.then(|| time_code(frame)), &frame.groom.curves.points);
        if let Some(time) = time {
            self.writer.set_metadata("endTimeCode", &Value::Double(time))?;
            self.write_changing(&frame.groom, time)?;
        }
        let Self { writer, samples, radius, .. } = self;
        put(writer, samples.points, time, &points[..])?;
        put(writer, samples.extent, time, &extent(points, *radius))?;
        if let Some(velocities) = samples.velocities {
            put(writer, velocities, time, &frame.velocities[..])?;
        }
        if let Some(guides) = &samples.guides {
            let points = picked(points, &guides.vertices);
            put(writer, guides.points, time, &points[..])?;
            put(writer, guides.extent, time, &extent(&points, *radius))?;
        }
        for (body, samples) in frame.bodies.iter().zip(&samples.bodies) {
            match *samples {
                BodySamples::Deforming { points, extent: bounds } => {
                    put(writer, points, time, &body.mesh.points[..])?;
                    put(writer, bounds, time, &extent(&body.mesh.points, 0.0))?;
                }
                BodySamples::Rigid { transform } => {
                    let still = Value::Matrix4d(DMat4::IDENTITY.to_cols_array_2d());
                    put(writer, transform, time, &still)?;
                }
            }
        }
        Ok(())
    }
}

/// The time code of a frame: a whole one where it is only rounding away from it.
fn time_code(frame: &CacheFrame) -> f64 {
    let whole = frame.time_code.round();
    if (frame.time_code - whole).abs() < 1e-6 { whole } else { frame.time_code }
}
