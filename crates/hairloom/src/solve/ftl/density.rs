//! Hair–hair friction and repulsion through a density grid (section 3.6).
//!
//! Packs are cut into a fixed number of chunks, each of which adds its vertices to a patch of its own; patches
//! are then summed in order. The result is the same for any number of threads.

use std::ops::Range;

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::packs::{EMPTY, Pack, Packs};
use super::project::PackDrive;
use crate::math::lanes::{Row3, WIDTH};

/// Most nodes that the grid may have; the cell grows where the hair's extent would need more.
const MOST_NODES: f32 = 4.0e6;
/// Cells along the longest side of the hair where the cell size is left open.
const DEFAULT_CELLS: f32 = 60.0;

/// Density below which a node counts as empty.
const FAINT: f32 = 1.0e-12;

/// Density, and velocity times density until the grid is normalised.
type Node = [f32; 4];

/// A box of nodes.
#[derive(Debug, Clone, Default)]
struct Patch {
    low: IVec3,
    size: IVec3,
    nodes: Vec<Node>,
}

/// Strength of the interaction during one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strength {
    /// Share of the mean velocity taken on.
    pub friction: f32,
    /// Change of velocity out of dense hair [m/s].
    pub repulsion: f32,
    /// Edge of a cell [m]; 0 chooses.
    pub cell: f32,
}

/// The grid, kept between steps for its memory.
#[derive(Debug, Default)]
pub(super) struct Density {
    patches: Vec<Patch>,
    grid: Patch,
}

impl Patch {
    /// Covers a box given in cells, with zeroes.
    fn reset(&mut self, low: IVec3, high: IVec3) {
        self.low = low;
        self.size = high - low + IVec3::ONE;
        self.nodes.clear();
        self.nodes.resize(self.size.x as usize * self.size.y as usize * self.size.z as usize, [0.0; 4]);
    }

    fn index(&self, node: IVec3) -> usize {
        let n = node - self.low;
        ((n.z * self.size.y + n.y) * self.size.x + n.x) as usize
    }

    /// The cell around `point` (in cells, inside the patch): index of its lowest node, and the point's place in it.
    fn cell(&self, point: Vec3) -> (usize, Vec3) {
        // Truncation is rounding down for what is not negative, and needs no library call on any processor.
        let local = (point - self.low.as_vec3()).max(Vec3::ZERO);
        let node = local.as_ivec3().min(self.size - IVec3::splat(2));
        (((node.z * self.size.y + node.y) * self.size.x + node.x) as usize, local - node.as_vec3())
    }

    /// Offsets of a cell's eight nodes from its lowest, x fastest.
    fn corners(&self) -> [usize; 8] {
        let (dy, dz) = (self.size.x as usize, self.size.x as usize * self.size.y as usize);
        [0, 1, dy, dy + 1, dz, dz + 1, dz + dy, dz + dy + 1]
    }
}

/// Trilinear weights of a cell's nodes, x fastest.
fn weights(place: Vec3) -> [f32; 8] {
    let (x, y, z) = (place.x, place.y, place.z);
    let (u, v, w) = (1.0 - x, 1.0 - y, 1.0 - z);
    [u * v * w, x * v * w, u * y * w, x * y * w, u * v * z, x * v * z, u * y * z, x * y * z]
}

/// Calls `visit(row, lane, position)` for every vertex of a pack, from the roots' new positions.
fn each_vertex(packs: &Packs, pack: &Pack, drive: &PackDrive, mut visit: impl FnMut(usize, usize, Vec3)) {
    let mut position = drive.root;
    for i in 0..pack.vertices {
        let row = pack.row + i;
        if i > 0 {
            for (sum, edge) in position.0.iter_mut().zip(&packs.edges[row].0) {
                for lane in 0..WIDTH {
                    sum.0[lane] += edge.0[lane];
                }
            }
        }
        for lane in 0..WIDTH {
            let real = if i == 0 { pack.strands[lane] != EMPTY } else { packs.lengths[row].0[lane] > 0.0 };
            if real {
                visit(row, lane, position.get(lane));
            }
        }
    }
}

