//! Polygon meshes.

use glam::DMat4;
use hairloom::body::TriMesh;
use hairloom::groom::Values;

use super::reader::Result;
use super::session::{Compound, Session};
use crate::obj::triangulate::triangulate;
use crate::stage::StageMesh;

/// Names under which programs store a colour of a whole mesh.
const COLORS: [&str; 2] = ["displayColor", "Cd"];

impl Session<'_> {
    /// A mesh at a time [s], in triangles that wind counter-clockwise.
    pub(super) fn mesh(&self, object: u32, time: f64, scene_from_file: DMat4) -> Result<StageMesh> {
        let geometry = self.geometry(object)?;
        let points = self.points(object, &geometry, time, scene_from_file)?;
        let counts = self.mesh_integers(object, &geometry, ".faceCounts", time)?;
        let indices = self.mesh_integers(object, &geometry, ".faceIndices", time)?;
        let wrong = |problem: String| self.archive.problem(object, problem);
        let mut corners = Vec::with_capacity(indices.len());
        for (place, &index) in indices.iter().enumerate() {
            match u32::try_from(index) {
                Ok(corner) if (corner as usize) < points.len() => corners.push(corner),
                _ => {
                    let count = points.len();
                    return Err(wrong(format!(
                        ".faceIndices[{place}] is {index}, and there are {count} points, counted from 0"
                    )));
                }
            }
        }
        // Polygons wind clockwise in Alembic.
        let mirrored = self.world_from(object, time)?.determinant() < 0.0;
        self.reader.pay(corners.len() as u64 * 12, 0)?;
        let mut mesh = TriMesh { points, triangles: Vec::new() };
        let mut rest = corners.as_slice();
        for (face, &count) in counts.iter().enumerate() {
            let split = usize::try_from(count).ok().and_then(|count| rest.split_at_checked(count));
            let Some((polygon, after)) = split else {
                return Err(wrong(format!(
                    ".faceCounts[{face}] is {count}, and {} of the .faceIndices are left",
                    rest.len()
                )));
            };
            rest = after;
            let triangles = &mut mesh.triangles;
            triangulate(&mesh.points, polygon, |[a, b, c]| {
                if a != b && b != c && c != a {
                    triangles.push(if mirrored { [a, b, c] } else { [a, c, b] });
                }
            });
        }
        let (name, color) = (self.mesh_name(object), self.color(&geometry, time)?);
        Ok(StageMesh { name, mesh, color, point_colors: Vec::new() })
    }

    fn mesh_integers(&self, object: u32, geometry: &Compound, name: &str, time: f64) -> Result<Vec<i32>> {
        let Some(property) = self.property(geometry, name)? else {
            if self.points_of(object, geometry)?.is_none() {
                return Ok(Vec::new());
            }
            return Err(self.archive.problem(object, format!("it has no {name}")));
        };
        self.integers(&property, self.bracket(&property, time)?.before)
    }

    /// Shapes are named after their transform by most programs, whose name is the one that people gave.
    fn mesh_name(&self, object: u32) -> String {
        let name = self.archive.name(object);
        let parent = self.archive.name(self.archive.objects[object as usize].parent);
        let named_after = !parent.is_empty() && name.starts_with(parent) && name.ends_with("Shape");
        if named_after { parent } else { name }.to_owned()
    }

    fn color(&self, geometry: &Compound, time: f64) -> Result<Option<[f32; 3]>> {
        let Some(params) = self.compound(geometry, ".arbGeomParams")? else { return Ok(None) };
        for name in COLORS {
            if let Some(param) = self.param(&params, name, time)?
                && let Values::Vec3(colors) = param.values
                && let [color] = colors[..]
            {
                return Ok(Some(color.to_array()));
            }
        }
        Ok(None)
    }
}
