//! Polygons and strands from the counts of their points, as USD and Alembic both have them.

use glam::Vec3;
use hairloom::body::TriMesh;

use crate::obj::triangulate::triangulate;

/// Where each strand begins, if the counts describe the points; `name` is that of the counts, for messages.
pub(crate) fn strand_offsets(counts: &[i32], points: usize, name: &str) -> Result<Vec<u32>, String> {
    let mut offsets = Vec::with_capacity(counts.len() + 1);
    let mut end = 0_u32;
    offsets.push(0);
    for (strand, &count) in counts.iter().enumerate() {
        let next = u32::try_from(count).ok().and_then(|count| end.checked_add(count));
        match next {
            Some(next) if next as usize <= points => end = next,
            _ => {
                let left = points.saturating_sub(end as usize);
                return Err(format!(
                    "{name}[{strand}] is {count}, and {left} of the {points} points are left"
                ));
            }
        }
        offsets.push(end);
    }
    if end as usize != points {
        return Err(format!("{name} add up to {end}, and there are {points} points"));
    }
    Ok(offsets)
}

/// The corners of polygons, one polygon after the other.
pub(crate) struct Polygons<'a> {
    /// How many corners each has, and what the file calls that.
    pub(crate) counts: (&'a [i32], &'static str),
    /// The points at the corners, and what the file calls them.
    pub(crate) corners: (&'a [i32], &'static str),
    /// Whether they wind clockwise seen from outside.
    pub(crate) clockwise: bool,
}

impl Polygons<'_> {
    /// The polygons in triangles that wind counter-clockwise; those without an area of their own are left out.
    pub(crate) fn mesh(&self, points: Vec<Vec3>) -> Result<TriMesh, String> {
        let (counts, counts_name) = self.counts;
        let (indices, indices_name) = self.corners;
        let mut corners = Vec::with_capacity(indices.len());
        for (place, &index) in indices.iter().enumerate() {
            match u32::try_from(index) {
                Ok(corner) if (corner as usize) < points.len() => corners.push(corner),
                _ => {
                    let count = points.len();
                    return Err(format!(
                        "{indices_name}[{place}] is {index}, and there are {count} points, counted from 0"
                    ));
                }
            }
        }
        let mut mesh = TriMesh { points, triangles: Vec::new() };
        let mut rest = corners.as_slice();
        for (face, &count) in counts.iter().enumerate() {
            let split = usize::try_from(count).ok().and_then(|count| rest.split_at_checked(count));
            let Some((polygon, after)) = split else {
                let left = rest.len();
                return Err(format!(
                    "{counts_name}[{face}] is {count}, and {left} of the {indices_name} are left"
                ));
            };
            rest = after;
            let triangles = &mut mesh.triangles;
            triangulate(&mesh.points, polygon, |[a, b, c]| {
                if a != b && b != c && c != a {
                    triangles.push(if self.clockwise { [a, c, b] } else { [a, b, c] });
                }
            });
        }
        Ok(mesh)
    }
}
