//! Pressures of loose particles, and what they do to nodes.
//!
//! Of all stresses in the cone those without shear are the cheapest by far, and need nothing but to be no tension. On middle hair they gain five
//! sixths of what stresses gain in clarabel. A pressure is counted along −I/√3, as in the basis of stresses.

use glam::DVec3;
use rayon::prelude::*;

use super::programme::{Programme, node_columns};

/// What pressures do to the nodes of a programme.
pub(super) struct Pressures<'a> {
    programme: &'a Programme,
    /// Whether all nodes of each particle are in the programme.
    is_inside: Vec<bool>,
}

/// What a unit of pressure does to a node where the gradient of a particle's weight is this.
fn push(gradient: DVec3) -> DVec3 {
    -node_columns(gradient)[0]
}

impl<'a> Pressures<'a> {
    pub(super) fn new(programme: &'a Programme) -> Self {
        let mut is_inside = vec![false; programme.free.len()];
        for cell in 0..programme.lattice.cells.len() {
            programme.lattice.members(cell).iter().for_each(|&particle| is_inside[particle as usize] = true);
        }
        Self { programme, is_inside }
    }

    /// How many particles there are.
    pub(super) fn count(&self) -> usize {
        self.is_inside.len()
    }

    /// G c: what pressures do to the nodes; rows scaled.
    pub(super) fn pushed(&self, pressures: &[f64]) -> Vec<DVec3> {
        let lattice = &self.programme.lattice;
        let tile = |cell: usize| {
            let mut tile = [DVec3::ZERO; 27];
            for &particle in lattice.members(cell) {
                let pressure = pressures[particle as usize];
                for (sum, (_, gradient)) in tile.iter_mut().zip(lattice.places[particle as usize].nodes()) {
                    *sum += push(gradient) * pressure;
                }
            }
            tile
        };
        let mut nodes = lattice.collected(tile);
        nodes.iter_mut().zip(&self.programme.row_scales).for_each(|(node, scale)| *node *= *scale);
        nodes
    }

    /// Gᵀ λ: what nodes do to pressures.
    pub(super) fn felt(&self, multipliers: &[DVec3]) -> Vec<f64> {
        let scaled: Vec<DVec3> =
            multipliers.iter().zip(&self.programme.row_scales).map(|(m, scale)| *m * *scale).collect();
        self.sums(|node, gradient| scaled[node].dot(push(gradient)))
    }

    /// The diagonal of Gᵀ D⁻¹ G, with the diagonal D of a matrix on the nodes.
    pub(super) fn squares(&self, diagonal: &[f64]) -> Vec<f64> {
        let scales = &self.programme.row_scales;
        let part = |node: usize| scales[node] * scales[node] / diagonal[node].max(f64::MIN_POSITIVE);
        let parts: Vec<f64> = (0..scales.len()).map(part).collect();
        self.sums(|node, gradient| parts[node] * push(gradient).length_squared())
    }

    /// The sum over the nodes of each particle; nothing for particles outside.
    fn sums(&self, of: impl Fn(usize, DVec3) -> f64 + Sync) -> Vec<f64> {
        let lattice = &self.programme.lattice;
        let sum = |particle: usize| {
            if !self.is_inside[particle] {
                return 0.0;
            }
            let place = &lattice.places[particle];
            let nodes = lattice.cells[place.cell as usize].iter().zip(place.nodes());
            nodes.map(|(&node, (_, gradient))| of(node as usize, gradient)).sum()
        };
        (0..self.count()).into_par_iter().with_min_len(256).map(sum).collect()
    }
}
