//! Grid to particles.

use glam::{DVec3, Mat3, Vec3};
use rayon::prelude::*;

use super::blocks::{Place, SIDE, TILE};
use super::material::{Model, Strained};
use super::nodes::Node;
use super::scatter::{splat, weights};
use super::{GridError, GridParams, MpmGrid, Particles, Transfer};
use crate::math::Symmetric3;
use crate::math::lanes::{Kernel, Lane, Row, WIDTH, dispatch};

/// What a step makes of a particle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved {
    velocity: Vec3,
    /// What the particle moves with.
    pace: Vec3,
    affine: Mat3,
    strain: [f32; 6],
    stress: [f32; 6],
    gain: f32,
}

impl Default for Moved {
    fn default() -> Self {
        Self {
            velocity: Vec3::ZERO,
            pace: Vec3::ZERO,
            affine: Mat3::ZERO,
            strain: [0.0; 6],
            stress: [0.0; 6],
            gain: 0.0,
        }
    }
}

impl MpmGrid {
    /// Reads every particle's new state from the nodes, by block into slots; then every particle takes what is its own.
    pub(super) fn gather_moved(
        &mut self,
        particles: &mut Particles,
        params: &GridParams,
        dt: f32,
    ) -> Result<(), GridError> {
        self.moved.resize(particles.len(), Moved::default());
        let (blocks, nodes) = (&self.blocks, &self.nodes);
        let mut rest = self.moved.as_mut_slice();
        let mut tasks = Vec::with_capacity(blocks.len());
        for (block, range) in blocks.starts.windows(2).enumerate() {
            let range = range[0] as usize..range[1] as usize;
            let (mine, others) = rest.split_at_mut(range.len());
            rest = others;
            tasks.push((block, range, mine));
        }
        let seen: &Particles = particles;
        let (transfer, model) = (params.transfer, Model::new(&params.material));
        let rules = Rules { transfer, model, per_cell: 4.0 / params.cell as f32, dt };
        tasks.into_par_iter().for_each(|(block, range, moved)| {
            dispatch(Gather {
                particles: seen,
                order: &blocks.order[range.clone()],
                places: &blocks.places[range],
                above: &blocks.above[block],
                nodes,
                moved,
                rules,
            });
        });
        self.hand_out(particles, dt)
    }

    fn hand_out(&self, particles: &mut Particles, dt: f32) -> Result<(), GridError> {
        let (slots, moved) = (&self.blocks.slots, &self.moved);
        let step = f64::from(dt);
        let columns = (
            (&mut particles.positions, &mut particles.velocities),
            (&mut particles.affine, &mut particles.strains),
            (&mut particles.stresses, &mut particles.gains),
            slots,
        );
        let bad = columns
            .into_par_iter()
            .with_min_len(1024)
            .enumerate()
            .map(|(particle, ((position, velocity), (affine, strain), (stress, gain), &slot))| {
                let moved = &moved[slot as usize];
                *position += DVec3::from(moved.pace) * step;
                *velocity = moved.velocity;
                *affine = moved.affine;
                *strain = symmetric(moved.strain);
                *stress = symmetric(moved.stress);
                *gain = moved.gain;
                let sum = moved.pace.dot(moved.pace) + moved.velocity.dot(moved.velocity) + moved.strain[0];
                if sum.is_finite() { usize::MAX } else { particle }
            })
            .min();
        match bad {
            Some(particle) if particle != usize::MAX => {
                Err(GridError::NotFinite { particle, quantity: "velocity" })
            }
            _ => Ok(()),
        }
    }
}

#[inline(always)]
fn symmetric([xx, xy, yy, xz, yz, zz]: [f32; 6]) -> Symmetric3<f32> {
    Symmetric3 { xx, xy, yy, xz, yz, zz }
}

struct Gather<'a> {
    particles: &'a Particles,
    order: &'a [u32],
    places: &'a [Place],
    above: &'a [u32; 8],
    nodes: &'a [[Node; SIDE * SIDE * SIDE]],
    moved: &'a mut [Moved],
    rules: Rules,
}

/// What all particles share.
#[derive(Debug, Clone, Copy)]
struct Rules {
    transfer: Transfer,
    model: Model,
    /// Turns the moments of the velocity, in cells, into its gradient [1/m].
    per_cell: f32,
    dt: f32,
}

impl Kernel for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let mut tile = [Row::default(); TILE * TILE * TILE];
        fill_tile(&mut tile, self.above, self.nodes);
        let rules = self.rules;
        let scale = rules.per_cell * rules.dt;
        let mut batch = Strained::default();
        let mut seen = [[Row::default(); 4]; WIDTH];
        let groups = self.order.chunks(WIDTH).zip(self.places.chunks(WIDTH));
        for ((order, places), moved) in groups.zip(self.moved.chunks_mut(WIDTH)) {
            for (seen, place) in seen.iter_mut().zip(places) {
                interpolate::<L>(&tile, place, seen);
            }
            for (lane, (&particle, seen)) in order.iter().zip(&seen).enumerate() {
                let particle = particle as usize;
                let s = self.particles.strains[particle];
                for (row, value) in batch.strain.iter_mut().zip([s.xx, s.xy, s.yy, s.xz, s.yz, s.zz]) {
                    row.0[lane] = value;
                }
                batch.gain.0[lane] = self.particles.gains[particle];
                for (column, moment) in batch.step.iter_mut().zip(&seen[1..]) {
                    for (row, value) in column.iter_mut().zip(moment.0) {
                        row.0[lane] = value * scale;
                    }
                }
            }
            rules.model.advance::<L>(&mut batch);
            for (lane, ((&particle, seen), moved)) in order.iter().zip(&seen).zip(moved).enumerate() {
                rules.finish(self.particles, particle as usize, seen, (&batch, lane), moved);
            }
        }
    }
}

