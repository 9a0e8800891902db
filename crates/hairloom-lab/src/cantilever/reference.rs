//! The heavy elastica, clamped horizontally: `θ″ = −Γ (1 − s) cos θ`, `θ(0) = 0`, `θ′(1) = 0`.
//!
//! Seen from the tip with `ψ = π/2 − θ` and `u = 1 − s` this is `ψ″ = Γ u sin ψ` with `ψ′(0) = 0`, which grows from a small
//! angle at the tip to `ψ(1) = π/2` at the clamp: shooting from there is tame at any Γ.

use std::f64::consts::FRAC_PI_2;

/// Steps of the integration.
const STEPS: usize = 8000;
/// Halvings of the interval that the tip's angle lies in.
const HALVINGS: usize = 60;

/// Drop over reach of the tip, H / W, of a rod as heavy as `gamma`.
pub(crate) fn drop_over_reach(gamma: f64) -> f64 {
    let (drop, reach) = tip(gamma);
    drop / reach
}

/// Drop and reach of the tip of a rod as heavy as `gamma` [lengths].
pub(crate) fn tip(gamma: f64) -> (f64, f64) {
    // In logarithms: the tip of a long hair hangs within e^(-⅔ √Γ) of the vertical.
    let (mut low, mut high) = (-1.0 - gamma.sqrt(), FRAC_PI_2.ln());
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if shoot(gamma, middle.exp()).0 < FRAC_PI_2 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let (_, drop, reach) = shoot(gamma, (0.5 * (low + high)).exp());
    (drop, reach)
}

/// From a tip at `angle` off the vertical: the angle at the clamp, the drop and the reach [lengths].
fn shoot(gamma: f64, angle: f64) -> (f64, f64, f64) {
    let h = 1.0 / STEPS as f64;
    // Angle, its rate, drop, reach.
    let rate = |u: f64, y: [f64; 4]| {
        let (sin, cos) = y[0].sin_cos();
        [y[1], gamma * u * sin, cos, sin]
    };
    let moved = |y: [f64; 4], k: [f64; 4], by: f64| std::array::from_fn(|i| k[i].mul_add(by, y[i]));
    let mut y = [angle, 0.0, 0.0, 0.0];
    for i in 0..STEPS {
        let u = h * i as f64;
        let k1 = rate(u, y);
        let k2 = rate(u + 0.5 * h, moved(y, k1, 0.5 * h));
        let k3 = rate(u + 0.5 * h, moved(y, k2, 0.5 * h));
        let k4 = rate(u + h, moved(y, k3, h));
        y = std::array::from_fn(|j| y[j] + h / 6.0 * (k1[j] + 2.0 * (k2[j] + k3[j]) + k4[j]));
        if y[0] > FRAC_PI_2 + 1.0 {
            // Beyond the clamp already.
            break;
        }
    }
    (y[0], y[2], y[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shooting_agrees_with_the_table() {
        let table = include_str!("../../data/cantilever.csv");
        let rows: Vec<[f64; 2]> = table
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| {
                let mut cells = line.split(',').map(|cell| cell.parse::<f64>().unwrap());
                std::array::from_fn(|_| cells.next().unwrap())
            })
            .collect();
        assert!(rows.len() > 20);
        for [gamma, expected] in rows {
            let found = drop_over_reach(gamma);
            assert!((found / expected - 1.0).abs() < 1.0e-6, "Γ = {gamma}: {found} against {expected}");
        }
    }

    #[test]
    fn the_limits_are_those_of_a_beam_and_of_a_chain() {
        assert!((drop_over_reach(1.0e-3) / (1.0e-3 / 8.0) - 1.0).abs() < 1.0e-5);
        assert!((drop_over_reach(1.0e5) / (0.5e5_f64).sqrt() - 1.0).abs() < 0.01);
    }
}
