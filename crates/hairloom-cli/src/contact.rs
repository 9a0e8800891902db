use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use glam::DVec3;
use hairloom::contact::coulomb::{LocalSolver, Regime, regime};
use hairloom::contact::nsgs::{Global, Problem, Settings, Solution, Stop, solve};
use hairloom_io::contact_problem::{self, ContactProblem, Form};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{print, tell, write_json};

/// Solve one frictional contact problem: exact Coulomb friction at every contact.
///
/// Reads the reduced form (u = W r + b) or the full form (M v − f = Hᵀ r, u = H v + w) from JSON. The exit code is 1 if
/// the tolerance is not reached; the best forces found are printed all the same.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The problem.
    #[arg(value_name = "PROBLEM.json")]
    problem: PathBuf,
    /// The way over all contacts: hybrid, gauss-seidel, interior-point, mfb, dac.
    #[arg(long, default_value = "hybrid")]
    solver: Global,
    /// What solves each contact: secular, mfb, enum, pac, dac, duriez06, duriez08, 4sides, each with or without `+enum`.
    #[arg(long, default_value = "secular+enum")]
    local: LocalSolver,
    /// When to stop: largest Fischer–Burmeister function, and natural map.
    #[arg(long, default_value_t = 1.0e-6)]
    tolerance: f64,
    /// The same for each contact on its own.
    #[arg(long, default_value_t = 1.0e-12)]
    local_tolerance: f64,
    /// Sweeps at most; for mfb and dac, steps.
    #[arg(long, default_value_t = 100_000)]
    iterations: usize,
    /// Stop plain sweeps once one changes all forces together by at most this part of them, whatever the error: where an approximate
    /// local solver comes to rest. Only with `--solver gauss-seidel`.
    #[arg(long, value_name = "PART")]
    stop_step: Option<f64>,
    /// How many iterates of sweeps are mixed; 0 is plain Gauss–Seidel.
    #[arg(long, default_value_t = 6)]
    acceleration: usize,
    /// Sweeps that a contact at rest is left alone.
    #[arg(long, default_value_t = 10)]
    freeze: u16,
    /// Threads; all processors' if left out. The result is the same.
    #[arg(long)]
    threads: Option<usize>,
    /// Write everything as JSON, forces and velocities included; `-` prints it, and nothing else.
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  hairloom contact tower.json
  hairloom contact tower.json --tolerance 1e-9 --json -
  hairloom contact tower.json --solver gauss-seidel --local mfb+enum --acceleration 0
  hairloom contact tower.json --solver gauss-seidel --local 4sides --stop-step 0.05";

#[derive(Serialize)]
struct Report {
    problem: String,
    form: &'static str,
    dimension: usize,
    contacts: usize,
    blocks: usize,
    asymmetry: f64,
    solver: &'static str,
    local: String,
    tolerance: f64,
    threads: usize,
    converged: bool,
    error: f64,
    natural_map: f64,
    iterations: usize,
    interior_steps: usize,
    seconds: f64,
    assembly_seconds: f64,
    local_solves: u64,
    fail_safe_calls: u64,
    failed: u64,
    take_off: usize,
    stick: usize,
    slide: usize,
    r: Vec<f64>,
    u: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    v: Option<Vec<f64>>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let settings = settings(arguments)?;
    let stored = contact_problem::read(&arguments.problem).map_err(Failure::bad_input)?;
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = arguments.threads {
        pool = pool.num_threads(threads);
    }
    let pool = pool.build().map_err(Failure::run)?;
    let report = pool.install(|| solved(arguments, &settings, &stored))?;
    if let Some(to) = &arguments.json {
        write_json(to, &report)?;
    }
    if arguments.json.as_deref().is_none_or(|to| to.as_os_str() != "-") {
        print(&text(&report))?;
    }
    if report.converged {
        return Ok(());
    }
    if let Some(part) = arguments.stop_step {
        return Err(Failure::run(format!(
            "{}: after {} sweeps they still change forces by more than {part} of them",
            report.problem, report.iterations
        )));
    }
    let reached = report.error.max(report.natural_map);
    let hint = match report.failed {
        0 => String::new(),
        failed => {
            format!("; {failed} times a contact had no solution on its own, and its force was set to zero")
        }
    };
    Err(Failure::run(format!(
        "{}: the error is {reached:.2e}, above the tolerance {:.1e}, after {} iterations{hint}",
        report.problem, report.tolerance, report.iterations
    )))
}

fn settings(arguments: &Arguments) -> Result<Settings, Failure> {
    for (name, value) in
        [("--tolerance", arguments.tolerance), ("--local-tolerance", arguments.local_tolerance)]
    {
        if !(value > 0.0 && value.is_finite()) {
            return Err(Failure::bad_input(format!("{name} is {value}: expected a positive number")));
        }
    }
    if !(1..=256).contains(&arguments.threads.unwrap_or(1)) {
        return Err(Failure::bad_input("--threads: expected a number from 1 to 256"));
    }
    let stop = match arguments.stop_step {
        None => Stop::Error,
        Some(_) if arguments.solver != Global::GaussSeidel => {
            return Err(Failure::bad_input("--stop-step is for sweeps: add --solver gauss-seidel"));
        }
        Some(part) if part > 0.0 && part <= 1.0 => Stop::Step(part),
        Some(part) => {
            return Err(Failure::bad_input(format!(
                "--stop-step is {part}: expected a number above 0, at most 1"
            )));
        }
    };
    if arguments.acceleration > 64 {
        return Err(Failure::bad_input(format!(
            "--acceleration is {}: expected at most 64",
            arguments.acceleration
        )));
    }
    Ok(Settings {
        global: arguments.solver,
        stop,
        tolerance: arguments.tolerance,
        local_tolerance: arguments.local_tolerance,
        most_sweeps: arguments.iterations,
        local: arguments.local,
        freeze: arguments.freeze,
        acceleration: arguments.acceleration,
        ..Settings::default()
    })
}

