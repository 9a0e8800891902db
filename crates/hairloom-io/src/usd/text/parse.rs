//! The structure of a text layer: prims, properties, and where their values are.

use super::super::error::Parsed;
use super::super::nodes::{Label, NONE, Node, NodeKind, link, push_lean};
use super::Sample;
use super::fields::{self, Edit, Field, FieldKind, PropertyHead};
use super::scan::{DEEPEST_NESTING, Scanner};

/// The shortest statements: `int a;`, and two-lettered variants. A text with more prims and properties than this allows
/// is no layer, and would take more memory than its length is worth [bytes].
const SHORTEST: u64 = 6;
/// Where there are only a few, they may be shorter [bytes].
const SHORT_TEXT: u64 = 1 << 16;

/// What is in a text.
#[derive(Default)]
pub(super) struct Structure {
    pub(super) nodes: Vec<Node>,
    /// The nodes that are variants.
    pub(super) variants: Vec<u32>,
    pub(super) fields: Vec<Field>,
    pub(super) samples: Vec<Vec<Sample>>,
    /// Where the names of the sets of variants are.
    pub(super) sets: Vec<u64>,
}

pub(super) fn parse(text: &[u8]) -> Parsed<Structure> {
    let mut parser = Parser { text, scanner: Scanner::new(text, 0), structure: Structure::default() };
    parser.scanner.skip_line();
    parser.loose_node(0, NodeKind::Prim, 0, 0)?;
    if parser.scanner.peek() == Some(b'(') {
        parser.metadata(0)?;
    }
    while parser.scanner.peek().is_some() {
        parser.prim_or_reorder(0, 0)?;
    }
    let mut structure = parser.structure;
    structure.nodes.shrink_to_fit();
    structure.fields.shrink_to_fit();
    Ok(structure)
}

struct Parser<'a> {
    text: &'a [u8],
    scanner: Scanner<'a>,
    structure: Structure,
}

impl<'a> Parser<'a> {
    /// A node below a parent: the places of its statement and of its name.
    fn node(&mut self, parent: u32, kind: NodeKind, start: usize, name: usize) -> Parsed<u32> {
        let index = self.loose_node(parent, kind, start, name)?;
        link(&mut self.structure.nodes, index);
        Ok(index)
    }

    /// A node that is not among those below its parent.
    fn loose_node(&mut self, parent: u32, kind: NodeKind, start: usize, name: usize) -> Parsed<u32> {
        let index = self.structure.nodes.len();
        let at = self.scanner.position as u64;
        let label = Label::new(kind, start as u64, name.saturating_sub(start) as u64);
        let (Some(label), Ok(node)) = (label, u32::try_from(index)) else {
            return self
                .scanner
                .expected("fewer prims, in a text of less than 1 TB, with names near their types");
        };
        if index as u64 * SHORTEST > at + SHORT_TEXT {
            return self.scanner.expected("prims and properties that are longer than this on average");
        }
        push_lean(&mut self.structure.nodes, Node::new(label, parent, NONE));
        Ok(node)
    }

    fn push(&mut self, node: u32, kind: FieldKind, edit: Option<Edit>, place: u64) {
        let Structure { nodes, fields, .. } = &mut self.structure;
        fields::attach(fields, &mut nodes[node as usize], Field::new(kind, edit, place));
    }

    /// Where the next value is; steps over it.
    fn value(&mut self) -> Parsed<u64> {
        self.scanner.skip_space();
        let at = self.scanner.position as u64;
        self.scanner.skip_value()?;
        Ok(at)
    }

    fn prim_or_reorder(&mut self, parent: u32, depth: usize) -> Parsed<()> {
        self.scanner.skip_space();
        let start = self.scanner.position;
        if self.scanner.peek_word() == "reorder" {
            self.scanner.word();
            self.scanner.required_word("what to reorder")?;
            self.scanner.require(b'=')?;
            return self.scanner.skip_value();
        }
        if fields::prim_head(&mut self.scanner).0.is_none() {
            self.scanner.position = start;
            return self.scanner.expected("def, over or class");
        }
        let name = self.scanner.quoted_name()?;
        let node = self.node(parent, NodeKind::Prim, start, name)?;
        if self.scanner.peek() == Some(b'(') {
            self.metadata(node)?;
        }
        self.body(node, depth)
    }

    /// What is between the braces of a prim or of a variant.
    fn body(&mut self, node: u32, depth: usize) -> Parsed<()> {
        if depth >= DEEPEST_NESTING * 4 {
            return self.scanner.expected(format!("prims nested at most {} deep", DEEPEST_NESTING * 4));
        }
        self.scanner.require(b'{')?;
        let mut last_property = NONE;
        while !self.scanner.take(b'}') {
            match self.scanner.peek_word() {
                "variantSet" => self.variant_set(node, depth)?,
                "def" | "over" | "class" => self.prim_or_reorder(node, depth + 1)?,
                "" => return self.scanner.expected("a prim, a property or '}'"),
                _ => self.property(node, &mut last_property)?,
            }
        }
        Ok(())
    }

    /// `variantSet "name" = { "variant" (metadata) { … } … }`.
    fn variant_set(&mut self, prim: u32, depth: usize) -> Parsed<()> {
        self.scanner.word();
        let place = self.scanner.quoted_name()?;
        let set = self.structure.sets.len() as u32;
        push_lean(&mut self.structure.sets, place as u64);
        self.scanner.require(b'=')?;
        self.scanner.require(b'{')?;
        while !self.scanner.take(b'}') {
            let name = self.scanner.quoted_name()?;
            let node = self.loose_node(prim, NodeKind::Variant, name, name)?;
            self.structure.nodes[node as usize].next = set;
            push_lean(&mut self.structure.variants, node);
            if self.scanner.peek() == Some(b'(') {
                self.metadata(node)?;
            }
            self.body(node, depth + 1)?;
        }
        Ok(())
    }

