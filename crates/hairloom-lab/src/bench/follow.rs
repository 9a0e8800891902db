//! A full head that follows its guides: 69,000 strands × 13 vertices, 2,000 guides, with rotation.

use std::f32::consts::TAU;

use glam::{Quat, Vec3};
use hairloom::groom::{Curves, Follow, Groom, Pick, pick_guides};
use hairloom::math::Random;
use serde_json::{Map, json};

use super::clock::{on_threads, shortest};
use super::{Bench, Ratio};

const STRANDS: usize = 69_000;
const VERTICES: usize = 13;
const GUIDES: usize = 2_000;
/// Runs of which the shortest counts.
const RUNS: usize = 40;
/// The goal, in copies of the strands' points: what is read and written makes up a few.
const MOST_COPIES: f64 = 30.0;

/// Wavy hair hanging from a patch at head height; `straight` hair has its vertices evenly spaced.
fn patch(straight: bool) -> Groom {
    let random = Random::new(7);
    let mut curves = Curves::default();
    for strand in 0..STRANDS {
        let mut random = random.fork(strand as u64);
        let root = Vec3::new(0.1 * random.signed(), 1.6 + 0.01 * random.unit(), 0.1 * random.signed());
        let (phase, length) = (TAU * random.unit(), 0.2 + 0.1 * random.unit());
        let wave = if straight { 0.0 } else { 0.01 };
        curves.push((0..VERTICES).map(|k| {
            let s = k as f32 / (VERTICES - 1) as f32;
            let (sin, cos) = (phase + 9.0 * s).sin_cos();
            root + Vec3::new(wave * s * cos, -length * s, wave * s * sin + 5.0 * wave * s * s)
        }));
    }
    Groom { curves, ..Groom::default() }
}

/// Each guide swings about its root.
fn swung(guides: &Curves) -> Vec<Vec3> {
    let swing = |guide: &[Vec3]| -> Vec<Vec3> {
        let (root, turn) = (guide[0], Quat::from_rotation_z(0.5 + guide[0].x));
        guide.iter().map(|&point| root + turn * (point - root)).collect()
    };
    guides.iter().flat_map(swing).collect()
}

pub(super) fn run() -> Bench {
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    for (hair, straight) in [("wavy", false), ("straight", true)] {
        let strands = patch(straight);
        let picked = pick_guides(&strands, GUIDES, Pick::Random, 1);
        let guides = strands.subset(&picked).expect("guides are among the strands");
        let mut follow = Follow::bind(&guides, &strands).expect("there are guides");
        let (posed, roots) = (swung(&guides.curves), strands.curves.root_points());
        let mut points = strands.curves.points.clone();
        let copy = shortest(RUNS, || points.copy_from_slice(&strands.curves.points));
        for threads in [1, 2] {
            let seconds = on_threads(threads, || {
                shortest(RUNS, || {
                    follow.apply(&posed, &roots, &mut points).expect("as many points as were bound");
                })
            });
            let mut row = Map::new();
            row.insert("hair".into(), json!(hair));
            row.insert("strands".into(), json!(STRANDS));
            row.insert("vertices".into(), json!(VERTICES));
            row.insert("threads".into(), json!(threads));
            row.insert("follow_ms".into(), json!(seconds * 1.0e3));
            row.insert("copy_ms".into(), json!(copy * 1.0e3));
            rows.push(row);
            if threads == 1 {
                let name = format!("{hair} strands that follow guides, against a copy of their points");
                ratios.push(Ratio::at_most(name, seconds / copy, MOST_COPIES));
            }
        }
        std::hint::black_box(points);
    }
    Bench { bench: "follow", rows, ratios }
}
