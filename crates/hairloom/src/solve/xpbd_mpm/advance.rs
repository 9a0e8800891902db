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

use super::Params;
use super::drive::Part;
use super::pack::{Moving, Pack, Still, Timed};
use crate::math::{Loads, Quaternion, Real, Stored, StoredKernel, Symmetric3, Vector3};
use crate::rod::cosserat::{BendTwist, Darboux};
use crate::solve::ABSURD_SPEED;

/// Room for one row of what a step must remember.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Row<S> {
    /// Right-hand sides.
    right: [S; 3],
    /// Inverse of the pivot of a segment.
    inverse: [S; 6],
    /// One over what resists the segment's turning.
    slow: S,
    /// One over the pivot of the joints' tridiagonal matrix.
    pivot: S,
}

/// How a step is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conditions {
    /// Time step [s].
    pub dt: f64,
    /// Acceleration of gravity [m/s²].
    pub gravity: DVec3,
    /// Least number of iterations.
    pub iterations: u32,
    /// How far lengths may be off, relatively, before more iterations are taken.
    pub tolerance: f64,
    pub darboux: Darboux,
    /// See [`super::Params::rotary_inertia`].
    pub rotary_inertia: f64,
}

impl Conditions {
    pub(super) fn new(part: &Part<'_>, params: &Params) -> Self {
        let Params { iterations, tolerance, darboux, rotary_inertia, .. } = *params;
        Self { dt: part.dt, gravity: part.drive.gravity, iterations, tolerance, darboux, rotary_inertia }
    }
}

/// Most iterations of a step, but where more are asked for. Roots that are torn away within a step, over several lengths of a segment, take
/// that many while hair folds; otherwise there are two or three.
const MOST_ITERATIONS: u32 = 200;
/// Least compliance of a segment within a step, beside its weights of about 1: between two held ends the equations of segments that cannot
/// stretch hang on each other, and single precision must tell them apart. Hair stretches by two millionths of what its forces move it by in
/// a step.
const LEAST_COMPLIANCE: f64 = 2.0e-6;
/// Inertia of segments that are held, over mean mass and squared mean length.
const IMMOVABLE: f64 = 1.0e20;
/// Inertia of a thin bar about its middle, over its mass and squared length.
const OWN_INERTIA: f64 = 1.0 / 12.0;

/// How a step went.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken {
    pub iterations: u32,
    /// Whether a vertex moves absurdly fast.
    pub lost: bool,
}

/// What an iteration works on.
struct Strand<'a, S> {
    still: &'a [Still<S>],
    timed: &'a [Timed<S>],
    moving: &'a mut [Moving<S>],
    scratch: &'a mut [Row<S>],
}

/// Positions, velocities, frames and spins at the end of a step.
pub(super) struct Advance<'a, S> {
    pub pack: &'a mut Pack<S>,
    pub conditions: Conditions,
    pub scratch: &'a mut Vec<Row<S>>,
}

/// The same after something else has moved vertices.
struct Answer<'a, S> {
    pack: &'a mut Pack<S>,
    conditions: Conditions,
    scratch: &'a mut Vec<Row<S>>,
}

/// Constants for a time step.
struct SetTime<'a, S> {
    pack: &'a mut Pack<S>,
    dt: f64,
    rotary_inertia: f64,
}

impl<S: Stored> StoredKernel<S> for SetTime<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<R: Loads<S>>(self) {
        let Pack { still, made, timed, .. } = self.pack;
        let square = R::splat(self.dt * self.dt);
        let (own, added) = (R::splat(OWN_INERTIA), R::splat(self.rotary_inertia));
        let mut bend = R::load_from(&made[0].bend) * square;
        for (index, ((row, still), timed)) in made.iter().zip(still.iter()).zip(timed.iter_mut()).enumerate()
        {
            let behind = made.get(index + 1).map_or(R::zero(), |row| R::load_from(&row.bend) * square);
            let mass = R::load_from(&row.mass);
            let held = mass.less(R::splat(1.0e-12));
            // √G of a joint: how stiff it is beside the mass that it turns, within a step.
            let stiffness = (bend.max(behind) / mass.max(R::splat(1.0e-12))).sqrt();
            let inertia = R::select(held, R::splat(IMMOVABLE), mass * own.max(added * stiffness));
            let length = R::load_from(&still.length) * R::load_from(&row.inverse_mean);
            let compliance = (R::load_from(&row.compliance) / square).max(R::splat(LEAST_COMPLIANCE));
            compliance.store_to(&mut timed.compliance);
            inertia.store_to(&mut timed.inertia);
            (R::one() / inertia).store_to(&mut timed.slow);
            (length * R::load_from(&row.inverse_mean)).store_to(&mut timed.arm);
            bend.store_to(&mut timed.bend);
            bend = behind;
        }
    }
}

