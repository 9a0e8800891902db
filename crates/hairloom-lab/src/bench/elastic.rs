//! The two elastic steps of the `admm` solver: time to equal error against a converged implicit step.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::Pose;
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use hairloom::solve::admm::{Elastic, Params, Precision};
use hairloom::solve::{Method, Solver, Step};
use serde_json::{Map, Value, json};

use super::clock::{on_threads, shortest};
use super::{Bench, Listener, Ratio, elastic_in_contact};

/// Two packs: enough for the lanes, and the same for every strand.
const STRANDS: usize = 16;
const DT: f64 = 1.0 / 96.0;
/// Steps of a swing.
const SWING: usize = 24;
/// Largest error of a vertex that counts as done, beside the strand's length: of a swing, and at rest.
const SWING_ERROR: f64 = 1.0e-2;
const REST_ERROR: f64 = 1.0e-3;
/// Iterations after which a method has failed.
const MOST: u32 = 12_800;

/// Strands that stick out along x, as they are before gravity acts.
struct Case {
    name: String,
    length: f64,
    model: Arc<Model>,
    bodies: Bodies,
    attachments: Attachments,
}

/// A method and what it is called.
type Contender = (&'static str, Params);

impl Case {
    fn new(name: String, edges: &[f64], young: f64) -> Self {
        let mut curves = Curves::default();
        for strand in 0..STRANDS {
            let mut along = 0.0;
            let root = Vec3::Z * (0.01 * strand as f32);
            let ends = edges.iter().map(|edge| {
                along += edge;
                root + Vec3::X * along as f32
            });
            curves.push(std::iter::once(root).chain(ends.collect::<Vec<_>>()));
        }
        let material =
            Material { radius: 5.0e-5, young, drag: 0.0, ..Material::preset(MaterialPreset::Straight) };
        let model = Arc::new(Model::new(&curves, &material).expect("the workload is sound"));
        let wall = Body { name: "wall".into(), shape: Shape::Plane, friction: 0.0, collides: false };
        let mut bodies = Bodies::new(vec![wall]);
        bodies.begin_step(&[Motion::still(Pose::IDENTITY)], DT).expect("a body at rest");
        let mut attachments = Attachments::default();
        for strand in 0..STRANDS {
            let root = curves.strand(strand)[0].as_dvec3();
            attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &[root]);
        }
        Self { name, length: edges.iter().sum(), model, bodies, attachments }
    }

    fn uniform(length: f64, edge: f64) -> Self {
        let edges = vec![edge; (length / edge).round() as usize];
        Self::new(format!("{} cm in edges of {} mm", length * 100.0, edge * 1000.0), &edges, 3.0e9)
    }

    fn step(&self, solver: &mut dyn Solver, step: Step) {
        let wind = Wind::still();
        let mut drive = Drive::new(&self.bodies, &self.attachments, &wind);
        drive.duration = DT;
        // Hair that is lost is far from where it should be, and so counts as an error.
        let _ = solver.step(&drive, step);
    }

    /// Positions after each step of a swing, or at rest.
    fn run(&self, params: Params, still: bool) -> Vec<Vec<DVec3>> {
        let mut solver = Method::Admm(params).build(&self.model);
        let mut state = State::default();
        let steps = if still { 1 } else { SWING };
        let step = match still {
            true => Step::Quasistatic { iterations: params.iterations },
            false => Step::Dynamic { dt: DT },
        };
        (0..steps)
            .map(|_| {
                self.step(&mut *solver, step);
                solver.store(&mut state);
                state.positions.clone()
            })
            .collect()
    }

    /// Largest distance from the reference beside the length; infinite where a number is lost.
    fn error(&self, found: &[Vec<DVec3>], reference: &[Vec<DVec3>]) -> f64 {
        let apart = found.iter().flatten().zip(reference.iter().flatten()).map(|(a, b)| (*a - *b).length());
        apart.fold(0.0, |worst: f64, next| if next.is_finite() { worst.max(next) } else { f64::INFINITY })
            / self.length
    }
}

fn base() -> Params {
    Params { tolerance: 0.0, inner: 1, strand_contacts: false, ..Params::default() }
}

fn contenders() -> [Contender; 4] {
    let splitting = Params { elastic: Elastic::Splitting, ..base() };
    [
        ("newton", base()),
        ("splitting", splitting),
        ("splitting, w0 = 25", Params { weight: 25.0, ..splitting }),
        ("splitting as printed", Params { weight: 25.0, momentum: false, ..splitting }),
    ]
}

fn reference() -> Params {
    Params { iterations: 60, tolerance: 1.0e-10, precision: Precision::F64, ..base() }
}

