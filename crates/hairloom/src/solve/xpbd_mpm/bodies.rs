//! Bodies that hair meets: strands leave them at the end of a step, from the root on.

use glam::{DVec3, Vec3};

use super::pack::{Pack, get_vector, set_vector};
use crate::body::Obstacles;
use crate::math::Stored;
use crate::scene::Model;
use crate::solve::leaving::resolve;

/// Velocity after touching a body: nothing leads into it, and slipping is slowed by Coulomb's law.
fn slowed(velocity: DVec3, normal: Vec3, body: Vec3, friction: f32) -> DVec3 {
    let (normal, body) = (normal.as_dvec3(), body.as_dvec3());
    let relative = velocity - body;
    let into = -relative.dot(normal);
    if into <= 0.0 {
        return velocity;
    }
    let slip = relative + normal * into;
    let speed = slip.length();
    let kept = if speed > 0.0 { (1.0 - f64::from(friction) * into / speed).max(0.0) } else { 0.0 };
    body + slip * kept
}

impl<S: Stored> Pack<S> {
    /// Takes every strand out of the bodies, to the distance of its radius and the margin [m]. Each vertex goes along with the one before
    /// it, then out on the sphere of its segment, so that lengths are kept; what is held stays, and ropes between two
    /// holds are stretched until the next step. Returns how many vertices touch.
    pub(super) fn leave_bodies(&mut self, model: &Model, bodies: &Obstacles<'_>, margin: f32) -> u64 {
        let mut touching = 0;
        for (lane, strand) in self.lanes() {
            let radii = &model.radii[model.range(strand)];
            let count = radii.len();
            let near = |vertex: usize| {
                self.still[vertex].weight.get(lane) > 0.0
                    && bodies.clearance(self.position(lane, vertex).as_vec3()) < radii[vertex] + margin
            };
            if let Some(first) = (0..count).find(|&vertex| near(vertex)) {
                touching += self.strand_leaves(lane, first, radii, bodies, margin);
            }
        }
        touching
    }

    /// One strand, from the first vertex on that may touch.
    fn strand_leaves(
        &mut self,
        lane: usize,
        first: usize,
        radii: &[f32],
        bodies: &Obstacles<'_>,
        margin: f32,
    ) -> u64 {
        let mut touching = 0;
        let mut carried = DVec3::ZERO;
        for (vertex, radius) in radii.iter().enumerate().skip(first) {
            if self.still[vertex].weight.get(lane) <= 0.0 {
                carried = DVec3::ZERO;
                continue;
            }
            let distance = radius + margin;
            let wanted = self.position(lane, vertex);
            let mut place = wanted + carried;
            if bodies.clearance(place.as_vec3()) < distance {
                let left = match vertex.checked_sub(1) {
                    Some(before) => self.leave_around(lane, before, place, bodies, distance),
                    None => leave_along(place, bodies, distance),
                };
                if let Some((left, normal, velocity, friction)) = left {
                    place = left;
                    touching += 1;
                    let own = get_vector(&self.moving[vertex].velocity, lane);
                    let own = slowed(own, normal, velocity, friction);
                    set_vector(&mut self.moving[vertex].velocity, lane, own);
                }
            }
            carried = place - wanted;
            self.set_position(lane, vertex, place);
        }
        touching
    }

    /// Leaves bodies at the length of the segment from vertex `before`: the place, and the normal, the velocity [m/s] and the friction of the
    /// body.
    fn leave_around(
        &self,
        lane: usize,
        before: usize,
        place: DVec3,
        bodies: &Obstacles<'_>,
        distance: f32,
    ) -> Option<(DVec3, Vec3, Vec3, f32)> {
        let leader = self.position(lane, before);
        let touch = resolve(bodies, leader.as_vec3(), (place - leader).as_vec3(), distance)?;
        Some((leader + touch.edge.as_dvec3(), touch.normal, touch.velocity, touch.friction))
    }
}

/// Leaves the nearest body along its normal.
fn leave_along(place: DVec3, bodies: &Obstacles<'_>, distance: f32) -> Option<(DVec3, Vec3, Vec3, f32)> {
    let (body, sample) = bodies.nearest(place.as_vec3()).filter(|(_, sample)| sample.distance < distance)?;
    let left = place + (sample.normal * (distance - sample.distance)).as_dvec3();
    Some((left, sample.normal, sample.velocity, bodies.body(body).friction))
}
