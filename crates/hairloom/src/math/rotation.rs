use super::{Real, Vector3};

/// A unit quaternion of reals, each of which may be several lanes wide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quaternion<R> {
    /// Real part.
    pub real: R,
    /// Imaginary part.
    pub imaginary: Vector3<R>,
}

impl<R: Real> Quaternion<R> {
    /// The rotation that changes nothing.
    #[inline(always)]
    pub fn identity() -> Self {
        Self { real: R::splat(1.0), imaginary: Vector3::zero() }
    }

    /// The same rotation in every lane.
    #[inline(always)]
    pub fn splat(value: glam::DQuat) -> Self {
        Self {
            real: R::splat(value.w),
            imaginary: Vector3::splat(glam::DVec3::new(value.x, value.y, value.z)),
        }
    }

    /// The inverse rotation.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Self { real: self.real, imaginary: -self.imaginary }
    }

    /// First `other`, then this rotation.
    #[inline(always)]
    pub fn after(self, other: Self) -> Self {
        let (a, b) = (self.imaginary, other.imaginary);
        Self {
            real: self.real * other.real - a.dot(b),
            imaginary: a.cross(b) + b * self.real + a * other.real,
        }
    }

    /// Brought back to unit length after rounding.
    #[inline(always)]
    pub fn normalized(self) -> Self {
        let square = self.real.mul_add(self.real, self.imaginary.length_squared());
        let scale = R::splat(1.0) / square.sqrt();
        Self { real: self.real * scale, imaginary: self.imaginary * scale }
    }

    /// Turned by the rotation vector `turn` (its length is `2 tan(angle / 2)`: the angle itself, for small turns).
    #[inline(always)]
    pub fn turned(self, turn: Vector3<R>) -> Self {
        let half = R::splat(0.5);
        Self { real: R::splat(1.0), imaginary: turn * half }.after(self).normalized()
    }

    /// The images of the three axes: the columns of the rotation matrix.
    #[inline(always)]
    pub fn axes(self) -> [Vector3<R>; 3] {
        let (one, two) = (R::splat(1.0), R::splat(2.0));
        let Vector3 { x, y, z } = self.imaginary;
        let (tx, ty, tz) = (x * two, y * two, z * two);
        let (wx, wy, wz) = (self.real * tx, self.real * ty, self.real * tz);
        let (xx, yy, zz) = (x * tx, y * ty, z * tz);
        let (xy, xz, yz) = (x * ty, x * tz, y * tz);
        [
            Vector3::new(one - yy - zz, xy + wz, xz - wy),
            Vector3::new(xy - wz, one - xx - zz, yz + wx),
            Vector3::new(xz + wy, yz - wx, one - xx - yy),
        ]
    }

    /// The image of the third axis.
    #[inline(always)]
    pub fn third_axis(self) -> Vector3<R> {
        let two = R::splat(2.0);
        let Vector3 { x, y, z } = self.imaginary;
        let w = self.real;
        Vector3::new(two * (x * z + w * y), two * (y * z - w * x), R::splat(1.0) - two * x.mul_add(x, y * y))
    }

    /// A quaternion from its parts.
    #[inline(always)]
    pub fn new(real: R, imaginary: Vector3<R>) -> Self {
        Self { real, imaginary }
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

    /// A vector, rotated.
    #[inline(always)]
    pub fn rotate(self, vector: Vector3<R>) -> Vector3<R> {
        let half = self.imaginary.cross(vector);
        let turned = half.mul_add(self.real, self.imaginary.cross(half));
        turned.mul_add(R::splat(2.0), vector)
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
        let product = Quaternion::<f64>::splat(a).after(Quaternion::splat(b));
        let expected = Quaternion::<f64>::splat(a * b);
        assert!((product.dot(expected) - 1.0).abs() < 1e-15);
        let point = DVec3::new(1.0, 2.0, -3.0);
        assert!((glam_vector(product.rotate(Vector3::splat(point))) - a * b * point).length() < 1e-14);
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        for (found, axis) in product.axes().into_iter().zip(axes) {
            assert!((glam_vector(found) - a * b * axis).length() < 1e-15);
        }
        assert_eq!(product.third_axis(), product.axes()[2]);
        let backward = expected.forward().scaled(-1.0);
        assert!(backward.real < 0.0 && backward.forward() == expected.forward());
        let longer = expected.scaled(1.0 + 1e-4).renormalized();
        assert!((longer.dot(longer) - 1.0).abs() < 1e-7);
    }
}
