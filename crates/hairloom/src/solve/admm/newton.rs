//! One Newton step of elastic rods, strand by strand, in time proportional to the number of vertices.
//!
//! # The unknowns
//!
//! A strand is a chain of edges, each with a material frame (a unit quaternion whose third axis is the tangent,
//! so that twist is part of it) and a length. A step turns edge `i` by the rotation vector `ψᵢ` and lengthens
//! it by `δlᵢ`; the vertex at its end then moves by `δxᵢ₊₁ = δxᵢ + ψᵢ × eᵢ + tᵢ δlᵢ`. Updates are exact
//! rotations (polar), so a strand of any stiffness against stretching turns without lengthening.
//!
//! The bending and twisting strain at vertex `i` is `κ = 2 Im(q̄ᵢ₋₁ qᵢ)` (Korner et al. 2021; magnitude
//! `2 sin(φ/2)`), with `δκ = (p₀ − [p]×) Rᵢ₋₁ᵀ (ψᵢ − ψᵢ₋₁)`. Everything else that acts on a vertex (inertia, drag,
//! gravity, contact, springs) is a quadratic in its position.
//!
//! # The recursion
//!
//! Newton's equations in these unknowns couple each edge to its neighbours only through `(δxᵢ, ψᵢ)`: six numbers.
//! One sweep from the tip eliminates edge after edge, keeping the quadratic energy of all that hangs behind a
//! vertex as a function of those six (the articulated-body recursion); one sweep back finds the turns. It is
//! block elimination of the same matrix that a banded solver in vertex positions factors, but stiff stretching only
//! ever enters as `1 / (k + …)`: nothing cancels, and single precision is enough at any stiffness and length.
//!
//! # The second derivatives
//!
//! Turns do not commute: to second order two edges turn against each other by `ψᵢ − ψᵢ₋₁ − ½ ψᵢ₋₁ × ψᵢ`, so a joint that
//! carries a moment `m` couples them by `½ ψᵢ₋₁ · (m × ψᵢ)`. And a force `f` (minus the sum of what pulls behind) on the
//! end of an edge does the work `½ f · ψ × (ψ × e)`: its tension holds the edge's direction, its shear couples turning to twist.
//! Curls pulled straight live from these terms: without them iterations swing about the equilibrium for ever
//! wherever bending couples to twist strongly enough to leave the plane. What is left out is pressure along an edge, which
//! contact makes large for moments, and what is of the order of the squared angle between edges. Where the matrix of a strand
//! is still not positive definite (beyond an instability) every edge is held by as much as the couplings can take
//! away: such a step goes downhill. On strands in contact, whose forces are wild until they are found, couplings stay out.
//!
//! The way back moves vertices exactly and feeds the true displacement to the next edge.

use glam::DQuat;

use crate::math::{Loads, Matrix3, Quaternion, Real, Stored, Symmetric3, Vector3};

/// Largest turn of an edge in one step [rad].
const LARGEST_TURN: f64 = 0.7;

/// Where couplings leave less than this of an edge's stiffness against turning, they took too much [N m].
const SINGULAR: f64 = 1.0e-20;

/// A stiffness that no hair feels.
const NOTHING: f64 = 1.0e-30;

/// What stays constant of one vertex and of the edge behind it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Constants<S> {
    /// Rest length of the edge [m].
    pub length: S,
    /// Stiffness of the edge against stretching, E A / ē [N/m].
    pub stretching: S,
    /// Stiffness against bending about both axes and against twisting at this vertex, K / v [N m].
    pub bending: [S; 3],
    /// Strain at this vertex at rest.
    pub curvature: [S; 3],
    /// Mass [kg].
    pub mass: S,
    /// Rotational inertia of the edge about its tangent [kg m²].
    pub inertia: S,
}

