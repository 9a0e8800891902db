//! Rest shapes, by every engine.

use std::fs;
use std::path::Path;

use hairloom::groom::Values;
use hairloom::rest::global_force::Problem;
use hairloom_io::grooms::{self, Said};

use crate::common::{assert_done, errors, hairloom};

/// Strands that stand out from a ball and lie on each other.
const SCENE: &str = r#"
[groom.style]
preset = "straight"
strands = 24
vertices = 8
length = 0.12
[[body]]
name = "ball"
figure = "ball"
[solver]
method = "xpbd-mpm"
cell = 0.03
"#;

fn rest(folder: &Path, arguments: &[&str]) -> std::process::Output {
    rest_of(SCENE, folder, arguments)
}

fn rest_of(text: &str, folder: &Path, arguments: &[&str]) -> std::process::Output {
    let scene = folder.join("scene.toml");
    fs::write(&scene, text).expect("the scene is written");
    let mut command = hairloom();
    command.arg("rest").arg(scene).arg("-o").arg(folder.join("rest.hair")).args(arguments);
    command.output().expect("the command starts")
}

#[test]
fn every_engine_reports_forces_that_leave_nodes_at_rest() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut objectives = vec![];
    for engine in ["own-weight", "cone", "anytime"] {
        let output = rest(folder.path(), &["--engine", engine, "--seconds", "30", "--json", "-"]);
        assert_done(&output);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("only JSON");
        let number = |key: &str| report[key].as_f64().unwrap_or_else(|| panic!("{key} of {report}"));
        assert_eq!(report["engine"], engine);
        assert!(number("worst_acceleration_over_gravity") < 1e-4, "{report}");
        assert!(number("cone_excess_over_largest_stress") < 1e-6, "{report}");
        assert!(number("force_mse_newtons") < 1e-12 && number("largest_force_newtons") > 0.0, "{report}");
        assert!((0.0..=100.0).contains(&number("compressed_percent")), "{report}");
        objectives.push(number("objective"));
    }
    let [own, cone, anytime] = objectives[..] else { panic!("three engines") };
    // So few strands on so fine a grid gain nothing by contact.
    assert!(cone < (1.0 + 1e-6) * own && anytime <= own, "{own} {cone} {anytime}");
    assert!((anytime / cone - 1.0).abs() < 0.05, "{cone} {anytime}");
}

#[test]
fn a_dumped_problem_has_the_same_answer_for_whoever_solves_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let dumped = folder.path().join("problem.json");
    let arguments = ["--engine", "cone", "--dump-problem", dumped.to_str().expect("a name"), "--json", "-"];
    let output = rest(folder.path(), &arguments);
    assert_done(&output);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("only JSON");
    let text = fs::read_to_string(&dumped).expect("the problem");
    let problem: Problem = serde_json::from_str(&text).expect("a problem");
    assert_eq!(problem.a.columns, problem.q.len());
    let found = problem.solve(60.0).expect("clarabel solves it");
    let told = report["objective"].as_f64().expect("a number");
    assert!((found.objective / told - 1.0).abs() < 1e-4, "{} {told}", found.objective);
}

