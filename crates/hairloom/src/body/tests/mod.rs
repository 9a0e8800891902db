//! Bodies against closed forms and brute force.

mod exact;
mod grid;
mod shapes;

use std::f32::consts::{PI, TAU};

use glam::Vec3;

use super::TriMesh;

/// A small generator of uniform numbers (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in [-1, 1).
    pub(super) fn signed(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// Uniform in a cube around the origin.
    pub(super) fn point(&mut self, half: f32) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed()) * half
    }
}

/// A sphere of `rings` × 2 `rings` quads around the origin, its vertices on the sphere.
pub(super) fn sphere(radius: f32, rings: u32) -> TriMesh {
    let sectors = 2 * rings;
    let mut mesh = TriMesh { points: vec![Vec3::Y * radius, Vec3::NEG_Y * radius], triangles: Vec::new() };
    for ring in 1..rings {
        for sector in 0..sectors {
            let (theta, phi) = (PI * ring as f32 / rings as f32, TAU * sector as f32 / sectors as f32);
            let across = theta.sin();
            mesh.points.push(Vec3::new(across * phi.cos(), theta.cos(), -across * phi.sin()) * radius);
        }
    }
    let at = |ring: u32, sector: u32| match ring {
        0 => 0,
        r if r == rings => 1,
        r => 2 + (r - 1) * sectors + sector % sectors,
    };
    for ring in 0..rings {
        for sector in 0..sectors {
            let (a, b) = (at(ring, sector), at(ring, sector + 1));
            let (c, d) = (at(ring + 1, sector), at(ring + 1, sector + 1));
            // At a pole one side of the quad has no length.
            mesh.triangles
                .extend([[a, c, d], [a, d, b]].into_iter().filter(|t| t[0] != t[2] && t[1] != t[2]));
        }
    }
    mesh
}

/// A closed box around the origin.
pub(super) fn cuboid(half: Vec3) -> TriMesh {
    let corner = |i: u32| {
        let side = |bit: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        Vec3::new(side(0), side(1), side(2)) * half
    };
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    TriMesh { points: (0..8).map(corner).collect(), triangles }
}

/// A torus around the y axis.
pub(super) fn torus(ring: f32, tube: f32, segments: u32) -> TriMesh {
    let at = |i: u32, j: u32| (i % segments) * segments + j % segments;
    let mut mesh = TriMesh::default();
    for i in 0..segments {
        for j in 0..segments {
            let (u, v) = (TAU * i as f32 / segments as f32, TAU * j as f32 / segments as f32);
            let out = ring + tube * v.cos();
            mesh.points.push(Vec3::new(out * u.cos(), tube * v.sin(), -out * u.sin()));
            mesh.triangles.extend([
                [at(i, j), at(i + 1, j), at(i + 1, j + 1)],
                [at(i, j), at(i + 1, j + 1), at(i, j + 1)],
            ]);
        }
    }
    mesh
}
