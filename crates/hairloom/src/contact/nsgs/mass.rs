use crate::math::dense::product;

/// The mass matrix of one object: symmetric, and zero farther than some width from the diagonal, as those of rods are.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Mass {
    size: usize,
    /// Entries left of the diagonal that may not be zero, at most.
    width: usize,
    /// The lower triangle row by row, `width + 1` numbers each, the diagonal last.
    values: Vec<f64>,
}

impl Mass {
    /// A matrix of zeros but for `width` entries beside the diagonal.
    fn banded(size: usize, width: usize) -> Self {
        let width = width.min(size.saturating_sub(1));
        Self { size, width, values: vec![0.0; size * (width + 1)] }
    }

    /// The matrix with these rows, one after the other.
    pub(crate) fn from_rows(rows: &[f64], size: usize) -> Self {
        let is_zero = |row: usize, column: usize| rows[row * size + column] == 0.0;
        let left =
            |row: usize| (0..row).find(|&column| !is_zero(row, column)).map_or(0, |column| row - column);
        let mut mass = Self::banded(size, (0..size).map(left).max().unwrap_or(0));
        for row in 0..size {
            for column in row.saturating_sub(mass.width)..=row {
                mass.add(row, column, rows[row * size + column]);
            }
        }
        mass
    }

    /// Adds to an entry on or below the diagonal, within the width.
    fn add(&mut self, row: usize, column: usize, value: f64) {
        let place = self.place(row, column);
        self.values[place] += value;
    }

    fn place(&self, row: usize, column: usize) -> usize {
        row * (self.width + 1) + self.width + column - row
    }

    /// Entries of a row from column `from` to before column `to`.
    fn part(&self, row: usize, from: usize, to: usize) -> &[f64] {
        &self.values[self.place(row, from)..self.place(row, to)]
    }

    /// L of L Lᵀ, as wide; none where the matrix is not positive definite.
    pub(crate) fn factored(mut self) -> Option<Factor> {
        for row in 0..self.size {
            let first = row.saturating_sub(self.width);
            for column in first..=row {
                let from = first.max(column.saturating_sub(self.width));
                let sum = product(self.part(row, from, column), self.part(column, from, column));
                let value = self.values[self.place(row, column)] - sum;
                let place = self.place(row, column);
                if column < row {
                    self.values[place] = value / self.values[self.place(column, column)];
                } else if value > 0.0 && value.is_finite() {
                    self.values[place] = value.sqrt();
                } else {
                    return None;
                }
            }
        }
        Some(Factor(self))
    }
}

/// The factor L of a mass matrix L Lᵀ.
#[derive(Debug, Clone)]
pub(crate) struct Factor(Mass);

impl Factor {
    /// Solves L y = x in place.
    pub(crate) fn forward(&self, vector: &mut [f64]) {
        let Self(mass) = self;
        // Nothing comes before the first entry that is not zero.
        let start = vector.iter().position(|value| *value != 0.0).unwrap_or(vector.len());
        for row in start..vector.len() {
            let first = row.saturating_sub(mass.width).max(start);
            let sum = product(mass.part(row, first, row), &vector[first..row]);
            vector[row] = (vector[row] - sum) / mass.values[mass.place(row, row)];
        }
    }

    /// Solves L Lᵀ y = x in place.
    pub(crate) fn solve(&self, vector: &mut [f64]) {
        self.forward(vector);
        let Self(mass) = self;
        for row in (0..vector.len()).rev() {
            let value = vector[row] / mass.values[mass.place(row, row)];
            vector[row] = value;
            let first = row.saturating_sub(mass.width);
            let entries = vector[first..row].iter_mut().zip(mass.part(row, first, row));
            entries.for_each(|(entry, factor)| *entry -= factor * value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    #[test]
    fn banded_systems_are_solved() {
        let mut random = Random::new(3);
        for (size, width) in [(1, 0), (7, 0), (15, 14), (40, 11)] {
            let mut rows = vec![0.0; size * size];
            for row in 0..size {
                for column in row.saturating_sub(width)..row {
                    let value = f64::from(random.signed());
                    rows[row * size + column] = value;
                    rows[column * size + row] = value;
                }
                rows[row * (size + 1)] = 2.0 * width as f64 + 1.0;
            }
            let mass = Mass::from_rows(&rows, size);
            assert_eq!(mass.width, width);
            let wanted: Vec<f64> = (0..size).map(|_| f64::from(random.signed())).collect();
            let times = |row: usize| (0..size).map(|column| rows[row * size + column] * wanted[column]).sum();
            let mut found: Vec<f64> = (0..size).map(times).collect();
            mass.factored().unwrap().solve(&mut found);
            for (found, wanted) in found.iter().zip(&wanted) {
                assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        assert!(Mass::from_rows(&[1.0, 2.0, 2.0, 1.0], 2).factored().is_none());
    }
}
