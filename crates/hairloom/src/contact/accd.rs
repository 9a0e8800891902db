//! When two moving edges meet: additive continuous detection (Li et al. 2021, "Codimensional incremental potential contact",
//! section 4.3), in double precision.

use glam::DVec3;

use super::segments::{Closest, PARALLEL_F64, closest};
use crate::math::Vector3;

/// Steps after which the search gives up and reports how far it came, which is never too far.
const MOST_STEPS: usize = 128;
/// The edges count as having met when what is left of the way is this share of the thickness.
const NEAR: f64 = 1.0e-2;
/// The same, as a share of the first gap: for edges without a thickness.
const NEAR_OF_GAP: f64 = 1.0e-6;

/// An edge on its way: both ends at the start and both at the end of the step [m]. Ends move along lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moving {
    /// Ends at the start.
    pub(super) from: [DVec3; 2],
    /// Ends at the end.
    pub(super) to: [DVec3; 2],
}

/// Where two edges are when they meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting {
    /// When, from 0 to 1; never later than the true time.
    pub(super) time: f64,
    /// Closest points at that time.
    pub(super) closest: Closest<f64>,
    /// Distance at that time [m].
    pub(super) distance: f64,
}

/// When the centrelines of two edges first come within `thickness` [m], if they do before the end of the step: never later than
/// the true time, and earlier by no more than it takes to cross a hundredth of the thickness, unless the search
/// gives up. Edges that pass each other at a distance only just above the thickness are reported too.
///
/// Departure from the paper: the speed at which the distance can change is bounded by the largest difference between the
/// speeds of an end of one edge and an end of the other (the difference is linear along both edges, so that no other
/// pair of points is faster). That bound is tighter than the sum over both edges, and needs no mean motion.
pub(super) fn meeting(a: &Moving, b: &Moving, thickness: f64) -> Option<Meeting> {
    let origin = a.from[0];
    let [a, b] = [a, b].map(|edge| Relative::new(edge, origin));
    let mut speed = 0.0_f64;
    let mut extent = 0.0_f64;
    for k in 0..2 {
        extent = extent.max(a.start[k].length()).max(b.start[k].length());
        for other in b.motion {
            speed = speed.max((a.motion[k] - other).length());
        }
    }
    // What rounding can do to a distance, with room to spare.
    let doubt = 1.0e-13 * (extent + speed) + 4.0e-16 * origin.abs().max_element();
    let mut time = 0.0;
    let mut near = None;
    for _ in 0..MOST_STEPS {
        let closest = closest(a.at(time), b.at(time), PARALLEL_F64);
        let distance = closest.between.length_squared().sqrt();
        let gap = distance - thickness - doubt;
        let near = *near.get_or_insert_with(|| (NEAR * thickness).max(NEAR_OF_GAP * gap));
        if gap <= near {
            return Some(Meeting { time, closest, distance });
        }
        // Infinite without any motion.
        time += gap / speed;
        if time >= 1.0 {
            return None;
        }
    }
    let closest = closest(a.at(time), b.at(time), PARALLEL_F64);
    Some(Meeting { time, closest, distance: closest.between.length_squared().sqrt() })
}

/// An edge's ends relative to a point, and how they move.
struct Relative {
    start: [DVec3; 2],
    motion: [DVec3; 2],
}

impl Relative {
    fn new(edge: &Moving, origin: DVec3) -> Self {
        let [from, to] = [edge.from, edge.to];
        Self { start: from.map(|p| p - origin), motion: [to[0] - from[0], to[1] - from[1]] }
    }

    fn at(&self, time: f64) -> [Vector3<f64>; 2] {
        [0, 1].map(|k| Vector3::splat(self.start[k] + self.motion[k] * time))
    }
}

#[cfg(test)]
#[path = "accd_tests.rs"]
mod tests;
