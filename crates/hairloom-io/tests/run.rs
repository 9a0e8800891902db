//! Whole runs: from a scene's file to a cache, stopped, resumed, failed, reported.

mod python_common;
mod run_common;

use std::fs;
use std::path::Path;
use std::process::Command;

use hairloom_io::cache::Cache;
use hairloom_io::run::{RunError, RunOptions, Status, checkpoint_path};
use hairloom_io::usd::{Layer, Value};
use run_common::{SMALL, options, run_until};
use serde_json::Value as Json;

/// Guides and followers on a head that deforms, a ball that moves as a whole, velocities in the cache.
const SCENE: &str = r#"
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

/// Fails unless two layers have the same prims, attributes, times and values, bit for bit; returns how many samples
/// were compared.
fn assert_same_layers(a: &Path, b: &Path) -> usize {
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

#[test]
fn a_run_that_was_stopped_and_resumed_equals_an_unbroken_one_bit_for_bit() {
    for extension in ["usda", "usdc"] {
        let folder = tempfile::tempdir().unwrap();
        let whole = options(folder.path(), SCENE, &format!("whole.{extension}"));
        let (result, first, frames, _) = run_until(&whole, None);
        let summary = result.unwrap();
        assert_eq!((first, frames, summary.status), (1, (1..=12).collect(), Status::Complete));
        assert_eq!((summary.frames_written, summary.frames_total, summary.last_frame), (13, 13, 12));
        assert!(!checkpoint_path(&summary.out).exists());

        let mut parts = options(folder.path(), SCENE, &format!("parts.{extension}"));
        let (result, _, frames, _) = run_until(&parts, Some(5));
        let summary = result.unwrap();
        assert_eq!((frames.len(), summary.status, summary.interrupted), (5, Status::Interrupted, true));
        assert_eq!(Cache::open(&summary.out).unwrap().frames(), 6);
        let at_five = fs::read(checkpoint_path(&summary.out)).unwrap();

        // Stopped again at 9, but the process died and left the checkpoint of frame 5 beside 9 frames.
        parts.resume = true;
        let (result, first, frames, _) = run_until(&parts, Some(9));
        assert_eq!((result.unwrap().frames_written, first, frames), (4, 6, vec![6, 7, 8, 9]));
        fs::write(checkpoint_path(&summary.out), at_five).unwrap();
        let (result, first, frames, warnings) = run_until(&parts, None);
        assert_eq!(result.unwrap().status, Status::Complete);
        assert_eq!((first, frames, warnings.len()), (6, (6..=12).collect(), 0));
        // Points, velocities and extent of the hair, points and extent of the head, transform of the ball.
        assert_eq!(assert_same_layers(&whole.out.unwrap(), &summary.out), 6 * 13);
    }
}

#[test]
fn a_complete_run_is_not_run_again_and_a_run_without_a_checkpoint_starts_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), SMALL, "small.usdc");
    options.resume = true;
    let (result, first, _, warnings) = run_until(&options, None);
    assert_eq!((result.unwrap().frames_written, first), (5, 1));
    assert!(warnings.iter().any(|text| text.contains("no checkpoint")), "{warnings:?}");
    let before = fs::metadata(options.out.as_ref().unwrap()).unwrap().modified().unwrap();

    let (result, _, frames, warnings) = run_until(&options, None);
    let summary = result.unwrap();
    assert!(summary.already_complete && frames.is_empty());
    assert!(warnings.iter().any(|text| text.contains("complete already")), "{warnings:?}");
    assert_eq!(fs::metadata(options.out.as_ref().unwrap()).unwrap().modified().unwrap(), before);

    // Another scene is not complete because a file of the same name is there.
    options.overrides = vec![("solver.damping".into(), toml::Value::Float(1.0))];
    assert_eq!(run_until(&options, None).0.unwrap().frames_written, 5);
}

