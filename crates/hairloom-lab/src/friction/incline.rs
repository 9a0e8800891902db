//! The incline: a bundle of hair on a tilted floor slides where the slope is steeper than friction holds.

use glam::DVec3;
use hairloom::contact::nsgs;
use hairloom::solve::Method;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use super::Floor;
use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{GRAVITY, Rod, check_list, check_range};

/// Strands of the bundle.
const STRANDS: usize = 8;
/// Steps, and their length [s].
const STEPS: usize = 60;
const DT: f64 = 1.0 / 120.0;
/// A bundle that has moved farther than this slides [m].
const SLID: f64 = 2.0e-4;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair.
    #[serde(flatten)]
    rod: Rod,
    /// Coulomb's coefficient.
    mu: f64,
    /// Slopes of the floor [°].
    angles: Vec<f64>,
}

impl Default for Params {
    fn default() -> Self {
        let angles = vec![1.0, 5.0, 10.0, 14.0, 16.0, 16.5, 16.9, 17.4, 20.0, 30.0, 45.0, 60.0];
        Self { rod: Rod::of(0.05, 0.005), mu: 0.3, angles }
    }
}

/// The experiment.
pub(crate) struct Incline;

impl Experiment for Incline {
    type Params = Params;
    const NAME: &'static str = "incline";
    const SUMMARY: &'static str =
        "a bundle of hair on a slope slides where tan α > μ, as fast as a block would";
    const REFERENCE: &'static str = "Coulomb's law: x = ½ g (sin α − μ cos α) t²";
    const HELP: &'static [(&'static str, &'static str)] =
        &[("mu", "coefficient of friction"), ("angles", "slopes of the floor [°]")];

    fn adapt(method: &mut Method) {
        if let Method::Admm(params) = method {
            params.margin = 0.0;
            params.iterations = 30;
        }
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("mu", params.mu, 0.0, 10.0))?;
        check_list("angles", &params.angles, 200, 0.0, 89.0)
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let (mut rows, mut wrong, mut worst) = (Vec::new(), 0.0_f64, 0.0_f64);
        let (mut measured, mut expected) = (Vec::new(), Vec::new());
        let mut law = 0.0_f64;
        for &angle in &params.angles {
            let moved = slide(params, angle.to_radians(), method)?;
            let (sin, cos) = angle.to_radians().sin_cos();
            let acceleration = GRAVITY * (sin - params.mu * cos).max(0.0);
            // Backward Euler's sum of n (n + 1) / 2 steps.
            let reference = acceleration * DT * DT * (STEPS * (STEPS + 1)) as f64 * 0.5;
            let slid = moved > SLID;
            if slid != (sin > params.mu * cos) {
                wrong = wrong.max((angle - params.mu.atan().to_degrees()).abs());
            }
            worst = worst.max((moved - reference).abs() / (0.02 * reference).max(SLID));
            law = law.max((block_on_a_slope(params.mu, angle.to_radians())? - reference).abs());
            measured.push((angle, moved));
            expected.push((angle, reference));
            let row = Row::new().with("angle", angle).with("slid", slid);
            rows.push(row.with("moved", moved).with("reference", reference));
        }
        let checks = vec![
            Check::at_most("farthest from the critical angle with the wrong outcome [°]", wrong, 0.05),
            Check::at_most("worst distance, in 2 % or 0.2 mm", worst, 1.0),
            Check::at_most("a rigid block under the exact law: worst distance off [m]", law, 1.0e-9),
        ];
        let panel = Panel::new(Axis::new("slope [°]"), Axis::new("distance [m]"))
            .titled("How far a bundle slides in half a second")
            .with(Series::line("Coulomb's law", expected).dashed())
            .with(Series::scatter("measured", measured));
        Ok(Findings { rows, checks, figure: Figure::new("Incline").with(panel) })
    }
}

/// How far a rigid block gets in the same time under the exact law alone, one contact problem a step [m].
fn block_on_a_slope(friction: f64, angle: f64) -> Result<f64, LabError> {
    let gravity = DVec3::new(angle.sin(), -angle.cos(), 0.0) * GRAVITY;
    let settings = nsgs::Settings { tolerance: 1.0e-10, ..nsgs::Settings::default() };
    let (mut velocity, mut moved) = (DVec3::ZERO, 0.0);
    for _ in 0..STEPS {
        let mut blocks = nsgs::Blocks::default();
        // Flat, so that it does not tip over on the steepest slope.
        let body = blocks.add(DVec3::ZERO, DVec3::new(0.5, 1.0e-3, 0.5), 1.0, velocity);
        blocks.touch_face(body, None, (DVec3::Y * -1.0e-3, 0.5, 0.5), 2, friction);
        let full = blocks.problem(DT, gravity);
        let assembly = full.assembly()?;
        let solution = nsgs::solve(&assembly.reduced(), &settings, None)?;
        velocity = DVec3::from_slice(&assembly.velocities(&solution.forces)[0][..3]);
        moved += DT * velocity.x;
    }
    Ok(moved)
}

/// How far down the slope, along x, a bundle gets [m].
fn slide(params: &Params, angle: f64, method: &Method) -> Result<f64, LabError> {
    let Rod { radius, length, .. } = params.rod;
    let edges = params.rod.edges(length, 2);
    // Side by side along the slope, nearly touching.
    let strand = |k: usize| -> Vec<DVec3> {
        let begin = DVec3::new(0.0, radius, 2.2 * radius * k as f64);
        (0..=edges).map(|i| begin + DVec3::X * (length * i as f64 / edges as f64)).collect()
    };
    let curves: Vec<Vec<DVec3>> = (0..STRANDS).map(strand).collect();
    let mut floor = Floor::new(&curves, &params.rod.material(), params.mu, false, method)?;
    floor.gravity = DVec3::new(angle.sin(), -angle.cos(), 0.0) * GRAVITY;
    for _ in 0..STEPS {
        floor.step(DVec3::ZERO, DT)?;
    }
    let begin: f64 = curves.iter().flatten().map(|point| point.x).sum();
    let end: f64 = floor.state.positions.iter().map(|point| point.x).sum();
    Ok((end - begin) / floor.state.positions.len() as f64)
}
