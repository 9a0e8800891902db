//! The background grid: material points, their transfers to and from it, and constitutive models.
//!
//! # Theory
//!
//! The material point method with explicit, symplectic steps. Particles hand mass, momentum and forces to the nodes of
//! a lattice by quadratic B-splines; nodes are accelerated and kept out of bodies; particles read their velocity, and
//! the gradient that their strain follows, from the nodes (Huang et al. 2023, section 3.2; Hsu et al. 2023,
//! equations 4 to 11). The gradient of the weights is that of a moving least-squares fit (Hu et al. 2018), so that stress
//! and affine velocity go the same way.
//!
//! # In practice
//!
//! - Nodes lie on world multiples of the cell. Blocks of 4×4×4 cells exist where particles are, at negative coordinates
//!   as well; nothing is allocated between them.
//! - Each block scatters its particles into a tile of 6×6×6 nodes of its own, then each block of nodes sums the
//!   tiles around it: no atomics, and the same bits for any number of threads.
//! - Positions have double precision; within a block all is single precision, relative to the cell.
//! - Strain is b − I = F Fᵀ − I; stress is found once a step, at its end, and stays with the particle.
//!
//! A step is [`MpmGrid::step`].

mod blocks;
mod boundary;
mod error;
mod gather;
mod hencky;
mod material;
mod nodes;
mod params;
mod particles;
mod scatter;
mod stencil;

#[cfg(test)]
mod tests;

use glam::{IVec3, Vec3};

pub(crate) use blocks::REACH;
use blocks::{Blocks, SIDE};
pub use boundary::{Approach, Boundary, Contact, Nothing};
pub(crate) use boundary::{Looks, LooksOf, Solids};
pub use error::GridError;
pub use material::{Fluid, Sand};
pub use nodes::Node;
pub use params::{GridParams, Material, Transfer};
pub use particles::{Particles, Point};
use scatter::Tile;
pub(crate) use stencil::Stencil;

use crate::math::lanes::Row;

/// What the nodes hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing that belongs to where the particles are.
    #[default]
    Empty,
    /// The particles' mass, momentum and impulse, or their tiles do.
    Scattered,
    /// Old and new velocities.
    Updated,
}

/// A sparse lattice that follows its particles. It holds nothing from one step to the next but memory.
#[derive(Debug, Clone, Default)]
pub struct MpmGrid {
    blocks: Blocks,
    tiles: Vec<Tile>,
    nodes: Vec<[Node; SIDE * SIDE * SIDE]>,
    /// By slot, the velocity as it was scattered [m/s]. After the gather the new one, and in the second half what the particle
    /// moves with.
    motions: Vec<Row>,
    /// By slot [N]; none if none were given.
    forces: Vec<Row>,
    phase: Phase,
}

impl MpmGrid {
    /// Advances particles by a step of `dt` [s], with a force [N] on each of them besides gravity and stress (or none
    /// at all: an empty slice), among solids that no particle is to come nearer than `margin` [m].
    pub fn step(
        &mut self,
        particles: &mut Particles,
        forces: &[Vec3],
        params: &GridParams,
        boundary: &dyn Boundary,
        margin: f32,
        dt: f32,
    ) -> Result<(), GridError> {
        self.bin(particles, params)?;
        self.check(particles, forces, dt)?;
        self.scatter_tiles(particles, &[], forces, params, dt);
        self.collect_and_update(params, boundary, dt);
        self.gather_among(particles, params, Solids { boundary, margin, approach: &Approach::UNKNOWN }, dt)?;
        Ok(())
    }

    /// Sorts particles into blocks. To be repeated whenever positions have changed.
    pub(crate) fn bin(&mut self, particles: &mut Particles, params: &GridParams) -> Result<(), GridError> {
        self.phase = Phase::Empty;
        params.check()?;
        particles.check_lengths()?;
        self.blocks.bin(&particles.positions, params.cell, params.most_blocks)?;
        particles.arrange(&self.blocks.order, &self.blocks.slots);
        Ok(())
    }

