//! The method as one would first write it: one strand after the other, one vertex after the other, in `f32`.
//!
//! It holds the lane version to account: tests compare the two, and `hairloom bench ftl` their speed.

use glam::Vec3;

use super::Params;
use super::contact::{after_touch, resolve};
use crate::body::Bodies;

/// One strand, held at its first vertex.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Strand {
    /// Positions of the vertices [m].
    pub positions: Vec<Vec3>,
    /// Their velocities [m/s].
    pub velocities: Vec<Vec3>,
    /// Rest length of the edge behind each vertex [m]; the tip's is not used.
    pub lengths: Vec<f32>,
    /// Distance kept from bodies [m].
    pub radius: f32,
    /// Lower bounds of the distance to bodies at the predicted positions [m], from [`Strand::look_ahead`].
    pub clearance: Vec<f32>,
}

/// What acts on the strand during a step.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Duration [s].
    pub dt: f32,
    /// Where the root goes [m].
    pub root: Vec3,
    /// Acceleration of gravity [m/s²].
    pub gravity: Vec3,
    /// Bodies to stay out of.
    pub bodies: Option<&'a Bodies>,
}

impl Strand {
    /// Where the vertices would go without constraints (equation 1), and the velocities to get there.
    fn predict(&self, step: &Step<'_>, params: &Params) -> (Vec<Vec3>, Vec<Vec3>) {
        let dt = step.dt;
        let keep = 1.0 / (1.0 + params.damping as f32 * dt);
        let mut wanted: Vec<Vec3> = self.velocities.iter().map(|&v| (v + step.gravity * dt) * keep).collect();
        wanted[0] = (step.root - self.positions[0]) / dt;
        let mut predicted: Vec<Vec3> =
            self.positions.iter().zip(&wanted).map(|(&x, &v)| x + v * dt).collect();
        predicted[0] = step.root;
        (predicted, wanted)
    }

    /// Asks the bodies how far away they are: a stage of its own, before the step.
    pub fn look_ahead(&mut self, step: &Step<'_>, params: &Params) {
        let (predicted, _) = self.predict(step, params);
        self.clearance.clear();
        if let Some(bodies) = step.bodies {
            self.clearance.extend(predicted.iter().map(|&point| bodies.clearance(point)));
        }
    }

    /// One step of dynamic follow-the-leader.
    pub fn step(&mut self, step: &Step<'_>, params: &Params) {
        let dt = step.dt;
        let count = self.positions.len();
        let (mut p, wanted) = self.predict(step, params);
        if params.backward {
            for i in (2..count).rev() {
                p[i - 1] = p[i] + (p[i - 1] - p[i]).normalize() * self.lengths[i - 1];
            }
        }
        let mut corrections = vec![Vec3::ZERO; count + 1];
        let mut touches = vec![None; count];
        for i in 1..count {
            let predicted = p[i];
            // Equation 11.
            let least =
                if i > 1 { params.bending as f32 * (self.lengths[i - 2] + self.lengths[i - 1]) } else { 0.0 };
            if i > 1 && (p[i] - p[i - 2]).length_squared() < least * least {
                p[i] = p[i - 2] + (p[i] - p[i - 2]).normalize() * least;
            }
            // Equation 6.
            let edge = p[i] - p[i - 1];
            let exact = edge * (self.lengths[i - 1] / edge.length());
            corrections[i] = exact - edge;
            p[i] = p[i - 1] + exact;
            let spare = self.clearance.get(i).map_or(f32::INFINITY, |clearance| clearance - self.radius);
            if (p[i] - predicted).length() >= spare {
                touches[i] = step.bodies.and_then(|bodies| resolve(bodies, p[i - 1], exact, self.radius));
            }
            if let Some(touch) = &touches[i] {
                p[i] = p[i - 1] + touch.edge;
            }
        }
        for i in 0..count {
            // Equation 9.
            let reaction = if i == 0 { Vec3::ZERO } else { corrections[i + 1] * params.correction as f32 };
            let velocity = (p[i] - self.positions[i] - reaction) / dt;
            self.velocities[i] = match &touches[i] {
                Some(touch) => after_touch(velocity, wanted[i], touch, dt),
                None => velocity,
            };
        }
        self.positions = p;
    }
}
