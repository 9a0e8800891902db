//! Ropes: strands that are free, or held in more ways than at the root alone (figure 2).
//!
//! Between two held vertices the rope is projected from both ends and blended with weights that favour the
//! nearer end; a blend shortens edges, so it is repeated, and Newton's method on the lengths ends it. Among bodies
//! the vertices that press on one move in its tangent plane while the lengths are restored. A detached
//! rope is the mean of both projections, then one exact pass from its middle outwards, then moved back so that
//! its centre of mass is where the prediction had it: inner forces move no centre of mass.

use glam::DVec3;

use super::ABSURD_SPEED;
use crate::body::{Obstacles, Sample};
use crate::scene::Wind;
use crate::solve::leaving::{after_touch, resolve};
use crate::solve::lengths::{LENGTH_TOLERANCE, float_free, hang_between, length_error, length_steps, mend};

/// Stretch that a rope held at both ends may take on to stay out of bodies.
const MOST_STRETCH: f64 = 8.0e-4;
/// Sweeps over the edges of a rope that presses on bodies, before Newton's method.
const MOST_SWEEPS: usize = 100;
/// Relative length error that ends the sweeps.
const NEAR_LENGTH: f64 = 1.0e-4;
/// Newton iterations on the lengths of a rope that presses on bodies.
const CONTACT_NEWTON: usize = 30;
/// Rounds of a detached rope of leaving the bodies and restoring lengths.
const CONTACT_ROUNDS: usize = 6;
/// Depth below which a vertex counts as outside [m].
const SKIN: f32 = 1.0e-5;

/// To which side a rope leaves a body that it would go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Each vertex to the nearest surface.
    Nearest,
    /// All vertices in a row to where most of them are nearest.
    Common,
    /// The other way.
    Opposite,
}

/// One rope, in double precision.
#[derive(Debug, Clone)]
pub(super) struct Rope {
    /// Index of the strand.
    pub strand: u32,
    pub positions: Vec<DVec3>,
    /// Velocities that the next prediction starts from [m/s].
    pub velocities: Vec<DVec3>,
    /// Velocities that the last step really moved with [m/s].
    pub moves: Vec<DVec3>,
    /// Rest length of the edge behind each vertex, 0 at the tip [m].
    pub lengths: Vec<f64>,
    pub masses: Vec<f64>,
    /// Distance kept from bodies [m].
    pub radius: f32,
    /// Drag rate [1/s].
    pub drag: f64,
}

/// What acts on ropes during a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub dt: f64,
    pub gravity: DVec3,
    pub wind: &'a Wind,
    pub time: f64,
    pub damping: f64,
    pub correction: f64,
    pub bending: f64,
    pub bodies: Option<&'a Obstacles<'a>>,
}

/// What came of a rope's step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Outcome {
    pub contacts: u64,
    pub out_of_reach: bool,
    /// A vertex that left the world of finite numbers, and its speed [m/s].
    pub lost: Option<(usize, f64)>,
}

impl Rope {
    /// Sets positions and velocities.
    pub(super) fn set(&mut self, positions: &[DVec3], velocities: &[DVec3]) {
        self.positions.copy_from_slice(positions);
        self.velocities.copy_from_slice(velocities);
        self.moves.copy_from_slice(velocities);
    }

    /// One step; `held` are the held vertices with their targets, in order.
    pub(super) fn step(&mut self, held: &[(usize, DVec3)], around: &Surroundings<'_>) -> Outcome {
        let wanted: Vec<DVec3> = (0..self.positions.len()).map(|i| self.wanted_velocity(i, around)).collect();
        let mut new: Vec<DVec3> =
            self.positions.iter().zip(&wanted).map(|(&x, &v)| x + v * around.dt).collect();
        for &(vertex, target) in held {
            new[vertex] = target;
        }
        let mut outcome = Outcome::default();
        let mut reactions = vec![DVec3::ZERO; new.len()];
        match (held.first(), held.last()) {
            (Some(&(first, _)), Some(&(last, _))) => {
                let backwards: Vec<usize> = (0..=first).rev().collect();
                self.follow(&mut new, &backwards, &mut reactions, around, &mut outcome);
                let forwards: Vec<usize> = (last..new.len()).collect();
                self.follow(&mut new, &forwards, &mut reactions, around, &mut outcome);
                for pair in held.windows(2) {
                    let (a, b) = (pair[0].0, pair[1].0);
                    let within = self.between(&mut new[a..=b], &self.lengths[a..b], around, &mut outcome);
                    outcome.out_of_reach |= !within;
                }
            }
            _ => self.detached(&mut new, around, &mut outcome),
        }
        self.finish(new, &wanted, &reactions, held, around);
        let speeds = self.velocities.iter().chain(&self.moves).map(|velocity| velocity.length());
        let count = self.moves.len();
        outcome.lost = speeds
            .enumerate()
            .find(|(_, speed)| speed.is_nan() || *speed >= ABSURD_SPEED)
            .map(|(i, speed)| (i % count, speed));
        outcome
    }