#[test]
fn more_frames_can_be_asked_for_on_resuming_but_no_other_scene() {
    let folder = tempfile::tempdir().unwrap();
    let mut parts = options(folder.path(), SMALL, "small.usdc");
    run_until(&parts, Some(2)).0.unwrap();
    parts.resume = true;
    parts.overrides = vec![("time.substeps".into(), toml::Value::Integer(3))];
    let (result, ..) = run_until(&parts, None);
    assert!(matches!(result, Err(RunError::OtherScene { .. })), "{result:?}");
    assert_eq!(Cache::open(parts.out.as_ref().unwrap()).unwrap().frames(), 3, "the cache stays");
    parts.overrides = vec![("time.frames".into(), toml::Value::Integer(7))];
    let (result, first, ..) = run_until(&parts, None);
    assert_eq!((result.unwrap().last_frame, first), (7, 3));
    assert_eq!(Cache::open(parts.out.as_ref().unwrap()).unwrap().frames(), 8);
}

#[test]
fn hair_files_are_numbered_by_frame_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    // Left by an older and longer run of the same name; the other name is somebody else's.
    fs::write(folder.path().join("small.0099.hair"), "old").unwrap();
    fs::write(folder.path().join("small.99.hair"), "other").unwrap();
    let whole = options(folder.path(), SMALL, "whole.hair");
    run_until(&whole, None).0.unwrap();
    let mut parts = options(folder.path(), SMALL, "small.hair");
    run_until(&parts, Some(2)).0.unwrap();
    parts.resume = true;
    let (result, first, ..) = run_until(&parts, None);
    assert_eq!((result.unwrap().frames_written, first), (2, 3));
    let [whole, parts] = [whole, parts].map(|options| Cache::open(options.out.unwrap()).unwrap());
    assert_eq!((whole.frames(), parts.frames()), (5, 5));
    for frame in 0..5 {
        assert_eq!(whole.frame(frame).unwrap().groom, parts.frame(frame).unwrap().groom);
    }
    let moved = |frame: usize| whole.frame(frame).unwrap().groom.curves.points;
    assert_ne!(moved(0), moved(4));
    assert!(folder.path().join("small.99.hair").exists());
}

/// Gravity leaves the world of single precision after frame 3.
const DIVERGING: &str = r#"
[gravity]
keyframes = [
    { time = 0.0, value = [0.0, -9.81, 0.0] },
    { time = 0.1, value = [0.0, -9.81, 0.0] },
    { time = 0.125, value = [0.0, -1e38, 0.0] },
]
"#;

#[test]
fn a_run_that_fails_keeps_its_frames_and_says_where() {
    for extension in ["usda", "usdc", "hair"] {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path(), &[SMALL, DIVERGING].concat(), &format!("out.{extension}"));
        options.report = Some(folder.path().join("report.json"));
        let (result, _, frames, _) = run_until(&options, None);
        let error = result.unwrap_err();
        assert!(matches!(error, RunError::Failed { kept: 4, .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("frame 4") && text.contains("strand") && text.contains("vertex"), "{text}");
        assert_eq!((frames, error.is_bad_input()), (vec![1, 2, 3], false));
        let cache = Cache::open(options.out.as_ref().unwrap()).unwrap();
        assert_eq!(cache.frames(), 4);
        assert!(cache.frame(3).unwrap().groom.curves.points.iter().all(|point| point.is_finite()));
        let report = report(options.report.as_deref().unwrap());
        assert_eq!(report["status"], "failed");
        assert_eq!(report["failed"]["frame"], 4);
        assert!(report["failed"]["strand"].is_u64() && report["failed"]["vertex"].is_u64());
        assert_eq!(report["frames"].as_array().unwrap().len(), 3);
    }
}

fn report(path: &Path) -> Json {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_report_tells_frames_totals_and_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), SMALL, "new/folder/small.usdc");
    options.report = Some(folder.path().join("other/report.json"));
    let summary = run_until(&options, None).0.unwrap();
    let report = report(options.report.as_deref().unwrap());
    assert_eq!((&report["scene"], &report["solver"]), (&"small".into(), &"ftl".into()));
    assert_eq!((&report["status"], &report["strands"]), (&"complete".into(), &20.into()));
    let frames = report["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 4);
    let stretch = frames.iter().map(|frame| frame["measures"]["stretch"]["value"].as_f64().unwrap());
    assert_eq!(report["totals"]["stretch"]["value"], stretch.fold(0.0, f64::max));
    let phases: f64 = summary.phases.iter().map(|phase| phase.seconds).sum();
    assert!(
        phases > 0.0 && phases <= summary.simulation_seconds && summary.simulation_seconds <= summary.seconds
    );
    if cfg!(target_os = "linux") {
        assert!(report["totals"]["peak_memory_bytes"].as_u64().unwrap() > 1 << 20);
    }
}

