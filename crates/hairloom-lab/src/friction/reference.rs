//! The stick-slip test in theory: a heavy elastica clamped vertically above, pinned by friction to the floor below.
//!
//! Lengths are in lengths of the rod, forces in `E I / L²`. `θ` is the angle of the tangent off the vertical, `s` runs from the
//! clamp to the tip, and the floor pushes the tip up by `N` and sideways by `F`:
//! `θ″ = −(N − Γ (1 − s)) sin θ − F cos θ`, `θ(0) = 0`, `θ′(1) = 0`, `∫ sin θ = 0`.
//! The tip slips once `|F| / N` reaches Coulomb's coefficient; that ratio grows until the tip lies flat, `θ(1) = π/2`.
//!
//! Solutions grow exponentially along heavy rods, so they are not shot for: angles of all nodes and both forces are found at once by Newton's
//! method, from the rod that begins to buckle without weight on, while its weight grows to `Γ` and its tip turns to `π/2`.

use std::f64::consts::FRAC_PI_2;

use crate::LabError;
use crate::tridiagonal::eliminate;

/// Intervals of the rod.
const INTERVALS: usize = 4000;
/// Angles of the tip that are tabulated.
const ANGLES: usize = 300;
/// The first solution of tan k = k.
const BUCKLING: f64 = 4.493_409_457_909_064;
/// How much heavier the rod becomes from one solution to the next, beside its weight and at least.
const HEAVIER: f64 = 0.05;
const LEAST_HEAVIER: f64 = 2.0;
/// Newton's steps for each solution at most, the step that is small enough, and the longest [rad].
const STEPS: usize = 30;
const SMALL: f64 = 1.0e-11;
const LONGEST: f64 = 0.3;
/// The heaviest rod that nodes are close enough for.
pub(super) const HEAVIEST: f64 = 1.0e4;

/// What pushes at the tip for each depth that the clamp is lowered by.
#[derive(Debug)]
pub(super) struct Sticking {
    /// Ratio of sideways to upward force, and depth [lengths], as the tip turns.
    states: Vec<(f64, f64)>,
}

impl Sticking {
    /// A rod as heavy as `gamma`, Γ = ρ g A L³ / E I.
    pub(super) fn new(gamma: f64) -> Result<Self, LabError> {
        let first = FRAC_PI_2 / ANGLES as f64;
        let mut rod = Rod::buckling(first);
        let mut weight = 0.0;
        rod.relax(weight, first)?;
        while weight < gamma {
            weight = gamma.min(weight + LEAST_HEAVIER.max(HEAVIER * weight));
            rod.relax(weight, first)?;
        }
        let mut states = vec![(0.0, 0.0)];
        for k in 1..=ANGLES {
            rod.turn(first * k as f64, gamma)?;
            states.push((rod.aside.abs() / rod.up, 1.0 - rod.height()));
        }
        Ok(Self { states })
    }

