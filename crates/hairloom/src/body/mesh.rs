use glam::Vec3;

/// A triangle mesh. Triangles wind counter-clockwise seen from outside.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions [m].
    pub points: Vec<Vec3>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

impl TriMesh {
    /// The corners of triangle `index`.
    pub fn corners(&self, index: usize) -> [Vec3; 3] {
        self.triangles[index].map(|vertex| self.points[vertex as usize])
    }

    /// Normals at the vertices, weighted by the area of the triangles around, of unit length.
    pub fn vertex_normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::ZERO; self.points.len()];
        for (index, triangle) in self.triangles.iter().enumerate() {
            let [a, b, c] = self.corners(index);
            let area = (b - a).cross(c - a);
            for &vertex in triangle {
                normals[vertex as usize] += area;
            }
        }
        normals.iter().map(|normal| normal.normalize_or(Vec3::Y)).collect()
    }

    /// The smallest and largest corner of the box around all points; `None` for an empty mesh.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let first = *self.points.first()?;
        Some(self.points.iter().fold((first, first), |(low, high), &p| (low.min(p), high.max(p))))
    }
}
