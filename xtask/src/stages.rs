use std::fmt::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Stages of a longer chore, with the time that each took.
#[derive(Default)]
pub(crate) struct Stages {
    done: Vec<(String, Duration, bool)>,
}

impl Stages {
    /// Runs a stage; an error counts as a failure and is printed.
    pub(crate) fn time(&mut self, name: &str, stage: impl FnOnce() -> Result<bool>) {
        println!("\n== {name}");
        let start = Instant::now();
        let passed = stage().unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            false
        });
        let time = start.elapsed();
        println!("== {name}: {} after {:.1} s", verdict(passed), time.as_secs_f64());
        self.done.push((name.to_owned(), time, passed));
    }

    pub(crate) fn passed(&self) -> bool {
        self.done.iter().all(|(_, _, passed)| *passed)
    }

    /// One line for each stage and one for all.
    pub(crate) fn summary(&self) -> String {
        let mut text = String::from("\n== summary\n");
        let total = self.done.iter().map(|(_, time, _)| *time).sum();
        let lines = self.done.iter().map(|(name, time, passed)| (name.as_str(), *time, *passed));
        for (name, time, passed) in lines.chain([("all", total, self.passed())]) {
            let _ = writeln!(text, "{name:<14} {:>8.1} s  {}", time.as_secs_f64(), verdict(passed));
        }
        text
    }
}

fn verdict(passed: bool) -> &'static str {
    if passed { "passed" } else { "FAILED" }
}

/// Runs a command with its output on ours; whether it succeeded.
pub(crate) fn run(command: &mut Command) -> Result<bool> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("could not start {program}"))?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_fails_all_and_later_stages_still_run() {
        let mut stages = Stages::default();
        assert!(stages.passed());
        stages.time("first", || Ok(true));
        stages.time("second", || anyhow::bail!("broken"));
        stages.time("third", || Ok(true));
        assert!(!stages.passed());
        let summary = stages.summary();
        let verdicts: Vec<_> = summary.lines().filter_map(|line| line.split_once(" s  ")).collect();
        assert_eq!(
            verdicts.iter().map(|(_, verdict)| *verdict).collect::<Vec<_>>(),
            ["passed", "FAILED", "passed", "FAILED"]
        );
    }

    #[test]
    fn a_missing_program_is_an_error_with_its_name() {
        let error = run(&mut Command::new("no-such-program-7f3a")).expect_err("nothing to start");
        assert!(error.to_string().contains("no-such-program-7f3a"));
    }
}
