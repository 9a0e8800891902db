//! Hair between two pins of equal height. Along the half from a pin to the middle its direction θ below the horizontal obeys
//! `θ″ / Γ = (1 + ε) (H sin θ − (½ − s) cos θ)`, `θ′(0) = 0`, `θ(½) = 0`, in units of its length and weight, and `H` is what makes it reach the
//! middle. It is stretched by `ε = σ (H cos θ + (½ − s) sin θ)`, where `σ = ρ g L / E` is what its weight would stretch it by.
//!
//! Without stiffness that is the catenary. Solutions grow like `e^√Γ`, so they are not shot for: all of them, and `H`, are found at once by
//! Newton's method, from the catenary on while Γ comes down to what is asked for.

use crate::LabError;
use crate::tridiagonal::eliminate;

/// Intervals of the half.
const INTERVALS: usize = 4000;
/// Γ that counts as none to begin with, and the factor that it comes down by.
const HEAVIEST: f64 = 1.0e7;
const LIGHTER: f64 = 0.7;
/// Newton's steps for each Γ at most, and the step that is small enough [rad].
const STEPS: usize = 30;
const SMALL: f64 = 1.0e-11;

/// Hair that hangs from two pins.
pub(super) struct Hanging {
    /// Directions below the horizontal from the first pin to the middle [rad].
    angles: Vec<f64>,
    /// What pulls along the span [weights].
    pub(super) pull: f64,
    /// σ, what its weight stretches it by.
    softness: f64,
}

impl Hanging {
    /// Hair as heavy as `gamma`, and as soft as `softness`, over `span` [lengths].
    pub(super) fn new(span: f64, gamma: f64, softness: f64) -> Result<Self, LabError> {
        let a = scale(span);
        let angles = (0..=INTERVALS).map(|i| ((0.5 - place(i)) / a).atan()).collect();
        let mut hair = Self { angles, pull: a, softness };
        if gamma.is_finite() {
            let mut now = HEAVIEST.max(gamma);
            hair.relax(span, now)?;
            while now > gamma {
                now = (now * LIGHTER).max(gamma);
                hair.relax(span, now)?;
            }
        }
        Ok(hair)
    }

    /// ε at every node.
    fn stretches(&self) -> Vec<f64> {
        let stretch = |(i, angle): (usize, &f64)| {
            let (sin, cos) = angle.sin_cos();
            self.softness * (self.pull * cos + (0.5 - place(i)) * sin)
        };
        self.angles.iter().enumerate().map(stretch).collect()
    }

