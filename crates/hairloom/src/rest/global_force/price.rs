//! What the force of one segment costs.
//!
//! With x, the force over what the segment carries where its strand carries itself, along the segment and across:
//!
//!   w_t x∥² + w_c (θ − x∥)₊² + w_b |x⊥|² + w_e (|f| − κF)₊ / F,
//!
//! F the largest force of all strands that carry themselves. The last term has a kink, which is approached from below: excess e costs
//! ρ ((e + μ)₊² − μ²), as steep as w_e at most, with a μ that takes over what the square leaves (an augmented Lagrangian).

use glam::DVec3;

use super::Weights;

/// ρ.
const STEEPNESS: f64 = 2000.0;

/// The price of forces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Price {
    pub weights: Weights,
    /// F, in weights of a mean particle.
    pub largest: f64,
}

impl Price {
    /// |f| − κF over F.
    pub(super) fn excess(&self, force: DVec3) -> f64 {
        force.length() / self.largest - self.weights.limit
    }

    /// The largest μ: there the square is as steep as the price.
    fn most(&self) -> f64 {
        self.weights.excess / (2.0 * STEEPNESS)
    }

    /// The price itself of a force along the frame of its segment, which carries `carried` where its strand carries itself.
    pub(super) fn of(&self, force: DVec3, carried: f64) -> f64 {
        let (w, x) = (&self.weights, force / carried);
        let lacks = (w.least - x.x).max(0.0);
        w.tension * x.x * x.x
            + w.compression * lacks * lacks
            + w.bending * (x.y * x.y + x.z * x.z)
            + w.excess * self.excess(force).max(0.0)
    }

    /// The derivative of the price with a square in place of the kink.
    pub(super) fn gradient(&self, force: DVec3, carried: f64, mu: f64) -> DVec3 {
        let (w, x) = (&self.weights, force / carried);
        let lacks = (w.least - x.x).max(0.0);
        let along = w.tension * x.x - w.compression * lacks;
        let plain = DVec3::new(along, w.bending * x.y, w.bending * x.z) * (2.0 / carried);
        let beyond = (self.excess(force) + mu).min(self.most());
        if beyond > 0.0 {
            plain + force * (2.0 * STEEPNESS * beyond / (self.largest * force.length()))
        } else {
            plain
        }
    }

    /// Its second derivative along a direction.
    pub(super) fn curvature(&self, force: DVec3, direction: DVec3, carried: f64, mu: f64) -> f64 {
        let (w, d) = (&self.weights, direction / carried);
        let stiff = if force.x < w.least * carried { w.tension + w.compression } else { w.tension };
        let plain = 2.0 * (stiff * d.x * d.x + w.bending * (d.y * d.y + d.z * d.z));
        let beyond = self.excess(force) + mu;
        if beyond <= 0.0 {
            return plain;
        }
        let length = force.length();
        let along = (force.dot(direction) / length).powi(2);
        let across = (direction.length_squared() - along) * beyond.min(self.most()) * self.largest / length;
        let stretched = if beyond < self.most() { along } else { 0.0 };
        plain + 2.0 * STEEPNESS * (stretched + across) / (self.largest * self.largest)
    }

    /// The mean of the second derivative over all directions.
    pub(super) fn mean_curvature(&self, force: DVec3, carried: f64, mu: f64) -> f64 {
        DVec3::AXES.iter().map(|&axis| self.curvature(force, axis, carried, mu)).sum::<f64>() / 3.0
    }

    /// The μ that takes over what the square leaves of the excess.
    pub(super) fn next_multiplier(&self, force: DVec3, mu: f64) -> f64 {
        (mu + self.excess(force)).clamp(0.0, self.most())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    #[test]
    fn derivatives_agree_with_differences() {
        let price = Price { weights: Weights::default(), largest: 10.0 };
        let mut random = Random::new(6);
        let mut vector = |size: f64| {
            DVec3::new(random.signed().into(), random.signed().into(), random.signed().into()) * size
        };
        for round in 0..400 {
            let force = vector([1.0, 5.0, 10.0, 14.0][round % 4]);
            let (direction, carried) = (vector(1.0), [1.0, 3.0, 10.0][round % 3]);
            // Without a multiplier, below the largest slope, and above it, where price and stand-in are the same but for a constant.
            let mu = [0.0, 0.05, 1.0][round / 4 % 3];
            let at = |step: f64| force + direction * step;
            // Steps over a kink of a derivative tell nothing.
            let kinks = |f: DVec3| {
                let beyond = price.excess(f) + mu;
                [f.x < price.weights.least * carried, beyond > 0.0, beyond > price.most()]
            };
            let step = 1e-5;
            if kinks(at(step)) != kinks(at(-step)) {
                continue;
            }
            let slope = |step: f64| price.gradient(at(step), carried, mu).dot(direction);
            let second = (slope(step) - slope(-step)) / (2.0 * step);
            let curvature = price.curvature(force, direction, carried, mu);
            assert!((second - curvature).abs() < 1e-5 * (1.0 + curvature), "{second} {curvature}");
            let [_, is_beyond, is_steepest] = kinks(force);
            if is_steepest == (price.excess(force) > 0.0) && is_beyond == is_steepest {
                let first = (price.of(at(step), carried) - price.of(at(-step), carried)) / (2.0 * step);
                assert!((first - slope(0.0)).abs() < 1e-6 * (1.0 + first.abs()), "{first} {}", slope(0.0));
            }
        }
    }

    #[test]
    fn multipliers_come_to_rest_where_the_excess_does() {
        let price = Price { weights: Weights::default(), largest: 10.0 };
        let at_limit = DVec3::X * 10.0 * price.weights.limit;
        assert!((price.next_multiplier(at_limit, 0.1) - 0.1).abs() < 1e-12);
        assert!(price.next_multiplier(at_limit * 1.01, 0.1) > 0.1);
        assert_eq!(price.next_multiplier(DVec3::X, 0.1), 0.0);
        // No slope is steeper than the price.
        let far = price.next_multiplier(at_limit * 9.0, 0.1);
        let slope = price.gradient(DVec3::Y * 90.0, 1e9, far).y * price.largest;
        assert!((slope / price.weights.excess - 1.0).abs() < 1e-6, "{slope}");
    }
}
