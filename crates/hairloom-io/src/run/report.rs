//! What a run tells at its end, and its report in JSON.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use hairloom::simulate::{FrameReport, Imported, Simulation, SimulationError, Worst};
use hairloom::solve::{ContactProblems, StepError, TimeSteps};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::RunError;

/// Depth inside a body that the user hears of [m].
const DEEP: f64 = 1.0e-3;

/// How a run stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
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

/// Strands held at both ends whose ends are farther apart than the strand is long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutOfReach {
    /// Most strands at once.
    pub strands: u32,
    /// The first frame with as many.
    pub frame: u32,
    /// Frames with any.
    pub frames: u32,
}

impl OutOfReach {
    fn take(&mut self, frame: u32, strands: u32) {
        self.frames += u32::from(strands > 0);
        if strands > self.strands {
            (self.strands, self.frame) = (strands, frame);
        }
    }
}

/// Time spent in one phase of the steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseTotal {
    /// Name of the phase.
    pub name: String,
    /// Wall time over all frames [s].
    pub seconds: f64,
}

/// What a sag-free rest shape took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RestSummary {
    /// Segments and joints that are stiffer than their material [%].
    pub stiffened_percent: f64,
    /// How many times at most.
    pub largest_stiffening: f64,
    /// Strands that would leave their groom otherwise.
    pub unstable_strands: usize,
    /// Wall time to find it [s].
    pub seconds: f64,
}

impl RestSummary {
    /// That of a simulation, where it has one.
    pub fn of(simulation: &Simulation) -> Option<Self> {
        let outcome = simulation.rest()?;
        Some(Self {
            stiffened_percent: 100.0 * outcome.stiffened,
            largest_stiffening: outcome.largest_stiffening(),
            unstable_strands: outcome.unstable_strands,
            seconds: simulation.rest_seconds(),
        })
    }
}

/// What a run did. Of one that was resumed, times and worst values are those of all its parts together.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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
    /// The first frame that this part of the run simulated.
    pub first_frame: u32,
    /// The last frame in the cache.
    pub last_frame: u32,
    /// Frames that this part of the run wrote; one that starts at the beginning writes frame 0, too.
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
    /// Time steps, where the method chooses their length.
    #[serde(default)]
    pub time_steps: TimeSteps,
    /// Contact problems of all steps, where the method has all contacts of a step in one.
    #[serde(default)]
    pub contact_problems: ContactProblems,
    /// Strands whose two held ends were too far apart.
    pub out_of_reach: OutOfReach,
    /// What was found out about the groom of a file: strands that were turned, roots that are off the body.
    #[serde(default)]
    pub groom: Imported,
    /// What it took to keep the hair as groomed, where the scene asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<RestSummary>,
    /// Wall time of each phase over all frames.
    pub phases: Vec<PhaseTotal>,
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
            groom: *simulation.imported(),
            rest: RestSummary::of(simulation),
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
        self.time_steps += report.solver.time_steps;
        self.contact_problems += report.solver.contact_problems;
        self.out_of_reach.take(report.frame, report.solver.out_of_reach);
        for phase in &report.solver.phases {
            match self.phases.iter_mut().find(|known| known.name == phase.name) {
                Some(known) => known.seconds += phase.seconds,
                None => {
                    self.phases.push(PhaseTotal { name: phase.name.to_owned(), seconds: phase.seconds });
                }
            }
        }
    }

    /// Wall time of a phase over all frames [s].
    pub fn phase_seconds(&self, name: &str) -> f64 {
        self.phases.iter().find(|phase| phase.name == name).map_or(0.0, |phase| phase.seconds)
    }

    /// Takes over from the part of the run before.
    pub(super) fn go_on_from(&mut self, before: Self) {
        *self = Self {
            out: std::mem::take(&mut self.out),
            frames_total: self.frames_total,
            interrupted: false,
            frames_written: 0,
            status: Status::Running,
            ..before
        };
    }

    /// What the user should know at the end.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let OutOfReach { strands, frame, frames } = self.out_of_reach;
        if strands > 0 {
            let stretch = 100.0 * self.stretch.value;
            warnings.push(format!(
                "up to {strands} strands (frame {frame}) were held at both ends farther apart than they are long, in \
                 {frames} frames: they were stretched, by {stretch:.1} % at most; bring what holds them closer, or use longer hair"
            ));
        }
        let WorstOf { value, frame, strand, vertex } = self.penetration;
        if value > DEEP {
            let depth = 1.0e3 * value;
            warnings.push(format!(
                "hair went into a body, {depth:.1} mm at most (frame {frame}, strand {strand}, vertex {vertex}): where held \
                 vertices are inside the body, or a body closes on them, hair cannot get out; hair that swings under the rim of an \
                 open mesh counts as inside behind it (close the mesh, or trim the hair); otherwise raise time.substeps"
            ));
        }
        warnings
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

