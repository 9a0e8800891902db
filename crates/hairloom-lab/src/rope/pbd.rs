//! Position based dynamics with equal masses, as figure 7 compares it: M. Müller, B. Heidelberger, M. Hennix,
//! J. Ratcliff, *Position Based Dynamics*, VRIPHYS 2006. Links are projected one after the other from the held
//! end on, each moving both its particles by half of its error, and that so many times over.

use glam::{DVec3, Vec3};

use super::params::Params;
use super::track::{Frame, Path, Rig};
use crate::LabError;

/// A rope of distance constraints.
pub(super) struct Pbd {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    predicted: Vec<Vec3>,
    gravity: Vec3,
    segment: f32,
    dt: f32,
    iterations: usize,
}

impl Pbd {
    /// A rope at rest.
    pub(super) fn new(params: &Params, positions: &[DVec3], iterations: usize) -> Self {
        let positions: Vec<Vec3> = positions.iter().map(|p| p.as_vec3()).collect();
        Self {
            velocities: vec![Vec3::ZERO; positions.len()],
            predicted: positions.clone(),
            positions,
            gravity: params.gravity().as_vec3(),
            segment: params.segment as f32,
            dt: params.dt as f32,
            iterations,
        }
    }

    /// One step with the held particle at `root` in the end.
    pub(super) fn advance(&mut self, root: Vec3) {
        let dt = self.dt;
        let p = &mut self.predicted;
        for ((p, x), v) in p.iter_mut().zip(&self.positions).zip(&self.velocities) {
            *p = *x + (*v + self.gravity * dt) * dt;
        }
        p[0] = root;
        for _ in 0..self.iterations {
            for i in 1..p.len() {
                let link = p[i] - p[i - 1];
                let length = link.length();
                let error = link * ((length - self.segment) / length.max(f32::MIN_POSITIVE));
                if i == 1 {
                    p[i] -= error;
                } else {
                    p[i - 1] += error * 0.5;
                    p[i] -= error * 0.5;
                }
            }
        }
        for ((p, x), v) in p.iter().zip(&mut self.positions).zip(&mut self.velocities) {
            *v = (*p - *x) / dt;
            *x = *p;
        }
    }
}

impl Rig for Pbd {
    fn step(&mut self, path: Path<'_>, time: f64) -> Result<(), LabError> {
        self.advance(path(time).as_vec3());
        Ok(())
    }

    fn frame(&self) -> Frame {
        let double = |points: &[Vec3]| points.iter().map(|p| p.as_dvec3()).collect();
        Frame { positions: double(&self.positions), velocities: double(&self.velocities) }
    }
}