#[test]
fn the_report_of_a_run_that_was_resumed_covers_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let whole = RunOptions {
        report: Some(folder.path().join("whole.json")),
        ..options(folder.path(), SCENE, "whole.usdc")
    };
    run_until(&whole, None).0.unwrap();
    // The first part is asked for no report.
    let mut parts = options(folder.path(), SCENE, "parts.usdc");
    let first = run_until(&parts, Some(5)).0.unwrap();
    parts.resume = true;
    parts.report = Some(folder.path().join("parts.json"));
    let last = run_until(&parts, None).0.unwrap();
    assert!(last.seconds > first.seconds && last.simulation_seconds > first.simulation_seconds);

    let [whole, parts] = [whole, parts].map(|options| report(options.report.as_deref().unwrap()));
    let frames = |report: &Json| report["frames"].as_array().unwrap().clone();
    assert_eq!((frames(&whole).len(), frames(&parts).len()), (12, 12));
    for (a, b) in frames(&whole).iter().zip(&frames(&parts)) {
        for key in ["frame", "time", "measures"] {
            assert_eq!(a[key], b[key], "{key} of {}", a["frame"]);
        }
    }
    for key in [
        "status",
        "stretch",
        "penetration",
        "largest_kinetic_energy",
        "last_energy",
        "contacts",
        "last_frame",
    ] {
        assert_eq!(whole["totals"][key], parts["totals"][key], "{key}");
    }
    let sum: f64 = frames(&parts).iter().map(|frame| frame["seconds"].as_f64().unwrap()).sum();
    assert!((parts["totals"]["simulation_seconds"].as_f64().unwrap() - sum).abs() < 1e-9);
}

#[test]
fn figures_are_written_and_read_with_the_colours_of_their_skin() {
    for extension in ["usda", "usdc"] {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path(), SCENE, &format!("out.{extension}"));
        let text = SCENE.replace("color = [0.8, 0.6, 0.5]\n", "").replace("frames = 12", "frames = 1");
        options.scene = run_common::scene(folder.path(), &text);
        let summary = run_until(&options, None).0.unwrap();
        let frame = Cache::open(&summary.out).unwrap().frame(1).unwrap();
        let bust = hairloom::figure::by_name("bust").unwrap();
        let skin: Vec<[f32; 3]> = bust.colour.iter().map(|color| color.to_array()).collect();
        assert_eq!((frame.bodies[0].color, &frame.bodies[0].point_colors), (None, &skin));
        assert!(bust.colour.iter().any(|color| *color != bust.colour[0]));
        let ball = &frame.bodies[1];
        assert!(ball.color.is_some() && ball.point_colors.is_empty(), "a shape has one colour");
    }
}

#[test]
fn caches_are_read_back_with_bodies_in_the_world() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), SCENE, "test.usdc");
    let summary = run_until(&options, None).0.unwrap();
    let cache = Cache::open(&summary.out).unwrap();
    assert_eq!((cache.frames(), cache.fps()), (13, 24.0));
    let (start, end) = (cache.frame(0).unwrap(), cache.frame(12).unwrap());
    assert_eq!((start.groom.strands(), start.groom.widths.len()), (80, start.groom.vertices()));
    assert_eq!((start.time_code, end.time_code), (0.0, 12.0));
    let names: Vec<&str> = end.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["head", "left arm"]);
    assert_eq!(end.bodies[0].color, Some([0.8, 0.6, 0.5]));
    assert!(end.bodies[0].point_colors.is_empty());
    // Bodies are where the simulation has them.
    let scene = hairloom_io::run::read_scene(&options).unwrap();
    let simulation = hairloom::simulate::Simulation::new(scene, &hairloom::simulate::NoFiles).unwrap();
    for (frame, read) in [(0, &start), (12, &end)] {
        for (body, read) in read.bodies.iter().enumerate() {
            let points = simulation.body_points(body, frame);
            let far = points.iter().zip(&read.mesh.points).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            assert!(points.len() == read.mesh.points.len() && far < 1e-6, "{body} {frame} {far}");
            assert_eq!(read.mesh.triangles, simulation.body_views()[body].mesh.triangles);
        }
    }
    assert!(start.bodies[0].mesh.points != end.bodies[0].mesh.points, "the head turns");
    let error = cache.frame(13).unwrap_err().to_string();
    assert!(error.contains("no frame 13"), "{error}");
}

