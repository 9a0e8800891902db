//! One step of all strands of a pack, contact aside: what drives it, Newton's iterations, and its velocities.

use glam::DVec3;

use super::newton::{self, Base, Damping, Extras, Gain};
use super::params::{Elastic, Params};
use super::splitting::{self, Chain, Rule};
use super::strands::{Pack, get_quaternion, get_vector, set_quaternion, set_vector, transported_frames};
use crate::body::Obstacles;
use crate::math::{Loads, Stored, StoredKernel, Vector3};
use crate::rod::der::{BendMeasure, HalfSine, HalfTangent, Measure};
use crate::scene::{Attachment, Drive, Model};
use crate::solve::leaving::resolve;

/// Speed beyond which a vertex counts as lost [m/s]; without time, how far it may move at once [m].
const ABSURD_SPEED: f64 = 1.0e3;

/// What time does during a step.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    /// It passes [s].
    Dynamic(f64),
    /// It stands still; strands that nothing holds are slowed by their mass over this time [s].
    Still(f64),
}

/// Takes the held vertices of one lane, and its clamp, to where they are at the end of the step.
pub(super) fn hold<S: Stored>(
    pack: &mut Pack<S>,
    lane: usize,
    model: &Model,
    drive: &Drive<'_>,
    attachment: &Attachment,
) {
    let frame = drive.seat_frame(attachment, 1.0);
    // Hair has gone along already with what jumps.
    let begins = if drive.jumps(attachment.body as usize) { 1.0 } else { 0.0 };
    let unbind = attachment.bind.as_dquat().conjugate().normalize();
    let turn = frame.rotation * unbind;
    let turn_before = drive.seat_frame(attachment, begins).rotation * unbind;
    let points = drive.attachments.points_of(attachment);
    let root = frame.apply(points[0]);
    set_vector(&mut pack.shift, lane, root - pack.roots[lane]);
    pack.roots[lane] = root;
    let groomed = model.range(attachment.strand as usize).start;
    let as_groomed =
        |vertex: usize| turn * (model.groomed[groomed + vertex] - model.groomed[groomed]).as_dvec3();
    for vertex in 0..=pack.first() {
        let place = points.get(vertex).map_or_else(|| as_groomed(vertex), |&point| frame.apply(point) - root);
        set_vector(&mut pack.moving[vertex].position, lane, place);
    }
    let held = &pack.held_frames[lane];
    let turned = turn * held[0] * get_quaternion(&pack.clamp, lane).conjugate();
    set_quaternion(&mut pack.split.turn, lane, turned);
    set_quaternion(&mut pack.clamp_before, lane, turn_before * held[0]);
    set_quaternion(&mut pack.clamp, lane, turn * held[0]);
    for (moving, &frame) in pack.moving.iter_mut().zip(&held[1..]) {
        set_quaternion(&mut moving.frame, lane, turn * frame);
    }
}

/// Gives the strand in `lane` frames without twist: transported from its clamp, or as they are where nothing holds it.
pub(super) fn untwist<S: Stored>(pack: &mut Pack<S>, lane: usize) {
    if pack.base.is_none() {
        return;
    }
    let first = pack.first();
    let positions = pack.positions(lane);
    let clamp = get_quaternion(&pack.clamp, lane);
    let frames = transported_frames(&positions[first..], Some(clamp));
    for (i, moving) in pack.moving[first..].iter_mut().enumerate() {
        set_quaternion(&mut moving.frame, lane, frames[i.min(frames.len() - 1)]);
    }
}

/// Sets up what acts on the vertices during the step.
pub(super) struct Begin<'a, S> {
    pub pack: &'a mut Pack<S>,
    pub pace: Pace,
    pub gravity: DVec3,
    /// Velocity of the air at each vertex [m/s]; empty where it stands still.
    pub wind: &'a [[S; 3]],
    pub params: &'a Params,
}

