//! Which cells of a grid a capsule, or one that moves, may meet.

use glam::Vec3;

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
        // Truncation is rounding down for what is not negative, and needs no library call on any processor.
        (((coordinate - self.origin[axis]) * self.inverse) as i32).clamp(0, self.last[axis])
    }

    /// The cell that a point lies in.
    #[inline(always)]
    pub(super) fn cell_of(&self, point: Vec3) -> [i32; 3] {
        [self.cell_along(0, point.x), self.cell_along(1, point.y), self.cell_along(2, point.z)]
    }

    /// Visits every cell that the hull of `points`, thickened by `pad` [m], may meet: layer by layer along the axis in
    /// which it is longest, a rectangle of cells in each layer.
    #[inline(always)]
    pub(super) fn visit<const M: usize>(
        &self,
        points: &[Vec3; M],
        pad: f32,
        mut visit: impl FnMut([i32; 3]),
    ) {
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
