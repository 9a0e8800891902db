//! Logarithms and exponentials of symmetric matrices.
//!
//! Moderate strains go through polynomials in lanes: by the theorem of Cayley and Hamilton any power of a 3×3 matrix
//! is a combination of I, X and X², so that evaluating a polynomial costs three products for each degree. Large
//! ones go through eigenvalues, in double precision.

use crate::math::{Real, Symmetric3};

/// Largest Frobenius norm of (b − I)(b + I)⁻¹ for which [`half_log`] holds: principal stretches from 1/2 to 2.
pub(super) const SERIES_REACH: f64 = 0.6;

/// atanh(x) = x p(x²), by Chebyshev approximation for |x| < 0.6 to 3e-8.
const ATANH: [f64; 7] = [
    1.000_000_025_698_733_4,
    0.333_326_525_814_371_8,
    0.200_291_957_903_708_88,
    0.138_222_935_834_982_63,
    0.145_357_045_863_216_4,
    -0.033_321_516_994_239_186,
    0.276_081_758_533_114_4,
];

/// exp(x) − 1 = x p(x), by Chebyshev approximation for |x| < 1.4 to 4e-8.
const EXP_LESS_ONE: [f64; 9] = [
    1.000_000_001_465_038_8,
    0.499_999_851_742_443_05,
    0.166_666_629_344_522,
    0.041_667_672_952_410_29,
    0.008_333_485_355_151_334,
    0.001_387_047_535_745_304_6,
    0.000_198_196_268_828_408_93,
    2.604_482_363_183_767_6e-5,
    2.881_065_109_449_915e-6,
];

/// A polynomial of a matrix, as a combination of I, X and X².
#[derive(Clone, Copy)]
struct Combination<R>(R, R, R);

/// The coefficients of the characteristic polynomial: X³ = first X² − second X + third I.
#[derive(Clone, Copy)]
struct Invariants<R> {
    first: R,
    second: R,
    third: R,
}

impl<R: Real> Combination<R> {
    /// Times X, plus `term` on the diagonal.
    #[inline(always)]
    fn times(self, x: Invariants<R>, term: f64) -> Self {
        Self(
            self.2.mul_add(x.third, R::splat(term)),
            self.0 - self.2 * x.second,
            self.2.mul_add(x.first, self.1),
        )
    }

    #[inline(always)]
    fn value(self, x: Symmetric3<R>, square: Symmetric3<R>) -> Symmetric3<R> {
        (x.scaled(self.1) + square.scaled(self.2)).add_diagonal(self.0)
    }
}

#[inline(always)]
fn invariants<R: Real>(x: Symmetric3<R>) -> Invariants<R> {
    let (cx, cy, cz) = (x.yy * x.zz - x.yz * x.yz, x.xz * x.yz - x.xy * x.zz, x.xy * x.yz - x.xz * x.yy);
    Invariants {
        first: trace(x),
        second: cx + (x.xx * x.zz - x.xz * x.xz) + (x.xx * x.yy - x.xy * x.xy),
        third: x.xx.mul_add(cx, x.xy.mul_add(cy, x.xz * cz)),
    }
}

/// The trace.
#[inline(always)]
pub(super) fn trace<R: Real>(x: Symmetric3<R>) -> R {
    x.xx + x.yy + x.zz
}

/// The squared Frobenius norm.
#[inline(always)]
pub(super) fn norm_squared<R: Real>(x: Symmetric3<R>) -> R {
    let off = x.xy.mul_add(x.xy, x.xz.mul_add(x.xz, x.yz * x.yz));
    x.xx.mul_add(x.xx, x.yy.mul_add(x.yy, x.zz * x.zz)) + (off + off)
}

/// The product of two symmetric matrices that commute, so that it is symmetric too.
#[inline(always)]
fn product<R: Real>(a: Symmetric3<R>, b: Symmetric3<R>) -> Symmetric3<R> {
    Symmetric3 {
        xx: a.xx.mul_add(b.xx, a.xy.mul_add(b.xy, a.xz * b.xz)),
        xy: a.xy.mul_add(b.xx, a.yy.mul_add(b.xy, a.yz * b.xz)),
        yy: a.xy.mul_add(b.xy, a.yy.mul_add(b.yy, a.yz * b.yz)),
        xz: a.xz.mul_add(b.xx, a.yz.mul_add(b.xy, a.zz * b.xz)),
        yz: a.xz.mul_add(b.xy, a.yz.mul_add(b.yy, a.zz * b.yz)),
        zz: a.xz.mul_add(b.xz, a.yz.mul_add(b.yz, a.zz * b.zz)),
    }
}