impl<S: Stored> Pack<S> {
    /// Takes a step.
    pub(super) fn advance(&mut self, conditions: Conditions, scratch: &mut Vec<Row<S>>) -> Taken {
        if self.timed_for != conditions.dt {
            let Conditions { dt, rotary_inertia, .. } = conditions;
            S::dispatch(SetTime { pack: self, dt, rotary_inertia });
            self.timed_for = conditions.dt;
        }
        scratch.resize(self.moving.len(), Row::default());
        S::dispatch(Advance { pack: self, conditions, scratch })
    }

    /// Answers to what moved vertices after a step and gave them other velocities: as if that had been a force during the step. Returns
    /// the number of iterations.
    pub(super) fn answer(&mut self, conditions: Conditions, scratch: &mut Vec<Row<S>>) -> u32 {
        scratch.resize(self.moving.len(), Row::default());
        S::dispatch(Answer { pack: self, conditions: Conditions { iterations: 1, ..conditions }, scratch })
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

/// The vector product by fused operations.
#[inline(always)]
fn cross<R: Real>(a: Vector3<R>, b: Vector3<R>) -> Vector3<R> {
    Vector3::new(
        a.y.mul_add(b.z, -(a.z * b.y)),
        a.z.mul_add(b.x, -(a.x * b.z)),
        a.x.mul_add(b.y, -(a.y * b.x)),
    )
}

/// A frame turned by a small rotation vector. Without division where no lane turns far: then one Newton step gives it unit length again.
#[inline(always)]
fn turned<R: Real>(frame: Quaternion<R>, turn: Vector3<R>) -> Quaternion<R> {
    let half = turn * R::splat(0.5);
    let (w, Vector3 { x, y, z }) = (frame.real, frame.imaginary);
    let raw = Quaternion::new(
        w - half.dot(frame.imaginary),
        Vector3::new(
            half.x.mul_add(w, half.y.mul_add(z, (-half.z).mul_add(y, x))),
            half.y.mul_add(w, half.z.mul_add(x, (-half.x).mul_add(z, y))),
            half.z.mul_add(w, half.x.mul_add(y, (-half.y).mul_add(x, z))),
        ),
    );
    if R::any(R::splat(0.01).less(half.length_squared())) { raw.normalized() } else { raw.renormalized() }
}

/// The right-hand sides of all joints, from the root to the tip, with those before eliminated. With `begin` rows are predicted on the way.
#[inline(always)]
fn pull_joints<S: Stored, R: Loads<S>>(
    strand: &mut Strand<'_, S>,
    clamp: Quaternion<R>,
    darboux: Darboux,
    mut begin: Option<Prediction<'_, S, R>>,
) {
    let segments = strand.moving.len() - 1;
    let two = R::splat(2.0);
    if let Some(prediction) = &mut begin {
        prediction.row(strand, 0);
    }
    let mut frame = R::load_quaternion(&strand.moving[0].frame);
    let first = BendTwist { before: clamp, behind: frame, rest: R::load_quaternion(&strand.still[0].rest) };
    let mut stiffness = R::load_from(&strand.timed[0].bend);
    let mut pull = first.pull(darboux) * (two * stiffness);
    let (mut right, mut pivot) = (Vector3::zero(), R::zero());
    for s in 0..segments {
        if let Some(prediction) = &mut begin {
            prediction.row(strand, s + 1);
        }
        let Strand { still, timed, moving, scratch } = strand;
        let (row, timed_row, scratch) = (&moving[s], &timed[s], &mut scratch[s]);
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
        // What turns the segment beyond what has been applied to it: its joints, and the forces on its ends about its middle.
        let (director, force) = (frame.third_axis(), R::load_vector(&row.force));
        let arm = R::load_from(&timed_row.arm);
        let own = cross(force, director).mul_add(arm, pull - next_pull) - R::load_vector(&row.torque);
        // A taut segment also resists turning by its tension.
        let inertia = (force.dot(director) * -arm).max(R::zero()) + R::load_from(&timed_row.inertia);
        let coupling = stiffness * pivot;
        right = right.mul_add(coupling, own);
        pivot = R::one() / (inertia + stiffness + next_stiffness - stiffness * coupling);
        R::store_vector(right, &mut scratch.right);
        (R::one() / inertia).store_to(&mut scratch.slow);
        pivot.store_to(&mut scratch.pivot);
        (frame, pull, stiffness) = (next_frame, next_pull, next_stiffness);
    }
}

/// From the tip to the root: turns all segments as their joints ask, and eliminates the equations of their lengths and directions.
#[inline(always)]
fn turn_segments<S: Stored, R: Loads<S>>(strand: &mut Strand<'_, S>) {
    let Strand { still, timed, moving, scratch } = strand;
    let segments = moving.len() - 1;
    let (mut turn, mut stiffness) = (Vector3::<R>::zero(), R::zero());
    let (mut right, mut inverse) = (Vector3::<R>::zero(), Symmetric3::<R>::zero());
    let mut end = R::load_vector(&moving[segments].position);
    let mut end_weight = R::load_from(&still[segments].weight);
    let mut coupling = R::zero();
    for s in (0..segments).rev() {
        let (timed, row, scratch) = (&timed[s], &mut moving[s], &mut scratch[s]);
        turn = turn.mul_add(stiffness, R::load_vector(&scratch.right)) * R::load_from(&scratch.pivot);
        stiffness = R::load_from(&timed.bend);
        let frame = turned(R::load_quaternion(&row.frame), turn);
        R::store_quaternion(frame, &mut row.frame);
        let torque = turn.mul_add(R::load_from(&timed.inertia), R::load_vector(&row.torque));
        R::store_vector(torque, &mut row.torque);

        let start = R::load_vector(&row.position);
        let director = frame.third_axis();
        let compliance = R::load_from(&timed.compliance);
        let force = R::load_vector(&row.force);
        let length = R::load_from(&still[s].length);
        let turn_weight = length * R::load_from(&timed.arm) * R::load_from(&scratch.slow);
        let weight = R::load_from(&still[s].start);
        let diagonal = (weight + end_weight) + (turn_weight + compliance);
        let matrix =
            inverse.scaled(-(coupling * coupling)).add_outer(-turn_weight, director).add_diagonal(diagonal);
        let misfit = director.mul_add(-length, end - start);
        let own = -force.mul_add(compliance, misfit);
        right = (inverse * right).mul_add(coupling, own);
        inverse = matrix.inverse();
        R::store_vector(right, &mut scratch.right);
        store_symmetric(inverse, &mut scratch.inverse);
        (end, coupling, end_weight) = (start, weight, R::load_from(&still[s].weight));
    }
}

/// From the root to the tip: gives all segments their lengths and directions. Returns the square of the largest turn of a segment: half
/// of that, about, is how far lengths are off afterwards.
#[inline(always)]
fn place_segments<S: Stored, R: Loads<S>>(strand: &mut Strand<'_, S>) -> R {
    let Strand { still, timed, moving, scratch } = strand;
    let segments = moving.len() - 1;
    let mut push = Vector3::<R>::zero();
    let mut most = R::zero();
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
        let turn =
            cross(next, frame.third_axis()) * (R::load_from(&timed[s].arm) * R::load_from(&scratch[s].slow));
        most = most.max(turn.length_squared());
        R::store_quaternion(turned(frame, turn), &mut row.frame);
        let torque = turn.mul_add(R::load_from(&timed[s].inertia), R::load_vector(&row.torque));
        R::store_vector(torque, &mut row.torque);
        push = next;
    }
    let row = &mut moving[segments];
    let moved = push * R::load_from(&still[segments].weight);
    R::store_vector(R::load_vector(&row.position) + moved, &mut row.position);
    most
}

/// Where everything would go with the forces of the last step, row after row. What is held stays.
struct Prediction<'a, S, R> {
    wind: &'a [[S; 3]],
    dt: R,
    square: R,
    /// What the air takes on of a velocity within the step, and what is left of one.
    drag: R,
    slowed: R,
    /// What gravity adds to velocities [m/s].
    fall: Vector3<R>,
    /// Force of the segment before.
    before: Vector3<R>,
}

