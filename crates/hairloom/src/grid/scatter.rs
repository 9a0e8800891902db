//! Particles to grid.

use glam::Vec3;
use rayon::prelude::*;

use super::blocks::{NONE, Place, SIDE, TILE};
use super::nodes::Node;
use super::{GridParams, MpmGrid, Particles};
use crate::math::Real;
use crate::math::lanes::{Kernel, Lane, Row, WIDTH, dispatch};

/// What the particles of one block give to the nodes they touch: momentum and mass, then impulse, in eight floats.
#[derive(Debug, Clone)]
pub(super) struct Tile(pub(super) Box<[Row; TILE * TILE * TILE]>);

impl Default for Tile {
    fn default() -> Self {
        Self(Box::new([Row::default(); TILE * TILE * TILE]))
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
    affine: bool,
}

impl MpmGrid {
    /// Every block's particles onto a tile of its own, then every block of nodes from the tiles around it: threads
    /// never meet, and sums are always taken in the same order.
    pub(super) fn scatter_tiles(
        &mut self,
        particles: &Particles,
        forces: &[Vec3],
        params: &GridParams,
        dt: f32,
    ) {
        let cell = params.cell as f32;
        let constants = Constants {
            dt,
            cell,
            gravity: params.gravity * dt,
            stress: -4.0 * dt / cell,
            affine: params.transfer.affine,
        };
        self.tiles.resize_with(self.blocks.len(), Tile::default);
        let blocks = &self.blocks;
        self.tiles.par_iter_mut().zip(blocks.starts.par_windows(2)).for_each(|(tile, range)| {
            let range = range[0] as usize..range[1] as usize;
            dispatch(Scatter {
                particles,
                forces,
                order: &blocks.order[range.clone()],
                places: &blocks.places[range],
                tile: &mut tile.0,
                constants,
            });
        });
        self.nodes.resize(blocks.node_blocks(), [Node::default(); SIDE * SIDE * SIDE]);
        let tiles = &self.tiles;
        self.nodes.par_iter_mut().zip(&blocks.below).for_each(|(nodes, below)| {
            dispatch(Collect { nodes, below, tiles });
        });
    }
}

struct Scatter<'a> {
    particles: &'a Particles,
    forces: &'a [Vec3],
    order: &'a [u32],
    places: &'a [Place],
    tile: &'a mut [Row; TILE * TILE * TILE],
    constants: Constants,
}

impl Kernel for Scatter<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        *self.tile = [Row::default(); TILE * TILE * TILE];
        let mut shares = [[Row::default(); 4]; WIDTH];
        for (order, places) in self.order.chunks(WIDTH).zip(self.places.chunks(WIDTH)) {
            for (share, &particle) in shares.iter_mut().zip(order) {
                fill(share, self.particles, self.forces, particle as usize, &self.constants);
            }
            for (share, place) in shares.iter().zip(places) {
                spread::<L>(self.tile, place, share);
            }
        }
    }
}

/// What a particle hands out: at its own place, and more of it for each cell along the axes.
#[inline(always)]
fn fill(
    share: &mut [Row; 4],
    particles: &Particles,
    forces: &[Vec3],
    particle: usize,
    constants: &Constants,
) {
    let mass = particles.masses[particle];
    let momentum = particles.velocities[particle] * mass;
    let mut impulse = if particles.pinned[particle] { Vec3::ZERO } else { constants.gravity * mass };
    if let Some(&force) = forces.get(particle) {
        impulse += force * constants.dt;
    }
    share[0].0 = [momentum.x, momentum.y, momentum.z, mass, impulse.x, impulse.y, impulse.z, 0.0];
    let s = particles.stresses[particle];
    let k = constants.stress * particles.volumes[particle];
    let rows = [[s.xx, s.xy, s.xz], [s.xy, s.yy, s.yz], [s.xz, s.yz, s.zz]];
    if constants.affine {
        let scale = mass * constants.cell;
        let affine = &particles.affine[particle];
        for ((share, s), c) in
            share[1..].iter_mut().zip(rows).zip([affine.x_axis, affine.y_axis, affine.z_axis])
        {
            share.0 = [c.x * scale, c.y * scale, c.z * scale, 0.0, s[0] * k, s[1] * k, s[2] * k, 0.0];
        }
    } else {
        for (share, s) in share[1..].iter_mut().zip(rows) {
            share.0 = [0.0, 0.0, 0.0, 0.0, s[0] * k, s[1] * k, s[2] * k, 0.0];
        }
    }
}