fn solved(arguments: &Arguments, settings: &Settings, stored: &ContactProblem) -> Result<Report, Failure> {
    let name = arguments.problem.display().to_string();
    let bad = |error: &dyn std::fmt::Display| Failure::bad_input(format!("{name}: {error}"));
    let started = Instant::now();
    let assembly = match &stored.form {
        Form::Full(full) => Some(full.assembly().map_err(|error| bad(&error))?),
        Form::Reduced(_) => None,
    };
    let problem = match (&stored.form, &assembly) {
        (Form::Reduced(reduced), _) => reduced.clone(),
        (Form::Full(_), Some(assembly)) => {
            let mut reduced = assembly.reduced();
            if stored.dimension == 2 {
                contact_problem::lift_planar(&mut reduced).map_err(|error| bad(&error))?;
            }
            reduced
        }
        (Form::Full(_), None) => Problem::default(),
    };
    let assembly_seconds = if assembly.is_some() { started.elapsed().as_secs_f64() } else { 0.0 };
    let (problem, asymmetry) = problem.checked().map_err(|error| bad(&error))?;
    if let Some(asymmetry) = asymmetry {
        tell(&format!("warning: {name}: W is asymmetric by {asymmetry:.1e} of a block; made symmetric"));
    }
    let started = Instant::now();
    let solution = solve(&problem, settings, None).map_err(|error| bad(&error))?;
    let seconds = started.elapsed().as_secs_f64();
    let [take_off, stick, slide] = regimes(&problem, &solution);
    let flat = |vectors: &[DVec3]| -> Vec<f64> {
        vectors.iter().flat_map(|vector| vector.to_array().into_iter().take(stored.dimension)).collect()
    };
    let solver =
        Global::ALL.iter().find(|(_, global)| *global == settings.global).map_or("", |(name, _)| name);
    Ok(Report {
        problem: name.clone(),
        form: if assembly.is_some() { "full" } else { "reduced" },
        dimension: stored.dimension,
        contacts: problem.offset.len(),
        blocks: problem.matrix.len(),
        asymmetry: asymmetry.unwrap_or(0.0),
        solver,
        local: settings.local.to_string(),
        tolerance: settings.tolerance,
        threads: rayon::current_num_threads(),
        converged: solution.converged,
        error: solution.error,
        natural_map: solution.natural,
        iterations: solution.sweeps,
        interior_steps: solution.interior_steps,
        seconds,
        assembly_seconds,
        local_solves: solution.local_solves,
        fail_safe_calls: solution.fail_safe + solution.failed,
        failed: solution.failed,
        take_off,
        stick,
        slide,
        v: assembly.as_ref().map(|assembly| assembly.velocities(&solution.forces).concat()),
        r: flat(&solution.forces),
        u: flat(&solution.velocities),
    })
}

/// How many contacts take off, stick and slide, by the law within what forces and velocities may be off by.
fn regimes(problem: &Problem, solution: &Solution) -> [usize; 3] {
    let size = |vectors: &[DVec3]| vectors.iter().map(|vector| vector.length()).fold(0.0, f64::max);
    let (force, velocity) = (1.0e-5 * size(&solution.forces), 1.0e-5 * size(&problem.offset));
    let mut counts = [0; 3];
    for (contact, friction) in problem.friction.iter().enumerate() {
        let (r, u) = (solution.forces[contact], solution.velocities[contact]);
        match regime(r, u, *friction, force, velocity) {
            Some(Regime::TakeOff) => counts[0] += 1,
            Some(Regime::Stick) => counts[1] += 1,
            Some(Regime::Slide) => counts[2] += 1,
            None => {}
        }
    }
    counts
}

/// Contacts up to this many are listed.
const LISTED: usize = 20;

fn text(report: &Report) -> String {
    let mut text = String::new();
    let seconds = report.seconds;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {} contacts in {} dimensions, {} blocks\n\
         solver {}, local {}, {} threads\n\
         error       {:.3e}   (largest Fischer–Burmeister function)\n\
         natural map {:.3e}   (over 1 + ‖b‖)\n\
         iterations  {}   (and {} of the interior point)\n\
         seconds     {seconds:.6}\n\
         fail-safe   {} calls of {} local solves, {} failed\n\
         regimes     {} take off, {} stick, {} slide",
        report.problem,
        report.contacts,
        report.dimension,
        report.blocks,
        report.solver,
        report.local,
        report.threads,
        report.error,
        report.natural_map,
        report.iterations,
        report.interior_steps,
        report.fail_safe_calls,
        report.local_solves,
        report.failed,
        report.take_off,
        report.stick,
        report.slide,
    );
    if report.contacts > LISTED {
        text.push_str("r and u are in the output of --json.\n");
        return text;
    }
    let pairs = report.r.chunks(report.dimension).zip(report.u.chunks(report.dimension));
    for (contact, (r, u)) in pairs.enumerate() {
        let numbers =
            |values: &[f64]| values.iter().map(|value| format!("{value:.9e}")).collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "contact {contact}: r {}, u {}", numbers(r), numbers(u));
    }
    text
}