    /// Velocity after gravity, drag and damping (the bracket of equation 1).
    fn wanted_velocity(&self, i: usize, around: &Surroundings<'_>) -> DVec3 {
        let wind = around.wind.velocity(self.positions[i], around.time);
        let rate = self.drag + around.damping;
        (self.velocities[i] + (around.gravity + wind * self.drag) * around.dt) / (1.0 + rate * around.dt)
    }

    /// Follow the leader along `order`, whose first vertex is held (equations 5, 6 and 11).
    fn follow(
        &self,
        new: &mut [DVec3],
        order: &[usize],
        reactions: &mut [DVec3],
        around: &Surroundings<'_>,
        outcome: &mut Outcome,
    ) {
        for (k, pair) in order.windows(2).enumerate() {
            let (leader, follower) = (pair[0], pair[1]);
            let length = self.lengths[leader.min(follower)];
            if k > 0 && around.bending > 0.0 {
                let second = order[k - 1];
                let least = around.bending * (length + self.lengths[second.min(leader)]);
                let across = new[follower] - new[second];
                if across.length_squared() < least * least {
                    new[follower] = new[second] + across.normalize_or(DVec3::Y) * least;
                }
            }
            let edge = new[follower] - new[leader];
            let exact = edge.normalize_or(DVec3::NEG_Y) * length;
            if k > 0 {
                reactions[leader] = exact - edge;
            }
            new[follower] = new[leader] + exact;
            let touch = around
                .bodies
                .and_then(|bodies| resolve(bodies, new[leader].as_vec3(), exact.as_vec3(), self.radius));
            if let Some(touch) = touch {
                outcome.contacts += 1;
                new[follower] = new[leader] + touch.edge.as_dvec3().normalize_or(exact / length) * length;
            }
        }
    }

    /// A piece held at both ends. Returns whether the ends are within reach of each other.
    fn between(
        &self,
        new: &mut [DVec3],
        lengths: &[f64],
        around: &Surroundings<'_>,
        outcome: &mut Outcome,
    ) -> bool {
        let within = hang_between(new, lengths);
        let Some(bodies) = around.bodies else { return within };
        let exact = new.to_vec();
        for side in [Side::Nearest, Side::Common, Side::Opposite] {
            let contacts = self.hang_among(new, lengths, bodies, side, within);
            // A rope out of reach has no lengths to keep.
            if contacts == 0 || !within || length_error(new, lengths) <= MOST_STRETCH {
                outcome.contacts += contacts;
                return within;
            }
            new.copy_from_slice(&exact);
        }
        // Length and leaving cannot both be had: length it is.
        within
    }

    /// Takes a rope that hangs between its ends out of the bodies and keeps its lengths. Returns how many vertices touch.
    ///
    /// Sweeps that mend one edge after the other bring it near; where it is `within` reach Newton's method ends it, in which vertices that press on
    /// a body stay in its tangent plane until the lengths want to lift them.
    fn hang_among(
        &self,
        new: &mut [DVec3],
        lengths: &[f64],
        bodies: &Obstacles<'_>,
        side: Side,
        within: bool,
    ) -> u64 {
        let last = new.len() - 1;
        if new[1..last].iter().all(|&point| self.near(point, bodies).is_none()) {
            return 0;
        }
        self.leave_to(side, &mut new[1..last], bodies);
        for sweep in 0..MOST_SWEEPS {
            mend(new, lengths, sweep % 2 == 1);
            self.push_out(&mut new[1..last], bodies);
            if length_error(new, lengths) < NEAR_LENGTH {
                break;
            }
        }
        let mut normals = vec![DVec3::ZERO; new.len()];
        for _ in 0..if within { CONTACT_NEWTON } else { 0 } {
            let mut pushed = false;
            for i in 1..last {
                if let Some(sample) = self.near(new[i], bodies) {
                    pushed |= self.radius - sample.distance > SKIN;
                    normals[i] = sample.normal.as_dvec3();
                    new[i] += normals[i] * f64::from(self.radius - sample.distance);
                } else if bodies.clearance(new[i].as_vec3()) > self.radius + SKIN {
                    normals[i] = DVec3::ZERO;
                }
            }
            if !pushed && length_error(new, lengths) <= LENGTH_TOLERANCE {
                break;
            }
            let steps = length_steps(new, lengths, &normals);
            for i in 1..last {
                if steps[i].dot(normals[i]) > 0.0 {
                    normals[i] = DVec3::ZERO;
                }
                new[i] += steps[i] - normals[i] * steps[i].dot(normals[i]);
            }
        }
        self.push_out(&mut new[1..last], bodies);
        normals.iter().filter(|&&normal| normal != DVec3::ZERO).count().max(1) as u64
    }

