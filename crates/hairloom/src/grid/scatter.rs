//! Particles to grid.

use std::sync::atomic::AtomicU32;

use glam::{Mat3, Vec3};
use rayon::prelude::*;

use super::blocks::{Blocks, Place, SIDE, Settle, TILE, particle};
use super::particles::Packed;
use super::{GridParams, MpmGrid, Particles, Phase};
use crate::math::Real;
use crate::math::lanes::{Kernel, Lane, Row, WIDTH, dispatch};

/// What the particles of one block give to the nodes they touch: momentum and mass, then impulse, in eight floats. In
/// eight regions, one for each block of nodes, so that each block reads its own in one go.
#[derive(Debug, Clone)]
pub(super) struct Tile(Box<[Row; TILE * TILE * TILE]>);

impl Default for Tile {
    fn default() -> Self {
        Self(Box::new([Row::default(); TILE * TILE * TILE]))
    }
}

impl Tile {
    /// The nodes in the block of nodes at one corner, x fastest; see [`region`] for how many there are along each axis.
    #[inline(always)]
    pub(super) fn region(&self, corner: usize) -> &[Row] {
        &self.0[REGIONS[corner]..REGIONS[corner + 1]]
    }
}

/// Where the region of each corner begins, and the end.
const REGIONS: [usize; 9] = {
    let mut starts = [0; 9];
    let mut corner = 0;
    while corner < 8 {
        let [x, y, z] = region(corner);
        starts[corner + 1] = starts[corner] + x * y * z;
        corner += 1;
    }
    starts
};

/// How many nodes along each axis a tile has in the block of nodes at a corner.
#[inline(always)]
pub(super) const fn region(corner: usize) -> [usize; 3] {
    let far = TILE - SIDE;
    [
        if corner & 1 == 0 { SIDE } else { far },
        if corner & 2 == 0 { SIDE } else { far },
        if corner & 4 == 0 { SIDE } else { far },
    ]
}

/// Cuts a tile into its regions.
#[inline(always)]
fn cut<L: Lane>(tile: &[Row; TILE * TILE * TILE], out: &mut [Row; TILE * TILE * TILE]) {
    let mut to = 0;
    for corner in 0..8 {
        let [x, y, z] = region(corner);
        let first = [(corner & 1) * SIDE, (corner >> 1 & 1) * SIDE, (corner >> 2) * SIDE];
        for k in 0..z {
            for j in 0..y {
                let from = &tile[first[0] + TILE * (first[1] + j + TILE * (first[2] + k))..];
                if x == SIDE {
                    copy::<L, SIDE>(from, &mut out[to..]);
                } else {
                    copy::<L, { TILE - SIDE }>(from, &mut out[to..]);
                }
                to += x;
            }
        }
    }
}

/// Copies a few rows; how many is known beforehand, because a call for so few would cost more than the copy.
#[inline(always)]
fn copy<L: Lane, const N: usize>(from: &[Row], to: &mut [Row]) {
    if let (Some(from), Some(to)) = (from.first_chunk::<N>(), to.first_chunk_mut::<N>()) {
        for (from, to) in from.iter().zip(to) {
            L::load(from).store(to);
        }
    }
}

/// Numbers that all particles share.
#[derive(Debug, Clone, Copy)]
struct Constants {
    dt: f32,
    cell: f32,
    /// Impulse of unit mass by gravity [m/s].
    gravity: Vec3,
    /// −Δt 4/Δx: turns V τ into an impulse per cell of offset.
    stress: f32,
}

impl MpmGrid {
    /// Every block's particles onto a tile of its own, so that threads never meet. `changes` are added to the velocities before [m/s], where
    /// there are any.
    pub(crate) fn scatter_tiles(
        &mut self,
        particles: &Particles,
        changes: &[Vec3],
        forces: &[Vec3],
        params: &GridParams,
        dt: f32,
    ) {
        let cell = params.cell as f32;
        let constants = Constants { dt, cell, gravity: params.gravity * dt, stress: -4.0 * dt / cell };
        let affine = params.transfer.affine && !particles.affine.is_empty();
        self.tiles.resize_with(self.blocks.len(), Tile::default);
        self.motions.resize(particles.len(), Row::default());
        self.forces.resize(forces.len(), Row::default());
        self.phase = Phase::Scattered;
        let Blocks { starts, order, places, .. } = &mut self.blocks;
        let (mut places, mut motions) = (places.as_mut_slice(), self.motions.as_mut_slice());
        let mut forces_by_slot = self.forces.as_mut_slice();
        let mut tasks = Vec::with_capacity(self.tiles.len());
        for (range, tile) in starts.windows(2).zip(&mut self.tiles) {
            let range = range[0] as usize..range[1] as usize;
            let (my_places, my_motions, my_forces);
            (my_places, places) = places.split_at_mut(range.len());
            (my_motions, motions) = motions.split_at_mut(range.len());
            (my_forces, forces_by_slot) = forces_by_slot.split_at_mut(range.len().min(forces_by_slot.len()));
            tasks.push((range, my_places, my_motions, my_forces, &mut tile.0));
        }
        let inverse = 1.0 / params.cell;
        tasks.into_par_iter().for_each(|(range, places, motions, by_slot, out)| {
            let order = &order[range.clone()];
            dispatch(Settle { positions: &particles.positions, order, places, inverse });
            fetch(order, &particles.velocities, changes, motions);
            fetch(order, forces, &[], by_slot);
            let affine = if affine { &particles.affine[range.clone()] } else { &[] };
            let (points, forces) = (&particles.points[range], &*by_slot);
            dispatch(Scatter { points, motions, affine, forces, places, out, constants });
        });
    }
}

