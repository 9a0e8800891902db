//! Which blocks of the lattice hold particles, and where each particle is in its block.

use std::sync::atomic::{AtomicU32, Ordering};

use glam::{DVec3, IVec3};
use rayon::prelude::*;

use super::GridError;
use crate::math::lanes::{Kernel, Lane, dispatch};

/// Nodes along the side of a block.
pub(super) const SIDE: usize = 4;
/// Nodes along the side of what the particles of a block touch.
pub(super) const TILE: usize = SIDE + 2;
/// Stands for a block that does not exist.
pub(super) const NONE: u32 = u32::MAX;
/// Bits of a block's key for each axis.
const BITS: u32 = 21;

/// Cells between the end of the lattice and the origin.
const BIAS: i64 = (SIDE as i64) << (BITS - 1);
/// Particles that one task locates.
const CHUNK: usize = 2048;

/// Farthest cell from the origin that the lattice reaches.
pub(crate) const REACH: i32 = (1 << (BITS - 1)) * SIDE as i32 - 16;

/// A particle in its block: where it is, in cells from the first node of its stencil (from 0.5 to 1.5), and which node of the tile that is. Four
/// floats, so that two particles are a row.
pub(super) type Place = [f32; 4];

/// The blocks that particles touch, sorted by place. Particles are sorted by block, and within one by index.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    /// Keys of the blocks with particles.
    keys: Vec<u64>,
    /// Where the particles of each block begin, and the end.
    pub starts: Vec<u32>,
    /// The particle of each slot.
    pub order: Order,
    /// The slot of each particle.
    pub slots: Vec<u32>,
    /// The particles' places, by slot; found by whoever reads a block first ([`Settle`]).
    pub places: Vec<Place>,
    /// Keys of the blocks that have nodes: those with particles and their upper neighbours.
    node_keys: Vec<u64>,
    /// For each block with particles the eight blocks that hold the nodes of its tile.
    pub above: Vec<[u32; 8]>,
    /// For each block with nodes the eight blocks with particles whose tiles hold them, or [`NONE`].
    pub below: Vec<[u32; 8]>,
    /// The key of each particle's block.
    found: Vec<u64>,
    /// The number of each particle's block among those that its chunk met.
    numbers: Vec<u32>,
    chunks: Vec<Chunk>,
    table: Table,
}

/// Particles by slot. Threads fill it at slots of their own.
#[derive(Debug, Default)]
pub(super) struct Order(Vec<AtomicU32>);

/// The particle in an entry of an [`Order`].
#[inline(always)]
pub(super) fn particle(entry: &AtomicU32) -> usize {
    entry.load(Ordering::Relaxed) as usize
}

impl std::ops::Deref for Order {
    type Target = [AtomicU32];

    fn deref(&self) -> &[AtomicU32] {
        &self.0
    }
}

impl Clone for Order {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|entry| AtomicU32::new(entry.load(Ordering::Relaxed))).collect())
    }
}

/// The blocks that some particles one after the other lie in.
#[derive(Debug, Clone, Default)]
struct Chunk {
    table: Table,
    /// Keys, in the order in which particles met them.
    met: Vec<u64>,
    /// How many particles lie in each; later the slot of the next of them.
    counts: Vec<u32>,
    /// The number of each among the blocks that all chunks met, later its rank by place.
    ranks: Vec<u32>,
}

impl Chunk {
    /// Numbers the blocks of particles.
    fn number(&mut self, keys: &[u64], numbers: &mut [u32]) {
        self.table.clear();
        self.met.clear();
        self.counts.clear();
        let mut last = (u64::MAX, NONE);
        for (&key, number) in keys.iter().zip(numbers) {
            if key != last.0 {
                let block = self.table.find_or_insert(key, self.met.len() as u32);
                if block as usize == self.met.len() {
                    self.met.push(key);
                    self.counts.push(0);
                }
                last = (key, block);
            }
            self.counts[last.1 as usize] += 1;
            *number = last.1;
        }
    }
}

impl Blocks {
    /// How many blocks have particles.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// How many blocks have nodes.
    pub(super) fn node_blocks(&self) -> usize {
        self.node_keys.len()
    }

    /// The first node of a block with nodes, in cells from the origin.
    pub(super) fn corner(&self, block: usize) -> IVec3 {
        self.node_keys.get(block).map_or(IVec3::ZERO, |&key| unpack(key) * SIDE as i32)
    }

    /// The block with nodes that holds a node, and the node's index within it.
    #[cfg(test)]
    pub(super) fn find_node(&self, node: IVec3) -> Option<(usize, usize)> {
        if node.abs().max_element() > REACH {
            return None;
        }
        let block: IVec3 = node >> 2;
        let local = (node & 3).as_uvec3();
        let index = self.node_keys.binary_search(&pack(block)).ok()?;
        Some((index, (local.x + 4 * local.y + 16 * local.z) as usize))
    }

