//! Hair that meets itself on a grid of material points: the figures of Huang et al. 2023 as measurements.

mod drop;
mod stability;
mod substeps;
mod transfer;
mod tuft;
mod volume;

pub(crate) use drop::Drop;
pub(crate) use stability::Stability;
pub(crate) use substeps::Substeps;
pub(crate) use transfer::Transfer;
pub(crate) use volume::Volume;

use hairloom::solve::{Method, der_mpm};

/// The only solver of these experiments.
const SOLVERS: &[&str] = &["der-mpm"];
/// The paper.
const PAPER: &str =
    "L. Huang et al., Towards Realtime: A Hybrid Physics-based Method for Hair Animation on GPU, 2023";

/// The parameters of the solver.
fn solver(method: &Method) -> der_mpm::Params {
    let Method::DerMpm(params) = method else { unreachable!("only der-mpm is offered") };
    *params
}

/// Fewer tasks than threads would gain by: one thread, without ways to others and back.
fn on_one_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}
