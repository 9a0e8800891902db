//! Which cells of a grid a capsule, or one that moves, may meet.

use glam::Vec3;

use crate::math::Real;

/// A grid of cubes whose lowest corner is `origin`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lattice {
    /// Lowest corner [m].
    pub(super) origin: Vec3,
    /// Edge of a cell [m].
    pub(super) cell: f32,
    /// One over `cell`.
    pub(super) inverse: f32,
    /// Last cell along each axis.
    pub(super) last: [i32; 3],
}

impl Lattice {
    /// The cell along one axis that a coordinate lies in; outside the grid, the first or the last one. It never
    /// decreases with the coordinate, which is all that the search relies on.
    #[inline(always)]
    pub(super) fn cell_along(&self, axis: usize, coordinate: f32) -> i32 {
        cell((coordinate - self.origin[axis]) * self.inverse, self.last[axis])
    }

    /// The cell that a point lies in.
    #[inline(always)]
    pub(super) fn cell_of(&self, point: Vec3) -> [i32; 3] {
        [self.cell_along(0, point.x), self.cell_along(1, point.y), self.cell_along(2, point.z)]
    }

    /// Visits every cell that the hull of `points`, thickened by `pad` [m], may meet: layer by layer along the axis in
    /// which it is longest, a rectangle of cells in each layer.
    #[inline(always)]
    pub(super) fn visit<const M: usize>(&self, points: &[Vec3; M], pad: f32, visit: impl FnMut([i32; 3])) {
        if M == 2 {
            self.visit_segment(points[0], points[1], pad, visit);
        } else {
            self.visit_hull(points, pad, visit);
        }
    }

    /// The same for two points, in units of cells.
    #[inline(always)]
    fn visit_segment(&self, p: Vec3, q: Vec3, pad: f32, mut visit: impl FnMut([i32; 3])) {
        let (p, q) = ((p - self.origin) * self.inverse, (q - self.origin) * self.inverse);
        let pad = pad * self.inverse;
        let extent = (q - p).abs();
        if extent.x >= extent.y && extent.x >= extent.z {
            self.layers::<0, 1, 2>(p, q, pad, visit);
        } else if extent.y >= extent.z {
            self.layers::<1, 2, 0>(p, q, pad, |[y, z, x]| visit([x, y, z]));
        } else {
            self.layers::<2, 0, 1>(p, q, pad, |[z, x, y]| visit([x, y, z]));
        }
    }

    /// Layers along axis `A`; calls `visit` with cells along `A`, `B` and `C`.
    #[inline(always)]
    fn layers<const A: usize, const B: usize, const C: usize>(
        &self,
        p: Vec3,
        q: Vec3,
        pad: f32,
        mut visit: impl FnMut([i32; 3]),
    ) {
        let (p, q) = if p[A] <= q[A] { (p, q) } else { (q, p) };
        let (first, last) = (cell(p[A] - pad, self.last[A]), cell(q[A] + pad, self.last[A]));
        let length = q[A] - p[A];
        let inverse = if length > 1.0e-12 { 1.0 / length } else { 0.0 };
        let (slope_b, slope_c) = ((q[B] - p[B]) * inverse, (q[C] - p[C]) * inverse);
        for layer in first..=last {
            // The first and the last layer of a grid take in all that lies outside it.
            let floor = layer as f32 - pad;
            let ceiling = layer as f32 + 1.0 + pad;
            let enter = if layer == 0 { 0.0 } else { Real::min(Real::max(floor - p[A], 0.0), length) };
            let leave = if layer == self.last[A] {
                length
            } else {
                Real::max(Real::min(ceiling - p[A], length), 0.0)
            };
            let (b0, b1) = (p[B] + slope_b * enter, p[B] + slope_b * leave);
            let (c0, c1) = (p[C] + slope_c * enter, p[C] + slope_c * leave);
            let b_first = cell(Real::min(b0, b1) - pad, self.last[B]);
            let b_last = cell(Real::max(b0, b1) + pad, self.last[B]);
            let c_first = cell(Real::min(c0, c1) - pad, self.last[C]);
            let c_last = cell(Real::max(c0, c1) + pad, self.last[C]);
            for c in c_first..=c_last {
                for b in b_first..=b_last {
                    visit([layer, b, c]);
                }
            }
        }
    }

    /// The same for any number of points.
    #[inline(always)]
    fn visit_hull<const M: usize>(&self, points: &[Vec3; M], pad: f32, mut visit: impl FnMut([i32; 3])) {
        let (mut low, mut high) = (points[0], points[0]);
        for &point in &points[1..] {
            low = low.min(point);
            high = high.max(point);
        }
        let extent = high - low;
        let major = if extent.x >= extent.y && extent.x >= extent.z {
            0
        } else if extent.y >= extent.z {
            1
        } else {
            2
        };
        let (u, v) = ((major + 1) % 3, (major + 2) % 3);
        let first = self.cell_along(major, low[major] - pad);
        let last = self.cell_along(major, high[major] + pad);
        let mut cell = [0; 3];
        for layer in first..=last {
            let bounds = if first == last {
                [low[u], high[u], low[v], high[v]]
            } else {
                // The first and the last layer of a grid take in all that lies outside it.
                let floor = self.origin[major] + layer as f32 * self.cell - pad;
                let from = if layer == 0 { f32::MIN } else { floor };
                let to = if layer == self.last[major] { f32::MAX } else { floor + self.cell + 2.0 * pad };
                slab(points, [major, u, v], from, to)
            };
            cell[major] = layer;
            let (u_last, v_last) = (self.cell_along(u, bounds[1] + pad), self.cell_along(v, bounds[3] + pad));
            for along_v in self.cell_along(v, bounds[2] - pad)..=v_last {
                for along_u in self.cell_along(u, bounds[0] - pad)..=u_last {
                    cell[u] = along_u;
                    cell[v] = along_v;
                    visit(cell);
                }
            }
        }
    }
}

/// The cell that holds a place, from 0 to `last`.
#[inline(always)]
fn cell(place: f32, last: i32) -> i32 {
    // Truncation is rounding down for what is not negative, and needs no library call on any processor.
    (place as i32).clamp(0, last)
}

/// Bounds along axes `u` and `v` (low, high, low, high) of the part of a hull between two values of axis `major`.
#[inline(always)]
fn slab<const M: usize>(points: &[Vec3; M], [major, u, v]: [usize; 3], from: f32, to: f32) -> [f32; 4] {
    let mut bounds = [f32::MAX, f32::MIN, f32::MAX, f32::MIN];
    let mut include = |along_u: f32, along_v: f32| {
        bounds =
            [bounds[0].min(along_u), bounds[1].max(along_u), bounds[2].min(along_v), bounds[3].max(along_v)];
    };
    // The part is spanned by the pieces of the segments between all pairs of points.
    for i in 0..M {
        for j in i + 1..M {
            let (p, q) = if points[i][major] <= points[j][major] {
                (points[i], points[j])
            } else {
                (points[j], points[i])
            };
            if p[major] > to || q[major] < from {
                continue;
            }
            let length = q[major] - p[major];
            // What lies flat in the slab is taken whole.
            let (mut enter, mut leave) = (0.0, 1.0);
            if length > 1.0e-12 {
                enter = ((from - p[major]) / length).clamp(0.0, 1.0);
                leave = ((to - p[major]) / length).clamp(0.0, 1.0);
            }
            let (du, dv) = (q[u] - p[u], q[v] - p[v]);
            include(p[u] + enter * du, p[v] + enter * dv);
            include(p[u] + leave * du, p[v] + leave * dv);
        }
    }
    bounds
}
