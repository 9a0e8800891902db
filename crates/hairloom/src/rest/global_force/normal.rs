//! A D Aᵀ on the nodes: its blocks, and its factors.
//!
//! Nodes fill the space around the head once, however many strands there are, so this matrix stays small where hair is
//! dense: particles enter by dense products, a cell at a time.

use std::collections::BTreeSet;

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::dissection::{Front, dissect};
use super::factor::{Dense, Factors};
use super::programme::{Programme, matrix};
use crate::math::lanes::{Kernel, Lane, dispatch};

/// Three rows for each of a cell's 27 nodes, and some that stay zero, so that rows come in eights.
const ROWS: usize = 88;
/// Cells whose blocks are held at a time.
const WAVE: usize = 64;

/// What a particle adds, and what a segment adds: square roots of the blocks of D.
pub(super) trait Roots: Sync {
    /// R with R Rᵀ = D of a particle's stress, by columns, in the basis of stresses; none where it has no stress.
    fn stress(&self, particle: usize) -> Option<[[f64; 6]; 6]>;
    /// R with R Rᵀ = D of a segment's force, in world axes.
    fn force(&self, segment: usize) -> DMat3;
}

/// Segments from one cell to another, or within one.
#[derive(Debug, Clone)]
struct Link {
    from: u32,
    to: u32,
    segments: Vec<u32>,
}

/// Which nodes meet: blocks of a symmetric matrix.
#[derive(Debug, Clone, Default)]
struct Pattern {
    /// Nodes that each node meets, itself among them, rising.
    rows: Vec<u32>,
    /// Where the rows of each node begin; one more entry than nodes.
    starts: Vec<usize>,
    /// Where the blocks of each column, at and below the diagonal, begin.
    block_starts: Vec<usize>,
}

impl Pattern {
    fn neighbours(&self, node: u32) -> &[u32] {
        &self.rows[self.starts[node as usize]..self.starts[node as usize + 1]]
    }

    /// Where the block of a row at or below the diagonal is.
    fn find(&self, row: u32, column: u32) -> Option<usize> {
        let all = self.neighbours(column);
        let above = all.len() - (self.block_starts[column as usize + 1] - self.block_starts[column as usize]);
        let at = all[above..].binary_search(&row).ok()?;
        Some(self.block_starts[column as usize] + at)
    }
}

/// The matrix and its factors.
pub(super) struct Normal {
    links: Vec<Link>,
    pattern: Pattern,
    /// By columns, each at and below the diagonal.
    blocks: Vec<[f64; 9]>,
    fronts: Vec<Front>,
    /// The place of each node in the order of elimination.
    place: Vec<u32>,
    factors: Factors,
}

impl Normal {
    /// Finds which nodes meet, and the order to eliminate them in.
    pub(super) fn new(programme: &Programme) -> Self {
        let links = links(programme);
        let pattern = pattern(programme, &links);
        let (fronts, place) = dissect(&programme.lattice, &|node| pattern.neighbours(node));
        let blocks = vec![[0.0; 9]; pattern.block_starts.last().copied().unwrap_or(0)];
        Self { links, pattern, blocks, fronts, place, factors: Factors::default() }
    }

    /// Assembles and factors the matrix.
    pub(super) fn factor(&mut self, programme: &Programme, roots: &impl Roots) {
        self.blocks.fill([0.0; 9]);
        self.assemble_cells(programme, roots);
        self.assemble_links(programme, roots);
        self.scale(&programme.row_scales);
        self.factors = Factors::default();
        self.factors = Factors::new(&self.fronts, &self.place, |front, dense| self.fill(front, dense));
    }

    /// Solves with the factors, in place.
    pub(super) fn solve(&self, right: &mut [DVec3]) {
        self.factors.solve(&self.fronts, right);
    }

    /// Adds the columns of a front's own nodes.
    fn fill(&self, front: &Front, dense: &mut Dense) {
        for (j, &column) in front.own.iter().enumerate() {
            for &row in self.pattern.neighbours(column) {
                if self.place[row as usize] < self.place[column as usize] {
                    continue;
                }
                let local = front.local(row, &self.place);
                if let Some(block) = self.pattern.find(row.max(column), row.min(column)) {
                    dense.add_block(local, j, &self.blocks[block], row < column);
                }
            }
        }
    }

