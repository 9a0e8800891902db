//! Closed-form distances of the simple shapes, in their own frames.

use glam::Vec3;

/// Signed distance [m] and outward normal of the plane y = 0.
pub(crate) fn plane(point: Vec3) -> (f32, Vec3) {
    (point.y, Vec3::Y)
}

/// Signed distance [m] and outward normal of a sphere around the origin.
pub(crate) fn sphere(point: Vec3, radius: f32) -> (f32, Vec3) {
    let distance = point.length();
    (distance - radius, point.try_normalize().unwrap_or(Vec3::Y))
}

/// Signed distance [m] and outward normal of a capsule along the y axis.
pub(crate) fn capsule(point: Vec3, radius: f32, half_height: f32) -> (f32, Vec3) {
    let core = Vec3::Y * point.y.clamp(-half_height.max(0.0), half_height.max(0.0));
    let offset = point - core;
    // On the core every horizontal direction is as good.
    (offset.length() - radius, offset.try_normalize().unwrap_or(Vec3::X))
}
