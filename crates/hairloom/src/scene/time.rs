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
    /// How time is cut into the solver's steps.
    #[serde(flatten)]
    pub steps: Steps,
}

/// The steps that a solver is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum Steps {
    /// So many of equal length in each frame: `substeps`.
    #[serde(rename = "substeps")]
    PerFrame(u32),
    /// So many in each second, wherever frames fall [1/s]: `steps_per_second`. Frames between two steps are interpolated, and
    /// motion does not depend on how many frames are written.
    #[serde(rename = "steps_per_second")]
    PerSecond(f64),
}

impl Default for TimeRange {
    fn default() -> Self {
        Self { start: 0.0, frames: 96, fps: 24.0, steps: Steps::PerFrame(1) }
    }
}

impl TimeRange {
    /// Length of one solver step [s].
    pub fn step(&self) -> f64 {
        match self.steps {
            Steps::PerFrame(count) => 1.0 / (self.fps * f64::from(count)),
            Steps::PerSecond(rate) => 1.0 / rate,
        }
    }

    /// How many steps have to be done for a frame, from the start.
    pub fn steps_until(&self, frame: u32) -> u64 {
        match self.steps {
            Steps::PerFrame(count) => u64::from(frame) * u64::from(count),
            // A frame that falls on a step but for rounding does not ask for another one.
            Steps::PerSecond(rate) => {
                (f64::from(frame) * rate / self.fps * (1.0 - 1.0e-14) - 1.0e-9).ceil() as u64
            }
        }
    }

    /// Time after so many steps from the start [s].
    pub fn step_time(&self, steps: u64) -> f64 {
        match self.steps {
            Steps::PerSecond(rate) => self.start + steps as f64 / rate,
            Steps::PerFrame(count) => {
                let (frame, step) = ((steps / u64::from(count)) as u32, (steps % u64::from(count)) as f64);
                let (begin, end) = (self.frame_time(frame), self.frame_time(frame + 1));
                begin + (end - begin) * step / f64::from(count)
            }
        }
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
        let section =
            scene.section("time", &["start", "end", "frames", "fps", "substeps", "steps_per_second"])?;
        let default = Self::default();
        let start = section.or("start", default.start, |field| field.time())?;
        // Bounds keep the step away from 0 and from infinity.
        let fps = section.or("fps", default.fps, |field| field.between(1e-3, 1e6))?;
        section.at_most_one(&["substeps", "steps_per_second"])?;
        let mut steps = default.steps;
        if let Some(field) = section.get("substeps") {
            steps = Steps::PerFrame(field.whole_from_to(1, 10_000)?);
        }
        if let Some(field) = section.get("steps_per_second") {
            steps = Steps::PerSecond(field.between(1e-3, 1e6)?);
        }
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
        Ok(Self { start, frames, fps, steps })
    }
}
