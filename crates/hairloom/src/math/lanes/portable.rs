use std::array::from_fn;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use super::{Lane, Row, WIDTH};
use crate::math::Real;

/// Lanes as a plain array: correct everywhere, and what the compiler vectorises as far as it can.
#[derive(Debug, Clone, Copy)]
pub struct Portable([f32; WIDTH]);

macro_rules! lanewise {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl $trait for Portable {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(from_fn(|k| self.0[k] $operator other.0[k]))
            }
        }
    };
}

lanewise!(Add, add, +);
lanewise!(Sub, sub, -);
lanewise!(Mul, mul, *);
lanewise!(Div, div, /);

impl Neg for Portable {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(from_fn(|k| -self.0[k]))
    }
}

impl AddAssign for Portable {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Portable {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Real for Portable {
    type Mask = [bool; WIDTH];

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value as f32; WIDTH])
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(from_fn(|k| self.0[k].sqrt()))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        self * factor + term
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(from_fn(|k| if self.0[k] < other.0[k] { self.0[k] } else { other.0[k] }))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(from_fn(|k| if self.0[k] > other.0[k] { self.0[k] } else { other.0[k] }))
    }
    #[inline(always)]
    fn less(self, other: Self) -> Self::Mask {
        from_fn(|k| self.0[k] < other.0[k])
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Self(from_fn(|k| if mask[k] { yes.0[k] } else { no.0[k] }))
    }
    #[inline(always)]
    fn any(mask: Self::Mask) -> bool {
        mask.into_iter().any(|lane| lane)
    }
}

impl Lane for Portable {
    #[inline(always)]
    fn load(row: &Row) -> Self {
        Self(row.0)
    }
    #[inline(always)]
    fn store(self, row: &mut Row) {
        row.0 = self.0;
    }
    #[inline(always)]
    fn bits(mask: Self::Mask) -> u32 {
        mask.into_iter().enumerate().fold(0, |bits, (k, lane)| bits | u32::from(lane) << k)
    }
    #[inline(always)]
    fn transpose(rows: [Self; WIDTH]) -> [Self; WIDTH] {
        from_fn(|i| Self(from_fn(|k| rows[k].0[i])))
    }
    #[inline(always)]
    fn first_halves(self, other: Self) -> Self {
        Self(from_fn(|k| if k < WIDTH / 2 { self.0[k] } else { other.0[k - WIDTH / 2] }))
    }
    #[inline(always)]
    fn swap_halves(self) -> Self {
        Self(from_fn(|k| self.0[(k + WIDTH / 2) % WIDTH]))
    }
}
