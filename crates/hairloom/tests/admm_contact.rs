//! Rods that meet at speed, and input that no hair should see.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use hairloom::body::{Bodies, Body, Motion, Shape};
use hairloom::groom::Curves;
use hairloom::math::{Pose, Random};
use hairloom::scene::{Attachments, Drive, Material, MaterialPreset, Model, ModelError, Seat, State, Wind};
use hairloom::solve::admm::{Elastic, Params, Precision, build};
use hairloom::solve::{Solver, Step};

fn straight() -> Material {
    Material { drag: 0.0, ..Material::preset(MaterialPreset::Straight) }
}

fn model(curves: &[Vec<Vec3>], material: &Material) -> Arc<Model> {
    let mut groomed = Curves::default();
    curves.iter().for_each(|curve| groomed.push(curve.iter().copied()));
    Arc::new(Model::new(&groomed, material).unwrap())
}

/// Pairs of strands that cross, one above the other, thrown at each other at 20 m/s: how many pass through.
fn passed_through(continuous: u32, iterations: u32, dt: f64) -> usize {
    const PAIRS: usize = 40;
    const EDGES: usize = 10;
    let mut random = Random::new(7);
    let mut curves = Vec::new();
    for pair in 0..PAIRS {
        let centre = Vec3::new((pair % 7) as f32, 0.0, (pair / 7) as f32) * 0.2;
        for above in [0.0, 1.0] {
            let angle = above * 1.5 + 0.6 * random.signed();
            let along = Vec3::new(angle.cos(), 0.1 * random.signed(), angle.sin()) * 0.01;
            let height = above * (0.02 + 0.05 * random.unit());
            let middle = centre + Vec3::new(0.01 * random.signed(), height, 0.01 * random.signed());
            curves.push((0..=EDGES).map(|i| middle + along * (i as f32 - 5.0)).collect::<Vec<Vec3>>());
        }
    }
    let model = model(&curves, &straight());
    let mut solver = build(&model, Params { continuous, iterations, ..Params::default() });
    let mut state = State::at_rest(model.groomed.iter().map(|p| p.as_dvec3()).collect());
    for (vertex, velocity) in state.velocities.iter_mut().enumerate() {
        let above = vertex / (EDGES + 1) % 2 == 1;
        *velocity = DVec3::Y * if above { -10.0 } else { 10.0 };
    }
    solver.load(&state);
    let (bodies, attachments, wind) = (Bodies::default(), Attachments::default(), Wind::still());
    let steps = (0.006 / dt).ceil() as i32;
    let mut passed = [false; PAIRS];
    for step in 0..steps {
        let mut drive = Drive::new(&bodies, &attachments, &wind);
        (drive.gravity, drive.time, drive.duration) = (DVec3::ZERO, f64::from(step) * dt, dt);
        let before = state.positions.clone();
        solver.step(&drive, Step::Dynamic { dt }).unwrap();
        solver.store(&mut state);
        let edges = |strand: usize| (0..EDGES).map(move |edge| strand * (EDGES + 1) + edge);
        for (pair, passed) in passed.iter_mut().enumerate() {
            let mut all = edges(2 * pair).flat_map(|a| edges(2 * pair + 1).map(move |b| (a, b)));
            *passed |= all.any(|(a, b)| cross(&before, &state.positions, a, b));
        }
    }
    passed.into_iter().filter(|passed| *passed).count()
}

/// Whether the centrelines of the edges behind vertices `a` and `b` cut each other while vertices move along lines.
fn cross(from: &[DVec3], to: &[DVec3], a: usize, b: usize) -> bool {
    const SAMPLES: usize = 100;
    let at = |vertex: usize, time: f64| from[vertex].lerp(to[vertex], time);
    let shape = |time: f64| {
        let (p, q) = (at(a + 1, time) - at(a, time), at(b + 1, time) - at(b, time));
        (p, q, at(b, time) - at(a, time))
    };
    let volume = |time: f64| {
        let (p, q, apart) = shape(time);
        p.cross(q).dot(apart)
    };
    (0..SAMPLES).any(|k| {
        let (mut low, mut high) = (k as f64 / SAMPLES as f64, (k + 1) as f64 / SAMPLES as f64);
        if volume(low) * volume(high) >= 0.0 {
            return false;
        }
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if volume(low) * volume(middle) > 0.0 { low = middle } else { high = middle }
        }
        // In one plane now: where do the lines meet?
        let (p, q, apart) = shape(low);
        let normal = p.cross(q);
        let square = normal.length_squared();
        let (s, t) = (apart.cross(q).dot(normal) / square, apart.cross(p).dot(normal) / square);
        (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)
    })
}

