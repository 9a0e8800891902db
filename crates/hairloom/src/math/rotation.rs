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
}