impl Density {
    /// Equations 13 and 14 on all velocities.
    pub(super) fn interact(
        &mut self,
        packs: &mut Packs,
        drives: &[PackDrive],
        chunks: &[Range<usize>],
        strength: Strength,
    ) {
        let boxes: Vec<(Vec3, Vec3)> =
            chunks.par_iter().map(|chunk| bounds(packs, drives, chunk.clone())).collect();
        let (low, high) = boxes.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), chunk| {
            (low.min(chunk.0), high.max(chunk.1))
        });
        if !(low.is_finite() && high.is_finite()) {
            return;
        }
        let per_cell = 1.0 / cell_size(high - low, strength.cell);
        let node = |point: Vec3| (point * per_cell).floor().as_ivec3();
        self.scatter(packs, drives, chunks, &boxes, per_cell);
        self.grid.reset(node(low), node(high) + IVec3::ONE);
        self.gather_patches();
        self.apply(packs, drives, chunks, per_cell, strength);
    }

    /// Each chunk adds its vertices to its own patch.
    fn scatter(
        &mut self,
        packs: &Packs,
        drives: &[PackDrive],
        chunks: &[Range<usize>],
        boxes: &[(Vec3, Vec3)],
        per_cell: f32,
    ) {
        self.patches.resize_with(chunks.len(), Patch::default);
        self.patches.par_iter_mut().zip(chunks).zip(boxes).for_each(|((patch, chunk), (low, high))| {
            let node = |point: Vec3| (point * per_cell).floor().as_ivec3();
            patch.reset(node(*low), node(*high) + IVec3::ONE);
            let corners = patch.corners();
            for index in chunk.clone() {
                each_vertex(packs, &packs.packs[index], &drives[index], |row, lane, position| {
                    let velocity = packs.velocities[row].get(lane);
                    let (first, place) = patch.cell(position * per_cell);
                    for (weight, corner) in weights(place).into_iter().zip(corners) {
                        let node = &mut patch.nodes[first + corner];
                        let added = [1.0, velocity.x, velocity.y, velocity.z];
                        for k in 0..4 {
                            node[k] += weight * added[k];
                        }
                    }
                });
            }
        });
    }

    /// Sums the patches in order and divides momentum by density.
    fn gather_patches(&mut self) {
        let Self { patches, grid } = self;
        let (low, size) = (grid.low, grid.size);
        let slab = size.x as usize * size.y as usize;
        grid.nodes.par_chunks_mut(slab).enumerate().for_each(|(z, slab)| {
            let z = low.z + z as i32;
            for patch in patches.iter().filter(|p| z >= p.low.z && z < p.low.z + p.size.z) {
                for y in patch.low.y..patch.low.y + patch.size.y {
                    let from = patch.index(IVec3::new(patch.low.x, y, z));
                    let to = ((y - low.y) * size.x + patch.low.x - low.x) as usize;
                    let width = patch.size.x as usize;
                    for (sum, node) in slab[to..to + width].iter_mut().zip(&patch.nodes[from..from + width]) {
                        for k in 0..4 {
                            sum[k] += node[k];
                        }
                    }
                }
            }
            for node in slab.iter_mut() {
                // A vertex may graze a node with a weight so small that dividing by it overflows.
                let per_density = if node[0] > FAINT { 1.0 / node[0] } else { 0.0 };
                for component in &mut node[1..] {
                    *component *= per_density;
                }
            }
        });
    }

    fn apply(
        &self,
        packs: &mut Packs,
        drives: &[PackDrive],
        chunks: &[Range<usize>],
        per_cell: f32,
        strength: Strength,
    ) {
        let mut velocities = std::mem::take(&mut packs.velocities);
        let shared: &Packs = packs;
        let mut rest = velocities.as_mut_slice();
        let mut tasks = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let rows: usize = shared.packs[chunk.clone()].iter().map(|pack| pack.vertices).sum();
            let (mine, later) = rest.split_at_mut(rows);
            tasks.push((chunk.clone(), mine));
            rest = later;
        }
        let grid = &self.grid;
        let corners = grid.corners();
        tasks.into_par_iter().for_each(|(chunk, mine)| {
            let base = shared.packs[chunk.start].row;
            for index in chunk {
                let pack = &shared.packs[index];
                let free = pack.row + pack.held;
                each_vertex(shared, pack, &drives[index], |row, lane, position| {
                    if row >= free {
                        let (first, place) = grid.cell(position * per_cell);
                        let nodes = corners.map(|corner| grid.nodes[first + corner]);
                        let velocity: &mut Row3 = &mut mine[row - base];
                        velocity.set(lane, interacted(velocity.get(lane), &nodes, place, strength));
                    }
                });
            }
        });
        packs.velocities = velocities;
    }
}

