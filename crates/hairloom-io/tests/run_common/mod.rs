//! Scenes, observers and comparisons for the tests of runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use hairloom::simulate::FrameReport;
use hairloom_io::run::{Observer, RunError, RunOptions, Summary, run};
use hairloom_io::usd::{Layer, Value};

/// Guides and followers on a head that deforms, a ball that moves as a whole, velocities in the cache.
pub(crate) const SCENE: &str = r#"
name = "test"

[time]
frames = 12
substeps = 2

[groom.style]
preset = "wavy"
strands = 80
vertices = 12

[groom]
body = "head"

[groom.guides]
fraction = 0.25

[[body]]
name = "head"
figure = "bust"
motion = { builtin = "head-turn", part = "head", delay = 0.0 }
color = [0.8, 0.6, 0.5]

[[body]]
name = "left arm"
shape = "sphere"
radius = 0.05
position = [0.2, 1.4, 0.0]
motion.keyframes = [{ time = 0.0 }, { time = 0.5, position = [-0.1, 0.0, 0.1], rotation_degrees = [0, 50, 0] }]

[output]
velocities = true
"#;

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

/// Fails unless two layers have the same prims, attributes, times and values, bit for bit; returns how many samples
/// were compared.
pub(crate) fn assert_same_layers(a: &Path, b: &Path) -> usize {
    let (a, b) = (Layer::open(a).unwrap(), Layer::open(b).unwrap());
    for name in ["startTimeCode", "endTimeCode", "timeCodesPerSecond", "customLayerData"] {
        assert_eq!(a.metadata(name).unwrap(), b.metadata(name).unwrap(), "{name}");
    }
    assert_eq!(a.prims().unwrap().len(), b.prims().unwrap().len());
    let mut compared = 0;
    for prim in a.prims().unwrap() {
        let other = b.prim(prim.path().as_str()).unwrap();
        let attributes = prim.attributes().unwrap();
        assert_eq!(attributes.len(), other.attributes().unwrap().len());
        for attribute in attributes {
            let other = other.attribute(attribute.name()).unwrap();
            let name = attribute.path();
            assert_eq!(bits(attribute.default().unwrap()), bits(other.default().unwrap()), "{name}");
            assert_eq!(attribute.times().unwrap(), other.times().unwrap(), "{name}");
            for index in 0..attribute.times().unwrap().len() {
                let (a, b) = (attribute.sample(index).unwrap(), other.sample(index).unwrap());
                assert!(bits(Some(a)) == bits(Some(b)), "{name}, sample {index}");
                compared += 1;
            }
        }
    }
    compared
}

/// A value in which −0 is not 0.
fn bits(value: Option<Value>) -> String {
    match value {
        Some(Value::Vec3fArray(values)) => {
            let bits: Vec<u32> = values.as_flattened().iter().map(|value| value.to_bits()).collect();
            format!("{bits:?}")
        }
        other => format!("{other:?}"),
    }
}