    /// `[edit] [custom] [uniform] type name[.timeSamples | .connect] [= value] [(metadata)]`, or the same with `rel`.
    fn property(&mut self, prim: u32, last: &mut u32) -> Parsed<()> {
        self.scanner.skip_space();
        let start = self.scanner.position;
        let head = PropertyHead::parse(&mut self.scanner)?;
        if head.edit == Some(Edit::Reorder) && matches!(head.type_name, "nameChildren" | "properties") {
            self.scanner.require(b'=')?;
            return self.scanner.skip_value();
        }
        let name = self.scanner.required_word("the name of a property")?;
        let kind = if head.type_name == "rel" { NodeKind::Relationship } else { NodeKind::Attribute };
        *last = self.declared(prim, *last, name, kind, start)?;
        match kind {
            NodeKind::Relationship => self.relationship(*last, head.edit.unwrap_or(Edit::Explicit)),
            _ => self.attribute(*last, head.edit.unwrap_or(Edit::Explicit)),
        }
    }

    /// The property of this name: it may come in several statements, one for its default, one for its samples. They
    /// follow each other, so the last one is the one to look at.
    fn declared(&mut self, prim: u32, last: u32, name: &str, kind: NodeKind, start: usize) -> Parsed<u32> {
        let label = self.structure.nodes.get(last as usize).map(|node| node.label);
        if label.is_some_and(|label| label.kind() == kind && fields::name(self.text, label) == name) {
            return Ok(last);
        }
        self.node(prim, kind, start, self.scanner.position - name.len())
    }

    fn relationship(&mut self, node: u32, edit: Edit) -> Parsed<()> {
        if self.scanner.take(b'[') {
            // A target with properties of its own: `rel name[</path>]`.
            self.scanner.path()?;
            self.scanner.require(b']')?;
        }
        self.suffix()?;
        if self.scanner.take(b'=') {
            let at = self.value()?;
            self.push(node, FieldKind::Targets, Some(edit), at);
        }
        if self.scanner.peek() == Some(b'(') {
            self.metadata(node)?;
        }
        Ok(())
    }

    /// `.timeSamples` and the like, empty if there is none.
    fn suffix(&mut self) -> Parsed<&'a str> {
        if self.scanner.take(b'.') {
            self.scanner.required_word("timeSamples, connect or spline")
        } else {
            Ok("")
        }
    }

    fn attribute(&mut self, node: u32, edit: Edit) -> Parsed<()> {
        match self.suffix()? {
            "timeSamples" => {
                self.scanner.require(b'=')?;
                let samples = self.samples()?;
                let index = self.structure.samples.len() as u64;
                push_lean(&mut self.structure.samples, samples);
                self.push(node, FieldKind::Samples, None, index);
            }
            "connect" => {
                self.scanner.require(b'=')?;
                let at = self.value()?;
                self.push(node, FieldKind::Connections, Some(edit), at);
            }
            "" => {
                if self.scanner.take(b'=') {
                    let at = self.value()?;
                    self.push(node, FieldKind::Default, None, at);
                }
            }
            _ => {
                self.scanner.require(b'=')?;
                self.scanner.skip_value()?;
            }
        }
        if self.scanner.peek() == Some(b'(') {
            self.metadata(node)?;
        }
        Ok(())
    }

    fn samples(&mut self) -> Parsed<Vec<Sample>> {
        self.scanner.require(b'{')?;
        let mut samples: Vec<Sample> = Vec::new();
        while !self.scanner.take(b'}') {
            self.scanner.skip_space();
            let at = self.scanner;
            let Some(time) = self.scanner.number().parse().ok().filter(|time: &f64| !time.is_nan()) else {
                return at.expected("the time of a sample, or '}'");
            };
            self.scanner.require(b':')?;
            let place = self.value()?;
            push_lean(&mut samples, Sample { time, place });
            if !self.scanner.take(b',') {
                self.scanner.require(b'}')?;
                break;
            }
        }
        samples.sort_unstable_by(|a, b| a.time.total_cmp(&b.time).then(a.place.cmp(&b.place)));
        // Of several at one time the last one counts.
        samples.reverse();
        samples.dedup_by(|a, b| a.time == b.time);
        samples.reverse();
        samples.shrink_to_fit();
        Ok(samples)
    }

    /// `( … )` after a layer, a prim or a property.
    fn metadata(&mut self, node: u32) -> Parsed<()> {
        self.scanner.require(b'(')?;
        while !self.scanner.take(b')') {
            if let Some(b'"' | b'\'') = self.scanner.peek() {
                let at = self.value()?;
                self.push(node, FieldKind::Comment, None, at);
                continue;
            }
            let mut name = self.scanner.required_word("the name of metadata, or ')'")?;
            let edit = Edit::of(name);
            if edit.is_some() {
                name = self.scanner.required_word("the name of a list")?;
            }
            let place = (self.scanner.position - name.len()) as u64;
            self.scanner.require(b'=')?;
            let at = self.value()?;
            if matches!(self.scanner.byte_at(at), Some(b'@' | b'<')) {
                self.scanner.skip_reference()?;
            }
            self.push(node, FieldKind::Metadata, edit, place);
        }
        Ok(())
    }
}
