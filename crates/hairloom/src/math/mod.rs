//! Scalars, lanes, vectors and rigid transforms. Vectors at the edges are glam's.

pub mod lanes;
mod matrix;
mod pose;
mod quaternion;
mod random;
mod real;
mod vector;

pub use glam::{DMat3, DQuat, DVec3, Mat3, Quat, Vec2, Vec3};
pub use matrix::{Symmetric3, solve_positive};
pub use pose::Pose;
pub use quaternion::Quaternion;
pub use random::Random;
pub use real::Real;
pub use vector::Vector3;
