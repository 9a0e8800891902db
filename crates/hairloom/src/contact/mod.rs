//! Contacts between strands: which edges are close, and which meet on their way.
//!
//! # Theory
//!
//! Section 4.5 of Daviet 2023 ("Interactive hair simulation on the GPU using ADMM"). An edge is a capsule. A sparse grid
//! of blocks, each with a dense grid inside, proposes pairs of edges; 18-DOPs (Klosowski et al. 1998) discard most of
//! them; what remains is tested exactly: closest points of two segments for [`Detector::proximity`], additive
//! continuous detection (Li et al. 2021) for [`Detector::continuous`]. Each edge keeps its closest few contacts.
//!
//! # In practice
//!
//! - Edge `e` runs from vertex `e` to vertex `e + 1` of the same strand.
//! - An edge is drawn into every block that it meets, and in each block into the cells of a grid that is the finer the
//!   more edges the block has. A pair may share several blocks: it belongs to the one that holds the middle
//!   between its closest points, so it is found once, without a table of pairs. Pairs that meet on their way are found in each
//!   block, and copies are dropped; there the mean motion of a block's edges is left out, which brings no pair together, and time is
//!   cut into parts: edges that have met as many as they keep look for nobody in later ones.
//! - Results are sorted by pair, and the same for any number of threads.
//!
//! # Departures from the paper
//!
//! - A pair is kept if it is among the closest of either edge ([`Keep::Either`], the paper's words) or of both.
//! - A contact at a vertex between two edges of a strand is reported once, by the edge that begins there.
//! - Blocks follow the mean edge, not the longest: one long edge does not slow down all others. They are four mean edges
//!   wide, and their inner grids have as many cells as the block's edges are worth.
//!
//! # Limits
//!
//! - Distances are computed in single precision relative to the hair's bounding box: a hair a kilometre away
//!   costs the others precision (about 1e-7 of the box).
//! - Hair that lies all in one block is searched by one thread.

mod accd;
mod block;
mod continuous;
pub mod coulomb;
mod dop;
mod error;
mod grid;
mod local;
pub mod nsgs;
mod pairs;
mod proximity;
mod raster;
mod segments;
mod select;

use std::sync::Mutex;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

pub use error::ContactError;
pub use pairs::{Known, find_pair, match_pairs, pair_key};

use crate::math::lanes::{Kernel, Lane, dispatch};
use block::{Narrow, Search, Workspace};
use continuous::{Continuous, Swept, TOUCHING};
use grid::{Grid, Hulls};
use proximity::{Proximity, Still, least_distance};
use select::{Chooser, Chunk, lock};

/// Two edges that are close.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Contact {
    /// The first edge: it runs from vertex `a` to vertex `a + 1`. Less than `b`.
    pub a: u32,
    /// The second edge.
    pub b: u32,
    /// Place of the closest point along the first edge, from 0 to 1.
    pub s: f32,
    /// Place of the closest point along the second edge, from 0 to 1.
    pub t: f32,
    /// Unit vector from the second edge to the first.
    pub normal: Vec3,
    /// Distance between the surfaces [m]; negative where they overlap.
    pub gap: f32,
}

/// Two edges that meet during a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Impact {
    /// Where and how, at the time of the impact.
    pub contact: Contact,
    /// When, from 0 (the start of the step; they touch already) to 1: never later than the true time.
    pub time: f32,
}

/// Which contacts are kept where an edge has more than it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Those among the closest of at least one of their edges: at most `keep` times the number of edges in all, but one
    /// edge may have many.
    #[default]
    Either,
    /// Those among the closest of both their edges: no edge has more than `keep`.
    Both,
}

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Surfaces that are not further apart than this touch [m].
    pub distance: f32,
    /// How many contacts an edge keeps.
    pub keep: usize,
    /// Which contacts are kept.
    pub rule: Keep,
    /// Edges of one strand are compared if more than this many edges apart.
    pub skip: u32,
    /// How many edges an edge is compared with in one block and part of the time, at most; what is beyond is counted as dropped.
    pub most_candidates: usize,
}

