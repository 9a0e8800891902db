//! Bodies that hair meets: vertices leave them at the end of a step.

use glam::DVec3;

use super::pack::{Pack, get_vector, set_vector};
use crate::body::Obstacles;
use crate::math::Stored;
use crate::scene::Model;

/// Bodies that a vertex may be pushed out of, one after the other.
const PUSHES: usize = 8;

/// Where a vertex goes that must leave bodies, and its velocity then.
struct Left {
    position: DVec3,
    velocity: DVec3,
}

/// Moves a vertex out of the nearest body, to this distance [m], and then of the next: bodies may meet in a corner. What leads into
/// them is taken from its velocity, with friction by Coulomb's law.
fn leave(position: DVec3, velocity: DVec3, bodies: &Obstacles<'_>, distance: f32) -> Option<Left> {
    let mut left = Left { position, velocity };
    for push in 0..PUSHES {
        let sample = bodies.nearest(left.position.as_vec3());
        let Some((body, sample)) = sample.filter(|(_, sample)| sample.distance < distance) else {
            return (push > 0).then_some(left);
        };
        let normal = sample.normal.as_dvec3();
        left.position += normal * f64::from(distance - sample.distance);
        let relative = left.velocity - sample.velocity.as_dvec3();
        let into = -relative.dot(normal);
        if into > 0.0 {
            let slip = relative + normal * into;
            let (speed, friction) = (slip.length(), f64::from(bodies.body(body).friction));
            let kept = if speed > 0.0 { (1.0 - friction * into / speed).max(0.0) } else { 0.0 };
            left.velocity = sample.velocity.as_dvec3() + slip * kept;
        }
    }
    Some(left)
}

impl<S: Stored> Pack<S> {
    /// Moves every free vertex out of the bodies, to the distance of its radius and the margin [m]. Returns how many touch.
    pub(super) fn leave_bodies(&mut self, model: &Model, bodies: &Obstacles<'_>, margin: f64) -> u64 {
        let mut touching = 0;
        for (lane, strand) in self.lanes() {
            let start = model.range(strand).start;
            for vertex in 0..self.counts[lane] as usize {
                let distance = model.radii[start + vertex] + margin as f32;
                let position = self.position(lane, vertex);
                if self.still[vertex].weight.get(lane) <= 0.0
                    || bodies.clearance(position.as_vec3()) >= distance
                {
                    continue;
                }
                let velocity = get_vector(&self.moving[vertex].velocity, lane);
                if let Some(left) = leave(position, velocity, bodies, distance) {
                    self.set_position(lane, vertex, left.position);
                    set_vector(&mut self.moving[vertex].velocity, lane, left.velocity);
                    touching += 1;
                }
            }
        }
        touching
    }
}
