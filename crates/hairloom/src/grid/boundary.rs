use glam::Vec3;
use rayon::prelude::*;

use super::Particles;
use crate::body::Obstacles;

/// A solid near a point, where it is at the end of the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// Signed distance to its surface [m], negative inside.
    pub distance: f32,
    /// Outward unit normal.
    pub normal: Vec3,
    /// Velocity of the solid there [m/s].
    pub velocity: Vec3,
    /// Coulomb coefficient of friction; infinite where nothing slides.
    pub friction: f32,
}

impl Contact {
    /// `velocity` [m/s] of a node, so that within a step [s] it does not go through the surface, or no deeper if it was
    /// inside before. The impulse that stops it brings as much friction as Coulomb's law allows.
    pub fn bounded(&self, velocity: Vec3, dt: f32) -> Vec3 {
        let gap_before = self.distance + self.velocity.dot(self.normal) * dt;
        self.held(velocity, -gap_before.max(0.0) / dt)
    }

    /// `velocity` [m/s] of a point on the surface or inside: what leads farther in is stopped.
    pub fn stopped(&self, velocity: Vec3) -> Vec3 {
        self.held(velocity, 0.0)
    }

    /// Holds the normal velocity, relative to the solid, at `least` [m/s] or more.
    fn held(&self, velocity: Vec3, least: f32) -> Vec3 {
        let relative = velocity - self.velocity;
        let normal = relative.dot(self.normal);
        if normal >= least {
            return velocity;
        }
        let slip = relative - self.normal * normal;
        let speed = slip.length();
        let kept = if speed > 0.0 { (1.0 - self.friction * (least - normal) / speed).max(0.0) } else { 0.0 };
        self.velocity + slip * kept + self.normal * least
    }
}

/// Solids that nodes and particles stay out of, where they are at the end of the step.
pub trait Boundary: Sync {
    /// Visits every solid that may be near a point. Near an edge between two solids both count: a node that lies outside
    /// of one and inside of the other must obey both.
    fn contacts(&self, point: Vec3, visit: &mut dyn FnMut(Contact));

    /// A cheap lower bound of the distance to any solid [m].
    fn clearance(&self, point: Vec3) -> f32;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        false
    }
}

/// No solids at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Boundary for Nothing {
    fn contacts(&self, _: Vec3, _: &mut dyn FnMut(Contact)) {}

    fn clearance(&self, _: Vec3) -> f32 {
        f32::INFINITY
    }

    fn is_empty(&self) -> bool {
        true
    }
}

impl Boundary for Obstacles<'_> {
    fn contacts(&self, point: Vec3, visit: &mut dyn FnMut(Contact)) {
        for index in self.collider_indices() {
            let sample = self.sample(index, point);
            let friction = self.body(index).friction;
            let (distance, normal, velocity) = (sample.distance, sample.normal, sample.velocity);
            visit(Contact { distance, normal, velocity, friction });
        }
    }

    fn clearance(&self, point: Vec3) -> f32 {
        Obstacles::clearance(self, point)
    }

    fn is_empty(&self) -> bool {
        !self.any_collides()
    }
}

impl Particles {
    /// Moves every particle that is not pinned to at least `margin` [m] outside of all solids, and takes from its
    /// velocity what would lead back in. Nodes alone leave particles about half a cell inside. Returns how many were
    /// moved.
    pub fn project(&mut self, boundary: &dyn Boundary, margin: f32) -> u64 {
        if boundary.is_empty() {
            return 0;
        }
        let (points, slots) = (&self.points, &self.slots);
        let columns = self.positions.par_iter_mut().zip(&mut self.velocities).zip(slots);
        let moved = columns.with_min_len(256).map(|((position, velocity), &slot)| {
            let point = position.as_vec3();
            if boundary.clearance(point) >= margin || points[slot as usize].pinned {
                return 0;
            }
            let mut inside = false;
            boundary.contacts(point, &mut |contact| {
                if contact.distance < margin {
                    *position += (contact.normal * (margin - contact.distance)).as_dvec3();
                    *velocity = contact.stopped(*velocity);
                    inside = true;
                }
            });
            u64::from(inside)
        });
        moved.sum()
    }
}
