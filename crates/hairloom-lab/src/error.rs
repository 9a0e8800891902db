use hairloom::body::BodyError;
use hairloom::names::{did_you_mean, one_of, suggest};
use hairloom::scene::ModelError;
use hairloom::solve::StepError;
use hairloom_picture::PictureError;
use thiserror::Error;

/// Why an experiment has no outcome.
#[derive(Debug, Error)]
pub enum LabError {
    /// A benchmark could not be carried through.
    #[error("{problem}")]
    Bench {
        /// What went wrong.
        problem: String,
    },
    /// No experiment of that name.
    #[error("unknown experiment '{name}'; expected {expected}{}", did_you_mean(.suggestion))]
    UnknownExperiment {
        /// The name as given.
        name: String,
        /// The names there are.
        expected: String,
        /// The most similar of them.
        suggestion: Option<String>,
    },
    /// No benchmark of that name.
    #[error("unknown benchmark '{name}'; expected {expected}{}", did_you_mean(.suggestion))]
    UnknownBench {
        /// The name as given.
        name: String,
        /// The names there are.
        expected: String,
        /// The most similar of them.
        suggestion: Option<String>,
    },
    /// The experiment does not run with that solver.
    #[error("experiment '{experiment}' cannot run with solver '{solver}'; expected {expected}{}", did_you_mean(.suggestion))]
    UnknownSolver {
        /// The experiment.
        experiment: &'static str,
        /// The solver as given.
        solver: String,
        /// The solvers that it runs with.
        expected: String,
        /// The most similar of them.
        suggestion: Option<String>,
    },
    /// Neither the experiment nor its solver has that parameter.
    #[error("unknown parameter '{key}' of {owner}; expected {expected}{}", did_you_mean(.suggestion))]
    UnknownParameter {
        /// The key as given.
        key: String,
        /// Whose parameter it should be.
        owner: String,
        /// The parameters there are.
        expected: String,
        /// The most similar of them.
        suggestion: Option<String>,
    },
    /// A parameter of the wrong type or out of its range.
    #[error("parameter '{key}': {problem}")]
    BadParameter {
        /// The dotted key.
        key: String,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// Particles that could not be advanced on a grid.
    #[error("step {step}: {problem}")]
    Grid {
        /// The step.
        step: usize,
        /// What went wrong.
        problem: String,
    },
    /// A contact problem that makes no sense.
    #[error("the contact problem: {0}")]
    Contact(#[from] hairloom::contact::nsgs::ProblemError),
    /// The rig cannot be modelled.
    #[error("the rig cannot be built: {0}")]
    Model(#[from] ModelError),
    /// The hair of the rig has no rest shape that would hold it.
    #[error("the rig: {0}")]
    Rest(#[from] hairloom::rest::global_force::GlobalForceError),
    /// The rig's bodies cannot move as told.
    #[error("the rig's bodies: {0}")]
    Body(#[from] BodyError),
    /// What a solver had come to does not fit the one that goes on.
    #[error("the rig: {0}")]
    Checkpoint(#[from] hairloom::solve::CheckpointError),
    /// A reference was not found.
    #[error("the reference, {what}, was not found")]
    Reference {
        /// What was looked for.
        what: String,
    },
    /// The solver gave up.
    #[error("the solver failed at {time:.4} s: {source}")]
    Step {
        /// Simulated time [s].
        time: f64,
        /// What went wrong.
        source: StepError,
    },
    /// The plot could not be drawn or written.
    #[error("the plot cannot be made: {0}")]
    Picture(#[from] PictureError),
}

impl LabError {
    /// Whether what was asked for is at fault, and not the run.
    pub fn is_bad_input(&self) -> bool {
        matches!(
            self,
            Self::UnknownExperiment { .. }
                | Self::UnknownBench { .. }
                | Self::UnknownSolver { .. }
                | Self::UnknownParameter { .. }
                | Self::BadParameter { .. }
        )
    }

    pub(crate) fn unknown_experiment(name: &str, known: &[&str]) -> Self {
        let (expected, suggestion) = (one_of(known), suggest(name, known));
        Self::UnknownExperiment { name: name.to_owned(), expected, suggestion }
    }

    pub(crate) fn bench(problem: &str) -> Self {
        Self::Bench { problem: problem.to_owned() }
    }

    pub(crate) fn unknown_bench(name: &str, known: &[&str]) -> Self {
        let (expected, suggestion) = (one_of(known), suggest(name, known));
        Self::UnknownBench { name: name.to_owned(), expected, suggestion }
    }

    pub(crate) fn unknown_parameter(key: &str, prefix: &str, owner: String, known: &[&str]) -> Self {
        let suggestion = suggest(key, known).map(|name| format!("{prefix}{name}"));
        let expected = one_of(known);
        Self::UnknownParameter { key: format!("{prefix}{key}"), owner, expected, suggestion }
    }

    pub(crate) fn unknown_solver(experiment: &'static str, solver: &str, known: &[&str]) -> Self {
        let (expected, suggestion) = (one_of(known), suggest(solver, known));
        Self::UnknownSolver { experiment, solver: solver.to_owned(), expected, suggestion }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_come_with_the_list_and_a_guess() {
        let known = ["rope", "pendulum"];
        let told = LabError::unknown_experiment("nope", &known).to_string();
        assert_eq!(told, "unknown experiment 'nope'; expected one of rope, pendulum. Did you mean 'rope'?");
        let told = LabError::unknown_bench("colour", &known).to_string();
        assert_eq!(told, "unknown benchmark 'colour'; expected one of rope, pendulum");
        let told = LabError::unknown_parameter("seg", "solver.", "ftl".into(), &["segment"]).to_string();
        assert!(told.ends_with("Did you mean 'solver.segment'?"), "{told}");
    }
}
