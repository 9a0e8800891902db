//! Strands that touch carry each other at rest, in the methods whose strands meet at single contacts.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::{Pose, Random};
use hairloom::rest::global_force::Engine;
use hairloom::rest::{Forces, Hair, RestShape, own_weight, with_contacts};
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use hairloom::solve::{Method, Step, admm, der_mpm, nsgs};

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
const CONTACT: Engine = Engine::Anytime { seconds: 60.0 };

fn material() -> Material {
    Material::preset(MaterialPreset::Wavy)
}

/// Strands that are held at their roots.
struct Groom {
    model: Model,
    positions: Vec<DVec3>,
    held: Vec<bool>,
}

impl Groom {
    /// Straight strands.
    fn new(lines: &[(Vec3, Vec3)], vertices: usize, material: &Material) -> Self {
        Self::wavy(lines, 0.0, vertices, material)
    }

    /// Strands that leave their lines by so much to either side, and stay as high as these [m].
    fn wavy(lines: &[(Vec3, Vec3)], wave: f32, vertices: usize, material: &Material) -> Self {
        let mut curves = Curves::default();
        for &(root, tip) in lines {
            let side = (tip - root).cross(Vec3::Y).normalize_or_zero() * wave;
            curves.push((0..vertices).map(|i| {
                let part = i as f32 / (vertices - 1) as f32;
                root.lerp(tip, part) + side * (12.0 * part).sin()
            }));
        }
        let model = Model::new(&curves, material).unwrap();
        let positions = curves.points.iter().map(|point| point.as_dvec3()).collect();
        let held = (0..curves.points.len()).map(|vertex| vertex % vertices == 0).collect();
        Self { model, positions, held }
    }

    fn hair(&self, gravity: DVec3) -> Hair<'_> {
        Hair { model: &self.model, positions: &self.positions, held: &self.held, gravity }
    }

    /// The energy of bending of strands that make such forces, to first order [J].
    fn energy(&self, forces: &Forces) -> f64 {
        let (stiffness, mut energy) = (self.model.materials[0].rod_stiffness()[0], 0.0);
        for strand in 0..self.model.strands() {
            let (mut moment, range) = (DVec3::ZERO, self.model.range(strand));
            for vertex in (range.start..range.end - 1).rev() {
                let edge = self.positions[vertex + 1] - self.positions[vertex];
                moment -= edge.cross(forces.segments[vertex]);
                let before = if vertex == range.start { 0.0 } else { self.model.rest_lengths[vertex - 1] };
                let length = 0.5 * (before + self.model.rest_lengths[vertex]);
                energy += 0.5 * length * moment.length_squared() / stiffness;
            }
        }
        energy
    }

    /// How far a vertex gets at most within so many seconds, over the length of its strand. Hair begins at rest, as groomed, or as near to that as super-helices
    /// can be.
    fn moved(&self, method: &Method, rest: &RestShape, gravity: DVec3, seconds: f64) -> f64 {
        let model = Arc::new(Model { rest: Some(Arc::new(rest.clone())), ..self.model.clone() });
        let clamp = Body { name: "clamp".into(), shape: Shape::Plane, friction: 0.0, collides: false };
        let (mut bodies, dt) = (Bodies::new(vec![clamp]), 1.0 / 120.0);
        bodies.begin_step(&[Motion::still(Pose::IDENTITY)], dt).unwrap();
        let mut attachments = Attachments::default();
        for strand in 0..model.strands() {
            let root = self.positions[model.range(strand).start];
            attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &[root]);
        }
        let mut solver = method.build(&model);
        let orientations = rest.orientations.clone();
        solver.load(&State { orientations, ..State::at_rest(self.positions.clone()) });
        let wind = Wind::still();
        let mut drive = Drive::new(&bodies, &attachments, &wind);
        (drive.duration, drive.gravity) = (dt, gravity);
        let (mut most, mut state) = (0.0f64, State::at_rest(self.positions.clone()));
        if matches!(method, Method::Nsgs(_)) {
            solver.step(&drive, Step::Quasistatic { iterations: 0 }).unwrap();
            solver.store(&mut state);
        }
        let start = state.positions.clone();
        for _ in 0..(seconds / dt).round() as usize {
            solver.step(&drive, Step::Dynamic { dt }).unwrap();
            solver.store(&mut state);
            for strand in 0..model.strands() {
                let range = model.range(strand);
                let length: f64 = model.rest_lengths[range.clone()].iter().sum();
                let away = range.map(|v| state.positions[v].distance(start[v])).fold(0.0, f64::max);
                most = most.max(away / length);
            }
        }
        most
    }
}

const LENGTH: f64 = 0.04;

/// A level strand along x that lies, at `a` of its length, on one along z, at `b` of that one's.
fn cross(a: f64, b: f64, material: &Material) -> Groom {
    let (over, along) = (2.0 * material.radius as f32, LENGTH as f32);
    let [x, z] = [a, b].map(|part| (part * LENGTH) as f32);
    let first = (Vec3::new(0.0, over, 0.0), Vec3::new(along, over, 0.0));
    let second = (Vec3::new(x, 0.0, -z), Vec3::new(x, 0.0, along - z));
    Groom::new(&[first, second], 61, material)
}

