//! The distance grid and the bounds that rest on it.

use super::super::grid::{BAND, MARCHING_ERROR};
use super::super::*;
use super::{Random, cuboid, sphere, torus};
use crate::math::Pose;

fn shape(mesh: &TriMesh, cell: f32, query: MeshQuery) -> MeshShape {
    MeshShape::new(mesh, MeshSettings { cell: Some(cell), query }).unwrap()
}

/// The largest and the mean error of a grid against exact queries, in cells, at random points where it is known.
fn errors(shape: &MeshShape, half: f32, count: usize) -> (f32, f32, f32) {
    let mut random = Random::new(11);
    let (mut over, mut under, mut sum, mut known) = (0.0f32, 0.0f32, 0.0, 0);
    for _ in 0..count {
        let p = random.point(half);
        if let Some((distance, _)) = shape.grid().distance(p) {
            let truth = shape.closest(p).unwrap().distance;
            assert!(distance * truth > 0.0 || truth.abs() < shape.grid().cell());
            let error = (distance.abs() - truth.abs()) / shape.grid().cell();
            over = over.max(error);
            under = under.max(-error);
            sum += error.abs();
            known += 1;
        }
    }
    assert!(known > count / 20, "{known}");
    (over, under, sum / known as f32)
}

#[test]
fn marching_is_of_first_order() {
    let mesh = sphere(0.1, 64);
    let [coarse, fine] = [0.01, 0.005].map(|cell| {
        let (over, under, mean) = errors(&shape(&mesh, cell, MeshQuery::Grid), 0.16, 20_000);
        println!("sphere, cells of {cell} m: over {over:.3}, under {under:.3}, mean {mean:.4} cells");
        assert!(over < 0.4 && under < 0.4 && mean < 0.15);
        mean * cell
    });
    assert!(fine < 0.65 * coarse);
}

#[test]
fn a_point_is_the_worst_that_marching_can_meet() {
    let mut random = Random::new(12);
    let mut worst = 0.0f32;
    for _ in 0..200 {
        // A speck of a triangle anywhere between the nodes, and one far away that holds the grid in place.
        let at = random.point(0.5);
        let e = 1e-3;
        let points = vec![
            at,
            at + Vec3::X * e,
            at + Vec3::Y * e,
            Vec3::splat(8.0),
            Vec3::new(8.0 + e, 8.0, 8.0),
            Vec3::new(8.0, 8.0 + e, 8.0),
        ];
        let shape = shape(&TriMesh { points, triangles: vec![[0, 1, 2], [3, 4, 5]] }, 1.0, MeshQuery::Grid);
        worst = worst.max(shape.grid().node_error(|p| shape.closest(p).unwrap().distance.abs()));
    }
    println!("marching from a point errs by up to {worst:.3} cells within {BAND} cells");
    assert!(worst < MARCHING_ERROR);
    assert!(worst > 0.5 * MARCHING_ERROR, "the bound is too wide");
}

#[test]
fn clearance_never_exceeds_the_distance() {
    let mut random = Random::new(13);
    for (mesh, half) in
        [(sphere(0.1, 24), 0.1), (torus(0.1, 0.02, 24), 0.12), (cuboid(Vec3::new(0.1, 0.02, 0.05)), 0.1)]
    {
        for cell in [0.004, 0.01, 0.03] {
            let shape = shape(&mesh, cell, MeshQuery::Exact);
            let mut slack = 0.0;
            for _ in 0..20_000 {
                let p = random.point(2.5 * half);
                let (bound, truth) = (shape.grid().clearance(p), shape.closest(p).unwrap().distance);
                assert!(bound <= truth + 1e-6, "{p}: {bound} > {truth} with cells of {cell}");
                if truth > 0.0 && truth < (BAND - 2.0) * cell {
                    slack = f32::max(slack, truth - bound);
                }
            }
            assert!(slack < 2.5 * cell, "{slack} of cells of {cell}");
        }
    }
}

