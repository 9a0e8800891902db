//! The two elastic steps of the rods against each other, and the splitting against what is known.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::{Pose, Quaternion, Vector3};
use hairloom::rod::der::{Elasticity, Frame, Measure, Rod, RodShape, StretchMeasure};
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use hairloom::solve::admm::{Clamp, Elastic, Params, Precision};
use hairloom::solve::{Method, Solver, Step};

const DT: f64 = 1.0 / 96.0;
const LENGTH: f64 = 0.1;

/// Strands on a wall, held at their roots, and the wall's motion.
struct World {
    model: Arc<Model>,
    bodies: Bodies,
    attachments: Attachments,
}

impl World {
    fn new(curves: &Curves, material: &Material) -> Self {
        let model = Arc::new(Model::new(curves, material).unwrap());
        let wall = Body { name: "wall".into(), shape: Shape::Plane, friction: 0.0, collides: false };
        let mut bodies = Bodies::new(vec![wall]);
        bodies.begin_step(&[Motion::still(Pose::IDENTITY)], DT).unwrap();
        let mut attachments = Attachments::default();
        for strand in 0..curves.strands() {
            let held: Vec<DVec3> = curves.strand(strand)[..1].iter().map(|p| p.as_dvec3()).collect();
            attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &held);
        }
        Self { model, bodies, attachments }
    }

    fn step(&self, solver: &mut dyn Solver, step: Step) {
        let wind = Wind::still();
        let mut drive = Drive::new(&self.bodies, &self.attachments, &wind);
        drive.duration = DT;
        solver.step(&drive, step).unwrap();
    }

    /// Turns and moves the wall.
    fn turn(&mut self, pose: Pose) {
        self.bodies.begin_step(&[Motion::Rigid { start: Pose::IDENTITY, end: pose }], DT).unwrap();
    }
}

/// Helices of different lengths that stick out along x, and one straight strand.
fn curls(strands: usize) -> Curves {
    let mut curves = Curves::default();
    for strand in 0..strands {
        let count = 21 - strand % 3;
        let radius = 0.004 * (strand % 4) as f32;
        curves.push((0..count).map(|i| {
            let along = LENGTH as f32 * i as f32 / 20.0;
            let (sin, cos) = (along * 150.0).sin_cos();
            Vec3::new(along, radius * (cos - 1.0), radius * sin + 0.01 * strand as f32)
        }));
    }
    curves
}

fn state(solver: &dyn Solver) -> State {
    let mut state = State::default();
    solver.store(&mut state);
    state
}

/// Largest distance of two states beside the length of a strand.
fn distance(a: &State, b: &State) -> f64 {
    let apart = a.positions.iter().zip(&b.positions).map(|(a, b)| (*a - *b).length());
    apart.fold(0.0, f64::max) / LENGTH
}

/// Converged, in double precision.
fn exact(elastic: Elastic) -> Params {
    Params {
        elastic,
        iterations: if elastic == Elastic::Newton { 100 } else { 300 },
        tolerance: 1.0e-11,
        inner: 10,
        strand_contacts: false,
        precision: Precision::F64,
        ..Params::default()
    }
}

#[test]
fn both_elastic_steps_end_in_the_same_place() {
    let material = Material { flatness: 0.2, ..Material::preset(MaterialPreset::Curly) };
    for (clamp, relaxation) in [(Clamp::Ghost, 0.0), (Clamp::Voronoi, 0.0), (Clamp::Ghost, 0.02)] {
        let mut world = World::new(&curls(4), &material);
        let build =
            |elastic| Method::Admm(Params { clamp, relaxation, ..exact(elastic) }).build(&world.model);
        let (mut newton, mut splitting) = (build(Elastic::Newton), build(Elastic::Splitting));
        for step in 0..4 {
            let angle = 0.1 * f64::from(step);
            let rotation = DQuat::from_rotation_y(angle) * DQuat::from_rotation_x(angle);
            world.turn(Pose { rotation, translation: DVec3::new(0.0, 0.005, 0.0) * angle });
            world.step(&mut *newton, Step::Dynamic { dt: DT });
            world.step(&mut *splitting, Step::Dynamic { dt: DT });
        }
        let apart = distance(&state(&*newton), &state(&*splitting));
        assert!(apart < 1.0e-4, "{clamp:?}, damping {relaxation}: {apart} of the length after four steps");
        world.turn(Pose::IDENTITY);
        world.step(&mut *newton, Step::Quasistatic { iterations: 100 });
        world.step(&mut *splitting, Step::Quasistatic { iterations: 600 });
        let apart = distance(&state(&*newton), &state(&*splitting));
        assert!(apart < 1.0e-4, "{clamp:?}: {apart} of the length at rest");
    }
}