#[test]
fn roots_stay_on_the_head_in_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let summary = run_until(&options(folder.path(), SCENE, "test.usdc"), None).0.unwrap();
    let cache = Cache::open(&summary.out).unwrap();
    let gaps = |index: usize| -> Vec<f32> {
        let frame = cache.frame(index).unwrap();
        let near = |root: glam::Vec3| {
            frame.bodies[0].mesh.points.iter().map(|point| point.distance(root)).fold(f32::MAX, f32::min)
        };
        frame.groom.curves.root_points().into_iter().map(near).collect()
    };
    // The nearest vertex of the head's mesh carries the root along.
    for (start, end) in gaps(0).into_iter().zip(gaps(12)) {
        assert!((start - end).abs() < 2e-3, "{start} {end}");
    }
}

#[test]
#[ignore = "needs usd-core: cargo xtask test"]
fn pixars_validators_find_no_fault_in_caches() {
    let python = python_common::python();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/usd_check.py");
    for extension in ["usda", "usdc"] {
        let folder = tempfile::tempdir().unwrap();
        // Without a colour of the scene's own, the head has those of its skin.
        let text = SCENE.replace("color = [0.8, 0.6, 0.5]\n", "");
        let summary = run_until(&options(folder.path(), &text, &format!("out.{extension}")), None).0.unwrap();
        let output = Command::new(&python).arg(&script).arg(&summary.out).arg("--strict").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        let found: Json = serde_json::from_str(&text).unwrap();
        assert_eq!((&found["errors"], &found["warnings"]), (&Json::Array(vec![]), &Json::Array(vec![])));
        assert_eq!((&found["start"], &found["end"]), (&0.0.into(), &12.0.into()));
        let hair =
            found["prims"].as_array().unwrap().iter().find(|prim| prim["path"] == "/World/Hair").unwrap();
        assert_eq!(hair["attributes"]["points"]["samples"], 13);
        let head = |name: &str| {
            let prims = found["prims"].as_array().unwrap();
            let head = prims.iter().find(|prim| prim["path"] == "/World/Bodies/head").unwrap();
            head["attributes"]["primvars:displayColor"][name].clone()
        };
        assert_eq!((head("interpolation"), head("type")), ("vertex".into(), "color3f[]".into()));
        assert_eq!(hair["attributes"]["widths"]["interpolation"], "vertex");
    }
}

#[test]
fn a_scene_in_the_folder_names_its_cache_when_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let scene = run_common::scene(folder.path(), SMALL);
    let mut options = RunOptions { scene, ..RunOptions::default() };
    let read = hairloom_io::run::read_scene(&options).unwrap();
    assert_eq!(hairloom_io::run::output_path(&options, &read), Path::new("scene.usdc"));
    options.overrides = vec![("output.file".into(), "other.usda".into())];
    let read = hairloom_io::run::read_scene(&options).unwrap();
    assert_eq!(hairloom_io::run::output_path(&options, &read), Path::new("other.usda"));
}

#[test]
fn a_binary_cache_is_readable_while_the_run_goes_on() {
    struct Look(std::path::PathBuf, Vec<usize>);
    impl hairloom_io::run::Observer for Look {
        fn frame(&mut self, _: &hairloom::simulate::FrameReport, _: u32) {
            let layer = Layer::open(&self.0).unwrap();
            self.1.push(layer.attribute("/World/Hair.points").unwrap().times().unwrap().len());
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), SMALL, "small.usdc");
    let mut look = Look(options.out.clone().unwrap(), Vec::new());
    hairloom_io::run::run(&options, &mut look, &false.into()).unwrap();
    assert_eq!(look.1, [2, 3, 4, 5]);
}
