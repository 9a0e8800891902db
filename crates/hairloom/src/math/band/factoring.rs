use crate::math::lanes::prefetch_whole;
use crate::math::{Loads, Stored, StoredKernel};

/// Columns that the circular buffers hold, a power of two above the largest half-bandwidth.
const RING: usize = 16;

/// So many columns ahead memory is sent for: many systems are more than the caches hold.
const AHEAD: usize = 24;

/// One column of the lower triangle of a band matrix, one matrix per lane.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Column<S, const W: usize> {
    /// The entry on the diagonal.
    pub diagonal: S,
    /// The entries below it, from the nearest one.
    pub below: [S; W],
}

impl<S: Stored, const W: usize> Default for Column<S, W> {
    fn default() -> Self {
        Self { diagonal: S::default(), below: [S::default(); W] }
    }
}

/// Memory for factoring, to be used again and again.
#[derive(Debug, Clone)]
pub struct Scratch<S, const W: usize> {
    /// −L, with `W` columns of zeros in front.
    lower: Vec<[S; W]>,
    /// The intermediate solution, then the solution, with `W` zeros behind.
    solution: Vec<S>,
    /// L D of the last columns.
    scaled: [[S; W]; RING],
    /// Right-hand sides of the last rows after elimination.
    eliminated: [S; RING],
}

impl<S: Stored, const W: usize> Default for Scratch<S, W> {
    fn default() -> Self {
        Self {
            lower: Vec::new(),
            solution: Vec::new(),
            scaled: [[S::default(); W]; RING],
            eliminated: [S::default(); RING],
        }
    }
}

/// Writes the body out for each of the numbers, as constants.
macro_rules! each {
    ($name:ident in [$($number:literal)*] $body:block) => {
        $({
            const $name: usize = $number;
            $body
        })*
    };
}

/// How many entries below the diagonal the column `back` columns before one of phase `phase` has.
const fn height(width: usize, period: usize, phase: usize, back: usize) -> usize {
    width - (phase + back * (period - 1)) % period
}

/// A system on its way through the factorisation.
pub struct Factoring<'a, S, R, const W: usize> {
    scratch: &'a mut Scratch<S, W>,
    size: usize,
    done: usize,
    least_pivot: R,
}

impl<'a, S: Stored, R: Loads<S>, const W: usize> Factoring<'a, S, R, W> {
    /// Begins a system of `size` unknowns.
    #[inline(always)]
    pub fn new(size: usize, scratch: &'a mut Scratch<S, W>) -> Self {
        const { assert!(W <= 10, "the half-bandwidth is 10 at most") };
        scratch.lower.resize((size + W).max(scratch.lower.len()), [S::default(); W]);
        scratch.solution.resize((size + W).max(scratch.solution.len()), S::default());
        scratch.lower[..W].fill([S::default(); W]);
        scratch.solution[size..size + W].fill(S::default());
        scratch.scaled = [[S::default(); W]; RING];
        scratch.eliminated = [S::default(); RING];
        Self { scratch, size, done: 0, least_pivot: R::splat(f64::INFINITY) }
    }

    /// The smallest pivot so far; the matrix is positive definite where it is positive.
    #[inline(always)]
    pub fn least_pivot(&self) -> R {
        self.least_pivot
    }

