//! A mesh that deforms during a step.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glam::{DVec3, Vec3};

use super::grid::DistanceGrid;
use super::mesh_shape::GridReading;
use super::surface::{Surface, SurfacePoint};
use super::{MeshQuery, MeshShape, Sample};

/// A mesh whose points go straight from `start` to `end` during one step, in the world.
#[derive(Debug)]
pub(crate) struct Deforming {
    start: Vec<Vec3>,
    end: Vec<Vec3>,
    /// Velocities of the points, the same at every moment [m/s]; empty where nothing moves.
    velocities: Vec<Vec3>,
    /// One over the duration of the step [1/s].
    rate: f32,
    /// The mesh at the end of the step.
    last: Arc<Deformed>,
    /// The mesh at the moment before the end that was asked for last. A solver takes the parts of a step in
    /// order, so one is enough, and the memory does not grow with their number.
    cut: Mutex<Option<(f64, Arc<Deformed>)>>,
}

/// A deforming mesh at one moment of a step.
#[derive(Debug)]
pub(crate) struct Deformed {
    pub(crate) surface: Surface,
    pub(crate) grid: DistanceGrid,
}

impl Deforming {
    /// A mesh on its way from `start` to `end`; `before`, the step before, lends its memory.
    pub(crate) fn new(
        mesh: &MeshShape,
        start: &[Vec3],
        end: &[Vec3],
        rate: f32,
        before: Option<Arc<Self>>,
    ) -> Arc<Self> {
        if let Some(before) = &before
            && before.rate == rate
            && before.start == start
            && before.end == end
        {
            return Arc::clone(before);
        }
        let (spare, cut) = before.and_then(Arc::into_inner).map_or((None, None), |before| {
            let cut = before.cut.into_inner().unwrap_or_else(PoisonError::into_inner);
            // No moment is equal to this one.
            (Arc::into_inner(before.last), cut.map(|(_, deformed)| (f64::NAN, deformed)))
        });
        let velocities: Vec<Vec3> = if rate == 0.0 || start == end {
            Vec::new()
        } else {
            start.iter().zip(end).map(|(&a, &b)| (b - a) * rate).collect()
        };
        let last = Deformed::new(mesh, end.iter().copied(), &velocities, spare);
        Arc::new(Self {
            start: start.to_vec(),
            end: end.to_vec(),
            velocities,
            rate,
            last: Arc::new(last),
            cut: Mutex::new(cut),
        })
    }

    /// Vertex `v` at fraction `t` of the step [m].
    pub(crate) fn vertex(&self, v: usize, t: f64) -> DVec3 {
        let end = self.end[v].as_dvec3();
        if t == 1.0 { end } else { self.start[v].as_dvec3().lerp(end, t) }
    }

    /// The points at fraction `t` of the step [m].
    pub(crate) fn points(&self, t: f64) -> impl Iterator<Item = Vec3> {
        (0..self.end.len()).map(move |v| self.vertex(v, t).as_vec3())
    }

    /// The mesh at fraction `t` of the step. The first question about a moment before the end costs as much as the
    /// step itself: the hierarchy is refitted and the grid filled there.
    pub(crate) fn at(&self, mesh: &MeshShape, t: f64) -> Arc<Deformed> {
        if t == 1.0 || self.start == self.end {
            return Arc::clone(&self.last);
        }
        let mut cut = self.cut();
        if let Some((at, deformed)) = &*cut
            && *at == t
        {
            return Arc::clone(deformed);
        }
        let spare = cut.take().and_then(|(_, deformed)| Arc::into_inner(deformed));
        // Not under the lock: the threads that share the work may come here with questions of their own.
        drop(cut);
        let deformed = Arc::new(Deformed::new(mesh, self.points(t), &self.velocities, spare));
        *self.cut() = Some((t, Arc::clone(&deformed)));
        deformed
    }

    fn cut(&self) -> MutexGuard<'_, Option<(f64, Arc<Deformed>)>> {
        self.cut.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What hair meets at a point, with the mesh as `deformed`.
    pub(crate) fn sample(&self, mesh: &MeshShape, deformed: &Deformed, point: Vec3) -> Sample {
        match mesh.read(&deformed.grid, point) {
            GridReading::Enough { distance, normal } => {
                // Close to the surface the velocities of the grid are exact; the paper reads them where the hair is.
                let at = match mesh.settings().query {
                    MeshQuery::Exact => point - normal * distance,
                    MeshQuery::Grid => point,
                };
                Sample { distance, normal, velocity: deformed.grid.velocity(at) }
            }
            GridReading::Look { close } => {
                match deformed.surface.closest_from(mesh.topology(), point, close) {
                    Some(hit) => Sample {
                        distance: hit.distance,
                        normal: hit.normal,
                        velocity: self.velocity(mesh, &hit),
                    },
                    None => Sample { distance: f32::INFINITY, normal: Vec3::Y, velocity: Vec3::ZERO },
                }
            }
        }
    }

    /// The velocity of a point of the surface [m/s].
    fn velocity(&self, mesh: &MeshShape, at: &SurfacePoint) -> Vec3 {
        if self.velocities.is_empty() {
            return Vec3::ZERO;
        }
        let [a, b, c] = mesh.triangles()[at.triangle].map(|v| self.velocities[v as usize]);
        a * at.weights[0] + b * at.weights[1] + c * at.weights[2]
    }
}

impl Deformed {
    /// The mesh with its vertices at `points`; `spare` lends its memory.
    fn new(
        mesh: &MeshShape,
        points: impl Iterator<Item = Vec3>,
        velocities: &[Vec3],
        spare: Option<Self>,
    ) -> Self {
        let mut surface = spare.map_or_else(|| mesh.rest().clone(), |spare| spare.surface);
        surface.move_to(mesh.topology(), points);
        let grid = DistanceGrid::build(mesh.topology(), &surface, velocities, mesh.cell());
        Self { surface, grid }
    }
}
