//! A human head and neck, in coordinates around the middle of the head.

use glam::Vec3;

use super::sculpt::{Sculpt, cone, ellipsoid, sphere};
use super::{along_surface, smoothstep};

/// Sculpt skull, face and ears.
pub(super) fn sculpt_head(s: &mut Sculpt, head: u16) {
    s.single(head);
    s.add(ellipsoid([0.0, 0.028, -0.014], [0.075, 0.087, 0.094]), 0.0);
    s.add(ellipsoid([0.0, 0.036, 0.028], [0.062, 0.058, 0.060]), 0.03);
    s.add(ellipsoid([0.0, -0.030, 0.028], [0.057, 0.070, 0.056]), 0.03);
    jaw(s, head);
    brow_and_eyes(s, head);
    nose(s, head);
    mouth(s, head);
    ears(s, head);
}

fn jaw(s: &mut Sculpt, head: u16) {
    s.mirrored(head, head);
    s.add(cone([0.047, -0.066, 0.010], [0.014, -0.100, 0.066], 0.013, 0.012), 0.035);
    s.add(ellipsoid([0.050, -0.020, 0.055], [0.016, 0.013, 0.020]), 0.025);
    s.single(head);
    s.add(ellipsoid([0.0, -0.100, 0.077], [0.018, 0.014, 0.012]), 0.02);
}

fn brow_and_eyes(s: &mut Sculpt, head: u16) {
    s.mirrored(head, head);
    s.add(cone([0.010, 0.019, 0.086], [0.046, 0.017, 0.068], 0.007, 0.006), 0.015);
    s.carve(ellipsoid([0.032, -0.001, 0.094], [0.019, 0.012, 0.016]), 0.016);
    s.add(sphere([0.032, -0.001, 0.0705], 0.0125), 0.004);
}

fn nose(s: &mut Sculpt, head: u16) {
    s.single(head);
    s.add(cone([0.0, 0.012, 0.086], [0.0, -0.034, 0.106], 0.006, 0.009), 0.014);
    s.mirrored(head, head);
    s.add(ellipsoid([0.0115, -0.038, 0.097], [0.0065, 0.007, 0.010]), 0.008);
}

fn mouth(s: &mut Sculpt, head: u16) {
    s.single(head);
    s.add(ellipsoid([0.0, -0.066, 0.070], [0.030, 0.026, 0.021]), 0.02);
    s.mirrored(head, head);
    s.add(cone([0.004, -0.0605, 0.0885], [0.021, -0.0645, 0.0790], 0.0050, 0.003), 0.005);
    s.add(cone([0.0, -0.0715, 0.0875], [0.018, -0.0680, 0.0790], 0.0060, 0.003), 0.005);
    s.carve(cone([0.0, -0.0655, 0.0950], [0.024, -0.0655, 0.0820], 0.0022, 0.002), 0.004);
}

fn ears(s: &mut Sculpt, head: u16) {
    s.mirrored(head, head);
    s.add(ear(), 0.008);
    s.carve(ellipsoid([0.086, -0.006, -0.004], [0.008, 0.020, 0.011]).turned([-10.0, 0.0, 0.0]), 0.006);
}

fn ear() -> super::sculpt::Shape {
    ellipsoid([0.077, -0.010, -0.010], [0.0085, 0.032, 0.019]).turned([-12.0, 25.0, -8.0])
}

/// Sculpt the neck down to its base at y = −0.2.
pub(super) fn sculpt_neck(s: &mut Sculpt, neck: u16) {
    s.single(neck);
    s.add(cone([0.0, -0.070, -0.022], [0.0, -0.20, -0.035], 0.054, 0.058), 0.03);
    s.mirrored(neck, neck);
    s.add(cone([0.054, -0.050, -0.018], [0.014, -0.200, 0.026], 0.011, 0.009), 0.02);
    s.single(neck);
    s.add(cone([0.0, -0.125, 0.022], [0.0, -0.16, 0.020], 0.011, 0.009), 0.02);
}

/// How much the head moves the skin at `p`: 1 on the head, 0 at the base of the neck.
pub(super) fn head_share(p: Vec3) -> f32 {
    smoothstep(-0.225, -0.100, p.y + 0.6 * p.z)
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

/// Hair parted along the middle and combed back and down.
pub(super) fn comb(p: Vec3, normal: Vec3) -> Vec3 {
    let top = smoothstep(0.03, 0.10, p.y);
    let side = (p.x / 0.015).clamp(-1.0, 1.0);
    along_surface(Vec3::new(side * top, -0.9, -0.6 - 0.2 * top), normal)
}
