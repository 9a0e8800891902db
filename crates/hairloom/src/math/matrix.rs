use std::ops::{Add, AddAssign, Mul};

use super::{Real, Vector3};

/// A symmetric matrix of three rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Symmetric3<R> {
    /// The diagonal: xx, yy, zz.
    pub diagonal: Vector3<R>,
    /// Beside the diagonal: yz, xz, xy.
    pub beside: Vector3<R>,
}

impl<R: Real> Symmetric3<R> {
    /// The zero matrix.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { diagonal: Vector3::zero(), beside: Vector3::zero() }
    }

    /// The unit matrix times `value`.
    #[inline(always)]
    pub fn isotropic(value: R) -> Self {
        Self { diagonal: Vector3::new(value, value, value), beside: Vector3::zero() }
    }

    /// `factor · v vᵀ`.
    #[inline(always)]
    pub fn outer(vector: Vector3<R>, factor: R) -> Self {
        let Vector3 { x, y, z } = vector;
        let scaled = vector * factor;
        Self {
            diagonal: scaled.scale(vector),
            beside: Vector3::new(scaled.y * z, scaled.z * x, scaled.x * y),
        }
    }

    /// `u vᵀ + v uᵀ`.
    #[inline(always)]
    pub fn mixed(u: Vector3<R>, v: Vector3<R>) -> Self {
        Self {
            diagonal: u.scale(v) * R::splat(2.0),
            beside: Vector3::new(
                u.y.mul_add(v.z, u.z * v.y),
                u.z.mul_add(v.x, u.x * v.z),
                u.x.mul_add(v.y, u.y * v.x),
            ),
        }
    }

    /// The three rows.
    #[inline(always)]
    pub fn rows(self) -> [Vector3<R>; 3] {
        let (d, b) = (self.diagonal, self.beside);
        [Vector3::new(d.x, b.z, b.y), Vector3::new(b.z, d.y, b.x), Vector3::new(b.y, b.x, d.z)]
    }

    /// The product with a vector.
    #[inline(always)]
    pub fn apply(self, vector: Vector3<R>) -> Vector3<R> {
        let [x, y, z] = self.rows();
        Vector3::new(x.dot(vector), y.dot(vector), z.dot(vector))
    }
}

impl<R: Real> Add for Symmetric3<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { diagonal: self.diagonal + other.diagonal, beside: self.beside + other.beside }
    }
}

impl<R: Real> AddAssign for Symmetric3<R> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<R: Real> Mul<R> for Symmetric3<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: R) -> Self {
        Self { diagonal: self.diagonal * factor, beside: self.beside * factor }
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
    fn symmetric_products_are_those_of_their_definition() {
        let (u, v) = (Vector3::new(1.0, -2.0, 0.5), Vector3::new(3.0, 1.0, -4.0));
        let w = Vector3::new(-0.3, 0.7, 2.0);
        let mixed = Symmetric3::mixed(u, v).apply(w) - (u * v.dot(w) + v * u.dot(w));
        let outer = Symmetric3::outer(u, 3.0).apply(w) - u * (3.0 * u.dot(w));
        assert!(mixed.length() < 1e-14 && outer.length() < 1e-14);
        let sum = (Symmetric3::isotropic(2.0) + Symmetric3::zero()) * 0.5;
        assert_eq!(sum.apply(w), w);
    }
}
