//! What bends strands: moments of their forces, and what these cost.
//!
//! A joint carries the moment M of all that lies behind it, which forces and edges add up along the strand: M = M' − f × e. It is counted over its
//! lever, the moment that the strand would have there if it stood out level, and costs w_m |M|².

use std::ops::Range;

use glam::DVec3;
use rayon::prelude::*;

use super::programme::Segment;

/// Edges of all segments and the prices of moments before them.
#[derive(Debug, Clone)]
pub(super) struct Moments {
    /// Segments that hang together.
    runs: Vec<Range<usize>>,
    /// From the vertex nearer to the root to the other one [cells].
    edges: Vec<DVec3>,
    /// w_m over the lever's square.
    prices: Vec<f64>,
}

impl Moments {
    pub(super) fn new(segments: &[Segment], weight: f64) -> Self {
        Self {
            runs: runs(segments),
            edges: segments.iter().map(Segment::edge).collect(),
            prices: segments.iter().map(|s| weight / (s.lever * s.lever)).collect(),
        }
    }

    /// The moments of forces in world axes.
    pub(super) fn of(&self, forces: &[DVec3]) -> Vec<DVec3> {
        let run = |run: &Range<usize>| {
            let mut moments = vec![DVec3::ZERO; run.len()];
            let mut behind = DVec3::ZERO;
            for (segment, moment) in run.clone().zip(&mut moments).rev() {
                behind -= forces[segment].cross(self.edges[segment]);
                *moment = behind;
            }
            moments
        };
        self.runs.par_iter().with_min_len(64).map(run).collect::<Vec<_>>().concat()
    }

    /// Half the second derivative of the price along two directions, given by their moments; the price itself where both are the same.
    pub(super) fn product(&self, a: &[DVec3], b: &[DVec3]) -> f64 {
        a.iter().zip(b).zip(&self.prices).map(|((a, b), price)| price * a.dot(*b)).sum()
    }

    /// Adds the derivative of the price of these moments with respect to forces.
    pub(super) fn add_gradient(&self, moments: &[DVec3], gradient: &mut [DVec3]) {
        for run in &self.runs {
            let mut before = DVec3::ZERO;
            for segment in run.clone() {
                before += moments[segment] * (2.0 * self.prices[segment]);
                gradient[segment] += before.cross(self.edges[segment]);
            }
        }
    }

    /// The mean over all directions of the second derivative with respect to the force of each segment.
    pub(super) fn mean_curvatures(&self) -> Vec<f64> {
        let mut all = Vec::with_capacity(self.edges.len());
        for run in &self.runs {
            let mut before = 0.0;
            for segment in run.clone() {
                before += 2.0 * self.prices[segment];
                all.push(before * self.edges[segment].length_squared() * 2.0 / 3.0);
            }
        }
        all
    }
}

/// Segments that follow each other.
pub(super) fn runs(segments: &[Segment]) -> Vec<Range<usize>> {
    let follows = |a: &Segment, b: &Segment| a.vertex + 1 == b.vertex;
    let mut begin = 0;
    let runs = segments.chunk_by(follows).map(|run| {
        begin += run.len();
        begin - run.len()..begin
    });
    runs.collect()
}
