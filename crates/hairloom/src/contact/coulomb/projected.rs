//! Local solvers that correct the force and project it.

use glam::DVec3;

use super::{LocalProblem, tangent_length};

/// Duriez et al. 2006: one pass from no force. Approximate: what the tangential force does to the approach is never looked at.
#[inline(always)]
pub(super) fn duriez06(problem: &LocalProblem) -> DVec3 {
    pass(problem, DVec3::ZERO)
}

/// The normal force that stops the approach under the force at hand, then the tangential one that stops the sliding, as far as the cone
/// lets it. A force that a pass leaves as it is obeys the law.
#[inline(always)]
fn pass(problem: &LocalProblem, guess: DVec3) -> DVec3 {
    let matrix = &problem.matrix;
    let normal_diagonal = matrix.x_axis.x;
    let tangential = 0.5 * (matrix.y_axis.y + matrix.z_axis.z);
    if normal_diagonal <= 0.0 {
        return DVec3::ZERO;
    }
    let velocity = problem.velocity(guess);
    let normal = guess.x - velocity.x / normal_diagonal;
    if normal <= 0.0 {
        return DVec3::ZERO;
    }
    let pushed = DVec3::new(normal, guess.y, guess.z);
    let velocity = problem.velocity(pushed);
    let mut force = pushed;
    if tangential > 0.0 {
        force.y -= velocity.y / tangential;
        force.z -= velocity.z / tangential;
    }
    let (length, radius) = (tangent_length(force), problem.friction * normal);
    if length > radius {
        let scale = radius / length;
        force.y *= scale;
        force.z *= scale;
    }
    force
}

/// Duriez 2008: such passes, each from what the last came to, until the force stays where it is. Exact where that happens.
#[inline(always)]
pub(super) fn duriez08(problem: &LocalProblem, guess: DVec3, tolerance: f64, iterations: usize) -> DVec3 {
    settle(guess, tolerance, iterations, |force| pass(problem, force))
}

/// Otaduy et al. 2009: friction in a pyramid of four sides, each component of the force in turn. Approximate.
#[inline(always)]
pub(super) fn four_sides(problem: &LocalProblem, guess: DVec3, tolerance: f64, iterations: usize) -> DVec3 {
    let matrix = &problem.matrix;
    let diagonal = DVec3::new(matrix.x_axis.x, matrix.y_axis.y, matrix.z_axis.z);
    settle(guess, tolerance, iterations, |mut force| {
        if diagonal.x > 0.0 {
            force.x = (force.x - problem.velocity(force).x / diagonal.x).max(0.0);
        }
        // Not `clamp`, which panics where forces have left the finite numbers.
        let radius = problem.friction * force.x;
        if diagonal.y > 0.0 {
            force.y = (force.y - problem.velocity(force).y / diagonal.y).max(-radius).min(radius);
        }
        if diagonal.z > 0.0 {
            force.z = (force.z - problem.velocity(force).z / diagonal.z).max(-radius).min(radius);
        }
        force
    })
}

#[inline(always)]
fn settle(guess: DVec3, tolerance: f64, iterations: usize, pass: impl Fn(DVec3) -> DVec3) -> DVec3 {
    let mut force = guess;
    for _ in 0..iterations {
        let next = pass(force);
        let moved = next.distance_squared(force);
        force = next;
        if moved <= tolerance * tolerance {
            break;
        }
    }
    force
}
