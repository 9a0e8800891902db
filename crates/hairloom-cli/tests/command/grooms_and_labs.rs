//! Grooms made, looked at, converted and drawn; experiments.

use std::path::Path;

use crate::common::{assert_done, errors, hairloom, png, run};
use serde_json::Value;

fn info(path: &Path) -> Value {
    let output = run(&format!("groom info {} --json -", path.display()));
    assert_done(&output);
    serde_json::from_slice(&output.stdout).expect("nothing but JSON")
}

#[test]
fn grooms_go_from_format_to_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let [usdc, hair, usda, abc] =
        ["a.usdc", "b.hair", "c.usda", "d.abc"].map(|name| folder.path().join(name));
    let make =
        format!("groom make -o {} --style bob --set strands=50 --set length=0.2 --seed 3", usdc.display());
    assert_done(&run(&make));
    assert_done(&run(&format!("groom convert {} {}", usdc.display(), hair.display())));
    assert_done(&run(&format!("groom convert {} {} --resample 9", hair.display(), usda.display())));
    assert_done(&run(&format!("groom convert {} {}", usdc.display(), abc.display())));
    let [first, second, third, fourth] = [&usdc, &hair, &usda, &abc].map(|path| info(path));
    assert_eq!((&first["bounds"], &first["widths"]), (&fourth["bounds"], &fourth["widths"]));
    for other in [&second, &third, &fourth] {
        assert_eq!(first["strands"], other["strands"]);
        let (a, b) = (first["mean_length"].as_f64(), other["mean_length"].as_f64());
        assert!((a.unwrap_or(0.0) - b.unwrap_or(1.0)).abs() < 2e-3, "{a:?} {b:?}");
    }
    assert_eq!(third["vertices"], 450);
    assert_eq!(first["lengths"]["high"].as_f64().map(|length| length < 0.201), Some(true));
}

#[test]
fn the_unit_and_the_axes_of_a_groom_can_be_said_and_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let [made, tfx, edited] = ["a.usdc", "b.tfx", "c.usdc"].map(|name| folder.path().join(name));
    assert_done(&run(&format!("groom make -o {} --style bob --set strands=20", made.display())));
    let convert = format!("groom convert {} {} --to-unit cm --to-up z", made.display(), tfx.display());
    assert_done(&run(&format!("{convert} --resample 8")));
    let mut edit = hairloom();
    edit.args(["groom", "edit", "--unit", "cm", "--up", "z", "--do", "length factor=1"]);
    assert_done(&edit.arg(&tfx).arg("-o").arg(&edited).output().expect("the command starts"));
    let (first, last) = (info(&made), info(&edited));
    for corner in 0..2 {
        for axis in 0..3 {
            let [a, b] = [&first, &last].map(|info| info["bounds"][corner][axis].as_f64().expect("a number"));
            assert!((a - b).abs() < 0.01, "{a} {b}");
        }
    }
    assert_eq!((first["unit"].as_f64(), first["up"].as_str()), (Some(1.0), Some("y")));
    assert!(first["time_range"].is_null() && first["problems"] == serde_json::json!([]), "{first}");
    let output = run(&format!("groom info {} --unit cm --up z", tfx.display()));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("unit        0.01 m in the file, z up"), "{text}");
    assert_eq!(run(&format!("groom info {} --unit ell", tfx.display())).status.code(), Some(2));
}

