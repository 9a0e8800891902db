//! Edits of grooms, for scenes (`[[groom.edit]]`) and for `hairloom groom edit`. Each is a function from one groom to
//! another, in a file of its own, which keeps identifiers, roots, guides, widths and all attributes with their strands.

mod clump;
mod curl;
mod error;
mod guides;
mod inside;
mod length;
mod live;
mod mirror;
mod smooth;
mod trim;
mod turn;

pub use clump::clump;
pub use curl::scale_curl;
pub use error::EditError;
pub use guides::choose_guides;
pub use inside::{remove_inside, seat};
pub use length::scale_length;
pub use live::{Amount, grow_length, remove, trim};
pub use mirror::{Axis, mirror};
pub use smooth::smooth_strands;
pub use trim::{trim_to_fraction, trim_to_length, trim_to_plane};
pub use turn::{Turned, turn_strands};

use glam::Vec3;
use serde::Serialize;

use super::{Clumps, Groom, Pick, resample};

/// The surface of the body that hair grows on: its signed distance from a point [m], negative inside, and the outward
/// normal at the place nearest to the point.
pub type Skin<'a> = &'a (dyn Fn(Vec3) -> (f32, Vec3) + Sync);

/// What to do to a groom.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Edit {
    /// Makes strands longer or shorter, each about its root and with its shape.
    Length {
        /// Multiplies lengths, curls included.
        factor: f32,
    },
    /// Tightens or straightens curls, and leaves the way that the hair takes.
    Curl {
        /// Multiplies the distance from the path without curls: 0 straightens.
        factor: f32,
        /// Whether the path is made longer or shorter such that strands keep their lengths; otherwise tips stay.
        keep_length: bool,
    },
    /// Cuts hair off.
    Trim(Cut),
    /// Gives all strands the same number of vertices.
    Resample {
        /// Vertices on each strand, two or more.
        vertices: u32,
    },
    /// Takes out kinks.
    Smooth {
        /// Arc length over which points are averaged, to each side [m].
        reach: f32,
        /// From 0 (nothing) to 1 (the average).
        strength: f32,
    },
    /// Draws strands together into locks.
    Clump {
        /// How many, how close and where along the strand.
        #[serde(flatten)]
        clumps: Clumps,
        /// Seed of the choice of the strands in the middle of locks.
        seed: u32,
    },
    /// Removes strands whose roots are inside the body.
    RemoveInside {
        /// How deep a root may be before its strand goes [m].
        depth: f32,
    },
    /// Moves strands as they are until their roots are on the body's surface.
    Seat {
        /// Strands whose roots are farther from the surface stay [m].
        reach: f32,
    },
    /// Marks strands as guides, or keeps them alone.
    Guides {
        /// How many.
        count: u32,
        /// How they are picked.
        pick: Pick,
        /// Whether all other strands are dropped.
        only: bool,
        /// Seed of the choice.
        seed: u32,
    },
    /// Reflects hair to the other side of a plane across an axis.
    Mirror {
        /// The axis that is reversed.
        axis: Axis,
        /// Where on that axis the plane is [m].
        at: f32,
        /// Whether the hair stays and its mirror image comes on top.
        copy: bool,
    },
}

/// Where hair is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cut {
    /// At a length; shorter strands stay as they are.
    Length {
        /// Arc length that is left [m].
        length: f32,
    },
    /// At a part of the length.
    Fraction {
        /// The part that is left, above 0 and up to 1.
        fraction: f32,
    },
    /// At a plane.
    Plane {
        /// A point of the plane [m].
        point: Vec3,
        /// Hair on the side that it points to goes.
        normal: Vec3,
    },
}

impl Edit {
    /// The names of all edits, as scenes and commands write them.
    pub const NAMES: &'static [&'static str] = &[
        "length",
        "curl",
        "trim",
        "resample",
        "smooth",
        "clump",
        "remove-inside",
        "seat",
        "guides",
        "mirror",
    ];

    /// The name of the edit, as scenes and commands write it.
    pub fn name(&self) -> &'static str {
        let place = match self {
            Self::Length { .. } => 0,
            Self::Curl { .. } => 1,
            Self::Trim(_) => 2,
            Self::Resample { .. } => 3,
            Self::Smooth { .. } => 4,
            Self::Clump { .. } => 5,
            Self::RemoveInside { .. } => 6,
            Self::Seat { .. } => 7,
            Self::Guides { .. } => 8,
            Self::Mirror { .. } => 9,
        };
        Self::NAMES[place]
    }

    /// The edited groom. Strands must have two vertices or more; `skin` is the body's surface where there is a body.
    pub fn apply(&self, groom: &Groom, skin: Option<Skin<'_>>) -> Result<Groom, EditError> {
        if let Some(strand) = (0..groom.strands()).find(|&strand| groom.curves.vertices_of(strand) < 2) {
            return Err(EditError::TooFewVertices { strand });
        }
        let edited = match *self {
            Self::Length { factor } => scale_length(groom, factor),
            Self::Curl { factor, keep_length } => scale_curl(groom, factor, keep_length),
            Self::Trim(Cut::Length { length }) => trim_to_length(groom, length),
            Self::Trim(Cut::Fraction { fraction }) => trim_to_fraction(groom, fraction),
            Self::Trim(Cut::Plane { point, normal }) => trim_to_plane(groom, point, normal),
            Self::Resample { vertices } => {
                let total = groom.strands().saturating_mul(vertices as usize);
                if u32::try_from(total).is_err() {
                    return Err(EditError::TooLarge { vertices: total });
                }
                resample(groom, vertices as usize)
            }
            Self::Smooth { reach, strength } => smooth_strands(groom, reach, strength),
            Self::Clump { clumps, seed } => clump(groom, &clumps, u64::from(seed)),
            Self::RemoveInside { depth } => remove_inside(groom, skin.ok_or(EditError::NoBody)?, depth),
            Self::Seat { reach } => seat(groom, skin.ok_or(EditError::NoBody)?, reach),
            Self::Guides { count, pick, only, seed } => {
                choose_guides(groom, count as usize, pick, only, u64::from(seed))
            }
            Self::Mirror { axis, at, copy } => mirror(groom, axis, at, copy)?,
        };
        if edited.strands() == 0 { Err(EditError::NoStrands) } else { Ok(edited) }
    }

    /// The groom after several edits, in their order.
    pub fn apply_all(edits: &[Edit], groom: Groom, skin: Option<Skin<'_>>) -> Result<Groom, EditError> {
        let step = |groom: Groom, (place, edit): (usize, &Edit)| {
            edit.apply(&groom, skin).map_err(|problem| EditError::At {
                number: place + 1,
                name: edit.name(),
                problem: Box::new(problem),
            })
        };
        edits.iter().enumerate().try_fold(groom, step)
    }
}

/// The groom with each strand's points changed by `change`, which gets the strand's old and new points.
fn with_points(groom: &Groom, change: impl Fn(usize, &[Vec3], &mut [Vec3]) + Sync) -> Groom {
    use rayon::prelude::*;
    let mut edited = groom.clone();
    let mut strands = Vec::with_capacity(groom.strands());
    let mut rest = &mut edited.curves.points[..];
    for strand in 0..groom.strands() {
        strands.push(rest.split_off_mut(..groom.curves.vertices_of(strand)).unwrap_or_default());
    }
    strands
        .into_par_iter()
        .enumerate()
        .with_min_len(64)
        .for_each(|(strand, points)| change(strand, groom.curves.strand(strand), points));
    edited
}

#[cfg(test)]
mod tests;
