use std::io;
use std::path::{Path, PathBuf};

use crate::alembic::AlembicError;
use crate::file::FileError;
use crate::hair::HairError;
use crate::obj::ObjError;
use crate::usd::UsdError;

/// Why a cache, or the geometry in a file, could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// A USD layer could not be read or written.
    #[error(transparent)]
    Usd(#[from] UsdError),
    /// An Alembic archive could not be read or written.
    #[error(transparent)]
    Alembic(#[from] AlembicError),
    /// A `.hair` file could not be read or written.
    #[error(transparent)]
    Hair(#[from] HairError),
    /// A file of strands could not be read or written.
    #[error(transparent)]
    Strands(#[from] FileError),
    /// An OBJ file could not be read or written.
    #[error(transparent)]
    Obj(#[from] ObjError),
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file's name does not tell a format.
    #[error("{}: expected a name that ends with .usdc, .usda, .usd, .abc or .hair", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// The file's name does not tell a format of grooms.
    #[error("{}: expected a name that ends with {endings}", path.display())]
    GroomExtension {
        /// The file.
        path: PathBuf,
        /// The endings that would do.
        endings: &'static str,
    },
    /// There is no hair.
    #[error("{}: there are no curves (BasisCurves, Curves) in it", path.display())]
    NoCurves {
        /// The file.
        path: PathBuf,
    },
    /// What is looked for is not in the layer itself, and may be in others that it names.
    #[error(
        "{}: nothing of it was found, and {unfollowed}", path.display()
    )]
    Composed {
        /// The file.
        path: PathBuf,
        /// What was left out.
        unfollowed: String,
    },
    /// A prim of a layer cannot be used.
    #[error("{}: {prim}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Path of the prim.
        prim: String,
        /// What is wrong with it.
        problem: String,
    },
    /// There is nothing to show.
    #[error("{}: there are neither curves (BasisCurves, Curves) nor meshes (Mesh, PolyMesh) in it", path.display())]
    Nothing {
        /// The file.
        path: PathBuf,
    },
    /// A frame was asked for that is not there.
    #[error("{}: there is no frame {index}: it has {frames}, counted from 0", path.display())]
    NoSuchFrame {
        /// The file.
        path: PathBuf,
        /// The frame asked for.
        index: usize,
        /// How many there are.
        frames: usize,
    },
    /// A cache cannot be continued.
    #[error("{}: cannot go on with this cache: {problem}; run without --resume to start again", path.display())]
    Resume {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

impl CacheError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// A groom file whose name has none of these endings.
    pub fn unknown_groom(path: &Path, endings: &'static str) -> Self {
        Self::GroomExtension { path: path.to_owned(), endings }
    }
}
