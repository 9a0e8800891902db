//! Fibres among bodies: what the solver with exact friction does, and what it refuses.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::contact::nsgs::{Settings, solve};
use hairloom::groom::Curves;
use hairloom::math::Pose;
use hairloom::rod::super_helix;
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, Seat, State, Wind};
use hairloom::solve::{Method, Report, Solver, Step, StepError, nsgs};

const DT: f64 = 1.0 / 60.0;

/// Strands on a holder that stays, and one obstacle.
struct World {
    model: Arc<Model>,
    bodies: Bodies,
    attachments: Attachments,
    wind: Wind,
    gravity: DVec3,
    solver: Box<dyn Solver>,
}

impl World {
    fn new(strands: &[Vec<Vec3>], material: &Material, obstacle: Shape, params: nsgs::Params) -> Self {
        let mut curves = Curves::default();
        strands.iter().for_each(|strand| curves.push(strand.iter().copied()));
        let model = Arc::new(Model::new(&curves, material).unwrap());
        let holder = Body { name: "holder".into(), shape: Shape::Plane, friction: 0.0, collides: false };
        let mut bodies = Bodies::new(vec![holder, Body::new("obstacle", obstacle, 0.5).unwrap()]);
        bodies.begin_step(&[Motion::still(Pose::IDENTITY); 2], 0.0).unwrap();
        let mut attachments = Attachments::default();
        for strand in 0..model.strands() {
            let root = model.groomed[model.range(strand).start].as_dvec3();
            attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &[root]);
        }
        let mut solver = Method::Nsgs(params).build(&model);
        solver.load(&State::at_rest(model.groomed.iter().map(|point| point.as_dvec3()).collect()));
        let gravity = DVec3::NEG_Y * 9.81;
        Self { model, bodies, attachments, wind: Wind::still(), gravity, solver }
    }

    /// One step, in which the obstacle goes from one pose to another.
    fn step(&mut self, from: Pose, to: Pose) -> Result<Report, StepError> {
        let obstacle = Motion::Rigid { start: from, end: to };
        self.bodies.begin_step(&[Motion::still(Pose::IDENTITY), obstacle], DT).unwrap();
        let mut drive = Drive::new(&self.bodies, &self.attachments, &self.wind);
        drive.gravity = self.gravity;
        drive.duration = DT;
        self.solver.step(&drive, Step::Dynamic { dt: DT })
    }

    fn state(&self) -> State {
        let mut state = State::default();
        self.solver.store(&mut state);
        state
    }
}

fn straight(root: Vec3, along: Vec3, count: usize) -> Vec<Vec3> {
    (0..count).map(|i| root + along * (i as f32 / (count - 1) as f32)).collect()
}

fn at(translation: DVec3) -> Pose {
    Pose { rotation: DQuat::IDENTITY, translation }
}

#[test]
fn strands_that_are_free_or_held_twice_are_refused() {
    let material = Material::preset(MaterialPreset::Straight);
    let strands = [straight(Vec3::Y, Vec3::X * 0.1, 10)];
    let ball = Shape::Sphere { radius: 0.01 };
    let mut world = World::new(&strands, &material, ball.clone(), nsgs::Params::default());
    world.attachments = Attachments::default();
    let error = world.step(Pose::IDENTITY, Pose::IDENTITY).unwrap_err().to_string();
    assert!(error.contains("strand 0 is not held at its root"), "{error}");
    let mut world = World::new(&strands, &material, ball, nsgs::Params::default());
    let tip = world.model.groomed[9].as_dvec3();
    world.attachments.hold(&world.bodies, 0, Seat::Body, 0, 9, &[tip]);
    let error = world.step(Pose::IDENTITY, Pose::IDENTITY).unwrap_err().to_string();
    assert!(error.contains("strand 0 is held beyond its root"), "{error}");
}

/// Hair draped over a ball comes to rest where friction holds it, and stays.
fn comes_to_rest(fibre: nsgs::FibreKind) {
    let along = |k: usize| {
        straight(Vec3::new(-0.06, 0.13, 0.0006 * k as f32), Vec3::new(0.16, 0.0, 0.002 * k as f32), 20)
    };
    comes_to_rest_on_a_ball(fibre, &(0..4).map(along).collect::<Vec<_>>());
}

