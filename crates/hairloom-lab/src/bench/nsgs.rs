//! Contact problems: stored ones where they are at hand, and grown ones.

use std::path::Path;

use glam::DVec3;
use hairloom::contact::nsgs::{Blocks, FullProblem, Global, Problem, Settings, Solution, solve};
use serde_json::{Map, Value, json};

use super::clock::{on_threads, shortest};
use super::{Bench, Ratio};
use crate::LabError;
use crate::contact_law::{fibres, stored};

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
/// Runs of which the shortest counts.
const RUNS: usize = 5;

pub(super) fn run() -> Result<Bench, LabError> {
    let (mut rows, mut ratios) = (vec![], vec![]);
    let mut problems = kept()?;
    problems.push(("wall of 5 × 6 bricks".to_owned(), wall(5, 6).assembly()?.reduced()));
    problems
        .push(("300 fibres, 3,000 contacts".to_owned(), fibres(1, 300, 3_000, 0.3).assembly()?.reduced()));
    let paper = |local: &str, acceleration: usize| -> Result<Settings, LabError> {
        let local = local.parse().map_err(|error| LabError::Bench { problem: format!("{error}") })?;
        Ok(Settings { local, acceleration, most_sweeps: 2_000, ..Settings::paper() })
    };
    let mut slower = vec![];
    for (name, problem) in &problems {
        let mut timed = |solver: &str, settings: &Settings| -> Result<f64, LabError> {
            let (seconds, solution) = time(problem, settings)?;
            rows.push(row(name, solver, problem, seconds, &solution));
            Ok(seconds)
        };
        let plain = timed("mfb+enum, plain sweeps", &paper("mfb+enum", 0)?)?;
        timed("enum, plain sweeps", &paper("enum", 0)?)?;
        timed("dac+enum, plain sweeps", &paper("dac+enum", 0)?)?;
        timed("mfb+enum, mixed", &paper("mfb+enum", 6)?)?;
        let usual = timed("hybrid, secular+enum", &Settings::default())?;
        slower.push(plain / usual);
    }
    let mean = (slower.iter().map(|ratio| ratio.ln()).sum::<f64>() / slower.len() as f64).exp();
    ratios.push(Ratio::at_least("hybrid against plain sweeps of MFB+Enum, geometric mean", mean, 2.0));
    assembly(&mut rows, &mut ratios)?;
    threads(&mut rows, &mut ratios)?;
    Ok(Bench { bench: "nsgs", rows, ratios })
}

fn wall(width: usize, courses: usize) -> FullProblem {
    Blocks::wall(width, courses, 2, 0.4, DVec3::ZERO).problem(0.01, GRAVITY)
}

/// Problems from the folder that `HAIRLOOM_CONTACT_PROBLEMS` names, if it does.
fn kept() -> Result<Vec<(String, Problem)>, LabError> {
    match std::env::var_os("HAIRLOOM_CONTACT_PROBLEMS") {
        Some(folder) => stored(Path::new(&folder)),
        None => Ok(vec![]),
    }
}

fn time(problem: &Problem, settings: &Settings) -> Result<(f64, Solution), LabError> {
    let solution = solve(problem, settings, None)?;
    let seconds = shortest(RUNS, || {
        std::hint::black_box(solve(problem, settings, None).ok());
    });
    Ok((seconds, solution))
}

fn row(name: &str, local: &str, problem: &Problem, seconds: f64, solution: &Solution) -> Map<String, Value> {
    let mut row = Map::new();
    let contacts = problem.offset.len();
    row.insert("problem".into(), json!(name));
    row.insert("local".into(), json!(local));
    row.insert("contacts".into(), json!(contacts));
    row.insert("seconds".into(), json!(seconds));
    row.insert("sweeps".into(), json!(solution.sweeps));
    row.insert("interior_steps".into(), json!(solution.interior_steps));
    row.insert("error".into(), json!(solution.error));
    row.insert("natural".into(), json!(solution.natural));
    if solution.interior_steps == 0 {
        let each = seconds / (contacts * solution.sweeps.max(1)) as f64;
        row.insert("ns_per_contact_and_sweep".into(), json!(1.0e9 * each));
    }
    row
}

/// Figure 6: W from blocks, against a product of matrices that are sparse entry by entry.
fn assembly(rows: &mut Vec<Map<String, Value>>, ratios: &mut Vec<Ratio>) -> Result<(), LabError> {
    let full = fibres(2, 300, 3_000, 0.3);
    let blocks = full.assembly()?.reduced();
    let seconds = shortest(RUNS, || {
        std::hint::black_box(full.assembly().map(|assembly| assembly.reduced()).ok());
    });
    let plain_seconds = shortest(RUNS, || {
        std::hint::black_box(plain_product(&full));
    });
    let entries = plain_product(&full);
    let mut row = Map::new();
    row.insert("assembly".into(), json!("300 fibres, 3,000 contacts"));
    row.insert("blocks".into(), json!(blocks.matrix.len()));
    row.insert("entries".into(), json!(entries));
    row.insert("block_sparse_ms".into(), json!(1.0e3 * seconds));
    row.insert("plain_sparse_ms".into(), json!(1.0e3 * plain_seconds));
    rows.push(row);
    ratios.push(Ratio::at_least(
        "block-sparse assembly of W against plain sparse",
        plain_seconds / seconds,
        2.0,
    ));
    Ok(())
}

