//! Hair that rests on other hair stays where it was groomed while the grid carries a part of it.

use std::sync::Arc;

use glam::DVec3;
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::math::Pose;
use hairloom::rest::global_force::Engine;
use hairloom::rest::{Hair, Hairstyle, RestShape};
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use hairloom::solve::{Checkpoint, Method, Solver, Step, der_mpm, xpbd_mpm};

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

/// Cosserat rods on the grid of a hairstyle.
fn cosserat(style: Hairstyle) -> (Method, f64) {
    let medium = style.medium();
    let params = xpbd_mpm::Params {
        cell: Some(medium.cell),
        friction_angle: Some(medium.friction_angle as f32),
        ..xpbd_mpm::Params::default()
    };
    (Method::XpbdMpm(params), params.step)
}

/// Discrete elastic rods on the grid of a hairstyle.
fn elastic(style: Hairstyle) -> (Method, f64) {
    let medium = style.medium();
    let params = der_mpm::Params {
        cell: medium.cell,
        friction_angle: medium.friction_angle,
        ..der_mpm::Params::default()
    };
    (Method::DerMpm(params), params.step)
}

impl Head {
    fn new(style: Hairstyle, engine: Engine) -> Self {
        Self::with(cosserat(style), style, engine)
    }

    fn with((method, dt): (Method, f64), style: Hairstyle, engine: Engine) -> Self {
        let groom = style.groom().unwrap();
        let model = Model::new(&groom.curves, &Material::preset(MaterialPreset::Wavy)).unwrap();
        let (groomed, held) = (Hairstyle::positions(&groom), style.held(&groom));
        let medium = style.medium();
        let hair = Hair { model: &model, positions: &groomed, held: &held, gravity: GRAVITY };
        let shape = method.sag_free(&hair, engine).unwrap().shape;
        assert_eq!(shape.cell, Some(medium.cell), "strands carry themselves alone");
        let holder = Body { name: "wall".into(), shape: Shape::Plane, friction: 0.0, collides: false };
        let mut bodies = Bodies::new(vec![holder]);
        bodies.begin_step(&[Motion::still(Pose::IDENTITY)], dt).unwrap();
        let mut attachments = Attachments::default();
        for strand in 0..model.strands() {
            let root = groomed[model.range(strand).start];
            attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &[root]);
        }
        let model = Arc::new(Model { rest: Some(Arc::new(shape)), ..model });
        Self { model, groomed, bodies, attachments, method, dt }
    }

    /// The same hair with something else for its rest shape.
    fn reshaped(self, change: impl FnOnce(RestShape) -> Option<RestShape>) -> Self {
        let rest = self.model.rest.as_deref().and_then(|shape| change(shape.clone())).map(Arc::new);
        Self { model: Arc::new(Model { rest, ..(*self.model).clone() }), ..self }
    }

    /// A solver with the hair at rest.
    fn solver(&self) -> Box<dyn Solver> {
        let mut solver = self.method.build(&self.model);
        let orientations = self.model.rest.as_ref().map_or(Vec::new(), |rest| rest.orientations.clone());
        solver.load(&State { orientations, ..State::at_rest(self.groomed.clone()) });
        solver
    }

    fn step(&self, solver: &mut dyn Solver, steps: usize) -> State {
        self.blow(solver, steps, &Wind::still())
    }

    fn blow(&self, solver: &mut dyn Solver, steps: usize, wind: &Wind) -> State {
        let mut drive = Drive::new(&self.bodies, &self.attachments, wind);
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

/// [m/s].
fn fastest(state: &State) -> f64 {
    state.velocities.iter().map(|velocity| velocity.length()).fold(0.0, f64::max)
}

#[test]
fn strands_that_lie_on_others_stay_as_groomed_for_five_seconds() {
    let head = Head::new(Hairstyle::Drape, WITH_STRESSES);
    let mut solver = head.solver();
    // Rods that do not know of contact begin with 0.4 g.
    let state = head.step(&mut *solver, 1);
    let fastest = fastest(&state);
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

/// What a step from rest accelerates the hair by, over gravity's.
fn first_acceleration(head: &Head) -> f64 {
    fastest(&head.step(&mut *head.solver(), 1)) / head.dt / GRAVITY.length()
}

#[test]
fn elastic_rods_that_carry_each_other_as_sand_stay_as_groomed_for_five_seconds() {
    let head = Head::with(elastic(Hairstyle::Middle), Hairstyle::Middle, FORCES_ALONE);
    let first = first_acceleration(&head);
    let moved = head.moved(&head.step(&mut *head.solver(), 600));
    // What is seen is not what holds anyway.
    let unstressed = head.reshaped(|shape| {
        let stresses = vec![[0.0; 6]; shape.stresses.len()];
        Some(RestShape { stresses, ..shape })
    });
    let thrown = first_acceleration(&unstressed);
    let drifted = unstressed.moved(&unstressed.step(&mut *unstressed.solver(), 600));
    let naive = unstressed.reshaped(|_| None);
    let fallen = naive.moved(&naive.step(&mut *naive.solver(), 120));
    println!(
        "{first:.1e} g, moved {moved:.1e}; without stresses {thrown:.1e} g, {drifted:.1e}; naive {fallen:.1e}"
    );
    assert!(first < 2e-3 && thrown > 0.02, "accelerated by {first} g, without stresses by {thrown} g");
    assert!(moved < 1e-4 && drifted > 5e-4, "moved by {moved}, without stresses by {drifted}");
    assert!(fallen > 0.1, "naive hair moved by {fallen}");
}

#[test]
fn elastic_rods_on_others_hold_by_all_stresses() {
    let head = Head::with(elastic(Hairstyle::Drape), Hairstyle::Drape, WITH_STRESSES);
    let first = first_acceleration(&head);
    let moved = head.moved(&head.step(&mut *head.solver(), 600));
    println!("{first:.1e} g, moved {moved:.1e}");
    assert!(first < 2e-3, "accelerated by {first} g");
    assert!(moved < 1e-4, "a vertex moved by {moved} of its strand's length");
}

/// Beside the same hair that carries itself, which returns as far as friction lets it.
#[test]
fn elastic_rods_that_carry_each_other_come_to_rest_after_a_gust() {
    let gone = |head: &Head| {
        let mut solver = head.solver();
        let far = head.moved(&head.blow(&mut *solver, 120, &Wind::uniform(DVec3::X * 3.0)));
        let state = head.step(&mut *solver, 600);
        (far, head.moved(&state), fastest(&state))
    };
    let head = Head::with(elastic(Hairstyle::Middle), Hairstyle::Middle, FORCES_ALONE);
    let (far, left, speed) = gone(&head);
    println!("blown by {far:.2e}, left {left:.2e}, {speed:.2e} m/s");
    assert!(far > 0.2, "the gust moves hair by {far}");
    assert!(left < 0.25 * far && speed < 0.02, "{left} of its length away, at {speed} m/s");
}

#[test]
fn elastic_rods_go_on_with_the_same_contact_after_a_restart() {
    let head = Head::with(elastic(Hairstyle::Middle), Hairstyle::Middle, FORCES_ALONE);
    let mut solver = head.solver();
    head.blow(&mut *solver, 20, &Wind::uniform(DVec3::X * 3.0));
    let mut saved = Checkpoint::default();
    solver.save(&mut saved);
    let mut again = head.method.build(&head.model);
    again.restore(&saved).unwrap();
    assert_eq!(head.step(&mut *solver, 20), head.step(&mut *again, 20));
}