    /// Newton's method; stretches follow from step to step, but for what the pull adds to them.
    fn relax(&mut self, span: f64, gamma: f64) -> Result<(), LabError> {
        let (h, n) = (0.5 / INTERVALS as f64, INTERVALS);
        for _ in 0..STEPS {
            let stretches = self.stretches();
            let (theta, pull) = (&self.angles, self.pull);
            // Residuals of the inner nodes and of the pin, what they change by with the angles and with the pull.
            let (mut left, mut diagonal, mut residual, mut by_pull) =
                (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
            let stiff = 1.0 / (gamma * h * h);
            for i in 0..n {
                let (sin, cos) = theta[i].sin_cos();
                let (hangs, longer) = (0.5 - place(i), 1.0 + stretches[i]);
                // θ′ = 0 at the pin: the node before it mirrors the one behind.
                let before = if i == 0 { theta[1] } else { theta[i - 1] };
                let bends = stiff * (before - 2.0 * theta[i] + theta[i + 1]);
                residual[i] = bends - longer * (pull * sin - hangs * cos);
                diagonal[i] = -2.0 * stiff - longer * (pull * cos + hangs * sin);
                left[i] = stiff;
                by_pull[i] = -longer * sin;
            }
            let right = |i: usize| if i == 0 { 2.0 * stiff } else { stiff };
            let along = eliminate(&left, &diagonal, right, &residual);
            let with_pull = eliminate(&left, &diagonal, right, &by_pull);
            // Half the span is the integral of the cosine, by the trapezoidal rule; the middle does not turn.
            let weight = |i: usize| if i == 0 || i == n { 0.5 * h } else { h };
            let reach: f64 = (0..=n).map(|i| weight(i) * (1.0 + stretches[i]) * theta[i].cos()).sum();
            let slope = |steps: &[f64]| -> f64 {
                let turns = steps.iter().enumerate();
                turns.map(|(i, step)| weight(i) * (1.0 + stretches[i]) * theta[i].sin() * step).sum()
            };
            let longer: f64 = (0..=n).map(|i| weight(i) * self.softness * theta[i].cos().powi(2)).sum();
            // Angles change by −along − with_pull · change, and the reach by minus their slope.
            let change = (0.5 * span - reach - slope(&along)) / (slope(&with_pull) + longer);
            self.pull += change;
            let mut largest = 0.0_f64;
            for (i, angle) in self.angles[..n].iter_mut().enumerate() {
                let step = -along[i] - change * with_pull[i];
                largest = largest.max(step.abs());
                *angle += step.clamp(-0.3, 0.3);
            }
            if largest < SMALL {
                return Ok(());
            }
        }
        Err(LabError::Reference {
            what: format!("hair of Γ = {gamma:.3} that hangs over {span} of its length"),
        })
    }

    /// How far the middle hangs below the pins [lengths].
    pub(super) fn sag(&self) -> f64 {
        self.curve().last().map_or(0.0, |(_, y)| -y)
    }

    /// The direction at the pin below the horizontal [rad].
    pub(super) fn end(&self) -> f64 {
        self.angles[0]
    }

    /// The half from the first pin to the middle [lengths].
    pub(super) fn curve(&self) -> Vec<(f64, f64)> {
        let h = 0.5 / INTERVALS as f64;
        let mut at = (0.0, 0.0);
        let mut curve = vec![at];
        let ways = |(angle, stretch): (&f64, &f64)| {
            let (sin, cos) = angle.sin_cos();
            ((1.0 + stretch) * cos, -(1.0 + stretch) * sin)
        };
        let ways: Vec<(f64, f64)> = self.angles.iter().zip(&self.stretches()).map(ways).collect();
        for pair in ways.windows(2) {
            at = (at.0 + 0.5 * h * (pair[0].0 + pair[1].0), at.1 + 0.5 * h * (pair[0].1 + pair[1].1));
            curve.push(at);
        }
        curve
    }
}

/// Where a node is along the half [lengths].
fn place(node: usize) -> f64 {
    0.5 * node as f64 / INTERVALS as f64
}

/// The parameter a of the catenary y = a cosh(x / a) over `span` [lengths].
fn scale(span: f64) -> f64 {
    // sinh(u) / u = 1 / span, u = span / 2 a.
    let (mut low, mut high) = (1.0e-6_f64, 50.0_f64);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if middle.sinh() / middle < 1.0 / span { low = middle } else { high = middle }
    }
    span / (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_and_elasticas_are_those_of_the_table() {
        let table = include_str!("../../data/catenary.csv").lines().filter(|line| !line.starts_with('#'));
        let mut rows = 0;
        for line in table {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            let hair = Hanging::new(cells[0], cells[1], 0.0).unwrap();
            assert!((hair.sag() / cells[2] - 1.0).abs() < 1.0e-5, "{line}: sags by {}", hair.sag());
            assert!((hair.pull / cells[3] - 1.0).abs() < 1.0e-4, "{line}: pulls with {}", hair.pull);
            rows += 1;
        }
        assert_eq!(rows, 15);
    }

    /// A tight parabola: sag² = ⅜ (1 + ε) span · (1 + ε − span), with ε of what pulls along the span, 1 / 8 sag.
    #[test]
    fn soft_hair_that_is_tight_sags_more() {
        let (span, softness) = (0.99, 1.0e-3);
        let stiff = Hanging::new(span, 1.0e7, 0.0).unwrap();
        let soft = Hanging::new(span, 1.0e7, softness).unwrap();
        let slack = |sag: f64| 0.01 + softness / (8.0 * sag);
        let (mut low, mut high) = (0.01_f64, 0.2_f64);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if middle * middle < 0.375 * slack(middle) { low = middle } else { high = middle }
        }
        let expected = low / (0.375_f64 * 0.01).sqrt();
        assert!((soft.sag() / stiff.sag() / expected - 1.0).abs() < 5.0e-3, "{}", soft.sag() / stiff.sag());
        for hair in [&stiff, &soft] {
            assert!((hair.curve().last().unwrap().0 - 0.5 * span).abs() < 1.0e-9);
        }
    }

    #[test]
    fn hair_of_all_kinds_is_found() {
        for span in [0.1, 0.5, 0.9, 0.99] {
            for gamma in [1.0, 30.0, 1.0e4, 1.0e7] {
                Hanging::new(span, gamma, 1.0e-4).unwrap();
            }
        }
    }
}
