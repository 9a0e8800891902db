//! The tests, each a function over any solver.

use std::sync::Arc;

use glam::DVec3;
use hairloom::body::Shape;
use hairloom::groom::{Curves, Remap};
use hairloom::math::Pose;
use hairloom::scene::{Attachments, Handle, Model, Seat, State};
use hairloom::solve::{Checkpoint, Solver, Step};

use crate::world::{DT, Hold, World, hanging, shaken, sideways};

/// What a method claims to do beyond carrying hair along.
#[derive(Clone, Copy)]
pub(crate) struct Traits {
    pub(crate) falls: bool,
    /// Into how many equal parts the method cuts a step of the suite.
    pub(crate) parts: u32,
    pub(crate) collides: bool,
    /// Without any stiffness against bending.
    pub(crate) limp: bool,
    /// How far hanging hair may drift [m].
    pub(crate) drift: f64,
    /// By how much rounding may move a strand that falls freely [m].
    pub(crate) rounding: f64,
    /// How far two runs may part that differ by rounding, once hair touches bodies [m].
    pub(crate) parting: f64,
    /// How much edges may stretch under any motion, relative to their lengths.
    pub(crate) stretch: f64,
}

pub(crate) type Build = dyn Fn(&Arc<Model>) -> Box<dyn Solver> + Sync;

pub(crate) fn started(world: &World, build: &Build) -> Box<dyn Solver> {
    let mut solver = build(&world.model);
    solver.load(&world.groomed());
    solver
}

pub(crate) fn largest_move(a: &State, b: &State) -> f64 {
    a.positions.iter().zip(&b.positions).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max)
}

pub(crate) fn hanging_hair_stays_at_rest(build: &Build, traits: Traits) {
    let mut world = World::new(&hanging(40), Hold::Root(1), vec![]);
    let mut solver = started(&world, build);
    world.run(&mut *solver, 120).unwrap();
    let moved = largest_move(&world.state(&*solver), &world.groomed());
    assert!(moved < traits.drift, "a vertex moved by {moved} m");
}

pub(crate) fn roots_follow_their_body(build: &Build, _: Traits) {
    let mut world = World::new(&sideways(40), Hold::Root(1), vec![]);
    world.path = shaken;
    let mut solver = started(&world, build);
    for _ in 0..60 {
        world.run(&mut *solver, 1).unwrap();
        let (state, pose) = (world.state(&*solver), shaken(world.time));
        for strand in 0..world.model.strands() {
            let root = world.model.range(strand).start;
            let expected = pose.apply(world.model.groomed[root].as_dvec3());
            let error = (state.positions[root] - expected).length();
            assert!(error < 1.0e-9, "strand {strand}: its root is {error} m from where the body has it");
        }
    }
}

pub(crate) fn edges_keep_their_lengths_under_any_motion(build: &Build, traits: Traits) {
    let mut world = World::new(&sideways(100), Hold::Root(1), vec![]);
    world.path = shaken;
    let mut solver = started(&world, build);
    for step in 0..120 {
        world.run(&mut *solver, 1).unwrap();
        let stretch = world.stretch(&world.state(&*solver));
        assert!(stretch < traits.stretch, "step {step}: an edge is stretched by {stretch}");
    }
}

/// Only methods that know their energy are held to it. Backward Euler takes energy away, and so does the air.
pub(crate) fn energy_never_grows_by_itself(build: &Build, _: Traits) {
    let mut world = World::new(&sideways(1), Hold::Root(1), vec![]);
    let mut solver = started(&world, build);
    let mass: f64 = world.model.masses.iter().map(|&mass| f64::from(mass)).sum();
    let scale = mass * world.gravity.length() * world.model.rest_lengths.iter().sum::<f64>();
    let mut before = None;
    for step in 0..120 {
        let Some(energy) = world.run(&mut *solver, 1).unwrap().energy else { return };
        assert!(energy.kinetic >= 0.0 && energy.elastic >= 0.0, "{energy:?}");
        let gained = energy.total() - before.unwrap_or(f64::INFINITY);
        assert!(gained < 1.0e-5 * scale, "step {step}: {gained} J gained, beside {scale} J");
        before = Some(energy.total());
    }
}

