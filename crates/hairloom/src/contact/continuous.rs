//! The exact test of edges on their way.

use glam::Vec3;

use super::accd::{Moving, free_time, meeting};
use super::block::{BATCH, Narrow, Place};
use super::grid::Hulls;
use super::local::{Local, Slice, lanes_of};
use super::proximity::{least_distance, perpendicular};
use super::segments::{PARALLEL_F32, closest};
use super::select::{Earliest, Item};
use super::{Contact, Impact, Known, Position};
use crate::math::lanes::{Lane, Row, WIDTH};

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

/// Steps of a pair towards each other in single precision, with all pairs, with those that are left, and with those left then.
const FIRST_STEPS: usize = 1;
const SECOND_STEPS: usize = 3;
const MOST_STEPS: usize = 12;
/// The exact test takes edges for touching that are apart by a little more than their thickness: so much larger are the volumes that
/// propose pairs, or a pair might touch too early for one part of the time and be missed in the one before.
pub(super) const TOUCHING: f32 = 1.02;
/// The bits of all lanes.
const ALL: u32 = u32::MAX >> (32 - WIDTH);

/// Finds edges that come within a distance of each other during the step.
pub(super) struct Continuous<'a, P> {
    /// Distance between surfaces that counts as touching [m].
    pub(super) distance: f32,
    /// World positions at the start [m].
    pub(super) from: &'a [P],
    /// World positions at the end [m].
    pub(super) to: &'a [P],
    /// What rounding may do to a distance in single precision [m].
    pub(super) slack: f32,
    /// Pairs that nobody asks about.
    pub(super) known: &'a Known,
}

impl<P: Position> Narrow<4> for Continuous<'_, P> {
    type Item = Impact;

    #[inline(always)]
    fn test<L: Lane>(
        &self,
        local: &Local<4>,
        pairs: &[(u32, u32)],
        place: Place,
        earliest: &mut Earliest,
        out: &mut Vec<Impact>,
        found: &mut Vec<(u32, u32)>,
    ) {
        // A pair that shares several blocks is found in each, with the same bits; the last stage drops copies.
        let (mut near, mut count) = ([(0, 0); BATCH], 0);
        for group in pairs.chunks(WIDTH) {
            let (bits, _) = self.approach::<L>(local, group, place.slice, earliest, FIRST_STEPS);
            count = keep(group, bits, &mut near, count);
        }
        // Few are left, and fewer again; close together they fill all lanes.
        let all = std::mem::take(&mut count);
        for begin in (0..all).step_by(WIDTH) {
            let (group, size) = copy_of(&near[begin..all]);
            let (bits, _) = self.approach::<L>(local, &group[..size], place.slice, earliest, SECOND_STEPS);
            count = keep(&group[..size], bits, &mut near, count);
        }
        self.meet_exactly::<L>(local, &near[..count], place, earliest, out, found);
    }
}

/// Up to eight pairs from the beginning of a list, and how many they are.
#[inline(always)]
fn copy_of(list: &[(u32, u32)]) -> ([(u32, u32); WIDTH], usize) {
    let (mut group, size) = ([(0, 0); WIDTH], list.len().min(WIDTH));
    group[..size].copy_from_slice(&list[..size]);
    (group, size)
}

/// Puts the pairs of a group whose bits are set behind the first `count` of a list, and returns how many there are then.
#[inline(always)]
fn keep(group: &[(u32, u32)], mut bits: u32, list: &mut [(u32, u32); BATCH], mut count: usize) -> usize {
    while bits != 0 {
        list[count] = group[bits.trailing_zeros() as usize];
        bits &= bits - 1;
        count += 1;
    }
    count
}

impl<P: Position> Continuous<'_, P> {
    /// The exact look at pairs that are near each other at some time.
    #[inline(always)]
    fn meet_exactly<L: Lane>(
        &self,
        local: &Local<4>,
        near: &[(u32, u32)],
        place: Place,
        earliest: &mut Earliest,
        out: &mut Vec<Impact>,
        found: &mut Vec<(u32, u32)>,
    ) {
        for group in near.chunks(WIDTH) {
            let (mut bits, times) = self.approach::<L>(local, group, place.slice, earliest, MOST_STEPS);
            while bits != 0 {
                let lane = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let (i, j) = group[lane];
                let (a, b) = (local.edges[j as usize], local.edges[i as usize]);
                if earliest.latest(i, j) < times.0[lane] || self.known.holds(a, b) {
                    continue;
                }
                // What meets in another part of the time is found there.
                let reach = local.radii[i as usize] + local.radii[j as usize];
                if let Some(impact) = self.impact(a, b, reach)
                    && place.slice.holds(impact.time)
                {
                    earliest.add(i, j, impact.time);
                    out.push(impact);
                    found.push((i, j));
                }
            }
        }
    }

    /// Which of up to eight pairs come so close in a part of the time that they count as touching, a bit for each, and a time for each
    /// before which they do not: additive continuous detection in single precision, with room for its rounding. Pairs that are still on
    /// their way after `steps` are kept, those that meet when neither edge keeps it are not.
    #[inline(always)]
    fn approach<L: Lane>(
        &self,
        local: &Local<4>,
        group: &[(u32, u32)],
        slice: Slice,
        earliest: &Earliest,
        steps: usize,
    ) -> (u32, Row) {
        let (first, second) = lanes_of(group);
        let mut end = Row::default();
        for lane in 0..WIDTH {
            end.0[lane] = earliest.latest(second[lane], first[lane]).min(slice.end);
        }
        let ((a, radius_a), (b, radius_b)) = (local.ends::<L>(&first), local.ends::<L>(&second));
        let (motion_a, motion_b) = (local.motions::<L>(&first), local.motions::<L>(&second));
        // The exact test takes what is within a hundredth of the thickness for touching.
        let thickness = radius_a + radius_b + L::splat(f64::from(self.distance));
        let within = thickness.mul_add(L::splat(1.015), L::splat(4.0 * f64::from(self.slack)));
        let (end, mut time) = (L::load(&end), L::splat(f64::from(slice.begin)));
        for _ in 0..steps {
            let p = [motion_a[0].mul_add(time, a[0]), motion_a[1].mul_add(time, a[1])];
            let q = [motion_b[0].mul_add(time, b[0]), motion_b[1].mul_add(time, b[1])];
            let between = closest(p, q, PARALLEL_F32).between;
            let step = free_time(p, q, motion_a, motion_b, between, within);
            time += step;
            if (L::bits(step.less(L::splat(1.0e-4))) | L::bits(end.less(time))) & ALL == ALL {
                break;
            }
        }
        let mut times = Row::default();
        time.store(&mut times);
        (!L::bits(end.less(time)) & (ALL >> (WIDTH - group.len())), times)
    }

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
