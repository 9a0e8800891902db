//! The text format (`.usda`).
//!
//! A file is parsed once for its structure; values are only stepped over, and parsed from the text, which stays in
//! memory, when they are asked for.

mod parse;
mod print;
mod references;
mod scan;
mod values;
pub(super) mod writer;

use super::error::{Fault, Parsed};
use super::layer::{Node, Variant};
use super::type_name;
use super::value::{ListOp, Specifier, Token, Value};
use scan::Scanner;

/// A field of a prim or property.
#[derive(Debug)]
struct Field {
    name: Token,
    content: FieldContent,
}

/// What a field holds: little things parsed, large ones as the place of their text.
#[derive(Debug)]
enum FieldContent {
    Specifier(Specifier),
    Uniform,
    Custom,
    TypeName(Token),
    /// A value of the type of its attribute.
    Value(u64),
    /// Metadata.
    Metadata(u64),
    /// Edits of a list, in order.
    Edits(Vec<(Edit, u64)>),
    /// Time samples, in order of time.
    Samples(Vec<Sample>),
}

/// What an edit does to a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    Explicit,
    Add,
    Prepend,
    Append,
    Delete,
    Reorder,
}

/// A time sample, and where its value is in the text.
#[derive(Clone, Copy, Debug)]
struct Sample {
    time: f64,
    start: u64,
    end: u64,
}

/// A text layer.
#[derive(Debug)]
pub(super) struct TextFile {
    text: Vec<u8>,
    /// For every node, its fields.
    fields: Vec<Vec<Field>>,
}

/// A layer, its nodes, and the variants among them.
type Structured = (TextFile, Vec<Node>, Vec<Variant>);

impl TextFile {
    /// Parses the structure; a fault comes with the text, to find its line.
    pub(super) fn parse(text: Vec<u8>) -> Result<Structured, (Fault, Vec<u8>)> {
        match parse::parse(&text) {
            Ok((nodes, variants, fields)) => Ok((Self { text, fields }, nodes, variants)),
            Err(fault) => Err((fault, text)),
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    fn scanner(&self, position: u64) -> Scanner<'_> {
        Scanner::new(&self.text, position as usize)
    }

    fn find(&self, fields: u32, name: &str) -> Option<&FieldContent> {
        let fields = self.fields.get(fields as usize)?;
        fields.iter().find(|field| *field.name == *name).map(|field| &field.content)
    }

    /// The names of the metadata of a node.
    fn metadata_names(&self, fields: u32) -> impl Iterator<Item = &Token> {
        let fields = self.fields.get(fields as usize).map_or(&[] as &[Field], |fields| fields);
        let is_metadata = |field: &&Field| match field.content {
            FieldContent::Metadata(_) => true,
            FieldContent::Edits(_) => !matches!(&*field.name, "targetPaths" | "connectionPaths"),
            _ => false,
        };
        fields.iter().filter(is_metadata).map(|field| &field.name)
    }

    pub(super) fn field(&self, fields: u32, name: &str) -> Parsed<Option<Value>> {
        if name == "subLayerOffsets" {
            // The text has them beside the files.
            let Some(FieldContent::Metadata(at)) = self.find(fields, "subLayers") else { return Ok(None) };
            let (_, offsets) = references::sublayers(&mut self.scanner(*at))?;
            return Ok(Some(Value::LayerOffsets(offsets)));
        }
        let Some(content) = self.find(fields, name) else { return Ok(None) };
        Ok(Some(match content {
            FieldContent::Specifier(specifier) => Value::Specifier(*specifier),
            FieldContent::Uniform => Value::Uniform(true),
            FieldContent::Custom => Value::Bool(true),
            FieldContent::TypeName(name) => Value::Token(name.clone()),
            FieldContent::Value(at) => self.typed(fields, *at)?,
            FieldContent::Metadata(at) => values::metadata(&mut self.scanner(*at), name)?,
            FieldContent::Edits(edits) => self.edits(name, edits)?,
            FieldContent::Samples(_) => Value::Unsupported("time samples"),
        }))
    }

    /// A value of the type that the attribute is declared with.
    fn typed(&self, fields: u32, at: u64) -> Parsed<Value> {
        let kind = match self.find(fields, "typeName") {
            Some(FieldContent::TypeName(name)) => type_name::parse(name),
            _ => None,
        };
        match kind {
            Some((kind, array)) => values::typed(&mut self.scanner(at), kind, array),
            None => Ok(Value::Unsupported("unknown type")),
        }
    }

    fn edits(&self, name: &str, edits: &[(Edit, u64)]) -> Parsed<Value> {
        if matches!(name, "targetPaths" | "connectionPaths" | "inheritPaths" | "specializes") {
            return Ok(Value::PathListOp(merge(edits, |at| values::paths(&mut self.scanner(at)))?));
        }
        if references::FIELDS.contains(&name) {
            let items = |at| references::references(&mut self.scanner(at));
            return Ok(Value::References(merge(edits, items)?));
        }
        let mut kind = None;
        let list = merge(edits, |at| {
            let value = values::metadata(&mut self.scanner(at), name)?;
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

    fn samples(&self, fields: u32) -> &[Sample] {
        match self.find(fields, "timeSamples") {
            Some(FieldContent::Samples(samples)) => samples,
            _ => &[],
        }
    }

    /// The times of the samples of an attribute.
    pub(super) fn times(&self, fields: u32) -> Vec<f64> {
        self.samples(fields).iter().map(|sample| sample.time).collect()
    }

    /// The value of the sample at `index`.
    pub(super) fn sample(&self, fields: u32, index: usize) -> Parsed<Value> {
        match self.samples(fields).get(index) {
            Some(sample) => self.typed(fields, sample.start),
            None => Ok(Value::Block),
        }
    }

    /// The samples of an attribute as they are written: time and text.
    fn sample_texts(&self, fields: u32) -> impl Iterator<Item = (f64, &[u8])> {
        let text = |sample: &Sample| &self.text[sample.start as usize..sample.end as usize];
        self.samples(fields).iter().map(move |sample| (sample.time, text(sample)))
    }
}

/// Puts the edits of one list together.
fn merge<T>(edits: &[(Edit, u64)], mut items: impl FnMut(u64) -> Parsed<Vec<T>>) -> Parsed<ListOp<T>> {
    let mut list = ListOp::default();
    for &(edit, at) in edits {
        let items = items(at)?;
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
