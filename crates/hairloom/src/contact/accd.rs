//! When two moving edges meet: additive continuous detection (Li et al. 2021, "Codimensional incremental potential contact",
//! section 4.3), in double precision.

use glam::DVec3;

use super::segments::{Closest, PARALLEL_F64, closest};
use crate::math::{Real, Vector3};

/// Steps after which the search gives up and reports how far it came, which is never too far.
const MOST_STEPS: usize = 4096;
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
/// Departures from the paper: how long they stay apart is bounded along the line between their closest points, too ([`free_time`]), so that
/// edges which pass by each other take few steps. The speed at which the distance can change in any direction is bounded by the
/// largest difference between the speeds of an end of one edge and an end of the other (the difference is linear along both
/// edges, so that no other pair of points is faster), which is tighter than the sum over both edges and needs no mean motion.
pub(super) fn meeting(a: &Moving, b: &Moving, thickness: f64) -> Option<Meeting> {
    let origin = a.from[0];
    let [a, b] = [a, b].map(|edge| Relative::new(edge, origin));
    let ends = a.start.iter().chain(&b.start).chain(&a.motion).chain(&b.motion);
    let extent = ends.fold(0.0_f64, |extent, end| extent.max(end.length_squared())).sqrt();
    // What rounding can do to a distance, with room to spare.
    let doubt = 4.0e-13 * extent + 4.0e-16 * origin.abs().max_element();
    let mut speed = 0.0_f64;
    for motion in a.motion {
        speed = b.motion.iter().fold(speed, |speed, other| speed.max((motion - *other).length_squared()));
    }
    let (speed, mut time) = (speed.sqrt(), 0.0);
    let mut near = None;
    for _ in 0..MOST_STEPS {
        let (p, q) = (a.at(time), b.at(time));
        let closest = closest(p, q, PARALLEL_F64);
        let distance = closest.between.length_squared().sqrt();
        let gap = distance - thickness - doubt;
        let near = *near.get_or_insert_with(|| (NEAR * thickness).max(NEAR_OF_GAP * gap));
        if gap <= near {
            return Some(Meeting { time, closest, distance });
        }
        // Infinite where they do not come nearer.
        let free = free_time(p, q, a.motion, b.motion, closest.between, thickness + doubt);
        time += free.max(gap / speed);
        if time >= 1.0 {
            return None;
        }
    }
    let closest = closest(a.at(time), b.at(time), PARALLEL_F64);
    Some(Meeting { time, closest, distance: closest.between.length_squared().sqrt() })
}

/// How long edges `p` and `q` stay farther apart than `within` [m] for sure, given how their ends move in one unit of time, and the vector
/// `between` their closest points; 0 if they are not apart now.
///
/// Seen along that vector all of one edge lies behind all of the other. Ends move evenly, so what is between any two of them changes
/// evenly, too: the first two that are no longer far enough apart end the bound.
#[inline(always)]
pub(super) fn free_time<R: Real>(
    p: [Vector3<R>; 2],
    q: [Vector3<R>; 2],
    motion_p: [Vector3<R>; 2],
    motion_q: [Vector3<R>; 2],
    between: Vector3<R>,
    within: R,
) -> R {
    let tiny = R::splat(1.0e-30);
    let normal = between * (R::splat(1.0) / between.length_squared().max(tiny).sqrt());
    let (p0, p1) = (normal.dot(p[0]) - within, normal.dot(p[1]) - within);
    let (q0, q1) = (normal.dot(q[0]), normal.dot(q[1]));
    let (to_p0, to_p1) = (normal.dot(motion_p[0]), normal.dot(motion_p[1]));
    let (to_q0, to_q1) = (normal.dot(motion_q[0]), normal.dot(motion_q[1]));
    let first = ((p0 - q0) / (to_q0 - to_p0).max(tiny)).min((p0 - q1) / (to_q1 - to_p0).max(tiny));
    let second = ((p1 - q0) / (to_q0 - to_p1).max(tiny)).min((p1 - q1) / (to_q1 - to_p1).max(tiny));
    first.min(second).max(R::zero())
}

/// An edge's ends relative to a point, and how they move.
struct Relative {
    start: [Vector3<f64>; 2],
    motion: [Vector3<f64>; 2],
}

impl Relative {
    fn new(edge: &Moving, origin: DVec3) -> Self {
        let start = edge.from.map(|p| Vector3::splat(p - origin));
        Self { start, motion: [0, 1].map(|k| Vector3::splat(edge.to[k] - edge.from[k])) }
    }

    fn at(&self, time: f64) -> [Vector3<f64>; 2] {
        [0, 1].map(|k| self.motion[k].mul_add(time, self.start[k]))
    }
}

#[cfg(test)]
#[path = "accd_tests.rs"]
mod tests;
