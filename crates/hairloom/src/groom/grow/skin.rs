use glam::Vec3;
use parry3d::query::{PointQueryWithLocation, Ray, RayCast};
use parry3d::shape::TriMesh as Shape;

use super::{GrowError, Surface};

/// A point deeper inside than this is taken to be outside, beyond the edge of an open mesh [m].
const DEEPEST: f32 = 0.05;

/// The surface as an obstacle for the strands that grow on it.
pub(super) struct Skin<'a> {
    surface: &'a Surface,
    shape: Shape,
    normals: Vec<Vec3>,
}

/// The nearest place on the skin.
struct Contact {
    point: Vec3,
    normal: Vec3,
    /// Positive outside [m].
    distance: f32,
}

impl<'a> Skin<'a> {
    pub(super) fn new(surface: &'a Surface) -> Result<Self, GrowError> {
        let mesh = &surface.mesh;
        let shape = Shape::new(mesh.points.clone(), mesh.triangles.clone())
            .map_err(|error| GrowError::Mesh { reason: error.to_string() })?;
        Ok(Self { surface, shape, normals: mesh.vertex_normals() })
    }

    /// The smooth normal at a place on a triangle.
    pub(super) fn normal(&self, triangle: u32, weights: [f32; 3]) -> Vec3 {
        let corners = self.surface.mesh.triangles[triangle as usize];
        let sum: Vec3 =
            corners.iter().zip(weights).map(|(&vertex, weight)| self.normals[vertex as usize] * weight).sum();
        sum.normalize_or(Vec3::Y)
    }

    /// Where a ray from `origin` along `direction` first meets the skin, within `reach` [m].
    pub(super) fn hit(&self, origin: Vec3, direction: Vec3, reach: f32) -> Option<Vec3> {
        let time = self.shape.cast_local_ray(&Ray::new(origin, direction), reach, false)?;
        Some(origin + direction * time)
    }

    fn nearest(&self, point: Vec3, reach: f32) -> Option<Contact> {
        let (projection, (triangle, location)) =
            self.shape.project_local_point_and_get_location_with_max_dist(point, false, reach)?;
        let weights = location.barycentric_coordinates()?;
        let normal = self.normal(triangle, weights);
        let offset = point - projection.point;
        let distance = offset.length().copysign(offset.dot(normal));
        Some(Contact { point: projection.point, normal, distance })
    }

    /// One edge of a strand: from `start` along `edge`, turned where needed so that its end keeps `clearance`
    /// [m] from the skin; the edge keeps its length wherever that is possible.
    pub(super) fn advance(&self, start: Vec3, edge: Vec3, clearance: f32) -> Vec3 {
        let length = edge.length();
        let mut end = start + edge;
        for _ in 0..4 {
            let Some(contact) = self.nearest(end, clearance.max(DEEPEST)) else { return end };
            if contact.distance >= clearance * 0.999 {
                return end;
            }
            let pushed = contact.point + contact.normal * clearance;
            end = start + (pushed - start).normalize_or(contact.normal) * length;
        }
        match self.nearest(end, clearance.max(DEEPEST)) {
            Some(contact) if contact.distance < clearance => contact.point + contact.normal * clearance,
            _ => end,
        }
    }

    /// Signed distance to the skin [m], positive outside; `None` beyond `reach`.
    #[cfg(test)]
    pub(super) fn distance(&self, point: Vec3, reach: f32) -> Option<f32> {
        self.nearest(point, reach).map(|contact| contact.distance)
    }
}
