//! Scalars, lanes, vectors and rigid transforms. Vectors at the edges are glam's.

pub mod lanes;
mod pose;
mod random;
mod real;
mod vector;

pub use glam::{DMat3, DQuat, DVec3, Mat3, Quat, Vec2, Vec3};
pub use pose::Pose;
pub use random::Random;
pub use real::Real;
pub use vector::Vector3;