#[test]
fn conversion_with_a_body_writes_its_normals_at_the_roots() {
    let folder = tempfile::tempdir().expect("a folder");
    let [body, made, bare, back, still, moving, cache] =
        ["body.usdc", "a.usdc", "b.hair", "c.usdc", "d.abc", "e.usda", "f.abc"]
            .map(|name| folder.path().join(name));
    assert_done(&run(&format!("groom make -o {} --style bob --set strands=2 --body", body.display())));
    assert_done(&run(&format!("groom make -o {} --style bob --set strands=30", made.display())));
    assert_done(&run(&format!("groom convert {} {}", made.display(), bare.display())));
    let frames = "0: [(0, 1.7, 0), (0, 2, 0)], 1: [(0, 1.7, 0), (0.1, 2, 0)]";
    let text = "#usda 1.0\n(metersPerUnit = 1)\ndef BasisCurves \"Hair\" {\nuniform token type = \"linear\"\n\
                int[] curveVertexCounts = [2]\nfloat[] widths = [0.001] (interpolation = \"constant\")\n";
    std::fs::write(&moving, format!("{text}point3f[] points.timeSamples = {{ {frames} }}\n}}\n"))
        .expect("a file");
    let normals = |path: &std::path::Path| {
        let info = info(path);
        let all = info["attributes"].as_array().expect("a list").clone();
        all.iter()
            .filter(|attribute| attribute["name"] == "rootNormal")
            .map(|one| one["values"].clone())
            .collect()
    };
    let none: Vec<serde_json::Value> = normals(&bare);
    assert!(none.is_empty(), "{none:?}");
    for (from, to, strands) in [(&bare, &back, 30), (&bare, &still, 30), (&moving, &cache, 1)] {
        let convert = format!("groom convert {} {}", from.display(), to.display());
        assert_done(&run(&format!("{convert} --body {}", body.display())));
        assert_eq!(normals(to), [serde_json::json!(strands)], "{}", to.display());
    }
}

#[test]
fn caches_are_converted_with_all_their_frames() {
    let folder = tempfile::tempdir().expect("a folder");
    let [from, abc, back, hair] =
        ["a.usda", "b.abc", "c.usdc", "d.hair"].map(|name| folder.path().join(name));
    let text = "#usda 1.0\n(metersPerUnit = 1)\ndef BasisCurves \"Hair\" {\nuniform token type = \"linear\"\n\
                int[] curveVertexCounts = [2]\nfloat[] widths = [0.001] (interpolation = \"constant\")\n\
                point3f[] points.timeSamples = {\n24: [(0, 0, 0), (0, 1, 0)],\n25: [(0, 0, 0), (0, 2, 0)],\n\
                26: [(0, 0, 0), (0, 4, 0)],\n}\n}\n";
    std::fs::write(&from, text).expect("a file");
    assert_done(&run(&format!("groom convert {} {}", from.display(), abc.display())));
    assert_done(&run(&format!("groom convert {} {}", abc.display(), back.display())));
    for path in [&from, &abc, &back] {
        let info = info(path);
        assert_eq!(info["frames"], 3, "{info}");
        let range = &info["time_range"];
        let [start, end] = ["start", "end"].map(|key| range[key].as_f64().expect("a time"));
        assert!((start - 1.0).abs() < 1e-9 && (end - 26.0 / 24.0).abs() < 1e-9, "{info}");
        assert_eq!((range["first_frame"].as_f64(), range["last_frame"].as_f64()), (Some(24.0), Some(26.0)));
    }
    let output = run(&format!("groom convert {} {}", abc.display(), hair.display()));
    assert_done(&output);
    assert!(errors(&output).contains("has 3 frames; the first is converted"), "{}", errors(&output));
    assert_eq!(info(&hair)["mean_length"].as_f64().map(|length| (length - 1.0).abs() < 1e-5), Some(true));
    assert_done(&run(&format!("groom convert {} {} --frame 2", abc.display(), hair.display())));
    assert_eq!(info(&hair)["mean_length"].as_f64().map(|length| (length - 4.0).abs() < 1e-5), Some(true));
    let output = run(&format!("groom convert {} {} --frame 3", abc.display(), hair.display()));
    assert!(
        output.status.code() == Some(2) && errors(&output).contains("there is no frame 3"),
        "{}",
        errors(&output)
    );
}

#[test]
fn grooms_grow_on_meshes() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("ring.hair");
    let mesh = "scenes/meshes/ring.obj";
    assert_done(&run(&format!(
        "groom make -o {} --mesh {mesh} --style short-fur --set strands=30",
        out.display()
    )));
    assert_eq!(info(&out)["strands"], 30);
}

