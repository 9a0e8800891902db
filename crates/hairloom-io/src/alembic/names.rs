//! Names in archives: those of "Alembic for Grooms", which Unreal reads, and our own.

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
/// The fingerprint of the run that wrote the file, in the archive's metadata.
pub(super) const RUN: &str = "hairloom_run";

/// The transform of the hair, and its curves.
pub(super) const HAIR: &str = "Hair";
