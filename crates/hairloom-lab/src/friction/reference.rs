//! The stick-slip test in theory: a heavy elastica clamped vertically above, pinned by friction to the floor below.
//!
//! Lengths are in lengths of the rod, forces in `E I / L²`. `θ` is the angle of the tangent off the vertical, `s` runs from the
//! clamp to the tip, and the floor pushes the tip up by `N` and sideways by `F`:
//! `θ″ = −(N − Γ (1 − s)) sin θ − F cos θ`, `θ(0) = 0`, `θ′(1) = 0`, `∫ sin θ = 0`.
//! The tip slips once `|F| / N` reaches Coulomb's coefficient; that ratio grows until the tip lies flat, `θ(1) = π/2`.

use std::f64::consts::FRAC_PI_2;

/// Steps of the integration.
const STEPS: usize = 400;
/// Angles of the tip that are tabulated.
const ANGLES: usize = 300;
/// Buckling load of a weightless rod between a clamp and a hinge, (kL)² with tan kL = kL.
const BUCKLING: f64 = 20.190_728_556_427;

/// What pushes at the tip for each depth that the clamp is lowered by.
#[derive(Debug)]
pub(super) struct Sticking {
    /// Ratio of sideways to upward force, and depth [lengths], as the tip turns.
    states: Vec<(f64, f64)>,
}

impl Sticking {
    /// A rod as heavy as `gamma`, Γ = ρ g A L³ / E I.
    pub(super) fn new(gamma: f64) -> Self {
        let mut force = [BUCKLING + 0.34 * gamma, -3.6034];
        let mut states = vec![(0.0, 0.0)];
        for k in 1..=ANGLES {
            let angle = FRAC_PI_2 * k as f64 / ANGLES as f64;
            // The sideways force is kept by angle of the tip: at small ones it is in proportion.
            for _ in 0..20 {
                let [turn, offset, _] = shoot(gamma, angle, force);
                let step = 1.0e-6;
                let [turn_n, offset_n, _] = shoot(gamma, angle, [force[0] + step, force[1]]);
                let [turn_f, offset_f, _] = shoot(gamma, angle, [force[0], force[1] + step]);
                let (a, b) = ((turn_n - turn) / step, (turn_f - turn) / step);
                let (c, d) = ((offset_n - offset) / step, (offset_f - offset) / step);
                let determinant = a * d - b * c;
                let change = [(d * turn - b * offset) / determinant, (a * offset - c * turn) / determinant];
                force = [force[0] - change[0], force[1] - change[1]];
                if change[0].abs() + change[1].abs() < 1.0e-9 {
                    break;
                }
            }
            let [_, _, reach] = shoot(gamma, angle, force);
            states.push((force[1].abs() * angle / force[0], 1.0 - reach));
        }
        Self { states }
    }

    /// The coefficient above which the tip never slips.
    pub(super) fn critical(&self) -> f64 {
        self.states.last().map_or(f64::NAN, |state| state.0)
    }

    /// The depth at which the tip slips [lengths], if it does.
    pub(super) fn slip(&self, friction: f64) -> Option<f64> {
        let behind = self.states.iter().position(|state| state.0 >= friction)?.max(1);
        let ((r0, d0), (r1, d1)) = (self.states[behind - 1], self.states[behind]);
        // The depth grows with the square of the ratio at first.
        let root = d0.sqrt() + (d1.sqrt() - d0.sqrt()) * (friction - r0) / (r1 - r0);
        Some(root * root)
    }
}

/// From a tip at `angle`: the angle at the clamp over that of the tip, the tip's offset likewise, and the rod's height.
fn shoot(gamma: f64, angle: f64, [up, aside]: [f64; 2]) -> [f64; 3] {
    let h = 1.0 / STEPS as f64;
    // Seen from the tip, u = 1 − s: angle, its rate, offset, height.
    let rate = |u: f64, y: [f64; 4]| {
        let (sin, cos) = y[0].sin_cos();
        [y[1], -(up - gamma * u) * sin - aside * angle * cos, sin, cos]
    };
    let moved = |y: [f64; 4], k: [f64; 4], by: f64| std::array::from_fn(|i| k[i].mul_add(by, y[i]));
    let mut y = [angle, 0.0, 0.0, 0.0];
    for i in 0..STEPS {
        let u = h * i as f64;
        let k1 = rate(u, y);
        let k2 = rate(u + 0.5 * h, moved(y, k1, 0.5 * h));
        let k3 = rate(u + 0.5 * h, moved(y, k2, 0.5 * h));
        let k4 = rate(u + h, moved(y, k3, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
    }
    [y[0] / angle, y[2] / angle, y[3]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from elliptic functions, and for the heavy rod from a boundary-value solver.
    #[test]
    fn the_tip_slips_where_elliptic_functions_say() {
        let table = include_str!("../../data/stick_slip.csv").lines().filter(|line| !line.starts_with('#'));
        let rows: Vec<Vec<f64>> =
            table.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
        for (gamma, critical) in [(0.0, 0.356_370_02), (6.8016, 0.373_654_96)] {
            let sticking = Sticking::new(gamma);
            assert!((sticking.critical() - critical).abs() < 1.0e-6, "{}", sticking.critical());
            let own: Vec<_> = rows.iter().filter(|row| (row[0] - gamma).abs() < 1.0e-6).collect();
            assert!(own.len() > 40);
            for row in own {
                let (friction, expected) = (row[1], row[2]);
                let slip = sticking.slip(friction).expect("it slips");
                assert!((slip / expected - 1.0).abs() < 1.0e-4, "{gamma} {friction}: {slip}, not {expected}");
            }
            assert_eq!(sticking.slip(critical + 0.001), None);
        }
    }
}
