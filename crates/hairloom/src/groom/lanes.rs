//! The inner loop of strands that follow guides, on rows of eight numbers.

use std::ops::Range;

use glam::Vec3;

use super::Curves;
use super::follow::Binding;
use crate::math::Vector3;
use crate::math::lanes::{Kernel, Lane, Row, WIDTH, copy_past_caches};

/// A vertex within this part of the distance between slots counts as lying on one.
const ON_SLOT: f32 = 1e-3;

/// Rotations and shifts of guides, laid out for two kinds of strands.
#[derive(Debug, Clone, Default)]
pub(super) struct Maps {
    /// Eight slots of a guide, number by number: the quaternion of the rotation times √2, vector first, and the shift. Strands read
    /// maps all over memory, so the fewer numbers the better.
    pub rows: Vec<[Row; NUMBERS]>,
    /// Slot by slot three columns and a shift, four numbers for each vector.
    pub slots: Vec<[Row; 2]>,
}

/// Numbers of a map in [`Maps::rows`].
pub(super) const NUMBERS: usize = 7;

/// How many rows the slots of a guide take up.
pub(super) fn rows(slots: usize) -> usize {
    slots.div_ceil(WIDTH)
}

/// Where a vertex lies among the slots of its guides: this part of the way from one slot to the next.
#[derive(Debug, Clone, Copy)]
struct Place {
    slot: u32,
    part: f32,
}

/// Strands at rest.
#[derive(Debug, Clone)]
pub(super) struct RestStrands {
    offsets: Vec<u32>,
    /// Points by axis [m], and a row more.
    axes: [Vec<f32>; 3],
    places: Vec<Place>,
    /// Whether a strand has one vertex on each slot.
    pub(super) even: Vec<bool>,
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
        let places: Vec<Place> = curves.fractions().into_iter().map(place).collect();
        let even = (0..curves.strands()).map(|strand| {
            let places = &places[curves.range(strand)];
            let on_its_slot = |(slot, place): (u32, &Place)| place.slot == slot && place.part == 0.0;
            places.len() == slots && (0..).zip(places).all(on_its_slot)
        });
        let more = [Vec3::ZERO; WIDTH];
        let axis = |axis: usize| curves.points.iter().chain(&more).map(|point| point[axis]).collect();
        Self {
            even: even.collect(),
            axes: [axis(0), axis(1), axis(2)],
            offsets: curves.offsets.clone(),
            places,
        }
    }

    pub(super) fn vertices(&self) -> usize {
        self.places.len()
    }

    /// Whether every strand has one vertex on each slot.
    pub(super) fn all_even(&self) -> bool {
        self.even.iter().all(|&even| even)
    }

    #[inline(always)]
    pub(super) fn range(&self, strand: usize) -> Range<usize> {
        self.offsets[strand] as usize..self.offsets[strand + 1] as usize
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
    /// The maps of all guides, one after the other.
    pub maps: &'a Maps,
    /// Slots on each guide, and the share of the multi-guide scheme at each.
    pub slots: usize,
    pub betas: &'a [Row],
    pub keep_lengths: bool,
    pub scratch: &'a mut Moved,
    /// Receives the strands' points [m].
    pub out: &'a mut [Vec3],
}

impl Kernel for PoseStrands<'_> {
    type Output = ();

    /// Moves strands by the maps of their guides, restores the lengths of their edges, and shifts them to their roots: each for all
    /// strands before the next, so that lengths are found eight at a time.
    #[inline(always)]
    fn run<L: Lane>(mut self) {
        let all = std::mem::take(&mut self.out);
        let mut moved = std::mem::take(self.scratch);
        moved.resize(all.len());
        let start = self.rest.range(self.first).start;
        for (index, binding) in self.bindings.iter().enumerate() {
            let strand = self.first + index;
            let range = self.rest.range(strand);
            let to = range.start - start;
            if binding.same_as.is_some() {
                continue;
            } else if self.rest.even[strand] {
                self.carry_evenly::<L>(range.start, binding, &mut moved, to);
            } else {
                self.carry::<L>(range, binding, &mut moved, to);
            }
        }
        let [x, y, z] = &self.rest.axes;
        let rest = [&x[start..], &y[start..], &z[start..]];
        moved.find_edges(self.keep_lengths.then_some(rest));
        let (mut from, mut laid) = (0, std::mem::take(&mut moved.laid));
        for (index, (binding, &root)) in self.bindings.iter().zip(self.roots).enumerate() {
            let count = self.rest.range(self.first + index).len();
            let out = &mut laid[from..from + count];
            if let Some(guide) = binding.same_as {
                out.copy_from_slice(&self.posed[self.guides.range(guide as usize)]);
                if let Some(start) = out.first_mut() {
                    *start = root;
                }
            } else {
                moved.lay_out(from, root, out);
            }
            from += count;
        }
        // Nobody reads them before all strands are there, which is more than the caches hold.
        copy_past_caches(&laid, all);
        moved.laid = laid;
        *self.scratch = moved;
    }
}

