//! Section 4.3: the head is somewhere else at every step.

use glam::DVec3;
use hairloom::math::{Pose, Random};
use hairloom::solve::{Method, der_mpm};
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use super::tuft::{Tuft, any_turn};
use super::{PAPER, SOLVERS, on_one_thread, solver};
use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::check_range;

/// Steps between two looks at the hair.
const LOOK: usize = 50;
/// How long hair may take to recover [s].
const RECOVERY: f64 = 1.0;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// Steps, each with a head pose of its own.
    steps: usize,
    /// Strands.
    strands: usize,
    /// Vertices of a strand.
    vertices: usize,
    /// Length of a strand [m].
    length: f64,
    /// How far the head may be from the origin along each axis [m].
    room: f64,
    /// Seed of the poses.
    seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { steps: 20_000, strands: 24, vertices: 13, length: 0.12, room: 0.5, seed: 1 }
    }
}

/// The experiment.
pub(crate) struct Stability;

impl Experiment for Stability {
    type Params = Params;
    const NAME: &'static str = "stability";
    const SUMMARY: &'static str = "a head that is anywhere, turned anyhow, at every step; then it stops";
    const REFERENCE: &'static str = PAPER;
    const SOLVERS: &'static [&'static str] = SOLVERS;
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("steps", "steps with random poses, 10 to 10,000,000"),
        ("strands", "strands, 1 to 5000"),
        ("vertices", "vertices of a strand, 4 to 200"),
        ("length", "length of a strand [m], 0.01 to 1"),
        ("room", "how far the head may be from the origin along each axis [m], 0 to 10"),
        ("seed", "seed of the poses"),
    ];

    fn adapt(method: &mut Method) {
        if let Method::DerMpm(params) = method {
            // The random trajectory of table 1. Lengths are bounded by nothing but stiffness, or stretch would say nothing.
            let most_stretch = 0.5;
            *params = der_mpm::Params { step: 1.0 / 180.0, substeps: 2, most_stretch, ..*params };
        }
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("steps", params.steps as f64, 10.0, 1.0e7))?;
        check_range(("strands", params.strands as f64, 1.0, 5000.0))?;
        check_range(("vertices", params.vertices as f64, 4.0, 200.0))?;
        check_range(("length", params.length, 0.01, 1.0))?;
        check_range(("room", params.room, 0.0, 10.0))
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        on_one_thread(|| run(params, method))
    }
}

fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
    let dt = solver(method).step;
    let mut tuft = Tuft::on_ball(params.strands, params.vertices, params.length, method)?;
    let mut random = Random::new(params.seed);
    let mut pose = Pose::IDENTITY;
    let (mut worst, mut reach, mut lost) = (0.0_f64, 0.0_f64, 0_u32);
    let mut track = Vec::new();
    for step in 0..params.steps {
        let mut axis = || f64::from(random.signed()) * params.room;
        let translation = DVec3::new(axis(), axis(), axis());
        let next = Pose { rotation: any_turn(&mut random), translation };
        tuft.step(pose, next, dt)?;
        pose = next;
        if step % LOOK == 0 || step + 1 == params.steps {
            let state = tuft.state();
            let finite = state.positions.iter().chain(&state.velocities).all(|value| value.is_finite());
            lost += u32::from(!finite);
            worst = worst.max(tuft.stretch(&state));
            reach = reach.max(tuft.reach(&state));
            track.push((step as f64, tuft.reach(&state)));
        }
    }
    let mut rest = Vec::new();
    let steps = (RECOVERY / dt).ceil() as usize;
    for step in 1..=steps {
        tuft.step(pose, pose, dt)?;
        rest.push((step as f64 * dt, tuft.stretch(&tuft.state())));
    }
    let after = rest.last().map_or(f64::NAN, |last| last.1);
    let row = Row::new()
        .with("steps", params.steps)
        .with("largest_stretch", worst)
        .with("largest_reach", reach)
        .with("stretch_after_a_second", after);
    let checks = vec![
        Check::at_most("looks that found a value that is not finite", f64::from(lost), 0.0),
        Check::at_most("farthest vertex from its root [lengths]", reach, 1.02),
        Check::at_most("stretch a second after the head stops", after, 0.01),
    ];
    let figure = Figure::new("A head that is anywhere at every step")
        .with(
            Panel::new(Axis::new("step"), Axis::new("farthest vertex from its root [lengths]"))
                .titled("Random poses")
                .with(Series::line("", track)),
        )
        .with(
            Panel::new(Axis::new("time after the head stops [s]"), Axis::log("largest stretch"))
                .titled("Recovery")
                .with(Series::line("", rest)),
        );
    Ok(Findings { rows: vec![row], checks, figure })
}