impl<S: Stored> StoredKernel<S> for Begin<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<R: Loads<S>>(self) {
        let Self { pack, pace, gravity, wind, params } = self;
        let first = pack.first();
        if params.relaxation > 0.0 {
            pack.old_strains.resize(pack.moving.len() - first, ([S::default(); 3], S::default()));
            // Edges have not turned yet, so neither has their clamp: or what only turns would be damped.
            let clamp = R::load_quaternion(&pack.clamp_before);
            let (moving, old) = (&pack.moving[first..], &mut pack.old_strains);
            match params.elastic {
                Elastic::Newton => newton::strains::<S, R>(clamp, moving, old),
                Elastic::Splitting => splitting::strains::<S, R, _>(params.bending, clamp, moving, old),
            }
        }
        // The strand begins as it was, hung at its base.
        let mut position = R::load_vector(&pack.moving[first].position);
        for i in first + 1..pack.moving.len() {
            let edge = &pack.moving[i - 1];
            let tangent = R::load_quaternion(&edge.frame).third_axis();
            position = tangent.mul_add(R::load_from(&edge.length), position);
            R::store_vector(position, &mut pack.moving[i].position);
        }
        let free = pack.base.is_none();
        let (per_square, per_time) = match pace {
            Pace::Dynamic(dt) => (1.0 / (dt * dt), 1.0 / dt),
            Pace::Still(typical) => (if free { 1.0 / (typical * typical) } else { 0.0 }, 0.0),
        };
        let (per_square, per_time) = (R::splat(per_square), R::splat(per_time));
        let drag = R::load_from(&pack.drag);
        let (rate, shift) = (drag.mul_add(per_time, per_square), R::load_vector(&pack.shift));
        let stiffening = match pace {
            Pace::Dynamic(dt) => 1.0 + params.relaxation / dt,
            Pace::Still(_) => 1.0,
        };
        let base = R::load_vector(&pack.moving[first].position) - R::load_vector(&pack.start[first]);
        let jolt = (base + shift) * per_time - R::load_vector(&pack.velocities[first]);
        let acceleration = (jolt * per_time).length() + R::splat(gravity.length());
        let rule = Rule { printed: params.weight, stiffening, acceleration };
        let gravity = Vector3::<R>::splat(gravity);
        for i in 0..pack.moving.len() {
            let mass = R::load_from(&pack.rest[i].mass);
            let old = R::load_vector(&pack.start[i]) - shift;
            let mut pull = old * rate + R::load_vector(&pack.velocities[i]) * per_time + gravity;
            if let Some(wind) = wind.get(i) {
                pull = R::load_vector(wind).mul_add(drag, pull);
            }
            let load = &mut pack.base_loads[i];
            (mass * rate).store_to(&mut load.weight);
            R::store_vector(pull * mass, &mut load.pull);
            let inertia = R::load_from(&pack.rest[i].inertia);
            (inertia * per_square).store_to(&mut load.twist_weight);
            let twist = match pace {
                Pace::Dynamic(dt) => R::load_from(&pack.spins[i]) * R::splat(dt),
                Pace::Still(_) => R::zero(),
            };
            twist.store_to(&mut load.twist_target);
            R::zero().store_to(&mut pack.moving[i].twist);
        }
        if params.elastic == Elastic::Splitting {
            splitting::weigh::<S, R>(rule, &pack.rest[first..], &mut pack.split.pairs[first..]);
            chain::<S, R, _>(pack, params, HalfSine, None).begin();
        }
    }
}

/// The free part of a pack, for the splitting.
#[inline(always)]
fn chain<'a, S: Stored, R: Loads<S>, M: BendMeasure>(
    pack: &'a mut Pack<S>,
    params: &Params,
    bending: M,
    damping: Option<f64>,
) -> Chain<'a, S, R, M> {
    let first = pack.first();
    Chain {
        base: match pack.base {
            Some(_) => Base::Clamped(R::load_quaternion(&pack.clamp)),
            None => Base::Free,
        },
        bending,
        stretching: params.stretching,
        rest: &pack.rest[first..],
        moving: &mut pack.moving[first..],
        loads: &pack.loads[first..],
        damping: damping.map(|ratio| Damping { ratio, old: &pack.old_strains }),
        pairs: &mut pack.split.pairs[first..],
        momentum: &mut pack.split.momentum,
        turn: &pack.split.turn,
        accelerated: params.momentum,
    }
}

