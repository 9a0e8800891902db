use thiserror::Error;

/// Why a body or its motion cannot be used.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum BodyError {
    /// A mesh without a surface.
    #[error("the mesh has no triangle with an area: give a mesh with at least one")]
    NoTriangles,
    /// A coordinate that is not a number or absurdly large.
    #[error(
        "vertex {vertex} of the mesh is no usable place: every coordinate must be a number of metres below 1e6"
    )]
    BadVertex {
        /// The vertex.
        vertex: usize,
    },
    /// A triangle that names a vertex the mesh does not have.
    #[error("triangle {triangle} names vertex {vertex}, but the mesh has {count} vertices (counted from 0)")]
    VertexOutOfRange {
        /// The triangle.
        triangle: usize,
        /// The vertex that it names.
        vertex: u32,
        /// How many vertices there are.
        count: usize,
    },
    /// A cell of a distance grid that has no size.
    #[error("a distance grid cannot have cells of {cell} m: give a size above zero, or none for the default")]
    BadCell {
        /// The size asked for [m].
        cell: f32,
    },
    /// A size or coefficient that is negative or not a number.
    #[error("body `{body}`: {quantity} is {value}, expected a finite number that is not negative")]
    BadNumber {
        /// The body.
        body: String,
        /// What the number is.
        quantity: &'static str,
        /// The number.
        value: f32,
    },
    /// A step that comes with more or fewer motions than there are bodies.
    #[error("{given} motions given for {bodies} bodies: give one each")]
    MotionCount {
        /// How many bodies there are.
        bodies: usize,
        /// How many motions were given.
        given: usize,
    },
    /// Deforming points for a body that is not a mesh.
    #[error("body `{body}` is not a mesh and cannot deform: give it a rigid motion")]
    CannotDeform {
        /// The body.
        body: String,
    },
    /// A deforming motion with other points than the mesh.
    #[error(
        "body `{body}` deforms with {start} points at the start and {end} at the end, but its mesh has {mesh}"
    )]
    PointCount {
        /// The body.
        body: String,
        /// Points of its mesh.
        mesh: usize,
        /// Points at the start of the step.
        start: usize,
        /// Points at the end of the step.
        end: usize,
    },
    /// A pose or a deforming point that is not a number or absurdly far.
    #[error("the motion of body `{body}` leaves what is usable (coordinates below 1e6 m){}; keep it nearer to the origin", vertex.map_or(String::new(), |v| format!(" at vertex {v}")))]
    BadMotion {
        /// The body.
        body: String,
        /// The vertex, if the body deforms.
        vertex: Option<usize>,
    },
}
