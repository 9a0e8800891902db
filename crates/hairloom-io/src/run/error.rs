use std::io;
use std::path::PathBuf;

use hairloom::scene::SceneError;
use hairloom::simulate::SimulationError;

use crate::FileError;
use crate::cache::CacheError;
use crate::checkpoint::CheckpointFileError;

/// Why a run did not begin, or did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The scene's file could not be read.
    #[error("{}: cannot read the scene: {source}", path.display())]
    ReadScene {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The scene says something that cannot be.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The scene cannot be set up.
    #[error("{}: {source}", scene.display())]
    Setup {
        /// The scene's file.
        scene: PathBuf,
        /// What is wrong.
        source: SimulationError,
    },
    /// An output would replace a file that the run reads or writes itself.
    #[error(
        "{}: this file is needed for something else, so it cannot be an output of the run; choose another name",
        path.display()
    )]
    OutputIsInput {
        /// The file.
        path: PathBuf,
    },
    /// An output is a folder.
    #[error("{}: this is a folder; name a file in it", path.display())]
    OutputIsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The output cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Output {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The cache cannot be read or written.
    #[error("cache: {0}")]
    Cache(#[from] CacheError),
    /// The checkpoint cannot be read or written.
    #[error("checkpoint: {0}")]
    Checkpoint(#[from] CheckpointFileError),
    /// A contact problem cannot be written.
    #[error("contact problem: {0}")]
    ContactProblem(#[from] FileError),
    /// The checkpoint is that of something else.
    #[error(
        "{}: this checkpoint belongs to another scene, or the scene was changed since; run without --resume to start again",
        path.display()
    )]
    OtherScene {
        /// The checkpoint's file.
        path: PathBuf,
    },
    /// The simulation failed on the way; what was finished is in the cache.
    #[error("{source} ({kept} finished frames are in {})", out.display())]
    Failed {
        /// What happened: frame, strand and vertex.
        source: SimulationError,
        /// Frames in the cache, frame 0 included.
        kept: u32,
        /// The cache.
        out: PathBuf,
    },
}

impl RunError {
    /// Whether what was asked for is at fault, and nothing was simulated.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::ReadScene { .. }
            | Self::Scene(_)
            | Self::Setup { .. }
            | Self::OutputIsInput { .. }
            | Self::OutputIsFolder { .. }
            | Self::OtherScene { .. } => true,
            Self::Cache(error) => {
                matches!(error, CacheError::Extension { .. } | CacheError::Resume { .. })
            }
            // A place that was badly chosen; a full disk, for instance, is another matter.
            Self::Output { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::AlreadyExists
                    | io::ErrorKind::PermissionDenied
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::IsADirectory
                    | io::ErrorKind::ReadOnlyFilesystem
            ),
            Self::Checkpoint(_) | Self::ContactProblem(_) | Self::Failed { .. } => false,
        }
    }
}
