//! Strands meet on a grid: what their rods are going to do becomes a force on every vertex (section 3.1.2), the grid adds the stress of
//! hair as a granular material, and moves the vertices (equations 4 to 11).
//!
//! Nodes get the momentum of equation 11. Of the force of its rod a vertex takes a share ([`Params::direct`]) by itself, and so what
//! the grid cannot represent of it, too; the paper takes none. Forces that hold a segment at its length come in opposite pairs, which cancel on
//! nodes that see both ends.
//!
//! Rods that go through the grid are stepped with the force of contact of the last step ([`Coupling::begin`]), and hand on what they do
//! without it. Their lengths answer implicitly to all that acts on them: rods that knew of gravity alone would predict to carry the hair by
//! themselves, whatever stress it rests with, and forces would leave an equilibrium with contact within a few steps.
//!
//! Points lie in the order of the packs, and in each strand after strand, so that every pack has its own part of a column.

use glam::{DVec3, Mat3, Vec3};
use rayon::prelude::*;

use super::Params;
use super::advance::Conditions;
use super::pack::{Pack, get_vector, set_vector};
use super::rods::Rods;
use crate::body::Obstacles;
use crate::grid::{GridError, GridParams, Material, MpmGrid, Particles};
use crate::math::{Pose, Stored, Symmetric3};
use crate::scene::Model;
use crate::solve::material_points::{Inset, OUT_OF_REACH, lost, rest_strain, turn};
use crate::solve::packing::cut;
use crate::solve::{Checkpoint, CheckpointError, Report, StepError};

/// Numbers of a point in checkpoints: strain, stress, gain and affine velocity.
const NUMBERS: usize = 6 + 6 + 1 + 9;

/// The vertices as material points.
#[derive(Debug, Clone)]
pub(super) struct Coupling {
    grid: MpmGrid,
    particles: Particles,
    params: GridParams,
    /// The vertex of the model that each point is.
    order: Vec<u32>,
    /// Forces of the rods that go through the grid [N]; none where vertices take all by themselves.
    forces: Vec<Vec3>,
    /// What contact accelerated every point by in the last step [m/s²]; none where vertices take all forces by themselves, and before the
    /// first step.
    contact: Vec<Vec3>,
    /// Share of the rods' forces that vertices take by themselves.
    direct: f32,
}

impl Coupling {
    /// Hair that rests as its model does.
    pub(super) fn new<S: Stored>(model: &Model, rods: &Rods<S>, held: &[bool], params: &Params) -> Self {
        let strands = rods.packs.iter().flat_map(|pack| pack.lanes().map(|(_, strand)| strand));
        let mut particles = Particles::default();
        let mut order = Vec::with_capacity(model.vertices());
        for strand in strands {
            let density = model.material(strand).density as f32;
            for vertex in model.range(strand) {
                let mass = model.masses[vertex];
                particles.push(model.groomed[vertex].as_dvec3(), mass, mass / density);
                particles.change_point(order.len(), |point| point.pinned = held[vertex]);
                order.push(vertex as u32);
            }
        }
        let grid = MpmGrid::default();
        let (params, direct) = (params.grid(model), params.direct_of(model) as f32);
        let mut coupling =
            Self { grid, particles, params, order, forces: Vec::new(), contact: Vec::new(), direct };
        coupling.relax(model);
        coupling
    }

    /// Notes where vertices are and how they move before their rods take a step, and gives the rods the force of contact.
    pub(super) fn begin<S: Stored>(&mut self, rods: &mut Rods<S>, conditions: &Conditions) {
        read(&rods.packs, &mut self.particles.positions, Pack::position);
        read(&rods.packs, &mut self.particles.velocities, velocity);
        if self.direct >= 1.0 {
            return;
        }
        if self.contact.is_empty() {
            // Hair that is loaded stands still: contact does what is missing.
            self.contact = vec![Vec3::ZERO; self.order.len()];
            let gravity = conditions.gravity;
            read(&rods.packs, &mut self.contact, |pack, lane, vertex| missing(pack, lane, vertex, gravity));
        }
        let mut contact = self.contact.iter();
        for pack in &mut rods.packs {
            for ((lane, vertex), contact) in pack.vertices().zip(&mut contact) {
                // The air must not slow what contact gives.
                let blown = 1.0 + pack.drag.get(lane) * conditions.dt;
                let velocity = &mut pack.moving[vertex].velocity;
                let pushed = get_vector(velocity, lane) + contact.as_dvec3() * (conditions.dt * blown);
                set_vector(velocity, lane, pushed);
            }
        }
    }

