//! The text format (`.usda`).
//!
//! A file is parsed once for its structure; values are only stepped over, and parsed from the text, which stays in
//! memory, when they are asked for.

mod fields;
mod parse;
mod print;
mod references;
mod scan;
mod values;
pub(super) mod writer;

use super::error::{Fault, Parsed};
use super::nodes::{Label, Node, NodeKind};
use super::type_name;
use super::value::{Kind, ListOp, Value};
use fields::{Edit, Field, FieldKind, PropertyHead};
use scan::Scanner;

/// A time sample, and where its value is in the text.
#[derive(Clone, Copy, Debug)]
struct Sample {
    time: f64,
    place: u64,
}

/// A text layer.
#[derive(Debug)]
pub(super) struct TextFile {
    text: Vec<u8>,
    /// Those of all nodes, linked.
    fields: Vec<Field>,
    /// In order of time, for each attribute that has some.
    samples: Vec<Vec<Sample>>,
    /// Where the names of the sets of variants are.
    sets: Vec<u64>,
}

/// A layer, its nodes, and the variants among them.
type Structured = (TextFile, Vec<Node>, Vec<u32>);

impl TextFile {
    /// Parses the structure; a fault comes with the text, to find its line.
    pub(super) fn parse(text: Vec<u8>) -> Result<Structured, (Fault, Vec<u8>)> {
        match parse::parse(&text) {
            Ok(parse::Structure { nodes, variants, fields, samples, sets }) => {
                Ok((Self { text, fields, samples, sets }, nodes, variants))
            }
            Err(fault) => Err((fault, text)),
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The name of a node.
    pub(super) fn name(&self, label: Label) -> &str {
        fields::name(&self.text, label)
    }

    /// The set that a variant is of.
    pub(super) fn set_name(&self, variant: &Node) -> &str {
        let place = self.sets.get(variant.next as usize).copied();
        place.map_or("", |place| fields::quoted_name(&self.text, place as usize))
    }

    fn fields(&self, node: &Node) -> impl Iterator<Item = &Field> {
        fields::of_node(&self.fields, node)
    }

    fn find(&self, node: &Node, name: &str) -> Option<&Field> {
        self.fields(node).find(|field| field.name(&self.text) == name)
    }

    /// The names of the metadata of a node.
    fn metadata_names(&self, node: &Node) -> Vec<&str> {
        let mut names = Vec::new();
        for field in self.fields(node) {
            let name = field.name(&self.text);
            // Several edits make one list.
            let again = field.edit().is_some() && names.contains(&name);
            if matches!(field.kind, FieldKind::Metadata | FieldKind::Comment) && !again {
                names.push(name);
            }
        }
        names
    }

    pub(super) fn field(&self, node: &Node, name: &str) -> Parsed<Option<Value>> {
        if name == "subLayerOffsets" {
            // The text has them beside the files.
            let field = self.find(node, "subLayers").filter(|field| field.edit().is_none());
            let Some(field) = field else { return Ok(None) };
            let (_, offsets) = references::sublayers(&mut field.value(&self.text)?)?;
            return Ok(Some(Value::LayerOffsets(offsets)));
        }
        if let Some(value) = self.declared(node, name)? {
            return Ok(Some(value));
        }
        let Some(field) = self.find(node, name) else { return Ok(None) };
        Ok(Some(match field.kind {
            FieldKind::Default => self.typed(node, field.value(&self.text)?)?,
            FieldKind::Samples => Value::Unsupported("time samples"),
            _ if field.edit().is_some() => self.edits(node, name)?,
            _ => values::metadata(&mut field.value(&self.text)?, name)?,
        }))
    }

    /// What the statement of a node tells before the name.
    fn declared(&self, node: &Node, name: &str) -> Parsed<Option<Value>> {
        let asked = matches!(name, "specifier" | "typeName" | "variability" | "custom");
        // The root and variants have none.
        if !asked || node.label.near() == 0 {
            return Ok(None);
        }
        let mut scanner = Scanner::new(&self.text, node.label.far() as usize);
        if node.kind() == NodeKind::Prim {
            let (specifier, type_name) = fields::prim_head(&mut scanner);
            return Ok(match name {
                "specifier" => specifier.map(Value::Specifier),
                "typeName" => (!type_name.is_empty()).then(|| Value::token(type_name)),
                _ => None,
            });
        }
        let head = PropertyHead::parse(&mut scanner)?;
        let brackets = if head.array { "[]" } else { "" };
        Ok(match name {
            "typeName" if node.kind() == NodeKind::Attribute => {
                Some(Value::Token(format!("{}{brackets}", head.type_name).into()))
            }
            "variability" => head.uniform.then_some(Value::Uniform(true)),
            "custom" => head.custom.then_some(Value::Bool(true)),
            _ => None,
        })
    }

    /// The type that an attribute is declared with.
    fn kind(&self, node: &Node) -> Parsed<Option<(Kind, bool)>> {
        let head = PropertyHead::parse(&mut Scanner::new(&self.text, node.label.far() as usize))?;
        Ok(type_name::parse(head.type_name).map(|(kind, _)| (kind, head.array)))
    }

    /// A value of the type that the attribute is declared with.
    fn typed(&self, node: &Node, mut at: Scanner<'_>) -> Parsed<Value> {
        match self.kind(node)? {
            Some((kind, array)) => values::typed(&mut at, kind, array),
            None => Ok(Value::Unsupported("unknown type")),
        }
    }

    /// All edits of one list put together.
    fn edits(&self, node: &Node, name: &str) -> Parsed<Value> {
        let edits =
            self.fields(node).filter(|field| field.edit().is_some() && field.name(&self.text) == name);
        let edits = edits.map(|field| (field.edit().unwrap_or(Edit::Explicit), field.value(&self.text)));
        if matches!(name, "targetPaths" | "connectionPaths" | "inheritPaths" | "specializes") {
            return Ok(Value::PathListOp(merge(edits, |mut at| values::paths(&mut at))?));
        }
        if references::FIELDS.contains(&name) {
            return Ok(Value::References(merge(edits, |mut at| references::references(&mut at))?));
        }
        let mut kind = None;
        let list = merge(edits, |mut at| {
            let value = values::metadata(&mut at, name)?;
            Ok(match value {
                Value::TokenListOp(list) | Value::StringListOp(list) => list.explicit.unwrap_or_default(),
                Value::PathListOp(_) | Value::Unsupported(_) | Value::Asset(_) => {
                    kind = Some(Value::Unsupported("list edits"));
                    Vec::new()
                }
                other => values::into_texts(other),
            })
        })?;
        Ok(kind.unwrap_or(if name == "apiSchemas" {
            Value::TokenListOp(list)
        } else {
            Value::StringListOp(list)
        }))
    }

    fn samples(&self, node: &Node) -> &[Sample] {
        let field = self.fields(node).find(|field| field.kind == FieldKind::Samples);
        field.and_then(|field| self.samples.get(field.place() as usize)).map_or(&[], |samples| samples)
    }

    /// The times of the samples of an attribute.
    pub(super) fn times(&self, node: &Node) -> Vec<f64> {
        self.samples(node).iter().map(|sample| sample.time).collect()
    }

    /// The value of the sample at `index`.
    pub(super) fn sample(&self, node: &Node, index: usize) -> Parsed<Value> {
        match self.samples(node).get(index) {
            Some(sample) => self.typed(node, Scanner::new(&self.text, sample.place as usize)),
            None => Ok(Value::Block),
        }
    }

    /// The samples of an attribute as they are written: time and text.
    fn sample_texts(&self, node: &Node) -> impl Iterator<Item = (f64, &[u8])> {
        let text = |sample: &Sample| {
            let mut scanner = Scanner::new(&self.text, sample.place as usize);
            // It was stepped over before, and can be again.
            let _ = scanner.skip_value();
            scanner.since(sample.place as usize)
        };
        self.samples(node).iter().map(move |sample| (sample.time, text(sample)))
    }
}

/// Puts the edits of one list together.
fn merge<'a, T>(
    edits: impl Iterator<Item = (Edit, Parsed<Scanner<'a>>)>,
    mut items: impl FnMut(Scanner<'a>) -> Parsed<Vec<T>>,
) -> Parsed<ListOp<T>> {
    let mut list = ListOp::default();
    for (edit, at) in edits {
        let items = items(at?)?;
        match edit {
            Edit::Explicit => list.explicit = Some(items),
            Edit::Add => list.added.extend(items),
            Edit::Prepend => list.prepended.extend(items),
            Edit::Append => list.appended.extend(items),
            Edit::Delete => list.deleted.extend(items),
            Edit::Reorder => list.ordered.extend(items),
        }
    }
    Ok(list)
}
