//! Strands that meet bodies, however they are held.

use std::sync::Arc;

use glam::{DVec3, Vec3};

use crate::body::{Bodies, Body, Motion, Shape};
use crate::groom::Curves;
use crate::math::Pose;
use crate::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use crate::solve::Step;
use crate::solve::der_mpm::{GrainKind, Params, build};

#[test]
fn both_ends_of_a_strand_that_is_held_in_its_middle_lie_on_a_ball() {
    const RADIUS: f32 = 0.03;
    let mut curves = Curves::default();
    curves.push((0..=40).map(|k| Vec3::new(0.005 * (k as f32 - 20.0), RADIUS + 1e-3, 0.0)));
    let model = Arc::new(Model::new(&curves, &Material::preset(MaterialPreset::Straight)).unwrap());
    let ball = Body::new("ball", Shape::Sphere { radius: RADIUS }, 0.2).unwrap();
    let mut bodies = Bodies::new(vec![ball]);
    bodies.begin_step(&[Motion::still(Pose::IDENTITY)], 1.0 / 60.0).unwrap();
    let mut attachments = Attachments::default();
    let held: Vec<DVec3> = curves.points[20..22].iter().map(|p| p.as_dvec3()).collect();
    attachments.hold(&bodies, 0, Seat::Body, 0, 20, &held);
    let wind = Wind::still();
    for grains in [GrainKind::None, GrainKind::Sand] {
        let mut solver = build(&model, Params { grains, ..Params::default() });
        for frame in 0..120 {
            let mut drive = Drive::new(&bodies, &attachments, &wind);
            drive.duration = 1.0 / 60.0;
            solver.step(&drive, Step::Dynamic { dt: 1.0 / 60.0 }).unwrap();
            let mut state = State::default();
            solver.store(&mut state);
            let depth = state.positions.iter().map(|p| f64::from(RADIUS) - p.length()).fold(0.0, f64::max);
            assert!(depth < 2e-4, "{grains:?}, frame {frame}: {depth}");
        }
        let mut state = State::default();
        solver.store(&mut state);
        // The ends hang down at both sides of the ball.
        assert!(state.positions[0].y < 0.0 && state.positions[40].y < 0.0, "{grains:?}: {state:?}");
    }
}
