//! Lower bounds of the distances of many points at once.

use glam::{DVec3, Mat3, Vec3};

use super::{DistanceGrid, EXACT, MARCHING_ERROR};
use crate::math::lanes::{Kernel, Lane};

/// Points that are looked up together: few, since many come alone and pay for all places.
const TOGETHER: usize = 16;
/// 2²³: from here on floats are whole numbers, so that adding it rounds, and the number is in the lowest bits.
const WHOLE: f32 = 8_388_608.0;

/// Lowers each of `out` to the [clearance](DistanceGrid::clearance) of its point [m], given by coordinate in the world [m].
pub(crate) struct LowerClearances<'a> {
    pub grid: &'a DistanceGrid,
    /// The frame of the grid: where its origin is in the world [m], and how the world is turned for it.
    pub origin: DVec3,
    pub local_from_world: Mat3,
    pub points: [&'a [f32]; 3],
    pub out: &'a mut [f32],
}

impl Kernel for LowerClearances<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let Self { grid, origin, local_from_world, points: [xs, ys, zs], out } = self;
        let mut columns = xs.chunks(TOGETHER).zip(ys.chunks(TOGETHER)).zip(zs.chunks(TOGETHER));
        for out in out.chunks_mut(TOGETHER) {
            let Some(((xs, ys), zs)) = columns.next() else { return };
            let mut local = [[0.0f32; TOGETHER]; 3];
            to_local(&origin, &local_from_world, [xs, ys, zs], &mut local);
            lower(grid, &local, out);
        }
    }
}

/// Coordinates within the frame [m].
#[allow(clippy::needless_range_loop, reason = "six columns side by side")]
#[inline(always)]
fn to_local(origin: &DVec3, turn: &Mat3, [xs, ys, zs]: [&[f32]; 3], local: &mut [[f32; TOGETHER]; 3]) {
    let count = xs.len().min(ys.len()).min(zs.len()).min(TOGETHER);
    let (xs, ys, zs) = (&xs[..count], &ys[..count], &zs[..count]);
    let [x, y, z] = local;
    let Mat3 { x_axis: a, y_axis: b, z_axis: c } = turn;
    for at in 0..count {
        let u = (f64::from(xs[at]) - origin.x) as f32;
        let v = (f64::from(ys[at]) - origin.y) as f32;
        let w = (f64::from(zs[at]) - origin.z) as f32;
        x[at] = a.x * u + b.x * v + c.x * w;
        y[at] = a.y * u + b.y * v + c.y * w;
        z[at] = a.z * u + b.z * v + c.z * w;
    }
}

/// Lowers each of `out`, at most [`TOGETHER`] of them: first where all points are, then what is there, then how near that may be, so that
/// all but the reading is done in lanes.
#[allow(clippy::needless_range_loop, reason = "six columns side by side")]
#[inline(always)]
fn lower(grid: &DistanceGrid, [x, y, z]: &[[f32; TOGETHER]; 3], out: &mut [f32]) {
    let count = out.len().min(TOGETHER);
    let out = &mut out[..count];
    let (low, inverse, last) = (grid.layout.low, grid.layout.inverse_cell, grid.layout.last());
    let [_, row, layer] = grid.layout.strides().map(|stride| stride as u32);
    let (mut nodes, mut ways) = ([0u32; TOGETHER], [0.0f32; TOGETHER]);
    for at in 0..count {
        let (u, v, w) = ((x[at] - low.x) * inverse, (y[at] - low.y) * inverse, (z[at] - low.z) * inverse);
        let (i, j, k) = (nearest(u, last.x), nearest(v, last.y), nearest(w, last.z));
        let (du, dv, dw) = (u - (i - WHOLE), v - (j - WHOLE), w - (k - WHOLE));
        nodes[at] = number(i) + number(j) * row + number(k) * layer;
        ways[at] = (du * du + dv * dv + dw * dw).sqrt();
    }
    let mut distances = [0.0f32; TOGETHER];
    for (distance, &node) in distances[..count].iter_mut().zip(&nodes) {
        *distance = grid.distances[node as usize];
    }
    let (cell, band) = (grid.layout.cell, grid.band());
    let (surface_low, surface_high) = (grid.surface_low, grid.surface_high);
    // Deeper than the band, and at most half through the box.
    let deepest = -0.5 * (surface_high - surface_low).min_element();
    for at in 0..count {
        let distance = distances[at];
        let marched = if distance.abs() > EXACT * cell { MARCHING_ERROR } else { 0.0 };
        let bound = distance - (ways[at] + marched) * cell;
        let u = beyond(x[at], surface_low.x, surface_high.x);
        let v = beyond(y[at], surface_low.y, surface_high.y);
        let w = beyond(z[at], surface_low.z, surface_high.z);
        let outside = (u * u + v * v + w * w).sqrt();
        let bound = if outside > bound && outside > 0.0 { outside } else { bound };
        let bound = if distance <= -band { deepest } else { bound };
        out[at] = if bound < out[at] { bound } else { out[at] };
    }
}

/// The nearest node along an axis, plus 2²³; the first one of what is no number.
#[inline(always)]
fn nearest(place: f32, last: f32) -> f32 {
    let place = if place > 0.0 { place } else { 0.0 };
    let place = if place < last { place } else { last };
    place + WHOLE
}

#[inline(always)]
fn number(node: f32) -> u32 {
    node.to_bits() & ((1 << 23) - 1)
}

/// How far a coordinate is outside of an interval.
#[inline(always)]
fn beyond(value: f32, low: f32, high: f32) -> f32 {
    let (below, above) = (low - value, value - high);
    let most = if below > above { below } else { above };
    if most > 0.0 { most } else { 0.0 }
}

impl DistanceGrid {
    /// A lower bound of the signed distance at any point [m]: no distance changes faster than the way from the
    /// nearest node, and no surface is nearer than the box around it.
    pub fn clearance(&self, point: Vec3) -> f32 {
        let (mut local, mut out) = ([[0.0; TOGETHER]; 3], [f32::INFINITY]);
        (local[0][0], local[1][0], local[2][0]) = point.into();
        lower(self, &local, &mut out);
        out[0]
    }
}
