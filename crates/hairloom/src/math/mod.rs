//! Scalars, lanes, vectors and rigid transforms. Vectors at the edges are glam's.

mod pose;
mod random;

pub use glam::{DMat3, DQuat, DVec3, Mat3, Quat, Vec2, Vec3};
pub use pose::Pose;
pub use random::Random;
