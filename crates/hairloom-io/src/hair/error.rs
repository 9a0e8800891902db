use std::io;
use std::path::PathBuf;

/// Why a `.hair` file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct HairError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: HairProblem,
}

/// What can be wrong with a `.hair` file, or with a groom that shall become one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HairProblem {
    /// The system could not open, read or write the file.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file ends within the header.
    #[error("a .hair file starts with a header of 128 bytes, and this file has only {available}")]
    ShortHeader {
        /// The size of the file in bytes.
        available: u64,
    },
    /// The file starts with other bytes than `HAIR`.
    #[error("not a .hair file: it should start with \"HAIR\" and starts with \"{}\"", found.escape_ascii())]
    Magic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// The header announces arrays that the format does not define.
    #[error(
        "the header announces arrays that the format does not define (flags {flags:#010x}, known are 0x1f)"
    )]
    UnknownArrays {
        /// The flags as they are in the header.
        flags: u32,
    },
    /// The header announces no points.
    #[error("the file has no array of points (bit 1 of the flags is not set), so it holds no curves")]
    NoPoints,
    /// The header announces more or fewer bytes than there are.
    #[error(
        "the header claims {strands} strands and {points} points, which takes {claimed} bytes, \
         and the file has {available}: it is {}",
        if available < claimed { "cut off, or the header is damaged" } else { "too long, or the header is damaged" }
    )]
    Size {
        /// Strands that the header claims.
        strands: u32,
        /// Points that the header claims.
        points: u32,
        /// The size that the file should have, in bytes.
        claimed: u64,
        /// The size of the file in bytes.
        available: u64,
    },
    /// The segments do not add up to the points.
    #[error(
        "the segments of the {strands} strands add up to {counted} points, and the header claims {points}"
    )]
    PointCount {
        /// Strands that the header claims.
        strands: u32,
        /// Points that the header claims.
        points: u32,
        /// Points of all strands by their segments.
        counted: u64,
    },
    /// There is not enough memory for the arrays.
    #[error("no memory for an array of {elements} elements")]
    Memory {
        /// The length of the array.
        elements: usize,
    },
    /// The unit is zero, negative or not a number.
    #[error("the unit must be a positive number of metres, and is {unit}")]
    Unit {
        /// The unit that was asked for, in metres.
        unit: f32,
    },
    /// A strand has no points, or more than the format can count.
    #[error(
        "strand {strand} has {points} points; a .hair file holds strands of 1 to 65536: resample or remove it"
    )]
    StrandLength {
        /// The strand.
        strand: usize,
        /// Its points.
        points: usize,
    },
    /// An array does not have as many elements as its meaning asks for.
    #[error("{name} has {found} elements where {expected} are needed")]
    Mismatch {
        /// What the array holds.
        name: String,
        /// The length that it should have.
        expected: usize,
        /// The length that it has.
        found: usize,
    },
}
