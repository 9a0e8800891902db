//! Rest shapes that hold the groomed hair where it is under gravity.
//!
//! # Theory
//!
//! J. Hsu, T. Wang, Z. Pan, X. Gao, C. Yuksel, K. Wu, *Sag-Free Initialization for Strand-Based Hybrid Hair Simulation*, 2023. Four
//! stages: forces that balance gravity (global force: [`Forces`]), the rest lengths, orientations and strains that make them (local
//! force), moments that balance those forces (global torque), and the rest curvatures that make those (local torque).
//!
//! # Conventions
//!
//! A segment belongs to its vertex nearer to the root, as rest lengths do in [`Model`](crate::scene::Model): segment `v` joins vertices
//! `v` and `v + 1`, and the entry at a tip is zero. Its force acts on vertex `v + 1`, and its opposite on vertex `v`. So a strand
//! that hangs from its root has forces that point up, each as large as the weight of all vertices behind it.

mod own_weight;

pub use own_weight::{RestError, own_weight};

use glam::DVec3;

use crate::scene::Model;

/// Hair that is to stay where it is.
#[derive(Debug, Clone, Copy)]
pub struct Hair<'a> {
    /// What stays constant.
    pub model: &'a Model,
    /// Where all vertices are, and are to stay [m].
    pub positions: &'a [DVec3],
    /// Which vertices something else holds.
    pub held: &'a [bool],
    /// Acceleration of gravity [m/s²].
    pub gravity: DVec3,
}

/// Forces and stresses that keep hair at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Forces {
    /// The force of each segment on its vertex nearer to the tip [N]; zero at tips. The other vertex feels the opposite.
    pub segments: Vec<DVec3>,
    /// V⁰τ of each vertex, its volume at rest times its Kirchhoff stress [J]: xx, xy, xz, yy, yz, zz. A node i of the grid feels
    /// −V⁰τ ∇w_i.
    pub stresses: Vec<[f64; 6]>,
    /// Side of a cell of the grid that the stresses balance on [m], its nodes on world multiples of it; of no meaning where all
    /// stresses are zero.
    pub cell: f64,
}
