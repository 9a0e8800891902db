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

impl TriMesh {
    /// A capsule along y about the origin; a sphere where the half height is 0.
    pub fn capsule(radius: f32, half_height: f32) -> Self {
        const AROUND: u32 = 32;
        const RINGS: u32 = 8;
        let mut mesh = Self { points: vec![Vec3::Y * (half_height + radius)], triangles: Vec::new() };
        // Rings of the upper half ball from near the pole to the equator, then of the lower one.
        let angles = (1..=RINGS)
            .map(|ring| (ring, half_height))
            .chain((RINGS..2 * RINGS).map(|ring| (ring, -half_height)));
        for (ring, shift) in angles {
            let polar = std::f32::consts::FRAC_PI_2 * ring as f32 / RINGS as f32;
            for step in 0..AROUND {
                let around = std::f32::consts::TAU * step as f32 / AROUND as f32;
                let flat = Vec3::new(around.sin(), 0.0, around.cos()) * (radius * polar.sin());
                mesh.points.push(flat + Vec3::Y * (radius * polar.cos() + shift));
            }
        }
        mesh.points.push(Vec3::NEG_Y * (half_height + radius));
        let (rings, south) = (2 * RINGS, mesh.points.len() as u32 - 1);
        for step in 0..AROUND {
            let next = (step + 1) % AROUND;
            mesh.triangles.push([0, 1 + step, 1 + next]);
            for ring in 0..rings - 1 {
                let (upper, lower) = (1 + ring * AROUND, 1 + (ring + 1) * AROUND);
                mesh.triangles.push([upper + step, lower + step, lower + next]);
                mesh.triangles.push([upper + step, lower + next, upper + next]);
            }
            let last = 1 + (rings - 1) * AROUND;
            mesh.triangles.push([last + step, south, last + next]);
        }
        // Without a cylinder between them the two equators coincide.
        mesh.triangles.retain(|&[a, b, c]| {
            let p = |i: u32| mesh.points[i as usize];
            (p(b) - p(a)).cross(p(c) - p(a)).length_squared() > 0.0
        });
        mesh
    }
}