/// Without continuous detection nearly all pass, with it none does.
#[test]
fn continuous_detection_stops_strands_thrown_at_each_other() {
    for rate in [60.0, 192.0, 1500.0, 4000.0] {
        let (without, with) = (passed_through(0, 10, 1.0 / rate), passed_through(3, 10, 1.0 / rate));
        println!("{rate} steps a second: {without} of 40 pass without continuous detection, {with} with it");
        assert!(without >= 30 && with == 0, "{rate} steps a second: {without} pass without, {with} with");
    }
}

/// A head with hair that sticks out of it.
struct Head {
    bodies: Bodies,
    attachments: Attachments,
    solver: Box<dyn Solver>,
    strands: usize,
}

impl Head {
    fn new(curves: &[Vec<Vec3>], material: &Material) -> Self {
        let ball = Body::new("head", Shape::Sphere { radius: 0.1 }, 0.3).unwrap();
        let mut bodies = Bodies::new(vec![ball]);
        bodies.begin_step(&[Motion::still(Pose::IDENTITY)], 1.0).unwrap();
        let mut attachments = Attachments::default();
        for (strand, curve) in curves.iter().enumerate() {
            attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &[curve[0].as_dvec3()]);
        }
        let solver = build(&model(curves, material), Params::default());
        Self { bodies, attachments, solver, strands: curves.len() }
    }

    /// Steps of `dt` [s] with the head going from `start` to `end` in the first; everything must stay within reach.
    fn stays_bounded(&mut self, start: Pose, end: Pose, dt: f64, steps: usize) {
        let wind = Wind::still();
        for step in 0..steps {
            let (from, to) = if step == 0 { (start, end) } else { (end, end) };
            self.bodies.begin_step(&[Motion::Rigid { start: from, end: to }], dt).unwrap();
            let mut drive = Drive::new(&self.bodies, &self.attachments, &wind);
            (drive.time, drive.duration) = (step as f64 * dt, dt);
            self.solver.step(&drive, Step::Dynamic { dt }).unwrap();
        }
        let mut state = State::default();
        self.solver.store(&mut state);
        let farthest = state.positions.iter().map(|p| p.distance(end.translation)).fold(0.0, f64::max);
        assert!(self.strands > 0 && farthest < 0.6, "a vertex is {farthest} m from the head");
        assert!(state.positions.iter().chain(&state.velocities).all(|p| p.is_finite()));
    }
}

/// Strands of `vertices` on the top of the head, one edge of `edge` [m] after the other.
fn hair(vertices: usize, edge: f32) -> Vec<Vec<Vec3>> {
    let strand = |k: usize| {
        let angle = 0.3 * k as f32;
        let out = Vec3::new(0.5 * angle.cos(), 1.0, 0.5 * angle.sin()).normalize();
        (0..vertices).map(|i| out * (0.1 + edge * i as f32)).collect()
    };
    (0..20).map(strand).collect()
}

#[test]
fn strands_of_two_vertices_go_along() {
    Head::new(&hair(2, 0.02), &straight()).stays_bounded(Pose::IDENTITY, Pose::IDENTITY, 1.0 / 96.0, 50);
}

#[test]
fn hair_folded_back_onto_itself_stays_bounded() {
    let mut curves = hair(12, 0.01);
    for curve in &mut curves {
        for i in 6..12 {
            curve[i] = curve[11 - i] + Vec3::X * 1.0e-5;
        }
        curve[6] = curve[5] + Vec3::X * 1.0e-5;
    }
    Head::new(&curves, &straight()).stays_bounded(Pose::IDENTITY, Pose::IDENTITY, 1.0 / 96.0, 50);
}

#[test]
fn steps_of_a_second_stay_bounded() {
    Head::new(&hair(20, 0.01), &straight()).stays_bounded(Pose::IDENTITY, Pose::IDENTITY, 1.0, 20);
}

#[test]
fn a_head_that_jumps_within_a_step_takes_its_hair_along() {
    let end = Pose { rotation: glam::DQuat::from_rotation_x(2.5), translation: DVec3::new(0.3, -0.2, 0.1) };
    Head::new(&hair(20, 0.01), &straight()).stays_bounded(Pose::IDENTITY, end, 1.0 / 96.0, 60);
}

#[test]
fn friction_below_zero_acts_as_none() {
    let material = Material { friction: -0.5, ..straight() };
    Head::new(&hair(20, 0.01), &material).stays_bounded(Pose::IDENTITY, Pose::IDENTITY, 1.0 / 96.0, 30);
}

