//! One step of a pack of strands.
//!
//! Backward Euler's equations, in multipliers. With the mean mass m of a strand's vertices, P = Δt² f / m is what the force f of a segment
//! on its end towards the tip moves a vertex of mean mass by, and ψ a small turn of a segment:
//!
//! - Segments: `e − l₀ d₃ + α P = 0` with α = m l₀ / (EA Δt²). All segments of a strand at once: a block tridiagonal system whose blocks
//!   beside the diagonal are multiples of the identity.
//! - Joints: `I ψ = Δt² (2 K g − 2 K' g')` with the pull g of the joint before and g' of the one behind. All joints at once: one tridiagonal
//!   matrix for all three axes, the same in every step.
//!
//! An iteration solves joints, then segments; each turns the frames that the other needs.

use glam::DVec3;

use super::pack::{Moving, Pack, Still, Timed};
use crate::math::{Loads, Quaternion, Stored, StoredKernel, Symmetric3, Vector3};
use crate::rod::cosserat::{BendTwist, Darboux};

/// Room for one row of what a step must remember.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Row<S> {
    /// Position at the start [m].
    position: [S; 3],
    /// Frame at the start.
    frame: [S; 4],
    /// Right-hand sides.
    right: [S; 3],
    /// Inverse of the pivot of a segment.
    inverse: [S; 6],
}

/// How a step is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conditions {
    /// Time step [s].
    pub dt: f64,
    /// Acceleration of gravity [m/s²].
    pub gravity: DVec3,
    pub iterations: u32,
    pub darboux: Darboux,
}

/// Positions, velocities, frames and spins at the end of a step.
pub(super) struct Advance<'a, S> {
    pub pack: &'a mut Pack<S>,
    pub conditions: Conditions,
    pub scratch: &'a mut Vec<Row<S>>,
}

/// Constants for a time step.
struct SetTime<'a, S> {
    pack: &'a mut Pack<S>,
    dt: f64,
}

impl<S: Stored> StoredKernel<S> for SetTime<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<R: Loads<S>>(self) {
        let Pack { still, timed, .. } = self.pack;
        let square = R::splat(self.dt * self.dt);
        let (mut pivot, mut bend) = (R::zero(), R::zero());
        for (index, (still_row, timed_row)) in still.iter().zip(timed.iter_mut()).enumerate() {
            if index == 0 {
                bend = R::load_from(&still_row.bend) * square;
            }
            let behind = still.get(index + 1).map_or(R::zero(), |row| R::load_from(&row.bend) * square);
            let diagonal = R::load_from(&still_row.inertia) + bend + behind - bend * bend * pivot;
            let held = R::load_from(&still_row.turn_weight).less(R::splat(1.0e-12));
            pivot = R::select(held, R::zero(), R::one() / diagonal);
            (R::load_from(&still_row.compliance) / square).store_to(&mut timed_row.compliance);
            bend.store_to(&mut timed_row.bend);
            pivot.store_to(&mut timed_row.pivot);
            bend = behind;
        }
    }
}

impl<S: Stored> Pack<S> {
    /// Takes a step.
    pub(super) fn advance(&mut self, conditions: Conditions, scratch: &mut Vec<Row<S>>) {
        if self.timed_for != conditions.dt {
            S::dispatch(SetTime { pack: self, dt: conditions.dt });
            self.timed_for = conditions.dt;
        }
        scratch.resize(self.moving.len(), Row::default());
        S::dispatch(Advance { pack: self, conditions, scratch });
    }
}

#[inline(always)]
fn load_symmetric<S, R: Loads<S>>(stored: &[S; 6]) -> Symmetric3<R> {
    let [xx, xy, yy, xz, yz, zz] = stored;
    Symmetric3 {
        xx: R::load_from(xx),
        xy: R::load_from(xy),
        yy: R::load_from(yy),
        xz: R::load_from(xz),
        yz: R::load_from(yz),
        zz: R::load_from(zz),
    }
}

#[inline(always)]
fn store_symmetric<S, R: Loads<S>>(value: Symmetric3<R>, stored: &mut [S; 6]) {
    let [xx, xy, yy, xz, yz, zz] = stored;
    value.xx.store_to(xx);
    value.xy.store_to(xy);
    value.yy.store_to(yy);
    value.xz.store_to(xz);
    value.yz.store_to(yz);
    value.zz.store_to(zz);
}

