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

    /// One in every lane.
    #[inline(always)]
    fn one() -> Self {
        Self::splat(1.0)
    }

    /// The magnitude.
    #[inline(always)]
    fn abs(self) -> Self {
        self.max(-self)
    }

    /// The nearest whole number, for magnitudes below four million.
    #[inline(always)]
    fn round(self) -> Self {
        single_precision_round(self)
    }

    /// Sine and cosine [rad]. Lanes have single precision for magnitudes below ten thousand.
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        single_precision_sin_cos(self)
    }

    /// The angle of the point (`x`, `self`) from the first axis, in (-π, π] [rad]; 0 at the origin. Lanes have
    /// single precision.
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        single_precision_atan2(self, x)
    }
}

/// Adding 1.5 · 2²³ pushes the fraction out of single precision.
#[inline(always)]
fn single_precision_round<R: Real>(value: R) -> R {
    let shift = R::splat(12_582_912.0);
    (value + shift) - shift
}

/// Reduces to a quarter turn in three steps of exact products, then the minimax polynomials of Cephes.
#[inline(always)]
fn single_precision_sin_cos<R: Real>(angle: R) -> (R, R) {
    let quarters = (angle * R::splat(std::f64::consts::FRAC_2_PI)).round();
    let rest = quarters.mul_add(R::splat(-1.5703125), angle);
    let rest = quarters.mul_add(R::splat(-4.837_512_969_970_703e-4), rest);
    let rest = quarters.mul_add(R::splat(-7.549_789_954_891_88e-8), rest);
    let square = rest * rest;
    let sine = square.mul_add(R::splat(-1.951_529_589_1e-4), R::splat(8.332_160_873_6e-3));
    let sine = square.mul_add(sine, R::splat(-0.166_666_654_61));
    let sine = (square * rest).mul_add(sine, rest);
    let cosine = square.mul_add(R::splat(2.443_315_711_809_948e-5), R::splat(-1.388_731_625_493_765e-3));
    let cosine = square.mul_add(cosine, R::splat(4.166_664_568_298_827e-2));
    let cosine = (square * square).mul_add(cosine, square.mul_add(R::splat(-0.5), R::one()));

    // The quadrant, from -2 to 2: odd ones swap sine and cosine.
    let quadrant = quarters - (quarters * R::splat(0.25)).round() * R::splat(4.0);
    let size = quadrant.abs();
    let (middle, far) = (R::splat(0.5).less(size), R::splat(1.5).less(size));
    let swapped_sine = R::select(middle, R::select(far, sine, cosine), sine);
    let swapped_cosine = R::select(middle, R::select(far, cosine, sine), cosine);
    let negative = quadrant.less(R::zero());
    let sine_flips = R::select(far, -swapped_sine, R::select(negative, -swapped_sine, swapped_sine));
    let right = R::select(middle, -swapped_cosine, swapped_cosine);
    let left = R::select(far, -swapped_cosine, swapped_cosine);
    (sine_flips, R::select(negative, left, right))
}

/// Halves the angle twice, so that the polynomial of Cephes holds, and mirrors where `x` is negative.
#[inline(always)]
fn single_precision_atan2<R: Real>(y: R, x: R) -> R {
    let radius = x.mul_add(x, y * y).sqrt();
    let half = y / (radius + x.abs()).max(R::splat(1e-30));
    let quarter = half / (R::one() + half.mul_add(half, R::one()).sqrt());
    let square = quarter * quarter;
    let series = square.mul_add(R::splat(8.053_744_495_38e-2), R::splat(-0.138_776_856_032));
    let series = square.mul_add(series, R::splat(0.199_777_106_478));
    let series = square.mul_add(series, R::splat(-0.333_329_491_539));
    let angle = (square * quarter).mul_add(series, quarter) * R::splat(4.0);
    let half_turn = R::splat(std::f64::consts::PI);
    let mirrored = R::select(y.less(R::zero()), -half_turn, half_turn) - angle;
    R::select(x.less(R::zero()), mirrored, angle)
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
            #[inline(always)]
            fn round(self) -> Self {
                self.round_ties_even()
            }
            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                self.sin_cos()
            }
            #[inline(always)]
            fn atan2(self, x: Self) -> Self {
                self.atan2(x)
            }
        }
    };
}

scalar_real!(f32);
scalar_real!(f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_precision_trigonometry_is_that_of_the_standard_library() {
        for step in -4000..=4000 {
            let angle = step as f32 * 0.011_3;
            let (sine, cosine) = single_precision_sin_cos(angle);
            let (exact_sine, exact_cosine) = f64::from(angle).sin_cos();
            assert!((f64::from(sine) - exact_sine).abs() < 2e-7, "sin {angle}");
            assert!((f64::from(cosine) - exact_cosine).abs() < 2e-7, "cos {angle}");
            for size in [1e-3, 1.0, 1e4] {
                let (y, x) = (size * sine, size * cosine);
                let found = f64::from(single_precision_atan2(y, x));
                let exact = f64::from(y).atan2(f64::from(x));
                assert!((found - exact).abs() <= 3e-7 * exact.abs().max(1e-3), "{y} {x}: {found} {exact}");
            }
        }
        assert_eq!(single_precision_atan2(0.0f32, 0.0), 0.0);
        assert_eq!(single_precision_atan2(0.0f32, -1.0), std::f32::consts::PI);
    }

    #[test]
    fn rounding_by_a_shift_is_rounding() {
        for step in -1000..1000 {
            let value = step as f32 * 0.25;
            assert_eq!(single_precision_round(value), value.round_ties_even());
        }
    }
}
