//! What can go wrong with a layer, for the caller and inside the readers.

use std::io;
use std::path::{Path, PathBuf};

/// Why a USD layer could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UsdError {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file begins like neither format.
    #[error(
        "{}: not a USD layer: expected a file that begins with \"#usda\" or \"PXR-USDC\", or a .usdz package of \
         such", path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// A binary file breaks the format.
    #[error("{}: byte {offset}: expected {expected}", path.display())]
    Binary {
        /// The file.
        path: PathBuf,
        /// Where: bytes from the start of the file.
        offset: u64,
        /// What should have been there.
        expected: String,
    },
    /// A text file breaks the format.
    #[error("{}:{line}:{column}: expected {expected}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// Line, the first is 1.
        line: usize,
        /// Column in bytes, the first is 1.
        column: usize,
        /// What should have been there.
        expected: String,
    },
    /// Layers cannot be put together.
    #[error("{}: {problem}", path.display())]
    Composition {
        /// The layer.
        path: PathBuf,
        /// Its prim, and what is wrong.
        problem: String,
    },
    /// The caller asked for what cannot be, such as a value of another type than declared.
    #[error("{0}")]
    Usage(String),
}

impl UsdError {
    /// An input or output error of the file at `path`.
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

/// What a reader finds wrong, before the file's name and the line are known.
#[derive(Debug)]
pub(super) enum Fault {
    Format { offset: u64, expected: String },
    Io(io::Error),
}

pub(super) type Parsed<T> = Result<T, Fault>;

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The fault that something else was expected at `offset`.
pub(super) fn fault<T>(offset: u64, expected: impl Into<String>) -> Parsed<T> {
    Err(Fault::Format { offset, expected: expected.into() })
}
