//! The inner level of the broad phase: a dense grid inside one block, and the pairs of edges that share a cell of it.

use glam::Vec3;

use super::dop::Dop;
use super::grid::{Entry, Hulls};
use super::raster::Lattice;
use super::select::{Earliest, Item, Limits};
use super::{Settings, Tally};
use crate::math::lanes::Lane;

/// Most cells of the inner grid along an axis.
const MOST_CELLS: i32 = 64;
/// Cells along an axis for each square root of an edge.
const CELLS_PER_ROOT: f32 = 0.3;
/// The same for edges that move, which fill more cells.
const CELLS_PER_ROOT_SWEPT: f32 = 0.2;
/// Pairs that are tested exactly at once.
pub(super) const BATCH: usize = 512;

/// What all blocks share.
pub(super) struct Search<'a> {
    /// What the caller asked for.
    pub(super) settings: &'a Settings,
    /// First vertex of the strand that each vertex belongs to.
    pub(super) strands: &'a [u32],
    /// Radius of the edge behind each vertex [m].
    pub(super) radii: &'a [f32],
    /// The blocks.
    pub(super) blocks: Lattice,
    /// How much every edge is thickened when it is drawn into cells [m].
    pub(super) pad: f32,
    /// What is added to half the distance and the edge's own radius in its volume, for rounding [m].
    pub(super) slack: f32,
}

/// The exact test of pairs.
pub(super) trait Narrow<const M: usize>: Sync {
    /// What it finds.
    type Item: Item;
    /// Tests pairs of edges (places in `edges`, later one first) and appends what touches, and its pairs. Only what belongs to `block` counts;
    /// what is later than the `earliest` of both its edges may be left out.
    fn test<L: Lane>(
        &self,
        local: &Local<M>,
        pairs: &[(u32, u32)],
        block: [i32; 3],
        earliest: &mut Earliest,
        out: &mut Vec<Self::Item>,
        found: &mut Vec<(u32, u32)>,
    );
}

/// The edges of one block, side by side in memory.
#[derive(Debug)]
pub(super) struct Local<const M: usize> {
    /// First vertex of each edge.
    pub(super) edges: Vec<u32>,
    /// The points around each edge [m].
    pub(super) hulls: Vec<[Vec3; M]>,
    /// Radius of each edge [m].
    pub(super) radii: Vec<f32>,
    strands: Vec<u32>,
    dops: Vec<Dop>,
    /// How far each edge moves in each direction; empty for edges that stand still.
    motions: Vec<Dop>,
}

impl<const M: usize> Local<M> {
    /// Takes the mean motion of edges that move (two points at the start, two at the end) out of their ends, and returns it [m].
    #[inline(always)]
    fn remove_drift(&mut self) -> Option<Vec3> {
        if M < 4 {
            return None;
        }
        let moved = self.hulls.iter().fold(Vec3::ZERO, |sum, hull| sum + (hull[2] - hull[0]));
        let drift = moved / self.hulls.len().max(1) as f32;
        for hull in &mut self.hulls {
            hull[2] -= drift;
            hull[3] -= drift;
        }
        Some(drift)
    }
}

/// Memory for one block, kept by each thread.
#[derive(Debug)]
pub(super) struct Workspace<const M: usize> {
    local: Local<M>,
    /// Cells of all edges, one edge after the other, and where each edge's begin.
    cells: Vec<u32>,
    first_cell: Vec<u32>,
    /// Where each cell's edges begin in `slots`, and how far it is filled.
    spans: Vec<[u32; 2]>,
    slots: Vec<u32>,
    /// The last edge that met each edge.
    met_by: Vec<u32>,
    /// Edges that share a cell with one.
    candidates: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    /// The pairs of what was found.
    found: Vec<(u32, u32)>,
    limits: Limits,
    earliest: Earliest,
}

impl<const M: usize> Default for Workspace<M> {
    fn default() -> Self {
        let local = Local {
            edges: vec![],
            hulls: vec![],
            radii: vec![],
            strands: vec![],
            dops: vec![],
            motions: vec![],
        };
        Self {
            local,
            cells: vec![],
            first_cell: vec![],
            spans: vec![],
            slots: vec![],
            met_by: vec![],
            candidates: vec![],
            pairs: vec![],
            found: vec![],
            limits: Limits::default(),
            earliest: Earliest::default(),
        }
    }
}