/// The quadratic B-spline's weights at three nodes, for a point `fraction` cells from the first.
#[inline(always)]
pub(super) fn weights(fraction: f32) -> [f32; 3] {
    let (a, b, c) = (1.5 - fraction, fraction - 1.0, fraction - 0.5);
    [0.5 * a * a, 0.75 - b * b, 0.5 * c * c]
}

/// The same number in every lane.
#[inline(always)]
pub(super) fn splat<L: Real>(value: f32) -> L {
    L::splat(f64::from(value))
}

/// Adds a particle's share to the 27 nodes of its stencil.
#[inline(always)]
fn spread<L: Lane>(tile: &mut [Row; TILE * TILE * TILE], place: &Place, share: &[Row; 4]) {
    let [fx, fy, fz] = place.fraction;
    let (wx, wy, wz) = (weights(fx), weights(fy), weights(fz));
    let (w0, w1, w2) = (splat::<L>(wx[0]), splat::<L>(wx[1]), splat::<L>(wx[2]));
    let (d0, d1, d2) =
        (splat::<L>(-fx * wx[0]), splat::<L>((1.0 - fx) * wx[1]), splat::<L>((2.0 - fx) * wx[2]));
    let (own, x, y, z) = (L::load(&share[0]), L::load(&share[1]), L::load(&share[2]), L::load(&share[3]));
    for k in 0..3 {
        let plane = z.mul_add(splat(k as f32 - fz), own);
        for j in 0..3 {
            let weight = splat::<L>(wz[k] * wy[j]);
            let line = y.mul_add(splat(j as f32 - fy), plane) * weight;
            let slope = x * weight;
            let first = place.base as usize + TILE * (j + TILE * k);
            let Some([a, b, c]) = tile.get_mut(first..first + 3) else { return };
            slope.mul_add(d0, line.mul_add(w0, L::load(a))).store(a);
            slope.mul_add(d1, line.mul_add(w1, L::load(b))).store(b);
            slope.mul_add(d2, line.mul_add(w2, L::load(c))).store(c);
        }
    }
}

/// Sums the tiles that reach into one block of nodes.
struct Collect<'a> {
    nodes: &'a mut [Node; SIDE * SIDE * SIDE],
    below: &'a [u32; 8],
    tiles: &'a [Tile],
}

impl Kernel for Collect<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        *self.nodes = [Node::default(); SIDE * SIDE * SIDE];
        for (corner, &block) in self.below.iter().enumerate() {
            if block == NONE {
                continue;
            }
            let tile = &self.tiles[block as usize].0;
            // A block below along an axis reaches two nodes into this one, with the last two of its tile.
            let shift = [(corner & 1) * SIDE, (corner >> 1 & 1) * SIDE, (corner >> 2) * SIDE];
            let size = [reach(shift[0]), reach(shift[1]), reach(shift[2])];
            for k in 0..size[2] {
                for j in 0..size[1] {
                    let from = shift[0] + TILE * (shift[1] + j + TILE * (shift[2] + k));
                    let to = SIDE * (j + SIDE * k);
                    let sources = &tile[from..from + size[0]];
                    for (node, source) in self.nodes[to..to + size[0]].iter_mut().zip(sources) {
                        (L::load(&node.0) + L::load(source)).store(&mut node.0);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn reach(shift: usize) -> usize {
    if shift == 0 { SIDE } else { TILE - SIDE }
}
