//! What segments may carry so that no strand is worse off than where it carries itself.
//!
//! Less of the paper's objective is not yet better hair: tension is nearly free in it, so strands brace against each other with many times
//! their weight, and forces across that change their sign from segment to segment let slender strands buckle, which then have to be
//! stiffened. These limits are convex and hold for strands that carry themselves, so there is always a point within them, and all mixes with it lie
//! within them too:
//!
//! - no force is larger than the largest of strands that carry themselves;
//! - what is pulled there is pulled no less, so nothing more is pressed;
//! - a force across lies in the ball whose diameter reaches from none to that of the strand that carries itself: it may shrink, but neither
//!   grow nor turn round. The ball is a little larger than that, by a part of the whole force.

use glam::DVec3;

use super::cone::Point;

/// How much a force across may leave its ball by, over the whole force of the strand that carries itself.
const ACROSS: f64 = 0.05;
/// The largest force, over that of strands that carry themselves.
const MOST: f64 = 0.998;
/// Forces along a segment from which on it is not pressed, in weights of a particle.
const NOT_PRESSED: f64 = -1e-3;
/// How far inside all limits the start is put, over the force of the segment, and over the largest force. What limits are relaxed by for that goes
/// to nothing on the way.
const INSIDE: f64 = 0.05;
const INSIDE_AT_LEAST: f64 = 1e-3;

/// Which limits there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limits {
    /// None: the paper's programme.
    None,
    /// Those of this module.
    OwnWeight,
}

/// A bound, and what it is relaxed by at the start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relaxed {
    pub bound: f64,
    pub by: f64,
}

impl Relaxed {
    /// A bound that the start keeps by `slack`, and should by `wanted`.
    fn new(bound: f64, slack: f64, wanted: f64) -> Self {
        Self { bound, by: (wanted - slack).max(0.0) }
    }
}

/// A ball that a part of a segment's force stays in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ball {
    /// Along the frame of the segment.
    pub centre: DVec3,
    /// The parts of the force that count: 1 or 0.
    pub parts: DVec3,
    pub radius: Relaxed,
}

impl Ball {
    /// The point of the second-order cone for a force, with `left` of the relaxation.
    pub(super) fn point(&self, force: DVec3, left: f64) -> Point {
        let off = (force - self.centre) * self.parts;
        [self.radius.bound + left * self.radius.by, off.x, off.y, off.z, 0.0, 0.0]
    }

    /// How that point changes with the force, while the relaxation `left` is taken away.
    pub(super) fn change(&self, force: DVec3, left: f64) -> Point {
        let off = force * self.parts;
        [-left * self.radius.by, off.x, off.y, off.z, 0.0, 0.0]
    }

    /// The part of a dual point that acts on the force.
    pub(super) fn pull(&self, dual: &Point) -> DVec3 {
        DVec3::new(dual[1], dual[2], dual[3]) * self.parts
    }
}

/// The least force along a segment whose force is `own` in a strand that carries itself; none where it may be pressed.
pub(super) fn least_along(own: DVec3, largest: f64, limits: Limits) -> Option<Relaxed> {
    let is_limited = limits == Limits::OwnWeight && own.x > NOT_PRESSED;
    is_limited.then(|| Relaxed::new(own.x, 0.0, room(own, largest)))
}

/// The balls of a segment.
pub(super) fn balls(own: DVec3, largest: f64, limits: Limits) -> Vec<Ball> {
    if limits == Limits::None {
        return Vec::new();
    }
    let most = MOST * largest;
    let whole = Ball {
        centre: DVec3::ZERO,
        parts: DVec3::ONE,
        radius: Relaxed::new(most, most - own.length(), INSIDE_AT_LEAST * largest),
    };
    let slack = ACROSS * own.length();
    let half = 0.5 * own * DVec3::new(0.0, 1.0, 1.0);
    let across = Ball {
        centre: half,
        parts: DVec3::new(0.0, 1.0, 1.0),
        radius: Relaxed::new(half.length() + slack, slack, room(own, largest)),
    };
    vec![whole, across]
}

fn room(own: DVec3, largest: f64) -> f64 {
    INSIDE * own.length() + INSIDE_AT_LEAST * largest
}
