#![expect(unsafe_code, reason = "processor intrinsics, reached only after their features were detected")]

use std::arch::x86_64::*;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use super::avx::available;
use super::double::{DoubleRow, cosines, directions};
use crate::math::{Loads, Real, StoredKernel};

/// Runs a kernel with [`AvxDouble`] lanes. Call only where [`available`] holds.
pub(super) fn run<K: StoredKernel<DoubleRow>>(kernel: K) -> K::Output {
    assert!(available());
    // SAFETY: the processor has the features that `entry` is compiled for.
    unsafe { entry(kernel) }
}

#[target_feature(enable = "avx2,fma")]
fn entry<K: StoredKernel<DoubleRow>>(kernel: K) -> K::Output {
    kernel.run::<AvxDouble>()
}

/// Four lanes of doubles in one register. Private to this module, so that it exists only below [`run`].
#[derive(Clone, Copy)]
struct AvxDouble(__m256d);

// SAFETY, for every use of an intrinsic below: an `AvxDouble` is named only by `entry`, which runs on processors
// with AVX2 and FMA; the intrinsics work on registers and touch no memory but the rows they are handed.
macro_rules! intrinsic {
    ($call:expr) => {
        unsafe { $call }
    };
}

macro_rules! lanewise {
    ($trait:ident, $method:ident, $intrinsic:ident) => {
        impl $trait for AvxDouble {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(intrinsic!($intrinsic(self.0, other.0)))
            }
        }
    };
}

lanewise!(Add, add, _mm256_add_pd);
lanewise!(Sub, sub, _mm256_sub_pd);
lanewise!(Mul, mul, _mm256_mul_pd);
lanewise!(Div, div, _mm256_div_pd);

impl Neg for AvxDouble {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(intrinsic!(_mm256_xor_pd(self.0, _mm256_set1_pd(-0.0))))
    }
}

impl AddAssign for AvxDouble {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for AvxDouble {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Real for AvxDouble {
    type Mask = __m256d;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(intrinsic!(_mm256_set1_pd(value)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(intrinsic!(_mm256_sqrt_pd(self.0)))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(intrinsic!(_mm256_fmadd_pd(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(intrinsic!(_mm256_min_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(intrinsic!(_mm256_max_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn less(self, other: Self) -> __m256d {
        intrinsic!(_mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0))
    }
    #[inline(always)]
    fn select(mask: __m256d, yes: Self, no: Self) -> Self {
        Self(intrinsic!(_mm256_blendv_pd(no.0, yes.0, mask)))
    }
    #[inline(always)]
    fn any(mask: __m256d) -> bool {
        intrinsic!(_mm256_movemask_pd(mask)) != 0
    }
    #[inline(always)]
    fn round(self) -> Self {
        Self(intrinsic!(_mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(self.0)))
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let mut row = DoubleRow::default();
        self.store_to(&mut row);
        let (sines, cosines) = cosines(row);
        (Self::load_from(&sines), Self::load_from(&cosines))
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        let mut rows = [DoubleRow::default(); 2];
        self.store_to(&mut rows[0]);
        x.store_to(&mut rows[1]);
        Self::load_from(&directions(rows[0], rows[1]))
    }
}

impl Loads<DoubleRow> for AvxDouble {
    #[inline(always)]
    fn load_from(stored: &DoubleRow) -> Self {
        // SAFETY: a row is 32 bytes, aligned to 32.
        Self(unsafe { _mm256_load_pd(stored.0.as_ptr()) })
    }
    #[inline(always)]
    fn store_to(self, stored: &mut DoubleRow) {
        // SAFETY: a row is 32 bytes, aligned to 32, and borrowed for writing.
        unsafe { _mm256_store_pd(stored.0.as_mut_ptr(), self.0) }
    }
}