    /// Takes the step over the grid that the rods have predicted.
    pub(super) fn step<S: Stored>(
        &mut self,
        model: &Model,
        rods: &Rods<S>,
        bodies: &Obstacles<'_>,
        dt: f64,
        report: &mut Report,
    ) -> Result<(), StepError> {
        let predicted = report.time("exchange", || self.predict(rods, dt as f32));
        let Self { grid, particles, params, order, forces, contact, .. } = self;
        let (within, dt) = (Inset::new(bodies, OUT_OF_REACH * params.cell), dt as f32);
        let failed = |error: GridError| lost(model, order, error);
        report.time("bin", || grid.bin(particles, params)).map_err(failed)?;
        report.time("particles to grid", || grid.scatter_tiles(particles, &[], forces, params, dt));
        report.time("nodes", || grid.collect_and_update(params, &within, dt));
        report.time("grid to particles", || grid.gather(particles, params, dt)).map_err(failed)?;
        for (index, (contact, predicted)) in contact.iter_mut().zip(predicted).enumerate() {
            *contact += (particles.velocities[index] - predicted) / dt;
        }
        Ok(())
    }

    /// What the rods predict, as velocities and forces of the points; gives the velocities that they predict where forces go through the grid.
    fn predict<S: Stored>(&mut self, rods: &Rods<S>, dt: f32) -> Vec<Vec3> {
        if self.direct >= 1.0 {
            read(&rods.packs, &mut self.particles.velocities, velocity);
            return Vec::new();
        }
        let mut predicted = vec![Vec3::ZERO; self.order.len()];
        read(&rods.packs, &mut predicted, velocity);
        self.forces.resize(self.order.len(), Vec3::ZERO);
        for (index, (force, &predicted)) in self.forces.iter_mut().zip(&predicted).enumerate() {
            let point = self.particles.point(index);
            let old = self.particles.velocities[index];
            // All but contact.
            let gain = predicted - old - self.contact[index] * dt;
            let own = if point.pinned { predicted } else { old + gain * self.direct };
            *force = if point.pinned { Vec3::ZERO } else { gain * ((1.0 - self.direct) * point.mass / dt) };
            self.particles.velocities[index] = own;
        }
        predicted
    }

    /// Moves the vertices as the grid has, and lets the rods answer: what the grid adds counts as a force on them, so that segments keep
    /// their lengths. Returns the most iterations that a strand took.
    pub(super) fn take_back<S: Stored>(&self, rods: &mut Rods<S>, conditions: Conditions) -> u32 {
        let Particles { positions, velocities, .. } = &self.particles;
        let mut start = 0;
        let starts: Vec<usize> = rods
            .packs
            .iter()
            .map(|pack| {
                start += pack.points();
                start - pack.points()
            })
            .collect();
        let packs = rods.packs.par_iter_mut().zip(starts);
        let taken = packs.map_init(Vec::new, |scratch, (pack, start)| {
            for (index, (lane, vertex)) in (start..).zip(pack.vertices()) {
                if pack.still[vertex].weight.get(lane) > 0.0 {
                    pack.set_position(lane, vertex, positions[index]);
                    set_vector(&mut pack.moving[vertex].velocity, lane, velocities[index].as_dvec3());
                }
            }
            let iterations = pack.answer(conditions, scratch);
            pack.rebase();
            iterations
        });
        taken.max().unwrap_or(0)
    }

    /// Turns the strain of strands that were carried along by bodies, from one pose to another.
    pub(super) fn carry(&mut self, model: &Model, jumping: &[(usize, Pose, Pose)]) {
        let mut turns = vec![None; model.vertices()];
        for (strand, before, after) in jumping {
            let turn = (after.rotation * before.rotation.conjugate()).normalize();
            turns[model.range(*strand)].fill(Some(Mat3::from_quat(turn.as_quat())));
        }
        for (particle, &vertex) in self.order.iter().enumerate() {
            if let Some(by) = turns[vertex as usize] {
                turn(&mut self.particles, particle, by);
                if let Some(contact) = self.contact.get_mut(particle) {
                    *contact = by * *contact;
                }
            }
        }
    }