impl<'a, S: Stored, R: Loads<S>> Prediction<'a, S, R> {
    #[inline(always)]
    fn new(wind: &'a [[S; 3]], drag: &S, conditions: &Conditions) -> Self {
        let dt = R::splat(conditions.dt);
        let drag = R::load_from(drag) * dt;
        Self {
            wind,
            dt,
            square: R::splat(conditions.dt * conditions.dt),
            drag,
            slowed: R::one() / (R::one() + drag),
            fall: Vector3::splat(conditions.gravity * conditions.dt),
            before: Vector3::zero(),
        }
    }

    #[inline(always)]
    fn row(&mut self, strand: &mut Strand<'_, S>, index: usize) {
        let (still, timed, row) = (&strand.still[index], &strand.timed[index], &mut strand.moving[index]);
        let frame = R::load_quaternion(&row.frame);
        let weight = R::load_from(&still.weight);
        let old = R::load_vector(&row.velocity);
        let blown = match self.wind.get(index) {
            Some(wind) => R::load_vector(wind).mul_add(self.drag, old),
            None => old,
        };
        let push = R::load_vector(&row.force) * self.square;
        let pushed = self.before * weight - push * R::load_from(&still.start);
        // The air slows what moves; gravity and the forces of the rods must balance in it as elsewhere.
        let velocity = blown.mul_add(self.slowed, self.fall);
        let moved = velocity.mul_add(self.dt, pushed);
        let held = weight.less(R::splat(1.0e-12));
        let moved = Vector3::select(held, Vector3::zero(), moved);
        R::store_vector(Vector3::select(held, old, velocity), &mut row.velocity);
        R::store_vector(R::load_vector(&row.position) + moved, &mut row.position);
        R::store_vector(push, &mut row.force);

        let slow = R::load_from(&timed.slow);
        let torque = R::load_vector(&row.torque) * self.square;
        let turn = R::load_vector(&row.spin).mul_add(self.dt, torque * slow);
        let turn = Vector3::select(slow.less(R::splat(1.0e-12)), Vector3::zero(), turn);
        R::store_quaternion(turned(frame, turn), &mut row.frame);
        R::store_vector(torque, &mut row.torque);
        self.before = push;
    }
}

