//! Scenes, observers and comparisons for the tests of runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use hairloom::simulate::FrameReport;
use hairloom_io::run::{Observer, RunError, RunOptions, Summary, run};

/// Twenty strands on a ball that turns: quick to set up.
pub(crate) const SMALL: &str = r#"
name = "small"
[time]
frames = 4
[groom]
builtin = { name = "hairy-ball", strands = 20 }
[[body]]
name = "ball"
shape = "sphere"
radius = 0.05
motion = { builtin = "random", period = 0.5 }
"#;

/// Writes a scene's file.
pub(crate) fn scene(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("scene.toml");
    fs::write(&path, text).unwrap();
    path
}

/// Options for a scene of these texts, with its cache in `folder`.
pub(crate) fn options(folder: &Path, text: &str, out: &str) -> RunOptions {
    RunOptions { scene: scene(folder, text), out: Some(folder.join(out)), ..RunOptions::default() }
}

/// Takes notes, and stops the run after a frame.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) stop_after: Option<u32>,
    pub(crate) stop: AtomicBool,
}

/// What was heard.
#[derive(Debug, Default)]
pub(crate) struct Heard<'a> {
    notes: Option<&'a Notes>,
    pub(crate) first_frame: u32,
    pub(crate) frames: Vec<u32>,
    pub(crate) warnings: Vec<String>,
}

impl Observer for Heard<'_> {
    fn ready(&mut self, _: &hairloom::simulate::Simulation, _: &Path, first_frame: u32) {
        self.first_frame = first_frame;
    }

    fn frame(&mut self, report: &FrameReport, _: u32) {
        self.frames.push(report.frame);
        if let Some(notes) = self.notes.filter(|notes| notes.stop_after == Some(report.frame)) {
            notes.stop.store(true, Ordering::Relaxed);
        }
    }

    fn warning(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }
}

/// Runs to the end, or until after a frame.
pub(crate) fn run_until(
    options: &RunOptions,
    stop_after: Option<u32>,
) -> (Result<Summary, RunError>, u32, Vec<u32>, Vec<String>) {
    let notes = Notes { stop_after, stop: AtomicBool::new(false) };
    let mut heard = Heard { notes: Some(&notes), ..Heard::default() };
    let result = run(options, &mut heard, &notes.stop);
    (result, heard.first_frame, heard.frames, heard.warnings)
}