#[test]
fn points_deep_inside_a_rigid_mesh_know_its_velocity_without_a_search() {
    let mesh = Shape::Mesh(shape(&sphere(0.1, 24), 0.005, MeshQuery::Exact));
    let mut bodies = Bodies::new(vec![Body::new("ball", mesh, 0.0).unwrap()]);
    let pose = |x: f64| Pose { translation: glam::DVec3::new(x, 0.3, 0.1), ..Pose::IDENTITY };
    bodies.begin_step(&[Motion::Rigid { start: pose(0.0), end: pose(0.1) }], 0.1).unwrap();
    let obstacles = bodies.at(1.0);
    let (mut random, mut deep) = (Random::new(15), 0);
    for _ in 0..3000 {
        let p = Vec3::new(0.1, 0.3, 0.1) + random.point(0.15);
        let truth = -obstacles.closest(0, p).unwrap().distance;
        match obstacles.deep_velocity(0, p) {
            Some((depth, velocity)) => {
                deep += 1;
                assert!(depth > 0.01 && depth <= truth, "{depth} {truth}");
                assert!(velocity.distance(Vec3::X) < 1e-5, "{velocity}");
            }
            None => assert!(truth < (BAND + 2.0) * 0.005, "{truth}"),
        }
    }
    assert!(deep > 100, "{deep}");
}

#[test]
fn bodies_have_the_clearance_of_the_nearest_for_one_point_and_for_many() {
    let mesh = Shape::Mesh(shape(&sphere(0.1, 24), 0.005, MeshQuery::Exact));
    let shapes = [
        Shape::Plane,
        Shape::Sphere { radius: 0.05 },
        Shape::Capsule { radius: 0.03, half_height: 0.1 },
        mesh.clone(),
        mesh,
    ];
    let mut bodies = Bodies::new(shapes.into_iter().map(|s| Body::new("b", s, 0.0).unwrap()).collect());
    let pose = |x: f64| Pose { translation: glam::DVec3::new(x, 0.3, 0.1), ..Pose::IDENTITY };
    let points: Vec<Vec3> =
        sphere(0.1, 24).points.iter().map(|&p| p * 1.2 + Vec3::new(-0.3, 0.2, 0.0)).collect();
    let lifted: Vec<Vec3> = points.iter().map(|&p| p + Vec3::new(0.0, 0.15, p.y)).collect();
    let motions = [
        Motion::still(Pose::IDENTITY),
        Motion::Rigid { start: pose(0.0), end: pose(0.1) },
        Motion::still(pose(0.3)),
        Motion::Rigid { start: pose(0.5), end: pose(0.6) },
        Motion::Deforming { start: &points, end: &lifted },
    ];
    bodies.begin_step(&motions, 0.1).unwrap();
    let mut random = Random::new(14);
    let at: Vec<Vec3> = (0..3000).map(|_| random.point(1.0)).collect();
    let [xs, ys, zs] = [0, 1, 2].map(|axis| at.iter().map(|p| p[axis]).collect::<Vec<f32>>());
    let mut many = vec![0.0; at.len()];
    for t in [0.3, 1.0] {
        let bodies = bodies.at(t);
        bodies.clearance_batch(&xs, &ys, &zs, &mut many);
        for (&p, &bound) in at.iter().zip(&many) {
            assert_eq!(bound, bodies.clearance(p));
            let exact = (0..5).map(|body| match bodies.closest(body, p) {
                Some(hit) => hit.distance,
                None => bodies.sample(body, p).distance,
            });
            let truth = exact.fold(f32::INFINITY, f32::min);
            assert!(bound <= truth + 1e-6, "{bound} {truth}");
            assert!(truth < 0.3 || bound > 0.0);
        }
    }
}

#[test]
fn velocities_spread_through_the_band() {
    let small = sphere(0.1, 48);
    let end: Vec<Vec3> = small.points.iter().map(|&p| p * 1.05).collect();
    for query in [MeshQuery::Exact, MeshQuery::Grid] {
        let mesh = Shape::Mesh(shape(&small, 0.005, query));
        let mut bodies = Bodies::new(vec![Body::new("b", mesh, 0.0).unwrap()]);
        bodies.begin_step(&[Motion::Deforming { start: &small.points, end: &end }], 0.01).unwrap();
        let (mut random, end) = (Random::new(15), bodies.at(1.0));
        for _ in 0..2000 {
            let direction = random.point(1.0).normalize();
            let p = direction * (0.105 + 0.018 * random.signed());
            let sample = end.sample(0, p);
            assert!((sample.distance - (p.length() - 0.105)).abs() < 0.002);
            assert!(sample.normal.dot(direction) > 0.98, "{}", sample.normal.dot(direction));
            assert!(sample.velocity.distance(direction * 0.5) < 0.06, "{} {direction}", sample.velocity);
        }
    }
}