/// Lets the iterations go on after something else has moved vertices: velocities and spins without what forces and torques added to them.
#[inline(always)]
fn resume<S: Stored, R: Loads<S>>(strand: &mut Strand<'_, S>, dt: f64) {
    let Strand { still, timed, moving, .. } = strand;
    let (rate, square) = (R::splat(-1.0 / dt), R::splat(dt * dt));
    let mut before = Vector3::<R>::zero();
    for ((row, still), timed) in moving.iter_mut().zip(still.iter()).zip(timed.iter()) {
        let push = R::load_vector(&row.force) * square;
        let torque = R::load_vector(&row.torque) * square;
        let pushed = before * R::load_from(&still.weight) - push * R::load_from(&still.start);
        R::store_vector(pushed.mul_add(rate, R::load_vector(&row.velocity)), &mut row.velocity);
        let turned = torque * R::load_from(&timed.slow);
        R::store_vector(turned.mul_add(rate, R::load_vector(&row.spin)), &mut row.spin);
        R::store_vector(push, &mut row.force);
        R::store_vector(torque, &mut row.torque);
        before = push;
    }
}

/// Iterations until all lengths are near enough to what the forces make them, the first one with a prediction where there is one. Returns
/// how many.
#[inline(always)]
fn iterate<S: Stored, R: Loads<S>>(
    strand: &mut Strand<'_, S>,
    clamp: Quaternion<R>,
    conditions: &Conditions,
    prediction: Option<Prediction<'_, S, R>>,
) -> u32 {
    let allowed = R::splat(2.0 * conditions.tolerance);
    let mut iterations = 0;
    pull_joints::<S, R>(strand, clamp, conditions.darboux, prediction);
    loop {
        turn_segments::<S, R>(strand);
        let turned = place_segments::<S, R>(strand);
        iterations += 1;
        let settled = iterations >= conditions.iterations && !R::any(allowed.less(turned));
        if settled || iterations >= conditions.iterations.max(MOST_ITERATIONS) {
            return iterations;
        }
        pull_joints::<S, R>(strand, clamp, conditions.darboux, None);
    }
}

