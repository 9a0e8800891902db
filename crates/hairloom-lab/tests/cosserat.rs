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
}

#[test]
fn a_gust_has_three_times() {
    let error = run("gust", None, &[("times".to_owned(), vec![1.0, 2.0].into())], None);
    assert!(error.expect_err("two times are too few").is_bad_input());
}
