//! The inner loop of strands that follow guides, on rows of eight numbers.

use std::ops::Range;

use glam::Vec3;

use super::Curves;
use super::follow::Binding;
use crate::math::lanes::{Kernel, Lane, Row};

/// A vertex within this part of the distance between slots counts as lying on one.
const ON_SLOT: f32 = 1e-3;

/// An affine map: its three columns and its shift, four numbers each.
pub(super) type Map = [Row; 2];

/// Where a vertex lies among the slots of its guides: this part of the way from one slot to the next.
#[derive(Debug, Clone, Copy)]
struct Place {
    slot: u32,
    part: f32,
}

/// Strands at rest.
#[derive(Debug, Clone)]
pub(super) struct RestStrands {
    curves: Curves,
    /// Squared length of the edge before each vertex [m²].
    edges: Vec<f32>,
    places: Vec<Place>,
}

impl RestStrands {
    pub(super) fn new(curves: &Curves, slots: usize) -> Self {
        let last = (slots - 1) as f32;
        let place = |fraction: f32| {
            let place = (fraction * last).clamp(0.0, last);
            let (nearest, slot) = (place.round(), place.floor());
            if (place - nearest).abs() < ON_SLOT {
                Place { slot: nearest as u32, part: 0.0 }
            } else {
                Place { slot: slot as u32, part: place - slot }
            }
        };
        let places = curves.fractions().into_iter().map(place).collect();
        let mut edges = Vec::with_capacity(curves.points.len());
        for strand in curves.iter() {
            edges.extend(strand.first().map(|_| 0.0));
            edges.extend(strand.windows(2).map(|edge| edge[0].distance_squared(edge[1])));
        }
        Self { curves: curves.clone(), edges, places }
    }

    pub(super) fn vertices(&self) -> usize {
        self.places.len()
    }

    pub(super) fn range(&self, strand: usize) -> Range<usize> {
        self.curves.range(strand)
    }
}

/// Poses consecutive strands.
pub(super) struct PoseStrands<'a> {
    pub rest: &'a RestStrands,
    /// The first strand.
    pub first: usize,
    /// Guides of the strands from the first one on.
    pub bindings: &'a [Binding],
    /// Where the strands begin now [m].
    pub roots: &'a [Vec3],
    pub guides: &'a Curves,
    /// Posed points of the guides [m].
    pub posed: &'a [Vec3],
    /// The maps of all guides, slot by slot.
    pub maps: &'a [Map],
    /// The share of the multi-guide scheme at each slot.
    pub betas: &'a [f32],
    pub keep_lengths: bool,
    /// Receives the strands' points [m].
    pub out: &'a mut [Vec3],
}

impl Kernel for PoseStrands<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(mut self) {
        let mut all = std::mem::take(&mut self.out);
        for (index, (binding, &root)) in self.bindings.iter().zip(self.roots).enumerate() {
            let strand = self.first + index;
            let out = all.split_off_mut(..self.rest.range(strand).len()).unwrap_or_default();
            if let Some(guide) = binding.same_as {
                out.copy_from_slice(&self.posed[self.guides.range(guide as usize)]);
            } else {
                self.pose::<L>(strand, binding, root, out);
            }
            if let Some(start) = out.first_mut() {
                *start = root;
            }
        }
    }
}

impl PoseStrands<'_> {
    /// Moves a strand by the maps of its guides, shifts it to its root, and restores the lengths of its edges.
    #[inline(always)]
    fn pose<L: Lane>(&self, strand: usize, binding: &Binding, root: Vec3, out: &mut [Vec3]) {
        let (range, slots) = (self.rest.range(strand), self.betas.len());
        let maps = binding.guides.map(|guide| &self.maps[guide as usize * slots..][..slots]);
        let rest = &self.rest.curves.points[range.clone()];
        let vertices = rest.iter().zip(&self.rest.places[range.clone()]).zip(&self.rest.edges[range]);
        let (mut previous, mut shift) = (Vec3::ZERO, Vec3::ZERO);
        for (vertex, (out, ((&point, &place), &length))) in out.iter_mut().zip(vertices).enumerate() {
            let here = self.carry::<L>(&maps, binding.weights, place, point);
            if vertex == 0 {
                shift = root - here;
            } else if self.keep_lengths {
                shift += (here - previous) * missing_length(here - previous, length);
            }
            previous = here;
            *out = here + shift;
        }
    }

    /// Where the maps of three guides take a point: M₀ + β (w₀ M₀ + w₁ M₁ + w₂ M₂ − M₀), between two slots where the
    /// vertex lies on none.
    #[inline(always)]
    fn carry<L: Lane>(&self, maps: &[&[Map]; 3], weights: [f32; 3], place: Place, point: Vec3) -> Vec3 {
        let (mut first, mut second) = (L::zero(), L::zero());
        // No closures here: what is not inlined is not compiled for the processor at hand.
        let mut slot = place.slot as usize;
        let mut share = 1.0 - place.part;
        loop {
            let multi = share * self.betas[slot];
            let shares = [share - multi + multi * weights[0], multi * weights[1], multi * weights[2]];
            for guide in 0..3 {
                let share = L::splat(f64::from(shares[guide]));
                let map = &maps[guide][slot];
                first = L::load(&map[0]).mul_add(share, first);
                second = L::load(&map[1]).mul_add(share, second);
            }
            if slot != place.slot as usize || place.part == 0.0 {
                break;
            }
            slot += 1;
            share = place.part;
        }
        let Vec3 { x, y, z } = point;
        let (factors, others) = (Row([x, x, x, x, y, y, y, y]), Row([z, z, z, z, 1.0, 1.0, 1.0, 1.0]));
        let mut halves = Row::default();
        first.mul_add(L::load(&factors), second * L::load(&others)).store(&mut halves);
        let [ax, ay, az, _, bx, by, bz, _] = halves.0;
        Vec3::new(ax + bx, ay + by, az + bz)
    }
}

/// By what part of itself an edge is too short for its squared length at rest.
#[inline(always)]
fn missing_length(edge: Vec3, length: f32) -> f32 {
    let squared = edge.length_squared();
    // An edge that all but vanished has no direction to grow in.
    if squared > 1e-16 { (length / squared).sqrt() - 1.0 } else { 0.0 }
}
