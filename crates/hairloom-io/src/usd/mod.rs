//! USD layers: the text (`.usda`) and the binary crate (`.usdc`) format and packages of them (`.usdz`), read and written
//! (packages are only read) here without any other USD library.
//!
//! The module knows layers, prims, properties, metadata and values, nothing about hair. A [`Layer`] is one file, and what
//! it holds is what one sees; `compose` puts the layers of a stage together.
//!
//! Caches are its purpose, so both directions work one time sample at a time:
//!
//! - [`Layer`] reads the structure of a file and keeps where values lie; [`Attribute::sample`] fetches one value.
//! - [`Writer`] declares prims and attributes and then takes samples as a simulation makes them. A binary file is
//!   append-only: a process that dies at any moment leaves every sample up to the last [`Writer::flush`] readable,
//!   and [`Writer::resume`] goes on from there.
//!
//! Input is not trusted: counts are checked against the bytes that are there, nesting is bounded, and whatever is
//! wrong with a file comes back as a [`UsdError`] that names the byte, or the line and column.

mod binary;
mod compose;
mod draft;
mod element;
mod error;
mod half;
mod layer;
mod nodes;
mod package;
mod path;
mod prim;
mod text;
mod type_name;
mod value;
mod writer;

pub(crate) use compose::{ComposedAttribute, ComposedPrim, Composition};
pub use draft::{AttributeId, PrimId, RelationshipId};
pub use element::Quat;
pub use error::UsdError;
pub use half::Half;
pub use layer::Layer;
pub use path::Path;
pub use prim::{Attribute, Prim, Relationship};
pub use value::{Given, LayerOffset, ListOp, Reference, Specifier, Token, Value};
pub use writer::{Format, Keep, Writer};
