//! The closest point of a triangle, and the feature that it lies on.

use glam::Vec3;

/// The part of a triangle that a closest point lies on. Edge `k` runs from corner `k` to corner `k + 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    Corner(usize),
    Edge(usize),
    Face,
}

/// The closest point of a triangle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closest {
    pub(crate) point: Vec3,
    pub(crate) weights: [f32; 3],
    pub(crate) feature: Feature,
}

/// The point of the triangle `[a, b, c]` closest to `p`, by the Voronoi regions of its corners and edges.
#[inline]
pub(crate) fn closest_point(p: Vec3, [a, b, c]: [Vec3; 3]) -> Closest {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return corner(0, a);
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return corner(1, b);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return edge(0, a, b, d1, -d3);
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return corner(2, c);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return edge(2, c, a, -d6, d2);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return edge(1, b, c, d4 - d3, d5 - d6);
    }
    let sum = va + vb + vc;
    // A triangle that a deformation has collapsed to a point has no region at all.
    if sum <= 0.0 {
        return corner(0, a);
    }
    let (v, w) = (vb / sum, vc / sum);
    Closest { point: a + ab * v + ac * w, weights: [1.0 - v - w, v, w], feature: Feature::Face }
}

/// A triangle made ready for the distances of many points.
pub(crate) struct Prepared {
    corner: Vec3,
    ab: Vec3,
    ac: Vec3,
    normal: Vec3,
    ab_ab: f32,
    ab_ac: f32,
    ac_ac: f32,
    /// One over the squared lengths of the edges ab, ac and bc.
    inverse: [f32; 3],
    /// A ball around the triangle; its centre is a point of it.
    pub(crate) centre: Vec3,
    pub(crate) radius: f32,
}

impl Prepared {
    pub(crate) fn new([a, b, c]: [Vec3; 3], normal: Vec3) -> Self {
        let (ab, ac) = (b - a, c - a);
        let (ab_ab, ab_ac, ac_ac) = (ab.dot(ab), ab.dot(ac), ac.dot(ac));
        let centre = (a + b + c) / 3.0;
        let inverse =
            [ab_ab, ac_ac, (c - b).length_squared()].map(|squared| 1.0 / squared.max(f32::MIN_POSITIVE));
        Self {
            corner: a,
            ab,
            ac,
            normal,
            ab_ab,
            ab_ac,
            ac_ac,
            inverse,
            centre,
            radius: centre.distance(a).max(centre.distance(b)).max(centre.distance(c)),
        }
    }

    /// Of the points from `p` on, a `step` along x apart, those that may be within `reach` of the triangle: the first
    /// and the last, as real numbers of steps. They are near its plane and near the ball around it.
    pub(crate) fn steps_within(&self, p: Vec3, step: f32, reach: f32) -> Option<(f32, f32)> {
        let to_centre = self.centre - p;
        let half_chord =
            (reach + self.radius).powi(2) - to_centre.y * to_centre.y - to_centre.z * to_centre.z;
        if half_chord < 0.0 {
            return None;
        }
        let (middle, half) = (to_centre.x / step, half_chord.sqrt() / step);
        let height = self.normal.dot(p - self.corner);
        let slope = self.normal.x * step;
        // Along the plane every step is as near as the first.
        if slope.abs() < 1e-6 * step {
            return (height.abs() <= reach).then_some((middle - half, middle + half));
        }
        let (a, b) = ((-reach - height) / slope, (reach - height) / slope);
        Some(((middle - half).max(a.min(b)), (middle + half).min(a.max(b))))
    }

    /// The squared distance of `p` if it is below `best`: that of [`closest_point`] up to rounding.
    #[inline]
    pub(crate) fn squared_distance_below(&self, p: Vec3, best: f32) -> Option<f32> {
        let ap = p - self.corner;
        // The plane is never farther than the triangle.
        let height = self.normal.dot(ap);
        if height * height >= best {
            return None;
        }
        let (d1, d2) = (self.ab.dot(ap), self.ac.dot(ap));
        let (d3, d4) = (d1 - self.ab_ab, d2 - self.ab_ac);
        let (d5, d6) = (d1 - self.ab_ac, d2 - self.ac_ac);
        let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
        if va > 0.0 && vb > 0.0 && vc > 0.0 {
            return Some(height * height);
        }
        // Outside one edge the closest point may still lie on the next: take the nearest of the three.
        let along = |from_start: Vec3, edge: Vec3, ahead: f32| {
            (from_start - edge * ahead.clamp(0.0, 1.0)).length_squared()
        };
        let [ab, ac, bc] = self.inverse;
        let squared = along(ap, self.ab, d1 * ab).min(along(ap, self.ac, d2 * ac)).min(along(
            ap - self.ab,
            self.ac - self.ab,
            (d4 - d3) * bc,
        ));
        (squared < best).then_some(squared)
    }
}

fn corner(index: usize, point: Vec3) -> Closest {
    let mut weights = [0.0; 3];
    weights[index] = 1.0;
    Closest { point, weights, feature: Feature::Corner(index) }
}

/// The point that divides edge `index` in the ratio `ahead : left` of the ways from its start and to its end.
fn edge(index: usize, start: Vec3, end: Vec3, ahead: f32, left: f32) -> Closest {
    let length = ahead + left;
    let w = if length > 0.0 { ahead / length } else { 0.0 };
    let mut weights = [0.0; 3];
    weights[index] = 1.0 - w;
    weights[(index + 1) % 3] = w;
    Closest { point: start + (end - start) * w, weights, feature: Feature::Edge(index) }
}
