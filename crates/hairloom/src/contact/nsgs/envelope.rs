//! Cholesky's factorisation of 3×3 blocks within an envelope: what lies between the first block of a row and its diagonal.

use crate::math::lanes::{Kernel, Lane, dispatch};

/// A symmetric positive definite matrix of 3×3 blocks, the lower triangle of each row of blocks from its first one on;
/// after [`Envelope::factor`], its factor.
#[derive(Debug, Clone)]
pub(super) struct Envelope {
    /// The first block of each row of blocks.
    first: Vec<usize>,
    /// Where each row of blocks begins in `values`: three lines, one after the other.
    starts: Vec<usize>,
    values: Vec<f64>,
}

/// Numbers in a line of a row of blocks.
fn width(row: usize, first: usize) -> usize {
    3 * (row + 1 - first)
}

impl Envelope {
    /// Zeros, for rows of blocks that begin at the columns of blocks `first`.
    pub(super) fn new(first: Vec<usize>) -> Self {
        let mut starts = vec![0];
        for (row, &first) in first.iter().enumerate() {
            starts.push(starts[row] + 3 * width(row, first));
        }
        let values = vec![0.0; starts[first.len()]];
        Self { first, starts, values }
    }

    /// Multiplications that a factorisation takes, about.
    pub(super) fn work(first: &[usize]) -> f64 {
        first.iter().enumerate().map(|(row, first)| 13.5 * ((row - first) as f64).powi(2)).sum()
    }

    /// Adds to an entry of the lower triangle; those above it are left out.
    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        let (block, line) = (row / 3, row % 3);
        let first = self.first[block];
        if column <= row && column >= 3 * first {
            self.values[self.starts[block] + line * width(block, first) + column - 3 * first] += value;
        }
    }

    /// Makes every diagonal entry larger by a part of itself.
    pub(super) fn stiffen(&mut self, part: f64) {
        for (block, &first) in self.first.iter().enumerate() {
            let width = width(block, first);
            for line in 0..3 {
                self.values[self.starts[block] + line * width + width - 3 + line] *= 1.0 + part;
            }
        }
    }

    /// Factors the matrix in place. False where it is not positive definite.
    pub(super) fn factor(&mut self) -> bool {
        dispatch(Factor(self))
    }

    /// Solves in place with the factor.
    pub(super) fn solve(&self, vector: &mut [f64]) {
        dispatch(Substitute { factor: self, vector });
    }
}

struct Substitute<'a> {
    factor: &'a Envelope,
    vector: &'a mut [f64],
}

impl Kernel for Substitute<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let Envelope { first, starts, values } = self.factor;
        let vector = self.vector;
        for row in 0..first.len() {
            let (begin, own) = (3 * first[row], width(row, first[row]));
            let (known, rest) = vector.split_at_mut(3 * row);
            let (known, values) = (&known[begin..], &values[starts[row]..]);
            let lines = [&values[..own], &values[own..2 * own], &values[2 * own..3 * own]];
            let sums = products(
                [&lines[0][..known.len()], &lines[1][..known.len()], &lines[2][..known.len()]],
                [known],
            );
            for axis in 0..3 {
                let corner = &lines[axis][known.len()..];
                let before: f64 = (0..axis).map(|k| corner[k] * rest[k]).sum();
                rest[axis] = (rest[axis] - sums[axis][0] - before) / corner[axis];
            }
        }
        for row in (0..first.len()).rev() {
            let (begin, own) = (3 * first[row], width(row, first[row]));
            let (known, rest) = vector.split_at_mut(3 * row);
            let (known, values) = (&mut known[begin..], &values[starts[row]..]);
            let lines = [&values[..own], &values[own..2 * own], &values[2 * own..3 * own]];
            for axis in (0..3).rev() {
                let place = known.len() + axis;
                let after: f64 = (axis + 1..3).map(|k| lines[k][place] * rest[k]).sum();
                rest[axis] = (rest[axis] - after) / lines[axis][place];
            }
            let found = [rest[0], rest[1], rest[2]];
            let [a, b, c] = lines;
            for (((entry, a), b), c) in known.iter_mut().zip(a).zip(b).zip(c) {
                *entry -= a * found[0] + b * found[1] + c * found[2];
            }
        }
    }
}

struct Factor<'a>(&'a mut Envelope);

