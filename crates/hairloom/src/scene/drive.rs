use glam::DVec3;

use super::attachment::{Attachment, Attachments};
use super::wind::Wind;
use crate::body::{Bodies, Obstacles};
use crate::math::Pose;

/// A spring that pulls one vertex towards a point: what a hand does while grooming.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Handle {
    /// Index of the strand.
    pub strand: u32,
    /// Vertex along the strand.
    pub vertex: u32,
    /// Where the spring pulls to, in the world [m].
    pub target: DVec3,
    /// Acceleration per distance [1/s²].
    pub stiffness: f64,
}

/// What the world does to the hair during one step, or during a part of one.
///
/// Times within the step are fractions: 0 at its start, 1 at its end.
#[derive(Debug, Clone, Copy)]
pub struct Drive<'a> {
    /// Bodies at the start and the end of the whole step.
    pub bodies: &'a Bodies,
    /// Which vertices are held, and where.
    pub attachments: &'a Attachments,
    /// Springs that pull at vertices.
    pub handles: &'a [Handle],
    /// Acceleration of gravity [m/s²].
    pub gravity: DVec3,
    /// Wind.
    pub wind: &'a Wind,
    /// Scene time at the start of the whole step [s].
    pub time: f64,
    /// Duration of the whole step [s].
    pub duration: f64,
    /// The part of the whole step that this drive covers, as fractions of it.
    part: (f64, f64),
}

impl<'a> Drive<'a> {
    /// A drive without handles, over a whole step.
    pub fn new(bodies: &'a Bodies, attachments: &'a Attachments, wind: &'a Wind) -> Self {
        Self {
            bodies,
            attachments,
            handles: &[],
            gravity: DVec3::new(0.0, -9.81, 0.0),
            wind,
            time: 0.0,
            duration: 0.0,
            part: (0.0, 1.0),
        }
    }

    /// The part of this drive from fraction `a` to fraction `b` of it.
    pub fn sub(&self, a: f64, b: f64) -> Self {
        Self { part: (self.whole(a), self.whole(b)), ..*self }
    }

    /// The fraction of the whole step at fraction `t` of this part.
    fn whole(&self, t: f64) -> f64 {
        // A whole part must give its ends exactly, so that one step equals a step cut in one piece.
        if t >= 1.0 { self.part.1 } else { self.part.0 + t * (self.part.1 - self.part.0) }
    }

    /// Whether a body jumps at the start of this part: hair that it holds goes along rigidly, without getting speed from
    /// it. Bodies jump at the start of the whole step, so no later part jumps again.
    pub fn jumps(&self, body: usize) -> bool {
        self.part.0 == 0.0 && self.bodies.jumps(body)
    }

    /// Scene time at fraction `t` [s].
    pub fn time_at(&self, t: f64) -> f64 {
        self.time + self.whole(t) * self.duration
    }

    /// The pose of a body at fraction `t`.
    pub fn pose(&self, body: usize, t: f64) -> Pose {
        self.bodies.pose(body, self.whole(t))
    }

    /// The frame of an attachment's seat at fraction `t`; held vertices keep their coordinates in it.
    pub fn seat_frame(&self, attachment: &Attachment, t: f64) -> Pose {
        attachment.seat.frame(self.bodies, attachment.body as usize, self.whole(t))
    }

    /// The bodies as hair meets them at the end of this part: see [`Bodies::at`]. Ask once in a step.
    pub fn obstacles(&self) -> Obstacles<'a> {
        self.bodies.at(self.whole(1.0))
    }
}
