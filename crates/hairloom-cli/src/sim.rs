use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use clap::builder::PossibleValuesParser;
use hairloom::scene::{GroomSource, Scene, TimeRange};
use hairloom::simulate::{FrameReport, Simulation};
use hairloom::solve::Method;
use hairloom_io::run::{self, Observer, RestSummary, RunOptions, Status, Summary};
use serde::Serialize;
use toml::Value;

use crate::failure::Failure;
use crate::output::{print, tell};
use crate::progress::Progress;
use crate::settings::setting;

/// Simulate a scene and write an animated cache.
///
/// The scene is a TOML file that names a groom (a file, or a style to grow), bodies and their motion, wind, gravity, and
/// a solver. The cache is USD or Alembic, which Blender, Houdini, Maya and Unreal open. Every frame is on disk as soon as it
/// is done; after an interruption `--resume` goes on where the run stopped, with the same result as an unbroken run.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The scene; scenes/every-key.toml shows every key.
    scene: PathBuf,
    /// Solver to use instead of the scene's, with its usual parameters.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Method::NAMES))]
    solver: Option<String>,
    /// Frames to simulate instead of the scene's.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    frames: Option<u32>,
    /// Set any key of the scene, its value in TOML; bare words are strings.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<(String, Value)>,
    /// The cache to write (.usdc, .usda, .abc or .hair) instead of the scene's.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write what each frame took and measured.
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Keep the contact problem of each frame's last step in a folder, for `hairloom contact` (solver nsgs).
    #[arg(long, value_name = "FOLDER")]
    contact_problems: Option<PathBuf>,
    /// Go on where an interrupted run stopped.
    #[arg(long)]
    resume: bool,
    /// Let USD files bring in layers from outside their own folders (absolute paths, `..`, links).
    #[arg(long)]
    allow_outside: bool,
    /// Threads to use instead of one for each core; the result is the same.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Seed of the grown groom instead of the scene's.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  hairloom sim scenes/head-turn.toml
  hairloom sim scenes/head-turn.toml --frames 24 --set groom.style.strands=500 --out quick.usdc
  hairloom sim scenes/walk.toml --set solver.bending=0.5 --set \"gravity.value=[0, -1.6, 0]\"
  hairloom sim scenes/walk.toml --resume --report walk.json
Then look at it: hairloom render quick.usdc --animation -o quick.png";

pub(crate) fn execute(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    let options = RunOptions {
        scene: arguments.scene.clone(),
        overrides: overrides(arguments)?,
        out: arguments.out.clone(),
        report: arguments.report.clone(),
        contact_problems: arguments.contact_problems.clone(),
        resume: arguments.resume,
        allow_outside: arguments.allow_outside,
    };
    let summary = simulate(&options)?;
    if summary.status == Status::Interrupted {
        return Err(interrupted(&summary));
    }
    print(&told(&summary))
}

/// The line that ends a run.
fn told(summary: &Summary) -> String {
    let out = summary.out.display();
    if summary.already_complete {
        return format!("{out}: complete\n");
    }
    let (frames, strands) = (summary.last_frame, summary.strands);
    let line = format!("{out}: {strands} strands, frames 0 to {frames}, {:.1} s\n", summary.seconds);
    line + &contact_table(summary)
}

/// The columns of table 1 of Daviet et al. 2011, where all contacts of a step are one problem; nothing otherwise.
fn contact_table(summary: &Summary) -> String {
    let problems = &summary.contact_problems;
    if problems.count == 0 {
        return String::new();
    }
    let mean = |total: f64| total / f64::from(problems.count);
    let steps = &summary.time_steps;
    let a_step = |total: f64| total / f64::from(steps.count.max(1));
    let (solve, assembly) = (summary.phase_seconds("solve"), summary.phase_seconds("assembly"));
    let percent = |part: u64| 100.0 * part as f64 / problems.local_solves.max(1) as f64;
    let frames = f64::from(summary.last_frame.max(1));
    let rows = [
        ("fibres".to_owned(), format!("{}", summary.simulated_strands)),
        (
            "largest friction met, hair / bodies".to_owned(),
            format!("{:.2} / {:.2}", problems.hair_friction, problems.body_friction),
        ),
        (
            "contacts, mean / most".to_owned(),
            format!("{:.0} / {}", mean(problems.contacts as f64), problems.most_contacts),
        ),
        ("  with forces, mean".to_owned(), format!("{:.0}", mean(problems.acting as f64))),
        (
            format!("above tolerance, of {} problems", problems.count),
            format!("{:.3} %", 100.0 * mean(f64::from(problems.unsolved))),
        ),
        ("largest error".to_owned(), format!("{:.1e}", problems.worst)),
        ("sweeps, mean".to_owned(), format!("{:.0}", mean(problems.sweeps as f64))),
        ("steps of interior points, mean".to_owned(), format!("{:.1}", mean(problems.interior_steps as f64))),
        (
            "single contacts: fail-safe asked".to_owned(),
            format!("{:.4} %", percent(problems.fail_safe + problems.failed)),
        ),
        ("single contacts: no force found".to_owned(), format!("{:.6} %", percent(problems.failed))),
        (
            "solver / with assembly, a step".to_owned(),
            format!("{:.3} / {:.3} s", a_step(solve), a_step(solve + assembly)),
        ),
        ("time steps / given up".to_owned(), format!("{} / {}", steps.count, steps.refused)),
        ("shortest time step".to_owned(), format!("{:.2} ms", 1.0e3 * steps.shortest)),
        ("a time step".to_owned(), format!("{:.3} s", a_step(summary.simulation_seconds))),
        ("a frame".to_owned(), format!("{:.2} s", summary.simulation_seconds / frames)),
        ("in all".to_owned(), format!("{:.3} h", summary.simulation_seconds / 3600.0)),
    ];
    rows.into_iter().map(|(name, value)| format!("  {name:<36}{value}\n")).collect()
}

