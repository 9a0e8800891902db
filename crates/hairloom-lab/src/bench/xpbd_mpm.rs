//! A step of Cosserat rods with contact, as section 4 of Hsu et al. 2023 has it: 512 strands of 16 vertices, 64 iterations and one step
//! of the grid, in 1 ms of simulated time; and the same with as many iterations as lengths need.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::{Pose, Random};
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use hairloom::solve::{Method, Report, Step, xpbd_mpm};
use serde_json::{Map, json};

use super::clock::on_threads;
use super::{Bench, Ratio};

const STRANDS: usize = 512;
const VERTICES: usize = 16;
const STEPS: usize = 400;
/// What a step may take on two threads [s].
const GOAL: f64 = 2.5e-3;

/// Hair of 20 cm all around a ball, roots downwards the denser.
fn workload() -> (Arc<Model>, Bodies, Attachments) {
    let mut random = Random::new(1);
    let mut curves = Curves::default();
    for _ in 0..STRANDS {
        let direction = random.direction();
        let edge = 0.2 / (VERTICES - 1) as f32;
        let mut point = direction * 0.1;
        let mut along = direction;
        let mut points = Vec::with_capacity(VERTICES);
        for _ in 0..VERTICES {
            points.push(point);
            along = (along + Vec3::NEG_Y * (6.0 * edge)).normalize();
            point += along * edge;
        }
        curves.push(points);
    }
    let model = Model::new(&curves, &Material::preset(MaterialPreset::Wavy)).expect("the workload is sound");
    let holder = Body { name: "head".into(), shape: Shape::Plane, friction: 0.0, collides: false };
    let mut bodies = Bodies::new(vec![holder]);
    bodies.begin_step(&[Motion::still(Pose::IDENTITY)], 1.0e-3).expect("a body at rest");
    let mut attachments = Attachments::default();
    for strand in 0..STRANDS {
        let held: Vec<DVec3> = curves.strand(strand)[..1].iter().map(|p| p.as_dvec3()).collect();
        attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &held);
    }
    (Arc::new(model), bodies, attachments)
}

pub(super) fn run() -> Bench {
    let (model, bodies, attachments) = workload();
    let wind = Wind::still();
    // As many iterations as the paper takes, and as many as are needed.
    let usual = xpbd_mpm::Params { step: 1.0e-3, ..xpbd_mpm::Params::USUAL };
    let paper = xpbd_mpm::Params { iterations: 64, tolerance: 1.0, ..usual };
    let state = State::at_rest(model.groomed.iter().map(|p| p.as_dvec3()).collect());
    let mut rows = Vec::new();
    let mut ratios = Vec::new();
    for (threads, params) in [(1, paper), (2, paper), (1, usual), (2, usual)] {
        // The step in the middle: single ones may have little to do.
        let middle = on_threads(threads, || {
            let mut solver = Method::XpbdMpm(params).build(&model);
            solver.load(&state);
            let mut steps: Vec<(f64, Report)> = Vec::with_capacity(STEPS);
            for step in 0..STEPS {
                let mut drive = Drive::new(&bodies, &attachments, &wind);
                (drive.time, drive.duration) = (step as f64 * 1.0e-3, 1.0e-3);
                let clock = std::time::Instant::now();
                let report =
                    solver.step(&drive, Step::Dynamic { dt: 1.0e-3 }).expect("the workload does not diverge");
                steps.push((clock.elapsed().as_secs_f64(), report));
            }
            steps.sort_by(|one, other| one.0.total_cmp(&other.0));
            steps.swap_remove(STEPS / 2)
        });
        let (seconds, report) = middle;
        let phases: Map<_, _> =
            report.phases.iter().map(|phase| (phase.name.to_owned(), json!(phase.seconds * 1.0e3))).collect();
        let mut row = Map::new();
        row.insert("threads".into(), json!(threads));
        row.insert("strands".into(), json!(STRANDS));
        row.insert("vertices".into(), json!(VERTICES));
        row.insert("iterations".into(), json!(report.iterations));
        row.insert("milliseconds".into(), json!(seconds * 1.0e3));
        row.insert("phases".into(), json!(phases));
        rows.push(row);
        if threads == 2 && params == paper {
            ratios.push(Ratio::at_most("a step on two threads [ms]", seconds * 1.0e3, GOAL * 1.0e3));
        }
    }
    Bench { bench: "xpbd-mpm", rows, ratios }
}
