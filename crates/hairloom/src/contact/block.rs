//! The inner level of the broad phase: a dense grid inside one block, and the pairs of edges that share a cell of it.
//!
//! Edges that move sweep over many others. Time is therefore cut into parts, each with a grid of its own that has only those edges
//! which are in the block by then. Most edges of dense hair have met as many as they keep after a few parts, and look for nobody from then on: a
//! pair is only looked at while one of both still looks.

use glam::Vec3;

use super::dop::Dop;
use super::grid::{Entry, Hulls};
use super::local::{Local, Slice};
use super::raster::Lattice;
use super::select::{Earliest, Item, Limits};
use super::{Settings, Tally};
use crate::math::lanes::Lane;

/// Most cells of the inner grid along an axis.
const MOST_CELLS: i32 = 64;
/// Cells along an axis for each square root of an edge.
const CELLS_PER_ROOT: f32 = 0.3;
/// The same for edges that move, which fill more cells.
const CELLS_PER_ROOT_SWEPT: f32 = 0.15;
/// Time is cut into parts in which edges move by so many cells on average, but not into more than the most.
const CELLS_PER_SLICE: f32 = 0.5;
const MOST_SLICES: f32 = 256.0;
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
    /// How much larger than it should be that volume is.
    pub(super) swell: f32,
}

/// A part of space and time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The block's place in the lattice.
    pub(super) block: [i32; 3],
    /// The part of the time.
    pub(super) slice: Slice,
}

/// The exact test of pairs.
pub(super) trait Narrow<const M: usize>: Sync {
    /// What it finds.
    type Item: Item;
    /// Tests pairs of edges (places in `edges`, later one first) and appends what touches, and its pairs. Only what belongs to the
    /// `place` counts; what is later than the `earliest` of both its edges may be left out.
    fn test<L: Lane>(
        &self,
        local: &Local<M>,
        pairs: &[(u32, u32)],
        place: Place,
        earliest: &mut Earliest,
        out: &mut Vec<Self::Item>,
        found: &mut Vec<(u32, u32)>,
    );
}

/// Memory for one block, kept by each thread.
#[derive(Debug)]
pub(super) struct Workspace<const M: usize> {
    local: Local<M>,
    /// What is around each edge in the part of the time that is looked at.
    dops: Vec<Dop>,
    /// Edges in the order in which they are put into cells: first those that look for nobody.
    order: Vec<u32>,
    /// How many of them look for nobody.
    quiet: usize,
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
        Self {
            local: Local::default(),
            dops: vec![],
            order: vec![],
            quiet: 0,
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
        let drift = self.local.gather(entries, hulls, search.strands, search.radii);
        self.candidates.resize(entries.len() + 1, 0);
        self.dops.resize(entries.len(), Dop::default());
        self.found.clear();
        self.earliest.begin(if M > 2 { search.settings.keep } else { 0 }, entries.len());
        let begin = out.len();
        let cell = inner_cell(&search.blocks, entries.len(), search.pad, M > 2);
        let count = (self.local.mean_motion() / (CELLS_PER_SLICE * cell)).ceil().clamp(1.0, MOST_SLICES);
        for index in 0..count as u32 {
            let place = Place { block, slice: Slice::new(index, count as u32) };
            let lattice = inner(&search.blocks, place, drift, cell);
            self.enter(search, place.slice, &lattice);
            if self.quiet < self.order.len() {
                self.draw(place.slice, &lattice, search.pad);
                self.search_slice::<L, N>(search, narrow, place, out, begin, tally);
            }
        }
        tally.found += (out.len() - begin) as u64;
        self.limits.cut(search.settings.keep, entries.len(), out, begin, &mut self.found);
    }

