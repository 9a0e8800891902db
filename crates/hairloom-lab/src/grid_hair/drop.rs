//! Figure 11: loose hair falls on the ground, as a fluid and as sand of several friction angles.

use glam::{DVec3, Vec3};
use hairloom::groom::Curves;
use hairloom::math::{Pose, Random};
use hairloom::scene::State;
use hairloom::solve::Method;
use hairloom::solve::der_mpm::{self, GrainKind};
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use super::tuft::Tuft;
use super::{PAPER, SOLVERS, solver};
use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{check_list, check_range};

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// Strands.
    strands: usize,
    /// Simulated time [s].
    duration: f64,
    /// Friction angles of the sand [°].
    angles: Vec<f64>,
    /// Seed of the heap.
    seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { strands: 300, duration: 1.5, angles: vec![0.0, 10.0, 20.0, 30.0, 40.0], seed: 2 }
    }
}

/// The experiment.
pub(crate) struct Drop;

impl Experiment for Drop {
    type Params = Params;
    const NAME: &'static str = "drop";
    const SUMMARY: &'static str =
        "loose hair falls on the ground: how far a fluid spreads, and sand of several friction angles";
    const REFERENCE: &'static str = PAPER;
    const SOLVERS: &'static [&'static str] = SOLVERS;
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("strands", "strands, 10 to 10,000"),
        ("duration", "simulated time [s], 0.1 to 20"),
        ("angles", "friction angles of the sand [°], rising, 0 to 60"),
        ("seed", "seed of the heap"),
    ];

    /// The ground must bear the heap, unless somebody asks for something else.
    fn adapt(method: &mut Method) {
        if let Method::DerMpm(solver) = method {
            solver.inset = 0.0;
        }
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("strands", params.strands as f64, 10.0, 10_000.0))?;
        check_range(("duration", params.duration, 0.1, 20.0))?;
        check_list("angles", &params.angles, 20, 0.0, 60.0)?;
        if params.angles.is_sorted() {
            return Ok(());
        }
        Err(("angles", "they must rise".to_owned()))
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let (heap, base) = (heap(params), solver(method));
        let fluid = der_mpm::Params { grains: GrainKind::Fluid, ..base };
        let mut rows = Vec::new();
        let (wet, flat) = fall(params, &heap, "fluid", 0.0, fluid, &mut rows)?;
        let (mut spreads, mut height) = (Vec::new(), 0.0);
        for &angle in &params.angles {
            let sand = der_mpm::Params { grains: GrainKind::Sand, friction_angle: angle, ..base };
            let spread;
            (spread, height) = fall(params, &heap, "sand", angle, sand, &mut rows)?;
            spreads.push((angle, spread));
        }
        let last = spreads[spreads.len() - 1];
        let growth = spreads.windows(2).map(|pair| pair[1].1 / pair[0].1 - 1.0).fold(0.0, f64::max);
        let checks = vec![
            Check::at_least("spread of the fluid over that of the roughest sand", wet / last.1, 1.1),
            Check::at_least("height of the roughest sand over that of the fluid", height / flat, 2.0),
            Check::at_most("largest growth of the spread from one angle to the next, relative", growth, 0.02),
        ];
        let level = vec![(spreads[0].0, wet), (last.0, wet)];
        let panel = Panel::new(Axis::new("friction angle [°]"), Axis::new("spread [m]"))
            .titled("Figure 11: sand against fluid")
            .with(Series::line("sand", spreads).marked())
            .with(Series::line("fluid", level).dashed());
        Ok(Findings { rows, checks, figure: Figure::new("Hair on the ground").with(panel) })
    }
}

/// Short strands, lying in all directions in a cylinder over the ground.
fn heap(params: &Params) -> Curves {
    let (mut curves, mut random) = (Curves::default(), Random::new(params.seed));
    while curves.strands() < params.strands {
        let (x, z) = (random.signed(), random.signed());
        if x * x + z * z > 1.0 {
            continue;
        }
        let middle = Vec3::new(0.03 * x, 0.03 + 0.08 * random.unit(), 0.03 * z);
        let lie = random.direction() * Vec3::new(1.0, 0.3, 1.0);
        let edge = lie.normalize_or(Vec3::X) * 0.006;
        curves.push((0..6).map(|i| middle + edge * (i as f32 - 2.5)));
    }
    curves
}

/// Lets the heap fall; returns its spread and its mean height at the end [m].
fn fall(
    params: &Params,
    heap: &Curves,
    material: &'static str,
    angle: f64,
    solver: der_mpm::Params,
    rows: &mut Vec<Row>,
) -> Result<(f64, f64), LabError> {
    let mut tuft = Tuft::loose(heap, &Method::DerMpm(solver))?;
    let before = spread(&tuft.state());
    for _ in 0..(params.duration * 60.0).ceil() as usize {
        tuft.step(Pose::IDENTITY, Pose::IDENTITY, 1.0 / 60.0)?;
    }
    let state = tuft.state();
    let height = state.positions.iter().map(|point| point.y).sum::<f64>() / state.positions.len() as f64;
    rows.push(
        Row::new()
            .with("material", material)
            .with("friction_angle", if material == "sand" { Some(angle) } else { None })
            .with("spread_at_start", before)
            .with("spread", spread(&state))
            .with("mean_height", height),
    );
    Ok((spread(&state), height))
}

/// Root of the mean squared distance of all vertices from the axis of the heap [m].
fn spread(state: &State) -> f64 {
    let count = state.positions.len() as f64;
    let centre = state.positions.iter().copied().sum::<DVec3>() / count;
    let squares = state.positions.iter().map(|p| (p.x - centre.x).powi(2) + (p.z - centre.z).powi(2));
    (squares.sum::<f64>() / count).sqrt()
}