    /// Finds the block of each particle. After an error there are no particles.
    pub(super) fn bin(
        &mut self,
        positions: &[DVec3],
        cell: f64,
        most_blocks: usize,
    ) -> Result<(), GridError> {
        let binned = self.locate(positions, cell, most_blocks);
        if binned.is_err() {
            *self = Self::default();
        }
        binned
    }

    fn locate(&mut self, positions: &[DVec3], cell: f64, most_blocks: usize) -> Result<(), GridError> {
        let inverse = 1.0 / cell;
        self.found.resize(positions.len(), 0);
        self.numbers.resize(positions.len(), 0);
        self.chunks.resize_with(positions.len().div_ceil(CHUNK), Chunk::default);
        let columns = self.found.par_chunks_mut(CHUNK).zip(positions.par_chunks(CHUNK));
        let columns = columns.zip(self.numbers.par_chunks_mut(CHUNK)).zip(&mut self.chunks);
        let bad = columns.enumerate().filter_map(|(at, (((keys, positions), numbers), chunk))| {
            let bad = dispatch(Locate { positions, keys, inverse });
            chunk.number(keys, numbers);
            bad.map(|particle| at * CHUNK + particle)
        });
        if let Some(particle) = bad.min() {
            return Err(if positions[particle].is_finite() {
                GridError::TooFar { particle, reach: f64::from(REACH) * cell }
            } else {
                GridError::NotFinite { particle, quantity: "position" }
            });
        }
        self.places.resize(positions.len(), [0.0; 4]);
        self.sort(most_blocks)
    }

    /// Numbers the blocks of all chunks by their place, and fills the slots.
    fn sort(&mut self, most_blocks: usize) -> Result<(), GridError> {
        self.table.clear();
        let mut met: Vec<(u64, u32)> = Vec::with_capacity(self.keys.len() + 16);
        for Chunk { met: keys, ranks, .. } in &mut self.chunks {
            ranks.clear();
            for &key in keys.iter() {
                let number = self.table.find_or_insert(key, met.len() as u32);
                if number as usize == met.len() {
                    if met.len() == most_blocks {
                        return Err(GridError::TooManyBlocks { most: most_blocks });
                    }
                    met.push((key, number));
                }
                ranks.push(number);
            }
        }
        met.sort_unstable();
        let mut rank_of = vec![0u32; met.len()];
        met.iter().zip(0..).for_each(|(&(_, number), rank)| rank_of[number as usize] = rank);
        for rank in self.chunks.iter_mut().flat_map(|chunk| &mut chunk.ranks) {
            *rank = rank_of[*rank as usize];
        }
        if !self.keys.iter().eq(met.iter().map(|(key, _)| key)) {
            self.keys.clear();
            self.keys.extend(met.iter().map(|(key, _)| key));
            self.connect();
        }
        self.count();
        self.fill_slots();
        Ok(())
    }

    /// The slot of each particle, and the particle of each slot.
    fn fill_slots(&mut self) {
        let particles = self.numbers.len();
        self.slots.resize(particles, 0);
        self.order.0.resize_with(particles, AtomicU32::default);
        let order = &self.order;
        let chunks = self.slots.par_chunks_mut(CHUNK).zip(self.numbers.par_chunks(CHUNK));
        chunks.zip(&mut self.chunks).enumerate().for_each(|(at, ((slots, numbers), chunk))| {
            for (particle, (slot, &block)) in (at * CHUNK..).zip(slots.iter_mut().zip(numbers)) {
                let next = &mut chunk.counts[block as usize];
                *slot = *next;
                *next += 1;
                // No two particles have one slot.
                order[*slot as usize].store(particle as u32, Ordering::Relaxed);
            }
        });
    }

    /// Where the particles of each block begin, those of each chunk behind those of the chunks before it.
    fn count(&mut self) {
        let mut next = vec![0u32; self.keys.len()];
        for chunk in &mut self.chunks {
            for (&rank, count) in chunk.ranks.iter().zip(&mut chunk.counts) {
                let total = &mut next[rank as usize];
                (*total, *count) = (*total + *count, *total);
            }
        }
        self.starts.clear();
        self.starts.push(0);
        let mut start = 0;
        for total in &mut next {
            start += std::mem::replace(total, start);
            self.starts.push(start);
        }
        for chunk in &mut self.chunks {
            for (&rank, count) in chunk.ranks.iter().zip(&mut chunk.counts) {
                *count += next[rank as usize];
            }
        }
    }

    /// Finds the blocks with nodes and how they lie to those with particles.
    fn connect(&mut self) {
        let around = |key: u64| (0..8).map(move |corner| pack(unpack(key) + offset(corner)));
        self.node_keys.clear();
        self.node_keys.extend(self.keys.iter().flat_map(|&key| around(key)));
        self.node_keys.sort_unstable();
        self.node_keys.dedup();
        self.below.clear();
        self.below.resize(self.node_keys.len(), [NONE; 8]);
        self.above.clear();
        for (block, &key) in self.keys.iter().enumerate() {
            let mut above = [NONE; 8];
            for (corner, key) in around(key).enumerate() {
                if let Ok(index) = self.node_keys.binary_search(&key) {
                    above[corner] = index as u32;
                    self.below[index][corner] = block as u32;
                }
            }
            self.above.push(above);
        }
    }
}