impl Settings {
    /// Proximity: the six closest of each edge.
    pub fn proximity(distance: f32) -> Self {
        Self { distance, keep: 6, rule: Keep::Either, skip: 3, most_candidates: 4096 }
    }

    /// Continuous detection: the two earliest of each edge. Edges meet when their surfaces are `distance` apart.
    pub fn continuous(distance: f32) -> Self {
        Self { keep: 2, ..Self::proximity(distance) }
    }
}

/// What a search did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Blocks of the grid that hold an edge.
    pub blocks: u64,
    /// Edges over all blocks.
    pub entries: u64,
    /// Pairs of edges that share a cell.
    pub candidates: u64,
    /// Pairs that were tested exactly.
    pub tested: u64,
    /// Pairs found, before each edge's closest were chosen.
    pub found: u64,
    /// Candidates that were not looked at, because an edge had too many of them. Zero unless hair is absurdly dense.
    pub dropped: u64,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.candidates += other.candidates;
        self.tested += other.tested;
        self.found += other.found;
        self.dropped += other.dropped;
    }
}

/// A position in single or double precision.
pub trait Position: Copy + Send + Sync {
    /// The position in double precision [m].
    fn place(self) -> DVec3;
}

impl Position for Vec3 {
    #[inline(always)]
    fn place(self) -> DVec3 {
        self.as_dvec3()
    }
}

impl Position for DVec3 {
    #[inline(always)]
    fn place(self) -> DVec3 {
        self
    }
}

/// Finds contacts between strands. Keeps its memory between searches.
#[derive(Debug)]
pub struct Detector {
    /// First vertices of all edges.
    edges: Vec<u32>,
    /// First vertex of the strand that each vertex belongs to.
    strands: Vec<u32>,
    /// Radius of the edge behind each vertex [m].
    radii: Vec<f32>,
    /// Whether the strand goes on after the edge behind each vertex.
    goes_on: Vec<bool>,
    largest_radius: f32,
    grid: Grid,
    points: Vec<Vec3>,
    moved: Vec<Vec3>,
    still: Vec<Mutex<Workspace<2>>>,
    swept: Vec<Mutex<Workspace<4>>>,
    found: Vec<Chunk<Contact>>,
    met: Vec<Chunk<Impact>>,
    chooser: Chooser,
}

impl Detector {
    /// A detector for strands whose vertices begin at `offsets` (one more entry than strands), with a radius at each
    /// vertex [m]. An edge is as thick as the thicker of its ends.
    pub fn new(offsets: &[u32], radii: &[f32]) -> Result<Self, ContactError> {
        let vertices = radii.len();
        let bad = |entry| ContactError::BadOffsets { entry, vertices };
        let last = offsets.len().saturating_sub(1);
        if offsets.first() != Some(&0) || offsets[last] as usize != vertices {
            return Err(bad(last));
        }
        if let Some(entry) = offsets.windows(2).position(|pair| pair[1] < pair[0]) {
            return Err(bad(entry + 1));
        }
        if let Some(vertex) = radii.iter().position(|&radius| !(0.0..1.0e6).contains(&radius)) {
            return Err(ContactError::BadRadius { vertex, radius: radii[vertex] });
        }
        let mut detector = Self {
            edges: Vec::with_capacity(vertices),
            strands: vec![0; vertices],
            radii: vec![0.0; vertices],
            goes_on: vec![false; vertices],
            largest_radius: radii.iter().fold(0.0, |largest, &radius| largest.max(radius)),
            grid: Grid::default(),
            points: vec![],
            moved: vec![],
            still: vec![],
            swept: vec![],
            found: vec![],
            met: vec![],
            chooser: Chooser::default(),
        };
        for pair in offsets.windows(2) {
            let (start, end) = (pair[0], pair[1]);
            for vertex in start..end {
                detector.strands[vertex as usize] = start;
                if vertex + 1 < end {
                    detector.edges.push(vertex);
                    detector.radii[vertex as usize] = radii[vertex as usize].max(radii[vertex as usize + 1]);
                    detector.goes_on[vertex as usize] = vertex + 2 < end;
                }
            }
        }
        Ok(detector)
    }

