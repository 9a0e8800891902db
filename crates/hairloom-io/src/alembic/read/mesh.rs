//! Polygon meshes.

use glam::DMat4;
use hairloom::groom::Values;

use super::reader::Result;
use super::session::{Compound, Session};
use crate::counts::Polygons;
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
        let mirrored = self.world_from(object, time)?.determinant() < 0.0;
        self.reader.pay(indices.len() as u64 * 12, 0)?;
        let polygons = Polygons {
            counts: (&counts, ".faceCounts"),
            corners: (&indices, ".faceIndices"),
            // As Alembic has them.
            clockwise: !mirrored,
        };
        let mesh = polygons.mesh(points).map_err(|problem| self.archive.problem(object, problem))?;
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
