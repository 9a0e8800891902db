//! The `admm` solver as section 5.2 of Daviet 2023 measures it: the hairy ball with its phases and its growth, and the elastic
//! part alone, in lanes and in plain numbers.

use std::sync::Arc;

use glam::DVec3;
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::hairy_ball;
use hairloom::scene::{Attachments, BuiltinMotion, Drive, Material, MaterialPreset, Model, Seat, Wind};
use hairloom::solve::admm::{Admm, Params, build};
use hairloom::solve::{Checkpoint, Report, Solver, Step};
use serde_json::{Map, Value, json};

use super::clock::{cpu_seconds, forget_peak, on_threads, peak_bytes, shortest};
use super::strands::workload;
use super::{Bench, Listener, Ratio, elastic};

/// Frames a second, and steps a frame.
const RATE: f64 = 24.0;
pub(super) const STEPS: usize = 4;
/// Frames before those that are timed, and frames timed: hair has fallen onto the ball, which begins to turn back.
const WARM_UP: usize = 18;
const TIMED: usize = 3;
/// The same where growth to 128,000 strands is measured: each of their frames takes a minute.
const SHORT_WARM_UP: usize = 4;
/// Frames before the one in which hair falls fastest.
const FALLING: usize = 8;
const THREADS: usize = 2;
/// Set this variable to run the ball of 128,000 strands too: some ten minutes and 10 GB.
const LARGE: &str = "HAIRLOOM_BENCH_LARGE";
/// Set this variable to a number of strands to run the ball of that many and no other.
const ONLY: &str = "HAIRLOOM_BENCH_STRANDS";
/// How often in a step hair that meets on its way is looked for, where it is.
const CONTINUOUS: u32 = 3;

/// Hair on a ball that turns.
pub(super) struct Ball {
    bodies: Bodies,
    pub model: Arc<Model>,
    attachments: Attachments,
    wind: Wind,
    motion: BuiltinMotion,
    /// Steps done.
    pub step: usize,
}

impl Ball {
    pub(super) fn new(strands: usize) -> Self {
        let groom = hairy_ball(strands, 1);
        let shape = Shape::Sphere { radius: 0.09 };
        let mut bodies = Bodies::new(vec![Body::new("ball", shape, 0.2).expect("a sound body")]);
        let motion = BuiltinMotion::HairyBall { amplitude_degrees: 90.0, period: 4.0 };
        bodies.begin_step(&[Motion::still(motion.pose(0.0))], 1.0).expect("a body at rest");
        let mut attachments = Attachments::default();
        for (strand, points) in groom.curves.iter().enumerate() {
            let held: Vec<DVec3> = points[..2].iter().map(|point| point.as_dvec3()).collect();
            attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &held);
        }
        let material = Material {
            radius: 3.7e-5,
            density: 1300.0,
            young: 3.0e9,
            poisson: 0.45,
            friction: 0.2,
            drag: 0.0,
            ..Material::preset(MaterialPreset::Straight)
        };
        let model = Arc::new(Model::new(&groom.curves, &material).expect("sound hair"));
        Self { bodies, model, attachments, wind: Wind::still(), motion, step: 0 }
    }

    /// One frame. Adds the time of its phases, and returns the contacts of a step in the mean.
    pub(super) fn frame(&mut self, solver: &mut dyn Solver, phases: &mut Report) -> f64 {
        let dt = 1.0 / (RATE * STEPS as f64);
        let mut contacts = 0.0;
        for _ in 0..STEPS {
            let pose = |step: usize| self.motion.pose(step as f64 * dt);
            let motion = Motion::Rigid { start: pose(self.step), end: pose(self.step + 1) };
            self.bodies.begin_step(&[motion], dt).expect("a sound motion");
            let mut drive = Drive::new(&self.bodies, &self.attachments, &self.wind);
            drive.time = self.step as f64 * dt;
            drive.duration = dt;
            let report = solver.step(&drive, Step::Dynamic { dt }).expect("hair does not diverge");
            report.phases.iter().for_each(|phase| phases.add_seconds(phase.name, phase.seconds));
            contacts += report.contacts as f64 / STEPS as f64;
            self.step += 1;
        }
        contacts
    }
}

/// What a ball costs.
struct Cost {
    elastic_per_vertex: f64,
    contact_per_contact: f64,
    seconds: f64,
    /// The same of all frames from the first on, without continuous detection.
    mean_seconds: f64,
    contacts: f64,
    peak: Option<u64>,
    row: Map<String, Value>,
}

