//! Grows hair on a bust and draws it, with the time it took.
//!
//!     cargo run --release -p hairloom-picture --example portrait -- [style] [colour] [strands] [view] [file.png]
//!
//! Styles: straight, wavy, curly, afro, or gallery for a contact sheet of all. Colours and views: see `HairColor`
//! and `View`.

use std::error::Error;
use std::f32::consts::TAU;
use std::time::Instant;

use glam::{Quat, Vec3};
use hairloom::body::TriMesh;
use hairloom::groom::Curves;
use hairloom_picture::{
    BodyLayer, ContactSheet, Ground, HairColor, HairLayer, Image, Options, PictureError, Scene, View, render,
};

/// Height [m], half width [m], half depth [m] and forward shift [m] along the bust, from below.
const PROFILE: [[f32; 4]; 16] = [
    [-0.32, 0.175, 0.105, -0.020],
    [-0.27, 0.178, 0.105, -0.022],
    [-0.235, 0.150, 0.090, -0.024],
    [-0.205, 0.095, 0.070, -0.024],
    [-0.17, 0.060, 0.058, -0.020],
    [-0.13, 0.053, 0.055, -0.012],
    [-0.105, 0.054, 0.063, -0.002],
    [-0.085, 0.058, 0.082, 0.012],
    [-0.05, 0.066, 0.092, 0.010],
    [0.0, 0.074, 0.096, 0.002],
    [0.04, 0.077, 0.098, -0.002],
    [0.07, 0.074, 0.095, -0.004],
    [0.095, 0.064, 0.083, -0.006],
    [0.112, 0.047, 0.062, -0.008],
    [0.122, 0.025, 0.033, -0.009],
    [0.125, 0.0, 0.0, -0.009],
];

/// Half width, half depth and shift at a height, by a smooth curve through the profile.
fn section(y: f32) -> [f32; 3] {
    let last = PROFILE.len() - 2;
    let i = PROFILE.iter().rposition(|row| row[0] <= y).unwrap_or(0).min(last);
    let t = ((y - PROFILE[i][0]) / (PROFILE[i + 1][0] - PROFILE[i][0])).clamp(0.0, 1.0);
    std::array::from_fn(|k| {
        let value = |j: usize| PROFILE[j.min(PROFILE.len() - 1)][k + 1];
        let (p0, p1, p2, p3) = (value(i.saturating_sub(1)), value(i), value(i + 1), value(i + 2));
        let smooth = 0.5
            * (2.0 * p1
                + (p2 - p0) * t
                + (2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3) * t * t
                + (3.0 * p1 - p0 - 3.0 * p2 + p3) * t * t * t);
        if i == last { p1 * (1.0 - t * t).max(0.0).sqrt() } else { smooth }
    })
}

fn bust() -> TriMesh {
    const AROUND: u32 = 96;
    const UP: u32 = 160;
    let mut mesh = TriMesh::default();
    for j in 0..=UP {
        // Rings come closer together toward the crown, where the surface turns.
        let t = j as f32 / UP as f32;
        let y = -0.32 + 0.445 * (1.0 - (1.0 - t).powf(1.6));
        let [wide, deep, shift] = section(y);
        for i in 0..AROUND {
            let (sine, cosine) = (i as f32 / AROUND as f32 * TAU).sin_cos();
            mesh.points.push(Vec3::new(sine * wide, y, cosine * deep + shift));
        }
    }
    for j in 0..UP {
        for i in 0..AROUND {
            let (a, b) = (j * AROUND + i, j * AROUND + (i + 1) % AROUND);
            mesh.triangles.extend([[a, b, a + AROUND], [b, b + AROUND, a + AROUND]]);
        }
    }
    mesh
}

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (bits >> 40) as f32 / (1u64 << 24) as f32
    }

    fn signed(&mut self) -> f32 {
        self.unit() * 2.0 - 1.0
    }
}

