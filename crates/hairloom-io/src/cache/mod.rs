//! Caches: simulated frames in files, written frame by frame and read back.
//!
//! # USD (`.usdc`, `.usda`, `.usd`)
//!
//! One file. Time codes are frames: 0 is the start. `/World/Hair` holds the strands as linear `BasisCurves` with
//! samples of `points` (and of `velocities` where the scene asks for them), `/World/Bodies` a `Mesh` for every body:
//! one that moves as a whole has samples of its transform, one that deforms has samples of its points.
//! `.usd` files are binary.
//!
//! Here and in Alembic hair that a body holds has the body's normals at its roots, at the start: those that the groom's file
//! brings, else the smooth normals of the mesh (those of its faces by area, mixed at the closest point of the closest triangle).
//!
//! # Alembic (`.abc`)
//!
//! One file, with one sample a frame; frame 0, the start, is at 0 s. `/Hair` holds the strands as linear `Curves` with the
//! attributes that Unreal reads, every body is a transform with a `PolyMesh` below it. See [`crate::alembic`].
//!
//! # Cem Yuksel's format (`.hair`)
//!
//! It holds one groom, so every frame has a file of its own: `hair.hair` stands for `hair.0000.hair`,
//! `hair.0001.hair` and so on. Bodies, velocities and the frame rate are left out. Files are in centimetres, z up.
//!
//! Memory is bounded by one frame in all directions, but for `.usda` files, whose text is read as a whole.

mod convert;
mod error;
mod frame_files;
pub(crate) mod layout;
mod reader;
pub(crate) mod root_normals;
mod usd_groom;
mod usd_writer;

pub use convert::{convert_frames, write_still};
pub use error::CacheError;
pub use layout::ROOT_NORMAL;
pub use reader::{Cache, CacheBody, CacheFrame};
pub(crate) use usd_groom::write_usd_groom;

use std::path::{Path, PathBuf};

use hairloom::simulate::Simulation;

use self::frame_files::FrameFiles;
use self::usd_writer::UsdCache;
use crate::alembic::AlembicCache;

/// What a cache's file name asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheFormat {
    /// `.usda`: USD as text.
    UsdText,
    /// `.usdc`, `.usd`: USD in binary.
    UsdBinary,
    /// `.abc`: Alembic.
    Alembic,
    /// `.hair`: one file a frame.
    Hair,
}

impl CacheFormat {
    /// The format that a file's extension asks for.
    pub fn of_file(path: &Path) -> Result<Self, CacheError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("usda") => Ok(Self::UsdText),
            Some("usdc" | "usd") => Ok(Self::UsdBinary),
            Some("abc") => Ok(Self::Alembic),
            Some("hair") => Ok(Self::Hair),
            _ => Err(CacheError::Extension { path: path.to_owned() }),
        }
    }
}

/// The files that a cache has, or would replace.
pub(crate) fn files(path: &Path) -> Vec<PathBuf> {
    let mut files = vec![path.to_owned()];
    if CacheFormat::of_file(path).is_ok_and(|format| format == CacheFormat::Hair) {
        // A folder that is not there has no files.
        let frames = frame_files::frames_of(path).unwrap_or_default();
        files.extend(frames.into_iter().map(|frame| frame_files::frame_path(path, frame)));
    }
    files
}

#[derive(Debug)]
enum Kind {
    Usd(Box<UsdCache>),
    Alembic(Box<AlembicCache>),
    Hair(FrameFiles),
}

/// Writes the frames of a simulation.
#[derive(Debug)]
pub struct CacheWriter {
    path: PathBuf,
    kind: Kind,
}

impl CacheWriter {
    /// Begins a cache, in the format of its extension; an old one is replaced.
    pub fn create(path: impl AsRef<Path>, simulation: &Simulation) -> Result<Self, CacheError> {
        let path = path.as_ref();
        let kind = match CacheFormat::of_file(path)? {
            CacheFormat::Hair => Kind::Hair(FrameFiles::create(path)?),
            CacheFormat::Alembic => Kind::Alembic(Box::new(AlembicCache::create(path, simulation)?)),
            _ => Kind::Usd(Box::new(UsdCache::create(path, simulation)?)),
        };
        Ok(Self { path: path.to_owned(), kind })
    }

    /// Goes on with a cache of the same scene after `last_frame`; later frames are dropped.
    pub fn resume(
        path: impl AsRef<Path>,
        simulation: &Simulation,
        last_frame: u32,
    ) -> Result<Self, CacheError> {
        let path = path.as_ref();
        let kind = match CacheFormat::of_file(path)? {
            CacheFormat::Hair => Kind::Hair(FrameFiles::resume(path, last_frame)?),
            CacheFormat::Alembic => {
                Kind::Alembic(Box::new(AlembicCache::resume(path, simulation, last_frame)?))
            }
            _ => Kind::Usd(Box::new(UsdCache::resume(path, simulation, last_frame)?)),
        };
        Ok(Self { path: path.to_owned(), kind })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the frame at which the simulation is.
    pub fn write_frame(&mut self, simulation: &Simulation) -> Result<(), CacheError> {
        match &mut self.kind {
            Kind::Usd(cache) => cache.write_frame(simulation),
            Kind::Alembic(cache) => cache.write_frame(simulation),
            Kind::Hair(files) => files.write_frame(simulation),
        }
    }

    /// Writes what the simulation holds as something that does not move, where the format knows the difference.
    fn write_still(&mut self, simulation: &Simulation) -> Result<(), CacheError> {
        match &mut self.kind {
            Kind::Usd(cache) => cache.write_still(simulation),
            _ => self.write_frame(simulation),
        }
    }

    /// Whether [`Self::flush`] costs next to nothing.
    pub fn flushes_cheaply(&self) -> bool {
        match &self.kind {
            Kind::Usd(cache) => cache.flushes_cheaply(),
            Kind::Alembic(_) | Kind::Hair(_) => true,
        }
    }

    /// Makes every frame so far readable, whatever happens afterwards.
    pub fn flush(&mut self) -> Result<(), CacheError> {
        match &mut self.kind {
            Kind::Usd(cache) => cache.flush(),
            Kind::Alembic(cache) => cache.flush(),
            Kind::Hair(_) => Ok(()),
        }
    }

    /// Completes the cache.
    pub fn finish(self) -> Result<(), CacheError> {
        match self.kind {
            Kind::Usd(cache) => cache.finish(),
            Kind::Alembic(cache) => cache.finish(),
            Kind::Hair(_) => Ok(()),
        }
    }
}
