//! Coulomb's law of friction at one contact, exactly, in double precision.
//!
//! # Theory
//!
//! Daviet, Bertails-Descoubes and Boissieux 2011 ("A hybrid iterative solver for robustly capturing Coulomb friction in
//! hair dynamics"). A contact has a force `r` and a relative velocity `u = W r + b`; vectors are (normal, tangent,
//! tangent). With the cone `K_μ = { μ r_N ≥ ‖r_T‖ }` the law says that one of three things holds (section 4):
//!
//! - take-off: `r = 0` and `u_N ≥ 0`;
//! - stick: `u = 0` and `r` in the cone;
//! - slide: `u_N = 0`, and `r` on the cone's boundary with `r_T` against `u_T`.
//!
//! With de Saxcé's `ũ = u + μ ‖u_T‖ e` this is complementarity of `r` and `ũ` on dual cones (equation 6), and after a
//! second change of variables on one self-dual cone (equation 8b), where a Fischer–Burmeister function in the Jordan
//! algebra of the cone vanishes exactly at solutions ([`fischer_burmeister`], equation 12 and appendix A).
//!
//! # In practice
//!
//! - [`LocalSolver`] finds `r`: one of eight methods ([`Method`]), with or without the enumerative one as a fail-safe.
//! - Two methods are approximate: `duriez06`, one pass from no force, and `4sides`, a pyramid. A pass of the former from the force at hand
//!   would have the law's own solutions for fixed points, and so be no method of its own beside `duriez08`.
//! - A planar contact is one in space whose third direction is on its own ([`LocalProblem::planar`]): its force there
//!   is zero in every solution, so nothing is lost.
//! - `W` is symmetric and positive semi-definite. It may be singular.
//!
//! # Departures from the paper
//!
//! - The smaller eigenvalue of `r̂∘r̂ + û∘û` is a difference of near numbers at a solution. As a sum of two squares
//!   ([`fischer_burmeister`]) it is exact, and so the measure has no floor near 1e-8.
//! - The enumerative solver polishes the roots of the quartic on the equation that the quartic comes from, which
//!   keeps its precision where `W` is badly conditioned.
//! - Newton methods look at take-off and stick first: both are exact and cost less than one step.

mod alart_curnier;
mod cone;
mod enumerate;
mod fischer_burmeister;
mod measure;
mod newton;
mod projected;
mod quartic;
mod secular;
mod solver;
#[cfg(test)]
mod tests;

pub use alart_curnier::alart_curnier;
pub use cone::{SelfDual, de_saxce, project, tangent_length};
pub use fischer_burmeister::{
    FischerBurmeister, Jacobians, fischer_burmeister, fischer_burmeister_with_jacobians, jordan_product,
};
pub use measure::{Regime, natural_map, regime, relative_natural_map, scaled_fischer_burmeister};
pub use quartic::real_roots;
pub use secular::Sliding;
pub use solver::{Found, LocalSolver, Method, Solved, UnknownLocalSolver};

use glam::{DMat2, DMat3, DVec2, DVec3};

/// One contact: `u = W r + b` under Coulomb's law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalProblem {
    /// The Delassus operator W, symmetric and positive semi-definite [1/kg].
    pub matrix: DMat3,
    /// The relative velocity without force, b [m/s].
    pub offset: DVec3,
    /// The coefficient of friction μ.
    pub friction: f64,
}

impl LocalProblem {
    /// A contact in the plane: (normal, tangent).
    pub fn planar(matrix: DMat2, offset: DVec2, friction: f64) -> Self {
        // Any positive number would do in the corner; this one keeps the scale of the problem.
        let corner = 0.5 * (matrix.x_axis.x + matrix.y_axis.y);
        let matrix = DMat3::from_cols(
            matrix.x_axis.extend(0.0),
            matrix.y_axis.extend(0.0),
            DVec3::Z * if corner > 0.0 { corner } else { 1.0 },
        );
        Self { matrix, offset: offset.extend(0.0), friction }
    }

    /// The relative velocity under the force `r` [m/s].
    #[inline(always)]
    pub fn velocity(&self, force: DVec3) -> DVec3 {
        self.matrix * force + self.offset
    }

    /// A mass that turns this problem's velocities into forces of the same size: the inverse of W's mean
    /// eigenvalue [kg].
    #[inline(always)]
    pub fn mass(&self) -> f64 {
        let trace = self.matrix.x_axis.x + self.matrix.y_axis.y + self.matrix.z_axis.z;
        if trace > 0.0 { 3.0 / trace } else { 1.0 }
    }
}