/// A ball after some frames without continuous detection, and what it costs from there with each of some numbers of looks in a step.
fn run_ball(strands: usize, warm_up: usize, timed: usize, looks: &[u32], tell: Listener<'_>) -> Vec<Cost> {
    forget_peak();
    let mut ball = Ball::new(strands);
    let mut solver = build(&ball.model, Params { continuous: 0, ..Params::default() });
    let before = shortest(1, || {
        for frame in 1..=warm_up {
            tell(&format!("hairy ball, {strands} strands: frame {frame} of {}", warm_up + timed));
            ball.frame(solver.as_mut(), &mut Report::default());
        }
    });
    let mut checkpoint = Checkpoint::default();
    solver.save(&mut checkpoint);
    drop(solver);
    let from_there = |&continuous: &u32| {
        tell(&format!("hairy ball, {strands} strands, {continuous} looks a step: frames after {warm_up}"));
        ball.step = STEPS * warm_up;
        let mut solver = build(&ball.model, Params { continuous, ..Params::default() });
        solver.restore(&checkpoint).expect("a checkpoint of the same model");
        let mut cost = time_frames(&mut ball, solver.as_mut(), timed, continuous);
        cost.mean_seconds = (before + cost.seconds * timed as f64) / (warm_up + timed) as f64;
        if continuous == 0 {
            cost.row.insert("seconds_per_frame_from_the_first".to_owned(), json!(cost.mean_seconds));
        }
        cost
    };
    looks.iter().map(from_there).collect()
}

/// What the next frames cost.
fn time_frames(ball: &mut Ball, solver: &mut dyn Solver, timed: usize, continuous: u32) -> Cost {
    let scene = if continuous > 0 { "hairy ball, continuous detection" } else { "hairy ball" };
    let mut phases = Report::default();
    let mut contacts = 0.0;
    let begin = cpu_seconds();
    let seconds = shortest(1, || {
        contacts = (0..timed).map(|_| ball.frame(solver, &mut phases)).sum::<f64>() / timed as f64;
    });
    let frames = timed as f64;
    let cpu = cpu_seconds().zip(begin).map(|(end, begin)| (end - begin) / frames);
    let phase = |name: &str| {
        phases.phases.iter().find(|phase| phase.name == name).map_or(0.0, |phase| phase.seconds / frames)
    };
    let contact = phase("detection") + phase("projection") + phase("correction") + phase("loads");
    let table: Map<String, Value> =
        phases.phases.iter().map(|phase| (phase.name.to_owned(), json!(phase.seconds / frames))).collect();
    let peak = peak_bytes();
    let row = row([
        ("scene", json!(scene)),
        ("strands", json!(ball.model.strands())),
        ("vertices", json!(ball.model.vertices())),
        ("frame", json!(ball.step / STEPS)),
        ("contacts", json!(contacts.round())),
        ("seconds_per_frame", json!(seconds / frames)),
        ("cpu_seconds_per_frame", json!(cpu)),
        ("peak_bytes", json!(peak)),
        ("phases", Value::Object(table)),
    ]);
    Cost {
        elastic_per_vertex: phase("elasticity") / ball.model.vertices() as f64,
        contact_per_contact: contact / contacts.max(1.0),
        seconds: seconds / frames,
        mean_seconds: seconds / frames,
        contacts,
        peak,
        row,
    }
}

