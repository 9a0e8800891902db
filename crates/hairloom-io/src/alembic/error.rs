use std::io;
use std::path::{Path, PathBuf};

/// Why an Alembic archive could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AlembicError {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file does not begin like an archive.
    #[error("{}: not an Alembic archive: expected a file that begins with \"Ogawa\"", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The file is in the old container.
    #[error(
        "{}: an Alembic archive in HDF5, which programs stopped writing in 2014; export it again as Ogawa",
        path.display()
    )]
    Hdf5 {
        /// The file.
        path: PathBuf,
    },
    /// Whoever wrote the file did not come to the end.
    #[error("{}: the archive was not finished: the program that wrote it was cut off", path.display())]
    Unfinished {
        /// The file.
        path: PathBuf,
    },
    /// The file breaks the format.
    #[error("{}: byte {offset}: expected {expected}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Where: bytes from the start of the file.
        offset: u64,
        /// What should have been there.
        expected: String,
    },
    /// An object of the archive cannot be used.
    #[error("{}: {object}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Path of the object.
        object: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The caller asked for what an archive cannot hold.
    #[error("{}: {problem}", path.display())]
    Usage {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

impl AlembicError {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(super) fn usage(path: &Path, problem: impl Into<String>) -> Self {
        Self::Usage { path: path.to_owned(), problem: problem.into() }
    }
}
