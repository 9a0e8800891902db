//! Caches in one Alembic archive, and grooms alone.

use std::borrow::Cow;
use std::path::Path;

use glam::DMat4;
use hairloom::groom::{Groom, Values};
use hairloom::simulate::{BodyView, Simulation};

use super::error::AlembicError;
use super::names;
use super::read::Archive;
use super::time::TimeSampling;
use super::write::{BodySamples, HairSamples, HairSettings, Writer};
use crate::cache::root_normals::{with_normals, with_root_normals};
use crate::cache::{CacheError, CacheFrame, layout};
use crate::grooms::decimal;
use crate::run;
use crate::space::{Axis, Space};
use crate::stage::scene_from_file;

/// How a groom is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteOptions {
    /// The unit and axes of the file: metres for Blender and Houdini, centimetres for Maya and Unreal.
    pub file: Space,
    /// The unit and axes that the groom is in. Points keep their bits: a transform above the curves makes the file's unit and
    /// axes of them, and the archive's metadata notes what they are in.
    pub points: Space,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { file: Space::SCENE, points: Space::SCENE }
    }
}

impl WriteOptions {
    /// From the groom's points to the file, if they differ.
    fn file_from_points(&self) -> Option<DMat4> {
        let scene = |space: &Space| scene_from_file(decimal(space.unit), space.up);
        (self.points != self.file).then(|| scene(&self.file).inverse() * scene(&self.points))
    }

    /// What the archive's metadata says about the units.
    fn noted(&self) -> Vec<(&'static str, String)> {
        let unit = (names::UNIT, self.file.unit.to_string());
        let up = (self.file.up == Axis::Z).then(|| (names::UP, "z".to_owned()));
        let points = (self.points != self.file).then(|| (names::POINTS, names::space_note(&self.points)));
        [unit].into_iter().chain(up).chain(points).collect()
    }
}

/// Sets what an archive says about itself.
fn describe(writer: &mut Writer, options: &WriteOptions, more: &[(&str, &str)]) {
    let noted = options.noted();
    let noted = noted.iter().map(|(key, value)| (*key, value.as_str()));
    let pairs: Vec<(&str, &str)> =
        [application()].into_iter().chain(noted).chain(more.iter().copied()).collect();
    writer.set_metadata(&pairs);
}

/// Writes a groom: every attribute that it has, and those names that Unreal reads.
pub fn write(path: impl AsRef<Path>, groom: &Groom, options: &WriteOptions) -> Result<(), AlembicError> {
    let path = path.as_ref();
    let complete = groom.curves.offsets.windows(2).all(|pair| pair[0] <= pair[1])
        && groom.curves.offsets.first() == Some(&0)
        && groom.curves.offsets.last().map(|&end| end as usize) == Some(groom.vertices());
    if !complete {
        return Err(AlembicError::usage(path, "the offsets of the groom's curves do not fit its points"));
    }
    if let Some(Space { unit, .. }) = [options.file, options.points].iter().find(|space| !space.is_valid()) {
        return Err(AlembicError::usage(path, format!("a unit of {unit} m is no length")));
    }
    let mut writer = Writer::create(path)?;
    describe(&mut writer, options, &[]);
    let file_from_points = options.file_from_points();
    let settings =
        HairSettings { sampling: 0, file_from_points, widths: true, velocities: false, changing: &[] };
    let hair = writer.add_hair(groom, &settings)?;
    writer.write_hair(&hair, &groom.curves.points, &[])?;
    // What can be made again need not be on the disk before the next thing is done.
    writer.publish(false)
}

/// Reads all curves of an archive, at the first of its samples, as one groom: metres, y up.
pub fn read(path: impl AsRef<Path>) -> Result<Groom, AlembicError> {
    Archive::open(path)?.groom(f64::NEG_INFINITY)
}

fn application() -> (&'static str, &'static str) {
    ("_ai_Application", concat!("Hairloom ", env!("CARGO_PKG_VERSION")))
}

/// Writes an Alembic cache.
#[derive(Debug)]
pub(crate) struct AlembicCache {
    writer: Writer,
    hair: HairSamples,
    bodies: Vec<BodySamples>,
}

impl AlembicCache {
    pub(crate) fn create(path: &Path, simulation: &Simulation) -> Result<Self, CacheError> {
        Ok(Self::declare(Writer::create(path)?, simulation, &with_root_normals(simulation))?)
    }