/// How much an edge of strands that hang from their first two vertices is stretched, at most, in a second.
fn largest_stretch(curves: &[Vec<Vec3>], params: Params) -> f64 {
    let model = model(curves, &straight());
    let mut head = Head { solver: build(&model, params), ..Head::new(curves, &straight()) };
    head.attachments = Attachments::default();
    for (strand, curve) in curves.iter().enumerate() {
        let held = [curve[0].as_dvec3(), curve[1].as_dvec3()];
        head.attachments.hold(&head.bodies, 0, Seat::Body, strand as u32, 0, &held);
    }
    let (wind, mut state, mut largest) = (Wind::still(), State::default(), 0.0_f64);
    for step in 0..96 {
        let mut drive = Drive::new(&head.bodies, &head.attachments, &wind);
        (drive.time, drive.duration) = (f64::from(step) / 96.0, 1.0 / 96.0);
        head.solver.step(&drive, Step::Dynamic { dt: 1.0 / 96.0 }).unwrap();
        head.solver.store(&mut state);
        for edge in (0..model.vertices()).filter(|&edge| model.rest_lengths[edge] > 0.0) {
            let length = state.positions[edge + 1].distance(state.positions[edge]);
            largest = largest.max((length / model.rest_lengths[edge] - 1.0).abs());
        }
    }
    largest
}

/// The first free edge of each lies on an edge of another that is held: nothing there can give way.
#[test]
fn strands_whose_roots_lie_in_each_other_do_not_fly_off() {
    let point = |shift: f32, i: usize| Vec3::new(0.01 * i as f32 + shift, 0.12, 0.0);
    let curves =
        [0.0, 0.009, 0.01, 0.0101].map(|shift| (0..10).map(|i| point(shift, i)).collect::<Vec<Vec3>>());
    let stretch = largest_stretch(&curves, Params::default());
    assert!(stretch < 1.0e-3, "an edge is {stretch} longer");
}

/// Zigzags that turn back by 130° to 176° at every vertex.
#[test]
fn folded_rest_shapes_keep_their_lengths() {
    for elastic in [Elastic::Newton, Elastic::Splitting] {
        for fold in [130.0_f32, 150.0, 165.0, 176.0] {
            let mut curve = vec![Vec3::new(0.0, 0.15, 0.0)];
            for i in 0..12 {
                let angle = if i % 2 == 0 { 0.0 } else { fold.to_radians() };
                curve.push(curve[i] + Vec3::new(angle.cos(), angle.sin(), 0.06) * 0.005);
            }
            let stretch = largest_stretch(&[curve], Params { elastic, ..Params::default() });
            assert!(stretch < 1.0e-3, "{elastic:?}, {fold} degrees: an edge is {stretch} longer");
        }
    }
}

#[test]
fn edges_without_a_length_are_refused() {
    let mut curves = Curves::default();
    curves.push([Vec3::ZERO, Vec3::Y, Vec3::Y]);
    let error = Model::new(&curves, &straight()).unwrap_err();
    assert!(matches!(error, ModelError::BadEdge { strand: 0, vertex: 1, .. }), "{error}");
}

#[test]
fn inner_friction_leaves_hair_alone_that_only_turns_with_its_head() {
    const DT: f64 = 1.0 / 96.0;
    let curves: Vec<Vec<Vec3>> = (0..3)
        .map(|k| (0..10).map(|i| Vec3::new(0.002 * i as f32, 0.0, 0.01 * k as f32)).collect())
        .collect();
    for elastic in [Elastic::Newton, Elastic::Splitting] {
        let head = Body {
            name: "head".into(),
            shape: Shape::Sphere { radius: 0.1 },
            friction: 0.0,
            collides: false,
        };
        let mut bodies = Bodies::new(vec![head]);
        bodies.begin_step(&[Motion::still(Pose::IDENTITY)], DT).unwrap();
        let mut attachments = Attachments::default();
        for (strand, curve) in curves.iter().enumerate() {
            attachments.hold(&bodies, 0, Seat::Body, strand as u32, 0, &[curve[0].as_dvec3()]);
        }
        let params =
            Params { elastic, relaxation: 0.02, inner: 100, strand_contacts: false, ..Params::default() };
        let mut solver = build(&model(&curves, &straight()), params);
        // One turn a second, long enough for what is damped to lag behind as far as it ever does.
        let pose = |step: usize| {
            let rotation = glam::DQuat::from_rotation_z(std::f64::consts::TAU * step as f64 * DT);
            Pose { rotation, translation: DVec3::ZERO }
        };
        let wind = Wind::still();
        for step in 0..48 {
            bodies.begin_step(&[Motion::Rigid { start: pose(step), end: pose(step + 1) }], DT).unwrap();
            let mut drive = Drive::new(&bodies, &attachments, &wind);
            (drive.time, drive.duration, drive.gravity) = (step as f64 * DT, DT, DVec3::ZERO);
            solver.step(&drive, Step::Dynamic { dt: DT }).unwrap();
        }
        let mut state = State::default();
        solver.store(&mut state);
        let edge = pose(48).rotation.conjugate() * (state.positions[1] - state.positions[0]);
        let lag = edge.angle_between(DVec3::X).to_degrees();
        // Against the world it would lag by the angle of 20 ms, 7.2°.
        assert!(lag < 0.2, "{elastic:?}: the first edge lags {lag}° behind its clamp");
    }
}