/// Iterations of the splitting with the loads as they are, until no edge differs by more than `tolerance` from its copies.
pub(super) struct IterateSplit<'a, S> {
    pub pack: &'a mut Pack<S>,
    pub params: &'a Params,
    pub iterations: u32,
    /// Beside the edge's length.
    pub tolerance: f64,
    /// Strength of damping beside elasticity, τ / dt.
    pub damping: f64,
}

impl<S: Stored> StoredKernel<S> for IterateSplit<'_, S> {
    /// The largest difference of the last iteration, beside the edge's length, and how many there were.
    type Output = (f64, u32);

    #[inline(always)]
    fn run<R: Loads<S>>(self) -> (f64, u32) {
        let Self { pack, params, iterations, tolerance, damping } = self;
        let damping = (damping > 0.0).then_some(damping);
        if pack.first() + 1 >= pack.moving.len() {
            return (0.0, 0);
        }
        match params.bending {
            Measure::HalfSine => {
                repeat::<S, R, _>(chain(pack, params, HalfSine, damping), iterations, tolerance)
            }
            Measure::HalfTangent => {
                repeat::<S, R, _>(chain(pack, params, HalfTangent, damping), iterations, tolerance)
            }
        }
    }
}

#[inline(always)]
fn repeat<S: Stored, R: Loads<S>, M: BendMeasure>(
    mut chain: Chain<'_, S, R, M>,
    iterations: u32,
    tolerance: f64,
) -> (f64, u32) {
    let (mut largest, mut count) = (0.0, iterations);
    for iteration in 0..iterations {
        let mut row = S::default();
        chain.iterate().store_to(&mut row);
        largest = (0..S::LANES).map(|lane| row.get(lane)).fold(0.0, f64::max);
        if largest <= tolerance {
            count = iteration + 1;
            break;
        }
    }
    chain.settle();
    (largest, count)
}

/// Newton's iterations with the loads as they are, until no edge turns by more than `tolerance`.
pub(super) struct Iterate<'a, S> {
    pub pack: &'a mut Pack<S>,
    pub iterations: u32,
    /// [rad]
    pub tolerance: f64,
    /// Strength of damping beside elasticity, τ / dt.
    pub damping: f64,
    /// Room for the recursion.
    pub gains: &'a mut Vec<Gain<S>>,
}

impl<S: Stored> StoredKernel<S> for Iterate<'_, S> {
    /// The largest turn of the last iteration [rad], and how many there were.
    type Output = (f64, u32);

    #[inline(always)]
    fn run<R: Loads<S>>(self) -> (f64, u32) {
        let Self { pack, iterations, tolerance, damping, gains } = self;
        let first = pack.first();
        gains.resize(gains.len().max(pack.moving.len()), Gain::default());
        let base = match pack.base {
            Some(_) => Base::Clamped(R::load_quaternion(&pack.clamp)),
            None => Base::Free,
        };
        let damping = (damping > 0.0).then_some(Damping { ratio: damping, old: &pack.old_strains });
        let extras = Extras { damping, holds: pack.holds.get(first..).unwrap_or_default() };
        let couplings = R::load_from(&pack.couplings);
        let mut largest = 0.0;
        for iteration in 0..iterations {
            let (moving, loads) = (&mut pack.moving[first..], &pack.loads[first..]);
            let turns =
                newton::step::<S, R>(base, &pack.rest[first..], moving, loads, extras, couplings, gains);
            let mut row = S::default();
            turns.store_to(&mut row);
            largest = (0..S::LANES).map(|lane| row.get(lane)).fold(0.0, f64::max);
            if largest <= tolerance {
                return (largest, iteration + 1);
            }
        }
        (largest, iterations)
    }
}

/// Takes velocities from what the step did.
pub(super) struct Finish<'a, S> {
    pub pack: &'a mut Pack<S>,
    pub pace: Pace,
}

