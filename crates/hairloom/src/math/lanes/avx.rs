#![expect(unsafe_code, reason = "processor intrinsics, reached only after their features were detected")]

use std::arch::x86_64::*;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use std::sync::OnceLock;

use super::{Kernel, Lane, Row, WIDTH};
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

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Sends for all lines of an element, to the second cache: what is on its way to the first takes one of its few places for misses until it
/// arrives, and everything else waits.
#[inline(always)]
pub(super) fn send_for_lines<T>(element: *const T) {
    let start = element.cast::<i8>();
    for line in 0..size_of::<T>().div_ceil(LINE) {
        // SAFETY: every x86-64 processor has this instruction; it is a hint that reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(start.wrapping_add(line * LINE)) };
    }
}

/// Copies points; whole lines of the cache go past it.
pub(super) fn stream(from: &[glam::Vec3], to: &mut [glam::Vec3]) {
    assert_eq!(from.len(), to.len());
    let floats = 3 * from.len();
    let (from, to) = (from.as_ptr().cast::<f32>(), to.as_mut_ptr().cast::<f32>());
    let head = to.align_offset(LINE).min(floats);
    let body = (floats - head) / (LINE / 4) * (LINE / 4);
    // SAFETY: a point is three floats and nothing else, so both slices are `floats` floats, and they do not overlap. What is streamed
    // begins at a line of the cache, so every store is aligned; every x86-64 processor has these instructions. The fence makes
    // the stores visible to whoever is told of them later.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, head);
        for at in (head..head + body).step_by(4) {
            _mm_stream_ps(to.add(at), _mm_loadu_ps(from.add(at)));
        }
        let done = head + body;
        std::ptr::copy_nonoverlapping(from.add(done), to.add(done), floats - done);
        _mm_sfence();
    }
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
    #[inline(always)]
    fn transpose(rows: [Self; WIDTH]) -> [Self; WIDTH] {
        let [a, b, c, d, e, f, g, h] = rows;
        // Pairs, fours, and then halves change places.
        let (ab, cd) = (intrinsic!(_mm256_unpacklo_ps(a.0, b.0)), intrinsic!(_mm256_unpacklo_ps(c.0, d.0)));
        let (ef, gh) = (intrinsic!(_mm256_unpacklo_ps(e.0, f.0)), intrinsic!(_mm256_unpacklo_ps(g.0, h.0)));
        let (ab2, cd2) = (intrinsic!(_mm256_unpackhi_ps(a.0, b.0)), intrinsic!(_mm256_unpackhi_ps(c.0, d.0)));
        let (ef2, gh2) = (intrinsic!(_mm256_unpackhi_ps(e.0, f.0)), intrinsic!(_mm256_unpackhi_ps(g.0, h.0)));
        macro_rules! halves {
            ($choice:literal, $half:literal, $a:ident, $b:ident, $c:ident, $d:ident) => {
                Self(intrinsic!(_mm256_permute2f128_ps::<$half>(
                    _mm256_shuffle_ps::<$choice>($a, $b),
                    _mm256_shuffle_ps::<$choice>($c, $d)
                )))
            };
        }
        [
            halves!(0x44, 0x20, ab, cd, ef, gh),
            halves!(0xee, 0x20, ab, cd, ef, gh),
            halves!(0x44, 0x20, ab2, cd2, ef2, gh2),
            halves!(0xee, 0x20, ab2, cd2, ef2, gh2),
            halves!(0x44, 0x31, ab, cd, ef, gh),
            halves!(0xee, 0x31, ab, cd, ef, gh),
            halves!(0x44, 0x31, ab2, cd2, ef2, gh2),
            halves!(0xee, 0x31, ab2, cd2, ef2, gh2),
        ]
    }
    #[inline(always)]
    fn first_halves(self, other: Self) -> Self {
        Self(intrinsic!(_mm256_permute2f128_ps::<0x20>(self.0, other.0)))
    }
    #[inline(always)]
    fn swap_halves(self) -> Self {
        Self(intrinsic!(_mm256_permute2f128_ps::<0x01>(self.0, self.0)))
    }
}
