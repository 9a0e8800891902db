use glam::Vec3;

use super::super::plan::{Plan, coordinate_at};
use super::super::{Groom, SHORTEST_EDGE};
use super::live::SHORTEST_REMNANT;

/// The groom with no strand longer than `longest` [m], above 0. Vertices before the cut stay; the length of what is
/// left is exactly that.
pub fn trim_to_length(groom: &Groom, longest: f32) -> Groom {
    trim_at(groom, |_| longest)
}

/// The groom with every strand cut to `fraction` of its length, above 0 and up to 1.
pub fn trim_to_fraction(groom: &Groom, fraction: f32) -> Groom {
    trim_at(groom, |length| length * fraction)
}

/// Cuts strands at an arc length [m] that may depend on their whole length.
fn trim_at(groom: &Groom, place: impl Fn(f32) -> f32) -> Groom {
    let mut plan = Plan::new();
    let mut cuts = Vec::with_capacity(groom.strands());
    for (index, strand) in groom.curves.iter().enumerate() {
        let length = groom.curves.length(index);
        let target = place(length);
        if target >= length {
            plan.keep(index, &groom.curves);
            cuts.push(None);
            continue;
        }
        let (tip, edge, start) = coordinate_at(strand, target, 0, 0.0);
        let last = cut(&mut plan, index, edge, tip);
        let before = if last < edge { start - strand[last].distance(strand[edge]) } else { start };
        cuts.push(Some(target - before));
    }
    let mut trimmed = plan.apply(groom);
    // Where a vertex was left out, the last edge takes a short cut: it is as long as what it stands for.
    for (strand, cut) in cuts.into_iter().enumerate() {
        if let Some(length) = cut {
            let tip = trimmed.curves.range(strand).end - 1;
            let from = trimmed.curves.points[tip - 1];
            let direction = (trimmed.curves.points[tip] - from).normalize_or_zero();
            trimmed.curves.points[tip] = from + direction * length;
        }
    }
    trimmed
}

/// The groom without what lies beyond a plane through `point` [m], on the side that `normal` points to. A strand ends
/// where it first meets the plane; one whose root lies beyond goes.
pub fn trim_to_plane(groom: &Groom, point: Vec3, normal: Vec3) -> Groom {
    let normal = normal.normalize_or_zero();
    let mut plan = Plan::new();
    for (index, strand) in groom.curves.iter().enumerate() {
        let height = |k: usize| normal.dot(strand[k] - point);
        if height(0) > 0.0 {
            continue;
        }
        let Some(beyond) = (1..strand.len()).find(|&k| height(k) > 0.0) else {
            plan.keep(index, &groom.curves);
            continue;
        };
        let edge = beyond - 1;
        let t = height(edge) / (height(edge) - height(beyond));
        // What is left of a first edge has to be an edge.
        if edge > 0 || t * strand[0].distance(strand[1]) >= 2.0 * SHORTEST_EDGE {
            cut(&mut plan, index, edge, edge as f32 + t);
        }
    }
    plan.apply(groom)
}

/// Plans a strand that ends at `tip` on its edge `edge`; returns the last old vertex that is kept.
fn cut(plan: &mut Plan, index: usize, edge: usize, tip: f32) -> usize {
    let short = tip - (edge as f32) < SHORTEST_REMNANT && edge > 0;
    let last = if short { edge - 1 } else { edge };
    plan.push(index, (0..=last).map(|vertex| vertex as f32).chain([tip]));
    last
}
