use super::{Column, Factoring, HALF_BANDWIDTH, Scratch, plain, solve};
use crate::math::lanes::{DoubleRow, Row};
use crate::math::{Loads, Random, Stored, StoredKernel};

/// A random positive definite band matrix (rows `d` below the diagonal) and right-hand side; staircase where asked.
fn system<const W: usize>(size: usize, period: usize, random: &mut Random) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut columns = vec![vec![0.0; W + 1]; size];
    // A sum of outer products of vectors that each span as much as the staircase lets them.
    for _ in 0..3 {
        for first in 0..size {
            let span = (W + 1 - first % period).min(size - first);
            let vector: Vec<f64> = (0..span).map(|_| 2.0 * random.unit_f64() - 1.0).collect();
            for column in 0..span {
                for row in column..span {
                    columns[first + column][row - column] += vector[column] * vector[row];
                }
            }
        }
    }
    columns.iter_mut().for_each(|column| column[0] += 0.5);
    (columns, (0..size).map(|_| 2.0 * random.unit_f64() - 1.0).collect())
}

/// ‖A x − b‖ / (‖A‖ ‖x‖ + ‖b‖), in largest entries and row sums.
fn residual(columns: &[Vec<f64>], right: &[f64], solution: &[f64]) -> f64 {
    let size = right.len();
    let (mut product, mut sums) = (vec![0.0; size], vec![0.0; size]);
    for (column, entries) in columns.iter().enumerate() {
        for (below, &entry) in entries.iter().enumerate().take(size - column) {
            let row = column + below;
            product[row] += entry * solution[column];
            sums[row] += entry.abs();
            if below > 0 {
                product[column] += entry * solution[row];
                sums[column] += entry.abs();
            }
        }
    }
    let largest = |values: &[f64]| values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let difference: Vec<f64> = product.iter().zip(right).map(|(a, b)| a - b).collect();
    largest(&difference) / (largest(&sums) * largest(solution) + largest(right))
}

fn check<S: Stored, const W: usize>(size: usize, limit: f64) {
    let mut random = Random::new(7 + size as u64);
    let systems: Vec<_> = (0..S::LANES).map(|_| system::<W>(size, 1, &mut random)).collect();
    let mut columns = vec![Column::<S, W>::default(); size];
    let mut rights = vec![S::default(); size];
    for (lane, (matrix, right)) in systems.iter().enumerate() {
        for row in 0..size {
            columns[row].diagonal.set(lane, matrix[row][0]);
            (0..W).for_each(|d| columns[row].below[d].set(lane, matrix[row][d + 1]));
            rights[row].set(lane, right[row]);
        }
    }
    // A scratch that was used before must make no difference.
    let mut scratch = Scratch::default();
    let mut first = rights.clone();
    solve(&columns[..size.min(5)], &mut first, &mut scratch);
    let least = solve(&columns, &mut rights, &mut scratch);
    for (lane, (matrix, right)) in systems.iter().enumerate() {
        assert!(least.get(lane) > 0.0);
        let found: Vec<f64> = rights.iter().map(|row| row.get(lane)).collect();
        let error = residual(matrix, right, &found);
        assert!(error < limit, "size {size}, half-bandwidth {W}: {error:e}");
    }
}

#[test]
fn lanes_solve_systems_of_any_size_and_bandwidth() {
    for size in [1, 2, 5, 11, 12, 52, 127, 400] {
        check::<Row, HALF_BANDWIDTH>(size, 1e-6);
        check::<DoubleRow, HALF_BANDWIDTH>(size, 1e-15);
        check::<f64, HALF_BANDWIDTH>(size, 1e-15);
        check::<DoubleRow, 1>(size, 1e-15);
        check::<DoubleRow, 3>(size, 1e-15);
        check::<Row, 7>(size, 1e-6);
    }
}

#[test]
fn plain_factoring_solves_too() {
    let mut random = Random::new(3);
    for size in [1, 5, 12, 127] {
        let (matrix, right) = system::<10>(size, 1, &mut random);
        let mut columns: Vec<[f64; 11]> = matrix.iter().map(|c| std::array::from_fn(|d| c[d])).collect();
        let mut solution = right.clone();
        plain::solve(&mut columns, &mut solution);
        assert!(residual(&matrix, &right, &solution) < 1e-15);
    }
}

/// Solves a staircase system with a band that knows the stairs.
struct Stairs<'a>(&'a [Vec<f64>], &'a [f64], &'a mut [f64]);

impl StoredKernel<f64> for Stairs<'_> {
    type Output = ();

    fn run<R: Loads<f64>>(self) {
        let mut scratch = Scratch::<f64, 10>::default();
        let mut factoring = Factoring::<f64, R, 10>::new(self.1.len(), &mut scratch);
        for (block, rights) in self.0.chunks_exact(4).zip(self.1.chunks_exact(4)) {
            // What lies above the stairs must not count.
            let column = |phase: usize| {
                let mut below = [R::splat(f64::NAN); 10];
                (0..10 - phase).for_each(|d| below[d] = R::load_from(&block[phase][d + 1]));
                (R::load_from(&block[phase][0]), below, R::load_from(&rights[phase]))
            };
            let (diagonal, below, right) = column(0);
            factoring.push::<4, 0>(diagonal, &below, right);
            let (diagonal, below, right) = column(1);
            factoring.push::<4, 1>(diagonal, &below, right);
            let (diagonal, below, right) = column(2);
            factoring.push::<4, 2>(diagonal, &below, right);
            let (diagonal, below, right) = column(3);
            factoring.push::<4, 3>(diagonal, &below, right);
        }
        self.2.copy_from_slice(factoring.finish_stairs());
    }
}

#[test]
fn stairs_spare_work_and_change_nothing() {
    let mut random = Random::new(11);
    for size in [4, 8, 12, 52, 128] {
        let (matrix, right) = system::<10>(size, 4, &mut random);
        let mut solution = vec![0.0; size];
        f64::dispatch(Stairs(&matrix, &right, &mut solution));
        assert!(residual(&matrix, &right, &solution) < 1e-15);
    }
}

#[test]
fn a_matrix_that_is_not_positive_is_told_by_its_pivot() {
    let mut columns = vec![Column::<f64, 10>::default(); 3];
    columns.iter_mut().for_each(|column| column.diagonal = 1.0);
    columns[0].below[0] = 2.0;
    let least = solve(&columns, &mut [1.0; 3], &mut Scratch::default());
    assert_eq!(least, -3.0);
    columns[1].diagonal = f64::NAN;
    let least = solve(&columns, &mut [1.0; 3], &mut Scratch::default());
    assert!(least.is_nan() || least <= 0.0);
}
