//! Cholesky's factors of a sparse matrix with a row for each node, front by front.
//!
//! Fronts of one level are independent, and each sums in an order of its own, so the factors have the same bits on any
//! number of threads.

use glam::DVec3;
use rayon::prelude::*;

use super::dissection::Front;
use crate::math::lanes::{Kernel, Lane, dispatch};

/// Columns that are eliminated before the rest of a front is updated.
const PANEL: usize = 48;
/// Pivots below this part of the diagonal belong to rows that others imply.
const LEAST_PIVOT: f64 = 1e-13;

/// A dense matrix by columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Dense {
    pub rows: usize,
    pub values: Vec<f64>,
}

impl Dense {
    pub(super) fn zero(rows: usize, columns: usize) -> Self {
        Self { rows, values: vec![0.0; rows * columns] }
    }

    /// Adds to an entry.
    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.values[self.rows * column + row] += value;
    }
}

/// The factors: for each front the columns of its own nodes, over its own nodes and its border.
#[derive(Debug, Clone, Default)]
pub(super) struct Factors {
    panels: Vec<Dense>,
}

impl Factors {
    /// Factors the matrix whose entries `assemble` adds to each front.
    pub(super) fn new(fronts: &[Front], place: &[u32], assemble: impl Fn(&Front, &mut Dense) + Sync) -> Self {
        let mut panels = vec![Dense::default(); fronts.len()];
        let mut updates = vec![Dense::default(); fronts.len()];
        let levels = fronts.iter().map(|front| front.level + 1).max().unwrap_or(0);
        for level in 0..levels {
            let members: Vec<usize> = (0..fronts.len()).filter(|&f| fronts[f].level == level).collect();
            let work = |&index: &usize| {
                let front = &fronts[index];
                let size = front.own.len() + front.border.len();
                let mut dense = Dense::zero(size, size);
                assemble(front, &mut dense);
                for &child in &front.children {
                    extend(&mut dense, front, &fronts[child], &updates[child], place);
                }
                eliminate(dense, front.own.len())
            };
            let done: Vec<(Dense, Dense)> = members.par_iter().map(work).collect();
            for (&index, (panel, update)) in members.iter().zip(done) {
                panels[index] = panel;
                updates[index] = update;
                fronts[index].children.iter().for_each(|&child| updates[child] = Dense::default());
            }
        }
        Self { panels }
    }

    /// Solves in place, along three axes at once.
    pub(super) fn solve(&self, fronts: &[Front], right: &mut [DVec3]) {
        for (front, panel) in fronts.iter().zip(&self.panels) {
            let mut local = gather(front, right);
            for (j, column) in panel.values.chunks_exact(panel.rows.max(1)).enumerate() {
                let value = local[j] / column[j];
                local[j] = value;
                for (x, l) in local[j + 1..].iter_mut().zip(&column[j + 1..]) {
                    *x -= value * *l;
                }
            }
            spread(front, &local, right, front.own.len() + front.border.len());
        }
        for (front, panel) in fronts.iter().zip(&self.panels).rev() {
            let mut local = gather(front, right);
            for (j, column) in panel.values.chunks_exact(panel.rows.max(1)).enumerate().rev() {
                let known: DVec3 = local[j + 1..].iter().zip(&column[j + 1..]).map(|(x, l)| *x * *l).sum();
                local[j] = (local[j] - known) / column[j];
            }
            spread(front, &local, right, front.own.len());
        }
    }
}

/// The entries of a front's nodes.
fn gather(front: &Front, from: &[DVec3]) -> Vec<DVec3> {
    front.own.iter().chain(&front.border).map(|&node| from[node as usize]).collect()
}

/// Puts the first `count` nodes of a front back.
fn spread(front: &Front, local: &[DVec3], to: &mut [DVec3], count: usize) {
    let nodes = front.own.iter().chain(&front.border).take(count);
    nodes.zip(local).for_each(|(&node, value)| to[node as usize] = *value);
}

/// Adds what a child left on its border.
fn extend(dense: &mut Dense, front: &Front, child: &Front, update: &Dense, place: &[u32]) {
    let map: Vec<usize> = child.border.iter().map(|&node| front.local(node, place)).collect();
    for (j, &column) in map.iter().enumerate() {
        let from = &update.values[update.rows * j..update.rows * (j + 1)];
        for (&row, value) in map.iter().zip(from).skip(j) {
            dense.add(row, column, *value);
        }
    }
}

/// Eliminates the first `own` columns of a front (its lower triangle): their factors, and what is left of the rest.
fn eliminate(mut dense: Dense, own: usize) -> (Dense, Dense) {
    let rows = dense.rows;
    let diagonal: Vec<f64> = (0..own).map(|j| dense.values[rows * j + j]).collect();
    for begin in (0..own).step_by(PANEL) {
        let end = (begin + PANEL).min(own);
        let (before, trailing) = dense.values.split_at_mut(rows * end);
        let panel = &mut before[rows * begin..];
        factor_panel(panel, rows, begin, &diagonal[begin..end]);
        let panel = &*panel;
        trailing.par_chunks_mut(4 * rows).enumerate().with_min_len(16).for_each(|(chunk, columns)| {
            dispatch(Update { panel, columns, rows, first: end + 4 * chunk });
        });
    }
    let rest = rows - own;
    let mut left = Dense::zero(rest, rest);
    for (to, from) in
        left.values.chunks_exact_mut(rest.max(1)).zip(dense.values[rows * own..].chunks_exact(rows.max(1)))
    {
        to.copy_from_slice(&from[own..]);
    }
    dense.values.truncate(rows * own);
    dense.values.shrink_to_fit();
    (dense, left)
}

