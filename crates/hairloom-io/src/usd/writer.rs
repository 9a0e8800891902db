//! Writes a layer while a simulation runs.

use std::io;
use std::path::{Path as FilePath, PathBuf};

use super::binary::ValueRef;
use super::binary::writer::CrateBackend;
use super::draft::{AttributeId, Draft, PrimId, RelationshipId, set_field};
use super::error::UsdError;
use super::layer::Layer;
use super::path::{Path, is_identifier, is_property_name};
use super::text::writer::TextBackend;
use super::value::{Given, ListOp, Specifier, Value};

/// The two formats of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.usda`: text.
    Text,
    /// `.usdc` (and `.usd`): binary.
    Binary,
}

impl Format {
    /// The format that a file's extension asks for.
    pub fn of_file(path: &FilePath) -> Result<Self, UsdError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("usda") => Ok(Self::Text),
            Some("usdc" | "usd") => Ok(Self::Binary),
            _ => Err(UsdError::Usage(format!(
                "{}: expected a file name that ends with .usda, .usdc or .usd",
                path.display()
            ))),
        }
    }
}

/// Which samples of a file stay when writing goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keep {
    /// Every one.
    All,
    /// The first so many of every attribute.
    Samples(usize),
    /// Those at or before this time [time codes].
    Until(f64),
}

impl Keep {
    /// How many of these times stay.
    pub(super) fn count(self, times: &[f64]) -> usize {
        match self {
            Self::All => times.len(),
            Self::Samples(count) => count.min(times.len()),
            Self::Until(last) => times.partition_point(|&time| time <= last),
        }
    }
}

/// Where a format puts values.
pub(super) trait Backend {
    /// What is kept of a value until the structure is written.
    type Stored;
    fn store(&mut self, value: &Given) -> io::Result<Self::Stored>;
    fn append(&mut self, attribute: usize, time: f64, value: &Given) -> io::Result<()>;
    /// Makes the file complete as it stands.
    fn write(&mut self, draft: &Draft<Self::Stored>, last: bool) -> io::Result<()>;
}

#[derive(Debug)]
struct Stream<B: Backend> {
    backend: B,
    draft: Draft<B::Stored>,
}

#[derive(Debug)]
enum Streams {
    Text(Box<Stream<TextBackend>>),
    Binary(Box<Stream<CrateBackend>>),
}

/// Writes one layer: declare prims and attributes, then give samples in order of time.
///
/// Samples go to disk as they come; memory does not grow with them. What was written before a [`Self::flush`] is
/// safe from whatever happens to the process after it. [`Self::finish`] completes the file.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    streams: Streams,
}

macro_rules! each {
    ($writer:expr, $stream:ident => $body:expr) => {
        match &mut $writer.streams {
            Streams::Text($stream) => $body,
            Streams::Binary($stream) => $body,
        }
    };
}

impl Writer {
    /// Begins a new file, in the format of its extension; an old one is replaced.
    pub fn create(path: impl AsRef<FilePath>) -> Result<Self, UsdError> {
        let path = path.as_ref();
        let io = |error| UsdError::io(path, error);
        let streams = match Format::of_file(path)? {
            Format::Text => {
                let backend = TextBackend::create(path).map_err(io)?;
                Streams::Text(Box::new(Stream { backend, draft: Draft::new() }))
            }
            Format::Binary => {
                let backend = CrateBackend::create(path).map_err(io)?;
                Streams::Binary(Box::new(Stream { backend, draft: Draft::new() }))
            }
        };
        Ok(Self { path: path.to_owned(), streams })
    }

