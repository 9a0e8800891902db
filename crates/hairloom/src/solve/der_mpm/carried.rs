//! Contact that is part of a rest shape: what the rods must know of it, and what of their step the grid must not be told twice.
//!
//! # Derivation
//!
//! At rest forces f of the rods, weight and stresses balance at the nodes, Σ w (f + m g) − Σ V⁰τ ∇w = 0, but at no single vertex. Rods that know
//! of no contact solve (M + Δt² H) Δv = Δt (f + m g) for vertices at rest: stiff rods hand the nodes next to nothing of a force that they make in full,
//! and whatever stress there is throws the hair apart.
//!
//! So the force c of contact in the last step acts on the rods as a load, (M + Δt² H) Δv = Δt (f + m g + c) − Δt² H v, and the nodes get all of their
//! change but that load, m Δv − Δt c. At rest c = −(f + m g), so Δv = 0 to the bit, and nodes get Δt (f + m g): exactly what stresses balance there.
//! After the grid's steps c grows by m (v − v′) / Δt, what the grid did otherwise than the rods' prediction v′. What the grid represents then forgets
//! where c began within a step. In what it cannot represent c holds against the rods, and nothing moves but by velocities that are kept
//! ([`flip_of`](crate::solve::material_points::flip_of)).
//!
//! The nodes get it as a force, in equal parts over the grid's steps. As a change of the particles' velocities, the way of hair without
//! rest stresses, the part of it that the grid cannot represent would stay with them and move them.
//!
//! Lengths are those of the linear solve, here as everywhere in this method. As contact acts in it, tension answers to contact.
//!
//! # How stiff grains may be
//!
//! Contact is known to the rods a step late. A vertex between rods that are stiff beside inertia, and grains whose
//! frequency is ω, goes by the analysis of one mode (position, velocity, c and the grains' own strain) back to its place as long as (ω Δt)² stays below
//! 0.5 with one step of the grid in each of the rods, 1.6 with two, 2.2 with three and 2.4 with four. Where sound crosses half a cell in a step
//! of the grid, waves of four cells have 0.3, 1.3, 3 and 5, the smoothing of quadratic splines included. So sound crosses no more than
//! [`MOST_CELLS`] in a step of the rods either, which is 2. Where it crosses a whole cell in each step of the grid, middle hair leaves its rest by
//! 0.0016 of its length in two seconds; within the limit by 2e-6.
//!
//! # Figures
//!
//! What a vertex is moved by at most in five seconds under gravity, over the length of its strand, in hair on the bust, with the cells of
//! [`Hairstyle::medium`](crate::rest::Hairstyle::medium) and a friction angle of 20° (`hairloom lab hairstyles --solver der-mpm`); for the drape 35° and all
//! stresses (`cone`), for the others pressures (`anytime`):
//!
//! | hair | rest shape with contact | groomed |
//! |---|---|---|
//! | drape, 32 × 16 | 6e-6 | 1.3 |
//! | middle, 256 × 16 | 3e-6 | 0.22 |
//! | short, 256 × 16 | 2e-6 | 0.48 |
//! | afro, 256 × 16 | 7e-6 | 0.93 |
//! | long, 512 × 16 | 2e-6 | 0.30 |
//!
//! Without the stresses middle hair begins with 0.1 to 0.2 g instead of 3e-6 g, and moves by 0.003. What is left is rounding: forces of rods in single precision.

use glam::{DQuat, DVec3, Mat3, Vec3};

use super::rods::Rods;
use crate::grid::Particles;
use crate::math::Stored;
use crate::scene::Model;
use crate::solve::{Checkpoint, CheckpointError};

/// The most cells that sound may cross in a step of the rods, in hair that is stiffened because it balances on the grid.
pub(super) const MOST_CELLS: f64 = 1.25;

/// The force of contact on every vertex.
#[derive(Debug, Clone, Default)]
pub(super) struct Carried {
    /// What contact accelerated every vertex of the model by in the last step [m/s²]; none before the first one.
    contact: Vec<Vec3>,
    /// What the rods are going to do, by particle [m/s].
    predicted: Vec<Vec3>,
    /// What the grid gets of that, by particle [N].
    forces: Vec<Vec3>,
}

