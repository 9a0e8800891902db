//! Closest points of two segments, for numbers and for lanes of them.

use crate::math::{Real, Vector3};

/// Squared sine of the angle below which single-precision segments count as parallel.
pub(super) const PARALLEL_F32: f64 = 1.0e-10;
/// Squared sine of the angle below which double-precision segments count as parallel.
pub(super) const PARALLEL_F64: f64 = 1.0e-24;

/// Where two segments are closest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closest<R> {
    /// Place along the first segment, from 0 to 1.
    pub(super) s: R,
    /// Place along the second segment, from 0 to 1.
    pub(super) t: R,
    /// From the point on the second segment to the one on the first [m].
    pub(super) between: Vector3<R>,
}

/// The closest points of segments `p` and `q`. Parallel segments meet in the middle of their overlap; a segment
/// without a length is a point. `parallel` is the squared sine of the angle below which directions count as parallel.
#[inline(always)]
pub(super) fn closest<R: Real>(p: [Vector3<R>; 2], q: [Vector3<R>; 2], parallel: f64) -> Closest<R> {
    let (along_p, along_q, apart) = (p[1] - p[0], q[1] - q[0], p[0] - q[0]);
    let tiny = R::splat(1.0e-30);
    let (pp, qq, pq) = (along_p.length_squared(), along_q.length_squared(), along_p.dot(along_q));
    let (pa, qa) = (along_p.dot(apart), along_q.dot(apart));
    let (inverse_p, inverse_q) = (R::splat(1.0) / pp.max(tiny), R::splat(1.0) / qq.max(tiny));

    // Cross products keep their precision where the textbook's pp qq − pq² is lost to cancellation.
    let normal = cross(along_p, along_q);
    let square = normal.length_squared();
    let crossing = clamp(-cross(apart, along_q).dot(normal) / square.max(tiny));
    let overlap = (clamp(-pa * inverse_p) + clamp((pq - pa) * inverse_p)) * R::splat(0.5);
    let is_parallel = square.less((R::splat(parallel) * pp * qq).max(tiny));
    let s = R::select(is_parallel, overlap, crossing);

    let t = clamp(pq.mul_add(s, qa) * inverse_q);
    // Where t was clamped the place on the first segment moves along; a point keeps 0.
    let s = R::select(is_parallel, s, clamp((pq * t - pa) * inverse_p));
    Closest { s, t, between: along_p.mul_add(s, apart) - along_q * t }
}

#[inline(always)]
fn cross<R: Real>(a: Vector3<R>, b: Vector3<R>) -> Vector3<R> {
    Vector3::new(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

#[inline(always)]
fn clamp<R: Real>(value: R) -> R {
    value.max(R::zero()).min(R::splat(1.0))
}
