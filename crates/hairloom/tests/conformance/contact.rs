//! The tests with bodies that move among the hair: each a function over any solver, and the bodies by themselves.

use glam::{DVec3, Vec3};
use hairloom::body::{Bodies, Body, MeshQuery, Motion, Obstacles, Sample};
use hairloom::math::{Pose, Random};
use hairloom::scene::{Attachments, Drive, Wind};
use hairloom::solve::{Checkpoint, Step};

use crate::crowd::{Crowd, Obstacle, fractions};
use crate::suite::{Build, Traits, largest_move, started};
use crate::world::DT;

/// A point among the hair and the obstacles.
fn place(random: &mut Random) -> Vec3 {
    Vec3::new(0.08, -0.1, 0.0) + Vec3::new(random.signed(), random.signed(), random.signed()) * 0.09
}

/// Both must answer alike: distances, normals and clearances to the last bit, velocities up to rounding.
fn assert_alike(a: &Obstacles<'_>, b: &Obstacles<'_>, what: &str) {
    let mut random = Random::new(5);
    for _ in 0..400 {
        let point = place(&mut random);
        assert_eq!(a.clearance(point), b.clearance(point), "{what}");
        assert_eq!(a.closest(1, point), b.closest(1, point), "{what}");
        let ((index, one), (other_index, other)) = (a.nearest(point).unwrap(), b.nearest(point).unwrap());
        assert_eq!((index, one.distance, one.normal), (other_index, other.distance, other.normal), "{what}");
        let (Sample { velocity: v, .. }, Sample { velocity: w, .. }) =
            (a.sample(1, point), b.sample(1, point));
        assert!(v.distance(w) < 1.0e-3, "{what}: {v} m/s against {w} m/s");
        assert!(v.length() > 0.01, "{what}: the obstacle does not move");
    }
}

#[test]
fn bodies_at_a_cut_are_those_of_a_step_that_ends_there() {
    for obstacle in Obstacle::ALL {
        for parts in [1, 2, 5] {
            let mut crowd = Crowd::new(obstacle, 1);
            crowd.world.time = 0.7;
            crowd.begin();
            let drive = crowd.world.drive();
            for part in 0..parts {
                let (a, b) = fractions(part, parts);
                let what = format!("{obstacle:?}, part {part} of {parts}");
                let own = crowd.part(a, b);
                assert_alike(&drive.sub(a, b).obstacles(), &own.at(1.0), &what);
                // A part of a part is a part.
                assert_alike(&drive.sub(0.0, b).sub(a / b, 1.0).obstacles(), &own.at(1.0), &what);
            }
        }
    }
}

#[test]
fn a_distance_grid_at_a_cut_is_that_of_a_step_that_ends_there() {
    for obstacle in [Obstacle::TurningMesh, Obstacle::DeformingMesh] {
        let mut crowd = Crowd::new(obstacle, 1);
        let body = |name, shape| Body::new(name, shape, 0.2).unwrap();
        let mount = crowd.world.bodies.body(0).shape.clone();
        let list = vec![body("mount", mount), body("obstacle", obstacle.shape(MeshQuery::Grid))];
        crowd.world.bodies = Bodies::new(list);
        crowd.world.time = 0.7;
        crowd.begin();
        let own = crowd.part(0.25, 0.6);
        let drive = crowd.world.drive().sub(0.25, 0.6);
        assert_alike(&drive.obstacles(), &own.at(1.0), &format!("{obstacle:?}"));
        // The moment after another was asked for, and once more.
        drop((drive.sub(0.0, 0.5).obstacles(), drive.obstacles()));
        assert_alike(&drive.obstacles(), &own.at(1.0), &format!("{obstacle:?} again"));
    }
}

#[test]
fn the_first_part_of_a_teleport_jumps_and_the_others_stay() {
    let ball = Body::new("ball", Obstacle::Ball.shape(MeshQuery::Exact), 0.2).unwrap();
    let mut bodies = Bodies::new(vec![ball]);
    let away = Pose { translation: DVec3::new(3.0, 1.0, 0.0), ..Pose::IDENTITY };
    let motion = Motion::Rigid { start: Pose::IDENTITY, end: away };
    bodies.begin_step_with_jumps(&[motion], |_| true, DT).unwrap();
    let (attachments, wind) = (Attachments::default(), Wind::still());
    let whole = Drive::new(&bodies, &attachments, &wind);
    let (first, second) = (whole.sub(0.0, 0.5), whole.sub(0.5, 1.0));
    let poses = |drive: &Drive<'_>| (drive.jumps(0), drive.pose(0, 0.0), drive.pose(0, 1.0));
    assert_eq!(poses(&whole), (true, Pose::IDENTITY, away));
    assert_eq!(poses(&first), (true, Pose::IDENTITY, away));
    assert_eq!(poses(&second), (false, away, away));
    assert_eq!(poses(&first.sub(0.0, 0.5)), (true, Pose::IDENTITY, away));
    assert_eq!(poses(&first.sub(0.5, 1.0)), (false, away, away));
    assert_eq!(poses(&second.sub(0.0, 0.5)), (false, away, away));
    for drive in [first, second] {
        let sample = drive.obstacles().sample(0, Vec3::new(3.0, 1.1, 0.0));
        assert!((sample.distance - 0.07).abs() < 1.0e-6 && sample.velocity == Vec3::ZERO);
    }
}

