//! Runs a scene from files to files: reads what it names, simulates, writes a cache and a report.
//!
//! Frame 0, the start, is written first. A checkpoint lies beside the cache while a run is under way
//! (`OUT.checkpoint`), a few seconds old at most; with it a run that was interrupted, or whose process died, goes on
//! where it was and gives the same bits as an unbroken one. It is removed when the run is complete.

mod error;
mod fingerprint;
mod report;

pub use error::RunError;
pub use report::{OutOfReach, PhaseTotal, RestSummary, Status, Summary, WorstOf, peak_memory};

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hairloom::scene::{Animation, BodyShape, GroomSource, Scene};
use hairloom::simulate::{FrameReport, Simulation, SimulationError};
use hairloom::solve::Checkpoint;

pub(crate) use self::fingerprint::fingerprint;
use self::report::ReportFile;
use crate::Folder;
use crate::alembic::AlembicError;
use crate::cache::{self, Cache, CacheError, CacheFormat, CacheWriter};
use crate::checkpoint::{self, CheckpointFileError, CheckpointProblem, SavedRun};
use crate::contact_problem::{self, ContactProblem, Form};
use crate::usd::UsdError;

/// The age at which a checkpoint is replaced by a new one, if that does not take long.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(2);

/// A checkpoint is kept so many times as long as it took to make: a large text cache is written anew for each.
const CHECKPOINT_WORTH: u32 = 15;

/// So many frames are made safe one by one; later ones, if they come fast, only every [`FLUSH_INTERVAL`], for each
/// time takes room that grows with the number of frames.
const FRAMES_FLUSHED_SINGLY: u32 = 500;
const FLUSH_INTERVAL: Duration = Duration::from_millis(250);

/// What to run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The scene's file.
    pub scene: PathBuf,
    /// Values at dotted keys that replace those of the scene, such as `time.frames`.
    pub overrides: Vec<(String, toml::Value)>,
    /// The cache; the scene's `output.file`, or a name after the scene's file, when absent.
    pub out: Option<PathBuf>,
    /// Where to write a report in JSON.
    pub report: Option<PathBuf>,
    /// Whether to go on from a checkpoint.
    pub resume: bool,
    /// A folder for the contact problem of each frame's last step, from methods that solve one.
    pub contact_problems: Option<PathBuf>,
    /// Whether USD files that the scene names may bring in others from outside their folders.
    pub allow_outside: bool,
}

/// Hears about a run.
pub trait Observer {
    /// The scene is set up and its cache is open; `first_frame` is the first to be simulated.
    fn ready(&mut self, _simulation: &Simulation, _out: &Path, _first_frame: u32) {}
    /// A frame of `frames` is simulated and written.
    fn frame(&mut self, _report: &FrameReport, _frames: u32) {}
    /// Something the user should know, though the run goes on.
    fn warning(&mut self, _text: &str) {}
}

/// An observer that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Reads the scene of a run, its overrides in place.
pub fn read_scene(options: &RunOptions) -> Result<Scene, RunError> {
    let path = &options.scene;
    let text = fs::read_to_string(path).map_err(|source| match source.kind() {
        ErrorKind::InvalidData => {
            io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8, and a scene is a TOML file")
        }
        _ => source,
    });
    let text = text.map_err(|source| RunError::ReadScene { path: path.clone(), source })?;
    Ok(Scene::from_toml_with(&text, &path.display().to_string(), &options.overrides)?)
}

/// The cache that a run writes.
pub fn output_path(options: &RunOptions, scene: &Scene) -> PathBuf {
    let named = options.out.clone().or_else(|| scene.output.file.as_ref().map(PathBuf::from));
    named.unwrap_or_else(|| {
        PathBuf::from(options.scene.file_stem().unwrap_or("scene".as_ref())).with_extension("usdc")
    })
}

/// The file of the checkpoint that belongs to a cache.
pub fn checkpoint_path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".checkpoint");
    name.into()
}

