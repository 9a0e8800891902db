//! What a rope did: its frames, and the measures taken from them.

use glam::DVec3;

use super::params::Params;
use crate::LabError;

/// A rope at one time.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) positions: Vec<DVec3>,
    pub(super) velocities: Vec<DVec3>,
}

/// Where a hand is at each time.
pub(super) type Path<'a> = &'a dyn Fn(f64) -> DVec3;

/// A rope that can be stepped, held at its first particle.
pub(super) trait Rig {
    /// One step that ends at `time`, with the first particle led along `path`.
    fn step(&mut self, path: Path<'_>, time: f64) -> Result<(), LabError>;
    /// How it is now.
    fn frame(&self) -> Frame;
}

/// The frames of a run, one per time step, the start included.
#[derive(Debug, Clone)]
pub(super) struct Track {
    pub(super) dt: f64,
    pub(super) frames: Vec<Frame>,
}

/// Runs a rig for so many steps.
pub(super) fn record(rig: &mut dyn Rig, steps: usize, dt: f64, path: Path<'_>) -> Result<Track, LabError> {
    let mut frames = vec![rig.frame()];
    for step in 1..=steps {
        rig.step(path, step as f64 * dt)?;
        frames.push(rig.frame());
    }
    Ok(Track { dt, frames })
}

impl Track {
    /// The frame nearest to a time.
    pub(super) fn at(&self, time: f64) -> &Frame {
        let index = (time / self.dt).round().max(0.0) as usize;
        &self.frames[index.min(self.frames.len() - 1)]
    }

    /// Each frame with its time.
    pub(super) fn timed(&self) -> impl Iterator<Item = (f64, &Frame)> {
        self.frames.iter().enumerate().map(|(index, frame)| (index as f64 * self.dt, frame))
    }

    /// Largest relative elongation of any segment in any frame.
    pub(super) fn elongation(&self, segment: f64) -> f64 {
        let pairs = self.frames.iter().flat_map(|frame| frame.positions.windows(2));
        pairs.map(|p| p[1].distance(p[0]) / segment - 1.0).fold(0.0, worst)
    }

    /// Largest relative length error of any segment in any frame, too short or too long.
    pub(super) fn stretch(&self, segment: f64) -> f64 {
        self.frames.iter().map(|frame| length_error(&frame.positions, segment)).fold(0.0, worst)
    }

    /// Root mean square distance to the particles of another run, over all frames [m].
    pub(super) fn distance_to(&self, other: &Track) -> f64 {
        let mut sum = 0.0;
        let mut count = 0.0;
        for (frame, reference) in self.frames.iter().zip(&other.frames) {
            for (a, b) in frame.positions.iter().zip(&reference.positions) {
                sum += a.distance_squared(*b);
                count += 1.0;
            }
        }
        f64::sqrt(sum / count)
    }

    /// Root mean square distance of the tip to that of another run [m].
    pub(super) fn tip_distance_to(&self, other: &Track) -> f64 {
        let tip = |frame: &Frame| frame.positions.last().copied().unwrap_or_default();
        let squares = self.frames.iter().zip(&other.frames).map(|(a, b)| tip(a).distance_squared(tip(b)));
        (squares.sum::<f64>() / self.frames.len() as f64).sqrt()
    }

    /// The beginning of this run.
    pub(super) fn until(&self, seconds: f64) -> Track {
        let count = (seconds / self.dt).round().max(0.0) as usize + 1;
        Track { dt: self.dt, frames: self.frames.iter().take(count).cloned().collect() }
    }
}

impl Frame {
    /// Centre of mass, without the held particle [m].
    pub(super) fn centre(&self) -> DVec3 {
        self.positions.iter().skip(1).sum::<DVec3>() / (self.positions.len() - 1) as f64
    }

    /// Kinetic energy of each particle [J].
    pub(super) fn kinetic(&self, params: &Params) -> Vec<f64> {
        self.velocities.iter().map(|v| 0.5 * params.mass * v.length_squared()).collect()
    }

    /// Energy as a share of what the rope has more when it starts level than when it hangs.
    pub(super) fn energy_share(&self, params: &Params) -> f64 {
        let weight = params.mass * params.gravity;
        let kinetic: f64 = self.kinetic(params).iter().sum();
        let potential: f64 = self.positions.iter().map(|p| p.y * weight).sum();
        let hanging = -weight * params.segment * (params.particles * (params.particles - 1)) as f64 / 2.0;
        (kinetic + potential - hanging) / -hanging
    }

    /// Angles between neighbouring segments, π where they are straight [rad].
    pub(super) fn angles(&self) -> Vec<f64> {
        self.positions.windows(3).map(|p| (p[0] - p[1]).angle_between(p[2] - p[1])).collect()
    }
}

/// Largest relative length error of any segment.
pub(super) fn length_error(points: &[DVec3], segment: f64) -> f64 {
    points.windows(2).map(|p| (p[1].distance(p[0]) / segment - 1.0).abs()).fold(0.0, worst)
}

/// The larger of two, where no number is worse than any.
pub(super) fn worst(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}