    /// Goes on with a file that this writer made, finished or not, after the samples that stay.
    ///
    /// [`Self::prim`] and [`Self::attribute`] find what was declared.
    pub fn resume(path: impl AsRef<FilePath>, keep: Keep) -> Result<Self, UsdError> {
        let path = path.as_ref();
        let layer = Layer::open(path)?;
        let streams = if layer.crate_file().is_some() {
            let (backend, draft): (_, Draft<ValueRef>) = CrateBackend::resume(&layer, keep)?;
            Streams::Binary(Box::new(Stream { backend, draft }))
        } else {
            let (backend, draft) = TextBackend::resume(&layer, keep)?;
            Streams::Text(Box::new(Stream { backend, draft }))
        };
        Ok(Self { path: path.to_owned(), streams })
    }

    /// The format: flushing text costs as much as the file is large, flushing binary next to nothing.
    pub fn format(&self) -> Format {
        match self.streams {
            Streams::Text(_) => Format::Text,
            Streams::Binary(_) => Format::Binary,
        }
    }

    /// Sets metadata of the layer, such as `upAxis`.
    pub fn set_metadata(&mut self, name: &str, value: &Value) -> Result<(), UsdError> {
        self.set_prim_metadata(PrimId(0), name, value)
    }

    /// Defines a prim; those above it are defined without a type if they are missing.
    pub fn define(&mut self, path: impl Into<Path>, type_name: &str) -> Result<PrimId, UsdError> {
        let path = path.into();
        each!(self, stream => stream.draft.define(path.as_str(), type_name))
    }

    /// Makes a prim an `over` or a `class`.
    pub fn set_specifier(&mut self, prim: PrimId, specifier: Specifier) {
        each!(self, stream => stream.draft.prims[prim.0].specifier = specifier);
    }

    /// Sets metadata of a prim, such as `kind` or `apiSchemas`.
    pub fn set_prim_metadata(&mut self, prim: PrimId, name: &str, value: &Value) -> Result<(), UsdError> {
        self.check_metadata(name, value)?;
        let stored = each!(self, stream => stream.backend.store(&value.into()).map(|stored| {
            set_field(&mut stream.draft.prims[prim.0].metadata, name, stored);
        }));
        stored.map_err(|error| UsdError::io(&self.path, error))
    }

    /// Declares an attribute with a type such as `point3f[]`.
    pub fn declare(&mut self, prim: PrimId, name: &str, type_name: &str) -> Result<AttributeId, UsdError> {
        each!(self, stream => stream.draft.attribute(prim, name, type_name))
    }

    /// Declares an attribute that cannot change over time, with its value.
    pub fn declare_uniform(
        &mut self,
        prim: PrimId,
        name: &str,
        type_name: &str,
        value: &Value,
    ) -> Result<AttributeId, UsdError> {
        let attribute = self.declare(prim, name, type_name)?;
        each!(self, stream => stream.draft.attributes[attribute.0].uniform = true);
        self.set_default(attribute, value)?;
        Ok(attribute)
    }

    /// Marks an attribute as belonging to no schema.
    pub fn set_custom(&mut self, attribute: AttributeId) {
        each!(self, stream => stream.draft.attributes[attribute.0].custom = true);
    }

    /// Sets metadata of an attribute, such as `interpolation`.
    pub fn set_attribute_metadata(
        &mut self,
        attribute: AttributeId,
        name: &str,
        value: &Value,
    ) -> Result<(), UsdError> {
        self.check_metadata(name, value)?;
        let stored = each!(self, stream => stream.backend.store(&value.into()).map(|stored| {
            set_field(&mut stream.draft.attributes[attribute.0].metadata, name, stored);
        }));
        stored.map_err(|error| UsdError::io(&self.path, error))
    }

