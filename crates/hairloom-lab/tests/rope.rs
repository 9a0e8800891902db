//! The rope experiment as users run it.

use hairloom_lab::{LabError, Outcome, experiments, run};
use toml::Value;

fn set(key: &str, value: impl Into<Value>) -> (String, Value) {
    (key.to_owned(), value.into())
}

/// A shorter run, so that it stays quick.
fn short() -> Result<Outcome, LabError> {
    run("rope", None, &[set("duration", 1.0), set("reference_dt", 2.0e-4)], None)
}

fn error(sets: &[(String, Value)]) -> String {
    let error = run("rope", None, sets, None).expect_err("should be refused");
    assert!(error.is_bad_input(), "{error}");
    error.to_string()
}

#[test]
fn a_short_rope_passes_all_checks() {
    let outcome = short().unwrap();
    let failed: Vec<_> = outcome.checks.iter().filter(|check| !check.ok).collect();
    assert!(outcome.passed() && failed.is_empty(), "{failed:#?}");
    assert!(outcome.checks.len() >= 20);
}

#[test]
fn the_answer_has_the_shape_of_every_lab() {
    let json = serde_json::to_value(short().unwrap()).unwrap();
    assert_eq!(json["experiment"], "rope");
    assert_eq!(json["solver"], "ftl");
    assert_eq!(json["params"]["duration"], 1.0);
    assert_eq!(json["params"]["particles"], 30);
    assert_eq!(json["params"]["solver"]["correction"], 0.9);
    assert!(json["seconds"].as_f64().unwrap() > 0.0);
    let rows = json["rows"].as_array().unwrap();
    for figure in ["2", "3", "4", "5", "7", "section 3.4"] {
        assert!(rows.iter().any(|row| row["figure"] == figure), "no row of figure {figure}");
    }
    for check in json["checks"].as_array().unwrap() {
        assert!(check["name"].is_string() && check["value"].is_number() && check["limit"].is_number());
        assert!(check["ok"].is_boolean() && check["bound"].is_string());
    }
}

#[test]
fn numbers_that_are_not_times_are_the_same_in_every_run() {
    let untimed = |outcome: &Outcome| -> Vec<String> {
        let rows = outcome.rows.iter().flat_map(|row| &row.0);
        rows.filter(|(key, _)| !key.contains("time") && !key.contains("seconds"))
            .map(|(key, value)| format!("{key} {value}"))
            .collect()
    };
    assert_eq!(untimed(&short().unwrap()), untimed(&short().unwrap()));
}

#[test]
fn a_worse_solver_fails() {
    // What passes for corrected here is not: its energy explodes as in figure 4.
    let sets = [set("corrections", vec![0.0]), set("solver.correction", 0.0), set("duration", 1.0)];
    let outcome = run("rope", Some("ftl"), &sets, None).unwrap();
    assert!(!outcome.passed());
    assert_eq!(outcome.params["solver"]["correction"], 0.0);
}

#[test]
fn the_plot_is_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rope.png");
    let sets = [set("duration", 0.3), set("reference_dt", 1.0e-3), set("particles", 12)];
    run("rope", None, &sets, Some(&path)).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 20_000);
    let nowhere = folder.path().join("no such folder").join("rope.png");
    let failed = run("rope", None, &sets, Some(&nowhere)).expect_err("no folder");
    assert!(!failed.is_bad_input() && failed.to_string().contains("no such folder"), "{failed}");
}

#[test]
fn unknown_names_are_told_with_what_there_is() {
    let failed = run("roep", None, &[], None).expect_err("no such experiment");
    assert!(failed.is_bad_input());
    let failed = failed.to_string();
    assert!(failed.starts_with("unknown experiment 'roep'; expected one of rope, cantilever"), "{failed}");
    assert!(failed.ends_with("Did you mean 'rope'?"), "{failed}");
    let failed = run("rope", Some("flt"), &[], None).expect_err("no such solver").to_string();
    assert!(failed.contains("'ftl'") && failed.contains("Did you mean 'ftl'?"), "{failed}");
    let failed = error(&[set("particels", 10)]);
    assert!(failed.contains("Did you mean 'particles'?") && failed.contains("segment"), "{failed}");
    let failed = error(&[set("solver.corection", 0.5)]);
    assert!(
        failed.contains("Did you mean 'solver.correction'?") && failed.contains("solver 'ftl'"),
        "{failed}"
    );
    assert!(error(&[set("solver.method", "ftl")]).contains("unknown parameter 'solver.method'"));
}

#[test]
fn bad_values_are_told_with_their_key() {
    assert!(error(&[set("duration", "long")]).starts_with("parameter 'duration': invalid type"));
    assert!(error(&[set("particles", 2)]).contains("between 5 and 500"));
    assert!(error(&[set("particles", -3)]).starts_with("parameter 'particles'"));
    assert!(error(&[set("dt", f64::NAN)]).starts_with("parameter 'dt'"));
    assert!(error(&[set("bendings", vec![0.5, 1.5])]).contains("between 0 and 1"));
    assert!(error(&[set("corrections", Vec::<f64>::new())]).contains("1 to 12"));
    assert!(error(&[set("solver.correction", 2.0)]).starts_with("parameter 'solver.correction'"));
}

#[test]
fn extreme_ropes_give_an_outcome_or_an_error_but_no_panic() {
    let extremes = [
        vec![set("particles", 5), set("dt", 0.1), set("duration", 0.05)],
        vec![set("segment", 1.0e-4), set("gravity", 1.0e3), set("duration", 0.1)],
        vec![set("sphere_radius", 10.0), set("sphere_speed", 100.0), set("duration", 0.1)],
        vec![set("drag_amplitude", 100.0), set("drag_frequency", 100.0), set("duration", 0.1)],
    ];
    for sets in extremes {
        if let Ok(outcome) = run("rope", None, &sets, None) {
            assert!(!outcome.rows.is_empty());
        }
    }
}

#[test]
fn help_names_every_parameter() {
    let info = experiments().into_iter().find(|info| info.name == "rope").unwrap();
    let params = short().unwrap().params;
    for key in params.as_object().unwrap().keys().filter(|key| *key != "solver") {
        assert!(
            info.help.lines().any(|line| line.trim_start().starts_with(key.as_str())),
            "{key} has no help"
        );
    }
    assert!(info.help.contains("solver.*, of ftl: backward, bending"));
    assert!(info.help.contains("(usually 0.02)"));
}
