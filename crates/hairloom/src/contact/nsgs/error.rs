/// What is wrong with a contact problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// No contact at all.
    #[error("the problem has no contacts: expected at least one")]
    Empty,
    /// A list that is too short or too long.
    #[error("{what}: {given} given, {expected} expected")]
    WrongSize {
        /// Which list.
        what: &'static str,
        /// Its length.
        given: usize,
        /// What it should be.
        expected: usize,
    },
    /// A coefficient of friction that is none.
    #[error("mu of contact {contact} is {value}: expected a number from 0 to 1e6")]
    BadFriction {
        /// The contact.
        contact: usize,
        /// Its coefficient.
        value: f64,
    },
    /// Infinity, not a number, or far too large.
    #[error("{what} of contact {contact} is not finite, or beyond 1e100: expected ordinary numbers")]
    NotFinite {
        /// Which quantity.
        what: &'static str,
        /// The contact, or the block's row.
        contact: usize,
    },
    /// A block of W that no contact has.
    #[error("W: block {entry} is at ({row}, {column}), but there are {contacts} contacts, counted from 0")]
    BlockOutside {
        /// The block in the order given.
        entry: usize,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// How many contacts there are.
        contacts: usize,
    },
    /// W is far from symmetric.
    #[error(
        "W is not symmetric: a block differs from its mirror image by {:.2} % (1 % is mended)",
        100.0 * asymmetry
    )]
    Asymmetric {
        /// The largest difference in parts of the block.
        asymmetry: f64,
    },
    /// A diagonal block that no symmetric positive semi-definite matrix has.
    #[error(
        "W: the diagonal block of contact {contact} has the diagonal entry {value}: expected one that is not negative"
    )]
    NegativeDiagonal {
        /// The contact.
        contact: usize,
        /// The entry.
        value: f64,
    },
    /// More contacts than a method can take that factors all of them.
    #[error(
        "{contacts} contacts are too many for a method that factors them all at once; take the hybrid or gauss-seidel"
    )]
    TooLarge {
        /// How many there are.
        contacts: usize,
    },
    /// An object in so many contacts that W would not fit into memory.
    #[error(
        "object {object} is in {contacts} contacts, each of which would be coupled to every other: at most {most} fit into memory"
    )]
    TooCoupled {
        /// The object.
        object: usize,
        /// How many contacts it is in.
        contacts: usize,
        /// How many it may be in.
        most: usize,
    },
    /// A mass matrix that is far from symmetric.
    #[error("M: the block of object {object} is not symmetric")]
    AsymmetricMass {
        /// The object.
        object: usize,
    },
    /// A mass matrix that cannot be inverted.
    #[error("M: the block of object {object} is not positive definite")]
    BadMass {
        /// The object.
        object: usize,
    },
    /// A block of H for an object that is not there.
    #[error(
        "H: block {entry} is for contact {contact} and object {object}, but there are {contacts} contacts and {objects} objects, counted from 0"
    )]
    JacobianOutside {
        /// The block in the order given.
        entry: usize,
        /// Its contact.
        contact: usize,
        /// Its object.
        object: usize,
        /// How many contacts there are.
        contacts: usize,
        /// How many objects there are.
        objects: usize,
    },
    /// A block of H of the wrong size.
    #[error(
        "H: block {entry} has {given} numbers, {expected} expected (3 rows of the object's degrees of freedom)"
    )]
    JacobianSize {
        /// The block in the order given.
        entry: usize,
        /// Its size.
        given: usize,
        /// What it should be.
        expected: usize,
    },
}
