use std::path::{Path, PathBuf};

use glam::Vec3;
use hairloom::body::TriMesh;
use hairloom::groom::Groom;

use super::CacheError;
use super::frame_files::{frame_path, frames_of};
use crate::geometry::Geometry;
use crate::grooms::{self, GroomFormat, Said};
use crate::space::Space;

/// A cache to look at: one of ours, any USD layer or Alembic archive with curves or meshes, or `.hair` files.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// One file, and the times of its frames.
    File { stage: Box<Geometry>, times: Vec<f64>, said: Said },
    /// One file a frame.
    Hair { files: Vec<PathBuf>, said: Said },
    /// A groom that does not move.
    Rest { said: Said },
}

/// One frame of a cache, in the world: metres, y up.
#[derive(Debug, Clone, Default)]
pub struct CacheFrame {
    /// The curves at this frame; without strands if the file has only bodies.
    pub groom: Groom,
    /// The velocities of the curves' vertices [m/s]; empty where the file has none.
    pub velocities: Vec<Vec3>,
    /// The bodies at this frame.
    pub bodies: Vec<CacheBody>,
    /// The time code of this frame.
    pub time_code: f64,
}

/// A body of a cache.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheBody {
    /// Its name.
    pub name: String,
    /// Its mesh in the world.
    pub mesh: TriMesh,
    /// Red, green and blue, from 0 to 1, if all of it has one colour.
    pub color: Option<[f32; 3]>,
    /// The colours of the mesh's points, if each has its own; otherwise empty.
    pub point_colors: Vec<[f32; 3]>,
}

impl Cache {
    /// Opens a cache. `NAME.hair` stands for all of `NAME.0000.hair` and so on, unless it is a file itself.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CacheError> {
        Self::open_as(path, &Said::default())
    }

    /// Opens a cache or a groom of which someone knows the unit and the axes.
    pub fn open_as(path: impl AsRef<Path>, said: &Said) -> Result<Self, CacheError> {
        let path = path.as_ref();
        let unknown = || CacheError::unknown_groom(path, GroomFormat::READ);
        let said = *said;
        let content = match GroomFormat::of_file(path).ok_or_else(unknown)? {
            GroomFormat::Hair => Content::Hair { files: hair_files(path)?, said },
            GroomFormat::Usd | GroomFormat::Alembic => open_stage(path, &said)?,
            _ => Content::Rest { said },
        };
        Ok(Self { path: path.to_owned(), content })
    }

    /// Opens a cache or a groom whose frames stay in its own unit and axes, and answers those.
    pub fn open_in_own_space(path: impl AsRef<Path>, said: &Said) -> Result<(Self, Space), CacheError> {
        let mut cache = Self::open_as(path, said)?;
        let space = match &mut cache.content {
            Content::File { stage, .. } => stage.leave_in_own_space(said),
            // They are brought to metres as they are read.
            Content::Hair { .. } | Content::Rest { .. } => Space::SCENE,
        };
        Ok((cache, space))
    }

    /// The times of all frames [s].
    pub fn times(&self) -> Vec<f64> {
        match &self.content {
            Content::File { stage, times, .. } => times.iter().map(|&time| stage.seconds(time)).collect(),
            Content::Hair { .. } | Content::Rest { .. } => {
                (0..self.frames()).map(|frame| frame as f64 / self.fps()).collect()
            }
        }
    }

    /// The number of frames, at least 1.
    pub fn frames(&self) -> usize {
        match &self.content {
            Content::File { times, .. } => times.len(),
            Content::Hair { files, .. } => files.len(),
            Content::Rest { .. } => 1,
        }
    }

    /// Frames a second [1/s]; 24 where the file does not say.
    pub fn fps(&self) -> f64 {
        match &self.content {
            Content::File { stage, .. } => stage.fps(),
            Content::Hair { .. } | Content::Rest { .. } => 24.0,
        }
    }

    /// The unit and axes of the file: those that are said, or else those that it states or that its format has.
    pub fn space(&self) -> Space {
        let of_format = |said: &Said| {
            GroomFormat::of_file(&self.path).map_or(Space::SCENE, |format| said.or(format.unstated()))
        };
        match &self.content {
            Content::File { stage, said, .. } => said.or(stage.space()),
            Content::Hair { said, .. } | Content::Rest { said } => of_format(said),
        }
    }

    /// The times of the first and the last frame [s]; none for a groom that does not move.
    pub fn time_range(&self) -> Option<[f64; 2]> {
        match self.times()[..] {
            [first, .., last] => Some([first, last]),
            _ => None,
        }
    }

    /// What in the file is left out and may matter, such as variants of which none is chosen; in words.
    pub fn unfollowed(&self) -> Option<String> {
        match &self.content {
            Content::File { stage, .. } => stage.unfollowed(),
            Content::Hair { .. } | Content::Rest { .. } => None,
        }
    }

    /// Reads a frame, counted from 0.
    pub fn frame(&self, index: usize) -> Result<CacheFrame, CacheError> {
        let missing = || CacheError::NoSuchFrame { path: self.path.clone(), index, frames: self.frames() };
        match &self.content {
            Content::File { stage, times, .. } => {
                let time = *times.get(index).ok_or_else(missing)?;
                frame_at(stage, time)
            }
            Content::Hair { .. } | Content::Rest { .. } => {
                let groom = match &self.content {
                    Content::Hair { files, said } => {
                        grooms::read_metres(files.get(index).ok_or_else(missing)?, said)?
                    }
                    Content::Rest { said } if index == 0 => grooms::read_metres(&self.path, said)?,
                    _ => return Err(missing()),
                };
                Ok(CacheFrame { groom, time_code: index as f64, ..CacheFrame::default() })
            }
        }
    }

    /// Reads what is there at a time code, between samples too; of files that hold one groom each, the frame of that number.
    pub fn at_time_code(&self, time_code: f64) -> Result<CacheFrame, CacheError> {
        match &self.content {
            Content::File { stage, .. } => frame_at(stage, stage.time_of_code(time_code)),
            _ => self.frame(time_code.round().max(0.0) as usize),
        }
    }

    /// The fingerprint of the run that wrote the cache, if it is known.
    pub(crate) fn fingerprint(&self) -> Option<u64> {
        match &self.content {
            Content::File { stage, .. } => stage.fingerprint(),
            Content::Hair { .. } | Content::Rest { .. } => None,
        }
    }
}

