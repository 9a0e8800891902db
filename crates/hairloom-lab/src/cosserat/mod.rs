//! Experiments with Cosserat rods and their rest shapes: figures 5 to 7 of Hsu et al. 2023.

mod saddle;
mod twisting_rod;
mod zig_zag;

pub(crate) use saddle::Saddle;
pub(crate) use twisting_rod::TwistingRod;
pub(crate) use zig_zag::ZigZag;

use hairloom::rod::cosserat::Darboux;
use hairloom::solve::Method;

/// Both Darboux vectors, with names for rows and plots.
const VECTORS: [(Darboux, &str); 2] = [(Darboux::Augmented, "augmented"), (Darboux::Plain, "plain")];

/// The method with another Darboux vector.
fn with_vector(method: &Method, darboux: Darboux) -> Method {
    match method {
        Method::XpbdMpm(params) => Method::XpbdMpm(hairloom::solve::xpbd_mpm::Params { darboux, ..*params }),
        other => other.clone(),
    }
}
