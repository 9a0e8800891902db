//! The same factorisation without lanes, one system at a time, as algorithm 2 of Huang et al. 2023 has it: what the lanes are
//! checked and timed against.

use crate::math::Real;

/// Solves a band system in place: `columns[j][d]` is the entry `d` rows below the diagonal in column `j` and becomes L (D in
/// its place on the diagonal), `right` becomes the solution.
pub fn solve<R: Real, const N: usize>(columns: &mut [[R; N]], right: &mut [R]) {
    let size = columns.len().min(right.len());
    let reach = N - 1;
    for column in 0..size {
        let first = column.saturating_sub(reach);
        for row in column..size.min(column + N) {
            let mut sum = columns[column][row - column];
            for k in row.saturating_sub(reach).max(first)..column {
                sum -= columns[k][row - k] * columns[k][column - k] * columns[k][0];
            }
            columns[column][row - column] = if row == column { sum } else { sum / columns[column][0] };
        }
    }
    for row in 0..size {
        let mut sum = right[row];
        for k in row.saturating_sub(reach)..row {
            sum -= columns[k][row - k] * right[k] * columns[k][0];
        }
        right[row] = sum / columns[row][0];
    }
    for column in (0..size).rev() {
        let mut sum = right[column];
        for row in column + 1..size.min(column + N) {
            sum -= columns[column][row - column] * right[row];
        }
        right[column] = sum;
    }
}
