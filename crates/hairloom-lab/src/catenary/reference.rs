//! Hair between two pins of equal height. Along the half from a pin to the middle its direction θ below the horizontal obeys
//! `θ″ / Γ = H sin θ − (½ − s) cos θ`, `θ′(0) = 0`, `θ(½) = 0`, in units of its length and weight, and `H` is what makes it reach the middle.
//!
//! Without stiffness that is the catenary. Solutions grow like `e^√Γ`, so they are not shot for: all of them, and `H`, are found at once by
//! Newton's method, from the catenary on while Γ comes down to what is asked for.

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
}

impl Hanging {
    /// Hair as heavy as `gamma` over `span` [lengths].
    pub(super) fn new(span: f64, gamma: f64) -> Self {
        let a = scale(span);
        let angles = (0..=INTERVALS).map(|i| ((0.5 - place(i)) / a).atan()).collect();
        let mut hair = Self { angles, pull: a };
        if gamma.is_finite() {
            let mut now = HEAVIEST.max(gamma);
            hair.relax(span, now);
            while now > gamma {
                now = (now * LIGHTER).max(gamma);
                hair.relax(span, now);
            }
        }
        hair
    }

    /// Newton's method.
    fn relax(&mut self, span: f64, gamma: f64) {
        let (h, n) = (0.5 / INTERVALS as f64, INTERVALS);
        for _ in 0..STEPS {
            let (theta, pull) = (&self.angles, self.pull);
            // Residuals of the inner nodes and of the pin, what they change by with the angles and with the pull.
            let (mut left, mut diagonal, mut residual, mut by_pull) =
                (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
            let stiff = 1.0 / (gamma * h * h);
            for i in 0..n {
                let (sin, cos) = theta[i].sin_cos();
                let hangs = 0.5 - place(i);
                // θ′ = 0 at the pin: the node before it mirrors the one behind.
                let before = if i == 0 { theta[1] } else { theta[i - 1] };
                residual[i] = stiff * (before - 2.0 * theta[i] + theta[i + 1]) - pull * sin + hangs * cos;
                diagonal[i] = -2.0 * stiff - pull * cos - hangs * sin;
                left[i] = stiff;
                by_pull[i] = -sin;
            }
            let right = |i: usize| if i == 0 { 2.0 * stiff } else { stiff };
            let along = eliminate(&left, &diagonal, right, &residual);
            let with_pull = eliminate(&left, &diagonal, right, &by_pull);
            // Half the span is the integral of the cosine, by the trapezoidal rule; the middle does not turn.
            let weight = |i: usize| if i == 0 { 0.5 * h } else { h };
            let reach = h * 0.5 + (0..n).map(|i| weight(i) * theta[i].cos()).sum::<f64>();
            let slope = |steps: &[f64]| -> f64 {
                steps.iter().enumerate().map(|(i, step)| weight(i) * theta[i].sin() * step).sum()
            };
            // Angles change by −along − with_pull · change, and the reach by minus their slope.
            let change = (0.5 * span - reach - slope(&along)) / slope(&with_pull);
            self.pull += change;
            let mut largest = 0.0_f64;
            for (i, angle) in self.angles[..n].iter_mut().enumerate() {
                let step = -along[i] - change * with_pull[i];
                largest = largest.max(step.abs());
                *angle += step.clamp(-0.3, 0.3);
            }
            if largest < SMALL {
                return;
            }
        }
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
        for pair in self.angles.windows(2) {
            let [(first, cos), (second, other)] = [pair[0].sin_cos(), pair[1].sin_cos()];
            at = (at.0 + 0.5 * h * (cos + other), at.1 - 0.5 * h * (first + second));
            curve.push(at);
        }
        curve
    }
}

/// Where a node is along the half [lengths].
fn place(node: usize) -> f64 {
    0.5 * node as f64 / INTERVALS as f64
}

/// Solves a system with three diagonals.
fn eliminate(left: &[f64], diagonal: &[f64], right: impl Fn(usize) -> f64, known: &[f64]) -> Vec<f64> {
    let n = known.len();
    let (mut pivots, mut found) = (diagonal.to_vec(), known.to_vec());
    for i in 1..n {
        let factor = left[i] / pivots[i - 1];
        pivots[i] -= factor * right(i - 1);
        found[i] -= factor * found[i - 1];
    }
    found[n - 1] /= pivots[n - 1];
    for i in (0..n - 1).rev() {
        found[i] = (found[i] - right(i) * found[i + 1]) / pivots[i];
    }
    found
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
            let hair = Hanging::new(cells[0], cells[1]);
            assert!((hair.sag() / cells[2] - 1.0).abs() < 1.0e-5, "{line}: sags by {}", hair.sag());
            assert!((hair.pull / cells[3] - 1.0).abs() < 1.0e-4, "{line}: pulls with {}", hair.pull);
            rows += 1;
        }
        assert_eq!(rows, 15);
    }
}
