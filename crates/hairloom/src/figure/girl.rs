use glam::Vec3;
use rayon::prelude::*;

use super::head::{Face, comb, head_share, scalp, sculpt_head, sculpt_neck};
use super::mesher::{self, Grid, axis, mirrored_axis};
use super::motion::Motion;
use super::sculpt::{Sculpt, below, cone, ellipsoid};
use super::{Bone, BoneWeights, Figure, Parts, assemble, smoothstep};

/// Middle of the head [m].
const HEAD: Vec3 = Vec3::new(0.0, 1.505, 0.0);
/// Her head against that of the bust.
const SCALE: Vec3 = Vec3::new(0.88, 0.925, 0.90);
const FACE: Face = Face { jaw: 0.86, chin: 0.80, brow: 0.7, eyes: 1.10, nose: 0.78, lips: 1.02, neck: 0.80 };
const SKIN: [f32; 3] = [0.78, 0.55, 0.45];
const DRESS: [f32; 3] = [0.10, 0.16, 0.30];

const HIPS: usize = 0;
const CHEST: usize = 1;
const HEAD_BONE: usize = 2;
const ARM: [usize; 2] = [3, 4];
const FOREARM: [usize; 2] = [5, 6];

/// A slim young woman in a dress, from the hips up, 1.6 m above the ground; motions `dance`, `walk`, `turn` and `idle`.
pub fn girl() -> Figure {
    let mut s = Sculpt::new(SKIN);
    s.place(HEAD, SCALE);
    sculpt_head(&mut s, HEAD_BONE as u16, FACE);
    sculpt_neck(&mut s, CHEST as u16, FACE);
    s.place(Vec3::ZERO, Vec3::ONE);
    sculpt_body(&mut s);
    sculpt_arms(&mut s);
    let mesh = mesher::mesh(&s, &grid(), 7);
    let normals = mesh.vertex_normals();
    let local: Vec<Vec3> = mesh.points.iter().map(|&p| (p - HEAD) / SCALE).collect();
    let weights: Vec<BoneWeights> =
        mesh.points.par_iter().zip(&local).map(|(&p, &local)| bone_weights(&s, p, local)).collect();
    let hair = |p: Vec3| if p.y > -0.15 { scalp(p) } else { 0.0 };
    assemble(Parts {
        name: "girl",
        scalp: local.iter().map(|&p| hair(p)).collect(),
        comb: local.iter().zip(&normals).map(|(&p, &n)| comb(p, n)).collect(),
        colour: mesh.points.iter().zip(&weights).map(|(&p, weights)| colour(p, weights)).collect(),
        bones: bones(),
        weights,
        head: HEAD_BONE,
        cycles: vec![dance(), walk(), turn(), idle()],
        mesh,
    })
}

fn sculpt_body(s: &mut Sculpt) {
    let (chest, hips) = (CHEST as u16, HIPS as u16);
    s.single(chest);
    s.add(ellipsoid([0.0, 1.205, -0.030], [0.118, 0.130, 0.080]), 0.04);
    s.mirrored(chest, chest);
    s.add(cone([0.015, 1.375, -0.042], [0.125, 1.288, -0.036], 0.022, 0.022), 0.045);
    s.add(ellipsoid([0.138, 1.272, -0.032], [0.036, 0.042, 0.040]), 0.035);
    s.add(cone([0.015, 1.312, 0.012], [0.115, 1.306, -0.015], 0.007, 0.006), 0.04);
    s.add(ellipsoid([0.052, 1.185, 0.022], [0.050, 0.056, 0.036]), 0.045);
    s.single(chest);
    s.add(ellipsoid([0.0, 1.140, -0.022], [0.108, 0.090, 0.076]), 0.03);
    s.single(hips);
    s.add(ellipsoid([0.0, 1.020, -0.022], [0.098, 0.120, 0.074]), 0.06);
    s.add(ellipsoid([0.0, 0.870, -0.028], [0.148, 0.120, 0.100]), 0.09);
    s.add(cone([0.0, 0.84, -0.024], [0.0, 0.68, -0.020], 0.118, 0.140), 0.09);
    s.keep(below([0.0, 0.78, 0.0], [0.0, -1.0, 0.0]), 0.03);
}

fn sculpt_arms(s: &mut Sculpt) {
    s.colour(SKIN);
    s.mirrored(ARM[0] as u16, ARM[1] as u16);
    s.add(cone([0.150, 1.268, -0.032], [0.205, 1.045, -0.035], 0.037, 0.029), 0.025);
    s.mirrored(FOREARM[0] as u16, FOREARM[1] as u16);
    s.add(cone([0.205, 1.045, -0.035], [0.240, 0.840, 0.010], 0.030, 0.019), 0.012);
    s.add(cone([0.241, 0.830, 0.012], [0.249, 0.745, 0.034], 0.022, 0.014), 0.02);
    s.add(cone([0.240, 0.815, 0.024], [0.238, 0.770, 0.050], 0.011, 0.009), 0.01);
}

fn bones() -> Vec<Bone> {
    let bone = |name, parent, pivot: [f32; 3]| Bone { name, parent, pivot: pivot.into() };
    vec![
        bone("hips", None, [0.0, 0.90, -0.02]),
        bone("chest", Some(HIPS), [0.0, 1.06, -0.02]),
        bone("head", Some(CHEST), [0.0, 1.40, -0.022]),
        bone("arm.left", Some(CHEST), [0.148, 1.272, -0.032]),
        bone("arm.right", Some(CHEST), [-0.148, 1.272, -0.032]),
        bone("forearm.left", Some(ARM[0]), [0.205, 1.045, -0.035]),
        bone("forearm.right", Some(ARM[1]), [-0.205, 1.045, -0.035]),
    ]
}