fn comes_to_rest_on_a_ball(fibre: nsgs::FibreKind, strands: &[Vec<Vec3>]) {
    let material = Material { friction: 0.3, ..Material::preset(MaterialPreset::Coarse) };
    let params = nsgs::Params { fibre, ..nsgs::Params::default() };
    let mut world = World::new(strands, &material, Shape::Sphere { radius: 0.1 }, params);
    let mut contacts = 0;
    for _ in 0..240 {
        contacts = world.step(Pose::IDENTITY, Pose::IDENTITY).unwrap().contacts;
    }
    let before = world.state();
    let mut most = 0.0_f64;
    for _ in 0..120 {
        most = most.max(world.step(Pose::IDENTITY, Pose::IDENTITY).unwrap().energy.unwrap().kinetic);
    }
    let after = world.state();
    let drift =
        before.positions.iter().zip(&after.positions).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(contacts > 10, "only {contacts} contacts");
    println!("{fibre:?}: {most:e} J, {drift:e} m");
    // A few strands weigh milligrams: with 1e-9 J they would creep by centimetres a second. Fast projection knows no friction, and draws
    // hair along by some 20 µm a second.
    let (energy, way) =
        if fibre == nsgs::FibreKind::DerProjected { (1.0e-13, 1.0e-4) } else { (1.0e-17, 1.0e-6) };
    assert!(most < energy, "{most} J of motion");
    assert!(drift < way, "hair drifts by {drift} m");
}

#[test]
fn hair_comes_to_rest_on_a_ball_and_stays() {
    comes_to_rest(nsgs::FibreKind::SuperHelix);
}

/// Every other strand crosses its neighbours.
#[test]
fn crossing_hair_comes_to_rest_on_a_ball_and_stays() {
    let across = |k: usize| {
        let side = if k.is_multiple_of(2) { 0.02 } else { -0.02 };
        let root = Vec3::new(-0.06, 0.13, 0.0008 * (k as f32 - 12.0) - 0.5 * side);
        straight(root, Vec3::new(0.16, 0.0, side), 20)
    };
    comes_to_rest_on_a_ball(nsgs::FibreKind::SuperHelix, &(0..24).map(across).collect::<Vec<_>>());
}

#[test]
fn discrete_rods_come_to_rest_on_a_ball_and_stay() {
    comes_to_rest(nsgs::FibreKind::Der);
}

#[test]
fn projected_rods_come_to_rest_on_a_ball_and_stay() {
    comes_to_rest(nsgs::FibreKind::DerProjected);
}

#[test]
fn cosserat_rods_come_to_rest_on_a_ball_and_stay() {
    comes_to_rest(nsgs::FibreKind::Corde);
}

/// A rod held out horizontally hangs as the super-helix of many elements does, which is checked against the elastica.
#[test]
fn fibres_of_all_kinds_hang_as_the_elastica_says() {
    let material = Material::preset(MaterialPreset::Coarse);
    let (length, elements) = (0.1, 60);
    let rod = super_helix::Rod {
        lengths: vec![length / elements as f64; elements],
        rest: vec![DVec3::ZERO; elements],
        stiffness: DVec3::from_array(material.rod_stiffness()),
        mass_per_length: material.mass_per_length(),
        spin_inertia: material.twisting_inertia(),
    };
    let frame = DQuat::from_rotation_arc(DVec3::Z, DVec3::X);
    let root = super_helix::Root { position: DVec3::Y, frame };
    let (curvatures, _) = rod.equilibrium(root, &rod.rest, DVec3::NEG_Y * 9.81).unwrap();
    let exact = super_helix::Chain::new(root, &rod.lengths, &curvatures).position(length);
    assert!(exact.y < 0.97, "the rod hardly bends: {exact}");
    let strands = [straight(Vec3::Y, Vec3::X * length as f32, 41)];
    let kinds = [nsgs::FibreKind::Der, nsgs::FibreKind::DerProjected, nsgs::FibreKind::Corde];
    for fibre in kinds {
        let params = nsgs::Params { fibre, ..nsgs::Params::default() };
        let mut world = World::new(&strands, &material, Shape::Sphere { radius: 0.01 }, params);
        world.bodies.begin_step(&[Motion::still(Pose::IDENTITY); 2], DT).unwrap();
        let drive = Drive::new(&world.bodies, &world.attachments, &world.wind);
        world.solver.step(&drive, Step::Quasistatic { iterations: 400 }).unwrap();
        let state = world.state();
        let off = state.positions[40].distance(exact) / length;
        assert!(off < 5.0e-3, "{fibre:?}: the tip is off by {off} of the length");
        let edges = state.positions.windows(2).zip(&world.model.rest_lengths);
        let stretch = edges.map(|(pair, rest)| pair[0].distance(pair[1]) / rest - 1.0).fold(0.0, f64::max);
        let limit = if fibre == nsgs::FibreKind::DerProjected { 1.0e-6 } else { 1.0e-4 };
        assert!(stretch < limit, "{fibre:?}: stretched by {stretch}");
    }
}

