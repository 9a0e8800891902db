//! The project's chores, for `cargo xtask CHORE`:
//!
//! - `test [ARGUMENTS]` makes all that the tests need and runs every test of the workspace. Arguments go to
//!   `cargo test`, for instance `cargo xtask test -p hairloom-io -- obj`.
//! - `ci` checks formatting, lints, documentation and tests, and prints the time of each.

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
    command.env(python::VARIABLE, interpreter);
    if arguments.is_empty() {
        command.arg("--workspace");
    }
    stages::run(command.args(arguments))
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
    stages.time("tests", || test(&[]));
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