/// How far a cantilever sinks at a part of its length under a load of 1 along all of it, times its stiffness.
fn sinks(part: f64) -> f64 {
    let s = part * LENGTH;
    s * s * (6.0 * LENGTH * LENGTH - 4.0 * LENGTH * s + s * s) / 24.0
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 0.01 * expected.abs(), "{what}: {found}, expected {expected}");
}

/// Both sink as far where they touch: y(a) − P a³/3 = y(b) + P b³/3.
#[test]
fn a_cantilever_that_lies_on_another_presses_it_as_beams_do() {
    let material = material();
    let weight = material.mass_per_length() * 9.81;
    for (a, b) in [(0.88, 0.53), (0.97, 0.21), (0.61, 0.57)] {
        let groom = cross(a, b, &material);
        let forces = with_contacts(&groom.hair(GRAVITY), 1.0, None).unwrap();
        let [contact] = forces.contacts[..] else { panic!("{} contacts", forces.contacts.len()) };
        let cubes = (a.powi(3) + b.powi(3)) * LENGTH.powi(3);
        let expected = 3.0 * weight * (sinks(a) - sinks(b)) / cubes;
        assert_near(contact.force.y, expected, "force");
        assert!(contact.force.x.hypot(contact.force.z) < 1e-6 * contact.force.y, "{}", contact.force);
    }
    // The other way round they part.
    let groom = cross(0.5, 0.9, &material);
    let hair = groom.hair(GRAVITY);
    assert_eq!(with_contacts(&hair, 1.0, None).unwrap(), own_weight(&hair).unwrap());
}

/// Super-helices leave alone what touches the first fifth of their first element: nothing may be carried there.
#[test]
fn helices_carry_nothing_where_they_are_as_good_as_clamped() {
    let carried = |place: f64, helices: Option<usize>| {
        let groom = cross(1.1 * place, place, &material());
        with_contacts(&groom.hair(GRAVITY), 1.0, helices).unwrap().contacts.len()
    };
    assert_eq!([carried(0.03, None), carried(0.03, Some(5))], [1, 0]);
    assert_eq!([carried(0.05, Some(5)), carried(0.05, Some(2)), carried(0.05, Some(200))], [1, 0, 1]);
}

/// What does not give way carries as much as lets the other one down nowhere: y(a) = P a³/3. What is held at both ends is left to itself.
#[test]
fn strands_that_are_held_otherwise_carry_as_much_as_they_may() {
    let material = material();
    let a = 0.88;
    let mut groom = cross(a, 0.53, &material);
    groom.held[121] = true;
    let hair = groom.hair(GRAVITY);
    assert_eq!(with_contacts(&hair, 1.0, None).unwrap(), own_weight(&hair).unwrap());
    groom.held[61..].fill(true);
    let forces = with_contacts(&groom.hair(GRAVITY), 1.0, None).unwrap();
    let expected = 3.0 * material.mass_per_length() * 9.81 * sinks(a) / (a * LENGTH).powi(3);
    assert_near(forces.contacts[0].force.y, expected, "force");
}

/// Gravity that points along the lower strand as well pulls the upper one along it, which does not give way.
#[test]
fn friction_holds_what_it_can_and_no_more() {
    let material = material();
    let (a, b) = (0.88, 0.53);
    let groom = cross(a, b, &material);
    let line = material.mass_per_length();
    let cube = LENGTH.powi(3);
    let pressed = 3.0 * line * 9.81 * (sinks(a) - sinks(b)) / ((a.powi(3) + b.powi(3)) * cube);
    let force = |sideways: f64, friction: f64| {
        let forces = with_contacts(&groom.hair(GRAVITY + DVec3::Z * sideways), friction, None).unwrap();
        forces.contacts[0].force
    };
    let sticks = force(0.4, 1.0);
    assert_near(sticks.y, pressed, "pressure");
    assert_near(sticks.z, -3.0 * line * 0.4 * sinks(a) / (a.powi(3) * cube), "friction that sticks");
    // A tenth is kept in reserve.
    let slides = force(4.0, 1.0);
    assert_near(slides.y, pressed, "pressure");
    assert_near(slides.z, -0.9 * material.friction * pressed, "friction that slides");
    let smooth = force(4.0, 0.0);
    assert!(smooth.x.hypot(smooth.z) < 1e-6 * smooth.y, "{smooth}");
}

/// Five level strands along x, and five along z on them whose tips lie near the others' roots.
fn lattice(wave: f32) -> Groom {
    let material = material();
    let (over, length) = (2.0 * material.radius as f32, LENGTH as f32);
    let mut lines = Vec::new();
    for index in 0..5 {
        let z = 0.0283 + 0.0025 * index as f32;
        lines.push((Vec3::new(0.0, 0.0, z), Vec3::new(length, 0.0, z)));
    }
    for index in 0..5 {
        let x = 0.0053 + 0.0026 * index as f32;
        lines.push((Vec3::new(x, over, 0.0), Vec3::new(x, over, length)));
    }
    Groom::wavy(&lines, wave, 17, &material)
}

