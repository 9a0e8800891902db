use thiserror::Error;

/// Why an edit could not be made.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EditError {
    /// The number of amounts differs from the number of strands.
    #[error("{found} amounts were given for {strands} strands; give one for each")]
    Count {
        /// How many strands there are.
        strands: usize,
        /// How many amounts there are.
        found: usize,
    },
    /// An amount is out of range.
    #[error("strand {strand}: {amount} is out of range; expected {expected}")]
    Range {
        /// Index of the strand.
        strand: usize,
        /// The amount given.
        amount: f32,
        /// The range.
        expected: &'static str,
    },
    /// A strand does not exist.
    #[error("strand {strand} cannot be removed: the groom has {strands} strands, counted from 0")]
    NoSuchStrand {
        /// The index given.
        strand: usize,
        /// How many strands there are.
        strands: usize,
    },
    /// A strand has no edge.
    #[error("strand {strand} has fewer than two vertices; repair the groom first")]
    TooFewVertices {
        /// Index of the strand.
        strand: usize,
    },
    /// An edit needs the body that the hair grows on.
    #[error(
        "it needs the body that the hair grows on; name one (`body` of [groom] in a scene, `--body MESH` of `groom edit`)"
    )]
    NoBody,
    /// Nothing is left.
    #[error("it leaves no strands at all; nothing could be simulated")]
    NoStrands,
    /// A groom would become too large.
    #[error("it would make {vertices} vertices; a groom holds at most {most}", most = u32::MAX)]
    TooLarge {
        /// How many there would be.
        vertices: usize,
    },
    /// One of several edits failed.
    #[error("edit {number} ({name}): {problem}")]
    At {
        /// Which edit, counted from 1.
        number: usize,
        /// What it is called.
        name: &'static str,
        /// What is wrong.
        problem: Box<EditError>,
    },
}
