//! Where a sparse factor of 3×3 blocks has its numbers.
//!
//! Rows of blocks are eliminated in an order of least degree (Amestoy, Davis and Duff 1996). Columns that fill the same rows
//! are one dense front (Duff and Reid 1983): few large products instead of many small ones.

/// Which columns of blocks a front eliminates, and which rows they fill.
#[derive(Debug)]
pub(super) struct Front {
    /// The first of its own columns of blocks, which come one after the other.
    pub(super) first: usize,
    /// How many of them there are.
    pub(super) columns: usize,
    /// All rows of blocks that it holds, rising: its own ones, then those below.
    pub(super) rows: Vec<usize>,
    /// Fronts whose first row below is one of its own columns.
    pub(super) children: Vec<usize>,
}

impl Front {
    /// Rows of blocks below its own ones.
    pub(super) fn below(&self) -> &[usize] {
        &self.rows[self.columns..]
    }

    /// The first row of blocks below its own ones, in whose front it goes on.
    fn parent(&self) -> Option<usize> {
        self.below().first().copied()
    }

    fn end(&self) -> usize {
        self.first + self.columns
    }
}

/// The fronts of a factor, in the order in which they are eliminated.
#[derive(Debug)]
pub(super) struct Pattern {
    /// The place of each row of blocks of the matrix in the order of the factor.
    pub(super) place: Vec<usize>,
    pub(super) fronts: Vec<Front>,
    /// The front that eliminates each place.
    pub(super) front_of: Vec<usize>,
}

impl Pattern {
    /// The pattern of a symmetric matrix whose rows of blocks have these neighbours. None where its factor would have more than
    /// `most` blocks.
    pub(super) fn new<I: Iterator<Item = usize>>(
        rows: usize,
        neighbours: impl Fn(usize) -> I,
        most: usize,
    ) -> Option<Self> {
        let mut starts = vec![0];
        let mut columns: Vec<usize> = vec![];
        for row in 0..rows {
            columns.extend(neighbours(row).filter(|&column| column != row));
            starts.push(columns.len());
        }
        let (walk, place, _) = amd::order(rows, &starts, &columns, &amd::Control::default()).ok()?;
        let below = |at: usize| {
            let row = walk[at];
            columns[starts[row]..starts[row + 1]].iter().map(|&column| place[column]).filter(move |&p| p > at)
        };
        let fronts = merged(fill(rows, below, most)?);
        let mut front_of = vec![0; rows];
        for (index, front) in fronts.iter().enumerate() {
            front_of[front.first..front.end()].fill(index);
        }
        let mut pattern = Self { place, fronts, front_of };
        for front in 0..pattern.fronts.len() {
            if let Some(parent) = pattern.fronts[front].parent() {
                pattern.fronts[pattern.front_of[parent]].children.push(front);
            }
        }
        Some(pattern)
    }

    /// Blocks of the factor.
    pub(super) fn blocks(&self) -> usize {
        self.fronts.iter().map(|front| front.columns * front.rows.len()).sum()
    }

    /// Multiplications that a factorisation takes, about.
    pub(super) fn work(&self) -> f64 {
        let of_column = |front: &Front, column: usize| 13.5 * ((front.rows.len() - column) as f64).powi(2);
        let of = |front: &Front| (0..front.columns).map(|column| of_column(front, column)).sum::<f64>();
        self.fronts.iter().map(of).sum()
    }
}

/// The rows that each column of the factor fills below itself: those of the matrix, and what eliminated columns bring.
fn fill<I: Iterator<Item = usize>>(
    count: usize,
    below: impl Fn(usize) -> I,
    most: usize,
) -> Option<Vec<Vec<usize>>> {
    let mut filled: Vec<Vec<usize>> = Vec::with_capacity(count);
    let mut children: Vec<Vec<usize>> = vec![vec![]; count];
    let mut seen_at = vec![usize::MAX; count];
    let mut total = 0;
    for column in 0..count {
        let mut rows: Vec<usize> = vec![];
        let mut take = |row: usize| {
            if row != column && std::mem::replace(&mut seen_at[row], column) != column {
                rows.push(row);
            }
        };
        below(column).for_each(&mut take);
        for &child in &children[column] {
            filled[child].iter().copied().for_each(&mut take);
        }
        rows.sort_unstable();
        total += 1 + rows.len();
        if total > most {
            return None;
        }
        if let Some(&parent) = rows.first() {
            children[parent].push(column);
        }
        filled.push(rows);
    }
    Some(filled)
}

/// Columns of one front may fill so many rows in vain, as a part of all that they fill: a few zeros cost less than another front.
const IN_VAIN: f64 = 0.2;
/// Fronts of up to so many columns of blocks are merged at any rate.
const SMALL: usize = 4;

/// Fronts of neighbouring columns that fill nearly the same rows.
fn merged(filled: Vec<Vec<usize>>) -> Vec<Front> {
    let mut fronts: Vec<Front> = vec![];
    for (column, below) in filled.into_iter().enumerate() {
        let mut rows = vec![column];
        rows.extend(below);
        let mut front = Front { first: column, columns: 1, rows, children: vec![] };
        while let Some(last) =
            fronts.pop_if(|last| last.parent() == Some(front.first) && is_worth(last, &front))
        {
            let mut rows: Vec<usize> = (last.first..last.end()).collect();
            rows.extend(&front.rows);
            front =
                Front { first: last.first, columns: last.columns + front.columns, rows, children: vec![] };
        }
        fronts.push(front);
    }
    fronts
}

/// Whether a front that ends where the next one begins should be one with it.
fn is_worth(last: &Front, next: &Front) -> bool {
    let in_vain = last.columns * (next.rows.len() - last.below().len());
    let all = (last.columns + next.columns) * (last.columns + next.rows.len());
    last.columns + next.columns <= SMALL || in_vain as f64 <= IN_VAIN * all as f64
}
