//! Bodies: a transform and a polygon mesh each.

use glam::{DMat4, Vec3};
use hairloom::body::TriMesh;

use super::hair::{BOUNDS, BOX, POINTS, TRIPLE, WHOLE, bounds, integers, triples};
use super::{PropertyId, Result, Writer};
use crate::alembic::header::{DataType, Pod};

/// The one operation of our transforms: a matrix.
const MATRIX: [u8; 1] = [3 << 4];

/// The properties of a body that change.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum BodySamples {
    Rigid { inherits: PropertyId, matrix: PropertyId },
    Deforming { points: PropertyId, bounds: PropertyId },
}

impl Writer {
    /// Adds a body with all of it that never changes.
    pub(in super::super) fn add_body(
        &mut self,
        name: &str,
        mesh: &TriMesh,
        color: [f32; 3],
        deforms: bool,
        sampling: u32,
    ) -> Result<BodySamples> {
        let (body, xform) = self.add_object(self.top(), name, "AbcGeom_Xform_v3");
        let shape = format!("{}Shape", self.object_name(body));
        let moving = if deforms { 0 } else { sampling };
        let place = if deforms { self.add_transform(xform, None)? } else { self.add_motion(xform, moving)? };
        let (_, geometry) = self.add_object(body, &shape, "AbcGeom_PolyMesh_v1");
        let sampled = if deforms { sampling } else { 0 };
        let around = self.add_scalar(geometry, ".selfBnds", BOUNDS, BOX, sampled);
        let points = self.add_array(geometry, "P", POINTS, TRIPLE, sampled);
        let indices = self.add_array(geometry, ".faceIndices", "", WHOLE, 0);
        // Polygons wind clockwise in Alembic.
        let corners = mesh.triangles.iter().flat_map(|&[a, b, c]| [a, c, b]).map(|corner| corner as i32);
        self.write_sample(indices, &integers(corners))?;
        let counts = self.add_array(geometry, ".faceCounts", "", WHOLE, 0);
        self.write_sample(counts, &integers(mesh.triangles.iter().map(|_| 3)))?;
        self.add_color(geometry, color)?;
        match place {
            Some((inherits, matrix)) => {
                self.write_sample(points, &triples(&mesh.points))?;
                self.write_sample(around, &bounds(&mesh.points, 0.0))?;
                Ok(BodySamples::Rigid { inherits, matrix })
            }
            None => Ok(BodySamples::Deforming { points, bounds: around }),
        }
    }

    /// Adds a transform that never changes; nothing is the identity.
    pub(super) fn add_transform(
        &mut self,
        xform: PropertyId,
        matrix: Option<DMat4>,
    ) -> Result<Option<(PropertyId, PropertyId)>> {
        match matrix {
            Some(matrix) => {
                if let Some((inherits, values)) = self.add_motion(xform, 0)? {
                    self.write_sample(inherits, &[1])?;
                    self.write_sample(values, &numbers(&matrix))?;
                }
            }
            None => {
                let inherits = self.add_scalar(xform, ".inherits", "", DataType::new(Pod::Bool, 1), 0);
                self.write_sample(inherits, &[1])?;
            }
        }
        Ok(None)
    }

    /// Adds a transform of one matrix; answers the properties that get a sample each time.
    fn add_motion(&mut self, xform: PropertyId, sampling: u32) -> Result<Option<(PropertyId, PropertyId)>> {
        let flag = DataType::new(Pod::Bool, 1);
        let inherits = self.add_scalar(xform, ".inherits", "", flag, sampling);
        let operations = self.add_scalar(xform, ".ops", "", DataType::new(Pod::U8, 1), 0);
        self.write_sample(operations, &MATRIX)?;
        let matrix = self.add_scalar(xform, ".vals", "", DataType::new(Pod::F64, 16), sampling);
        let moves = self.add_scalar(xform, "isNotConstantIdentity", "", flag, 0);
        self.write_sample(moves, &[1])?;
        if sampling != 0 {
            // Maya makes animation of these alone.
            let channels = self.add_array(xform, ".animChans", "", DataType::new(Pod::U32, 1), 0);
            self.write_sample(channels, &integers(0..16))?;
        }
        Ok(Some((inherits, matrix)))
    }

    /// Writes where a body is at the next sample: its pose, or its points [m].
    pub(in super::super) fn write_body(
        &mut self,
        body: BodySamples,
        pose: impl FnOnce() -> DMat4,
        moved: impl FnOnce() -> Vec<Vec3>,
    ) -> Result<()> {
        match body {
            BodySamples::Rigid { inherits, matrix } => {
                self.write_sample(inherits, &[1])?;
                self.write_sample(matrix, &numbers(&pose()))
            }
            BodySamples::Deforming { points, bounds: around } => {
                let moved = moved();
                self.write_sample(points, &triples(&moved))?;
                self.write_sample(around, &bounds(&moved, 0.0))
            }
        }
    }
}

/// A matrix as Alembic has it: rows of row vectors are columns of column vectors.
fn numbers(matrix: &DMat4) -> Vec<u8> {
    matrix.to_cols_array().iter().flat_map(|part| part.to_le_bytes()).collect()
}
