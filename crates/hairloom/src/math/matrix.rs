use std::ops::{Add, Mul, Sub};

use super::{Real, Vector3};

/// A 3×3 matrix of reals by columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matrix3<R>(pub [Vector3<R>; 3]);

/// A symmetric 3×3 matrix: its lower triangle by rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Symmetric3<R> {
    /// Entry (0, 0).
    pub xx: R,
    /// Entry (1, 0).
    pub xy: R,
    /// Entry (1, 1).
    pub yy: R,
    /// Entry (2, 0).
    pub xz: R,
    /// Entry (2, 1).
    pub yz: R,
    /// Entry (2, 2).
    pub zz: R,
}

impl<R: Real> Matrix3<R> {
    /// The zero matrix.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([Vector3::zero(); 3])
    }

    /// `[v]×`, so that its product with `w` is `v × w`.
    #[inline(always)]
    pub fn cross(v: Vector3<R>) -> Self {
        let zero = R::zero();
        Self([Vector3::new(zero, v.z, -v.y), Vector3::new(-v.z, zero, v.x), Vector3::new(v.y, -v.x, zero)])
    }

    /// The transpose.
    #[inline(always)]
    pub fn transpose(self) -> Self {
        let [a, b, c] = self.0;
        Self([Vector3::new(a.x, b.x, c.x), Vector3::new(a.y, b.y, c.y), Vector3::new(a.z, b.z, c.z)])
    }

    /// The product of the transpose with a vector.
    #[inline(always)]
    pub fn transpose_mul(self, v: Vector3<R>) -> Vector3<R> {
        Vector3::new(self.0[0].dot(v), self.0[1].dot(v), self.0[2].dot(v))
    }

    /// `self + value · I`.
    #[inline(always)]
    pub fn add_diagonal(self, value: R) -> Self {
        let [a, b, c] = self.0;
        Self([
            Vector3::new(a.x + value, a.y, a.z),
            Vector3::new(b.x, b.y + value, b.z),
            Vector3::new(c.x, c.y, c.z + value),
        ])
    }

    /// `selfᵀ · other`, of which the caller knows that it is symmetric.
    #[inline(always)]
    pub fn symmetric_product(self, other: Self) -> Symmetric3<R> {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Symmetric3 { xx: a.dot(x), xy: b.dot(x), yy: b.dot(y), xz: c.dot(x), yz: c.dot(y), zz: c.dot(z) }
    }
}

impl<R: Real> Mul<Vector3<R>> for Matrix3<R> {
    type Output = Vector3<R>;
    #[inline(always)]
    fn mul(self, v: Vector3<R>) -> Vector3<R> {
        self.0[0].mul_add(v.x, self.0[1].mul_add(v.y, self.0[2] * v.z))
    }
}

impl<R: Real> Mul for Matrix3<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self([self * other.0[0], self * other.0[1], self * other.0[2]])
    }
}

impl<R: Real> Add for Matrix3<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self([self.0[0] + other.0[0], self.0[1] + other.0[1], self.0[2] + other.0[2]])
    }
}

impl<R: Real> Sub for Matrix3<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self([self.0[0] - other.0[0], self.0[1] - other.0[1], self.0[2] - other.0[2]])
    }
}

