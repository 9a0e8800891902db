//! Benchmarks: ratios, each measured in one run, since absolute times hang on the machine and its load.

mod admm;
mod clock;
mod der_mpm;
mod elastic;
mod elastic_in_contact;
mod follow;
mod ftl;
mod io;
mod ldl;
mod nsgs;
mod sag_free;
mod strands;
mod xpbd_mpm;

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::LabError;

pub use ldl::FORMULA as LDL_SYSTEMS;

/// A ratio with its goal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ratio {
    /// What is compared.
    pub name: String,
    /// The ratio found.
    pub value: f64,
    /// The goal, a least or a largest value as the name says.
    pub goal: f64,
    /// Whether the goal is met.
    pub ok: bool,
}

impl Ratio {
    fn at_least(name: impl Into<String>, value: f64, goal: f64) -> Self {
        Self { name: format!("{} (at least)", name.into()), value, goal, ok: value >= goal }
    }

    fn below(name: impl Into<String>, value: f64, goal: f64) -> Self {
        Self { name: format!("{} (below)", name.into()), value, goal, ok: value < goal }
    }

    fn at_most(name: impl Into<String>, value: f64, goal: f64) -> Self {
        Self { name: format!("{} (at most)", name.into()), value, goal, ok: value <= goal }
    }
}

/// What a benchmark found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bench {
    /// Its name.
    pub bench: &'static str,
    /// What was measured.
    pub rows: Vec<Map<String, Value>>,
    /// What it comes to.
    pub ratios: Vec<Ratio>,
}

/// Names of the benchmarks, with a line on each.
pub fn names() -> &'static [(&'static str, &'static str)] {
    &[
        (
            "admm",
            "the hairy ball of 2,000 and 16,000 strands (HAIRLOOM_BENCH_LARGE=1: 128,000 too, HAIRLOOM_BENCH_STRANDS=N: that one alone): phases, memory, growth; rods in lanes and plain",
        ),
        (
            "der-mpm",
            "a dance of 2,076 strands and long hair of 1,053 that all others follow: frames a second, phases, growth to 50,000 strands",
        ),
        (
            "elastic",
            "Newton steps on whole strands against the splitting of Daviet 2023: time to equal error, and error after equal time in contact",
        ),
        (
            "ftl",
            "the furry monster's 29,000 strands: stages, lanes against plain code, growth to 200,000 strands",
        ),
        ("follow", "69,000 strands of 13 vertices that follow 2,000 guides, against a copy of their points"),
        ("io", "50,000 strands of 32 vertices in every binary format: reading and writing, against a copy"),
        (
            "ldl",
            "3,000 band systems of dimension 400, 52 and 127, 300 to 30,000 of 400: lanes against plain code (formula: bench --help)",
        ),
        (
            "nsgs",
            "contact problems, grown and in a folder (HAIRLOOM_CONTACT_PROBLEMS=folder): local solvers of table 2 of Daviet et al. 2011, mixing, interior point, assembly and its growth, two threads against one",
        ),
        (
            "sag-free",
            "forces that hold the hairstyles of table 1 of Hsu et al. 2023: own weight, our own method for 120 s each at most (HAIRLOOM_BENCH_SECONDS), growth; clarabel on the smallest (HAIRLOOM_BENCH_LARGE=1: on middle and long too; HAIRLOOM_BENCH_STYLES=drape,long: these)",
        ),
        ("strands", "1,000 strands of 32 vertices on every solver: CPU seconds per simulated second"),
        ("xpbd-mpm", "512 strands of 16 vertices: 64 iterations of Cosserat rods and a step of their grid"),
    ]
}

/// Hears what is being measured, for people who wait.
pub type Listener<'a> = &'a (dyn Fn(&str) + Sync);

/// Runs the benchmark called `name`.
pub fn run(name: &str, tell: Listener<'_>) -> Result<Bench, LabError> {
    match name {
        "der-mpm" => Ok(der_mpm::run()),
        "elastic" => Ok(elastic::run(tell)),
        "follow" => Ok(follow::run()),
        "admm" => Ok(admm::run(tell)),
        "ftl" => Ok(ftl::run()),
        "io" => io::run(),
        "ldl" => Ok(ldl::run()),
        "nsgs" => nsgs::run(),
        "sag-free" => sag_free::run(),
        "strands" => Ok(strands::run()),
        "xpbd-mpm" => Ok(xpbd_mpm::run()),
        _ => {
            let known: Vec<&str> = names().iter().map(|(name, _)| *name).collect();
            Err(LabError::unknown_bench(name, &known))
        }
    }
}

impl fmt::Display for Bench {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.bench)?;
        for row in &self.rows {
            let cells: Vec<String> =
                row.iter().map(|(key, value)| format!("{key} {}", text(value))).collect();
            writeln!(formatter, "  {}", cells.join(", "))?;
        }
        for ratio in &self.ratios {
            let verdict = if ratio.ok { "ok" } else { "MISSED" };
            writeln!(formatter, "  {}: {:.3}, goal {} — {verdict}", ratio.name, ratio.value, ratio.goal)?;
        }
        Ok(())
    }
}

/// A value with as many digits as people read.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => whole.to_string(),
            (None, Some(real)) if real.abs() >= 0.01 => format!("{real:.3}"),
            (None, Some(real)) => format!("{real:.2e}"),
            _ => number.to_string(),
        },
        Value::Object(parts) => {
            let parts: Vec<String> =
                parts.iter().map(|(key, value)| format!("{key} {}", text(value))).collect();
            format!("({})", parts.join(", "))
        }
        other => other.to_string(),
    }
}