#[test]
fn grooms_are_edited_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let [from, first, second] = ["a.usdc", "b.usdc", "c.usdc"].map(|name| folder.path().join(name));
    assert_done(&run(&format!("groom make -o {} --style straight --set strands=40", from.display())));
    let edit = |out: &Path, edits: [&str; 2]| {
        let mut command = hairloom();
        command.args(["groom", "edit"]).arg(&from).arg("-o").arg(out);
        edits.iter().for_each(|edit| {
            command.args(["--do", edit]);
        });
        assert_done(&command.output().expect("the command starts"));
        info(out)["lengths"]["high"].as_f64().expect("a length")
    };
    let trim_first = edit(&first, ["trim length=0.1", "length factor=0.5"]);
    let trim_last = edit(&second, ["length factor=0.5", "trim length=0.1"]);
    assert!((trim_first - 0.05).abs() < 1e-6 && (trim_last - 0.1).abs() < 1e-6, "{trim_first} {trim_last}");
    let output = run(&format!("groom edit {} -o {} --do seat", from.display(), first.display()));
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("--body"), "{}", errors(&output));
}

#[test]
fn roots_off_the_body_and_strands_from_tip_to_root_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("upside.usda");
    // Two quills on a small pyramid, the second from tip to root and 2 mm above it.
    let text = "#usda 1.0\n(\n    metersPerUnit = 1\n)\ndef BasisCurves \"hair\"\n{\n    uniform token type = \"linear\"\n    \
                int[] curveVertexCounts = [2, 2]\n    \
                point3f[] points = [(0, 0.1, 0), (0, 0.3, 0), (0, 0.3, 0), (0, 0.102, 0)]\n}\n";
    std::fs::write(&path, text).expect("a file");
    let mesh = folder.path().join("pyramid.obj");
    let corners = "v 0 0.1 0\nv 0.1 -0.1 0.1\nv -0.1 -0.1 0.1\nv 0 -0.1 -0.1\n";
    std::fs::write(&mesh, format!("{corners}f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")).expect("a file");
    let report = |arguments: &str| {
        let output = run(&format!("groom info {} --body {} {arguments}", path.display(), mesh.display()));
        assert_done(&output);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let told = report("");
    assert!(told.contains("1 strands are given from tip to root"), "{told}");
    assert!(told.contains("1 float above it (strand 1 by 2.0 mm)"), "{told}");
    let json: Value = serde_json::from_str(&report("--json -")).expect("JSON");
    assert_eq!(json["on_body"]["turned"]["strands"], 1);
    assert_eq!(json["on_body"]["seating"]["floating"]["strands"], 1);
    let out = folder.path().join("seated.usda");
    let output = run(&format!(
        "groom edit {} -o {} --body {} --do seat",
        path.display(),
        out.display(),
        mesh.display()
    ));
    assert_done(&output);
    assert!(errors(&output).contains("turned around"), "{}", errors(&output));
    let seated = run(&format!("groom info {} --body {}", out.display(), mesh.display()));
    assert!(String::from_utf8_lossy(&seated.stdout).contains("within 1 mm"));
}

#[test]
fn info_tells_of_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("nan.usda");
    let text = "#usda 1.0\ndef BasisCurves \"hair\"\n{\n    uniform token type = \"linear\"\n    \
                int[] curveVertexCounts = [2]\n    point3f[] points = [(0, 0, 0), (0, nan, 0)]\n}\n";
    std::fs::write(&path, text).expect("a file");
    let output = run(&format!("groom info {}", path.display()));
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("strand 0, vertex 1"), "{}", errors(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("strands     1"));
}

#[test]
fn conversion_keeps_counts_and_what_follows_json_is_the_groom() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // A vertex is doubled: that is for `sim` to mend.
    std::fs::write(path("a.obj"), "v 0 1 0\nv 0 2 0\nv 0 2 0\nv 1 1 0\nv 1 2 0\nv 1 3 0\nl 1 2 3\nl 4 5 6\n")
        .unwrap();
    for (from, to) in [("a.obj", "b.tfx"), ("b.tfx", "c.usdc"), ("c.usdc", "d.abc"), ("d.abc", "e.tfx")] {
        assert_done(&run(&format!("groom convert {} {}", path(from).display(), path(to).display())));
        let told = run(&format!("groom info --json {}", path(to).display()));
        assert_done(&told);
        let told: Value = serde_json::from_slice(&told.stdout).unwrap();
        assert_eq!((&told["strands"], &told["vertices"]), (&2.into(), &6.into()), "{to}");
    }
}

