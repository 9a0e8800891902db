//! How one body moves during a step.

use glam::{DVec3, Mat3, Vec3};

use crate::math::Pose;

/// Where a body is at the start and at the end of a step.
#[derive(Debug, Clone, Copy)]
pub enum Motion<'a> {
    /// It moves as a whole.
    Rigid {
        /// The pose at the start.
        start: Pose,
        /// The pose at the end.
        end: Pose,
    },
    /// Each point of its mesh moves by itself, along a straight line.
    Deforming {
        /// The points at the start, in the world [m].
        start: &'a [Vec3],
        /// The points at the end, in the world [m].
        end: &'a [Vec3],
    },
}

impl Motion<'_> {
    /// A body that stays where it is.
    pub fn still(pose: Pose) -> Self {
        Motion::Rigid { start: pose, end: pose }
    }
}

/// A rigid motion, ready for queries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RigidMotion {
    start: Pose,
    end: Pose,
    /// Velocity of the origin of the frame [m/s].
    linear: Vec3,
    /// Angular velocity, in the world [rad/s].
    angular: Vec3,
}

/// A pose split into what keeps precision far from the origin and what is quick.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    translation: DVec3,
    world_from_local: Mat3,
    local_from_world: Mat3,
}

impl Frame {
    pub(crate) fn new(pose: &Pose) -> Self {
        let rotation = Mat3::from_quat(pose.rotation.as_quat());
        Self {
            translation: pose.translation,
            world_from_local: rotation,
            local_from_world: rotation.transpose(),
        }
    }

    /// The local coordinates of a point in the world.
    pub(crate) fn to_local(self, point: Vec3) -> Vec3 {
        self.local_from_world * (point.as_dvec3() - self.translation).as_vec3()
    }

    /// Where the frame's origin is in the world [m], and how the world is turned for it.
    pub(crate) fn of_world(self) -> (DVec3, Mat3) {
        (self.translation, self.local_from_world)
    }

    /// A local direction, in the world.
    pub(crate) fn direction_to_world(self, direction: Vec3) -> Vec3 {
        self.world_from_local * direction
    }
}

impl RigidMotion {
    /// The motion from `start` to `end` in `duration` seconds; without a duration nothing has a velocity.
    pub(crate) fn new(start: Pose, end: Pose, duration: f64) -> Self {
        let rate = rate(duration);
        let mut turn = end.rotation * start.rotation.conjugate();
        // Of the two quaternions of a rotation, the one that goes the short way, as the interpolation does.
        if turn.w < 0.0 {
            turn = -turn;
        }
        Self {
            start,
            end,
            linear: ((end.translation - start.translation) * rate).as_vec3(),
            angular: (turn.to_scaled_axis() * rate).as_vec3(),
        }
    }

    pub(crate) fn pose(&self, t: f64) -> Pose {
        if t == 1.0 { self.end } else { self.start.interpolate(&self.end, t) }
    }

    /// The velocity of the material at `arm` from the origin of the frame, in the world [m/s].
    pub(crate) fn velocity(&self, arm: Vec3) -> Vec3 {
        self.linear + self.angular.cross(arm)
    }
}

/// One over the duration, zero where there is none.
pub(crate) fn rate(duration: f64) -> f64 {
    if duration > 0.0 && duration.is_finite() { 1.0 / duration } else { 0.0 }
}
