//! Cem Yuksel's HAIR files (`.hair`): one groom at rest, little-endian binary.
//!
//! # The format
//!
//! | byte | content |
//! |---|---|
//! | 0 | `HAIR` |
//! | 4 | number of strands, u32 |
//! | 8 | number of points of all strands, u32 |
//! | 12 | which arrays follow, u32: bit 0 segments, 1 points, 2 thickness, 3 transparency, 4 colours |
//! | 16 | segments of every strand if there is no array of them, u32 |
//! | 20 | thickness, f32 · 24 transparency, f32 · 28 colour, 3 × f32: each for all points if it has no array |
//! | 40 | 88 bytes of free text |
//! | 128 | the arrays in the order of the bits: segments u16 per strand; the others f32 per point |
//!
//! A strand of `n` segments has `n + 1` points. [`HairFile`] is the file as it is, and keeps every bit of it;
//! [`read`] and [`write()`] convert from and to a [`Groom`].
//!
//! # Unit and axes
//!
//! The format states neither, so [`ReadOptions`] does. By default a unit is a centimetre and z points up,
//! as in the models that its author publishes (there the face looks along +y, and the heads are some 43
//! units wide: a life-sized head needs a unit of about 0.0037 m). A point (x, y, z) of a z-up file becomes
//! (x, z, −y) times the unit; thickness is a diameter and is multiplied by the unit. With a unit of 1 (or any
//! power of two) a groom comes back from a file bit for bit; with any other, to the last bit or two of an f32.
//!
//! # In a groom
//!
//! Thickness becomes `widths`. Transparency and colour become the attributes [`TRANSPARENCY`] and [`COLOUR`],
//! one value per vertex where the file has the array, one per strand where it has only the default. All
//! roots are [`Root::Rigid`]. Values pass through as they are, even NaN and strands of a single
//! vertex: judging and mending them is not a reader's work.
//!
//! [`Root::Rigid`]: hairloom::groom::Root::Rigid

mod convert;
mod error;
mod file;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

use glam::Vec3;
use hairloom::groom::Groom;

pub use error::{HairError, HairProblem};
pub use file::{Column, HairFile, INFO_BYTES};

use crate::file::replace;
use crate::grooms::FileGroom;
use crate::{Axis, Space};

/// The name of the groom attribute that holds transparency, 0 to 1.
pub const TRANSPARENCY: &str = "transparency";

/// The name of the groom attribute that holds colour, red, green and blue from 0 to 1: the name that USD uses.
pub const COLOUR: &str = "displayColor";

/// What a `.hair` file does not say about itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadOptions {
    /// Metres per unit of the file.
    pub unit: f32,
    /// The axis that points up in the file.
    pub up: Axis,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { unit: 0.01, up: Axis::Z }
    }
}

/// How to write a `.hair` file.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteOptions {
    /// Metres per unit of the file.
    pub unit: f32,
    /// The axis that points up in the file.
    pub up: Axis,
    /// Text for the header; what goes beyond [`INFO_BYTES`] bytes is cut off.
    pub info: String,
}

impl Default for WriteOptions {
    fn default() -> Self {
        let ReadOptions { unit, up } = ReadOptions::default();
        Self { unit, up, info: "Written by Hairloom".to_owned() }
    }
}

/// What became of a groom that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Names of what the groom has and the format cannot hold (attributes, `roots`, `ids` and so on).
    pub dropped: Vec<String>,
}

/// Reads a groom, in metres and y up.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Groom, HairError> {
    let path = path.as_ref();
    read_file(path)
        .and_then(|file| file.into_groom(options))
        .map_err(|problem| HairError { path: path.to_owned(), problem })
}

/// Writes a groom that is in metres and y up. Nothing is written, and no file replaced, if the groom does not fit.
pub fn write(path: impl AsRef<Path>, groom: &Groom, options: &WriteOptions) -> Result<Written, HairError> {
    let path = path.as_ref();
    let space = Space { unit: options.unit, up: options.up };
    let written = || {
        if !space.is_valid() {
            return Err(HairProblem::Unit { unit: space.unit });
        }
        let around = HairFile::around(groom, &options.info, |width| width / space.unit)?;
        write_around(path, groom, around, |point| space.file_from_scene(point))
    };
    written().map_err(|problem| HairError { path: path.to_owned(), problem })
}

/// Writes a groom of a file in another unit and axes, which it is converted to on the way.
pub(crate) fn write_in(
    path: &Path,
    groom: &FileGroom,
    to: &Space,
    info: String,
) -> Result<Written, HairError> {
    let (from, groom) = (groom.space, &groom.groom);
    let factor = from.factor(to);
    let written = || match from == *to {
        true => write_around(path, groom, HairFile::around(groom, &info, |width| width)?, |point| point),
        false => {
            let around = HairFile::around(groom, &info, |width| (f64::from(width) * factor) as f32)?;
            write_around(path, groom, around, from.conversion(*to))
        }
    };
    written().map_err(|problem| HairError { path: path.to_owned(), problem })
}

/// Writes a file whose points are those of a groom, each as `in_file` makes it on the way out.
fn write_around(
    path: &Path,
    groom: &Groom,
    (file, written): (HairFile, Written),
    in_file: impl Fn(Vec3) -> Vec3,
) -> Result<Written, HairProblem> {
    replace(path, |path| {
        let mut out = BufWriter::new(File::create(path)?);
        file.write_with(&mut out, &groom.curves.points, in_file)?;
        Ok::<(), HairProblem>(out.flush()?)
    })?;
    Ok(written)
}

fn read_file(path: &Path) -> Result<HairFile, HairProblem> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file").into());
    }
    HairFile::read_from(&mut BufReader::new(file), metadata.len())
}