/// The part of a column that belongs to some particles, with something added where there is something: on its own, so that many reads are
/// under way at once.
fn fetch(order: &[AtomicU32], column: &[Vec3], more: &[Vec3], out: &mut [Row]) {
    for (out, entry) in out.iter_mut().zip(order) {
        let particle = particle(entry);
        let more = more.get(particle).copied().unwrap_or(Vec3::ZERO);
        let [x, y, z] = (column[particle] + more).to_array();
        out.0 = [x, y, z, 0.0, 0.0, 0.0, 0.0, 0.0];
    }
}

struct Scatter<'a> {
    points: &'a [Packed],
    motions: &'a [Row],
    /// As many as points, or none.
    affine: &'a [Mat3],
    /// As many as points, or none.
    forces: &'a [Row],
    places: &'a [Place],
    out: &'a mut [Row; TILE * TILE * TILE],
    constants: Constants,
}

impl Kernel for Scatter<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let mut tile = [Row::default(); TILE * TILE * TILE];
        let (mut shares, mut weights) = ([[Row::default(); 4]; WIDTH], Weights::default());
        let (mut affine, mut forces) = (self.affine.chunks(WIDTH), self.forces.chunks(WIDTH));
        let motions = self.motions.chunks(WIDTH);
        for ((points, motions), places) in
            self.points.chunks(WIDTH).zip(motions).zip(self.places.chunks(WIDTH))
        {
            for ((share, point), motion) in shares.iter_mut().zip(points).zip(motions) {
                fill(share, point, first(motion), &self.constants);
            }
            if let Some(forces) = forces.next() {
                for (share, force) in shares.iter_mut().zip(forces) {
                    add_impulse(share, first(force) * self.constants.dt);
                }
            }
            if let Some(fields) = affine.next() {
                for ((share, point), field) in shares.iter_mut().zip(points).zip(fields) {
                    fill_affine(share, field, point.0[0].0[7] * self.constants.cell);
                }
            }
            weights.find::<L>(places);
            for particle in 0..places.len().min(WIDTH) {
                spread::<L>(&mut tile, &places[particle], &weights, particle, &shares[particle]);
            }
        }
        cut::<L>(&tile, self.out);
    }
}

/// The vector in the first numbers of a row.
#[inline(always)]
fn first(row: &Row) -> Vec3 {
    Vec3::new(row.0[0], row.0[1], row.0[2])
}

/// What a particle hands out: at its own place, and more of it for each cell along the axes.
#[inline(always)]
fn fill(share: &mut [Row; 4], point: &Packed, velocity: Vec3, constants: &Constants) {
    let mass = point.0[0].0[7];
    let [xx, xy, yy, xz, yz, zz, volume, pinned] = point.0[1].0;
    let weight = if pinned > 0.0 { 0.0 } else { mass };
    let (momentum, impulse) = (velocity * mass, constants.gravity * weight);
    let k = constants.stress * volume;
    share[0].0 = [momentum.x, momentum.y, momentum.z, mass, impulse.x, impulse.y, impulse.z, 0.0];
    share[1].0 = [0.0, 0.0, 0.0, 0.0, xx * k, xy * k, xz * k, 0.0];
    share[2].0 = [0.0, 0.0, 0.0, 0.0, xy * k, yy * k, yz * k, 0.0];
    share[3].0 = [0.0, 0.0, 0.0, 0.0, xz * k, yz * k, zz * k, 0.0];
}

#[inline(always)]
fn add_impulse(share: &mut [Row; 4], impulse: Vec3) {
    share[0].0[4] += impulse.x;
    share[0].0[5] += impulse.y;
    share[0].0[6] += impulse.z;
}