    /// Particles to grid: momentum, mass and impulse of all nodes, by equation 11 of Hsu et al. 2023.
    #[cfg(test)]
    fn scatter(
        &mut self,
        particles: &Particles,
        forces: &[Vec3],
        params: &GridParams,
        dt: f32,
    ) -> Result<(), GridError> {
        self.check(particles, forces, dt)?;
        self.scatter_tiles(particles, &[], forces, params, dt);
        self.collect_tiles();
        Ok(())
    }

    /// Old and new velocities of all nodes, the new ones such that no node goes through a solid within `dt` [s]. Nothing happens
    /// where there was no [`scatter`](Self::scatter) before.
    #[cfg(test)]
    fn update(&mut self, params: &GridParams, boundary: &dyn Boundary, dt: f32) {
        if self.phase == Phase::Scattered {
            self.update_nodes(params, boundary, dt);
            self.phase = Phase::Updated;
        }
    }

    /// Grid to particles: velocities, positions, strains and stresses at the end of the step.
    pub(crate) fn gather(
        &mut self,
        particles: &mut Particles,
        params: &GridParams,
        dt: f32,
    ) -> Result<(), GridError> {
        let nothing = Solids { boundary: &Nothing, margin: 0.0, approach: &Approach::UNKNOWN };
        self.gather_among(particles, params, nothing, dt).map(|_| ())
    }

    /// Grid to particles, which then leave the solids. Returns how many were moved by them.
    pub(crate) fn gather_among(
        &mut self,
        particles: &mut Particles,
        params: &GridParams,
        solids: Solids<'_>,
        dt: f32,
    ) -> Result<u64, GridError> {
        self.check(particles, &[], dt)?;
        if std::mem::take(&mut self.phase) != Phase::Updated {
            return Err(GridError::NotUpdated);
        }
        self.gather_slots(particles, params, dt);
        particles.move_on(&self.motions, &solids, dt)
    }

    /// That the step is a time, that these are the particles that were binned, and that there is a force for each of
    /// them or none at all.
    fn check(&self, particles: &Particles, forces: &[Vec3], dt: f32) -> Result<(), GridError> {
        params::within("the step", dt.into(), 1e-9, 1e3, "between 1e-9 and 1e3 s")?;
        particles.check_lengths()?;
        let (binned, count) = (self.blocks.order.len(), particles.len());
        if self.blocks.slots != particles.slots {
            return Err(GridError::NotBinned { binned, particles: count });
        }
        if !forces.is_empty() && forces.len() != count {
            return Err(GridError::WrongCount { column: "forces", given: forces.len(), particles: count });
        }
        Ok(())
    }

    /// How many node slots there are; [`node_index`](Self::node_index) is below it.
    #[cfg(test)]
    fn node_count(&self) -> usize {
        self.blocks.node_blocks() * SIDE * SIDE * SIDE
    }

    /// Where a node of the lattice is in memory, if particles reach it or its block.
    #[cfg(test)]
    fn node_index(&self, node: IVec3) -> Option<usize> {
        self.blocks.find_node(node).map(|(block, local)| block * SIDE * SIDE * SIDE + local)
    }

    /// The node at an index, if there is one.
    #[cfg(test)]
    fn node(&self, index: usize) -> Option<&Node> {
        self.nodes.as_flattened().get(index)
    }

    /// Every node with mass: its place on the lattice in cells from the origin, and what it holds.
    pub fn nodes(&self) -> impl Iterator<Item = (IVec3, &Node)> {
        self.nodes
            .iter()
            .enumerate()
            .flat_map(|(block, nodes)| {
                let corner = self.blocks.corner(block);
                nodes.iter().enumerate().map(move |(at, node)| (corner + within_block(at), node))
            })
            .filter(|(_, node)| node.mass() > 0.0)
    }
}

/// The place of a node within its block.
fn within_block(at: usize) -> IVec3 {
    IVec3::new((at % SIDE) as i32, (at / SIDE % SIDE) as i32, (at / SIDE / SIDE) as i32)
}