#[test]
fn momentum_and_weights_are_worth_their_while() {
    let world = World::new(&curls(1), &Material::preset(MaterialPreset::Straight));
    let settled = |params: Params, iterations| {
        let mut solver = Method::Admm(params).build(&world.model);
        world.step(&mut *solver, Step::Quasistatic { iterations });
        state(&*solver)
    };
    let params = Params { inner: 1, tolerance: 0.0, ..exact(Elastic::Splitting) };
    let converged = settled(exact(Elastic::Newton), 100);
    let ours = distance(&settled(params, 150), &converged);
    let printed = Params { weight: 25.0, momentum: false, ..params };
    let printed = distance(&settled(printed, 150), &converged);
    assert!(ours < 0.01 && printed > 0.1, "ours {ours}, as printed {printed}");
}

#[test]
fn measures_agree_on_gentle_bends() {
    let world = World::new(&curls(4), &Material::preset(MaterialPreset::Curly));
    let settled = |bending, stretching| {
        let params = Params { bending, stretching, ..exact(Elastic::Splitting) };
        let mut solver = Method::Admm(params).build(&world.model);
        world.step(&mut *solver, Step::Quasistatic { iterations: 600 });
        state(&*solver)
    };
    let usual = settled(Measure::HalfSine, StretchMeasure::Linear);
    let bent = distance(&usual, &settled(Measure::HalfTangent, StretchMeasure::Linear));
    assert!(bent > 1.0e-6 && bent < 0.05, "half tangent against half sine: {bent}");
    let stretched = distance(&usual, &settled(Measure::HalfSine, StretchMeasure::Quadratic));
    assert!(stretched > 0.0 && stretched < 1.0e-4, "quadratic against linear stretch: {stretched}");
}

#[test]
fn lanes_agree_with_double_precision() {
    let world = World::new(&curls(19), &Material::preset(MaterialPreset::Wavy));
    let swung = |precision| {
        let params = Params { precision, inner: 100, tolerance: 0.0, ..exact(Elastic::Splitting) };
        let params = Params { iterations: 3, ..params };
        let mut solver = Method::Admm(params).build(&world.model);
        for _ in 0..10 {
            world.step(&mut *solver, Step::Dynamic { dt: DT });
        }
        state(&*solver)
    };
    let apart = distance(&swung(Precision::F32), &swung(Precision::F64));
    assert!(apart > 0.0 && apart < 1.0e-3, "{apart} of the length after ten steps");
}

/// Kinetic, gravitational and elastic energy of straight strands [J].
fn energy(model: &Model, rods: &[Rod], state: &State) -> f64 {
    let frame = |rotation: DQuat| Frame(Quaternion::splat(rotation));
    let vertices = (0..model.vertices()).map(|v| {
        let (velocity, height) = (state.velocities[v], state.positions[v].y);
        f64::from(model.masses[v]) * (0.5 * velocity.length_squared() + 9.81 * height)
    });
    let elastic = rods.iter().enumerate().map(|(strand, rod)| {
        let range = model.range(strand);
        let positions = &state.positions[range.clone()];
        let edges = positions.windows(2).map(|pair| Vector3::splat(pair[1] - pair[0])).collect();
        let frames = state.orientations[range.start..range.end - 1].iter().map(|&q| frame(q)).collect();
        let clamp = frame(DQuat::from_rotation_arc(DVec3::Z, DVec3::X));
        rod.energy(&RodShape { clamp, edges, frames })
    });
    vertices.sum::<f64>() + elastic.sum::<f64>()
}

#[test]
fn a_swing_never_gains_energy() {
    let mut curves = Curves::default();
    curves.push((0..21).map(|i| Vec3::X * (LENGTH as f32 * i as f32 / 20.0)));
    let material = Material { drag: 0.0, ..Material::preset(MaterialPreset::Straight) };
    let world = World::new(&curves, &material);
    let elasticity = Elasticity::round(material.radius, material.young, material.poisson);
    let points: Vec<DVec3> = curves.points.iter().map(|p| p.as_dvec3()).collect();
    let clamp = Frame(Quaternion::splat(DQuat::from_rotation_arc(DVec3::Z, DVec3::X)));
    let rods = [Rod::new(&RodShape::through(&points, clamp), &elasticity)];
    let mut solver = Method::Admm(exact(Elastic::Splitting)).build(&world.model);
    // What the strand gives off as it falls to where it hangs is the scale of all changes.
    let scale = 9.81 * LENGTH * world.model.masses.iter().map(|&m| f64::from(m)).sum::<f64>();
    let mut before = f64::INFINITY;
    let (mut first, mut fastest) = (None, 0.0_f64);
    for step in 0..96 {
        world.step(&mut *solver, Step::Dynamic { dt: DT });
        let state = state(&*solver);
        fastest = state.velocities.iter().fold(fastest, |fastest, v| fastest.max(v.length()));
        let now = energy(&world.model, &rods, &state);
        first.get_or_insert(now);
        assert!(now < before + 1.0e-5 * scale, "step {step}: from {before} to {now} J");
        before = now;
    }
    assert!(fastest > 0.3, "it hardly moves");
    let lost = first.unwrap_or(0.0) - before;
    assert!(lost > 0.01 * scale && lost < scale, "lost {lost} of {scale} J");
}
