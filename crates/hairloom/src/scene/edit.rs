//! Edits of the groom: `[[groom.edit]]`, each with `do`, its name, and keys of its own.

use glam::Vec3;

use super::document::Value;
use super::error::{Place, SceneError};
use super::parse::{Choice, Field, Section};
use crate::groom::{Axis, Clumps, Cut, Edit, Pick};

/// The keys of each edit beside `do`, in the order of [`Edit::NAMES`].
pub const KEYS_OF_EDITS: [&[&str]; Edit::NAMES.len()] = [
    &["factor"],
    &["factor", "keep_length"],
    &["length", "fraction", "point", "normal"],
    &["vertices"],
    &["reach", "strength"],
    &["count", "strength", "shape", "seed"],
    &["depth"],
    &["reach"],
    &["count", "pick", "only", "seed"],
    &["axis", "at", "copy"],
];

/// Largest coordinate and length that an edit takes [m].
const FAR: f64 = 1.0e6;
/// Smallest length that an edit takes [m].
const SHORT: f64 = 1.0e-6;

impl Choice for Pick {
    const WHAT: &'static str = "way to pick guides";
    const ALL: &'static [Self] = &[Self::Farthest, Self::Random];

    fn name(self) -> &'static str {
        match self {
            Self::Farthest => "farthest",
            Self::Random => "random",
        }
    }
}

impl Choice for Axis {
    const WHAT: &'static str = "axis";
    const ALL: &'static [Self] = &[Self::X, Self::Y, Self::Z];

    fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Y => "y",
            Self::Z => "z",
        }
    }
}

/// Reads one edit from a table as scenes have it, such as `{ do = "trim", length = 0.2 }`; errors name keys as those of
/// `path`.
pub fn edit_from_table(table: &toml::Table, path: &str) -> Result<Edit, SceneError> {
    let value = Value::with_place(&toml::Value::Table(table.clone()), &Place::Program);
    read(Field::new(path, &Place::Program, &value))
}

/// Reads the list of all edits.
pub(super) fn read_all(field: Field<'_>) -> Result<Vec<Edit>, SceneError> {
    field.items("a list of tables, each [[groom.edit]]")?.into_iter().map(read).collect()
}

fn read(field: Field<'_>) -> Result<Edit, SceneError> {
    let (own, _) = field.split(&["do"])?;
    let named = own.require("do", "do, the name of an edit")?;
    let name = named.clone().text()?;
    let Some(which) = Edit::NAMES.iter().position(|known| *known == name) else {
        return Err(named.unknown_name("edit", &name, Edit::NAMES));
    };
    let section = field.section_with("do", KEYS_OF_EDITS[which])?;
    let number = |key, default: f64, low: f64, high: f64| {
        section.or(key, default, |field| field.between(low, high)).map(|number| number as f32)
    };
    let factor = |low, high| {
        section.require("factor", "factor, a number")?.between(low, high).map(|number| number as f32)
    };
    let seed = || section.or("seed", 0, |field| field.whole(0));
    let flag = |key, default| section.or(key, default, |field| field.boolean());
    let count = || section.require("count", "count, a whole number")?.whole(1);
    Ok(match name.as_str() {
        "length" => Edit::Length { factor: factor(1.0e-3, 1.0e3)? },
        "curl" => Edit::Curl { factor: factor(0.0, 100.0)?, keep_length: flag("keep_length", true)? },
        "trim" => Edit::Trim(cut(&section)?),
        "resample" => Edit::Resample {
            vertices: section
                .require("vertices", "vertices, a whole number")?
                .whole_from_to(2, super::groom::MOST_VERTICES)?,
        },
        "smooth" => {
            section.require("reach", "reach, an arc length [m]")?;
            Edit::Smooth {
                reach: number("reach", 0.0, SHORT, FAR)?,
                strength: number("strength", 1.0, 0.0, 1.0)?,
            }
        }
        "clump" => {
            let usual = Clumps::default();
            let clumps = Clumps {
                count: count()?,
                strength: number("strength", usual.strength.into(), 0.0, 1.0)?,
                shape: number("shape", usual.shape.into(), 0.01, 100.0)?,
            };
            Edit::Clump { clumps, seed: seed()? }
        }
        "remove-inside" => Edit::RemoveInside { depth: number("depth", 1.0e-3, 0.0, FAR)? },
        "seat" => Edit::Seat { reach: number("reach", 0.02, 0.0, FAR)? },
        "guides" => Edit::Guides {
            count: count()?,
            pick: section.or("pick", Pick::Farthest, |field| field.choice())?,
            only: flag("only", false)?,
            seed: seed()?,
        },
        _ => Edit::Mirror {
            axis: section.require("axis", "axis, one of x, y, z")?.choice()?,
            at: number("at", 0.0, -FAR, FAR)?,
            copy: flag("copy", false)?,
        },
    })
}

fn cut(section: &Section<'_>) -> Result<Cut, SceneError> {
    let needed = "one of length [m], fraction, normal (of a plane, with point)";
    match section.at_most_one(&["length", "fraction", "normal"])? {
        None => Err(section.missing(needed)),
        Some("normal") => {
            let normal = vector(section.require("normal", needed)?)?;
            let zero = section.get("normal").filter(|_| normal.try_normalize().is_none());
            if let Some(field) = zero {
                return Err(field.unexpected("a vector [x, y, z] that is not zero"));
            }
            let point = section.require("point", "point, a point [x, y, z] of the plane [m]")?;
            Ok(Cut::Plane { point: vector(point)?, normal })
        }
        Some(key) => {
            section.reject(&["point"], "belongs to a plane, with normal; leave it out")?;
            let field = section.require(key, needed)?;
            Ok(match key {
                "length" => Cut::Length { length: field.between(SHORT, FAR)? as f32 },
                _ => Cut::Fraction { fraction: field.between(SHORT, 1.0)? as f32 },
            })
        }
    }
}

/// Three numbers that single precision holds.
fn vector(field: Field<'_>) -> Result<Vec3, SceneError> {
    let vector = field.clone().vector()?;
    if vector.abs().max_element() > FAR {
        return Err(field.unexpected("three numbers [x, y, z] of at most a million"));
    }
    Ok(vector.as_vec3())
}
