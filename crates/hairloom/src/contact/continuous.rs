//! The exact test of edges on their way.

use glam::Vec3;

use super::accd::{Moving, free_time, meeting};
use super::block::{BATCH, Local, Narrow};
use super::grid::Hulls;
use super::proximity::{least_distance, perpendicular};
use super::segments::{PARALLEL_F32, closest};
use super::select::{Earliest, Item};
use super::{Contact, Impact, Known, Position};
use crate::math::lanes::{Lane, Row, Row3, WIDTH};

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

/// Steps of a pair towards each other in single precision, with all pairs and with those that are left.
const FIRST_STEPS: usize = 1;
const MOST_STEPS: usize = 12;
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
        _block: [i32; 3],
        earliest: &mut Earliest,
        out: &mut Vec<Impact>,
        found: &mut Vec<(u32, u32)>,
    ) {
        // A pair that shares several blocks is found in each, with the same bits; the last stage drops copies.
        let mut near = [(0, 0); BATCH];
        let mut count = 0;
        for group in pairs.chunks(WIDTH) {
            let (rows, reach, end) = bring_together(local, group, earliest);
            let (mut bits, _) = self.approach::<L>(&rows, &reach, &end, FIRST_STEPS);
            while bits != 0 {
                let lane = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if lane < group.len() {
                    near[count] = group[lane];
                    count += 1;
                }
            }
        }
        // Few are left; close together they fill all lanes again.
        for group in near[..count].chunks(WIDTH) {
            let (rows, reach, end) = bring_together(local, group, earliest);
            let (mut bits, times) = self.approach::<L>(&rows, &reach, &end, MOST_STEPS);
            while bits != 0 {
                let lane = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let Some(&(i, j)) = group.get(lane) else { break };
                let (a, b) = (local.edges[j as usize], local.edges[i as usize]);
                if earliest.latest(i, j) < times.0[lane] || self.known.holds(a, b) {
                    continue;
                }
                if let Some(impact) = self.impact(a, b, reach.0[lane]) {
                    earliest.add(i, j, impact.time);
                    out.push(impact);
                    found.push((i, j));
                }
            }
        }
    }
}

/// The four points of eight first edges, then those of the second ones, how thick both are together [m], and the time after which they
/// may meet without anybody's interest.
#[inline(always)]
fn bring_together(local: &Local<4>, group: &[(u32, u32)], earliest: &Earliest) -> ([Row3; 8], Row, Row) {
    let mut rows = [Row3::default(); 8];
    let (mut reach, mut end) = (Row::default(), Row::default());
    for (lane, &(i, j)) in group.iter().enumerate() {
        let (a, b) = (&local.hulls[j as usize], &local.hulls[i as usize]);
        for (row, point) in rows.iter_mut().zip(a.iter().chain(b)) {
            row.set(lane, *point);
        }
        reach.0[lane] = local.radii[i as usize] + local.radii[j as usize];
        end.0[lane] = earliest.latest(i, j);
    }
    (rows, reach, end)
}

impl<P: Position> Continuous<'_, P> {
    /// Which of eight pairs come so close that they count as touching, a bit for each, and a time for each before which they do not:
    /// additive continuous detection in single precision, with room for its rounding. Pairs that are still on their way after `steps`
    /// are kept, those that meet after their `end` are not. `rows` holds the four points of the first edges and those of the second.
    #[inline(always)]
    fn approach<L: Lane>(&self, rows: &[Row3; 8], reach: &Row, end: &Row, steps: usize) -> (u32, Row) {
        let a = [L::load3(&rows[0]), L::load3(&rows[1])];
        let b = [L::load3(&rows[4]), L::load3(&rows[5])];
        let motion_a = [L::load3(&rows[2]) - a[0], L::load3(&rows[3]) - a[1]];
        let motion_b = [L::load3(&rows[6]) - b[0], L::load3(&rows[7]) - b[1]];
        // The exact test takes what is within a hundredth of the thickness for touching.
        let thickness = L::load(reach) + L::splat(f64::from(self.distance));
        let within = thickness.mul_add(L::splat(1.015), L::splat(4.0 * f64::from(self.slack)));
        let (end, mut time) = (L::load(end), L::zero());
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
        (!L::bits(end.less(time)) & ALL, times)
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
