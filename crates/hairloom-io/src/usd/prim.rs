//! The prims and properties of a layer that is read.

use std::sync::OnceLock;

use super::binary;
use super::binary::decode::StoredSamples;
use super::error::UsdError;
use super::layer::{Content, Layer};
use super::nodes::{Node, NodeKind};
use super::path::Path;
use super::value::{Specifier, Token, Value};

/// A prim of a [`Layer`].
#[derive(Clone, Copy, Debug)]
pub struct Prim<'a> {
    layer: &'a Layer,
    node: u32,
}

impl<'a> Prim<'a> {
    pub(super) fn new(layer: &'a Layer, node: u32) -> Self {
        Self { layer, node }
    }

    pub(super) fn node(&self) -> &'a Node {
        self.layer.node(self.node)
    }

    /// The last element of the path.
    pub fn name(&self) -> &'a str {
        self.layer.name(self.node)
    }

    /// The path, such as `/World/Hair`.
    pub fn path(&self) -> Path {
        self.layer.path_of(self.node)
    }

    /// The type, such as `BasisCurves`; empty if there is none.
    pub fn type_name(&self) -> Result<Token, UsdError> {
        self.layer.type_name(self.node)
    }

    /// Whether the prim is defined here, overridden or a class.
    pub fn specifier(&self) -> Result<Specifier, UsdError> {
        Ok(match self.metadata("specifier")? {
            Some(Value::Specifier(specifier)) => specifier,
            _ => Specifier::Over,
        })
    }

    /// Metadata of the prim, such as `kind` or `apiSchemas`.
    pub fn metadata(&self, name: &str) -> Result<Option<Value>, UsdError> {
        self.layer.field(self.node, name)
    }

    /// The prims directly below.
    pub fn children(&self) -> Result<Vec<Prim<'a>>, UsdError> {
        Ok(self.child_nodes()?.into_iter().map(|node| Prim { layer: self.layer, node }).collect())
    }

    /// The nodes of the prims directly below.
    pub(super) fn child_nodes(&self) -> Result<Vec<u32>, UsdError> {
        self.in_order(true, "primChildren")
    }

    /// Binary files sort paths by name and keep the authored order in a field.
    fn in_order(&self, prims: bool, field: &str) -> Result<Vec<u32>, UsdError> {
        let mut ordered = Vec::with_capacity(self.layer.members(self.node, prims).count());
        ordered.extend(self.layer.members(self.node, prims));
        if ordered.len() > 1
            && self.layer.text_file().is_none()
            && let Some(Value::TokenArray(names)) = self.metadata(field)?
        {
            let place: std::collections::HashMap<&str, usize> =
                names.iter().enumerate().map(|(place, name)| (&**name, place)).collect();
            let place = |node: &u32| place.get(self.layer.name(*node)).copied();
            ordered.sort_by_key(|node| place(node).unwrap_or(usize::MAX));
        }
        Ok(ordered)
    }

    fn properties(&self, kind: NodeKind) -> Result<impl Iterator<Item = u32> + use<'a>, UsdError> {
        let layer = self.layer;
        let nodes = self.in_order(false, "properties")?;
        Ok(nodes.into_iter().filter(move |&node| layer.node(node).kind() == kind))
    }

    /// All attributes, one after the other.
    pub(super) fn each_attribute(&self) -> Result<impl Iterator<Item = Attribute<'a>> + use<'a>, UsdError> {
        let layer = self.layer;
        Ok(self.properties(NodeKind::Attribute)?.map(move |node| Attribute::new(layer, node)))
    }

    /// All attributes.
    pub fn attributes(&self) -> Result<Vec<Attribute<'a>>, UsdError> {
        Ok(self.each_attribute()?.collect())
    }

    /// All relationships.
    pub fn relationships(&self) -> Result<Vec<Relationship<'a>>, UsdError> {
        let layer = self.layer;
        Ok(self.properties(NodeKind::Relationship)?.map(|node| Relationship { layer, node }).collect())
    }

    fn property(&self, name: &str, kind: NodeKind) -> Option<u32> {
        let node = self.layer.child(self.node, false, name)?;
        (self.layer.node(node).kind() == kind).then_some(node)
    }

    /// The attribute of this name, such as `points`.
    pub fn attribute(&self, name: &str) -> Option<Attribute<'a>> {
        Some(Attribute::new(self.layer, self.property(name, NodeKind::Attribute)?))
    }

    /// The relationship of this name, such as `material:binding`.
    pub fn relationship(&self, name: &str) -> Option<Relationship<'a>> {
        Some(Relationship { layer: self.layer, node: self.property(name, NodeKind::Relationship)? })
    }
}

/// A relationship of a [`Prim`].
#[derive(Clone, Copy, Debug)]
pub struct Relationship<'a> {
    layer: &'a Layer,
    node: u32,
}

