//! A human head and neck, in coordinates around the middle of the head.

use glam::Vec3;

use super::sculpt::{Sculpt, Shape, cone, ellipsoid};
use super::{along_surface, smoothstep};

/// What tells one face from another; 1 is the adult of [`super::bust`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Face {
    /// Width of the jaw.
    pub(super) jaw: f32,
    /// Size of the chin.
    pub(super) chin: f32,
    /// Strength of the brow.
    pub(super) brow: f32,
    /// Size of the eyes.
    pub(super) eyes: f32,
    /// Size of the nose.
    pub(super) nose: f32,
    /// Fullness of the lips.
    pub(super) lips: f32,
    /// Thickness of the neck.
    pub(super) neck: f32,
}

/// The face of the bust.
pub(super) const ADULT: Face =
    Face { jaw: 1.0, chin: 1.0, brow: 1.0, eyes: 1.0, nose: 1.0, lips: 1.0, neck: 1.0 };

/// Sculpt skull, face and ears.
pub(super) fn sculpt_head(s: &mut Sculpt, head: u16, face: Face) {
    s.single(head);
    s.add(ellipsoid([0.0, 0.028, -0.014], [0.075, 0.087, 0.094]), 0.0);
    s.add(ellipsoid([0.0, 0.036, 0.028], [0.062, 0.058, 0.060]), 0.03);
    s.add(ellipsoid([0.0, -0.030, 0.028], [0.057, 0.070, 0.056]), 0.03);
    jaw(s, head, face);
    brow_and_eyes(s, head, face);
    nose(s, head, face.nose);
    mouth(s, head, face.lips);
    ears(s, head);
}

fn jaw(s: &mut Sculpt, head: u16, face: Face) {
    let (jaw, chin) = (face.jaw, face.chin);
    s.mirrored(head, head);
    s.add(cone([0.043 * jaw, -0.066, 0.008], [0.012 * chin, -0.101, 0.060], 0.014, 0.011 * chin), 0.035);
    // Cheeks: flesh from the cheekbone down to the corner of the mouth.
    s.add(ellipsoid([0.036 * jaw, -0.042, 0.046], [0.024, 0.034, 0.026]), 0.025);
    s.add(ellipsoid([0.047, -0.016, 0.052], [0.016, 0.011, 0.020]), 0.022);
    s.single(head);
    s.add(ellipsoid([0.0, -0.098, 0.075], [0.017 * chin, 0.014 * chin, 0.012]), 0.024);
}

fn brow_and_eyes(s: &mut Sculpt, head: u16, face: Face) {
    let (brow, eye) = (0.006 * face.brow, face.eyes);
    s.mirrored(head, head);
    s.add(cone([0.014, 0.019, 0.083], [0.046, 0.019, 0.066], brow, brow), 0.018);
    s.carve(ellipsoid([0.032, 0.000, 0.098], [0.021 * eye, 0.0125 * eye, 0.020]), 0.016);
    let ball = ellipsoid([0.032, -0.002, 0.0700], [0.0155 * eye, 0.0105 * eye, 0.0125]);
    s.add(ball.turned([0.0, 15.0, 0.0]), 0.006);
    // The edge of the upper lid over the closed eye.
    let (low, side) = (-0.002 - 0.004 * eye, 0.0085 * eye);
    s.add(cone([0.032 - side, low + 0.0015, 0.0785], [0.032, low, 0.0805], 0.0020, 0.0026), 0.005);
    s.add(cone([0.032, low, 0.0805], [0.0335 + side, low + 0.002, 0.0755], 0.0026, 0.0020), 0.005);
}

fn nose(s: &mut Sculpt, head: u16, size: f32) {
    // Smaller noses keep their root on the face.
    let out = |z: f32| 0.084 + (z - 0.084) * size;
    s.single(head);
    s.add(cone([0.0, 0.010, 0.078], [0.0, -0.020, out(0.0955)], 0.0060 * size, 0.0070 * size), 0.016);
    s.add(cone([0.0, -0.018, out(0.0950)], [0.0, -0.0335, out(0.1035)], 0.0065 * size, 0.0082 * size), 0.010);
    s.mirrored(head, head);
    s.add(ellipsoid([0.0105 * size, -0.0375, out(0.0925)], [0.0060 * size, 0.0060 * size, 0.0085]), 0.008);
    s.single(head);
    s.add(cone([0.0, -0.038, out(0.100)], [0.0, -0.046, 0.086], 0.0035, 0.0045), 0.008);
}

