use glam::{DVec3, Mat3, Vec3};
use rayon::prelude::*;

use super::Particles;
use crate::body::Obstacles;
use crate::math::Pose;

/// Particles whose clearances are looked up together.
const LOOKS: usize = 64;

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

    /// The clearance of many points, by coordinate.
    fn clearances(&self, [xs, ys, zs]: [&[f32]; 3], out: &mut [f32]) {
        for (((&x, &y), &z), out) in xs.iter().zip(ys).zip(zs).zip(out) {
            *out = self.clearance(Vec3::new(x, y, z));
        }
    }

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

    fn clearances(&self, [xs, ys, zs]: [&[f32]; 3], out: &mut [f32]) {
        self.clearance_batch(xs, ys, zs, out);
    }

    fn is_empty(&self) -> bool {
        !self.any_collides()
    }
}

/// How solids have come since particles last looked at them.
#[derive(Debug, Clone, Copy)]
pub struct Approach {
    /// Where a frame is now that goes along with them: the body's, where there is one.
    pub frame: Pose,
    /// The farthest that any point of the solids' surfaces has moved within the frame since the last look [m]; infinite where
    /// that is not known.
    pub shift: f32,
}

impl Approach {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { frame: Pose::IDENTITY, shift: f32::INFINITY };

    /// The coordinates of a point within the frame [m].
    #[inline(always)]
    pub fn local(&self, inverse: &Mat3, point: DVec3) -> Vec3 {
        *inverse * (point - self.frame.translation).as_vec3()
    }

    /// The inverse of the frame's turn.
    pub fn inverse(&self) -> Mat3 {
        Mat3::from_quat(self.frame.rotation.as_quat()).transpose()
    }
}

/// What a particle saw of the solids when it last looked.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Where it was within the frame of an [`Approach`] [m].
    position: Vec3,
    /// Its clearance then, less what the solids may have come nearer since [m].
    clearance: f32,
}

impl Default for Look {
    fn default() -> Self {
        Self { position: Vec3::ZERO, clearance: f32::NEG_INFINITY }
    }
}

impl Look {
    /// A lower bound of the clearance at a point of the frame [m], wherever the particle went since.
    #[inline(always)]
    pub fn clearance_at(&self, point: Vec3) -> f32 {
        self.clearance - self.position.distance(point) * (1.0 + 1e-5)
    }
}

impl Particles {
    /// Moves every particle that is not pinned to at least `margin` [m] outside of all solids, and takes from its
    /// velocity what would lead back in. Nodes alone leave particles about half a cell inside. Particles that cannot have
    /// come near since they last looked do not look again. Returns how many were moved.
    pub fn project(&mut self, boundary: &dyn Boundary, margin: f32, approach: &Approach) -> u64 {
        if boundary.is_empty() {
            return 0;
        }
        self.looks.resize(self.positions.len(), Look::default());
        let (points, slots) = (&self.points, &self.slots);
        let columns = self.positions.par_chunks_mut(LOOKS).zip(self.velocities.par_chunks_mut(LOOKS));
        let columns = columns.zip(self.looks.par_chunks_mut(LOOKS)).zip(slots.par_chunks(LOOKS));
        let moved = columns.with_min_len(4).map(|(((positions, velocities), looks), slots)| {
            let mut near = [0u32; LOOKS];
            let count = look_around(boundary, margin, approach, positions, looks, &mut near);
            let mut moved = 0;
            for &at in &near[..count] {
                let at = at as usize;
                let look = &mut looks[at];
                if look.clearance < margin && !points[slots[at] as usize].pinned {
                    let distance = push_out(boundary, &mut positions[at], &mut velocities[at], margin);
                    moved += u64::from(distance < margin);
                    // The clearance of a mesh is far too low near its surface; not all of the distance, since a
                    // field of distances has its errors.
                    look.clearance = look.clearance.max(0.8 * distance);
                }
            }
            moved
        });
        moved.sum()
    }

    /// What each particle saw when it last looked; empty where none has.
    pub fn looks(&self) -> &[Look] {
        &self.looks
    }
}

/// Lets those particles look that may have come near; returns how many there are of them, and which in `near`.
fn look_around(
    boundary: &dyn Boundary,
    margin: f32,
    approach: &Approach,
    positions: &[DVec3],
    looks: &mut [Look],
    near: &mut [u32; LOOKS],
) -> usize {
    let (mut count, mut sight) = (0, [[0.0f32; LOOKS]; 4]);
    let [xs, ys, zs, clearances] = &mut sight;
    let inverse = approach.inverse();
    for (at, (position, look)) in positions.iter().zip(looks.iter_mut()).enumerate() {
        look.clearance -= approach.shift;
        let local = approach.local(&inverse, *position);
        // What is no number looks again.
        if look.clearance_at(local) >= margin {
            continue;
        }
        look.position = local;
        (xs[count], ys[count], zs[count]) = position.as_vec3().into();
        near[count] = at as u32;
        count += 1;
    }
    boundary.clearances([&xs[..count], &ys[..count], &zs[..count]], &mut clearances[..count]);
    for (at, &particle) in near[..count].iter().enumerate() {
        looks[particle as usize].clearance = clearances[at];
    }
    count
}

/// Moves one particle out of all solids; gives the distance to the nearest that it had [m].
fn push_out(boundary: &dyn Boundary, position: &mut DVec3, velocity: &mut Vec3, margin: f32) -> f32 {
    let mut nearest = f32::INFINITY;
    boundary.contacts(position.as_vec3(), &mut |contact| {
        if contact.distance < margin {
            *position += (contact.normal * (margin - contact.distance)).as_dvec3();
            *velocity = contact.stopped(*velocity);
        }
        nearest = nearest.min(contact.distance);
    });
    nearest
}