/// What moves, of one vertex and of the edge behind it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moving<S> {
    /// Material frame of the edge.
    pub frame: [S; 4],
    /// Length of the edge [m].
    pub length: S,
    /// Position relative to the root [m].
    pub position: [S; 3],
    /// How far the edge has turned about its tangent since the step began [rad].
    pub twist: S,
}

/// What acts on a vertex as it moves: the energy `½ w |x|² − b · x` of its position relative to the root, and on the
/// edge behind it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Load<S> {
    /// w [N/m].
    pub weight: S,
    /// b [N].
    pub pull: [S; 3],
    /// Weight of the edge's twist since the step began [N m].
    pub twist_weight: S,
    /// Where that twist is pulled to [rad].
    pub twist_target: S,
}

/// The strains that damping pulls to, and its strength beside elasticity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Damping<'a, S> {
    /// τ / dt.
    pub ratio: f64,
    /// Strain at each vertex when the step began, and the edge's length.
    pub old: &'a [([S; 3], S)],
}

/// A frame that something holds behind an edge, which bends and twists against it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold<S> {
    /// The frame.
    pub frame: [S; 4],
    /// Stiffness against bending about both axes and against twisting, K / v; 0 where nothing is held [N m].
    pub stiffness: [S; 3],
    /// Strain when the step began, which damping pulls to.
    pub old: [S; 3],
}

/// What else pulls at a chain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extras<'a, S> {
    /// The strains that damping pulls to.
    pub damping: Option<Damping<'a, S>>,
    /// Frames held behind each edge; empty where there are none.
    pub holds: &'a [Hold<S>],
}

/// How the way back finds the next edge's turn and lengthening.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gain<S> {
    by_position: [[S; 3]; 3],
    by_turn: [[S; 3]; 3],
    turn: [S; 3],
    length_by_position: [S; 3],
    length_by_turn: [S; 3],
    lengthening: S,
}

/// How the first edge of a chain is held.
#[derive(Debug, Clone, Copy)]
pub(super) enum Base<R> {
    /// Its first vertex is fixed, and bends against this frame.
    Clamped(Quaternion<R>),
    /// Nothing holds it.
    Free,
}

/// The strain of a joint, how it changes as its edges turn against each other, and the moment it exerts.
struct Joint<R> {
    strain: Vector3<R>,
    /// Columns: δκ by a relative turn in the world.
    jacobian: Matrix3<R>,
}

/// `κ = 2 Im(q̄ₐ q_b)` and its derivative.
#[inline(always)]
fn joint<R: Real>(before: Quaternion<R>, behind: Quaternion<R>) -> Joint<R> {
    let relative = before.conjugate().after(behind);
    // Both signs of a quaternion are the same rotation: take the short one.
    let positive = R::zero().less(relative.real);
    let sign = R::select(positive, R::splat(1.0), R::splat(-1.0));
    let real = relative.real * sign;
    let imaginary = relative.imaginary * sign;
    let [d1, d2, d3] = before.axes();
    // (p₀ I − [p]×) Rᵀ, by rows.
    let Vector3 { x, y, z } = imaginary;
    // −[p]× has rows (0, z, −y), (−z, 0, x), (y, −x, 0).
    let rows = Matrix3([
        d2.mul_add(z, d3.mul_add(-y, d1 * real)),
        d1.mul_add(-z, d3.mul_add(x, d2 * real)),
        d1.mul_add(y, d2.mul_add(-x, d3 * real)),
    ]);
    Joint { strain: imaginary * R::splat(2.0), jacobian: rows.transpose() }
}

/// The strain at every vertex of a chain from `base` on, written beside the lengths.
#[inline(always)]
pub(super) fn strains<S: Stored, R: Loads<S>>(
    clamp: Quaternion<R>,
    moving: &[Moving<S>],
    out: &mut [([S; 3], S)],
) {
    let mut before = clamp;
    for (moving, (strain, length)) in moving.iter().zip(out) {
        let frame = R::load_quaternion(&moving.frame);
        R::store_vector(joint(before, frame).strain, strain);
        *length = moving.length;
        before = frame;
    }
}

