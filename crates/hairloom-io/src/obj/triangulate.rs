use glam::Vec3;

/// Calls `emit` with the triangles of a polygon, given as indices into `points`.
///
/// Quads are split along the diagonal whose two triangles agree best in direction: a concave quad has only
/// one that does not fold over. Longer polygons become a fan from their first corner.
pub(super) fn triangulate(points: &[Vec3], polygon: &[u32], mut emit: impl FnMut([u32; 3])) {
    match *polygon {
        [a, b, c, d] => {
            let [pa, pb, pc, pd] = [a, b, c, d].map(|corner| points[corner as usize]);
            if agreement([pa, pb, pc], [pa, pc, pd]) < 0.0 && agreement([pb, pc, pd], [pb, pd, pa]) > 0.0 {
                emit([b, c, d]);
                emit([b, d, a]);
            } else {
                emit([a, b, c]);
                emit([a, c, d]);
            }
        }
        [first, ref others @ ..] => {
            for pair in others.windows(2) {
                emit([first, pair[0], pair[1]]);
            }
        }
        [] => {}
    }
}

/// Positive if two triangles face the same way, negative if they face against each other.
fn agreement(one: [Vec3; 3], other: [Vec3; 3]) -> f64 {
    // In f64, where the products of f32 coordinates cannot overflow.
    let normal = |corners: [Vec3; 3]| {
        let [a, b, c] = corners.map(Vec3::as_dvec3);
        (b - a).cross(c - a)
    };
    normal(one).dot(normal(other))
}