/// The frame of a stage at a time of its own.
fn frame_at(stage: &Geometry, time: f64) -> Result<CacheFrame, CacheError> {
    let meshes = stage.meshes(time)?.into_iter();
    let bodies = meshes.map(|one| CacheBody {
        name: one.name,
        mesh: one.mesh,
        color: one.color,
        point_colors: one.point_colors,
    });
    let (groom, time_code) = (stage.groom(time)?, stage.time_code(time));
    let mut velocities = stage.velocities(time)?;
    if velocities.len() != groom.vertices() {
        velocities.clear();
    }
    Ok(CacheFrame { groom, velocities, bodies: bodies.collect(), time_code })
}

fn open_stage(path: &Path, said: &Said) -> Result<Content, CacheError> {
    let mut stage = Geometry::open(path, said.allow_outside)?;
    stage.place(said);
    if !stage.has_curves() && !stage.has_meshes() {
        return Err(stage.without(path, CacheError::Nothing { path: path.to_owned() }));
    }
    let mut times = stage.curve_times()?;
    if times.is_empty() {
        times = stage.mesh_times()?;
    }
    if times.is_empty() {
        times.push(0.0);
    }
    Ok(Content::File { stage: Box::new(stage), times, said: *said })
}

fn hair_files(path: &Path) -> Result<Vec<PathBuf>, CacheError> {
    if path.exists() {
        return Ok(vec![path.to_owned()]);
    }
    let frames = frames_of(path)?;
    if frames.is_empty() {
        let missing = std::io::Error::new(
            std::io::ErrorKind::NotFound,
            format!("there is no such file, and none such as {}", frame_path(path, 0).display()),
        );
        return Err(CacheError::io(path, missing));
    }
    Ok(frames.into_iter().map(|frame| frame_path(path, frame)).collect())
}
