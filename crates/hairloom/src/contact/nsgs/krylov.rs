//! Generalised minimal residuals (Saad and Schultz 1986), for systems near the identity.

/// Solves `A x = right` for the operator `apply` (vector in, product out) in at most `most` products, to a part
/// `tolerance` of the right side. Returns the best solution found.
pub(super) fn gmres(
    apply: impl Fn(&[f64]) -> Vec<f64>,
    right: &[f64],
    most: usize,
    tolerance: f64,
) -> Vec<f64> {
    let size = length(right);
    let mut solution = vec![0.0; right.len()];
    if size == 0.0 || !size.is_finite() {
        return solution;
    }
    let mut basis = vec![scaled(right, 1.0 / size)];
    // The upper triangle by columns, the rotations that made it one, and the rotated right side.
    let (mut columns, mut rotations): (Vec<Vec<f64>>, Vec<(f64, f64)>) = (vec![], vec![]);
    let mut target = vec![size];
    while columns.len() < most {
        let mut next = apply(&basis[columns.len()]);
        let mut column = Vec::with_capacity(basis.len());
        for vector in &basis {
            let share = dot(vector, &next);
            next.iter_mut().zip(vector).for_each(|(next, vector)| *next -= share * vector);
            column.push(share);
        }
        let mut below = length(&next);
        let fresh = below;
        for (row, &(cos, sin)) in rotations.iter().enumerate() {
            let (a, b) = (column[row], column[row + 1]);
            (column[row], column[row + 1]) = (cos * a + sin * b, cos * b - sin * a);
        }
        let last = rotations.len();
        let radius = column[last].hypot(below);
        if radius == 0.0 || !radius.is_finite() {
            break;
        }
        let (cos, sin) = (column[last] / radius, below / radius);
        column[last] = radius;
        below = -sin * target[last];
        target[last] *= cos;
        target.push(below);
        rotations.push((cos, sin));
        columns.push(column);
        if below.abs() <= tolerance * size || fresh <= f64::EPSILON * size {
            break;
        }
        basis.push(scaled(&next, 1.0 / fresh));
    }
    let mut shares = target;
    for row in (0..columns.len()).rev() {
        let known: f64 = (row + 1..columns.len()).map(|column| columns[column][row] * shares[column]).sum();
        shares[row] = (shares[row] - known) / columns[row][row];
    }
    for (share, vector) in shares.iter().zip(&basis).take(columns.len()) {
        solution.iter_mut().zip(vector).for_each(|(sum, value)| *sum += share * value);
    }
    solution
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn length(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

fn scaled(vector: &[f64], factor: f64) -> Vec<f64> {
    vector.iter().map(|value| factor * value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    #[test]
    fn solves_a_system_that_is_not_symmetric() {
        let mut random = Random::new(4);
        let size = 30;
        let matrix: Vec<f64> = (0..size * size)
            .map(|index| f64::from(u8::from(index % (size + 1) == 0)) + 0.3 * (random.unit_f64() - 0.5))
            .collect();
        let apply =
            |vector: &[f64]| -> Vec<f64> { matrix.chunks_exact(size).map(|row| dot(row, vector)).collect() };
        let expected: Vec<f64> = (0..size).map(|_| random.unit_f64()).collect();
        let found = gmres(apply, &apply(&expected), size, 1.0e-13);
        let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1.0e-10, "{apart}");
        assert_eq!(gmres(apply, &vec![0.0; size], 5, 1.0e-9), vec![0.0; size]);
    }
}