/// Simulates a scene. A run that `stop` ends finishes the frame under way, and can be resumed.
pub fn run(
    options: &RunOptions,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Summary, RunError> {
    let clock = Instant::now();
    let scene = read_scene(options)?;
    let out = output_path(options, &scene);
    CacheFormat::of_file(&out)?;
    let library = Folder::of_scene(&options.scene).allowing_outside(options.allow_outside);
    check_inputs(options, &scene, &library, &out)?;
    let simulation = Simulation::new(scene, &library).map_err(|source| match source {
        // It names the scene's file itself.
        SimulationError::Scene(error) => RunError::Scene(error),
        source => RunError::Setup { scene: options.scene.clone(), source },
    })?;
    make_folder(&out)?;
    if let Some(report) = &options.report {
        make_folder(report)?;
    }
    if let Some(folder) = &options.contact_problems {
        let failed = |source| RunError::Output { path: folder.clone(), source };
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let report = ReportFile::new(options.report.clone());
    let summary = Summary::new(&simulation, &out);
    let fingerprint = fingerprint(&simulation);
    let before = Duration::ZERO;
    let problems = options.contact_problems.clone();
    let mut run = Run {
        simulation,
        out,
        problems,
        fingerprint,
        report,
        summary,
        observer,
        started: false,
        clock,
        before,
    };
    let warnings: Vec<String> = run.simulation.warnings().iter().map(ToString::to_string).collect();
    warnings.iter().for_each(|warning| run.warn(warning));
    let result = run.start(options.resume).and_then(|cache| match cache {
        Some(cache) => run.frames(cache, stop),
        None => Ok(()),
    });
    run.measure();
    if result.is_err() {
        run.summary.status = Status::Failed;
    }
    for warning in run.summary.warnings() {
        run.warn(&warning);
    }
    // A run that never began leaves the report of an earlier one alone.
    let reported = if run.started { run.report.write(&run.summary, result.as_ref().err()) } else { Ok(()) };
    // The first error is the one to tell.
    result.and(reported).map(|()| run.summary)
}

/// A run under way.
struct Run<'a> {
    simulation: Simulation,
    out: PathBuf,
    /// Where contact problems are kept.
    problems: Option<PathBuf>,
    fingerprint: u64,
    report: ReportFile,
    summary: Summary,
    observer: &'a mut dyn Observer,
    /// Whether anything was written.
    started: bool,
    /// Started with this part of the run.
    clock: Instant,
    /// Time that earlier parts took.
    before: Duration,
}

impl Run<'_> {
    fn warn(&mut self, text: &str) {
        self.observer.warning(text);
        self.report.warn(text);
    }

    /// Brings time and memory up to date.
    fn measure(&mut self) {
        self.summary.seconds = (self.before + self.clock.elapsed()).as_secs_f64();
        self.summary.peak_memory_bytes = self.summary.peak_memory_bytes.max(peak_memory());
    }

    /// Opens the cache, at the beginning or where the run goes on; nothing if there is nothing left to do.
    fn start(&mut self, resume: bool) -> Result<Option<CacheWriter>, RunError> {
        let path = checkpoint_path(&self.out);
        if resume && path.exists() {
            return self.go_on(&path).map(Some);
        }
        if resume {
            if self.is_complete() {
                self.warn(&format!("{} is complete already: nothing to do", self.out.display()));
                self.summary.already_complete = true;
                self.summary.status = Status::Complete;
                self.summary.last_frame = self.simulation.scene().time.frames;
                self.summary.first_frame = self.summary.last_frame;
                return Ok(None);
            }
            self.warn(&format!("there is no checkpoint {}: starting from the beginning", path.display()));
        }
        self.summary.first_frame = 1;
        self.started = true;
        self.report.write(&self.summary, None)?;
        let mut cache = CacheWriter::create(&self.out, &self.simulation).map_err(unwritable)?;
        remove(&path)?;
        cache.write_frame(&self.simulation)?;
        cache.flush()?;
        self.summary.frames_written = 1;
        self.observer.ready(&self.simulation, &self.out, 1);
        Ok(Some(cache))
    }

    fn go_on(&mut self, path: &Path) -> Result<CacheWriter, RunError> {
        let SavedRun { fingerprint, report, state } = checkpoint::read(path)?;
        if fingerprint != self.fingerprint {
            return Err(RunError::OtherScene { path: path.to_owned() });
        }
        self.simulation
            .restore(&state)
            .map_err(|source| RunError::Setup { scene: path.to_owned(), source })?;
        let last = self.simulation.frame().min(self.simulation.scene().time.frames);
        let cache = CacheWriter::resume(&self.out, &self.simulation, last)?;
        let totals = self.report.go_on_from(&report).ok_or_else(|| CheckpointFileError {
            path: path.to_owned(),
            problem: CheckpointProblem::Damaged,
        })?;
        self.summary.go_on_from(totals);
        self.before = Duration::try_from_secs_f64(self.summary.seconds).unwrap_or_default();
        self.summary.first_frame = last + 1;
        self.summary.last_frame = last;
        self.started = true;
        self.report.write(&self.summary, None)?;
        self.observer.ready(&self.simulation, &self.out, last + 1);
        Ok(cache)
    }

    /// Whether the cache holds all frames of this very scene.
    fn is_complete(&self) -> bool {
        let frames = self.summary.frames_total as usize;
        Cache::open(&self.out)
            .is_ok_and(|cache| cache.fingerprint() == Some(self.fingerprint) && cache.frames() == frames)
    }

    /// Simulates and writes what is left.
    fn frames(&mut self, mut cache: CacheWriter, stop: &AtomicBool) -> Result<(), RunError> {
        let frames = self.simulation.scene().time.frames;
        let (mut saved, mut flushed) = (Instant::now(), Instant::now());
        let mut interval = CHECKPOINT_INTERVAL;
        while self.simulation.frame() < frames {
            if stop.load(Ordering::Relaxed) {
                return self.interrupt(cache);
            }
            let report = match self.simulation.advance() {
                Ok(report) => report,
                Err(source) => return self.fail(cache, source),
            };
            cache.write_frame(&self.simulation)?;
            self.keep_problem(report.frame)?;
            self.summary.frames_written += 1;
            self.summary.last_frame = report.frame;
            self.summary.add(&report);
            self.report.add(&report);
            let early = report.frame <= FRAMES_FLUSHED_SINGLY;
            if cache.flushes_cheaply() && (early || flushed.elapsed() >= FLUSH_INTERVAL) {
                cache.flush()?;
                flushed = Instant::now();
            }
            if saved.elapsed() >= interval && report.frame < frames {
                let begin = Instant::now();
                self.save(&mut cache)?;
                interval = CHECKPOINT_INTERVAL.max(begin.elapsed() * CHECKPOINT_WORTH);
                saved = Instant::now();
            }
            self.observer.frame(&report, frames);
        }
        cache.finish()?;
        self.summary.status = Status::Complete;
        remove(&checkpoint_path(&self.out))
    }

    /// Writes the contact problem of the frame's last step, where that is asked for and there is one.
    fn keep_problem(&self, frame: u32) -> Result<(), RunError> {
        let Some(folder) = &self.problems else { return Ok(()) };
        let Some(problem) = self.simulation.contact_problem() else { return Ok(()) };
        let problem = ContactProblem { dimension: 3, form: Form::Full(problem) };
        Ok(contact_problem::write(&folder.join(format!("frame-{frame:05}.json")), &problem)?)
    }

    /// Writes a checkpoint; the cache first, so that it holds every frame up to the checkpoint's.
    fn save(&mut self, cache: &mut CacheWriter) -> Result<(), RunError> {
        cache.flush()?;
        let mut state = Checkpoint::default();
        self.simulation.save(&mut state);
        self.measure();
        let saved =
            SavedRun { fingerprint: self.fingerprint, report: self.report.keep(&self.summary), state };
        Ok(checkpoint::write(checkpoint_path(&self.out), &saved)?)
    }

    fn interrupt(&mut self, mut cache: CacheWriter) -> Result<(), RunError> {
        self.save(&mut cache)?;
        cache.finish()?;
        self.summary.status = Status::Interrupted;
        self.summary.interrupted = true;
        Ok(())
    }

    /// Keeps what is finished. The solver stands in the middle of a frame, so the last checkpoint stays as it is.
    fn fail(&mut self, cache: CacheWriter, source: SimulationError) -> Result<(), RunError> {
        cache.finish()?;
        let kept = self.summary.last_frame + 1;
        Err(RunError::Failed { source, kept, out: self.out.clone() })
    }
}

