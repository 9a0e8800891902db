//! Hair as material points: what the solvers share that let strands meet on a grid.

use glam::{Mat3, Vec3};

use super::StepError;
use crate::body::Obstacles;
use crate::grid::{Boundary, Contact, GridError, Particles, Sand};
use crate::math::Symmetric3;
use crate::scene::Model;

/// How far inside a body a node must be to be bound by it, in cells, so that no particle outside reaches it. Nodes that hair outside
/// reaches let it sink towards the body as through honey; that hair is kept out at its own place. But then the grid does not see where
/// a body begins, and hair that lies on one bears nothing: it comes to lie flat.
pub(super) const OUT_OF_REACH: f64 = 1.5;

/// Most of what the grid cannot represent that vertices keep in a step where hair balances on it.
const BALANCED_FLIP: f32 = 0.9;

/// The side of a cell of the grid that the hair balances on at rest [m], where it does.
pub(super) fn balanced_on(model: &Model) -> Option<f64> {
    model.rest.as_deref()?.cell
}

/// α of ASFLIP for this hair: nothing brings vertices back in what the grid cannot represent where forces balance on it alone, and curls of `xpbd-mpm`
/// grew away from their rest by a factor of four in each second (0.034 of their lengths after five seconds, against 2e-5 with the limit).
pub(super) fn flip_of(model: &Model, flip: f32) -> f32 {
    if balanced_on(model).is_some() { flip.min(BALANCED_FLIP) } else { flip }
}

/// Hair that balances on a grid, as stiff as that allows: where sound crosses half a cell in a step [s]. Stresses as large as the modulus would
/// let it buckle. Other hair is as it is; `density` is the least of the hair as grains [kg/m³].
pub(super) fn stiffened(sand: Sand, model: &Model, density: f64, step: f64) -> Sand {
    let stiffer = balanced_on(model).map_or(1.0, |cell| {
        let speed = cell / (2.0 * step);
        (density * speed * speed / sand.wave_modulus()).max(1.0)
    });
    Sand { young: sand.young * stiffer as f32, ..sand }
}

/// The strain b − I of a particle that rests with V⁰τ [J]: xx, xy, xz, yy, yz, zz.
pub(super) fn rest_strain(sand: &Sand, work: [f64; 6], volume: f32) -> Symmetric3<f32> {
    let [xx, xy, xz, yy, yz, zz] = work.map(|work| work / f64::from(volume));
    let strain = sand.strain_of(Symmetric3 { xx, xy, yy, xz, yz, zz });
    Symmetric3 {
        xx: strain.xx as f32,
        xy: strain.xy as f32,
        yy: strain.yy as f32,
        xz: strain.xz as f32,
        yz: strain.yz as f32,
        zz: strain.zz as f32,
    }
}

/// Bodies that begin within their surfaces.
pub(super) struct Inset<'a> {
    bodies: &'a Obstacles<'a>,
    /// How far within [m].
    by: f32,
}

impl<'a> Inset<'a> {
    /// Bodies that begin so many metres within their surfaces.
    pub(super) fn new(bodies: &'a Obstacles<'a>, by: f64) -> Self {
        Self { bodies, by: by as f32 }
    }
}

impl Boundary for Inset<'_> {
    fn contacts(&self, point: Vec3, visit: &mut dyn FnMut(Contact)) {
        for index in self.bodies.collider_indices() {
            // No search for the surface where hair has no business anyway.
            match self.bodies.deep_velocity(index, point) {
                Some((depth, velocity)) if depth > self.by => {
                    let (distance, normal) = (self.by - depth, Vec3::ZERO);
                    visit(Contact { distance, normal, velocity, friction: f32::INFINITY });
                }
                _ => {
                    let contact = self.bodies.contact(index, point);
                    visit(Contact { distance: contact.distance + self.by, ..contact });
                }
            }
        }
    }

    fn clearance(&self, point: Vec3) -> f32 {
        self.bodies.clearance(point) + self.by
    }

    fn clearances(&self, points: [&[f32]; 3], out: &mut [f32]) {
        Boundary::clearances(self.bodies, points, out);
        out.iter_mut().for_each(|clearance| *clearance += self.by);
    }

    fn is_empty(&self) -> bool {
        Boundary::is_empty(self.bodies)
    }
}

/// Turns what a material point remembers.
pub(super) fn turn(particles: &mut Particles, particle: usize, turn: Mat3) {
    let affine = particles.affine(particle);
    if affine != Mat3::ZERO {
        particles.set_affine(particle, turn * affine * turn.transpose());
    }
    particles.change_point(particle, |point| {
        point.strain = turned(&point.strain, turn);
        point.stress = turned(&point.stress, turn);
    });
}

/// R m Rᵀ.
fn turned(m: &Symmetric3<f32>, turn: Mat3) -> Symmetric3<f32> {
    let full = Mat3::from_cols(
        Vec3::new(m.xx, m.xy, m.xz),
        Vec3::new(m.xy, m.yy, m.yz),
        Vec3::new(m.xz, m.yz, m.zz),
    );
    let Mat3 { x_axis: x, y_axis: y, z_axis: z } = turn * full * turn.transpose();
    Symmetric3 { xx: x.x, xy: x.y, yy: y.y, xz: x.z, yz: y.z, zz: z.z }
}

/// What the grid could not do, by strand where it knows the particle; `order` has the vertex of the model that each particle is.
pub(super) fn lost(model: &Model, order: &[u32], error: GridError) -> StepError {
    let vertex = match &error {
        GridError::NotFinite { particle, .. } | GridError::TooFar { particle, .. } => order.get(*particle),
        _ => None,
    };
    match vertex {
        Some(&vertex) => {
            let strand = model.offsets.partition_point(|&start| start <= vertex).saturating_sub(1);
            let vertex = vertex as usize - model.range(strand).start;
            StepError::Diverged { strand, vertex, problem: error.to_string() }
        }
        None => StepError::BadStep(error.to_string()),
    }
}
