use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A real number, or several of them side by side: physics is written once against this trait and runs on
/// `f64` (reference), `f32`, and lanes of `f32` (one strand per lane).
pub trait Real:
    Copy
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// The result of comparing: one truth value per lane.
    type Mask: Copy;

    /// The same value in every lane.
    fn splat(value: f64) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// `self * factor + term`, fused where the processor can.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// The smaller of two numbers; the second where either is NaN.
    fn min(self, other: Self) -> Self;
    /// The larger of two numbers; the second where either is NaN.
    fn max(self, other: Self) -> Self;
    /// Where `self < other`.
    fn less(self, other: Self) -> Self::Mask;
    /// `yes` where the mask holds, `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Whether the mask holds in any lane.
    fn any(mask: Self::Mask) -> bool;

    /// Zero in every lane.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }
}

macro_rules! scalar_real {
    ($scalar:ty) => {
        impl Real for $scalar {
            type Mask = bool;

            #[inline(always)]
            fn splat(value: f64) -> Self {
                value as $scalar
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            // Unfused: without the processor's instruction a fused scalar product is a slow library call.
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                self * factor + term
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn any(mask: bool) -> bool {
                mask
            }
        }
    };
}

scalar_real!(f32);
scalar_real!(f64);
