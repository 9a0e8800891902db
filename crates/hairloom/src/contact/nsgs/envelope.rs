//! Cholesky's factorisation of 3×3 blocks within an envelope: what lies between the first block of a row and its diagonal.

use std::ops::Range;

use crate::math::lanes::{DOUBLE_WIDTH, DoubleRow, Kernel, Lane, dispatch};
use crate::math::{Loads, Stored, StoredKernel};

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
        let count = self.first.len();
        let mut packs = [Pack::new(), Pack::new()];
        (0..count).step_by(PANEL).all(|start| {
            let rows = start..(start + PANEL).min(count);
            let least = self.first[rows.clone()].iter().copied().min().unwrap_or(start);
            for tile in (least / PANEL * PANEL..start).step_by(PANEL) {
                let columns = tile..tile + PANEL;
                for depth in (least / DEPTH * DEPTH..tile).step_by(DEPTH) {
                    let depth = depth..(depth + DEPTH).min(tile);
                    packs[0].take(self, rows.clone(), &depth);
                    packs[1].take(self, columns.clone(), &depth);
                    let (rows, columns, packs) = (rows.clone(), columns.clone(), &packs);
                    DoubleRow::dispatch(Subtract { envelope: self, rows, columns, packs });
                }
                dispatch(Finish { envelope: self, rows: rows.clone(), columns, from: tile });
            }
            dispatch(Finish { envelope: self, rows: rows.clone(), columns: rows, from: 0 })
        })
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

/// Rows of blocks that are factored together, and columns of blocks whose products are taken at a time: what they read stays in the caches.
const PANEL: usize = 16;
const DEPTH: usize = 48;

/// Lanes in a line of [`Pack`].
const ROWS: usize = 3 * DEPTH / DOUBLE_WIDTH;

/// A piece of rows of blocks as lanes, with zeros where those have not begun.
#[derive(Debug, Clone)]
struct Pack(Vec<[DoubleRow; ROWS]>);

impl Pack {
    fn new() -> Self {
        Self(vec![[DoubleRow::default(); ROWS]; 3 * PANEL])
    }

    /// Takes columns of blocks `depth` of some rows of blocks.
    fn take(&mut self, envelope: &Envelope, rows: Range<usize>, depth: &Range<usize>) {
        for (place, row) in rows.enumerate() {
            let begin = envelope.first[row];
            let (width, from) = (width(row, begin), begin.clamp(depth.start, depth.end));
            for line in 0..3 {
                let start = envelope.starts[row] + line * width;
                let values = &envelope.values[start..start + width];
                let into = &mut self.0[3 * place + line];
                let taken: &[f64] = if begin < depth.end {
                    &values[3 * (from - begin)..3 * (depth.end - begin)]
                } else {
                    &[]
                };
                let shift = 3 * (from - depth.start);
                if shift == 0 && taken.len() == into.len() * DOUBLE_WIDTH {
                    let lanes = taken.as_chunks::<DOUBLE_WIDTH>().0;
                    into.iter_mut().zip(lanes).for_each(|(into, lanes)| into.0 = *lanes);
                } else {
                    into.fill(DoubleRow::default());
                    for (k, value) in (shift..).zip(taken) {
                        into[k / DOUBLE_WIDTH].0[k % DOUBLE_WIDTH] = *value;
                    }
                }
            }
        }
    }
}

/// Takes products of two packs from blocks of a panel, left of which everything is done.
struct Subtract<'a> {
    envelope: &'a mut Envelope,
    rows: Range<usize>,
    columns: Range<usize>,
    packs: &'a [Pack; 2],
}

impl StoredKernel<DoubleRow> for Subtract<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Loads<DoubleRow>>(self) {
        let Self { envelope, rows, columns, packs } = self;
        let Envelope { first, starts, values } = envelope;
        for row in rows.clone() {
            let own = &packs[0].0[3 * (row - rows.start)..][..3];
            let width = width(row, first[row]);
            for column in first[row].max(columns.start)..columns.end {
                let other = &packs[1].0[3 * (column - columns.start)..][..3];
                let mut sums = [L::zero(); 9];
                for at in 0..ROWS {
                    for i in 0..3 {
                        let own = L::load_from(&own[i][at]);
                        for j in 0..3 {
                            sums[3 * i + j] = own.mul_add(L::load_from(&other[j][at]), sums[3 * i + j]);
                        }
                    }
                }
                for i in 0..3 {
                    let place = starts[row] + i * width + 3 * (column - first[row]);
                    for j in 0..3 {
                        let mut sum = DoubleRow::default();
                        sums[3 * i + j].store_to(&mut sum);
                        values[place + j] -= (sum.0[0] + sum.0[1]) + (sum.0[2] + sum.0[3]);
                    }
                }
            }
        }
    }
}