    /// Looks for pairs among the edges that have been drawn.
    #[inline(always)]
    fn search_slice<L: Lane, N: Narrow<M>>(
        &mut self,
        search: &Search,
        narrow: &N,
        place: Place,
        out: &mut Vec<N::Item>,
        begin: usize,
        tally: &mut Tally,
    ) {
        let (most, edges) = (search.settings.keep, self.local.edges.len());
        // Half of this is the most that can be left after a cut.
        let full = 2 * (most * edges + BATCH);
        self.pairs.clear();
        for seat in 0..self.order.len() {
            if seat < self.quiet {
                self.sit_down(seat);
            } else {
                self.meet::<L>(seat, search, tally);
            }
            if self.pairs.len() >= BATCH || seat + 1 == self.order.len() {
                for pairs in self.pairs.chunks(BATCH) {
                    narrow.test::<L>(&self.local, pairs, place, &mut self.earliest, out, &mut self.found);
                    if self.found.len() > full {
                        self.limits.cut(most, edges, out, begin, &mut self.found);
                    }
                }
                tally.tested += self.pairs.len() as u64;
                self.pairs.clear();
            }
        }
    }

    /// Orders the edges that are in the block during a part of the time, first those that have met as many as they keep before it.
    #[inline(always)]
    fn enter(&mut self, search: &Search, slice: Slice, lattice: &Lattice) {
        let half = 0.5 * search.settings.distance + search.slack;
        let low = lattice.origin - search.pad;
        let high = lattice.origin + lattice.cell * (lattice.last[0] + 1) as f32 + search.pad;
        self.order.clear();
        self.quiet = 0;
        for (edge, hull) in self.local.hulls.iter().enumerate() {
            let part = slice.cut(hull);
            let radius = half + self.local.radii[edge];
            if M > 2 {
                let (least, most) = bounds(&part);
                if (most.cmplt(low) | least.cmpgt(high)).any() {
                    continue;
                }
            }
            self.dops[edge] = Dop::new(&part, search.swell * radius);
            self.order.push(edge as u32);
            if self.earliest.is_done(edge, slice.begin) {
                let last = self.order.len() - 1;
                self.order.swap(self.quiet, last);
                self.quiet += 1;
            }
        }
        self.met_by.clear();
        self.met_by.resize(self.local.edges.len(), u32::MAX);
    }

