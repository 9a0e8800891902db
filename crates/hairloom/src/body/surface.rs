//! Exact closest points of a triangle mesh through a bounding-volume hierarchy.

use glam::Vec3;
use parry3d::bounding_volume::Aabb;
use parry3d::partitioning::{Bvh, BvhBuildStrategy};
use rayon::prelude::*;

use super::topology::Topology;
use super::triangle::{Closest, Feature, closest_point};

/// The point of a mesh surface closest to a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint {
    /// The triangle that it lies on.
    pub triangle: usize,
    /// Its barycentric weights at the corners of the triangle.
    pub weights: [f32; 3],
    /// Its position [m].
    pub point: Vec3,
    /// Signed distance of the query from it [m], negative inside.
    pub distance: f32,
    /// Outward unit normal: along the gradient of the distance.
    pub normal: Vec3,
}

/// The surface of a mesh at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Surface {
    pub(crate) points: Vec<Vec3>,
    bvh: Bvh,
    /// The corners of the triangles that count, side by side for speed.
    faces: Vec<[Vec3; 3]>,
    /// Unit normals of all triangles; zero where one has collapsed.
    face_normals: Vec<Vec3>,
    /// Angle-weighted normals at the welded vertices; not of unit length.
    vertex_normals: Vec<Vec3>,
}

impl Surface {
    /// The surface with its vertices at `points`.
    pub(crate) fn new(topology: &Topology, points: Vec<Vec3>) -> Self {
        let mut surface = Self {
            points,
            bvh: Bvh::new(),
            faces: Vec::new(),
            face_normals: Vec::new(),
            vertex_normals: Vec::new(),
        };
        surface.find_faces(topology);
        let boxes: Vec<Aabb> = surface.faces.iter().map(|&face| bounds(face)).collect();
        surface.bvh = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        surface.find_normals(topology);
        surface
    }

    /// Moves the vertices to `points`. The tree of the hierarchy stays that of the first shape: then the answers do
    /// not depend on the shapes before, and refitting costs a fraction of building.
    pub(crate) fn move_to(&mut self, topology: &Topology, points: impl Iterator<Item = Vec3>) {
        self.points.clear();
        self.points.extend(points);
        self.find_faces(topology);
        for (leaf, &face) in self.faces.iter().enumerate() {
            self.bvh.update_partially_if_present(bounds(face), leaf as u32, 0.0);
        }
        self.bvh.refit_without_opt();
        self.find_normals(topology);
    }

    fn find_faces(&mut self, topology: &Topology) {
        let mut faces = std::mem::take(&mut self.faces);
        faces.clear();
        faces.extend(topology.kept.iter().map(|&triangle| self.corners(topology, triangle)));
        self.faces = faces;
    }

    fn find_normals(&mut self, topology: &Topology) {
        let mut normals = std::mem::take(&mut self.face_normals);
        let normal = |triangle: u32| {
            let [a, b, c] = self.corners(topology, triangle);
            (b - a).cross(c - a).normalize_or_zero()
        };
        (0..topology.triangles.len() as u32)
            .into_par_iter()
            .with_min_len(1024)
            .map(normal)
            .collect_into_vec(&mut normals);
        self.face_normals = normals;
        let mut normals = std::mem::take(&mut self.vertex_normals);
        normals.resize(self.points.len(), Vec3::ZERO);
        normals.par_iter_mut().enumerate().with_min_len(256).for_each(|(v, normal)| {
            if topology.welded[v] == v as u32 {
                *normal = self.vertex_normal(topology, v as u32);
            }
        });
        self.vertex_normals = normals;
    }

    /// The unit normal of a triangle; zero if it has collapsed.
    pub(crate) fn face_normal(&self, triangle: u32) -> Vec3 {
        self.face_normals[triangle as usize]
    }

    /// The corners of the triangles that count, in the order of [`Topology::kept`].
    pub(crate) fn faces(&self) -> &[[Vec3; 3]] {
        &self.faces
    }

    /// The longest side of the box around the triangles [m].
    pub(crate) fn extent(&self) -> f32 {
        let (low, high) = self.bounds();
        (high - low).max_element()
    }

    /// The box around the triangles.
    pub(crate) fn bounds(&self) -> (Vec3, Vec3) {
        let corners = self.faces.iter().flatten();
        corners.fold((Vec3::MAX, Vec3::MIN), |(low, high), &p| (low.min(p), high.max(p)))
    }