    /// Finds edges whose surfaces are within a distance, sorted by pair, into `contacts`. `previous` holds the
    /// contacts of the step before, sorted: edges that cross each other exactly take their normal from there.
    pub fn proximity<P: Position>(
        &mut self,
        positions: &[P],
        settings: &Settings,
        previous: &[Contact],
        contacts: &mut Vec<Contact>,
    ) -> Result<Tally, ContactError> {
        self.check(positions, settings)?;
        let margin = f64::from(settings.distance) + 2.0 * f64::from(self.largest_radius);
        let (low, high) = bounds(positions, DVec3::ZERO);
        let (origin, size) = (low - margin, (high - low + 2.0 * margin).as_vec3());
        place(positions, origin, &mut self.points);
        let hulls = Still(&self.points);
        let slack = 1.0e-6 * size.max_element();
        let pad = 0.5 * settings.distance + self.largest_radius + slack;
        self.grid.build(&self.edges, &hulls, size, pad);
        let blocks = self.grid.lattice;
        let search =
            Search { settings, strands: &self.strands, radii: &self.radii, blocks, pad, slack, swell: 1.0 };
        let narrow = Proximity { distance: settings.distance, blocks, goes_on: &self.goes_on };
        let tally = search_blocks(&self.grid, &search, &hulls, &narrow, &mut self.still, &mut self.found);
        let found = &mut self.found[..self.grid.chunks().len()];
        self.chooser.choose(found, contacts, positions.len(), settings.keep, settings.rule);
        contacts.par_iter_mut().for_each(|contact| {
            let reach = self.radii[contact.a as usize] + self.radii[contact.b as usize];
            if contact.gap + reach <= least_distance(reach)
                && let Some(before) = find_pair(previous, contact.a, contact.b)
            {
                contact.normal = previous[before].normal;
            }
        });
        Ok(tally)
    }

    /// Finds edges whose surfaces come within a distance while vertices move along lines from `from` to `to`, sorted by
    /// pair, into `impacts`. Edges that touch at the start are reported with time 0. Pairs that are `known` are left out, and
    /// take nobody's place.
    pub fn continuous<P: Position>(
        &mut self,
        from: &[P],
        to: &[P],
        settings: &Settings,
        known: &Known,
        impacts: &mut Vec<Impact>,
    ) -> Result<Tally, ContactError> {
        self.check(from, settings)?;
        self.check(to, settings)?;
        // A motion that all hair shares brings no edges together, and would make every volume larger.
        let sum =
            |positions: &[P]| positions.iter().fold(DVec3::ZERO, |sum, position| sum + position.place());
        let drift = (sum(to) - sum(from)) / from.len().max(1) as f64;
        let margin = f64::from(settings.distance) + 2.0 * f64::from(self.largest_radius);
        let ((low, high), (low_to, high_to)) = (bounds(from, DVec3::ZERO), bounds(to, drift));
        let (low, high) = (low.min(low_to), high.max(high_to));
        let (origin, size) = (low - margin, (high - low + 2.0 * margin).as_vec3());
        place(from, origin, &mut self.points);
        place(to, origin + drift, &mut self.moved);
        let hulls = Swept { from: &self.points, to: &self.moved };
        let slack = 1.0e-6 * size.max_element();
        let pad = TOUCHING * (0.5 * settings.distance + self.largest_radius) + slack;
        self.grid.build(&self.edges, &hulls, size, pad);
        let blocks = self.grid.lattice;
        let search = Search {
            settings,
            strands: &self.strands,
            radii: &self.radii,
            blocks,
            pad,
            slack,
            swell: TOUCHING,
        };
        let narrow = Continuous { distance: settings.distance, from, to, slack, known };
        let tally = search_blocks(&self.grid, &search, &hulls, &narrow, &mut self.swept, &mut self.met);
        let found = &mut self.met[..self.grid.chunks().len()];
        self.chooser.choose(found, impacts, from.len(), settings.keep, settings.rule);
        Ok(tally)
    }