/// The energy of all that lies behind a vertex, as a quadratic in the vertex's displacement and the turn of the
/// edge before it.
#[derive(Clone, Copy)]
struct Behind<R> {
    position: Symmetric3<R>,
    mixed: Matrix3<R>,
    turn: Symmetric3<R>,
    by_position: Vector3<R>,
    by_turn: Vector3<R>,
    /// Sum of the gradients of all vertices behind: minus the force that the edge before carries.
    load: Vector3<R>,
    /// Negative where the matrix is not positive definite.
    least: R,
    terms: Terms<R>,
}

/// Which second derivatives count.
#[derive(Clone, Copy)]
struct Terms<R> {
    /// 1 with couplings of turns, 0 by Gauss–Newton and tension alone.
    couplings: R,
    /// 1 where couplings stand as they are, 0 where the matrix is made positive definite.
    exact: R,
}

/// One Newton step of a chain. `rest`, `moving` and `loads` begin at the chain's first free joint and end at its
/// tip, one entry per vertex; the last entry's edge does not exist. `couplings` is 1 where turns couple by moments and
/// shear, and 0 elsewhere. Returns the largest turn of an edge [rad].
#[inline(always)]
pub(super) fn step<S: Stored, R: Loads<S>>(
    base: Base<R>,
    rest: &[Constants<S>],
    moving: &mut [Moving<S>],
    loads: &[Load<S>],
    extras: Extras<'_, S>,
    couplings: R,
    gains: &mut [Gain<S>],
) -> R {
    let one = R::splat(1.0);
    // What nothing holds turns and twists against next to nothing: couplings have nothing to lean on there.
    let wanted = matches!(base, Base::Clamped(_)) && R::any(R::zero().less(couplings));
    let mut terms = Terms { couplings: if wanted { couplings } else { R::zero() }, exact: one };
    let mut behind = sweep(base, rest, moving, loads, extras, terms, gains);
    if wanted && R::any(behind.least.less(R::zero())) {
        terms.exact = R::select(behind.least.less(R::zero()), R::zero(), one);
        behind = sweep(base, rest, moving, loads, extras, terms, gains);
        // Joints folded far over hold less than thought.
        if R::any(behind.least.less(R::zero())) {
            terms.couplings = R::select(behind.least.less(R::zero()), R::zero(), couplings);
            behind = sweep(base, rest, moving, loads, extras, terms, gains);
        }
    }
    match base {
        Base::Clamped(_) => advance::<S, R>(Vector3::zero(), moving, gains),
        Base::Free => {
            let position = behind.position.add_diagonal(R::splat(NOTHING));
            let start = -position.factored().solve(behind.by_position);
            let largest = advance::<S, R>(start, moving, gains);
            balance::<S, R>(moving, loads);
            largest
        }
    }
}

/// Eliminates all edges, from the tip on.
#[inline(always)]
fn sweep<S: Stored, R: Loads<S>>(
    base: Base<R>,
    rest: &[Constants<S>],
    moving: &[Moving<S>],
    loads: &[Load<S>],
    extras: Extras<'_, S>,
    terms: Terms<R>,
    gains: &mut [Gain<S>],
) -> Behind<R> {
    let last = moving.len() - 1;
    let mut behind = tip::<S, R>(&moving[last], &loads[last], terms);
    for i in (0..last).rev() {
        let before = match (i, &base) {
            (0, Base::Clamped(frame)) => Some(*frame),
            (0, Base::Free) => None,
            _ => Some(R::load_quaternion(&moving[i - 1].frame)),
        };
        let old = extras.damping.map(|damping| (R::splat(damping.ratio), &damping.old[i]));
        if let Some(hold) = extras.holds.get(i) {
            let ratio = extras.damping.map_or(0.0, |damping| damping.ratio);
            behind = lean(behind, R::load_quaternion(&moving[i].frame), hold, R::splat(ratio));
        }
        behind = eliminate(behind, before, &rest[i], &moving[i], &loads[i], old, &mut gains[i]);
    }
    behind
}

