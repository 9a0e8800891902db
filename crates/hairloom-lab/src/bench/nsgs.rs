//! Contact problems: stored ones where they are at hand, and grown ones.

use std::path::Path;

use glam::DVec3;
use hairloom::contact::coulomb::LocalSolver;
use hairloom::contact::nsgs::{Blocks, FullProblem, Global, Problem, Settings, Solution, Stop, solve};
use serde_json::{Map, Value, json};

use super::clock::{on_threads, shortest, shortest_in_turn};
use super::{Bench, Ratio};
use crate::LabError;
use crate::contact_law::{Record, fibres, ponytail, stored};

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
/// Runs of which the shortest counts.
const RUNS: usize = 3;

/// Local solvers of table 2, and the paper's times over those of MFB+Enum.
const TABLE_2: [(&str, f64); 10] = [
    ("mfb+enum", 1.0),
    ("mfb", 1.55),
    ("enum", 3.35),
    ("pac", 4.05),
    ("dac", 2.80),
    ("pac+enum", 1.74),
    ("dac+enum", 2.53),
    ("duriez08", 13.90),
    ("duriez08+enum", 4.64),
    ("4sides+enum", 2.45),
];

pub(super) fn run() -> Result<Bench, LabError> {
    let (mut rows, mut ratios) = (vec![], vec![]);
    let mut problems = kept()?;
    problems.push(("wall of 5 × 6 bricks".to_owned(), wall(5, 6).assembly()?.reduced()));
    problems
        .push(("300 fibres, 3,000 contacts".to_owned(), fibres(1, 300, 3_000, 0.3).assembly()?.reduced()));
    let mut slower = vec![];
    for (name, problem) in &problems {
        let mut timed = |solver: &str, settings: &Settings| -> Result<f64, LabError> {
            let (seconds, solution) = on_threads(1, || time(problem, settings))?;
            rows.push(row(name, solver, problem, seconds, &solution));
            Ok(seconds)
        };
        let plain = timed("mfb+enum, plain sweeps", &paper("mfb+enum")?)?;
        let mixed = Settings { acceleration: Settings::default().acceleration, ..paper("mfb+enum")? };
        timed("mfb+enum, mixed", &mixed)?;
        let usual = timed("hybrid, secular+enum", &Settings::default())?;
        slower.push(plain / usual);
        for local in ["mfb+enum", "enum", "secular+enum"] {
            let nanoseconds = on_threads(1, || nanoseconds_of_a_contact(problem, &paper(local)?))?;
            let mut row = Map::new();
            row.insert("problem".into(), json!(name));
            row.insert("local".into(), json!(local));
            row.insert("ns_per_contact_and_sweep".into(), json!(nanoseconds));
            rows.push(row);
        }
    }
    let mean = geometric_mean(&slower);
    ratios.push(Ratio::at_least("hybrid against plain sweeps of MFB+Enum, geometric mean", mean, 2.0));
    on_threads(1, || table_2(&mut rows, &mut ratios))?;
    on_threads(1, || assembly(&mut rows, &mut ratios))?;
    threads(&mut rows, &mut ratios)?;
    Ok(Bench { bench: "nsgs", rows, ratios })
}

