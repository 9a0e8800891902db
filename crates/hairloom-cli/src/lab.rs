use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use hairloom_lab::{Bound, LabError, Outcome};
use serde_json::Value as Json;
use toml::Value;

use crate::failure::Failure;
use crate::output::{make_parent, print, write_json};
use crate::settings::setting;
use crate::table::{number, table};

/// Run an experiment: a solver against a closed form or published figures.
///
/// Without a name, lists the experiments and their parameters. The exit code is 1 if a check fails.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Name of the experiment; leave it out for a list.
    experiment: Option<String>,
    /// Solver to use instead of the experiment's usual one.
    #[arg(long)]
    solver: Option<String>,
    /// Set a parameter, its value in TOML; `solver.KEY` sets one of the solver's own.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<(String, Value)>,
    /// Write the outcome as JSON; `-` prints it, and nothing else.
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Draw the outcome.
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  hairloom lab                                  the experiments and their parameters
  hairloom lab rope --plot rope.png
  hairloom lab rope --set particles=40 --set solver.correction=0.8 --json -";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some(name) = &arguments.experiment else {
        return print(&list());
    };
    if let Some(plot) = &arguments.plot {
        make_parent(plot)?;
    }
    let solver = arguments.solver.as_deref();
    let outcome =
        hairloom_lab::run(name, solver, &arguments.set, arguments.plot.as_deref()).map_err(failure)?;
    if let Some(to) = &arguments.json {
        write_json(to, &outcome)?;
    }
    if arguments.json.as_deref().is_none_or(|to| to.as_os_str() != "-") {
        print(&report(&outcome))?;
    }
    let failed = outcome.checks.iter().filter(|check| !check.ok).count();
    match failed {
        0 => Ok(()),
        _ => Err(Failure::run(format!("{failed} of {} checks failed", outcome.checks.len()))),
    }
}

pub(crate) fn failure(error: LabError) -> Failure {
    if error.is_bad_input() { Failure::bad_input(error) } else { Failure::run(error) }
}

fn list() -> String {
    let mut text = String::new();
    for info in hairloom_lab::experiments() {
        let solvers = info.solvers.join(", ");
        let lines = [info.summary, &format!("Against: {}", info.reference), &format!("Solvers: {solvers}")];
        text.push_str(&format!("{}\n  {}\n{}\n", info.name, lines.join("\n  "), info.help));
    }
    text.push_str("Run one with `hairloom lab NAME [--set KEY=VALUE]…`.\n");
    text
}

/// Measurements and checks for people. Rows of one kind, that is with the same keys, share a table.
fn report(outcome: &Outcome) -> String {
    let mut text = format!("{} with {}, {:.2} s\n", outcome.experiment, outcome.solver, outcome.seconds);
    let mut rows = outcome.rows.iter().peekable();
    while let Some(first) = rows.next() {
        let keys: Vec<&str> = first.0.iter().map(|(key, _)| *key).collect();
        let cells = |row: &hairloom_lab::Row| row.0.iter().map(|(_, value)| cell(value)).collect::<Vec<_>>();
        let mut lines = vec![keys.iter().map(|key| (*key).to_owned()).collect(), cells(first)];
        while let Some(row) = rows.next_if(|row| row.0.iter().map(|(key, _)| *key).eq(keys.iter().copied())) {
            lines.push(cells(row));
        }
        text.push_str(&format!("\n{}", table(&lines)));
    }
    text.push('\n');
    for check in &outcome.checks {
        let mark = if check.ok { "ok    " } else { "FAILED" };
        let bound = match check.bound {
            Bound::AtMost => "at most",
            Bound::AtLeast => "at least",
        };
        let (value, limit) = (number(check.value), number(check.limit));
        let line = writeln!(text, "{mark}  {}: {value} ({bound} {limit})", check.name);
        debug_assert!(line.is_ok(), "writing to a string cannot fail");
    }
    text
}

fn cell(value: &Json) -> String {
    match value {
        Json::Null => "-".to_owned(),
        Json::Number(value) => value.as_f64().map_or_else(|| value.to_string(), number),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
