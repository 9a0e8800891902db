//! Figure 10: the stiffer hair is as grains, the more of its volume it keeps.

use glam::IVec3;
use hairloom::math::Pose;
use hairloom::scene::State;
use hairloom::solve::{Method, der_mpm};
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use super::tuft::{BALL, Tuft};
use super::{PAPER, SOLVERS, solver};
use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{check_list, check_range};

/// Side of the cells that are counted [m].
const CELL: f64 = 0.01;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// Strands.
    strands: usize,
    /// Simulated time [s].
    duration: f64,
    /// Young's moduli of hair as grains [Pa].
    youngs: Vec<f64>,
}

impl Default for Params {
    fn default() -> Self {
        Self { strands: 400, duration: 1.5, youngs: vec![0.0, 10.0, 30.0, 100.0, 300.0, 1.2e3] }
    }
}

/// The experiment.
pub(crate) struct Volume;

impl Experiment for Volume {
    type Params = Params;
    const NAME: &'static str = "volume";
    const SUMMARY: &'static str =
        "hair that stands on a ball sinks onto it: the volume left, against the grains' modulus";
    const REFERENCE: &'static str = PAPER;
    const SOLVERS: &'static [&'static str] = SOLVERS;
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("strands", "strands, 10 to 20,000"),
        ("duration", "simulated time [s], 0.1 to 20"),
        ("youngs", "Young's moduli of hair as grains [Pa], rising, 0 to 1e6"),
    ];

    fn adapt(method: &mut Method) {
        if let Method::DerMpm(params) = method {
            // Limp hair, so that nothing but the grains holds it up; steps short enough for sound in the stiffest.
            let (bend_young, shear) = (Some(1.0e8), Some(4.0e7));
            *params = der_mpm::Params { substeps: 4, bend_young, shear, most_stretch: 0.5, ..*params };
        }
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("strands", params.strands as f64, 10.0, 20_000.0))?;
        check_range(("duration", params.duration, 0.1, 20.0))?;
        check_list("youngs", &params.youngs, 20, 0.0, 1.0e6)?;
        if params.youngs.is_sorted() {
            return Ok(());
        }
        Err(("youngs", "they must rise".to_owned()))
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let (mut rows, mut kept, mut stretch) = (Vec::new(), Vec::new(), 0.0_f64);
        for &young in &params.youngs {
            let method = Method::DerMpm(der_mpm::Params { grid_young: young, ..solver(method) });
            method.check().map_err(|(key, expected)| LabError::BadParameter {
                key: format!("solver.{key}"),
                problem: format!("expected {expected}"),
            })?;
            let mut tuft = Tuft::on_ball(params.strands, 16, 0.15, &method)?;
            let before = volume(&tuft.state());
            let frames = (params.duration * 60.0).ceil() as usize;
            for _ in 0..frames {
                tuft.step(Pose::IDENTITY, Pose::IDENTITY, 1.0 / 60.0)?;
            }
            let state = tuft.state();
            let share = volume(&state) / before;
            stretch = stretch.max(tuft.stretch(&state));
            rows.push(
                Row::new()
                    .with("young", young)
                    .with("volume", volume(&state))
                    .with("share_kept", share)
                    .with("mean_height", height(&state)),
            );
            kept.push((young, share));
        }
        let (first, last) = (kept[0].1, kept[kept.len() - 1].1);
        let fall = kept.windows(2).map(|pair| pair[0].1 / pair[1].1 - 1.0).fold(0.0, f64::max);
        let checks = vec![
            Check::at_least("volume of the stiffest over that of the softest", last / first, 1.1),
            Check::at_most("largest loss of volume from one modulus to the next, relative", fall, 0.02),
            Check::at_most("largest stretch at the end", stretch, 0.01),
        ];
        let panel = Panel::new(Axis::new("Young's modulus of the grains [Pa]"), Axis::new("volume kept"))
            .titled("Figure 10: volume against modulus")
            .with(Series::line("", kept).marked());
        Ok(Findings { rows, checks, figure: Figure::new("Volume of hair").with(panel) })
    }
}

/// Volume of all cells with hair in them [m³].
fn volume(state: &State) -> f64 {
    let cells = state.positions.iter().map(|point| (*point / CELL).floor().as_ivec3());
    let mut cells: Vec<IVec3> = cells.collect();
    cells.sort_by_key(|cell| cell.to_array());
    cells.dedup();
    cells.len() as f64 * CELL.powi(3)
}

/// Mean height of hair over the ball [m].
fn height(state: &State) -> f64 {
    state.positions.iter().map(|point| point.length() - BALL).sum::<f64>() / state.positions.len() as f64
}
