use std::ops::{Mul, Neg};

use super::{Real, Vector3};

/// A quaternion of four reals, each of which may be several lanes wide. Rotations are unit quaternions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quaternion<R> {
    /// Real part.
    pub real: R,
    /// Imaginary part.
    pub imaginary: Vector3<R>,
}

impl<R: Real> Quaternion<R> {
    /// A quaternion from its parts.
    #[inline(always)]
    pub fn new(real: R, imaginary: Vector3<R>) -> Self {
        Self { real, imaginary }
    }

    /// The rotation that changes nothing.
    #[inline(always)]
    pub fn identity() -> Self {
        Self { real: R::one(), imaginary: Vector3::zero() }
    }

    /// The same rotation in every lane.
    #[inline(always)]
    pub fn splat(value: glam::DQuat) -> Self {
        Self { real: R::splat(value.w), imaginary: Vector3::splat(value.xyz()) }
    }

    /// The inverse rotation.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Self { real: self.real, imaginary: -self.imaginary }
    }

    /// Scalar product of the four components.
    #[inline(always)]
    pub fn dot(self, other: Self) -> R {
        self.real.mul_add(other.real, self.imaginary.dot(other.imaginary))
    }

    /// The same quaternion with components multiplied by `factor`.
    #[inline(always)]
    pub fn scaled(self, factor: R) -> Self {
        Self { real: self.real * factor, imaginary: self.imaginary * factor }
    }

    /// Takes away what rounding added to the length of a unit quaternion: one Newton step, no division.
    #[inline(always)]
    pub fn renormalized(self) -> Self {
        self.scaled(self.dot(self).mul_add(R::splat(-0.5), R::splat(1.5)))
    }

    /// The same rotation with a real part that is not negative.
    #[inline(always)]
    pub fn forward(self) -> Self {
        let negative = self.real.less(R::zero());
        Self {
            real: R::select(negative, -self.real, self.real),
            imaginary: Vector3::select(negative, -self.imaginary, self.imaginary),
        }
    }

    /// The first axis, rotated.
    #[inline(always)]
    pub fn first_axis(self) -> Vector3<R> {
        let (two, Vector3 { x, y, z }) = (R::splat(2.0), self.imaginary);
        Vector3::new(
            two.mul_add(-y.mul_add(y, z * z), R::one()),
            two * x.mul_add(y, self.real * z),
            two * x.mul_add(z, -(self.real * y)),
        )
    }

    /// The second axis, rotated.
    #[inline(always)]
    pub fn second_axis(self) -> Vector3<R> {
        let (two, Vector3 { x, y, z }) = (R::splat(2.0), self.imaginary);
        Vector3::new(
            two * x.mul_add(y, -(self.real * z)),
            two.mul_add(-x.mul_add(x, z * z), R::one()),
            two * y.mul_add(z, self.real * x),
        )
    }

    /// The third axis, rotated.
    #[inline(always)]
    pub fn third_axis(self) -> Vector3<R> {
        let (two, Vector3 { x, y, z }) = (R::splat(2.0), self.imaginary);
        Vector3::new(
            two * x.mul_add(z, self.real * y),
            two * y.mul_add(z, -(self.real * x)),
            two.mul_add(-x.mul_add(x, y * y), R::one()),
        )
    }

    /// A vector, rotated.
    #[inline(always)]
    pub fn rotate(self, vector: Vector3<R>) -> Vector3<R> {
        let half = self.imaginary.cross(vector);
        let turned = half.mul_add(self.real, self.imaginary.cross(half));
        turned.mul_add(R::splat(2.0), vector)
    }
}

impl<R: Real> Mul for Quaternion<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let (a, b) = (self.imaginary, other.imaginary);
        Self {
            real: self.real.mul_add(other.real, -a.dot(b)),
            imaginary: b.mul_add(self.real, a.mul_add(other.real, a.cross(b))),
        }
    }
}

impl<R: Real> Neg for Quaternion<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { real: -self.real, imaginary: -self.imaginary }
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;

    fn glam_vector(vector: Vector3<f64>) -> DVec3 {
        DVec3::from_array(vector.to_array())
    }

    #[test]
    fn rotations_are_those_of_glam() {
        let a = DQuat::from_xyzw(0.1, -0.7, 0.4, 0.3).normalize();
        let b = DQuat::from_xyzw(-0.5, 0.2, 0.6, -0.9).normalize();
        let product = Quaternion::<f64>::splat(a) * Quaternion::splat(b);
        let expected = Quaternion::<f64>::splat(a * b);
        assert!((product.dot(expected) - 1.0).abs() < 1e-15);
        let point = DVec3::new(1.0, 2.0, -3.0);
        assert!((glam_vector(product.rotate(Vector3::splat(point))) - a * b * point).length() < 1e-14);
        assert!((glam_vector(product.first_axis()) - a * b * DVec3::X).length() < 1e-15);
        assert!((glam_vector(product.second_axis()) - a * b * DVec3::Y).length() < 1e-15);
        assert!((glam_vector(product.third_axis()) - a * b * DVec3::Z).length() < 1e-15);
        assert_eq!((-expected).forward().real.abs(), expected.real.abs());
        assert!((-expected.forward()).forward().real > 0.0);
    }
}
