//! Bad input: exit code 2, and one message that says what was wrong and what was expected.

use std::fs;
use std::process::{Output, Stdio};

use crate::common::{errors, hairloom};

/// Runs `sim` on a scene with this text.
fn sim(scene: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scene.toml");
    fs::write(&path, scene).expect("a scene");
    let mut command = hairloom();
    command.arg("sim").arg(path).args(arguments).arg("--out").arg(folder.path().join("out.usdc"));
    command.output().expect("the command starts")
}

/// Checks code, message and that nothing else was said.
#[track_caller]
fn assert_refused(output: &Output, parts: &[&str]) {
    let text = errors(output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(output.stdout.is_empty());
    for part in parts {
        assert!(text.contains(part), "'{part}' is not in: {text}");
    }
    assert!(
        !text.contains("panicked") && !text.contains("RUST_BACKTRACE") && !text.contains("Error {"),
        "{text}"
    );
}

const BALL: &str = "[groom]\nstyle = 'straight'\n[[body]]\nname = 'ball'\nfigure = 'ball'\n";

#[test]
fn scenes_that_cannot_be() {
    let missing = hairloom().args(["sim", "no-such.toml"]).output().expect("the command starts");
    assert_refused(&missing, &["no-such.toml"]);
    assert_refused(&sim("groom = [", &[]), &["scene.toml:1", "TOML"]);
    assert_refused(
        &sim(&format!("{BALL}frictoin = 1\n"), &[]),
        &["scene.toml:6:1", "frictoin", "Did you mean 'friction'"],
    );
    assert_refused(&sim(&format!("{BALL}[time]\nfps = 0\n"), &[]), &["scene.toml:7:1", "time.fps"]);
    assert_refused(&sim(&format!("{BALL}[time]\nsubsteps = 0\n"), &[]), &["time.substeps"]);
    assert_refused(&sim(BALL, &["--set", "time.fps=0"]), &["--set time.fps=0"]);
    assert_refused(&sim(BALL, &["--set", "time.fps=1e300"]), &["--set time.fps=1e300: "]);
    assert_refused(&sim(BALL, &["--solver", "magic"]), &["--solver", "magic", "ftl"]);
    let with_solver = format!("{BALL}[solver]\nmethod = 'ftl'\n");
    let refused = sim(&with_solver, &["--set", "solver.method=magic"]);
    assert_refused(&refused, &["--set solver.method=\"magic\"", "no solver 'magic'"]);
    assert_refused(
        &sim(&with_solver, &["--set", "solver.bending=9"]),
        &["--set solver.bending=9", "from 0 to 1"],
    );
    assert_refused(&sim(&with_solver.replace("ftl", "flt"), &[]), &["scene.toml:7:1", "Did you mean 'ftl'?"]);
    assert_refused(&sim(BALL, &["--set", "time.substeps=4000000000"]), &["time.substeps", "10000"]);
    assert_refused(&sim(BALL, &["--set", "body.0.position=[1e30, 0, 0]"]), &["nearer to the origin"]);
    assert_refused(&sim(BALL, &["--set", "material.radius=1e30"]), &["--set material.radius=1e30"]);
    assert_refused(&sim(BALL, &["--set", "groom.style={preset='straight', strands=0}"]), &["strands"]);
    assert_refused(&sim("[groom]\nfile = 'no.usdc'\n", &["--seed", "1"]), &["--seed", "no.usdc"]);
}

#[test]
fn grooms_that_cannot_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("a file");
        path.display().to_string()
    };
    let usda = |counts: &str, points: &str| {
        format!(
            "#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\ndef BasisCurves \"hair\"\n{{\n    uniform token type = \"linear\"\n    \
             int[] curveVertexCounts = [{counts}]\n    point3f[] points = [{points}]\n}}\n"
        )
    };
    // One strand of points in centimetres.
    let hair = |points: &[f32]| {
        let mut bytes = b"HAIR".to_vec();
        bytes.extend(
            [1, points.len() as u32 / 3, 2, points.len() as u32 / 3 - 1].iter().flat_map(|n| n.to_le_bytes()),
        );
        bytes.extend(0.01_f32.to_le_bytes());
        bytes.resize(128, 0);
        bytes.extend(points.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    };
    let mut truncated = b"HAIR".to_vec();
    truncated.extend([100u32, 1000, 2, 9].iter().flat_map(|number| number.to_le_bytes()));
    truncated.resize(128 + 50, 0);
    let cases = [
        (file("empty.usda", usda("", "").as_bytes()), "no strands"),
        (file("nan.usda", usda("2", "(0, 0, 0), (nan, 0, 0)").as_bytes()), "not finite"),
        (file("far.usda", usda("2", "(0, 0, 0), (0, 1e30, 0)").as_bytes()), "strand 0, vertex 1"),
        (file("far.hair", &hair(&[0.0, 0.0, 0.0, 1e30, 0.0, 0.0])), "units"),
        (file("nan.hair", &hair(&[0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0])), "strand 0, vertex 1"),
        (file("dot.hair", &hair(&[0.0; 6])), "two distinct vertices"),
        (file("cut.hair", &truncated), "cut.hair"),
        (file("text.usdc", b"this is no USD file"), "text.usdc"),
        (file("none.usdc", b""), "none.usdc"),
        (folder.path().join("missing.hair").display().to_string(), "missing.hair"),
        (file("groom.fbx", b""), "groom.fbx"),
    ];
    for (groom, part) in cases {
        assert_refused(&sim(&format!("[groom]\nfile = '{groom}'\n"), &[]), &["scene.toml", part]);
        let out = folder.path().join("out.usdc");
        let convert = hairloom().args(["groom", "convert", &groom]).arg(out).output();
        // Strands without length are converted as they are.
        if !groom.contains("dot") {
            assert_refused(&convert.expect("the command starts"), &[part]);
        }
        let out = folder.path().join("out.png");
        let render = hairloom().args(["render", &groom, "-o"]).arg(out).output().expect("the command starts");
        // Pictures are of what is there, so that nothing to simulate is nothing to draw.
        assert_refused(&render, &[if groom.contains("empty") { "nothing to draw" } else { part }]);
    }
}