    /// Takes the next column, of number `j ≡ PHASE` modulo `PERIOD`, and its row of the right-hand side. Of the entries below
    /// the diagonal the first `W − PHASE` count. Columns beyond the size are dropped.
    #[inline(always)]
    pub fn push<const PERIOD: usize, const PHASE: usize>(&mut self, diagonal: R, below: &[R; W], right: R) {
        let column = self.done;
        let Scratch { lower, solution, scaled, eliminated } = &mut *self.scratch;
        let Some((before, rest)) = lower.split_at_mut_checked(column + W) else { return };
        let (Some(window), Some(lower)) = (before.last_chunk::<W>(), rest.first_mut()) else { return };
        let Some(solution) = solution[..self.size].get_mut(column) else { return };

        let mut pivot = diagonal;
        let mut entries = *below;
        let mut right = right;
        // From the oldest column to the last one, which the others need not wait for.
        each!(BACK in [10 9 8 7 6 5 4 3 2 1] {
            let reach = const { height(W, PERIOD, PHASE, BACK) };
            if BACK <= reach {
                let old = &window[W - BACK];
                let slot = column.wrapping_sub(BACK) % RING;
                let first = R::load_from(&old[BACK - 1]);
                let factor = R::load_from(&scaled[slot][BACK - 1]);
                pivot = first.mul_add(factor, pivot);
                right = first.mul_add(R::load_from(&eliminated[slot]), right);
                each!(DOWN in [1 2 3 4 5 6 7 8 9] {
                    if BACK + DOWN <= reach {
                        let entry = R::load_from(&old[BACK + DOWN - 1]);
                        entries[DOWN - 1] = entry.mul_add(factor, entries[DOWN - 1]);
                    }
                });
            }
        });

        let inverse = R::one() / pivot;
        let negative = -inverse;
        let slot = column % RING;
        right.store_to(&mut eliminated[slot]);
        (right * inverse).store_to(solution);
        each!(DOWN in [1 2 3 4 5 6 7 8 9 10] {
            if DOWN + PHASE <= W {
                entries[DOWN - 1].store_to(&mut scaled[slot][DOWN - 1]);
                (entries[DOWN - 1] * negative).store_to(&mut lower[DOWN - 1]);
            }
        });
        // NaN must not hide: the minimum is the second operand where either is NaN.
        self.least_pivot = self.least_pivot.min(pivot);
        self.done = column + 1;
    }

    /// One step of the back substitution, for the unknown before the last one solved.
    #[inline(always)]
    fn substitute<const PHASE: usize>(&mut self, column: usize) {
        let Some(lower) = self.scratch.lower.get(column + W) else { return };
        let Some((before, behind)) = self.scratch.solution.split_at_mut_checked(column + 1) else { return };
        let (Some(own), Some(later)) = (before.last_mut(), behind.first_chunk::<W>()) else { return };
        let mut value = R::load_from(own);
        each!(DOWN in [10 9 8 7 6 5 4 3 2 1] {
            if DOWN + PHASE <= W {
                let entry = R::load_from(&lower[DOWN - 1]);
                value = entry.mul_add(R::load_from(&later[DOWN - 1]), value);
            }
        });
        value.store_to(own);
    }

    /// Solves, once all columns are there: the unknowns, of a plain band.
    #[inline(always)]
    pub fn finish(mut self) -> &'a [S] {
        for column in (0..self.done).rev() {
            self.substitute::<0>(column);
        }
        &self.scratch.solution[..self.size]
    }

    /// Solves, once all columns are there, where they form stairs of period 4. The number of columns must be a multiple of 4.
    #[inline(always)]
    pub fn finish_stairs(mut self) -> &'a [S] {
        for block in (0..self.done / 4).rev() {
            self.substitute::<3>(4 * block + 3);
            self.substitute::<2>(4 * block + 2);
            self.substitute::<1>(4 * block + 1);
            self.substitute::<0>(4 * block);
        }
        &self.scratch.solution[..self.size]
    }
}

/// Solves one system per lane, of as many unknowns as there are columns: `rights` become the solutions. Entries that reach
/// below the last row must be zero. Returns the smallest pivots.
pub fn solve<S: Stored, const W: usize>(
    columns: &[Column<S, W>],
    rights: &mut [S],
    scratch: &mut Scratch<S, W>,
) -> S {
    S::dispatch(Solve { columns, rights, scratch })
}

struct Solve<'a, S, const W: usize> {
    columns: &'a [Column<S, W>],
    rights: &'a mut [S],
    scratch: &'a mut Scratch<S, W>,
}

impl<S: Stored, const W: usize> StoredKernel<S> for Solve<'_, S, W> {
    type Output = S;

    #[inline(always)]
    fn run<R: Loads<S>>(self) -> S {
        let size = self.columns.len().min(self.rights.len());
        let mut factoring = Factoring::<S, R, W>::new(size, self.scratch);
        for (index, (column, right)) in self.columns.iter().zip(self.rights.iter()).enumerate() {
            prefetch_whole(self.columns, index + AHEAD);
            let mut below = [R::zero(); W];
            for (value, stored) in below.iter_mut().zip(&column.below) {
                *value = R::load_from(stored);
            }
            factoring.push::<1, 0>(R::load_from(&column.diagonal), &below, R::load_from(right));
        }
        let mut least = S::default();
        factoring.least_pivot().store_to(&mut least);
        self.rights[..size].copy_from_slice(factoring.finish());
        least
    }
}
