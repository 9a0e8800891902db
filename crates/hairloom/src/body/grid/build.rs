//! Exact distances at the nodes next to the surface.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::super::surface::{Surface, SurfacePoint};
use super::super::topology::{Rows, Topology};
use super::super::triangle::{Prepared, closest_point};
use super::march::{Known, march};
use super::{DistanceGrid, EXACT, Layout};

/// Layers of nodes that are worked on together.
const SLAB: usize = 4;

/// Rows of more nodes than this are cut to what lies near a triangle before they are visited.
const LONG_ROW: usize = 8;

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
        let is_inside = |node| {
            let hit = surface.closest(topology, node_position(layout, node), f32::INFINITY);
            hit.is_some_and(|hit| hit.distance < 0.0)
        };
        let (distances, velocities) = march(layout, &known, moving, is_inside);
        Self { layout, distances, velocities, nearest, surface_low: low, surface_high: high }
    }
}

/// For each node the closest triangle within `EXACT` cells: every triangle visits the nodes around it.
fn nearest_triangles(layout: Layout, topology: &Topology, surface: &Surface) -> Vec<u32> {
    let layer = layout.strides()[2];
    let slabs = layout.nodes[2].div_ceil(SLAB);
    let visit = |(&face, &triangle): (&[Vec3; 3], &u32)| {
        let prepared = Prepared::new(face, surface.face_normal(triangle));
        Visit { layout, triangle, prepared, range: reached(layout, face) }
    };
    let visits: Vec<Visit> =
        surface.faces().par_iter().zip(&topology.kept).with_min_len(1024).map(visit).collect();
    let pairs = visits.iter().enumerate().flat_map(|(leaf, visit)| {
        let (first, end) = visit.range[2];
        (first / SLAB..end.div_ceil(SLAB)).map(move |slab| (slab as u32, leaf as u32))
    });
    let visits_of_slab = Rows::collect(slabs, pairs);
    let mut nearest = vec![NONE; layout.len()];
    nearest.par_chunks_mut(SLAB * layer).enumerate().for_each(|(slab, nearest)| {
        let mut best = vec![EXACT * layout.cell; nearest.len()];
        let visits = visits_of_slab.row(slab as u32).iter().map(|&leaf| &visits[leaf as usize]);
        visits.clone().for_each(|visit| visit.bound(slab, &mut best, nearest));
        visits.for_each(|visit| visit.improve(slab, &mut best, nearest));
    });
    nearest
}

/// Along each axis the first node within `EXACT` cells of the box around a triangle, and the first after them.
fn reached(layout: Layout, [a, b, c]: [Vec3; 3]) -> [(usize, usize); 3] {
    let low = (a.min(b).min(c) - layout.low) * layout.inverse_cell - EXACT;
    let high = (a.max(b).max(c) - layout.low) * layout.inverse_cell + EXACT;
    // Nothing is negative here, so cutting off is rounding down, and quicker.
    let (first, end) = (low.as_uvec3() + 1, high.as_uvec3() + 1);
    [0, 1, 2].map(|axis| {
        let end = (end[axis] as usize).min(layout.nodes[axis]);
        ((first[axis] as usize).min(end), end)
    })
}

/// One triangle visiting the nodes around it.
struct Visit {
    layout: Layout,
    triangle: u32,
    prepared: Prepared,
    range: [(usize, usize); 3],
}

impl Visit {
    /// Lowers the distances of the nodes around [m] to that of the triangle's centre: a first bound, and a cheap one,
    /// that spares most of them a closer look.
    fn bound(&self, slab: usize, best: &mut [f32], nearest: &mut [u32]) {
        self.lower(slab, 0.0, best, nearest, |_, squared, _| Some(squared.sqrt()));
    }

    /// Lowers the distances of the nodes around [m] to that of the triangle.
    fn improve(&self, slab: usize, best: &mut [f32], nearest: &mut [u32]) {
        self.lower(slab, self.prepared.radius, best, nearest, |point, _, best| {
            self.prepared.squared_distance_below(point, best * best).map(f32::sqrt)
        });
    }

    /// Lowers distances to what `distance` makes of the position of a node, the square of its distance from the
    /// triangle's centre and its best distance so far. Only nodes whose best distance could be lowered, were the
    /// centre nearer by `slack`, are looked at; four in a row are tested together.
    fn lower(
        &self,
        slab: usize,
        slack: f32,
        best: &mut [f32],
        nearest: &mut [u32],
        distance: impl Fn(Vec3, f32, f32) -> Option<f32>,
    ) {
        let [_, row, layer] = self.layout.strides();
        let [x_range, (y_first, y_end), (z_first, z_end)] = self.range;
        let (base, cell) = (slab * SLAB, self.layout.cell);
        let reach = (EXACT * cell + slack).powi(2);
        let four = Vec4::new(0.0, cell, 2.0 * cell, 3.0 * cell);
        for z in z_first.max(base)..z_end.min(base + SLAB) {
            for y in y_first..y_end {
                let first = self.layout.position([0, y, z]);
                let from_centre = first - self.prepared.centre;
                let across = from_centre.y * from_centre.y + from_centre.z * from_centre.z;
                if across >= reach {
                    continue;
                }
                let start = (z - base) * layer + y * row;
                let (mut x, end) = self.columns(first, x_range);
                while x < end {
                    // No row is shorter than four, and a node that is visited twice takes no harm.
                    let at = x.min(row - 4);
                    let best = &mut best[start + at..start + at + 4];
                    let along = four + (from_centre.x + at as f32 * cell);
                    let (squared, limit) = (along * along + across, Vec4::from_slice(best) + slack);
                    let mut nearer = squared.cmplt(limit * limit).bitmask();
                    while nearer != 0 {
                        let lane = nearer.trailing_zeros() as usize;
                        nearer &= nearer - 1;
                        let point = Vec3::new(first.x + (at + lane) as f32 * cell, first.y, first.z);
                        if let Some(distance) = distance(point, squared[lane], best[lane]) {
                            best[lane] = distance;
                            nearest[start + at + lane] = self.triangle;
                        }
                    }
                    x = at + 4;
                }
            }
        }
    }

    /// Of a row that begins at `first`, the nodes of a range that may be near: the first, and the first after them.
    fn columns(&self, first: Vec3, (from, end): (usize, usize)) -> (usize, usize) {
        if end - from <= LONG_ROW {
            return (from, end);
        }
        let cell = self.layout.cell;
        match self.prepared.steps_within(first, cell, EXACT * cell) {
            // A step more at each end makes up for rounding.
            Some((near, far)) => (from.max(near.max(0.0) as usize), end.min((far.max(-2.0) + 2.0) as usize)),
            None => (0, 0),
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
    let point = node_position(layout, node);
    let closest = closest_point(point, surface.corners(topology, triangle));
    surface.signed(topology, point, triangle, closest)
}

fn node_position(layout: Layout, node: usize) -> Vec3 {
    let [_, row, layer] = layout.strides();
    layout.position([node % row, node % layer / row, node / layer])
}