/// Strands that begin inside of a body are laid beside it at rest; the others keep the speed that they were loaded with.
/// However wide the gaps are of other strands that hardly yield.
#[test]
fn overlaps_of_strands_are_undone() {
    let material = Material::preset(MaterialPreset::Straight);
    let crossing = |height: f32, between: f32, at: f32| {
        let along = straight(Vec3::Y * height, Vec3::X * 0.1, 11);
        [along, straight(Vec3::new(at, height + between, -at), Vec3::Z * 0.1, 11)]
    };
    let strands = [crossing(0.5, 6.0e-5, 0.085), crossing(0.6, 4.8e-4, 0.012)].concat();
    let mut world = World::new(&strands, &material, Shape::Sphere { radius: 0.01 }, nsgs::Params::default());
    world.gravity = DVec3::ZERO;
    let overlap = |world: &World| {
        let middle = |strand: usize| {
            let [a, b] = [8, 9].map(|vertex| 11 * strand + vertex);
            let radius = 0.5 * (world.model.radii[a] + world.model.radii[b]);
            (world.state().positions[a].midpoint(world.state().positions[b]), f64::from(radius))
        };
        let ((first, one), (second, other)) = (middle(0), middle(1));
        one + other - first.distance(second)
    };
    assert!(overlap(&world) > 5.0e-6, "{} m", overlap(&world));
    for _ in 0..20 {
        world.step(Pose::IDENTITY, Pose::IDENTITY).unwrap();
    }
    assert!(overlap(&world) < 2.0e-6, "{} m", overlap(&world));
}

#[test]
fn hair_inside_a_body_takes_no_speed_from_hair_outside() {
    let material = Material::preset(MaterialPreset::Straight);
    let inside = straight(Vec3::new(0.009, 0.05, 0.0), Vec3::NEG_Y * 0.1, 12);
    let outside = straight(Vec3::new(0.3, 0.05, 0.0), Vec3::NEG_Y * 0.1, 12);
    let strands = [inside, outside];
    let mut world = World::new(&strands, &material, Shape::Sphere { radius: 0.01 }, nsgs::Params::default());
    let positions: Vec<DVec3> = world.model.groomed.iter().map(|point| point.as_dvec3()).collect();
    let mut state = State::at_rest(positions);
    for (vertex, velocity) in state.velocities[12..].iter_mut().enumerate() {
        *velocity = DVec3::Z * 0.5 * (vertex as f64 / 11.0).powi(2);
    }
    world.solver.load(&state);
    world.step(Pose::IDENTITY, Pose::IDENTITY).unwrap();
    let tip = world.state().velocities[23];
    assert!(tip.z > 0.3, "the tip moves with {tip}");
}

#[test]
fn a_ball_swung_into_hanging_hair_is_not_entered_and_its_problems_are_solved() {
    let material = Material::preset(MaterialPreset::Straight);
    let strands: Vec<Vec<Vec3>> = (0..12)
        .map(|k| {
            straight(Vec3::new(0.004 * (k % 4) as f32, 0.2, 0.004 * (k / 4) as f32), Vec3::NEG_Y * 0.2, 16)
        })
        .collect();
    let mut world = World::new(&strands, &material, Shape::Sphere { radius: 0.03 }, nsgs::Params::default());
    let pose = |time: f64| at(DVec3::new(0.12 * (4.0 * time).cos() - 0.01, 0.08, 0.005));
    let (mut problems, mut solved) = (0, 0);
    for step in 0..60 {
        let time = DT * f64::from(step);
        world.step(pose(time), pose(time + DT)).unwrap();
        let (state, obstacles) = (world.state(), world.bodies.at(1.0));
        let depth = |point: &DVec3| -obstacles.sample(1, point.as_vec3()).distance;
        let deepest = state.positions.iter().map(depth).fold(0.0, f32::max);
        assert!(deepest < 1.0e-4, "step {step}: a vertex is {deepest} m inside");
        if let Some(full) = world.solver.contact_problem() {
            let problem = full.assembly().unwrap().reduced().checked().unwrap().0;
            problems += 1;
            solved += u32::from(solve(&problem, &Settings::default(), None).unwrap().converged);
        }
    }
    assert!(problems > 30, "only {problems} problems");
    assert_eq!(solved, problems, "problems solved, of all");
}

