//! Caches in one Alembic archive, and grooms alone.

use std::path::Path;

use glam::DMat4;
use hairloom::groom::Groom;
use hairloom::simulate::{BodyView, Simulation};

use super::error::AlembicError;
use super::names;
use super::read::Archive;
use super::time::TimeSampling;
use super::write::{BodySamples, HairSamples, HairSettings, Writer};
use crate::cache::{CacheError, CacheFrame, layout};
use crate::run;

/// How a groom is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteOptions {
    /// The length of the file's unit [m]: 1 for Blender and Houdini, 0.01 for Maya and Unreal. Points keep their
    /// bits; a transform above the curves makes the unit.
    pub unit: f64,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { unit: 1.0 }
    }
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
    if !(options.unit.is_normal() && options.unit > 0.0) {
        return Err(AlembicError::usage(path, format!("a unit of {} m is no length", options.unit)));
    }
    let mut writer = Writer::create(path)?;
    let unit = options.unit.to_string();
    writer.set_metadata(&[application(), (names::UNIT, &unit)]);
    let settings = HairSettings { sampling: 0, unit: options.unit, widths: true, velocities: false };
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
        Ok(Self::declare(Writer::create(path)?, simulation)?)
    }

    pub(crate) fn resume(path: &Path, simulation: &Simulation, last: u32) -> Result<Self, CacheError> {
        let wrong = |problem: String| CacheError::Resume { path: path.to_owned(), problem };
        let old = Archive::open(path)?;
        let mut cache = Self::declare(Writer::reopen(path, &old)?, simulation)?;
        if !cache.writer.adopt(&old, last + 1)? {
            let problem =
                format!("its hair, its bodies or its frames from 0 to {last} are not those of the scene");
            return Err(wrong(problem));
        }
        Ok(cache)
    }

    /// Adds everything, with what never changes.
    fn declare(mut writer: Writer, simulation: &Simulation) -> Result<Self, AlembicError> {
        let scene = simulation.scene();
        let (rate, run) = (scene.time.fps.to_string(), format!("{:016x}", run::fingerprint(simulation)));
        let description = format!("Hairloom {}", scene.name);
        writer.set_metadata(&[
            application(),
            ("_ai_Description", &description),
            ("FramesPerTimeUnit", &rate),
            (names::UNIT, "1"),
            (names::RUN, &run),
        ]);
        let sampling = writer.add_sampling(TimeSampling::uniform(0.0, 1.0 / scene.time.fps));
        let (widths, velocities) = (scene.output.widths, scene.output.velocities);
        let settings = HairSettings { sampling, unit: 1.0, widths, velocities };
        let hair = writer.add_hair(simulation.groom(), &settings)?;
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
}

impl AlembicFrames {
    /// Begins an archive with frames at `times` [s], with everything of the first that never changes.
    pub(crate) fn create(
        path: &Path,
        first: &CacheFrame,
        times: &[f64],
        fps: f64,
    ) -> Result<Self, AlembicError> {
        let mut writer = Writer::create(path)?;
        let rate = fps.to_string();
        writer.set_metadata(&[application(), ("FramesPerTimeUnit", &rate), (names::UNIT, "1")]);
        let sampling = writer.add_sampling(TimeSampling::of_times(times, fps));
        let velocities = !first.velocities.is_empty();
        let settings = HairSettings { sampling, unit: 1.0, widths: true, velocities };
        let hair = writer.add_hair(&first.groom, &settings)?;
        let views = first.body_views();
        let bodies = views.iter().map(|BodyView { name, mesh, deforms, color, .. }| {
            writer.add_body(name, mesh, color.unwrap_or(layout::BODY_COLOR), *deforms, sampling)
        });
        let bodies = bodies.collect::<Result<_, _>>()?;
        Ok(Self { writer, hair, bodies })
    }

    pub(crate) fn write(&mut self, frame: &CacheFrame) -> Result<(), AlembicError> {
        self.writer.write_hair(&self.hair, &frame.groom.curves.points, &frame.velocities)?;
        for (body, &samples) in frame.bodies.iter().zip(&self.bodies) {
            self.writer.write_body(samples, || DMat4::IDENTITY, || body.mesh.points.clone())?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(), AlembicError> {
        self.writer.publish(true)
    }
}
