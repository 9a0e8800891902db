//! Pairs of edges: what the splitting keeps of each, how it weighs them, and the elements that they are made of.

use super::super::newton::{Constants, Moving};
use crate::math::{Loads, Quaternion, Stored, Vector3};
use crate::rod::der::{Bend, BendMeasure, Edge, Frame, Stretch, StretchMeasure};

/// A weight, stiffness or length that no hair has.
pub(super) const NOTHING: f64 = 1.0e-30;

/// A joint and its copies of the edges before and behind it.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::solve::admm) struct Pair<S> {
    /// W of this joint [N/m].
    pub weight: S,
    /// W where the edge before the joint moves, else 0 [N/m].
    pub weight_before: S,
    /// Which part of the stretching of each of its edges it counts.
    pub share: [S; 2],
    /// y, both edges [m].
    pub(super) edges: [[S; 3]; 2],
    /// λ [m].
    pub(super) multipliers: [[S; 3]; 2],
    /// s as the last iteration left it [m], and how it changed.
    pub(super) map: [[S; 3]; 2],
    pub(super) change: [[S; 3]; 2],
    /// Elimination of the edges: their change and how it follows the vertex before.
    pub(super) lengthening: [S; 3],
    pub(super) follow: S,
    /// Elimination of the twists.
    pub(super) twist: S,
    pub(super) twist_follow: S,
}

/// Momentum of the strands of a pack.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::solve::admm) struct Momentum<S> {
    /// Nesterov's sequence t.
    pub(super) sequence: S,
    /// How much of the last change is added.
    pub(super) factor: S,
    /// 1 for strands that may take momentum, 0 for others.
    pub(super) most: S,
}

/// What the splitting of a pack knows from iteration to iteration, and from step to step.
#[derive(Debug, Clone)]
pub(in crate::solve::admm) struct Split<S> {
    /// One for each row; that of the last row has no edge.
    pub pairs: Vec<Pair<S>>,
    pub momentum: Momentum<S>,
    /// How the clamps turned since the last step.
    pub turn: [S; 4],
}

impl<S: Stored> Default for Split<S> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<S: Stored> Split<S> {
    pub(in crate::solve::admm) fn new(rows: usize) -> Self {
        let mut turn = [S::default(); 4];
        turn[3] = S::splat(1.0);
        Self { pairs: vec![Pair::default(); rows], momentum: Momentum::default(), turn }
    }

    /// Divides the stretching of a strand's edges among the pairs that hold them. Row `first` holds one edge alone.
    pub(in crate::solve::admm) fn share_edges(&mut self, lane: usize, first: usize, edges: usize) {
        for (row, pair) in self.pairs.iter_mut().enumerate().take(edges).skip(first) {
            pair.share[0].set(lane, if row > first { 0.5 } else { 0.0 });
            pair.share[1].set(lane, if row + 1 < edges { 0.5 } else { 1.0 });
        }
    }

    /// All that the next step begins with, number by number.
    pub(in crate::solve::admm) fn memory(&self) -> impl Iterator<Item = S> {
        self.pairs.iter().flat_map(|pair| pair.multipliers.into_iter().flatten().chain([pair.weight]))
    }

    /// The same, to be set.
    pub(in crate::solve::admm) fn memory_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.pairs.iter_mut().flat_map(|pair| pair.multipliers.iter_mut().flatten().chain([&mut pair.weight]))
    }

    /// Forgets the forces of one strand.
    pub(in crate::solve::admm) fn forget(&mut self, lane: usize) {
        for pair in &mut self.pairs {
            pair.multipliers.iter_mut().flatten().for_each(|part| part.set(lane, 0.0));
        }
    }
}

/// How weights are chosen.
#[derive(Debug, Clone, Copy)]
pub(in crate::solve::admm) struct Rule<R> {
    /// w⁰ of the printed rule `W = w⁰ K / v̄³`; 0 for ours.
    pub printed: f64,
    /// Stiffness with damping beside that without, 1 + τ / dt.
    pub stiffening: f64,
    /// Gravity and what accelerates the roots [m/s²].
    pub acceleration: R,
}