    fn assemble_cells(&mut self, programme: &Programme, roots: &impl Roots) {
        let lattice = &programme.lattice;
        for first in (0..lattice.cells.len()).step_by(WAVE) {
            let wave = first..(first + WAVE).min(lattice.cells.len());
            let tiles: Vec<Vec<f64>> =
                wave.clone().into_par_iter().map(|cell| cell_tile(programme, roots, cell)).collect();
            for (cell, tile) in wave.zip(&tiles) {
                let nodes = &lattice.cells[cell];
                self.scatter(tile, nodes, nodes, false);
            }
        }
    }

    fn assemble_links(&mut self, programme: &Programme, roots: &impl Roots) {
        let links = std::mem::take(&mut self.links);
        for wave in links.chunks(WAVE) {
            let tiles: Vec<Vec<f64>> =
                wave.par_iter().map(|link| link_tile(programme, roots, link)).collect();
            for (link, tile) in wave.iter().zip(&tiles) {
                let cells = &programme.lattice.cells;
                self.scatter(tile, &cells[link.to as usize], &cells[link.from as usize], true);
            }
        }
        self.links = links;
    }

    /// Adds a tile, by columns, whose rows belong to `rows` and columns to `columns`; and its transpose, if `both`.
    fn scatter(&mut self, tile: &[f64], rows: &[u32; 27], columns: &[u32; 27], both: bool) {
        for (b, &column) in columns.iter().enumerate() {
            for (a, &row) in rows.iter().enumerate() {
                if row < column && !both {
                    continue;
                }
                let Some(at) = self.pattern.find(row.max(column), row.min(column)) else { continue };
                let block = &mut self.blocks[at];
                for j in 0..3 {
                    for i in 0..3 {
                        let (r, c) = (3 * a + i, 3 * b + j);
                        let (r, c) = if both || r >= c { (r, c) } else { (c, r) };
                        let value = tile[ROWS * c + r];
                        if row >= column {
                            block[3 * j + i] += value;
                        }
                        if both && row <= column {
                            block[3 * i + j] += value;
                        }
                    }
                }
            }
        }
    }

    /// Scales rows and columns. Rows that others imply leave no pivot; a trace of the diagonal stands in for it.
    fn scale(&mut self, scales: &[f64]) {
        for (column, &scale) in scales.iter().enumerate() {
            let range = self.pattern.block_starts[column]..self.pattern.block_starts[column + 1];
            let all = self.pattern.neighbours(column as u32);
            let rows = &all[all.len() - range.len()..];
            let blocks = &mut self.blocks[range];
            for (block, &row) in blocks.iter_mut().zip(rows) {
                block.iter_mut().for_each(|value| *value *= scale * scales[row as usize]);
            }
            if let Some(first) = blocks.first_mut() {
                [0, 4, 8].iter().for_each(|&at| first[at] *= 1.0 + 1e-12);
            }
        }
    }
}

/// What the particles of a cell add to its nodes, by columns; at and below the diagonal.
fn cell_tile(programme: &Programme, roots: &impl Roots, cell: usize) -> Vec<f64> {
    let members = programme.lattice.members(cell);
    let mut columns: Vec<f64> = Vec::with_capacity(ROWS * 12 * members.len());
    for &particle in members {
        let particle = particle as usize;
        let place = &programme.lattice.places[particle];
        for root in roots.stress(particle).into_iter().flatten() {
            let stress = matrix(root);
            columns.extend(place.nodes().flat_map(|(_, gradient)| (-(stress * gradient)).to_array()));
            columns.extend([0.0; ROWS - 81]);
        }
        if programme.free[particle] {
            for segment in programme.beside[particle] {
                if programme.segments.get(segment as usize).is_some() {
                    push_force_columns(programme, roots, particle, segment, &mut columns);
                }
            }
        }
    }
    let mut tile = vec![0.0; ROWS * ROWS];
    dispatch(Product { tile: &mut tile, left: &columns, right: &columns, factor: 1.0, below: true });
    tile
}