/// The report of a run: its totals, and every frame.
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
    frames: &'a [Json],
}

/// What a checkpoint keeps of the report.
#[derive(Debug, Serialize, Deserialize)]
struct Kept<'a> {
    totals: Cow<'a, Summary>,
    warnings: Cow<'a, [String]>,
    frames: Cow<'a, [Json]>,
}

/// Gathers what the report needs and writes it, if one is wanted.
#[derive(Debug, Default)]
pub(super) struct ReportFile {
    pub(super) path: Option<PathBuf>,
    frames: Vec<Json>,
    warnings: Vec<String>,
}

impl ReportFile {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self { path, ..Self::default() }
    }

    /// Takes in a frame; also where no report is wanted, for who resumes the run may want one.
    pub(super) fn add(&mut self, frame: &FrameReport) {
        // Plain numbers and names, which always become JSON.
        self.frames.extend(serde_json::to_value(frame).ok());
    }

    /// Takes in a warning, once.
    pub(super) fn warn(&mut self, text: &str) {
        if !self.warnings.iter().any(|known| known == text) {
            self.warnings.push(text.to_owned());
        }
    }

    /// What a checkpoint keeps.
    pub(super) fn keep(&self, totals: &Summary) -> String {
        let (warnings, frames) = (Cow::Borrowed(&self.warnings[..]), Cow::Borrowed(&self.frames[..]));
        serde_json::to_string(&Kept { totals: Cow::Borrowed(totals), warnings, frames }).unwrap_or_default()
    }

    /// Goes on from what a checkpoint kept; returns the totals, or nothing if it cannot be read.
    pub(super) fn go_on_from(&mut self, kept: &str) -> Option<Summary> {
        let kept: Kept<'_> = serde_json::from_str(kept).ok()?;
        kept.warnings.iter().for_each(|text| self.warn(text));
        self.frames = kept.frames.into_owned();
        Some(kept.totals.into_owned())
    }

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

#[cfg(test)]
mod tests {
    use hairloom::simulate::Measures;
    use hairloom::solve::Report as StepReport;

    use super::*;

    fn frame(frame: u32, out_of_reach: u32) -> FrameReport {
        let mut solver = StepReport { out_of_reach, ..StepReport::default() };
        solver.add_seconds("step", 0.1);
        let stretch = Worst { value: 0.1 / f64::from(frame), strand: 1, vertex: 2 };
        let measures = Measures { stretch, ..Measures::default() };
        FrameReport { frame, time: 0.0, solver, measures, seconds: 0.3 }
    }

    #[test]
    fn strands_out_of_reach_are_counted_and_told() {
        let mut summary = Summary::default();
        summary.add(&frame(1, 0));
        assert!(summary.warnings().is_empty());
        [frame(2, 1), frame(3, 4), frame(4, 4)].iter().for_each(|frame| summary.add(frame));
        assert_eq!(summary.out_of_reach, OutOfReach { strands: 4, frame: 3, frames: 3 });
        let told = summary.warnings().pop().unwrap();
        assert!(told.contains("up to 4 strands (frame 3)") && told.contains("10.0 %"), "{told}");
        let json = serde_json::to_value(&summary).unwrap();
        assert_eq!(json["out_of_reach"]["strands"], 4);
    }

    #[test]
    fn a_report_goes_on_where_it_was_kept() {
        let frames = [frame(1, 0), frame(2, 3), frame(3, 1)];
        let (mut whole, mut whole_file) = (Summary::default(), ReportFile::new(None));
        whole_file.warn("mended");
        for frame in &frames {
            whole.add(frame);
            whole_file.add(frame);
        }
        let (mut first, mut first_file) = (Summary::default(), ReportFile::new(None));
        first_file.warn("mended");
        first.add(&frames[0]);
        first_file.add(&frames[0]);
        let kept = first_file.keep(&first);
        let (mut second, mut second_file) = (Summary::default(), ReportFile::new(None));
        second_file.warn("mended");
        second.go_on_from(second_file.go_on_from(&kept).unwrap());
        for frame in &frames[1..] {
            second.add(frame);
            second_file.add(frame);
        }
        assert_eq!(second_file.keep(&second), whole_file.keep(&whole));
        assert!(second_file.go_on_from("{}").is_none());
    }
}
