//! The release experiment: horizontal hair is let go; and hair that nothing holds keeps its momentum.

use glam::DVec3;
use hairloom::scene::{Material, State};
use hairloom::solve::{Method, admm};
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{GRAVITY, Hold, Rig, Rod, alone, check_list, check_range, straight};

/// Iterations of the converged solution.
const CONVERGED: u32 = 200;
/// Iterations to compare.
const ITERATIONS: [u32; 8] = [1, 2, 3, 5, 10, 20, 50, 200];
/// From so many on, the tip must not hang on how many there are.
const ENOUGH: u32 = 3;
/// Inner friction of the damped hair: time in which strains relax [s].
const RELAXATION: f64 = 5.0e-3;
/// Steps of the free strand.
const FREE_STEPS: usize = 1000;
/// Turning of the free strand in one step [rad].
const FREE_TURN: f64 = 1.0e-3;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair.
    #[serde(flatten)]
    rod: Rod,
    /// Lengths of edges to compare [m].
    edges: Vec<f64>,
    /// Time step [s].
    dt: f64,
    /// Simulated time [s].
    duration: f64,
}

impl Default for Params {
    fn default() -> Self {
        let edges = vec![2.5e-3, 1.0e-2];
        Self { rod: Rod::of(0.3, 0.0), edges, dt: 1.0 / 96.0, duration: 1.0 }
    }
}

impl Params {
    /// The edge asked for alone, or the list [m].
    fn edges(&self) -> Vec<f64> {
        if self.rod.edge > 0.0 { vec![self.rod.edge] } else { self.edges.clone() }
    }

    fn curves(&self) -> Vec<Vec<DVec3>> {
        let count = |edge: &f64| (self.rod.length / edge).round().max(2.0) as usize;
        self.edges().iter().map(|edge| straight(DVec3::X, self.rod.length, count(edge))).collect()
    }
}

/// The experiment.
pub(crate) struct Release;

impl Experiment for Release {
    type Params = Params;
    const NAME: &'static str = "release";
    const SUMMARY: &'static str =
        "horizontal hair is let go: a few iterations are enough, energy and momentum are kept";
    const REFERENCE: &'static str = "backward Euler solved to the end in double precision; conservation laws";
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("edges", "lengths of edges to compare [m]"),
        ("dt", "time step [s]"),
        ("duration", "simulated time [s]"),
    ];

    fn adapt(method: &mut Method) {
        alone(method);
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_list("edges", &params.edges(), 20, params.rod.length / 2000.0, params.rod.length / 4.0)?;
        check_range(("dt", params.dt, 1.0e-5, 1.0))?;
        check_range(("duration", params.duration, params.dt, 10_000.0 * params.dt))
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let Method::Admm(base) = method else { unreachable!("only admm is offered") };
        let precision = admm::Precision::F64;
        let exact = admm::Params { iterations: CONVERGED, tolerance: 0.0, precision, ..*base };
        let converged = fall(params, &exact)?;
        let mut findings =
            Findings { rows: Vec::new(), checks: Vec::new(), figure: Figure::new("Hair let go") };
        let mut error_panel = Panel::new(Axis::new("t [s]"), Axis::log("tip's distance / L"))
            .titled("Against the converged solution");
        let (mut enough, mut spread): (Option<Vec<Moment>>, f64) = (None, 0.0);
        for iterations in ITERATIONS {
            let fallen = fall(params, &admm::Params { iterations, ..*base })?;
            for (strand, edge) in params.edges().iter().enumerate() {
                let away = distance(&fallen, &converged, strand, params.rod.length);
                let tip = fallen[fallen.len() - 1].tips[strand] / params.rod.length;
                findings.rows.push(
                    Row::new()
                        .with("edge", *edge)
                        .with("iterations", iterations)
                        .with("tip", tip.truncate().to_array().to_vec())
                        .with("tip_away", away),
                );
                if let Some(enough) = &enough {
                    spread = spread.max(distance(&fallen, enough, strand, params.rod.length));
                }
            }
            let times = converged.iter().zip(&fallen).enumerate().map(|(i, (a, b))| {
                (params.dt * i as f64, (a.tips[0].distance(b.tips[0]) / params.rod.length).max(1.0e-9))
            });
            error_panel = error_panel.with(Series::line(format!("{iterations} iterations"), times.collect()));
            if iterations == ENOUGH {
                enough = Some(fallen);
            }
        }
        let title = format!("tip with {ENOUGH} iterations away from that with more [lengths]");
        findings.checks.push(Check::at_most(title, spread, 0.01));
        let usual = fall(params, base)?;
        for (strand, edge) in params.edges().iter().enumerate() {
            let away = distance(&usual, &converged, strand, params.rod.length);
            findings.checks.push(Check::at_most(
                format!("tip away from the converged solution, edges of {edge} m [lengths]"),
                away,
                0.01,
            ));
        }
        let scale = params.rod.material().mass_per_length() * params.rod.length * GRAVITY * params.rod.length;
        let damped = fall(params, &admm::Params { relaxation: RELAXATION, ..*base })?;
        for (name, track) in [("energy gained in a step", &usual), ("the same with inner friction", &damped)]
        {
            let name = format!("{name} [weight × L]");
            findings.checks.push(Check::at_most(name, growth(track) / scale, 1.0e-5));
        }
        let apart = |moment: &Moment| (moment.reported.unwrap_or(f64::NAN) - moment.energy).abs() / scale;
        // NaN, where the solver told nothing, must not be lost in a maximum.
        let apart = usual[1..].iter().map(apart).fold(0.0, |a, b| if b <= a { a } else { b });
        findings.checks.push(Check::at_most("energy as reported, error [weight × L]", apart, 1.0e-5));
        findings.figure.panels.extend([error_panel, energies(params, &usual, scale)]);
        momentum(params, &admm::Params { precision, tolerance: 0.0, ..*base }, &mut findings)?;
        Ok(findings)
    }
}