/// Moves a free strand as a whole to where all that acts on its vertices balances: this keeps its momentum exactly,
/// whatever its bending has still to do.
#[inline(always)]
pub(super) fn balance<S: Stored, R: Loads<S>>(moving: &mut [Moving<S>], loads: &[Load<S>]) {
    let (mut weight, mut force) = (R::zero(), Vector3::zero());
    for (moving, load) in moving.iter().zip(loads) {
        let here = R::load_from(&load.weight);
        weight += here;
        force += R::load_vector(&load.pull) - R::load_vector(&moving.position) * here;
    }
    // Lanes without a strand weigh nothing and stay.
    let shift = force * (R::splat(1.0) / weight.max(R::splat(1.0e-30)));
    for moving in moving {
        let position = R::load_vector(&moving.position) + shift;
        R::store_vector(position, &mut moving.position);
    }
}

#[inline(always)]
fn tip<S: Stored, R: Loads<S>>(moving: &Moving<S>, load: &Load<S>, terms: Terms<R>) -> Behind<R> {
    let weight = R::load_from(&load.weight);
    let gradient = R::load_vector(&moving.position) * weight - R::load_vector(&load.pull);
    Behind {
        position: Symmetric3::diagonal(weight),
        mixed: Matrix3::zero(),
        turn: Symmetric3::zero(),
        by_position: gradient,
        by_turn: Vector3::zero(),
        load: gradient,
        least: R::splat(1.0),
        terms,
    }
}

/// Lets an edge of this frame bend against one that is held behind it, with damping of strength `ratio` beside elasticity.
#[inline(always)]
fn lean<S: Stored, R: Loads<S>>(
    behind: Behind<R>,
    frame: Quaternion<R>,
    hold: &Hold<S>,
    ratio: R,
) -> Behind<R> {
    let joint = joint(frame, R::load_quaternion(&hold.frame));
    let stiffness = R::load_vector(&hold.stiffness);
    let damped = stiffness * (R::splat(1.0) + ratio);
    let [a, b, c] = joint.jacobian.0;
    let weighted = Matrix3([a.scaled(damped), b.scaled(damped), c.scaled(damped)]);
    let strain = joint.strain + (joint.strain - R::load_vector(&hold.old)) * ratio;
    Behind {
        turn: behind.turn + joint.jacobian.symmetric_product(weighted),
        by_turn: behind.by_turn - joint.jacobian.transpose_mul(strain.scaled(stiffness)),
        ..behind
    }
}

/// The strain of a joint between two frames.
pub(super) fn strain_between(before: DQuat, behind: DQuat) -> [f64; 3] {
    let Vector3 { x, y, z } = joint::<f64>(Quaternion::splat(before), Quaternion::splat(behind)).strain;
    [x, y, z]
}

