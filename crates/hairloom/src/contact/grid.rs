//! The outer level of the broad phase: a sparse grid of blocks, each with the edges that may reach into it.

use std::ops::Range;

use glam::Vec3;
use rayon::prelude::*;

use super::raster::Lattice;

/// Edges that one task sorts into blocks.
const EDGES_PER_TASK: usize = 4096;
/// Entries that one task searches, about.
const ENTRIES_PER_CHUNK: usize = 8192;
/// Most tasks that search.
const MOST_CHUNKS: usize = 512;
/// Side of a block, in mean edges, and in what edges that move sweep on average.
const EDGES_PER_BLOCK: f32 = 4.0;
const SWEEPS_PER_BLOCK: f32 = 3.0;
/// Bits of a block's key for each axis.
const BITS: u32 = 21;
/// Most entries per edge, on average; the blocks grow where there would be more.
const MOST_ENTRIES: u64 = 24;

/// What the broad phase bounds: edges at rest (two points) or on their way (four).
pub(super) trait Hulls<const M: usize>: Sync {
    /// Points whose hull holds the edge that begins at vertex `edge` [m].
    fn hull(&self, edge: u32) -> [Vec3; M];
}

/// An edge in a block. Sorted by block, then by edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    block: u64,
    /// The edge.
    pub(super) edge: u32,
}

impl Entry {
    /// The block's place in the lattice.
    pub(super) fn block(&self) -> [i32; 3] {
        let mask = (1 << BITS) - 1;
        [self.block & mask, (self.block >> BITS) & mask, self.block >> (2 * BITS)].map(|k| k as i32)
    }
}

/// Blocks with their edges.
#[derive(Debug)]
pub(super) struct Grid {
    /// The blocks' lattice.
    pub(super) lattice: Lattice,
    entries: Vec<Entry>,
    /// Where each block's entries begin, and the end.
    starts: Vec<u32>,
    /// Ranges of blocks with about as many entries each.
    chunks: Vec<Range<u32>>,
    pieces: Vec<Vec<Entry>>,
}

impl Default for Grid {
    fn default() -> Self {
        let lattice = Lattice { origin: Vec3::ZERO, cell: 1.0, inverse: 1.0, last: [0; 3] };
        Self { lattice, entries: vec![], starts: vec![], chunks: vec![], pieces: vec![] }
    }
}

impl Grid {
    /// Sorts edges, thickened by `pad` [m], into blocks. Coordinates lie between 0 and `size` [m].
    pub(super) fn build<const M: usize>(
        &mut self,
        edges: &[u32],
        hulls: &impl Hulls<M>,
        size: Vec3,
        pad: f32,
    ) {
        self.lattice = lattice(edges, hulls, size, pad);
        let lattice = self.lattice;
        let tasks = edges.len().div_ceil(EDGES_PER_TASK);
        self.pieces.resize_with(tasks.max(self.pieces.len()), Vec::new);
        self.pieces.par_iter_mut().zip(edges.par_chunks(EDGES_PER_TASK)).for_each(|(piece, edges)| {
            piece.clear();
            for &edge in edges {
                lattice.visit(&hulls.hull(edge), pad, |cell| {
                    let [x, y, z] = cell.map(|k| k as u64);
                    piece.push(Entry { block: x | y << BITS | z << (2 * BITS), edge });
                });
            }
        });
        self.entries.clear();
        self.pieces[..tasks].iter().for_each(|piece| self.entries.extend_from_slice(piece));
        self.entries.par_sort_unstable();
        self.find_blocks();
    }

    fn find_blocks(&mut self) {
        self.starts.clear();
        self.chunks.clear();
        let per_chunk = ENTRIES_PER_CHUNK.max(self.entries.len() / MOST_CHUNKS);
        let mut before = None;
        let (mut chunk, mut chunk_start) = (0, 0);
        for (index, entry) in self.entries.iter().enumerate() {
            if before != Some(entry.block) {
                if index - chunk_start >= per_chunk {
                    self.chunks.push(chunk..self.starts.len() as u32);
                    (chunk, chunk_start) = (self.starts.len() as u32, index);
                }
                self.starts.push(index as u32);
                before = Some(entry.block);
            }
        }
        if !self.entries.is_empty() {
            self.chunks.push(chunk..self.starts.len() as u32);
        }
        self.starts.push(self.entries.len() as u32);
    }

    /// Ranges of blocks, for tasks of about the same size.
    pub(super) fn chunks(&self) -> &[Range<u32>] {
        &self.chunks
    }

    /// The entries of one block.
    pub(super) fn block(&self, block: u32) -> &[Entry] {
        &self.entries[self.starts[block as usize] as usize..self.starts[block as usize + 1] as usize]
    }

    /// How many blocks hold an edge.
    pub(super) fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many entries all blocks have.
    pub(super) fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Memory held [bytes].
    pub(super) fn bytes(&self) -> usize {
        let pieces: usize = self.pieces.iter().map(Vec::capacity).sum();
        (self.entries.capacity() + pieces) * size_of::<Entry>() + self.starts.capacity() * 4
    }
}

/// Blocks of a few mean edges, as many as 21 bits can name along each axis, and never so many that
/// edges far longer than the mean fill memory.
fn lattice<const M: usize>(edges: &[u32], hulls: &impl Hulls<M>, size: Vec3, pad: f32) -> Lattice {
    // Whole micrometres add up to the same sum in any order.
    let sum: u64 =
        edges.par_iter().map(|&edge| (extent(&hulls.hull(edge)).max_element() * 1.0e6) as u64).sum();
    let mean = (sum as f64 * 1.0e-6 / edges.len().max(1) as f64) as f32;
    let mut cell = (if M > 2 { SWEEPS_PER_BLOCK } else { EDGES_PER_BLOCK } * mean)
        .max(4.0 * pad)
        .max(size.max_element() / (1 << (BITS - 1)) as f32)
        .max(1.0e-9);
    let cells = |cell: f32| -> u64 {
        edges
            .par_iter()
            .map(|&edge| cells(extent(&hulls.hull(edge)), cell, M > 2))
            .fold(|| 0, u64::saturating_add)
            .reduce(|| 0, u64::saturating_add)
    };
    while cells(cell) > MOST_ENTRIES * edges.len() as u64 {
        cell *= 2.0;
    }
    let last = (size / cell).to_array().map(|count| (count as i32).min((1 << BITS) - 1));
    Lattice { origin: Vec3::ZERO, cell, inverse: 1.0 / cell, last }
}

fn extent<const M: usize>(points: &[Vec3; M]) -> Vec3 {
    let (low, high) =
        points[1..].iter().fold((points[0], points[0]), |(low, high), &p| (low.min(p), high.max(p)));
    high - low
}

/// A bound on how many blocks of size `cell` a hull of this extent meets: the whole box for what moves, a
/// band along the longest side for a segment.
fn cells(extent: Vec3, cell: f32, whole: bool) -> u64 {
    let mut sides = (extent / cell).to_array();
    sides.sort_unstable_by(f32::total_cmp);
    let [c, b, a] = sides.map(|side| side + 1.0);
    if whole { (a * b * c) as u64 } else { (a * (b / a + 1.0) * (c / a + 1.0)) as u64 }
}
