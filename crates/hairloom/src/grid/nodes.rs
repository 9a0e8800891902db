//! What happens at the nodes between the transfers.

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::blocks::SIDE;
use super::boundary::Boundary;
use super::{GridParams, MpmGrid, within_block};
use crate::math::lanes::Row;

/// Mass [kg] below which a node counts as empty: what is lighter has lost its digits.
const LEAST_MASS: f32 = 1e-34;

/// A node in eight floats. After the scatter: momentum [kg m/s] and mass [kg], then impulse [N s]. After the update:
/// new velocity [m/s] and mass, then old velocity.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Node(pub(super) Row);

impl Node {
    /// The first three floats: momentum [kg m/s] after the scatter, new velocity [m/s] after the update.
    #[inline(always)]
    pub fn first(&self) -> Vec3 {
        Vec3::new(self.0.0[0], self.0.0[1], self.0.0[2])
    }

    /// The last three floats: impulse [N s] of all forces after the scatter, old velocity [m/s] after the update.
    #[inline(always)]
    pub fn second(&self) -> Vec3 {
        Vec3::new(self.0.0[4], self.0.0[5], self.0.0[6])
    }

    /// Mass [kg].
    #[inline(always)]
    pub fn mass(&self) -> f32 {
        self.0.0[3]
    }

    #[inline(always)]
    fn set(&mut self, first: Vec3, second: Vec3) {
        self.0.0 = [first.x, first.y, first.z, self.0.0[3], second.x, second.y, second.z, 0.0];
    }

    /// Adds to the impulse [N s], after the scatter and before the update.
    pub fn push(&mut self, impulse: Vec3) {
        self.set(self.first(), self.second() + impulse);
    }
}

impl MpmGrid {
    /// Velocities of all nodes from momentum and impulse, and then no node goes through a boundary.
    pub(super) fn update_nodes(&mut self, params: &GridParams, boundary: &dyn Boundary, dt: f32) {
        let cell = params.cell as f32;
        let blocks = &self.blocks;
        let bounded = !boundary.is_empty();
        self.nodes.par_iter_mut().enumerate().with_min_len(8).for_each(|(index, nodes)| {
            let mut fastest = 0.0f32;
            for node in nodes.iter_mut() {
                let inverse = if node.mass() > LEAST_MASS { 1.0 / node.mass() } else { 0.0 };
                let old = node.first() * inverse;
                let new = old + node.second() * inverse;
                node.set(new, old);
                fastest = fastest.max(new.length_squared());
            }
            if bounded {
                let reach = fastest.sqrt() * dt;
                bound_block(nodes, blocks.corner(index), cell, boundary, reach, dt);
            }
        });
    }
}

/// Applies a boundary to the nodes of a block, looking closely only where it may be.
fn bound_block(
    nodes: &mut [Node; SIDE * SIDE * SIDE],
    corner: IVec3,
    cell: f32,
    boundary: &dyn Boundary,
    reach: f32,
    dt: f32,
) {
    let half = 0.5 * (SIDE - 1) as f32;
    let centre = (corner.as_vec3() + half) * cell;
    if boundary.clearance(centre) > 3f32.sqrt() * half * cell + reach + boundary.reach(dt) {
        return;
    }
    for (at, node) in nodes.iter_mut().enumerate() {
        if node.mass() <= LEAST_MASS {
            continue;
        }
        let point = (corner + within_block(at)).as_vec3() * cell;
        let mut velocity = node.first();
        if boundary.clearance(point) > velocity.length() * dt + boundary.reach(dt) {
            continue;
        }
        boundary.contacts(point, &mut |contact| velocity = contact.bounded(velocity, dt));
        node.set(velocity, node.second());
    }
}
