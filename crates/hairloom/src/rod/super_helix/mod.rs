//! Super-helices: rods of pieces with constant curvatures and twist, in double precision.
//!
//! # Theory
//!
//! Bertails, Audoly, Cani, Querleux, Leroy and Lévêque 2006 ("Super-helices for predicting the dynamics of natural hair"), the fibres of
//! Daviet, Bertails-Descoubes and Boissieux 2011. A rod is cut into elements, each with its material curvatures `κ = (κ₁, κ₂, τ)`:
//! the frame turns as `R′ = R [κ]×`, the centreline follows its third axis, so each element is a helix in closed form ([`Helix`]). The
//! curvatures of all elements are the only unknowns: a rod of any shape is inextensible and does not shear by construction.
//!
//! With `A_j = ∫ R du` over element j and `J_j = ∂r/∂κ_j`, a change `δκ_j` turns everything behind the element by `A_j δκ_j`; so a point
//! behind it has `J_j(s) δκ = J_j(end) δκ + (A_j δκ) × (r(s) − r_j+1)` ([`Chain`]). The equations of motion are
//!
//! ```text
//! ρA ∫ Jᵀ (J q̈ + bias) ds = ρA ∫ Jᵀ g ds − K (q − q̄)
//! ```
//!
//! where the bias is the acceleration at `q̈ = 0`: of Coriolis, centrifugal, and of the root ([`Rod::linearised`]).
//!
//! # In practice
//!
//! - Integrals over the mass are Gauss–Legendre sums over panels that turn by 1.5 rad at rest at most; all else is closed
//!   form.
//! - A step is linear in the new rates: `M v = f` by the θ-scheme, around a middle that the caller guesses ([`Middle`]). Momentum goes
//!   on by convective terms, or, for long steps, from point to point of the mass.
//! - [`Rod::equilibrium`] finds where a rod hangs by Newton's method, with the exact Hessian of gravity.
//! - [`fit`] turns polylines into super-helices and tells how far off they are.
//!
//! # Departures from the paper
//!
//! - The inertia of spinning about the tangent is in the mass matrix, or twisting a straight rod would weigh nothing. Its convective
//!   terms, of the order of the radius squared, are left out.
//!
//! # Limits
//!
//! - The root is clamped: it moves as it is told. Vertices of a polyline farther along cannot be held.
//! - Polylines that bend faster than their elements can follow are smoothed; the fit says by how much.

mod chain;
mod dynamics;
mod fit;
mod helix;
mod statics;
#[cfg(test)]
mod tests;

/// The part of its first element in which a rod is as good as clamped: what pushes it there would throw its end.
pub const NEARLY_CLAMPED: f64 = 0.2;

pub use chain::{Chain, Root, Twist};
pub use dynamics::{Forces, Linear, Middle, Pull, Rod};
pub use fit::{Evenly, Fit, fit, fit_evenly, refit};
pub use helix::Helix;
