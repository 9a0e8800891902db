//! Strands from edges: files that hold polylines as pairs of vertices.

use hairloom::groom::{Curves, Groom, Root};

use glam::Vec3;

use crate::file::FileProblem;

const NONE: u32 = u32::MAX;

/// Edges from vertex to vertex, towards the tips. An edge that begins where another ends goes on with its strand; edges that
/// begin at the same vertex are strands with the same root, and those that end at the same vertex meet there.
pub(crate) struct Chains {
    /// Where the first edge leads that begins at each vertex.
    next: Vec<u32>,
    /// How many edges end at each vertex.
    ending: Vec<u32>,
    /// Further edges that begin at a vertex.
    further: Vec<[u32; 2]>,
}

impl Chains {
    /// Chains among vertices of which no two are joined yet.
    pub(crate) fn new(vertices: usize) -> Self {
        Self { next: vec![NONE; vertices], ending: vec![0; vertices], further: Vec::new() }
    }

    /// Makes room for more vertices.
    pub(crate) fn grow(&mut self, vertices: usize) {
        if vertices > self.next.len() {
            self.next.resize(vertices, NONE);
            self.ending.resize(vertices, 0);
        }
    }

    /// Joins two vertices, which must be there.
    pub(crate) fn join(&mut self, from: u32, to: u32) -> Result<(), FileProblem> {
        // An edge without length says nothing.
        if from == to {
            return Ok(());
        }
        if self.next[from as usize] == to || self.next[to as usize] == from {
            return Err(twice(from, to));
        }
        let begun = self.next[from as usize] != NONE;
        // A vertex inside of a strand has one edge before it and one behind.
        let branch =
            match (begun, self.ending[from as usize], self.next[to as usize], self.ending[to as usize]) {
                (true, 1.., ..) | (false, 2.., ..) => Some(from),
                (.., after, 1..) if after != NONE => Some(to),
                _ => None,
            };
        if let Some(vertex) = branch {
            return Err(branches(vertex));
        }
        match begun {
            true => self.further.push([from, to]),
            false => self.next[from as usize] = to,
        }
        self.ending[to as usize] += 1;
        Ok(())
    }

    /// Calls `emit` with the vertices of each strand, root first, and answers how many strands there are. They come in the order
    /// of their roots in the file.
    pub(crate) fn strands(&self, mut emit: impl FnMut(&[u32])) -> Result<usize, FileProblem> {
        let mut further = self.further.clone();
        // Stable: those of one vertex stay in their order.
        further.sort_by_key(|&[from, _]| from);
        self.check_further(&further)?;
        let mut seen = vec![false; self.next.len()];
        let (mut count, mut strand, mut more) = (0, Vec::new(), further.iter().peekable());
        for root in 0..self.next.len() as u32 {
            if self.ending[root as usize] > 0 || self.next[root as usize] == NONE {
                continue;
            }
            seen[root as usize] = true;
            let mut second = Some(self.next[root as usize]);
            while let Some(start) = second {
                strand.clear();
                strand.push(root);
                let mut now = start;
                while now != NONE {
                    seen[now as usize] = true;
                    strand.push(now);
                    now = self.next[now as usize];
                }
                count += 1;
                emit(&strand);
                second = more.next_if(|&&[from, _]| from == root).map(|&[_, to]| to);
            }
        }
        match (0..seen.len()).find(|&vertex| !seen[vertex] && self.next[vertex] != NONE) {
            Some(vertex) => Err(FileProblem::content(format!(
                "the edges at vertex {vertex} (counted from 0) form a ring; strands have two ends"
            ))),
            None => Ok(count),
        }
    }

    /// Fails where further edges are the same as others, or begin inside of a strand.
    fn check_further(&self, further: &[[u32; 2]]) -> Result<(), FileProblem> {
        let mut sorted = further.to_vec();
        sorted.sort_unstable();
        for (index, &[from, to]) in sorted.iter().enumerate() {
            let back = sorted.binary_search(&[to, from]).is_ok();
            if back || self.next[to as usize] == from || sorted.get(index + 1) == Some(&[from, to]) {
                return Err(twice(from, to));
            }
            if self.ending[from as usize] > 0 {
                return Err(branches(from));
            }
        }
        Ok(())
    }
}

fn twice(from: u32, to: u32) -> FileProblem {
    FileProblem::content(format!(
        "vertices {from} and {to} (counted from 0) are joined twice; strands pass each edge once"
    ))
}

fn branches(vertex: u32) -> FileProblem {
    FileProblem::content(format!(
        "vertex {vertex} (counted from 0) has more than two edges; strands do not branch"
    ))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn strands(edges: &[[u32; 2]]) -> Result<Vec<Vec<u32>>, String> {
        let mut chains = Chains::new(8);
        for &[from, to] in edges {
            chains.join(from, to).map_err(|problem| problem.to_string())?;
        }
        let mut all = Vec::new();
        chains.strands(|strand| all.push(strand.to_vec())).map_err(|problem| problem.to_string())?;
        Ok(all)
    }

    #[test]
    fn strands_with_the_same_root_stay_apart() {
        let shared = strands(&[[0, 1], [1, 2], [0, 3], [3, 4], [0, 5]]);
        assert_eq!(shared.unwrap(), [vec![0, 1, 2], vec![0, 3, 4], vec![0, 5]]);
        assert_eq!(strands(&[[0, 1], [2, 1]]).unwrap(), [[0, 1], [2, 1]]);
        assert_eq!(strands(&[[1, 2], [0, 1]]).unwrap(), [[0, 1, 2]]);
    }

    #[test]
    fn branches_rings_and_double_edges_are_refused() {
        for edges in [[[0, 1], [1, 2], [1, 3]], [[1, 2], [1, 3], [0, 1]], [[0, 2], [1, 2], [2, 3]]] {
            assert!(strands(&edges).unwrap_err().contains("branch"), "{edges:?}");
        }
        assert!(strands(&[[0, 1], [1, 2], [2, 0]]).unwrap_err().contains("ring"));
        for edges in [&[[0, 1], [1, 0]][..], &[[0, 1], [0, 1]], &[[0, 1], [0, 2], [0, 2]]] {
            assert!(strands(edges).unwrap_err().contains("twice"), "{edges:?}");
        }
    }
}
