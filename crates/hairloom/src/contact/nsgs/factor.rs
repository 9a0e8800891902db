//! The factorisation of a sparse matrix of 3×3 blocks, front by front (Duff and Reid 1983).
//!
//! Blocks off the diagonal are those of a symmetric matrix; blocks on it may be any. So `A = L U` without pivoting, and the transpose of U
//! lies beside L: products of either take entries of the other.

use std::rc::Rc;

use super::dense::{Dense, TILE, backward, entry, forward, subtract_column, subtract_panel, take_shares};
use super::pattern::{Front, Pattern};
use crate::math::lanes::{DOUBLE_WIDTH, DoubleRow};
use crate::math::{Loads, Stored, StoredKernel};

/// Columns that are taken from all later ones at a time.
const PANEL: usize = 24;

/// A matrix of 3×3 blocks, and its factor once [`Factor::factor`] has made it.
#[derive(Debug)]
pub(super) struct Factor {
    pattern: Rc<Pattern>,
    /// Diagonal blocks by place, and blocks below them by front: row and column of blocks within the front, and nine numbers,
    /// column by column.
    diagonal: Vec<[f64; 9]>,
    below: Vec<Vec<(u32, u32, [f64; 9])>>,
    /// The columns of each front.
    columns: Vec<Pair>,
}

/// Columns of L, and of the transpose of U, which has ones on its diagonal.
#[derive(Debug, Clone, Default)]
struct Pair {
    left: Dense,
    right: Dense,
}

impl Pair {
    fn zeros(rows: usize, columns: usize) -> Self {
        Self { left: Dense::zeros(rows, columns), right: Dense::zeros(rows, columns) }
    }

    /// What a front leaves to the ones that follow.
    fn update(&self, own: usize, size: usize) -> Self {
        let mut update = Self::zeros(size - own, size - own);
        for column in own..size {
            for row in column..size {
                *update.left.at_mut(row - own, column - own) = self.left.at(row, column);
                *update.right.at_mut(row - own, column - own) = self.right.at(row, column);
            }
        }
        update
    }

    /// Keeps the first columns, with zeros above their diagonal.
    fn keep(&mut self, own: usize) {
        for matrix in [&mut self.left, &mut self.right] {
            matrix.values.truncate(own * matrix.lanes);
            (0..own).for_each(|column| (0..column).for_each(|row| *matrix.at_mut(row, column) = 0.0));
        }
    }
}

impl Factor {
    /// Zeros.
    pub(super) fn new(pattern: Rc<Pattern>) -> Self {
        let diagonal = vec![[0.0; 9]; pattern.place.len()];
        let below = vec![vec![]; pattern.fronts.len()];
        let columns = vec![Pair::default(); pattern.fronts.len()];
        Self { pattern, diagonal, below, columns }
    }

    /// Sets a block of the matrix, column by column, by rows of blocks of the matrix. Blocks above the diagonal of the factor are
    /// left out: their mirror images are given, too.
    pub(super) fn set(&mut self, row: usize, column: usize, block: [f64; 9]) {
        let (row, column) = (self.pattern.place[row], self.pattern.place[column]);
        if row == column {
            self.diagonal[row] = block;
        } else if row > column {
            let index = self.pattern.front_of[column];
            let front = &self.pattern.fronts[index];
            let within = front.rows.partition_point(|&other| other < row);
            self.below[index].push((within as u32, (column - front.first) as u32, block));
        }
    }

    /// Factors the matrix with other blocks, by row of blocks of the matrix, added to its diagonal, and every diagonal entry larger
    /// by a part of itself. False where it is not positive definite.
    pub(super) fn factor(&mut self, added: impl Fn(usize) -> [f64; 9], part: f64) -> bool {
        self.eliminate(added, part, 0.0)
    }

    /// The same for matrices that need not be definite: false only where a pivot is zero. What is solved with small ones must be mended.
    pub(super) fn factor_any(&mut self, added: impl Fn(usize) -> [f64; 9]) -> bool {
        self.eliminate(added, 0.0, f64::NEG_INFINITY)
    }

