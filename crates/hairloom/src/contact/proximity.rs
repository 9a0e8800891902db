//! The exact test of edges at rest.

use glam::Vec3;

use super::Contact;
use super::block::{Narrow, Place};
use super::grid::Hulls;
use super::local::{Local, lanes_of};
use super::raster::Lattice;
use super::segments::{PARALLEL_F32, closest};
use super::select::{Earliest, Item};
use crate::math::Vector3;
use crate::math::lanes::{Lane, Row, Row3, WIDTH};

/// Vertices at rest, relative to the search's origin [m].
pub(super) struct Still<'a>(pub(super) &'a [Vec3]);

impl Hulls<2> for Still<'_> {
    #[inline(always)]
    fn hull(&self, edge: u32) -> [Vec3; 2] {
        [self.0[edge as usize], self.0[edge as usize + 1]]
    }
}

impl Item for Contact {
    #[inline(always)]
    fn edges(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    #[inline(always)]
    fn rank(&self) -> f32 {
        self.gap
    }
}

/// Keeps pairs of edges whose surfaces are within a distance.
pub(super) struct Proximity<'a> {
    /// The distance [m].
    pub(super) distance: f32,
    /// The blocks of the outer grid.
    pub(super) blocks: Lattice,
    /// Whether the strand goes on after the edge behind each vertex.
    pub(super) goes_on: &'a [bool],
}

impl Narrow<2> for Proximity<'_> {
    type Item = Contact;

    #[inline(always)]
    fn test<L: Lane>(
        &self,
        local: &Local<2>,
        pairs: &[(u32, u32)],
        place: Place,
        _earliest: &mut Earliest,
        out: &mut Vec<Contact>,
        found: &mut Vec<(u32, u32)>,
    ) {
        for group in pairs.chunks(WIDTH) {
            let (first, second) = lanes_of(group);
            let ([a0, a1], radius_a) = local.ends::<L>(&first);
            let ([b0, b1], radius_b) = local.ends::<L>(&second);
            let closest = closest([a0, a1], [b0, b1], PARALLEL_F32);
            let distance = closest.between.length_squared().sqrt();
            let gap = distance - (radius_a + radius_b);
            // Not further than: the comparison fails for what is further alone.
            let far = L::bits(L::splat(f64::from(self.distance)).less(gap));
            let mut hits = !far & ((1_u32 << group.len()) - 1);
            if hits == 0 {
                continue;
            }
            let half = L::splat(0.5);
            let middle = (a1 - a0).mul_add(closest.s, a0) - closest.between * half;
            let result = Result8::store(closest.s, closest.t, gap, distance, closest.between, middle);
            while hits != 0 {
                let lane = hits.trailing_zeros() as usize;
                hits &= hits - 1;
                if self.blocks.cell_of(result.middle.get(lane)) == place.block {
                    let contact = result.contact(lane, local, group[lane]);
                    if !self.is_shared(&contact) {
                        out.push(contact);
                        found.push(group[lane]);
                    }
                }
            }
        }
    }
}

impl Proximity<'_> {
    /// Whether the contact is at a vertex from which the strand goes on: the next edge reports it.
    #[inline(always)]
    fn is_shared(&self, contact: &Contact) -> bool {
        let ends = |place: f32, edge: u32| place >= 1.0 && self.goes_on[edge as usize];
        ends(contact.s, contact.a) || ends(contact.t, contact.b)
    }
}

/// What eight pairs gave, in memory.
struct Result8 {
    s: Row,
    t: Row,
    gap: Row,
    distance: Row,
    between: Row3,
    middle: Row3,
}

impl Result8 {
    #[inline(always)]
    fn store<L: Lane>(s: L, t: L, gap: L, distance: L, between: Vector3<L>, middle: Vector3<L>) -> Self {
        let mut rows = [Row::default(); 4];
        let mut vectors = [Row3::default(); 2];
        for (row, value) in rows.iter_mut().zip([s, t, gap, distance]) {
            value.store(row);
        }
        L::store3(between, &mut vectors[0]);
        L::store3(middle, &mut vectors[1]);
        let ([s, t, gap, distance], [between, middle]) = (rows, vectors);
        Self { s, t, gap, distance, between, middle }
    }

    /// The contact of one lane; `pair` is (edge b, edge a).
    #[inline(always)]
    fn contact(&self, lane: usize, local: &Local<2>, (i, j): (u32, u32)) -> Contact {
        let (distance, between) = (self.distance.0[lane], self.between.get(lane));
        let reach = local.radii[i as usize] + local.radii[j as usize];
        let (a, b) = (local.hulls[j as usize], local.hulls[i as usize]);
        let normal = if distance > least_distance(reach) {
            between / distance
        } else {
            // Marked for the last stage, which may know the normal of the step before.
            perpendicular(a[1] - a[0], b[1] - b[0])
        };
        Contact {
            a: local.edges[j as usize],
            b: local.edges[i as usize],
            s: self.s.0[lane],
            t: self.t.0[lane],
            normal,
            gap: self.gap.0[lane],
        }
    }
}

/// Below this distance of the centrelines [m] the line between the closest points is no direction to rely on.
#[inline(always)]
pub(super) fn least_distance(reach: f32) -> f32 {
    1.0e-3 * reach + 1.0e-8
}

/// A direction across both edges; across the first where they are parallel; up where it has no length.
pub(super) fn perpendicular(a: Vec3, b: Vec3) -> Vec3 {
    let (a, b) = (a.normalize_or_zero(), b.normalize_or_zero());
    let across = a.cross(b);
    if across.length_squared() > 1.0e-8 {
        return across.normalize();
    }
    let along = if a == Vec3::ZERO { b } else { a };
    if along == Vec3::ZERO { Vec3::Y } else { along.any_orthonormal_vector() }
}
