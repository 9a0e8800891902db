use thiserror::Error;

use crate::contact::ContactError;
use crate::contact::nsgs::ProblemError;

/// Why hair has no rest shape that holds it.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RestError {
    /// Nothing carries a strand.
    #[error(
        "strand {strand} is attached nowhere, and falls whatever its rest shape; hold its root, or take gravity away"
    )]
    Unsupported {
        /// Index of the strand.
        strand: usize,
    },
    /// Nothing keeps a strand from turning.
    #[error("strand {strand} is held, but not at its root, and turns whatever its rest shape; hold its root")]
    Rootless {
        /// Index of the strand.
        strand: usize,
    },
    /// A super-helix that is not clamped at its root alone.
    #[error(
        "strand {strand} is not held at its root, or elsewhere as well; super-helices are clamped at their roots alone: hold the root, and \
         nothing behind it, or take another fibre"
    )]
    NotClamped {
        /// Index of the strand.
        strand: usize,
    },
    /// The method has no rest shape.
    #[error("{method} has no rest shape that holds hair against gravity; {others} have")]
    NoRestShape {
        /// Name of the method.
        method: &'static str,
        /// Names of methods with rest shapes.
        others: &'static str,
    },
    /// The method has no contact on a grid.
    #[error(
        "strands of '{method}' do not meet on a grid here, so there is no cone programme for what carries them; take the engine \"own-weight\", \
         'xpbd-mpm' with contact, 'der-mpm' with grains of \"sand\", or for 'nsgs' and 'admm' the engine \"anytime\""
    )]
    NoGrid {
        /// Name of the method.
        method: &'static str,
    },
    /// The method's contact carries nothing at rest.
    #[error(
        "contact cannot carry strands of '{method}' at rest: {why}; take the engine \"own-weight\", or 'nsgs', 'admm', 'xpbd-mpm' or 'der-mpm' with contact"
    )]
    NothingCarries {
        /// Name of the method.
        method: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// Contacts could not be found.
    #[error("contacts of the groom: {0}")]
    Contacts(#[from] ContactError),
    /// Forces at contacts could not be found.
    #[error("forces at contacts of the groom: {0}")]
    ContactForces(#[from] ProblemError),
    /// Columns that do not fit each other.
    #[error("{column} has {given} entries for {vertices} vertices")]
    WrongCount {
        /// Which column.
        column: &'static str,
        /// Its entries.
        given: usize,
        /// Vertices of the model.
        vertices: usize,
    },
}
