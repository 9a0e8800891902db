//! From clay to triangles: surface nets on a graded grid, then relaxation on the implicit surface.

use std::collections::BTreeMap;

use glam::{IVec3, Vec3};
use rayon::prelude::*;

use super::sculpt::Sculpt;
use crate::body::TriMesh;

/// Nodes of a rectilinear grid along its three axes [m].
#[derive(Debug, Clone)]
pub(super) struct Grid {
    axes: [Vec<f32>; 3],
}

/// Nodes from `low` to at least `high`, spaced as `spacing` says at each place.
pub(super) fn axis(low: f32, high: f32, spacing: impl Fn(f32) -> f32) -> Vec<f32> {
    let mut nodes = vec![low];
    let mut last = low;
    while last < high {
        last += spacing(last);
        nodes.push(last);
    }
    nodes
}

/// Nodes on both sides of a column of cells that straddles 0, out to `reach`.
pub(super) fn mirrored_axis(reach: f32, spacing: impl Fn(f32) -> f32) -> Vec<f32> {
    let half = axis(0.5 * spacing(0.0), reach, spacing);
    half.iter().rev().map(|x| -x).chain(half.iter().copied()).collect()
}

impl Grid {
    pub(super) fn new(x: Vec<f32>, y: Vec<f32>, z: Vec<f32>) -> Self {
        Self { axes: [x, y, z] }
    }

    fn size(&self) -> [usize; 3] {
        [self.axes[0].len(), self.axes[1].len(), self.axes[2].len()]
    }

    fn node(&self, at: [usize; 3]) -> Vec3 {
        Vec3::new(self.axes[0][at[0]], self.axes[1][at[1]], self.axes[2][at[2]])
    }

    fn index(&self, at: [usize; 3]) -> usize {
        let [nx, ny, _] = self.size();
        (at[2] * ny + at[1]) * nx + at[0]
    }

    /// Distances at all nodes; blocks that the surface cannot reach get the distance of their middle.
    fn sample(&self, sculpt: &Sculpt) -> Vec<f32> {
        const BLOCK: usize = 4;
        let [nx, ny, nz] = self.size();
        let slabs: Vec<Vec<f32>> = (0..nz.div_ceil(BLOCK))
            .into_par_iter()
            .map(|slab| {
                let z = slab * BLOCK..((slab + 1) * BLOCK).min(nz);
                let mut values = vec![0.0; z.len() * ny * nx];
                for by in (0..ny).step_by(BLOCK) {
                    for bx in (0..nx).step_by(BLOCK) {
                        let (y, x) = (by..(by + BLOCK).min(ny), bx..(bx + BLOCK).min(nx));
                        let low = self.node([x.start, y.start, z.start]);
                        let high = self.node([x.end - 1, y.end - 1, z.end - 1]);
                        let middle = sculpt.distance((low + high) * 0.5);
                        let far = middle.abs() > (high - low).length();
                        let sculpt = sculpt.near((low + high) * 0.5, 0.5 * (high - low).length());
                        for iz in z.clone() {
                            for iy in y.clone() {
                                for ix in x.clone() {
                                    let value =
                                        if far { middle } else { sculpt.distance(self.node([ix, iy, iz])) };
                                    values[((iz - z.start) * ny + iy) * nx + ix] = value;
                                }
                            }
                        }
                    }
                }
                values
            })
            .collect();
        slabs.concat()
    }
}

/// The closed surface of `sculpt` inside `grid`, wound outwards, relaxed by `sweeps`.
pub(super) fn mesh(sculpt: &Sculpt, grid: &Grid, sweeps: usize) -> TriMesh {
    let mut values = grid.sample(sculpt);
    separate_sheets(grid, &mut values);
    let (mut points, quads) = surface_nets(grid, &values);
    let neighbours = neighbours(points.len(), &quads);
    let patches = patches(sculpt, &points);
    for _ in 0..sweeps {
        points = relax(&patches, &points, &neighbours);
    }
    points = settle(&patches, &points);
    let triangles = quads.iter().flat_map(|quad| split(&points, *quad)).collect();
    TriMesh { points, triangles }
}

/// Where two sheets of the surface would meet in one cell, move the node nearest to the surface to its other
/// side: what remains is a manifold.
fn separate_sheets(grid: &Grid, values: &mut [f32]) {
    let [nx, ny, nz] = grid.size();
    let connected = connected_corners();
    let pushed = 1e-3 * (grid.axes[0][1] - grid.axes[0][0]);
    // Every pass moves at least one node, and few passes suffice for any sculpture that the grid resolves.
    for _ in 0..16 {
        let mut clean = true;
        for z in 0..nz - 1 {
            for y in 0..ny - 1 {
                for x in 0..nx - 1 {
                    let nodes = corners([x, y, z]).map(|at| grid.index(at));
                    let inside = (0..8).fold(0, |set, i| set | usize::from(values[nodes[i]] < 0.0) << i);
                    if connected[inside] && connected[255 - inside] {
                        continue;
                    }
                    let nearest =
                        nodes.into_iter().min_by(|&a, &b| values[a].abs().total_cmp(&values[b].abs()));
                    if let Some(node) = nearest {
                        values[node] = if values[node] < 0.0 { pushed } else { -pushed };
                    }
                    clean = false;
                }
            }
        }
        if clean {
            break;
        }
    }
}

