//! The fields of prims and properties: what is told about each is found again in the text, from the place of its statement.

use super::super::error::Parsed;
use super::super::nodes::{Label, NONE, Node, NodeKind, push_lean};
use super::super::type_name;
use super::super::value::Specifier;
use super::scan::Scanner;

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// A value of the type of its attribute, at a place.
    Default,
    /// Time samples, by their index.
    Samples,
    /// A text without a name, at a place.
    Comment,
    /// Metadata, at the place of its name.
    Metadata,
    /// The targets of a relationship, at a place.
    Targets,
    /// The connections of an attribute, at a place.
    Connections,
}

/// What an edit does to a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    Explicit,
    Add,
    Prepend,
    Append,
    Delete,
    Reorder,
}

impl Edit {
    const ALL: [Self; 6] =
        [Self::Explicit, Self::Add, Self::Prepend, Self::Append, Self::Delete, Self::Reorder];

    /// The edit that a word begins.
    pub(super) fn of(word: &str) -> Option<Self> {
        match word {
            "add" => Some(Self::Add),
            "prepend" => Some(Self::Prepend),
            "append" => Some(Self::Append),
            "delete" => Some(Self::Delete),
            "reorder" => Some(Self::Reorder),
            _ => None,
        }
    }
}

/// A field of a node. Small: a hostile layer has one for every few bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    place_low: u32,
    place_high: u16,
    pub(super) kind: FieldKind,
    /// One more than the number of the edit, 0 for none.
    edit: u8,
    /// The next field of the node, the first after the last.
    next: u32,
}

impl Field {
    pub(super) fn new(kind: FieldKind, edit: Option<Edit>, place: u64) -> Self {
        let edit = edit.map_or(0, |edit| edit as u8 + 1);
        // Texts are shorter than 2⁴⁰ bytes: labels see to that.
        Self { place_low: place as u32, place_high: (place >> 32) as u16, kind, edit, next: NONE }
    }

    pub(super) fn place(&self) -> u64 {
        u64::from(self.place_high) << 32 | u64::from(self.place_low)
    }

    pub(super) fn edit(&self) -> Option<Edit> {
        Edit::ALL.get(usize::from(self.edit).checked_sub(1)?).copied()
    }

    /// The name in the data model.
    pub(super) fn name<'a>(&self, text: &'a [u8]) -> &'a str {
        match self.kind {
            FieldKind::Default => "default",
            FieldKind::Samples => "timeSamples",
            FieldKind::Comment => "comment",
            FieldKind::Targets => "targetPaths",
            FieldKind::Connections => "connectionPaths",
            FieldKind::Metadata => type_name::of_text(Scanner::new(text, self.place() as usize).word()),
        }
    }

    /// The place of the value.
    pub(super) fn value<'a>(&self, text: &'a [u8]) -> Parsed<Scanner<'a>> {
        let mut scanner = Scanner::new(text, self.place() as usize);
        if self.kind == FieldKind::Metadata {
            scanner.word();
            scanner.require(b'=')?;
        }
        Ok(scanner)
    }
}

/// Adds a field to a node.
pub(super) fn attach(fields: &mut Vec<Field>, node: &mut Node, mut field: Field) {
    let index = fields.len() as u32;
    field.next = match node.fields {
        NONE => index,
        last => std::mem::replace(&mut fields[last as usize].next, index),
    };
    push_lean(fields, field);
    node.fields = index;
}

/// The fields of a node in order.
pub(super) fn of_node<'a>(fields: &'a [Field], node: &Node) -> impl Iterator<Item = &'a Field> + use<'a> {
    let last = node.fields;
    let first = fields.get(last as usize).map(|field| field.next);
    let next = move |&index: &u32| (index != last).then(|| fields[index as usize].next);
    std::iter::successors(first, next).filter_map(|index| fields.get(index as usize))
}

/// What stands before the name of a property.
pub(super) struct PropertyHead<'a> {
    pub(super) edit: Option<Edit>,
    pub(super) custom: bool,
    pub(super) uniform: bool,
    /// The type without brackets; `rel` for relationships.
    pub(super) type_name: &'a str,
    pub(super) array: bool,
}

impl<'a> PropertyHead<'a> {
    /// `[edit] [custom] [uniform] type[[]]`.
    pub(super) fn parse(scanner: &mut Scanner<'a>) -> Parsed<Self> {
        let mut word = scanner.word();
        let edit = Edit::of(word);
        if edit.is_some() {
            word = scanner.word();
        }
        let custom = word == "custom";
        if custom {
            word = scanner.word();
        }
        let uniform = matches!(word, "uniform" | "config");
        if uniform || word == "varying" {
            word = scanner.word();
        }
        let array = word != "rel" && scanner.take(b'[');
        if array {
            scanner.require(b']')?;
        }
        Ok(Self { edit, custom, uniform, type_name: word, array })
    }
}

/// What stands before the name of a prim.
pub(super) fn prim_head<'a>(scanner: &mut Scanner<'a>) -> (Option<Specifier>, &'a str) {
    let specifier = match scanner.word() {
        "def" => Some(Specifier::Def),
        "over" => Some(Specifier::Over),
        "class" => Some(Specifier::Class),
        _ => None,
    };
    (specifier, scanner.word())
}

/// The name of a node; that of the root is empty.
pub(super) fn name(text: &[u8], label: Label) -> &str {
    let place = (label.far() + label.near()) as usize;
    match label.kind() {
        NodeKind::Prim | NodeKind::Variant => quoted_name(text, place),
        NodeKind::Attribute | NodeKind::Relationship => Scanner::new(text, place).word(),
    }
}

/// The name that begins right after a quote.
pub(super) fn quoted_name(text: &[u8], place: usize) -> &str {
    let quote = place.checked_sub(1).and_then(|before| text.get(before));
    let rest = text.get(place..).unwrap_or_default();
    let length = quote.and_then(|quote| rest.iter().position(|byte| byte == quote)).unwrap_or(0);
    std::str::from_utf8(&rest[..length]).unwrap_or_default()
}
