//! The vibration experiment: the first three modes of a hair clamped at its root, without weight.

use std::f64::consts::TAU;

use glam::DVec3;
use hairloom::scene::State;
use hairloom::solve::Method;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{Hold, Rig, Rod, alone, check_range, straight};

/// Roots of `cos β cosh β = −1`.
const ROOTS: [f64; 3] = [1.875_104_068_711_961, 4.694_091_132_974_175, 7.854_757_438_237_613];
/// Largest slope of the shape at the start.
const SLOPE: f64 = 0.05;
/// Periods that are watched.
const PERIODS: f64 = 3.0;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair.
    #[serde(flatten)]
    rod: Rod,
    /// Edges of the hair.
    edges: usize,
    /// Time step as a phase, ω dt.
    phase: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { rod: Rod::of(0.1, 0.0), edges: 64, phase: 0.015 }
    }
}

/// The experiment.
pub(crate) struct Vibration;

impl Experiment for Vibration {
    type Params = Params;
    const NAME: &'static str = "vibration";
    const SUMMARY: &'static str = "a weightless hair clamped at its root swings in its first three modes";
    const REFERENCE: &'static str = "Euler and Bernoulli's beam: ω = β² √(E I / ρ A L⁴), cos β cosh β = −1";
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("edges", "edges of the hair, 8 to 1000"),
        ("phase", "time step as a phase of the mode, ω dt [rad]"),
    ];

    fn adapt(method: &mut Method) {
        alone(method);
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("phase", params.phase, 1.0e-4, 0.1))?;
        check_range(("edges", params.edges as f64, 8.0, 1000.0))
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let (mut rows, mut worst) = (Vec::new(), 0.0_f64);
        let mut panel = Panel::new(Axis::new("t [periods]"), Axis::new("amplitude / amplitude at the start"))
            .titled("Modes of a clamped hair");
        for (mode, &root) in ROOTS.iter().enumerate() {
            let omega = frequency(params, root);
            let swing = swing(params, method, root)?;
            let measured = TAU / period(&swing);
            // Backward Euler swings slower by (ω dt)² / 3.
            let reference = omega * (1.0 - params.phase * params.phase / 3.0);
            let error = measured / reference - 1.0;
            worst = worst.max(error.abs());
            rows.push(
                Row::new()
                    .with("mode", mode + 1)
                    .with("frequency", measured / TAU)
                    .with("reference", reference / TAU)
                    .with("error", error),
            );
            let points = swing.iter().map(|&(t, q)| (t * omega / TAU, q / swing[0].1)).collect();
            panel = panel.with(Series::line(format!("mode {}", mode + 1), points));
        }
        let checks = vec![Check::at_most("worst error of a frequency", worst, 0.01)];
        Ok(Findings { rows, checks, figure: Figure::new("Vibration").with(panel) })
    }
}

/// The mode's frequency [rad/s].
fn frequency(params: &Params, root: f64) -> f64 {
    let material = params.rod.material();
    (root / params.rod.length).powi(2) * (material.rod_stiffness()[0] / material.mass_per_length()).sqrt()
}

/// Deflection and slope of a mode at `s` from 0 to 1.
fn shape(root: f64, s: f64) -> (f64, f64) {
    let ratio = (root.sinh() - root.sin()) / (root.cosh() + root.cos());
    let b = root * s;
    let deflection = b.cosh() - b.cos() - ratio * (b.sinh() - b.sin());
    (deflection, root * (b.sinh() + b.sin() - ratio * (b.cosh() - b.cos())))
}

/// The amplitude of a mode over time, from rest in its shape.
fn swing(params: &Params, method: &Method, root: f64) -> Result<Vec<(f64, f64)>, LabError> {
    let edges = params.rod.edges(params.rod.length, params.edges);
    let mut rig = Rig::new(
        &[straight(DVec3::X, params.rod.length, edges)],
        &params.rod.material(),
        Hold::Root,
        method,
    )?
    .with_gravity(DVec3::ZERO);
    let steepest = (0..=edges).map(|i| shape(root, i as f64 / edges as f64).1.abs()).fold(0.0, f64::max);
    let mut points = vec![DVec3::ZERO];
    for i in 0..edges {
        let angle = SLOPE / steepest * shape(root, (i as f64 + 0.5) / edges as f64).1;
        let edge = params.rod.length / edges as f64;
        points.push(points[i] + DVec3::new(angle.cos(), angle.sin(), 0.0) * edge);
    }
    rig.load(&State::at_rest(points));
    let omega = frequency(params, root);
    let dt = params.phase / omega;
    let amplitude = |rig: &Rig| -> f64 {
        let state = rig.state();
        let parts = state.positions.iter().enumerate();
        parts.map(|(i, p)| p.y * shape(root, i as f64 / edges as f64).0).sum()
    };
    let mut swing = vec![(0.0, amplitude(&rig))];
    for _ in 0..(PERIODS * TAU / params.phase).ceil() as usize {
        rig.step(dt)?;
        swing.push((rig.time, amplitude(&rig)));
    }
    Ok(swing)
}

/// The time between every other crossing of zero, on average.
fn period(swing: &[(f64, f64)]) -> f64 {
    let crossings: Vec<f64> = swing
        .windows(2)
        .filter(|pair| pair[0].1 * pair[1].1 < 0.0)
        .map(|pair| pair[0].0 + (pair[1].0 - pair[0].0) * pair[0].1 / (pair[0].1 - pair[1].1))
        .collect();
    match crossings[..] {
        [first, .., last] => 2.0 * (last - first) / (crossings.len() - 1) as f64,
        _ => f64::NAN,
    }
}
