//! Band systems of half-bandwidth 10, as rods have them: lanes against plain code (figure 12 of Huang et al. 2023).
//!
//! [`FORMULA`] says how another program can make the same systems. The weights are those of hair of radius 50 µm in edges of
//! 1 cm with the moduli of the paper's table 2, over its mass, at steps of 1/120 s.

use std::time::Instant;

use hairloom::math::Stored;
use hairloom::math::band::{Column, HALF_BANDWIDTH, Scratch, plain, solve};
use hairloom::math::lanes::{DoubleRow, Row};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::clock::{on_threads, shortest};
use super::{Bench, Ratio};

/// How the systems are made, for people who make them elsewhere.
pub const FORMULA: &str = "\
Systems of `bench ldl`, in double precision, then rounded. System s = 0, 1, … of dimension n has the unknowns x[4 i + c]: three
coordinates (c = 0, 1, 2) and a twist (c = 3) for each vertex i < V = ceil(n / 4). Unknowns from n on do not exist, and
coefficients at them are left out. With the tangents
    a = 0.05 s + 0.2 i    b = 0.3 sin(0.1 i + s)    t(i) = (cos a cos b, sin a cos b, sin b)
the matrix is the sum of the unit matrix and of k r r^T over these rows r, listed by their coefficients:
    stretch  k = 8000   -t(i)[c] at x[4i+c] and t(i)[c] at x[4i+4+c], c = 0, 1, 2 in one row           i = 0 … V - 2
    bend     k = 50     1 at x[4i-4+c], 0.1 t(i-1)[c] at x[4i-1], -2 at x[4i+c], 0.1 t(i)[c] at x[4i+3],
                        1 at x[4i+4+c], one row for each of c = 0, 1, 2                                i = 1 … V - 2
    twist    k = 20     -1 at x[4i-1], 1 at x[4i+3]                                                    i = 1 … V - 2
The right-hand side is b[r] = sin(1 + r + s). Residuals are |Ax - b| / (|A| |x| + |b|) in largest row sums and entries.";

const SYSTEMS: usize = 3000;
const DIMENSIONS: [usize; 3] = [400, 52, 127];
/// Numbers of systems of the largest dimension in the sweep of figure 12.
const SWEEP: [usize; 5] = [300, 1000, 3000, 10_000, 30_000];
/// What lanes must be faster by than plain code, which is itself faster than LAPACK's pbsv and Eigen's LDLT.
const FASTER: [f64; 2] = [8.0, 6.0];
/// Largest ‖A x − b‖ / (‖A‖ ‖x‖ + ‖b‖), in single and double precision.
const RESIDUALS: [f64; 2] = [1e-5, 1e-12];
/// Packs that are timed together.
const GROUP: usize = 8;
const ENTRIES: usize = HALF_BANDWIDTH + 1;

/// A matrix by the columns of its lower triangle, and its right-hand side.
struct System {
    columns: Vec<[f64; ENTRIES]>,
    right: Vec<f64>,
}

impl System {
    fn new(dimension: usize, index: usize) -> Self {
        let s = index as f64;
        let tangent = |vertex: usize| {
            let (a, b) = (0.05 * s + 0.2 * vertex as f64, 0.3 * (0.1 * vertex as f64 + s).sin());
            [a.cos() * b.cos(), a.sin() * b.cos(), b.sin()]
        };
        let mut unit = [0.0; ENTRIES];
        unit[0] = 1.0;
        let right = (0..dimension).map(|row| (1.0 + row as f64 + s).sin()).collect();
        let mut system = Self { columns: vec![unit; dimension], right };
        let vertices = dimension.div_ceil(4);
        for vertex in 0..vertices.saturating_sub(1) {
            let (first, t) = (4 * vertex, tangent(vertex));
            let stretch = [-t[0], -t[1], -t[2], 0.0, t[0], t[1], t[2]];
            system.add(8000.0, first, &stretch);
            if vertex == 0 {
                continue;
            }
            let before = tangent(vertex - 1);
            for c in 0..3 {
                let mut bend = [0.0; ENTRIES];
                (bend[c], bend[4 + c], bend[8 + c]) = (1.0, -2.0, 1.0);
                (bend[3], bend[7]) = (0.1 * before[c], 0.1 * t[c]);
                system.add(50.0, first - 4, &bend);
            }
            system.add(20.0, first - 1, &[-1.0, 0.0, 0.0, 0.0, 1.0]);
        }
        system
    }

