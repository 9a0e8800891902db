//! Half-precision numbers: stored by USD, computed with by nobody here.

/// An IEEE 754 number of 16 bits.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Half(
    /// The bits: sign, 5 of exponent, 10 of fraction.
    pub u16,
);

impl Half {
    /// The nearest half; ties go to the even one, what is too large becomes infinite.
    pub fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        let sign = ((bits >> 16) & 0x8000) as u16;
        let magnitude = bits & 0x7fff_ffff;
        if magnitude > 0x7f80_0000 {
            return Self(sign | 0x7e00);
        }
        if magnitude >= 0x4780_0000 {
            return Self(sign | 0x7c00);
        }
        let (shift, significand, exponent) = if magnitude < 0x3880_0000 {
            // Subnormal: one shift more for every power of two below the smallest normal number.
            let shift = 126 - (magnitude >> 23);
            if shift > 24 {
                return Self(sign);
            }
            (shift, (magnitude & 0x007f_ffff) | 0x0080_0000, 0)
        } else {
            (13, magnitude & 0x007f_ffff, ((magnitude >> 23) - 112) << 10)
        };
        let truncated = exponent + (significand >> shift);
        let rest = significand & ((1 << shift) - 1);
        let half_way = 1 << (shift - 1);
        let up = rest > half_way || (rest == half_way && truncated & 1 == 1);
        // A carry out of the fraction raises the exponent, which is just what rounding up means.
        Self(sign | (truncated + u32::from(up)) as u16)
    }

    /// The same number, exactly.
    pub fn to_f32(self) -> f32 {
        let sign = u32::from(self.0 & 0x8000) << 16;
        let exponent = u32::from(self.0 >> 10) & 0x1f;
        let fraction = u32::from(self.0 & 0x3ff);
        let magnitude = match exponent {
            0 => (fraction as f32 * (1.0 / 16_777_216.0)).to_bits(),
            31 => 0x7f80_0000 | (fraction << 13),
            _ => ((exponent + 112) << 23) | (fraction << 13),
        };
        f32::from_bits(sign | magnitude)
    }
}

impl std::fmt::Debug for Half {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_f32().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::Half;

    #[test]
    fn every_half_survives_the_way_through_f32() {
        for bits in 0..=u16::MAX {
            let half = Half(bits);
            if half.to_f32().is_nan() {
                assert!(Half::from_f32(half.to_f32()).to_f32().is_nan());
            } else {
                assert_eq!(Half::from_f32(half.to_f32()), half, "{bits:#06x}");
            }
        }
    }

    #[test]
    fn rounds_to_the_nearest_half_by_brute_force() {
        let finite: Vec<f32> = (0..0x7c00).map(|bits| Half(bits).to_f32()).collect();
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let exponent = -26.0 + 41.0 * ((state >> 11) as f64 / (1_u64 << 53) as f64);
            let value = 2.0_f64.powf(exponent) as f32;
            let got = Half::from_f32(value).to_f32();
            let above = finite.partition_point(|&half| half < value);
            let best = [above.saturating_sub(1), above.min(finite.len() - 1)]
                .map(|index| (f64::from(finite[index]) - f64::from(value)).abs());
            let error = (f64::from(got) - f64::from(value)).abs();
            assert!(error <= best[0].min(best[1]), "{value} became {got}");
        }
    }
}
