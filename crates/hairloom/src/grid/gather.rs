//! Grid to particles.

use glam::Mat3;
use rayon::prelude::*;

use super::blocks::{Place, SIDE, TILE};
use super::material::{Model, Strained};
use super::nodes::NodeBlock;
use super::particles::Packed;
use super::scatter::{WINDOW, Weights, splat};
use super::{GridParams, MpmGrid, Particles, Transfer};
use crate::math::lanes::{Kernel, Lane, Row, WIDTH, dispatch};
use crate::math::{Matrix3, Symmetric3, Vector3};

impl MpmGrid {
    /// Reads every particle's new state from the nodes, by block into slots.
    pub(super) fn gather_slots(&mut self, particles: &mut Particles, params: &GridParams, dt: f32) {
        let (transfer, model) = (params.transfer, Model::new(&params.material));
        let rules = Rules { transfer, model, per_cell: 4.0 / params.cell as f32, dt };
        if transfer.affine {
            particles.affine.resize(particles.len(), Mat3::ZERO);
        }
        let (blocks, nodes) = (&self.blocks, &self.nodes);
        let mut motions = self.motions.as_mut_slice();
        let mut points = particles.points.as_mut_slice();
        let mut affine = if transfer.affine { particles.affine.as_mut_slice() } else { &mut [] };
        let mut tasks = Vec::with_capacity(blocks.len());
        for (range, above) in blocks.starts.windows(2).zip(&blocks.above) {
            let range = range[0] as usize..range[1] as usize;
            let places = &blocks.places[range.clone()];
            let (my_motions, my_points, my_affine);
            (my_motions, motions) = motions.split_at_mut(range.len());
            (my_points, points) = points.split_at_mut(range.len());
            (my_affine, affine) = affine.split_at_mut(range.len().min(affine.len()));
            let (motions, points, affine) = (my_motions, my_points, my_affine);
            tasks.push(Gather { places, above, nodes, motions, points, affine, rules });
        }
        let tile = || Box::new([Row::default(); TILE * TILE * TILE]);
        tasks.into_par_iter().for_each_init(tile, |tile, block| dispatch(GatherOver { block, tile }));
    }
}

/// The particles of a block.
struct Gather<'a> {
    places: &'a [Place],
    above: &'a [u32; 8],
    nodes: &'a [NodeBlock],
    motions: &'a mut [Row],
    points: &'a mut [Packed],
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

/// A block with memory for the nodes that its particles touch.
struct GatherOver<'a, 'b> {
    block: Gather<'a>,
    tile: &'b mut [Row; TILE * TILE * TILE],
}

impl Kernel for GatherOver<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let Self { block, tile } = self;
        fill_tile::<L>(tile, block.above, block.nodes);
        let rules = block.rules;
        let (mut seen, mut weights) = ([[Row::default(); 3]; WIDTH], Weights::default());
        let mut affine = block.affine.chunks_mut(WIDTH);
        let results = block.motions.chunks_mut(WIDTH).zip(block.points.chunks_mut(WIDTH));
        for (places, (motions, points)) in block.places.chunks(WIDTH).zip(results) {
            weights.find::<L>(places);
            for particle in 0..places.len().min(WIDTH) {
                interpolate::<L>(tile, &places[particle], &weights, particle, &mut seen[particle]);
            }
            if let (Some(motions), Some(points)) = (motions.first_chunk_mut(), points.first_chunk_mut()) {
                rules.advance::<L>(&seen, motions, points);
            } else {
                // The last few, with nothing in the lanes behind them.
                let mut all = ([Row::default(); WIDTH], [Packed::default(); WIDTH]);
                all.0[..motions.len()].copy_from_slice(motions);
                all.1[..points.len()].copy_from_slice(points);
                rules.advance::<L>(&seen, &mut all.0, &mut all.1);
                motions.copy_from_slice(&all.0[..motions.len()]);
                points.copy_from_slice(&all.1[..points.len()]);
            }
            for (affine, seen) in affine.next().unwrap_or_default().iter_mut().zip(&seen) {
                let (k, [x, y]) = (rules.per_cell, [&seen[1].0, &seen[2].0]);
                *affine = Mat3::from_cols_array(&[
                    x[0] * k,
                    x[1] * k,
                    x[2] * k,
                    x[4] * k,
                    x[5] * k,
                    x[6] * k,
                    y[0] * k,
                    y[1] * k,
                    y[2] * k,
                ]);
            }
        }
    }
}

/// One row of each of eight particles, number by number.
#[inline(always)]
fn numbers<L: Lane, const N: usize>(rows: &[[Row; N]; WIDTH], which: usize) -> [L; WIDTH] {
    L::transpose([
        L::load(&rows[0][which]),
        L::load(&rows[1][which]),
        L::load(&rows[2][which]),
        L::load(&rows[3][which]),
        L::load(&rows[4][which]),
        L::load(&rows[5][which]),
        L::load(&rows[6][which]),
        L::load(&rows[7][which]),
    ])
}