/// Eliminates one edge and the joint at its start.
#[inline(always)]
fn eliminate<S: Stored, R: Loads<S>>(
    behind: Behind<R>,
    before: Option<Quaternion<R>>,
    rest: &Constants<S>,
    moving: &Moving<S>,
    load: &Load<S>,
    old: Option<(R, &([S; 3], S))>,
    gain: &mut Gain<S>,
) -> Behind<R> {
    let terms = behind.terms;
    let frame = R::load_quaternion(&moving.frame);
    let tangent = frame.third_axis();
    let length = R::load_from(&moving.length);
    let edge = tangent * length;

    // The edge: its end moves by δx + ψ × e + t δl.
    let swing = Matrix3::cross(-edge);
    let mixed = behind.mixed + behind.position.full() * swing;
    let turn = behind.turn + behind.mixed.symmetric_product(swing) + swing.symmetric_product(mixed);
    let by_turn = behind.by_turn + edge.cross(behind.by_position);

    // Stretching.
    let mut stiffness = R::load_from(&rest.stretching);
    let mut pull = (length - R::load_from(&rest.length)) * stiffness;
    if let Some((ratio, (_, old_length))) = old {
        pull += (length - R::load_from(old_length)) * stiffness * ratio;
        stiffness = stiffness * (ratio + R::splat(1.0));
    }
    let along = behind.position * tangent;
    let about = mixed.transpose_mul(tangent);
    let inverse = R::splat(1.0) / (along.dot(tangent) + stiffness);
    let lengthening = (behind.by_position.dot(tangent) + pull) * inverse;
    let (length_by_position, length_by_turn) = (along * inverse, about * inverse);
    let position = behind.position.add_outer(-inverse, along);
    let mixed = Matrix3([
        along.mul_add(-length_by_turn.x, mixed.0[0]),
        along.mul_add(-length_by_turn.y, mixed.0[1]),
        along.mul_add(-length_by_turn.z, mixed.0[2]),
    ]);
    let turn = turn.add_outer(-inverse, about);
    let by_position = behind.by_position - along * lengthening;
    let by_turn = by_turn - about * lengthening;

    // Tension holds the edge's direction, and shear couples it to twist; the edge's own inertia and whatever pulls at its
    // twist hold its twist.
    let pulled = -behind.load.dot(tangent);
    let shear = tangent.mul_add(pulled, behind.load) * (R::splat(0.5) * length * terms.couplings);
    let tension = pulled.max(R::zero()) * length;
    let twist_weight = R::load_from(&load.twist_weight);
    let turn = turn.add_diagonal(tension).add_outer(twist_weight - tension, tangent);
    let turn = turn + Symmetric3::mixed(tangent, shear);
    let twist_pull = twist_weight * (R::load_from(&moving.twist) - R::load_from(&load.twist_target));
    let by_turn = tangent.mul_add(twist_pull, by_turn);

    // The vertex at its start.
    let weight = R::load_from(&load.weight);
    let gradient = R::load_vector(&moving.position) * weight - R::load_vector(&load.pull);
    let position = position.add_diagonal(weight);
    let by_position = by_position + gradient;
    let load = behind.load + gradient;

    // The joint there.
    let (joint_stiffness, moment) = match before {
        Some(before) => bend(joint(before, frame), rest, old),
        // Next to nothing, so that lanes without a strand do not divide by zero.
        None => (Symmetric3::diagonal(R::splat(NOTHING)), Vector3::zero()),
    };
    let half_moment = moment * (R::splat(0.5) * terms.couplings);
    let coupling = Matrix3::cross(half_moment);
    // As much as the couplings can take away, where they took too much.
    let [stiff, soft, twisting] = rest.bending;
    let softest = R::load_from(&stiff).min(R::load_from(&soft)).min(R::load_from(&twisting));
    let taken = half_moment.length_squared() / softest.max(R::splat(NOTHING)) + shear.length_squared().sqrt();
    let turn = turn.add_diagonal(taken * (R::splat(1.0) - terms.exact));
    let factored = (turn + joint_stiffness).factored();
    // Also refuses infinities and what follows from them.
    let sound = factored.most().less(R::splat(1.0 / SINGULAR));
    let least = R::select(sound, factored.least(), R::splat(-1.0));
    let by_position_gain = factored.solve_columns(mixed.transpose());
    let by_turn_gain = factored.solve_columns(joint_stiffness.full() + coupling);
    let turned = factored.solve(by_turn + moment);

    for k in 0..3 {
        R::store_vector(by_position_gain.0[k], &mut gain.by_position[k]);
        R::store_vector(by_turn_gain.0[k], &mut gain.by_turn[k]);
    }
    R::store_vector(turned, &mut gain.turn);
    R::store_vector(length_by_position, &mut gain.length_by_position);
    R::store_vector(length_by_turn, &mut gain.length_by_turn);
    lengthening.store_to(&mut gain.lengthening);

    let transposed = mixed.transpose();
    Behind {
        position: position - transposed.symmetric_product(by_position_gain),
        mixed: mixed * by_turn_gain,
        // K − (K − G) Y with Y = (T + K)⁻¹ (K + G), where K is the joint's stiffness and G the coupling, without cancellation:
        // T Y + G (Y − 1).
        turn: turn.full().symmetric_product(by_turn_gain)
            - coupling.symmetric_product(by_turn_gain.add_diagonal(R::splat(-1.0))),
        by_position: by_position - mixed * turned,
        by_turn: joint_stiffness * turned - half_moment.cross(turned) - moment,
        load,
        least: behind.least.min(least),
        terms,
    }
}