pub(crate) fn parts_of_a_step_go_like_steps_of_their_own(build: &Build, traits: Traits) {
    for obstacle in Obstacle::ALL {
        let mut crowd = Crowd::new(obstacle, 24);
        let (mut in_parts, mut in_steps) = (started(&crowd.world, build), started(&crowd.world, build));
        let mut contacts = 0;
        for _ in 0..5 {
            crowd.begin();
            let drive = crowd.world.drive();
            for part in 0..3 {
                let ((a, b), step) = (fractions(part, 3), Step::Dynamic { dt: DT / 3.0 });
                contacts += in_parts.step(&drive.sub(a, b), step).unwrap().contacts;
                let bodies = crowd.part(a, b);
                let mut own = drive;
                (own.bodies, own.time, own.duration) = (&bodies, drive.time_at(a), (b - a) * DT);
                in_steps.step(&own, step).unwrap();
            }
            crowd.world.time += DT;
        }
        assert!(contacts > 0 || !traits.collides, "{obstacle:?}: nothing touched");
        let moved = largest_move(&crowd.world.state(&*in_parts), &crowd.world.state(&*in_steps));
        assert!(moved < traits.parting, "{obstacle:?}: {moved} m apart");
    }
}

pub(crate) fn contact_has_the_same_bits_for_any_number_of_threads(build: &Build, traits: Traits) {
    for obstacle in [Obstacle::TurningCapsule, Obstacle::DeformingMesh] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut crowd = Crowd::new(obstacle, 300);
                let mut solver = started(&crowd.world, build);
                let report = crowd.run(&mut *solver, 10, 2).unwrap();
                (report.contacts, crowd.world.state(&*solver))
            })
        };
        let one = run(1);
        assert!(one.0 > 0 || !traits.collides, "{obstacle:?}: nothing touched");
        assert!(one == run(2) && one == run(8), "{obstacle:?}: the result hangs on the number of threads");
    }
}

pub(crate) fn restart_among_bodies_in_wind_equals_an_unbroken_run(build: &Build, traits: Traits) {
    for obstacle in Obstacle::ALL {
        let mut crowd = Crowd::new(obstacle, 40);
        let mut solver = started(&crowd.world, build);
        crowd.run(&mut *solver, 6, 2).unwrap();
        let mut checkpoint = Checkpoint::default();
        solver.save(&mut checkpoint);
        let time = crowd.world.time;
        let report = crowd.run(&mut *solver, 6, 2).unwrap();
        assert!(report.contacts > 0 || !traits.collides, "{obstacle:?}: nothing touched");
        let unbroken = crowd.world.state(&*solver);

        let mut crowd = Crowd::new(obstacle, 40);
        let mut again = build(&crowd.world.model);
        again.restore(&checkpoint).unwrap();
        crowd.world.time = time;
        crowd.run(&mut *again, 6, 2).unwrap();
        assert!(crowd.world.state(&*again) == unbroken, "{obstacle:?}: the restarted run differs");
    }
}

pub(crate) fn a_solver_that_loads_again_goes_like_a_new_one(build: &Build, _: Traits) {
    for obstacle in [Obstacle::TurningCapsule, Obstacle::DeformingMesh] {
        let mut crowd = Crowd::new(obstacle, 40);
        let mut used = started(&crowd.world, build);
        crowd.run(&mut *used, 8, 2).unwrap();
        let (state, time) = (crowd.world.state(&*used), crowd.world.time);
        let new = build(&crowd.world.model);
        let [again, fresh] = [used, new].map(|mut solver| {
            solver.load(&state);
            crowd.world.time = time;
            crowd.run(&mut *solver, 4, 2).unwrap();
            crowd.world.state(&*solver)
        });
        assert!(again == fresh, "{obstacle:?}: something of the run before is left");
    }
}

pub(crate) fn no_vertex_sinks_into_bodies_that_move(build: &Build, traits: Traits) {
    if !traits.collides {
        return;
    }
    for obstacle in Obstacle::ALL {
        let mut crowd = Crowd::new(obstacle, 40);
        let mut solver = started(&crowd.world, build);
        let (mut contacts, parts) = (0, 4);
        for step in 0..30 {
            crowd.begin();
            let drive = crowd.world.drive();
            for part in 0..parts {
                let (a, b) = fractions(part, parts);
                let sub = drive.sub(a, b);
                contacts += solver.step(&sub, Step::Dynamic { dt: DT / parts as f64 }).unwrap().contacts;
                let (state, obstacles) = (crowd.world.state(&*solver), sub.obstacles());
                let model = &crowd.world.model;
                let free = (0..model.strands()).flat_map(|strand| model.range(strand).skip(1));
                let depth = |vertex: usize| {
                    obstacles.nearest(state.positions[vertex].as_vec3()).map_or(0.0, |(_, s)| -s.distance)
                };
                let deepest = free.map(depth).fold(0.0, f32::max);
                assert!(deepest < 1.0e-4, "{obstacle:?}, step {step}.{part}: a vertex is {deepest} m inside");
            }
            crowd.world.time += DT;
        }
        assert!(contacts > 100, "{obstacle:?}: only {contacts} contacts");
    }
}
