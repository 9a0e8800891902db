use serde::Serialize;

use super::error::SceneError;
use super::parse::Section;

/// The time that is simulated: `[time]`.
///
/// Frame 0 is the start; frame `frames` is the last one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimeRange {
    /// Time of frame 0 [s].
    pub start: f64,
    /// How many frames follow frame 0. A scene may give `end` [s] instead.
    pub frames: u32,
    /// Frames a second [1/s].
    pub fps: f64,
    /// Solver steps per frame.
    pub substeps: u32,
}

impl Default for TimeRange {
    fn default() -> Self {
        Self { start: 0.0, frames: 96, fps: 24.0, substeps: 1 }
    }
}

impl TimeRange {
    /// Length of one solver step [s].
    pub fn step(&self) -> f64 {
        1.0 / (self.fps * f64::from(self.substeps))
    }

    /// Time of a frame [s].
    pub fn frame_time(&self, frame: u32) -> f64 {
        self.start + f64::from(frame) / self.fps
    }

    /// Time of the last frame [s].
    pub fn end(&self) -> f64 {
        self.frame_time(self.frames)
    }

    pub(super) fn read(scene: &Section<'_>) -> Result<Self, SceneError> {
        let section = scene.section("time", &["start", "end", "frames", "fps", "substeps"])?;
        let default = Self::default();
        let start = section.or("start", default.start, |field| field.time())?;
        // Bounds keep the step away from 0 and from infinity.
        let fps = section.or("fps", default.fps, |field| field.between(1e-3, 1e6))?;
        let substeps = section.or("substeps", default.substeps, |field| field.whole_from_to(1, 10_000))?;
        section.at_most_one(&["end", "frames"])?;
        let mut frames = section.or("frames", default.frames, |field| field.whole(1))?;
        if let Some(field) = section.get("end") {
            let end = field.clone().time()?;
            let count = ((end - start) * fps).round();
            if !(1.0..=f64::from(u32::MAX)).contains(&count) {
                let expected = format!("a time at least one frame after the start ({start} s)");
                return Err(field.unexpected(&expected));
            }
            frames = count as u32;
        }
        Ok(Self { start, frames, fps, substeps })
    }
}
