//! What can be wrong with a scene, told so that it can be mended: the file, the place, the key, what was
//! expected and what was found.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// Where in the user's input something stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the scene's text; displayed as `file:line:column`.
    Text {
        /// Name of the file, as given by the caller.
        file: Arc<str>,
        /// Line, counted from 1.
        line: usize,
        /// Column in characters, counted from 1.
        column: usize,
    },
    /// In an override of one key; displayed as `--set key=value`.
    Override {
        /// The override, `key=value`.
        setting: Arc<str>,
    },
    /// Nowhere in the input: the scene was put together by a program.
    Program,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { file, line, column } => write!(formatter, "{file}:{line}:{column}"),
            Self::Override { setting } => write!(formatter, "--set {setting}"),
            Self::Program => formatter.write_str("scene"),
        }
    }
}

/// A scene that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct SceneError {
    /// Where the problem is.
    pub place: Place,
    /// What the problem is.
    pub problem: Box<Problem>,
}

impl SceneError {
    pub(super) fn new(place: &Place, problem: Problem) -> Self {
        Self { place: place.clone(), problem: Box::new(problem) }
    }
}

/// What is wrong with a scene.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Problem {
    /// The text is not TOML.
    #[error("not valid TOML: {0}")]
    Syntax(String),
    /// A table holds a key that it does not know.
    #[error("unknown key '{key}' {table}; expected {expected}{}", did_you_mean(.suggestion))]
    UnknownKey {
        /// The key as written.
        key: String,
        /// Where it stands, as `in [time]` or `at the top level`.
        table: String,
        /// The keys that the table knows.
        expected: String,
        /// The most similar known key.
        suggestion: Option<String>,
    },
    /// A key's value should be one of several names, and is none of them.
    #[error("{key}: unknown {what} '{found}'; expected {expected}{}", did_you_mean(.suggestion))]
    UnknownName {
        /// The dotted key.
        key: String,
        /// What is named, for instance `figure`.
        what: String,
        /// The name as written.
        found: String,
        /// The names to choose from.
        expected: String,
        /// The most similar of them.
        suggestion: Option<String>,
    },
    /// A value of the wrong type, or out of range.
    #[error("{key}: expected {expected}, found {found}")]
    Unexpected {
        /// The dotted key.
        key: String,
        /// What the key takes.
        expected: String,
        /// What the scene holds.
        found: String,
    },
    /// A table lacks what it cannot do without.
    #[error("{table} needs {needed}")]
    Missing {
        /// The table, as `[groom]`.
        table: String,
        /// What is missing.
        needed: String,
    },
    /// A key that contradicts another, or has no effect beside it.
    #[error("{key}: {reason}")]
    Conflict {
        /// The dotted key.
        key: String,
        /// What is contradictory, and what to do.
        reason: String,
    },
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or(String::new(), |name| format!(". Did you mean '{name}'?"))
}

/// `none`, `a` or `one of a, b`.
pub(super) fn one_of(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        [only] => (*only).to_owned(),
        _ => format!("one of {}", names.join(", ")),
    }
}

/// The name most similar to `written`, when it is similar enough to have been meant.
pub(super) fn suggest(written: &str, names: &[&str]) -> Option<String> {
    let plain = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let written = plain(written);
    let tolerance = (written.chars().count() / 3).max(1);
    let nearest = names.iter().map(|name| (edit_distance(&written, &plain(name)), *name)).min()?;
    if nearest.0 <= tolerance {
        return Some(nearest.1.to_owned());
    }
    // A word cut short ("turb") or drawn out ("frames_per_second") is far in edits, yet surely meant.
    let shared = |name: &str| plain(name).starts_with(&written) || written.starts_with(&plain(name));
    let long = |name: &str| written.len().min(name.len()) >= 3;
    names.iter().find(|name| long(name) && shared(name)).map(|name| (*name).to_owned())
}

/// Insertions, deletions, substitutions and swaps of neighbours that lead from `a` to `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substitution = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substitution.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distances() {
        for (a, b, distance) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("fps", "pfs", 1), ("walk", "walks", 1)]
        {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }

    #[test]
    fn suggestions_are_near_or_absent() {
        let names = ["start", "end", "frames", "fps", "substeps"];
        assert_eq!(suggest("substep", &names).as_deref(), Some("substeps"));
        assert_eq!(suggest("Frames", &names).as_deref(), Some("frames"));
        assert_eq!(suggest("subs", &names).as_deref(), Some("substeps"));
        assert_eq!(suggest("frames_per_second", &names).as_deref(), Some("frames"));
        assert_eq!(suggest("velocity", &names), None);
        assert_eq!(suggest("anything", &[]), None);
    }
}
