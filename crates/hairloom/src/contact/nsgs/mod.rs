//! Nonsmooth Gauss–Seidel: many contacts with exact Coulomb friction, in double precision.
//!
//! # Theory
//!
//! Section 6 of Daviet, Bertails-Descoubes and Boissieux 2011 ("A hybrid iterative solver for robustly capturing Coulomb
//! friction in hair dynamics"). All contacts of a step are one problem, `u = W r + b` with Coulomb's law at each
//! ([`Problem`], equation 4), or, before the objects' velocities are eliminated, [`FullProblem`] (equation 3). A sweep
//! solves one contact after the other ([`coulomb`](super::coulomb)) with the newest forces of the rest (Algorithm 1), until
//! the largest Fischer–Burmeister function over all contacts is within tolerance.
//!
//! # In practice
//!
//! - [`solve`] takes a [`Problem`] that [`Problem::checked`] has looked over, [`Settings`], and forces to start from.
//! - Inside, forces and velocities have no units: each contact is scaled so that its operator has mean eigenvalue one, and
//!   the largest b is one. One factor per contact changes neither its cone nor the law.
//! - Contacts whose force is zero rest for a few sweeps; a last look is at all of them.
//! - From 1,024 contacts on, they are cut into domains of neighbours. Domains that share no block of W are swept at the same
//!   time. The cut hangs on the problem alone, so the result has the same bits for any number of threads.
//! - [`solve_near`] takes an [`Assembly`] and puts together only contacts that may act: a tenth of the couplings in hair (`near.rs`).
//! - Interior points have a sparse factor, eliminated in an order of least degree and front by front (`pattern.rs`, `factor.rs`, `dense.rs`). It
//!   knows the derivative of the shift, so it is of a matrix that is not symmetric; no pivots are sought, and a few products with the
//!   matrix itself make up for what that loses.
//! - [`FullProblem::assembly`] factors each object's mass once, within its band; blocks of W are products of whitened blocks of H.
//!
//! # Departures from the paper
//!
//! - Sweeps are mixed (Anderson acceleration), which needs five to ten times fewer of them. A mixture that strays is dropped. Every other
//!   thousand sweeps is plain: in hair with nearly redundant contacts mixtures may go round in circles, which plain sweeps do not.
//! - After a hundred sweeps, contacts that act are solved on their own where they are the fewer ([`Global::Hybrid`]): in hair most contacts
//!   are about to touch, and do not.
//! - What friction of 1 and more leaves unsolved, solutions with lesser friction lead to, step by step (`solve/lesser_friction.rs`), or curves that
//!   are followed around their bends (`curve.rs`). Simulations, whose steps are few, do without: forces on the way are large.
//! - Where sweeps neither are done soon nor promise to be, by what the later half of them has gained, an interior point takes over: stacks
//!   of heavy on light, tall towers and bundles of hair want thousands of sweeps, and ten or twenty of its steps.
//! - Each contact is solved by a safeguarded Newton iteration on one number, the ratio of sliding speed to friction force,
//!   with the enumerative solver behind it. The paper's MFB is a setting away ([`Settings::paper`]).
//! - Besides the paper's measure, a solution must pass the natural map in real units, as other codes judge it.
//!
//! # Limits
//!
//! - Friction with redundant contacts has many solutions for `r`; which one is found hangs on the start.
//! - With coefficients of friction far above 1, chains of 20 bodies, heaps of 40 that fly, and objects with many more contacts than freedom
//!   may stop between 1e-1 and 1e-6; so may problems with masses over twelve decades, where velocities drown in the rounding of forces.
//! - A problem may have no solution, as where fixed bodies close on a third one. Then the best forces found are returned, and
//!   [`Solution::converged`] says so.

mod anderson;
mod assemble;
mod blocks;
mod curve;
mod dense;
mod error;
mod factor;
mod interior;
mod krylov;
mod mass;
mod matrix;
mod mixing;
mod near;
mod newton;
mod order;
mod pattern;
mod problem;
mod settings;
mod solve;
mod system;
#[cfg(test)]
mod tests;

pub use assemble::{Assembly, FullProblem, JacobianBlock};
pub use blocks::Blocks;
pub use error::ProblemError;
pub(crate) use mass::Mass;
pub use matrix::BlockMatrix;
pub use near::solve_near;
pub use problem::Problem;
pub use settings::{Global, Settings, Solution, Stop, UnknownGlobal};
pub use solve::solve;
