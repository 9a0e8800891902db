//! Grid to particles.

use glam::{Mat3, Vec3};
use rayon::prelude::*;

use super::blocks::{Place, SIDE, TILE};
use super::material::{Model, Strained};
use super::nodes::NodeBlock;
use super::scatter::{WINDOW, splat, weights};
use super::{GridError, GridParams, MpmGrid, Particles, Point, Transfer};
use crate::math::lanes::{Kernel, Lane, Row, WIDTH, dispatch};

/// How a particle moves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moved {
    velocity: Vec3,
    /// What the particle moves with.
    pace: Vec3,
}

impl MpmGrid {
    /// Reads every particle's new state from the nodes, by block into slots; then every particle takes what is its own.
    pub(super) fn gather_moved(
        &mut self,
        particles: &mut Particles,
        params: &GridParams,
        dt: f32,
    ) -> Result<(), GridError> {
        let (transfer, model) = (params.transfer, Model::new(&params.material));
        let rules = Rules { transfer, model, per_cell: 4.0 / params.cell as f32, dt };
        self.moved.resize(particles.len(), Moved::default());
        if transfer.affine {
            particles.affine.resize(particles.len(), Mat3::ZERO);
        }
        let (blocks, nodes) = (&self.blocks, &self.nodes);
        let mut moved = self.moved.as_mut_slice();
        let mut points = particles.points.as_mut_slice();
        let mut affine = if transfer.affine { particles.affine.as_mut_slice() } else { &mut [] };
        let mut tasks = Vec::with_capacity(blocks.len());
        for (range, above) in blocks.starts.windows(2).zip(&blocks.above) {
            let range = range[0] as usize..range[1] as usize;
            let (velocities, places) = (&self.velocities[range.clone()], &blocks.places[range.clone()]);
            let (my_moved, my_points, my_affine);
            (my_moved, moved) = moved.split_at_mut(range.len());
            (my_points, points) = points.split_at_mut(range.len());
            (my_affine, affine) = affine.split_at_mut(range.len().min(affine.len()));
            let (moved, points, affine) = (my_moved, my_points, my_affine);
            tasks.push(Gather { velocities, places, above, nodes, moved, points, affine, rules });
        }
        tasks.into_par_iter().for_each(dispatch);
        self.hand_out(particles, dt)
    }