/// Momentum of the affine field, for each cell along the axes.
#[inline(always)]
fn fill_affine(share: &mut [Row; 4], field: &Mat3, scale: f32) {
    for (share, column) in share[1..].iter_mut().zip([field.x_axis, field.y_axis, field.z_axis]) {
        share.0[0] = column.x * scale;
        share.0[1] = column.y * scale;
        share.0[2] = column.z * scale;
    }
}

/// The quadratic B-spline's weights of eight particles at three nodes along each axis, and the weights times the way from the particle to the
/// node, in cells: those of two particles in each row, by axis. Found for all of them at once, and read one by one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weights {
    own: [[Row; 3]; WIDTH / 2],
    slopes: [[Row; 3]; WIDTH / 2],
}

impl Weights {
    /// Finds those of up to eight particles.
    #[inline(always)]
    pub(super) fn find<L: Lane>(&mut self, places: &[Place]) {
        let (half, one, two) = (splat::<L>(0.5), L::one(), splat::<L>(2.0));
        let results = self.own.iter_mut().zip(&mut self.slopes);
        for (pair, (own, slopes)) in places.chunks(2).zip(results) {
            let fraction = L::load(&two_places(pair));
            let (a, b, c) = (splat::<L>(1.5) - fraction, fraction - one, fraction - half);
            let (first, second, third) = (half * a * a, splat::<L>(0.75) - b * b, half * c * c);
            first.store(&mut own[0]);
            second.store(&mut own[1]);
            third.store(&mut own[2]);
            (-fraction * first).store(&mut slopes[0]);
            ((one - fraction) * second).store(&mut slopes[1]);
            ((two - fraction) * third).store(&mut slopes[2]);
        }
    }

    /// The weight of one particle at a node along an axis.
    #[inline(always)]
    pub(super) fn own<L: Real>(&self, axis: usize, node: usize, particle: usize) -> L {
        splat(self.own[particle / 2][node].0[particle % 2 * 4 + axis])
    }

    /// The same, times the way to the node.
    #[inline(always)]
    pub(super) fn slope<L: Real>(&self, axis: usize, node: usize, particle: usize) -> L {
        splat(self.slopes[particle / 2][node].0[particle % 2 * 4 + axis])
    }
}

/// One or two places side by side.
#[inline(always)]
fn two_places(places: &[Place]) -> Row {
    match (places.as_flattened().first_chunk(), places) {
        (Some(&both), _) => Row(both),
        (None, &[[x, y, z, base]]) => Row([x, y, z, base, 0.0, 0.0, 0.0, 0.0]),
        _ => Row::default(),
    }
}

/// The same number in every lane.
#[inline(always)]
pub(super) fn splat<L: Real>(value: f32) -> L {
    L::splat(f64::from(value))
}

/// Rows of a tile from the first to the last node of a stencil.
pub(super) const WINDOW: usize = 2 * (1 + TILE + TILE * TILE) + 1;

/// Adds a particle's share to the 27 nodes of its stencil, the first of which `place` names.
#[inline(always)]
fn spread<L: Lane>(
    tile: &mut [Row; TILE * TILE * TILE],
    place: &Place,
    weights: &Weights,
    particle: usize,
    share: &[Row; 4],
) {
    let (own, x, y, z) = (L::load(&share[0]), L::load(&share[1]), L::load(&share[2]), L::load(&share[3]));
    let w0 = weights.own::<L>(0, 0, particle);
    let w1 = weights.own::<L>(0, 1, particle);
    let w2 = weights.own::<L>(0, 2, particle);
    let d0 = weights.slope::<L>(0, 0, particle);
    let d1 = weights.slope::<L>(0, 1, particle);
    let d2 = weights.slope::<L>(0, 2, particle);
    // One check for all nodes: from here on offsets are constants.
    let Some(window) = tile[place[3] as usize..].first_chunk_mut::<WINDOW>() else { return };
    for k in 0..3 {
        let weight = weights.own::<L>(2, k, particle);
        let plane = own.mul_add(weight, z * weights.slope::<L>(2, k, particle));
        let (plane_x, plane_y) = (x * weight, y * weight);
        for j in 0..3 {
            let weight = weights.own::<L>(1, j, particle);
            let line = plane.mul_add(weight, plane_y * weights.slope::<L>(1, j, particle));
            let slope = plane_x * weight;
            let at = TILE * (j + TILE * k);
            slope.mul_add(d0, line.mul_add(w0, L::load(&window[at]))).store(&mut window[at]);
            slope.mul_add(d1, line.mul_add(w1, L::load(&window[at + 1]))).store(&mut window[at + 1]);
            slope.mul_add(d2, line.mul_add(w2, L::load(&window[at + 2]))).store(&mut window[at + 2]);
        }
    }
}
