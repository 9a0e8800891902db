//! Bodies in motion.

use glam::{DQuat, DVec3};

use super::super::*;
use super::{Random, cuboid, sphere};
use crate::math::Pose;

fn body(shape: Shape) -> Body {
    Body::new("body", shape, 0.3).unwrap()
}

fn mesh(mesh: &TriMesh) -> Shape {
    Shape::Mesh(MeshShape::new(mesh, MeshSettings::default()).unwrap())
}

fn turning() -> (Pose, Pose, f64) {
    let start = Pose { rotation: DQuat::from_rotation_z(0.4), translation: DVec3::new(0.1, 1.5, -0.2) };
    let end = Pose {
        rotation: DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 0.2) * start.rotation,
        translation: DVec3::new(0.13, 1.52, -0.2),
    };
    (start, end, 0.01)
}

/// The velocity of the material of a turning body at a place of the world and a fraction of the step, by differences.
fn material_velocity(start: &Pose, end: &Pose, duration: f64, place: Vec3, t: f64) -> Vec3 {
    let local = start.interpolate(end, t).apply_inverse(place.as_dvec3());
    let at = |t: f64| start.interpolate(end, t).apply(local);
    ((at(t + 1e-4) - at(t - 1e-4)) / (2e-4 * duration)).as_vec3()
}

#[test]
fn capsule_has_its_closed_form() {
    let mut bodies = Bodies::new(vec![body(Shape::Capsule { radius: 0.1, half_height: 0.3 })]);
    let (start, end, duration) = turning();
    bodies.begin_step(&[Motion::Rigid { start, end }], duration).unwrap();
    let mut random = Random::new(5);
    for _ in 0..1000 {
        let local = random.point(0.6);
        let t = random.signed().abs();
        let world = start.interpolate(&end, f64::from(t)).apply(local.as_dvec3()).as_vec3();
        let core = Vec3::Y * local.y.clamp(-0.3, 0.3);
        let bodies = bodies.at(f64::from(t));
        let sample = bodies.sample(0, world);
        assert!((sample.distance - (local.distance(core) - 0.1)).abs() < 2e-6);
        // The gradient of the distance.
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let along = |s: f32| bodies.sample(0, world + axis * s).distance;
            assert!(((along(1e-3) - along(-1e-3)) / 2e-3 - sample.normal.dot(axis)).abs() < 5e-2);
        }
        let surface = world - sample.normal * sample.distance;
        let velocity = material_velocity(&start, &end, duration, surface, f64::from(t));
        assert!(sample.velocity.distance(velocity) < 2e-3, "{} {velocity}", sample.velocity);
    }
}

#[test]
fn plane_and_sphere_and_the_nearest_of_them() {
    let mut bodies = Bodies::new(vec![body(Shape::Plane), body(Shape::Sphere { radius: 0.5 })]);
    let lifted = Pose { rotation: DQuat::IDENTITY, translation: DVec3::new(0.0, 2.0, 0.0) };
    let higher = Pose { translation: DVec3::new(0.0, 2.1, 0.0), ..lifted };
    let motions = [Motion::still(Pose::IDENTITY), Motion::Rigid { start: lifted, end: higher }];
    bodies.begin_step(&motions, 0.1).unwrap();
    let end = bodies.at(1.0);
    let (index, sample) = end.nearest(Vec3::new(0.3, 0.2, 0.0)).unwrap();
    assert_eq!((index, sample.normal, sample.velocity), (0, Vec3::Y, Vec3::ZERO));
    assert!((sample.distance - 0.2).abs() < 1e-6);
    let (index, sample) = end.nearest(Vec3::new(0.0, 1.4, 0.0)).unwrap();
    assert_eq!(index, 1);
    assert!((sample.distance - 0.2).abs() < 1e-6);
    assert!(sample.normal.distance(Vec3::NEG_Y) < 1e-6 && sample.velocity.distance(Vec3::Y) < 1e-5);
    assert!(Bodies::default().at(1.0).nearest(Vec3::ZERO).is_none());
    assert!(end.nearest(Vec3::splat(f32::NAN)).is_none());
}

#[test]
fn a_turning_sphere_mesh_moves_like_a_rigid_body() {
    let mut bodies = Bodies::new(vec![body(mesh(&sphere(0.1, 48)))]);
    let (start, end, duration) = turning();
    bodies.begin_step(&[Motion::Rigid { start, end }], duration).unwrap();
    let mut random = Random::new(6);
    for _ in 0..500 {
        let t = random.signed().abs();
        let centre = start.interpolate(&end, f64::from(t)).translation.as_vec3();
        let direction = random.point(1.0).normalize();
        let place = centre + direction * (0.1 + 0.02 * random.signed());
        let sample = bodies.at(f64::from(t)).sample(0, place);
        assert!((sample.distance - (place.distance(centre) - 0.1)).abs() < 3e-4);
        let surface = centre + direction * 0.1;
        let velocity = material_velocity(&start, &end, duration, surface, f64::from(t));
        // The facets tilt the closest point by some 0.5 mm, times 20 rad/s.
        assert!(sample.velocity.distance(velocity) < 3e-2, "{} {velocity}", sample.velocity);
    }
}