fn bone_weights(s: &Sculpt, p: Vec3, local: Vec3) -> BoneWeights {
    let share = head_share(local);
    if p.x.abs() < 0.1 && p.y > 1.25 {
        return BoneWeights::two(CHEST as u16, HEAD_BONE as u16, share);
    }
    s.bone_weights(p, 0.018)
}

/// Skin, and a sleeveless dress with a round neckline.
fn colour(p: Vec3, weights: &BoneWeights) -> Vec3 {
    let arm: f32 = weights.bones.iter().zip(weights.weights).filter(|(b, _)| **b > 2).map(|(_, w)| w).sum();
    let neckline = 1.222 + 6.0 * p.x * p.x + if p.z < -0.03 { 0.03 } else { 0.0 };
    let dress = smoothstep(0.004, -0.004, p.y - neckline) * smoothstep(0.55, 0.45, arm);
    Vec3::from(SKIN).lerp(DRESS.into(), dress)
}

/// Fine at the face, coarse at the dress.
fn grid() -> Grid {
    let x = mirrored_axis(0.30, |x| 0.0046 + 0.0075 * smoothstep(0.02, 0.08, x));
    let y = axis(0.70, 1.65, |y| {
        let local = (y - HEAD.y) / SCALE.y;
        let mouth = smoothstep(-0.090, -0.080, local) * smoothstep(-0.046, -0.054, local);
        let body = smoothstep(-0.13, -0.20, local);
        0.0050 - 0.0014 * mouth + 0.008 * body + 0.005 * smoothstep(0.01, 0.06, local)
    });
    let z = axis(-0.19, 0.17, |z| 0.0065 + 0.005 * smoothstep(-0.03, -0.06, z));
    Grid::new(x, y, z)
}

/// A slow dance: the hips sway, the chest answers, the arms swing out, the head follows with turns.
fn dance() -> Motion {
    let mut m = Motion::new("dance", 2.4, 1.5)
        .shift(HIPS, Vec3::X, (0.0, 0.035, 1.0, 0.0))
        .shift(HIPS, Vec3::Y, (0.0, 0.012, 2.0, 0.25))
        .turn(HIPS, Vec3::Y, (0.0, 16.0, 1.0, 0.10))
        .turn(HIPS, Vec3::Z, (0.0, 2.5, 1.0, 0.0))
        .turn(CHEST, Vec3::Z, (0.0, 9.0, 1.0, 0.5))
        .turn(CHEST, Vec3::Y, (0.0, 14.0, 1.0, 0.05))
        .turn(CHEST, Vec3::X, (3.0, 6.0, 2.0, 0.2))
        .turn(HEAD_BONE, Vec3::Y, (0.0, 30.0, 1.0, 0.0))
        .turn(HEAD_BONE, Vec3::Z, (0.0, 9.0, 1.0, 0.6))
        .turn(HEAD_BONE, Vec3::X, (-2.0, 8.0, 2.0, 0.45));
    for (side, sign) in [(0, 1.0), (1, -1.0)] {
        let phase = 0.5 * side as f64;
        m = m
            .turn(ARM[side], Vec3::Z, (sign * 22.0, sign * 14.0, 1.0, phase))
            .turn(ARM[side], Vec3::X, (-6.0, 18.0, 1.0, phase + 0.2))
            .turn(FOREARM[side], Vec3::X, (-38.0, 20.0, 1.0, phase + 0.1));
    }
    m
}

/// Walking on the spot.
fn walk() -> Motion {
    let mut m = Motion::new("walk", 1.1, 0.8)
        .shift(HIPS, Vec3::Y, (0.0, 0.018, 2.0, 0.25))
        .shift(HIPS, Vec3::X, (0.0, 0.015, 1.0, 0.0))
        .turn(HIPS, Vec3::Y, (0.0, 6.0, 1.0, 0.25))
        .turn(CHEST, Vec3::Y, (0.0, 10.0, 1.0, 0.75))
        .turn(CHEST, Vec3::X, (3.0, 1.5, 2.0, 0.3))
        .turn(HEAD_BONE, Vec3::Y, (0.0, 4.0, 1.0, 0.25))
        .turn(HEAD_BONE, Vec3::X, (-2.0, 2.5, 2.0, 0.55));
    for (side, sign) in [(0, 1.0), (1, -1.0)] {
        let phase = 0.25 + 0.5 * side as f64;
        m = m
            .turn(ARM[side], Vec3::Z, (sign * 5.0, 0.0, 1.0, 0.0))
            .turn(ARM[side], Vec3::X, (0.0, 22.0, 1.0, phase))
            .turn(FOREARM[side], Vec3::X, (-18.0, 14.0, 1.0, phase + 0.5));
    }
    m
}

/// Quick turns of the head to both sides, the shoulders following a little.
fn turn() -> Motion {
    Motion::new("turn", 1.6, 0.6)
        .turn(CHEST, Vec3::Y, (0.0, 8.0, 1.0, 0.97))
        .turn(HEAD_BONE, Vec3::Y, (0.0, 50.0, 1.0, 0.0))
        .turn(HEAD_BONE, Vec3::X, (3.0, 5.0, 2.0, 0.25))
}

/// Standing and breathing.
fn idle() -> Motion {
    Motion::new("idle", 4.0, 1.0)
        .turn(CHEST, Vec3::X, (-0.5, 1.2, 1.0, 0.0))
        .turn(CHEST, Vec3::Z, (0.0, 1.0, 1.0, 0.2))
        .turn(HEAD_BONE, Vec3::Y, (0.0, 6.0, 1.0, 0.1))
        .turn(HEAD_BONE, Vec3::X, (1.0, 2.0, 1.0, 0.4))
}
