//! The example scenes, a few frames of each with little hair: nothing stretches, nothing sinks into a body.

use std::path::PathBuf;

use hairloom::scene::{Attach, GroomSource, Scene};
use hairloom::simulate::Simulation;
use hairloom_io::Folder;
use toml::Value;

const FRAMES: u32 = 8;
/// Largest relative change of an edge's length.
const STRETCH: f64 = 1.0e-5;
/// The same of elastic rods, which stretch by their own inertia.
const STRETCH_OF_RODS: f64 = 1.0e-3;
/// The same of rods whose stiffness against stretching is the softer one that single precision bears.
const STRETCH_OF_SOFT_RODS: f64 = 1.0e-2;
/// The same of vertices on curves: chords are shorter than arcs by (κ h)² / 24, a curl of 1 cm within edges of 5 mm by a hundredth.
const SHORTENING_OF_CURVES: f64 = 2.0e-2;
/// The same of strands that are held at both ends.
const STRETCH_BETWEEN_ENDS: f64 = 1.0e-3;
/// Deepest place inside a body's true surface [m].
const PENETRATION: f64 = 1.0e-4;

/// The scene with at most so many strands.
fn thinned(text: &str, name: &str) -> Scene {
    let scene = Scene::from_toml(text, name).unwrap();
    let strands = if scene.groom.guides.is_some() { 1500 } else { 120 };
    let few = |place: &str| vec![(format!("{place}.strands"), Value::Integer(strands))];
    let mut overrides = match &scene.groom.source {
        GroomSource::File(_) => return scene,
        GroomSource::Builtin(_) => few("groom.builtin"),
        GroomSource::Style(style) if text.contains("[groom.style]") => {
            assert!(style.style().is_ok());
            few("groom.style")
        }
        GroomSource::Style(style) => {
            let table = [("preset", Value::from(style.preset.name())), ("strands", Value::Integer(strands))];
            let table = table.map(|(key, value)| (key.to_owned(), value)).into_iter().collect();
            vec![("groom.style".to_owned(), Value::Table(table))]
        }
    };
    if scene.solver.method == "der-mpm" {
        // Lengths are held by stiffness alone: a bound would make the limit say nothing.
        overrides.push(("solver.most_stretch".to_owned(), Value::Float(0.5)));
    }
    Scene::from_toml_with(text, name, &overrides).unwrap()
}

#[test]
fn no_example_stretches_or_sinks() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let mut broken = Vec::new();
    for file in &files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let scene = thinned(&std::fs::read_to_string(file).unwrap(), &name);
        let method = scene.solver.method.clone();
        let both_ends = scene.groom.attach == Attach::BothEnds;
        let frames = scene.time.frames.min(FRAMES);
        let mut simulation = Simulation::new(scene, &Folder::of_scene(file)).unwrap();
        for _ in 0..frames {
            let report = simulation.advance().unwrap();
            let (measures, frame) = (report.measures, report.frame);
            let stretch = match (both_ends, method.as_str()) {
                (true, _) => STRETCH_BETWEEN_ENDS,
                (_, "admm" | "xpbd-mpm") => STRETCH_OF_RODS,
                (_, "der-mpm") => STRETCH_OF_SOFT_RODS,
                (_, "nsgs") => SHORTENING_OF_CURVES,
                _ => STRETCH,
            };
            let limits = [
                ("stretch", measures.stretch, stretch),
                ("penetration", measures.penetration, PENETRATION),
                ("written penetration", measures.written.penetration, PENETRATION),
            ];
            for (what, worst, limit) in limits.into_iter().filter(|(_, worst, limit)| worst.value > *limit) {
                broken.push(format!("{name}, frame {frame}: {what} {worst:?} over {limit}"));
            }
        }
    }
    assert!(files.len() >= 20 && broken.is_empty(), "{}", broken.join("\n"));
}