impl Rules {
    /// Strains, stresses and velocities of eight particles from what they see of the nodes.
    #[inline(always)]
    fn advance<L: Lane>(
        &self,
        seen: &[[Row; 3]; WIDTH],
        motions: &mut [Row; WIDTH],
        points: &mut [Packed; WIDTH],
    ) {
        let [xx, xy, xz, _, yx, yy, yz, _] = numbers::<L, 3>(seen, 1);
        let [zx, zy, zz, ..] = numbers::<L, 3>(seen, 2);
        let gradient =
            Matrix3([Vector3::new(xx, xy, xz), Vector3::new(yx, yy, yz), Vector3::new(zx, zy, zz)]);
        let first = L::transpose(of_points::<L, 0>(points));
        let [.., volume, pinned] = L::transpose(of_points::<L, 1>(points));
        let [bxx, bxy, byy, bxz, byz, bzz, gain, mass] = first;
        let strain = Symmetric3 { xx: bxx, xy: bxy, yy: byy, xz: bxz, yz: byz, zz: bzz };
        let Strained { strain: b, gain, stress: s } =
            self.model.advance::<L>(gradient, splat(self.per_cell * self.dt), strain, gain);
        let firsts = L::transpose([b.xx, b.xy, b.yy, b.xz, b.yz, b.zz, gain, mass]);
        let seconds = L::transpose([s.xx, s.xy, s.yy, s.xz, s.yz, s.zz, volume, pinned]);
        for ((point, first), second) in points.iter_mut().zip(firsts).zip(seconds) {
            first.store(&mut point.0[0]);
            second.store(&mut point.0[1]);
        }
        let trapped = (s.xx + s.yy + s.zz).min(xx + yy + zz).less(L::zero());
        self.move_on::<L>(seen, trapped, pinned, motions);
    }

    /// Velocities, by equation 7 of Hsu et al. 2023. `trapped` is where the material is under pressure or closing.
    #[inline(always)]
    fn move_on<L: Lane>(
        &self,
        seen: &[[Row; 3]; WIDTH],
        trapped: L::Mask,
        pinned: L,
        motions: &mut [Row; WIDTH],
    ) {
        let [x, y, z, ..] = L::transpose([
            L::load(&motions[0]),
            L::load(&motions[1]),
            L::load(&motions[2]),
            L::load(&motions[3]),
            L::load(&motions[4]),
            L::load(&motions[5]),
            L::load(&motions[6]),
            L::load(&motions[7]),
        ]);
        let before = Vector3::new(x, y, z);
        let [nx, ny, nz, _, ox, oy, oz, _] = numbers::<L, 3>(seen, 0);
        let (new, old) = (Vector3::new(nx, ny, nz), Vector3::new(ox, oy, oz));
        let missed = (before - old) * splat::<L>(self.transfer.flip);
        let [held, parting] = self.transfer.separation;
        let separation = L::select(trapped, splat(held), splat(parting));
        let told = L::zero().less(pinned);
        let velocity = Vector3::select(told, before, new + missed);
        let pace = Vector3::select(told, before, missed.mul_add(separation, new));
        let zero = L::zero();
        let rows = L::transpose([velocity.x, velocity.y, velocity.z, zero, pace.x, pace.y, pace.z, zero]);
        for (motion, row) in motions.iter_mut().zip(rows) {
            row.store(motion);
        }
    }
}

/// One row of eight points.
#[inline(always)]
fn of_points<L: Lane, const ROW: usize>(points: &[Packed; WIDTH]) -> [L; WIDTH] {
    [
        L::load(&points[0].0[ROW]),
        L::load(&points[1].0[ROW]),
        L::load(&points[2].0[ROW]),
        L::load(&points[3].0[ROW]),
        L::load(&points[4].0[ROW]),
        L::load(&points[5].0[ROW]),
        L::load(&points[6].0[ROW]),
        L::load(&points[7].0[ROW]),
    ]
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

/// The velocities at a particle, new and old, and the first moments of the new one along the axes, in cells: along x and y, then z.
#[inline(always)]
fn interpolate<L: Lane>(
    tile: &[Row; TILE * TILE * TILE],
    place: &Place,
    weights: &Weights,
    particle: usize,
    seen: &mut [Row; 3],
) {
    let w0 = weights.own::<L>(0, 0, particle);
    let w1 = weights.own::<L>(0, 1, particle);
    let w2 = weights.own::<L>(0, 2, particle);
    let d0 = weights.slope::<L>(0, 0, particle);
    let d1 = weights.slope::<L>(0, 1, particle);
    let d2 = weights.slope::<L>(0, 2, particle);
    let Some(window) = tile[place[3] as usize..].first_chunk::<WINDOW>() else { return };
    let (mut own, mut x, mut y, mut z) = (L::zero(), L::zero(), L::zero(), L::zero());
    for k in 0..3 {
        let (mut plane, mut plane_x, mut plane_y) = (L::zero(), L::zero(), L::zero());
        for j in 0..3 {
            let at = TILE * (j + TILE * k);
            let (a, b, c) = (L::load(&window[at]), L::load(&window[at + 1]), L::load(&window[at + 2]));
            let line = c.mul_add(w2, b.mul_add(w1, a * w0));
            let line_x = c.mul_add(d2, b.mul_add(d1, a * d0));
            let weight = weights.own::<L>(1, j, particle);
            plane = line.mul_add(weight, plane);
            plane_x = line_x.mul_add(weight, plane_x);
            plane_y = line.mul_add(weights.slope::<L>(1, j, particle), plane_y);
        }
        let weight = weights.own::<L>(2, k, particle);
        own = plane.mul_add(weight, own);
        x = plane_x.mul_add(weight, x);
        y = plane_y.mul_add(weight, y);
        z = plane.mul_add(weights.slope::<L>(2, k, particle), z);
    }
    own.store(&mut seen[0]);
    x.first_halves(y).store(&mut seen[1]);
    z.store(&mut seen[2]);
}
