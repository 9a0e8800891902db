use glam::Vec3;
use rayon::prelude::*;

use super::mesher::{self, Grid, axis, mirrored_axis};
use super::motion::Motion;
use super::sculpt::{Sculpt, cone, ellipsoid, sphere};
use super::{Bone, Figure, Parts, along_surface, assemble, smoothstep};

const COAT: [f32; 3] = [0.55, 0.38, 0.22];
const DARK: [f32; 3] = [0.02, 0.018, 0.016];

const CHEST: usize = 0;
const LOIN: usize = 1;
const NECK: usize = 2;
const HEAD: usize = 3;
const EAR: [usize; 2] = [4, 5];
const UPPER_ARM: [usize; 2] = [6, 7];
const FOREARM: [usize; 2] = [8, 9];
const FORE_PAW: [usize; 2] = [10, 11];
const THIGH: [usize; 2] = [12, 13];
const SHANK: [usize; 2] = [14, 15];
const HIND_PAW: [usize; 2] = [16, 17];
const TAIL: [usize; 2] = [18, 19];

const EYE: Vec3 = Vec3::new(0.030, 0.898, 0.478);
const NOSE: Vec3 = Vec3::new(0.0, 0.846, 0.664);

/// A long-haired hound, 0.7 m at the shoulder; motions `trot`, `walk`, `shake` and `idle`.
pub fn dog() -> Figure {
    let mut s = Sculpt::new(COAT);
    sculpt_trunk(&mut s);
    sculpt_head(&mut s);
    sculpt_legs(&mut s);
    sculpt_tail(&mut s);
    let mesh = mesher::mesh(&s, &grid(), 8);
    let normals = mesh.vertex_normals();
    assemble(Parts {
        name: "dog",
        scalp: mesh.points.iter().map(|&p| fur(p)).collect(),
        comb: mesh.points.iter().zip(&normals).map(|(&p, &n)| comb(p, n)).collect(),
        colour: mesh.points.par_iter().map(|&p| s.colour_at(p, 0.002)).collect(),
        weights: mesh.points.par_iter().map(|&p| s.bone_weights(p, 0.022)).collect(),
        bones: bones(),
        head: HEAD,
        cycles: vec![trot(), walk(), shake(), idle()],
        mesh,
    })
}

fn pair(s: &mut Sculpt, bones: [usize; 2]) -> &mut Sculpt {
    s.mirrored(bones[0] as u16, bones[1] as u16)
}

fn sculpt_trunk(s: &mut Sculpt) {
    s.single(CHEST as u16);
    s.add(ellipsoid([0.0, 0.545, 0.150], [0.098, 0.150, 0.190]), 0.0);
    s.add(cone([0.0, 0.610, 0.20], [0.0, 0.605, 0.02], 0.088, 0.085), 0.06);
    s.add(ellipsoid([0.0, 0.520, 0.270], [0.060, 0.090, 0.060]), 0.06);
    s.single(LOIN as u16);
    s.add(cone([0.0, 0.605, 0.02], [0.0, 0.605, -0.20], 0.085, 0.080), 0.06);
    s.add(ellipsoid([0.0, 0.600, -0.250], [0.090, 0.095, 0.115]), 0.06);
    s.single(NECK as u16);
    s.add(cone([0.0, 0.630, 0.250], [0.0, 0.840, 0.385], 0.082, 0.052), 0.06);
}