impl<S: Stored> StoredKernel<S> for Finish<'_, S> {
    /// Whether all is finite and no vertex is absurdly fast.
    type Output = bool;

    #[inline(always)]
    fn run<R: Loads<S>>(self) -> bool {
        let Self { pack, pace } = self;
        let per_time = match pace {
            Pace::Dynamic(dt) => R::splat(1.0 / dt),
            Pace::Still(_) => R::zero(),
        };
        let shift = R::load_vector(&pack.shift);
        // A maximum drops NaN, which a sum keeps.
        let (mut farthest, mut sum) = (R::zero(), R::zero());
        for i in 0..pack.moving.len() {
            let moved = R::load_vector(&pack.moving[i].position) + shift - R::load_vector(&pack.start[i]);
            let square = moved.length_squared();
            farthest = farthest.max(square);
            sum += square;
            R::store_vector(moved * per_time, &mut pack.velocities[i]);
            let spin = R::load_from(&pack.moving[i].twist) * per_time;
            spin.store_to(&mut pack.spins[i]);
        }
        let (mut squares, mut sums) = (S::default(), S::default());
        farthest.store_to(&mut squares);
        sum.store_to(&mut sums);
        let limit = match pace {
            Pace::Dynamic(dt) => ABSURD_SPEED * dt,
            Pace::Still(_) => ABSURD_SPEED,
        };
        (0..S::LANES).all(|lane| squares.get(lane) < limit * limit && sums.get(lane).is_finite())
    }
}

/// Makes the first vertex of strands that nothing holds their root again.
pub(super) fn recentre<S: Stored>(pack: &mut Pack<S>) {
    if pack.base.is_some() {
        return;
    }
    for (lane, _) in pack.lanes() {
        let root = get_vector(&pack.moving[0].position, lane);
        pack.roots[lane] += root;
        for moving in &mut pack.moving {
            let position = get_vector(&moving.position, lane) - root;
            set_vector(&mut moving.position, lane, position);
        }
    }
}

/// Turns the edges of one strand towards where `corrections` [m] would take its vertices, and out of bodies, from which
/// vertices keep `distance` [m]. Lengths stay.
pub(super) fn redirect<S: Stored>(
    pack: &mut Pack<S>,
    lane: usize,
    corrections: &[DVec3],
    obstacles: Option<&Obstacles<'_>>,
    distance: f32,
) {
    let root = pack.roots[lane];
    let first = pack.first();
    let mut there = get_vector(&pack.moving[first].position, lane);
    if pack.base.is_none() {
        there += corrections[0];
        let near = obstacles.and_then(|obstacles| obstacles.nearest((root + there).as_vec3()));
        if let Some((_, sample)) = near.filter(|(_, sample)| sample.distance < distance) {
            there += sample.normal.as_dvec3() * f64::from(distance - sample.distance);
        }
        set_vector(&mut pack.moving[0].position, lane, there);
    }
    for i in first..pack.moving.len() - 1 {
        let Some(&correction) = corrections.get(i + 1) else {
            // Spare rows stay on the tip.
            set_vector(&mut pack.moving[i + 1].position, lane, there);
            continue;
        };
        let wanted = get_vector(&pack.moving[i + 1].position, lane) + correction;
        let frame = get_quaternion(&pack.moving[i].frame, lane);
        let tangent = frame * DVec3::Z;
        let mut direction = (wanted - there).normalize_or(tangent);
        let length = pack.moving[i].length.get(lane);
        if let Some(obstacles) = obstacles {
            let edge = (direction * length).as_vec3();
            if let Some(touch) = resolve(obstacles, (root + there).as_vec3(), edge, distance) {
                direction = touch.edge.as_dvec3().normalize_or(direction);
            }
        }
        let turned = (glam::DQuat::from_rotation_arc(tangent, direction) * frame).normalize();
        set_quaternion(&mut pack.moving[i].frame, lane, turned);
        there += direction * length;
        set_vector(&mut pack.moving[i + 1].position, lane, there);
    }
}
