//! The edges of one block of the broad phase, side by side in memory, and parts of the time in which they move.

use glam::Vec3;

use super::grid::{Entry, Hulls};
use crate::math::Vector3;
use crate::math::lanes::{Lane, Row, WIDTH};

/// A part of the time in which edges move, within 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    /// When it begins.
    pub(super) begin: f32,
    /// When it ends.
    pub(super) end: f32,
}

impl Slice {
    /// Part number `index` of `count` equal ones.
    pub(super) fn new(index: u32, count: u32) -> Self {
        Self { begin: index as f32 / count as f32, end: (index + 1) as f32 / count as f32 }
    }

    /// Whether a time lies in this part. The last one has both its ends.
    #[inline(always)]
    pub(super) fn holds(self, time: f32) -> bool {
        self.begin <= time && (time < self.end || self.end >= 1.0)
    }

    /// Where the points of a hull are in this part of the time: two points stand still, four are two on their way.
    #[inline(always)]
    pub(super) fn cut<const M: usize>(self, hull: &[Vec3; M]) -> [Vec3; M] {
        let mut part = *hull;
        if M > 2 {
            for k in 0..2 {
                let way = hull[k + 2] - hull[k];
                part[k] = hull[k] + way * self.begin;
                part[k + 2] = hull[k] + way * self.end;
            }
        }
        part
    }
}

/// The edges of one block, in the order of their numbers.
#[derive(Debug)]
pub(super) struct Local<const M: usize> {
    /// First vertex of each edge.
    pub(super) edges: Vec<u32>,
    /// The points around each edge [m]: both ends, and for those that move both ends at the end of the time.
    pub(super) hulls: Vec<[Vec3; M]>,
    /// Radius of each edge [m].
    pub(super) radii: Vec<f32>,
    /// First vertex of the strand that each edge belongs to.
    pub(super) strands: Vec<u32>,
    /// Both ends and the radius of each edge, and for those that move a second row with the motion of both ends [m].
    rows: Vec<Row>,
}

impl<const M: usize> Default for Local<M> {
    fn default() -> Self {
        Self { edges: vec![], hulls: vec![], radii: vec![], strands: vec![], rows: vec![] }
    }
}

impl<const M: usize> Local<M> {
    /// Brings the edges of a block together, without the motion that they share on average [m], which is returned: no pair meets
    /// sooner or later for it, and what is swept becomes small.
    #[inline(always)]
    pub(super) fn gather(
        &mut self,
        entries: &[Entry],
        hulls: &impl Hulls<M>,
        strands: &[u32],
        radii: &[f32],
    ) -> Vec3 {
        self.edges.clear();
        self.hulls.clear();
        self.radii.clear();
        self.strands.clear();
        for entry in entries {
            self.edges.push(entry.edge);
            self.hulls.push(hulls.hull(entry.edge));
            self.radii.push(radii[entry.edge as usize]);
            self.strands.push(strands[entry.edge as usize]);
        }
        let drift = self.remove_drift();
        self.set_rows();
        drift
    }

    #[inline(always)]
    fn remove_drift(&mut self) -> Vec3 {
        if M < 4 {
            return Vec3::ZERO;
        }
        let moved = self.hulls.iter().fold(Vec3::ZERO, |sum, hull| sum + (hull[2] - hull[0]));
        let drift = moved / self.hulls.len().max(1) as f32;
        for hull in &mut self.hulls {
            hull[2] -= drift;
            hull[3] -= drift;
        }
        drift
    }

    #[inline(always)]
    fn set_rows(&mut self) {
        self.rows.clear();
        for (hull, &radius) in self.hulls.iter().zip(&self.radii) {
            let (p, q) = (hull[0], hull[1]);
            self.rows.push(Row([p.x, p.y, p.z, q.x, q.y, q.z, radius, 0.0]));
            if M > 2 {
                let (p, q) = (hull[2] - p, hull[3] - q);
                self.rows.push(Row([p.x, p.y, p.z, q.x, q.y, q.z, 0.0, 0.0]));
            }
        }
    }

    /// How far edges move on average [m].
    pub(super) fn mean_motion(&self) -> f32 {
        if M < 4 {
            return 0.0;
        }
        let sum: f32 = self.hulls.iter().map(|hull| hull[0].distance(hull[2])).sum();
        sum / self.hulls.len().max(1) as f32
    }

    /// Both ends and the radius of eight edges [m].
    #[inline(always)]
    pub(super) fn ends<L: Lane>(&self, edges: &[u32; WIDTH]) -> ([Vector3<L>; 2], L) {
        let [a, b, c, d, e, f, radius, _] = self.columns::<L>(edges, 0);
        ([Vector3::new(a, b, c), Vector3::new(d, e, f)], radius)
    }

    /// How both ends of eight edges move [m].
    #[inline(always)]
    pub(super) fn motions<L: Lane>(&self, edges: &[u32; WIDTH]) -> [Vector3<L>; 2] {
        let [a, b, c, d, e, f, _, _] = self.columns::<L>(edges, 1);
        [Vector3::new(a, b, c), Vector3::new(d, e, f)]
    }

    /// Row number `row` of eight edges, an edge in each lane.
    #[inline(always)]
    fn columns<L: Lane>(&self, edges: &[u32; WIDTH], row: usize) -> [L; WIDTH] {
        let mut rows = [L::zero(); WIDTH];
        for lane in 0..WIDTH {
            rows[lane] = L::load(&self.rows[M / 2 * edges[lane] as usize + row]);
        }
        L::transpose(rows)
    }

    /// Memory held [bytes].
    pub(super) fn bytes(&self) -> usize {
        let edge = size_of::<[Vec3; M]>() + M / 2 * size_of::<Row>() + 12;
        edge * self.edges.capacity()
    }
}

/// The first and the second edges of up to eight pairs (later edge first), a pair in each lane; the last pair fills what is left.
#[inline(always)]
pub(super) fn lanes_of(pairs: &[(u32, u32)]) -> ([u32; WIDTH], [u32; WIDTH]) {
    let (mut first, mut second) = ([0; WIDTH], [0; WIDTH]);
    for lane in 0..WIDTH {
        (second[lane], first[lane]) = pairs[lane.min(pairs.len() - 1)];
    }
    (first, second)
}
