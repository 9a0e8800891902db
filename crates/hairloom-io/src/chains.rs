//! Strands from edges: files that hold polylines as pairs of vertices.

use hairloom::groom::{Curves, Groom, Root};

use glam::Vec3;

use crate::file::FileProblem;

const NONE: u32 = u32::MAX;

/// Edges between vertices, as they come; every vertex has at most two.
pub(crate) struct Chains {
    neighbours: Vec<[u32; 2]>,
    /// Whether an edge began at the vertex.
    begins: Vec<bool>,
}

impl Chains {
    /// Chains among vertices of which no two are joined yet.
    pub(crate) fn new(vertices: usize) -> Self {
        Self { neighbours: vec![[NONE; 2]; vertices], begins: vec![false; vertices] }
    }

    /// Makes room for more vertices.
    pub(crate) fn grow(&mut self, vertices: usize) {
        if vertices > self.begins.len() {
            self.neighbours.resize(vertices, [NONE; 2]);
            self.begins.resize(vertices, false);
        }
    }

    /// Joins two vertices, which must be there.
    pub(crate) fn join(&mut self, from: u32, to: u32) -> Result<(), FileProblem> {
        // An edge without length says nothing.
        if from == to {
            return Ok(());
        }
        for (vertex, other) in [(from, to), (to, from)] {
            let places = &mut self.neighbours[vertex as usize];
            if places.contains(&other) {
                return Err(FileProblem::content(format!(
                    "vertices {from} and {to} (counted from 0) are joined twice; strands pass each edge once"
                )));
            }
            match places.iter_mut().find(|place| **place == NONE) {
                Some(place) => *place = other,
                None => {
                    return Err(FileProblem::content(format!(
                        "vertex {vertex} (counted from 0) has more than two edges; strands do not branch"
                    )));
                }
            }
        }
        self.begins[from as usize] = true;
        Ok(())
    }

    /// Calls `emit` with the vertices of each strand, root first, and answers how many strands there are. A strand
    /// starts at the end where its edges start or, if both ends are alike, at the one that comes first in the file.
    pub(crate) fn strands(&self, mut emit: impl FnMut(&[u32])) -> Result<usize, FileProblem> {
        let mut seen = vec![false; self.neighbours.len()];
        let (mut count, mut strand) = (0, Vec::new());
        for first in 0..self.neighbours.len() as u32 {
            let is_end = self.neighbours[first as usize].iter().filter(|&&other| other != NONE).count() == 1;
            if seen[first as usize] || !is_end {
                continue;
            }
            strand.clear();
            let (mut before, mut now) = (NONE, first);
            while now != NONE {
                seen[now as usize] = true;
                strand.push(now);
                let [a, b] = self.neighbours[now as usize];
                (before, now) = (now, if a == before { b } else { a });
            }
            if !self.begins[first as usize] && self.begins[before as usize] {
                strand.reverse();
            }
            count += 1;
            emit(&strand);
        }
        let open = |vertex: usize| !seen[vertex] && self.neighbours[vertex] != [NONE; 2];
        match (0..seen.len()).find(|&vertex| open(vertex)) {
            Some(vertex) => Err(FileProblem::content(format!(
                "the edges at vertex {vertex} (counted from 0) form a ring; strands have two ends"
            ))),
            None => Ok(count),
        }
    }
}

/// A groom of those vertices that belong to strands, and for each of its vertices the one of the file.
pub(crate) fn groom_of(points: &[Vec3], chains: &Chains) -> Result<(Groom, Vec<u32>), FileProblem> {
    let mut curves = Curves { offsets: vec![0], points: Vec::new() };
    let mut order = Vec::new();
    let strands = chains.strands(|strand| {
        order.extend_from_slice(strand);
        curves.offsets.push(order.len() as u32);
    })?;
    curves.points = order.iter().map(|&vertex| points[vertex as usize]).collect();
    Ok((Groom { curves, roots: vec![Root::Rigid; strands], ..Groom::default() }, order))
}
