//! Experiments and benchmarks for Hairloom: parameters, a reference, a run, a check and a plot.
//!
//! An experiment puts a solver before a closed form, a reference of its own or a published figure, measures, and
//! says whether what it found holds. All experiments take their parameters in one way and answer in one shape.
//!
//! ```
//! let sets = [("duration".to_owned(), toml::Value::Float(0.4)), ("particles".to_owned(), toml::Value::Integer(12))];
//! let outcome = hairloom_lab::run("rope", None, &sets, None)?;
//! println!("{}: {} checks in {:.2} s", outcome.experiment, outcome.checks.len(), outcome.seconds);
//! # Ok::<(), hairloom_lab::LabError>(())
//! ```

pub mod bench;
mod bend_twist;
mod cantilever;
mod catenary;
mod coherence;
mod contact_law;
mod cosserat;
mod error;
mod experiment;
mod friction;
mod grid_hair;
mod hairstyles;
mod helix;
mod orbit;
mod outcome;
mod release;
mod ring;
mod rope;
mod settings;
mod strands;
mod super_helix;
mod tridiagonal;
mod vibration;

pub use error::LabError;
pub use outcome::{Bound, Check, Outcome, Row};

use std::path::Path;

use experiment::Entry;

/// An experiment, for lists and help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line on what it shows.
    pub summary: &'static str,
    /// What it is held against: a closed form, a paper's figure.
    pub reference: &'static str,
    /// The solvers that it can run with, the usual one first.
    pub solvers: &'static [&'static str],
    /// Its parameters, one per line, with their usual values.
    pub help: String,
}

/// All experiments, by name.
fn entries() -> Vec<Entry> {
    vec![
        Entry::of::<rope::Rope>(),
        Entry::of::<cantilever::Cantilever>(),
        Entry::of::<bend_twist::BendTwist>(),
        Entry::of::<vibration::Vibration>(),
        Entry::of::<helix::Helix>(),
        Entry::of::<catenary::Catenary>(),
        Entry::of::<release::Release>(),
        Entry::of::<ring::Ring>(),
        Entry::of::<friction::StickSlip>(),
        Entry::of::<friction::Incline>(),
        Entry::of::<cosserat::TwistingRod>(),
        Entry::of::<cosserat::ZigZag>(),
        Entry::of::<cosserat::Gust>(),
        Entry::of::<cosserat::Saddle>(),
        Entry::of::<hairstyles::Hairstyles>(),
        Entry::of::<hairstyles::Stirred>(),
        Entry::of::<hairstyles::Drape>(),
        Entry::of_law::<contact_law::LocalSolvers>(),
        Entry::of_law::<contact_law::Stacking>(),
        Entry::of::<grid_hair::Stability>(),
        Entry::of::<grid_hair::Volume>(),
        Entry::of::<grid_hair::Drop>(),
        Entry::of::<grid_hair::Substeps>(),
        Entry::of_law::<grid_hair::Transfer>(),
        Entry::of_law::<super_helix::SuperHelix>(),
        Entry::of::<orbit::Orbit>(),
        Entry::of::<coherence::Coherence>(),
    ]
}

/// What can be run.
pub fn experiments() -> Vec<Info> {
    entries().iter().map(Entry::info).collect()
}

/// Runs the experiment called `name` with `solver` (its usual one without), parameters `sets`, and draws what
/// it found to the PNG file `plot`. Keys that begin with `solver.` set the solver's own parameters.
pub fn run(
    name: &str,
    solver: Option<&str>,
    sets: &[(String, toml::Value)],
    plot: Option<&Path>,
) -> Result<Outcome, LabError> {
    let entries = entries();
    let Some(entry) = entries.iter().find(|entry| entry.name == name) else {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
        return Err(LabError::unknown_experiment(name, &names));
    };
    (entry.run)(solver, sets, plot)
}
