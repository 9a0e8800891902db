use std::io;
use std::path::PathBuf;

/// Why an OBJ file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}{}{problem}", path.display(), problem.line().map_or(": ".to_owned(), |line| format!(":{line}: ")))]
pub struct ObjError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: ObjProblem,
}

/// What can be wrong with an OBJ file, or with a mesh that shall become one. Lines count from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjProblem {
    /// The system could not open, read or write the file.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A coordinate is missing.
    #[error("a vertex needs three coordinates, as in \"v 0.1 0.2 0.3\"; here there are {found}")]
    MissingCoordinate {
        /// The line of the vertex.
        line: usize,
        /// How many coordinates there are.
        found: usize,
    },
    /// A coordinate is not a finite number.
    #[error("\"{token}\" is not a finite number")]
    Coordinate {
        /// The line of the vertex.
        line: usize,
        /// What stands there, perhaps shortened.
        token: String,
    },
    /// A corner of a face is not one of the forms that OBJ knows.
    #[error(
        "\"{token}\" is not a corner of a face: expected whole numbers as in \"7\", \"7/3\", \"7//2\" or \"7/3/2\""
    )]
    Corner {
        /// The line of the face.
        line: usize,
        /// What stands there, perhaps shortened.
        token: String,
    },
    /// A face names a vertex that the file does not have.
    #[error(
        "a face names vertex {index}, and the file has {vertices} (indices count from 1, negative ones back)"
    )]
    NoSuchVertex {
        /// The line of the face.
        line: usize,
        /// The index as it is in the file.
        index: i64,
        /// The vertices of the file, up to that line for a negative index.
        vertices: usize,
    },
    /// There are more vertices than 32-bit indices can count.
    #[error("more than 4294967295 vertices")]
    TooManyVertices {
        /// The first line that is too much.
        line: usize,
    },
    /// No face belongs to the object or group that was asked for.
    #[error("no faces in an object or group named \"{name}\"; the file has {}", names(found))]
    NoSuchObject {
        /// The name that was asked for.
        name: String,
        /// The first names in the file.
        found: Vec<String>,
    },
    /// Polylines that cannot be strands.
    #[error("{problem}")]
    Polyline {
        /// The line of the polyline.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// There are no polylines.
    #[error("there are no polylines (\"l 1 2 3\") in the file, so it holds no strands")]
    NoPolylines,
    /// A groom that shall be written does not hold together.
    #[error("{problem}")]
    Groom {
        /// What is wrong with it.
        problem: String,
    },
    /// The unit is zero, negative or not a number.
    #[error("the unit must be a positive number of metres, and is {unit}")]
    Unit {
        /// The unit that was asked for, in metres.
        unit: f32,
    },
    /// A vertex of a mesh to write is not finite.
    #[error("vertex {vertex} of the mesh is not finite")]
    BrokenVertex {
        /// The vertex, from 0.
        vertex: usize,
    },
    /// A triangle of a mesh to write names a vertex that is not there.
    #[error("triangle {triangle} names a vertex beyond the mesh's {vertices}")]
    BrokenTriangle {
        /// The triangle, from 0.
        triangle: usize,
        /// The vertices of the mesh.
        vertices: usize,
    },
}

impl ObjProblem {
    /// The line at fault, from 1, if it is one line's fault.
    pub fn line(&self) -> Option<usize> {
        match *self {
            Self::MissingCoordinate { line, .. }
            | Self::Coordinate { line, .. }
            | Self::Corner { line, .. }
            | Self::NoSuchVertex { line, .. }
            | Self::Polyline { line, .. }
            | Self::TooManyVertices { line } => Some(line),
            _ => None,
        }
    }
}

fn names(found: &[String]) -> String {
    if found.is_empty() { "no names".to_owned() } else { found.join(", ") }
}