/// Cholesky within a few columns, the first of which is column `begin` of the front.
fn factor_panel(panel: &mut [f64], rows: usize, begin: usize, diagonal: &[f64]) {
    for (j, &scale) in diagonal.iter().enumerate() {
        let (before, column) = panel.split_at_mut(rows * j);
        let column = &mut column[..rows];
        for earlier in before.chunks_exact(rows) {
            let factor = earlier[begin + j];
            for (x, l) in column[begin + j..].iter_mut().zip(&earlier[begin + j..]) {
                *x -= factor * l;
            }
        }
        let pivot = column[begin + j];
        if pivot > LEAST_PIVOT * scale {
            let root = pivot.sqrt();
            column[begin + j] = root;
            column[begin + j + 1..].iter_mut().for_each(|x| *x /= root);
        } else {
            // Leaves this unknown at zero.
            column[begin + j..].fill(0.0);
            column[begin + j] = 1e100;
        }
    }
}

/// Takes the product of a panel's rows from up to four columns behind it, at and below the diagonal.
struct Update<'a> {
    panel: &'a [f64],
    columns: &'a mut [f64],
    rows: usize,
    first: usize,
}

impl Kernel for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let rows = self.rows;
        let count = self.columns.len() / rows;
        if count < 4 {
            for (c, column) in self.columns.chunks_exact_mut(rows).enumerate() {
                let at = self.first + c;
                for source in self.panel.chunks_exact(rows) {
                    let factor = source[at];
                    for (x, l) in column[at..].iter_mut().zip(&source[at..]) {
                        *x -= factor * l;
                    }
                }
            }
            return;
        }
        let mut row = self.first;
        while row + 8 <= rows {
            let mut sums = [[0.0f64; 8]; 4];
            for source in self.panel.chunks_exact(rows) {
                let l: &[f64] = &source[row..row + 8];
                let f: &[f64] = &source[self.first..self.first + 4];
                for (sum, f) in sums.iter_mut().zip(f) {
                    for (s, l) in sum.iter_mut().zip(l) {
                        *s = f.mul_add(*l, *s);
                    }
                }
            }
            for (c, sum) in sums.iter().enumerate() {
                for (x, s) in self.columns[rows * c + row..rows * c + row + 8].iter_mut().zip(sum) {
                    *x -= s;
                }
            }
            row += 8;
        }
        while row < rows {
            for c in 0..4 {
                let mut sum = 0.0;
                for source in self.panel.chunks_exact(rows) {
                    sum += source[self.first + c] * source[row];
                }
                self.columns[rows * c + row] -= sum;
            }
            row += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    #[test]
    fn a_chain_of_fronts_solves_what_a_dense_matrix_does() {
        // Two leaves that meet in a third front, each of more than a panel; entries by a formula.
        let side = |node: usize| node / 60;
        let entry = |r: usize, c: usize| {
            if side(r) + side(c) == 1 {
                return 0.0;
            }
            let (low, high) = (r.min(c), r.max(c));
            if low == high { 150.0 } else { ((low * 37 + high * 11) % 19) as f64 / 19.0 - 0.5 }
        };
        let all = |range: std::ops::Range<u32>| range.collect::<Vec<u32>>();
        let leaf = |own| Front { own, border: all(120..180), ..Front::default() };
        let top = Front { own: all(120..180), children: vec![0, 1], level: 1, ..Front::default() };
        let fronts = [leaf(all(0..60)), leaf(all(60..120)), top];
        let assemble = |front: &Front, dense: &mut Dense| {
            for (j, &column) in front.own.iter().enumerate() {
                for (i, &row) in front.own.iter().chain(&front.border).enumerate() {
                    dense.add(i, j, entry(row as usize, column as usize));
                }
            }
        };
        let place: Vec<u32> = (0..180).collect();
        let factors = Factors::new(&fronts, &place, assemble);
        let mut random = Random::new(2);
        let mut number = || f64::from(random.signed());
        let wanted: Vec<DVec3> = (0..180).map(|_| DVec3::new(number(), number(), number())).collect();
        let right = |r: usize| (0..180).map(|c| wanted[c] * entry(r, c)).sum::<DVec3>();
        let mut x: Vec<DVec3> = (0..180).map(right).collect();
        factors.solve(&fronts, &mut x);
        for (found, wanted) in x.iter().zip(&wanted) {
            assert!((*found - *wanted).abs().max_element() < 1e-12, "{found} {wanted}");
        }
    }
}
