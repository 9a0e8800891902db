//! One iteration of the paper's own splitting of elasticity: Algorithm 1 of Daviet 2023 without its contacts.
//!
//! # The splitting
//!
//! Every joint has a copy `y` of its two edges (6 numbers), with multipliers `λ` in scaled form and a weight `W`. An
//! iteration
//!
//! 1. bends and stretches each `y` on its own: the proximal step of equation 4 by one Gauss–Newton step, a 6 × 6 system;
//! 2. takes `λ ← λ + y − B x`;
//! 3. moves all vertices: the minimum of inertia, loads and `½ W |B x − y − λ|²`, one tridiagonal system for all three
//!    axes (section 4.3), solved for the changes of the edges, so that single precision keeps lengths;
//! 4. carries the material frames along by parallel transport in time, and takes a Newton step of all twists, one more
//!    tridiagonal system.
//!
//! Steps 1 to 3 are a map of `s = B x − λ` onto itself: `y` is a function of `s`, `λ = y − s`, and so the next `s` is
//! `s + B x − y`. Its fixed point is the minimum that Newton's method finds.
//!
//! # Departures from the paper
//!
//! - Copies swing: the part of the local step across an edge turns it, and only the part along lengthens it. Added as
//!   vectors they are too long where hair turns far in a step, and convergence is up to three times slower (edges of 1 cm).
//! - As printed, bending travels one edge per iteration. Nesterov's momentum on `s`, for each strand on its own and begun anew
//!   whenever it points against the map's own step, takes a hundred iterations where the printed form needs ten thousand. Strands
//!   that are folded by more than about 120° at rest go without.
//! - Weights follow [`weigh`], not w⁰ = 25, which is more than ten times too heavy.
//! - The Gauss–Newton step begins at the edges as they are, where material frames are known, not at the last `y`.
//! - At the end of a call edges take the lengths of their copies ([`Chain::settle`]).
//! - The frame Q of the local step: weights and elements are isotropic in space, so a frame changes nothing within a step. It decides
//!   how multipliers go on to the next step: they turn with the clamp, and are part of checkpoints. They must go on: begun as the elastic
//!   forces of the strand as it stands instead, steps of too few iterations blow up.

mod pair;

pub(super) use self::pair::{Momentum, Pair, Rule, Split, strains, weigh};

use self::pair::{NOTHING, bend_of, edge_of, exists, stretch_of, vector_of};
use super::newton::{Base, Constants, Damping, Load, Moving, balance};
use crate::math::{Loads, Real, Stored, Vector3, solve_positive};
use crate::rod::der::{Bend, BendMeasure, Edge, EdgePair, Frame, PairEdge, Stretch, StretchMeasure};

/// Largest turn of an edge in one step [rad].
const LARGEST_TURN: f64 = 0.7;

/// Strain at rest beyond which a joint is folded, about 2 sin 60°. There bending goes on with hardly any strain, the map of s is no
/// longer one that momentum is safe for, and edges would stretch by a third.
const FOLDED: f64 = 1.7;

/// The strands of a pack from their first free joint on, all slices of one length.
pub(super) struct Chain<'a, S, R, M> {
    pub base: Base<R>,
    pub bending: M,
    pub stretching: StretchMeasure,
    pub rest: &'a [Constants<S>],
    pub moving: &'a mut [Moving<S>],
    pub loads: &'a [Load<S>],
    pub damping: Option<Damping<'a, S>>,
    pub pairs: &'a mut [Pair<S>],
    pub momentum: &'a mut Momentum<S>,
    /// How the clamp turned since the last step.
    pub turn: &'a [S; 4],
    /// Whether momentum is taken at all.
    pub accelerated: bool,
}