/// Finds the block of each particle; gives the first that is beyond the lattice.
struct Locate<'a> {
    positions: &'a [DVec3],
    keys: &'a mut [u64],
    inverse: f64,
}

impl Kernel for Locate<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run<L: Lane>(self) -> Option<usize> {
        let reach = f64::from(REACH);
        for (at, (position, key)) in self.positions.iter().zip(self.keys).enumerate() {
            let (x, y, z) = (position.x * self.inverse, position.y * self.inverse, position.z * self.inverse);
            // Negated, so that what is no number counts as too far.
            let near = x.abs() < reach && y.abs() < reach && z.abs() < reach;
            if !near {
                return Some(at);
            }
            let (i, j, k) = (number(first_node(x)), number(first_node(y)), number(first_node(z)));
            *key = i >> 2 | (j >> 2) << BITS | (k >> 2) << (2 * BITS);
        }
        None
    }
}

/// Finds the place of each particle in its block.
pub(super) struct Settle<'a> {
    pub positions: &'a [DVec3],
    /// The particles.
    pub order: &'a [AtomicU32],
    pub places: &'a mut [Place],
    /// One over the side of a cell [1/m].
    pub inverse: f64,
}

impl Kernel for Settle<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let tile = TILE as u64;
        for (place, entry) in self.places.iter_mut().zip(self.order) {
            let position = &self.positions[particle(entry)];
            let (x, y, z) = (position.x * self.inverse, position.y * self.inverse, position.z * self.inverse);
            let (i, j, k) = (first_node(x), first_node(y), first_node(z));
            let (u, v, w) = (fraction(x, i), fraction(y, j), fraction(z, k));
            let (i, j, k) = (number(i), number(j), number(k));
            let base = (i & 3) + tile * ((j & 3) + tile * (k & 3));
            *place = [u, v, w, base as u32 as f32];
        }
    }
}

/// 2⁵²: from here on doubles are whole numbers, so that adding it rounds, and the number is in the lowest bits.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// The first node of the stencil of a point along an axis, counted from the end of the lattice, plus 2⁵². A point
/// halfway between two nodes may have either stencil: they give the same weights.
#[inline(always)]
fn first_node(scaled: f64) -> f64 {
    scaled + (WHOLE + BIAS as f64 - 1.0)
}

#[inline(always)]
fn number(first: f64) -> u64 {
    first.to_bits() & ((1 << 52) - 1)
}

#[inline(always)]
fn fraction(scaled: f64, first: f64) -> f32 {
    (scaled - (first - (WHOLE + BIAS as f64))) as f32
}

/// The corner of a cube with these three bits.
pub(super) fn offset(corner: usize) -> IVec3 {
    IVec3::new((corner & 1) as i32, (corner >> 1 & 1) as i32, (corner >> 2) as i32)
}

/// One number for a block, in the order of z, y, x.
fn pack(block: IVec3) -> u64 {
    let axis = |k: i32| (i64::from(k) + (1 << (BITS - 1))) as u64 & ((1 << BITS) - 1);
    axis(block.x) | axis(block.y) << BITS | axis(block.z) << (2 * BITS)
}

fn unpack(key: u64) -> IVec3 {
    let axis = |k: u32| ((key >> (k * BITS)) & ((1 << BITS) - 1)) as i32 - (1 << (BITS - 1));
    IVec3::new(axis(0), axis(1), axis(2))
}

/// Numbers of keys, by open addressing.
#[derive(Debug, Clone, Default)]
struct Table {
    entries: Vec<(u64, u32)>,
    used: usize,
}

impl Table {
    fn clear(&mut self) {
        if self.entries.is_empty() {
            self.entries.resize(256, (0, NONE));
        }
        self.entries.fill((0, NONE));
        self.used = 0;
    }

    /// The number of `key`, which becomes `new` if it had none.
    fn find_or_insert(&mut self, key: u64, new: u32) -> u32 {
        if 2 * self.used >= self.entries.len() {
            let larger = vec![(0, NONE); 2 * self.entries.len()];
            for (key, number) in std::mem::replace(&mut self.entries, larger) {
                if number != NONE {
                    let at = self.probe(key);
                    self.entries[at] = (key, number);
                }
            }
        }
        let at = self.probe(key);
        if self.entries[at].1 == NONE {
            self.entries[at] = (key, new);
            self.used += 1;
        }
        self.entries[at].1
    }

    /// Where `key` is, or would go.
    fn probe(&self, key: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & mask;
        while self.entries[at].1 != NONE && self.entries[at].0 != key {
            at = (at + 1) & mask;
        }
        at
    }
}