impl<const M: usize> Workspace<M> {
    /// Appends to `out` what is found among the edges of one block, cut to what each edge may keep.
    #[inline(always)]
    pub(super) fn run<L: Lane, N: Narrow<M>>(
        &mut self,
        search: &Search,
        hulls: &impl Hulls<M>,
        narrow: &N,
        entries: &[Entry],
        out: &mut Vec<N::Item>,
        tally: &mut Tally,
    ) {
        if entries.len() < 2 {
            return;
        }
        let block = entries[0].block();
        let drift = self.gather(search, hulls, entries);
        let lattice = inner(&search.blocks, block, drift, entries.len(), search.pad);
        self.draw(&lattice, search.pad);
        let begin = out.len();
        let most = search.settings.keep;
        // Half of this is the most that can be left after a cut.
        let full = 2 * (most * entries.len() + BATCH);
        if M > 2 {
            self.earliest.begin(most, entries.len());
        }
        self.pairs.clear();
        self.found.clear();
        for i in 0..entries.len() {
            self.meet::<L>(i, search, tally);
            if self.pairs.len() >= BATCH || i + 1 == entries.len() {
                for pairs in self.pairs.chunks(BATCH) {
                    narrow.test::<L>(&self.local, pairs, block, &mut self.earliest, out, &mut self.found);
                    if self.found.len() > full {
                        self.limits.cut(most, entries.len(), out, begin, &mut self.found);
                    }
                }
                tally.tested += self.pairs.len() as u64;
                self.pairs.clear();
            }
        }
        tally.found += (out.len() - begin) as u64;
        self.limits.cut(most, entries.len(), out, begin, &mut self.found);
    }

    /// Brings the edges of the block together, without the motion that they share on average [m], which is returned: no pair meets
    /// sooner or later for it, and what is swept becomes small.
    #[inline(always)]
    fn gather(&mut self, search: &Search, hulls: &impl Hulls<M>, entries: &[Entry]) -> Option<Vec3> {
        let local = &mut self.local;
        local.edges.clear();
        local.hulls.clear();
        local.radii.clear();
        local.strands.clear();
        local.dops.clear();
        local.motions.clear();
        for entry in entries {
            local.edges.push(entry.edge);
            local.hulls.push(hulls.hull(entry.edge));
            local.radii.push(search.radii[entry.edge as usize]);
            local.strands.push(search.strands[entry.edge as usize]);
        }
        let drift = local.remove_drift();
        let half = 0.5 * search.settings.distance + search.slack;
        for (hull, radius) in local.hulls.iter().zip(&local.radii) {
            local.dops.push(Dop::new(&hull[..2], half + radius));
            if M > 2 {
                local.motions.push(Dop::new(&[hull[2] - hull[0], hull[3] - hull[1]], 0.0));
            }
        }
        self.candidates.resize(entries.len() + 1, 0);
        self.met_by.clear();
        self.met_by.resize(entries.len(), u32::MAX);
        drift
    }

    /// Draws all edges into the inner grid and makes room for them in its cells.
    #[inline(always)]
    fn draw(&mut self, lattice: &Lattice, pad: f32) {
        let count = lattice.last[0] + 1;
        self.cells.clear();
        self.first_cell.clear();
        self.spans.clear();
        self.spans.resize((count * count * count) as usize, [0; 2]);
        let (cells, spans) = (&mut self.cells, &mut self.spans[..]);
        for hull in &self.local.hulls {
            self.first_cell.push(cells.len() as u32);
            lattice.visit(hull, pad, |[x, y, z]| {
                let cell = (x + count * (y + count * z)) as u32;
                cells.push(cell);
                spans[cell as usize][1] += 1;
            });
        }
        self.first_cell.push(cells.len() as u32);
        let mut sum = 0;
        for span in spans {
            let count = span[1];
            *span = [sum, sum];
            sum += count;
        }
        self.slots.resize(self.cells.len(), 0);
    }

