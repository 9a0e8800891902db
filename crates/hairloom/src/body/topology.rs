//! Which triangles of a mesh meet at its edges and vertices.

use glam::Vec3;

use super::{BodyError, TriMesh};

/// The connections of a mesh, after its degenerate triangles are dropped and vertices at the same place welded.
#[derive(Debug, Clone)]
pub(crate) struct Topology {
    /// All triangles of the mesh, those dropped too.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The triangles that have an area, ascending.
    pub(crate) kept: Vec<u32>,
    /// The vertex that stands for all vertices at the same place.
    pub(crate) welded: Vec<u32>,
    /// The edges of each triangle; edge `k` runs from corner `k` to corner `k + 1`. Meaningless for a dropped one.
    edges: Vec<[u32; 3]>,
    edge_triangles: Rows,
    vertex_triangles: Rows,
    /// Vertices (welded) on an edge that has one triangle only.
    on_rim: Vec<bool>,
}

/// Lists of numbers, one list a row, in one array.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    offsets: Vec<u32>,
    values: Vec<u32>,
}

impl Rows {
    /// Collects `(row, value)` pairs; values keep their order within a row.
    pub(crate) fn collect(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut offsets = vec![0u32; rows + 1];
        for (row, _) in pairs.clone() {
            offsets[row as usize + 1] += 1;
        }
        for row in 0..rows {
            offsets[row + 1] += offsets[row];
        }
        let mut next = offsets.clone();
        let mut values = vec![0; offsets[rows] as usize];
        for (row, value) in pairs {
            values[next[row as usize] as usize] = value;
            next[row as usize] += 1;
        }
        Self { offsets, values }
    }

    pub(crate) fn row(&self, row: u32) -> &[u32] {
        &self.values[self.offsets[row as usize] as usize..self.offsets[row as usize + 1] as usize]
    }
}

impl Topology {
    /// Checks a mesh and finds its connections.
    pub(crate) fn new(mesh: &TriMesh) -> Result<Self, BodyError> {
        check(mesh)?;
        let kept: Vec<u32> =
            (0..mesh.triangles.len() as u32).filter(|&t| has_area(mesh.corners(t as usize))).collect();
        if kept.is_empty() {
            return Err(BodyError::NoTriangles);
        }
        let welded = weld(&mesh.points);
        let side = |t: u32, k: usize| {
            let triangle = mesh.triangles[t as usize];
            let (a, b) = (welded[triangle[k] as usize], welded[triangle[(k + 1) % 3] as usize]);
            (a.min(b), a.max(b))
        };
        let mut sides: Vec<((u32, u32), u32, usize)> =
            kept.iter().flat_map(|&t| (0..3).map(move |k| (t, k))).map(|(t, k)| (side(t, k), t, k)).collect();
        sides.sort_unstable();
        let mut edges = vec![[0; 3]; mesh.triangles.len()];
        let mut pairs = Vec::with_capacity(sides.len());
        let mut count = 0;
        for (index, &(ends, t, k)) in sides.iter().enumerate() {
            count += u32::from(index == 0 || sides[index - 1].0 != ends);
            edges[t as usize][k] = count - 1;
            pairs.push((count - 1, t));
        }
        let edge_triangles = Rows::collect(count as usize, pairs.iter().copied());
        let mut on_rim = vec![false; mesh.points.len()];
        for (&((a, b), ..), &(edge, _)) in sides.iter().zip(&pairs) {
            if edge_triangles.row(edge).len() == 1 {
                on_rim[a as usize] = true;
                on_rim[b as usize] = true;
            }
        }
        let corners = kept.iter().flat_map(|&t| mesh.triangles[t as usize].map(|v| (welded[v as usize], t)));
        let vertex_triangles = Rows::collect(mesh.points.len(), corners);
        Ok(Self {
            triangles: mesh.triangles.clone(),
            kept,
            edges,
            edge_triangles,
            vertex_triangles,
            on_rim,
            welded,
        })
    }

    /// The triangles at edge `k` of a triangle.
    pub(crate) fn at_edge(&self, triangle: u32, k: usize) -> &[u32] {
        self.edge_triangles.row(self.edges[triangle as usize][k])
    }

    /// The triangles around a vertex and those welded to it.
    pub(crate) fn at_vertex(&self, vertex: u32) -> &[u32] {
        self.vertex_triangles.row(self.welded[vertex as usize])
    }

    /// Whether the surface ends at a vertex.
    pub(crate) fn on_rim(&self, vertex: u32) -> bool {
        self.on_rim[self.welded[vertex as usize] as usize]
    }

    /// Whether every edge has two triangles or more, so that inside and outside are told apart everywhere.
    pub(crate) fn is_closed(&self) -> bool {
        !self.on_rim.contains(&true)
    }
}

fn check(mesh: &TriMesh) -> Result<(), BodyError> {
    if let Some(vertex) = mesh.points.iter().position(|&p| !usable(p)) {
        return Err(BodyError::BadVertex { vertex });
    }
    let count = mesh.points.len();
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= count) {
            return Err(BodyError::VertexOutOfRange { triangle, vertex, count });
        }
    }
    Ok(())
}

/// Whether a position is a number small enough that its square makes sense.
pub(crate) fn usable(point: Vec3) -> bool {
    point.abs().cmplt(Vec3::splat(1e6)).all()
}

/// Whether the height of a triangle is more than rounding of its longest edge.
fn has_area(corners: [Vec3; 3]) -> bool {
    let [a, b, c] = corners.map(|p| p.as_dvec3());
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    (b - a).cross(c - a).length() > 1e-7 * longest
}

/// For each point the first point at exactly the same place (texture seams split the vertices of many files).
fn weld(points: &[Vec3]) -> Vec<u32> {
    // Adding zero turns -0 into +0, which has the same place but other bits.
    let key = |v: u32| (points[v as usize] + Vec3::ZERO).to_array().map(f32::to_bits);
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_unstable_by_key(|&v| (key(v), v));
    let mut welded = vec![0; points.len()];
    let mut first = 0;
    for (rank, &v) in order.iter().enumerate() {
        if rank == 0 || key(order[rank - 1]) != key(v) {
            first = v;
        }
        welded[v as usize] = first;
    }
    welded
}
