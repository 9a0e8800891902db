//! Symmetric positive definite band systems, one per lane: LDLᵀ factored and solved in one sweep down and one up.
//!
//! # Theory
//!
//! `A = L D Lᵀ` with a unit lower triangular `L` that keeps the band of `A` (algorithms 2 and 3 of Huang et al. 2023). A column
//! of `L` needs the columns before it that reach its rows, at most as many as the half-bandwidth `W`:
//!
//! ```text
//! u_ij = A_ij − Σ_k L_ik u_jk      for i = j … j + W, k < j        (u_jj = D_j, L_ij = u_ij / D_j)
//! w_j  = b_j  − Σ_k L_jk w_k       forward substitution, in the same sweep
//! x_j  = w_j / D_j − Σ_i L_ij x_i  back substitution
//! ```
//!
//! # In practice
//!
//! - [`Factoring`] takes columns one after the other, so whoever builds a matrix hands over each column once it is complete and
//!   never stores the matrix. [`solve`] takes a stored one and leaves it as it is.
//! - The sum looks left: the `W + 1` entries of the new column stay in registers while the older columns pass by. Of those, `L`
//!   is kept whole for the way back (as −L, which saves negations), `u` and `w` in circular buffers.
//! - A staircase of period `P` means that column `j` has `W − (j mod P)` entries below the diagonal at most: rods
//!   ([`crate::solve::der_mpm`]) have `P = 4`, and a quarter of the work is spared. A plain band has `P = 1`.
//! - `W` is 10 at most; loops are written out, since only what the compiler sees whole stays in registers.
//! - A pivot that is not positive is reported, not mended: see [`Factoring::least_pivot`].

mod factoring;
pub mod plain;
#[cfg(test)]
mod tests;

pub use factoring::{Column, Factoring, Scratch, solve};

/// The half-bandwidth of rods: eleven unknowns meet at a vertex.
pub const HALF_BANDWIDTH: usize = 10;