/// For each set of corners of a cell (a bit mask): do the edges of the cell join them into one piece, and
/// likewise on each of its faces?
fn connected_corners() -> [bool; 256] {
    std::array::from_fn(|set| {
        let whole = joined(set, 255);
        let faces = [0x55, 0xAA, 0x33, 0xCC, 0x0F, 0xF0];
        whole && faces.iter().all(|&face| joined(set & face, face))
    })
}

/// Do edges between corners in `within` join all corners of `set`?
fn joined(set: usize, within: usize) -> bool {
    let mut reached = set & set.wrapping_neg();
    for _ in 0..8 {
        for corner in 0..8 {
            if reached >> corner & 1 == 1 {
                let beside = 1 << (corner ^ 1) | 1 << (corner ^ 2) | 1 << (corner ^ 4);
                reached |= beside & set & within;
            }
        }
    }
    reached == set
}

/// The nodes at the corners of a cell; bit k of a corner's number is its place along axis k.
fn corners([x, y, z]: [usize; 3]) -> [[usize; 3]; 8] {
    std::array::from_fn(|i| [x + (i & 1), y + (i >> 1 & 1), z + (i >> 2 & 1)])
}

/// One vertex in each cell that the surface crosses, one quad around each edge that it crosses.
fn surface_nets(grid: &Grid, values: &[f32]) -> (Vec<Vec3>, Vec<[u32; 4]>) {
    let [nx, ny, nz] = grid.size();
    let mut vertex_of_cell = vec![u32::MAX; values.len()];
    let mut points = Vec::new();
    for z in 0..nz - 1 {
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                if let Some(point) = cell_vertex(grid, values, [x, y, z]) {
                    vertex_of_cell[grid.index([x, y, z])] = points.len() as u32;
                    points.push(point);
                }
            }
        }
    }
    let mut quads = Vec::new();
    for z in 1..nz - 1 {
        for y in 1..ny - 1 {
            for x in 1..nx - 1 {
                let at = [x, y, z];
                let inside = values[grid.index(at)] < 0.0;
                for axis in 0..3 {
                    let mut end = at;
                    end[axis] += 1;
                    if inside == (values[grid.index(end)] < 0.0) {
                        continue;
                    }
                    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                    let mut cells = [at; 4];
                    cells[0][u] -= 1;
                    cells[0][v] -= 1;
                    cells[1][v] -= 1;
                    cells[3][u] -= 1;
                    let mut quad = cells.map(|cell| vertex_of_cell[grid.index(cell)]);
                    if !inside {
                        quad.reverse();
                    }
                    quads.push(quad);
                }
            }
        }
    }
    (points, quads)
}

/// The mean of the points where the surface crosses the edges of a cell.
fn cell_vertex(grid: &Grid, values: &[f32], at: [usize; 3]) -> Option<Vec3> {
    let corners = corners(at);
    let value = corners.map(|node| values[grid.index(node)]);
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    for i in 0..8 {
        for bit in [1, 2, 4] {
            let j = i | bit;
            if j != i && (value[i] < 0.0) != (value[j] < 0.0) {
                let t = value[i] / (value[i] - value[j]);
                sum += grid.node(corners[i]).lerp(grid.node(corners[j]), t);
                count += 1.0;
            }
        }
    }
    (count > 0.0).then(|| sum / count)
}

/// The vertices joined to each vertex by an edge of a quad.
fn neighbours(count: usize, quads: &[[u32; 4]]) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::with_capacity(6); count];
    for quad in quads {
        for side in 0..4 {
            let (a, b) = (quad[side], quad[(side + 1) % 4]);
            for (from, to) in [(a, b), (b, a)] {
                let list: &mut Vec<u32> = &mut lists[from as usize];
                if !list.contains(&to) {
                    list.push(to);
                }
            }
        }
    }
    lists
}

/// Vertices close to each other, and the strokes that matter to them.
struct Patch {
    sculpt: Sculpt,
    vertices: Vec<u32>,
}

fn patches(sculpt: &Sculpt, points: &[Vec3]) -> Vec<Patch> {
    const SIZE: f32 = 0.05;
    /// How far a vertex may wander out of its patch while it is relaxed [m].
    const DRIFT: f32 = 0.015;
    let mut groups: BTreeMap<[i32; 3], Vec<u32>> = BTreeMap::new();
    for (vertex, p) in points.iter().enumerate() {
        let key = (*p / SIZE).floor().as_ivec3().to_array();
        groups.entry(key).or_default().push(vertex as u32);
    }
    let patch = |(key, vertices): ([i32; 3], Vec<u32>)| {
        let centre = (IVec3::from(key).as_vec3() + 0.5) * SIZE;
        Patch { sculpt: sculpt.near(centre, 0.87 * SIZE + DRIFT), vertices }
    };
    groups.into_iter().map(patch).collect()
}