fn sculpt_head(s: &mut Sculpt) {
    s.single(HEAD as u16);
    s.add(ellipsoid([0.0, 0.885, 0.425], [0.052, 0.050, 0.072]).turned([12.0, 0.0, 0.0]), 0.04);
    s.add(cone([0.0, 0.872, 0.470], [0.0, 0.848, 0.640], 0.036, 0.021), 0.03);
    s.add(cone([0.0, 0.845, 0.450], [0.0, 0.826, 0.615], 0.026, 0.015), 0.012);
    s.mirrored(HEAD as u16, HEAD as u16);
    // Brow over deep eyes.
    s.add(cone([0.022, 0.916, 0.470], [0.038, 0.908, 0.450], 0.011, 0.011), 0.015);
    s.carve(sphere([0.036, 0.898, 0.494], 0.012), 0.012);
    // The line of the lips.
    s.carve(cone([0.034, 0.846, 0.520], [0.018, 0.836, 0.640], 0.003, 0.003), 0.008);
    s.colour(DARK);
    s.add(sphere(EYE.to_array(), 0.0135), 0.003);
    s.single(HEAD as u16);
    s.add(ellipsoid(NOSE.to_array(), [0.0155, 0.0125, 0.013]), 0.006);
    s.colour(COAT);
    pair(s, EAR);
    s.add(cone([0.046, 0.902, 0.398], [0.082, 0.862, 0.398], 0.018, 0.020), 0.015);
    s.add(ellipsoid([0.092, 0.818, 0.398], [0.016, 0.080, 0.042]).turned([4.0, 0.0, 6.0]), 0.015);
}

fn sculpt_legs(s: &mut Sculpt) {
    pair(s, UPPER_ARM);
    s.add(cone([0.056, 0.600, 0.225], [0.076, 0.400, 0.165], 0.058, 0.040), 0.04);
    pair(s, FOREARM);
    s.add(cone([0.078, 0.400, 0.165], [0.082, 0.130, 0.185], 0.042, 0.027), 0.02);
    pair(s, FORE_PAW);
    s.add(cone([0.082, 0.130, 0.185], [0.083, 0.045, 0.195], 0.028, 0.026), 0.015);
    s.add(ellipsoid([0.083, 0.028, 0.220], [0.036, 0.028, 0.052]), 0.025);
    pair(s, THIGH);
    s.add(ellipsoid([0.058, 0.520, -0.250], [0.044, 0.130, 0.090]).turned([-12.0, 0.0, 4.0]), 0.04);
    s.add(cone([0.062, 0.530, -0.255], [0.080, 0.385, -0.195], 0.058, 0.046), 0.03);
    pair(s, SHANK);
    s.add(cone([0.080, 0.385, -0.195], [0.084, 0.190, -0.345], 0.046, 0.026), 0.02);
    pair(s, HIND_PAW);
    s.add(cone([0.086, 0.190, -0.345], [0.086, 0.045, -0.315], 0.028, 0.025), 0.012);
    s.add(ellipsoid([0.086, 0.028, -0.290], [0.034, 0.028, 0.050]), 0.025);
}

fn sculpt_tail(s: &mut Sculpt) {
    s.single(TAIL[0] as u16);
    s.add(cone([0.0, 0.635, -0.335], [0.0, 0.560, -0.450], 0.034, 0.024), 0.03);
    s.single(TAIL[1] as u16);
    s.add(cone([0.0, 0.560, -0.450], [0.0, 0.555, -0.550], 0.024, 0.020), 0.02);
    s.add(cone([0.0, 0.555, -0.550], [0.0, 0.625, -0.625], 0.020, 0.016), 0.02);
    s.add(cone([0.0, 0.625, -0.625], [0.0, 0.690, -0.615], 0.016, 0.014), 0.02);
}