impl Rules {
    /// Velocities, by equation 7 of Hsu et al. 2023, and what the material made of the strain.
    #[inline(always)]
    fn finish(
        &self,
        particles: &Particles,
        particle: usize,
        seen: &[Row; 4],
        (batch, lane): (&Strained, usize),
        moved: &mut Moved,
    ) {
        let own = &seen[0].0;
        let (new, old) = (Vec3::new(own[0], own[1], own[2]), Vec3::new(own[4], own[5], own[6]));
        let before = particles.velocities[particle];
        let missed = (before - old) * self.transfer.flip;
        let [held, free] = self.transfer.separation;
        let parting = batch.step[0][0].0[lane] + batch.step[1][1].0[lane] + batch.step[2][2].0[lane];
        let pressed = batch.stress[0].0[lane] + batch.stress[2].0[lane] + batch.stress[5].0[lane];
        let separation = if pressed < 0.0 || parting < 0.0 { held } else { free };
        moved.velocity = new + missed;
        moved.pace = new + missed * separation;
        if particles.pinned[particle] {
            (moved.velocity, moved.pace) = (before, before);
        }
        if self.transfer.affine {
            let k = self.per_cell;
            let column = |row: &Row| Vec3::new(row.0[0] * k, row.0[1] * k, row.0[2] * k);
            moved.affine = Mat3::from_cols(column(&seen[1]), column(&seen[2]), column(&seen[3]));
        } else {
            moved.affine = Mat3::ZERO;
        }
        for k in 0..6 {
            moved.strain[k] = batch.strain[k].0[lane];
            moved.stress[k] = batch.stress[k].0[lane];
        }
        moved.gain = batch.gain.0[lane];
    }
}

/// Copies the nodes that a block's particles touch side by side.
#[inline(always)]
fn fill_tile(tile: &mut [Row; TILE * TILE * TILE], above: &[u32; 8], nodes: &[[Node; SIDE * SIDE * SIDE]]) {
    for k in 0..TILE {
        for j in 0..TILE {
            let side = 2 * (j / SIDE) + 4 * (k / SIDE);
            let from = SIDE * (j % SIDE + SIDE * (k % SIDE));
            let to = TILE * (j + TILE * k);
            let (near, far) = (&nodes[above[side] as usize], &nodes[above[side + 1] as usize]);
            for i in 0..SIDE {
                tile[to + i] = near[from + i].0;
            }
            for i in SIDE..TILE {
                tile[to + i] = far[from + i - SIDE].0;
            }
        }
    }
}

/// The velocities at a particle, new and old, and their first moments along the axes, in cells.
#[inline(always)]
fn interpolate<L: Lane>(tile: &[Row; TILE * TILE * TILE], place: &Place, seen: &mut [Row; 4]) {
    let [fx, fy, fz] = place.fraction;
    let (wx, wy, wz) = (weights(fx), weights(fy), weights(fz));
    let (w0, w1, w2) = (splat::<L>(wx[0]), splat::<L>(wx[1]), splat::<L>(wx[2]));
    let (d0, d1, d2) =
        (splat::<L>(-fx * wx[0]), splat::<L>((1.0 - fx) * wx[1]), splat::<L>((2.0 - fx) * wx[2]));
    let (mut own, mut x, mut y, mut z) = (L::zero(), L::zero(), L::zero(), L::zero());
    for k in 0..3 {
        let (mut plane, mut plane_x, mut plane_y) = (L::zero(), L::zero(), L::zero());
        for j in 0..3 {
            let first = place.base as usize + TILE * (j + TILE * k);
            let Some([a, b, c]) = tile.get(first..first + 3) else { return };
            let (a, b, c) = (L::load(a), L::load(b), L::load(c));
            let line = c.mul_add(w2, b.mul_add(w1, a * w0));
            let line_x = c.mul_add(d2, b.mul_add(d1, a * d0));
            let weight = splat::<L>(wy[j]);
            plane = line.mul_add(weight, plane);
            plane_x = line_x.mul_add(weight, plane_x);
            plane_y = line.mul_add(splat(wy[j] * (j as f32 - fy)), plane_y);
        }
        let weight = splat::<L>(wz[k]);
        own = plane.mul_add(weight, own);
        x = plane_x.mul_add(weight, x);
        y = plane_y.mul_add(weight, y);
        z = plane.mul_add(splat(wz[k] * (k as f32 - fz)), z);
    }
    own.store(&mut seen[0]);
    x.store(&mut seen[1]);
    y.store(&mut seen[2]);
    z.store(&mut seen[3]);
}
