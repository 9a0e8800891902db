use glam::Vec3;
use rayon::prelude::*;

use super::mesher::{self, Grid, axis, mirrored_axis};
use super::motion::Motion;
use super::sculpt::{Sculpt, cone, ellipsoid, sphere};
use super::{Bone, Figure, Parts, along_surface, assemble, smoothstep};

const FUR: [f32; 3] = [0.10, 0.22, 0.42];
const HORN: [f32; 3] = [0.62, 0.50, 0.32];
const WHITE: [f32; 3] = [0.85, 0.85, 0.80];
const MOUTH: [f32; 3] = [0.25, 0.03, 0.04];

const BODY: usize = 0;
const HEAD: usize = 1;
const ARM: [usize; 2] = [2, 3];
const HAND: [usize; 2] = [4, 5];
const LEG: [usize; 2] = [6, 7];
const FOOT: [usize; 2] = [8, 9];

const EYE: Vec3 = Vec3::new(0.098, 0.715, 0.195);
const EYE_RADIUS: f32 = 0.092;
/// Where it looks: a little inwards and up.
const GAZE: Vec3 = Vec3::new(-0.16, 0.06, 0.985);

/// A round furry creature with horns and big eyes, 1 m tall; motions `walk`, `bounce`, `shake` and `idle`.
pub fn monster() -> Figure {
    let mut s = Sculpt::new(FUR);
    sculpt_body(&mut s);
    sculpt_limbs(&mut s);
    sculpt_face(&mut s);
    let mesh = mesher::mesh(&s, &grid(), 8);
    let normals = mesh.vertex_normals();
    let colour: Vec<Vec3> = mesh.points.par_iter().map(|&p| paint(&s, p)).collect();
    assemble(Parts {
        name: "monster",
        scalp: mesh.points.iter().zip(&colour).map(|(&p, &colour)| fur(p, colour)).collect(),
        comb: mesh.points.iter().zip(&normals).map(|(&p, &n)| comb(p, n)).collect(),
        weights: mesh.points.par_iter().map(|&p| s.bone_weights(p, 0.03)).collect(),
        colour,
        bones: bones(),
        head: HEAD,
        cycles: vec![walk(), bounce(), shake(), idle()],
        mesh,
    })
}

fn pair(s: &mut Sculpt, bones: [usize; 2]) -> &mut Sculpt {
    s.mirrored(bones[0] as u16, bones[1] as u16)
}

fn sculpt_body(s: &mut Sculpt) {
    s.single(BODY as u16);
    s.add(ellipsoid([0.0, 0.420, 0.0], [0.300, 0.250, 0.265]), 0.0);
    s.single(HEAD as u16);
    s.add(ellipsoid([0.0, 0.640, 0.0], [0.270, 0.250, 0.245]), 0.15);
}

fn sculpt_limbs(s: &mut Sculpt) {
    pair(s, LEG);
    s.add(cone([0.135, 0.280, 0.0], [0.145, 0.110, 0.0], 0.095, 0.075), 0.06);
    pair(s, FOOT);
    s.add(ellipsoid([0.150, 0.062, 0.055], [0.098, 0.062, 0.135]).turned([0.0, 12.0, 0.0]), 0.04);
    for x in [0.095, 0.160, 0.225] {
        s.add(sphere([x, 0.045, 0.170 - 0.3 * (x - 0.13)], 0.040), 0.02);
    }
    pair(s, ARM);
    s.add(cone([0.245, 0.540, 0.0], [0.385, 0.400, 0.020], 0.065, 0.052), 0.05);
    pair(s, HAND);
    s.add(cone([0.385, 0.400, 0.020], [0.435, 0.270, 0.060], 0.052, 0.048), 0.02);
    s.add(sphere([0.443, 0.240, 0.068], 0.060), 0.03);
    s.add(cone([0.425, 0.225, 0.100], [0.415, 0.190, 0.125], 0.028, 0.022), 0.015);
    s.add(cone([0.465, 0.210, 0.095], [0.470, 0.165, 0.110], 0.028, 0.022), 0.015);
    s.add(cone([0.470, 0.215, 0.045], [0.485, 0.170, 0.045], 0.028, 0.022), 0.015);
}