/// Where the maps of three guides take a point: M₀ + β (w₀ M₀ + w₁ M₁ + w₂ M₂ − M₀). No closures here: what is not inlined is not
/// compiled for the processor at hand.
impl PoseStrands<'_> {
    /// A strand with one vertex on each slot, eight vertices at a time. Of the last eight some may lie beyond its end: the next strand
    /// writes over them.
    #[inline(always)]
    fn carry_evenly<L: Lane>(&self, from: usize, binding: &Binding, moved: &mut Moved, to: usize) {
        // Everything is cut to so many rows beforehand, so that nothing is checked on the way.
        let rows = self.betas.len();
        let [x, y, z] = &self.rest.axes;
        let (x, y, z) = (eights(x, from, rows), eights(y, from, rows), eights(z, from, rows));
        let [to_x, to_y, to_z] = &mut moved.points;
        let to_x = eights_mut(to_x, to, rows);
        let (to_y, to_z) = (eights_mut(to_y, to, rows), eights_mut(to_z, to, rows));
        let (first, second, third) =
            (self.map(binding, 0, rows), self.map(binding, 1, rows), self.map(binding, 2, rows));
        let [w0, w1, w2] = binding.weights;
        for row in 0..rows {
            let point = Vector3::new(L::load(&Row(x[row])), L::load(&Row(y[row])), L::load(&Row(z[row])));
            let multi = L::load(&self.betas[row]);
            let own = multi.mul_add(L::splat(f64::from(w0)), L::one() - multi);
            // Shares sum to one.
            let mut sum = way(&first[row], point).mul_add(own, point);
            sum = way(&second[row], point).mul_add(multi * L::splat(f64::from(w1)), sum);
            sum = way(&third[row], point).mul_add(multi * L::splat(f64::from(w2)), sum);
            let mut out = Row::default();
            sum.x.store(&mut out);
            to_x[row] = out.0;
            sum.y.store(&mut out);
            to_y[row] = out.0;
            sum.z.store(&mut out);
            to_z[row] = out.0;
        }
    }

    /// The map of one of the guides of a strand.
    #[inline(always)]
    fn map(&self, binding: &Binding, guide: usize, rows: usize) -> &[[Row; NUMBERS]] {
        &self.maps.rows[binding.guides[guide] as usize * rows..][..rows]
    }

    /// Any strand, vertex by vertex; between two slots where a vertex lies on none.
    #[inline(always)]
    fn carry<L: Lane>(&self, range: Range<usize>, binding: &Binding, moved: &mut Moved, to: usize) {
        let (weights, slots) = (binding.weights, self.slots);
        let maps = binding.guides.map(|guide| &self.maps.slots[guide as usize * slots..][..slots]);
        let [x, y, z] = &self.rest.axes;
        for (at, vertex) in range.enumerate() {
            let place = self.rest.places[vertex];
            let (mut first, mut second) = (L::zero(), L::zero());
            let (mut slot, mut share) = (place.slot as usize, 1.0 - place.part);
            loop {
                let multi = share * self.betas[slot / WIDTH].0[slot % WIDTH];
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
            let (x, y, z) = (x[vertex], y[vertex], z[vertex]);
            let (factors, others) = (Row([x, x, x, x, y, y, y, y]), Row([z, z, z, z, 1.0, 1.0, 1.0, 1.0]));
            let mut halves = Row::default();
            first.mul_add(L::load(&factors), second * L::load(&others)).store(&mut halves);
            for (axis, out) in moved.points.iter_mut().enumerate() {
                out[to + at] = halves.0[axis] + halves.0[4 + axis];
            }
        }
    }
}

