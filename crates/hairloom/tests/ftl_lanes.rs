//! Follow the leader in lanes against the same method written plainly.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::Pose;
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use hairloom::solve::ftl::plain::{Step as PlainStep, Strand};
use hairloom::solve::ftl::{Ftl, Params};
use hairloom::solve::{Solver, Step};

const DT: f64 = 1.0 / 60.0;

/// Strands of different lengths that stand up from a ball of 10 cm, beside it or on it.
fn strands() -> Curves {
    let mut curves = Curves::default();
    for strand in 0..45 {
        let angle = 0.14 * strand as f32;
        let out = Vec3::new(angle.sin(), 0.6, angle.cos()).normalize();
        let count = 6 + strand % 5;
        curves.push((0..count).map(|i| out * (0.1 + 0.012 * i as f32) + Vec3::X * (0.002 * i as f32)));
    }
    curves
}

/// Runs both versions over a ball that rocks, and returns how far apart they end up at most [m].
fn largest_difference(params: Params, steps: usize) -> f64 {
    let curves = strands();
    let material = Material { drag: 0.0, ..Material::preset(MaterialPreset::Straight) };
    let model = Arc::new(Model::new(&curves, &material).unwrap());
    let mut bodies = Bodies::new(vec![Body::new("ball", Shape::Sphere { radius: 0.1 }, 0.3).unwrap()]);
    bodies.begin_step(&[Motion::still(Pose::IDENTITY)], DT).unwrap();
    let mut attachments = Attachments::default();
    for strand in 0..curves.strands() {
        attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &[curves.strand(strand)[0].as_dvec3()]);
    }
    let mut solver = Ftl::new(&model, params);
    let mut plain: Vec<Strand> = (0..curves.strands())
        .map(|strand| {
            let lengths =
                model.rest_lengths[model.range(strand)].iter().map(|&length| length as f32).collect();
            let radius = material.radius as f32 + params.margin as f32;
            Strand::new(curves.strand(strand).to_vec(), lengths, radius)
        })
        .collect();
    let pose = |time: f64| Pose {
        translation: DVec3::new(0.05 * (5.0 * time).sin(), 0.0, 0.0),
        rotation: glam::DQuat::from_rotation_y(0.3 * (4.0 * time).sin()),
    };
    let wind = Wind::still();
    let mut touched = 0;
    for step in 0..steps {
        let (start, end) = (pose(step as f64 * DT), pose((step + 1) as f64 * DT));
        bodies.begin_step(&[Motion::Rigid { start, end }], DT).unwrap();
        let drive = Drive::new(&bodies, &attachments, &wind);
        let obstacles = drive.obstacles();
        touched += solver.step(&drive, Step::Dynamic { dt: DT }).unwrap().contacts;
        for (strand, plain) in plain.iter_mut().enumerate() {
            let root = end.apply(curves.strand(strand)[0].as_dvec3()).as_vec3();
            let gravity = drive.gravity.as_vec3();
            let step = PlainStep { dt: DT as f32, root, gravity, bodies: Some(&obstacles) };
            plain.look_ahead(&step);
            plain.step(&step, &params);
        }
    }
    assert!(touched > 0, "contact was not put to the test");
    let mut state = State::default();
    solver.store(&mut state);
    let plain = plain.iter().flat_map(|strand| &strand.positions);
    state.positions.iter().zip(plain).map(|(a, b)| (*a - b.as_dvec3()).length()).fold(0.0, f64::max)
}

#[test]
fn lanes_agree_with_plain_code() {
    let plain = Params::default();
    for params in [plain, Params { bending: 0.5, ..plain }, Params { backward: true, ..plain }] {
        // Rounding differs (edges against positions), and contact makes small differences grow.
        for (steps, limit) in [(6, 2.0e-6), (40, 2.0e-4)] {
            let difference = largest_difference(params, steps);
            assert!(difference < limit, "{params:?}: {difference} m apart after {steps} steps");
        }
    }
}