/// Moves a point out of the bust by at least `gap` [m].
fn outside(point: Vec3, gap: f32) -> Vec3 {
    let y = point.y.clamp(-0.32, 0.1249);
    let [wide, deep, shift] = section(y);
    let slope = (section(y - 0.002)[0] - section(y + 0.002)[0]) / 0.004;
    let from = Vec3::new(point.x / wide.max(1e-3), 0.0, (point.z - shift) / deep.max(1e-3));
    let reach = from.length();
    let size = (wide + deep) * 0.5;
    let lack = (1.0 - reach) * size + gap;
    if point.y > 0.14 || lack <= 0.0 || reach < 1e-4 {
        return point;
    }
    let normal = Vec3::new(from.x / wide, 0.0, from.z / deep).normalize_or(Vec3::Z).with_y(slope).normalize();
    point + normal * lack
}

struct Style {
    length: f32,
    /// How soon hair turns down.
    weight: f32,
    curl_radius: f32,
    curl_pitch: f32,
    clump: f32,
    frizz: f32,
}

fn style(name: &str) -> Style {
    match name {
        "wavy" => Style {
            length: 0.34,
            weight: 0.28,
            curl_radius: 0.006,
            curl_pitch: 0.07,
            clump: 0.5,
            frizz: 0.004,
        },
        "curly" => Style {
            length: 0.30,
            weight: 0.22,
            curl_radius: 0.009,
            curl_pitch: 0.028,
            clump: 0.8,
            frizz: 0.005,
        },
        "afro" => Style {
            length: 0.15,
            weight: 0.0,
            curl_radius: 0.004,
            curl_pitch: 0.011,
            clump: 0.45,
            frizz: 0.006,
        },
        _ => {
            Style { length: 0.34, weight: 0.30, curl_radius: 0.0, curl_pitch: 0.1, clump: 0.18, frizz: 0.002 }
        }
    }
}

/// A root on the scalp and the normal there.
fn root(random: &mut Random) -> (Vec3, Vec3) {
    loop {
        let direction = Vec3::new(random.signed(), random.signed(), random.signed());
        if direction.length_squared() > 1.0 || direction.length_squared() < 1e-4 {
            continue;
        }
        let d = direction.normalize();
        // The hairline: high over the forehead, low at the nape.
        if d.y < 0.48 * d.z.max(0.0) + 0.42 * d.z.min(0.0) + 0.05 {
            continue;
        }
        // Along the ray from the middle of the head to its surface.
        let center = Vec3::new(0.0, 0.035, -0.004);
        let inside = |distance: f32| {
            let p = center + d * distance;
            let [wide, deep, shift] = section(p.y);
            p.y < 0.125 && (p.x / wide).powi(2) + ((p.z - shift) / deep).powi(2) < 1.0
        };
        let (mut low, mut high) = (0.0, 0.2);
        for _ in 0..24 {
            let middle = (low + high) * 0.5;
            if inside(middle) { low = middle } else { high = middle }
        }
        let point = center + d * low;
        return (point, (d * Vec3::new(1.3, 1.2, 1.0)).normalize());
    }
}

fn guide(root: Vec3, normal: Vec3, style: &Style, steps: usize, gap: f32) -> Vec<Vec3> {
    // Hair parts in the middle and sweeps to the sides and back.
    let side = if root.x >= 0.0 { 1.0 } else { -1.0 };
    let combed = normal * 0.4 + Vec3::new(side * 0.8, 0.1, -0.4);
    let mut direction = if style.weight > 0.0 { combed.normalize() } else { normal };
    let step = style.length / steps as f32;
    let mut points = vec![root];
    for k in 0..steps {
        let next = points[k] + direction * step;
        let next = if style.weight > 0.0 { outside(next, gap.min(0.001 + k as f32 * 0.0015)) } else { next };
        direction = ((next - points[k]).normalize_or(direction) + Vec3::NEG_Y * style.weight).normalize();
        points.push(next);
    }
    points
}

