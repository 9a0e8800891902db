//! Writes a small mesh that moves by itself, as an animation program would export it: an egg that breathes and sways.
//!
//!     cargo run --release -p hairloom-io --example breathing_egg -- scenes/meshes/breathing-egg.usda
//!
//! `scenes/animated-mesh.toml` grows fur on it.

use std::f32::consts::TAU;
use std::path::PathBuf;

use glam::{Quat, Vec3};
use hairloom_io::usd::{UsdError, Value, Writer};

/// Rings between the poles, and vertices on each.
const RINGS: usize = 11;
const SIDES: usize = 16;
/// Half its height, and its radius [m].
const HALF_HEIGHT: f32 = 0.16;
const RADIUS: f32 = 0.11;
/// Frames of one breath, at 24 a second; every other one has a sample.
const PERIOD: usize = 48;
const STEP: usize = 2;

fn main() -> Result<(), UsdError> {
    let path = std::env::args_os().nth(1).map_or_else(|| "breathing-egg.usda".into(), PathBuf::from);
    let mut writer = Writer::create(&path)?;
    writer.set_metadata("defaultPrim", &Value::token("Egg"))?;
    writer.set_metadata("metersPerUnit", &Value::Double(1.0))?;
    writer.set_metadata("upAxis", &Value::token("Y"))?;
    writer.set_metadata("timeCodesPerSecond", &Value::Double(24.0))?;
    writer.set_metadata("startTimeCode", &Value::Double(0.0))?;
    writer.set_metadata("endTimeCode", &Value::Double(PERIOD as f64))?;
    let egg = writer.define("/Egg", "Mesh")?;
    writer.declare_uniform(egg, "subdivisionScheme", "token", &Value::token("none"))?;
    let faces = faces();
    let counts = writer.declare(egg, "faceVertexCounts", "int[]")?;
    writer.set_default(counts, &Value::IntArray(faces.iter().map(|face| face.len() as i32).collect()))?;
    let indices = writer.declare(egg, "faceVertexIndices", "int[]")?;
    writer.set_default(indices, &Value::IntArray(faces.concat()))?;
    let points = writer.declare(egg, "points", "point3f[]")?;
    let extent = writer.declare(egg, "extent", "float3[]")?;
    for frame in (0..=PERIOD).step_by(STEP) {
        let posed: Vec<Vec3> = vertices().into_iter().map(|vertex| pose(vertex, frame)).collect();
        let low = posed.iter().copied().reduce(Vec3::min).unwrap_or_default();
        let high = posed.iter().copied().reduce(Vec3::max).unwrap_or_default();
        let rows = |points: &[Vec3]| Value::Vec3fArray(points.iter().map(|point| point.to_array()).collect());
        writer.write_sample(points, frame as f64, &rows(&posed))?;
        writer.write_sample(extent, frame as f64, &rows(&[low, high]))?;
    }
    writer.finish()
}

/// The vertices at rest: the lower pole, rings from below, the upper pole [m].
fn vertices() -> Vec<Vec3> {
    let ring = |ring: usize| {
        let polar = (ring + 1) as f32 / (RINGS + 1) as f32 * TAU / 2.0;
        (0..SIDES).map(move |side| {
            let (sin, cos) = (side as f32 / SIDES as f32 * TAU).sin_cos();
            Vec3::new(RADIUS * polar.sin() * sin, -HALF_HEIGHT * polar.cos(), RADIUS * polar.sin() * cos)
        })
    };
    let poles = [Vec3::NEG_Y, Vec3::Y].map(|pole| pole * HALF_HEIGHT);
    poles[..1].iter().copied().chain((0..RINGS).flat_map(ring)).chain(poles[1..].iter().copied()).collect()
}

/// Triangles at the poles and quads between them, counter-clockwise from outside.
fn faces() -> Vec<Vec<i32>> {
    let vertex = |ring: usize, side: usize| (1 + ring * SIDES + side % SIDES) as i32;
    let top = (1 + RINGS * SIDES) as i32;
    let mut faces = Vec::new();
    for side in 0..SIDES {
        faces.push(vec![0, vertex(0, side + 1), vertex(0, side)]);
        for ring in 1..RINGS {
            let (below, above) = (ring - 1, ring);
            let corners = [(below, side), (below, side + 1), (above, side + 1), (above, side)];
            faces.push(corners.map(|(ring, side)| vertex(ring, side)).to_vec());
        }
        faces.push(vec![vertex(RINGS - 1, side), vertex(RINGS - 1, side + 1), top]);
    }
    faces
}

/// Where a vertex is at a frame [m], rounded to a hundredth of a millimetre to keep the file small.
fn pose(vertex: Vec3, frame: usize) -> Vec3 {
    let phase = frame as f32 / PERIOD as f32 * TAU;
    let height = vertex.y / HALF_HEIGHT;
    // The belly swells below the middle.
    let breath = 1.0 + 0.16 * (0.5 - 0.5 * phase.cos()) * (-2.0 * (height + 0.3).powi(2)).exp();
    let swollen = vertex * Vec3::new(breath, 1.0, breath);
    // The upper half leans from side to side, more towards the top.
    let lean = 0.45 * phase.sin() * (0.5 + 0.5 * height).powi(2);
    let foot = Vec3::NEG_Y * HALF_HEIGHT;
    let swayed = foot + Quat::from_rotation_z(lean) * (swollen - foot);
    (swayed * 1e5).round() / 1e5
}
