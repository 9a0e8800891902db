//! What can be wrong with a scene, told so that it can be mended: the file, the place, the key, what was
//! expected and what was found.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::names::did_you_mean;
pub(super) use crate::names::{one_of, suggest};

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