/// Turns all segments as their joints ask.
#[inline(always)]
fn bend<S: Stored, R: Loads<S>>(
    clamp: Quaternion<R>,
    darboux: Darboux,
    still: &[Still<S>],
    timed: &[Timed<S>],
    moving: &mut [Moving<S>],
    scratch: &mut [Row<S>],
) {
    let segments = moving.len() - 1;
    let two = R::splat(2.0);
    let mut frame = R::load_quaternion(&moving[0].frame);
    let first = BendTwist { before: clamp, behind: frame, rest: R::load_quaternion(&still[0].rest) };
    let mut stiffness = R::load_from(&timed[0].bend);
    let mut pull = first.pull(darboux) * (two * stiffness);
    let (mut right, mut pivot) = (Vector3::zero(), R::zero());
    for s in 0..segments {
        let mut next_pull = Vector3::zero();
        let mut next_stiffness = R::zero();
        let mut next_frame = frame;
        if s + 1 < segments {
            next_frame = R::load_quaternion(&moving[s + 1].frame);
            next_stiffness = R::load_from(&timed[s + 1].bend);
            let rest = R::load_quaternion(&still[s + 1].rest);
            let joint = BendTwist { before: frame, behind: next_frame, rest };
            next_pull = joint.pull(darboux) * (two * next_stiffness);
        }
        let turned = R::load_vector(&moving[s].torque);
        let own = turned.mul_add(-R::load_from(&still[s].inertia), pull - next_pull);
        right = right.mul_add(stiffness * pivot, own);
        R::store_vector(right, &mut scratch[s].right);
        pivot = R::load_from(&timed[s].pivot);
        (frame, pull, stiffness) = (next_frame, next_pull, next_stiffness);
    }
    let mut turn = Vector3::zero();
    let mut stiffness = R::zero();
    for s in (0..segments).rev() {
        let right = R::load_vector(&scratch[s].right);
        turn = turn.mul_add(stiffness, right) * R::load_from(&timed[s].pivot);
        stiffness = R::load_from(&timed[s].bend);
        let row = &mut moving[s];
        R::store_quaternion(R::load_quaternion(&row.frame).turned(turn), &mut row.frame);
        R::store_vector(R::load_vector(&row.torque) + turn, &mut row.torque);
    }
}

/// Gives all segments their lengths and directions.
#[inline(always)]
fn stretch<S: Stored, R: Loads<S>>(
    still: &[Still<S>],
    timed: &[Timed<S>],
    moving: &mut [Moving<S>],
    scratch: &mut [Row<S>],
) {
    let segments = moving.len() - 1;
    // From the tip to the root.
    let (mut right, mut inverse) = (Vector3::zero(), Symmetric3::<R>::zero());
    let mut end = R::load_vector(&moving[segments].position);
    let mut coupling = R::zero();
    for s in (0..segments).rev() {
        let row = &moving[s];
        let start = R::load_vector(&row.position);
        let director = R::load_quaternion(&row.frame).third_axis();
        let compliance = R::load_from(&timed[s].compliance);
        let turn_weight = R::load_from(&still[s].turn_weight);
        let weight = R::load_from(&still[s].start);
        let diagonal = weight + R::load_from(&still[s + 1].weight) + (turn_weight + compliance);
        let matrix =
            inverse.scaled(-(coupling * coupling)).add_outer(-turn_weight, director).add_diagonal(diagonal);
        let misfit = director.mul_add(-R::load_from(&still[s].length), end - start);
        let own = -R::load_vector(&row.force).mul_add(compliance, misfit);
        right = (inverse * right).mul_add(coupling, own);
        inverse = matrix.inverse();
        R::store_vector(right, &mut scratch[s].right);
        store_symmetric(inverse, &mut scratch[s].inverse);
        (end, coupling) = (start, weight);
    }
    // And back.
    let mut push = Vector3::<R>::zero();
    for s in 0..segments {
        let coupling = R::load_from(&still[s].start);
        let right = R::load_vector(&scratch[s].right);
        let next = load_symmetric::<S, R>(&scratch[s].inverse) * push.mul_add(coupling, right);
        let weight = R::load_from(&still[s].weight);
        let row = &mut moving[s];
        let moved = push * weight - next * coupling;
        R::store_vector(R::load_vector(&row.position) + moved, &mut row.position);
        R::store_vector(R::load_vector(&row.force) + next, &mut row.force);
        let frame = R::load_quaternion(&row.frame);
        let lever = R::load_from(&still[s].turn_weight) / R::load_from(&still[s].length);
        let turn = next.cross(frame.third_axis()) * lever;
        R::store_quaternion(frame.turned(turn), &mut row.frame);
        push = next;
    }
    let row = &mut moving[segments];
    let moved = push * R::load_from(&still[segments].weight);
    R::store_vector(R::load_vector(&row.position) + moved, &mut row.position);
}

