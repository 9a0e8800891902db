//! One workload on every solver: 1,000 strands × 32 vertices, 0.3 m, clamped horizontally, gravity, no hair–hair
//! contact, 60 frames a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use glam::{DVec3, Vec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::Pose;
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use hairloom::solve::{Method, Step};
use serde_json::{Map, json};

use super::clock::{on_threads, shortest};
use super::{Bench, Ratio};
use crate::cantilever::reference::drop_over_reach;
use crate::strands::{alone, heaviness};

const STRANDS: usize = 1000;
const VERTICES: usize = 32;
const LENGTH: f32 = 0.3;
const FRAMES: usize = 60;
/// How often the simulated second is run, of slow solvers as often as there is time.
const RUNS: usize = 200;
const LONG_ENOUGH: Duration = Duration::from_secs(5);
/// What each solver may take [CPU s per simulated s].
const GOALS: &[(&str, f64)] = &[("ftl", 0.015), ("admm", 1.8), ("xpbd-mpm", 0.12)];

/// How much segments may stretch where the method has a goal for it.
const STRETCH: f64 = 0.01;
/// How far from the heavy elastica strands of so few edges may hang.
const SAG: f64 = 0.04;
/// Quasistatic steps until strands are at rest.
const RELAXATIONS: usize = 20;

/// Strands in rows that stick out along x, each held at its root.
pub(super) fn workload() -> (Arc<Model>, Bodies, Attachments) {
    let mut curves = Curves::default();
    for strand in 0..STRANDS {
        let root = Vec3::new(0.0, 0.002 * (strand / 40) as f32, 0.002 * (strand % 40) as f32);
        let edge = LENGTH / (VERTICES - 1) as f32;
        curves.push((0..VERTICES).map(|i| root + Vec3::X * (edge * i as f32)));
    }
    let material = Material { radius: 5.0e-5, young: 3.0e9, ..Material::preset(MaterialPreset::Straight) };
    let model = Model::new(&curves, &material).expect("the workload is sound");
    let holder = Body { name: "wall".into(), shape: Shape::Plane, friction: 0.0, collides: false };
    let mut bodies = Bodies::new(vec![holder]);
    bodies.begin_step(&[Motion::still(Pose::IDENTITY)], 1.0 / 60.0).expect("a body at rest");
    let mut attachments = Attachments::default();
    for strand in 0..STRANDS {
        let held: Vec<DVec3> = curves.strand(strand)[..2].iter().map(|p| p.as_dvec3()).collect();
        attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &held);
    }
    (Arc::new(model), bodies, attachments)
}

pub(super) fn run() -> Bench {
    let (model, bodies, attachments) = workload();
    let wind = Wind::still();
    let dt = 1.0 / FRAMES as f64;
    let state = State::at_rest(model.groomed.iter().map(|p| p.as_dvec3()).collect());
    let mut rows = Vec::new();
    let mut ratios = Vec::new();
    for &name in Method::NAMES {
        let Some(mut method) = Method::by_name(name) else { continue };
        alone(&mut method);
        if let Method::XpbdMpm(params) = &mut method {
            // One iteration in each sub-step, whatever it leaves.
            params.tolerance = 1.0;
        }
        // On one thread the wall time is the processor time, but for what else runs there: the shortest run counts.
        let (seconds, stretch) = on_threads(1, || {
            let mut solver = method.build(&model);
            let mut stored = State::default();
            let (mut best, mut stretch) = (f64::INFINITY, 0.0f64);
            let clock = Instant::now();
            for run in 0..RUNS {
                if run > 0 && clock.elapsed() > LONG_ENOUGH {
                    break;
                }
                let seconds = shortest(1, || {
                    solver.load(&state);
                    for frame in 0..FRAMES {
                        let mut drive = Drive::new(&bodies, &attachments, &wind);
                        drive.time = frame as f64 * dt;
                        drive.duration = dt;
                        solver.step(&drive, Step::Dynamic { dt }).expect("the workload does not diverge");
                        solver.store(&mut stored);
                    }
                });
                best = best.min(seconds);
            }
            // Of all frames, in a run that is not timed.
            solver.load(&state);
            for frame in 0..FRAMES {
                let mut drive = Drive::new(&bodies, &attachments, &wind);
                (drive.time, drive.duration) = (frame as f64 * dt, dt);
                solver.step(&drive, Step::Dynamic { dt }).expect("the workload does not diverge");
                solver.store(&mut stored);
                stretch = stretch.max(largest_stretch(&model, &stored));
            }
            (best, stretch)
        });
        let mut row = Map::new();
        row.insert("solver".into(), json!(name));
        row.insert("cpu_seconds_per_simulated_second".into(), json!(seconds));
        row.insert("stretch".into(), json!(stretch));
        if let Method::XpbdMpm(_) = &method {
            ratios.push(Ratio::at_most(format!("{name}: stretch"), stretch, STRETCH));
        }
        if let Method::Admm(_) | Method::XpbdMpm(_) = &method {
            let error = sag_error(&method, &model, &bodies, &attachments);
            row.insert("sag_error".into(), json!(error));
            let title = format!("{name}: strands at rest against the heavy elastica, drop over reach");
            ratios.push(Ratio::at_most(title, error, SAG));
        }
        rows.push(row);
        if let Some((_, goal)) = GOALS.iter().find(|(solver, _)| *solver == name) {
            let title = format!("{name}: CPU seconds per simulated second");
            ratios.push(Ratio::at_most(title, seconds, *goal));
        }
    }
    Bench { bench: "strands", rows, ratios }
}

/// How far drop over reach of the strands at rest, behind the clamped edge, is from that of the heavy elastica.
fn sag_error(method: &Method, model: &Arc<Model>, bodies: &Bodies, attachments: &Attachments) -> f64 {
    let (mut solver, mut state, wind) = (method.build(model), State::default(), Wind::still());
    for _ in 0..RELAXATIONS {
        let drive = Drive::new(bodies, attachments, &wind);
        solver.step(&drive, Step::Quasistatic { iterations: 20 }).expect("the workload does not diverge");
    }
    solver.store(&mut state);
    let free = f64::from(LENGTH) * (VERTICES - 2) as f64 / (VERTICES - 1) as f64;
    let reference = drop_over_reach(heaviness(&model.materials[0], free));
    let error = |strand: usize| {
        let shape = &state.positions[model.range(strand)];
        let arm = shape[VERTICES - 1] - shape[1];
        (-arm.y / arm.x / reference - 1.0).abs()
    };
    (0..model.strands()).map(error).fold(0.0, f64::max)
}

fn largest_stretch(model: &Model, state: &State) -> f64 {
    let edges = (0..model.vertices()).filter(|&v| model.rest_lengths[v] > 0.0);
    edges
        .map(|v| (state.positions[v + 1] - state.positions[v]).length() / model.rest_lengths[v] - 1.0)
        .fold(0.0, |worst: f64, stretch| worst.max(stretch.abs()))
}