    /// Takes each run of vertices that are inside a body out of it together.
    fn leave_to(&self, side: Side, inner: &mut [DVec3], bodies: &Obstacles<'_>) {
        if side == Side::Nearest {
            return;
        }
        let inside: Vec<Option<Sample>> = inner.iter().map(|&point| self.near(point, bodies)).collect();
        let mut points = inner;
        for run in inside.chunk_by(|a, b| a.is_some() == b.is_some()) {
            let (mine, rest) = points.split_at_mut(run.len());
            points = rest;
            let sum: DVec3 = run.iter().flatten().map(|sample| sample.normal.as_dvec3()).sum();
            let out = sum.normalize_or(DVec3::Y) * if side == Side::Opposite { -1.0 } else { 1.0 };
            for point in mine.iter_mut().filter(|_| run[0].is_some()) {
                // The distance is never farther than the surface along any way: this stops at it.
                for _ in 0..MOST_SWEEPS {
                    let Some(sample) = self.near(*point, bodies) else { break };
                    *point += out * f64::from((self.radius - sample.distance).max(SKIN));
                }
            }
        }
    }

    /// Moves vertices inside bodies to the nearest surface.
    fn push_out(&self, inner: &mut [DVec3], bodies: &Obstacles<'_>) {
        for point in inner {
            if let Some(sample) = self.near(*point, bodies) {
                *point += sample.normal.as_dvec3() * f64::from(self.radius - sample.distance);
            }
        }
    }

    /// What a vertex meets that is inside a body, or nearer to it than its radius.
    fn near(&self, point: DVec3, bodies: &Obstacles<'_>) -> Option<Sample> {
        let point = point.as_vec3();
        if bodies.clearance(point) >= self.radius {
            return None;
        }
        bodies.nearest(point).map(|(_, sample)| sample).filter(|sample| sample.distance < self.radius)
    }

    /// A piece that nothing holds.
    fn detached(&self, new: &mut [DVec3], around: &Surroundings<'_>, outcome: &mut Outcome) {
        let lengths = &self.lengths[..new.len() - 1];
        float_free(new, lengths, &self.masses);
        for _ in 0..CONTACT_ROUNDS {
            if !self.leave_bodies(new, around, outcome) {
                break;
            }
            float_free(new, lengths, &self.masses);
        }
        self.settle_from_middle(new, around);
    }

    /// Ends a detached rope's step outside the bodies: its middle leaves them, and from there on each vertex does,
    /// keeping its edge's length and carrying the rest along.
    fn settle_from_middle(&self, new: &mut [DVec3], around: &Surroundings<'_>) {
        let Some(bodies) = around.bodies else { return };
        let middle = new.len() / 2;
        let mut out = DVec3::ZERO;
        if let Some((_, sample)) = bodies.nearest(new[middle].as_vec3()) {
            out = sample.normal.as_dvec3() * f64::from((self.radius - sample.distance).max(0.0));
        }
        new[middle] += out;
        let backwards: Vec<usize> = (0..=middle).rev().collect();
        let forwards: Vec<usize> = (middle..new.len()).collect();
        for order in [backwards, forwards] {
            let mut carried = out;
            for pair in order.windows(2) {
                let (leader, follower) = (pair[0], pair[1]);
                new[follower] += carried;
                let edge = new[follower] - new[leader];
                if let Some(touch) = resolve(bodies, new[leader].as_vec3(), edge.as_vec3(), self.radius) {
                    let length = self.lengths[leader.min(follower)];
                    let turned = touch.edge.as_dvec3().normalize_or(edge / length) * length;
                    carried += turned - edge;
                    new[follower] = new[leader] + turned;
                }
            }
        }
    }

