//! The vertices as material points: the stage in which strands meet each other (section 3.2).

use glam::{DQuat, DVec3, Mat3, Vec3};

use super::Params;
use super::carried::Carried;
use super::exchange::Moved;
use super::rods::Rods;
use crate::body::Obstacles;
use crate::grid::{Approach, GridError, GridParams, Material, MpmGrid, Particles, Solids};
use crate::groom::Remap;
use crate::math::{Stored, Symmetric3};
use crate::scene::Model;
use crate::solve::material_points::{Inset, balanced_on, lost, rest_strain, turn as turn_point};
use crate::solve::{Checkpoint, CheckpointError, Report, StepError};

/// Numbers of a grain in checkpoints: strain, stress, gain and affine velocity.
const NUMBERS: usize = 6 + 6 + 1 + 9;

/// What a material point remembers from one step to the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grain {
    strain: Symmetric3<f32>,
    stress: Symmetric3<f32>,
    gain: f32,
    affine: Mat3,
}

impl Default for Grain {
    fn default() -> Self {
        Self { strain: Symmetric3::zero(), stress: Symmetric3::zero(), gain: 0.0, affine: Mat3::ZERO }
    }
}

/// All vertices on the grid.
#[derive(Debug)]
pub(super) struct Grains {
    grid: MpmGrid,
    params: GridParams,
    particles: Particles,
    /// The vertex of the model that each particle is.
    order: Vec<u32>,
    /// Positions at the start of the step of the rods [m].
    before: Vec<DVec3>,
    /// What a step of the rods changed of the velocities [m/s].
    changes: Vec<Vec3>,
    /// Largest radius of any hair [m].
    radius: f32,
    /// How deep inside bodies nodes are bound by them [m].
    inset: f64,
    /// Where the hair balances on the grid.
    carried: Option<Carried>,
}

impl Grains {
    /// Grains that rest as their model does, in the order of the rods.
    pub(super) fn new<S: Stored>(model: &Model, rods: &Rods<S>, pinned: &[bool], params: &Params) -> Self {
        let order = rods.order();
        let mut particles = Particles::default();
        for (particle, &vertex) in order.iter().enumerate() {
            let mass = model.masses[vertex as usize];
            particles.push(DVec3::ZERO, mass, mass / params.grid_density as f32);
            let pinned = pinned.get(vertex as usize).copied().unwrap_or(false);
            particles.change_point(particle, |point| point.pinned = pinned);
        }
        let radius = model.radii.iter().copied().fold(0.0, f32::max);
        let before = vec![DVec3::ZERO; order.len()];
        let changes = vec![Vec3::ZERO; order.len()];
        let grid_params = params.grid_for(model);
        let mut grains = Self {
            grid: MpmGrid::default(),
            params: grid_params,
            particles,
            order,
            before,
            changes,
            radius,
            inset: params.inset * grid_params.cell,
            carried: balanced_on(model).map(|_| Carried::default()),
        };
        grains.strain(model);
        grains
    }

    /// Gives all grains the stress that they rest with.
    fn strain(&mut self, model: &Model) {
        let (Some(rest), Material::Sand(sand), Some(_)) = (&model.rest, self.params.material, &self.carried)
        else {
            return;
        };
        for (particle, &vertex) in self.order.iter().enumerate() {
            self.particles.change_point(particle, |point| {
                point.strain = rest_strain(&sand, rest.stresses[vertex as usize], point.volume);
            });
        }
        self.particles.refresh_stresses(&self.params.material);
    }

    /// What contact does, for grains that are laid out anew.
    pub(super) fn take_carried(&mut self) -> Option<Carried> {
        self.carried.take()
    }

    /// Lets grains that balance on the grid know what contact does.
    pub(super) fn carry_on(&mut self, carried: Option<Carried>) {
        if self.carried.is_some() {
            self.carried = carried.or(self.carried.take());
        }
    }

    /// What all grains remember, by vertex of the model.
    pub(super) fn memory(&self) -> Vec<Grain> {
        let mut memory = vec![Grain::default(); self.order.len()];
        for (particle, &vertex) in self.order.iter().enumerate() {
            let point = self.particles.point(particle);
            let affine = self.particles.affine(particle);
            memory[vertex as usize] =
                Grain { strain: point.strain, stress: point.stress, gain: point.gain, affine };
        }
        memory
    }

    /// Lets all grains remember, by vertex of the model.
    pub(super) fn remember(&mut self, memory: &[Grain]) {
        for (particle, &vertex) in self.order.iter().enumerate() {
            let Some(grain) = memory.get(vertex as usize) else { continue };
            self.particles.change_point(particle, |point| {
                (point.strain, point.stress, point.gain) = (grain.strain, grain.stress, grain.gain);
            });
            if self.params.transfer.affine {
                self.particles.set_affine(particle, grain.affine);
            }
        }
    }

