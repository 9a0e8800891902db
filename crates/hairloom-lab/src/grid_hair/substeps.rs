//! Figure 13: rods solved once in several steps of the grid.

use glam::{DQuat, DVec3};
use hairloom::math::Pose;
use hairloom::solve::{Method, der_mpm};
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use super::tuft::Tuft;
use super::{PAPER, SOLVERS, solver};
use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{check_list, check_range};

/// Frames a second.
const RATE: f64 = 60.0;
/// Length of the strands [m].
const LENGTH: f64 = 0.12;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// Strands.
    strands: usize,
    /// Simulated time [s].
    duration: f64,
    /// Steps of the grid for one of the rods.
    counts: Vec<f64>,
}

impl Default for Params {
    fn default() -> Self {
        Self { strands: 300, duration: 1.5, counts: vec![2.0, 3.0] }
    }
}

/// The experiment.
pub(crate) struct Substeps;

impl Experiment for Substeps {
    type Params = Params;
    const NAME: &'static str = "substeps";
    const SUMMARY: &'static str = "rods solved once in several steps of the grid, against once in every step";
    const REFERENCE: &'static str = PAPER;
    const SOLVERS: &'static [&'static str] = SOLVERS;
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("strands", "strands, 10 to 20,000"),
        ("duration", "simulated time [s], 0.1 to 20"),
        ("counts", "steps of the grid for one of the rods, 1 to 12"),
    ];

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("strands", params.strands as f64, 10.0, 20_000.0))?;
        check_range(("duration", params.duration, 0.1, 20.0))?;
        check_list("counts", &params.counts, 12, 1.0, 12.0)
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let base = solver(method);
        let small = base.step / f64::from(base.substeps);
        let (every, seconds) = play(params, base, 1, small)?;
        let mut rows = vec![row(1, 0.0, 0.0, seconds)];
        let mut panel = Panel::new(Axis::new("time [s]"), Axis::new("rms distance [lengths]"))
            .titled("Figure 13: distance to rods that are solved in every step");
        let mut worst = 0.0_f64;
        for count in params.counts.iter().map(|&count| count.round() as u32) {
            let (frames, seconds) = play(params, base, count, small)?;
            let apart: Vec<f64> = frames.iter().zip(&every).map(|(a, b)| distance(a, b)).collect();
            let (mean, most) =
                (apart.iter().sum::<f64>() / apart.len() as f64, apart.iter().copied().fold(0.0, f64::max));
            worst = worst.max(mean);
            rows.push(row(count, mean, most, seconds));
            let points = apart.iter().enumerate().map(|(frame, &d)| (frame as f64 / RATE, d)).collect();
            panel = panel.with(Series::line(format!("{count} sub-steps"), points));
        }
        let checks = vec![Check::at_most("largest mean distance [lengths]", worst, 0.05)];
        Ok(Findings { rows, checks, figure: Figure::new("Sub-steps").with(panel) })
    }
}

fn row(count: u32, mean: f64, most: f64, seconds: f64) -> Row {
    Row::new()
        .with("substeps", count)
        .with("mean_distance", mean)
        .with("largest_distance", most)
        .with("rod_seconds", seconds)
}

/// Plays a head that turns and sways; returns the positions of all frames and the time that the rods took [s].
fn play(
    params: &Params,
    base: der_mpm::Params,
    count: u32,
    small: f64,
) -> Result<(Vec<Vec<DVec3>>, f64), LabError> {
    let solver = der_mpm::Params { substeps: count, step: small * f64::from(count), ..base };
    let mut tuft = Tuft::on_ball(params.strands, 13, LENGTH, &Method::DerMpm(solver))?;
    let pose = |time: f64| Pose {
        rotation: DQuat::from_rotation_y(0.9 * (5.0 * time).sin() * (time / 0.3).min(1.0)),
        translation: DVec3::X * (0.08 * (7.0 * time).sin()),
    };
    let (mut frames, mut seconds) = (Vec::new(), 0.0);
    for frame in 0..(params.duration * RATE).ceil() as usize {
        let time = frame as f64 / RATE;
        let report = tuft.step(pose(time), pose(time + 1.0 / RATE), 1.0 / RATE)?;
        let rods = report.phases.iter().find(|phase| phase.name == "rods");
        seconds += rods.map_or(0.0, |phase| phase.seconds);
        frames.push(tuft.state().positions);
    }
    Ok((frames, seconds))
}

/// Root of the mean squared distance of all vertices [lengths].
fn distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    let squares = a.iter().zip(b).map(|(p, q)| p.distance_squared(*q));
    (squares.sum::<f64>() / a.len() as f64).sqrt() / LENGTH
}
