use glam::{DVec3, Vec3};

/// Longer polygons become a fan from their first corner whatever their shape: the search for a better corner takes
/// time that grows with the square of the corners.
const LONGEST_SEARCHED: usize = 32;

/// Calls `emit` with the triangles of a polygon, given as indices into `points`: a fan from the first corner
/// from which no triangle folds over. Convex polygons always have one, and so have quads that do not cross themselves.
pub(crate) fn triangulate(points: &[Vec3], polygon: &[u32], mut emit: impl FnMut([u32; 3])) {
    let apex = match polygon.len() {
        4..=LONGEST_SEARCHED => apex_without_folds(points, polygon).unwrap_or(0),
        _ => 0,
    };
    for triangle in fan(polygon, apex) {
        emit(triangle);
    }
}

/// The triangles from corner `apex` to every edge that does not touch it.
fn fan(polygon: &[u32], apex: usize) -> impl Iterator<Item = [u32; 3]> + '_ {
    let (before, from_apex) = polygon.split_at(apex.min(polygon.len()));
    let around = from_apex.iter().chain(before).copied();
    let others = around.clone().skip(1);
    (others.clone().zip(others.skip(1))).flat_map(move |(b, c)| around.clone().next().map(|a| [a, b, c]))
}

fn apex_without_folds(points: &[Vec3], polygon: &[u32]) -> Option<usize> {
    // The areas of any fan add up to the area of the polygon, folds or not.
    let area: DVec3 = fan(polygon, 0).map(|triangle| doubled_area(points, triangle)).sum();
    (0..polygon.len())
        .find(|&apex| fan(polygon, apex).all(|triangle| doubled_area(points, triangle).dot(area) >= 0.0))
}

/// Twice the area of a triangle along its normal; in f64, where coordinates of f32 cannot overflow.
fn doubled_area(points: &[Vec3], triangle: [u32; 3]) -> DVec3 {
    let [a, b, c] = triangle.map(|corner| points[corner as usize].as_dvec3());
    (b - a).cross(c - a)
}