    pub(crate) fn resume(path: &Path, simulation: &Simulation, last: u32) -> Result<Self, CacheError> {
        let wrong = |problem: String| CacheError::Resume { path: path.to_owned(), problem };
        let old = Archive::open(path)?;
        // Those of the start: by now the bodies are elsewhere.
        let started = old.groom(f64::NEG_INFINITY)?;
        let known =
            simulation.groom().attributes.iter().any(|attribute| attribute.name == layout::ROOT_NORMAL);
        let normals = started.attributes.into_iter().find(|attribute| attribute.name == layout::ROOT_NORMAL);
        let groom = match normals.map(|attribute| attribute.values) {
            Some(Values::Vec3(normals)) if !known => Cow::Owned(with_normals(simulation.groom(), normals)),
            _ => Cow::Borrowed(simulation.groom()),
        };
        let mut cache = Self::declare(Writer::reopen(path, &old)?, simulation, &groom)?;
        if !cache.writer.adopt(&old, last + 1)? {
            let problem =
                format!("its hair, its bodies or its frames from 0 to {last} are not those of the scene");
            return Err(wrong(problem));
        }
        Ok(cache)
    }

    /// Adds everything, with what never changes.
    fn declare(mut writer: Writer, simulation: &Simulation, groom: &Groom) -> Result<Self, AlembicError> {
        let scene = simulation.scene();
        let (rate, run) = (scene.time.fps.to_string(), format!("{:016x}", run::fingerprint(simulation)));
        let description = format!("Hairloom {}", scene.name);
        let more = [("_ai_Description", &*description), ("FramesPerTimeUnit", &rate), (names::RUN, &run)];
        describe(&mut writer, &WriteOptions::default(), &more);
        let sampling = writer.add_sampling(TimeSampling::uniform(0.0, 1.0 / scene.time.fps));
        let (widths, velocities) = (scene.output.widths, scene.output.velocities);
        let settings = HairSettings { sampling, file_from_points: None, widths, velocities, changing: &[] };
        let hair = writer.add_hair(groom, &settings)?;
        let views = if scene.output.bodies { simulation.body_views() } else { Vec::new() };
        let bodies = views.iter().map(|BodyView { name, mesh, deforms, color, .. }| {
            writer.add_body(name, mesh, color.unwrap_or(layout::BODY_COLOR), *deforms, sampling)
        });
        let bodies = bodies.collect::<Result<_, _>>()?;
        Ok(Self { writer, hair, bodies })
    }

    pub(crate) fn write_frame(&mut self, simulation: &Simulation) -> Result<(), CacheError> {
        let (frame, strands) = (simulation.frame(), simulation.strands());
        self.writer.write_hair(&self.hair, &strands.points, &strands.velocities)?;
        for (body, &samples) in self.bodies.iter().enumerate() {
            let pose = || {
                let pose = simulation.body_pose(body, frame);
                DMat4::from_rotation_translation(pose.rotation, pose.translation)
            };
            self.writer.write_body(samples, pose, || simulation.body_points(body, frame))?;
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<(), CacheError> {
        Ok(self.writer.publish(false)?)
    }

    pub(crate) fn finish(mut self) -> Result<(), CacheError> {
        Ok(self.writer.publish(true)?)
    }
}

/// Writes frames that are read from elsewhere.
#[derive(Debug)]
pub(crate) struct AlembicFrames {
    writer: Writer,
    hair: HairSamples,
    bodies: Vec<BodySamples>,
    /// Whether a frame was written.
    begun: bool,
}

impl AlembicFrames {
    /// Begins an archive with frames at `times` [s], with everything of the first but its points; widths and attributes that are named
    /// `changing` get a sample in every frame. Hair is in the space of the
    /// points, bodies in that of the file.
    pub(crate) fn create(
        path: &Path,
        first: &CacheFrame,
        times: &[f64],
        fps: f64,
        options: &WriteOptions,
        changing: &[String],
    ) -> Result<Self, AlembicError> {
        let mut writer = Writer::create(path)?;
        let rate = fps.to_string();
        describe(&mut writer, options, &[("FramesPerTimeUnit", &rate)]);
        let sampling = writer.add_sampling(TimeSampling::of_times(times, fps));
        let velocities = !first.velocities.is_empty();
        let file_from_points = options.file_from_points();
        let settings = HairSettings { sampling, file_from_points, widths: true, velocities, changing };
        let hair = writer.add_hair(&first.groom, &settings)?;
        let views = first.body_views();
        let bodies = views.iter().map(|BodyView { name, mesh, deforms, color, .. }| {
            writer.add_body(name, mesh, color.unwrap_or(layout::BODY_COLOR), *deforms, sampling)
        });
        let bodies = bodies.collect::<Result<_, _>>()?;
        Ok(Self { writer, hair, bodies, begun: false })
    }

    pub(crate) fn write(&mut self, frame: &CacheFrame) -> Result<(), AlembicError> {
        self.writer.write_hair(&self.hair, &frame.groom.curves.points, &frame.velocities)?;
        // Those of the first frame are there from the start.
        if std::mem::replace(&mut self.begun, true) {
            self.writer.write_changing(&self.hair, &frame.groom)?;
        }
        for (body, &samples) in frame.bodies.iter().zip(&self.bodies) {
            self.writer.write_body(samples, || DMat4::IDENTITY, || body.mesh.points.clone())?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(), AlembicError> {
        self.writer.publish(true)
    }
}
