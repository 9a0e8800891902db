//! A mesh that deforms during a step.

use glam::Vec3;

use super::grid::DistanceGrid;
use super::mesh_shape::GridReading;
use super::surface::{Surface, SurfacePoint};
use super::{MeshQuery, MeshShape, Sample};

/// The surface of a deforming mesh during one step, in the world, and the distances around it at the end.
#[derive(Debug, Clone)]
pub(crate) struct Deforming {
    pub(crate) surface: Surface,
    pub(crate) grid: DistanceGrid,
    /// One over the duration of the step [1/s].
    rate: f32,
}

impl Deforming {
    /// A mesh on its way from `start` to `end`; `before` lends its memory.
    pub(crate) fn new(
        mesh: &MeshShape,
        start: &[Vec3],
        end: &[Vec3],
        rate: f32,
        before: Option<Self>,
    ) -> Self {
        let mut surface = match before {
            Some(before)
                if before.rate == rate && before.surface.start == start && before.surface.end == end =>
            {
                return before;
            }
            Some(before) => before.surface,
            None => mesh.rest().clone(),
        };
        surface.set_motion(mesh.topology(), start, end);
        let velocities: Vec<Vec3> = start.iter().zip(end).map(|(&a, &b)| (b - a) * rate).collect();
        let grid = DistanceGrid::build(mesh.topology(), &surface, &velocities, mesh.cell());
        Self { surface, grid, rate }
    }

    pub(crate) fn sample(&self, mesh: &MeshShape, point: Vec3, t: f32) -> Sample {
        // The grid stands at the end of the step.
        let hit = if t == 1.0 {
            match mesh.read(&self.grid, point) {
                GridReading::Enough { distance, normal } => {
                    return self.sample_grid(mesh.settings().query, point, distance, normal);
                }
                GridReading::Look { close } => self.surface.closest_from(mesh.topology(), point, close),
            }
        } else {
            self.surface.closest(mesh.topology(), point, t, f32::INFINITY)
        };
        match hit {
            Some(hit) => {
                Sample { distance: hit.distance, normal: hit.normal, velocity: self.velocity(mesh, &hit) }
            }
            None => Sample { distance: f32::INFINITY, normal: Vec3::Y, velocity: Vec3::ZERO },
        }
    }

    fn sample_grid(&self, query: MeshQuery, point: Vec3, distance: f32, normal: Vec3) -> Sample {
        // Close to the surface the velocities of the grid are exact; the paper reads them where the hair is.
        let at = match query {
            MeshQuery::Exact => point - normal * distance,
            MeshQuery::Grid => point,
        };
        Sample { distance, normal, velocity: self.grid.velocity(at) }
    }

    /// The velocity of a point of the surface [m/s].
    fn velocity(&self, mesh: &MeshShape, at: &SurfacePoint) -> Vec3 {
        let way = |v: u32| self.surface.end[v as usize] - self.surface.start[v as usize];
        let [a, b, c] = mesh.triangles()[at.triangle].map(way);
        (a * at.weights[0] + b * at.weights[1] + c * at.weights[2]) * self.rate
    }
}