/// A tip that is twisted in one step, against inner friction: the twist is shared out by length, with half an edge at each clamp.
#[test]
fn inner_friction_at_a_clamped_tip_is_that_of_any_joint() {
    const DT: f64 = 1.0 / 96.0;
    const EDGES: usize = 8;
    let curve: Vec<Vec3> = (0..=EDGES).map(|i| Vec3::new(0.005 * i as f32, 0.0, 0.0)).collect();
    let hand = |name: &str| Body { collides: false, ..Body::new(name, Shape::Plane, 0.0).unwrap() };
    let mut bodies = Bodies::new(vec![hand("root"), hand("tip")]);
    let still = Motion::still(Pose::IDENTITY);
    bodies.begin_step(&[still, still], DT).unwrap();
    let mut attachments = Attachments::default();
    attachments.hold(&bodies, 0, Seat::Body, 0, 0, &[curve[0].as_dvec3()]);
    attachments.clamp(&bodies, 1, Seat::Body, 0, EDGES as u32, &[curve[EDGES].as_dvec3()]);
    let params = Params { relaxation: 0.2, precision: Precision::F64, ..Params::default() };
    let mut solver = build(&model(&[curve], &straight()), params);
    let wind = Wind::still();
    let turned = Pose { rotation: glam::DQuat::from_rotation_x(0.2), ..Pose::IDENTITY };
    bodies.begin_step(&[still, Motion::Rigid { start: Pose::IDENTITY, end: turned }], DT).unwrap();
    let mut drive = Drive::new(&bodies, &attachments, &wind);
    (drive.duration, drive.gravity) = (DT, DVec3::ZERO);
    solver.step(&drive, Step::Dynamic { dt: DT }).unwrap();
    let mut state = State::default();
    solver.store(&mut state);
    let angle = |edge: usize| state.orientations[0].angle_between(state.orientations[edge]);
    // Edges lie half an edge behind the first clamp, and so on.
    let (first, last) = (angle(1), angle(EDGES - 1));
    assert!((first - 0.2 / EDGES as f64).abs() < 2.0e-4, "{first} rad from one edge to the next");
    assert!((last - 0.2 * (EDGES - 1) as f64 / EDGES as f64).abs() < 1.0e-3, "{last} rad between all edges");
}

#[test]
fn ropes_that_hang_from_both_ends_are_where_they_are_held_after_many_steps() {
    // Nearly taut, and so heavy that no ten iterations find the force from nothing.
    let curve: Vec<Vec3> = (0..41).map(|i| Vec3::new(0.05 * i as f32, 0.0, 0.0)).collect();
    let mut bodies = Bodies::new(vec![Body::new("wall", Shape::Plane, 0.0).unwrap()]);
    bodies
        .begin_step(&[Motion::still(Pose { translation: DVec3::NEG_Y * 9.0, ..Pose::IDENTITY })], 1.0 / 96.0)
        .unwrap();
    let mut attachments = Attachments::default();
    let tip = DVec3::new(1.98, 0.0, 0.0);
    attachments.hold(&bodies, 0, Seat::Body, 0, 0, &[curve[0].as_dvec3()]);
    attachments.hold(&bodies, 0, Seat::Body, 0, 40, &[tip]);
    let mut solver = build(&model(&[curve], &straight()), Params::default());
    let wind = Wind::still();
    for step in 0..300 {
        let mut drive = Drive::new(&bodies, &attachments, &wind);
        (drive.time, drive.duration) = (f64::from(step) / 96.0, 1.0 / 96.0);
        let report = solver.step(&drive, Step::Dynamic { dt: 1.0 / 96.0 }).unwrap();
        assert!(step < 200 || report.out_of_reach == 0, "step {step}: the rope is off its end");
    }
    let mut state = State::default();
    solver.store(&mut state);
    let missing = state.positions[40].distance(tip);
    assert!(missing < 1.0e-4, "the end is {missing} m from where it is held");
    attachments = Attachments::default();
    attachments.hold(&bodies, 0, Seat::Body, 0, 0, &[DVec3::ZERO]);
    attachments.hold(&bodies, 0, Seat::Body, 0, 40, &[tip * 1.02]);
    let mut drive = Drive::new(&bodies, &attachments, &wind);
    drive.duration = 1.0 / 96.0;
    let report = solver.step(&drive, Step::Dynamic { dt: 1.0 / 96.0 }).unwrap();
    assert_eq!(report.out_of_reach, 1, "a rope of 2 m that is held 2.02 m apart");
}