    fn eliminate(&mut self, added: impl Fn(usize) -> [f64; 9], part: f64, least: f64) -> bool {
        let pattern = Rc::clone(&self.pattern);
        let mut diagonal = self.diagonal.clone();
        for (row, &place) in pattern.place.iter().enumerate() {
            let own = &mut diagonal[place];
            own.iter_mut().zip(added(row)).for_each(|(own, added)| *own += added);
            [0, 4, 8].into_iter().for_each(|entry| own[entry] *= 1.0 + part);
        }
        let mut updates: Vec<Option<Pair>> = vec![None; pattern.fronts.len()];
        pattern.fronts.iter().enumerate().all(|(index, front)| {
            let (own, size) = (3 * front.columns, 3 * front.rows.len());
            let mut pair = Pair::zeros(size, size);
            for (place, block) in diagonal[front.first..][..front.columns].iter().enumerate() {
                let [a, b, c, d, e, f, g, h, i] = *block;
                pair.left.add_block(place, place, block);
                pair.right.add_block(place, place, &[a, d, g, b, e, h, c, f, i]);
            }
            for (row, column, block) in &self.below[index] {
                pair.left.add_block(*row as usize, *column as usize, block);
                pair.right.add_block(*row as usize, *column as usize, block);
            }
            for &child in &front.children {
                if let Some(update) = updates[child].take() {
                    let places = places(front, &pattern.fronts[child]);
                    extend_add(&mut pair.left, &places, &update.left);
                    extend_add(&mut pair.right, &places, &update.right);
                }
            }
            if !DoubleRow::dispatch(Eliminate { pair: &mut pair, own, size, least }) {
                return false;
            }
            if own < size {
                updates[index] = Some(pair.update(own, size));
            }
            pair.keep(own);
            self.columns[index] = pair;
            true
        })
    }

    /// Solves in place with the factor; the vector is in its order.
    pub(super) fn solve(&self, vector: &mut [f64]) {
        DoubleRow::dispatch(Substitute { factor: self, vector });
    }
}

/// Where the rows below a child's own ones are in its parent.
fn places(parent: &Front, child: &Front) -> Vec<usize> {
    let mut next = 0;
    let place = |row: &usize| {
        next += parent.rows[next..].partition_point(|other| other < row);
        next
    };
    child.below().iter().map(place).collect()
}

/// Adds what a child leaves to a front that holds all of its rows.
fn extend_add(matrix: &mut Dense, places: &[usize], update: &Dense) {
    for (column, &to_column) in places.iter().enumerate() {
        for (row, &to_row) in places.iter().enumerate().skip(column) {
            for j in 0..3 {
                let from = if row == column { j } else { 0 };
                for i in from..3 {
                    *matrix.at_mut(3 * to_row + i, 3 * to_column + j) +=
                        update.at(3 * row + i, 3 * column + j);
                }
            }
        }
    }
}

/// Eliminates the first columns of a front. False where a pivot is zero or too small.
struct Eliminate<'a> {
    pair: &'a mut Pair,
    own: usize,
    size: usize,
    /// Pivots must be above this.
    least: f64,
}

impl StoredKernel<DoubleRow> for Eliminate<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Loads<DoubleRow>>(self) -> bool {
        let Self { pair: Pair { left, right }, own, size, least } = self;
        let mut shares = [[0.0; TILE]; PANEL];
        for start in (0..own).step_by(PANEL) {
            let end = (start + PANEL).min(own);
            for column in start..end {
                for k in start..column {
                    let (of_left, of_right) = (left.at(column, k), right.at(column, k));
                    subtract_column::<L>(left, k, column, of_right);
                    subtract_column::<L>(right, k, column, of_left);
                }
                let pivot = left.at(column, column);
                if !(pivot > least && pivot != 0.0 && pivot.is_finite()) {
                    return false;
                }
                let (lanes, inverse) = (right.lanes, L::splat(1.0 / pivot));
                for value in &mut right.values[column * lanes + column / DOUBLE_WIDTH..(column + 1) * lanes] {
                    (L::load_from(value) * inverse).store_to(value);
                }
            }
            let shares = &mut shares[..end - start];
            for column in (end..size).step_by(TILE) {
                let columns = column..(column + TILE).min(size);
                take_shares(right, start, columns.clone(), shares);
                subtract_panel::<L>(left, start, columns.clone(), shares);
                take_shares(left, start, columns.clone(), shares);
                subtract_panel::<L>(right, start, columns, shares);
            }
        }
        true
    }
}

struct Substitute<'a> {
    factor: &'a Factor,
    vector: &'a mut [f64],
}

impl StoredKernel<DoubleRow> for Substitute<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Loads<DoubleRow>>(self) {
        let Self { factor: Factor { pattern, columns, .. }, vector } = self;
        let mut local: Vec<DoubleRow> = vec![];
        for (front, Pair { left: columns, .. }) in pattern.fronts.iter().zip(columns) {
            gather(front, vector, columns.lanes, &mut local);
            // What is below gets changes alone.
            (3 * front.columns..DOUBLE_WIDTH * columns.lanes).for_each(|row| *entry(&mut local, row) = 0.0);
            for block in 0..front.columns {
                forward::<L>(columns, 3 * block, &mut local);
            }
            for (k, &row) in front.rows.iter().enumerate() {
                for i in 0..3 {
                    let value = *entry(&mut local, 3 * k + i);
                    let target = &mut vector[3 * row + i];
                    *target = if k < front.columns { value } else { *target + value };
                }
            }
        }
        for (front, Pair { right: columns, .. }) in pattern.fronts.iter().zip(columns).rev() {
            gather(front, vector, columns.lanes, &mut local);
            for block in (0..front.columns).rev() {
                backward::<L>(columns, 3 * block, &mut local);
            }
            for k in 0..3 * front.columns {
                vector[3 * front.first + k] = *entry(&mut local, k);
            }
        }
    }
}

