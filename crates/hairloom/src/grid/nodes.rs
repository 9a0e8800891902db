//! What happens at the nodes between the transfers.

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::blocks::{NONE, SIDE, TILE};
use super::boundary::Boundary;
use super::scatter::{Tile, region, splat};
use super::{GridParams, MpmGrid, Phase, within_block};
use crate::math::lanes::{Kernel, Lane, Row, dispatch};

/// Mass [kg] below which a node counts as empty: what is lighter has lost its digits.
const LEAST_MASS: f32 = 1e-34;

/// A node in eight floats. After the scatter: momentum [kg m/s] and mass [kg], then impulse [N s]. After the update:
/// new velocity [m/s] and mass, then old velocity.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Node(pub(super) Row);

/// The nodes of a block, x fastest.
pub(super) type NodeBlock = [Node; SIDE * SIDE * SIDE];

impl Node {
    /// The first three floats: momentum [kg m/s] after the scatter, new velocity [m/s] after the update.
    #[inline(always)]
    pub fn first(&self) -> Vec3 {
        Vec3::new(self.0.0[0], self.0.0[1], self.0.0[2])
    }

    /// The last three floats: impulse [N s] of all forces after the scatter, old velocity [m/s] after the update.
    #[inline(always)]
    pub fn second(&self) -> Vec3 {
        Vec3::new(self.0.0[4], self.0.0[5], self.0.0[6])
    }

    /// Mass [kg].
    #[inline(always)]
    pub fn mass(&self) -> f32 {
        self.0.0[3]
    }

    #[inline(always)]
    fn set(&mut self, first: Vec3, second: Vec3) {
        self.0.0 = [first.x, first.y, first.z, self.0.0[3], second.x, second.y, second.z, 0.0];
    }
}

impl MpmGrid {
    /// Momentum, mass and impulse of all nodes from the tiles, always summed in the same order.
    #[cfg(test)]
    pub(super) fn collect_tiles(&mut self) {
        self.visit_nodes(|nodes, below, tiles, _| dispatch(Collect { nodes, below, tiles }));
    }

    /// Velocities of all nodes from momentum and impulse, and then no node goes through a boundary.
    #[cfg(test)]
    pub(super) fn update_nodes(&mut self, params: &GridParams, boundary: &dyn Boundary, dt: f32) {
        let cell = params.cell as f32;
        self.visit_nodes(|nodes, _, _, corner| {
            let fastest = dispatch(Accelerate { nodes });
            bound_block(nodes, corner, cell, boundary, fastest * dt, dt);
        });
    }

    /// Momentum, mass and impulse of all nodes from the tiles, always summed in the same order; then velocities, such that no node goes
    /// through a boundary. Nodes pass through the cache once.
    pub(crate) fn collect_and_update(&mut self, params: &GridParams, boundary: &dyn Boundary, dt: f32) {
        self.phase = Phase::Updated;
        let cell = params.cell as f32;
        self.visit_nodes(|nodes, below, tiles, corner| {
            dispatch(Collect { nodes, below, tiles });
            let fastest = dispatch(Accelerate { nodes });
            bound_block(nodes, corner, cell, boundary, fastest * dt, dt);
        });
    }

    /// Visits every block of nodes, with the blocks of particles below it, all tiles, and its first node.
    fn visit_nodes(&mut self, visit: impl Fn(&mut NodeBlock, &[u32; 8], &[Tile], IVec3) + Sync) {
        let (blocks, tiles) = (&self.blocks, &self.tiles);
        self.nodes.resize(blocks.node_blocks(), [Node::default(); SIDE * SIDE * SIDE]);
        let nodes = self.nodes.par_iter_mut().zip(&blocks.below).enumerate().with_min_len(8);
        nodes.for_each(|(index, (nodes, below))| visit(nodes, below, tiles, blocks.corner(index)));
    }
}

/// Sums the tiles that reach into one block of nodes.
struct Collect<'a> {
    nodes: &'a mut NodeBlock,
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
            let [x, y, z] = region(corner);
            let mut sources = self.tiles[block as usize].region(corner).chunks_exact(x);
            for k in 0..z {
                for j in 0..y {
                    let nodes = &mut self.nodes[SIDE * (j + SIDE * k)..];
                    let sources = sources.next().unwrap_or_default();
                    if x == SIDE {
                        add::<L, SIDE>(sources, nodes);
                    } else {
                        add::<L, { TILE - SIDE }>(sources, nodes);
                    }
                }
            }
        }
    }
}

/// Adds a few rows.
#[inline(always)]
fn add<L: Lane, const N: usize>(from: &[Row], to: &mut [Node]) {
    if let (Some(from), Some(to)) = (from.first_chunk::<N>(), to.first_chunk_mut::<N>()) {
        for (from, to) in from.iter().zip(to) {
            (L::load(&to.0) + L::load(from)).store(&mut to.0);
        }
    }
}

/// Turns momentum and impulse into velocities; gives a speed that none of the new ones exceeds [m/s].
struct Accelerate<'a> {
    nodes: &'a mut NodeBlock,
}

impl Kernel for Accelerate<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<L: Lane>(self) -> f32 {
        let first = L::load(&Row([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
        let (mut fastest, mut largest) = (L::zero(), Row::default());
        for node in self.nodes.iter_mut() {
            let mass = node.mass();
            let inverse = if mass > LEAST_MASS { 1.0 / mass } else { 0.0 };
            // Old velocity and change of velocity.
            let rates = L::load(&node.0) * splat::<L>(inverse);
            let velocities = rates.mul_add(first, rates.swap_halves());
            velocities.store(&mut node.0);
            (node.0.0[3], node.0.0[7]) = (mass, 0.0);
            fastest = fastest.max(velocities * velocities);
        }
        fastest.store(&mut largest);
        (largest.0[0] + largest.0[1] + largest.0[2]).sqrt()
    }
}

/// Applies a boundary to the nodes of a block, looking closely only where it may be.
fn bound_block(
    nodes: &mut NodeBlock,
    corner: IVec3,
    cell: f32,
    boundary: &dyn Boundary,
    reach: f32,
    dt: f32,
) {
    if boundary.is_empty() {
        return;
    }
    let half = 0.5 * (SIDE - 1) as f32;
    let centre = (corner.as_vec3() + half) * cell;
    let room = boundary.clearance(centre);
    if room > 3f32.sqrt() * half * cell + reach {
        return;
    }
    let (mut count, mut full) = (0, [0usize; SIDE * SIDE * SIDE]);
    let mut sight = [[0.0f32; SIDE * SIDE * SIDE]; 4];
    let [xs, ys, zs, clearances] = &mut sight;
    for (at, node) in nodes.iter().enumerate() {
        let point = (corner + within_block(at)).as_vec3() * cell;
        // No distance changes faster than the place.
        if node.mass() > LEAST_MASS && room - point.distance(centre) <= reach {
            (xs[count], ys[count], zs[count]) = point.into();
            full[count] = at;
            count += 1;
        }
    }
    boundary.clearances([&xs[..count], &ys[..count], &zs[..count]], &mut clearances[..count]);
    for (place, &at) in full[..count].iter().enumerate() {
        let (node, point) = (&mut nodes[at], Vec3::new(xs[place], ys[place], zs[place]));
        let mut velocity = node.first();
        if clearances[place] <= velocity.length() * dt {
            boundary.contacts(point, &mut |contact| velocity = contact.bounded(velocity, dt));
            node.set(velocity, node.second());
        }
    }
}