#[test]
fn methods_without_grid_or_rest_shape_say_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = rest(folder.path(), &["--solver", "ftl"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("ftl has no rest shape"), "{}", errors(&output));
    let output = rest(folder.path(), &["--set", "solver.contact=false", "--engine", "anytime"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("own-weight"), "{}", errors(&output));
}

#[test]
fn every_method_with_rest_shapes_finds_one_and_reports_it() {
    let folder = tempfile::tempdir().expect("a folder");
    for solver in ["admm", "nsgs", "der-mpm", "xpbd-mpm"] {
        let output = rest(folder.path(), &["--solver", solver, "--json", "-"]);
        assert_done(&output);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("only JSON");
        assert_eq!(report["solver"], solver);
        assert!(
            report["worst_acceleration_over_gravity"].as_f64().is_some_and(|left| left < 1e-4),
            "{report}"
        );
        assert!(report["stiffened_percent"].as_f64().is_some_and(|part| part < 100.0), "{report}");
    }
}

#[test]
fn hair_that_nothing_holds_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let floating = SCENE.replace("[groom.style]", "[groom]\nattach = \"none\"\n[groom.style]");
    for solver in ["admm", "nsgs", "der-mpm", "xpbd-mpm"] {
        let output = rest_of(&floating, folder.path(), &["--solver", solver]);
        assert_eq!(output.status.code(), Some(2), "{solver}");
        assert!(errors(&output).contains("strand 0 is attached nowhere"), "{solver}: {}", errors(&output));
    }
    let scene = folder.path().join("scene.toml");
    let output = hairloom()
        .arg("sim")
        .arg(scene)
        .args(["--set", "solver.rest=sag-free", "--out"])
        .arg(folder.path().join("out.hair"))
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("strand 0 is attached nowhere"), "{}", errors(&output));
}

#[test]
fn weightless_hair_rests_as_groomed() {
    let folder = tempfile::tempdir().expect("a folder");
    let weightless = format!("{SCENE}\n[gravity]\nvalue = [0.0, 0.0, 0.0]\n");
    for solver in ["admm", "nsgs", "der-mpm", "xpbd-mpm"] {
        let output = rest_of(&weightless, folder.path(), &["--solver", solver, "--json", "-"]);
        assert_done(&output);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("only JSON");
        assert_eq!(
            (&report["stiffened_percent"], &report["largest_force_newtons"]),
            (&0.0.into(), &0.0.into()),
            "{report}"
        );
    }
    // Nothing is left for contact to carry.
    let output = rest_of(&weightless, folder.path(), &["--engine", "anytime"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("the groomed shape is the rest shape"), "{}", errors(&output));
}

#[test]
fn strands_in_the_same_place_rest_like_single_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let points: Vec<String> = (0..8).map(|i| format!("({}, 0, 0)", 0.01 * f64::from(i))).collect();
    let points = points.join(", ");
    let usda = format!(
        "#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\ndef BasisCurves \"hair\"\n{{\n    uniform token type = \"linear\"\n    \
         int[] curveVertexCounts = [8, 8]\n    point3f[] points = [{points}, {points}]\n}}\n"
    );
    fs::write(folder.path().join("twins.usda"), usda).expect("the groom is written");
    let scene = "[groom]\nfile = \"twins.usda\"\n[solver]\nmethod = \"xpbd-mpm\"\ncell = 0.03\n";
    for engine in ["own-weight", "cone", "anytime"] {
        let output = rest_of(scene, folder.path(), &["--engine", engine, "--seconds", "30", "--json", "-"]);
        assert_done(&output);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("only JSON");
        assert_eq!(report["strands"], 2);
        assert!(
            report["worst_acceleration_over_gravity"].as_f64().is_some_and(|left| left < 1e-4),
            "{report}"
        );
    }
}