    /// Sets the value that holds where there are no samples.
    pub fn set_default<'a>(
        &mut self,
        attribute: AttributeId,
        value: impl Into<Given<'a>>,
    ) -> Result<(), UsdError> {
        let value = &value.into();
        let stored = each!(self, stream => {
            stream.draft.check_type(attribute, value)?;
            stream.backend.store(value).map(|stored| stream.draft.attributes[attribute.0].default = Some(stored))
        });
        stored.map_err(|error| UsdError::io(&self.path, error))
    }

    /// Declares a relationship to prims or properties.
    pub fn relate(&mut self, prim: PrimId, name: &str, targets: &[Path]) -> Result<RelationshipId, UsdError> {
        if let Some(bad) = targets.iter().find(|path| !is_target(path.as_str())) {
            return Err(UsdError::Usage(format!(
                "\"{bad}\" is no target: expected a path such as /World/Skin"
            )));
        }
        let value = Value::PathListOp(ListOp::explicit(targets.to_vec()));
        let stored = each!(self, stream => {
            let id = stream.draft.relationship(prim, name)?;
            stream.backend.store(&Given::Value(&value)).map(|stored| {
                stream.draft.relationships[id.0].targets = Some(stored);
                id
            })
        });
        stored.map_err(|error| UsdError::io(&self.path, error))
    }

    /// Writes the value of an attribute at a time [time codes] later than all before.
    pub fn write_sample<'a>(
        &mut self,
        attribute: AttributeId,
        time: f64,
        value: impl Into<Given<'a>>,
    ) -> Result<(), UsdError> {
        let value = &value.into();
        let written = each!(self, stream => {
            stream.draft.check_time(attribute, time)?;
            stream.draft.check_type(attribute, value)?;
            stream.backend.append(attribute.0, time, value).map(|()| {
                stream.draft.attributes[attribute.0].times.push(time);
            })
        });
        written.map_err(|error| UsdError::io(&self.path, error))
    }

    /// Makes the file readable with every sample so far.
    pub fn flush(&mut self) -> Result<(), UsdError> {
        let written = each!(self, stream => stream.backend.write(&stream.draft, false));
        written.map_err(|error| UsdError::io(&self.path, error))
    }

    /// Completes the file and waits until it is on the disk.
    pub fn finish(mut self) -> Result<(), UsdError> {
        let written = each!(self, stream => stream.backend.write(&stream.draft, true));
        written.map_err(|error| UsdError::io(&self.path, error))
    }

    /// The prim at a path.
    pub fn prim(&self, path: impl Into<Path>) -> Option<PrimId> {
        match &self.streams {
            Streams::Text(stream) => stream.draft.find_prim(&path.into()),
            Streams::Binary(stream) => stream.draft.find_prim(&path.into()),
        }
    }

    /// The attribute at a path such as `/World/Hair.points`.
    pub fn attribute(&self, path: impl Into<Path>) -> Option<AttributeId> {
        match &self.streams {
            Streams::Text(stream) => stream.draft.find_attribute(&path.into()),
            Streams::Binary(stream) => stream.draft.find_attribute(&path.into()),
        }
    }

    /// The times of the samples of an attribute so far [time codes].
    pub fn times(&self, attribute: AttributeId) -> &[f64] {
        match &self.streams {
            Streams::Text(stream) => &stream.draft.attributes[attribute.0].times,
            Streams::Binary(stream) => &stream.draft.attributes[attribute.0].times,
        }
    }

    fn check_metadata(&self, name: &str, value: &Value) -> Result<(), UsdError> {
        if !is_property_name(name) {
            return Err(UsdError::Usage(format!(
                "\"{name}\" cannot name metadata: expected a name such as upAxis"
            )));
        }
        if matches!(
            value,
            Value::Unsupported(_) | Value::Specifier(_) | Value::Uniform(_) | Value::IntListOp(_)
        ) {
            return Err(UsdError::Usage(format!("{name}: such a value cannot be written: {value:?}")));
        }
        Ok(())
    }
}

/// Whether a relationship that is written may point there.
fn is_target(path: &str) -> bool {
    let (prim, property) = match path.split_once('.') {
        Some((prim, property)) => (prim, Some(property)),
        None => (path, None),
    };
    prim.strip_prefix('/').is_some_and(|names| names.split('/').all(is_identifier))
        && property.is_none_or(is_property_name)
}
