use std::f32::consts::TAU;

use glam::Vec3;
use rayon::prelude::*;

use super::super::nearest::PointTree;
use super::super::plan::coordinate_at;
use super::Style;
use super::path::{CLEARANCE, Head, Path};
use super::roots::spread;
use super::skin::Skin;
use crate::math::Random;

/// Points sampled on one turn of a curl.
const SAMPLES_PER_TURN: f32 = 24.0;

/// Which lock each strand belongs to.
pub(super) struct Locks {
    /// The strand in the middle of each strand's lock; the strand itself where there are no locks.
    middles: Vec<u32>,
    random: Random,
}

impl Locks {
    pub(super) fn new(style: &Style, paths: &[Path], head: &Head, random: &Random) -> Self {
        let random = random.clone();
        let count = style.clumps.count as usize;
        if count == 0 {
            return Self { middles: (0..paths.len() as u32).collect(), random };
        }
        // Moved apart, so that no lock takes strands from both sides of the parting or of the bangs' border.
        let keys: Vec<Vec3> = paths.iter().map(|path| path.points[0] + head.apart(path.group)).collect();
        // A few strands for each lock stand for all.
        let stride = keys.len().div_ceil(8 * count);
        let few: Vec<Vec3> = keys.iter().step_by(stride).copied().collect();
        let middles: Vec<usize> = spread(&few, count).into_iter().map(|place| place * stride).collect();
        let tree = PointTree::new(&middles.iter().map(|&strand| keys[strand]).collect::<Vec<_>>());
        let middles =
            keys.par_iter().map(|&key| middles[tree.nearest::<1>(key)[0].0 as usize] as u32).collect();
        Self { middles, random }
    }

    /// Draws strands towards the middle of their lock, more so towards the tip.
    pub(super) fn draw_together(&self, style: &Style, paths: &mut [Path]) {
        if style.clumps.count == 0 {
            return;
        }
        let before: Vec<Vec<Vec3>> = paths.iter().map(|path| path.points.clone()).collect();
        paths.par_iter_mut().zip(&self.middles).for_each(|(path, &middle)| {
            let last = (path.points.len() - 1) as f32;
            let middle = &before[middle as usize];
            for (k, (point, &middle)) in path.points.iter_mut().zip(middle).enumerate() {
                let pull = style.clumps.strength * (k as f32 / last).powf(style.clumps.shape);
                *point = point.lerp(middle, pull);
            }
        });
    }
}

/// The strand at last: curls wound around its path, evenly sampled, edges at their length, outside the skin.
pub(super) fn finish(style: &Style, skin: &Skin, locks: &Locks, strand: usize, path: &Path) -> Vec<Vec3> {
    let curled = if style.curl.radius > 0.0 {
        let lock = locks.random.fork(u64::from(locks.middles[strand]));
        wind(style, &path.points, lock, path.random.clone())
    } else {
        path.points.clone()
    };
    let vertices = style.vertices as usize;
    let step = path.length / (vertices - 1) as f32;
    let mut points = Vec::with_capacity(vertices);
    points.push(curled[0]);
    let (mut edge, mut start) = (0, 0.0);
    let mut previous = curled[0];
    let mut direction = (curled[1] - curled[0]).normalize_or(Vec3::Y);
    for k in 1..vertices {
        let arc = step * k as f32;
        let coordinate;
        (coordinate, edge, start) = coordinate_at(&curled, arc, edge, start);
        let sample = curled[edge].lerp(curled[edge + 1], coordinate - edge as f32);
        // Beyond the end of a path that came out short, go straight on.
        let offset = sample - previous;
        if offset.length() > 0.25 * step {
            direction = offset.normalize_or(direction);
        }
        previous = sample;
        points.push(skin.advance(points[k - 1], direction * step, CLEARANCE.min(0.5 * arc)));
    }
    points
}

/// Winds a helix around a path. Strands of one lock share phase and sense of rotation.
fn wind(style: &Style, path: &[Vec3], mut lock: Random, mut own: Random) -> Vec<Vec3> {
    let curl = &style.curl;
    let sense = if lock.unit() < 0.5 { -1.0 } else { 1.0 };
    let vary = |amount: f32| amount * curl.jitter;
    let phase = TAU * lock.unit() + vary(TAU * 0.5 * own.signed());
    let radius = curl.radius * (1.0 + vary(0.6 * own.signed()));
    let pitch = curl.pitch * (1.0 + vary(0.3 * lock.signed() + 0.15 * own.signed()));
    let lengths: Vec<f32> = path.windows(2).map(|edge| edge[0].distance(edge[1])).collect();
    let mut across = (path[1] - path[0]).any_orthogonal_vector();
    let mut points = Vec::new();
    let mut arc = 0.0;
    for (edge, &length) in lengths.iter().enumerate() {
        let tangent = (path[edge + 1] - path[edge]).normalize_or(Vec3::Y);
        // Transported along the path without twist.
        across = across.reject_from_normalized(tangent).normalize_or(tangent.any_orthonormal_vector());
        let samples = ((length * SAMPLES_PER_TURN / pitch).ceil() as usize).clamp(1, 400);
        for sample in 0..samples {
            let t = sample as f32 / samples as f32;
            let at = arc + length * t;
            let (sin, cos) = (phase + sense * TAU * at / pitch).sin_cos();
            let rise = if curl.onset > 0.0 { (at / curl.onset).min(1.0) } else { 1.0 };
            let rise = rise * rise * (3.0 - 2.0 * rise);
            let offset = across * cos + tangent.cross(across) * (sin * (1.0 - curl.flatness));
            points.push(smooth(path, edge, t) + offset * (radius * rise));
        }
        arc += length;
    }
    points.push(path[path.len() - 1]);
    points[0] = path[0];
    points
}

/// Catmull–Rom between the points of a path: no kinks at its vertices.
fn smooth(path: &[Vec3], edge: usize, t: f32) -> Vec3 {
    let (b, c) = (path[edge], path[edge + 1]);
    let a = if edge > 0 { path[edge - 1] } else { b * 2.0 - c };
    let d = path.get(edge + 2).copied().unwrap_or(c * 2.0 - b);
    let (before, after) = ((c - a) * 0.5, (d - b) * 0.5);
    let (t2, t3) = (t * t, t * t * t);
    b * (2.0 * t3 - 3.0 * t2 + 1.0)
        + before * (t3 - 2.0 * t2 + t)
        + c * (3.0 * t2 - 2.0 * t3)
        + after * (t3 - t2)
}