/// Chooses W for every pair, and keeps the forces W λ.
///
/// Our rule is the least for which momentum is safe. Near the solution the map of s is `½ (1 + R_x R_y)`, with R_x and R_y the
/// reflections of the global and of the local step. A local mode of stiffness k has `R_y = (W − k) / (W + k)`. While none is
/// negative the map's eigenvalues are real and between 0 and 1, and momentum converges; where k > W they turn complex, and it
/// spirals out. So W is the largest eigenvalue of bending in a pair, `K/v (1/l_a² + 1/l_b²)`, which is w⁰ = 2 for equal edges, and
/// what tension adds to it, that of a strand which hangs from a root as accelerated as in this step, over the length of an edge. (Stretching is far stiffer, but lies along the edge in
/// both of its pairs: there the steps commute.) More weight only slows the rest down.
#[inline(always)]
pub(in crate::solve::admm) fn weigh<S: Stored, R: Loads<S>>(
    rule: Rule<R>,
    rest: &[Constants<S>],
    pairs: &mut [Pair<S>],
) {
    let mut mass = R::zero();
    for i in (0..rest.len() - 1).rev() {
        mass += R::load_from(&rest[i + 1].mass);
        let presence = exists::<S, R>(&rest[i]);
        let length = R::load_from(&rest[i].length).max(R::splat(NOTHING).sqrt());
        let inverse = R::one() / length;
        let inverse_before = match i {
            0 => R::zero(),
            _ => R::one() / R::load_from(&rest[i - 1].length).max(R::splat(NOTHING).sqrt()),
        };
        let bending = &rest[i].bending;
        let bending = R::load_from(&bending[0]).max(R::load_from(&bending[1]));
        let weight = if rule.printed > 0.0 {
            let mean = if i > 0 { (length + R::one() / inverse_before) * R::splat(0.5) } else { length };
            bending * R::splat(rule.printed) / (mean * mean)
        } else {
            let turning = inverse.mul_add(inverse, inverse_before * inverse_before);
            let tension = mass * rule.acceleration * inverse;
            (bending * R::splat(rule.stiffening)).mul_add(turning, tension)
        };
        // Spare edges only need some weight.
        let weight = R::select(R::zero().less(presence), weight, R::one());
        let pair = &mut pairs[i];
        let ratio = R::load_from(&pair.weight) / weight;
        weight.store_to(&mut pair.weight);
        let moves = if i > 0 { presence } else { R::zero() };
        (weight * moves).store_to(&mut pair.weight_before);
        for side in 0..2 {
            let multiplier = R::load_vector(&pair.multipliers[side]) * ratio;
            R::store_vector(multiplier, &mut pair.multipliers[side]);
        }
    }
}

/// An edge as a vector [m].
#[inline(always)]
pub(super) fn vector_of<S: Stored, R: Loads<S>>(moving: &Moving<S>) -> Vector3<R> {
    R::load_quaternion(&moving.frame).third_axis() * R::load_from(&moving.length)
}

/// An edge and its frame.
#[inline(always)]
pub(super) fn edge_of<S: Stored, R: Loads<S>>(moving: &Moving<S>) -> (Edge<R>, Frame<R>) {
    let frame = Frame(R::load_quaternion(&moving.frame));
    let length = R::load_from(&moving.length).max(R::splat(NOTHING).sqrt());
    (Edge { tangent: frame.tangent(), length, inverse_length: R::one() / length }, frame)
}

/// One where there is an edge, zero in spare rows, whose edges have no length.
#[inline(always)]
pub(super) fn exists<S: Stored, R: Loads<S>>(rest: &Constants<S>) -> R {
    R::select(R::splat(NOTHING).less(R::load_from(&rest.length)), R::one(), R::zero())
}

/// The bend at a joint with damping, which is nothing but a stiffer spring with another natural strain.
#[inline(always)]
pub(super) fn bend_of<S: Stored, R: Loads<S>>(
    rest: &Constants<S>,
    presence: R,
    old: Option<(R, &([S; 3], S))>,
) -> Bend<R> {
    let stiffness = R::load_vector(&rest.bending) * presence;
    let natural = R::load_vector(&rest.curvature);
    match old {
        None => Bend { rest: natural, stiffness },
        Some((ratio, (strain, _))) => {
            let sum = ratio + R::one();
            let mean = R::load_vector(strain).mul_add(ratio, natural) * (R::one() / sum);
            Bend { rest: mean, stiffness: stiffness * sum }
        }
    }
}

/// The stretching of an edge, with damping likewise.
#[inline(always)]
pub(super) fn stretch_of<S: Stored, R: Loads<S>>(
    measure: StretchMeasure,
    rest: &Constants<S>,
    old: Option<(R, &([S; 3], S))>,
) -> Stretch<R> {
    let length = R::load_from(&rest.length);
    // Zero in spare rows.
    let stiffness = R::load_from(&rest.stretching) * length;
    let length = length.max(R::splat(NOTHING).sqrt());
    let Some((ratio, (_, old_length))) = old else { return Stretch { rest_length: length, stiffness } };
    let (old_length, sum) = (R::load_from(old_length), ratio + R::one());
    match measure {
        StretchMeasure::Linear => {
            let mean = old_length.mul_add(ratio, length) / sum;
            Stretch { rest_length: mean, stiffness: stiffness * sum * (mean / length) }
        }
        StretchMeasure::Quadratic => {
            let old_square = (old_length * old_length) / (length * length);
            let square = old_square.mul_add(ratio, R::one()) / sum;
            let scale = square.sqrt();
            Stretch { rest_length: length * scale, stiffness: stiffness * sum * square * scale }
        }
    }
}

/// The strain at every joint in a measure of choice, written beside the lengths.
#[inline(always)]
pub(in crate::solve::admm) fn strains<S: Stored, R: Loads<S>, M: BendMeasure>(
    measure: M,
    clamp: Quaternion<R>,
    moving: &[Moving<S>],
    out: &mut [([S; 3], S)],
) {
    let mut before = Frame(clamp);
    for (moving, (strain, length)) in moving.iter().zip(out) {
        let frame = Frame(R::load_quaternion(&moving.frame));
        R::store_vector(Bend::strain(measure, before, frame), strain);
        *length = moving.length;
        before = frame;
    }
}
