//! Contact problems in files: both forms there and back, what is wrong with bad ones, and problems by others.

use std::fs;
use std::path::{Path, PathBuf};

use glam::{DMat3, DVec3};
use hairloom::contact::nsgs::{BlockMatrix, Blocks, Global, Problem, Settings, solve};
use hairloom_io::contact_problem::{ContactProblem, Form, lift_planar, read, write};

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("problem.json");
    fs::write(&path, text).unwrap();
    (folder, path)
}

#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    let (_folder, path) = file(text);
    let error = read(&path).unwrap_err().to_string();
    assert!(error.contains("problem.json"), "{error}");
    for part in parts {
        assert!(error.contains(part), "'{part}' is not in: {error}");
    }
}

#[test]
fn both_forms_go_there_and_back() {
    let full = Blocks::wall(2, 2, 2, 0.5, DVec3::X).problem(0.01, DVec3::new(0.0, -9.81, 0.0));
    let reduced = full.assembly().unwrap().reduced();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("problem.json");
    for form in [Form::Full(full), Form::Reduced(reduced)] {
        let problem = ContactProblem { dimension: 3, form };
        write(&path, &problem).unwrap();
        assert_eq!(read(&path).unwrap(), problem);
    }
}

#[test]
fn blocks_are_row_major() {
    let (_folder, path) = file(
        r#"{ "form": "reduced", "dimension": 3, "contacts": 1, "mu": [0.5], "b": [1, 2, 3],
             "W": { "rows": [0], "cols": [0], "blocks": [[1, 2, 3, 4, 5, 6, 7, 8, 9]] } }"#,
    );
    let Form::Reduced(problem) = read(&path).unwrap().form else { panic!("a reduced problem") };
    let expected =
        DMat3::from_cols(DVec3::new(1.0, 4.0, 7.0), DVec3::new(2.0, 5.0, 8.0), DVec3::new(3.0, 6.0, 9.0));
    assert_eq!(problem.matrix, BlockMatrix::from_triplets(1, [(0, 0, expected)]).unwrap());
    assert_eq!(problem.offset, [DVec3::new(1.0, 2.0, 3.0)]);
}

/// A block of 2 kg on a plane in two dimensions, pushed down and along: closed form in both forms.
#[test]
fn planar_problems() {
    let reduced = r#"{ "form": "reduced", "dimension": 2, "contacts": 1, "mu": [0.5], "b": [-1, 3],
        "W": { "rows": [0], "cols": [0], "blocks": [[0.5, 0, 0, 0.5]] } }"#;
    let full = r#"{ "form": "full", "dimension": 2, "contacts": 1, "mu": [0.5], "w": [0, 0], "f": [6, -2],
        "M": { "blocks": [[2, 0, 0, 2]] }, "H": { "rows": [0], "cols": [0], "blocks": [[0, 1, 1, 0]] } }"#;
    for text in [reduced, full] {
        let (_folder, path) = file(text);
        let stored = read(&path).unwrap();
        let problem = match &stored.form {
            Form::Reduced(problem) => problem.clone(),
            Form::Full(full) => {
                let mut problem = full.assembly().unwrap().reduced();
                lift_planar(&mut problem).unwrap();
                problem
            }
        };
        let (problem, _) = problem.checked().unwrap();
        let solution = solve(&problem, &Settings::default(), None).unwrap();
        assert!(solution.forces[0].abs_diff_eq(DVec3::new(2.0, -1.0, 0.0), 1.0e-9), "{}", solution.forces[0]);
        let folder = tempfile::tempdir().unwrap();
        let again = folder.path().join("again.json");
        write(&again, &stored).unwrap();
        assert_eq!(read(&again).unwrap(), stored);
    }
}

