#![expect(unsafe_code, reason = "processor intrinsics, reached only after their features were detected")]

use std::arch::x86_64::*;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use std::sync::OnceLock;

use super::{Kernel, Lane, Row};
use crate::math::Real;

/// Whether this processor has AVX2 and FMA.
pub(super) fn available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"))
}

/// Sends for memory that will be needed soon.
#[inline(always)]
pub(super) fn send_for<T>(element: &T) {
    // SAFETY: every x86-64 processor has this instruction, and the address is that of an element.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
}

/// Runs a kernel with [`Avx`] lanes. Call only where [`available`] holds.
pub(super) fn run<K: Kernel>(kernel: K) -> K::Output {
    assert!(available());
    // SAFETY: the processor has the features that `entry` is compiled for.
    unsafe { entry(kernel) }
}

#[target_feature(enable = "avx2,fma")]
fn entry<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx>()
}

/// Eight lanes in one register. Private to this module, so that it exists only below [`run`].
#[derive(Clone, Copy)]
pub(super) struct Avx(__m256);

// SAFETY, for every use of an intrinsic below: an `Avx` is named only by `entry`, which runs on processors
// with AVX2 and FMA; the intrinsics work on registers and touch no memory but the rows they are handed.
macro_rules! intrinsic {
    ($call:expr) => {
        unsafe { $call }
    };
}

macro_rules! lanewise {
    ($trait:ident, $method:ident, $intrinsic:ident) => {
        impl $trait for Avx {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(intrinsic!($intrinsic(self.0, other.0)))
            }
        }
    };
}

lanewise!(Add, add, _mm256_add_ps);
lanewise!(Sub, sub, _mm256_sub_ps);
lanewise!(Mul, mul, _mm256_mul_ps);
lanewise!(Div, div, _mm256_div_ps);

impl Neg for Avx {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(intrinsic!(_mm256_xor_ps(self.0, _mm256_set1_ps(-0.0))))
    }
}

impl AddAssign for Avx {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Avx {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Real for Avx {
    type Mask = __m256;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(intrinsic!(_mm256_set1_ps(value as f32)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(intrinsic!(_mm256_sqrt_ps(self.0)))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(intrinsic!(_mm256_fmadd_ps(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(intrinsic!(_mm256_min_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(intrinsic!(_mm256_max_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn less(self, other: Self) -> __m256 {
        intrinsic!(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0))
    }
    #[inline(always)]
    fn select(mask: __m256, yes: Self, no: Self) -> Self {
        Self(intrinsic!(_mm256_blendv_ps(no.0, yes.0, mask)))
    }
    #[inline(always)]
    fn any(mask: __m256) -> bool {
        Self::bits(mask) != 0
    }
}

impl Lane for Avx {
    #[inline(always)]
    fn load(row: &Row) -> Self {
        // SAFETY: a row is 32 bytes, aligned to 32.
        Self(unsafe { _mm256_load_ps(row.0.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, row: &mut Row) {
        // SAFETY: a row is 32 bytes, aligned to 32, and borrowed for writing.
        unsafe { _mm256_store_ps(row.0.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn bits(mask: __m256) -> u32 {
        intrinsic!(_mm256_movemask_ps(mask)) as u32
    }
}
