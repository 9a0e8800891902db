//! Figure 7 (top) of Daviet, Bertails-Descoubes and Boissieux 2011: the free end of a fibre on a ball that turns to and fro.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::Pose;
use hairloom::scene::{Attachments, Drive, Model, Seat, State, Wind};
use hairloom::solve::{ContactProblems, Method, Step, nsgs};
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{GRAVITY, check_range, hair};

/// The paper's eight, and what this project usually takes: name, way over all contacts, what solves each, whether it is exact, and whether
/// sweeps are stopped by their steps, as the paper stops four of them.
const SOLVERS: [(&str, &str, &str, bool, bool); 9] = [
    ("secular+enum", "hybrid", "secular+enum", true, false),
    ("global mfb", "mfb", "mfb", true, false),
    ("global dac", "dac", "dac", true, false),
    ("mfb", "gauss-seidel", "mfb", true, false),
    ("dac", "gauss-seidel", "dac", true, false),
    ("enum", "gauss-seidel", "enum", true, true),
    ("duriez08", "gauss-seidel", "duriez08", true, true),
    ("duriez06", "gauss-seidel", "duriez06", false, true),
    ("4sides", "gauss-seidel", "4sides", false, true),
];
/// Radius of the ball [m].
const BALL: f64 = 0.1;
/// Steps of a period.
const STEPS: usize = 240;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// Coefficient of friction.
    mu: f64,
    /// How far the ball turns to each side [°].
    amplitude_degrees: f64,
    /// Time of one turn to and fro [s].
    period: f64,
    /// Turns before the one that is looked at.
    turns: usize,
    /// Vertices of the fibre.
    vertices: usize,
    /// When a step's contacts are solved, for solvers that are stopped by their error.
    tolerance: f64,
    /// Part of all forces that the last sweep changes, for solvers that are stopped by that.
    stop_step: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            mu: 1.0,
            amplitude_degrees: 40.0,
            period: 1.0,
            turns: 4,
            vertices: 20,
            tolerance: 1.0e-8,
            stop_step: 0.05,
        }
    }
}

/// The experiment.
pub(crate) struct Orbit;

impl Experiment for Orbit {
    type Params = Params;
    const NAME: &'static str = "orbit";
    const SUMMARY: &'static str =
        "the free end of a fibre on a ball that turns to and fro, with every solver of contacts";
    const REFERENCE: &'static str = "figure 7 (top) of Daviet et al. 2011: exact solvers find one orbit, Duriez06 and 4sides their own. As there, Newton methods \
         (global or at each contact) stop by their error, here both of ours, and the four others when a sweep changes forces by less than 5 %. \
         That Duriez06 is one pass from no force is inferred: from the force at hand it would come to rest at exact solutions, which \
         the paper denies";
    const SOLVERS: &'static [&'static str] = &["nsgs"];
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("mu", "coefficient of friction"),
        ("amplitude_degrees", "how far the ball turns to each side [°]"),
        ("period", "time of one turn to and fro [s]"),
        ("turns", "turns before the one that is looked at"),
        ("vertices", "vertices of the fibre"),
        ("tolerance", "when a step's contacts are solved, for solvers stopped by their error"),
        ("stop_step", "part of all forces that the last sweep changes, for solvers stopped by that"),
    ];

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("mu", params.mu, 0.0, 10.0))?;
        check_range(("amplitude_degrees", params.amplitude_degrees, 0.0, 90.0))?;
        check_range(("period", params.period, 0.05, 100.0))?;
        check_range(("turns", params.turns as f64, 0.0, 1000.0))?;
        check_range(("vertices", params.vertices as f64, 3.0, 200.0))?;
        check_range(("tolerance", params.tolerance, 1.0e-12, 1.0e-2))?;
        check_range(("stop_step", params.stop_step, 1.0e-12, 0.5))
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let Method::Nsgs(usual) = method else {
            return Err(LabError::Bench { problem: "expected nsgs".to_owned() });
        };
        let mut reference: Vec<DVec3> = vec![];
        let (mut rows, mut exact, mut others) = (vec![], 0.0_f64, vec![]);
        let mut panel = Panel::new(Axis::new("x [mm]"), Axis::new("z [mm]")).titled("Orbit of the free end");
        for (name, global, local, is_exact, by_step) in SOLVERS {
            let (global, local) = (global.to_owned(), local.to_owned());
            let (tolerance, stop_step) = (params.tolerance, if by_step { params.stop_step } else { 0.0 });
            let own = nsgs::Params {
                global,
                local,
                tolerance,
                tolerance_fast: tolerance,
                stop_step,
                ..usual.clone()
            };
            let (orbit, problems) = orbit(params, own)?;
            if reference.is_empty() {
                reference.clone_from(&orbit);
            }
            let centre = reference.iter().sum::<DVec3>() / reference.len() as f64;
            let size = reference.iter().map(|point| point.distance(centre)).fold(0.0, f64::max);
            let apart = orbit.iter().zip(&reference).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max) / size;
            if is_exact {
                exact = exact.max(apart);
            } else {
                others.push((name, apart));
            }
            let unsolved = 100.0 * f64::from(problems.unsolved) / f64::from(problems.count.max(1));
            let sweeps = problems.sweeps as f64 / f64::from(problems.count.max(1));
            let row = Row::new().with("solver", name).with("exact", is_exact);
            let row = row.with("stopped_by", if by_step { "step" } else { "error" }).with("sweeps", sweeps);
            let row = row.with("unsolved_percent", unsolved).with("worst_error", problems.worst);
            rows.push(row.with("orbit_size", size).with("apart", apart));
            let line = Series::line(name, orbit.iter().map(|p| (1.0e3 * p.x, 1.0e3 * p.z)).collect());
            panel = panel.with(if is_exact { line } else { line.dashed() });
        }
        let mut checks = vec![Check::at_most(
            "exact solvers: farthest from the first, in sizes of the orbit",
            exact,
            0.01,
        )];
        checks.extend(others.into_iter().map(|(name, apart)| {
            Check::at_least(format!("{name}: how far from it, in sizes of the orbit"), apart, 0.05)
        }));
        Ok(Findings { rows, checks, figure: Figure::new("Orbit").with(panel) })
    }
}

