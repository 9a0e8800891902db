//! The vibration experiment: the first three modes of a hair clamped at its root, weightless and hanging.

mod modes;

use std::f64::consts::TAU;

use glam::DVec3;
use hairloom::scene::State;
use hairloom::solve::Method;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use self::modes::{Mode, modes};
use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{Hold, Rig, Rod, alone, check_list, check_range, straight};

/// Modes of each hair that are looked at.
const MODES: usize = 3;
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
    /// How heavy the hair is, Γ = ρ A g L³ / E I: gravity is what makes it so.
    gammas: Vec<f64>,
}

impl Default for Params {
    fn default() -> Self {
        Self { rod: Rod::of(0.1, 0.0), edges: 64, phase: 0.015, gammas: vec![0.0, 1.0, 10.0, 100.0] }
    }
}

/// The experiment.
pub(crate) struct Vibration;

impl Experiment for Vibration {
    type Params = Params;
    const NAME: &'static str = "vibration";
    const SUMMARY: &'static str =
        "a hair clamped at its root, weightless or hanging, swings in its first three modes";
    const REFERENCE: &'static str = "Euler and Bernoulli's beam under the tension of its own weight: ω = β² √(E I / ρ A L⁴), cos β cosh β = −1 without it";
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("edges", "edges of the hair, 8 to 1000"),
        ("phase", "time step as a phase of the mode, ω dt [rad]"),
        ("gammas", "how heavy the hair is, Γ = ρ A g L³ / E I; gravity is what makes it so"),
    ];

    fn adapt(method: &mut Method) {
        alone(method);
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("phase", params.phase, 1.0e-4, 0.1))?;
        check_range(("edges", params.edges as f64, 8.0, 1000.0))?;
        check_list("gammas", &params.gammas, 20, 0.0, 1000.0)
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let (mut rows, mut worst) = (Vec::new(), 0.0_f64);
        let mut panel = Panel::new(Axis::new("t [periods]"), Axis::new("amplitude / amplitude at the start"))
            .titled("Modes of a clamped hair");
        for &gamma in &params.gammas {
            for (index, mode) in modes(gamma).iter().take(MODES).enumerate() {
                let omega = mode.frequency / time_unit(params);
                let swing = swing(params, method, gamma, mode)?;
                let measured = TAU / period(&swing);
                // Backward Euler swings slower by (ω dt)² / 3.
                let reference = omega * (1.0 - params.phase * params.phase / 3.0);
                let error = measured / reference - 1.0;
                worst = if error.is_nan() { f64::NAN } else { worst.max(error.abs()) };
                rows.push(
                    Row::new()
                        .with("gamma", gamma)
                        .with("mode", index + 1)
                        .with("frequency", measured / TAU)
                        .with("reference", reference / TAU)
                        .with("error", error),
                );
                let points = swing.iter().map(|&(t, q)| (t * omega / TAU, q / swing[0].1)).collect();
                panel = panel.with(Series::line(format!("Γ = {gamma}, mode {}", index + 1), points));
            }
        }
        let checks = vec![Check::at_most("worst error of a frequency", worst, 0.01)];
        Ok(Findings { rows, checks, figure: Figure::new("Vibration").with(panel) })
    }
}

/// √(ρ A L⁴ / E I) [s].
fn time_unit(params: &Params) -> f64 {
    let material = params.rod.material();
    (material.mass_per_length() / material.rod_stiffness()[0]).sqrt() * params.rod.length.powi(2)
}

/// The amplitude of a mode over time, from rest in its shape.
fn swing(params: &Params, method: &Method, gamma: f64, mode: &Mode) -> Result<Vec<(f64, f64)>, LabError> {
    let length = params.rod.length;
    let edges = params.rod.edges(length, params.edges);
    let gravity = gamma * length / time_unit(params).powi(2);
    let hanging = straight(DVec3::NEG_Y, length, edges);
    let mut rig = Rig::new(&[hanging], &params.rod.material(), Hold::Root, method)?
        .with_gravity(DVec3::NEG_Y * gravity);
    let shape = |place: f64| mode.shape(place / edges as f64);
    let steepest = (0..=edges).map(|i| shape(i as f64).1.abs()).fold(0.0, f64::max);
    let mut points = vec![DVec3::ZERO];
    for i in 0..edges {
        let (sin, cos) = (SLOPE / steepest * shape(i as f64 + 0.5).1).sin_cos();
        points.push(points[i] + DVec3::new(sin, -cos, 0.0) * (length / edges as f64));
    }
    rig.load(&State::at_rest(points));
    let dt = params.phase / mode.frequency * time_unit(params);
    let deflections: Vec<f64> = (0..=edges).map(|i| shape(i as f64).0).collect();
    let amplitude = |rig: &Rig| -> f64 {
        rig.state().positions.iter().zip(&deflections).map(|(point, deflection)| point.x * deflection).sum()
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
