//! Signed distances and velocities on a grid of nodes around a mesh.
//!
//! # Theory
//!
//! As in Müller, Kim and Chentanez, "Fast Simulation of Inextensible Hair and Fur" (2012), section 3.7: the nodes next
//! to the surface get exact distances and the velocity of the closest point; a front marches from them outwards and
//! inwards by the upwind scheme for |∇d| = 1 (Sethian 1995), and each new node takes the average velocity of its known
//! neighbours.
//!
//! # In practice
//!
//! Distances are known in a band of [`BAND`] cells at both sides of the surface and cut off beyond. The scheme is of
//! first order and errs upwards by less than [`MARCHING_ERROR`] cells: it is monotone, so no surface makes it err
//! more than the single closest point alone, and for one point the error can be measured (a test does).

mod build;
mod clearance;
mod march;

use glam::Vec3;

pub(crate) use clearance::LowerClearances;

/// Distances are known up to this many cells from the surface.
pub(crate) const BAND: f32 = 5.0;

/// Nodes within this many cells of the surface get exact distances. At least 1, so that the nodes at both sides of
/// the surface are exact and no front can pass through it.
pub(crate) const EXACT: f32 = 1.2;

/// Marching exceeds the true distance by less than this many cells within the band.
pub(crate) const MARCHING_ERROR: f32 = 1.0;

/// No grid has more nodes than this; cells grow instead.
const MAX_NODES: f64 = 2_097_152.0;

/// Signed distances, and velocities if the surface moves, at the nodes of a grid around a mesh.
#[derive(Debug, Clone)]
pub struct DistanceGrid {
    layout: Layout,
    /// Signed distances at the nodes [m], x fastest.
    distances: Vec<f32>,
    /// Velocities at the nodes [m/s]; empty for a surface that stands still.
    velocities: Vec<Vec3>,
    /// The closest triangles of the nodes next to the surface.
    nearest: Vec<u32>,
    /// The box around the surface itself.
    surface_low: Vec3,
    surface_high: Vec3,
}

/// The nodes of a grid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Position of the first node [m].
    low: Vec3,
    /// Edge of a cell [m], and one over it.
    cell: f32,
    inverse_cell: f32,
    /// Nodes along x, y and z.
    nodes: [usize; 3],
}

impl Layout {
    /// The last node, counted along x, y and z.
    fn last(&self) -> Vec3 {
        let [x, y, z] = self.nodes;
        Vec3::new((x - 1) as f32, (y - 1) as f32, (z - 1) as f32)
    }

    /// Covers a box and the band around it with cells of `cell` or, where those were too many, larger ones.
    fn new(low: Vec3, high: Vec3, cell: f32) -> Self {
        let extent = (high - low).as_dvec3();
        let count = |cell: f64| extent / cell + f64::from(2.0 * BAND + 5.0);
        // Cells finer than the rounding of the coordinates would hold nothing but noise.
        let rounding = 1e-6 * low.abs().max(high.abs()).max_element();
        let mut size = f64::from(cell.max(rounding).max(1e-9));
        while count(size).element_product() > MAX_NODES {
            size *= 1.1;
        }
        let cell = size as f32;
        // One node more than the band at each side: the outermost nodes are a wall that no front needs to pass.
        let margin = BAND + 1.0;
        let nodes = (extent / size).ceil().to_array().map(|n| n as usize + 2 * margin as usize + 1);
        Self { low: low - margin * cell, cell, inverse_cell: 1.0 / cell, nodes }
    }

    fn len(&self) -> usize {
        self.nodes.iter().product()
    }

    /// The distance in the arrays between neighbours along x, y and z.
    fn strides(&self) -> [usize; 3] {
        [1, self.nodes[0], self.nodes[0] * self.nodes[1]]
    }

    fn position(&self, [x, y, z]: [usize; 3]) -> Vec3 {
        self.low + Vec3::new(x as f32, y as f32, z as f32) * self.cell
    }

    /// The cell around a point: the index of its first node and the position of the point within it in [0, 1].
    fn locate(&self, point: Vec3) -> Option<(usize, Vec3)> {
        let at = (point - self.low) * self.inverse_cell;
        // A point that is not a number fails this as well.
        if !(at.cmpge(Vec3::ZERO).all() && at.cmplt(self.last()).all()) {
            return None;
        }
        // Nothing is negative here, so cutting off is rounding down, and quicker.
        let first = at.as_uvec3();
        let [_, row, layer] = self.strides();
        let index = first.x as usize + first.y as usize * row + first.z as usize * layer;
        Some((index, at - first.as_vec3()))
    }
}

