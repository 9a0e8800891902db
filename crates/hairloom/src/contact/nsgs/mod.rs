//! Nonsmooth Gauss–Seidel: many contacts with exact Coulomb friction.

mod anderson;
mod dense;
mod error;
mod matrix;
mod order;
mod problem;
mod solve;
mod system;

pub use error::ProblemError;
pub use matrix::BlockMatrix;
pub use problem::Problem;
pub use solve::{Settings, Solution, solve};