impl<R: Real> Symmetric3<R> {
    /// The zero matrix.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::diagonal(R::zero())
    }

    /// `value` on the diagonal.
    #[inline(always)]
    pub fn diagonal(value: R) -> Self {
        let zero = R::zero();
        Self { xx: value, xy: zero, yy: value, xz: zero, yz: zero, zz: value }
    }

    /// `self + factor · v vᵀ`.
    #[inline(always)]
    pub fn add_outer(self, factor: R, v: Vector3<R>) -> Self {
        let s = v * factor;
        Self {
            xx: s.x.mul_add(v.x, self.xx),
            xy: s.y.mul_add(v.x, self.xy),
            yy: s.y.mul_add(v.y, self.yy),
            xz: s.z.mul_add(v.x, self.xz),
            yz: s.z.mul_add(v.y, self.yz),
            zz: s.z.mul_add(v.z, self.zz),
        }
    }

    /// `factor · v vᵀ`.
    #[inline(always)]
    pub fn outer(factor: R, v: Vector3<R>) -> Self {
        let s = v * factor;
        Self { xx: s.x * v.x, xy: s.y * v.x, yy: s.y * v.y, xz: s.z * v.x, yz: s.z * v.y, zz: s.z * v.z }
    }

    /// `u vᵀ + v uᵀ`.
    #[inline(always)]
    pub fn mixed(u: Vector3<R>, v: Vector3<R>) -> Self {
        let two = R::splat(2.0);
        Self {
            xx: u.x * v.x * two,
            xy: u.y.mul_add(v.x, u.x * v.y),
            yy: u.y * v.y * two,
            xz: u.z.mul_add(v.x, u.x * v.z),
            yz: u.z.mul_add(v.y, u.y * v.z),
            zz: u.z * v.z * two,
        }
    }

    /// Every entry times `factor`.
    #[inline(always)]
    pub fn scaled(self, factor: R) -> Self {
        Self {
            xx: self.xx * factor,
            xy: self.xy * factor,
            yy: self.yy * factor,
            xz: self.xz * factor,
            yz: self.yz * factor,
            zz: self.zz * factor,
        }
    }

    /// `self + value · I`.
    #[inline(always)]
    pub fn add_diagonal(self, value: R) -> Self {
        Self { xx: self.xx + value, yy: self.yy + value, zz: self.zz + value, ..self }
    }

    /// As a full matrix.
    #[inline(always)]
    pub fn full(self) -> Matrix3<R> {
        Matrix3([
            Vector3::new(self.xx, self.xy, self.xz),
            Vector3::new(self.xy, self.yy, self.yz),
            Vector3::new(self.xz, self.yz, self.zz),
        ])
    }

    /// The inverse of a regular matrix, by cofactors: one division.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        let Self { xx, xy, yy, xz, yz, zz } = self;
        let cofactor = yy.mul_add(zz, -(yz * yz));
        let cofactor_xy = xz.mul_add(yz, -(xy * zz));
        let cofactor_xz = xy.mul_add(yz, -(xz * yy));
        let determinant = xx.mul_add(cofactor, xy.mul_add(cofactor_xy, xz * cofactor_xz));
        let scale = R::one() / determinant;
        Self {
            xx: cofactor * scale,
            xy: cofactor_xy * scale,
            yy: xx.mul_add(zz, -(xz * xz)) * scale,
            xz: cofactor_xz * scale,
            yz: xy.mul_add(xz, -(xx * yz)) * scale,
            zz: xx.mul_add(yy, -(xy * xy)) * scale,
        }
    }

    /// The factors of a positive definite matrix, for solving.
    #[inline(always)]
    pub fn factored(self) -> Factored3<R> {
        let one = R::splat(1.0);
        let d0 = one / self.xx;
        let (l10, l20) = (self.xy * d0, self.xz * d0);
        let d1 = one / (self.yy - l10 * self.xy);
        let l21 = (self.yz - l20 * self.xy) * d1;
        let d2 = one / (self.zz - l20 * self.xz - l21 * (self.yz - l20 * self.xy));
        Factored3 { l10, l20, l21, d0, d1, d2 }
    }
}

impl<R: Real> Add for Symmetric3<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            xx: self.xx + other.xx,
            xy: self.xy + other.xy,
            yy: self.yy + other.yy,
            xz: self.xz + other.xz,
            yz: self.yz + other.yz,
            zz: self.zz + other.zz,
        }
    }
}

impl<R: Real> Sub for Symmetric3<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self {
            xx: self.xx - other.xx,
            xy: self.xy - other.xy,
            yy: self.yy - other.yy,
            xz: self.xz - other.xz,
            yz: self.yz - other.yz,
            zz: self.zz - other.zz,
        }
    }
}

