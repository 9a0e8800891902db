use glam::{DMat3, DVec3};

use super::{Chain, Rod, Root};
use crate::math::dense::{cholesky, cholesky_solve};

/// Newton steps at most.
const STEPS: usize = 200;
/// A step may not turn an element by more than this [rad].
const MOST_TURN: f64 = 0.7;

impl Rod {
    /// Curvatures in which a clamped rod hangs at rest, from `start` on, and how many steps that took; none where Newton's method
    /// does not arrive.
    pub fn equilibrium(&self, root: Root, start: &[DVec3], gravity: DVec3) -> Option<(Vec<DVec3>, usize)> {
        let mut curvatures = start.to_vec();
        let potential = |curvatures: &[DVec3]| {
            let chain = Chain::new(root, &self.lengths, curvatures);
            self.elastic_energy(curvatures) + self.gravity_energy(&chain, gravity)
        };
        let scale = self.mass_per_length * self.length().powi(2) * gravity.length();
        let mut energy = potential(&curvatures);
        for step in 0..STEPS {
            let (gradient, hessian) = self.slopes(root, &curvatures, gravity);
            let direction = descent(&gradient, hessian)?;
            let turns = direction.chunks_exact(3).zip(&self.lengths);
            let turn = turns.map(|(part, length)| DVec3::from_slice(part).length() * length);
            let largest = turn.fold(0.0, f64::max);
            if !largest.is_finite() {
                return None;
            }
            let mut size = (MOST_TURN / largest).min(1.0);
            let along: f64 = gradient.iter().zip(&direction).map(|(a, b)| a * b).sum();
            let moved = |size: f64| -> Vec<DVec3> {
                let parts = direction.chunks_exact(3).map(DVec3::from_slice);
                curvatures.iter().zip(parts).map(|(curvature, part)| *curvature + part * size).collect()
            };
            let mut next = moved(size);
            // Rounding of the energy is no reason to doubt a step.
            while potential(&next) > energy + 1.0e-4 * size * along + 1.0e-14 * scale && size > 1.0e-6 {
                size *= 0.5;
                next = moved(size);
            }
            (curvatures, energy) = (next, potential(&moved(size)));
            if largest < 1.0e-10 {
                return Some((curvatures, step + 1));
            }
        }
        None
    }

    /// Gradient and Hessian of the energy of bending, twisting and height, by the curvatures.
    pub(crate) fn slopes(&self, root: Root, curvatures: &[DVec3], gravity: DVec3) -> (Vec<f64>, Vec<f64>) {
        let chain = Chain::new(root, &self.lengths, curvatures);
        let (count, freedom) = (self.elements(), chain.freedom());
        // By element: how it moves the mass at and behind it, what lies behind, and the second moments of its own piece.
        let mut moved = vec![DMat3::ZERO; count];
        let mut behind = vec![(0.0, DVec3::ZERO); count];
        let mut own = vec![[0.0; 6]; count];
        self.integrate(|place, length| {
            let (weight, point) = (self.mass_per_length * length, chain.position_at(place));
            for (by, sum) in moved[..=place.element].iter_mut().enumerate() {
                *sum += chain.moving(by, place, point) * weight;
            }
            for (by, (mass, moment)) in behind[..place.element].iter_mut().enumerate() {
                *mass += weight;
                *moment += weight * (point - chain.end(by));
            }
            let (helix, turn) = (chain.helix(place.element), chain.rotation(place.element));
            for (sum, direction) in own[place.element].iter_mut().zip(DIRECTIONS) {
                *sum += weight * gravity.dot(turn * helix.point_bias(place.along, direction));
            }
        });
        let (mut gradient, mut hessian) = (vec![0.0; freedom], vec![0.0; freedom * freedom]);
        for i in 0..count {
            let force = self.stiffness * self.lengths[i] * (curvatures[i] - self.rest[i])
                - moved[i].transpose() * gravity;
            gradient[3 * i..3 * i + 3].copy_from_slice(&force.to_array());
            for column in 0..3 {
                let lever = moved[i].col(column).cross(gravity);
                for j in 0..i {
                    let values = chain.turning(j).transpose() * lever;
                    for axis in 0..3 {
                        hessian[(3 * j + axis) * freedom + 3 * i + column] -= values[axis];
                        hessian[(3 * i + column) * freedom + 3 * j + axis] -= values[axis];
                    }
                }
            }
            let whole = self.second_along(&chain, i, behind[i], own[i], gravity);
            for a in 0..3 {
                for b in 0..3 {
                    let value =
                        if a == b { whole[a] } else { 0.5 * (whole[2 + a + b] - whole[a] - whole[b]) };
                    hessian[(3 * i + a) * freedom + 3 * i + b] -= value;
                }
                hessian[(3 * i + a) * (freedom + 1)] += self.lengths[i] * self.stiffness[a];
            }
        }
        (gradient, hessian)
    }

    /// Second derivatives of `∫ g·r` along [`DIRECTIONS`] of one element.
    fn second_along(
        &self,
        chain: &Chain,
        element: usize,
        (mass, moment): (f64, DVec3),
        mut own: [f64; 6],
        gravity: DVec3,
    ) -> [f64; 6] {
        let (helix, turn) = (chain.helix(element), chain.rotation(element));
        let length = chain.length_of(element);
        for (sum, direction) in own.iter_mut().zip(DIRECTIONS) {
            let end = turn * helix.point_bias(length, direction);
            let spin = chain.turning(element) * direction;
            let spin_rate = turn * helix.turning_bias(length, direction);
            let swept = spin_rate.cross(moment) + spin.cross(spin.cross(moment));
            *sum += gravity.dot(mass * end + swept);
        }
        own
    }
}

/// Axes, and sums of two of them: entry `2 + a + b` is for axes a and b.
const DIRECTIONS: [DVec3; 6] = [
    DVec3::X,
    DVec3::Y,
    DVec3::Z,
    DVec3::new(1.0, 1.0, 0.0),
    DVec3::new(1.0, 0.0, 1.0),
    DVec3::new(0.0, 1.0, 1.0),
];

/// Newton's direction; where the Hessian is not positive definite, with as much of a shift as it takes.
fn descent(gradient: &[f64], hessian: Vec<f64>) -> Option<Vec<f64>> {
    let size = gradient.len();
    let largest = (0..size).map(|row| hessian[row * (size + 1)].abs()).fold(0.0, f64::max);
    let mut shift = 0.0;
    for _ in 0..40 {
        let mut factor = hessian.clone();
        (0..size).for_each(|row| factor[row * (size + 1)] += shift);
        if cholesky(&mut factor, size) {
            let mut direction: Vec<f64> = gradient.iter().map(|value| -value).collect();
            cholesky_solve(&factor, &mut direction);
            return Some(direction);
        }
        shift = if shift > 0.0 { 4.0 * shift } else { 1.0e-6 * largest };
    }
    None
}
