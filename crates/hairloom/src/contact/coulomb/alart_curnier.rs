use glam::{DMat3, DVec3};

use super::{LocalProblem, tangent_length};

/// Value of the Alart–Curnier function and its two partial derivatives: the normal force less its projection on what may
/// push, and the tangential force less its projection on the disk that the normal force allows (Alart and Curnier 1991).
#[inline(always)]
pub fn alart_curnier(force: DVec3, velocity: DVec3, friction: f64, mass: f64) -> (DVec3, DMat3, DMat3) {
    let pushed = force.x - mass * velocity.x;
    let (normal, by_normal) = if pushed > 0.0 { (pushed, 1.0) } else { (0.0, 0.0) };
    let (y, z) = (force.y - mass * velocity.y, force.z - mass * velocity.z);
    let length = (y * y + z * z).sqrt();
    let radius = friction * normal;
    let first = mass * by_normal;
    let first_row = (1.0 - by_normal, first);
    if length <= radius {
        let value = DVec3::new(force.x - normal, force.y - y, force.z - z);
        return (
            value,
            DMat3::from_diagonal(DVec3::new(first_row.0, 0.0, 0.0)),
            DMat3::from_diagonal(DVec3::new(first_row.1, mass, mass)),
        );
    }
    let (dy, dz) = (y / length, z / length);
    let value = DVec3::new(force.x - normal, force.y - radius * dy, force.z - radius * dz);
    // Derivative of the projected point: over its argument, radius/length (I − d dᵀ); over the normal force, μ d.
    let shrink = radius / length;
    let (yy, yz, zz) = (shrink * (1.0 - dy * dy), -shrink * dy * dz, shrink * (1.0 - dz * dz));
    let grow = friction * by_normal;
    let by_force = DMat3::from_cols(
        DVec3::new(first_row.0, -grow * dy, -grow * dz),
        DVec3::new(0.0, 1.0 - yy, -yz),
        DVec3::new(0.0, -yz, 1.0 - zz),
    );
    let by_velocity = DMat3::from_cols(
        DVec3::new(first_row.1, mass * grow * dy, mass * grow * dz),
        DVec3::new(0.0, mass * yy, mass * yz),
        DVec3::new(0.0, mass * yz, mass * zz),
    );
    (value, by_force, by_velocity)
}

/// Newton's method on the Alart–Curnier function, pure or damped by a line search on its length.
#[inline(always)]
pub(super) fn solve(
    problem: &LocalProblem,
    guess: DVec3,
    tolerance: f64,
    iterations: usize,
    damped: bool,
) -> DVec3 {
    let mass = problem.mass();
    let at = |force: DVec3| {
        let (value, by_force, by_velocity) =
            alart_curnier(force, problem.velocity(force), problem.friction, mass);
        (value, by_force + by_velocity * problem.matrix)
    };
    let (mut best, mut least) = (guess, f64::INFINITY);
    let mut force = guess;
    for _ in 0..iterations {
        let (value, jacobian) = at(force);
        let error = value.length_squared();
        if error < least {
            (best, least) = (force, error);
            if error <= tolerance * tolerance {
                break;
            }
        }
        let step = if jacobian.determinant() == 0.0 { -value } else { -(jacobian.inverse() * value) };
        if !step.is_finite() {
            break;
        }
        let mut share = 1.0;
        while damped
            && share > 1.0e-3
            && at(force + share * step).0.length_squared() > (1.0 - 0.1 * share) * error
        {
            share *= 0.5;
        }
        force += share * step;
    }
    // A force that the law forbids is no answer, however small the function.
    if best.x < 0.0 || tangent_length(best).is_nan() { DVec3::ZERO } else { best }
}
