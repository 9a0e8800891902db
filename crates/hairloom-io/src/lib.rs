//! Groom, mesh, cache and checkpoint files for Hairloom, and the driver that runs a scene from files to files.

pub mod alembic;
mod body_mesh;
mod bounds;
pub mod cache;
mod chains;
pub mod checkpoint;
pub mod contact_problem;
mod counts;
mod file;
mod fingerprint;
mod geometry;
pub mod grooms;
pub mod hair;
mod library;
mod notes;
pub mod obj;
pub mod ply;
pub mod run;
mod space;
mod spline;
mod stage;
pub mod tfx;
pub mod tfxmesh;
pub mod usc;
pub mod usd;

pub use body_mesh::BodyMesh;
pub use file::{FileError, FileProblem};
pub use library::Folder;
pub use space::{Axis, Space};