/// A front's part of a vector, with zeros up to full lanes.
#[inline(always)]
fn gather(front: &Front, vector: &[f64], lanes: usize, local: &mut Vec<DoubleRow>) {
    local.clear();
    local.resize(lanes, DoubleRow::default());
    for (k, &row) in front.rows.iter().enumerate() {
        (0..3).for_each(|i| *entry(local, 3 * k + i) = vector[3 * row + i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    /// A grid of rows of blocks with a few far links, as a dense matrix and as a sparse one.
    fn example(width: usize) -> (Vec<f64>, Factor) {
        let mut random = Random::new(9);
        let count = width * width;
        let mut links: Vec<Vec<usize>> = vec![vec![]; count];
        let mut link = |a: usize, b: usize| {
            if a != b && !links[a].contains(&b) {
                links[a].push(b);
                links[b].push(a);
            }
        };
        for row in 0..count {
            if row % width > 0 {
                link(row, row - 1);
            }
            if row >= width {
                link(row, row - width);
            }
        }
        (0..width).for_each(|_| link(random.below(count), random.below(count)));
        let pattern = Pattern::new(count, |row| links[row].iter().copied(), usize::MAX).unwrap();
        let (mut factor, size) = (Factor::new(Rc::new(pattern)), 3 * count);
        let mut full = vec![0.0; size * size];
        for row in 0..count {
            for &column in links[row].iter().filter(|&&column| column <= row).chain([&row]) {
                let mut block = [(); 9].map(|()| 2.0 * random.unit_f64() - 1.0);
                if row == column {
                    (0..3).for_each(|i| block[3 * i + i] = 12.0 + random.unit_f64());
                }
                let mut mirrored = block;
                for j in 0..3 {
                    for i in 0..3 {
                        full[(3 * row + i) * size + 3 * column + j] = block[3 * j + i];
                        if row != column {
                            full[(3 * column + j) * size + 3 * row + i] = block[3 * j + i];
                            mirrored[3 * i + j] = block[3 * j + i];
                        }
                    }
                }
                factor.set(row, column, block);
                if row != column {
                    factor.set(column, row, mirrored);
                }
            }
        }
        (full, factor)
    }

    #[test]
    fn factor_solves_a_sparse_system() {
        let mut random = Random::new(4);
        for width in [1, 2, 7, 20] {
            let (full, mut factor) = example(width);
            let size = 3 * width * width;
            let expected: Vec<f64> = (0..size).map(|_| random.unit_f64()).collect();
            assert!(factor.factor(|_| [0.0; 9], 0.0));
            let mut vector = vec![0.0; size];
            for (row, &place) in factor.pattern.place.iter().enumerate() {
                for i in 0..3 {
                    let line = &full[(3 * row + i) * size..][..size];
                    vector[3 * place + i] = line.iter().zip(&expected).map(|(a, b)| a * b).sum();
                }
            }
            factor.solve(&mut vector);
            for (row, &place) in factor.pattern.place.iter().enumerate() {
                for i in 0..3 {
                    let (found, expected) = (vector[3 * place + i], expected[3 * row + i]);
                    assert!((found - expected).abs() < 1.0e-12, "{width}: {found} {expected}");
                }
            }
            let lowered = |_| [-20.0, 0.0, 0.0, 0.0, -20.0, 0.0, 0.0, 0.0, -20.0];
            assert!(!factor.factor(lowered, 0.0), "not positive definite");
            assert!(factor.factor_any(lowered), "pivots below zero will do");
            assert!(!Factor::new(Rc::clone(&factor.pattern)).factor_any(|_| [0.0; 9]), "zeros will not");
        }
    }

    #[test]
    fn an_order_of_least_degree_fills_little() {
        let (_, factor) = example(20);
        let blocks = factor.pattern.blocks();
        // A band would fill all 400 rows as far as the far links reach; fronts hold both triangles of their own blocks.
        assert!(blocks < 12_000, "{blocks}");
        assert_eq!(factor.pattern.fronts.iter().map(|front| front.columns).sum::<usize>(), 400);
    }
}
