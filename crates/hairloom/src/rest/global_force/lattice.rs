//! The nodes of the grid around the hair, and how forces go from particles to them.

use std::collections::HashMap;
use std::ops::Range;

use glam::{DVec3, IVec3};
use rayon::prelude::*;

use super::GlobalForceError;
use crate::grid::{REACH, Stencil};

/// Where one particle lies within the 27 nodes around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub cell: u32,
    weights: [[f64; 3]; 3],
    fraction: DVec3,
}

impl Place {
    /// Weight of each of the 27 nodes, and 4 w (x_i − x_p)/Δx: the gradient of the weight times the side of a cell.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (f64, DVec3)> + '_ {
        (0..27).map(|at| {
            let (i, j, k) = (at % 3, at / 3 % 3, at / 9);
            let weight = self.weights[0][i] * self.weights[1][j] * self.weights[2][k];
            let offset = DVec3::new(i as f64, j as f64, k as f64) - self.fraction;
            (weight, offset * (4.0 * weight))
        })
    }
}

/// All nodes that particles reach, and the cells that particles with the same 27 nodes share.
#[derive(Debug, Clone)]
pub(super) struct Lattice {
    /// By particle.
    pub places: Vec<Place>,
    /// The nodes of each cell, x fastest.
    pub cells: Vec<[u32; 27]>,
    /// Particles by cell.
    pub order: Vec<u32>,
    /// Where the particles of each cell begin in `order`; one more entry than cells.
    pub starts: Vec<u32>,
    /// For each node, the cells that it belongs to and which of their 27 it is: `27 * cell + which`.
    pub owners: Vec<u32>,
    /// Where the owners of each node begin; one more entry than nodes.
    pub owner_starts: Vec<u32>,
    /// Place of each node, in cells from the origin: y, z, x.
    pub coordinates: Vec<[i32; 3]>,
    /// Mass of each node, in the unit that the particles' masses were given in.
    pub masses: Vec<f64>,
}

impl Lattice {
    /// The lattice of particles at `positions` [m] with `masses`, for cells of side `cell` [m].
    pub(super) fn new(positions: &[DVec3], masses: &[f64], cell: f64) -> Result<Self, GlobalForceError> {
        let farthest = f64::from(REACH) * cell;
        if let Some(vertex) = positions.iter().position(|p| !(p.abs().max_element() < farthest)) {
            return Err(GlobalForceError::OutOfReach { vertex, farthest });
        }
        let stencils: Vec<Stencil> = positions.par_iter().map(|&point| Stencil::new(point, cell)).collect();
        let mut bases: Vec<[i32; 3]> = stencils.iter().map(|s| sort_key(s.base)).collect();
        bases.sort_unstable();
        bases.dedup();
        let index: HashMap<[i32; 3], u32> = bases.iter().enumerate().map(|(i, &b)| (b, i as u32)).collect();
        let places: Vec<Place> = stencils
            .iter()
            .map(|s| Place { cell: index[&sort_key(s.base)], weights: s.weights, fraction: s.fraction })
            .collect();
        let (order, starts) = grouped(places.iter().map(|place| place.cell as usize), bases.len());
        let (cells, coordinates) = number_nodes(&bases);
        let owned = cells.iter().flatten().map(|&node| node as usize);
        let (owners, owner_starts) = grouped(owned, coordinates.len());
        let mut lattice =
            Self { places, cells, order, starts, owners, owner_starts, coordinates, masses: Vec::new() };
        lattice.masses = lattice.scattered_masses(masses);
        Ok(lattice)
    }

    /// How many nodes there are.
    pub(super) fn nodes(&self) -> usize {
        self.owner_starts.len() - 1
    }

    /// The particles of a cell.
    pub(super) fn members(&self, cell: usize) -> &[u32] {
        &self.order[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// The owners of a node.
    pub(super) fn owners_of(&self, node: usize) -> &[u32] {
        let range: Range<usize> = self.owner_starts[node] as usize..self.owner_starts[node + 1] as usize;
        &self.owners[range]
    }

    fn scattered_masses(&self, masses: &[f64]) -> Vec<f64> {
        let tile = |cell: usize| {
            let mut tile = [DVec3::ZERO; 27];
            for &particle in self.members(cell) {
                let mass = masses[particle as usize];
                for (sum, (weight, _)) in tile.iter_mut().zip(self.places[particle as usize].nodes()) {
                    sum.x += weight * mass;
                }
            }
            tile
        };
        self.collected(tile).into_iter().map(|sum| sum.x).collect()
    }

    /// Sums what the cells hand to their nodes, always in the same order.
    pub(super) fn collected(&self, tile: impl Fn(usize) -> [DVec3; 27] + Sync + Send) -> Vec<DVec3> {
        let tiles: Vec<[DVec3; 27]> =
            (0..self.cells.len()).into_par_iter().with_min_len(16).map(tile).collect();
        let flat = tiles.as_flattened();
        let sum = |node: usize| self.owners_of(node).iter().map(|&owner| flat[owner as usize]).sum();
        (0..self.nodes()).into_par_iter().with_min_len(256).map(sum).collect()
    }
}

/// Cells and nodes are numbered by layers.
fn sort_key(base: IVec3) -> [i32; 3] {
    [base.y, base.z, base.x]
}

/// Numbers the nodes of all cells in order; gives the nodes of each cell and their places.
fn number_nodes(bases: &[[i32; 3]]) -> (Vec<[u32; 27]>, Vec<[i32; 3]>) {
    let corner = |base: &[i32; 3], at: usize| {
        let (i, j, k) = ((at % 3) as i32, (at / 3 % 3) as i32, (at / 9) as i32);
        [base[0] + j, base[1] + k, base[2] + i]
    };
    let mut all: Vec<[i32; 3]> =
        bases.iter().flat_map(|base| (0..27).map(move |at| corner(base, at))).collect();
    all.sort_unstable();
    all.dedup();
    let index: HashMap<[i32; 3], u32> = all.iter().enumerate().map(|(i, &node)| (node, i as u32)).collect();
    let cells = bases.iter().map(|base| std::array::from_fn(|at| index[&corner(base, at)])).collect();
    (cells, all)
}

/// Indices of the items of each group, in order, and where each group begins.
pub(super) fn grouped(groups: impl Iterator<Item = usize> + Clone, count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; count + 1];
    for group in groups.clone() {
        starts[group + 1] += 1;
    }
    for group in 0..count {
        starts[group + 1] += starts[group];
    }
    let mut next = starts.clone();
    let mut items = vec![0u32; starts[count] as usize];
    for (item, group) in groups.enumerate() {
        items[next[group] as usize] = item as u32;
        next[group] += 1;
    }
    (items, starts)
}