    /// Takes all strain and rotation out of the hair as a material, but for what it rests with.
    pub(super) fn relax(&mut self, model: &Model) {
        self.contact.clear();
        let Material::Sand(grains) = self.params.material else { return };
        for (particle, &vertex) in self.order.iter().enumerate() {
            self.particles.change_point(particle, |point| {
                (point.strain, point.stress, point.gain) = (Symmetric3::zero(), Symmetric3::zero(), 0.0);
                if let Some(rest) = &model.rest {
                    point.strain = rest_strain(&grains, rest.stresses[vertex as usize], point.volume);
                }
            });
            self.particles.set_affine(particle, Mat3::ZERO);
        }
        self.particles.refresh_stresses(&self.params.material);
    }

    /// Writes columns, by vertex of the model.
    pub(super) fn save(&self, out: &mut Checkpoint) {
        let mut values = vec![0.0; NUMBERS * self.order.len()];
        for (particle, &vertex) in self.order.iter().enumerate() {
            let point = self.particles.point(particle);
            let entries = |m: &Symmetric3<f32>| [m.xx, m.xy, m.yy, m.xz, m.yz, m.zz];
            let own = &mut values[NUMBERS * vertex as usize..][..NUMBERS];
            own[..6].copy_from_slice(&entries(&point.strain));
            own[6..12].copy_from_slice(&entries(&point.stress));
            own[12] = point.gain;
            own[13..].copy_from_slice(&self.particles.affine(particle).to_cols_array());
        }
        out.put("grains", values);
        let mut contact = vec![0.0; 3 * self.contact.len()];
        for (value, &vertex) in self.contact.iter().zip(&self.order) {
            contact[3 * vertex as usize..][..3].copy_from_slice(&value.to_array());
        }
        out.put("contact", contact);
    }

    /// Reads columns.
    pub(super) fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        let values = from.take::<f32>("grains", NUMBERS * self.order.len())?;
        let symmetric = |v: &[f32]| Symmetric3 { xx: v[0], xy: v[1], yy: v[2], xz: v[3], yz: v[4], zz: v[5] };
        for (particle, &vertex) in self.order.iter().enumerate() {
            let values = &values[NUMBERS * vertex as usize..][..NUMBERS];
            self.particles.change_point(particle, |point| {
                (point.strain, point.stress) = (symmetric(values), symmetric(&values[6..]));
                point.gain = values[12];
            });
            self.particles.set_affine(particle, Mat3::from_cols_slice(&values[13..]));
        }
        self.contact.clear();
        if !from.take_all::<f32>("contact")?.is_empty() {
            let values = from.take::<f32>("contact", 3 * self.order.len())?;
            let vectors = self.order.iter().map(|&vertex| Vec3::from_slice(&values[3 * vertex as usize..]));
            self.contact.extend(vectors);
        }
        Ok(())
    }
}

/// Fills a column with a value of each vertex.
fn read<S: Stored, T: Send>(
    packs: &[Pack<S>],
    column: &mut [T],
    value: impl Fn(&Pack<S>, usize, usize) -> T + Sync,
) {
    let parts = cut(column, packs.iter().map(Pack::points));
    packs.par_iter().zip(parts).for_each(|(pack, part)| {
        for (place, (lane, vertex)) in part.iter_mut().zip(pack.vertices()) {
            *place = value(pack, lane, vertex);
        }
    });
}

/// What is missing for a vertex that stands still to stay where it is, beside gravity and the forces of its rod [m/s²]. Held ones need
/// nothing.
fn missing<S: Stored>(pack: &Pack<S>, lane: usize, vertex: usize, gravity: DVec3) -> Vec3 {
    let still = &pack.still[vertex];
    let weight = still.weight.get(lane);
    if weight <= 0.0 {
        return Vec3::ZERO;
    }
    let before = vertex.checked_sub(1).map_or(DVec3::ZERO, |row| get_vector(&pack.moving[row].force, lane));
    let own = get_vector(&pack.moving[vertex].force, lane);
    (own * still.start.get(lane) - before * weight - gravity).as_vec3()
}

fn velocity<S: Stored>(pack: &Pack<S>, lane: usize, vertex: usize) -> Vec3 {
    get_vector(&pack.moving[vertex].velocity, lane).as_vec3()
}