#[test]
fn a_huge_mesh_with_tiny_cells_keeps_its_memory() {
    let mut mesh = cuboid(Vec3::new(900.0, 1.0, 5.0));
    mesh.points.extend([Vec3::splat(-9e5), Vec3::new(-9e5, -9e5, -8e5), Vec3::new(-9e5, -8e5, -9e5)]);
    mesh.triangles.push([8, 9, 10]);
    let shape = shape(&mesh, 1e-6, MeshQuery::Exact);
    let nodes: usize = shape.grid().nodes().iter().product();
    assert!(nodes <= 1 << 21 && nodes > 1 << 19, "{nodes}");
    assert!((shape.closest(Vec3::new(0.0, 1.5, 0.0)).unwrap().distance - 0.5).abs() < 1e-4);
    let refused = MeshShape::new(&mesh, MeshSettings { cell: Some(0.0), ..Default::default() });
    assert!(matches!(refused, Err(BodyError::BadCell { .. })));
}

#[test]
fn the_grid_has_the_same_bits_on_any_number_of_threads() {
    let mesh = torus(0.2, 0.07, 40);
    let end: Vec<Vec3> = mesh.points.iter().map(|&p| p + Vec3::new(p.y, 0.3 * p.z, -p.x) * 0.1).collect();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let body = Body::new("b", Shape::Mesh(shape(&mesh, 0.01, MeshQuery::Grid)), 0.0).unwrap();
            let mut bodies = Bodies::new(vec![body]);
            bodies.begin_step(&[Motion::Deforming { start: &mesh.points, end: &end }], 0.01).unwrap();
            let (mut random, halfway) = (Random::new(16), bodies.at(0.5));
            let end = bodies.at(1.0);
            let bits = |v: Vec3| v.to_array().map(f32::to_bits);
            let sample = |p: Vec3| {
                [&halfway, &end].map(|bodies| {
                    let Sample { distance, normal, velocity } = bodies.sample(0, p);
                    (distance.to_bits(), bits(normal), bits(velocity), bodies.clearance(p).to_bits())
                })
            };
            (0..3000).map(|_| sample(random.point(0.3))).collect::<Vec<_>>()
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(5));
}

#[test]
fn a_mesh_may_collapse_or_be_one_triangle() {
    let whole = sphere(0.1, 12);
    let point = vec![Vec3::splat(0.3); whole.points.len()];
    let single = TriMesh { points: vec![Vec3::ZERO, Vec3::Z, Vec3::X], triangles: vec![[0, 1, 2]] };
    let lifted: Vec<Vec3> = single.points.iter().map(|&p| p + Vec3::Y).collect();
    let body = |mesh: &TriMesh| {
        let shape = MeshShape::new(mesh, MeshSettings::default()).unwrap();
        Body::new("b", Shape::Mesh(shape), 0.0).unwrap()
    };
    let mut bodies = Bodies::new(vec![body(&whole), body(&single)]);
    let motions = [
        Motion::Deforming { start: &whole.points, end: &point },
        Motion::Deforming { start: &single.points, end: &lifted },
    ];
    bodies.begin_step(&motions, 0.5).unwrap();
    let mut random = Random::new(18);
    let [first, half, between, last] = [0.0, 0.5, 0.7, 1.0].map(|t| bodies.at(t));
    for _ in 0..500 {
        let p = random.point(0.5);
        for moment in [&first, &between, &last] {
            let sample = moment.sample(0, p);
            assert!(sample.distance.is_finite() && sample.velocity.is_finite());
            assert!((sample.normal.length() - 1.0).abs() < 1e-5);
        }
        let end = last.sample(0, p).distance;
        assert!((end.abs() - p.distance(Vec3::splat(0.3))).abs() < 1e-6);
    }
    // The grid reads to a part of its cell; the triangle itself is exact.
    let (up, down) = (Vec3::new(0.2, 1.1, 0.3), Vec3::new(0.2, 0.4, 0.3));
    assert!((last.closest(1, up).unwrap().distance - 0.1).abs() < 1e-6);
    assert!((half.closest(1, down).unwrap().distance + 0.1).abs() < 1e-6);
    let Shape::Mesh(shape) = &bodies.body(1).shape else { unreachable!() };
    let coarse = 0.5 * shape.grid().cell();
    let above = last.sample(1, up);
    assert!((above.distance - 0.1).abs() < coarse && above.normal.dot(Vec3::Y) > 0.99);
    assert!(above.velocity.distance(Vec3::Y * 2.0) < 1e-5);
    let below = half.sample(1, down);
    assert!((below.distance + 0.1).abs() < coarse && below.velocity.distance(Vec3::Y * 2.0) < 1e-5);
}
