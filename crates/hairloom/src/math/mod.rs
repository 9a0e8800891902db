//! Scalars, lanes, vectors and rigid transforms. Vectors at the edges are glam's.

pub mod band;
pub(crate) mod dense;
pub mod lanes;
mod matrix;
mod pose;
mod random;
mod real;
mod rotation;
mod stored;
mod vector;

pub use glam::{DMat3, DQuat, DVec3, Mat3, Quat, Vec2, Vec3};
pub use matrix::{Factored3, Matrix3, Symmetric3, solve_positive};
pub use pose::Pose;
pub use random::Random;
pub use real::Real;
pub use rotation::Quaternion;
pub use stored::{Loads, Stored, StoredKernel};
pub use vector::Vector3;