pub(crate) fn same_bits_for_any_number_of_threads(build: &Build, _: Traits) {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = World::new(&sideways(700), Hold::Root(1), vec![]);
            world.path = shaken;
            let mut solver = started(&world, build);
            world.run(&mut *solver, 30).unwrap();
            world.state(&*solver)
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(8), "the result hangs on the number of threads");
}

pub(crate) fn restart_equals_an_unbroken_run(build: &Build, _: Traits) {
    for hold in [Hold::Root(1), Hold::BothEnds, Hold::Nothing] {
        let mut world = World::new(&sideways(60), hold, vec![]);
        world.path = shaken;
        let mut solver = started(&world, build);
        world.run(&mut *solver, 20).unwrap();
        let mut checkpoint = Checkpoint::default();
        solver.save(&mut checkpoint);
        let time = world.time;
        world.run(&mut *solver, 20).unwrap();
        let unbroken = world.state(&*solver);
        assert!(unbroken.positions.iter().chain(&unbroken.velocities).all(|value| value.is_finite()));

        let mut again = build(&world.model);
        again.restore(&checkpoint).unwrap();
        world.time = time;
        world.run(&mut *again, 20).unwrap();
        let restarted = world.state(&*again);
        let moved = largest_move(&restarted, &unbroken);
        assert!(restarted == unbroken, "the restarted run differs, by up to {moved} m");
    }
}

pub(crate) fn foreign_checkpoints_are_refused(build: &Build, _: Traits) {
    let world = World::new(&hanging(10), Hold::Root(1), vec![]);
    let mut solver = started(&world, build);
    let mut checkpoint = Checkpoint::default();
    solver.save(&mut checkpoint);
    let mut foreign = checkpoint.clone();
    foreign.method = "another".to_owned();
    assert!(solver.restore(&foreign).is_err());
    let smaller = World::new(&hanging(9), Hold::Root(1), vec![]);
    assert!(build(&smaller.model).restore(&checkpoint).is_err());
    checkpoint.columns.pop_first();
    assert!(solver.restore(&checkpoint).is_err());
}

pub(crate) fn state_survives_load_and_store(build: &Build, _: Traits) {
    let world = World::new(&sideways(50), Hold::Root(1), vec![]);
    let mut state = world.groomed();
    for (i, velocity) in state.velocities.iter_mut().enumerate() {
        *velocity = DVec3::new(0.25 * i as f64, -0.5, 2.0);
    }
    let mut solver = build(&world.model);
    solver.load(&state);
    let back = world.state(&*solver);
    assert!(largest_move(&state, &back) < 1.0e-8);
    assert_eq!(state.velocities, back.velocities);
}

pub(crate) fn parts_of_a_drive_end_where_the_whole_does(build: &Build, _: Traits) {
    let mut world = World::new(&sideways(20), Hold::Root(1), vec![]);
    world.path = shaken;
    let mut solver = started(&world, build);
    for _ in 0..10 {
        world.begin(&[]);
        let drive = world.drive();
        for part in 0..4 {
            let (a, b) = (part as f64 / 4.0, (part + 1) as f64 / 4.0);
            // A part of a part is a part.
            let sub = drive.sub(0.0, b).sub(a / b, 1.0);
            solver.step(&sub, Step::Dynamic { dt: DT / 4.0 }).unwrap();
        }
        world.time += DT;
        let (state, pose) = (world.state(&*solver), shaken(world.time));
        let root = world.model.range(3).start;
        let error = (state.positions[root] - pose.apply(world.model.groomed[root].as_dvec3())).length();
        assert!(error < 1.0e-9, "the root is off by {error} m");
    }
}

pub(crate) fn quasistatic_steps_leave_no_speed(build: &Build, traits: Traits) {
    let mut world = World::new(&sideways(20), Hold::Root(1), vec![]);
    let mut solver = started(&world, build);
    world.begin(&[]);
    solver.step(&world.drive(), Step::Quasistatic { iterations: 3000 }).unwrap();
    let state = world.state(&*solver);
    assert!(state.velocities.iter().all(|velocity| *velocity == DVec3::ZERO));
    if traits.limp {
        let range = world.model.range(3);
        let length: f64 = world.model.rest_lengths[range.clone()].iter().sum();
        let drop = state.positions[range.start].y - state.positions[range.end - 1].y;
        assert!(drop > 0.999 * length, "hair of {length} m hangs down only {drop} m");
    }
}

