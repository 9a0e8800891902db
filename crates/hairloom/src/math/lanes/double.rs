//! Four strands side by side in double precision.

use std::array::from_fn;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use crate::math::{Loads, Real, Stored, StoredKernel};

/// How many strands ride side by side in double precision.
pub const DOUBLE_WIDTH: usize = 4;

/// One double for each of four strands, aligned for the processor's registers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C, align(32))]
pub struct DoubleRow(pub [f64; DOUBLE_WIDTH]);

/// Sines and cosines, lane by lane.
pub(super) fn cosines(angles: DoubleRow) -> (DoubleRow, DoubleRow) {
    (DoubleRow(angles.0.map(f64::sin)), DoubleRow(angles.0.map(f64::cos)))
}

/// Angles of the points (x, y) from the first axis, lane by lane.
pub(super) fn directions(y: DoubleRow, x: DoubleRow) -> DoubleRow {
    DoubleRow(from_fn(|k| y.0[k].atan2(x.0[k])))
}

impl Stored for DoubleRow {
    const LANES: usize = DOUBLE_WIDTH;
    const ROUNDING: f64 = f64::EPSILON;
    #[inline(always)]
    fn get(&self, lane: usize) -> f64 {
        self.0[lane]
    }
    #[inline(always)]
    fn set(&mut self, lane: usize, value: f64) {
        self.0[lane] = value;
    }
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; DOUBLE_WIDTH])
    }
    fn dispatch<K: StoredKernel<Self>>(kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        if super::avx::available() {
            return super::avx_double::run(kernel);
        }
        kernel.run::<PortableDouble>()
    }
}

/// Lanes of doubles as a plain array: correct everywhere, and what the compiler vectorises as far as it can.
#[derive(Debug, Clone, Copy)]
struct PortableDouble([f64; DOUBLE_WIDTH]);

macro_rules! lanewise {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl $trait for PortableDouble {
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

impl Neg for PortableDouble {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(from_fn(|k| -self.0[k]))
    }
}

impl AddAssign for PortableDouble {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for PortableDouble {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Real for PortableDouble {
    type Mask = [bool; DOUBLE_WIDTH];

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; DOUBLE_WIDTH])
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
    #[inline(always)]
    fn round(self) -> Self {
        Self(from_fn(|k| self.0[k].round_ties_even()))
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (sines, cosines) = cosines(DoubleRow(self.0));
        (Self(sines.0), Self(cosines.0))
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        Self(directions(DoubleRow(self.0), DoubleRow(x.0)).0)
    }
}

impl Loads<DoubleRow> for PortableDouble {
    #[inline(always)]
    fn load_from(stored: &DoubleRow) -> Self {
        Self(stored.0)
    }
    #[inline(always)]
    fn store_to(self, stored: &mut DoubleRow) {
        stored.0 = self.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation of the trait, folded into rows that two lane types must agree on.
    struct Probe<'a>(&'a DoubleRow, &'a DoubleRow);

    impl StoredKernel<DoubleRow> for Probe<'_> {
        type Output = ([DoubleRow; 13], bool);

        #[inline(always)]
        fn run<R: Loads<DoubleRow>>(self) -> Self::Output {
            let (a, b) = (R::load_from(self.0), R::load_from(self.1));
            let mask = a.less(b);
            let (sine, cosine) = a.sin_cos();
            let picked = R::select(mask, a, b);
            let turned = [sine, cosine, a.atan2(b), a.round()];
            let plain = [a + b, a - b, a * b, a / b, -a, a.min(b), a.max(b), (a * a).sqrt(), picked];
            let mut rows = [DoubleRow::default(); 13];
            for (value, row) in plain.into_iter().chain(turned).zip(&mut rows) {
                value.store_to(row);
            }
            (rows, R::any(mask))
        }
    }

    #[test]
    fn dispatched_doubles_agree_with_portable_ones_and_with_scalars_bit_for_bit() {
        let a = DoubleRow([1.5, -2.5, 3.0e-5, -0.125]);
        let b = DoubleRow([2.0, -2.0, 1.0e-5, 0.5]);
        let (rows, any) = DoubleRow::dispatch(Probe(&a, &b));
        assert_eq!((rows, any), Probe(&a, &b).run::<PortableDouble>());
        for lane in 0..DOUBLE_WIDTH {
            let (x, y) = (a.0[lane], b.0[lane]);
            let picked = if x < y { x } else { y };
            let plain = [x + y, x - y, x * y, x / y, -x, x.min(y), x.max(y), x.abs(), picked];
            let turned = [x.sin(), x.cos(), x.atan2(y), x.round_ties_even()];
            for (row, value) in rows.iter().zip(plain.into_iter().chain(turned)) {
                assert_eq!(row.0[lane], value);
            }
        }
    }
}