/// Every vertex mapped by `place`, which gets the strokes around it.
fn map_patches(
    patches: &[Patch],
    points: &[Vec3],
    place: impl Fn(&Sculpt, usize) -> Vec3 + Sync,
) -> Vec<Vec3> {
    let moved: Vec<Vec<Vec3>> = patches
        .par_iter()
        .map(|patch| patch.vertices.iter().map(|&vertex| place(&patch.sculpt, vertex as usize)).collect())
        .collect();
    let mut out = points.to_vec();
    for (patch, moved) in patches.iter().zip(moved) {
        for (&vertex, p) in patch.vertices.iter().zip(moved) {
            out[vertex as usize] = p;
        }
    }
    out
}

/// Every vertex to the middle between it and the mean of its neighbours, and back on the surface.
fn relax(patches: &[Patch], points: &[Vec3], neighbours: &[Vec<u32>]) -> Vec<Vec3> {
    map_patches(patches, points, |sculpt, vertex| {
        let around = &neighbours[vertex];
        let mean = around.iter().map(|&n| points[n as usize]).sum::<Vec3>() / around.len().max(1) as f32;
        project(sculpt, points[vertex].midpoint(mean), 4e-3)
    })
}

/// Every vertex onto the surface.
fn settle(patches: &[Patch], points: &[Vec3]) -> Vec<Vec3> {
    map_patches(patches, points, |sculpt, vertex| {
        (0..3).fold(points[vertex], |p, _| project(sculpt, p, 2e-3))
    })
}

/// One Newton step towards the surface, no longer than `longest` [m].
fn project(sculpt: &Sculpt, p: Vec3, longest: f32) -> Vec3 {
    let (distance, gradient) = sculpt.distance_and_gradient(p);
    let step = gradient * (distance / gradient.length_squared().max(0.05));
    p - step.clamp_length_max(longest)
}

/// Two triangles for a quad, cut along the diagonal that leaves the larger smallest angle.
fn split(points: &[Vec3], [a, b, c, d]: [u32; 4]) -> [[u32; 3]; 2] {
    let one = [[a, b, c], [a, c, d]];
    let other = [[a, b, d], [b, c, d]];
    let quality = |pair: [[u32; 3]; 2]| {
        let [p, q] = pair.map(|t| t.map(|v| points[v as usize]));
        smallest_angle(p).min(smallest_angle(q))
    };
    if quality(one) >= quality(other) { one } else { other }
}

/// The smallest angle of a triangle [rad].
pub(super) fn smallest_angle([a, b, c]: [Vec3; 3]) -> f32 {
    let at = |p: Vec3, q: Vec3, r: Vec3| (q - p).cross(r - p).length().atan2((q - p).dot(r - p));
    at(a, b, c).min(at(b, c, a)).min(at(c, a, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::sculpt::sphere;

    fn grid() -> Grid {
        let nodes = || mirrored_axis(0.3, |_| 0.02);
        Grid::new(nodes(), nodes(), nodes())
    }

    #[test]
    fn a_sphere_is_meshed_on_its_surface() {
        let mut s = Sculpt::new([1.0; 3]);
        s.add(sphere([0.01, -0.02, 0.03], 0.2), 0.0);
        let mesh = mesh(&s, &grid(), 5);
        for p in &mesh.points {
            assert!((p.distance(Vec3::new(0.01, -0.02, 0.03)) - 0.2).abs() < 2e-6);
        }
        for index in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(index);
            let outward = (a + b + c) / 3.0 - Vec3::new(0.01, -0.02, 0.03);
            assert!((b - a).cross(c - a).dot(outward) > 0.0);
        }
    }

    #[test]
    fn nearly_touching_spheres_give_a_manifold() {
        for i in 0..40 {
            let mut s = Sculpt::new([1.0; 3]);
            let gap = -0.02 + 0.001 * i as f32;
            s.add(sphere([-0.1, -0.003, 0.0], 0.09), 0.0);
            s.add(sphere([0.08 + gap, 0.05, 0.02], 0.09), 0.0);
            let mesh = mesh(&s, &grid(), 0);
            let mut edges = BTreeMap::new();
            for &[a, b, c] in &mesh.triangles {
                for edge in [(a, b), (b, c), (c, a)] {
                    *edges.entry(edge).or_insert(0) += 1;
                }
            }
            assert!(
                edges.iter().all(|(&(a, b), &count)| count == 1 && edges.contains_key(&(b, a))),
                "gap {gap}"
            );
        }
    }
}