impl Kernel for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lane>(self) -> bool {
        let Envelope { first, starts, values } = self.0;
        for row in 0..first.len() {
            let (above, current) = values.split_at_mut(starts[row]);
            let (begin, own) = (first[row], width(row, first[row]));
            let current = &mut current[..3 * own];
            for column in begin..row {
                let (other_begin, other_width) = (first[column], width(column, first[column]));
                let from = begin.max(other_begin);
                let length = 3 * (column - from);
                let other = &above[starts[column]..starts[column] + 3 * other_width];
                let sums = {
                    let a = |k: usize| &current[k * own + 3 * (from - begin)..][..length];
                    let b = |k: usize| &other[k * other_width + 3 * (from - other_begin)..][..length];
                    products([a(0), a(1), a(2)], [b(0), b(1), b(2)])
                };
                let corner = |i: usize, j: usize| other[i * other_width + other_width - 3 + j];
                for (line, sums) in sums.iter().enumerate() {
                    let place = line * own + 3 * (column - begin);
                    let target = &mut current[place..place + 3];
                    target[0] = (target[0] - sums[0]) / corner(0, 0);
                    target[1] = (target[1] - sums[1] - target[0] * corner(1, 0)) / corner(1, 1);
                    target[2] = (target[2] - sums[2] - target[0] * corner(2, 0) - target[1] * corner(2, 1))
                        / corner(2, 2);
                }
            }
            if !close(current, own) {
                return false;
            }
        }
        true
    }
}

/// Factors the diagonal block of a row of blocks whose other blocks are done.
#[inline(always)]
fn close(current: &mut [f64], own: usize) -> bool {
    for line in 0..3 {
        for column in 0..=line {
            let length = own - 3 + column;
            let (a, b) = (&current[line * own..][..length], &current[column * own..][..length]);
            let sum: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            let value = current[line * own + own - 3 + column] - sum;
            let entry = if column < line {
                value / current[column * own + own - 3 + column]
            } else if value > 0.0 && value.is_finite() {
                value.sqrt()
            } else {
                return false;
            };
            current[line * own + own - 3 + column] = entry;
        }
    }
    true
}

/// All sums of products of three lines with others, in strands that keep the processor's adders busy.
#[inline(always)]
fn products<const N: usize>(a: [&[f64]; 3], b: [&[f64]; N]) -> [[f64; N]; 3] {
    const STRANDS: usize = 4;
    let length = a[0].len();
    let mut sums = [[[0.0; STRANDS]; N]; 3];
    let whole = length / STRANDS * STRANDS;
    let mut at = 0;
    while at < whole {
        for i in 0..3 {
            let a = &a[i][at..at + STRANDS];
            for j in 0..N {
                let b = &b[j][at..at + STRANDS];
                for strand in 0..STRANDS {
                    sums[i][j][strand] += a[strand] * b[strand];
                }
            }
        }
        at += STRANDS;
    }
    let mut totals = [[0.0; N]; 3];
    for i in 0..3 {
        for j in 0..N {
            let rest: f64 = (whole..length).map(|at| a[i][at] * b[j][at]).sum();
            let [p, q, r, s] = sums[i][j];
            totals[i][j] = (p + q) + (r + s) + rest;
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    #[test]
    fn factor_solves_a_ragged_system() {
        let mut random = Random::new(9);
        let (blocks, size) = (30, 90);
        let first: Vec<usize> = (0..blocks).map(|row| row - random.below(row + 1).min(20)).collect();
        let mut envelope = Envelope::new(first.clone());
        let mut full = vec![0.0; size * size];
        for row in 0..size {
            for column in 3 * first[row / 3]..=row {
                let value = if row == column { 60.0 } else { 2.0 * random.unit_f64() - 1.0 };
                envelope.add(row, column, value);
                full[row * size + column] = value;
                full[column * size + row] = value;
            }
        }
        let expected: Vec<f64> = (0..size).map(|_| random.unit_f64()).collect();
        let product = |line: &[f64]| line.iter().zip(&expected).map(|(a, b)| a * b).sum();
        let mut vector: Vec<f64> = full.chunks_exact(size).map(product).collect();
        assert!(envelope.factor());
        envelope.solve(&mut vector);
        assert!(vector.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1.0e-12));
        assert!(!Envelope::new(first).factor(), "zeros are not positive definite");
    }
}