pub(super) fn row<const N: usize>(entries: [(&str, Value); N]) -> Map<String, Value> {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// How rods are kept in memory, and what that is called.
type Kind = (&'static str, fn(&Arc<Model>, Params) -> Box<dyn Solver>);

const LANES: Kind = ("rods, eight lanes of f32", build);
const PLAIN: Kind = ("rods, plain f32", |model, params| Box::new(Admm::<f32>::new(model, params)));
const DOUBLE: Kind = ("rods, plain f64", |model, params| Box::new(Admm::<f64>::new(model, params)));

/// Shortest times of a Newton iteration of one vertex [s], step by step in turn, so that what else the machine does meets all
/// kinds alike.
fn newton_iteration<const N: usize>(kinds: [Kind; N], threads: usize) -> [f64; N] {
    const ITERATIONS: u32 = 10;
    let (model, bodies, attachments) = workload();
    let params =
        Params { iterations: ITERATIONS, tolerance: 0.0, strand_contacts: false, ..Params::default() };
    let (dt, wind) = (1.0 / 60.0, Wind::still());
    on_threads(threads, || {
        let mut solvers = kinds.map(|(_, new)| new(&model, params));
        let mut least = [f64::INFINITY; N];
        for step in 0..60 {
            let mut drive = Drive::new(&bodies, &attachments, &wind);
            drive.time = f64::from(step) * dt;
            drive.duration = dt;
            for (solver, least) in solvers.iter_mut().zip(&mut least) {
                let report =
                    solver.step(&drive, Step::Dynamic { dt }).expect("the workload does not diverge");
                let phase = report.phases.iter().find(|phase| phase.name == "elasticity");
                *least = least.min(phase.map_or(f64::INFINITY, |phase| phase.seconds));
            }
        }
        least.map(|seconds| seconds / f64::from(ITERATIONS) / model.vertices() as f64)
    })
}

fn elastic_rows(rows: &mut Vec<Map<String, Value>>, ratios: &mut Vec<Ratio>) {
    let [lanes, plain, double] = newton_iteration([LANES, PLAIN, DOUBLE], 1);
    let [both] = newton_iteration([LANES], THREADS);
    for ((scene, _), threads, seconds) in
        [(LANES, 1, lanes), (PLAIN, 1, plain), (DOUBLE, 1, double), (LANES, THREADS, both)]
    {
        rows.push(row([
            ("scene", json!(scene)),
            ("threads", json!(threads)),
            ("ns_per_vertex_and_iteration", json!(seconds * 1.0e9)),
        ]));
    }
    ratios.push(Ratio::at_least("rods: plain f32 against eight lanes of f32", plain / lanes, 5.0));
    ratios.push(Ratio::at_least("rods: one thread against two, eight lanes of f32", lanes / both, 1.8));
    let summary = on_threads(1, elastic::summary);
    rows.extend(summary.rows);
    ratios.extend(summary.ratios);
}

pub(super) fn run(tell: Listener<'_>) -> Bench {
    let mut rows = Vec::new();
    let mut ratios = Vec::new();
    tell("rods alone");
    elastic_rows(&mut rows, &mut ratios);
    let mut ball = |strands, warm_up, timed, looks: &[u32]| {
        let costs = on_threads(THREADS, || run_ball(strands, warm_up, timed, looks, tell));
        rows.extend(costs.iter().map(|cost| cost.row.clone()));
        costs
    };
    if let Some(strands) = std::env::var(ONLY).ok().and_then(|text| text.parse().ok()) {
        ball(strands, WARM_UP, TIMED, &[0, CONTINUOUS]);
        return Bench { bench: "admm", rows, ratios };
    }
    for (name, strands) in [("2,000 strands", 2_000), ("16,000 strands", 16_000)] {
        for (when, warm_up, timed) in [("as it falls", FALLING, 1), ("on the ball", WARM_UP, TIMED)] {
            let [cost, looking] = &ball(strands, warm_up, timed, &[0, CONTINUOUS])[..] else { continue };
            let title = format!("{name} {when}: continuous detection three times a step against none");
            ratios.push(Ratio::at_most(title, looking.seconds / cost.seconds, 2.5));
            if strands == 16_000 && warm_up == WARM_UP {
                let title = "16,000 strands: seconds a frame, from the first on";
                ratios.push(Ratio::at_most(title, cost.mean_seconds, 4.5));
                ratios.push(Ratio::at_least("16,000 strands: contacts", cost.contacts, 1.0e6));
                gigabytes(name, cost, 2.5, &mut ratios);
                gigabytes("16,000 strands with continuous detection", looking, 2.5, &mut ratios);
            }
        }
    }
    let small = ball(2_000, SHORT_WARM_UP, TIMED, &[0]).remove(0);
    let large = ball(16_000, SHORT_WARM_UP, 1, &[0]).remove(0);
    growth("16,000 strands against 2,000", &small, &large, &mut ratios);
    if std::env::var_os(LARGE).is_some() {
        let [largest, looking] = &ball(128_000, SHORT_WARM_UP, 1, &[0, CONTINUOUS])[..] else {
            return Bench { bench: "admm", rows, ratios };
        };
        gigabytes("128,000 strands", largest, 10.0, &mut ratios);
        growth("128,000 strands against 2,000", &small, largest, &mut ratios);
        gigabytes("128,000 strands with continuous detection", looking, 10.0, &mut ratios);
    }
    Bench { bench: "admm", rows, ratios }
}

fn gigabytes(name: &str, cost: &Cost, goal: f64, ratios: &mut Vec<Ratio>) {
    if let Some(peak) = cost.peak {
        ratios.push(Ratio::at_most(format!("{name}: gigabytes"), peak as f64 * 1.0e-9, goal));
    }
}

fn growth(name: &str, small: &Cost, large: &Cost, ratios: &mut Vec<Ratio>) {
    let elastic = large.elastic_per_vertex / small.elastic_per_vertex;
    ratios.push(Ratio::at_most(format!("{name}: elastic cost of a vertex"), elastic, 1.5));
    let contact = large.contact_per_contact / small.contact_per_contact;
    ratios.push(Ratio::at_most(format!("{name}: cost of a contact"), contact, 1.5));
}
