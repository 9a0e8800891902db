//! Files of curves and meshes over time, in whatever format.

use std::path::Path;

use glam::Vec3;
use hairloom::groom::Groom;

use crate::alembic::Archive;
use crate::cache::{CacheError, CacheFormat};
use crate::grooms::Said;
use crate::space::Space;
use crate::stage::{Stage, StageMesh};

/// An open file. Times are in its own units: time codes in USD, seconds in Alembic.
#[derive(Debug)]
pub(crate) enum Geometry {
    Usd(Stage),
    Alembic(Archive),
}

impl Geometry {
    /// Opens a file in the format of its extension: Alembic, or else USD, which may bring in files from outside its folder
    /// only where that is said to be allowed.
    pub(crate) fn open(path: &Path, outside: bool) -> Result<Self, CacheError> {
        Ok(match CacheFormat::of_file(path) {
            Ok(CacheFormat::Alembic) => Self::Alembic(Archive::open(path)?),
            _ => Self::Usd(Stage::open(path, outside)?),
        })
    }

    /// Places everything by what is said about the file, and by what the file states where nothing is said.
    pub(crate) fn place(&mut self, said: &Said) {
        match self {
            Self::Usd(stage) => stage.place(said.or(stage.space())),
            Self::Alembic(archive) if *said != Said::default() => {
                archive.place(said.or(archive.space()));
            }
            Self::Alembic(_) => {}
        }
    }

    /// Leaves everything in the file's own unit and axes, and answers those. Alembic states none: its points come in
    /// those that Hairloom notes for them, or else in metres, unless something is said.
    pub(crate) fn leave_in_own_space(&mut self, said: &Said) -> Space {
        match self {
            Self::Usd(stage) => {
                let space = said.or(stage.space());
                stage.place(Space::SCENE);
                space
            }
            Self::Alembic(archive) => {
                if said.unit.is_none() && said.up.is_none() {
                    let space = archive.points_space();
                    archive.leave_in(space);
                    return space;
                }
                archive.place(Space::SCENE);
                said.or(archive.space())
            }
        }
    }

    /// The unit and axes in which the file is taken.
    pub(crate) fn space(&self) -> Space {
        match self {
            Self::Usd(stage) => stage.space(),
            Self::Alembic(archive) => archive.space(),
        }
    }

    /// The error for something that is not in the file: `missing`, or if it may be in what was left out, that.
    pub(crate) fn without(&self, path: &Path, missing: CacheError) -> CacheError {
        match self.unfollowed() {
            Some(unfollowed) => CacheError::Composed { path: path.to_owned(), unfollowed },
            None => missing,
        }
    }

    /// What in the file is left out, as far as it was read, in words.
    pub(crate) fn unfollowed(&self) -> Option<String> {
        match self {
            Self::Usd(stage) => stage.notes().line(),
            Self::Alembic(archive) => archive.notes.line(),
        }
    }

    /// Whether there are curves.
    pub(crate) fn has_curves(&self) -> bool {
        match self {
            Self::Usd(stage) => stage.has_curves(),
            Self::Alembic(archive) => archive.has_curves(),
        }
    }

    /// Whether there are meshes.
    pub(crate) fn has_meshes(&self) -> bool {
        match self {
            Self::Usd(stage) => stage.has_meshes(),
            Self::Alembic(archive) => archive.has_meshes(),
        }
    }

    /// The times at which the curves have samples.
    pub(crate) fn curve_times(&self) -> Result<Vec<f64>, CacheError> {
        match self {
            Self::Usd(stage) => stage.curve_times(),
            Self::Alembic(archive) => Ok(archive.curve_times()?),
        }
    }

    /// The widths and attributes of curves that change, by their names in a groom.
    pub(crate) fn changing(&self) -> Result<Vec<String>, CacheError> {
        match self {
            Self::Usd(stage) => stage.changing(),
            Self::Alembic(archive) => Ok(archive.changing()?),
        }
    }

    /// The times at which the meshes have samples.
    pub(crate) fn mesh_times(&self) -> Result<Vec<f64>, CacheError> {
        match self {
            Self::Usd(stage) => stage.mesh_times(),
            Self::Alembic(archive) => Ok(archive.mesh_times()?),
        }
    }

    /// All curves at a time as one groom.
    pub(crate) fn groom(&self, time: f64) -> Result<Groom, CacheError> {
        match self {
            Self::Usd(stage) => stage.groom(time),
            Self::Alembic(archive) => Ok(archive.groom(time)?),
        }
    }

    /// The velocities of all curves' vertices at a time, one after the other [m/s]; those of cubic curves belong to control
    /// points, and are as many.
    pub(crate) fn velocities(&self, time: f64) -> Result<Vec<Vec3>, CacheError> {
        match self {
            Self::Usd(stage) => stage.velocities(time),
            Self::Alembic(archive) => Ok(archive.velocities(time)?),
        }
    }

    /// All meshes at a time.
    pub(crate) fn meshes(&self, time: f64) -> Result<Vec<StageMesh>, CacheError> {
        match self {
            Self::Usd(stage) => stage.meshes(time),
            Self::Alembic(archive) => Ok(archive.meshes(time)?),
        }
    }

    /// The points of all meshes at a time, one after the other [m].
    pub(crate) fn mesh_points(&self, time: f64) -> Result<Vec<Vec3>, CacheError> {
        match self {
            Self::Usd(stage) => stage.mesh_points(time),
            Self::Alembic(archive) => Ok(archive.mesh_points(time)?),
        }
    }

    /// Frames a second [1/s].
    pub(crate) fn fps(&self) -> f64 {
        match self {
            Self::Usd(stage) => stage.per_second(),
            Self::Alembic(archive) => archive.per_second(),
        }
    }

    /// A time in seconds [s].
    pub(crate) fn seconds(&self, time: f64) -> f64 {
        match self {
            Self::Usd(stage) => time / stage.per_second(),
            Self::Alembic(_) => time,
        }
    }

    /// The time of a time code.
    pub(crate) fn time_of_code(&self, code: f64) -> f64 {
        match self {
            Self::Usd(_) => code,
            Self::Alembic(archive) => code / archive.per_second(),
        }
    }

    /// The time code of a time.
    pub(crate) fn time_code(&self, time: f64) -> f64 {
        match self {
            Self::Usd(_) => time,
            Self::Alembic(archive) => time * archive.per_second(),
        }
    }

    /// The fingerprint of the run that wrote the file, if it is known.
    pub(crate) fn fingerprint(&self) -> Option<u64> {
        match self {
            Self::Usd(stage) => stage.fingerprint(),
            Self::Alembic(archive) => archive.fingerprint(),
        }
    }
}