/// Velocities and spins by what the forces and torques have added to them, which is how far vertices have gone and segments have turned.
/// Returns 1 where a speed is absurd or no number, else 0.
#[inline(always)]
fn finish<S: Stored, R: Loads<S>>(strand: &mut Strand<'_, S>, dt: f64) -> R {
    let Strand { still, timed, moving, .. } = strand;
    let (rate, square) = (R::splat(1.0 / dt), R::splat(1.0 / (dt * dt)));
    let limit = R::splat(ABSURD_SPEED * ABSURD_SPEED);
    let (mut lost, mut before) = (R::zero(), Vector3::<R>::zero());
    for ((row, still), timed) in moving.iter_mut().zip(still.iter()).zip(timed.iter()) {
        let (push, torque) = (R::load_vector(&row.force), R::load_vector(&row.torque));
        let pushed = before * R::load_from(&still.weight) - push * R::load_from(&still.start);
        let velocity = pushed.mul_add(rate, R::load_vector(&row.velocity));
        // Numbers that are none are not less than anything.
        lost = R::select(velocity.length_squared().less(limit), lost, R::one());
        R::store_vector(velocity, &mut row.velocity);
        let turned = torque * R::load_from(&timed.slow);
        R::store_vector(turned.mul_add(rate, R::load_vector(&row.spin)), &mut row.spin);
        R::store_vector(push * square, &mut row.force);
        R::store_vector(torque * square, &mut row.torque);
        before = push;
    }
    lost
}

impl<S: Stored> StoredKernel<S> for Advance<'_, S> {
    type Output = Taken;

    #[inline(always)]
    fn run<R: Loads<S>>(self) -> Taken {
        let Self { pack, conditions, scratch } = self;
        pack.hold(conditions.dt);
        let clamp = R::load_quaternion(&pack.clamp);
        let Pack { still, timed, moving, wind, drag, .. } = pack;
        let mut strand = Strand { still, timed, moving, scratch };
        let prediction = Prediction::new(wind, drag, &conditions);
        let iterations = iterate::<S, R>(&mut strand, clamp, &conditions, Some(prediction));
        let lost = finish::<S, R>(&mut strand, conditions.dt);
        Taken { iterations, lost: R::any(R::zero().less(lost)) }
    }
}

impl<S: Stored> StoredKernel<S> for Answer<'_, S> {
    type Output = u32;

    #[inline(always)]
    fn run<R: Loads<S>>(self) -> u32 {
        let Self { pack, conditions, scratch } = self;
        let clamp = R::load_quaternion(&pack.clamp);
        let Pack { still, timed, moving, .. } = pack;
        let mut strand = Strand { still, timed, moving, scratch };
        resume::<S, R>(&mut strand, conditions.dt);
        let iterations = iterate::<S, R>(&mut strand, clamp, &conditions, None);
        finish::<S, R>(&mut strand, conditions.dt);
        iterations
    }
}
