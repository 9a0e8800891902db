//! Exact closest points of a triangle mesh that stands still or deforms, through a bounding-volume hierarchy.

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

/// A mesh in motion during one step: its points go straight from `start` to `end`.
#[derive(Debug, Clone)]
pub(crate) struct Surface {
    pub(crate) end: Vec<Vec3>,
    /// Empty for a surface that stands still.
    pub(crate) start: Vec<Vec3>,
    bvh: Bvh,
    /// The corners of the triangles that count at the end, side by side for speed.
    faces: Vec<[Vec3; 3]>,
    /// Angle-weighted normals at the welded vertices, at the end; not of unit length.
    vertex_normals: Vec<Vec3>,
}

impl Surface {
    /// A surface that stands still.
    pub(crate) fn new(topology: &Topology, points: Vec<Vec3>) -> Self {
        let mut surface = Self {
            end: points,
            start: Vec::new(),
            bvh: Bvh::new(),
            faces: Vec::new(),
            vertex_normals: Vec::new(),
        };
        surface.find_faces(topology);
        let boxes: Vec<Aabb> = surface.faces.iter().map(|&face| bounds(face)).collect();
        surface.bvh = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        surface.find_vertex_normals(topology);
        surface
    }

    /// Moves the surface to the motion of a new step. The boxes hold the whole way of each triangle, so that one
    /// hierarchy serves every moment of the step. Its tree stays that of the first shape: then the answers do
    /// not depend on the steps before, and refitting costs a fraction of building (see the benchmark test).
    pub(crate) fn set_motion(&mut self, topology: &Topology, start: &[Vec3], end: &[Vec3]) {
        self.start.clear();
        self.start.extend_from_slice(start);
        self.end.clear();
        self.end.extend_from_slice(end);
        self.find_faces(topology);
        for (leaf, &triangle) in topology.kept.iter().enumerate() {
            let mut swept = bounds(self.corners(topology, triangle, 0.0));
            let last = bounds(self.faces[leaf]);
            swept.mins = swept.mins.min(last.mins);
            swept.maxs = swept.maxs.max(last.maxs);
            self.bvh.update_partially_if_present(swept, leaf as u32, 0.0);
        }
        self.bvh.refit_without_opt();
        self.find_vertex_normals(topology);
    }

    fn find_faces(&mut self, topology: &Topology) {
        let mut faces = std::mem::take(&mut self.faces);
        faces.clear();
        faces.extend(topology.kept.iter().map(|&triangle| self.corners(topology, triangle, 1.0)));
        self.faces = faces;
    }

    fn find_vertex_normals(&mut self, topology: &Topology) {
        let mut normals = std::mem::take(&mut self.vertex_normals);
        normals.resize(self.end.len(), Vec3::ZERO);
        normals.par_iter_mut().enumerate().with_min_len(256).for_each(|(v, normal)| {
            if topology.welded[v] == v as u32 {
                *normal = self.vertex_normal(topology, v as u32, 1.0);
            }
        });
        self.vertex_normals = normals;
    }

    /// The longest side of the box around the triangles at the end [m].
    pub(crate) fn extent(&self, topology: &Topology) -> f32 {
        let (low, high) = self.bounds(topology);
        (high - low).max_element()
    }

    /// The box around the triangles at the end.
    pub(crate) fn bounds(&self, topology: &Topology) -> (Vec3, Vec3) {
        let corners = topology.kept.iter().flat_map(|&t| self.corners(topology, t, 1.0));
        corners.fold((Vec3::MAX, Vec3::MIN), |(low, high), p| (low.min(p), high.max(p)))
    }

    /// Vertex `v` at fraction `t` of the step.
    #[inline]
    pub(crate) fn vertex(&self, v: u32, t: f32) -> Vec3 {
        let end = self.end[v as usize];
        if t == 1.0 || self.start.is_empty() { end } else { self.start[v as usize].lerp(end, t) }
    }

    /// The corners of a triangle at fraction `t` of the step.
    #[inline]
    pub(crate) fn corners(&self, topology: &Topology, triangle: u32, t: f32) -> [Vec3; 3] {
        let [a, b, c] = topology.triangles[triangle as usize];
        [self.vertex(a, t), self.vertex(b, t), self.vertex(c, t)]
    }

