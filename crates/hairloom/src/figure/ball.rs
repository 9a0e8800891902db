use std::collections::BTreeMap;

use glam::Vec3;

use super::{Bone, BoneWeights, Figure, Parts, along_surface, assemble, smoothstep};
use crate::body::TriMesh;

/// A sphere of `radius` \[m\] around the origin, hair on its upper half up to a hard edge.
pub fn ball(radius: f32) -> Figure {
    ball_with_edge(radius, 0.0)
}

/// A sphere of `radius` \[m\] around the origin; the hair of its upper half thins out over the height `edge` \[m\].
pub fn ball_with_edge(radius: f32, edge: f32) -> Figure {
    let mesh = icosphere(radius, 4);
    let normals = mesh.points.iter().map(|p| p.normalize_or(Vec3::Y));
    let density =
        |y: f32| if edge > 0.0 { smoothstep(-0.5 * edge, 0.5 * edge, y) } else { f32::from(y >= 0.0) };
    assemble(Parts {
        name: "ball",
        scalp: mesh.points.iter().map(|p| density(p.y)).collect(),
        comb: normals.map(|normal| along_surface(-Vec3::Y, normal)).collect(),
        colour: vec![Vec3::new(0.6, 0.42, 0.33); mesh.points.len()],
        bones: vec![Bone { name: "head", parent: None, pivot: Vec3::ZERO }],
        weights: vec![BoneWeights::one(0); mesh.points.len()],
        head: 0,
        cycles: Vec::new(),
        mesh,
    })
}

/// An icosahedron, each triangle cut in four `levels` times, blown up to a sphere.
fn icosphere(radius: f32, levels: u32) -> TriMesh {
    let golden = 0.5 * (1.0 + 5.0_f32.sqrt());
    let mut points: Vec<Vec3> = Vec::new();
    for (one, long) in [(1.0, golden), (1.0, -golden), (-1.0, golden), (-1.0, -golden)] {
        points.extend([Vec3::new(0.0, one, long), Vec3::new(one, long, 0.0), Vec3::new(long, 0.0, one)]);
    }
    let mut triangles = hull(&points);
    for _ in 0..levels {
        triangles = subdivide(&mut points, &triangles);
    }
    points.iter_mut().for_each(|p| *p = p.normalize() * radius);
    TriMesh { points, triangles }
}

/// The faces of the icosahedron: all triples at the edge length 2, wound outwards.
fn hull(points: &[Vec3]) -> Vec<[u32; 3]> {
    let joined = |a: usize, b: usize| (points[a].distance(points[b]) - 2.0).abs() < 1e-3;
    let mut faces = Vec::new();
    for a in 0..points.len() {
        for b in a + 1..points.len() {
            for c in b + 1..points.len() {
                if joined(a, b) && joined(b, c) && joined(c, a) {
                    let volume = points[a].dot(points[b].cross(points[c]));
                    let [a, b, c] = [a as u32, b as u32, c as u32];
                    faces.push(if volume > 0.0 { [a, b, c] } else { [a, c, b] });
                }
            }
        }
    }
    faces
}

fn subdivide(points: &mut Vec<Vec3>, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut middles = BTreeMap::new();
    let mut middle = |a: u32, b: u32| {
        *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
            let sum = points[a as usize] + points[b as usize];
            points.push(sum.normalize() * points[a as usize].length());
            points.len() as u32 - 1
        })
    };
    let mut out = Vec::with_capacity(4 * triangles.len());
    for &[a, b, c] in triangles {
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        out.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    out
}
