use std::f32::consts::TAU;

use glam::Vec3;

/// A small seeded generator of random numbers (SplitMix64). The same seed gives the same numbers on every machine.
#[derive(Debug, Clone)]
pub struct Random {
    key: u64,
    state: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn scramble(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    /// A generator that starts from `seed`.
    pub fn new(seed: u64) -> Self {
        let key = scramble(seed.wrapping_add(GOLDEN));
        Self { key, state: key }
    }

    /// A stream of its own for element `index`. It depends on the seed and the index alone, not on what was
    /// drawn before, so that threads may visit elements in any order.
    pub fn fork(&self, index: u64) -> Self {
        let key = scramble(self.key ^ scramble(index.wrapping_add(1).wrapping_mul(GOLDEN)));
        Self { key, state: key }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        scramble(self.state)
    }

    /// A number in [0, 1), all 24 bits of its fraction random.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// A number in [0, 1), all 53 bits of its fraction random.
    pub fn unit_f64(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number in [-1, 1).
    pub fn signed(&mut self) -> f32 {
        2.0 * self.unit() - 1.0
    }

    /// A whole number below `count`; 0 where `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        // The high half of the product is unbiased to within count / 2^64.
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }

    /// A unit vector, uniform over the sphere.
    pub fn direction(&mut self) -> Vec3 {
        let z = self.signed();
        let (sin, cos) = (TAU * self.unit()).sin_cos();
        let radius = (1.0 - z * z).max(0.0).sqrt();
        Vec3::new(radius * cos, radius * sin, z)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn forks_do_not_depend_on_draws_and_differ() {
        let mut random = Random::new(7);
        let before = random.fork(3).bits();
        random.bits();
        assert_eq!(before, random.fork(3).bits());
        assert_ne!(before, random.fork(4).bits());
        assert_ne!(before, Random::new(8).fork(3).bits());
    }

    #[test]
    fn moments_of_the_unit_interval() {
        let mut random = Random::new(1);
        let draws: Vec<f64> = (0..100_000).map(|_| f64::from(random.unit())).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5;
        // Standard errors are 0.0009 and 0.0002.
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 0.002, "{variance}");
    }

    #[test]
    fn first_draws_of_neighbouring_forks_are_independent() {
        let random = Random::new(5);
        let draws: Vec<f64> = (0..50_000).map(|i| f64::from(random.fork(i).signed())).collect();
        let correlation = draws.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / 50_000.0;
        assert!(correlation.abs() < 0.01, "{correlation}");
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut random = Random::new(2);
        let mut counts = [0; 6];
        (0..60_000).for_each(|_| counts[random.below(6)] += 1);
        assert!(counts.iter().all(|&count: &i32| (count - 10_000).abs() < 500), "{counts:?}");
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn directions_are_unit_and_balanced() {
        let mut random = Random::new(3);
        let mut sum = glam::Vec3::ZERO;
        for _ in 0..10_000 {
            let direction = random.direction();
            assert!((direction.length() - 1.0).abs() < 1e-5);
            sum += direction;
        }
        assert!(sum.length() < 400.0, "{sum}");
    }
}