#[test]
fn a_breathing_sphere_mesh_pushes_outwards() {
    let small = sphere(0.1, 48);
    let centre = Vec3::new(0.0, 1.6, 0.2);
    let points =
        |radius: f32| -> Vec<Vec3> { small.points.iter().map(|p| centre + *p * (radius / 0.1)).collect() };
    let mut bodies = Bodies::new(vec![body(mesh(&small))]);
    let (start, end) = (points(0.1), points(0.11));
    bodies.begin_step(&[Motion::Deforming { start: &start, end: &end }], 0.02).unwrap();
    let mut random = Random::new(7);
    for t in [0.0, 0.01, 0.25, 0.7, 1.0] {
        let (radius, bodies) = (0.1 + 0.01 * t as f32, bodies.at(t));
        for _ in 0..500 {
            let direction = random.point(1.0).normalize();
            let place = centre + direction * (radius + 0.005 * random.signed());
            let sample = bodies.sample(0, place);
            assert!((sample.distance - (place.distance(centre) - radius)).abs() < 4e-4);
            assert!(sample.velocity.distance(direction * 0.5) < 0.02, "{}", sample.velocity);
        }
    }
}

#[test]
fn a_triangle_frame_rides_on_its_triangle() {
    let cube = cuboid(Vec3::splat(0.5));
    let mut bodies = Bodies::new(vec![body(mesh(&cube)), body(mesh(&cube)), body(Shape::Plane)]);
    let (start, end, duration) = turning();
    let moved = |pose: &Pose| -> Vec<Vec3> {
        cube.points.iter().map(|p| pose.apply(p.as_dvec3()).as_vec3()).collect()
    };
    let (from, to) = (moved(&start), moved(&end));
    let motions = [
        Motion::Rigid { start, end },
        Motion::Deforming { start: &from, end: &to },
        Motion::still(Pose::IDENTITY),
    ];
    bodies.begin_step(&motions, duration).unwrap();
    let weights = [0.2, 0.3, 0.5];
    for t in [0.0, 1.0] {
        let (pose, moment) = (start.interpolate(&end, t), bodies.at(t));
        for (triangle, &vertices) in cube.triangles.iter().enumerate() {
            let rigid = bodies.triangle_frame(0, triangle, weights, t).unwrap();
            let riding = bodies.triangle_frame(1, triangle, weights, t).unwrap();
            assert!(rigid.translation.distance(riding.translation) < 1e-6);
            assert!(rigid.rotation.dot(riding.rotation).abs() > 1.0 - 1e-9);
            let [a, b, c] = vertices.map(|v| cube.points[v as usize].as_dvec3());
            let normal = pose.rotation * (b - a).cross(c - a).normalize();
            assert!((rigid.rotation * DVec3::Y).distance(normal) < 1e-6);
            assert!((rigid.rotation * DVec3::X).distance(pose.rotation * (b - a).normalize()) < 1e-6);
            let hit = moment.closest(0, rigid.translation.as_vec3()).unwrap();
            assert!(hit.distance.abs() < 1e-6 && hit.normal.as_dvec3().distance(normal) < 1e-5);
        }
        let points = bodies.points(0, t);
        assert!(points.iter().zip(bodies.points(1, t)).all(|(a, b)| a.distance(b) < 1e-6));
    }
    assert!(bodies.triangle_frame(0, 12, weights, 0.0).is_none());
    assert!(bodies.triangle_frame(2, 0, weights, 0.0).is_none());
    assert_eq!(bodies.pose(0, 1.0), end);
}

#[test]
fn motions_that_do_not_fit_are_refused() {
    let cube = cuboid(Vec3::splat(0.5));
    let mut bodies = Bodies::new(vec![body(mesh(&cube)), body(Shape::Plane)]);
    let still = Motion::still(Pose::IDENTITY);
    let error = bodies.begin_step(&[still], 0.1).unwrap_err();
    assert_eq!(error, BodyError::MotionCount { bodies: 2, given: 1 });
    let deforming = Motion::Deforming { start: &cube.points, end: &cube.points[1..] };
    assert!(matches!(bodies.begin_step(&[deforming, still], 0.1), Err(BodyError::PointCount { end: 7, .. })));
    let deforming = Motion::Deforming { start: &cube.points, end: &cube.points };
    assert!(matches!(bodies.begin_step(&[still, deforming], 0.1), Err(BodyError::CannotDeform { .. })));
    let mut bad = cube.points.clone();
    bad[3].z = f32::INFINITY;
    let deforming = Motion::Deforming { start: &cube.points, end: &bad };
    let error = bodies.begin_step(&[deforming, still], 0.1).unwrap_err();
    assert_eq!(error, BodyError::BadMotion { body: "body".into(), vertex: Some(3) });
    assert!(Body::new("ball", Shape::Sphere { radius: -1.0 }, 0.3).is_err());
    assert!(Body::new("floor", Shape::Plane, f32::NAN).is_err());
}
