use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3, Vec3};

use super::deforming::Deforming;
use super::motion::{Frame, RigidMotion, rate};
use super::obstacles::{Obstacle, Obstacles, Place};
use super::topology::usable;
use super::{Body, BodyError, Motion, Shape};
use crate::math::Pose;

/// All bodies of a scene during one step. Hair meets them through [`Bodies::at`], at one moment of the step.
#[derive(Debug, Clone, Default)]
pub struct Bodies {
    slots: Vec<Slot>,
}

#[derive(Debug, Clone)]
struct Slot {
    body: Body,
    rigid: RigidMotion,
    /// Set while the body's mesh deforms; then the rigid motion says nothing.
    deforming: Option<Arc<Deforming>>,
    /// Whether it is at the end of its way all through the step, and only got there at its start.
    jumps: bool,
}

impl Bodies {
    /// All bodies at rest in the pose where their frame is that of the world.
    pub fn new(bodies: Vec<Body>) -> Self {
        let still = RigidMotion::new(Pose::IDENTITY, Pose::IDENTITY, 0.0);
        let slot = |body| Slot { body, rigid: still, deforming: None, jumps: false };
        Self { slots: bodies.into_iter().map(slot).collect() }
    }

    /// Sets where every body is at the start and at the end of the coming step of `duration` [s]. On an error the
    /// bodies before the one named have already moved.
    pub fn begin_step(&mut self, motions: &[Motion<'_>], duration: f64) -> Result<(), BodyError> {
        self.begin_step_with_jumps(motions, |_| false, duration)
    }

    /// As [`Bodies::begin_step`], with some bodies that jump: they go all their way at the start of the step, hand no
    /// speed on to hair, and stay there.
    pub fn begin_step_with_jumps(
        &mut self,
        motions: &[Motion<'_>],
        jumps: impl Fn(usize) -> bool,
        duration: f64,
    ) -> Result<(), BodyError> {
        if motions.len() != self.slots.len() {
            return Err(BodyError::MotionCount { bodies: self.slots.len(), given: motions.len() });
        }
        self.slots.iter_mut().zip(motions).enumerate().try_for_each(|(index, (slot, motion))| {
            slot.jumps = jumps(index);
            let duration = if slot.jumps { 0.0 } else { duration };
            match *motion {
                Motion::Rigid { start, end } => slot.move_rigidly(start, end, duration),
                Motion::Deforming { start, end } => slot.deform(start, end, duration),
            }
        })
    }

    /// Whether a body jumps at the start of the step.
    pub fn jumps(&self, index: usize) -> bool {
        self.slots[index].jumps
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

    /// Whether each point of a body's mesh moves by itself in this step.
    pub fn deforms(&self, index: usize) -> bool {
        self.slots[index].deforming.is_some()
    }

    /// The pose of a body at fraction `t` in [0, 1] of the step; the identity for a deforming one, whose points are
    /// in the world.
    pub fn pose(&self, index: usize, t: f64) -> Pose {
        let slot = &self.slots[index];
        if slot.deforming.is_some() { Pose::IDENTITY } else { slot.rigid.pose(slot.moment(t)) }
    }

    /// The points of a body's mesh in the world at fraction `t` of the step [m]; none for other shapes.
    pub fn points(&self, index: usize, t: f64) -> Vec<Vec3> {
        let slot = &self.slots[index];
        let t = slot.moment(t);
        match (&slot.body.shape, &slot.deforming) {
            (Shape::Mesh(_), Some(deforming)) => deforming.points(t).collect(),
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
        let t = slot.moment(t);
        let corners = match &slot.deforming {
            Some(deforming) => vertices.map(|v| deforming.vertex(v, t)),
            None => {
                let pose = slot.rigid.pose(t);
                vertices.map(|v| pose.apply(mesh.points()[v].as_dvec3()))
            }
        };
        Some(frame_on(corners, weights))
    }

    /// The bodies as hair meets them at fraction `t` of the step. Ask once for each moment, not at every point.
    ///
    /// The end of a step is ready. Any other moment costs a refitted hierarchy and a filled grid for each deforming
    /// mesh, which the moment asked for last keeps; rigid bodies cost nothing.
    pub fn at(&self, t: f64) -> Obstacles<'_> {
        Obstacles::new(self.slots.iter().map(|slot| slot.at(t)).collect())
    }
}

impl Slot {
    /// The fraction of its way where the body is at fraction `t` of the step.
    fn moment(&self, t: f64) -> f64 {
        if self.jumps && t > 0.0 { 1.0 } else { t }
    }

    fn move_rigidly(&mut self, start: Pose, end: Pose, duration: f64) -> Result<(), BodyError> {
        let fine = |pose: &Pose| pose.rotation.is_finite() && usable(pose.translation.as_vec3());
        if !fine(&start) || !fine(&end) {
            return Err(BodyError::BadMotion { body: self.body.name.clone(), vertex: None });
        }
        self.deforming = None;
        self.rigid = RigidMotion::new(start, end, duration);
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
        Ok(())
    }

    fn at(&self, t: f64) -> Obstacle<'_> {
        let t = self.moment(t);
        let place = match (&self.body.shape, &self.deforming) {
            (Shape::Mesh(mesh), Some(motion)) => {
                Place::Deformed { mesh, motion, deformed: motion.at(mesh, t) }
            }
            _ => {
                let pose = self.rigid.pose(t);
                Place::Rigid { motion: &self.rigid, pose, frame: Frame::new(&pose) }
            }
        };
        Obstacle { body: &self.body, place }
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