    /// Adds `weight` times the outer product of a row that begins at unknown `first`.
    fn add(&mut self, weight: f64, first: usize, row: &[f64]) {
        let there = self.right.len().saturating_sub(first).min(row.len());
        for column in 0..there {
            for other in column..there {
                self.columns[first + column][other - column] += weight * row[column] * row[other];
            }
        }
    }

    /// ‖A x − b‖ / (‖A‖ ‖x‖ + ‖b‖), in largest row sums and largest entries.
    fn residual(&self, solution: &[f64]) -> f64 {
        let size = self.right.len();
        let (mut product, mut sums) = (vec![0.0; size], vec![0.0; size]);
        for (column, entries) in self.columns.iter().enumerate() {
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
        let difference: Vec<f64> = product.iter().zip(&self.right).map(|(a, b)| a - b).collect();
        largest(&difference) / (largest(&sums) * largest(solution) + largest(&self.right))
    }
}

/// Systems side by side.
struct Packed<S> {
    dimension: usize,
    systems: usize,
    columns: Vec<Column<S, HALF_BANDWIDTH>>,
    rights: Vec<S>,
    solutions: Vec<S>,
}

impl<S: Stored> Packed<S> {
    fn new(dimension: usize, systems: usize) -> Self {
        let rows = dimension * systems.div_ceil(S::LANES);
        let mut columns = vec![Column::<S, HALF_BANDWIDTH>::default(); rows];
        let mut rights = vec![S::default(); rows];
        let packs = columns.par_chunks_mut(dimension).zip(rights.par_chunks_mut(dimension));
        packs.enumerate().for_each(|(pack, (columns, rights))| {
            for lane in 0..S::LANES {
                // Lanes to spare hold the next systems.
                let system = System::new(dimension, pack * S::LANES + lane);
                let rows =
                    columns.iter_mut().zip(rights.iter_mut()).zip(system.columns.iter().zip(&system.right));
                for ((column, right), (entries, value)) in rows {
                    column.diagonal.set(lane, entries[0]);
                    column.below.iter_mut().zip(&entries[1..]).for_each(|(to, from)| to.set(lane, *from));
                    right.set(lane, *value);
                }
            }
        });
        Self { dimension, systems, columns, solutions: rights.clone(), rights }
    }

    /// Nanoseconds per system on the threads of this pool. Every run goes through all systems. On one thread the shortest time of
    /// each group of packs counts, so that what else runs on the machine does not; on more the shortest run as a whole.
    fn time(&mut self, runs: usize) -> f64 {
        let (rows, dimension) = (self.dimension * GROUP, self.dimension);
        let mut shortest_of = vec![f64::INFINITY; self.columns.len().div_ceil(rows)];
        let mut whole = f64::INFINITY;
        for _ in 0..runs {
            // A solution takes the place of its right-hand side, as in LAPACK; putting that back is not counted.
            self.solutions.copy_from_slice(&self.rights);
            let groups = self.columns.par_chunks(rows).zip(self.solutions.par_chunks_mut(rows));
            let groups = groups.zip(shortest_of.par_iter_mut());
            let start = Instant::now();
            groups.for_each_init(Scratch::default, |scratch, ((columns, solutions), best)| {
                let start = Instant::now();
                for (columns, solutions) in columns.chunks(dimension).zip(solutions.chunks_mut(dimension)) {
                    solve(columns, solutions, scratch);
                }
                *best = best.min(start.elapsed().as_secs_f64());
            });
            whole = whole.min(start.elapsed().as_secs_f64());
        }
        let seconds = if rayon::current_num_threads() == 1 { shortest_of.iter().sum() } else { whole };
        seconds * 1e9 / self.systems as f64
    }