    /// The coefficient above which the tip never slips.
    pub(super) fn critical(&self) -> f64 {
        self.states.iter().map(|state| state.0).fold(0.0, f64::max)
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

/// A solution.
struct Rod {
    /// Angles from the clamp to the tip [rad].
    angles: Vec<f64>,
    /// What the floor pushes the tip by, N and F.
    up: f64,
    aside: f64,
}

impl Rod {
    /// A weightless rod that begins to buckle, its tip at `angle`.
    fn buckling(angle: f64) -> Self {
        let (k, size) = (BUCKLING, angle / (BUCKLING - BUCKLING.sin()));
        let along = |i: usize| 1.0 - i as f64 / INTERVALS as f64;
        let angles = (0..=INTERVALS).map(|i| size * (k * (k * along(i)).cos() - k.sin())).collect();
        Self { angles, up: k * k, aside: k * k * k.sin() * size }
    }

    /// Turns the tip to `angle`; the rest begins in proportion.
    fn turn(&mut self, angle: f64, gamma: f64) -> Result<(), LabError> {
        let factor = angle / self.angles[INTERVALS];
        self.angles.iter_mut().for_each(|each| *each *= factor);
        self.aside *= factor;
        self.relax(gamma, angle)
    }

    /// Newton's method, with the tip at `angle`.
    fn relax(&mut self, gamma: f64, angle: f64) -> Result<(), LabError> {
        let (n, h) = (INTERVALS, 1.0 / INTERVALS as f64);
        let stiff = 1.0 / (h * h);
        // The clamp does not turn; behind the tip a node mirrors the one before it.
        let left = |i: usize| if i + 1 == n { 2.0 * stiff } else { stiff };
        for _ in 0..STEPS {
            let theta = &self.angles;
            let (mut residual, mut diagonal) = (vec![0.0; n], vec![0.0; n]);
            let (mut by_up, mut by_aside) = (vec![0.0; n], vec![0.0; n]);
            for i in 0..n {
                let at = i + 1;
                let (sin, cos) = theta[at].sin_cos();
                let pushes = self.up - gamma * (1.0 - at as f64 * h);
                let behind = if at == n { theta[n - 1] } else { theta[at + 1] };
                residual[i] =
                    stiff * (theta[at - 1] - 2.0 * theta[at] + behind) + pushes * sin + self.aside * cos;
                diagonal[i] = -2.0 * stiff + pushes * cos - self.aside * sin;
                (by_up[i], by_aside[i]) = (sin, cos);
            }
            let lefts: Vec<f64> = (0..n).map(left).collect();
            let [along, with_up, with_aside] =
                [&residual, &by_up, &by_aside].map(|known| eliminate(&lefts, &diagonal, |_| stiff, known));
            // Where the tip is aside of the clamp, by the trapezoidal rule, must be nothing, and the tip at its angle.
            let weight = |i: usize| if i + 1 == n { 0.5 * h } else { h };
            let offset: f64 = (0..n).map(|i| weight(i) * by_up[i]).sum();
            let slope = |steps: &[f64]| -> f64 { (0..n).map(|i| weight(i) * by_aside[i] * steps[i]).sum() };
            // Angles change by −along − with_up · up − with_aside · aside.
            let (a, b, c) = (slope(&with_up), slope(&with_aside), offset - slope(&along));
            let (d, e, f) = (with_up[n - 1], with_aside[n - 1], theta[n] - angle - along[n - 1]);
            let determinant = a * e - b * d;
            let (up, aside) = ((c * e - b * f) / determinant, (a * f - c * d) / determinant);
            let mut largest = 0.0_f64;
            for i in 0..n {
                let step = along[i] + up * with_up[i] + aside * with_aside[i];
                largest = largest.max(step.abs());
                self.angles[i + 1] -= step.clamp(-LONGEST, LONGEST);
            }
            (self.up, self.aside) = (self.up + up, self.aside + aside);
            if largest < SMALL {
                return Ok(());
            }
        }
        Err(LabError::Reference { what: format!("the heavy elastica of Γ = {gamma:.1} on a floor") })
    }

    /// How high the clamp is above the tip [lengths].
    fn height(&self) -> f64 {
        let cosines = self.angles.windows(2).map(|pair| 0.5 * (pair[0].cos() + pair[1].cos()));
        cosines.sum::<f64>() / INTERVALS as f64
    }
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
            let sticking = Sticking::new(gamma).unwrap();
            assert!((sticking.critical() - critical).abs() < 1.0e-6, "{}", sticking.critical());
            let own: Vec<_> = rows.iter().filter(|row| (row[0] - gamma).abs() < 1.0e-6).collect();
            assert!(own.len() > 40);
            for row in own {
                let (friction, expected) = (row[1], row[2]);
                // The last of the table is the critical coefficient itself.
                let slip = sticking.slip(friction.min(sticking.critical())).expect("it slips");
                assert!((slip / expected - 1.0).abs() < 1.0e-4, "{gamma} {friction}: {slip}, not {expected}");
            }
            assert_eq!(sticking.slip(critical + 0.001), None);
        }
    }

    /// Of long hair only the end lies on the floor: the heavier it is, the less the rest of it matters, and depths in units of
    /// the length that bends, (E I / ρ g A)^⅓, come to an end.
    #[test]
    fn what_hangs_high_above_the_floor_does_not_matter() {
        let depths = [100.0, 184.0, 400.0, 850.0, 3000.0].map(|gamma: f64| {
            let sticking = Sticking::new(gamma).unwrap();
            assert!((0.3..0.6).contains(&sticking.critical()), "{gamma}: {}", sticking.critical());
            sticking.slip(0.1).unwrap() * gamma.cbrt()
        });
        for pair in depths.windows(2) {
            assert!((pair[1] / pair[0] - 1.0).abs() < 0.06, "{depths:?}");
        }
    }
}
