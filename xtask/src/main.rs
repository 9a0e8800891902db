//! The project's chores, for `cargo xtask CHORE`:
//!
//! - `test [ARGUMENTS]` makes all that the tests need and runs every test of the workspace. Arguments go to
//!   `cargo test`, for instance `cargo xtask test -p hairloom-io -- obj`. Tests that need other software or files are
//!   ignored by a plain `cargo test`; here they run.
//! - `ci` checks formatting, lints, documentation and tests, and prints the time of each.

mod grooms;
mod python;
mod stages;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

const USAGE: &str = "usage: cargo xtask test [ARGUMENTS OF CARGO TEST] | cargo xtask ci";

/// Units in brackets, as in `[m]`, look like links to rustdoc, which then misses an item of that name.
const RUSTDOC_FLAGS: &str = "-D warnings -A rustdoc::broken_intra_doc_links";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let passed = match arguments.next().as_deref() {
        Some("test") => test(&arguments.collect::<Vec<_>>()),
        Some("ci") if arguments.len() == 0 => ci(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the tests, all of them if there are no `arguments`.
fn test(arguments: &[String]) -> Result<bool> {
    let interpreter = python::prepare(&root()?)?;
    let mut command = cargo(&["test", "--release"])?;
    command.env(python::VARIABLE, &interpreter);
    let missing = grooms::missing(&root()?)?;
    let blender = python::has(&interpreter, "bpy");
    let mut skip = Vec::new();
    skip.extend(missing.is_some().then_some(grooms::TESTS));
    skip.extend((!blender).then_some(python::BLENDER_TESTS));
    let passed = stages::run(command.args(test_arguments(arguments, &skip)))?;
    if !blender {
        println!(
            "\nnot run: the tests {}*, for Blender as a Python package needs Python 3.11",
            python::BLENDER_TESTS
        );
    }
    if let Some(folder) = missing {
        let (variable, tests) = (grooms::VARIABLE, grooms::TESTS);
        println!("\nnot run: the tests {tests}*, for there are no real grooms at {}", folder.display());
        println!("({variable} may name a folder of them)");
    }
    Ok(passed)
}

/// What `cargo test` gets: the user's arguments, all of the workspace if they name no part of it, and the tests that
/// others ignore.
fn test_arguments(arguments: &[String], skip: &[&str]) -> Vec<String> {
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let mut all = arguments[..end].to_vec();
    if end == 0 {
        all.push("--workspace".into());
    }
    all.extend(["--", "--include-ignored"].map(str::to_owned));
    for skipped in skip {
        all.extend(["--skip".into(), (*skipped).into()]);
    }
    all.extend(arguments.iter().skip(end + 1).cloned());
    all
}

/// Runs all checks even if one fails, so that one run shows everything that is wrong.
fn ci() -> Result<bool> {
    let mut stages = stages::Stages::default();
    stages.time("formatting", || stages::run(&mut cargo(&["fmt", "--all", "--check"])?));
    stages.time("lints", || {
        let lints = ["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"];
        stages::run(&mut cargo(&lints)?)
    });
    stages.time("documentation", || {
        // The profile of the other stages, so that dependencies are compiled once. Libraries only: the command
        // `hairloom` and the engine of that name would write the same pages.
        let mut documentation = cargo(&["doc", "--release", "--workspace", "--no-deps", "--lib"])?;
        stages::run(documentation.env("RUSTDOCFLAGS", RUSTDOC_FLAGS))
    });
    stages.time("tests", || test(&["--workspace", "--no-fail-fast"].map(str::to_owned)));
    print!("{}", stages.summary());
    Ok(stages.passed())
}

/// A cargo command that works on the whole project from its root.
fn cargo(arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root()?);
    Ok(command)
}

/// The folder of the workspace.
fn root() -> Result<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").context("start this as `cargo xtask`")?;
    let package = std::path::absolute(package)?;
    Ok(package.parent().context("xtask must lie in the workspace")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::test_arguments;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn ignored_tests_run_whatever_else_is_asked_for() {
        let joined = |text, skip: &[&str]| test_arguments(&words(text), skip).join(" ");
        assert_eq!(joined("", &[]), "--workspace -- --include-ignored");
        assert_eq!(joined("-p io", &[]), "-p io -- --include-ignored");
        assert_eq!(joined("-- obj", &[]), "--workspace -- --include-ignored obj");
        let without = "-p io -- --include-ignored --skip real_groom obj";
        assert_eq!(joined("-p io -- obj", &["real_groom"]), without);
    }
}
