//! Towers of cubes that stand: what the ground carries, and that nothing moves.

use glam::DVec3;
use hairloom::contact::coulomb::LocalSolver;
use hairloom::contact::nsgs::{Blocks, Settings, solve};
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::experiment::{BadKey, LawExperiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{GRAVITY, check_list, check_range};

/// The step [s].
const DT: f64 = 0.01;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// Cubes in the towers.
    heights: Vec<f64>,
    /// Mass of each cube over that of the one below.
    growths: Vec<f64>,
    /// Coefficient of friction.
    mu: f64,
    /// Contacts along each edge of a face.
    lattice: usize,
    /// When a problem is solved.
    tolerance: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            heights: vec![2.0, 5.0, 10.0, 30.0],
            growths: vec![0.5, 1.0, 2.0],
            mu: 0.5,
            lattice: 2,
            tolerance: 1.0e-6,
        }
    }
}

/// The experiment.
pub(crate) struct Stacking;

impl LawExperiment for Stacking {
    type Params = Params;
    const NAME: &'static str = "stacking";
    const SUMMARY: &'static str =
        "towers of cubes, light on heavy and heavy on light, stand under the exact law";
    const REFERENCE: &'static str = "statics: every face carries the weight above it, and nothing moves";
    const SOLVERS: &'static [&'static str] = &["secular+enum", "mfb+enum", "enum", "dac+enum", "pac+enum"];
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("heights", "cubes in the towers"),
        ("growths", "mass of each cube over that of the one below"),
        ("mu", "coefficient of friction"),
        ("lattice", "contacts along each edge of a face"),
        ("tolerance", "largest Fischer–Burmeister function, and natural map"),
    ];

    fn check(params: &Params) -> Result<(), BadKey> {
        check_list("heights", &params.heights, 100, 1.0, 200.0)?;
        check_list("growths", &params.growths, 100, 0.01, 100.0)?;
        check_range(("mu", params.mu, 0.0, 10.0))?;
        check_range(("lattice", params.lattice as f64, 2.0, 10.0))?;
        check_range(("tolerance", params.tolerance, 1.0e-12, 1.0e-2))
    }

    fn run(params: &Params, solver: &'static str) -> Result<Findings, LabError> {
        let bad = |error: &dyn std::fmt::Display| LabError::Bench { problem: error.to_string() };
        let local: LocalSolver = solver.parse().map_err(|error| bad(&error))?;
        let settings = Settings { local, tolerance: params.tolerance, ..Settings::default() };
        let (mut rows, mut worst_weight, mut worst_speed, mut worst_error) =
            (vec![], 0.0_f64, 0.0_f64, 0.0_f64);
        let mut panel = Panel::new(Axis::new("cubes"), Axis::log("sweeps and steps of the interior point"));
        for &growth in &params.growths {
            let mut points = vec![];
            for &height in &params.heights {
                let count = height as usize;
                let blocks = Blocks::tower(count, growth, params.lattice, params.mu);
                let full = blocks.problem(DT, DVec3::Y * -GRAVITY);
                let assembly = full.assembly()?;
                let solution = solve(&assembly.reduced(), &settings, None)?;
                let face = params.lattice * params.lattice;
                let weight = |level: usize| -> f64 {
                    (level..count).map(|above| growth.powi(above as i32)).sum::<f64>() * GRAVITY * DT
                };
                let mut off = 0.0_f64;
                for (level, forces) in solution.forces.chunks_exact(face).enumerate() {
                    let carried: f64 = forces.iter().map(|force| force.x).sum();
                    off = off.max((carried - weight(level)).abs() / weight(0));
                }
                let speeds = assembly.velocities(&solution.forces);
                let speed = speeds.iter().flatten().fold(0.0_f64, |most, value| most.max(value.abs()))
                    / (GRAVITY * DT);
                worst_weight = worst_weight.max(off);
                worst_speed = worst_speed.max(speed);
                worst_error = worst_error.max(solution.error.max(solution.natural));
                points.push((height, (solution.sweeps + solution.interior_steps) as f64));
                rows.push(
                    Row::new()
                        .with("height", count)
                        .with("growth", growth)
                        .with("contacts", solution.forces.len())
                        .with("sweeps", solution.sweeps)
                        .with("interior_steps", solution.interior_steps)
                        .with("error", solution.error)
                        .with("natural", solution.natural)
                        .with("weight_off", off)
                        .with("speed", speed),
                );
            }
            panel = panel.with(Series::line(format!("mass × {growth}"), points).marked());
        }
        let checks = vec![
            Check::at_most("worst error", worst_error, params.tolerance),
            Check::at_most("worst weight carried, in parts of the tower's", worst_weight, 1.0e-3),
            Check::at_most("largest speed, in parts of a free fall's", worst_speed, 1.0e-3),
        ];
        Ok(Findings { rows, checks, figure: Figure::new("Stacking").with(panel) })
    }
}
