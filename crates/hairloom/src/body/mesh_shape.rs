use std::sync::Arc;

use glam::Vec3;

use super::grid::DistanceGrid;
use super::surface::{Surface, SurfacePoint};
use super::topology::Topology;
use super::{BodyError, TriMesh};

/// Cells of the distance grid along the longest side of a mesh, by default.
const CELLS: f32 = 64.0;

/// Exact queries take over from the grid within this many cells of the surface.
const EXACT_WITHIN: f32 = 1.5;

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

/// What a grid says about a point.
pub(crate) enum GridReading {
    /// All that is needed.
    Enough { distance: f32, normal: Vec3 },
    /// That an exact query has to find the surface, perhaps beginning at a triangle that is close.
    Look { close: Option<u32> },
}

/// A triangle mesh made ready for distance queries. Copies share their data.
///
/// A closed mesh has a well-defined inside. An open one (a bust cut at the chest) is treated as solid behind its
/// triangles; past a rim a point counts as inside only if it lies more behind the surface than beyond the rim, so
/// that a cut makes no solid column below it.
#[derive(Debug, Clone)]
pub struct MeshShape {
    prepared: Arc<Prepared>,
}

#[derive(Debug)]
struct Prepared {
    topology: Topology,
    rest: Surface,
    grid: DistanceGrid,
    settings: MeshSettings,
    cell: f32,
}

impl MeshShape {
    /// Checks a mesh and builds its search structures. Triangles without area are left out of collisions.
    pub fn new(mesh: &TriMesh, settings: MeshSettings) -> Result<Self, BodyError> {
        let topology = Topology::new(mesh)?;
        let rest = Surface::new(&topology, mesh.points.clone());
        let cell = match settings.cell {
            Some(cell) if cell.is_finite() && cell > 0.0 => cell,
            Some(cell) => return Err(BodyError::BadCell { cell }),
            None => rest.extent() / CELLS,
        };
        let grid = DistanceGrid::build(&topology, &rest, &[], cell);
        Ok(Self { prepared: Arc::new(Prepared { topology, rest, grid, settings, cell }) })
    }

    /// The points as given, in the frame of the body [m].
    pub fn points(&self) -> &[Vec3] {
        &self.prepared.rest.points
    }

    /// The triangles as given.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.prepared.topology.triangles
    }

    /// Whether no edge is a rim, so that inside and outside are told apart everywhere.
    pub fn is_closed(&self) -> bool {
        self.prepared.topology.is_closed()
    }

    /// How the mesh answers queries.
    pub fn settings(&self) -> MeshSettings {
        self.prepared.settings
    }

    /// The distances around the undeformed surface.
    pub fn grid(&self) -> &DistanceGrid {
        &self.prepared.grid
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.prepared.topology
    }

    /// The surface as given, in the frame of the body.
    pub(crate) fn rest(&self) -> &Surface {
        &self.prepared.rest
    }

    /// Edge of a cell as asked for, before a grid coarsens it [m].
    pub(crate) fn cell(&self) -> f32 {
        self.prepared.cell
    }

    /// Signed distance [m] and outward normal of the undeformed surface.
    pub(crate) fn distance(&self, point: Vec3) -> (f32, Vec3) {
        match self.read(&self.prepared.grid, point) {
            GridReading::Enough { distance, normal } => (distance, normal),
            GridReading::Look { close } => self
                .prepared
                .rest
                .closest_from(&self.prepared.topology, point, close)
                .map_or((f32::INFINITY, Vec3::Y), |hit| (hit.distance, hit.normal)),
        }
    }

    /// What a grid around this surface says about a point.
    pub(crate) fn read(&self, grid: &DistanceGrid, point: Vec3) -> GridReading {
        let Some((distance, gradient)) = grid.distance(point) else {
            return GridReading::Look { close: None };
        };
        let far =
            self.prepared.settings.query == MeshQuery::Grid || distance.abs() > EXACT_WITHIN * grid.cell();
        // Where fronts meet the gradient breaks down: only an exact query has a normal there.
        match gradient.try_normalize() {
            Some(normal) if far && gradient.length_squared() > 0.25 => {
                GridReading::Enough { distance, normal }
            }
            _ => GridReading::Look { close: grid.close_triangle(point) },
        }
    }

    /// The exact closest point of the undeformed surface to `point`, both in the frame of the body; `None` for a
    /// point that is not finite.
    pub fn closest(&self, point: Vec3) -> Option<SurfacePoint> {
        let close = self.prepared.grid.close_triangle(point);
        self.prepared.rest.closest_from(&self.prepared.topology, point, close)
    }
}
