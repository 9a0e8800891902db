//! Exact mesh queries.

use glam::Vec2;

use super::super::*;
use super::{Random, cuboid, sphere, torus};

fn shape(mesh: &TriMesh) -> MeshShape {
    MeshShape::new(mesh, MeshSettings::default()).unwrap()
}

/// The closest point of a triangle by a fine search, independent of the Voronoi regions.
fn searched_distance(p: Vec3, [a, b, c]: [Vec3; 3]) -> f32 {
    let on_segment = |u: Vec3, v: Vec3| {
        let w = ((p - u).dot(v - u) / (v - u).length_squared()).clamp(0.0, 1.0);
        p.distance(u + (v - u) * w)
    };
    let edges = on_segment(a, b).min(on_segment(b, c)).min(on_segment(c, a));
    let n = (b - a).cross(c - a).normalize();
    let foot = p - n * n.dot(p - a);
    let side = |u: Vec3, v: Vec3| (v - u).cross(foot - u).dot(n) >= 0.0;
    if side(a, b) && side(b, c) && side(c, a) { edges.min(p.distance(foot)) } else { edges }
}

#[test]
fn closest_points_of_random_triangles_match_brute_force() {
    let mut random = Random::new(1);
    for _ in 0..20 {
        let points: Vec<Vec3> = (0..60).map(|_| random.point(0.5)).collect();
        let triangles = (0..20).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let mesh = TriMesh { points, triangles };
        let shape = shape(&mesh);
        for _ in 0..200 {
            let p = random.point(1.0);
            let truth = (0..20).map(|t| searched_distance(p, mesh.corners(t))).fold(f32::INFINITY, f32::min);
            let hit = shape.closest(p).unwrap();
            assert!((hit.distance.abs() - truth).abs() < 2e-6, "{p}: {} {truth}", hit.distance);
            let [a, b, c] = mesh.corners(hit.triangle);
            let from_weights = a * hit.weights[0] + b * hit.weights[1] + c * hit.weights[2];
            assert!(from_weights.distance(hit.point) < 1e-6);
            assert!((p - hit.point).distance(hit.normal * hit.distance) < 1e-5);
        }
    }
}

#[test]
fn inside_and_outside_of_a_box() {
    let half = Vec3::new(0.3, 0.1, 0.2);
    let shape = shape(&cuboid(half));
    assert!(shape.is_closed());
    let mut random = Random::new(2);
    for _ in 0..5000 {
        let p = random.point(0.5);
        let q = p.abs() - half;
        let truth = q.max(Vec3::ZERO).length() + q.max_element().min(0.0);
        let hit = shape.closest(p).unwrap();
        assert!((hit.distance - truth).abs() < 1e-6, "{p}: {} {truth}", hit.distance);
    }
}

#[test]
fn inside_and_outside_of_a_torus_with_split_vertices() {
    let mut mesh = torus(0.3, 0.1, 48);
    // Every triangle gets its own vertices: only welding tells that the surface is closed.
    mesh.points = mesh.triangles.iter().flat_map(|t| t.map(|v| mesh.points[v as usize])).collect();
    mesh.triangles = (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let shape = shape(&mesh);
    assert!(shape.is_closed());
    let mut random = Random::new(3);
    for _ in 0..5000 {
        let p = random.point(0.45);
        let truth = Vec2::new(Vec2::new(p.x, p.z).length() - 0.3, p.y).length() - 0.1;
        let distance = shape.closest(p).unwrap().distance;
        // Chords of 1/48 turn lie up to 0.4 (1 - cos(π/48)) inside the round torus, in each direction.
        assert!((distance - truth).abs() < 2e-3, "{p}: {distance} {truth}");
    }
}

#[test]
fn a_bust_cut_open_makes_no_solid_column_below_the_cut() {
    let mut mesh = cuboid(Vec3::splat(0.2));
    // Without the two triangles of the bottom.
    mesh.triangles.retain(|t| t.iter().any(|&v| mesh.points[v as usize].y > 0.0));
    let shape = shape(&mesh);
    assert!(!shape.is_closed());
    assert!(shape.closest(Vec3::ZERO).unwrap().distance < 0.0);
    assert!(shape.closest(Vec3::new(0.0, -1.0, 0.0)).unwrap().distance > 0.0);
    assert!(shape.closest(Vec3::new(0.5, -0.5, 0.0)).unwrap().distance > 0.0);
}

#[test]
fn bad_meshes_are_refused_by_name() {
    let good = cuboid(Vec3::ONE);
    let new = |mesh: &TriMesh| MeshShape::new(mesh, MeshSettings::default());
    assert_eq!(new(&TriMesh::default()).unwrap_err(), BodyError::NoTriangles);
    let mut bad = good.clone();
    bad.points[5].y = f32::NAN;
    assert_eq!(new(&bad).unwrap_err(), BodyError::BadVertex { vertex: 5 });
    let mut bad = good.clone();
    bad.triangles[3][1] = 8;
    assert_eq!(new(&bad).unwrap_err(), BodyError::VertexOutOfRange { triangle: 3, vertex: 8, count: 8 });
    let mut degenerate = good.clone();
    degenerate.triangles.insert(4, [1, 1, 2]);
    degenerate.triangles.push([0, 7, 7]);
    let shape = new(&degenerate).unwrap();
    assert!(shape.is_closed());
    assert!((shape.closest(Vec3::new(3.0, 0.1, 0.2)).unwrap().distance - 2.0).abs() < 1e-6);
}

#[test]
fn a_sphere_mesh_is_close_to_the_round_sphere() {
    let shape = shape(&sphere(0.1, 48));
    assert!(shape.is_closed());
    let mut random = Random::new(4);
    for _ in 0..5000 {
        let p = random.point(0.2);
        let hit = shape.closest(p).unwrap();
        assert!((hit.distance - (p.length() - 0.1)).abs() < 3e-4);
        if hit.distance > 1e-3 {
            assert!(hit.normal.dot(p.normalize()) > 0.998);
        }
    }
}
