use std::f32::consts::TAU;

use glam::{Vec2, Vec3};

use super::super::{Curves, Groom, Root};
use super::spherical_uv;
use crate::math::Random;

const BALL_RADIUS: f32 = 0.09;
const LENGTH: f32 = 0.3;
const WIDTH: f32 = 7.4e-5;
const HELIX_RADIUS: f32 = 0.005;
const PITCH: f32 = 0.05;
const VERTICES: usize = 30;

/// The "hairy ball" of Daviet 2023 (section 5.2, after Kaufman et al. 2014): strands 30 cm long and 0.074 mm thick
/// on the top half of a ball of radius 9 cm about the origin, each a helix of radius 0.5 cm and pitch 5 cm that leaves
/// along the normal; 30 vertices. Roots lie on an even spiral and move rigidly with the ball.
pub fn hairy_ball(strands: usize, seed: u64) -> Groom {
    let random = Random::new(seed);
    let mut curves = Curves::default();
    let mut root_uv = Vec::with_capacity(strands);
    for strand in 0..strands {
        let mut random = random.fork(strand as u64);
        // Equal steps in height cut a sphere into equal areas; the golden angle spreads them around.
        let height = (strand as f32 + 0.5) / strands as f32;
        let angle = (strand as f64 * 2.399_963_229_728_653) as f32 + 0.1 * random.signed();
        let around = (1.0 - height * height).sqrt();
        let normal = Vec3::new(around * angle.cos(), height, around * angle.sin());
        root_uv.push(spherical_uv(normal, Vec3::Z));
        curves.push(helix(normal, TAU * random.unit()));
    }
    Groom {
        roots: vec![Root::Rigid; strands],
        widths: vec![WIDTH; curves.points.len()],
        root_uv,
        curves,
        ..Groom::default()
    }
}

/// A helix from the ball's surface whose first tangent is the normal: its axis leans away from it by the angle
/// of the helix.
fn helix(normal: Vec3, phase: f32) -> impl Iterator<Item = Vec3> {
    let advance = PITCH / TAU;
    // Arc length for one radian of turn.
    let speed = HELIX_RADIUS.hypot(advance);
    let (sin, cos) = phase.sin_cos();
    let (u, v) = normal.any_orthonormal_pair();
    let lean = Vec2::new(HELIX_RADIUS, advance) / speed;
    // At angle zero the helix heads along `lean.y` axis + `lean.x` binormal, which shall be the normal.
    let outward = u * cos + v * sin;
    let sideways = normal.cross(outward);
    let axis = normal * lean.y + sideways * lean.x;
    let binormal = normal * lean.x - sideways * lean.y;
    (0..VERTICES).map(move |k| {
        let angle = LENGTH * k as f32 / (VERTICES - 1) as f32 / speed;
        normal * BALL_RADIUS
            + outward * (HELIX_RADIUS * (angle.cos() - 1.0))
            + binormal * (HELIX_RADIUS * angle.sin())
            + axis * (advance * angle)
    })
}
