//! Hair that rests on other hair stays where it was groomed while the grid carries a part of it.

use std::sync::Arc;

use glam::DVec3;
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::math::Pose;
use hairloom::rest::global_force::Engine;
use hairloom::rest::{Hair, Hairstyle};
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use hairloom::solve::{Checkpoint, Method, Solver, Step, xpbd_mpm};

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
const WITH_STRESSES: Engine = Engine::Reference { seconds: 1e3 };
const FORCES_ALONE: Engine = Engine::Anytime { seconds: 1e3 };

/// A hairstyle whose forces and stresses balance on the grid.
struct Head {
    model: Arc<Model>,
    groomed: Vec<DVec3>,
    bodies: Bodies,
    attachments: Attachments,
    method: Method,
    dt: f64,
}

impl Head {
    fn new(style: Hairstyle, engine: Engine) -> Self {
        let groom = style.groom().unwrap();
        let model = Model::new(&groom.curves, &Material::preset(MaterialPreset::Wavy)).unwrap();
        let (groomed, held) = (Hairstyle::positions(&groom), style.held(&groom));
        let medium = style.medium();
        let params = xpbd_mpm::Params {
            cell: Some(medium.cell),
            friction_angle: Some(medium.friction_angle as f32),
            ..xpbd_mpm::Params::default()
        };
        let method = Method::XpbdMpm(params);
        let hair = Hair { model: &model, positions: &groomed, held: &held, gravity: GRAVITY };
        let shape = method.sag_free(&hair, engine).unwrap().shape;
        assert_eq!(shape.cell, Some(medium.cell), "strands carry themselves alone");
        let holder = Body { name: "wall".into(), shape: Shape::Plane, friction: 0.0, collides: false };
        let mut bodies = Bodies::new(vec![holder]);
        bodies.begin_step(&[Motion::still(Pose::IDENTITY)], params.step).unwrap();
        let mut attachments = Attachments::default();
        for strand in 0..model.strands() {
            let root = groomed[model.range(strand).start];
            attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &[root]);
        }
        let model = Arc::new(Model { rest: Some(Arc::new(shape)), ..model });
        Self { model, groomed, bodies, attachments, method, dt: params.step }
    }

    /// A solver with the hair at rest.
    fn solver(&self) -> Box<dyn Solver> {
        let mut solver = self.method.build(&self.model);
        let orientations = self.model.rest.as_ref().unwrap().orientations.clone();
        solver.load(&State { orientations, ..State::at_rest(self.groomed.clone()) });
        solver
    }

    fn step(&self, solver: &mut dyn Solver, steps: usize) -> State {
        let wind = Wind::still();
        let mut drive = Drive::new(&self.bodies, &self.attachments, &wind);
        drive.duration = self.dt;
        for _ in 0..steps {
            solver.step(&drive, Step::Dynamic { dt: self.dt }).unwrap();
        }
        let mut state = State::default();
        solver.store(&mut state);
        state
    }

    /// How far a vertex is from where it was groomed at most, over the length of its strand.
    fn moved(&self, state: &State) -> f64 {
        let strands = (0..self.model.strands()).map(|strand| {
            let range = self.model.range(strand);
            let length: f64 = self.model.rest_lengths[range.clone()].iter().sum();
            range.map(|v| state.positions[v].distance(self.groomed[v])).fold(0.0, f64::max) / length
        });
        strands.fold(0.0, f64::max)
    }
}

#[test]
fn strands_that_lie_on_others_stay_as_groomed_for_five_seconds() {
    let head = Head::new(Hairstyle::Drape, WITH_STRESSES);
    let mut solver = head.solver();
    // Rods that do not know of contact begin with 0.4 g.
    let state = head.step(&mut *solver, 1);
    let fastest = state.velocities.iter().map(|velocity| velocity.length()).fold(0.0, f64::max);
    assert!(fastest < 2e-3 * GRAVITY.length() * head.dt, "accelerated by {} m/s²", fastest / head.dt);
    for second in 1..=5 {
        let moved = head.moved(&head.step(&mut *solver, 360));
        assert!(moved < 0.005, "after {second} s a vertex moved by {moved} of its strand's length");
    }
}

#[test]
fn strands_that_carry_each_other_without_stress_stay_as_groomed() {
    let head = Head::new(Hairstyle::Short, FORCES_ALONE);
    let mut solver = head.solver();
    for second in 1..=2 {
        let moved = head.moved(&head.step(&mut *solver, 360));
        assert!(moved < 0.005, "after {second} s a vertex moved by {moved} of its strand's length");
    }
}

#[test]
fn a_restart_goes_on_with_the_same_contact() {
    let head = Head::new(Hairstyle::Drape, WITH_STRESSES);
    let mut solver = head.solver();
    head.step(&mut *solver, 20);
    let mut saved = Checkpoint::default();
    solver.save(&mut saved);
    let mut again = head.method.build(&head.model);
    again.restore(&saved).unwrap();
    assert_eq!(head.step(&mut *solver, 20), head.step(&mut *again, 20));
}
