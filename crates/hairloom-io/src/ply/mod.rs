//! PLY files (`.ply`): strands, and meshes of bodies. ASCII, binary little-endian and binary big-endian.
//!
//! # Strands
//!
//! The element `vertex` holds `x`, `y` and `z`, and these of its other properties are read: a diameter (`width`, `thickness` or
//! `diameter`) or half of it (`radius`), and colours (`red`, `green`, `blue`). How the vertices are strands is told in one of four ways, of which
//! the first that is there counts:
//!
//! - an element `strand`, `strands`, `curve`, `curves`, `hair`, `fiber`, `polyline` or `line` with a list of vertices (`vertex_indices`,
//!   `vertex_index`, `indices` or `vertices`),
//! - the same with a count instead (`vertex_count`, `num_vertices`, `count` or `size`): the vertices follow one another,
//! - an element `edge` with `vertex1` and `vertex2`: edges that follow one another are a strand, which starts where its edges start,
//! - a number at each vertex (`strand`, `strand_id`, `strand_index`, `hair_id`, `curve_id`): those with the same are one strand, in the
//!   order of the file. It becomes the strand's identifier.
//!
//! A vertex belongs to one strand; vertices that belong to none are left out. Files are written in the first way, little-endian.
//!
//! # Meshes
//!
//! `vertex` with `x`, `y` and `z`, and `face` with the list `vertex_indices` or `vertex_index`. Polygons become triangles as those of OBJ files do.
//!
//! The format states neither unit nor axes: the numbers are taken as metres, y up, unless the caller says otherwise.

mod header;
mod read;
mod rows;
mod write;

pub(crate) use read::read;
pub use read::{parse, parse_mesh};
pub use write::write_to;