    /// Pushes vertices out of bodies; tells whether any was inside.
    fn leave_bodies(&self, new: &mut [DVec3], around: &Surroundings<'_>, outcome: &mut Outcome) -> bool {
        let Some(bodies) = around.bodies else { return false };
        let mut count = 0;
        for point in new {
            // A push, however small, costs length: what is as good as outside stays.
            let inside = self.near(*point, bodies).filter(|sample| self.radius - sample.distance > SKIN);
            if let Some(sample) = inside {
                *point += sample.normal.as_dvec3() * f64::from(self.radius - sample.distance);
                count += 1;
            }
        }
        outcome.contacts = outcome.contacts.max(count);
        count > 0
    }

    /// Equation 9, and what bodies do to the velocities.
    fn finish(
        &mut self,
        new: Vec<DVec3>,
        wanted: &[DVec3],
        reactions: &[DVec3],
        held: &[(usize, DVec3)],
        around: &Surroundings<'_>,
    ) {
        for i in 0..new.len() {
            self.moves[i] = (new[i] - self.positions[i]) / around.dt;
            let mut velocity = self.moves[i] - reactions[i] * (around.correction / around.dt);
            let free = held.iter().all(|&(vertex, _)| vertex != i);
            if let (Some(bodies), true) = (around.bodies, free) {
                // A vertex that rests on a body's skin after the step was stopped by it during the step.
                let (probe, reach) = (new[i].as_vec3(), self.radius + 2.0 * SKIN);
                let near = (bodies.clearance(probe) < reach).then(|| bodies.nearest(probe)).flatten();
                let touching = near.filter(|(_, sample)| sample.distance < reach);
                if let Some((body, sample)) = touching {
                    let free_path = self.positions[i] + wanted[i] * around.dt;
                    let depth = (new[i] - free_path).as_vec3().dot(sample.normal).max(0.0);
                    let touch = crate::solve::leaving::Touch {
                        edge: glam::Vec3::ZERO,
                        normal: sample.normal,
                        velocity: sample.velocity,
                        friction: bodies.body(body).friction,
                        depth,
                    };
                    let settled =
                        after_touch(velocity.as_vec3(), wanted[i].as_vec3(), &touch, around.dt as f32);
                    velocity = settled.as_dvec3();
                }
            }
            self.velocities[i] = velocity;
        }
        self.positions = new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{Bodies, Body, Motion, Shape};
    use crate::math::Pose;
    use crate::solve::lengths::tests::arch;

    /// A ball appears in the bow of a rope that is half as long again as its span: nearly always the rope can go round.
    #[test]
    fn ropes_held_at_both_ends_go_round_a_ball() {
        let count = 24;
        let lengths = vec![0.3 / count as f64; count];
        let rope = Rope {
            strand: 0,
            positions: vec![DVec3::ZERO; count + 1],
            velocities: vec![DVec3::ZERO; count + 1],
            moves: vec![DVec3::ZERO; count + 1],
            lengths: lengths.clone(),
            masses: vec![1.0; count + 1],
            radius: 5.0e-4,
            drag: 0.0,
        };
        let (mut touched, mut stuck) = (0, 0);
        for k in 0..400 {
            let (x, y) = ((k % 20) as f64 / 19.0 * 0.1 - 0.05, (k / 20) as f64 / 19.0 * 0.16 - 0.13);
            let mut bodies =
                Bodies::new(vec![Body::new("ball", Shape::Sphere { radius: 0.02 }, 0.2).unwrap()]);
            let pose = Pose { translation: DVec3::new(0.1 + x, y, 0.004), ..Pose::IDENTITY };
            bodies.begin_step(&[Motion::still(pose)], 0.0).unwrap();
            let (obstacles, wind) = (bodies.at(1.0), Wind::still());
            let around = Surroundings {
                dt: 1.0 / 60.0,
                gravity: DVec3::ZERO,
                wind: &wind,
                time: 0.0,
                damping: 0.0,
                correction: 0.9,
                bending: 0.0,
                bodies: Some(&obstacles),
            };
            let mut points = arch(count, 0.2, 0.1);
            let mut outcome = Outcome::default();
            assert!(rope.between(&mut points, &lengths, &around, &mut outcome));
            let error = length_error(&points, &lengths);
            assert!(error <= MOST_STRETCH, "ball at {x} {y}: lengths off by {error}");
            let depth = points.iter().map(|&p| 0.02 - (p - pose.translation).length()).fold(0.0, f64::max);
            stuck += u32::from(depth > 1.0e-4);
            touched += outcome.contacts.min(1);
        }
        assert!(touched > 100 && stuck <= 4, "{touched} touched, {stuck} stuck");
    }
}