#[test]
fn strands_that_touch_carry_each_other_where_methods_know_single_contacts() {
    let folder = tempfile::tempdir().expect("a folder");
    // The tip of the first lies on the middle of the second.
    let along =
        |at: &dyn Fn(f64) -> String| (0..8).map(|i| at(0.005 * f64::from(i))).collect::<Vec<_>>().join(", ");
    let points =
        [along(&|x| format!("({x}, 1e-5, 0)")), along(&|z| format!("(0.031, 0, {})", z - 0.017))].join(", ");
    let usda = format!(
        "#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\ndef BasisCurves \"hair\"\n{{\n    uniform token type = \"linear\"\n    \
         int[] curveVertexCounts = [8, 8]\n    point3f[] points = [{points}]\n}}\n"
    );
    fs::write(folder.path().join("cross.usda"), usda).expect("the groom is written");
    let rest = |solver: &str, engine: &str| {
        let scene = "[groom]\nfile = \"cross.usda\"\n";
        rest_of(scene, folder.path(), &["--solver", solver, "--engine", engine, "--json", "-"])
    };
    for solver in ["nsgs", "admm"] {
        for (engine, contacts) in [("anytime", 1), ("own-weight", 0)] {
            let output = rest(solver, engine);
            assert_done(&output);
            let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("only JSON");
            assert_eq!(report["contacts"], contacts, "{solver}, {engine}");
            let left = report["worst_acceleration_over_gravity"].as_f64();
            assert!(left.is_some_and(|left| left < 1e-4), "{solver}, {engine}: {report}");
        }
    }
    for (solver, engine, why) in [("nsgs", "cone", "no cone programme"), ("ftl", "cone", "no cone programme")]
    {
        let output = rest(solver, engine);
        assert_eq!(output.status.code(), Some(2));
        assert!(errors(&output).contains(why), "{}", errors(&output));
    }
}

#[test]
fn a_rest_shape_is_written_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    for ending in ["usdc", "abc"] {
        let file = folder.path().join(format!("whole.{ending}"));
        let scene = folder.path().join("scene.toml");
        fs::write(&scene, SCENE).expect("the scene is written");
        assert_done(
            &hairloom().arg("rest").arg(scene).arg("-o").arg(&file).output().expect("the command starts"),
        );
        let groom = grooms::read(&file, &Said::default()).expect("what was written").groom;
        let vertices = groom.vertices();
        let find = |name: &str| {
            let found = groom.attributes.iter().find(|attribute| attribute.name == name);
            found.unwrap_or_else(|| panic!("{ending}: no {name}")).values.clone()
        };
        for name in ["rest_length", "rest_stretch_factor", "rest_bend_factor"] {
            let Values::Float(values) = find(name) else { panic!("{name} is no number") };
            assert_eq!(values.len(), vertices, "{name}");
            assert!(name == "rest_length" || values.iter().all(|&factor| factor >= 1.0), "{name}");
        }
        for name in ["rest_joint", "rest_force", "rest_stress_normal", "rest_stress_shear", "rest_contact"] {
            let Values::Vec3(values) = find(name) else { panic!("{name} is no vector") };
            assert_eq!(values.len(), vertices, "{name}");
        }
        let Values::Vec3(forces) = find("rest_force") else { panic!("no vectors") };
        assert!(forces.iter().any(|force| force.y > 0.0), "strands are carried");
        assert_eq!(find("rest_cell"), Values::Float(vec![0.0; groom.strands()]));
    }
}

#[test]
fn hair_without_friction_has_a_rest_shape_of_its_own_and_none_by_contact() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_done(&rest(folder.path(), &["--set", "material.friction=0"]));
    let file = folder.path().join("rest.hair");
    fs::remove_file(&file).expect("it was written");
    let output = rest(folder.path(), &["--set", "material.friction=0", "--engine", "anytime"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("the friction angle"), "{}", errors(&output));
    assert!(!file.exists(), "nothing is written where there is nothing");
}

#[test]
fn sim_tells_how_much_of_the_hair_is_stiffened() {
    let folder = tempfile::tempdir().expect("a folder");
    let scene = folder.path().join("scene.toml");
    fs::write(&scene, SCENE).expect("the scene is written");
    let report = folder.path().join("report.json");
    let mut command = hairloom();
    command.arg("sim").arg(&scene).args(["--frames", "1", "--set", "solver.rest=sag-free", "--report"]);
    command.arg(&report).arg("--out").arg(folder.path().join("out.usdc"));
    let output = command.output().expect("the command starts");
    assert_done(&output);
    assert!(errors(&output).contains("% of segments and joints stiffened"), "{}", errors(&output));
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(&report).expect("a report")).expect("JSON");
    assert!(report["totals"]["rest"]["stiffened_percent"].is_number(), "{}", report["totals"]);
}