impl<S: Stored, R: Loads<S>, M: BendMeasure> Chain<'_, S, R, M> {
    /// What damping knows of a row.
    #[inline(always)]
    fn old(&self, row: usize) -> Option<(R, &([S; 3], S))> {
        match &self.damping {
            Some(damping) => Some((R::splat(damping.ratio), &damping.old[row])),
            None => None,
        }
    }

    /// The edge at a row, as the pair before it holds it; the next one holds as much of it, or none.
    #[inline(always)]
    fn edge(&self, row: usize) -> PairEdge<R> {
        let (edge, frame) = edge_of::<S, R>(&self.moving[row]);
        let stretch = stretch_of::<S, R>(self.stretching, &self.rest[row], self.old(row));
        PairEdge { edge, frame, stretch, share: R::load_from(&self.pairs[row].share[1]) }
    }

    /// What lies before the first joint: a clamp, or nothing, which is a clamp that bends along.
    #[inline(always)]
    fn before_first(&self) -> PairEdge<R> {
        let frame = match self.base {
            Base::Clamped(clamp) => Frame(clamp),
            Base::Free => Frame(R::load_quaternion(&self.moving[0].frame)),
        };
        let stretch = Stretch { rest_length: R::one(), stiffness: R::zero() };
        PairEdge { edge: Edge::fixed(frame), frame, stretch, share: R::zero() }
    }

    /// The bend at a row; nothing bends at the first vertex of a free strand.
    #[inline(always)]
    fn bend(&self, row: usize) -> Bend<R> {
        let presence = match (row, self.base) {
            (0, Base::Free) => R::zero(),
            _ => exists::<S, R>(&self.rest[row]),
        };
        bend_of::<S, R>(&self.rest[row], presence, self.old(row))
    }

    /// Begins a step: s from the edges as they are and the multipliers of the last step, turned with the clamp; no momentum.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        let turn = R::load_quaternion(self.turn);
        let mut before = Vector3::zero();
        for i in 0..self.pairs.len() - 1 {
            let edges = [before, vector_of::<S, R>(&self.moving[i])];
            before = edges[1];
            let pair = &mut self.pairs[i];
            for (side, edge) in edges.into_iter().enumerate() {
                let multiplier = turn.rotate(R::load_vector(&pair.multipliers[side]));
                R::store_vector(multiplier, &mut pair.multipliers[side]);
                R::store_vector(edge - multiplier, &mut pair.map[side]);
                R::store_vector(Vector3::zero(), &mut pair.change[side]);
            }
        }
        R::one().store_to(&mut self.momentum.sequence);
        R::zero().store_to(&mut self.momentum.factor);
        let mut sharpest = R::zero();
        for rest in self.rest {
            let [first, second] = [R::load_from(&rest.curvature[0]), R::load_from(&rest.curvature[1])];
            sharpest = sharpest.max(first.mul_add(first, second * second));
        }
        let folded = R::splat(FOLDED * FOLDED).less(sharpest);
        R::select(folded, R::zero(), R::one()).store_to(&mut self.momentum.most);
    }

    /// One iteration. Returns the largest difference between an edge and its copies, beside its length.
    #[inline(always)]
    pub(super) fn iterate(&mut self) -> R {
        self.local();
        let start = self.eliminate();
        let (residual, restart) = self.advance(start);
        self.untwist();
        self.hurry(restart);
        residual
    }

    /// Gives every edge the length of its copies, which obey the stiffness against stretching while the strand itself still
    /// does not, and free strands the place where all that acts on them balances. Nothing changes at the fixed point, nor for s.
    #[inline(always)]
    pub(super) fn settle(&mut self) {
        let mut position = R::load_vector(&self.moving[0].position);
        for i in 0..self.pairs.len() - 1 {
            let (here, next) = (&self.pairs[i], &self.pairs[i + 1]);
            let own = R::load_vector(&here.edges[1]).length();
            let other = R::load_vector(&next.edges[0]).length();
            let shared = R::zero().less(R::load_from(&next.weight_before));
            let length = R::select(shared, (own + other) * R::splat(0.5), own);
            let moving = &mut self.moving[i];
            length.store_to(&mut moving.length);
            let tangent = R::load_quaternion(&moving.frame).third_axis();
            position = tangent.mul_add(length, position);
            R::store_vector(position, &mut self.moving[i + 1].position);
        }
        if let Base::Free = self.base {
            balance::<S, R>(self.moving, self.loads);
        }
    }

    /// Equation 4 for every joint: y and λ.
    #[inline(always)]
    fn local(&mut self) {
        let factor = R::load_from(&self.momentum.factor);
        let mut before = self.before_first();
        for i in 0..self.pairs.len() - 1 {
            let (bend, behind) = (self.bend(i), self.edge(i));
            before.share = R::load_from(&self.pairs[i].share[0]);
            let element = EdgePair::gauss_newton(self.bending, self.stretching, &bend, &before, &behind);
            let pair = &mut self.pairs[i];
            let weight = R::load_from(&pair.weight);
            let map = [
                R::load_vector(&pair.change[0]).mul_add(factor, R::load_vector(&pair.map[0])),
                R::load_vector(&pair.change[1]).mul_add(factor, R::load_vector(&pair.map[1])),
            ];
            let edges = [before.edge.vector(), behind.edge.vector()];
            let pull = [(map[0] - edges[0]) * weight, (map[1] - edges[1]) * weight];
            let [x, y, z, u, v, w] = element.gradient.edges();
            let right =
                [pull[0].x - x, pull[0].y - y, pull[0].z - z, pull[1].x - u, pull[1].y - v, pull[1].z - w];
            let mut matrix = element.hessian.edges();
            for (row, entries) in matrix.iter_mut().enumerate() {
                entries[row] += weight;
            }
            let [x, y, z, u, v, w] = solve_positive(matrix, right);
            let steps = [Vector3::new(x, y, z), Vector3::new(u, v, w)];
            for side in 0..2 {
                let copy = swung(if side == 0 { before.edge } else { behind.edge }, steps[side]);
                R::store_vector(copy, &mut pair.edges[side]);
                R::store_vector(copy - map[side], &mut pair.multipliers[side]);
            }
            before = behind;
        }
    }

    /// The tridiagonal system of section 4.3 from the tip on. Returns how the first vertex moves [m].
    #[inline(always)]
    fn eliminate(&mut self) -> Vector3<R> {
        let last = self.pairs.len() - 1;
        // The energy of all that lies behind a vertex: ½ P |δx|² − q · δx.
        let mut stiffness = R::load_from(&self.loads[last].weight);
        let mut force = residual::<S, R>(&self.moving[last], &self.loads[last]);
        for i in (0..last).rev() {
            let vector = vector_of::<S, R>(&self.moving[i]);
            let (here, next) = (&self.pairs[i], &self.pairs[i + 1]);
            let (own, other) = (R::load_from(&here.weight), R::load_from(&next.weight_before));
            let target = R::load_vector(&here.edges[1]) + R::load_vector(&here.multipliers[1]);
            let other_target = R::load_vector(&next.edges[0]) + R::load_vector(&next.multipliers[0]);
            let pull = (target - vector) * own + (other_target - vector) * other;
            let weight = own + other;
            let inverse = R::one() / (stiffness + weight);
            let change = (pull + force) * inverse;
            let follow = stiffness * inverse;
            let pair = &mut self.pairs[i];
            R::store_vector(change, &mut pair.lengthening);
            follow.store_to(&mut pair.follow);
            let load = &self.loads[i];
            force = residual::<S, R>(&self.moving[i], load) + force - change * stiffness;
            stiffness = R::load_from(&load.weight) + weight * follow;
        }
        match self.base {
            Base::Clamped(_) => Vector3::zero(),
            Base::Free => force * (R::one() / stiffness.max(R::splat(NOTHING))),
        }
    }

    /// The way back: edges, vertices and frames; s; and the twists' system from the root on. Returns the largest
    /// residual, and the measure by which momentum begins anew where it is positive.
    #[inline(always)]
    fn advance(&mut self, start: Vector3<R>) -> (R, R) {
        let mut displacement = start;
        let mut position = R::load_vector(&self.moving[0].position) + start;
        R::store_vector(position, &mut self.moving[0].position);
        let (mut largest, mut restart) = (R::zero(), R::zero());
        let (mut edge_before, mut inverse_before) = (Vector3::zero(), R::zero());
        let PairEdge { edge: fixed, frame: clamp, .. } = self.before_first();
        let mut twist = TwistSweep { edge: fixed, frame: clamp, diagonal: R::zero(), right: R::zero() };
        for i in 0..self.pairs.len() - 1 {
            let pair = &self.pairs[i];
            let follow = R::load_from(&pair.follow);
            let change = displacement.mul_add(-follow, R::load_vector(&pair.lengthening));
            let vector = vector_of::<S, R>(&self.moving[i]) + change;
            let edge = Edge::new(vector);
            let frame = Frame(R::load_quaternion(&self.moving[i].frame)).transported(edge.tangent);
            let here = &mut self.moving[i];
            R::store_quaternion(frame.0, &mut here.frame);
            edge.length.store_to(&mut here.length);
            position += vector;
            let next = &mut self.moving[i + 1];
            displacement = position - R::load_vector(&next.position);
            R::store_vector(position, &mut next.position);
            if i == 0 {
                edge_before = R::load_vector(&self.pairs[0].edges[0]);
            }
            let pair = &mut self.pairs[i];
            let inverse = R::load_from(&self.rest[i].length).max(R::splat(NOTHING).sqrt());
            let inverse = exists::<S, R>(&self.rest[i]) / inverse;
            let (size, against) = remap::<S, R>(pair, [edge_before, vector], [inverse_before, inverse]);
            largest = largest.max(size);
            restart += against;
            (edge_before, inverse_before) = (vector, inverse);
            self.twist_row(i, edge, frame, &mut twist);
        }
        (largest, restart)
    }

    /// One row of the twists' tridiagonal system, eliminated towards the tip.
    #[inline(always)]
    fn twist_row(&mut self, i: usize, edge: Edge<R>, frame: Frame<R>, sweep: &mut TwistSweep<R>) {
        let bending = self.bend(i).gauss_newton(self.bending, sweep.frame, frame);
        let twists = bending.gauss_newton_twists(sweep.edge, edge);
        (sweep.edge, sweep.frame) = (edge, frame);
        let load = &self.loads[i];
        let weight = R::load_from(&load.twist_weight);
        let pull = weight * (R::load_from(&self.moving[i].twist) - R::load_from(&load.twist_target));
        if i > 0 {
            // The edge before now has both its joints.
            let diagonal = (sweep.diagonal + twists.hessian[0]).max(R::splat(NOTHING));
            let inverse = R::one() / diagonal;
            let follow = twists.hessian[1] * inverse;
            let right = (sweep.right - twists.gradient[0]) * inverse;
            let pair = &mut self.pairs[i - 1];
            right.store_to(&mut pair.twist);
            follow.store_to(&mut pair.twist_follow);
            sweep.diagonal = weight + twists.hessian[2] - follow * twists.hessian[1];
            sweep.right = -pull - twists.gradient[1] - right * twists.hessian[1];
        } else {
            sweep.diagonal = weight + twists.hessian[2];
            sweep.right = -pull - twists.gradient[1];
        }
        if i + 2 == self.pairs.len() {
            let right = sweep.right / sweep.diagonal.max(R::splat(NOTHING));
            right.store_to(&mut self.pairs[i].twist);
            R::zero().store_to(&mut self.pairs[i].twist_follow);
        }
    }

    /// The way back of the twists.
    #[inline(always)]
    fn untwist(&mut self) {
        let mut behind = R::zero();
        for i in (0..self.pairs.len() - 1).rev() {
            let pair = &self.pairs[i];
            let follow = R::load_from(&pair.twist_follow);
            behind = R::load_from(&pair.twist) - follow * behind;
            let turn = behind.min(R::splat(LARGEST_TURN)).max(R::splat(-LARGEST_TURN));
            let here = &mut self.moving[i];
            let frame = Frame(R::load_quaternion(&here.frame)).turned(turn);
            R::store_quaternion(frame.0, &mut here.frame);
            (R::load_from(&here.twist) + turn).store_to(&mut here.twist);
        }
    }

    /// Nesterov's sequence, from its beginning where momentum went the wrong way.
    #[inline(always)]
    fn hurry(&mut self, restart: R) {
        if !self.accelerated {
            return;
        }
        let wrong = R::zero().less(restart);
        let old = R::select(wrong, R::one(), R::load_from(&self.momentum.sequence));
        let next = ((old * old).mul_add(R::splat(4.0), R::one()).sqrt() + R::one()) * R::splat(0.5);
        let factor = R::select(wrong, R::zero(), (old - R::one()) / next);
        next.store_to(&mut self.momentum.sequence);
        (factor * R::load_from(&self.momentum.most)).store_to(&mut self.momentum.factor);
    }
}