/// All strands at one moment.
struct Moment {
    tips: Vec<DVec3>,
    /// Of all strands, from their shapes [J].
    energy: f64,
    /// The same as the solver reports it, once it has made a step [J].
    reported: Option<f64>,
}

fn fall(params: &Params, solver: &admm::Params) -> Result<Vec<Moment>, LabError> {
    let material = params.rod.material();
    let mut rig = Rig::new(&params.curves(), &material, Hold::Root, &Method::Admm(*solver))?;
    let mut track = vec![moment(&rig, &material, None)];
    for _ in 0..(params.duration / params.dt).round() as usize {
        let report = rig.step(params.dt)?;
        track.push(moment(&rig, &material, report.energy.map(|energy| energy.total())));
    }
    Ok(track)
}

/// The most energy that is gained in a step [J].
fn growth(track: &[Moment]) -> f64 {
    track.windows(2).map(|pair| pair[1].energy - pair[0].energy).fold(0.0, f64::max)
}

fn moment(rig: &Rig, material: &Material, reported: Option<f64>) -> Moment {
    let state = rig.state();
    let model = &rig.model;
    let mut energy = 0.0;
    for strand in 0..model.strands() {
        let mut before = DVec3::X;
        for v in model.range(strand) {
            let mass = f64::from(model.masses[v]);
            energy +=
                0.5 * mass * state.velocities[v].length_squared() + mass * GRAVITY * state.positions[v].y;
            let rest = model.rest_lengths[v];
            if rest > 0.0 {
                let edge = state.positions[v + 1] - state.positions[v];
                let stretch = edge.length() - rest;
                energy += 0.5 * material.young * material.area() / rest * stretch * stretch;
                // 2 sin(φ/2) is the distance between the tangents; at the clamp half an edge bends.
                let bend = edge.normalize_or_zero() - before;
                let bends = if v == model.range(strand).start { 0.5 * rest } else { rest };
                energy += 0.5 * material.rod_stiffness()[0] / bends * bend.length_squared();
                before += bend;
            }
        }
    }
    let tips = (0..model.strands()).map(|strand| state.positions[model.range(strand).end - 1]).collect();
    Moment { tips, energy, reported }
}

