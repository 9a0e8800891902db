//! What goes to the grid comes back: mass, momentum and angular momentum.

use glam::{DVec3, Vec3};
use hairloom::grid::{GridParams, MpmGrid, Nothing, Particles, Transfer as Way};
use hairloom::math::Random;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use super::{PAPER, SOLVERS};
use crate::LabError;
use crate::experiment::{BadKey, LawExperiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::check_range;

/// Step of the grid [s].
const DT: f32 = 1.0 / 360.0;
/// Middle of the cloud [m].
const MIDDLE: DVec3 = DVec3::new(-0.2, 1.5, 0.07);

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// Particles.
    particles: usize,
    /// Steps.
    steps: usize,
    /// Seed of the cloud.
    seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { particles: 3000, steps: 60, seed: 11 }
    }
}

/// The experiment.
pub(crate) struct Transfer;

impl LawExperiment for Transfer {
    type Params = Params;
    const NAME: &'static str = "transfer";
    const SUMMARY: &'static str = "a turning cloud of particles through the grid: mass, momentum and angular momentum by five transfers";
    const REFERENCE: &'static str = PAPER;
    const SOLVERS: &'static [&'static str] = SOLVERS;
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("particles", "particles, 10 to 1,000,000"),
        ("steps", "steps, 1 to 10,000"),
        ("seed", "seed of the cloud"),
    ];

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("particles", params.particles as f64, 10.0, 1.0e6))?;
        check_range(("steps", params.steps as f64, 1.0, 1.0e4))
    }

    fn run(params: &Params, _: &'static str) -> Result<Findings, LabError> {
        let ways = [
            ("pic", Way::pic()),
            ("flip 0.97", Way::flip(0.97)),
            ("sflip", Way::sflip(0.3, [0.05, 0.2])),
            ("apic", Way::apic()),
            ("asflip", Way::asflip(0.97, [0.05, 0.2])),
        ];
        let (mut rows, mut worst) = (Vec::new(), [0.0_f64; 3]);
        let mut panel = Panel::new(Axis::new("step"), Axis::new("angular momentum kept"))
            .titled("A cloud that turns and closes in");
        for (name, way) in ways {
            let run = Run::new(params, way)?;
            worst[0] = worst[0].max(run.mass);
            worst[1] = worst[1].max(run.momentum);
            if name == "apic" {
                worst[2] = (run.kept[run.kept.len() - 1].1 - 1.0).abs();
            }
            rows.push(
                Row::new()
                    .with("transfer", name)
                    .with("mass_error", run.mass)
                    .with("momentum_error", run.momentum)
                    .with("angular_momentum_kept", run.kept[run.kept.len() - 1].1),
            );
            panel = panel.with(Series::line(name, run.kept));
        }
        let checks = vec![
            Check::at_most("mass, relative error", worst[0], 1.0e-5),
            Check::at_most("momentum, relative error", worst[1], 1.0e-5),
            Check::at_most("angular momentum by apic, relative error", worst[2], 1.0e-5),
        ];
        Ok(Findings { rows, checks, figure: Figure::new("Transfers").with(panel) })
    }
}

/// What came of one transfer.
struct Run {
    mass: f64,
    momentum: f64,
    /// Share of the angular momentum by step.
    kept: Vec<(f64, f64)>,
}

impl Run {
    fn new(params: &Params, transfer: Way) -> Result<Self, LabError> {
        let grid_params = GridParams { gravity: Vec3::ZERO, transfer, ..GridParams::default() };
        let mut cloud = cloud(params);
        let mass = total(&cloud, |_, mass| DVec3::splat(mass)).x;
        let momentum = |cloud: &Particles| total(cloud, |p, mass| cloud.velocities[p].as_dvec3() * mass);
        let (start, turning) = (momentum(&cloud), angular(&cloud, grid_params.cell));
        let mut run = Self { mass: 0.0, momentum: 0.0, kept: vec![(0.0, 1.0)] };
        let mut grid = MpmGrid::default();
        for step in 1..=params.steps {
            let failed =
                |error: hairloom::grid::GridError| LabError::Grid { step, problem: error.to_string() };
            grid.step(&mut cloud, &[], &grid_params, &Nothing, 0.0, DT).map_err(failed)?;
            let on_grid: f64 = grid.nodes().map(|(_, node)| f64::from(node.mass())).sum();
            run.mass = run.mass.max((on_grid / mass - 1.0).abs());
            run.momentum = run.momentum.max(momentum(&cloud).distance(start) / start.length());
            let kept = angular(&cloud, grid_params.cell).dot(turning) / turning.length_squared();
            run.kept.push((step as f64, kept));
        }
        Ok(run)
    }
}

/// A sum over all particles, of what is made of particle and mass [kg].
fn total(cloud: &Particles, part: impl Fn(usize, f64) -> DVec3) -> DVec3 {
    (0..cloud.len()).map(|p| part(p, f64::from(cloud.point(p).mass))).sum()
}

/// Angular momentum about the middle: of the particles, and of what their affine fields have about them.
fn angular(cloud: &Particles, cell: f64) -> DVec3 {
    total(cloud, |p, mass| {
        let c = cloud.affine(p).as_dmat3();
        let spin = DVec3::new(c.y_axis.z - c.z_axis.y, c.z_axis.x - c.x_axis.z, c.x_axis.y - c.y_axis.x);
        let orbit = (cloud.positions[p] - MIDDLE).cross(cloud.velocities[p].as_dvec3());
        (orbit + spin * (cell * cell / 4.0)) * mass
    })
}

/// Particles at random, turning about the middle, moving on, and closing in so that there is pressure.
fn cloud(params: &Params) -> Particles {
    let (mut random, mut cloud) = (Random::new(params.seed), Particles::default());
    for _ in 0..params.particles {
        let arm = Vec3::new(random.signed(), random.signed(), random.signed()) * 0.04;
        cloud.push(MIDDLE + arm.as_dvec3(), 1e-6 * (1.0 + random.unit()), 2e-8);
        let turning = Vec3::new(2.0, -3.0, 1.0).cross(arm) - arm * 6.0 + Vec3::new(0.2, 0.1, -0.1);
        let last = cloud.velocities.len() - 1;
        cloud.velocities[last] = turning + random.direction() * 0.1;
    }
    cloud
}
