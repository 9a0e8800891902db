//! Bounding volumes with eighteen faces (18-DOPs, Klosowski et al. 1998): how far a capsule, or one that moves,
//! reaches in the directions ±x, ±y, ±z, ±x±y, ±x±z, ±y±z.

use std::f32::consts::SQRT_2;

use glam::Vec3;

use crate::math::Real;
use crate::math::lanes::{Lane, Row};

/// Reach in eighteen directions. The second row holds the opposites of the first, the third one the last axis and its
/// opposite, so that two volumes are compared with three additions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Dop {
    rows: [Row; 3],
}

/// Places along eight of the nine axes.
#[inline(always)]
fn axes(p: Vec3) -> [f32; 8] {
    [p.x, p.y, p.z, p.x + p.y, p.x - p.y, p.x + p.z, p.x - p.z, p.y + p.z]
}

impl Dop {
    /// The volume around points, each of which is a ball of radius `pad` [m].
    #[inline(always)]
    pub(super) fn new(points: &[Vec3], pad: f32) -> Self {
        // The axes with two components are √2 long.
        let long = pad * SQRT_2;
        let pads = [pad, pad, pad, long, long, long, long, long];
        let mut rows = [Row([f32::MIN; 8]), Row([f32::MIN; 8]), Row::default()];
        let mut last = [f32::MIN; 2];
        for &p in points {
            for (k, place) in axes(p).into_iter().enumerate() {
                rows[0].0[k] = Real::max(rows[0].0[k], place);
                rows[1].0[k] = Real::max(rows[1].0[k], -place);
            }
            last = [Real::max(last[0], p.y - p.z), Real::max(last[1], p.z - p.y)];
        }
        for (k, pad) in pads.into_iter().enumerate() {
            rows[0].0[k] += pad;
            rows[1].0[k] += pad;
        }
        rows[2].0[0] = last[0] + long;
        rows[2].0[1] = last[1] + long;
        Self { rows }
    }

    /// The volume mirrored at the origin: what [`Dop::apart`] compares with.
    #[inline(always)]
    pub(super) fn opposite(&self) -> Self {
        let mut last = self.rows[2];
        last.0.swap(0, 1);
        Self { rows: [self.rows[1], self.rows[0], last] }
    }

    /// Whether a plane with one of the normals separates this volume from the one whose `opposite` is given.
    #[inline(always)]
    pub(super) fn apart<L: Lane>(&self, opposite: &Dop) -> bool {
        // No closures: intrinsics inside one are not inlined.
        let first = L::load(&self.rows[0]) + L::load(&opposite.rows[0]);
        let second = L::load(&self.rows[1]) + L::load(&opposite.rows[1]);
        let third = L::load(&self.rows[2]) + L::load(&opposite.rows[2]);
        let least = first.min(second).min(third);
        L::any(least.less(L::zero()))
    }
}