impl<'a> Relationship<'a> {
    /// The name.
    pub fn name(&self) -> &'a str {
        self.layer.name(self.node)
    }

    /// Metadata of the relationship.
    pub fn metadata(&self, name: &str) -> Result<Option<Value>, UsdError> {
        self.layer.field(self.node, name)
    }

    /// The paths it points to.
    pub fn targets(&self) -> Result<Vec<Path>, UsdError> {
        Ok(match self.metadata("targetPaths")? {
            Some(Value::PathListOp(list)) => list.items().cloned().collect(),
            _ => Vec::new(),
        })
    }

    pub(super) fn node(&self) -> &'a Node {
        self.layer.node(self.node)
    }

    pub(super) fn fields(&self) -> u32 {
        self.node().fields
    }
}

/// The samples of an attribute, in the terms of the format.
#[derive(Debug)]
enum Samples {
    None,
    Crate(StoredSamples),
    Text { times: Vec<f64> },
}

/// An attribute of a [`Prim`]. It remembers the times of its samples: keep it to read many.
#[derive(Debug)]
pub struct Attribute<'a> {
    layer: &'a Layer,
    node: u32,
    samples: OnceLock<Samples>,
}

impl<'a> Attribute<'a> {
    fn new(layer: &'a Layer, node: u32) -> Self {
        Self { layer, node, samples: OnceLock::new() }
    }

    /// The name, such as `primvars:st`.
    pub fn name(&self) -> &'a str {
        self.layer.name(self.node)
    }

    /// The path, such as `/World/Hair.points`.
    pub fn path(&self) -> Path {
        self.layer.path_of(self.node)
    }

    /// The type, such as `point3f[]`.
    pub fn type_name(&self) -> Result<Token, UsdError> {
        self.layer.type_name(self.node)
    }

    /// Metadata of the attribute, such as `interpolation`.
    pub fn metadata(&self, name: &str) -> Result<Option<Value>, UsdError> {
        self.layer.field(self.node, name)
    }

    /// Whether the attribute cannot change over time.
    pub fn is_uniform(&self) -> Result<bool, UsdError> {
        Ok(matches!(self.metadata("variability")?, Some(Value::Uniform(true))))
    }

    /// The value that holds where there are no samples.
    pub fn default(&self) -> Result<Option<Value>, UsdError> {
        self.metadata("default")
    }

    /// The times of the samples, increasing [time codes]; none if there are none.
    pub fn times(&self) -> Result<&[f64], UsdError> {
        Ok(match self.samples()? {
            Samples::None => &[],
            Samples::Crate(samples) => &samples.times,
            Samples::Text { times } => times,
        })
    }

    /// Reads the sample at `index` of [`Self::times`].
    pub fn sample(&self, index: usize) -> Result<Value, UsdError> {
        let count = self.times()?.len();
        if index >= count {
            return Err(UsdError::Usage(format!("{} has {count} samples, not {}", self.path(), index + 1)));
        }
        let value = match (self.samples()?, &self.layer.content) {
            (Samples::Crate(samples), Content::Crate(file)) => {
                file.sample_ref(samples, index).and_then(|value| file.value(value))
            }
            (Samples::Text { .. }, Content::Text(file)) => file.sample(self.node(), index),
            _ => Ok(Value::Block),
        };
        self.layer.check(value)
    }

    /// The value at a time, as held: the last sample at or before it, else the first sample, else the default.
    pub fn held_at(&self, time: f64) -> Result<Option<Value>, UsdError> {
        let times = self.times()?;
        if times.is_empty() {
            return self.default();
        }
        let index = times.partition_point(|&sample| sample <= time).saturating_sub(1);
        self.sample(index).map(Some)
    }

    fn samples(&self) -> Result<&Samples, UsdError> {
        if let Some(samples) = self.samples.get() {
            return Ok(samples);
        }
        let fields = self.fields();
        let samples = match &self.layer.content {
            Content::Crate(file) => match file.field(fields, "timeSamples") {
                Some(value) if value.code() == binary::code::TIME_SAMPLES => {
                    file.samples(value).map(Samples::Crate)
                }
                _ => Ok(Samples::None),
            },
            Content::Text(file) => Ok(Samples::Text { times: file.times(self.node()) }),
        };
        let samples = self.layer.check(samples)?;
        Ok(self.samples.get_or_init(|| samples))
    }

    pub(super) fn node(&self) -> &'a Node {
        self.layer.node(self.node)
    }

    pub(super) fn fields(&self) -> u32 {
        self.node().fields
    }

    /// The samples of a crate file, to go on writing after them.
    pub(super) fn stored_samples(&self) -> Result<Option<&StoredSamples>, UsdError> {
        Ok(match self.samples()? {
            Samples::Crate(samples) => Some(samples),
            _ => None,
        })
    }
}

impl<'a> Prim<'a> {
    pub(super) fn fields(&self) -> u32 {
        self.node().fields
    }

    /// Names of the properties in order.
    pub(super) fn property_order(&self) -> Result<Vec<(Token, NodeKind)>, UsdError> {
        let nodes = self.in_order(false, "properties")?;
        let layer = self.layer;
        Ok(nodes.into_iter().map(|node| (layer.name(node).into(), layer.node(node).kind())).collect())
    }
}