impl Carried {
    /// Lets contact act on the rods as it did in the last step.
    pub(super) fn begin<S: Stored>(
        &mut self,
        model: &Model,
        rods: &mut Rods<S>,
        pinned: &[bool],
        gravity: DVec3,
        dt: f64,
    ) {
        if self.contact.is_empty() {
            self.contact = at_rest(model, pinned, gravity);
        }
        let contact = &self.contact;
        rods.drive(|strand, driven| {
            for (at, vertex) in model.range(strand).enumerate() {
                let push = contact[vertex].as_dvec3() * (f64::from(model.masses[vertex]) * dt);
                driven.add_load(at, 0.0, push);
            }
        });
    }

    /// Takes what the rods changed of the velocities [m/s] for a force on the grid, but for the part of contact, and leaves what pinned
    /// vertices are given of it in each of so many steps.
    pub(super) fn take(
        &mut self,
        changes: &mut [Vec3],
        particles: &Particles,
        order: &[u32],
        steps: u32,
        dt: f32,
    ) {
        self.predicted.clear();
        self.predicted.extend(particles.velocities.iter().zip(&*changes).map(|(old, change)| *old + *change));
        self.forces.resize(order.len(), Vec3::ZERO);
        for (particle, (change, force)) in changes.iter_mut().zip(&mut self.forces).enumerate() {
            let point = particles.point(particle);
            let own = *change - self.contact[order[particle] as usize] * dt;
            (*change, *force) = match point.pinned {
                true => (*change / steps as f32, Vec3::ZERO),
                false => (Vec3::ZERO, own * (point.mass / dt)),
            };
        }
    }

    /// What the grid gets of the rods, by particle [N].
    pub(super) fn forces(&self) -> &[Vec3] {
        &self.forces
    }

    /// Notes what the grid did otherwise than the rods predicted.
    pub(super) fn end(&mut self, particles: &Particles, order: &[u32], dt: f32) {
        for (particle, (velocity, predicted)) in particles.velocities.iter().zip(&self.predicted).enumerate()
        {
            if !particles.point(particle).pinned {
                self.contact[order[particle] as usize] += (*velocity - *predicted) / dt;
            }
        }
    }

    /// Turns what acts on some vertices.
    pub(super) fn turn(&mut self, vertices: &[u32], by: DQuat) {
        let by = Mat3::from_quat(by.normalize().as_quat());
        for &vertex in vertices {
            if let Some(contact) = self.contact.get_mut(vertex as usize) {
                *contact = by * *contact;
            }
        }
    }

    /// Writes a column, by vertex of the model.
    pub(super) fn save(&self, out: &mut Checkpoint) {
        out.put("contact", self.contact.iter().flat_map(Vec3::to_array).collect());
    }

    /// Reads the column.
    pub(super) fn restore(&mut self, from: &Checkpoint, vertices: usize) -> Result<(), CheckpointError> {
        self.contact.clear();
        if !from.take_all::<f32>("contact")?.is_empty() {
            let values = from.take::<f32>("contact", 3 * vertices)?;
            self.contact.extend(values.chunks_exact(3).map(Vec3::from_slice));
        }
        Ok(())
    }
}

/// What is missing for vertices to stay where their rest shape has them, beside gravity and the forces of their rods [m/s²]. Pinned ones
/// need nothing.
fn at_rest(model: &Model, pinned: &[bool], gravity: DVec3) -> Vec<Vec3> {
    let Some(rest) = &model.rest else { return vec![Vec3::ZERO; model.vertices()] };
    let mut contact = Vec::with_capacity(model.vertices());
    for strand in 0..model.strands() {
        let mut before = DVec3::ZERO;
        for vertex in model.range(strand) {
            let own = (before - rest.forces[vertex]) / f64::from(model.masses[vertex]);
            let free = !pinned.get(vertex).copied().unwrap_or(false);
            contact.push(if free { -(own + gravity).as_vec3() } else { Vec3::ZERO });
            before = rest.forces[vertex];
        }
    }
    contact
}