    /// The exact closest point at fraction `t` of the step, if it is nearer than `reach`.
    pub(crate) fn closest(
        &self,
        topology: &Topology,
        point: Vec3,
        t: f32,
        reach: f32,
    ) -> Option<SurfacePoint> {
        let at_end = t == 1.0 || self.start.is_empty();
        let (leaf, (_, closest)) = self.bvh.find_best(
            reach * reach,
            |node, _| (node.mins() - point).max(point - node.maxs()).max(Vec3::ZERO).length_squared(),
            |leaf, _| {
                let leaf = leaf as usize;
                let corners =
                    if at_end { self.faces[leaf] } else { self.corners(topology, topology.kept[leaf], t) };
                let closest = closest_point(point, corners);
                Some((closest.point.distance_squared(point), closest))
            },
        )?;
        Some(self.signed(topology, point, t, topology.kept[leaf as usize], closest))
    }

    /// As [`closest`](Self::closest) at any distance, at the end of the step, with a triangle to begin with that is
    /// probably close: then the search has little left to look at.
    pub(crate) fn closest_from(
        &self,
        topology: &Topology,
        point: Vec3,
        guess: Option<u32>,
    ) -> Option<SurfacePoint> {
        let Some(triangle) = guess else { return self.closest(topology, point, 1.0, f32::INFINITY) };
        let closest = closest_point(point, self.corners(topology, triangle, 1.0));
        self.closest(topology, point, 1.0, closest.point.distance(point))
            .or_else(|| Some(self.signed(topology, point, 1.0, triangle, closest)))
    }

    /// Completes a closest point by the side of the surface that the query is on. For a closed surface the
    /// angle-weighted normal of the closest feature tells it (Baerentzen and Aanaes 2005). Where a surface ends,
    /// a query is inside only if it lies more behind the rim than beyond it.
    pub(crate) fn signed(
        &self,
        topology: &Topology,
        point: Vec3,
        t: f32,
        triangle: u32,
        closest: Closest,
    ) -> SurfacePoint {
        let (normal, rim) = self.feature_normal(topology, triangle, closest.feature, t);
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
    fn feature_normal(&self, topology: &Topology, triangle: u32, feature: Feature, t: f32) -> (Vec3, bool) {
        match feature {
            Feature::Face => (self.face_normal(topology, triangle, t), false),
            Feature::Edge(k) => {
                let around = topology.at_edge(triangle, k);
                (around.iter().map(|&other| self.face_normal(topology, other, t)).sum(), around.len() == 1)
            }
            Feature::Corner(k) => {
                let v = topology.triangles[triangle as usize][k];
                let normal = if t == 1.0 || self.start.is_empty() {
                    self.vertex_normals[topology.welded[v as usize] as usize]
                } else {
                    self.vertex_normal(topology, v, t)
                };
                (normal, topology.on_rim(v))
            }
        }
    }

    /// The unit normal of a triangle; zero if it has collapsed.
    fn face_normal(&self, topology: &Topology, triangle: u32, t: f32) -> Vec3 {
        let [a, b, c] = self.corners(topology, triangle, t);
        (b - a).cross(c - a).normalize_or_zero()
    }

    fn vertex_normal(&self, topology: &Topology, vertex: u32, t: f32) -> Vec3 {
        let welded = topology.welded[vertex as usize];
        let mut normal = Vec3::ZERO;
        for &triangle in topology.at_vertex(vertex) {
            let corners = topology.triangles[triangle as usize];
            let at = corners.iter().position(|&v| topology.welded[v as usize] == welded).unwrap_or(0);
            let [a, b, c] = [0, 1, 2].map(|k| self.vertex(corners[(at + k) % 3], t));
            let (u, v) = ((b - a).normalize_or_zero(), (c - a).normalize_or_zero());
            normal += u.cross(v).normalize_or_zero() * u.dot(v).clamp(-1.0, 1.0).acos();
        }
        normal
    }
}

fn bounds([a, b, c]: [Vec3; 3]) -> Aabb {
    Aabb::new(a.min(b).min(c), a.max(b).max(c))
}