fn interrupted(summary: &Summary) -> Failure {
    let (frame, out) = (summary.last_frame, summary.out.display());
    Failure::run(format!(
        "stopped after frame {frame}; frames 0 to {frame} are in {out}. Run the same command with --resume to go on"
    ))
}

/// Runs a scene with progress on standard error. Ctrl-C stops it cleanly; the second one at once.
pub(crate) fn simulate(options: &RunOptions) -> Result<Summary, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    })
    .map_err(|error| Failure::run(format!("Ctrl-C cannot be watched: {error}")))?;
    let mut watcher = Watcher(Progress::new("frame"));
    let outcome = run::run(options, &mut watcher, &stop);
    watcher.0.end();
    outcome.map_err(|error| match error.is_bad_input() {
        true => Failure::bad_input(error),
        false => Failure::run(error),
    })
}

/// Tells of a run.
struct Watcher(Progress);

impl Observer for Watcher {
    fn ready(&mut self, simulation: &Simulation, out: &Path, first_frame: u32) {
        let (model, groom) = (simulation.model(), simulation.groom());
        let simulated = match (model.strands(), groom.strands()) {
            (simulated, all) if simulated == all => format!("{all} strands"),
            (simulated, all) => format!("{simulated} strands with {} followers", all - simulated),
        };
        let frames = simulation.scene().time.frames;
        tell(&format!("{simulated}, {} vertices, {frames} frames to {}", groom.vertices(), out.display()));
        if let Some(rest) = RestSummary::of(simulation) {
            tell(&format!(
                "sag-free rest shape: {:.1} % of segments and joints stiffened, up to {:.1} times; {} of {} strands would fall otherwise",
                rest.stiffened_percent,
                rest.largest_stiffening,
                rest.unstable_strands,
                model.strands()
            ));
        }
        self.0.begin(u64::from(first_frame.saturating_sub(1)), u64::from(frames));
    }

    fn frame(&mut self, report: &FrameReport, frames: u32) {
        let message = format!("{:.0} ms a frame", report.seconds * 1000.0);
        self.0.step(u64::from(report.frame), u64::from(frames), &message);
    }

    fn warning(&mut self, text: &str) {
        self.0.note(&format!("warning: {text}"));
    }
}

fn use_threads(threads: Option<u16>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global();
    pool.map_err(|error| Failure::run(format!("{threads} threads cannot be started: {error}")))
}

/// The settings of the command line as overrides of the scene's keys.
fn overrides(arguments: &Arguments) -> Result<Vec<(String, Value)>, Failure> {
    let mut overrides = arguments.set.clone();
    if let Some(solver) = &arguments.solver {
        overrides.push(("solver.method".to_owned(), Value::String(solver.clone())));
    }
    if arguments.frames.is_none() && arguments.seed.is_none() {
        return Ok(overrides);
    }
    let path = arguments.scene.display().to_string();
    let text = std::fs::read_to_string(&arguments.scene)
        .map_err(|error| Failure::bad_input(format!("{path}: {error}")))?;
    let scene = Scene::from_toml_with(&text, &path, &overrides).map_err(Failure::bad_input)?;
    // Whole tables are replaced, for a scene may write them in other ways: `end` for `frames`, a bare style.
    if let Some(frames) = arguments.frames {
        overrides.push(("time".to_owned(), as_toml(&TimeRange { frames, ..scene.time })?));
    }
    if let Some(seed) = arguments.seed {
        overrides.push(seeded(&scene, seed)?);
    }
    Ok(overrides)
}

fn seeded(scene: &Scene, seed: u32) -> Result<(String, Value), Failure> {
    Ok(match scene.groom.source.clone() {
        GroomSource::Style(mut style) => {
            style.seed = seed;
            ("groom.style".to_owned(), as_toml(&style)?)
        }
        GroomSource::Builtin(mut builtin) => {
            builtin.seed = seed;
            ("groom.builtin".to_owned(), as_toml(&builtin)?)
        }
        GroomSource::File(file) => {
            let problem = format!("--seed: the groom comes from the file {file}, which has no seed");
            return Err(Failure::bad_input(problem));
        }
    })
}

fn as_toml(value: &impl Serialize) -> Result<Value, Failure> {
    Value::try_from(value).map_err(Failure::run)
}