/// Hair on a ball that holds it, and turns with it at an even speed, stays where it is on the ball.
fn creeps_on_a_turning_ball(fibre: nsgs::FibreKind) -> f64 {
    const RADIUS: f32 = 0.1;
    let spin = |time: f64| {
        // Faster and faster for a second, then evenly.
        let angle = if time < 1.0 { 2.0 * time * time } else { 2.0 + 4.0 * (time - 1.0) };
        Pose { rotation: DQuat::from_rotation_y(angle), translation: DVec3::ZERO }
    };
    let along = |k: usize| {
        straight(Vec3::new(-0.02, RADIUS + 0.003, 0.004 * k as f32), Vec3::new(0.08, 0.0, 0.002), 12)
    };
    let material = Material { friction: 0.5, ..Material::preset(MaterialPreset::Coarse) };
    let params = nsgs::Params { fibre, ..nsgs::Params::default() };
    let strands: Vec<Vec<Vec3>> = (0..3).map(along).collect();
    let mut world = World::new(&strands, &material, Shape::Sphere { radius: RADIUS }, params);
    world.attachments = Attachments::default();
    for strand in 0..world.model.strands() {
        let root = world.model.groomed[world.model.range(strand).start].as_dvec3();
        world.attachments.hold(&world.bodies, 1, Seat::Body, strand as u32, 0, &[root]);
    }
    let on_ball = |world: &World, pose: Pose| -> Vec<DVec3> {
        world.state().positions.iter().map(|point| pose.rotation.inverse() * *point).collect()
    };
    (0..60).for_each(|_| drop(world.step(spin(0.0), spin(0.0)).unwrap()));
    let (mut before, mut contacts) = (vec![], 0);
    for step in 0..240 {
        let time = DT * f64::from(step);
        if step == 120 {
            before = on_ball(&world, spin(time));
        }
        contacts = world.step(spin(time), spin(time + DT)).unwrap().contacts;
    }
    assert!(contacts > 5, "only {contacts} contacts");
    let after = on_ball(&world, spin(DT * 240.0));
    before.iter().zip(&after).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

#[test]
fn hair_does_not_creep_on_a_ball_that_turns_with_it() {
    // A super-helix goes along with its clamp to rounding; vertices of a rod have to be turned by forces.
    for (fibre, limit) in [(nsgs::FibreKind::SuperHelix, 1.0e-8), (nsgs::FibreKind::Der, 1.0e-5)] {
        let creep = creeps_on_a_turning_ball(fibre);
        println!("{fibre:?}: {creep:e} m");
        assert!(creep < limit, "{fibre:?} creeps by {creep} m in two seconds");
    }
}

/// Hair thrown about by its holder is stepped in shorter time steps, and in the usual ones when it has calmed down.
#[test]
fn time_steps_shrink_in_fast_motion_and_grow_again() {
    let material = Material::preset(MaterialPreset::Coarse);
    let strands = [straight(Vec3::Y, Vec3::X * 0.1, 12)];
    let params = nsgs::Params::default();
    let (usual, least) = (params.step, params.least_step);
    let mut world = World::new(&strands, &material, Shape::Sphere { radius: 0.01 }, params);
    // Half a turn in a twentieth of a second, then rest.
    let holder = |time: f64| {
        let angle = 60.0 * time.min(0.05);
        Pose { rotation: DQuat::from_rotation_y(angle), translation: DVec3::ZERO }
    };
    let mut shortest = vec![];
    for step in 0..240 {
        let time = DT * f64::from(step);
        let motion = Motion::Rigid { start: holder(time), end: holder(time + DT) };
        world.bodies.begin_step(&[motion, Motion::still(Pose::IDENTITY)], DT).unwrap();
        let mut drive = Drive::new(&world.bodies, &world.attachments, &world.wind);
        drive.duration = DT;
        let report = world.solver.step(&drive, Step::Dynamic { dt: DT }).unwrap();
        let steps = report.time_steps;
        assert!(steps.count > 0 && steps.shortest >= 0.49 * least, "{steps:?}");
        shortest.push(steps.shortest);
    }
    let fastest = shortest[..12].iter().copied().fold(f64::INFINITY, f64::min);
    println!("usual {usual}, fastest {fastest}, last {}", shortest[239]);
    assert!(fastest < 0.6 * usual, "steps of {fastest} s while hair whirls");
    assert!((shortest[239] - usual).abs() < 1.0e-9, "steps of {} s at rest", shortest[239]);
}