fn mouth(s: &mut Sculpt, head: u16, full: f32) {
    s.single(head);
    s.add(ellipsoid([0.0, -0.065, 0.065], [0.028, 0.022, 0.017]), 0.022);
    s.carve(ellipsoid([0.0, -0.0845, 0.0980], [0.020, 0.0060, 0.0125]), 0.012);
    s.mirrored(head, head);
    s.add(cone([0.0045, -0.0590, 0.0885], [0.022, -0.0645, 0.0765], 0.0052 * full, 0.0030), 0.006);
    s.add(cone([0.0, -0.0730, 0.0870], [0.018, -0.0690, 0.0765], 0.0066 * full, 0.0035), 0.006);
    s.carve(cone([0.0, -0.0655, 0.0970], [0.025, -0.0670, 0.0815], 0.0026, 0.0020), 0.007);
}

fn ears(s: &mut Sculpt, head: u16) {
    s.mirrored(head, head);
    s.add(ear(), 0.008);
    s.carve(ellipsoid([0.0905, -0.001, -0.0010], [0.0085, 0.019, 0.0105]).turned([-12.0, 25.0, -8.0]), 0.010);
}

fn ear() -> Shape {
    ellipsoid([0.0765, -0.009, -0.008], [0.0095, 0.031, 0.0185]).turned([-12.0, 25.0, -8.0])
}

/// Sculpt the neck down to its base at y = −0.2.
pub(super) fn sculpt_neck(s: &mut Sculpt, neck: u16, face: Face) {
    let thick = face.neck;
    s.single(neck);
    s.add(cone([0.0, -0.060, -0.024], [0.0, -0.19, -0.038], 0.050 * thick, 0.054 * thick), 0.03);
    s.mirrored(neck, neck);
    s.add(cone([0.052 * thick, -0.050, -0.022], [0.014, -0.196, 0.018 * thick], 0.009, 0.008), 0.025);
    s.single(neck);
    s.add(cone([0.0, -0.122, 0.020], [0.0, -0.16, 0.015], 0.010 * thick, 0.009 * thick), 0.02);
}

/// How much the head moves the skin at `p`: 1 on the head and wherever hair grows, down to the nape, as a scalp lies on its skull; 0 at the base
/// of the neck, and on shoulders however high they are.
pub(super) fn head_share(p: Vec3) -> f32 {
    let beside_the_neck = (p.x.hypot(p.z + 0.03) - 0.065).max(0.0);
    smoothstep(-0.235, -0.150, p.y + 0.6 * p.z - beside_the_neck)
}

/// The heights of the hairline [m] at angles around the head, from the face (0°) to the nape (180°).
const HAIRLINE: [(f32, f32); 9] = [
    (0.0, 0.066),
    (20.0, 0.066),
    (38.0, 0.056),
    (54.0, 0.034),
    (68.0, -0.004),
    (90.0, -0.004),
    (112.0, -0.040),
    (140.0, -0.078),
    (180.0, -0.086),
];

/// Density of hair on a human head at `p`.
pub(super) fn scalp(p: Vec3) -> f32 {
    let angle = p.x.abs().atan2(p.z + 0.005).to_degrees();
    let line = HAIRLINE.windows(2).find(|pair| angle <= pair[1].0).map_or(HAIRLINE[8].1, |pair| {
        let t = smoothstep(pair[0].0, pair[1].0, angle);
        pair[0].1 + t * (pair[1].1 - pair[0].1)
    });
    let off_ear = smoothstep(0.003, 0.009, ear().distance(Vec3::new(p.x.abs(), p.y, p.z)));
    smoothstep(-0.008, 0.008, p.y - line) * off_ear
}

/// Hair parted along the middle, combed from the brow to the back and the sides, then down.
pub(super) fn comb(p: Vec3, normal: Vec3) -> Vec3 {
    let top = smoothstep(0.03, 0.10, p.y);
    let front = smoothstep(0.0, 0.06, p.z) * smoothstep(0.02, 0.06, p.y);
    let side = (p.x / 0.015).clamp(-1.0, 1.0);
    along_surface(Vec3::new(side * top.max(0.6 * front), -0.9 + 1.1 * front, -0.6 - 0.5 * front), normal)
}
