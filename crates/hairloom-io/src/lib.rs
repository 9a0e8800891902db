//! Groom, mesh, cache and checkpoint files for Hairloom, and the driver that runs a scene from files to files.

pub mod hair;
pub mod obj;
mod space;
pub mod usd;

pub use space::Axis;