/// The farthest that a tip is from where it should be [lengths].
fn distance(track: &[Moment], reference: &[Moment], strand: usize, length: f64) -> f64 {
    let pairs = track.iter().zip(reference);
    pairs.map(|(a, b)| a.tips[strand].distance(b.tips[strand]) / length).fold(0.0, f64::max)
}

fn energies(params: &Params, track: &[Moment], scale: f64) -> Panel {
    let points = track.iter().enumerate().map(|(i, moment)| (params.dt * i as f64, moment.energy / scale));
    Panel::new(Axis::new("t [s]"), Axis::new("energy / (weight × L)"))
        .titled("Energy")
        .with(Series::line("all strands", points.collect()))
}

/// A curved strand that nothing holds is thrown and turns.
fn momentum(params: &Params, solver: &admm::Params, findings: &mut Findings) -> Result<(), LabError> {
    let mut lost = Vec::new();
    for halvings in [1.0, 2.0] {
        // The same time and the same turning, in twice as many steps.
        let steps = FREE_STEPS * halvings as usize;
        let dt = params.dt / halvings;
        let (linear, angular) = throw(params, solver, dt, FREE_TURN / params.dt, steps)?;
        let expected = steps as f64 * (FREE_TURN / halvings).powi(2);
        findings.rows.push(
            Row::new()
                .with("dt", dt)
                .with("steps", steps)
                .with("linear_momentum_error", linear)
                .with("angular_momentum_lost", angular)
                .with("expected", expected),
        );
        findings.checks.push(Check::at_most(
            format!("linear momentum after {steps} steps, error"),
            linear,
            1.0e-10,
        ));
        findings.checks.push(Check::at_most(
            format!("angular momentum lost in {steps} steps beside N (ω dt)², error"),
            (angular / expected - 1.0).abs(),
            0.05,
        ));
        lost.push(angular);
    }
    findings.checks.push(Check::at_most(
        "angular momentum lost at half the step beside one half, error",
        (lost[1] / lost[0] / 0.5 - 1.0).abs(),
        0.05,
    ));
    Ok(())
}

/// Errors of linear and angular momentum of a free arc, turning at `omega` [rad/s].
fn throw(
    params: &Params,
    solver: &admm::Params,
    dt: f64,
    omega: f64,
    steps: usize,
) -> Result<(f64, f64), LabError> {
    let edges = 40;
    let mut points = vec![DVec3::ZERO];
    for i in 0..edges {
        let angle = 1.5 * i as f64 / edges as f64;
        points
            .push(points[i] + DVec3::new(angle.cos(), angle.sin(), 0.0) * (params.rod.length / edges as f64));
    }
    let mut rig = Rig::new(&[points], &params.rod.material(), Hold::Free, &Method::Admm(*solver))?
        .with_gravity(DVec3::ZERO);
    let mut state = State::at_rest(rig.shapes().concat());
    let masses: Vec<f64> = rig.model.masses.iter().map(|&mass| f64::from(mass)).collect();
    let total: f64 = masses.iter().sum();
    let centre = weighted(&masses, &state.positions) / total;
    let drift = DVec3::new(0.1, 0.2, -0.1);
    for (velocity, position) in state.velocities.iter_mut().zip(&state.positions) {
        *velocity = drift + DVec3::Z.cross(*position - centre) * omega;
    }
    rig.load(&state);
    let momenta = |state: &State| {
        let (centre, linear) =
            (weighted(&masses, &state.positions) / total, weighted(&masses, &state.velocities));
        let parts = state.positions.iter().zip(&state.velocities).zip(&masses);
        let angular: DVec3 = parts.map(|((x, v), m)| (*x - centre).cross(*v) * *m).sum();
        (linear, angular)
    };
    let before = momenta(&state);
    for _ in 0..steps {
        rig.step(dt)?;
    }
    let after = momenta(&rig.state());
    let linear = after.0.distance(before.0) / before.0.length();
    Ok((linear, 1.0 - after.1.z / before.1.z))
}

fn weighted(masses: &[f64], vectors: &[DVec3]) -> DVec3 {
    masses.iter().zip(vectors).map(|(mass, vector)| *vector * *mass).sum()
}