impl DistanceGrid {
    /// Edge of a cell [m].
    pub fn cell(&self) -> f32 {
        self.layout.cell
    }

    /// Nodes along x, y and z.
    pub fn nodes(&self) -> [usize; 3] {
        self.layout.nodes
    }

    /// Distances are known up to this from the surface [m].
    pub fn band(&self) -> f32 {
        BAND * self.layout.cell
    }

    /// The signed distance at a point [m] and its gradient, trilinear between the nodes; `None` where a node of the
    /// cell is outside the band or the point outside the grid.
    pub fn distance(&self, point: Vec3) -> Option<(f32, Vec3)> {
        let (first, at) = self.layout.locate(point)?;
        let [_, row, layer] = self.layout.strides();
        let d = &self.distances[first..first + layer + row + 2];
        let corners =
            [d[0], d[1], d[row], d[row + 1], d[layer], d[layer + 1], d[layer + row], d[layer + row + 1]];
        let farthest = corners.iter().fold(0.0f32, |far, d| far.max(d.abs()));
        if farthest >= self.band() {
            return None;
        }
        let [a, b, c, d, e, f, g, h] = corners;
        let mix = |a: f32, b: f32, w: f32| a + (b - a) * w;
        let (ab, cd, ef, gh) = (mix(a, b, at.x), mix(c, d, at.x), mix(e, f, at.x), mix(g, h, at.x));
        let (near, far) = (mix(ab, cd, at.y), mix(ef, gh, at.y));
        let slope_x = mix(mix(b - a, d - c, at.y), mix(f - e, h - g, at.y), at.z);
        let slope = Vec3::new(slope_x, mix(cd - ab, gh - ef, at.z), far - near);
        Some((mix(near, far, at.z), slope * self.layout.inverse_cell))
    }

    /// The velocity of the surface near a point [m/s], trilinear between the nodes; zero outside the grid.
    pub fn velocity(&self, point: Vec3) -> Vec3 {
        if self.velocities.is_empty() {
            return Vec3::ZERO;
        }
        let Some((first, at)) = self.layout.locate(point) else { return Vec3::ZERO };
        let [_, row, layer] = self.layout.strides();
        let v = &self.velocities[first..first + layer + row + 2];
        let near = v[0].lerp(v[1], at.x).lerp(v[row].lerp(v[row + 1], at.x), at.y);
        let far = v[layer].lerp(v[layer + 1], at.x).lerp(v[layer + row].lerp(v[layer + row + 1], at.x), at.y);
        near.lerp(far, at.z)
    }

    /// A triangle that is probably among the closest to a point, if that is near the surface.
    pub(crate) fn close_triangle(&self, point: Vec3) -> Option<u32> {
        Some(self.nearest[self.nearest_node(point)]).filter(|&triangle| triangle != build::NONE)
    }

    /// How deep inside a point is at least [m], if the node nearest to it is deeper than the band.
    pub(crate) fn depth(&self, point: Vec3) -> Option<f32> {
        let deep = self.distances[self.nearest_node(point)] <= -self.band();
        // The node is no more than half the diagonal of a cell away, and marching errs outwards.
        deep.then(|| self.band() - (1.0 + MARCHING_ERROR) * self.layout.cell)
    }

    /// The node nearest to a point.
    fn nearest_node(&self, point: Vec3) -> usize {
        let [_, row, layer] = self.layout.strides();
        let at = (point - self.layout.low) * self.layout.inverse_cell;
        let node = (at + 0.5).max(Vec3::ZERO).min(self.layout.last()).as_uvec3();
        node.x as usize + node.y as usize * row + node.z as usize * layer
    }
}

#[cfg(test)]
impl DistanceGrid {
    /// By how many cells a node exceeds the true unsigned distance at most, of the nodes inside the band.
    pub(crate) fn node_error(&self, truth: impl Fn(Vec3) -> f32) -> f32 {
        let [_, row, layer] = self.layout.strides();
        let position = |node: usize| self.layout.position([node % row, node % layer / row, node / layer]);
        let inside = self.distances.iter().enumerate().filter(|(_, d)| d.abs() < self.band());
        inside.map(|(node, d)| (d.abs() - truth(position(node))) / self.cell()).fold(0.0, f32::max)
    }
}
