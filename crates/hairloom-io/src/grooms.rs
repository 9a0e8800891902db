//! Grooms at rest, from and to every format that holds one.
//!
//! | ending | format | unit and up axis |
//! |---|---|---|
//! | `.usda`, `.usdc`, `.usd`, `.usdz` | USD (`.usdz` is read only) | stated in the file |
//! | `.abc` | Alembic | not stated: metres, y up |
//! | `.hair` | Cem Yuksel's HAIR | not stated: centimetres, z up |
//! | `.tfx` | TressFX 4 | not stated: metres, y up |
//! | `.data` | USC-HairSalon | not stated: metres, y up |
//! | `.ply` | PLY strands | not stated: metres, y up |
//! | `.obj` | OBJ polylines | not stated: metres, y up |
//!
//! [`Said`] replaces what a file states, or does not. A [`FileGroom`] stays in its file's own unit and axes, so that a
//! groom that is written in the same ones keeps every bit of its positions. USD files are written in the unit and axes that the
//! groom came in; the other formats in those of the table, unless they are said. Alembic archives place points in the unit and axes that they
//! came in by a transform, and note those, so that they go through an archive unchanged.

use std::path::Path;

use hairloom::groom::{Attribute, Domain, Groom, Values};
use hairloom::scene::{GroomFileSettings, UpAxis};

use crate::alembic::AlembicError;
use crate::cache::CacheError;
use crate::file::{FileError, FileProblem, read_bytes, replace, write_file};
use crate::geometry::Geometry;
use crate::stage::NORMALS;
use crate::usd::UsdError;
use crate::{Axis, Space, alembic, cache, hair, obj, ply, tfx, usc};

/// The formats of grooms, by the endings of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroomFormat {
    /// `.usda`, `.usdc`, `.usd`, `.usdz`.
    Usd,
    /// `.abc`.
    Alembic,
    /// `.hair`.
    Hair,
    /// `.tfx`.
    Tfx,
    /// `.data`.
    Usc,
    /// `.ply`.
    Ply,
    /// `.obj`.
    Obj,
}

impl GroomFormat {
    /// The endings of files that grooms are read from, for messages.
    pub const READ: &str = ".usdc, .usda, .usd, .usdz, .abc, .hair, .tfx, .data, .ply or .obj";
    /// The endings of files that grooms are written to, for messages.
    pub const WRITTEN: &str = ".usdc, .usda, .usd, .abc, .hair, .tfx, .data, .ply or .obj";

    /// The format that a file's ending asks for.
    pub fn of_file(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "usd" | "usda" | "usdc" | "usdz" => Self::Usd,
            "abc" => Self::Alembic,
            "hair" => Self::Hair,
            "tfx" => Self::Tfx,
            "data" => Self::Usc,
            "ply" => Self::Ply,
            "obj" => Self::Obj,
            _ => return None,
        })
    }

    /// The unit and axes of files that do not state them.
    pub(crate) fn unstated(self) -> Space {
        match self {
            Self::Hair => Space { unit: 0.01, up: Axis::Z },
            _ => Space::SCENE,
        }
    }
}

/// What someone who knows says about a file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Said {
    /// Metres per unit of the file [m].
    pub unit: Option<f32>,
    /// The axis that points up in the file.
    pub up: Option<Axis>,
    /// Whether the file may bring in others from outside its folder (see [`crate::usd`]).
    pub allow_outside: bool,
}

impl From<&GroomFileSettings> for Said {
    fn from(settings: &GroomFileSettings) -> Self {
        let up = settings.up.map(|up| match up {
            UpAxis::Y => Axis::Y,
            UpAxis::Z => Axis::Z,
        });
        Self { unit: settings.unit.map(|unit| unit as f32), up, allow_outside: false }
    }
}

impl Said {
    /// What is said, and `otherwise` where nothing is.
    pub(crate) fn or(self, otherwise: Space) -> Space {
        Space { unit: self.unit.unwrap_or(otherwise.unit), up: self.up.unwrap_or(otherwise.up) }
    }
}

/// A groom in the unit and axes of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileGroom {
    /// The groom: lengths in units of `space`.
    pub groom: Groom,
    /// The unit and the axes.
    pub space: Space,
}

/// The attribute under which a groom's points of the file go through work in metres.
const FILE_POINTS: &str = "hairloom:filePoints";