fn grow(name: &str, count: usize) -> Curves {
    let style = style(name);
    let steps = if style.curl_radius > 0.0 { 31 } else { 23 };
    let steps = if name == "afro" { 48 } else { steps };
    let mut random = Random(7);
    let clumps: Vec<(Vec3, Vec<Vec3>, f32, f32)> = (0..(count / 60).max(1))
        .map(|_| {
            let (point, normal) = root(&mut random);
            let gap = 0.004 + 0.012 * random.unit();
            (point, guide(point, normal, &style, steps, gap), random.unit() * TAU, 0.75 + 0.5 * random.unit())
        })
        .collect();
    let mut curves = Curves::default();
    for _ in 0..count {
        let (point, normal) = root(&mut random);
        let gap = 0.002 + 0.016 * random.unit();
        let own = guide(point, normal, &style, steps, gap);
        let near = clumps
            .iter()
            .min_by(|a, b| a.0.distance_squared(point).total_cmp(&b.0.distance_squared(point)))
            .expect("there is at least one clump");
        let cut = 0.82 + 0.18 * random.unit();
        let phase = near.2 + random.signed() * (1.2 - style.clump) * 1.5;
        let radius = style.curl_radius * (0.8 + 0.4 * random.unit());
        let wild = if random.unit() < 0.06 { 3.0 } else { 1.0 };
        let drift = Vec3::new(random.signed(), random.signed(), random.signed()) * style.frizz * wild;
        let turns = style.length / style.curl_pitch * near.3;
        curves.push((0..=steps).map(|k| {
            let t = k as f32 / steps as f32 * cut;
            let at = t * steps as f32;
            let i = (at as usize).min(steps - 1);
            let along = |line: &[Vec3]| line[i].lerp(line[i + 1], at - i as f32);
            let pull = style.clump * (t * 1.6).min(1.0);
            let middle = along(&own).lerp(along(&near.1), pull) + drift * t;
            let axis = (near.1[i + 1] - near.1[i]).normalize_or(Vec3::NEG_Y);
            let across = axis.any_orthonormal_vector() * (radius * (t * 5.0).min(1.0));
            let point = middle + Quat::from_axis_angle(axis, phase + turns * TAU * t) * across;
            if style.weight > 0.0 && k > 0 { outside(point, 0.0008) } else { point }
        }));
    }
    curves
}

/// Hair thins out toward its tips; fewer strands are thicker, so that they hide the scalp as well.
fn widths(curves: &Curves) -> Vec<f32> {
    let width = 7e-5 * (80_000.0 / curves.strands().max(1) as f32).sqrt().max(1.0);
    let thin = |strand: &[Vec3]| {
        let last = strand.len() as f32 - 1.0;
        (0..strand.len()).map(move |k| width * (1.0 - 0.7 * (k as f32 / last).powi(3)))
    };
    curves.iter().flat_map(thin).collect()
}

fn portrait(
    style: &str,
    color: HairColor,
    count: usize,
    view: View,
    size: (u32, u32),
) -> Result<Image, PictureError> {
    let (curves, mesh) = (grow(style, count), bust());
    let widths = widths(&curves);
    let scene = Scene {
        hair: vec![HairLayer::new(&curves, &widths, color)],
        bodies: vec![BodyLayer::new(&mesh)],
        ground: Some(Ground::at(-0.32)),
    };
    let camera = view.camera(scene.bounds().unwrap_or_default(), size.0 as f32 / size.1 as f32);
    let start = Instant::now();
    let image = render(&scene, &camera, &Options::new(size.0, size.1))?;
    let seconds = start.elapsed().as_secs_f32();
    println!(
        "{style}: {count} strands, {} points, {}x{}: {seconds:.2} s",
        curves.points.len(),
        size.0,
        size.1
    );
    Ok(image)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: &str| arguments.next().unwrap_or_else(|| default.to_string());
    let (style, color) = (next("straight"), next("brown").parse::<HairColor>()?);
    let (count, view) = (next("50000").parse::<usize>()?, next("three-quarter").parse::<View>()?);
    let file = next("portrait.png");
    if style != "gallery" {
        portrait(&style, color, count, view, (1280, 720))?.save_png(&file)?;
        return Ok(());
    }
    let styles = ["straight", "wavy", "curly", "afro"];
    let mut sheet = ContactSheet::new(HairColor::NAMES.len() as u32, 3, (480, 400))?;
    for (index, name) in HairColor::NAMES.into_iter().enumerate() {
        let style = styles[index % styles.len()];
        sheet.add(&portrait(style, name.parse()?, count, view, (480, 400))?, &format!("{style}, {name}"))?;
    }
    sheet.finish().save_png(&file)?;
    Ok(())
}