pub(crate) fn teleported_hair_keeps_its_shape(build: &Build, _: Traits) {
    let mut world = World::new(&hanging(20), Hold::Root(1), vec![]);
    let mut solver = started(&world, build);
    world.run(&mut *solver, 5).unwrap();
    world.path = |time| {
        if time < 5.5 * DT {
            Pose::IDENTITY
        } else {
            Pose { translation: DVec3::new(3.0, 1.0, -2.0), ..Pose::IDENTITY }
        }
    };
    world.jumps = true;
    world.run(&mut *solver, 1).unwrap();
    let (state, groomed) = (world.state(&*solver), world.groomed());
    for (new, old) in state.positions.iter().zip(&groomed.positions) {
        let error = (*new - *old - DVec3::new(3.0, 1.0, -2.0)).length();
        assert!(error < 1.0e-3, "a vertex is {error} m from where the jump takes it");
    }
    let fastest = state.velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
    assert!(fastest < 0.1, "the jump gave a speed of {fastest} m/s");
}

pub(crate) fn only_hair_of_the_body_that_jumps_goes_along(build: &Build, _: Traits) {
    for hold in [Hold::Root(1), Hold::BothEnds] {
        let still = vec![(Shape::Sphere { radius: 0.01 }, Pose::IDENTITY)];
        let mut world = World::new(&hanging(20), hold, still.clone());
        for attachment in world.attachments.items.iter_mut().filter(|item| item.strand % 2 == 1) {
            attachment.body = 1;
        }
        let mut solver = started(&world, build);
        let away = DVec3::new(3.0, 1.0, -2.0);
        world.path = |time| Pose {
            translation: if time > 0.0 { DVec3::new(3.0, 1.0, -2.0) } else { DVec3::ZERO },
            ..Pose::IDENTITY
        };
        world.jumps = true;
        world.begin(&still);
        solver.step(&world.drive(), Step::Dynamic { dt: DT }).unwrap();
        let (state, groomed) = (world.state(&*solver), world.groomed());
        for strand in 0..world.model.strands() {
            let carried = if strand % 2 == 1 { DVec3::ZERO } else { away };
            for vertex in world.model.range(strand) {
                let error = (state.positions[vertex] - groomed.positions[vertex] - carried).length();
                assert!(error < 1.0e-3, "strand {strand} is {error} m from where it belongs");
            }
        }
    }
}

pub(crate) fn strands_over_a_rising_floor_keep_their_lengths(build: &Build, traits: Traits) {
    if !traits.collides {
        return;
    }
    let mut world = World::new(&hanging(16), Hold::Root(1), vec![(Shape::Plane, Pose::IDENTITY)]);
    let mut solver = started(&world, build);
    for step in 0..60 {
        // The floor comes up under hair that hangs straight down: edges along the normal.
        let height = -0.13 + 0.001 * f64::from(step);
        let floor = vec![(Shape::Plane, Pose { translation: DVec3::Y * height, ..Pose::IDENTITY })];
        world.begin(&floor);
        solver.step(&world.drive(), Step::Dynamic { dt: DT }).unwrap();
        world.time += DT;
        let state = world.state(&*solver);
        let stretch = world.stretch(&state);
        assert!(stretch < traits.stretch, "step {step}: an edge is stretched by {stretch}");
        let lowest = state.positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        assert!(lowest > height - 1.0e-4, "step {step}: a vertex is {} m below the floor", height - lowest);
    }
}