/// The free end of the fibre over the last turn [m], and what all contact problems took.
fn orbit(params: &Params, own: nsgs::Params) -> Result<(Vec<DVec3>, ContactProblems), LabError> {
    let material = hair(1.0e-4, 3.0e9, 1300.0, 0.37);
    let mut groomed = Curves::default();
    let count = params.vertices;
    // From a clamp beside the ball and above its top, out over it.
    let root = DVec3::new(-0.1, BALL + 0.02, 0.01);
    let along = DVec3::new(0.14, 0.0, 0.0);
    groomed.push((0..count).map(|i| (root + along * (i as f64 / (count - 1) as f64)).as_vec3()));
    let model = Arc::new(Model::new(&groomed, &material)?);
    let clamp = Body { name: "clamp".into(), shape: Shape::Plane, friction: 0.0, collides: false };
    let ball = Body::new("ball", Shape::Sphere { radius: BALL as f32 }, params.mu as f32)?;
    let mut bodies = Bodies::new(vec![clamp, ball]);
    let angle = |time: f64| {
        params.amplitude_degrees.to_radians() * (std::f64::consts::TAU * time / params.period).sin()
    };
    let pose = |time: f64| Pose { rotation: DQuat::from_rotation_y(angle(time)), translation: DVec3::ZERO };
    bodies.begin_step(&[Motion::still(Pose::IDENTITY), Motion::still(pose(0.0))], 0.0)?;
    let mut attachments = Attachments::default();
    attachments.hold(&bodies, 0, Seat::Body, 0, 0, &[root]);
    let mut solver = Method::Nsgs(own).build(&model);
    solver.load(&State::at_rest(model.groomed.iter().map(|point| point.as_dvec3()).collect()));
    let (dt, wind) = (params.period / STEPS as f64, Wind::still());
    let (mut orbit, mut problems) = (vec![], ContactProblems::default());
    for step in 0..(params.turns + 1) * STEPS {
        let time = dt * step as f64;
        let motion = Motion::Rigid { start: pose(time), end: pose(time + dt) };
        bodies.begin_step(&[Motion::still(Pose::IDENTITY), motion], dt)?;
        let mut drive = Drive::new(&bodies, &attachments, &wind);
        (drive.gravity, drive.time, drive.duration) = (DVec3::NEG_Y * GRAVITY, time, dt);
        let report = solver.step(&drive, Step::Dynamic { dt });
        problems += report.map_err(|source| LabError::Step { time, source })?.contact_problems;
        if step >= params.turns * STEPS {
            let mut state = State::default();
            solver.store(&mut state);
            orbit.extend(state.positions.last());
        }
    }
    Ok((orbit, problems))
}
