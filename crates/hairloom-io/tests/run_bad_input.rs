//! Runs that cannot be: one clear message that names the file and the fault, no panic, and nothing replaced.

mod run_common;

use std::fs;
use std::path::Path;

use hairloom_io::run::{RunError, RunOptions, checkpoint_path};
use hairloom_io::{cache::Cache, checkpoint};
use run_common::{SMALL, options, run_until};

/// A scene that reads its groom from a file.
fn with_groom(file: &str) -> String {
    format!("[time]\nframes = 2\n[groom]\nfile = \"{file}\"\n[[body]]\nname = \"b\"\nshape = \"plane\"\n")
}

/// Runs what cannot run: the message, which must have these parts, from a run that leaves its output alone.
#[track_caller]
fn refuse(folder: &Path, text: &str, parts: &[&str]) {
    let options = options(folder, text, "out.usdc");
    fs::write(options.out.as_ref().unwrap(), "an older result").unwrap();
    let (result, ..) = run_until(&options, None);
    let error = result.unwrap_err();
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "no '{part}' in: {message}");
    }
    assert!(error.is_bad_input(), "{error:?}");
    assert_eq!(fs::read_to_string(options.out.unwrap()).unwrap(), "an older result");
}

/// Curves in a text layer.
fn layer(counts: &str, points: &str) -> String {
    format!(
        "#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\ndef BasisCurves \"Hair\"\n{{\n    \
         uniform token type = \"linear\"\n    int[] curveVertexCounts = [{counts}]\n    \
         point3f[] points = [{points}]\n}}\n"
    )
}

#[test]
fn scenes_that_say_what_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    refuse(folder, "[time]\nframe = 3\n", &["scene.toml:2:1", "frame", "frames"]);
    refuse(folder, "[groom\n", &["scene.toml:1", "TOML"]);
    refuse(
        folder,
        &SMALL.replace("[groom]", "[solver]\nmethod = \"fem\"\n[groom]"),
        &["scene.toml", "fem", "ftl"],
    );
    let missing = RunOptions { scene: folder.join("nowhere.toml"), ..RunOptions::default() };
    let error = run_until(&missing, None).0.unwrap_err();
    assert!(error.to_string().contains("nowhere.toml") && error.is_bad_input(), "{error}");
    fs::write(folder.join("nowhere.toml"), [0xff, 0xfe, 0]).unwrap();
    let error = run_until(&missing, None).0.unwrap_err();
    assert!(error.to_string().contains("UTF-8"), "{error}");
}

#[test]
fn files_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display().to_string();
    refuse(
        folder.path(),
        &with_groom("gone.usda"),
        &["scene.toml", "groom", "'gone.usda' is not there", &place],
    );
    refuse(folder.path(), &with_groom("."), &["not a regular file"]);
    let mesh = SMALL.replace("shape = \"sphere\"\nradius = 0.05", "mesh = \"gone.obj\"");
    refuse(folder.path(), &mesh, &["body 'ball'", "'gone.obj' is not there", &place]);
    fs::write(folder.path().join("hair.fbx"), "").unwrap();
    refuse(
        folder.path(),
        &with_groom("hair.fbx"),
        &["hair.fbx", ".usdz, .abc, .hair, .tfx, .data, .ply or .obj"],
    );
}

#[test]
fn grooms_that_are_broken() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let put = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    put("empty.usda", layer("", "").as_bytes());
    refuse(folder, &with_groom("empty.usda"), &["groom", "no strands"]);
    put("none.usda", b"#usda 1.0\n\ndef Xform \"World\"\n{\n}\n");
    refuse(folder, &with_groom("none.usda"), &["none.usda", "BasisCurves"]);
    put("nan.usda", layer("2, 2", "(0,0,0), (0,1,0), (1,0,0), (1, nan, 0)").as_bytes());
    refuse(folder, &with_groom("nan.usda"), &["strand 1", "vertex 1", "not finite"]);
    let text = layer("2, 2", "(0,0,0), (0,1,0), (1,0,0), (1,1,0)");
    put("cut.usda", &text.as_bytes()[..text.len() / 2]);
    refuse(folder, &with_groom("cut.usda"), &["cut.usda:", "expected"]);
    put("counts.usda", layer("2, 3", "(0,0,0), (0,1,0), (1,0,0), (1,1,0)").as_bytes());
    refuse(folder, &with_groom("counts.usda"), &["counts.usda", "/Hair", "curveVertexCounts[1] is 3"]);
    put("negative.usda", layer("-2", "(0,0,0)").as_bytes());
    refuse(folder, &with_groom("negative.usda"), &["curveVertexCounts[0] is -2"]);
    put("zero.usdc", b"");
    refuse(folder, &with_groom("zero.usdc"), &["zero.usdc", "not a USD layer"]);
    // A header that claims a billion strands and four billion points, and nothing behind it.
    let mut header = b"HAIR".to_vec();
    for number in [1_000_000_000_u32, 4_000_000_000, 2, 3] {
        header.extend(number.to_le_bytes());
    }
    header.resize(128, 0);
    put("billion.hair", &header);
    refuse(folder, &with_groom("billion.hair"), &["billion.hair", "1000000000 strands", "cut off"]);
}

