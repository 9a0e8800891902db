//! Dense columns in lanes: what fronts of a sparse factor are made of.

use std::ops::Range;

use crate::math::Loads;
use crate::math::lanes::{DOUBLE_WIDTH, DoubleRow};

/// Columns of a dense matrix in lanes, one after the other, with zeros up to full lanes.
#[derive(Debug, Clone, Default)]
pub(super) struct Dense {
    /// Lanes in a column.
    pub(super) lanes: usize,
    pub(super) values: Vec<DoubleRow>,
}

impl Dense {
    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        let lanes = rows.div_ceil(DOUBLE_WIDTH);
        Self { lanes, values: vec![DoubleRow::default(); lanes * columns] }
    }

    #[inline(always)]
    pub(super) fn column(&self, column: usize) -> &[DoubleRow] {
        &self.values[column * self.lanes..(column + 1) * self.lanes]
    }

    #[inline(always)]
    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[column * self.lanes + row / DOUBLE_WIDTH].0[row % DOUBLE_WIDTH]
    }

    #[inline(always)]
    pub(super) fn at_mut(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.values[column * self.lanes + row / DOUBLE_WIDTH].0[row % DOUBLE_WIDTH]
    }

    /// Adds the lower triangle of a 3×3 block on the diagonal, column by column, or all of another.
    pub(super) fn add_block(&mut self, row: usize, column: usize, block: &[f64; 9]) {
        for j in 0..3 {
            let from = if row == column { j } else { 0 };
            for i in from..3 {
                *self.at_mut(3 * row + i, 3 * column + j) += block[3 * j + i];
            }
        }
    }
}

/// Columns of a tile of products.
pub(super) const TILE: usize = 4;

/// Takes a share of a finished column from another, from the diagonal on.
#[inline(always)]
pub(super) fn subtract_column<L: Loads<DoubleRow>>(
    matrix: &mut Dense,
    done: usize,
    column: usize,
    share: f64,
) {
    let (lanes, first) = (matrix.lanes, column / DOUBLE_WIDTH);
    let (before, own) = matrix.values.split_at_mut(column * lanes);
    let (other, share) = (&before[done * lanes + first..(done + 1) * lanes], L::splat(-share));
    for (own, other) in own[first..lanes].iter_mut().zip(other) {
        L::load_from(other).mul_add(share, L::load_from(own)).store_to(own);
    }
}

/// Takes shares of finished columns from `start` on from a few others.
#[inline(always)]
pub(super) fn subtract_panel<L: Loads<DoubleRow>>(
    matrix: &mut Dense,
    start: usize,
    columns: Range<usize>,
    shares: &[[f64; TILE]],
) {
    let (column, width) = (columns.start, columns.len());
    let lanes = matrix.lanes;
    let (done, rest) = matrix.values.split_at_mut(column * lanes);
    let done = &done[start * lanes..];
    let mut lane = column / DOUBLE_WIDTH;
    while lane < lanes {
        // Two lanes of four columns are as many sums as registers hold.
        let second = (lane + 1).min(lanes - 1);
        let mut sums = [[L::zero(); TILE]; 2];
        for (k, shares) in shares.iter().enumerate() {
            let of = &done[k * lanes..(k + 1) * lanes];
            let (a, b) = (L::load_from(&of[lane]), L::load_from(&of[second]));
            for j in 0..TILE {
                let share = L::splat(shares[j]);
                sums[0][j] = a.mul_add(share, sums[0][j]);
                sums[1][j] = b.mul_add(share, sums[1][j]);
            }
        }
        for j in 0..width {
            let target = &mut rest[j * lanes..(j + 1) * lanes];
            (L::load_from(&target[lane]) - sums[0][j]).store_to(&mut target[lane]);
            if second > lane {
                (L::load_from(&target[second]) - sums[1][j]).store_to(&mut target[second]);
            }
        }
        lane += 2;
    }
}

/// Entries of finished columns from `start` on in a few rows.
#[inline(always)]
pub(super) fn take_shares(matrix: &Dense, start: usize, rows: Range<usize>, shares: &mut [[f64; TILE]]) {
    for (k, shares) in shares.iter_mut().enumerate() {
        *shares = [0.0; TILE];
        shares.iter_mut().zip(rows.clone()).for_each(|(share, row)| *share = matrix.at(row, start + k));
    }
}

#[inline(always)]
pub(super) fn entry(local: &mut [DoubleRow], row: usize) -> &mut f64 {
    &mut local[row / DOUBLE_WIDTH].0[row % DOUBLE_WIDTH]
}

/// Three columns of a front from `first` on: their entries of the solution, and what those change below.
#[inline(always)]
pub(super) fn forward<L: Loads<DoubleRow>>(columns: &Dense, first: usize, local: &mut [DoubleRow]) {
    let mut found = [0.0; 3];
    for i in 0..3 {
        let known: f64 = (0..i).map(|k| columns.at(first + i, first + k) * found[k]).sum();
        found[i] = (*entry(local, first + i) - known) / columns.at(first + i, first + i);
    }
    let from = first / DOUBLE_WIDTH;
    let [a, b, c] = [0, 1, 2].map(|k| &columns.column(first + k)[from..]);
    let shares = found.map(|found| L::splat(-found));
    for (((local, a), b), c) in local[from..].iter_mut().zip(a).zip(b).zip(c) {
        let sum = L::load_from(a).mul_add(shares[0], L::load_from(local));
        let sum = L::load_from(b).mul_add(shares[1], sum);
        L::load_from(c).mul_add(shares[2], sum).store_to(local);
    }
    (0..3).for_each(|i| *entry(local, first + i) = found[i]);
}

/// Three columns of a front from `first` on: their entries of the solution, from all that are below.
#[inline(always)]
pub(super) fn backward<L: Loads<DoubleRow>>(columns: &Dense, first: usize, local: &mut [DoubleRow]) {
    let right: [f64; 3] = [0, 1, 2].map(|i| std::mem::replace(entry(local, first + i), 0.0));
    let from = first / DOUBLE_WIDTH;
    let [a, b, c] = [0, 1, 2].map(|k| &columns.column(first + k)[from..]);
    let mut sums = [L::zero(); 3];
    for (((local, a), b), c) in local[from..].iter().zip(a).zip(b).zip(c) {
        let local = L::load_from(local);
        sums[0] = L::load_from(a).mul_add(local, sums[0]);
        sums[1] = L::load_from(b).mul_add(local, sums[1]);
        sums[2] = L::load_from(c).mul_add(local, sums[2]);
    }
    for i in (0..3).rev() {
        let mut lanes = DoubleRow::default();
        sums[i].store_to(&mut lanes);
        let below = (lanes.0[0] + lanes.0[1]) + (lanes.0[2] + lanes.0[3]);
        let after: f64 =
            (i + 1..3).map(|k| columns.at(first + k, first + i) * *entry(local, first + k)).sum();
        *entry(local, first + i) = (right[i] - below - after) / columns.at(first + i, first + i);
    }
}