    /// The corners of a triangle.
    #[inline]
    pub(crate) fn corners(&self, topology: &Topology, triangle: u32) -> [Vec3; 3] {
        topology.triangles[triangle as usize].map(|v| self.points[v as usize])
    }

    /// The exact closest point, if it is nearer than `reach`.
    pub(crate) fn closest(&self, topology: &Topology, point: Vec3, reach: f32) -> Option<SurfacePoint> {
        let (leaf, (_, closest)) = self.bvh.find_best(
            reach * reach,
            |node, _| (node.mins() - point).max(point - node.maxs()).max(Vec3::ZERO).length_squared(),
            |leaf, _| {
                let closest = closest_point(point, self.faces[leaf as usize]);
                Some((closest.point.distance_squared(point), closest))
            },
        )?;
        Some(self.signed(topology, point, topology.kept[leaf as usize], closest))
    }

    /// As [`closest`](Self::closest) at any distance, with a triangle to begin with that is probably close: then the
    /// search has little left to look at.
    pub(crate) fn closest_from(
        &self,
        topology: &Topology,
        point: Vec3,
        guess: Option<u32>,
    ) -> Option<SurfacePoint> {
        let Some(triangle) = guess else { return self.closest(topology, point, f32::INFINITY) };
        let closest = closest_point(point, self.corners(topology, triangle));
        self.closest(topology, point, closest.point.distance(point))
            .or_else(|| Some(self.signed(topology, point, triangle, closest)))
    }

    /// Completes a closest point by the side of the surface that the query is on. For a closed surface the
    /// angle-weighted normal of the closest feature tells it (Baerentzen and Aanaes 2005). Where a surface ends,
    /// a query is inside only if it lies more behind the rim than beyond it.
    pub(crate) fn signed(
        &self,
        topology: &Topology,
        point: Vec3,
        triangle: u32,
        closest: Closest,
    ) -> SurfacePoint {
        let (normal, rim) = self.feature_normal(topology, triangle, closest.feature);
        let offset = point - closest.point;
        let distance = offset.length();
        let height = offset.dot(normal);
        let inside = if rim {
            height < -std::f32::consts::FRAC_1_SQRT_2 * distance * normal.length()
        } else {
            height < 0.0
        };
        let sign = if inside { -1.0 } else { 1.0 };
        // Closer than rounding the offset has no direction left.
        let scale = closest.point.abs().max_element();
        let gradient =
            if distance > 4.0 * f32::EPSILON * scale { offset * (sign / distance) } else { Vec3::ZERO };
        SurfacePoint {
            triangle: triangle as usize,
            weights: closest.weights,
            point: closest.point,
            distance: sign * distance,
            normal: gradient.try_normalize().unwrap_or_else(|| normal.normalize_or(Vec3::Y)),
        }
    }

    /// The angle-weighted normal of a feature (of any length), and whether the surface ends there.
    fn feature_normal(&self, topology: &Topology, triangle: u32, feature: Feature) -> (Vec3, bool) {
        match feature {
            Feature::Face => (self.face_normal(triangle), false),
            Feature::Edge(k) => {
                let around = topology.at_edge(triangle, k);
                (around.iter().map(|&other| self.face_normal(other)).sum(), around.len() == 1)
            }
            Feature::Corner(k) => {
                let v = topology.triangles[triangle as usize][k];
                (self.vertex_normals[topology.welded[v as usize] as usize], topology.on_rim(v))
            }
        }
    }

    fn vertex_normal(&self, topology: &Topology, vertex: u32) -> Vec3 {
        let welded = topology.welded[vertex as usize];
        let mut normal = Vec3::ZERO;
        for &triangle in topology.at_vertex(vertex) {
            let corners = topology.triangles[triangle as usize];
            let at = corners.iter().position(|&v| topology.welded[v as usize] == welded).unwrap_or(0);
            let [a, b, c] = [0, 1, 2].map(|k| self.points[corners[(at + k) % 3] as usize]);
            let (u, v) = ((b - a).normalize_or_zero(), (c - a).normalize_or_zero());
            normal += self.face_normal(triangle) * u.dot(v).clamp(-1.0, 1.0).acos();
        }
        normal
    }
}

fn bounds([a, b, c]: [Vec3; 3]) -> Aabb {
    Aabb::new(a.min(b).min(c), a.max(b).max(c))
}
