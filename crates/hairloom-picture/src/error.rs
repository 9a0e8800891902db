use thiserror::Error;

/// What can go wrong while making a picture.
#[derive(Debug, Error)]
pub enum PictureError {
    /// The picture would be empty or too large.
    #[error(
        "a picture of {width}x{height} pixels cannot be made: each side must be 1 to {MAX_SIDE}, and both together at most {MAX_PIXELS} pixels"
    )]
    Size {
        /// Asked width [px].
        width: u32,
        /// Asked height [px].
        height: u32,
    },
    /// Pictures that belong together differ in size.
    #[error(
        "expected a frame of {expected_width}x{expected_height} pixels like the first one, got {width}x{height}"
    )]
    FrameSize {
        /// Width of the first frame [px].
        expected_width: u32,
        /// Height of the first frame [px].
        expected_height: u32,
        /// Width of this frame [px].
        width: u32,
        /// Height of this frame [px].
        height: u32,
    },
    /// The offsets of some curves do not fit their points.
    #[error(
        "hair layer {layer}: the curve offsets must start at 0, never decrease and end at {points}, the number of points"
    )]
    Curves {
        /// Index of the layer.
        layer: usize,
        /// Number of points in the layer.
        points: usize,
    },
    /// An array has the wrong number of entries.
    #[error("hair layer {layer}: {what} has {found} entries, expected {expected}")]
    Length {
        /// Index of the layer.
        layer: usize,
        /// Which array.
        what: &'static str,
        /// Entries in it.
        found: usize,
        /// What would fit.
        expected: String,
    },
    /// A triangle names a vertex that is not there.
    #[error("body {body}: triangle {triangle} names vertex {vertex}, but the mesh has {points} points")]
    Triangle {
        /// Index of the body.
        body: usize,
        /// Index of the triangle.
        triangle: usize,
        /// The missing vertex.
        vertex: u32,
        /// Number of points in the mesh.
        points: usize,
    },
    /// The camera cannot be used.
    #[error("bad camera: {0}")]
    Camera(String),
    /// A camera option that could not be read.
    #[error(
        "cannot read the camera `{text}`: {reason}. Use front, side, back, three-quarter or top, or for instance `eye=0,1.6,1;target=0,1.6,0;fov=35` or `dir=1,0.2,1;fov=30`"
    )]
    View {
        /// What was given.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A hair colour that is not known.
    #[error("unknown hair colour `{0}`: use one of {names}, or `#rrggbb`", names = crate::HairColor::NAMES.join(", "))]
    HairColor(String),
    /// A plot that cannot be drawn.
    #[error("cannot draw the plot: {0}")]
    Plot(String),
    /// An animation that cannot be written.
    #[error("cannot write the animation: {0}")]
    Animation(String),
    /// The PNG encoder failed.
    #[error("cannot write the PNG: {0}")]
    Png(#[from] png::EncodingError),
    /// A file could not be made.
    #[error("cannot write {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

/// Longest side of a picture [px].
pub(crate) const MAX_SIDE: u32 = 16_384;
/// Largest number of pixels of a picture.
pub(crate) const MAX_PIXELS: u64 = 64 << 20;
