use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use clap::builder::PossibleValuesParser;
use hairloom::groom::{Groom, Root};
use hairloom::rest::Outcome;
use hairloom::simulate::Simulation;
use hairloom::solve::Method;
use hairloom_io::Folder;
use hairloom_io::Space;
use hairloom_io::grooms::{self, FileGroom, Said};
use hairloom_io::run::{RunOptions, peak_memory, read_scene};
use serde::Serialize;
use toml::Value;

use crate::failure::Failure;
use crate::output::{make_parent, print, tell, write_json};
use crate::settings::setting;

/// Find the rest shape that keeps a scene's hair as groomed, and write it.
///
/// Hair falls from its groom because gravity bends it. In the rest shape written here it would be without gravity; with it, it
/// is as groomed. `hairloom sim` starts with it where a scene has `rest = "sag-free"` in `[solver]`.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The scene.
    scene: PathBuf,
    /// The groom to write: .usdc, .usda, .abc or .hair.
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Solver to use instead of the scene's, with its usual parameters.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Method::NAMES))]
    solver: Option<String>,
    /// Set any key of the scene, its value in TOML; bare words are strings.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<(String, Value)>,
    /// Write what was found.
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Let USD files bring in layers from outside their own folders (absolute paths, `..`, links).
    #[arg(long)]
    allow_outside: bool,
}

const EXAMPLES: &str = "\
Examples:
  hairloom rest scenes/head-turn.toml --solver xpbd-mpm -o rest.usdc
  hairloom sim scenes/head-turn.toml --solver xpbd-mpm --set solver.rest=sag-free --out still.usdc";

/// What was found, as JSON.
#[derive(Serialize)]
struct Report {
    solver: &'static str,
    strands: usize,
    vertices: usize,
    stiffened_percent: f64,
    unstable_strands: usize,
    largest_stiffening: f64,
    force_mse_newtons: f64,
    worst_acceleration_over_gravity: f64,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut overrides = arguments.set.clone();
    if let Some(solver) = &arguments.solver {
        overrides.push(("solver.method".to_owned(), Value::String(solver.clone())));
    }
    overrides.push(("solver.rest".to_owned(), Value::String("sag-free".to_owned())));
    let options = RunOptions {
        scene: arguments.scene.clone(),
        overrides,
        out: None,
        report: None,
        contact_problems: None,
        resume: false,
        allow_outside: arguments.allow_outside,
    };
    let scene = read_scene(&options).map_err(Failure::bad_input)?;
    let method = Method::from_settings(&scene.solver).map_err(Failure::bad_input)?;
    let library = Folder::of_scene(&arguments.scene).allowing_outside(arguments.allow_outside);
    let clock = Instant::now();
    let simulation = Simulation::new(scene, &library).map_err(Failure::bad_input)?;
    let seconds = clock.elapsed().as_secs_f64();
    simulation.warnings().iter().for_each(|warning| tell(&format!("warning: {warning}")));
    let Some(outcome) = simulation.rest() else {
        return Err(Failure::run("no rest shape was found"));
    };
    write(arguments, &simulation, outcome)?;
    let report = report(&simulation, outcome, method.name(), seconds);
    print(&told(arguments, &report))?;
    arguments.report.as_ref().map_or(Ok(()), |path| write_json(path, &report))
}

/// Writes the rest shape as a groom.
fn write(arguments: &Arguments, simulation: &Simulation, outcome: &Outcome) -> Result<(), Failure> {
    let model = simulation.model();
    let groom = Groom {
        curves: outcome.shape.curves(model),
        roots: vec![Root::Free; model.strands()],
        widths: model.radii.iter().map(|radius| 2.0 * radius).collect(),
        ..Groom::default()
    };
    make_parent(&arguments.out)?;
    let groom = FileGroom { groom, space: Space::SCENE };
    grooms::write(&arguments.out, &groom, &Said::default()).map_err(Failure::run)?;
    Ok(())
}

fn report(simulation: &Simulation, outcome: &Outcome, solver: &'static str, seconds: f64) -> Report {
    let model = simulation.model();
    let factors = outcome.shape.bend.iter().chain(&outcome.shape.stretch);
    Report {
        solver,
        strands: model.strands(),
        vertices: model.vertices(),
        stiffened_percent: 100.0 * outcome.stiffened,
        unstable_strands: outcome.unstable_strands,
        largest_stiffening: factors.copied().fold(1.0, f64::max),
        force_mse_newtons: outcome.force_error,
        worst_acceleration_over_gravity: outcome.worst_acceleration,
        seconds,
        peak_memory_bytes: peak_memory(),
    }
}

fn told(arguments: &Arguments, report: &Report) -> String {
    let memory =
        report.peak_memory_bytes.map_or(String::new(), |bytes| format!(", {} MB", bytes / 1_000_000));
    format!(
        "{}: {} strands, {:.1} % stiffened (by up to {:.1}), force MSE {:.1e} N, {:.2} s{memory}\n",
        arguments.out.display(),
        report.strands,
        report.stiffened_percent,
        report.largest_stiffening,
        report.force_mse_newtons,
        report.seconds,
    )
}