fn sculpt_face(s: &mut Sculpt) {
    let head = HEAD as u16;
    s.single(head);
    // A wide grin: a bent trough, then two teeth standing up from below.
    s.carve(ellipsoid([0.0, 0.545, 0.285], [0.095, 0.034, 0.060]), 0.02);
    s.mirrored(head, head);
    s.carve(ellipsoid([0.095, 0.560, 0.255], [0.060, 0.026, 0.060]).turned([0.0, 20.0, 22.0]), 0.02);
    s.colour(WHITE);
    s.add(cone([0.055, 0.512, 0.228], [0.055, 0.542, 0.246], 0.017, 0.010), 0.006);
    s.add(sphere(EYE.to_array(), EYE_RADIUS), 0.006);
    s.colour(HORN);
    s.add(cone([0.135, 0.825, -0.020], [0.205, 0.910, -0.020], 0.050, 0.036), 0.015);
    s.add(cone([0.205, 0.910, -0.020], [0.222, 0.985, -0.010], 0.036, 0.016), 0.02);
}

fn bones() -> Vec<Bone> {
    let bone = |name, parent, pivot: [f32; 3]| Bone { name, parent, pivot: pivot.into() };
    vec![
        bone("body", None, [0.0, 0.30, 0.0]),
        bone("head", Some(BODY), [0.0, 0.50, 0.0]),
        bone("arm.left", Some(BODY), [0.245, 0.54, 0.0]),
        bone("arm.right", Some(BODY), [-0.245, 0.54, 0.0]),
        bone("hand.left", Some(ARM[0]), [0.385, 0.40, 0.02]),
        bone("hand.right", Some(ARM[1]), [-0.385, 0.40, 0.02]),
        bone("leg.left", Some(BODY), [0.135, 0.27, 0.0]),
        bone("leg.right", Some(BODY), [-0.135, 0.27, 0.0]),
        bone("foot.left", Some(LEG[0]), [0.145, 0.09, 0.0]),
        bone("foot.right", Some(LEG[1]), [-0.145, 0.09, 0.0]),
    ]
}

/// The sculpture's own colours, pupils on the eyes, and the dark inside of the mouth.
fn paint(s: &Sculpt, p: Vec3) -> Vec3 {
    let folded = Vec3::new(p.x.abs(), p.y, p.z);
    let look = (folded - EYE).normalize_or_zero().dot(GAZE.normalize());
    let on_eye = smoothstep(0.006, 0.002, (folded.distance(EYE) - EYE_RADIUS).abs());
    let pupil = smoothstep(0.87, 0.90, look) * on_eye;
    let clay = s.colour_at(p, 0.0015);
    let fur = 1.0 - smoothstep(0.05, 0.2, clay.distance(FUR.into()));
    let mouth = smoothstep(0.004, -0.004, mouth_distance(folded)) * fur;
    clay.lerp(MOUTH.into(), mouth).lerp(Vec3::splat(0.01), pupil)
}

/// How far a point lies outside the mouth [m], about.
fn mouth_distance(folded: Vec3) -> f32 {
    let middle = ellipsoid([0.0, 0.545, 0.285], [0.095, 0.034, 0.060]).distance(folded);
    let corner = ellipsoid([0.095, 0.560, 0.255], [0.060, 0.026, 0.060]).turned([0.0, 20.0, 22.0]);
    middle.min(corner.distance(folded)) - 0.004
}

/// Fur everywhere but on eyes, mouth, horns and soles.
fn fur(p: Vec3, colour: Vec3) -> f32 {
    let folded = Vec3::new(p.x.abs(), p.y, p.z);
    let plain = smoothstep(0.12, 0.02, colour.distance(FUR.into()));
    let eye = smoothstep(0.002, 0.016, folded.distance(EYE) - EYE_RADIUS);
    plain * eye * smoothstep(0.004, 0.020, mouth_distance(folded)) * smoothstep(0.010, 0.035, p.y)
}

