use std::path::PathBuf;

use clap::Args;
use hairloom_lab::bench;

use crate::failure::Failure;
use crate::lab::failure;
use crate::output::{print, tell, write_json};

/// Measure: ratios, each taken in one run, since absolute times hang on the machine.
///
/// Without a name, lists the benchmarks. Let nothing else run meanwhile.
#[derive(Args)]
#[command(after_long_help = format!("Example:\n  hairloom bench strands --json -\n\n{}", bench::LDL_SYSTEMS))]
pub(crate) struct Arguments {
    /// Name of the benchmark; leave it out for a list.
    name: Option<String>,
    /// Write the outcome as JSON; `-` prints it, and nothing else.
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some(name) = &arguments.name else {
        let width = bench::names().iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let lines = bench::names().iter().map(|(name, summary)| format!("{name:width$}  {summary}\n"));
        return print(&lines.collect::<String>());
    };
    let outcome = bench::run(name, &tell).map_err(failure)?;
    match &arguments.json {
        Some(to) if to.as_os_str() == "-" => write_json(to, &outcome),
        Some(to) => {
            write_json(to, &outcome)?;
            print(&outcome.to_string())
        }
        None => print(&outcome.to_string()),
    }
}
