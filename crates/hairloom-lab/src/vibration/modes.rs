//! Modes of a hair that hangs straight down from its clamp, by Ritz's method.
//!
//! With lengths in L and times in `√(ρ A L⁴ / E I)` a deflection y(s, t) obeys `ÿ + y'''' − Γ ((1 − s) y')' = 0`. In the modes φᵢ of the
//! weightless hair, normalised, that is `q̈ + K q = 0` with `Kᵢⱼ = βᵢ⁴ δᵢⱼ + Γ ∫ (1 − s) φᵢ' φⱼ' ds`: frequencies come from above, and
//! soon, since φᵢ fulfil all conditions at both ends.

use std::f64::consts::PI;

/// Modes of the weightless hair that make up one of the heavy hair.
const BASIS: usize = 24;
/// Points of the integral.
const POINTS: usize = 800;

/// One mode.
pub(super) struct Mode {
    /// ω L² √(ρ A / E I).
    pub(super) frequency: f64,
    /// Weights of the weightless hair's modes.
    weights: [f64; BASIS],
}

impl Mode {
    /// Deflection and slope at `s` from 0 to 1.
    pub(super) fn shape(&self, s: f64) -> (f64, f64) {
        let parts = self.weights.iter().zip(roots()).map(|(weight, root)| {
            let (deflection, slope) = weightless(root, s);
            (weight * deflection, weight * slope)
        });
        parts.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }
}

/// All modes of a hair of this heaviness Γ, the slowest first.
pub(super) fn modes(heaviness: f64) -> Vec<Mode> {
    let roots = roots();
    let mut stiffness = [[0.0; BASIS]; BASIS];
    for point in 0..POINTS {
        let s = (point as f64 + 0.5) / POINTS as f64;
        let slopes = roots.map(|root| weightless(root, s).1);
        for (row, first) in stiffness.iter_mut().zip(slopes) {
            let tension = heaviness * (1.0 - s) / POINTS as f64;
            row.iter_mut().zip(slopes).for_each(|(entry, second)| *entry += tension * first * second);
        }
    }
    (0..BASIS).for_each(|i| stiffness[i][i] += roots[i].powi(4));
    let turned = diagonalise(&mut stiffness);
    let mode = |i: usize| Mode { frequency: stiffness[i][i].sqrt(), weights: turned.map(|row| row[i]) };
    let mut modes: Vec<Mode> = (0..BASIS).map(mode).collect();
    modes.sort_by(|a, b| a.frequency.total_cmp(&b.frequency));
    modes
}

/// The first roots of `cos β cosh β = −1`: near odd multiples of π/2.
fn roots() -> [f64; BASIS] {
    std::array::from_fn(|i| {
        let mut root = (i as f64 + 0.5) * PI;
        for _ in 0..8 {
            let value = root.cos() + 1.0 / root.cosh();
            let slope = -root.sin() - root.tanh() / root.cosh();
            root -= value / slope;
        }
        root
    })
}

/// Deflection of a mode of the weightless hair, whose mean square is one, and its slope.
fn weightless(root: f64, s: f64) -> (f64, f64) {
    // cosh b − cos b − σ (sinh b − sin b) with 1 − σ = `rest`: two large numbers would cancel for higher modes.
    let rest = ((-root).exp() + root.cos() + root.sin()) / (root.cosh() + root.cos());
    let (b, falling) = (root * s, (-root * s).exp());
    let deflection = falling + rest * b.sinh() - b.cos() + (1.0 - rest) * b.sin();
    (deflection, root * (rest * b.cosh() - falling + b.sin() + (1.0 - rest) * b.cos()))
}

/// Turns a symmetric matrix until it is diagonal (Jacobi 1846); returns the eigenvectors as columns.
fn diagonalise(matrix: &mut [[f64; BASIS]; BASIS]) -> [[f64; BASIS]; BASIS] {
    const SWEEPS: usize = 12;
    let mut vectors = [[0.0; BASIS]; BASIS];
    (0..BASIS).for_each(|i| vectors[i][i] = 1.0);
    for _ in 0..SWEEPS {
        for p in 0..BASIS {
            for q in p + 1..BASIS {
                let angle = 0.5 * (2.0 * matrix[p][q]).atan2(matrix[q][q] - matrix[p][p]);
                let (sin, cos) = angle.sin_cos();
                let turn = |row: &mut [f64; BASIS]| {
                    (row[p], row[q]) = (cos * row[p] - sin * row[q], sin * row[p] + cos * row[q]);
                };
                matrix.iter_mut().for_each(turn);
                vectors.iter_mut().for_each(turn);
                let (first, second) = (matrix[p], matrix[q]);
                matrix[p] = std::array::from_fn(|k| cos * first[k] - sin * second[k]);
                matrix[q] = std::array::from_fn(|k| sin * first[k] + cos * second[k]);
            }
        }
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_those_of_the_table() {
        let table = include_str!("../../data/vibration.csv").lines().filter(|line| !line.starts_with('#'));
        let mut rows = 0;
        for line in table {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            for (mode, expected) in modes(cells[0]).iter().zip(&cells[1..]) {
                let error = mode.frequency / expected - 1.0;
                // Ritz's frequencies come from above; the heaviest hair is the farthest from its basis.
                assert!(error.abs() < 1.0e-4, "Γ = {}: {} against {expected}", cells[0], mode.frequency);
            }
            rows += 1;
        }
        assert_eq!(rows, 6);
    }
}
