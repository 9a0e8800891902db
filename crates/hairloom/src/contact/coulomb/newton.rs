use glam::{DMat3, DVec3};

use super::{FischerBurmeister, LocalProblem};

/// Newton's method on the modified Fischer–Burmeister function (appendix A.2), from `guess` to `tolerance` in units of
/// force. Returns the best force found.
#[inline(always)]
pub(super) fn solve(problem: &LocalProblem, guess: DVec3, tolerance: f64, iterations: usize) -> DVec3 {
    let function = FischerBurmeister::new(problem.friction, problem.mass());
    let (mut best, mut least) = (guess, f64::INFINITY);
    let mut force = guess;
    for _ in 0..iterations {
        let (value, jacobian) = function.of_force(problem, force);
        let error = value.length_squared();
        if error < least {
            (best, least) = (force, error);
            if error <= tolerance * tolerance {
                break;
            }
        }
        force += step(value, &jacobian);
        if !force.is_finite() {
            break;
        }
    }
    best
}

/// The Newton step, or the gradient's where that one is not a descent.
#[inline(always)]
fn step(value: DVec3, jacobian: &DMat3) -> DVec3 {
    const DESCENT: f64 = 1.0e-3;
    let gradient = jacobian.transpose() * value;
    let determinant = jacobian.determinant();
    if determinant != 0.0 {
        let newton = -(jacobian.inverse() * value);
        if newton.dot(gradient) <= -DESCENT * newton.length() * gradient.length() {
            return newton;
        }
    }
    -gradient
}
