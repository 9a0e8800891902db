use thiserror::Error;

/// Why particles cannot be put on a grid or advanced on it.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GridError {
    /// A parameter outside its range.
    #[error("{parameter} of the grid is {value}; it must be {expected}")]
    BadParameter {
        /// What it is called.
        parameter: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// A column of another length than the positions.
    #[error("{given} {column} were given for {particles} particles; there must be one for each")]
    WrongCount {
        /// The column.
        column: &'static str,
        /// Its length.
        given: usize,
        /// How many particles there are.
        particles: usize,
    },
    /// A mass or a volume that is not positive.
    #[error("particle {particle} has a {quantity} of {value}; it must be a finite positive number")]
    BadParticle {
        /// The particle.
        particle: usize,
        /// Mass or volume.
        quantity: &'static str,
        /// Its value.
        value: f32,
    },
    /// A position or a velocity that is not finite.
    #[error(
        "the {quantity} of particle {particle} is not finite; the step is too long for the forces or the stiffness"
    )]
    NotFinite {
        /// The particle.
        particle: usize,
        /// Position, velocity or strain.
        quantity: &'static str,
    },
    /// A position beyond the reach of the lattice.
    #[error(
        "particle {particle} is more than {reach:.0} m from the origin, beyond the reach of the grid's lattice"
    )]
    TooFar {
        /// The particle.
        particle: usize,
        /// The reach of the lattice [m].
        reach: f64,
    },
    /// Particles so scattered that the grid would not fit the memory allowed.
    #[error(
        "the particles are spread over more than {most} blocks of 4×4×4 cells; take larger cells, or allow more blocks"
    )]
    TooManyBlocks {
        /// How many are allowed.
        most: usize,
    },
    /// A phase asked for with other particles than those that were binned.
    #[error("the grid holds {binned} particles, but not these {particles} in their order; bin them first")]
    NotBinned {
        /// How many particles were binned.
        binned: usize,
        /// How many were given.
        particles: usize,
    },
    /// A gather without the phases before it.
    #[error(
        "the nodes have no velocities of this step; bin, scatter and update come before gather, each time"
    )]
    NotUpdated,
}