/// Stiffness and moment of a joint, by a relative turn in the world.
#[inline(always)]
fn bend<S: Stored, R: Loads<S>>(
    joint: Joint<R>,
    rest: &Constants<S>,
    old: Option<(R, &([S; 3], S))>,
) -> (Symmetric3<R>, Vector3<R>) {
    let mut stiffness = R::load_vector(&rest.bending);
    let strain = joint.strain - R::load_vector(&rest.curvature);
    let mut stress = strain.scaled(stiffness);
    if let Some((ratio, (old_strain, _))) = old {
        stress += (joint.strain - R::load_vector(old_strain)).scaled(stiffness) * ratio;
        stiffness = stiffness * (ratio + R::splat(1.0));
    }
    let [a, b, c] = joint.jacobian.0;
    let weighted = Matrix3([a.scaled(stiffness), b.scaled(stiffness), c.scaled(stiffness)]);
    (joint.jacobian.symmetric_product(weighted), joint.jacobian.transpose_mul(stress))
}

#[inline(always)]
fn load_matrix<S: Stored, R: Loads<S>>(stored: &[[S; 3]; 3]) -> Matrix3<R> {
    Matrix3([R::load_vector(&stored[0]), R::load_vector(&stored[1]), R::load_vector(&stored[2])])
}

/// The way back: turns and lengthens every edge.
#[inline(always)]
fn advance<S: Stored, R: Loads<S>>(start: Vector3<R>, moving: &mut [Moving<S>], gains: &[Gain<S>]) -> R {
    let mut displacement = start;
    let mut turn = Vector3::zero();
    let mut position = R::load_vector(&moving[0].position) + start;
    R::store_vector(position, &mut moving[0].position);
    let mut largest = R::zero();
    for (i, gain) in gains.iter().enumerate().take(moving.len() - 1) {
        let by_turn = load_matrix::<S, R>(&gain.by_turn);
        let by_position = load_matrix::<S, R>(&gain.by_position);
        turn = by_turn * turn - by_position * displacement - R::load_vector(&gain.turn);
        let size = turn.length_squared().sqrt();
        largest = largest.max(size);
        turn = turn * (R::splat(LARGEST_TURN) / size.max(R::splat(LARGEST_TURN)));
        let lengthening = R::load_vector(&gain.length_by_position).dot(displacement)
            + R::load_vector(&gain.length_by_turn).dot(turn)
            + R::load_from(&gain.lengthening);
        let here = &mut moving[i];
        let frame = R::load_quaternion(&here.frame);
        let turned = frame.turned(turn);
        let length = R::load_from(&here.length) - lengthening;
        R::store_quaternion(turned, &mut here.frame);
        length.store_to(&mut here.length);
        let twist = R::load_from(&here.twist) + frame.third_axis().dot(turn);
        twist.store_to(&mut here.twist);
        position = turned.third_axis().mul_add(length, position);
        let next = &mut moving[i + 1];
        displacement = position - R::load_vector(&next.position);
        R::store_vector(position, &mut next.position);
    }
    largest
}
