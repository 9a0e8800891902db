//! The exact test of edges on their way.

use glam::Vec3;

use super::accd::{Moving, meeting};
use super::block::{Local, Narrow};
use super::grid::Hulls;
use super::proximity::{least_distance, perpendicular};
use super::segments::{PARALLEL_F32, closest};
use super::select::Item;
use super::{Contact, Impact, Known, Position};
use crate::math::Vector3;
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

/// Parts of a step in which pairs are looked at before the exact test.
const PARTS: u32 = 8;

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
        out: &mut Vec<Impact>,
        found: &mut Vec<(u32, u32)>,
    ) {
        // A pair that shares several blocks is found in each, with the same bits; the last stage drops copies.
        for group in pairs.chunks(WIDTH) {
            let mut rows = [Row3::default(); 8];
            let mut reach = Row::default();
            for (lane, &(i, j)) in group.iter().enumerate() {
                let (a, b) = (&local.hulls[j as usize], &local.hulls[i as usize]);
                for (row, point) in rows.iter_mut().zip(a.iter().chain(b)) {
                    row.set(lane, *point);
                }
                reach.0[lane] = local.radii[i as usize] + local.radii[j as usize];
            }
            let mut near = self.may_meet::<L>(&rows, &reach) & ((1_u32 << group.len()) - 1);
            while near != 0 {
                let lane = near.trailing_zeros() as usize;
                near &= near - 1;
                let (i, j) = group[lane];
                let (a, b) = (local.edges[j as usize], local.edges[i as usize]);
                if self.known.holds(a, b) {
                    continue;
                }
                if let Some(impact) = self.impact(a, b, reach.0[lane]) {
                    out.push(impact);
                    found.push((i, j));
                }
            }
        }
    }
}

impl<P: Position> Continuous<'_, P> {
    /// Which of eight pairs may come so close that they count as touching, a bit for each. `rows` holds the four points of
    /// the first edges and those of the second.
    ///
    /// No distance changes faster than the fastest end beside the other edge's ends: at any time, twice the distance is at least
    /// that before and that after together, less all of the way between.
    #[inline(always)]
    fn may_meet<L: Lane>(&self, rows: &[Row3; 8], reach: &Row) -> u32 {
        let (a0, a1) = (L::load3(&rows[0]), L::load3(&rows[1]));
        let (b0, b1) = (L::load3(&rows[4]), L::load3(&rows[5]));
        let (first, second) = (L::load3(&rows[2]) - a0, L::load3(&rows[3]) - a1);
        let (third, fourth) = (L::load3(&rows[6]) - b0, L::load3(&rows[7]) - b1);
        let fastest = (first - third).length_squared().max((first - fourth).length_squared());
        let other = (second - third).length_squared().max((second - fourth).length_squared());
        let way = fastest.max(other).sqrt() * L::splat(1.0 + 1.0e-5);
        // The exact test takes what is within a hundredth of the thickness for touching.
        let thickness = L::load(reach) + L::splat(f64::from(self.distance));
        let least = thickness * L::splat(2.03) + L::splat(8.0 * f64::from(self.slack));
        let start = closest([a0, a1], [b0, b1], PARALLEL_F32).between.length_squared().sqrt();
        let (a2, a3, b2, b3) = (a0 + first, a1 + second, b0 + third, b1 + fourth);
        let end = closest([a2, a3], [b2, b3], PARALLEL_F32).between.length_squared().sqrt();
        const ALL: u32 = u32::MAX >> (32 - WIDTH);
        let mut far = L::bits((way + least).less(start + end));
        if far == ALL {
            return 0;
        }
        let within = thickness * L::splat(1.02) + L::splat(4.0 * f64::from(self.slack));
        far |= one_side([a0, a1, a2, a3], [b0, b1, b2, b3], within);
        if far == ALL {
            return 0;
        }
        // The same for parts of the step, in which the way is shorter.
        let limit = way * L::splat(1.0 / f64::from(PARTS)) + least;
        let mut near = 0;
        let mut before = start;
        for part in 1..=PARTS {
            let time = L::splat(f64::from(part) / f64::from(PARTS));
            let a = [first.mul_add(time, a0), second.mul_add(time, a1)];
            let b = [third.mul_add(time, b0), fourth.mul_add(time, b1)];
            let after = closest(a, b, PARALLEL_F32).between.length_squared().sqrt();
            near |= !L::bits(limit.less(before + after));
            before = after;
        }
        near & !far
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

/// Which of eight pairs of edges, each given by its ends at the start and at the end of the step, pass each other farther off than
/// `within` [m] because their lines do: a bit for each.
///
/// With u and w along the edges and d between them, lines are |d·(u × w)| / |u × w| apart. The numerator is a cubic in time and the vector
/// below it a quadratic; both lie within what their Bernstein coefficients span.
#[inline(always)]
fn one_side<L: Lane>(a: [Vector3<L>; 4], b: [Vector3<L>; 4], within: L) -> u32 {
    let (u, w, d) = ([a[1] - a[0], a[3] - a[2]], [b[1] - b[0], b[3] - b[2]], [b[0] - a[0], b[2] - a[2]]);
    let normals = [u[0].cross(w[0]), (u[0].cross(w[1]) + u[1].cross(w[0])) * L::splat(0.5), u[1].cross(w[1])];
    let (two_thirds, third) = (L::splat(2.0 / 3.0), L::splat(1.0 / 3.0));
    let first = d[0].dot(normals[0]);
    let second = d[1].dot(normals[0]).mul_add(third, d[0].dot(normals[1]) * two_thirds);
    let third = d[0].dot(normals[2]).mul_add(third, d[1].dot(normals[1]) * two_thirds);
    let fourth = d[1].dot(normals[2]);
    let least = first.min(second).min(third.min(fourth));
    let most = first.max(second).max(third.max(fourth));
    let tallest = longest(normals[0], normals[1]).max(normals[2].length_squared()).sqrt();
    // Six products of three lengths, each rounded a few times in single precision.
    let lengths = longest(u[0], u[1]).sqrt() * longest(w[0], w[1]).sqrt() * longest(d[0], d[1]).sqrt();
    let doubt = lengths * L::splat(4.0e-6);
    let limit = within.mul_add(tallest, doubt);
    L::bits(limit.less(least)) | L::bits(limit.less(-most))
}

/// The larger of two squared lengths. No closure: intrinsics inside one are not inlined.
#[inline(always)]
fn longest<L: Lane>(x: Vector3<L>, y: Vector3<L>) -> L {
    x.length_squared().max(y.length_squared())
}

/// The largest single-precision number that is not above a time.
fn rounded_down(time: f64) -> f32 {
    let rounded = time as f32;
    if f64::from(rounded) > time { rounded.next_down() } else { rounded }
}
