//! USD layers: the text (`.usda`) and the binary crate (`.usdc`) format, read and written here without any other
//! USD library; of packages (`.usdz`) the first layer is read.
//!
//! The module knows layers, prims, properties, metadata and values, nothing about hair. It does no composition:
//! references, payloads, inherits and variants are stepped over, and what one layer holds is what one sees.
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
mod draft;
mod element;
mod error;
mod half;
mod layer;
mod package;
mod path;
mod prim;
mod text;
mod type_name;
mod value;
mod writer;

pub use draft::{AttributeId, PrimId, RelationshipId};
pub use element::Quat;
pub use error::UsdError;
pub use half::Half;
pub use layer::Layer;
pub use path::Path;
pub use prim::{Attribute, Prim, Relationship};
pub use value::{ListOp, Specifier, Token, Value};
pub use writer::{Format, Keep, Writer};