/// (b − I)(b + I)⁻¹ of a strain b − I: the argument of [`half_log`].
#[inline(always)]
pub(super) fn cayley<R: Real>(strain: Symmetric3<R>) -> Symmetric3<R> {
    let s = strain.add_diagonal(R::splat(2.0));
    let cofactors = Symmetric3 {
        xx: s.yy * s.zz - s.yz * s.yz,
        xy: s.xz * s.yz - s.xy * s.zz,
        yy: s.xx * s.zz - s.xz * s.xz,
        xz: s.xy * s.yz - s.xz * s.yy,
        yz: s.xy * s.xz - s.xx * s.yz,
        zz: s.xx * s.yy - s.xy * s.xy,
    };
    let determinant = s.xx.mul_add(cofactors.xx, s.xy.mul_add(cofactors.xy, s.xz * cofactors.xz));
    product(strain, cofactors).scaled(R::one() / determinant)
}

/// The logarithmic (Hencky) strain ½ ln b = atanh X, from X = [`cayley`] of the strain.
#[inline(always)]
pub(super) fn half_log<R: Real>(x: Symmetric3<R>) -> Symmetric3<R> {
    let (square, roots) = (product(x, x), invariants(x));
    let mut sum = Combination(R::splat(ATANH[6]), R::zero(), R::zero());
    let mut degree = 6;
    while degree > 0 {
        degree -= 1;
        sum = sum.times(roots, 0.0).times(roots, ATANH[degree]);
    }
    sum.times(roots, 0.0).value(x, square)
}

/// exp(X) − I, for eigenvalues within ±1.4.
#[inline(always)]
pub(super) fn exp_less_one<R: Real>(x: Symmetric3<R>) -> Symmetric3<R> {
    let (square, roots) = (product(x, x), invariants(x));
    let mut sum = Combination(R::splat(EXP_LESS_ONE[8]), R::zero(), R::zero());
    let mut degree = 8;
    while degree > 0 {
        degree -= 1;
        sum = sum.times(roots, EXP_LESS_ONE[degree]);
    }
    sum.times(roots, 0.0).value(x, square)
}

/// Eigenvalues of a symmetric matrix and, as columns, its eigenvectors, by Jacobi's rotations.
pub(super) fn eigen(matrix: Symmetric3<f64>) -> ([f64; 3], [[f64; 3]; 3]) {
    let m = matrix;
    let mut a = [[m.xx, m.xy, m.xz], [m.xy, m.yy, m.yz], [m.xz, m.yz, m.zz]];
    let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    // Convergence is quadratic: eight sweeps are more than double precision needs.
    for _ in 0..8 {
        let off = a[0][1].abs().max(a[0][2].abs()).max(a[1][2].abs());
        if off <= 1e-17 * a[0][0].abs().max(a[1][1].abs()).max(a[2][2].abs()) {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
            rotate(&mut a, &mut vectors, (p, q), (cosine, tangent * cosine));
        }
    }
    ([a[0][0], a[1][1], a[2][2]], vectors)
}

fn rotate(
    a: &mut [[f64; 3]; 3],
    vectors: &mut [[f64; 3]; 3],
    (p, q): (usize, usize),
    (cosine, sine): (f64, f64),
) {
    for row in a.iter_mut().chain(vectors) {
        (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
    }
    let (above, below) = a.split_at_mut(q);
    for (x, y) in above[p].iter_mut().zip(&mut below[0]) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
    (a[p][q], a[q][p]) = (0.0, 0.0);
}

/// The symmetric matrix with these eigenvalues and, as columns, eigenvectors.
pub(super) fn compose(values: [f64; 3], vectors: [[f64; 3]; 3]) -> Symmetric3<f64> {
    let entry = |i: usize, j: usize| (0..3).map(|k| vectors[i][k] * values[k] * vectors[j][k]).sum();
    Symmetric3 {
        xx: entry(0, 0),
        xy: entry(1, 0),
        yy: entry(1, 1),
        xz: entry(2, 0),
        yz: entry(2, 1),
        zz: entry(2, 2),
    }
}
