//! The cantilever experiment: hair that sticks out horizontally and sags under its own weight.

pub(crate) mod reference;

use glam::DVec3;
use hairloom::solve::Method;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use self::reference::drop_over_reach;
use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{Hold, Rig, Rod, check_list, check_range, heaviness, still, straight};

/// Edges that a strand has at least.
const FEWEST: f64 = 16.0;
/// How much finer the second resolution is.
const FINER: usize = 4;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair.
    #[serde(flatten)]
    rod: Rod,
    /// Lengths of the strands [m].
    lengths: Vec<f64>,
}

impl Params {
    /// The length asked for alone, or the list [m].
    fn lengths(&self) -> Vec<f64> {
        let own = if self.rod.length > 0.0 { &self.lengths[..1] } else { &self.lengths };
        self.rod.lengths(own)
    }

    fn edges(&self, length: f64) -> usize {
        (length / self.rod.edge).round().max(FEWEST) as usize
    }
}

impl Default for Params {
    fn default() -> Self {
        // Γ from 1e-2 to 1e4, four in each power of ten.
        let rod = Rod::of(0.0, 2.5e-3);
        let unit = heaviness(&rod.material(), 1.0);
        let lengths = (0..=24).map(|i| (10.0_f64.powf(-2.0 + 0.25 * f64::from(i)) / unit).cbrt());
        // Whole micrometres read better.
        let lengths = lengths.map(|length| (length * 1.0e6).round() / 1.0e6).collect();
        Self { rod, lengths }
    }
}

/// The experiment.
pub(crate) struct Cantilever;

impl Experiment for Cantilever {
    type Params = Params;
    const NAME: &'static str = "cantilever";
    const SUMMARY: &'static str =
        "hair clamped horizontally sags under its own weight as the heavy elastica does";
    const REFERENCE: &'static str =
        "the heavy elastica θ″ = −Γ (1 − s) cos θ, solved by shooting; figure 2 of Daviet, SIGGRAPH 2023";
    const HELP: &'static [(&'static str, &'static str)] =
        &[("lengths", "lengths of the strands [m]; a strand has 16 edges at least")];

    fn adapt(method: &mut Method) {
        still(method);
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_list("lengths", &params.lengths, 200, 1.0e-4, 10.0)?;
        let longest = params.lengths().iter().copied().fold(0.0, f64::max);
        check_range(("edge", params.rod.edge, longest / 2000.0, 1.0))
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let (material, lengths) = (params.rod.material(), params.lengths());
        let coarse = |length: f64| straight(DVec3::X, length, params.edges(length));
        let fine = |length: f64| straight(DVec3::X, length, FINER * params.edges(length));
        let curves: Vec<Vec<DVec3>> =
            lengths.iter().map(|&l| coarse(l)).chain(lengths.iter().map(|&l| fine(l))).collect();
        let mut rig = Rig::new(&curves, &material, Hold::Root, method)?;
        let iterations = rig.relax(20, 3.0e-6, 600)?;
        let found: Vec<f64> = rig.shapes().iter().map(|shape| measure(shape)).collect();
        let (coarse, fine) = found.split_at(lengths.len());

        let mut rows = Vec::new();
        let (mut worst, mut worst_fine) = (0.0_f64, 0.0_f64);
        let (mut measured, mut expected) = (Vec::new(), Vec::new());
        for ((&length, &ratio), &ratio_fine) in lengths.iter().zip(coarse).zip(fine) {
            let gamma = heaviness(&material, length);
            let reference = drop_over_reach(gamma);
            let (error, error_fine) = (ratio / reference - 1.0, ratio_fine / reference - 1.0);
            (worst, worst_fine) = (worst.max(error.abs()), worst_fine.max(error_fine.abs()));
            measured.push((gamma, ratio));
            expected.push((gamma, reference));
            rows.push(
                Row::new()
                    .with("length", length)
                    .with("gamma", gamma)
                    .with("h_over_w", ratio)
                    .with("reference", reference)
                    .with("error", error)
                    .with("error_fine", error_fine)
                    .with("edges", params.edges(length)),
            );
        }
        let checks = vec![
            Check::at_most("worst error", worst, 0.01),
            Check::at_most("worst error at four times the resolution", worst_fine, 0.002),
            Check::at_most("iterations", f64::from(iterations), 500.0),
        ];
        let panel = Panel::new(Axis::log("Γ = ρ g A L³ / E I"), Axis::log("H / W"))
            .titled("Drop over reach of a heavy cantilever")
            .with(Series::line("heavy elastica", sorted(expected)).dashed())
            .with(Series::scatter("measured", measured));
        Ok(Findings { rows, checks, figure: Figure::new("Cantilever").with(panel) })
    }
}

/// Drop over reach of the tip.
fn measure(shape: &[DVec3]) -> f64 {
    let (Some(root), Some(tip)) = (shape.first(), shape.last()) else { return f64::NAN };
    let arm = *tip - *root;
    -arm.y / arm.x
}

fn sorted(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}
