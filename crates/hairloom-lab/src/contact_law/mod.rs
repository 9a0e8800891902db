//! Experiments on Coulomb's law of friction itself, and on what solves it.

mod fibres;
mod local_solvers;
mod ponytail;
mod stacking;
mod stored;

pub(crate) use fibres::fibres;
pub(crate) use local_solvers::{LocalSolvers, Record};
pub(crate) use ponytail::ponytail;
pub(crate) use stacking::Stacking;
pub(crate) use stored::stored;