impl<R: Real> Mul<Vector3<R>> for Symmetric3<R> {
    type Output = Vector3<R>;
    #[inline(always)]
    fn mul(self, v: Vector3<R>) -> Vector3<R> {
        self.full() * v
    }
}

/// `L D Lᵀ` of a symmetric positive definite 3×3 matrix, with D inverted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factored3<R> {
    l10: R,
    l20: R,
    l21: R,
    d0: R,
    d1: R,
    d2: R,
}

impl<R: Real> Factored3<R> {
    /// The least entry of the inverse of D: negative where the matrix was not positive definite.
    #[inline(always)]
    pub fn least(self) -> R {
        self.d0.min(self.d1).min(self.d2)
    }

    /// The largest entry of the inverse of D: without bounds where the matrix was singular.
    #[inline(always)]
    pub fn most(self) -> R {
        self.d0.max(self.d1).max(self.d2)
    }

    /// The solution for one right-hand side.
    #[inline(always)]
    pub fn solve(self, v: Vector3<R>) -> Vector3<R> {
        let y = v.y - self.l10 * v.x;
        let z = v.z - self.l20 * v.x - self.l21 * y;
        let z = z * self.d2;
        let y = y * self.d1 - self.l21 * z;
        let x = v.x * self.d0 - self.l10 * y - self.l20 * z;
        Vector3::new(x, y, z)
    }

    /// The solutions for the columns of a matrix.
    #[inline(always)]
    pub fn solve_columns(self, m: Matrix3<R>) -> Matrix3<R> {
        Matrix3([self.solve(m.0[0]), self.solve(m.0[1]), self.solve(m.0[2])])
    }
}

/// Solves `A x = b` for a symmetric positive definite matrix of a few rows by LDLᵀ without pivoting. Only the
/// lower triangle of `matrix` is read.
#[inline(always)]
pub fn solve_positive<R: Real, const N: usize>(mut matrix: [[R; N]; N], mut right: [R; N]) -> [R; N] {
    let mut inverse = [R::zero(); N];
    for column in 0..N {
        inverse[column] = R::one() / matrix[column][column];
        for row in column + 1..N {
            let factor = matrix[row][column] * inverse[column];
            for below in &mut matrix[row..] {
                let product = below[column] * factor;
                below[row] -= product;
            }
            right[row] -= factor * right[column];
        }
    }
    for row in (0..N).rev() {
        let mut sum = right[row];
        for other in row + 1..N {
            sum -= matrix[other][row] * right[other];
        }
        right[row] = sum * inverse[row];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positive_systems_are_solved() {
        let matrix = [[4.0, 9.0, 9.0], [1.0, 5.0, 9.0], [-2.0, 0.5, 6.0]];
        let [x, y, z] = solve_positive(matrix, [1.0, 2.0, 3.0]);
        assert!((4.0 * x + y - 2.0 * z - 1.0f64).abs() < 1e-14);
        assert!((x + 5.0 * y + 0.5 * z - 2.0f64).abs() < 1e-14);
        assert!((-2.0 * x + 0.5 * y + 6.0 * z - 3.0f64).abs() < 1e-14);
    }

    #[test]
    fn inverses_undo_products() {
        let matrix = Symmetric3 { xx: 4.0, xy: 1.0, yy: 5.0, xz: -2.0, yz: 0.5, zz: 6.0 };
        let v = Vector3::new(-0.3, 0.7, 2.0);
        assert!((matrix.inverse() * (matrix * v) - v).length() < 1e-14);
    }

    #[test]
    fn symmetric_products_are_those_of_their_definition() {
        let (u, v) = (Vector3::new(1.0, -2.0, 0.5), Vector3::new(3.0, 1.0, -4.0));
        let w = Vector3::new(-0.3, 0.7, 2.0);
        let mixed = Symmetric3::mixed(u, v) * w - (u * v.dot(w) + v * u.dot(w));
        let outer = Symmetric3::outer(3.0, u).scaled(0.5) * w - u * (1.5 * u.dot(w));
        assert!(mixed.length() < 1e-14 && outer.length() < 1e-14);
    }
}
