//! Small dense systems, row-major.

/// Factors a symmetric positive definite matrix in place: the lower triangle becomes L of L Lᵀ. False where it is not
/// positive definite.
pub(crate) fn cholesky(matrix: &mut [f64], size: usize) -> bool {
    for row in 0..size {
        let (above, current) = matrix.split_at_mut(row * size);
        for column in 0..=row {
            let other = if column < row { &above[column * size..column * size + column] } else { &[] };
            let sum = if column < row {
                product(&current[..column], other)
            } else {
                product(&current[..row], &current[..row])
            };
            let value = current[column] - sum;
            if column < row {
                current[column] = value / above[column * size + column];
            } else if value > 0.0 && value.is_finite() {
                current[row] = value.sqrt();
            } else {
                return false;
            }
        }
    }
    true
}

/// The sum of products, in four strands for the processor's sake.
pub(crate) fn product(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a_fours, b_fours) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a_fours.remainder().iter().zip(b_fours.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_fours.zip(b_fours) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Solves L y = x in place, with the lower triangle that [`cholesky`] left.
pub(crate) fn forward(factor: &[f64], vector: &mut [f64]) {
    let size = vector.len();
    for row in 0..size {
        let (known, rest) = vector.split_at_mut(row);
        rest[0] =
            (rest[0] - product(&factor[row * size..row * size + row], known)) / factor[row * size + row];
    }
}

/// Solves Lᵀ y = x in place.
pub(crate) fn backward(factor: &[f64], vector: &mut [f64]) {
    let size = vector.len();
    for row in (0..size).rev() {
        vector[row] /= factor[row * size + row];
        let value = vector[row];
        for (entry, factor) in vector[..row].iter_mut().zip(&factor[row * size..row * size + row]) {
            *entry -= factor * value;
        }
    }
}

/// Solves a system whose matrix [`cholesky`] factored, in place.
pub(crate) fn cholesky_solve(factor: &[f64], vector: &mut [f64]) {
    forward(factor, vector);
    backward(factor, vector);
}

/// Solves a general system by elimination with partial pivoting, in place; the matrix is lost. False where it is singular.
pub(crate) fn eliminate(matrix: &mut [f64], vector: &mut [f64]) -> bool {
    let size = vector.len();
    for pivot in 0..size {
        let best = (pivot..size)
            .max_by(|&a, &b| matrix[a * size + pivot].abs().total_cmp(&matrix[b * size + pivot].abs()))
            .unwrap_or(pivot);
        if matrix[best * size + pivot] == 0.0 || !matrix[best * size + pivot].is_finite() {
            return false;
        }
        if best != pivot {
            let (upper, lower) = matrix.split_at_mut(best * size);
            upper[pivot * size..(pivot + 1) * size].swap_with_slice(&mut lower[..size]);
            vector.swap(pivot, best);
        }
        let (upper, lower) = matrix.split_at_mut((pivot + 1) * size);
        let top = &upper[pivot * size + pivot..(pivot + 1) * size];
        for (row, line) in lower.chunks_exact_mut(size).enumerate() {
            let factor = line[pivot] / top[0];
            if factor != 0.0 {
                line[pivot..].iter_mut().zip(top).for_each(|(entry, top)| *entry -= factor * top);
                vector[pivot + 1 + row] -= factor * vector[pivot];
            }
        }
    }
    for row in (0..size).rev() {
        let known = product(&matrix[row * size + row + 1..(row + 1) * size], &vector[row + 1..]);
        vector[row] = (vector[row] - known) / matrix[row * size + row];
    }
    vector.iter().all(|value| value.is_finite())
}
