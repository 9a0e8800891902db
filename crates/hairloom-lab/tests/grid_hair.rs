//! Hair on a grid as users run it, smaller than usual.

use hairloom_lab::{Outcome, run};
use toml::Value;

fn set(key: &str, value: impl Into<Value>) -> (String, Value) {
    (key.to_owned(), value.into())
}

fn passes(name: &str, sets: &[(String, Value)]) -> Outcome {
    let outcome = run(name, None, sets, None).unwrap();
    let failed: Vec<_> = outcome.checks.iter().filter(|check| !check.ok).collect();
    assert!(outcome.passed() && !outcome.rows.is_empty(), "{name}: {failed:#?}");
    assert_eq!(outcome.solver, "der-mpm");
    outcome
}

#[test]
fn twenty_thousand_random_poses_leave_hair_whole() {
    let sets = [set("strands", 8), set("vertices", 8), set("length", 0.07), set("steps", 20_000)];
    let outcome = passes("stability", &sets);
    assert_eq!(outcome.rows[0].get("steps"), Some(&20_000.into()));
}

#[test]
fn random_poses_leave_hair_of_fluid_whole() {
    passes("stability", &[set("steps", 1500), set("solver.grains", "fluid")]);
}

#[test]
fn stiffer_grains_keep_more_volume() {
    passes("volume", &[set("strands", 300), set("duration", 1.0), set("youngs", vec![0.0, 300.0])]);
}

#[test]
fn fluid_spreads_farther_than_rough_sand() {
    passes("drop", &[set("strands", 100), set("duration", 0.8), set("angles", vec![0.0, 40.0])]);
}

#[test]
fn substeps_change_little() {
    passes("substeps", &[set("strands", 40), set("duration", 0.5)]);
}

#[test]
fn transfers_keep_what_they_must() {
    passes("transfer", &[set("particles", 2000), set("steps", 30)]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |name: &str, sets: &[(String, Value)]| {
        let error = run(name, None, sets, None).expect_err("should be refused");
        assert!(error.is_bad_input(), "{error}");
        error.to_string()
    };
    assert!(refused("volume", &[set("youngs", vec![300.0, 0.0])]).contains("must rise"));
    assert!(refused("drop", &[set("angles", vec![70.0])]).contains("between 0 and 60"));
    // Sound in hair that stiff crosses many cells in a step of the grid.
    let told = refused("volume", &[set("youngs", vec![0.0, 1.0e6]), set("strands", 10)]);
    assert!(told.contains("solver.substeps"), "{told}");
}