    /// The largest residual of all systems.
    fn residual(&self) -> f64 {
        (0..self.systems)
            .into_par_iter()
            .map(|index| {
                let (pack, lane) = (index / S::LANES, index % S::LANES);
                let rows = self.solutions[pack * self.dimension..][..self.dimension].iter();
                let solution: Vec<f64> = rows.map(|row| row.get(lane)).collect();
                System::new(self.dimension, index).residual(&solution)
            })
            .reduce(|| 0.0, f64::max)
    }
}

/// Nanoseconds per system of the plain factorisation, on one thread, over some of the systems: they all cost the same.
fn plain_time<T: Copy>(dimension: usize, cast: fn(f64) -> T, work: fn(&mut [[T; ENTRIES]], &mut [T])) -> f64 {
    let system = System::new(dimension, 1);
    let columns: Vec<[T; ENTRIES]> = system.columns.iter().map(|column| column.map(cast)).collect();
    let right: Vec<T> = system.right.iter().copied().map(cast).collect();
    let (mut working, mut solution) = (columns.clone(), right.clone());
    let seconds = (0..300).map(|_| {
        working.copy_from_slice(&columns);
        solution.copy_from_slice(&right);
        shortest(1, || work(&mut working, &mut solution))
    });
    seconds.fold(f64::INFINITY, f64::min) * 1e9
}

/// The rows and ratios of one precision.
struct Precision {
    name: &'static str,
    plain: fn(usize) -> f64,
    index: usize,
}

impl Precision {
    fn row(&self, dimension: usize, systems: usize, threads: usize, time: f64) -> Map<String, Value> {
        let mut row = Map::new();
        row.insert("dimension".into(), json!(dimension));
        row.insert("precision".into(), json!(self.name));
        row.insert("systems".into(), json!(systems));
        row.insert("threads".into(), json!(threads));
        row.insert("ns_per_system".into(), json!(time));
        row
    }

    fn measure<S: Stored>(&self, rows: &mut Vec<Map<String, Value>>, ratios: &mut Vec<Ratio>) {
        for dimension in DIMENSIONS {
            let mut packed = Packed::<S>::new(dimension, SYSTEMS);
            let times = [1, 2].map(|threads| on_threads(threads, || packed.time(40)));
            let residual = packed.residual();
            let plain = (self.plain)(dimension);
            for (threads, time) in [1, 2].into_iter().zip(times) {
                let mut row = self.row(dimension, SYSTEMS, threads, time);
                row.insert("plain_ns_per_system".into(), json!(plain));
                row.insert("residual".into(), json!(residual));
                rows.push(row);
            }
            let title = format!("dimension {dimension}, {}", self.name);
            let faster = plain / times[0];
            ratios.push(Ratio::at_least(format!("lanes against plain, {title}"), faster, FASTER[self.index]));
            ratios.push(Ratio::at_most(format!("residual, {title}"), residual, RESIDUALS[self.index]));
        }
        let dimension = DIMENSIONS[0];
        let plain = (self.plain)(dimension);
        for systems in SWEEP {
            let mut packed = Packed::<S>::new(dimension, systems);
            let time = on_threads(1, || packed.time(if systems > 3000 { 5 } else { 20 }));
            let mut row = self.row(dimension, systems, 1, time);
            row.insert("plain_ns_per_system".into(), json!(plain));
            row.insert("seconds".into(), json!(time * 1e-9 * systems as f64));
            rows.push(row);
        }
    }
}

pub(super) fn run() -> Bench {
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    let plain = |dimension| plain_time(dimension, |value| value as f32, plain::solve);
    Precision { name: "f32", plain, index: 0 }.measure::<Row>(&mut rows, &mut ratios);
    let plain = |dimension| plain_time(dimension, |value| value, plain::solve);
    Precision { name: "f64", plain, index: 1 }.measure::<DoubleRow>(&mut rows, &mut ratios);
    Bench { bench: "ldl", rows, ratios }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_follow_their_formula() {
        let system = System::new(7, 0);
        // One stretch along t(0) = (1, 0, 0), no bend.
        assert_eq!(system.columns[0], [8001.0, 0.0, 0.0, 0.0, -8000.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(system.columns[3][0], 1.0);
        assert_eq!(system.right[2], 3.0_f64.sin());
        let system = System::new(12, 0);
        assert_eq!(system.columns[0][8], 50.0, "x of the first and of the third vertex meet in the bend");
    }

    #[test]
    fn both_precisions_solve_them() {
        for dimension in [1, 7, 52] {
            let mut single = Packed::<Row>::new(dimension, 10);
            single.time(1);
            assert!(single.residual() < 1e-6);
            let mut double = Packed::<DoubleRow>::new(dimension, 10);
            double.time(1);
            assert!(double.residual() < 1e-15);
        }
    }
}