/// The paper's plain sweeps with a local solver that looks at nothing before its own method.
fn paper(local: &str) -> Result<Settings, LabError> {
    let local: LocalSolver =
        local.parse().map_err(|error| LabError::Bench { problem: format!("{error}") })?;
    let local = LocalSolver { direct: false, ..local };
    Ok(Settings { local, most_sweeps: 2_000, ..Settings::paper() })
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// What one more contact in sweeps takes [ns]: the difference of many sweeps and few, so that what comes before sweeps is left out. No contact
/// is frozen, and none is measured on the way.
fn nanoseconds_of_a_contact(problem: &Problem, settings: &Settings) -> Result<f64, LabError> {
    let sweeps = |most_sweeps: usize| -> Result<(f64, u64), LabError> {
        // A step that no sweep is below: all of them are done.
        let settings = Settings { most_sweeps, stop: Stop::Step(-1.0), ..settings.clone() };
        let (seconds, solution) = time(problem, &settings)?;
        Ok((seconds, solution.local_solves))
    };
    let ((few, few_solves), (many, many_solves)) = (sweeps(10)?, sweeps(110)?);
    Ok(1.0e9 * (many - few) / (many_solves - few_solves) as f64)
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
    row.insert("local_solves".into(), json!(solution.local_solves));
    row
}

/// Table 2: local solvers within plain sweeps over one-step problems of a ponytail.
fn table_2(rows: &mut Vec<Map<String, Value>>, ratios: &mut Vec<Ratio>) -> Result<(), LabError> {
    // 1e-6 in the paper's units is 1e-3 to 1e-4 of a force; see `lab local-solvers`.
    const TOLERANCE: f64 = 1.0e-3;
    const SWEEPS: usize = 2_000;
    let problems: Vec<Problem> = ponytail(40, 5)?.into_iter().map(|(_, problem)| problem).collect();
    let mut shortest = [f64::INFINITY; TABLE_2.len()];
    let mut records = vec![];
    for _ in 0..RUNS {
        records.clear();
        for ((local, _), shortest) in TABLE_2.iter().zip(&mut shortest) {
            let record = Record::of(&problems, local, TOLERANCE, SWEEPS)?;
            *shortest = shortest.min(record.milliseconds);
            records.push(record);
        }
    }
    // The first is MFB+Enum.
    let over: Vec<f64> = shortest.iter().map(|milliseconds| milliseconds / shortest[0]).collect();
    for (((local, paper), record), (milliseconds, over)) in
        TABLE_2.iter().zip(&records).zip(shortest.iter().zip(&over))
    {
        let mut row = Map::new();
        row.insert("table 2".into(), json!(local));
        row.insert("problems".into(), json!(problems.len()));
        row.insert("fail_safe_percent".into(), json!(record.fail_safe));
        row.insert("failed_percent".into(), json!(record.failed));
        row.insert("unsolved_percent".into(), json!(record.unsolved));
        row.insert("sweeps".into(), json!(record.mean_sweeps));
        row.insert("milliseconds".into(), json!(milliseconds));
        // What does not get there takes as long as it is let.
        row.insert("over_mfb_enum".into(), json!((record.unsolved == 0.0).then_some(over)));
        row.insert("in_the_paper".into(), json!(paper));
        rows.push(row);
    }
    for (name, slow) in [("enum", "3.35 in the paper"), ("4sides+enum", "2.45 in the paper")] {
        let place = TABLE_2.iter().position(|(local, _)| *local == name);
        let over = place.map_or(f64::NAN, |place| over[place]);
        ratios.push(Ratio::at_least(format!("table 2: {name} over mfb+enum, {slow}"), over, 1.5));
    }
    Ok(())
}

/// Figure 6: W from blocks, against a product of matrices that are sparse entry by entry, both on one thread.
fn assembly(rows: &mut Vec<Map<String, Value>>, ratios: &mut Vec<Ratio>) -> Result<(), LabError> {
    const SIZES: [usize; 4] = [750, 1_500, 3_000, 6_000];
    let mut faster = vec![];
    for contacts in SIZES {
        // As in one head of hair that is pressed together: more contacts for the same fibres.
        let full = fibres(2, 300, contacts, 0.3);
        let blocks = full.assembly()?.reduced().matrix.len();
        let assemble = || {
            std::hint::black_box(full.assembly().map(|assembly| assembly.reduced()).ok());
        };
        let multiply = || {
            std::hint::black_box(plain_product(&full));
        };
        let (seconds, plain_seconds) = shortest_in_turn(RUNS, || {}, assemble, multiply);
        let mut row = Map::new();
        row.insert("assembly".into(), json!("300 fibres"));
        row.insert("contacts".into(), json!(contacts));
        row.insert("blocks".into(), json!(blocks));
        row.insert("block_sparse_ms".into(), json!(1.0e3 * seconds));
        row.insert("plain_sparse_ms".into(), json!(1.0e3 * plain_seconds));
        row.insert("ns_per_block".into(), json!(1.0e9 * seconds / blocks as f64));
        rows.push(row);
        faster.push(plain_seconds / seconds);
    }
    let name = "block-sparse assembly of W against plain sparse, one thread, geometric mean";
    ratios.push(Ratio::at_least(name, geometric_mean(&faster), 2.0));
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
