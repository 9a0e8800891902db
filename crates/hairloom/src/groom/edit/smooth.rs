use glam::Vec3;

use super::super::Groom;
use super::super::smooth::smooth;
use super::with_points;

/// The groom with every point moved towards the average of those up to `reach` [m] of arc length before and after it,
/// by `strength` from 0 to 1. Roots, tips and straight lines stay; what bends gets a little shorter.
pub fn smooth_strands(groom: &Groom, reach: f32, strength: f32) -> Groom {
    with_points(groom, |strand, old, new| {
        let edge = groom.curves.length(strand) / (old.len() - 1) as f32;
        let vertices = if edge > 0.0 { (reach / edge).round().max(1.0) as usize } else { 0 };
        let averages = averaged(old, vertices);
        for (point, average) in new.iter_mut().zip(averages) {
            *point = point.lerp(average, strength);
        }
    })
}

/// Averages over `reach` vertices to each side, or as many as there are. Beyond its ends the strand goes on as its own
/// point reflection, so that the average is as wide near the ends as elsewhere, and the ends stay.
pub(super) fn averaged(points: &[Vec3], reach: usize) -> Vec<Vec3> {
    let last = points.len() - 1;
    let reach = reach.min(last / 2);
    // Two averages reach twice as far.
    let beyond = 2 * reach;
    let (first, end) = (points[0], points[last]);
    let mut whole = Vec::with_capacity(points.len() + 2 * beyond);
    whole.extend((1..=beyond).rev().map(|k| first * 2.0 - points[k]));
    whole.extend_from_slice(points);
    whole.extend((1..=beyond).map(|k| end * 2.0 - points[last - k]));
    let mut averages = Vec::new();
    smooth(&whole, reach, &mut Vec::new(), &mut averages);
    averages.drain(..beyond);
    averages.truncate(points.len());
    // They stay but for rounding.
    (averages[0], averages[last]) = (first, end);
    averages
}