    /// Takes over where the rods are before they are solved. Strain turns with hair that was carried round.
    pub(super) fn begin<S: Stored>(
        &mut self,
        model: &Model,
        rods: &mut Rods<S>,
        pinned: &[bool],
        gravity: DVec3,
        dt: f64,
    ) {
        let Particles { positions, velocities, .. } = &mut self.particles;
        rods.read(&mut self.before, positions, velocities);
        let mut start = 0;
        for (count, turn) in rods.take_turns() {
            if turn != DQuat::IDENTITY {
                if let Some(carried) = &mut self.carried {
                    carried.turn(&self.order[start..start + count], turn);
                }
                let turn = Mat3::from_quat(turn.normalize().as_quat());
                (start..start + count).for_each(|particle| turn_point(&mut self.particles, particle, turn));
            }
            start += count;
        }
        if let Some(carried) = &mut self.carried {
            carried.begin(model, rods, pinned, gravity, dt);
        }
    }

    /// Takes over what the solve changed of the velocities: over all steps of the grid they get equal parts of it (section 3.3).
    pub(super) fn take_changes<S: Stored>(&mut self, rods: &Rods<S>, steps: u32, dt: f32) {
        let Self { particles, changes, order, carried, .. } = self;
        let share = if carried.is_some() { 1.0 } else { 1.0 / steps as f32 };
        rods.read_changes(&particles.velocities, share, changes);
        if let Some(carried) = carried {
            carried.take(changes, particles, order, steps, dt);
        }
    }

    /// Ends a step of the rods over `dt` [s].
    pub(super) fn end(&mut self, dt: f32) {
        if let Some(carried) = &mut self.carried {
            carried.end(&self.particles, &self.order, dt);
        }
    }

    /// One step of the grid over `dt` [s], among bodies where they are at its end, which came there as `approach` tells.
    /// Returns how many particles they pushed.
    pub(super) fn step(
        &mut self,
        model: &Model,
        bodies: &Obstacles<'_>,
        approach: &Approach,
        margin: f32,
        dt: f32,
        report: &mut Report,
    ) -> Result<u64, StepError> {
        let Self { grid, params, particles, changes, order, carried, .. } = self;
        let forces = carried.as_ref().map_or(&[][..], Carried::forces);
        let failed = |error: GridError| lost(model, order, error);
        report.time("bin", || grid.bin(particles, params)).map_err(failed)?;
        report.time("particles to grid", || grid.scatter_tiles(particles, changes, forces, params, dt));
        let within = Inset::new(bodies, self.inset);
        report.time("nodes", || grid.collect_and_update(params, &within, dt));
        let solids = Solids { boundary: bodies, margin: self.radius + margin, approach };
        report.time("grid to particles", || grid.gather_among(particles, params, solids, dt)).map_err(failed)
    }

    /// Where the grid took the vertices.
    pub(super) fn moved(&self) -> Moved<'_> {
        let Particles { positions, velocities, .. } = &self.particles;
        Moved { before: &self.before, after: positions, velocities, looks: self.particles.looks().all() }
    }

    /// Writes a column.
    pub(super) fn save(&self, out: &mut Checkpoint) {
        let mut values = Vec::with_capacity(self.order.len() * NUMBERS);
        for grain in self.memory() {
            values.extend(entries(&grain.strain));
            values.extend(entries(&grain.stress));
            values.push(grain.gain);
            values.extend(grain.affine.to_cols_array());
        }
        out.put("grains", values);
        if let Some(carried) = &self.carried {
            carried.save(out);
        }
    }

    /// Reads the column.
    pub(super) fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        let values = from.take::<f32>("grains", self.order.len() * NUMBERS)?;
        let grain = |v: &[f32]| Grain {
            strain: symmetric(&v[..6]),
            stress: symmetric(&v[6..12]),
            gain: v[12],
            affine: Mat3::from_cols_slice(&v[13..]),
        };
        let memory: Vec<Grain> = values.chunks_exact(NUMBERS).map(grain).collect();
        self.remember(&memory);
        match &mut self.carried {
            Some(carried) => carried.restore(from, self.order.len()),
            None => Ok(()),
        }
    }
}

/// What grains remember of the hair of `old`, carried over to the edited hair of `new`: that of the nearest vertex.
pub(super) fn remapped(memory: &[Grain], old: &Model, new: &Model, remap: &Remap) -> Vec<Grain> {
    let mut carried = vec![Grain::default(); new.vertices()];
    for strand in 0..new.strands() {
        let Some(source) = remap.strands.get(strand).copied().flatten() else { continue };
        let source = old.range(source as usize);
        for vertex in new.range(strand) {
            let place = remap.coordinates.get(vertex).map_or(0, |place| place.max(0.0).round() as usize);
            let from = source.start + place.min(source.len() - 1);
            carried[vertex] = memory.get(from).copied().unwrap_or_default();
        }
    }
    carried
}

fn entries(m: &Symmetric3<f32>) -> [f32; 6] {
    [m.xx, m.xy, m.yy, m.xz, m.yz, m.zz]
}

fn symmetric(v: &[f32]) -> Symmetric3<f32> {
    Symmetric3 { xx: v[0], xy: v[1], yy: v[2], xz: v[3], yz: v[4], zz: v[5] }
}