#[test]
fn arguments_that_cannot_be() {
    let cases: &[(&[&str], &str)] = &[
        (&["sim"], "SCENE"),
        (&["sim", "scenes/walk.toml", "--set", "fps"], "key=value"),
        (&["sim", "scenes/walk.toml", "--set", "a=[1"], "TOML"),
        (&["sim", "scenes/walk.toml", "--frames", "0"], "--frames"),
        (&["sim", "scenes/walk.toml", "--frames", "-1"], "-1 is not in"),
        (&["sim", "scenes/walk.toml", "--solver", "xpdb"], "--solver"),
        (&["sim", "scenes/grooms"], "scenes/grooms"),
        (&["sim", "docs/demo.png"], "TOML"),
        (&["render", "scenes/grooms/fringe.usda", "-o", "/dev/null", "--thickness", "nan"], "--thickness"),
        (&["render", "scenes/grooms", "-o", "/dev/null"], "scenes/grooms"),
        (&["sim", "scenes/walk.toml", "--threads", "0"], "--threads"),
        (&["sim", "scenes/walk.toml", "--out", "x.mov"], "x.mov"),
        (&["demo", "--size", "0x5"], "1280x720"),
        (&["render", "scenes/grooms/fringe.usda", "-o", "/dev/null", "--frame", "9"], "--frame"),
        (&["render", "scenes/grooms/fringe.usda", "-o", "/dev/null", "--camera", "behind"], "three-quarter"),
        (&["render", "scenes/grooms/fringe.usda", "-o", "/dev/null", "--color", "mauve"], "auburn"),
        (&["render", "scenes/grooms/fringe.usda", "-o", "/dev/null", "--size", "90000x90000"], "pixels"),
        (&["groom", "make", "-o", "x.usdc", "--style", "mullet"], "ponytail"),
        (&["groom", "make", "-o", "x.usdc", "--figure", "cat"], "bust"),
        (&["groom", "make", "-o", "x.usdc", "--set", "lenght=1"], "--set lenght=1: "),
        (
            &["groom", "make", "-o", "x.usdc", "--mesh", "none.obj"],
            "'none.obj' is not there; looked in the current folder",
        ),
        (&["lab", "nope"], "Did you mean 'rope'?"),
        (&["lab", "rope", "--set", "particles=nan"], "a whole number"),
        (&["lab", "roqe"], "rope"),
        (&["bench", "strand"], "strands"),
        (&["lab", "rope", "--set", "particels=9"], "particles"),
        (&["dance"], "dance"),
    ];
    for (arguments, part) in cases {
        let output = hairloom().args(*arguments).output().expect("the command starts");
        assert_refused(&output, &[part]);
    }
}

#[test]
fn outputs_that_cannot_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let scene = folder.path().join("scene.toml");
    fs::write(&scene, BALL).expect("a scene");
    let taken = folder.path().join("taken.usda");
    fs::create_dir(&taken).expect("a folder");
    for option in ["--out", "--report"] {
        let mut command = hairloom();
        command.arg("sim").arg(&scene).args(["--frames", "1"]).arg(option).arg(&taken);
        if option == "--report" {
            command.arg("--out").arg(folder.path().join("out.usda"));
        }
        assert_refused(&command.output().expect("the command starts"), &["taken.usda", "folder"]);
    }
    let mut command = hairloom();
    command.arg("sim").arg(&scene).arg("--out").arg(scene.join("under-a-file.usdc"));
    assert_refused(&command.output().expect("the command starts"), &["scene.toml"]);
}

#[cfg(unix)]
#[test]
fn nobody_reads_the_output() {
    for arguments in [&["lab"][..], &["groom", "info", "scenes/grooms/fringe.usda"], &["--help"]] {
        let mut command = hairloom();
        let mut child =
            command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ends");
        assert!(!errors(&output).contains("panicked"), "{}", errors(&output));
        assert_eq!(output.status.code(), Some(0));
    }
}
