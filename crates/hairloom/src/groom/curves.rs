use std::ops::Range;

use glam::Vec3;

/// Polylines, one after the other in one array.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    /// Where each strand's points begin; one more entry than strands, the first 0, the last `points.len()`.
    pub offsets: Vec<u32>,
    /// The points of all strands [m], root first.
    pub points: Vec<Vec3>,
}

impl Default for Curves {
    fn default() -> Self {
        Self { offsets: vec![0], points: Vec::new() }
    }
}

impl Curves {
    /// The number of strands.
    pub fn strands(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where the points of `strand` are.
    pub fn range(&self, strand: usize) -> Range<usize> {
        self.offsets[strand] as usize..self.offsets[strand + 1] as usize
    }

    /// The points of `strand`, root first.
    pub fn strand(&self, strand: usize) -> &[Vec3] {
        &self.points[self.range(strand)]
    }

    /// All strands in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Vec3]> + Clone {
        (0..self.strands()).map(|strand| self.strand(strand))
    }

    /// Adds a strand at the end.
    pub fn push(&mut self, points: impl IntoIterator<Item = Vec3>) {
        self.points.extend(points);
        self.offsets.push(self.points.len() as u32);
    }
}
