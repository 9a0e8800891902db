//! Stateless elements of elastic rods: energies and their derivatives, generic over [`crate::math::Real`], so that
//! they run on numbers and on lanes of strands. What moves, and how, is a solver's business.

pub mod cosserat;
pub mod der;
mod section;
pub mod super_helix;

pub use section::{CrossSection, Torsion};