    /// Every particle takes what its slot has for it.
    fn hand_out(&self, particles: &mut Particles, dt: f32) -> Result<(), GridError> {
        let moved = &self.moved;
        let step = f64::from(dt);
        let columns =
            particles.positions.par_iter_mut().zip(&mut particles.velocities).zip(&self.blocks.slots);
        let bad = columns
            .with_min_len(1024)
            .enumerate()
            .map(|(particle, ((position, velocity), &slot))| {
                let moved = &moved[slot as usize];
                *position += moved.pace.as_dvec3() * step;
                *velocity = moved.velocity;
                let size = moved.pace.length_squared() + moved.velocity.length_squared();
                if size.is_finite() { usize::MAX } else { particle }
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

struct Gather<'a> {
    velocities: &'a [Vec3],
    places: &'a [Place],
    above: &'a [u32; 8],
    nodes: &'a [NodeBlock],
    moved: &'a mut [Moved],
    points: &'a mut [Point],
    /// As many as points, or none.
    affine: &'a mut [Mat3],
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
        fill_tile::<L>(&mut tile, self.above, self.nodes);
        let rules = self.rules;
        let scale = rules.per_cell * rules.dt;
        let mut batch = Strained::default();
        let mut seen = [[Row::default(); 4]; WIDTH];
        let groups = self.velocities.chunks(WIDTH).zip(self.places.chunks(WIDTH));
        let mut affine = self.affine.chunks_mut(WIDTH);
        let results = self.moved.chunks_mut(WIDTH).zip(self.points.chunks_mut(WIDTH));
        for ((velocities, places), (moved, points)) in groups.zip(results) {
            for (seen, place) in seen.iter_mut().zip(places) {
                interpolate::<L>(&tile, place, seen);
            }
            for (lane, (point, seen)) in points.iter().zip(&seen).enumerate() {
                batch.set_lane(lane, point.strain, point.gain);
                for (column, moment) in batch.gradient.iter_mut().zip(&seen[1..]) {
                    for (row, value) in column.iter_mut().zip(moment.0) {
                        row.0[lane] = value;
                    }
                }
            }
            rules.model.advance::<L>(&mut batch, scale);
            let results = points.iter_mut().zip(velocities).zip(&seen).zip(moved);
            for (lane, (((point, &before), seen), moved)) in results.enumerate() {
                (point.strain, point.stress) = (batch.strain_of(lane), batch.stress_of(lane));
                point.gain = batch.gain.0[lane];
                *moved = rules.moved(point, before, &seen[0], batch.divergence(lane));
            }
            for (affine, seen) in affine.next().unwrap_or_default().iter_mut().zip(&seen) {
                let k = rules.per_cell;
                for (column, moment) in [(0, &seen[1].0), (1, &seen[2].0), (2, &seen[3].0)] {
                    *affine.col_mut(column) = Vec3::new(moment[0] * k, moment[1] * k, moment[2] * k);
                }
            }
        }
    }
}

impl Rules {
    /// Velocities, by equation 7 of Hsu et al. 2023.
    #[inline(always)]
    fn moved(&self, point: &Point, before: Vec3, seen: &Row, divergence: f32) -> Moved {
        if point.pinned {
            return Moved { velocity: before, pace: before };
        }
        let own = &seen.0;
        let (new, old) = (Vec3::new(own[0], own[1], own[2]), Vec3::new(own[4], own[5], own[6]));
        let missed = (before - old) * self.transfer.flip;
        let [held, free] = self.transfer.separation;
        let pressed = point.stress.xx + point.stress.yy + point.stress.zz;
        let separation = if pressed < 0.0 || divergence < 0.0 { held } else { free };
        Moved { velocity: new + missed, pace: new + missed * separation }
    }
}

/// Copies the nodes that a block's particles touch side by side.
#[inline(always)]
fn fill_tile<L: Lane>(tile: &mut [Row; TILE * TILE * TILE], above: &[u32; 8], nodes: &[NodeBlock]) {
    for k in 0..TILE {
        for j in 0..TILE {
            let side = 2 * (j / SIDE) + 4 * (k / SIDE);
            let from = SIDE * (j % SIDE + SIDE * (k % SIDE));
            let to = TILE * (j + TILE * k);
            let (near, far) = (&nodes[above[side] as usize], &nodes[above[side + 1] as usize]);
            for i in 0..SIDE {
                L::load(&near[from + i].0).store(&mut tile[to + i]);
            }
            for i in SIDE..TILE {
                L::load(&far[from + i - SIDE].0).store(&mut tile[to + i]);
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
    let Some(window) = tile[place.base as usize..].first_chunk::<WINDOW>() else { return };
    let (mut own, mut x, mut y, mut z) = (L::zero(), L::zero(), L::zero(), L::zero());
    for (k, wz) in wz.into_iter().enumerate() {
        let (mut plane, mut plane_x, mut plane_y) = (L::zero(), L::zero(), L::zero());
        for (j, wy) in wy.into_iter().enumerate() {
            let at = TILE * (j + TILE * k);
            let (a, b, c) = (L::load(&window[at]), L::load(&window[at + 1]), L::load(&window[at + 2]));
            let line = c.mul_add(w2, b.mul_add(w1, a * w0));
            let line_x = c.mul_add(d2, b.mul_add(d1, a * d0));
            let weight = splat::<L>(wy);
            plane = line.mul_add(weight, plane);
            plane_x = line_x.mul_add(weight, plane_x);
            plane_y = line.mul_add(splat(wy * (j as f32 - fy)), plane_y);
        }
        let weight = splat::<L>(wz);
        own = plane.mul_add(weight, own);
        x = plane_x.mul_add(weight, x);
        y = plane_y.mul_add(weight, y);
        z = plane.mul_add(splat(wz * (k as f32 - fz)), z);
    }
    own.store(&mut seen[0]);
    x.store(&mut seen[1]);
    y.store(&mut seen[2]);
    z.store(&mut seen[3]);
}
