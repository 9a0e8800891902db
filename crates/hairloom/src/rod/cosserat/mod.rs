//! Cosserat rods: segments with a length and a frame of their own, held together by stiffness.
//!
//! T. Kugelstadt, E. Schömer, *Position and Orientation Based Cosserat Rods*, 2016, with the augmented Darboux vector of
//! J. Hsu et al., *Sag-Free Initialization for Strand-Based Hybrid Hair Simulation*, 2023 (equations 1, 2, 9 and 10).
//!
//! A segment goes from a vertex to the next one towards the tip, and its frame is a unit quaternion whose third axis d₃ points
//! that way (the paper's points back). Two energies, both squares of strains:
//!
//! - stretching and shearing, `k/2 |e / l₀ − d₃|²` with the edge e ([`StretchShear`]);
//! - bending and twisting, `2 K |p − φ p₀|²` with the rotation `p = q̄₁ q₂` between two frames, that at rest p₀, and the sign φ that
//!   makes them near ([`BendTwist`]). That is `k/2 |Ω − φ Ω₀|²` for the Darboux vector Ω = 2 p / l₀ and K = k / l₀². In the plain
//!   form imaginary parts alone count.
//!
//! Forces and torques are minus the derivatives; a torque belongs to a small rotation of the frame about the axes of the world. A
//! quaternion has one direction more, along itself, in which no torque acts: derivatives with respect to its four numbers have
//! no use beyond that.

mod bend_twist;
mod strand;
mod stretch_shear;

pub use bend_twist::{BendTwist, Darboux};
pub use strand::{bending_length, frames_along};
pub use stretch_shear::StretchShear;