    /// Puts edge `i` into its cells; those before it that are there and whose volumes meet its own become pairs. Nothing here waits
    /// for a guess: what counts is written in any case, and overwritten by the next where it does not.
    #[inline(always)]
    fn meet<L: Lane>(&mut self, i: usize, search: &Search, tally: &mut Tally) {
        let count = self.list_candidates(i, search.settings.most_candidates, tally);
        let local = &self.local;
        let (edges, dops) = (&local.edges[..], &local.dops[..]);
        let opposite = dops[i].opposite();
        let motions = &local.motions[..];
        let opposite_motion = if M > 2 { motions[i].opposite() } else { Dop::default() };
        // Entries are sorted: what comes before has a lower number, and is a neighbour unless below this one.
        let neighbours = edges[i].saturating_sub(search.settings.skip).max(local.strands[i]);
        let begin = self.pairs.len();
        self.pairs.resize(begin + count + 1, (0, 0));
        let (pairs, mut found) = (&mut self.pairs[begin..], 0);
        for &j in &self.candidates[..count] {
            pairs[found] = (i as u32, j);
            let apart = if M > 2 {
                dops[j as usize].stays_apart::<L>(&motions[j as usize], &opposite, &opposite_motion)
            } else {
                dops[j as usize].apart::<L>(&opposite)
            };
            found += usize::from(!apart & (edges[j as usize] < neighbours));
        }
        self.pairs.truncate(begin + found);
        tally.candidates += count as u64;
    }

    /// Puts edge `i` into its cells, lists the edges before it that are there, each once, and returns how many they are.
    #[inline(always)]
    fn list_candidates(&mut self, i: usize, most: usize, tally: &mut Tally) -> usize {
        let (met_by, slots, spans) = (&mut self.met_by[..], &mut self.slots[..], &mut self.spans[..]);
        // There is always room for one that does not count.
        let candidates = &mut self.candidates[..];
        let mut count = 0;
        for &cell in &self.cells[self.first_cell[i] as usize..self.first_cell[i + 1] as usize] {
            let span = &mut spans[cell as usize];
            let (start, end) = (span[0] as usize, span[1] as usize);
            span[1] += 1;
            slots[end] = i as u32;
            let looked_at = end.min(start + most - count);
            tally.dropped += (end - looked_at) as u64;
            for &j in &slots[start..looked_at] {
                let met = &mut met_by[j as usize];
                candidates[count] = j;
                count += usize::from(*met != i as u32);
                *met = i as u32;
            }
        }
        count
    }

    /// Memory held [bytes].
    pub(super) fn bytes(&self) -> usize {
        let words = self.cells.capacity()
            + self.first_cell.capacity()
            + self.slots.capacity()
            + self.met_by.capacity()
            + self.candidates.capacity();
        let pairs = self.spans.capacity() + self.pairs.capacity() + self.found.capacity();
        let edge = M / 2 * size_of::<Dop>() + size_of::<[Vec3; M]>() + 12;
        4 * words + 8 * pairs + edge * self.local.edges.capacity()
    }
}

/// The inner grid of a block: the more edges, the finer, but no finer than the edges are thick. It reaches back to where edges are
/// without their `drift` [m].
fn inner(blocks: &Lattice, block: [i32; 3], drift: Option<Vec3>, edges: usize, pad: f32) -> Lattice {
    let (moving, drift) = (drift.is_some(), drift.unwrap_or_default());
    let side = blocks.cell + drift.abs().max_element();
    let wanted = (edges as f32).sqrt() * if moving { CELLS_PER_ROOT_SWEPT } else { CELLS_PER_ROOT };
    let thick = side / (2.0 * pad).max(1.0e-9);
    let count = (wanted.min(thick) as i32).clamp(1, MOST_CELLS);
    let cell = side / count as f32;
    let corner = blocks.origin + Vec3::from(block.map(|k| k as f32)) * blocks.cell;
    let origin = corner - drift.max(Vec3::ZERO);
    Lattice { origin, cell, inverse: 1.0 / cell, last: [count - 1; 3] }
}