#[test]
fn edits_keep_the_unit_and_stills_keep_their_bodies() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let stage = "#usda 1.0\n(\n metersPerUnit = 0.01\n upAxis = \"Z\"\n)\ndef BasisCurves \"hair\"\n{\n \
                 uniform token type = \"linear\"\n int[] curveVertexCounts = [2]\n point3f[] points = [(0, 0, 160), (0, 10, 150)]\n}\n\
                 def Mesh \"head\"\n{\n int[] faceVertexCounts = [3]\n int[] faceVertexIndices = [0, 1, 2]\n \
                 point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n}\n";
    std::fs::write(path("still.usda"), stage).unwrap();
    let mut edit = hairloom();
    edit.args(["groom", "edit"]).arg(path("still.usda")).arg("-o").arg(path("e.usda"));
    edit.args(["--do", "length factor=0.5"]);
    assert_done(&edit.output().expect("the command starts"));
    let edited = std::fs::read_to_string(path("e.usda")).unwrap();
    assert!(edited.contains("metersPerUnit = 0.01") && edited.contains("upAxis = \"Z\""), "{edited}");
    assert!(!edited.contains("timeSamples"), "{edited}");
    for to in ["b.usda", "b.abc"] {
        assert_done(&run(&format!("groom convert {} {}", path("still.usda").display(), path(to).display())));
        assert_eq!(info(&path(to))["bodies"].as_array().map(Vec::len), Some(1), "{to}");
    }
    let converted = std::fs::read_to_string(path("b.usda")).unwrap();
    assert!(!converted.contains("timeSamples"), "{converted}");
    // No colour that the hair did not have.
    assert_eq!(converted.matches("displayColor").count(), 1, "{converted}");
}

#[test]
fn pictures_have_the_size_that_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = folder.path().join("cache.usdc");
    let scene = "scenes/groom-from-file.toml";
    assert_done(&run(&format!("sim {scene} --frames 3 --out {}", cache.display())));
    let draw = |name: &str, options: &str| {
        let out = folder.path().join(name);
        assert_done(&run(&format!("render {} -o {} {options}", cache.display(), out.display())));
        png(&out)
    };
    assert_eq!(draw("one.png", "--frame 2 --size 80x60 --camera side --color #336699"), (80, 60, false));
    assert_eq!(draw("all.png", "--animation --size 40x30"), (40, 30, true));
    let (width, height, animated) = draw("sheet.png", "--sheet 4 --size 40x30");
    assert!(width > 80 && height > 60 && !animated);
}

#[test]
fn labs_print_json_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let plot = folder.path().join("plots/rope.png");
    let output = run(&format!("lab rope --json - --plot {}", plot.display()));
    let outcome: Value = serde_json::from_slice(&output.stdout).expect("nothing but JSON");
    assert_eq!((&outcome["experiment"], &outcome["solver"]), (&"rope".into(), &"ftl".into()));
    let checks = outcome["checks"].as_array().expect("checks");
    let passed = checks.iter().all(|check| check["ok"] == true);
    assert_eq!(output.status.code(), Some(if passed { 0 } else { 1 }));
    assert!(!checks.is_empty() && png(&plot).0 > 100);
}

#[test]
fn every_help_page_shows_an_example() {
    for page in
        ["", "demo", "sim", "render", "groom", "groom make", "groom info", "groom convert", "lab", "bench"]
    {
        let output = run(&format!("{page} --help"));
        assert_done(&output);
        let text = String::from_utf8_lossy(&output.stdout);
        let example = format!("  hairloom {page}");
        assert!(text.contains("Example") && text.contains(example.trim_end()), "{page}: {text}");
    }
}

#[test]
fn labs_are_listed() {
    let output = run("lab");
    assert_done(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("rope") && text.contains("particles"));
}
