use hairloom::body::BodyError;
use hairloom::scene::ModelError;
use hairloom::solve::StepError;
use hairloom_picture::PictureError;
use thiserror::Error;

/// Why an experiment has no outcome.
#[derive(Debug, Error)]
pub enum LabError {
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
    /// The rig cannot be modelled.
    #[error("the rig cannot be built: {0}")]
    Model(#[from] ModelError),
    /// The rig's bodies cannot move as told.
    #[error("the rig's bodies: {0}")]
    Body(#[from] BodyError),
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
        let (expected, suggestion) = (one_of(known), nearest(name, known));
        Self::UnknownExperiment { name: name.to_owned(), expected, suggestion }
    }

    pub(crate) fn unknown_bench(name: &str, known: &[&str]) -> Self {
        let (expected, suggestion) = (one_of(known), nearest(name, known));
        Self::UnknownBench { name: name.to_owned(), expected, suggestion }
    }

    pub(crate) fn unknown_parameter(key: &str, prefix: &str, owner: String, known: &[&str]) -> Self {
        let suggestion = nearest(key, known).map(|name| format!("{prefix}{name}"));
        let expected = one_of(known);
        Self::UnknownParameter { key: format!("{prefix}{key}"), owner, expected, suggestion }
    }

    pub(crate) fn unknown_solver(experiment: &'static str, solver: &str, known: &[&str]) -> Self {
        let (expected, suggestion) = (one_of(known), nearest(solver, known));
        Self::UnknownSolver { experiment, solver: solver.to_owned(), expected, suggestion }
    }
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map(|name| format!(" (did you mean '{name}'?)")).unwrap_or_default()
}

fn one_of(known: &[&str]) -> String {
    match known {
        [only] => format!("'{only}'"),
        _ => format!("one of {}", known.join(", ")),
    }
}

/// The known name most similar to `name`, where one is similar at all.
fn nearest(name: &str, known: &[&str]) -> Option<String> {
    let (distance, best) = known
        .iter()
        .map(|candidate| (edit_distance(name, candidate), *candidate))
        .min_by_key(|pair| pair.0)?;
    let prefix = name.len() >= 3 && best.starts_with(name);
    (prefix || distance * 5 <= best.chars().count().max(4) * 2).then(|| best.to_owned())
}

/// How many letters must be inserted, dropped, replaced or swapped with their neighbour to turn one word into
/// the other (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distances_count_letters() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("roep", "rope"), 1);
        assert_eq!(edit_distance("same", "same"), 0);
    }

    #[test]
    fn only_similar_names_are_suggested() {
        let known = ["particles", "segment", "duration"];
        assert_eq!(nearest("particels", &known).as_deref(), Some("particles"));
        assert_eq!(nearest("seg", &known).as_deref(), Some("segment"));
        assert_eq!(nearest("colour", &known), None);
    }
}
