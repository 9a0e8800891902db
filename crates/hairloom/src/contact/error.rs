use thiserror::Error;

/// Why contacts between strands cannot be looked for.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ContactError {
    /// Offsets that do not begin at 0, go back, or end elsewhere than the vertices.
    #[error(
        "offsets of strands must begin with 0, never decrease and end with the {vertices} vertices; entry {entry} does not"
    )]
    BadOffsets {
        /// The entry at fault.
        entry: usize,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A radius that is negative or no number.
    #[error("the radius at vertex {vertex} is {radius} m; it must be a finite number that is not negative")]
    BadRadius {
        /// The vertex.
        vertex: usize,
        /// Its radius [m].
        radius: f32,
    },
    /// A distance that is negative or no number.
    #[error(
        "the distance within which strands touch is {distance} m; it must be a finite number that is not negative"
    )]
    BadDistance {
        /// The distance [m].
        distance: f32,
    },
    /// Positions of other hair.
    #[error("{given} positions were given for hair of {expected} vertices")]
    WrongCount {
        /// How many positions were given.
        given: usize,
        /// How many vertices the hair has.
        expected: usize,
    },
    /// A position that is no place.
    #[error(
        "vertex {vertex} is no usable place: every coordinate must be a number of metres below 1e6; the step before went wrong"
    )]
    BadPosition {
        /// The first such vertex.
        vertex: usize,
    },
}
