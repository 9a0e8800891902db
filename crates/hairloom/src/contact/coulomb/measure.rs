use glam::DVec3;

use super::{FischerBurmeister, LocalProblem, de_saxce, project, tangent_length};

/// What a contact does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regime {
    /// No force; the bodies part or stay apart.
    TakeOff,
    /// No relative motion.
    Stick,
    /// Relative motion along the surface, against which friction pulls with all it has.
    Slide,
}

/// The disjunctive law (section 4): which of its three cases a force and a velocity satisfy, within `force_tolerance`
/// and `velocity_tolerance`; none if they break the law.
pub fn regime(
    force: DVec3,
    velocity: DVec3,
    friction: f64,
    force_tolerance: f64,
    velocity_tolerance: f64,
) -> Option<Regime> {
    if force.length() <= force_tolerance && velocity.x >= -velocity_tolerance {
        return Some(Regime::TakeOff);
    }
    let tangent = tangent_length(force);
    if velocity.length() <= velocity_tolerance && tangent <= friction * force.x + force_tolerance {
        return Some(Regime::Stick);
    }
    let speed = tangent_length(velocity);
    let on_boundary = (tangent - friction * force.x).abs() <= force_tolerance && force.x > 0.0;
    // The angle between −u_T and r_T, as the force that is amiss.
    let along = (force.y * velocity.y + force.z * velocity.z) / speed;
    let opposed = tangent + along <= force_tolerance;
    (velocity.x.abs() <= velocity_tolerance && on_boundary && opposed).then_some(Regime::Slide)
}

/// The natural map `r − P(r − ρ ũ)` with the projection P on the friction cone: zero exactly at solutions.
#[inline(always)]
pub fn natural_map(force: DVec3, velocity: DVec3, friction: f64, mass: f64) -> DVec3 {
    force - project(force - mass * de_saxce(velocity, friction), friction)
}

/// The length of the natural map of one contact in units of its forces, `‖r‖ + ρ ‖b‖`.
pub fn relative_natural_map(problem: &LocalProblem, force: DVec3) -> f64 {
    let mass = problem.mass();
    let size = force.length() + mass * problem.offset.length();
    if size == 0.0 {
        return 0.0;
    }
    natural_map(force, problem.velocity(force), problem.friction, mass).length() / size
}

/// The length of the Fischer–Burmeister function of one contact in the same units.
pub fn scaled_fischer_burmeister(problem: &LocalProblem, force: DVec3) -> f64 {
    let mass = problem.mass();
    let size = force.length() + mass * problem.offset.length();
    if size == 0.0 {
        return 0.0;
    }
    FischerBurmeister::new(problem.friction, mass).value(force, problem.velocity(force)).length() / size
}
