//! Names in archives: those of "Alembic for Grooms", which Unreal reads, and our own.

use crate::space::{Axis, Space};

/// Versions of the groom schema, on the topmost transform.
pub(super) const VERSION_MAJOR: (&str, i16) = ("groom_version_major", 1);
pub(super) const VERSION_MINOR: (&str, i16) = ("groom_version_minor", 5);
/// The program that wrote the groom.
pub(super) const TOOL: &str = "groom_tool";

/// The strands' identifiers.
pub(super) const ID: &str = "groom_id";
/// Texture coordinates of the roots.
pub(super) const ROOT_UV: &str = "groom_root_uv";
/// Which strands are guides, 0 or 1.
pub(super) const GUIDE: &str = "groom_guide";
/// Diameters at the vertices.
pub(super) const WIDTH: &str = "groom_width";
/// Colours.
pub(super) const COLOR: &str = "groom_color";
/// The group that a strand belongs to.
pub(super) const GROUP_ID: &str = "groom_group_id";
/// The identifiers of three guides of each strand, whole numbers.
pub(super) const CLOSEST_GUIDES: &str = "groom_closest_guides";

/// The length of the file's unit in metres, in the archive's metadata.
pub(super) const UNIT: &str = "hairloom_meters_per_unit";
/// The axis that points up, in the archive's metadata.
pub(super) const UP: &str = "hairloom_up_axis";
/// The unit and the up axis of the curves' own points, in the archive's metadata, where they are not those of the file.
pub(super) const POINTS: &str = "hairloom_points";
/// The fingerprint of the run that wrote the file, in the archive's metadata.
pub(super) const RUN: &str = "hairloom_run";

/// The transform of the hair, and its curves.
pub(super) const HAIR: &str = "Hair";
/// The curves of guides that are told apart from the others.
pub(super) const GUIDES: &str = "Guides";

/// A space in words, such as `0.01 z`.
pub(super) fn space_note(space: &Space) -> String {
    format!("{} {}", space.unit, if space.up == Axis::Z { "z" } else { "y" })
}

/// The space that a note tells.
pub(super) fn noted_space(note: &str) -> Option<Space> {
    let (unit, up) = note.split_once(' ')?;
    let up = match up {
        "y" => Axis::Y,
        "z" => Axis::Z,
        _ => return None,
    };
    Some(Space { unit: unit.parse().ok()?, up }).filter(Space::is_valid)
}