/// How far a map takes eight points: √2 w (q × x) + q × (q × x) + shift, with q as it is stored.
#[inline(always)]
fn way<L: Lane>(map: &[Row; NUMBERS], Vector3 { x, y, z }: Vector3<L>) -> Vector3<L> {
    let (a, b, c, w) = (L::load(&map[0]), L::load(&map[1]), L::load(&map[2]), L::load(&map[3]));
    let (minus_a, minus_b, minus_c) = (-a, -b, -c);
    let u = minus_c.mul_add(y, b * z);
    let v = minus_a.mul_add(z, c * x);
    let t = minus_b.mul_add(x, a * y);
    Vector3::new(
        w.mul_add(u, b.mul_add(t, minus_c.mul_add(v, L::load(&map[4])))),
        w.mul_add(v, c.mul_add(u, minus_a.mul_add(t, L::load(&map[5])))),
        w.mul_add(t, a.mul_add(v, minus_b.mul_add(u, L::load(&map[6])))),
    )
}

/// So many times eight numbers of a column, which has a row more than is asked for.
#[inline(always)]
fn eights(column: &[f32], from: usize, rows: usize) -> &[[f32; WIDTH]] {
    &column[from..from + WIDTH * rows].as_chunks().0[..rows]
}

#[inline(always)]
fn eights_mut(column: &mut [f32], from: usize, rows: usize) -> &mut [[f32; WIDTH]] {
    &mut column[from..from + WIDTH * rows].as_chunks_mut().0[..rows]
}

/// Points as the guides carried them [m] and the edges before each of them [m], by axis; points have a row more. And the points as they
/// are at last [m].
#[derive(Default)]
pub(super) struct Moved {
    points: [Vec<f32>; 3],
    edges: [Vec<f32>; 3],
    laid: Vec<Vec3>,
}

impl Moved {
    fn resize(&mut self, points: usize) {
        self.points.iter_mut().for_each(|axis| axis.resize(points + WIDTH, 0.0));
        self.edges.iter_mut().for_each(|axis| axis.resize(points, 0.0));
        self.laid.resize(points, Vec3::ZERO);
    }

    /// The edge before each point, brought to its length at rest where points at rest are given, by axis [m]. What the first points of
    /// strands get means nothing.
    #[inline(always)]
    fn find_edges(&mut self, rest: Option<[&[f32]; 3]>) {
        let [x, y, z] = &self.points;
        let [to_x, to_y, to_z] = &mut self.edges;
        let count = to_x.len();
        let (x, y, z) = (&x[..count], &y[..count], &z[..count]);
        let (to_x, to_y, to_z) = (&mut to_x[..count], &mut to_y[..count], &mut to_z[..count]);
        match rest {
            Some([rest_x, rest_y, rest_z]) => {
                let (rest_x, rest_y, rest_z) = (&rest_x[..count], &rest_y[..count], &rest_z[..count]);
                for at in 1..count {
                    let (ax, ay, az) = (
                        rest_x[at] - rest_x[at - 1],
                        rest_y[at] - rest_y[at - 1],
                        rest_z[at] - rest_z[at - 1],
                    );
                    let wanted = ax * ax + ay * ay + az * az;
                    let (dx, dy, dz) = (x[at] - x[at - 1], y[at] - y[at - 1], z[at] - z[at - 1]);
                    let squared = dx * dx + dy * dy + dz * dz;
                    let part = (wanted / squared).sqrt();
                    // An edge that all but vanished has no direction to grow in.
                    let part = if squared > 1e-16 { part } else { 1.0 };
                    (to_x[at], to_y[at], to_z[at]) = (dx * part, dy * part, dz * part);
                }
            }
            None => {
                for at in 1..count {
                    (to_x[at], to_y[at], to_z[at]) =
                        (x[at] - x[at - 1], y[at] - y[at - 1], z[at] - z[at - 1]);
                }
            }
        }
    }

    /// The points of a strand, the first of which is at `root`.
    #[inline(always)]
    fn lay_out(&self, from: usize, root: Vec3, out: &mut [Vec3]) {
        let Some((first, others)) = out.split_first_mut() else { return };
        *first = root;
        let range = from + 1..from + 1 + others.len();
        let [x, y, z] = &self.edges;
        let edges = x[range.clone()].iter().zip(&y[range.clone()]).zip(&z[range]);
        let mut point = root;
        for (out, ((&x, &y), &z)) in others.iter_mut().zip(edges) {
            point += Vec3::new(x, y, z);
            *out = point;
        }
    }
}
