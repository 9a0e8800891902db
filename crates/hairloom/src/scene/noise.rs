//! Seeded random numbers and smooth noise for motions and wind.

use glam::DVec3;

/// A small generator (SplitMix64): the same seed gives the same numbers everywhere.
#[derive(Debug, Clone)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u32, stream: u64) -> Self {
        Self { state: mix(u64::from(seed)) ^ mix(stream.wrapping_add(0x5851_f42d_4c95_7f2d)) }
    }

    /// A number from 0 to below 1.
    pub(super) fn fraction(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(self.state) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from −1 to below 1.
    pub(super) fn signed(&mut self) -> f64 {
        2.0 * self.fraction() - 1.0
    }

    /// A direction, all equally likely.
    pub(super) fn direction(&mut self) -> DVec3 {
        let (height, angle) = (self.signed(), std::f64::consts::TAU * self.fraction());
        let radius = (1.0 - height * height).max(0.0).sqrt();
        DVec3::new(radius * angle.cos(), height, radius * angle.sin())
    }

    /// A point in the unit ball, all equally likely.
    pub(super) fn in_ball(&mut self) -> DVec3 {
        let direction = self.direction();
        direction * self.fraction().cbrt()
    }
}

fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The uniform cubic B-spline with the given control points, at `x`: twice continuously differentiable and
/// within the hull of the four control points around `x`.
pub(super) fn spline<T>(x: f64, control: impl Fn(i64) -> T) -> T
where
    T: std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
{
    let cell = x.floor();
    let (u, index) = (x - cell, cell as i64);
    let v = 1.0 - u;
    control(index.saturating_sub(1)) * (v * v * v / 6.0)
        + control(index) * (2.0 / 3.0 - u * u * (1.0 - u / 2.0))
        + control(index.saturating_add(1)) * (2.0 / 3.0 - v * v * (1.0 - v / 2.0))
        + control(index.saturating_add(2)) * (u * u * u / 6.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_fill_their_range_evenly() {
        let mut random = Random::new(7, 0);
        let numbers: Vec<f64> = (0..10_000).map(|_| random.fraction()).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 1e4;
        // Standard deviation of the mean: 1 / √(12 · 10⁴) = 0.0029.
        assert!((mean - 0.5).abs() < 0.012, "{mean}");
        assert_ne!(Random::new(1, 0).fraction(), Random::new(2, 0).fraction());
        assert_ne!(Random::new(1, 0).fraction(), Random::new(1, 1).fraction());
    }

    #[test]
    fn splines_reproduce_straight_lines() {
        for x in [-3.7, 0.0, 0.25, 11.9] {
            assert!((spline(x, |index| index as f64) - x).abs() < 1e-12);
        }
    }
}