pub(crate) fn handles_pull_and_must_exist(build: &Build, traits: Traits) {
    let mut world = World::new(&hanging(12), Hold::Root(1), vec![]);
    let mut solver = started(&world, build);
    world.begin(&[]);
    let tip = world.model.range(5).len() as u32 - 1;
    let target = world.groomed().positions[world.model.range(5).end - 1] + DVec3::new(0.03, 0.02, 0.0);
    let handles = [Handle { strand: 5, vertex: tip, target, stiffness: 1.0e4 }];
    if traits.falls {
        // How fast a pull travels up a strand is the method's own affair; that it pulls is not.
        let tip_after = |handles: &[Handle], step: Step| {
            let mut solver = started(&world, build);
            let mut drive = world.drive();
            drive.handles = handles;
            for _ in 0..10 {
                solver.step(&drive, step).unwrap();
            }
            (world.state(&*solver).positions[world.model.range(5).end - 1] - target).length()
        };
        for step in [Step::Quasistatic { iterations: 20 }, Step::Dynamic { dt: DT }] {
            let (with, without) = (tip_after(&handles, step), tip_after(&[], step));
            assert!(with < 0.9 * without, "{step:?}: {with} m from the target, {without} m without a handle");
        }
        for handle in [Handle { vertex: 99, ..handles[0] }, Handle { strand: 99, ..handles[0] }] {
            let bad = [handle];
            let mut drive = world.drive();
            drive.handles = &bad;
            assert!(solver.step(&drive, Step::Dynamic { dt: DT }).is_err());
        }
    }
}

/// Strands cut to half their vertices, and one strand taken out.
pub(crate) fn edited_hair_goes_on_warm(build: &Build, traits: Traits) {
    let curves = sideways(20);
    let mut world = World::new(&curves, Hold::Root(1), vec![]);
    let mut solver = started(&world, build);
    world.run(&mut *solver, 20).unwrap();
    let before = world.state(&*solver);

    let mut trimmed = Curves::default();
    let mut remap = Remap::default();
    for strand in (0..20).filter(|&strand| strand != 7) {
        let points = curves.strand(strand);
        let kept = points.len().div_ceil(2);
        trimmed.push(points[..kept].iter().copied());
        remap.strands.push(Some(strand as u32));
        remap.coordinates.extend((0..kept).map(|i| i as f32));
    }
    let edited = World::new(&trimmed, Hold::Root(1), vec![]);
    solver.rebind(&edited.model, &remap);
    let after = edited.state(&*solver);
    for (strand, from) in remap.strands.iter().enumerate() {
        let (new, old) = (edited.model.range(strand), world.model.range(from.unwrap() as usize));
        for (a, b) in new.zip(old) {
            assert!((after.positions[a] - before.positions[b]).length() < 1.0e-6);
            assert!((after.velocities[a] - before.velocities[b]).length() < 1.0e-4);
        }
    }
    let mut edited = World { time: world.time, ..edited };
    edited.run(&mut *solver, 20).unwrap();
    assert!(edited.stretch(&edited.state(&*solver)) < traits.stretch);
}

pub(crate) fn bad_time_steps_are_errors(build: &Build, _: Traits) {
    let world = World::new(&hanging(3), Hold::Root(1), vec![]);
    let mut solver = started(&world, build);
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(solver.step(&world.drive(), Step::Dynamic { dt }).is_err(), "dt = {dt}");
    }
}

pub(crate) fn held_vertices_beyond_the_root_stay_put(build: &Build, traits: Traits) {
    let mut world = World::new(&sideways(30), Hold::Root(3), vec![]);
    world.path = shaken;
    let mut solver = started(&world, build);
    world.run(&mut *solver, 30).unwrap();
    let (state, pose) = (world.state(&*solver), shaken(world.time));
    for strand in 0..30 {
        for vertex in world.model.range(strand).take(3) {
            let error =
                (state.positions[vertex] - pose.apply(world.model.groomed[vertex].as_dvec3())).length();
            assert!(error < 1.0e-7, "strand {strand}, vertex {vertex} is off by {error} m");
        }
    }
    let stretch = world.stretch(&state);
    assert!(stretch < traits.stretch, "{stretch}");
}

pub(crate) fn free_strands_fall_as_galileo_says(build: &Build, traits: Traits) {
    if !traits.falls {
        return;
    }
    let mut world = World::new(&sideways(10), Hold::Nothing, vec![]);
    let material = world.model.materials[0];
    // Without air: the drag of the material would slow the fall.
    let mut model = (*world.model).clone();
    model.materials[0].drag = 0.0;
    world.model = Arc::new(model);
    assert!(material.drag > 0.0);
    let mut solver = started(&world, build);
    let steps = 30;
    world.run(&mut *solver, steps).unwrap();
    let (state, groomed) = (world.state(&*solver), world.groomed());
    // Symplectic Euler: after n steps, the method's own, the fall is g dt² n (n + 1) / 2.
    let (parts, dt) = (steps * traits.parts as usize, DT / f64::from(traits.parts));
    let expected = 9.81 * dt * dt * (parts * (parts + 1)) as f64 / 2.0;
    for strand in 0..10 {
        let range = world.model.range(strand);
        let mass: f64 = range.clone().map(|v| f64::from(world.model.masses[v])).sum();
        let centre = |s: &State| {
            range.clone().map(|v| s.positions[v] * f64::from(world.model.masses[v])).sum::<DVec3>() / mass
        };
        let fallen = centre(&groomed) - centre(&state);
        assert!(
            (fallen - DVec3::Y * expected).length() < traits.rounding,
            "strand {strand} fell by {fallen}"
        );
    }
    assert!(world.stretch(&state) < traits.stretch);
}

