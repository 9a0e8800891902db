//! Groom, mesh, cache and checkpoint files for Hairloom, and the driver that runs a scene from files to files.

pub mod alembic;
pub mod cache;
pub mod checkpoint;
mod fingerprint;
mod geometry;
pub mod hair;
mod library;
pub mod obj;
pub mod run;
mod space;
mod stage;
pub mod usd;

pub use library::Folder;
pub use space::Axis;