impl FileGroom {
    /// The same groom in another space.
    pub fn in_space(mut self, space: Space) -> Self {
        let from = std::mem::replace(&mut self.space, space);
        if from == space {
            return self;
        }
        let Groom { curves, widths, attributes, .. } = &mut self.groom;
        let convert = from.conversion(space);
        curves.points.iter_mut().for_each(|point| *point = convert(*point));
        if from.unit != space.unit {
            let factor = from.factor(&space);
            widths.iter_mut().for_each(|width| *width = (f64::from(*width) * factor) as f32);
        }
        let is_normal =
            |attribute: &&mut Attribute| [cache::ROOT_NORMAL, NORMALS].contains(&&*attribute.name);
        for attribute in attributes.iter_mut().filter(is_normal) {
            if let Values::Vec3(normals) = &mut attribute.values {
                normals.iter_mut().for_each(|normal| *normal = from.turn(&space, *normal));
            }
        }
        self
    }

    /// The groom in metres, y up.
    pub fn into_metres(self) -> Groom {
        self.in_space(Space::SCENE).groom
    }

    /// What `work` makes of the groom in metres: vertices may go and change places, and what stays keeps the bits of its
    /// positions.
    pub(crate) fn through_metres<T, E>(
        self,
        work: impl FnOnce(Groom) -> Result<(Groom, T), E>,
    ) -> Result<(Self, T), E> {
        let space = self.space;
        let points = self.groom.curves.points.clone();
        let mut groom = self.into_metres();
        let (name, domain) = (FILE_POINTS.to_owned(), Domain::Vertex);
        groom.attributes.push(Attribute { name, domain, values: Values::Vec3(points) });
        let (mut groom, answer) = work(groom)?;
        let points = groom.attributes.pop().map(|attribute| attribute.values);
        let mut worked = Self { groom, space: Space::SCENE }.in_space(space);
        if let Some(Values::Vec3(points)) = points {
            worked.groom.curves.points = points;
        }
        Ok((worked, answer))
    }
}

/// Reads the groom in a file, the first frame if it moves, in the file's own unit and axes.
pub fn read(path: impl AsRef<Path>, said: &Said) -> Result<FileGroom, CacheError> {
    Ok(read_with_notes(path, said)?.0)
}

/// Reads the groom in a file, as [`read`] does, and tells in words what of it is left out or changed.
pub fn read_with_notes(
    path: impl AsRef<Path>,
    said: &Said,
) -> Result<(FileGroom, Option<String>), CacheError> {
    let path = path.as_ref();
    let format =
        GroomFormat::of_file(path).ok_or_else(|| CacheError::unknown_groom(path, GroomFormat::READ))?;
    let space = valid(path, said.or(format.unstated()))?;
    let bytes = || read_bytes(path).map_err(|error| FileProblem::Io(error).at(path));
    let groom = match format {
        GroomFormat::Usd | GroomFormat::Alembic => return read_geometry(path, said),
        GroomFormat::Hair => hair::read(path, &hair::ReadOptions { unit: 1.0, up: Axis::Y })?,
        GroomFormat::Tfx => tfx::read(path).map_err(|problem| problem.at(path))?,
        GroomFormat::Usc => usc::read(path).map_err(|problem| problem.at(path))?,
        GroomFormat::Ply => ply::read(path).map_err(|problem| problem.at(path))?,
        GroomFormat::Obj => {
            let parsed = obj::parse_strands(&bytes()?);
            parsed.map_err(|problem| obj::ObjError { path: path.to_owned(), problem })?
        }
    };
    Ok((FileGroom { groom, space }, None))
}

/// Reads the groom in a file, the first frame if it moves, in metres and y up.
pub fn read_metres(path: impl AsRef<Path>, said: &Said) -> Result<Groom, CacheError> {
    Ok(read(path, said)?.into_metres())
}

fn read_geometry(path: &Path, said: &Said) -> Result<(FileGroom, Option<String>), CacheError> {
    let mut geometry = Geometry::open(path, said.allow_outside)?;
    if !geometry.has_curves() {
        return Err(geometry.without(path, CacheError::NoCurves { path: path.to_owned() }));
    }
    let space = valid(path, geometry.leave_in_own_space(said))?;
    let groom = geometry.groom(f64::NEG_INFINITY)?;
    Ok((FileGroom { groom, space }, geometry.unfollowed()))
}

fn valid(path: &Path, space: Space) -> Result<Space, CacheError> {
    match space.is_valid() {
        true => Ok(space),
        false => Err(FileProblem::Unit { unit: space.unit }.at(path).into()),
    }
}

