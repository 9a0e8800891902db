use glam::{DMat3, DQuat, DVec3, Vec3};

use super::deforming::Deforming;
use super::motion::{RigidMotion, rate};
use super::surface::SurfacePoint;
use super::topology::usable;
use super::{Body, BodyError, Motion, Sample, Shape, primitive};
use crate::math::Pose;

/// All bodies of a scene during one step.
#[derive(Debug, Clone, Default)]
pub struct Bodies {
    slots: Vec<Slot>,
}

#[derive(Debug, Clone)]
struct Slot {
    body: Body,
    rigid: RigidMotion,
    /// Set while the body's mesh deforms; then the rigid motion says nothing.
    deforming: Option<Deforming>,
    max_speed: f32,
}

impl Bodies {
    /// All bodies at rest in the pose where their frame is that of the world.
    pub fn new(bodies: Vec<Body>) -> Self {
        let still = RigidMotion::new(Pose::IDENTITY, Pose::IDENTITY, 0.0);
        let slot = |body| Slot { body, rigid: still, deforming: None, max_speed: 0.0 };
        Self { slots: bodies.into_iter().map(slot).collect() }
    }

    /// Sets where every body is at the start and at the end of the coming step of `duration` [s]. On an error the
    /// bodies before the one named have already moved.
    pub fn begin_step(&mut self, motions: &[Motion<'_>], duration: f64) -> Result<(), BodyError> {
        if motions.len() != self.slots.len() {
            return Err(BodyError::MotionCount { bodies: self.slots.len(), given: motions.len() });
        }
        self.slots.iter_mut().zip(motions).try_for_each(|(slot, motion)| match *motion {
            Motion::Rigid { start, end } => slot.move_rigidly(start, end, duration),
            Motion::Deforming { start, end } => slot.deform(start, end, duration),
        })
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no body.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The body at `index`.
    pub fn body(&self, index: usize) -> &Body {
        &self.slots[index].body
    }

    /// The pose of a body at fraction `t` in [0, 1] of the step; the identity for a deforming one, whose points are
    /// in the world.
    pub fn pose(&self, index: usize, t: f64) -> Pose {
        let slot = &self.slots[index];
        if slot.deforming.is_some() { Pose::IDENTITY } else { slot.rigid.pose(t) }
    }

    /// The points of a body's mesh in the world at fraction `t` of the step [m]; none for other shapes.
    pub fn points(&self, index: usize, t: f64) -> Vec<Vec3> {
        let slot = &self.slots[index];
        match (&slot.body.shape, &slot.deforming) {
            (Shape::Mesh(mesh), Some(deforming)) => {
                (0..mesh.points().len() as u32).map(|v| deforming.surface.vertex(v, t as f32)).collect()
            }
            (Shape::Mesh(mesh), None) => {
                let pose = slot.rigid.pose(t);
                mesh.points().iter().map(|p| pose.apply(p.as_dvec3()).as_vec3()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The frame that rides on a triangle of a mesh at fraction `t` of the step: its origin the point with the given
    /// barycentric `weights`, x along the first edge, y along the outward normal. `None` if there is no such triangle.
    pub fn triangle_frame(&self, index: usize, triangle: usize, weights: [f32; 3], t: f64) -> Option<Pose> {
        let slot = self.slots.get(index)?;
        let Shape::Mesh(mesh) = &slot.body.shape else { return None };
        let vertices = mesh.triangles().get(triangle)?.map(|v| v as usize);
        let corners = match &slot.deforming {
            Some(Deforming { surface, .. }) => {
                vertices.map(|v| surface.start[v].as_dvec3().lerp(surface.end[v].as_dvec3(), t))
            }
            None => {
                let pose = slot.rigid.pose(t);
                vertices.map(|v| pose.apply(mesh.points()[v].as_dvec3()))
            }
        };
        Some(frame_on(corners, weights))
    }

    /// The signed distance, outward normal and velocity of one body at fraction `t` of the step.
    pub fn sample(&self, index: usize, point: Vec3, t: f32) -> Sample {
        self.slots[index].sample(point, t)
    }

    /// The exact closest point of a body's mesh at fraction `t` of the step, in the world; `None` for other shapes.
    pub fn closest(&self, index: usize, point: Vec3, t: f32) -> Option<SurfacePoint> {
        let slot = self.slots.get(index)?;
        let Shape::Mesh(mesh) = &slot.body.shape else { return None };
        match &slot.deforming {
            Some(deforming) => deforming.surface.closest(mesh.topology(), point, t, f32::INFINITY),
            None => {
                let frame = slot.rigid.frame(t);
                let mut hit = mesh.closest(frame.to_local(point))?;
                hit.point = slot.rigid.pose(f64::from(t)).apply(hit.point.as_dvec3()).as_vec3();
                hit.normal = frame.direction_to_world(hit.normal);
                Some(hit)
            }
        }
    }

    /// The body with the smallest distance at the end of the step, and what it is like there.
    pub fn nearest(&self, point: Vec3) -> Option<(usize, Sample)> {
        let mut best: Option<(usize, Sample)> = None;
        for (index, slot) in self.slots.iter().enumerate() {
            let sample = slot.sample(point, 1.0);
            if sample.distance < best.map_or(f32::INFINITY, |(_, other)| other.distance) {
                best = Some((index, sample));
            }
        }
        best
    }

    /// A cheap lower bound of the distance to any body at the end of the step [m]; infinite without bodies. Exact for
    /// simple shapes; up to two and a half cells of its grid short for a mesh. Inside a mesh it is negative, and no more than that.
    pub fn clearance(&self, point: Vec3) -> f32 {
        let mut clearance = [f32::INFINITY];
        self.clearance_batch(&[point.x], &[point.y], &[point.z], &mut clearance);
        clearance[0]
    }

    /// The [`clearance`](Self::clearance) of many points, given by coordinate; as many as the shortest slice holds.
    pub fn clearance_batch(&self, xs: &[f32], ys: &[f32], zs: &[f32], out: &mut [f32]) {
        let count = out.len().min(xs.len()).min(ys.len()).min(zs.len());
        out[..count].fill(f32::INFINITY);
        for slot in &self.slots {
            slot.lower_clearance(&xs[..count], &ys[..count], &zs[..count], &mut out[..count]);
        }
    }

    /// No material of any body is faster than this during the step [m/s]; planes count by the origin of their frame.
    pub fn max_surface_speed(&self) -> f32 {
        self.slots.iter().map(|slot| slot.max_speed).fold(0.0, f32::max)
    }
}

impl Slot {
    fn move_rigidly(&mut self, start: Pose, end: Pose, duration: f64) -> Result<(), BodyError> {
        let fine = |pose: &Pose| pose.rotation.is_finite() && usable(pose.translation.as_vec3());
        if !fine(&start) || !fine(&end) {
            return Err(BodyError::BadMotion { body: self.body.name.clone(), vertex: None });
        }
        self.deforming = None;
        self.rigid = RigidMotion::new(start, end, duration);
        let radius = match &self.body.shape {
            Shape::Plane => 0.0,
            Shape::Sphere { radius } => *radius,
            Shape::Capsule { radius, half_height } => radius + half_height,
            Shape::Mesh(mesh) => mesh.radius(),
        };
        self.max_speed = self.rigid.max_speed(radius);
        Ok(())
    }

    fn deform(&mut self, start: &[Vec3], end: &[Vec3], duration: f64) -> Result<(), BodyError> {
        let body = || self.body.name.clone();
        let Shape::Mesh(mesh) = &self.body.shape else {
            return Err(BodyError::CannotDeform { body: body() });
        };
        let count = mesh.points().len();
        if start.len() != count || end.len() != count {
            return Err(BodyError::PointCount {
                body: body(),
                mesh: count,
                start: start.len(),
                end: end.len(),
            });
        }
        if let Some(vertex) = start.iter().zip(end).position(|(&a, &b)| !usable(a) || !usable(b)) {
            return Err(BodyError::BadMotion { body: body(), vertex: Some(vertex) });
        }
        let rate = rate(duration) as f32;
        self.deforming = Some(Deforming::new(mesh, start, end, rate, self.deforming.take()));
        self.max_speed = start.iter().zip(end).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max) * rate;
        Ok(())
    }

    /// Lowers each of `out` to the clearance of this body at the end of the step. One loop for each shape, so that the
    /// choice is made once and not at every point.
    fn lower_clearance(&self, xs: &[f32], ys: &[f32], zs: &[f32], out: &mut [f32]) {
        let frame = self.rigid.frame(1.0);
        match (&self.body.shape, &self.deforming) {
            (Shape::Mesh(_), Some(deforming)) => lower(xs, ys, zs, out, |p| deforming.grid.clearance(p)),
            (Shape::Mesh(mesh), None) => {
                lower(xs, ys, zs, out, |p| mesh.grid().clearance(frame.to_local(p)));
            }
            (Shape::Plane, _) => lower(xs, ys, zs, out, |p| primitive::plane(frame.to_local(p)).0),
            (&Shape::Sphere { radius }, _) => {
                lower(xs, ys, zs, out, |p| primitive::sphere(frame.to_local(p), radius).0);
            }
            (&Shape::Capsule { radius, half_height }, _) => {
                lower(xs, ys, zs, out, |p| primitive::capsule(frame.to_local(p), radius, half_height).0);
            }
        }
    }

    fn sample(&self, point: Vec3, t: f32) -> Sample {
        match (&self.body.shape, &self.deforming) {
            (Shape::Mesh(mesh), Some(deforming)) => deforming.sample(mesh, point, t),
            (shape, _) => {
                let frame = self.rigid.frame(t);
                let local = frame.to_local(point);
                let (distance, normal) = match shape {
                    Shape::Plane => primitive::plane(local),
                    Shape::Sphere { radius } => primitive::sphere(local, *radius),
                    Shape::Capsule { radius, half_height } => {
                        primitive::capsule(local, *radius, *half_height)
                    }
                    Shape::Mesh(mesh) => mesh.distance(local),
                };
                let closest = if distance.is_finite() { local - normal * distance } else { Vec3::ZERO };
                Sample {
                    distance,
                    normal: frame.direction_to_world(normal),
                    velocity: self.rigid.velocity(frame.direction_to_world(closest)),
                }
            }
        }
    }
}

/// Lowers each of `out` to the distance that `of` gives at its point.
fn lower(xs: &[f32], ys: &[f32], zs: &[f32], out: &mut [f32], of: impl Fn(Vec3) -> f32) {
    for (((out, &x), &y), &z) in out.iter_mut().zip(xs).zip(ys).zip(zs) {
        *out = out.min(of(Vec3::new(x, y, z)));
    }
}

/// The frame on a triangle with the given corners: x along the first edge, y along the normal.
fn frame_on([a, b, c]: [DVec3; 3], weights: [f32; 3]) -> Pose {
    let [u, v, w] = weights.map(f64::from);
    let x = (b - a).try_normalize().or_else(|| (c - a).try_normalize()).unwrap_or(DVec3::X);
    let y = (b - a).cross(c - a).try_normalize().unwrap_or_else(|| x.any_orthonormal_vector());
    Pose {
        rotation: DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize(),
        translation: a * u + b * v + c * w,
    }
}