fn bones() -> Vec<Bone> {
    let mut bones = Vec::new();
    let mut bone = |name, parent, pivot: [f32; 3]| bones.push(Bone { name, parent, pivot: pivot.into() });
    bone("chest", None, [0.0, 0.60, 0.10]);
    bone("loin", Some(CHEST), [0.0, 0.61, -0.02]);
    bone("neck", Some(CHEST), [0.0, 0.65, 0.25]);
    bone("head", Some(NECK), [0.0, 0.85, 0.38]);
    bone("ear.left", Some(HEAD), [0.052, 0.90, 0.395]);
    bone("ear.right", Some(HEAD), [-0.052, 0.90, 0.395]);
    bone("upper_arm.left", Some(CHEST), [0.065, 0.61, 0.22]);
    bone("upper_arm.right", Some(CHEST), [-0.065, 0.61, 0.22]);
    bone("forearm.left", Some(UPPER_ARM[0]), [0.078, 0.40, 0.165]);
    bone("forearm.right", Some(UPPER_ARM[1]), [-0.078, 0.40, 0.165]);
    bone("fore_paw.left", Some(FOREARM[0]), [0.082, 0.13, 0.185]);
    bone("fore_paw.right", Some(FOREARM[1]), [-0.082, 0.13, 0.185]);
    bone("thigh.left", Some(LOIN), [0.068, 0.58, -0.26]);
    bone("thigh.right", Some(LOIN), [-0.068, 0.58, -0.26]);
    bone("shank.left", Some(THIGH[0]), [0.085, 0.385, -0.195]);
    bone("shank.right", Some(THIGH[1]), [-0.085, 0.385, -0.195]);
    bone("hind_paw.left", Some(SHANK[0]), [0.086, 0.19, -0.345]);
    bone("hind_paw.right", Some(SHANK[1]), [-0.086, 0.19, -0.345]);
    bone("tail", Some(LOIN), [0.0, 0.635, -0.335]);
    bone("tail.tip", Some(TAIL[0]), [0.0, 0.56, -0.45]);
    bones
}

/// Fur everywhere but on eyes, nose, soles and the short-haired muzzle; thinner towards the paws.
fn fur(p: Vec3) -> f32 {
    let folded = Vec3::new(p.x.abs(), p.y, p.z);
    let eye = smoothstep(0.016, 0.030, folded.distance(EYE));
    let muzzle = if p.y > 0.75 { smoothstep(0.520, 0.465, p.z) } else { 1.0 };
    let leg = 0.2 + 0.8 * smoothstep(0.05, 0.45, p.y);
    eye * muzzle * leg * smoothstep(0.012, 0.030, p.y)
}

/// Parted along the back, combed backwards and down.
fn comb(p: Vec3, normal: Vec3) -> Vec3 {
    let side = (p.x / 0.03).clamp(-1.0, 1.0);
    let head = smoothstep(0.80, 0.88, p.y);
    let leg = smoothstep(0.45, 0.30, p.y);
    let back = 0.55 * (1.0 - leg) + 0.5 * head;
    along_surface(Vec3::new(0.7 * side * (1.0 - leg), -1.0, -back), normal)
}

fn grid() -> Grid {
    let x = mirrored_axis(0.16, |x| 0.0105 + 0.0015 * smoothstep(0.03, 0.07, x));
    let y = axis(-0.03, 0.98, |y| {
        0.0150 - 0.0070 * smoothstep(0.74, 0.82, y) - 0.003 * smoothstep(0.08, 0.04, y)
    });
    let z = axis(-0.68, 0.72, |z| 0.0145 - 0.0055 * smoothstep(0.38, 0.46, z));
    Grid::new(x, y, z)
}

/// One leg of a gait: swings by `swing` [degrees], its joints fold while it comes forward.
fn fore_leg(m: Motion, side: usize, swing: f64, fold: f64, phase: f64) -> Motion {
    let lift = phase - 0.25;
    m.turn(UPPER_ARM[side], Vec3::X, (0.0, swing, 1.0, phase))
        .turn(FOREARM[side], Vec3::X, (-0.55 * fold, -0.55 * fold, 1.0, lift))
        .turn(FORE_PAW[side], Vec3::X, (fold, fold, 1.0, lift - 0.05))
}

fn hind_leg(m: Motion, side: usize, swing: f64, fold: f64, phase: f64) -> Motion {
    let lift = phase - 0.25;
    m.turn(THIGH[side], Vec3::X, (-0.35 * fold, swing, 1.0, phase))
        .turn(SHANK[side], Vec3::X, (0.75 * fold, 0.75 * fold, 1.0, lift))
        .turn(HIND_PAW[side], Vec3::X, (-0.75 * fold, -0.75 * fold, 1.0, lift))
}

