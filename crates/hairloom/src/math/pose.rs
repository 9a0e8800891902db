use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// A rigid transform: first rotate, then translate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Rotation, a unit quaternion.
    pub rotation: DQuat,
    /// Translation [m].
    pub translation: DVec3,
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// The transform that changes nothing.
    pub const IDENTITY: Self = Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// The world position of `point`, given in this frame.
    #[inline]
    pub fn apply(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// The coordinates in this frame of a world `point`.
    #[inline]
    pub fn apply_inverse(&self, point: DVec3) -> DVec3 {
        self.rotation.conjugate() * (point - self.translation)
    }

    /// The pose of a child frame `local`, seen from the world.
    pub fn compose(&self, local: &Pose) -> Pose {
        Pose { rotation: self.rotation * local.rotation, translation: self.apply(local.translation) }
    }

    /// The pose at fraction `t` of the way to `end`: straight line, shortest constant-speed rotation.
    pub fn interpolate(&self, end: &Pose, t: f64) -> Pose {
        if self == end {
            return *self;
        }
        Pose {
            rotation: self.rotation.slerp(end.rotation, t),
            translation: self.translation.lerp(end.translation, t),
        }
    }
}
