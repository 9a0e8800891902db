use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use super::Real;

/// A vector of three reals, each of which may be several lanes wide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vector3<R> {
    /// First component.
    pub x: R,
    /// Second component.
    pub y: R,
    /// Third component.
    pub z: R,
}

impl<R: Real> Vector3<R> {
    /// A vector from its components.
    #[inline(always)]
    pub fn new(x: R, y: R, z: R) -> Self {
        Self { x, y, z }
    }

    /// The same vector in every lane.
    #[inline(always)]
    pub fn splat(value: glam::DVec3) -> Self {
        Self { x: R::splat(value.x), y: R::splat(value.y), z: R::splat(value.z) }
    }

    /// The zero vector.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { x: R::zero(), y: R::zero(), z: R::zero() }
    }

    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> R {
        self.x.mul_add(other.x, self.y.mul_add(other.y, self.z * other.z))
    }

    /// Vector product.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    /// Each component times that of `factors`.
    #[inline(always)]
    pub fn scaled(self, factors: Self) -> Self {
        Self { x: self.x * factors.x, y: self.y * factors.y, z: self.z * factors.z }
    }

    /// Length.
    #[inline(always)]
    pub fn length(self) -> R {
        self.length_squared().sqrt()
    }

    /// The components in order.
    #[inline(always)]
    pub fn to_array(self) -> [R; 3] {
        [self.x, self.y, self.z]
    }

    /// Squared length.
    #[inline(always)]
    pub fn length_squared(self) -> R {
        self.dot(self)
    }

    /// `self * factor + term`.
    #[inline(always)]
    pub fn mul_add(self, factor: R, term: Self) -> Self {
        Self {
            x: self.x.mul_add(factor, term.x),
            y: self.y.mul_add(factor, term.y),
            z: self.z.mul_add(factor, term.z),
        }
    }

    /// `yes` where the mask holds, `no` elsewhere.
    #[inline(always)]
    pub fn select(mask: R::Mask, yes: Self, no: Self) -> Self {
        Self {
            x: R::select(mask, yes.x, no.x),
            y: R::select(mask, yes.y, no.y),
            z: R::select(mask, yes.z, no.z),
        }
    }
}

impl<R: Real> Add for Vector3<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl<R: Real> Sub for Vector3<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

impl<R: Real> Mul<R> for Vector3<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: R) -> Self {
        Self { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }
}

impl<R: Real> Neg for Vector3<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { x: -self.x, y: -self.y, z: -self.z }
    }
}

impl<R: Real> AddAssign for Vector3<R> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<R: Real> SubAssign for Vector3<R> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}
