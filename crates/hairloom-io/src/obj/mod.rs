//! Wavefront OBJ files: triangle meshes of bodies, and strands as polylines (see [`parse_strands`]).
//!
//! What is read: `v` (x, y and z; weights and vertex colours after them are left alone), `f` in all forms
//! (`v`, `v/vt`, `v//vn`, `v/vt/vn`, indices from 1, or negative from the last vertex back; vertices may also
//! come after the faces that name them), `o` and `g` as names to select by. Polygons become fans of triangles,
//! from their first corner or, if those would fold over, from the first corner that does better: concave quads and
//! most concave polygons stay right. Everything else is counted in [`Skipped`] and left out: normals and
//! texture coordinates, polylines, points, free-form curves and surfaces, materials.
//!
//! A backslash at the end of a line continues it. Bytes need not be UTF-8. A file is either read in full or
//! refused with the line at fault.

mod error;
mod parse;
mod strands;
mod tokens;
pub(crate) mod triangulate;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use hairloom::body::TriMesh;

pub use error::{ObjError, ObjProblem};
pub use parse::parse;
pub use strands::{parse_strands, write_strands};

use crate::Axis;

/// What an OBJ file does not say about itself, and which part of it is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// Metres per unit of the file.
    pub unit: f32,
    /// The axis that points up in the file.
    pub up: Axis,
    /// Only the faces of the object (`o`) or group (`g`) of this name, and the vertices that they use.
    /// `None` takes all faces and all vertices.
    pub only: Option<String>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { unit: 1.0, up: Axis::Y, only: None }
    }
}

/// A mesh, and what of its file is not in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObjMesh {
    /// The triangles, in metres and y up.
    pub mesh: TriMesh,
    /// What was left out.
    pub skipped: Skipped,
}

/// How much of an OBJ file was left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Polylines (`l`).
    pub polylines: usize,
    /// Point elements (`p`).
    pub points: usize,
    /// Vertex normals (`vn`).
    pub normals: usize,
    /// Texture coordinates (`vt`).
    pub texture_coordinates: usize,
    /// Faces of fewer than three corners.
    pub short_faces: usize,
    /// Triangles with the same vertex at two corners.
    pub collapsed_triangles: usize,
    /// Faces of objects and groups that were not asked for.
    pub unselected_faces: usize,
    /// Other statements: materials, smoothing groups, free-form geometry and unknown words.
    pub statements: usize,
}

/// Reads a mesh.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<ObjMesh, ObjError> {
    let path = path.as_ref();
    let mesh = || {
        let mut file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file").into());
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        parse(&bytes, options)
    };
    mesh().map_err(|problem| ObjError { path: path.to_owned(), problem })
}

/// Writes a mesh in metres and y up, so that reading it gives the same bits. Nothing is written, and no file
/// replaced, if the mesh is broken.
pub fn write(path: impl AsRef<Path>, mesh: &TriMesh) -> Result<(), ObjError> {
    let path = path.as_ref();
    let written = || {
        check(mesh)?;
        let mut out = BufWriter::new(File::create(path)?);
        write_to(&mut out, mesh)?;
        Ok(out.flush()?)
    };
    written().map_err(|problem| ObjError { path: path.to_owned(), problem })
}

fn check(mesh: &TriMesh) -> Result<(), ObjProblem> {
    let vertices = mesh.points.len();
    if let Some(vertex) = mesh.points.iter().position(|point| !point.is_finite()) {
        return Err(ObjProblem::BrokenVertex { vertex });
    }
    let broken = |triangle: &[u32; 3]| triangle.iter().any(|&vertex| vertex as usize >= vertices);
    match mesh.triangles.iter().position(broken) {
        Some(triangle) => Err(ObjProblem::BrokenTriangle { triangle, vertices }),
        None => Ok(()),
    }
}

fn write_to(out: &mut impl Write, mesh: &TriMesh) -> io::Result<()> {
    writeln!(out, "# Written by Hairloom: metres, y up")?;
    for point in &mesh.points {
        // The shortest decimals that give the same f32 again.
        writeln!(out, "v {} {} {}", point.x, point.y, point.z)?;
    }
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|vertex| u64::from(vertex) + 1);
        writeln!(out, "f {a} {b} {c}")?;
    }
    Ok(())
}