/// Writes a groom in the format of the file's ending; answers what the format has no place for.
pub fn write(path: impl AsRef<Path>, groom: &FileGroom, said: &Said) -> Result<Vec<String>, CacheError> {
    let path = path.as_ref();
    let format =
        GroomFormat::of_file(path).ok_or_else(|| CacheError::unknown_groom(path, GroomFormat::WRITTEN))?;
    let otherwise = match format {
        GroomFormat::Usd => groom.space,
        _ => format.unstated(),
    };
    let space = valid(path, said.or(otherwise))?;
    if format == GroomFormat::Alembic {
        // Points keep their bits, and a transform makes the unit.
        let options = alembic::WriteOptions { file: space, points: groom.space };
        replaced(path, |path| Ok(alembic::write(path, &groom.groom, &options)?))?;
        return Ok(Vec::new());
    }
    if format == GroomFormat::Hair {
        return Ok(hair::write_in(path, groom, &space, note(&space))?.dropped);
    }
    let moved;
    let groom = match groom.space == space {
        true => &groom.groom,
        false => {
            moved = groom.clone().in_space(space).groom;
            &moved
        }
    };
    match format {
        GroomFormat::Usd => {
            replaced(path, |path| cache::write_usd_groom(path, groom, &space))?;
            return Ok(Vec::new());
        }
        GroomFormat::Tfx => write_file(path, |out| tfx::write_to(out, groom))?,
        GroomFormat::Usc => write_file(path, |out| usc::write_to(out, groom))?,
        GroomFormat::Ply => write_file(path, |out| ply::write_to(out, groom))?,
        GroomFormat::Obj => write_file(path, |out| obj::write_strands(out, groom))?,
        GroomFormat::Alembic | GroomFormat::Hair => {}
    }
    Ok(dropped(groom, format))
}

/// Replaces a file when it is complete; problems name the file itself.
pub(crate) fn replaced(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), CacheError>,
) -> Result<(), CacheError> {
    enum Problem {
        Own(CacheError),
        Io(std::io::Error),
    }
    impl From<std::io::Error> for Problem {
        fn from(error: std::io::Error) -> Self {
            Self::Io(error)
        }
    }
    replace(path, |temporary| {
        write(temporary).map_err(|error| match error {
            CacheError::Usd(UsdError::Io { source, .. })
            | CacheError::Alembic(AlembicError::Io { source, .. }) => Problem::Io(source),
            CacheError::Alembic(AlembicError::Usage { problem, .. }) => {
                Problem::Own(AlembicError::Usage { path: path.to_owned(), problem }.into())
            }
            CacheError::Strands(FileError { problem, .. }) => Problem::Own(problem.at(path).into()),
            other => Problem::Own(other),
        })
    })
    .map_err(|problem| match problem {
        Problem::Own(error) => error,
        Problem::Io(error) => CacheError::io(path, error),
    })
}

/// The unit as people write it: the shortest decimals of the float, as a double.
pub(crate) fn decimal(unit: f32) -> f64 {
    unit.to_string().parse().unwrap_or(f64::from(unit))
}

fn note(space: &Space) -> String {
    let up = if space.up == Axis::Z { "z" } else { "y" };
    format!("Written by Hairloom: a unit is {} m, {up} up", space.unit)
}

/// What a groom has and a format has no place for, by name.
fn dropped(groom: &Groom, format: GroomFormat) -> Vec<String> {
    let held = |name: &str| match format {
        GroomFormat::Tfx => matches!(name, "root_uv" | "widths"),
        GroomFormat::Ply => name == "widths",
        _ => false,
    };
    let holds = |attribute: &Attribute| match format {
        GroomFormat::Tfx => tfx::holds(groom, attribute),
        GroomFormat::Ply => attribute.name == hair::COLOUR && matches!(attribute.values, Values::Vec3(_)),
        _ => false,
    };
    let parts = [
        ("widths", !groom.widths.is_empty()),
        ("root_uv", !groom.root_uv.is_empty()),
        ("ids", !groom.ids.is_empty()),
        ("guides", groom.guides.contains(&true)),
    ];
    let parts = parts.into_iter().filter(|(name, present)| *present && !held(name));
    let parts = parts.map(|(name, _)| name.to_owned());
    let varying = "widths along a strand (all of it is as wide as its root)";
    let widths = (format == GroomFormat::Tfx && tfx::widths_vary(groom)).then(|| varying.to_owned());
    let attributes = groom.attributes.iter().filter(|attribute| !holds(attribute));
    let attributes = attributes.map(|attribute| match attribute.domain {
        Domain::Strand => format!("{} (one for each strand)", attribute.name),
        Domain::Vertex => attribute.name.clone(),
    });
    parts.chain(widths).chain(attributes).collect()
}
