//! Which nodes meet.

use std::collections::BTreeSet;
use std::ops::Range;

use rayon::prelude::*;

use super::programme::Programme;

/// Segments from one cell to another, or within one.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub from: u32,
    pub to: u32,
    pub segments: Vec<u32>,
}

/// Which nodes meet: entries of a symmetric matrix, by columns, each at and below the diagonal.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern {
    /// Nodes that each node meets, itself among them, rising.
    rows: Vec<u32>,
    /// Where the rows of each node begin; one more entry than nodes.
    starts: Vec<usize>,
    /// Where the entries of each column, at and below the diagonal, begin; one more than nodes.
    entry_starts: Vec<usize>,
}

impl Pattern {
    /// Nodes meet where a cell, or two cells that a segment joins, hold both.
    pub(super) fn new(programme: &Programme, links: &[Link]) -> Self {
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
        let (mut starts, mut entry_starts) = (vec![0], vec![0]);
        let (mut rows, mut entries) = (0, 0);
        for (node, meets) in all.iter().enumerate() {
            rows += meets.len();
            entries += meets.iter().filter(|&&row| row as usize >= node).count();
            starts.push(rows);
            entry_starts.push(entries);
        }
        Self { rows: all.concat(), starts, entry_starts }
    }

    /// How many entries there are.
    pub(super) fn entries(&self) -> usize {
        self.entry_starts.last().copied().unwrap_or(0)
    }

    /// The nodes that a node meets.
    pub(super) fn neighbours(&self, node: u32) -> &[u32] {
        &self.rows[self.starts[node as usize]..self.starts[node as usize + 1]]
    }

    /// The rows of a column at and below the diagonal, and which entries these are.
    pub(super) fn below(&self, column: usize) -> (&[u32], Range<usize>) {
        let range = self.entry_starts[column]..self.entry_starts[column + 1];
        let all = self.neighbours(column as u32);
        (&all[all.len() - range.len()..], range)
    }

    /// Where the entry of a row at or below the diagonal is.
    pub(super) fn find(&self, row: u32, column: u32) -> Option<usize> {
        let (rows, range) = self.below(column as usize);
        Some(range.start + rows.binary_search(&row).ok()?)
    }
}

/// Segments with two free ends, by the cells of these.
pub(super) fn links(programme: &Programme) -> Vec<Link> {
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
