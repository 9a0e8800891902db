//! What a run tells at its end, and its report in JSON.

use std::fs;
use std::path::{Path, PathBuf};

use hairloom::simulate::{FrameReport, Simulation, SimulationError, Worst};
use hairloom::solve::{Phase, StepError};
use serde::Serialize;

use super::RunError;

/// How a run stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It is under way; a report that stays so was left by a process that died.
    #[default]
    Running,
    /// All frames are there.
    Complete,
    /// It was stopped, and can go on.
    Interrupted,
    /// The simulation, or writing its frames, failed.
    Failed,
}

/// A worst value of a run and where it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct WorstOf {
    /// The value.
    pub value: f64,
    /// The frame.
    pub frame: u32,
    /// Index of the strand, among those simulated or those in the cache.
    pub strand: usize,
    /// Vertex along the strand.
    pub vertex: usize,
}

impl WorstOf {
    fn take(&mut self, frame: u32, worst: &Worst) {
        if worst.value > self.value {
            *self = Self { value: worst.value, frame, strand: worst.strand, vertex: worst.vertex };
        }
    }
}

/// What a run did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    /// Name of the scene.
    pub scene: String,
    /// Name of the solver.
    pub solver: String,
    /// The cache.
    pub out: PathBuf,
    /// How the run stands.
    pub status: Status,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Whether nothing was left to do.
    pub already_complete: bool,
    /// Strands in the cache.
    pub strands: usize,
    /// Vertices in the cache.
    pub vertices: usize,
    /// Strands that were simulated; all others follow them.
    pub simulated_strands: usize,
    /// Vertices that were simulated.
    pub simulated_vertices: usize,
    /// The first frame that this run simulated.
    pub first_frame: u32,
    /// The last frame in the cache.
    pub last_frame: u32,
    /// Frames that this run wrote; one that starts at the beginning writes frame 0, too.
    pub frames_written: u32,
    /// Frames of the complete cache, frame 0 included.
    pub frames_total: u32,
    /// Wall time of the run, setting up and writing included [s].
    pub seconds: f64,
    /// Wall time of the simulated frames alone [s].
    pub simulation_seconds: f64,
    /// Largest relative change of an edge's length.
    pub stretch: WorstOf,
    /// Deepest free vertex inside a body [m].
    pub penetration: WorstOf,
    /// Largest relative change of an edge's length among the strands in the cache, whose points are rounded to single
    /// precision.
    pub written_stretch: WorstOf,
    /// Deepest vertex inside a body among the strands in the cache, held vertices included [m].
    pub written_penetration: WorstOf,
    /// Largest energy of motion [J].
    pub largest_kinetic_energy: f64,
    /// Energies at the last frame, of motion and of height [J].
    pub last_energy: [f64; 2],
    /// Most contacts of any step.
    pub contacts: u64,
    /// Wall time of each phase over all frames.
    pub phases: Vec<Phase>,
    /// Most memory that the process held, where the system tells [bytes].
    pub peak_memory_bytes: Option<u64>,
}

impl Summary {
    pub(super) fn new(simulation: &Simulation, out: &Path) -> Self {
        let (scene, groom, model) = (simulation.scene(), simulation.groom(), simulation.model());
        Self {
            scene: scene.name.clone(),
            solver: scene.solver.method.clone(),
            out: out.to_owned(),
            strands: groom.strands(),
            vertices: groom.vertices(),
            simulated_strands: model.strands(),
            simulated_vertices: model.masses.len(),
            frames_total: scene.time.frames.saturating_add(1),
            ..Self::default()
        }
    }

    /// Takes in a frame that was simulated.
    pub(super) fn add(&mut self, report: &FrameReport) {
        self.simulation_seconds += report.seconds;
        self.stretch.take(report.frame, &report.measures.stretch);
        self.penetration.take(report.frame, &report.measures.penetration);
        self.written_stretch.take(report.frame, &report.measures.written.stretch);
        self.written_penetration.take(report.frame, &report.measures.written.penetration);
        self.largest_kinetic_energy = self.largest_kinetic_energy.max(report.measures.kinetic_energy);
        self.last_energy = [report.measures.kinetic_energy, report.measures.potential_energy];
        self.contacts = self.contacts.max(report.solver.contacts);
        for phase in &report.solver.phases {
            match self.phases.iter_mut().find(|known| known.name == phase.name) {
                Some(known) => known.seconds += phase.seconds,
                None => self.phases.push(phase.clone()),
            }
        }
    }
}

/// Where and why a run failed.
#[derive(Debug, Serialize)]
struct Failure {
    message: String,
    frame: Option<u32>,
    strand: Option<usize>,
    vertex: Option<usize>,
}

impl Failure {
    fn new(error: &RunError) -> Self {
        let (frame, strand, vertex) = match error {
            RunError::Failed { source, .. } => match source {
                SimulationError::Step { frame, source: StepError::Diverged { strand, vertex, .. } } => {
                    (Some(*frame), Some(*strand), Some(*vertex))
                }
                SimulationError::Step { frame, .. } | SimulationError::Motion { frame, .. } => {
                    (Some(*frame), None, None)
                }
                _ => (None, None, None),
            },
            _ => (None, None, None),
        };
        Self { message: error.to_string(), frame, strand, vertex }
    }
}

/// The report of a run: its totals, and every frame that it simulated.
#[derive(Debug, Serialize)]
struct Report<'a> {
    scene: &'a str,
    solver: &'a str,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<Failure>,
    strands: usize,
    vertices: usize,
    totals: &'a Summary,
    warnings: &'a [String],
    frames: &'a [FrameReport],
}

/// Gathers what the report needs and writes it, if one is wanted.
#[derive(Debug, Default)]
pub(super) struct ReportFile {
    pub(super) path: Option<PathBuf>,
    pub(super) frames: Vec<FrameReport>,
    pub(super) warnings: Vec<String>,
}

impl ReportFile {
    pub(super) fn write(&self, summary: &Summary, error: Option<&RunError>) -> Result<(), RunError> {
        let Some(path) = &self.path else { return Ok(()) };
        let report = Report {
            scene: &summary.scene,
            solver: &summary.solver,
            status: summary.status,
            failed: error.map(Failure::new),
            strands: summary.strands,
            vertices: summary.vertices,
            totals: summary,
            warnings: &self.warnings,
            frames: &self.frames,
        };
        let written = serde_json::to_string_pretty(&report).map_err(std::io::Error::from);
        let written = written.and_then(|text| fs::write(path, text + "\n"));
        written.map_err(|source| RunError::Output { path: path.clone(), source })
    }
}

/// The most memory that this process held so far [bytes]; only Linux tells.
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