/// A matrix that is sparse entry by entry: for each row, columns and values.
type Sparse = Vec<Vec<(usize, f64)>>;

/// H M⁻¹ Hᵀ by two general products; returns how many entries it has.
fn plain_product(full: &FullProblem) -> usize {
    let mut starts = vec![0];
    for impulses in &full.impulses {
        starts.push(starts[starts.len() - 1] + impulses.len());
    }
    let freedom = starts[full.impulses.len()];
    let (mut jacobian, mut transposed): (Sparse, Sparse) =
        (vec![vec![]; 3 * full.offset.len()], vec![vec![]; freedom]);
    for block in &full.jacobian {
        let width = full.impulses[block.object].len();
        for (index, &value) in block.values.iter().enumerate() {
            let (row, column) = (3 * block.contact + index / width, starts[block.object] + index % width);
            jacobian[row].push((column, value));
            transposed[column].push((row, value));
        }
    }
    let mut inverse: Sparse = Vec::with_capacity(freedom);
    for (object, mass) in full.masses.iter().enumerate() {
        let width = full.impulses[object].len();
        let dense = inverted(mass, width);
        inverse.extend(dense.chunks_exact(width).map(|row| {
            row.iter()
                .enumerate()
                .map(|(column, &value)| (starts[object] + column, value))
                .collect::<Vec<_>>()
        }));
    }
    let half = product(&jacobian, &inverse, freedom);
    product(&half, &transposed, jacobian.len()).iter().map(Vec::len).sum()
}

/// The product of two sparse matrices, row by row (Gustavson 1978).
fn product(a: &Sparse, b: &Sparse, columns: usize) -> Sparse {
    let (mut sums, mut seen) = (vec![0.0; columns], vec![usize::MAX; columns]);
    let mut touched = vec![];
    a.iter()
        .enumerate()
        .map(|(row, entries)| {
            touched.clear();
            for &(middle, factor) in entries {
                for &(column, value) in &b[middle] {
                    if seen[column] != row {
                        seen[column] = row;
                        sums[column] = 0.0;
                        touched.push(column);
                    }
                    sums[column] += factor * value;
                }
            }
            touched.sort_unstable();
            touched.iter().map(|&column| (column, sums[column])).collect()
        })
        .collect()
}

/// The inverse of a positive definite matrix, by Gauss and Jordan.
fn inverted(matrix: &[f64], size: usize) -> Vec<f64> {
    let mut matrix = matrix.to_vec();
    for pivot in 0..size {
        let scale = 1.0 / matrix[pivot * size + pivot];
        matrix[pivot * size + pivot] = 1.0;
        (0..size).for_each(|column| matrix[pivot * size + column] *= scale);
        for row in (0..size).filter(|&row| row != pivot) {
            let factor = std::mem::take(&mut matrix[row * size + pivot]);
            for column in 0..size {
                matrix[row * size + column] -= factor * matrix[pivot * size + column];
            }
        }
    }
    matrix
}

/// Sweeps over a large wall with one thread and with two.
fn threads(rows: &mut Vec<Map<String, Value>>, ratios: &mut Vec<Ratio>) -> Result<(), LabError> {
    const SWEEPS: usize = 40;
    let problem = wall(30, 40).assembly()?.reduced();
    let settings = Settings {
        global: Global::GaussSeidel,
        most_sweeps: SWEEPS,
        tolerance: 1.0e-12,
        ..Settings::default()
    };
    let mut times = vec![];
    for threads in [1, 2] {
        let (seconds, solution) = on_threads(threads, || time(&problem, &settings))?;
        let mut row = row("wall of 30 × 40 bricks, 40 sweeps", "secular+enum", &problem, seconds, &solution);
        row.insert("threads".into(), json!(threads));
        rows.push(row);
        times.push(seconds);
    }
    ratios.push(Ratio::at_least("two threads against one", times[0] / times[1], 1.6));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_product_has_the_entries_of_the_blocks() {
        let full = fibres(3, 6, 20, 0.3);
        let reduced = full.assembly().unwrap().reduced();
        assert_eq!(plain_product(&full), 9 * reduced.matrix.len());
        let inverse = inverted(&full.masses[0], 16);
        let entry = |i: usize, j: usize| -> f64 {
            (0..16).map(|k| full.masses[0][16 * i + k] * inverse[16 * k + j]).sum()
        };
        assert!(
            (0..256).all(|k| (entry(k / 16, k % 16) - f64::from(u8::from(k / 16 == k % 16))).abs() < 1.0e-10)
        );
    }
}
