//! The exact test of edges on their way.

use glam::Vec3;

use super::accd::{Moving, meeting};
use super::block::{Local, Narrow};
use super::grid::Hulls;
use super::proximity::{least_distance, perpendicular};
use super::select::Item;
use super::{Contact, Impact, Position};
use crate::math::lanes::Lane;

/// Vertices at the start and at the end of a step, relative to the search's origin and without their common motion [m].
pub(super) struct Swept<'a> {
    /// At the start.
    pub(super) from: &'a [Vec3],
    /// At the end.
    pub(super) to: &'a [Vec3],
}

impl Hulls<4> for Swept<'_> {
    #[inline(always)]
    fn hull(&self, edge: u32) -> [Vec3; 4] {
        let edge = edge as usize;
        [self.from[edge], self.from[edge + 1], self.to[edge], self.to[edge + 1]]
    }
}

impl Item for Impact {
    #[inline(always)]
    fn edges(&self) -> [u32; 2] {
        [self.contact.a, self.contact.b]
    }

    /// The time; edges that touch from the start come before all others, the deepest first.
    #[inline(always)]
    fn rank(&self) -> f32 {
        if self.time > 0.0 { self.time } else { self.contact.gap.min(0.0) }
    }
}

/// Finds edges that come within a distance of each other during the step.
pub(super) struct Continuous<'a, P> {
    /// Distance between surfaces that counts as touching [m].
    pub(super) distance: f32,
    /// World positions at the start [m].
    pub(super) from: &'a [P],
    /// World positions at the end [m].
    pub(super) to: &'a [P],
}

impl<P: Position> Narrow<4> for Continuous<'_, P> {
    type Item = Impact;

    #[inline(always)]
    fn test<L: Lane>(
        &self,
        local: &Local<4>,
        pairs: &[(u32, u32)],
        _block: [i32; 3],
        out: &mut Vec<Impact>,
        found: &mut Vec<(u32, u32)>,
    ) {
        // A pair that shares several blocks is found in each, with the same bits; the last stage drops copies.
        for &(i, j) in pairs {
            let reach = local.radii[i as usize] + local.radii[j as usize];
            if let Some(impact) = self.impact(local.edges[j as usize], local.edges[i as usize], reach) {
                out.push(impact);
                found.push((i, j));
            }
        }
    }
}

impl<P: Position> Continuous<'_, P> {
    fn moving(&self, edge: u32) -> Moving {
        let ends = |positions: &[P]| [positions[edge as usize].place(), positions[edge as usize + 1].place()];
        Moving { from: ends(self.from), to: ends(self.to) }
    }

    fn impact(&self, a: u32, b: u32, reach: f32) -> Option<Impact> {
        let (edge_a, edge_b) = (self.moving(a), self.moving(b));
        let met = meeting(&edge_a, &edge_b, f64::from(reach) + f64::from(self.distance))?;
        let between = met.closest.between;
        let normal = if met.distance > f64::from(least_distance(reach)) {
            (glam::DVec3::new(between.x, between.y, between.z) / met.distance).as_vec3()
        } else {
            let along = |edge: &Moving| {
                let [first, last] = [0, 1].map(|k| edge.from[k].lerp(edge.to[k], met.time));
                (last - first).as_vec3()
            };
            perpendicular(along(&edge_a), along(&edge_b))
        };
        let gap = (met.distance - f64::from(reach)) as f32;
        let contact = Contact { a, b, s: met.closest.s as f32, t: met.closest.t as f32, normal, gap };
        Some(Impact { contact, time: rounded_down(met.time) })
    }
}

/// The largest single-precision number that is not above a time.
fn rounded_down(time: f64) -> f32 {
    let rounded = time as f32;
    if f64::from(rounded) > time { rounded.next_down() } else { rounded }
}
