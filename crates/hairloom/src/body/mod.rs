//! Bodies that hair grows on and collides with.

mod mesh;

pub use mesh::TriMesh;