/// The velocity of a vertex after friction with, and repulsion from, the hair around it.
fn interacted(velocity: Vec3, nodes: &[Node; 8], place: Vec3, strength: Strength) -> Vec3 {
    let mut mean = [0.0_f32; 4];
    for (node, weight) in nodes.iter().zip(weights(place)) {
        for k in 0..4 {
            mean[k] += weight * node[k];
        }
    }
    let around = Vec3::new(mean[1], mean[2], mean[3]);
    let gradient = density_gradient(nodes, place);
    // A vertex alone in its cell sees no more than its own density, at most 1.
    let crowd = (1.0 - 1.0 / mean[0].max(1.0e-6)).max(0.0);
    velocity.lerp(around, strength.friction) - gradient.normalize_or_zero() * (strength.repulsion * crowd)
}

/// The gradient of the trilinear density, per cell.
fn density_gradient(nodes: &[Node; 8], place: Vec3) -> Vec3 {
    let d = nodes.map(|node| node[0]);
    let bilinear = |a: f32, b: f32, c: f32, e: f32, s: f32, t: f32| {
        (a * (1.0 - s) + b * s) * (1.0 - t) + (c * (1.0 - s) + e * s) * t
    };
    Vec3::new(
        bilinear(d[1] - d[0], d[3] - d[2], d[5] - d[4], d[7] - d[6], place.y, place.z),
        bilinear(d[2] - d[0], d[3] - d[1], d[6] - d[4], d[7] - d[5], place.x, place.z),
        bilinear(d[4] - d[0], d[5] - d[1], d[6] - d[2], d[7] - d[3], place.x, place.y),
    )
}

/// The box around all vertices of a chunk of packs.
fn bounds(packs: &Packs, drives: &[PackDrive], chunk: Range<usize>) -> (Vec3, Vec3) {
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for index in chunk {
        each_vertex(packs, &packs.packs[index], &drives[index], |_, _, position| {
            low = low.min(position);
            high = high.max(position);
        });
    }
    (low, high)
}

/// The edge of a cell [m]: as asked for, or from the hair's extent, and never so small that the grid explodes.
fn cell_size(extent: Vec3, asked: f32) -> f32 {
    let wished = if asked > 0.0 { asked } else { extent.max_element() / DEFAULT_CELLS };
    let smallest = (extent.x * extent.y * extent.z / MOST_NODES).cbrt().max(extent.max_element() / 1024.0);
    wished.max(smallest).max(1.0e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradient_matches_finite_differences() {
        let nodes: [Node; 8] = std::array::from_fn(|k| [((k * 7919 + 13) % 17) as f32, 0.0, 0.0, 0.0]);
        let density = |p: Vec3| nodes.iter().zip(weights(p)).map(|(n, w)| n[0] * w).sum::<f32>();
        let place = Vec3::new(0.3, 0.6, 0.45);
        let gradient = density_gradient(&nodes, place);
        for (axis, expected) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().zip(gradient.to_array()) {
            let h = 1.0e-2;
            let slope = (density(place + axis * h) - density(place - axis * h)) / (2.0 * h);
            assert!((slope - expected).abs() < 1.0e-3, "{axis}: {slope} against {expected}");
        }
    }

    #[test]
    fn cells_grow_rather_than_the_grid() {
        let extent = Vec3::new(10.0, 10.0, 10.0);
        let cell = cell_size(extent, 1.0e-3);
        assert!((extent / cell).element_product() <= MOST_NODES * 1.01);
        assert_eq!(cell_size(Vec3::splat(0.6), 0.01), 0.01);
    }
}