/// What the elimination of the twists knows of the last edge.
struct TwistSweep<R> {
    edge: Edge<R>,
    frame: Frame<R>,
    diagonal: R,
    right: R,
}

/// An edge after a step [m] in polar coordinates: the part across turns it, and only the part along lengthens it. The sum
/// of both would be longer, by more than stiff hair ever is.
#[inline(always)]
fn swung<R: Real>(edge: Edge<R>, step: Vector3<R>) -> Vector3<R> {
    let along = edge.tangent.dot(step);
    let across = (step - edge.tangent * along) * edge.inverse_length;
    let direction = edge.tangent + across;
    let length = (edge.length + along).max(edge.length * R::splat(0.5));
    direction * (length / direction.length())
}

/// What acts on a vertex where it is [N].
#[inline(always)]
fn residual<S: Stored, R: Loads<S>>(moving: &Moving<S>, load: &Load<S>) -> Vector3<R> {
    R::load_vector(&load.pull) - R::load_vector(&moving.position) * R::load_from(&load.weight)
}

/// The next s of a pair, given its edges and one over their lengths. Returns the largest relative difference of an edge from
/// its copy, and W (s_in − s_out) · (s_out − s_before).
#[inline(always)]
fn remap<S: Stored, R: Loads<S>>(pair: &mut Pair<S>, edges: [Vector3<R>; 2], inverse: [R; 2]) -> (R, R) {
    let (mut largest, mut against) = (R::zero(), R::zero());
    for side in 0..2 {
        let miss = edges[side] - R::load_vector(&pair.edges[side]);
        let map = edges[side] - R::load_vector(&pair.multipliers[side]);
        let change = map - R::load_vector(&pair.map[side]);
        R::store_vector(map, &mut pair.map[side]);
        R::store_vector(change, &mut pair.change[side]);
        // s_out − s_in = B x − y.
        against -= miss.dot(change);
        largest = largest.max(miss.length_squared() * inverse[side] * inverse[side]);
    }
    (largest.sqrt(), against * R::load_from(&pair.weight))
}