#[test]
fn meshes_that_are_broken() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "#usda 1.0\ndef Mesh \"M\"\n{\n    point3f[] points = [(0,0,0), (1,0,0), (0,1,0)]\n    \
                int[] faceVertexCounts = [3]\n    int[] faceVertexIndices = [0, 1, 7]\n}\n";
    fs::write(folder.path().join("mesh.usda"), mesh).unwrap();
    let scene = SMALL.replace("shape = \"sphere\"\nradius = 0.05", "mesh = \"mesh.usda\"");
    refuse(folder.path(), &scene, &["body 'ball'", "mesh.usda", "/M", "faceVertexIndices[2] is 7"]);
    fs::write(folder.path().join("mesh.usda"), mesh.replace("[3]", "[2000000000]")).unwrap();
    refuse(folder.path(), &scene, &["faceVertexIndices[2] is 7"]);
    fs::write(folder.path().join("mesh.usda"), mesh.replace("7]", "2]").replace("[3]", "[4]")).unwrap();
    refuse(folder.path(), &scene, &["faceVertexCounts[0] is 4"]);
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |out: &str, parts: &[&str]| {
        let (result, ..) = run_until(&options(folder.path(), SMALL, out), None);
        let message = result.unwrap_err().to_string();
        parts.iter().for_each(|part| assert!(message.contains(part), "no '{part}' in: {message}"));
    };
    refused("out.mp4", &["out.mp4", ".usdc, .usda, .usd, .abc or .hair"]);
    refused("out", &[".usdc, .usda, .usd, .abc or .hair"]);
    // A folder stands where the file should go, and a file where the folder should go.
    fs::create_dir(folder.path().join("taken.usdc")).unwrap();
    refused("taken.usdc", &["taken.usdc: this is a folder"]);
    fs::write(folder.path().join("file"), "").unwrap();
    refused("file/out.usda", &["cannot write", "file"]);
    refused("file/out.hair", &["cannot write", "file"]);
    let mut options = options(folder.path(), SMALL, "out.usdc");
    options.report = Some(folder.path().join("taken.usdc"));
    let error = run_until(&options, None).0.unwrap_err();
    assert!(matches!(error, RunError::OutputIsFolder { .. }), "{error:?}");
    assert!(
        !folder.path().join("out.usdc").exists(),
        "nothing is simulated before the report can be written"
    );
}

#[test]
fn the_output_never_replaces_what_the_scene_reads() {
    let folder = tempfile::tempdir().unwrap();
    let text = layer("2, 2", "(0,0,0), (0,1,0), (1,0,0), (1,1,0)");
    fs::write(folder.path().join("hair.usda"), &text).unwrap();
    let (result, ..) = run_until(&options(folder.path(), &with_groom("hair.usda"), "hair.usda"), None);
    assert!(matches!(result, Err(RunError::OutputIsInput { .. })), "{result:?}");
    assert_eq!(fs::read_to_string(folder.path().join("hair.usda")).unwrap(), text);
    // Frames of a .hair cache would replace the groom, too.
    let groom = hairloom::groom::hairy_ball(5, 0);
    hairloom_io::hair::write(folder.path().join("h.0000.hair"), &groom, &Default::default()).unwrap();
    let (result, ..) = run_until(&options(folder.path(), &with_groom("h.0000.hair"), "h.hair"), None);
    assert!(matches!(result, Err(RunError::OutputIsInput { .. })), "{result:?}");
    let mut options = options(folder.path(), SMALL, "out.usdc");
    for report in ["scene.toml", "out.usdc"] {
        options.report = Some(folder.path().join(report));
        let (result, ..) = run_until(&options, None);
        assert!(matches!(result, Err(RunError::OutputIsInput { .. })), "{result:?}");
    }
}

#[test]
fn a_run_that_never_began_leaves_the_report_of_an_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), SMALL, "out.usdc");
    let report = folder.path().join("report.json");
    options.report = Some(report.clone());
    run_until(&options, None).0.unwrap();
    let complete = fs::read_to_string(&report).unwrap();
    options.resume = true;
    assert!(run_until(&options, None).0.unwrap().already_complete);
    assert_eq!(fs::read_to_string(&report).unwrap(), complete);
}

#[test]
fn checkpoints_and_caches_that_are_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), SMALL, "out.usdc");
    run_until(&options, Some(2)).0.unwrap();
    options.resume = true;
    let out = options.out.clone().unwrap();
    let path = checkpoint_path(&out);
    let good = fs::read(&path).unwrap();
    let cache = fs::read(&out).unwrap();
    // Every cut, and a flipped bit in every byte, is noticed.
    for length in 0..good.len() {
        if length < 200 || length % 97 == 0 {
            fs::write(&path, &good[..length]).unwrap();
            assert!(checkpoint::read(&path).is_err(), "cut to {length}");
        }
    }
    for index in (0..good.len()).step_by(good.len() / 300 + 1) {
        let mut bad = good.clone();
        bad[index] ^= 1 << (index % 8);
        fs::write(&path, &bad).unwrap();
        assert!(checkpoint::read(&path).is_err(), "byte {index}");
    }
    let message = run_until(&options, None).0.unwrap_err().to_string();
    assert!(message.contains("out.usdc.checkpoint") && message.contains("--resume"), "{message}");

    fs::write(&path, &good).unwrap();
    fs::write(&out, &cache[..cache.len() / 2]).unwrap();
    let message = run_until(&options, None).0.unwrap_err().to_string();
    assert!(message.contains("out.usdc"), "{message}");
    fs::remove_file(&out).unwrap();
    let message = run_until(&options, None).0.unwrap_err().to_string();
    assert!(message.contains("out.usdc"), "{message}");
    fs::write(&out, &cache).unwrap();
    assert_eq!(run_until(&options, None).0.unwrap().last_frame, 4);
    assert_eq!(Cache::open(&out).unwrap().frames(), 5);
}