#[test]
fn bad_files_are_named_with_the_place() {
    let w = r#""W": { "rows": [0], "cols": [0], "blocks": [[1, 0, 0, 0, 1, 0, 0, 0, 1]] }"#;
    refused("{", &["not a contact problem", "line 1"]);
    refused("[1, 2]", &["not a contact problem"]);
    refused(&format!(r#"{{ "mu": [NaN], "b": [1, 2, 3], {w} }}"#), &["line 1", "NaN"]);
    refused(&format!(r#"{{ "mu": [null], "b": [1, 2, 3], {w} }}"#), &["null", "line 1"]);
    refused(
        &format!(r#"{{ "contacts": 2, "mu": [0.5], "b": [1, 2, 3], {w} }}"#),
        &["mu: 1 given, 2 expected"],
    );
    refused(&format!(r#"{{ "mu": [0.5], "b": [1, 2], {w} }}"#), &["b: 2 given, 3 expected"]);
    refused(&format!(r#"{{ "b": [1, 2], {w} }}"#), &["mu is missing"]);
    refused(&format!(r#"{{ "mu": [0.5], {w} }}"#), &["b is missing"]);
    refused(r#"{ "mu": [0.5], "b": [1, 2, 3] }"#, &["W is missing"]);
    refused(r#"{ "contacts": 0, "mu": [], "b": [] }"#, &["no contacts"]);
    refused(&format!(r#"{{ "dimension": 4, "mu": [0.5], "b": [1, 2, 3], {w} }}"#), &["dimension is 4"]);
    refused(&format!(r#"{{ "form": "dual", "mu": [0.5], "b": [1, 2, 3], {w} }}"#), &["form is \"dual\""]);
    let blocks = |rows: &str, cols: &str, blocks: &str| {
        format!(
            r#"{{ "mu": [0.5], "b": [1, 2, 3], "W": {{ "rows": {rows}, "cols": {cols}, "blocks": {blocks} }} }}"#
        )
    };
    refused(&blocks("[0]", "[0]", "[[1, 2]]"), &["W.blocks[0]: 2 given, 9 expected"]);
    refused(&blocks("[0]", "[0, 0]", "[[1]]"), &["W.cols: 2 given, 1 expected"]);
    refused(&blocks("[0]", "[7]", "[[1, 0, 0, 0, 1, 0, 0, 0, 1]]"), &["(0, 7)", "1 contacts"]);
    refused(&blocks("[-1]", "[0]", "[[1]]"), &["-1", "line 1"]);
    let full = |m: &str, f: &str, h: &str| {
        format!(
            r#"{{ "form": "full", "mu": [0.5], "w": [0, 0, 0], "M": {{ "blocks": {m} }}, "f": {f},
                 "H": {{ "rows": [0], "cols": [0], "blocks": {h} }} }}"#
        )
    };
    refused(&full("[[1, 0, 0]]", "[1]", "[[1, 0, 0]]"), &["M.blocks[0]: 3 numbers"]);
    refused(&full("[[1]]", "[1, 2]", "[[1, 0, 0]]"), &["f: 2 given, 1 expected"]);
    refused(&full("[[1], [1]]", "[1]", "[[1, 0, 0]]"), &["f: 1 given, 2 expected"]);
    refused(&full("[[1]]", "[1]", "[[1, 0]]"), &["H.blocks[0]: 2 given, 3 expected"]);
    let missing = read(Path::new("no-such.json")).unwrap_err().to_string();
    assert!(missing.contains("no-such.json"), "{missing}");
}

/// Problems by others: in the folder that `HAIRLOOM_CONTACT_PROBLEMS` names, or else in `shared/contact-problems` beside
/// the project. None of them is part of it; where there are none, there is nothing to check.
fn problems_by_others() -> Vec<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/contact-problems");
    let folder = std::env::var_os("HAIRLOOM_CONTACT_PROBLEMS").map_or_else(beside, PathBuf::from);
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
}

#[test]
fn problems_by_others_are_solved_by_the_hybrid_with_either_local_solver() {
    for path in problems_by_others() {
        let stored = read(&path).unwrap();
        let problem = match stored.form {
            Form::Reduced(problem) => problem,
            Form::Full(full) => {
                let mut problem = full.assembly().unwrap().reduced();
                if stored.dimension == 2 {
                    lift_planar(&mut problem).unwrap();
                }
                problem
            }
        };
        let (problem, _): (Problem, _) = problem.checked().unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for local in ["secular+enum", "mfb+enum"] {
            let settings = Settings { local: local.parse().unwrap(), ..Settings::default() };
            let solution = solve(&problem, &settings, None).unwrap();
            assert!(solution.converged, "{name} {local}: {:e} {:e}", solution.error, solution.natural);
            assert!(solution.error <= 1.0e-6 && solution.natural <= 1.0e-6 && solution.failed == 0);
        }
    }
}

/// A wall that is pushed, in both forms on disk, by sweeps alone, by the hybrid and by the interior point: each solves what was read.
#[test]
fn stored_problems_of_both_forms_are_solved_by_every_way() {
    let push = DVec3::new(3.0, -20.0, 1.0);
    let full = Blocks::wall(4, 4, 2, 0.4, push).problem(0.01, DVec3::new(0.0, -9.81, 0.0));
    let reduced = full.assembly().unwrap().reduced();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("problem.json");
    for form in [Form::Full(full), Form::Reduced(reduced)] {
        write(&path, &ContactProblem { dimension: 3, form }).unwrap();
        let problem = match read(&path).unwrap().form {
            Form::Reduced(problem) => problem,
            Form::Full(full) => full.assembly().unwrap().reduced(),
        };
        let (problem, _) = problem.checked().unwrap();
        for global in [Global::GaussSeidel, Global::Hybrid, Global::InteriorPoint] {
            let solution = solve(&problem, &Settings { global, ..Settings::default() }, None).unwrap();
            assert!(solution.converged, "{global:?}: {:e} {:e}", solution.error, solution.natural);
        }
    }
}
