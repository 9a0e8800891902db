//! Alembic archives (`.abc`) in the Ogawa container: grooms, moving bodies and caches, read and written by our own code.
//!
//! # What is read
//!
//! All `Curves` of an archive are one groom, all `PolyMesh` and `SubD` objects its bodies, placed by the `Xform`
//! objects above them (every operation, and whether a transform inherits). Points, transforms and topology may have
//! samples over time; between samples points and transforms are linear. Cubic curves become polylines as in USD files. Diameters may be for all, for each curve or for each vertex; parameters
//! (`arbGeomParams`) may have indices.
//!
//! # Names
//!
//! Those of Unreal's "Alembic for Grooms": `groom_id`, `groom_root_uv`, `groom_guide`, `groom_width` and `groom_color`
//! are the identifiers, the texture coordinates, the guides, the diameters and the colours of a groom; every other
//! parameter becomes an attribute of its own name, `groom_group_id`, `groom_closest_guides` and
//! `groom_guide_weights` among them. Strands whose `groom_group_id` differs are written as one `Curves` object for each
//! group where the groups follow one another. An archive all of whose strands are guides is a guide cache for Unreal; where only some
//! objects say which of their strands are guides, those of the others are none.
//!
//! # Units
//!
//! Archives do not tell their unit. Ours are in metres, y up, as Blender and Houdini expect, and say so in metadata
//! of our own (`hairloom_meters_per_unit`), which counts when they are read. Archives without it are taken in metres.
//! For Maya and Unreal, which think in centimetres, write with [`WriteOptions::file`], or import with a scale of 100.
//!
//! The points of a groom that came in another unit or other axes keep their bits: a transform above the curves places them, and
//! metadata (`hairloom_points`) says what they are in, so that a groom goes to an archive and back unchanged.
//!
//! # Broken and hostile files
//!
//! Nothing is read but what is asked for, every position and length is checked, and each request has a budget of
//! bytes in proportion to the file: whatever a file says, an answer or an error comes soon and with little memory.

mod cache;
mod digest;
mod error;
mod header;
mod names;
mod read;
mod source;
mod time;
mod write;

pub(crate) use cache::{AlembicCache, AlembicFrames};
pub use cache::{WriteOptions, read, write};
pub use error::AlembicError;
pub use read::Archive;
