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

/// With friction of 3, methods without a fail-safe leave contacts.
#[test]
fn contacts_that_local_solvers_leave_are_told() {
    let sets =
        [set("problems", 4), set("contacts", 60), set("fibres", 8), set("mu", 3.0), set("sweeps", 300)];
    let outcome = run("local-solvers", None, &sets, None).unwrap();
    let percent = |local: &str, key: &str| {
        let row = outcome.rows.iter().find(|row| row.get("local").is_some_and(|name| name == local));
        row.and_then(|row| row.get(key)).and_then(|value| value.as_f64()).unwrap()
    };
    for local in ["mfb", "pac", "dac", "duriez08"] {
        assert!(percent(local, "failed_percent") > 0.1, "{local}");
        assert_eq!(percent(local, "fail_safe_percent"), 0.0, "{local} has none to ask");
        assert_eq!(percent(&format!("{local}+enum"), "failed_percent"), 0.0, "{local}");
    }
    // Another law, at rest where it does not hold.
    assert_eq!((percent("4sides", "failed_percent"), percent("4sides", "unsolved_percent")), (0.0, 0.0));
}

#[test]
fn orbits_of_exact_solvers_agree_and_those_of_the_others_do_not() {
    let sets = [set("turns", 1), set("vertices", 12)];
    let outcome = run("orbit", None, &sets, None).unwrap();
    assert!(outcome.passed(), "{:#?} {:#?}", outcome.checks, outcome.rows);
    assert_eq!(outcome.rows.len(), 9);
}

#[test]
fn super_helices_have_their_closed_forms() {
    let sets = [set("elements", vec![10.0, 20.0]), set("steps", vec![100.0, 200.0])];
    let outcome = run("super-helix", None, &sets, None).unwrap();
    assert!(outcome.passed(), "{:#?}", outcome.checks);
    assert!(outcome.checks.len() >= 5, "{:#?}", outcome.checks);
}

#[test]
fn friction_calms_a_tuft() {
    let sets = [set("strands", 60), set("mus", vec![0.0, 0.6]), set("times", vec![0.5, 0.25, 1.0])];
    let outcome = run("coherence", None, &sets, None).unwrap();
    assert_eq!((outcome.rows.len(), outcome.checks.len()), (2, 2));
    // Half of the usual time shows half of the effect, so the experiment's own limits are not asked for, nor how far neighbours stray: that
    // takes all of it.
    let part = outcome.rows[1].get("decay_over_first").and_then(|value| value.as_f64()).unwrap();
    assert!(part < 0.9, "{:#?}", outcome.rows);
}
