//! What hair can run into at one moment.

use std::sync::Arc;

use glam::{DVec3, Mat3, Vec3};

use super::deforming::{Deformed, Deforming};
use super::grid::LowerClearances;
use super::motion::{Frame, RigidMotion};
use super::surface::SurfacePoint;
use super::{Body, MeshShape, Sample, Shape, primitive};
use crate::math::Pose;
use crate::math::lanes::dispatch;

/// All bodies at one moment of a step: where hair that arrives at that moment collides.
///
/// Rigid bodies are exact at any moment, their search structures staying in their own frames. A deforming mesh has
/// its hierarchy refitted and its grid filled at that moment, so that it answers there as it does at the end of a step.
/// Velocities are those of the motion under way; they are the same over any part of the step.
#[derive(Debug, Clone)]
pub struct Obstacles<'a> {
    list: Vec<Obstacle<'a>>,
}

#[derive(Debug, Clone)]
pub(super) struct Obstacle<'a> {
    pub(super) body: &'a Body,
    pub(super) place: Place<'a>,
}

/// Where a body is.
#[derive(Debug, Clone)]
pub(super) enum Place<'a> {
    /// In a pose.
    Rigid { motion: &'a RigidMotion, pose: Pose, frame: Frame },
    /// In the world, its mesh in a shape of its own.
    Deformed { mesh: &'a MeshShape, motion: &'a Deforming, deformed: Arc<Deformed> },
}

impl<'a> Obstacles<'a> {
    pub(super) fn new(list: Vec<Obstacle<'a>>) -> Self {
        Self { list }
    }

    /// Whether there is a body that hair collides with.
    pub fn any_collides(&self) -> bool {
        self.colliding().next().is_some()
    }

    /// The body at `index`.
    pub fn body(&self, index: usize) -> &'a Body {
        self.list[index].body
    }

    fn colliding(&self) -> impl Iterator<Item = (usize, &Obstacle<'a>)> {
        self.list.iter().enumerate().filter(|(_, obstacle)| obstacle.body.collides)
    }

    /// The indices of the bodies that hair collides with.
    pub fn collider_indices(&self) -> impl Iterator<Item = usize> {
        self.colliding().map(|(index, _)| index)
    }

    /// The signed distance, outward normal and velocity of one body, whether hair collides with it or not.
    pub fn sample(&self, index: usize, point: Vec3) -> Sample {
        self.list[index].sample(point)
    }

    /// How deep inside a rigid mesh a point is at least [m], and the velocity of the mesh there [m/s], where it is so deep that finding the
    /// surface means a long search; `None` elsewhere.
    pub(crate) fn deep_velocity(&self, index: usize, point: Vec3) -> Option<(f32, Vec3)> {
        let obstacle = self.list.get(index)?;
        let (Shape::Mesh(mesh), Place::Rigid { motion, frame, .. }) = (&obstacle.body.shape, &obstacle.place)
        else {
            return None;
        };
        let local = frame.to_local(point);
        let depth = mesh.grid().depth(local)?;
        Some((depth, motion.velocity(frame.direction_to_world(local))))
    }

    /// The exact closest point of a body's mesh, in the world; `None` for other shapes.
    pub fn closest(&self, index: usize, point: Vec3) -> Option<SurfacePoint> {
        let obstacle = self.list.get(index)?;
        let Shape::Mesh(mesh) = &obstacle.body.shape else { return None };
        match &obstacle.place {
            Place::Deformed { deformed, .. } => {
                deformed.surface.closest_from(mesh.topology(), point, deformed.grid.close_triangle(point))
            }
            Place::Rigid { pose, frame, .. } => {
                let mut hit = mesh.closest(frame.to_local(point))?;
                hit.point = pose.apply(hit.point.as_dvec3()).as_vec3();
                hit.normal = frame.direction_to_world(hit.normal);
                Some(hit)
            }
        }
    }

    /// The smallest signed distance to a colliding body [m], of a mesh that to its triangles, whatever it would answer from its
    /// grid; infinite without bodies.
    pub fn exact_distance(&self, point: Vec3) -> f32 {
        let distance = |index: usize| match self.closest(index, point) {
            Some(hit) => hit.distance,
            None => self.sample(index, point).distance,
        };
        self.collider_indices().map(distance).fold(f32::INFINITY, f32::min)
    }

    /// The colliding body with the smallest distance, and what it is like there.
    pub fn nearest(&self, point: Vec3) -> Option<(usize, Sample)> {
        let mut best: Option<(usize, Sample)> = None;
        for (index, obstacle) in self.colliding() {
            let sample = obstacle.sample(point);
            if sample.distance < best.map_or(f32::INFINITY, |(_, other)| other.distance) {
                best = Some((index, sample));
            }
        }
        best
    }

    /// A cheap lower bound of the distance to any colliding body [m]; infinite without bodies. Exact for simple
    /// shapes; up to two and a half cells of its grid short for a mesh. Inside a mesh it is negative, and no more than
    /// that.
    pub fn clearance(&self, point: Vec3) -> f32 {
        let mut clearance = [f32::INFINITY];
        self.clearance_batch(&[point.x], &[point.y], &[point.z], &mut clearance);
        clearance[0]
    }

    /// The [`clearance`](Self::clearance) of many points, given by coordinate; as many as the shortest slice holds.
    pub fn clearance_batch(&self, xs: &[f32], ys: &[f32], zs: &[f32], out: &mut [f32]) {
        let count = out.len().min(xs.len()).min(ys.len()).min(zs.len());
        out[..count].fill(f32::INFINITY);
        for (_, obstacle) in self.colliding() {
            obstacle.lower_clearance(&xs[..count], &ys[..count], &zs[..count], &mut out[..count]);
        }
    }
}