/// Down and outwards, away from the face.
fn comb(p: Vec3, normal: Vec3) -> Vec3 {
    let around = (p - Vec3::new(0.0, 0.64, 0.25)).normalize_or_zero();
    let near = smoothstep(0.30, 0.10, p.distance(Vec3::new(0.0, 0.64, 0.25)));
    along_surface(Vec3::new(0.0, -1.0, -0.25) + 1.2 * near * around, normal)
}

fn grid() -> Grid {
    let x = mirrored_axis(0.54, |x| 0.0140 + 0.003 * smoothstep(0.25, 0.35, x));
    let y = axis(-0.04, 1.04, |y| 0.0170 - 0.004 * smoothstep(0.45, 0.52, y));
    let z = axis(-0.32, 0.36, |z| 0.0190 - 0.006 * smoothstep(0.05, 0.15, z));
    Grid::new(x, y, z)
}

/// A waddle.
fn walk() -> Motion {
    let mut m = Motion::new("walk", 1.0, 0.8)
        .shift(BODY, Vec3::X, (0.0, 0.030, 1.0, 0.0))
        .shift(BODY, Vec3::Y, (0.008, 0.010, 2.0, 0.75))
        .turn(BODY, Vec3::Z, (0.0, -6.0, 1.0, 0.0))
        .turn(BODY, Vec3::Y, (0.0, 8.0, 1.0, 0.25))
        .turn(HEAD, Vec3::Z, (0.0, 5.0, 1.0, 0.9))
        .turn(HEAD, Vec3::Y, (0.0, -6.0, 1.0, 0.25));
    for (side, sign) in [(0, 1.0), (1, -1.0)] {
        let phase = 0.25 + 0.5 * side as f64;
        m = m
            .turn(LEG[side], Vec3::X, (0.0, 26.0, 1.0, phase))
            .turn(LEG[side], Vec3::Z, (0.0, 6.0, 1.0, 0.0))
            .turn(FOOT[side], Vec3::X, (0.0, -16.0, 1.0, phase + 0.08))
            .turn(ARM[side], Vec3::X, (0.0, 24.0, 1.0, phase + 0.5))
            .turn(ARM[side], Vec3::Z, (sign * 8.0, sign * 5.0, 2.0, 0.2))
            .turn(HAND[side], Vec3::X, (-14.0, 12.0, 1.0, phase + 0.4));
    }
    m
}

/// Hopping, squashed on the ground and long in the air.
fn bounce() -> Motion {
    let mut m = Motion::new("bounce", 0.8, 0.8)
        .shift(BODY, Vec3::Y, (0.075, 0.085, 1.0, 0.75))
        .stretch((0.0, 0.09, 1.0, 0.82))
        .turn(HEAD, Vec3::X, (0.0, 5.0, 1.0, 0.5));
    for (side, sign) in [(0, 1.0), (1, -1.0)] {
        m = m
            .turn(ARM[side], Vec3::Z, (sign * 28.0, sign * 24.0, 1.0, 0.65))
            .turn(HAND[side], Vec3::Z, (sign * 10.0, sign * 14.0, 1.0, 0.55))
            .turn(FOOT[side], Vec3::X, (10.0, 10.0, 1.0, 0.75));
    }
    m
}

/// Shaking its fur.
fn shake() -> Motion {
    let mut m = Motion::new("shake", 0.4, 0.7).turn(BODY, Vec3::Y, (0.0, 12.0, 1.0, 0.0)).turn(
        HEAD,
        Vec3::Y,
        (0.0, 14.0, 1.0, 0.85),
    );
    for (side, sign) in [(0, 1.0), (1, -1.0)] {
        m = m.turn(LEG[side], Vec3::Y, (0.0, -12.0, 1.0, 0.0)).turn(
            ARM[side],
            Vec3::Z,
            (sign * 14.0, sign * 6.0, 2.0, 0.0),
        );
    }
    m
}

/// Breathing and looking about.
fn idle() -> Motion {
    Motion::new("idle", 3.0, 0.8)
        .stretch((0.0, 0.012, 1.0, 0.0))
        .turn(HEAD, Vec3::Y, (0.0, 12.0, 1.0, 0.1))
        .turn(HEAD, Vec3::Z, (0.0, 4.0, 1.0, 0.4))
}
