//! The lengths of curves, and how many vertices keep a polyline within the tolerance.

use glam::{DVec3, Vec3};

use super::basis::{Cubic, Place};
use super::{MOST, MOST_PIECES, PIECES, TOLERANCE};

/// A strand's curve, measured.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) segments: usize,
    /// How many pieces each segment has.
    pub(super) pieces: usize,
    /// Points along the curve where the pieces begin, and the last.
    pub(super) points: Vec<DVec3>,
    /// The length of the curve up to each of them.
    pub(super) lengths: Vec<f64>,
}

impl Measured {
    pub(super) fn measure(&mut self, cubic: &Cubic, controls: &[Vec3], segments: usize) {
        self.points.clear();
        self.lengths.clear();
        self.segments = segments;
        self.pieces = PIECES.min(MOST_PIECES / segments).max(1);
        let count = segments * self.pieces + 1;
        self.points.reserve_exact(count);
        self.lengths.reserve_exact(count);
        let mut length = 0.0;
        for step in 0..count {
            let point = cubic.at(controls, self.place(step as f64), weighted);
            if let Some(&last) = self.points.last() {
                length += point.distance(last);
            }
            self.points.push(point);
            self.lengths.push(length);
        }
    }

    /// The place that is so many pieces from the start.
    pub(super) fn place(&self, step: f64) -> Place {
        let whole = step / self.pieces as f64;
        let segment = (whole as usize).min(self.segments - 1);
        Place { segment, t: (whole - segment as f64).clamp(0.0, 1.0) }
    }

    /// The place where a segment begins, or the last one ends.
    pub(super) fn joint(&self, segment: usize) -> Place {
        self.place((segment * self.pieces) as f64)
    }

    /// The vertices, of `count`, that are nearest to corners of the curve, and at which segments those begin.
    pub(super) fn corners(&self, cubic: &Cubic, controls: &[Vec3], count: usize) -> Vec<(usize, usize)> {
        let joints = (1..self.segments).filter(|&joint| cubic.has_corner(controls, joint));
        let vertices = joints.map(|joint| {
            let share = self.lengths[joint * self.pieces] / self.length();
            (((count - 1) as f64 * share).round() as usize, joint)
        });
        vertices.filter(|(vertex, _)| (1..count - 1).contains(vertex)).collect()
    }

    pub(super) fn length(&self) -> f64 {
        self.lengths.last().copied().unwrap_or(0.0)
    }

    /// How many pieces from the start a length is, in fractions of them.
    pub(super) fn step_at(&self, length: f64) -> f64 {
        let after = self.lengths.partition_point(|&until| until < length).min(self.lengths.len() - 1);
        let Some(before) = after.checked_sub(1) else { return 0.0 };
        let piece = self.lengths[after] - self.lengths[before];
        before as f64 + if piece > 0.0 { ((length - self.lengths[before]) / piece).min(1.0) } else { 0.0 }
    }

    /// The vertices that the polyline needs.
    pub(super) fn vertices(&self, controls: usize) -> usize {
        let most = (MOST * controls).max(2);
        let mut count = (self.segments + 1).min(most);
        let allowed = TOLERANCE * self.length();
        // Also where lengths are not finite.
        while count < most && self.deviation(count) > allowed {
            count = (count + count.div_ceil(4)).min(most);
        }
        count
    }

    /// The largest distance of the measured points from a polyline with so many vertices.
    pub(super) fn deviation(&self, vertices: usize) -> f64 {
        let edge = self.length() / (vertices - 1) as f64;
        let (mut worst, mut piece) = (0.0_f64, 0);
        let mut start = self.points[0];
        for vertex in 1..vertices {
            let until = edge * vertex as f64;
            let step = self.step_at(until);
            let (low, high) = (step.floor() as usize, (step.ceil() as usize).min(self.points.len() - 1));
            let end = self.points[low].lerp(self.points[high], step.fract());
            while piece < self.points.len() && self.lengths[piece] <= until {
                worst = worst.max(distance_to_edge(self.points[piece], start, end));
                piece += 1;
            }
            start = end;
        }
        worst
    }
}

fn distance_to_edge(point: DVec3, start: DVec3, end: DVec3) -> f64 {
    let edge = end - start;
    let along = (point - start).dot(edge) / edge.length_squared().max(f64::MIN_POSITIVE);
    point.distance(start + edge * along.clamp(0.0, 1.0))
}

/// Points by their weights, in double precision.
pub(super) fn weighted(points: [Vec3; 4], weights: [f64; 4]) -> DVec3 {
    points.iter().zip(weights).map(|(point, weight)| point.as_dvec3() * weight).sum()
}
