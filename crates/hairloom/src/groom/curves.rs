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
        self.offsets.len().saturating_sub(1)
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

    /// The number of points of `strand`.
    pub fn vertices_of(&self, strand: usize) -> usize {
        self.range(strand).len()
    }

    /// The arc length of `strand` [m].
    pub fn length(&self, strand: usize) -> f32 {
        self.strand(strand).windows(2).map(|edge| edge[0].distance(edge[1])).sum()
    }

    /// The arc length of every strand [m].
    pub fn lengths(&self) -> Vec<f32> {
        (0..self.strands()).map(|strand| self.length(strand)).collect()
    }

    /// The smallest and largest corner of the box around all points [m]; `None` if there are none.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let first = *self.points.first()?;
        Some(self.points.iter().fold((first, first), |(low, high), &p| (low.min(p), high.max(p))))
    }

    /// The first point of every strand [m]; strands without points have none.
    pub fn root_points(&self) -> Vec<Vec3> {
        self.iter().filter_map(|strand| strand.first().copied()).collect()
    }

    /// The arc length from the root up to each point, as a fraction of its strand's length; 0 throughout for a
    /// strand without length.
    pub fn fractions(&self) -> Vec<f32> {
        let mut fractions = Vec::with_capacity(self.points.len());
        for strand in self.iter() {
            let start = fractions.len();
            let mut length = 0.0;
            for (index, &point) in strand.iter().enumerate() {
                if index > 0 {
                    length += point.distance(strand[index - 1]);
                }
                fractions.push(length);
            }
            if length > 0.0 {
                fractions[start..].iter_mut().for_each(|fraction| *fraction /= length);
            }
        }
        fractions
    }
}
