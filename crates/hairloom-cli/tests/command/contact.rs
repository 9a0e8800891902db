//! `hairloom contact`: problems in, forces out, and one message for what is wrong.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::common::{assert_done, errors, hairloom};

/// Runs `contact` on a problem with this text.
fn contact(problem: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("problem.json");
    fs::write(&path, problem).expect("a problem");
    hairloom().arg("contact").arg(path).args(arguments).output().expect("the command starts")
}

fn reduced(mu: &str, b: &str, block: &str) -> String {
    format!(
        r#"{{ "form": "reduced", "dimension": 3, "contacts": 1, "mu": {mu}, "b": {b},
             "W": {{ "rows": [0], "cols": [0], "blocks": [{block}] }} }}"#
    )
}

const UNIT: &str = "[0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5]";

/// A block that slides: the force is on the cone's boundary, against the motion.
#[test]
fn slides_with_every_solver_and_thread_count() {
    let problem = reduced("[0.5]", "[-1, 3, 0]", UNIT);
    for arguments in [
        vec![],
        vec!["--local", "mfb+enum"],
        vec!["--solver", "interior-point", "--tolerance", "1e-9"],
        vec!["--solver", "mfb"],
        vec!["--solver", "dac"],
        vec!["--threads", "2", "--acceleration", "0"],
    ] {
        let output = contact(&problem, &[&arguments[..], &["--json", "-"]].concat());
        assert_done(&output);
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
        let number = |key: &str, index: usize| report[key][index].as_f64().expect("a number");
        for (key, expected) in [("r", [2.0, -1.0, 0.0]), ("u", [0.0, 2.5, 0.0])] {
            for (index, expected) in expected.into_iter().enumerate() {
                assert!(
                    (number(key, index) - expected).abs() < 1.0e-5,
                    "{arguments:?} {key}: {}",
                    report[key]
                );
            }
        }
        for key in ["error", "natural_map", "iterations", "seconds", "fail_safe_calls", "failed"] {
            assert!(report[key].is_number(), "{key}");
        }
    }
    let text = contact(&problem, &[]);
    assert_done(&text);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("1 slide") && text.contains("contact 0: r 2.0"), "{text}");
}

#[test]
fn bad_problems_are_refused() {
    let refused = |problem: &str, part: &str| {
        let output = contact(problem, &[]);
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(
            text.contains("problem.json") && text.contains(part) && !text.contains("panicked"),
            "{part}: {text}"
        );
    };
    refused(&reduced("[-0.5]", "[-1, 3, 0]", UNIT), "mu of contact 0 is -0.5");
    refused(&reduced("[0.5]", "[NaN, 3, 0]", UNIT), "line 1");
    refused(&reduced("[0.5]", "[-1, 3]", UNIT), "b: 2 given, 3 expected");
    refused(&reduced("[0.5]", "[-1, 3, 0]", "[1, 0.5, 0, 0, 1, 0, 0, 0, 1]"), "not symmetric");
    refused(r#"{ "contacts": 0, "mu": [], "b": [] }"#, "no contacts");
    refused("", "not a contact problem");
    let mended = contact(&reduced("[0.5]", "[-1, 0.2, 0]", "[1, 0.005, 0, 0, 1, 0, 0, 0, 1]"), &[]);
    assert_done(&mended);
    assert!(
        errors(&mended).contains("warning") && errors(&mended).contains("asymmetric"),
        "{}",
        errors(&mended)
    );
}

/// A pyramid's forces are not on the cone: what stops them is that they rest, not their error.
#[test]
fn sweeps_may_stop_by_what_they_change() {
    let problem = reduced("[0.5]", "[-1, 2, 2]", UNIT);
    let sweeps = ["--solver", "gauss-seidel", "--local", "4sides", "--json", "-"];
    assert_eq!(contact(&problem, &[&sweeps[..], &["--iterations", "20"]].concat()).status.code(), Some(1));
    let output = contact(&problem, &[&sweeps[..], &["--stop-step", "1e-3"]].concat());
    assert_done(&output);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    assert!(report["error"].as_f64().expect("a number") > 1.0e-2, "{report}");
    let refused = contact(&problem, &["--stop-step", "1e-3"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("--solver gauss-seidel"), "{}", errors(&refused));
    assert!(errors(&contact(&problem, &[&sweeps[..4], &["--stop-step", "0"]].concat())).contains("above 0"));
}

#[test]
fn contact_without_solution_fails_and_says_so() {
    let output =
        contact(&reduced("[0.5]", "[-1, 3, 0]", "[0, 0, 0, 0, 1, 0, 0, 0, 1]"), &["--iterations", "50"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("no solution on its own"), "{}", errors(&output));
}