pub(crate) fn absurd_forces_are_errors(build: &Build, traits: Traits) {
    if !traits.falls {
        return;
    }
    for hold in [Hold::Root(1), Hold::BothEnds, Hold::Nothing] {
        let mut world = World::new(&sideways(10), hold, vec![]);
        world.gravity = DVec3::new(0.0, -1.0e12, 0.0);
        let mut solver = started(&world, build);
        let failed = world.run(&mut *solver, 10).is_err();
        let state = world.state(&*solver);
        let bounded = state.positions.iter().all(|p| p.length() < 10.0);
        assert!(failed || bounded, "hair flies off without a word");
    }
}

pub(crate) fn ropes_held_at_both_ends_keep_lengths_and_ends(build: &Build, traits: Traits) {
    let mut world = World::new(&sideways(12), Hold::BothEnds, vec![]);
    // Bring the far ends nearer, so that the ropes sag.
    let (bodies, model) = (&world.bodies, &world.model);
    let mut attachments = Attachments::default();
    for strand in 0..12 {
        let range = model.range(strand);
        let (root, tip) = (model.groomed[range.start].as_dvec3(), model.groomed[range.end - 1].as_dvec3());
        attachments.hold(bodies, 0, Seat::Body, strand as u32, 0, &[root]);
        attachments.hold(
            bodies,
            0,
            Seat::Body,
            strand as u32,
            range.len() as u32 - 1,
            &[root.lerp(tip, 0.8)],
        );
    }
    world.attachments = attachments;
    let mut solver = started(&world, build);
    if !traits.falls {
        return;
    }
    for _ in 0..200 {
        let report = world.run(&mut *solver, 1).unwrap();
        assert_eq!(report.out_of_reach, 0);
        let stretch = world.stretch(&world.state(&*solver));
        assert!(stretch < 1.0e-3, "a rope is stretched by {stretch}");
    }
    let (state, range) = (world.state(&*solver), world.model.range(6));
    let lowest = range.map(|v| state.positions[v].y).fold(f64::INFINITY, f64::min);
    assert!(lowest < -0.005, "the rope does not sag: its lowest point is at {lowest} m");
}

pub(crate) fn strands_rest_on_the_ground(build: &Build, traits: Traits) {
    if !traits.collides {
        return;
    }
    let ground = vec![(Shape::Plane, Pose { translation: DVec3::new(0.0, -0.03, 0.0), ..Pose::IDENTITY })];
    for hold in [Hold::Root(1), Hold::Nothing] {
        let mut world = World::new(&hanging(16), hold, ground.clone());
        // Begin above the ground.
        let mut state = world.groomed();
        for strand in 0..16 {
            let range = world.model.range(strand);
            let root = state.positions[range.start];
            for (i, vertex) in range.enumerate().skip(1) {
                let along: f64 = i as f64 * world.model.rest_lengths[world.model.range(strand).start];
                state.positions[vertex] = root + DVec3::new(0.6, 0.2, 0.0).normalize() * along;
            }
        }
        let mut solver = build(&world.model);
        solver.load(&state);
        let mut contacts = 0;
        for _ in 0..120 {
            world.begin(&ground);
            let report = solver.step(&world.drive(), Step::Dynamic { dt: DT }).unwrap();
            contacts = contacts.max(report.contacts);
            let state = world.state(&*solver);
            let lowest = state.positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
            assert!(lowest > -0.03 - 1.0e-4, "a vertex is at {lowest} m, below the ground");
            assert!(world.stretch(&state) < traits.stretch);
        }
        assert!(contacts > 0, "nothing touched the ground");
    }
}