impl Obstacle<'_> {
    /// Lowers each of `out` to the clearance of this body. One loop for each shape, so that the choice is made once and
    /// not at every point.
    fn lower_clearance(&self, xs: &[f32], ys: &[f32], zs: &[f32], out: &mut [f32]) {
        let frame = match &self.place {
            Place::Deformed { deformed, .. } => {
                let (origin, local_from_world) = (DVec3::ZERO, Mat3::IDENTITY);
                let (grid, points) = (&deformed.grid, [xs, ys, zs]);
                return dispatch(LowerClearances { grid, origin, local_from_world, points, out });
            }
            Place::Rigid { frame, .. } => *frame,
        };
        match &self.body.shape {
            Shape::Plane => lower(xs, ys, zs, out, |p| primitive::plane(frame.to_local(p)).0),
            &Shape::Sphere { radius } => {
                lower(xs, ys, zs, out, |p| primitive::sphere(frame.to_local(p), radius).0);
            }
            &Shape::Capsule { radius, half_height } => {
                lower(xs, ys, zs, out, |p| primitive::capsule(frame.to_local(p), radius, half_height).0);
            }
            Shape::Mesh(mesh) => {
                let (origin, local_from_world) = frame.of_world();
                let (grid, points) = (mesh.grid(), [xs, ys, zs]);
                dispatch(LowerClearances { grid, origin, local_from_world, points, out });
            }
        }
    }

    fn sample(&self, point: Vec3) -> Sample {
        let (motion, frame) = match &self.place {
            Place::Deformed { mesh, motion, deformed } => return motion.sample(mesh, deformed, point),
            Place::Rigid { motion, frame, .. } => (motion, frame),
        };
        let local = frame.to_local(point);
        let (distance, normal) = match &self.body.shape {
            Shape::Plane => primitive::plane(local),
            Shape::Sphere { radius } => primitive::sphere(local, *radius),
            Shape::Capsule { radius, half_height } => primitive::capsule(local, *radius, *half_height),
            Shape::Mesh(mesh) => mesh.distance(local),
        };
        let closest = if distance.is_finite() { local - normal * distance } else { Vec3::ZERO };
        Sample {
            distance,
            normal: frame.direction_to_world(normal),
            velocity: motion.velocity(frame.direction_to_world(closest)),
        }
    }
}

/// Looks for bodies from point to point on a way: what was seen from the last point may be enough for the next, since no
/// distance changes faster than the place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookout<'a> {
    obstacles: &'a Obstacles<'a>,
    /// Where bodies were last looked for [m], and at least how far away they are there [m].
    last: (Vec3, f32),
}

impl<'a> Lookout<'a> {
    pub(crate) fn new(obstacles: &'a Obstacles<'a>) -> Self {
        Self { obstacles, last: (Vec3::ZERO, f32::NEG_INFINITY) }
    }

    /// The distance of a point from the bodies [m] where it is less than `reach` [m]; none where it is not.
    pub(crate) fn nearer(&mut self, point: Vec3, reach: f32) -> Option<f32> {
        let (place, distance) = self.last;
        if distance - point.distance(place) * (1.0 + 1e-5) >= reach {
            return None;
        }
        let mut found = self.obstacles.clearance(point);
        if found < reach {
            found = self.obstacles.exact_distance(point);
        }
        self.last = (point, found);
        (found < reach).then_some(found)
    }
}

/// Lowers each of `out` to the distance that `of` gives at its point.
fn lower(xs: &[f32], ys: &[f32], zs: &[f32], out: &mut [f32], of: impl Fn(Vec3) -> f32) {
    for (((out, &x), &y), &z) in out.iter_mut().zip(xs).zip(ys).zip(zs) {
        *out = out.min(of(Vec3::new(x, y, z)));
    }
}