/// Fails if an output is one of the files that the run reads, or both outputs are the same.
fn check_inputs(options: &RunOptions, scene: &Scene, library: &Folder, out: &Path) -> Result<(), RunError> {
    let groom = match &scene.groom.source {
        GroomSource::File(file) => Some(file),
        _ => None,
    };
    let bodies = scene.bodies.iter().flat_map(|body| {
        let mesh = match &body.shape {
            BodyShape::Mesh(file) => Some(file),
            _ => None,
        };
        let animation = match &body.animation {
            Some(Animation::File(file)) => Some(file),
            _ => None,
        };
        [mesh, animation]
    });
    let named = bodies.chain([groom]).flatten().map(|file| library.locate(file));
    let real = |path: &PathBuf| fs::canonicalize(path).ok();
    let inputs: Vec<PathBuf> = named.chain([options.scene.clone()]).filter_map(|path| real(&path)).collect();
    let replaced = cache::files(out).into_iter().chain(options.report.clone());
    for path in replaced {
        let is_input = real(&path).is_some_and(|path| inputs.contains(&path));
        if path.is_dir() {
            return Err(RunError::OutputIsFolder { path });
        }
        if is_input || (options.report.as_ref() == Some(&path) && path == out) {
            return Err(RunError::OutputIsInput { path });
        }
    }
    Ok(())
}

/// The error for an output that cannot be made.
fn unwritable(error: CacheError) -> RunError {
    match error {
        CacheError::Usd(UsdError::Io { path, source })
        | CacheError::Alembic(AlembicError::Io { path, source })
        | CacheError::Io { path, source } => RunError::Output { path, source },
        other => other.into(),
    }
}

fn make_folder(file: &Path) -> Result<(), RunError> {
    match file.parent() {
        Some(folder) if folder != Path::new("") => {
            fs::create_dir_all(folder).map_err(|source| RunError::Output { path: folder.to_owned(), source })
        }
        _ => Ok(()),
    }
}

fn remove(path: &Path) -> Result<(), RunError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(RunError::Output { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