/// What both gaits share: head, ears and tail.
fn carriage(m: Motion, strength: f64) -> Motion {
    let mut m = m
        .turn(NECK, Vec3::X, (0.0, 3.0 * strength, 2.0, 0.1))
        .turn(HEAD, Vec3::X, (0.0, -3.0 * strength, 2.0, 0.15))
        .turn(HEAD, Vec3::Y, (0.0, 4.0, 1.0, 0.1))
        .turn(TAIL[0], Vec3::Y, (0.0, 14.0, 1.0, 0.0))
        .turn(TAIL[0], Vec3::X, (-4.0, 4.0, 2.0, 0.3))
        .turn(TAIL[1], Vec3::Y, (0.0, 16.0, 1.0, 0.85));
    for (ear, sign) in [(EAR[0], 1.0), (EAR[1], -1.0)] {
        m = m.turn(ear, Vec3::Z, (6.0 * sign * strength, 6.0 * sign * strength, 2.0, 0.6));
    }
    m
}

/// Diagonal legs together.
fn trot() -> Motion {
    let mut m = Motion::new("trot", 0.62, 0.9)
        .shift(CHEST, Vec3::Y, (-0.004, 0.018, 2.0, 0.25))
        .turn(CHEST, Vec3::X, (0.0, 1.2, 2.0, 0.0))
        .turn(CHEST, Vec3::Y, (0.0, 2.0, 1.0, 0.0))
        .turn(LOIN, Vec3::Y, (0.0, -3.0, 1.0, 0.0));
    for side in 0..2 {
        let phase = 0.5 * side as f64;
        m = fore_leg(m, side, 19.0, 26.0, phase);
        m = hind_leg(m, side, 20.0, 20.0, phase + 0.5);
    }
    carriage(m, 1.0)
}

/// Hind left, fore left, hind right, fore right.
fn walk() -> Motion {
    let mut m = Motion::new("walk", 1.15, 1.0)
        .shift(CHEST, Vec3::Y, (-0.004, 0.006, 2.0, 0.0))
        .turn(CHEST, Vec3::Z, (0.0, 1.5, 1.0, 0.0))
        .turn(LOIN, Vec3::Y, (0.0, -4.0, 1.0, 0.25));
    for side in 0..2 {
        let phase = 0.5 * side as f64;
        m = hind_leg(m, side, 16.0, 14.0, phase);
        m = fore_leg(m, side, 16.0, 18.0, phase + 0.75);
    }
    carriage(m, 0.7)
}

/// Shaking itself dry: the roll runs from the head to the tail.
fn shake() -> Motion {
    Motion::new("shake", 0.32, 0.6)
        .turn(CHEST, Vec3::Z, (0.0, 5.0, 1.0, 0.0))
        .turn(LOIN, Vec3::Z, (0.0, 7.0, 1.0, 0.8))
        .turn(NECK, Vec3::Z, (0.0, 9.0, 1.0, 0.1))
        .turn(HEAD, Vec3::Z, (0.0, 20.0, 1.0, 0.2))
        .turn(TAIL[0], Vec3::Y, (0.0, 20.0, 1.0, 0.7))
        .turn(TAIL[1], Vec3::Y, (0.0, 25.0, 1.0, 0.55))
}

/// Standing, looking around, wagging.
fn idle() -> Motion {
    Motion::new("idle", 3.0, 1.0)
        .turn(NECK, Vec3::Y, (0.0, 10.0, 1.0, 0.0))
        .turn(HEAD, Vec3::Y, (0.0, 16.0, 1.0, 0.95))
        .turn(HEAD, Vec3::X, (0.0, 4.0, 2.0, 0.2))
        .turn(TAIL[0], Vec3::Y, (0.0, 18.0, 6.0, 0.0))
        .turn(TAIL[1], Vec3::Y, (0.0, 18.0, 6.0, 0.85))
}
