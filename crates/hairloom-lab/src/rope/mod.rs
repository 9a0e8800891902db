//! The rope experiment: the figures of the follow-the-leader paper as measurements.

mod bending;
mod drag;
mod euler;
mod falling;
mod leader;
mod params;
mod pbd;
mod projection;
mod reference;
mod timing;
mod track;
mod waves;

use hairloom::solve::Method;
use hairloom_picture::plot::Figure;

use self::params::Params;
use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::Findings;

/// The experiment.
pub(crate) struct Rope;

impl Experiment for Rope {
    type Params = Params;
    const NAME: &'static str = "rope";
    const SUMMARY: &'static str =
        "follow the leader on one rope: figures 2 to 5 and 7 of its paper, against an exact chain";
    const REFERENCE: &'static str =
        "M. Müller, T. J. Kim, N. Chentanez, Fast Simulation of Inextensible Hair and Fur, VRIPHYS 2012";
    const SOLVERS: &'static [&'static str] = &["ftl"];
    const HELP: &'static [(&'static str, &'static str)] = params::HELP;

    fn check(params: &Params) -> Result<(), BadKey> {
        params.check()
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let mut figure = Figure::new("Dynamic follow-the-leader on a rope");
        figure.columns = 3;
        figure.panel_size = (640, 520);
        let mut findings = Findings { rows: Vec::new(), checks: Vec::new(), figure };
        let Method::Ftl(base) = method else { unreachable!("only ftl is offered") };
        projection::run(params, method, &mut findings)?;
        bending::run(params, base, &mut findings)?;
        falling::run(params, base, &mut findings)?;
        drag::run(params, method, &mut findings)?;
        waves::run(params, base, &mut findings)?;
        Ok(findings)
    }
}