/// Finishes blocks of a panel: takes the last products from them, divides by diagonal blocks, and factors those of its own. False where
/// one of these is not positive definite.
struct Finish<'a> {
    envelope: &'a mut Envelope,
    rows: Range<usize>,
    columns: Range<usize>,
    /// Columns of blocks before this one are done with.
    from: usize,
}

impl Kernel for Finish<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lane>(self) -> bool {
        let Self { envelope, rows, columns, from } = self;
        let Envelope { first, starts, values } = envelope;
        for row in rows {
            let (above, current) = values.split_at_mut(starts[row]);
            let own = Line { first: first[row], start: 0 };
            for column in first[row].max(columns.start)..columns.end.min(row) {
                let other = Line { first: first[column], start: starts[column] };
                subtract((current, row, own), (above, column, other), from..column);
                divide((current, row, own), (above, column, other));
            }
            let width = width(row, first[row]);
            if columns.contains(&row) && !close(&mut current[..3 * width], width) {
                return false;
            }
        }
        true
    }
}

/// Where a row of blocks begins: its first column of blocks, and its place in memory.
#[derive(Clone, Copy)]
struct Line {
    first: usize,
    start: usize,
}

/// Takes products over columns of blocks `range` of a row of blocks and of one that is done, `column`, from their block.
#[inline(always)]
fn subtract(
    (own, row, at): (&mut [f64], usize, Line),
    (done, column, other): (&[f64], usize, Line),
    range: Range<usize>,
) {
    let from = range.start.max(at.first).max(other.first);
    if from >= range.end {
        return;
    }
    let length = 3 * (range.end - from);
    let (own_width, other_width) = (width(row, at.first), width(column, other.first));
    let sums = {
        let a = |k: usize| &own[at.start + k * own_width + 3 * (from - at.first)..][..length];
        let b = |k: usize| &done[other.start + k * other_width + 3 * (from - other.first)..][..length];
        products([a(0), a(1), a(2)], [b(0), b(1), b(2)])
    };
    for (line, sums) in sums.iter().enumerate() {
        let place = at.start + line * own_width + 3 * (column - at.first);
        own[place..place + 3].iter_mut().zip(sums).for_each(|(entry, sum)| *entry -= sum);
    }
}

/// Divides the block of a row of blocks at `column` by the diagonal block of that.
#[inline(always)]
fn divide((own, row, at): (&mut [f64], usize, Line), (done, column, other): (&[f64], usize, Line)) {
    let (own_width, other_width) = (width(row, at.first), width(column, other.first));
    let corner = |i: usize, j: usize| done[other.start + i * other_width + other_width - 3 + j];
    let inverse = [1.0 / corner(0, 0), 1.0 / corner(1, 1), 1.0 / corner(2, 2)];
    for line in 0..3 {
        let place = at.start + line * own_width + 3 * (column - at.first);
        let target = &mut own[place..place + 3];
        target[0] *= inverse[0];
        target[1] = (target[1] - target[0] * corner(1, 0)) * inverse[1];
        target[2] = (target[2] - target[0] * corner(2, 0) - target[1] * corner(2, 1)) * inverse[2];
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

/// Numbers that are added side by side.
const STRANDS: usize = 4;

/// All sums of products of three lines with others. One other line at a time: compilers find the processor's lanes in this.
#[inline(always)]
fn products<const N: usize>(a: [&[f64]; 3], b: [&[f64]; N]) -> [[f64; N]; 3] {
    let mut totals = [[0.0; N]; 3];
    let [(p, p_rest), (q, q_rest), (r, r_rest)] =
        [a[0].as_chunks::<STRANDS>(), a[1].as_chunks::<STRANDS>(), a[2].as_chunks::<STRANDS>()];
    for (j, b) in b.into_iter().enumerate() {
        let (b, b_rest) = b.as_chunks::<STRANDS>();
        let mut sums = [[0.0; STRANDS]; 3];
        for (((b, p), q), r) in b.iter().zip(p).zip(q).zip(r) {
            for strand in 0..STRANDS {
                sums[0][strand] += p[strand] * b[strand];
                sums[1][strand] += q[strand] * b[strand];
                sums[2][strand] += r[strand] * b[strand];
            }
        }
        for (i, rest) in [p_rest, q_rest, r_rest].into_iter().enumerate() {
            let rest: f64 = rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
            totals[i][j] = (sums[i][0] + sums[i][1]) + (sums[i][2] + sums[i][3]) + rest;
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
        let (blocks, size) = (130, 390);
        let first: Vec<usize> = (0..blocks).map(|row| row - random.below(row + 1).min(100)).collect();
        let mut envelope = Envelope::new(first.clone());
        let mut full = vec![0.0; size * size];
        for row in 0..size {
            for column in 3 * first[row / 3]..=row {
                let value = if row == column { 300.0 } else { 2.0 * random.unit_f64() - 1.0 };
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
