//! A H⁻¹ Aᵀ on the nodes for forces alone, and its factors.
//!
//! Nodes add up what particles feel with the same weights along each axis. Where H is one number for each segment, so is A H⁻¹ Aᵀ for each pair of
//! nodes: it is factored once for all three axes, at a twenty-seventh of what blocks would cost.

use glam::DVec3;
use rayon::prelude::*;

use super::dissection::{Front, dissect};
use super::factor::{Dense, Factors};
use super::pattern::{Link, Pattern, links};
use super::programme::Programme;

/// Products of the weights of two particles' nodes, by columns.
type Tile = [f64; 27 * 27];

/// Cells or links whose tiles are held at a time.
const WAVE: usize = 256;

/// The matrix and its factors.
pub(super) struct Coupling {
    links: Vec<Link>,
    pattern: Pattern,
    fronts: Vec<Front>,
    /// The place of each node in the order of elimination.
    place: Vec<u32>,
    factors: Factors,
    /// The diagonal of the matrix.
    pub diagonal: Vec<f64>,
}

impl Coupling {
    /// Finds which nodes meet, and the order to eliminate them in.
    pub(super) fn new(programme: &Programme) -> Self {
        let links = links(programme);
        let pattern = Pattern::new(programme, &links);
        let (fronts, place) = dissect(&programme.lattice, &|node| pattern.neighbours(node));
        Self { links, pattern, fronts, place, factors: Factors::default(), diagonal: vec![] }
    }

    /// Assembles and factors the matrix for H, one number for each segment.
    pub(super) fn factor(&mut self, programme: &Programme, stiffness: &[f64]) {
        let mut values = vec![0.0; self.pattern.entries()];
        let cells = &programme.lattice.cells;
        for first in (0..cells.len()).step_by(WAVE) {
            let wave = first..(first + WAVE).min(cells.len());
            let tile = |cell: usize| cell_tile(programme, stiffness, cell);
            let tiles: Vec<Tile> = wave.clone().into_par_iter().map(tile).collect();
            wave.zip(&tiles).for_each(|(c, tile)| self.scatter(&mut values, tile, [&cells[c]; 2], false));
        }
        for wave in self.links.chunks(WAVE) {
            let tiles: Vec<Tile> =
                wave.par_iter().map(|link| link_tile(programme, stiffness, link)).collect();
            for (link, tile) in wave.iter().zip(&tiles) {
                let ends = [&cells[link.to as usize], &cells[link.from as usize]];
                self.scatter(&mut values, tile, ends, true);
            }
        }
        self.scale(&mut values, &programme.row_scales);
        self.diagonal =
            (0..programme.row_scales.len()).map(|node| values[self.pattern.below(node).1.start]).collect();
        // The old factors' memory is not needed beside that of the new ones.
        self.factors = Factors::default();
        let fill = |front: &Front, dense: &mut Dense| self.fill(&values, front, dense);
        self.factors = Factors::new(&self.fronts, &self.place, fill);
    }

    /// Solves with the factors, in place.
    pub(super) fn solve(&self, right: &mut [DVec3]) {
        self.factors.solve(&self.fronts, right);
    }

    /// Adds a tile whose rows belong to the first nodes and columns to the second; and its transpose, if `both`.
    fn scatter(&self, values: &mut [f64], tile: &Tile, [rows, columns]: [&[u32; 27]; 2], both: bool) {
        for (entries, &column) in tile.as_chunks::<27>().0.iter().zip(columns) {
            for (value, &row) in entries.iter().zip(rows) {
                if row < column && !both {
                    continue;
                }
                if let Some(at) = self.pattern.find(row.max(column), row.min(column)) {
                    values[at] += if both && row == column { 2.0 * value } else { *value };
                }
            }
        }
    }

    /// Scales rows and columns. Rows that others imply leave no pivot; a trace of the diagonal stands in for it.
    fn scale(&self, values: &mut [f64], scales: &[f64]) {
        for (column, &scale) in scales.iter().enumerate() {
            let (rows, range) = self.pattern.below(column);
            for (value, &row) in values[range.clone()].iter_mut().zip(rows) {
                *value *= scale * scales[row as usize];
            }
            values[range.start] *= 1.0 + 1e-12;
        }
    }

    /// Adds the columns of a front's own nodes.
    fn fill(&self, values: &[f64], front: &Front, dense: &mut Dense) {
        for (j, &column) in front.own.iter().enumerate() {
            for &row in self.pattern.neighbours(column) {
                if self.place[row as usize] < self.place[column as usize] {
                    continue;
                }
                if let Some(at) = self.pattern.find(row.max(column), row.min(column)) {
                    dense.add(front.local(row, &self.place), j, values[at]);
                }
            }
        }
    }
}

/// What the particles of a cell add to its nodes.
fn cell_tile(programme: &Programme, stiffness: &[f64], cell: usize) -> Tile {
    let mut tile = [0.0; 27 * 27];
    for &particle in programme.lattice.members(cell) {
        let particle = particle as usize;
        if programme.free[particle] {
            let segments = programme.beside[particle].iter();
            let flexible = segments.filter_map(|&s| stiffness.get(s as usize)).map(|h| 1.0 / h).sum();
            let weights = node_weights(programme, particle);
            add_product(&mut tile, flexible, &weights, &weights);
        }
    }
    tile
}

/// What segments between two cells add to the nodes of the one (rows: those of the vertex nearer to the tip) against those of the other.
fn link_tile(programme: &Programme, stiffness: &[f64], link: &Link) -> Tile {
    let mut tile = [0.0; 27 * 27];
    for &segment in &link.segments {
        let vertex = programme.segments[segment as usize].vertex as usize;
        let [near, far] = [vertex, vertex + 1].map(|particle| node_weights(programme, particle));
        add_product(&mut tile, -1.0 / stiffness[segment as usize], &far, &near);
    }
    tile
}

fn node_weights(programme: &Programme, particle: usize) -> [f64; 27] {
    let mut weights = [0.0; 27];
    let all = programme.lattice.places[particle].nodes();
    weights.iter_mut().zip(all).for_each(|(to, (weight, _))| *to = weight);
    weights
}

fn add_product(tile: &mut Tile, factor: f64, rows: &[f64; 27], columns: &[f64; 27]) {
    for (entries, column) in tile.as_chunks_mut::<27>().0.iter_mut().zip(columns) {
        let factor = factor * column;
        entries.iter_mut().zip(rows).for_each(|(entry, row)| *entry += factor * row);
    }
}
