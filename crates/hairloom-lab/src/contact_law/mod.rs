//! Experiments on Coulomb's law of friction itself, and on what solves it.

mod fibres;
mod local_solvers;
mod stacking;
mod stored;

pub(crate) use fibres::fibres;
pub(crate) use local_solvers::LocalSolvers;
pub(crate) use stacking::Stacking;
pub(crate) use stored::stored;
