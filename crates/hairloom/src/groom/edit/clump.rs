use glam::Vec3;
use rayon::prelude::*;

use super::super::nearest::PointTree;
use super::super::plan::coordinate_at;
use super::super::{Clumps, Groom, Pick, pick_guides};
use super::with_points;

/// The groom with its strands drawn together into locks: each towards the strand in the middle of its lock, whose root
/// is the nearest, at the same arc length, and more so towards the tip. Edges keep their lengths, and roots stay.
pub fn clump(groom: &Groom, clumps: &Clumps, seed: u64) -> Groom {
    if clumps.count == 0 || groom.strands() == 0 {
        return groom.clone();
    }
    let middles = pick_guides(groom, clumps.count as usize, Pick::Farthest, seed);
    let roots = groom.curves.root_points();
    let tree = PointTree::new(&middles.iter().map(|&strand| roots[strand]).collect::<Vec<_>>());
    let middle_of: Vec<usize> =
        roots.par_iter().map(|&root| middles[tree.nearest::<1>(root)[0].0 as usize]).collect();
    with_points(groom, |strand, old, new| {
        if middle_of[strand] == strand {
            return;
        }
        let middle = groom.curves.strand(middle_of[strand]);
        let length = groom.curves.length(strand);
        let (mut arc, mut edge, mut start) = (0.0, 0, 0.0);
        let mut before = old[0];
        for k in 1..old.len() {
            let step = old[k].distance(old[k - 1]);
            arc += step;
            let target;
            (target, edge, start) = along(middle, arc, edge, start);
            let pull = clumps.strength * (arc / length).min(1.0).powf(clumps.shape);
            let drawn = old[k].lerp(target, pull);
            let usual = old[k] - old[k - 1];
            let direction = (drawn - before).try_normalize().unwrap_or_else(|| usual.normalize_or_zero());
            new[k] = new[k - 1] + direction * step;
            before = drawn;
        }
    })
}

/// The point at an arc length [m] of a strand, which goes straight on beyond its tip.
fn along(strand: &[Vec3], arc: f32, from: usize, start: f32) -> (Vec3, usize, f32) {
    let (coordinate, edge, start) = coordinate_at(strand, arc, from, start);
    let (a, b) = (strand[edge], strand[edge + 1]);
    let t = coordinate - edge as f32;
    let beyond = arc - start - a.distance(b);
    let mut point = a.lerp(b, t);
    if edge + 2 >= strand.len() && beyond > 0.0 {
        point += (b - a).normalize_or_zero() * beyond;
    }
    (point, edge, start)
}