    /// Memory held between searches [bytes].
    pub fn bytes(&self) -> usize {
        let found: usize = self.found.iter().map(Chunk::bytes).sum();
        let met: usize = self.met.iter().map(Chunk::bytes).sum();
        let points = (self.points.capacity() + self.moved.capacity()) * size_of::<Vec3>();
        let still: usize = self.still.iter().map(|workspace| lock(workspace).bytes()).sum();
        let swept: usize = self.swept.iter().map(|workspace| lock(workspace).bytes()).sum();
        self.grid.bytes()
            + self.chooser.bytes()
            + found
            + met
            + points
            + still
            + swept
            + self.radii.len() * 13
    }

    fn check<P: Position>(&self, positions: &[P], settings: &Settings) -> Result<(), ContactError> {
        if !(0.0..1.0e6).contains(&settings.distance) {
            return Err(ContactError::BadDistance { distance: settings.distance });
        }
        if positions.len() != self.strands.len() {
            return Err(ContactError::WrongCount { given: positions.len(), expected: self.strands.len() });
        }
        // NaN is not below anything.
        let is_bad = |p: DVec3| !(p.abs().max_element() < 1.0e6 && p.is_finite());
        match positions.par_iter().position_first(|position| is_bad(position.place())) {
            Some(vertex) => Err(ContactError::BadPosition { vertex }),
            None => Ok(()),
        }
    }
}

/// Lowest and highest coordinates of positions moved back by `drift` [m].
fn bounds<P: Position>(positions: &[P], drift: DVec3) -> (DVec3, DVec3) {
    let empty = || (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = positions
        .par_iter()
        .with_min_len(4096)
        .fold(empty, |(low, high), position| (low.min(position.place()), high.max(position.place())))
        .reduce(empty, |a, b| (a.0.min(b.0), a.1.max(b.1)));
    if positions.is_empty() { (DVec3::ZERO, DVec3::ZERO) } else { (low - drift, high - drift) }
}

/// Positions relative to `origin`, in single precision.
fn place<P: Position>(positions: &[P], origin: DVec3, points: &mut Vec<Vec3>) {
    points.resize(positions.len(), Vec3::ZERO);
    points
        .par_iter_mut()
        .with_min_len(4096)
        .zip(positions)
        .for_each(|(point, position)| *point = (position.place() - origin).as_vec3());
}

/// One task: a range of blocks.
struct Blocks<'a, const M: usize, H, N: Narrow<M>> {
    grid: &'a Grid,
    range: std::ops::Range<u32>,
    search: &'a Search<'a>,
    hulls: &'a H,
    narrow: &'a N,
    workspace: &'a mut Workspace<M>,
    out: &'a mut Chunk<N::Item>,
}

impl<const M: usize, H: Hulls<M>, N: Narrow<M>> Kernel for Blocks<'_, M, H, N> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let Chunk { items: out, tally, .. } = self.out;
        for block in self.range {
            self.workspace.run::<L, N>(
                self.search,
                self.hulls,
                self.narrow,
                self.grid.block(block),
                out,
                tally,
            );
        }
    }
}

/// Searches all blocks; what each chunk of them finds stands in its own list.
fn search_blocks<const M: usize, H: Hulls<M>, N: Narrow<M>>(
    grid: &Grid,
    search: &Search,
    hulls: &H,
    narrow: &N,
    workspaces: &mut Vec<Mutex<Workspace<M>>>,
    found: &mut Vec<Chunk<N::Item>>,
) -> Tally {
    let chunks = grid.chunks();
    workspaces.resize_with(rayon::current_num_threads().max(workspaces.len()), Mutex::default);
    found.resize_with(chunks.len().max(found.len()), Chunk::default);
    let workspaces = &*workspaces;
    found.par_iter_mut().zip(chunks).with_max_len(1).for_each(|(out, range)| {
        out.clear();
        // A thread runs one task at a time, so nobody waits here.
        let mut workspace = lock(&workspaces[rayon::current_thread_index().unwrap_or(0)]);
        dispatch(Blocks {
            grid,
            range: range.clone(),
            search,
            hulls,
            narrow,
            workspace: &mut workspace,
            out: &mut *out,
        });
        out.sort();
    });
    let mut tally =
        Tally { blocks: grid.blocks() as u64, entries: grid.entries() as u64, ..Tally::default() };
    found[..chunks.len()].iter().for_each(|part| tally.add(&part.tally));
    tally
}

#[cfg(test)]
mod tests;