/// What segments between two cells add to the nodes of the one (rows: those of the vertex nearer to the tip) against
/// those of the other, by columns.
fn link_tile(programme: &Programme, roots: &impl Roots, link: &Link) -> Vec<f64> {
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for &segment in &link.segments {
        let vertex = programme.segments[segment as usize].vertex as usize;
        push_force_columns(programme, roots, vertex, segment, &mut near);
        push_force_columns(programme, roots, vertex + 1, segment, &mut far);
    }
    let mut tile = vec![0.0; ROWS * ROWS];
    dispatch(Product { tile: &mut tile, left: &far, right: &near, factor: -1.0, below: false });
    tile
}

fn push_force_columns(
    programme: &Programme,
    roots: &impl Roots,
    particle: usize,
    segment: u32,
    columns: &mut Vec<f64>,
) {
    let root = roots.force(segment as usize);
    let place = &programme.lattice.places[particle];
    for axis in [root.x_axis, root.y_axis, root.z_axis] {
        columns.extend(place.nodes().flat_map(|(weight, _)| (axis * weight).to_array()));
        columns.extend([0.0; ROWS - 81]);
    }
}

/// tile += factor · left rightᵀ, all by columns of `ROWS` rows; or only about what is at and below the diagonal.
struct Product<'a> {
    tile: &'a mut [f64],
    left: &'a [f64],
    right: &'a [f64],
    factor: f64,
    below: bool,
}

impl Kernel for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        for column in (0..ROWS).step_by(4) {
            let first = if self.below { column / 8 * 8 } else { 0 };
            for row in (first..ROWS).step_by(8) {
                let mut sums = [[0.0f64; 8]; 4];
                for (left, right) in self.left.chunks_exact(ROWS).zip(self.right.chunks_exact(ROWS)) {
                    let l: &[f64] = &left[row..row + 8];
                    let r: &[f64] = &right[column..column + 4];
                    for (sum, r) in sums.iter_mut().zip(r) {
                        for (s, l) in sum.iter_mut().zip(l) {
                            *s = r.mul_add(*l, *s);
                        }
                    }
                }
                for (c, sum) in sums.iter().enumerate() {
                    let at = ROWS * (column + c) + row;
                    for (x, s) in self.tile[at..at + 8].iter_mut().zip(sum) {
                        *x += self.factor * s;
                    }
                }
            }
        }
    }
}

/// Segments with two free ends, by the cells of these.
fn links(programme: &Programme) -> Vec<Link> {
    let cell = |vertex: usize| programme.lattice.places[vertex].cell;
    let mut keyed: Vec<(u32, u32, u32)> = Vec::new();
    for (index, segment) in programme.segments.iter().enumerate() {
        let vertex = segment.vertex as usize;
        if programme.free[vertex] && programme.free[vertex + 1] {
            keyed.push((cell(vertex), cell(vertex + 1), index as u32));
        }
    }
    keyed.sort_unstable();
    keyed
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .map(|group| Link { from: group[0].0, to: group[0].1, segments: group.iter().map(|k| k.2).collect() })
        .collect()
}

/// Nodes meet where a cell, or two cells that a segment joins, hold both.
fn pattern(programme: &Programme, links: &[Link]) -> Pattern {
    let lattice = &programme.lattice;
    let mut partners: Vec<BTreeSet<u32>> =
        (0..lattice.cells.len() as u32).map(|cell| BTreeSet::from([cell])).collect();
    for link in links {
        partners[link.from as usize].insert(link.to);
        partners[link.to as usize].insert(link.from);
    }
    let row = |node: usize| {
        let owners = lattice.owners_of(node).iter();
        let cells: BTreeSet<u32> =
            owners.flat_map(|&owner| partners[owner as usize / 27].iter().copied()).collect();
        let mut rows: Vec<u32> = cells.iter().flat_map(|&cell| lattice.cells[cell as usize]).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    };
    let all: Vec<Vec<u32>> = (0..lattice.nodes()).into_par_iter().map(row).collect();
    let (mut starts, mut block_starts) = (vec![0], vec![0]);
    let (mut rows, mut blocks) = (0, 0);
    for (node, meets) in all.iter().enumerate() {
        rows += meets.len();
        blocks += meets.iter().filter(|&&row| row as usize >= node).count();
        starts.push(rows);
        block_starts.push(blocks);
    }
    Pattern { rows: all.concat(), starts, block_starts }
}
