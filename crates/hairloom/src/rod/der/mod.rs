//! Discrete elastic rods: a polyline whose edges carry material frames.
//!
//! # Theory
//!
//! A strand of n edges has edge vectors `e` and on each edge a material [`Frame`], adapted: its third director is the
//! tangent. What is left free of the frame is one angle, the twist θ. Frames follow their edges by parallel transport
//! in time ([`Frame::transported`]) and by the change of twist ([`Frame::turned`]); a fresh strand gets them by
//! parallel transport in space, from edge to edge. Bergou et al. 2008 and 2010, Daviet 2023 (section 4.1).
//!
//! [`Bend`] and [`Stretch`] are the energies of a vertex and of an edge. All that bending knows is the rotation from one
//! frame to the next, so [`Bend::gauss_newton`] and [`Bend::exact`] answer with a torque and a 3 × 3 stiffness for
//! rotations ([`Bending`]); every other set of unknowns is an expansion of these:
//!
//! | unknowns | gradient | Hessian |
//! |---|---|---|
//! | rotation vectors ψ of the edges: 3 + 3 | ∓torque | ±stiffness |
//! | e_{i−1}, θ_{i−1}, e_i, θ_i: 8 | [`PairGradient::edges_and_twists`] | [`PairHessian::edges_and_twists`] |
//! | e_{i−1}, e_i: 6 | [`PairGradient::edges`] | [`PairHessian::edges`] |
//! | x_{i−1}, θ_{i−1}, x_i, θ_i, x_{i+1}: 11 | [`PairGradient::vertices_and_twists`] | [`PairHessian::vertices_and_twists`] |
//! | θ_{i−1}, θ_i: 2 | [`Bending::gauss_newton_twists`] | the same, or [`Bending::exact_twists`] |
//!
//! Derivatives hold at the present configuration, for frames carried along with their edges. The exact Hessian is the
//! second derivative of the energy as a function of steps (δe, δθ) from it, with `δθ` the twist after one transport.
//!
//! # In practice
//!
//! - Keep one material frame per edge and the twist as a running sum; then no reference frame or reference twist is
//!   needed. Whoever keeps reference frames gets material ones by `reference.turned(theta)` and reference twists by
//!   [`Frame::twist_to`].
//! - [`HalfSine`] is the measure of choice: bounded, cheaper, smooth to the fold.
//! - A clamp's ghost edge is [`Edge::fixed`]: derivatives with respect to it are zero but for the twist's.
//! - In single precision keep edges, not vertices, and take Newton steps with [`Edge::stepped`].
//! - Padding of lanes: zero stiffness, any frame and any edge but a zero rest length.
//!
//! # Limits
//!
//! - Neighbouring edges hold at most half a turn of elastic twist: beyond it, it unwinds.
//! - At an exact fold (φ = π) the direction of bending is undefined; energies stay finite.

mod bend;
mod expand;
mod frame;
mod lengths;
mod measure;
mod pair;
mod strand;
mod stretch;
#[cfg(test)]
mod tests;

pub use bend::{Bend, Bending};
pub use expand::{PairGradient, PairHessian, TwistDerivatives};
pub use frame::{Edge, Frame, holonomy};
pub use lengths::{Clamp, Tip, bending_lengths, voronoi_lengths};
pub use measure::{BendMeasure, HalfSine, HalfTangent, Measure, Relative};
pub use pair::{EdgePair, PairEdge};
pub use strand::{Elasticity, Rod, RodShape};
pub use stretch::{Stretch, StretchMeasure, Stretching};
