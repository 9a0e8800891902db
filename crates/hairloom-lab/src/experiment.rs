//! What makes an experiment, and how one is run.

use std::path::Path;
use std::time::Instant;

use hairloom::solve::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Value;

use crate::outcome::{Findings, Outcome};
use crate::settings::{Settings, own_parameters, solver_parameters};
use crate::strands::{ROD_HELP, Rod};
use crate::{Info, LabError};

/// A key and what is wrong with its value.
pub(crate) type BadKey = (&'static str, String);

/// An experiment. Its parameters are a serde struct with `#[serde(default)]`; keys that it does not have are refused before.
pub(crate) trait Experiment {
    /// What can be set.
    type Params: Default + Serialize + DeserializeOwned;
    /// Its name on the command line.
    const NAME: &'static str;
    /// One line on what it shows.
    const SUMMARY: &'static str;
    /// What it is held against.
    const REFERENCE: &'static str;
    /// The solvers that it runs with, the usual one first.
    const SOLVERS: &'static [&'static str] = &["admm"];
    /// Each parameter with what it is, in order; those of [`Rod`] come before.
    const HELP: &'static [(&'static str, &'static str)];

    /// Adapts the solver's usual parameters to the experiment; what the user sets comes after that.
    fn adapt(_method: &mut Method) {}
    /// The hair of an experiment with rods.
    fn rod(_params: &Self::Params) -> Option<&Rod> {
        None
    }
    /// Refuses parameters that make no sense; those of the hair are checked before.
    fn check(params: &Self::Params) -> Result<(), BadKey>;
    /// Runs and checks.
    fn run(params: &Self::Params, method: &Method) -> Result<Findings, LabError>;
}

/// An experiment on a part by itself, such as the law of contact: without a solver of hair, but maybe with one of contacts.
pub(crate) trait LawExperiment {
    /// What can be set.
    type Params: Default + Serialize + DeserializeOwned;
    /// Its name on the command line.
    const NAME: &'static str;
    /// One line on what it shows.
    const SUMMARY: &'static str;
    /// What it is held against.
    const REFERENCE: &'static str;
    /// What it runs with, such as solvers of contacts, the usual one first.
    const SOLVERS: &'static [&'static str];
    /// Each parameter with what it is, in order.
    const HELP: &'static [(&'static str, &'static str)];

    /// Refuses parameters that make no sense.
    fn check(params: &Self::Params) -> Result<(), BadKey>;
    /// Runs and checks.
    fn run(params: &Self::Params, solver: &'static str) -> Result<Findings, LabError>;
}

/// Runs an experiment with a solver, keys set to values, and a file to plot to.
type Run = fn(Option<&str>, &[(String, Value)], Option<&Path>) -> Result<Outcome, LabError>;

/// An experiment in the list of all.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) run: Run,
    info: fn() -> Info,
}

impl Entry {
    pub(crate) fn of<E: Experiment>() -> Self {
        Self { name: E::NAME, run: run::<E>, info: info::<E> }
    }

    pub(crate) fn of_law<E: LawExperiment>() -> Self {
        Self { name: E::NAME, run: run_law::<E>, info: info_law::<E> }
    }

    pub(crate) fn info(&self) -> Info {
        (self.info)()
    }
}

fn info<E: Experiment>() -> Info {
    let defaults = Settings::<E::Params>::defaults();
    let rod: &[_] = if E::rod(&E::Params::default()).is_some() { ROD_HELP } else { &[] };
    let lines: Vec<_> = rod.iter().chain(E::HELP).copied().collect();
    let mut help = parameter_help(&lines, &defaults);
    for solver in E::SOLVERS {
        let keys: Vec<String> =
            Method::by_name(solver).map(|method| solver_parameters(&method)).unwrap_or_default();
        help.push_str(&format!("  solver.*, of {solver}: {}\n", keys.join(", ")));
    }
    Info { name: E::NAME, summary: E::SUMMARY, reference: E::REFERENCE, solvers: E::SOLVERS, help }
}

fn parameter_help(lines: &[(&str, &str)], defaults: &toml::Table) -> String {
    let width = lines.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    let line = |(key, meaning): &(&str, &str)| {
        let usual = defaults.get(*key).map(in_short).unwrap_or_default();
        format!("  {key:width$}  {meaning} (usually {usual})\n")
    };
    lines.iter().map(line).collect()
}

/// A value as help shows it: of a list with hundreds of numbers, its ends say enough.
fn in_short(value: &Value) -> String {
    const MOST: usize = 8;
    match value {
        Value::Array(items) if items.len() > MOST => match &items[..] {
            [first, second, .., last] => format!("[{first}, {second}, … {last}], {} in all", items.len()),
            _ => value.to_string(),
        },
        _ => value.to_string(),
    }
}

fn info_law<E: LawExperiment>() -> Info {
    let help = parameter_help(E::HELP, &Settings::<E::Params>::defaults());
    Info { name: E::NAME, summary: E::SUMMARY, reference: E::REFERENCE, solvers: E::SOLVERS, help }
}

fn run_law<E: LawExperiment>(
    solver: Option<&str>,
    sets: &[(String, Value)],
    plot: Option<&Path>,
) -> Result<Outcome, LabError> {
    let start = Instant::now();
    let name = solver.or(E::SOLVERS.first().copied()).unwrap_or_default();
    let known = E::SOLVERS.iter().find(|known| **known == name);
    let solver = known.ok_or_else(|| LabError::unknown_solver(E::NAME, name, E::SOLVERS))?;
    let params: E::Params = own_parameters(E::NAME, sets)?;
    E::check(&params).map_err(|(key, problem)| LabError::BadParameter { key: key.to_owned(), problem })?;
    let Findings { rows, checks, figure } = E::run(&params, solver)?;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(path) = plot {
        figure.draw()?.save_png(path)?;
    }
    let params = serde_json::to_value(&params).unwrap_or_default();
    Ok(Outcome { experiment: E::NAME, solver, params, seconds, rows, checks })
}

fn run<E: Experiment>(
    solver: Option<&str>,
    sets: &[(String, Value)],
    plot: Option<&Path>,
) -> Result<Outcome, LabError> {
    let start = Instant::now();
    let settings = Settings::<E::Params>::read(E::NAME, E::SOLVERS, E::adapt, solver, sets)?;
    let Settings { params, method } = &settings;
    let usual = E::Params::default();
    let rods = E::rod(params).zip(E::rod(&usual));
    let checked = rods.map_or(Ok(()), |(rod, usual)| rod.check(usual)).and_then(|()| E::check(params));
    checked.map_err(|(key, problem)| LabError::BadParameter { key: key.to_owned(), problem })?;
    let Findings { rows, checks, figure } = E::run(params, method)?;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(path) = plot {
        figure.draw()?.save_png(path)?;
    }
    let (solver, params) = (method.name(), settings.to_json());
    Ok(Outcome { experiment: E::NAME, solver, params, seconds, rows, checks })
}