#[test]
fn contact_takes_energy_from_strands() {
    let groom = lattice(0.0);
    let hair = groom.hair(GRAVITY);
    let (own, found) = (own_weight(&hair).unwrap(), with_contacts(&hair, 1.0, None).unwrap());
    let part = groom.energy(&found) / groom.energy(&own);
    println!("lattice: {} contacts, {part} of the energy", found.contacts.len());
    assert!(found.contacts.len() >= 5 && part < 0.8, "{} contacts leave {part}", found.contacts.len());
    // Thick strands that stick out of a heap anyhow, overlaps included.
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let material = Material { friction: 0.1 * seed as f64, ..material() };
        let lines: Vec<(Vec3, Vec3)> = (0..60)
            .map(|_| {
                let root = random.direction() * 0.01;
                (root, root + random.direction() * 0.03)
            })
            .collect();
        let mut groom = Groom::new(&lines, 9, &material);
        groom.model.radii.fill(5.0e-4);
        let hair = groom.hair(GRAVITY);
        let (own, found) = (own_weight(&hair).unwrap(), with_contacts(&hair, 1.0, None).unwrap());
        let part = groom.energy(&found) / groom.energy(&own);
        println!("heap {seed}: {} contacts, {part} of the energy", found.contacts.len());
        assert!(found.contacts.len() > 10 && part < 1.0, "{} contacts leave {part}", found.contacts.len());
    }
}

#[test]
fn strands_that_do_not_touch_carry_themselves() {
    let mut groom = lattice(0.0);
    groom.model.radii.iter_mut().for_each(|radius| *radius -= 6.0e-6);
    let hair = groom.hair(GRAVITY);
    assert_eq!(with_contacts(&hair, 1.0, None).unwrap(), own_weight(&hair).unwrap());
}

fn der(strand_contacts: bool) -> Method {
    Method::Nsgs(nsgs::Params { fibre: nsgs::FibreKind::Der, strand_contacts, ..nsgs::Params::default() })
}

fn helices(strand_contacts: bool) -> Method {
    Method::Nsgs(nsgs::Params { strand_contacts, ..nsgs::Params::default() })
}

fn rods(strand_contacts: bool) -> Method {
    Method::Admm(admm::Params { strand_contacts, ..admm::Params::default() })
}

#[test]
fn hair_that_contact_carries_stays_while_there_is_contact() {
    // Along the strands as well gravity takes all friction that there is to be had.
    let slanting = GRAVITY + DVec3::new(0.6, 0.0, 2.0);
    for (what, wave, gravity) in
        [("straight", 0.0, GRAVITY), ("wavy", 0.001, GRAVITY), ("slanting", 0.0, slanting)]
    {
        let groom = lattice(wave);
        for (name, method) in [("der", der as fn(bool) -> Method), ("helices", helices), ("admm", rods)] {
            let outcome = method(true).sag_free(&groom.hair(gravity), CONTACT).unwrap();
            let (shape, left) = (&outcome.shape, [outcome.worst_acceleration, outcome.moment_left]);
            let count = shape.contacts.len();
            assert!(
                count >= 5 && left.iter().all(|left| *left < 1e-3),
                "{what} {name}: {count} contacts, {left:?} of gravity and of the largest moment"
            );
            let stays = groom.moved(&method(true), shape, gravity, 2.0);
            let leaves = groom.moved(&method(false), shape, gravity, 0.5);
            println!("{what} {name}: {count} contacts, {stays:.2e} with contact, {leaves:.2e} without");
            assert!(stays < 0.005, "{what} {name}: a vertex moved by {stays} of its strand's length");
            assert!(leaves > 0.02, "{what} {name}: contact carries nothing: {leaves}");
        }
    }
}

#[test]
fn methods_say_why_contact_carries_nothing() {
    let groom = lattice(0.0);
    let hair = groom.hair(GRAVITY);
    let told = |method: &Method, engine: Engine| method.sag_free(&hair, engine).unwrap_err().to_string();
    let fluid = der_mpm::Params { grains: der_mpm::GrainKind::Fluid, ..der_mpm::Params::default() };
    let error = told(&Method::DerMpm(fluid), CONTACT);
    assert!(error.contains("'der-mpm'") && error.contains("\"fluid\" bear no shear"), "{error}");
    let none = der_mpm::Params { grains: der_mpm::GrainKind::None, ..der_mpm::Params::default() };
    let error = told(&Method::DerMpm(none), Engine::Reference { seconds: 1.0 });
    assert!(error.contains("'der-mpm'") && error.contains("without grains"), "{error}");
    let error = told(&der(false), CONTACT);
    assert!(error.contains("strand_contacts is switched off"), "{error}");
    let error = told(&rods(true), Engine::Reference { seconds: 1.0 });
    assert!(error.contains("no cone programme") && error.contains("\"anytime\""), "{error}");
}
