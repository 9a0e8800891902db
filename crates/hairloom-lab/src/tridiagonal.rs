//! Systems with three diagonals, of which references are made.

/// Solves one. `right` has the numbers right of the diagonal.
pub(crate) fn eliminate(
    left: &[f64],
    diagonal: &[f64],
    right: impl Fn(usize) -> f64,
    known: &[f64],
) -> Vec<f64> {
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
