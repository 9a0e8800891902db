use std::sync::Arc;

use glam::Vec3;

use super::surface::{Surface, SurfacePoint};
use super::topology::Topology;
use super::{BodyError, TriMesh};

/// Where the distances near a mesh come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MeshQuery {
    /// Exact closest points near the surface; the grid only where its error does not matter.
    #[default]
    Exact,
    /// Everything from the grid, as in Müller, Kim and Chentanez 2012, section 3.7: faster, and as coarse as its cells.
    Grid,
}

/// How a mesh answers queries.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeshSettings {
    /// Edge of a cell of the distance grid [m]; by default 1/64 of the longest side of the mesh. Coarsened where the
    /// grid would grow too large.
    pub cell: Option<f32>,
    /// Where distances near the surface come from.
    pub query: MeshQuery,
}

/// A triangle mesh made ready for distance queries.
///
/// A closed mesh has a well-defined inside. An open one (a bust cut at the chest) is treated as solid behind its
/// triangles; past a rim a point counts as inside only if it lies more behind the surface than beyond the rim, so
/// that a cut makes no solid column below it.
#[derive(Debug, Clone)]
pub struct MeshShape {
    pub(crate) topology: Arc<Topology>,
    pub(crate) rest: Surface,
    settings: MeshSettings,
    radius: f32,
}

impl MeshShape {
    /// Checks a mesh and builds its search structures. Triangles without area are left out of collisions.
    pub fn new(mesh: &TriMesh, settings: MeshSettings) -> Result<Self, BodyError> {
        let topology = Arc::new(Topology::new(mesh)?);
        let rest = Surface::new(&topology, mesh.points.clone());
        let radius = mesh.points.iter().map(|p| p.length()).fold(0.0, f32::max);
        Ok(Self { topology, rest, settings, radius })
    }

    /// The points as given, in the frame of the body [m].
    pub fn points(&self) -> &[Vec3] {
        &self.rest.end
    }

    /// The triangles as given.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.topology.triangles
    }

    /// No point is farther from the origin of the body's frame than this [m].
    pub fn radius(&self) -> f32 {
        self.radius
    }

    /// How many triangles have no area and were left out.
    pub fn dropped_triangles(&self) -> usize {
        self.topology.triangles.len() - self.topology.kept.len()
    }

    /// Whether no edge is a rim, so that inside and outside are told apart everywhere.
    pub fn is_closed(&self) -> bool {
        self.topology.is_closed()
    }

    /// How the mesh answers queries.
    pub fn settings(&self) -> MeshSettings {
        self.settings
    }

    /// The exact closest point of the undeformed surface to `point`, both in the frame of the body; `None` for a
    /// point that is not finite.
    pub fn closest(&self, point: Vec3) -> Option<SurfacePoint> {
        self.rest.closest(&self.topology, point, 1.0, f32::INFINITY)
    }
}
