//! Exact distances at the nodes next to the surface.

use glam::Vec3;
use rayon::prelude::*;

use super::super::surface::{Surface, SurfacePoint};
use super::super::topology::{Rows, Topology};
use super::super::triangle::{Prepared, closest_point};
use super::march::{Known, march};
use super::{DistanceGrid, EXACT, Layout};

/// Layers of nodes that are worked on together.
const SLAB: usize = 3;

/// No triangle.
pub(super) const NONE: u32 = u32::MAX;

impl DistanceGrid {
    /// The grid around a surface, with the velocities of its points if they have any.
    pub(crate) fn build(topology: &Topology, surface: &Surface, velocities: &[Vec3], cell: f32) -> Self {
        let (low, high) = surface.bounds();
        let layout = Layout::new(low, high, cell);
        let nearest = nearest_triangles(layout, topology, surface);
        let moving = !velocities.is_empty();
        let at_node = |(node, &triangle): (usize, &u32)| {
            if triangle == NONE {
                return None;
            }
            let hit = at_node(layout, topology, surface, node, triangle);
            let velocity = if moving {
                let [a, b, c] = topology.triangles[hit.triangle].map(|v| velocities[v as usize]);
                a * hit.weights[0] + b * hit.weights[1] + c * hit.weights[2]
            } else {
                Vec3::ZERO
            };
            Some(Known { node, distance: hit.distance, velocity })
        };
        let known: Vec<Known> =
            nearest.par_iter().enumerate().with_min_len(1024).filter_map(at_node).collect();
        let (distances, velocities) = march(layout, &known, moving);
        Self { layout, distances, velocities, nearest, surface_low: low, surface_high: high }
    }
}

/// For each node the closest triangle within `EXACT` cells: every triangle visits the nodes around it.
fn nearest_triangles(layout: Layout, topology: &Topology, surface: &Surface) -> Vec<u32> {
    let layer = layout.strides()[2];
    let slabs = layout.nodes[2].div_ceil(SLAB);
    let ranges: Vec<_> = surface.faces().iter().map(|&face| reached(layout, face)).collect();
    let pairs = ranges.iter().enumerate().flat_map(|(leaf, &[_, _, (first, last)])| {
        (first / SLAB..=last / SLAB).map(move |slab| (slab as u32, leaf as u32))
    });
    let triangles_of_slab = Rows::collect(slabs, pairs);
    let mut nearest = vec![NONE; layout.len()];
    nearest.par_chunks_mut(SLAB * layer).enumerate().for_each(|(slab, nearest)| {
        let mut squared = vec![(EXACT * layout.cell).powi(2); nearest.len()];
        for &leaf in triangles_of_slab.row(slab as u32) {
            let triangle = topology.kept[leaf as usize];
            let corners = surface.faces()[leaf as usize];
            let visit = Visit { layout, triangle, corners, range: ranges[leaf as usize], slab };
            visit.run(&mut squared, nearest);
        }
    });
    nearest
}

/// The first and last node along each axis within `EXACT` cells of the box around a triangle.
fn reached(layout: Layout, [a, b, c]: [Vec3; 3]) -> [(usize, usize); 3] {
    let low = (a.min(b).min(c) - layout.low) / layout.cell - EXACT;
    let high = (a.max(b).max(c) - layout.low) / layout.cell + EXACT;
    [0, 1, 2].map(|axis| {
        let last = layout.nodes[axis] - 1;
        ((low[axis].ceil().max(0.0) as usize).min(last), (high[axis].floor().max(0.0) as usize).min(last))
    })
}

/// One triangle visiting the nodes of one slab.
struct Visit {
    layout: Layout,
    triangle: u32,
    corners: [Vec3; 3],
    range: [(usize, usize); 3],
    slab: usize,
}

impl Visit {
    fn run(&self, squared: &mut [f32], nearest: &mut [u32]) {
        let prepared = Prepared::new(self.corners);
        let [_, row, layer] = self.layout.strides();
        let [(x_first, x_last), (y_first, y_last), (z_first, z_last)] = self.range;
        let base = self.slab * SLAB;
        let reach = EXACT * self.layout.cell;
        for z in z_first.max(base)..=z_last.min(base + SLAB - 1) {
            for y in y_first..=y_last {
                let start = (z - base) * layer + y * row;
                let first = self.layout.position([x_first, y, z]);
                let Some((from, to)) = prepared.steps_within(first, self.layout.cell, reach) else {
                    continue;
                };
                // A step more at each end makes up for rounding.
                let x_from = x_first.saturating_add(from.max(0.0) as usize);
                let x_to = x_last.min(x_first.saturating_add((to.max(-1.0) + 1.0) as usize));
                for x in x_from..=x_to {
                    let point = self.layout.position([x, y, z]);
                    let best = &mut squared[start + x];
                    if let Some(distance) = prepared.squared_distance_below(point, *best) {
                        *best = distance;
                        nearest[start + x] = self.triangle;
                    }
                }
            }
        }
    }
}

/// The closest point of a node on its closest triangle.
fn at_node(
    layout: Layout,
    topology: &Topology,
    surface: &Surface,
    node: usize,
    triangle: u32,
) -> SurfacePoint {
    let [_, row, layer] = layout.strides();
    let point = layout.position([node % row, node % layer / row, node / layer]);
    let closest = closest_point(point, surface.corners(topology, triangle));
    surface.signed(topology, point, triangle, closest)
}
