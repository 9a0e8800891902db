//! Springs and the symplectic Euler method, as figure 7 compares them: velocities from the forces at the old
//! positions, then positions from the new velocities, so many times per step.

use glam::{DVec3, Vec3};

use super::params::Params;
use super::track::{Frame, Path, Rig};
use crate::LabError;

/// A rope of springs.
pub(super) struct Euler {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    gravity: Vec3,
    segment: f32,
    dt: f64,
    /// Spring constant over mass [1/s²].
    stiffness: f32,
    substeps: usize,
}

/// The spring constant up to which a rope with one end held is stable [N/m]: the symplectic Euler method
/// bears frequencies up to `2 / h`, and the fastest mode of `n` equal masses on springs between a wall and a
/// free end has `ω = 2 √(k / m) sin((2 n − 1) π / (4 n + 2))`.
pub(super) fn stable_stiffness(params: &Params, substeps: usize) -> f64 {
    let n = (params.particles - 1) as f64;
    let fastest = ((2.0 * n - 1.0) * std::f64::consts::PI / (4.0 * n + 2.0)).sin();
    let h = params.dt / substeps as f64;
    params.mass / (h * fastest).powi(2)
}

impl Euler {
    /// A rope at rest with springs of `k` newtons per metre.
    pub(super) fn new(params: &Params, positions: &[DVec3], k: f64, substeps: usize) -> Self {
        let positions: Vec<Vec3> = positions.iter().map(|p| p.as_vec3()).collect();
        Self {
            velocities: vec![Vec3::ZERO; positions.len()],
            positions,
            gravity: params.gravity().as_vec3(),
            segment: params.segment as f32,
            dt: params.dt,
            stiffness: (k / params.mass) as f32,
            substeps,
        }
    }

    /// One small step of `h` seconds with the held particle at `root` in the end.
    fn small_step(&mut self, root: Vec3, h: f32) {
        let (positions, velocities) = (&mut self.positions, &mut self.velocities);
        for i in 1..positions.len() {
            let link = positions[i] - positions[i - 1];
            let length = link.length();
            let pull = link * (self.stiffness * h * (length - self.segment) / length.max(f32::MIN_POSITIVE));
            velocities[i - 1] += pull;
            velocities[i] += self.gravity * h - pull;
        }
        velocities[0] = (root - positions[0]) / h;
        for (x, v) in positions.iter_mut().zip(velocities) {
            *x += *v * h;
        }
    }

    /// One step along `path` that ends at `time`.
    pub(super) fn advance(&mut self, path: impl Fn(f64) -> DVec3, time: f64) {
        let h = self.dt / self.substeps as f64;
        for left in (0..self.substeps).rev() {
            self.small_step(path(time - left as f64 * h).as_vec3(), h as f32);
        }
    }
}

impl Rig for Euler {
    fn step(&mut self, path: Path<'_>, time: f64) -> Result<(), LabError> {
        self.advance(path, time);
        Ok(())
    }

    fn frame(&self) -> Frame {
        let double = |points: &[Vec3]| points.iter().map(|p| p.as_dvec3()).collect();
        Frame { positions: double(&self.positions), velocities: double(&self.velocities) }
    }
}
