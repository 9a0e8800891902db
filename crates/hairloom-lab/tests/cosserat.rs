//! The experiments with Cosserat rods as users run them, small.

use hairloom_lab::{Outcome, run};
use toml::Value;

/// Runs an experiment of which all checks must hold.
fn passed(name: &str, sets: &[(&str, Value)]) -> Outcome {
    let sets: Vec<(String, Value)> =
        sets.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    let outcome = run(name, None, &sets, None).unwrap_or_else(|error| panic!("{name}: {error}"));
    let failed: Vec<_> = outcome.checks.iter().filter(|check| !check.ok).collect();
    assert!(failed.is_empty() && !outcome.checks.is_empty(), "{name} with {sets:?}: {failed:#?}");
    outcome
}

#[test]
fn twist_stays_even_with_the_augmented_vector_alone() {
    passed("twisting-rod", &[]);
}

#[test]
fn a_zig_zag_comes_back_with_the_augmented_vector_alone() {
    passed("zig-zag", &[]);
}

#[test]
fn upright_hair_is_stiffened_as_greenhill_asks() {
    passed("saddle", &[("heavinesses", vec![4.0, 9.0, 20.0].into())]);
}

#[test]
fn strands_come_back_after_a_gust() {
    passed("gust", &[]);
    for solver in ["admm", "der-mpm"] {
        let outcome =
            run("gust", Some(solver), &[], None).unwrap_or_else(|error| panic!("{solver}: {error}"));
        assert!(outcome.passed(), "{solver}: {:#?}", outcome.checks);
    }
}

#[test]
fn a_gust_has_three_times() {
    let error = run("gust", None, &[("times".to_owned(), vec![1.0, 2.0].into())], None);
    assert!(error.expect_err("two times are too few").is_bad_input());
}

fn styles(name: &str) -> (&'static str, Value) {
    ("styles", Value::Array(vec![Value::String(name.to_owned())]))
}

#[test]
fn a_sag_free_drape_stays_where_others_fall() {
    let outcome = passed("hairstyles", &[styles("drape"), ("seconds", Value::Float(1.0))]);
    assert_eq!((outcome.rows.len(), outcome.checks.len()), (1, 3));
    // What balances forces alone falls, too.
    let moved = outcome.rows[0].get("moved_force_only").and_then(serde_json::Value::as_f64);
    assert!(moved.is_some_and(|moved| moved > 0.1), "{moved:?}");
}

#[test]
fn the_drape_stays_with_contact_and_falls_without_moments_or_yield() {
    passed("drape", &[("seconds", Value::Float(2.0))]);
}

#[test]
fn a_stirred_drape_comes_back() {
    let outcome = passed("stirred", &[styles("drape"), ("times", vec![1.0, 1.0, 3.0].into())]);
    assert_eq!(outcome.rows.len(), 3);
    let number = |row: usize, key: &str| outcome.rows[row].get(key).and_then(serde_json::Value::as_f64);
    // Row 0 is naive hair: sag-free hair moves much like it, but not as it does, and less alike is what has forces alone balanced.
    assert!(
        number(2, "likeness").is_some_and(|likeness| (0.5..0.999).contains(&likeness)),
        "{:?}",
        outcome.rows[2]
    );
    assert!(number(1, "likeness") < number(2, "likeness"), "{:?}", outcome.rows[1]);
    assert_eq!(number(2, "not_back"), Some(0.0), "{:?}", outcome.rows[2]);
}

#[test]
fn unknown_styles_are_named() {
    let (key, value) = styles("mullet");
    let error = run("hairstyles", None, &[(key.to_owned(), value)], None).expect_err("no mullet");
    assert!(error.to_string().contains("there is no hairstyle 'mullet'"), "{error}");
}