/// The least iterations within a tenth or so that reach the goal, and the error then; `None` where none do.
fn iterations_needed(
    case: &Case,
    params: Params,
    still: bool,
    reference: &[Vec<DVec3>],
) -> Option<(u32, f64)> {
    let goal = if still { REST_ERROR } else { SWING_ERROR };
    let error = |iterations| case.error(&case.run(Params { iterations, ..params }, still), reference);
    let mut high = 1;
    while error(high) > goal {
        high *= 2;
        // A swing costs as many steps as it has.
        if high > if still { MOST } else { MOST / 16 } {
            return None;
        }
    }
    let mut low = high / 2;
    while high - low > (high / 10).max(1) {
        let middle = low.midpoint(high);
        if error(middle) > goal { low = middle } else { high = middle }
    }
    Some((high, error(high)))
}

/// One line of the table, and the iterations and the time of a step [s].
fn measure(case: &Case, contender: Contender, still: bool, reference: &[Vec<DVec3>]) -> Line {
    let (name, params) = contender;
    let mut row = Map::new();
    let mut put = |key: &str, value: Value| row.insert(key.to_owned(), value);
    put("strands", json!(case.name));
    put("step", json!(if still { "quasistatic" } else { "dt = 1/96" }));
    put("solver", json!(name));
    let Some((iterations, error)) = iterations_needed(case, params, still, reference) else {
        put("iterations", json!("not reached"));
        return Line { row, iterations: f64::INFINITY, seconds: f64::INFINITY };
    };
    let mut solver = Method::Admm(Params { iterations, ..params }).build(&case.model);
    let step = match still {
        true => Step::Quasistatic { iterations },
        false => Step::Dynamic { dt: DT },
    };
    let seconds = shortest(if iterations > 500 { 5 } else { 20 }, || case.step(&mut *solver, step));
    let steps = (iterations as usize * case.model.vertices()) as f64;
    put("iterations", json!(iterations));
    put("error", json!(error));
    put("microseconds_per_strand", json!(seconds * 1.0e6 / STRANDS as f64));
    put("ns_per_vertex_and_iteration", json!(seconds * 1.0e9 / steps));
    Line { row, iterations: f64::from(iterations), seconds }
}

struct Line {
    row: Map<String, Value>,
    iterations: f64,
    seconds: f64,
}

pub(super) fn run(tell: Listener<'_>) -> Bench {
    on_threads(1, || {
        let (mut bench, contact) = (table(), elastic_in_contact::run(tell));
        bench.rows.extend(contact.rows);
        bench.ratios.extend(contact.ratios);
        bench
    })
}

/// Every strand of the table in `solve/admm`, and section 6.1.
fn table() -> Bench {
    let mut bench = Bench { bench: "elastic", rows: Vec::new(), ratios: Vec::new() };
    for edge in [0.0025, 0.01] {
        for length in [0.04, 0.16, 0.30, 1.28] {
            compare(&Case::uniform(length, edge), &mut bench);
        }
    }
    section_6_1(&mut bench);
    bench
}

/// The same for one strand of usual length and edges.
pub(super) fn summary() -> Bench {
    let mut bench = Bench { bench: "elastic", rows: Vec::new(), ratios: Vec::new() };
    compare(&Case::uniform(0.30, 0.01), &mut bench);
    section_6_1(&mut bench);
    bench
}

/// Time to equal error of all contenders, in a swing and at rest.
fn compare(case: &Case, bench: &mut Bench) {
    for still in [false, true] {
        let reference = case.run(reference(), still);
        let lines = contenders().map(|contender| measure(case, contender, still, &reference));
        let name = format!("{}, {}", case.name, if still { "quasistatic" } else { "dynamic" });
        let slower = lines[1].seconds / lines[0].seconds;
        bench.ratios.push(Ratio::at_least(format!("splitting against newton, time, {name}"), slower, 1.0));
        let saved = lines[3].iterations / lines[1].iterations;
        let title = format!("as printed against ours, iterations, {name}");
        bench.ratios.push(Ratio::at_least(title, saved, 1.0));
        bench.rows.extend(lines.map(|line| line.row));
    }
}

/// How edges of mixed lengths and other moduli slow methods down at rest: iterations beside those of the first case.
fn section_6_1(bench: &mut Bench) {
    let mixed = [1.0, 2.0, 4.0, 8.0].map(|ratio| {
        let short = 0.02 / (1.0 + ratio);
        let edges: Vec<f64> = (0..30).map(|i| if i % 2 == 0 { short } else { short * ratio }).collect();
        Case::new(format!("30 cm, edges in turn 1 : {ratio}"), &edges, 3.0e9)
    });
    let moduli = [3.0e9, 3.0e7, 3.0e8, 3.0e10]
        .map(|young| Case::new(format!("30 cm in edges of 10 mm, E = {young:e} Pa"), &[0.01; 30], young));
    for cases in [mixed, moduli] {
        let mut first = [None; 4];
        for case in cases {
            let reference = case.run(reference(), true);
            for (&contender, first) in contenders().iter().zip(&mut first) {
                let mut line = measure(&case, contender, true, &reference);
                let usual = *first.get_or_insert(line.iterations);
                line.row.insert("iterations_beside_first".to_owned(), json!(line.iterations / usual));
                bench.rows.push(line.row);
            }
        }
    }
}
