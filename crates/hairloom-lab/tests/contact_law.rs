//! The experiments on the law of contact as users run them.

use hairloom_lab::run;
use toml::Value;

fn set(key: &str, value: impl Into<Value>) -> (String, Value) {
    (key.to_owned(), value.into())
}

#[test]
fn towers_stand_with_every_exact_local_solver() {
    for solver in [None, Some("mfb+enum"), Some("enum"), Some("dac+enum")] {
        let outcome = run("stacking", solver, &[set("heights", vec![2.0, 6.0])], None).unwrap();
        assert!(outcome.passed(), "{solver:?}: {:#?}", outcome.checks);
        assert_eq!(outcome.rows.len(), 6);
    }
    let error = run("stacking", Some("4sides"), &[], None).unwrap_err();
    assert!(error.is_bad_input() && error.to_string().contains("mfb+enum"), "{error}");
    let error = run("stacking", None, &[set("height", 3)], None).unwrap_err();
    assert!(error.to_string().contains("heights"), "{error}");
}

#[test]
fn hybrid_solves_all_problems_of_fibres() {
    let sets = [set("problems", 4), set("contacts", 60), set("fibres", 20)];
    let outcome = run("local-solvers", None, &sets, None).unwrap();
    assert!(outcome.passed(), "{:#?}", outcome.checks);
    assert_eq!(outcome.rows.len(), 12);
}