/// Where everything would go with the forces of the last step. Held rows are where they were.
#[inline(always)]
fn predict<S: Stored, R: Loads<S>>(pack: &mut Pack<S>, conditions: &Conditions, scratch: &mut [Row<S>]) {
    let Pack { still, moving, wind, .. } = pack;
    let (dt, square) = (R::splat(conditions.dt), R::splat(conditions.dt * conditions.dt));
    let drag = R::load_from(&pack.drag) * dt;
    let slowed = R::one() / (R::one() + drag);
    let fall = Vector3::splat(conditions.gravity * conditions.dt);
    let mut before = Vector3::<R>::zero();
    for (index, (row, still)) in moving.iter_mut().zip(still.iter()).enumerate() {
        let (position, frame) = (R::load_vector(&row.position), R::load_quaternion(&row.frame));
        R::store_vector(position, &mut scratch[index].position);
        R::store_quaternion(frame, &mut scratch[index].frame);
        let weight = R::load_from(&still.weight);
        let mut velocity = R::load_vector(&row.velocity) + fall;
        if let Some(wind) = wind.get(index) {
            velocity = R::load_vector(wind).mul_add(drag, velocity);
        }
        let push = R::load_vector(&row.force) * square;
        let pushed = before * weight - push * R::load_from(&still.start);
        let held = weight.less(R::splat(1.0e-12));
        let moved = Vector3::select(held, Vector3::zero(), velocity.mul_add(slowed * dt, pushed));
        R::store_vector(position + moved, &mut row.position);
        R::store_vector(push, &mut row.force);

        let turn_weight = R::load_from(&still.turn_weight);
        let torque = R::load_vector(&row.torque) * square;
        let lever = turn_weight / R::load_from(&still.length);
        let turn = R::load_vector(&row.spin).mul_add(dt, torque);
        let turn = push.cross(frame.third_axis()).mul_add(lever, turn);
        let held = turn_weight.less(R::splat(1.0e-12));
        let turn = Vector3::select(held, Vector3::zero(), turn);
        R::store_quaternion(frame.turned(turn), &mut row.frame);
        R::store_vector(torque, &mut row.torque);
        before = push;
    }
}

impl<S: Stored> StoredKernel<S> for Advance<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<R: Loads<S>>(self) {
        let Self { pack, conditions, scratch } = self;
        predict::<S, R>(pack, &conditions, scratch);
        pack.hold();
        let clamp = R::load_quaternion(&pack.clamp);
        let Pack { still, timed, moving, .. } = pack;
        for _ in 0..conditions.iterations {
            bend::<S, R>(clamp, conditions.darboux, still, timed, moving, scratch);
            stretch::<S, R>(still, timed, moving, scratch);
        }
        let (rate, square) = (R::splat(1.0 / conditions.dt), R::splat(1.0 / (conditions.dt * conditions.dt)));
        for (row, old) in moving.iter_mut().zip(scratch.iter()) {
            let moved = R::load_vector(&row.position) - R::load_vector(&old.position);
            R::store_vector(moved * rate, &mut row.velocity);
            let turn =
                R::load_quaternion(&row.frame).after(R::load_quaternion(&old.frame).conjugate()).forward();
            let scale = R::splat(2.0) * rate / turn.real.max(R::splat(1.0e-3));
            R::store_vector(turn.imaginary * scale, &mut row.spin);
            R::store_vector(R::load_vector(&row.force) * square, &mut row.force);
            R::store_vector(R::load_vector(&row.torque) * square, &mut row.torque);
        }
    }
}