    /// Draws all edges that are there into the inner grid and makes room for them in its cells. Edges that move are drawn where they are in
    /// the middle of the time, thickened by how far they go.
    #[inline(always)]
    fn draw(&mut self, slice: Slice, lattice: &Lattice, pad: f32) {
        let count = lattice.last[0] + 1;
        self.cells.clear();
        self.first_cell.clear();
        self.spans.clear();
        self.spans.resize((count * count * count) as usize, [0; 2]);
        let (cells, spans) = (&mut self.cells, &mut self.spans[..]);
        for &edge in &self.order {
            self.first_cell.push(cells.len() as u32);
            let hull = slice.cut(&self.local.hulls[edge as usize]);
            let (mut ends, mut reach) = ([hull[0], hull[1]], pad);
            if M > 2 {
                let ways = [0.5 * (hull[2] - hull[0]), 0.5 * (hull[3] - hull[1])];
                ends = [ends[0] + ways[0], ends[1] + ways[1]];
                reach += ways[0].abs().max(ways[1].abs()).max_element();
            }
            lattice.visit(&ends, reach, |[x, y, z]| {
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

    /// Puts an edge, given by its place in the order, into its cells.
    #[inline(always)]
    fn sit_down(&mut self, seat: usize) {
        for &cell in &self.cells[self.first_cell[seat] as usize..self.first_cell[seat + 1] as usize] {
            let span = &mut self.spans[cell as usize];
            self.slots[span[1] as usize] = self.order[seat];
            span[1] += 1;
        }
    }

    /// The same; those before it that are there and whose volumes meet its own become pairs. Nothing here waits for a guess: what counts
    /// is written in any case, and overwritten by the next where it does not.
    #[inline(always)]
    fn meet<L: Lane>(&mut self, seat: usize, search: &Search, tally: &mut Tally) {
        let count = self.list_candidates(seat, search.settings.most_candidates, tally);
        let i = self.order[seat];
        let (edges, strands, dops) = (&self.local.edges[..], &self.local.strands[..], &self.dops[..]);
        let opposite = dops[i as usize].opposite();
        let begin = self.pairs.len();
        self.pairs.resize(begin + count + 1, (0, 0));
        let (pairs, mut found) = (&mut self.pairs[begin..], 0);
        for &j in &self.candidates[..count] {
            // Entries are sorted: what comes before has a lower number, and is a neighbour unless below this one.
            let (later, earlier) = (i.max(j), i.min(j));
            let neighbours =
                edges[later as usize].saturating_sub(search.settings.skip).max(strands[later as usize]);
            pairs[found] = (later, earlier);
            let apart = dops[j as usize].apart::<L>(&opposite);
            found += usize::from(!apart & (edges[earlier as usize] < neighbours));
        }
        self.pairs.truncate(begin + found);
        tally.candidates += count as u64;
    }

    /// Puts an edge into its cells, lists the edges before it that are there, each once, and returns how many they are.
    #[inline(always)]
    fn list_candidates(&mut self, seat: usize, most: usize, tally: &mut Tally) -> usize {
        let i = self.order[seat];
        let (met_by, slots, spans) = (&mut self.met_by[..], &mut self.slots[..], &mut self.spans[..]);
        // There is always room for one that does not count.
        let candidates = &mut self.candidates[..];
        let mut count = 0;
        for &cell in &self.cells[self.first_cell[seat] as usize..self.first_cell[seat + 1] as usize] {
            let span = &mut spans[cell as usize];
            let (start, end) = (span[0] as usize, span[1] as usize);
            span[1] += 1;
            slots[end] = i;
            let looked_at = end.min(start + most - count);
            tally.dropped += (end - looked_at) as u64;
            for &j in &slots[start..looked_at] {
                let met = &mut met_by[j as usize];
                candidates[count] = j;
                count += usize::from(*met != i);
                *met = i;
            }
        }
        count
    }

    /// Memory held [bytes].
    pub(super) fn bytes(&self) -> usize {
        let words = self.cells.capacity()
            + self.order.capacity()
            + self.first_cell.capacity()
            + self.slots.capacity()
            + self.met_by.capacity()
            + self.candidates.capacity();
        let pairs = self.spans.capacity() + self.pairs.capacity() + self.found.capacity();
        4 * words + 8 * pairs + size_of::<Dop>() * self.dops.capacity() + self.local.bytes()
    }
}

/// Lowest and highest coordinates of points [m].
#[inline(always)]
fn bounds<const M: usize>(points: &[Vec3; M]) -> (Vec3, Vec3) {
    let (mut low, mut high) = (points[0], points[0]);
    for &point in &points[1..] {
        low = low.min(point);
        high = high.max(point);
    }
    (low, high)
}

/// The side of a cell of a block's inner grid: the more edges, the finer, but no finer than the edges are thick [m].
fn inner_cell(blocks: &Lattice, edges: usize, pad: f32, moving: bool) -> f32 {
    let wanted = (edges as f32).sqrt() * if moving { CELLS_PER_ROOT_SWEPT } else { CELLS_PER_ROOT };
    let thick = blocks.cell / (2.0 * pad).max(1.0e-9);
    blocks.cell / (wanted.min(thick) as i32).clamp(1, MOST_CELLS) as f32
}

/// The inner grid of a block, with cells of about a size [m]: where the block is to be found in a part of the time by edges that are
/// seen without their `drift` [m].
fn inner(blocks: &Lattice, place: Place, drift: Vec3, cell: f32) -> Lattice {
    let (gone, going) = (drift * place.slice.begin, drift * (place.slice.end - place.slice.begin));
    let side = blocks.cell + going.abs().max_element();
    // What rounding takes off is no cell less.
    let count = ((1.0001 * side / cell) as i32).clamp(1, MOST_CELLS);
    let corner = blocks.origin + Vec3::from(place.block.map(|k| k as f32)) * blocks.cell;
    let cell = side / count as f32;
    Lattice { origin: corner - gone - going.max(Vec3::ZERO), cell, inverse: 1.0 / cell, last: [count - 1; 3] }
}
