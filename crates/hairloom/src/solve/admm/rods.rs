//! One step of all strands of a pack, contact aside: what drives it, Newton's iterations, and its velocities.

use glam::DVec3;

use super::newton::{self, Base, Damping, Gain};
use super::strands::{Pack, get_quaternion, get_vector, set_quaternion, set_vector, transported_frames};
use crate::body::Obstacles;
use crate::math::{Loads, Stored, StoredKernel, Vector3};
use crate::scene::{Attachment, Drive, Model};
use crate::solve::ftl::contact::resolve;

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
    let turn = frame.rotation * attachment.bind.as_dquat().conjugate().normalize();
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
    /// Whether strains are damped.
    pub damped: bool,
}

impl<S: Stored> StoredKernel<S> for Begin<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<R: Loads<S>>(self) {
        let Self { pack, pace, gravity, wind, damped } = self;
        let first = pack.first();
        if damped {
            pack.old_strains.resize(pack.moving.len() - first, ([S::default(); 3], S::default()));
            let clamp = R::load_quaternion(&pack.clamp);
            newton::strains::<S, R>(clamp, &pack.moving[first..], &mut pack.old_strains);
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
    }
}

/// Newton's iterations with the loads as they are, until no edge turns by more than `tolerance`.
pub(super) struct Iterate<'a, S> {
    pub pack: &'a mut Pack<S>,
    pub iterations: u32,
    /// [rad]
    pub tolerance: f64,
    /// Strength of damping beside elasticity, τ / dt.
    pub damping: f64,
    /// Whether turns of edges couple by moments and shear.
    pub couplings: bool,
    /// Room for the recursion.
    pub gains: &'a mut Vec<Gain<S>>,
}

impl<S: Stored> StoredKernel<S> for Iterate<'_, S> {
    /// The largest turn of the last iteration [rad], and how many there were.
    type Output = (f64, u32);

    #[inline(always)]
    fn run<R: Loads<S>>(self) -> (f64, u32) {
        let Self { pack, iterations, tolerance, damping, couplings, gains } = self;
        let first = pack.first();
        gains.resize(gains.len().max(pack.moving.len()), Gain::default());
        let base = match pack.base {
            Some(_) => Base::Clamped(R::load_quaternion(&pack.clamp)),
            None => Base::Free,
        };
        let damping = (damping > 0.0).then_some(Damping { ratio: damping, old: &pack.old_strains });
        let mut largest = 0.0;
        for iteration in 0..iterations {
            let (moving, loads) = (&mut pack.moving[first..], &pack.loads[first..]);
            let turns =
                newton::step::<S, R>(base, &pack.rest[first..], moving, loads, damping, couplings, gains);
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
        let mut fastest = R::zero();
        for i in 0..pack.moving.len() {
            let moved = R::load_vector(&pack.moving[i].position) + shift - R::load_vector(&pack.start[i]);
            // Also keeps NaN, which a maximum would drop.
            fastest += moved.length_squared();
            R::store_vector(moved * per_time, &mut pack.velocities[i]);
            let spin = R::load_from(&pack.moving[i].twist) * per_time;
            spin.store_to(&mut pack.spins[i]);
        }
        let mut row = S::default();
        fastest.store_to(&mut row);
        (0..S::LANES).all(|lane| row.get(lane) < 1.0e8)
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
