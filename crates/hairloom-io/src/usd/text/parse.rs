//! The structure of a text layer: prims, properties, and where their values are.

use std::collections::HashMap;

use super::super::error::Parsed;
use super::super::layer::{Node, NodeKind, Variant};
use super::super::type_name;
use super::super::value::{Specifier, Token};
use super::scan::{DEEPEST_NESTING, Scanner};
use super::{Edit, Field, FieldContent, Sample};

/// Nodes, the variants among them, and the fields of each.
pub(super) type Structure = (Vec<Node>, Vec<Variant>, Vec<Vec<Field>>);

pub(super) fn parse(text: &[u8]) -> Parsed<Structure> {
    let mut parser = Parser {
        scanner: Scanner::new(text, 0),
        nodes: Vec::new(),
        variants: Vec::new(),
        fields: Vec::new(),
        names: HashMap::new(),
    };
    parser.scanner.skip_line();
    parser.node(0, "", NodeKind::Prim);
    if parser.scanner.peek() == Some(b'(') {
        parser.metadata(0)?;
    }
    while parser.scanner.peek().is_some() {
        parser.prim_or_reorder(0, 0)?;
    }
    Ok((parser.nodes, parser.variants, parser.fields))
}

struct Parser<'a> {
    scanner: Scanner<'a>,
    nodes: Vec<Node>,
    variants: Vec<Variant>,
    fields: Vec<Vec<Field>>,
    /// One copy of every name: a layer repeats few.
    names: HashMap<String, Token>,
}

fn specifier(word: &str) -> Option<Specifier> {
    match word {
        "def" => Some(Specifier::Def),
        "over" => Some(Specifier::Over),
        "class" => Some(Specifier::Class),
        _ => None,
    }
}

fn edit(word: &str) -> Option<Edit> {
    match word {
        "add" => Some(Edit::Add),
        "prepend" => Some(Edit::Prepend),
        "append" => Some(Edit::Append),
        "delete" => Some(Edit::Delete),
        "reorder" => Some(Edit::Reorder),
        _ => None,
    }
}

impl<'a> Parser<'a> {
    fn name(&mut self, text: &str) -> Token {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name: Token = text.into();
        self.names.insert(text.to_owned(), name.clone());
        name
    }

    fn node(&mut self, parent: u32, name: &str, kind: NodeKind) -> u32 {
        let index = self.loose_node(parent, name, kind);
        if index > 0 {
            let parent = &mut self.nodes[parent as usize];
            if kind == NodeKind::Prim { &mut parent.children } else { &mut parent.properties }.push(index);
        }
        index
    }

    /// A node that is not among those below its parent.
    fn loose_node(&mut self, parent: u32, name: &str, kind: NodeKind) -> u32 {
        let index = self.nodes.len() as u32;
        let name = self.name(name);
        self.nodes.push(Node {
            name,
            parent,
            kind,
            fields: index,
            children: Vec::new(),
            properties: Vec::new(),
        });
        self.fields.push(Vec::new());
        index
    }

    fn push(&mut self, node: u32, name: &str, content: FieldContent) {
        let name = self.name(name);
        self.fields[node as usize].push(Field { name, content });
    }

    fn push_edit(&mut self, node: u32, name: &str, edit: Edit, at: u64) {
        // Edits of one list follow each other closely; an endless search would be a gift to hostile files.
        let found = self.fields[node as usize].iter_mut().rev().take(64).find(|field| *field.name == *name);
        if let Some(Field { content: FieldContent::Edits(edits), .. }) = found {
            edits.push((edit, at));
        } else {
            self.push(node, name, FieldContent::Edits(vec![(edit, at)]));
        }
    }

    /// Where the next value is; steps over it.
    fn value(&mut self) -> Parsed<u64> {
        self.scanner.skip_space();
        let at = self.scanner.position as u64;
        self.scanner.skip_value()?;
        Ok(at)
    }

    fn prim_or_reorder(&mut self, parent: u32, depth: usize) -> Parsed<()> {
        let start = self.scanner.position;
        match self.scanner.word() {
            "reorder" => {
                self.scanner.required_word("what to reorder")?;
                self.scanner.require(b'=')?;
                self.scanner.skip_value()
            }
            word => match specifier(word) {
                Some(specifier) => self.prim(parent, specifier, depth),
                None => {
                    self.scanner.position = start;
                    self.scanner.skip_space();
                    self.scanner.expected("def, over or class")
                }
            },
        }
    }

    fn prim(&mut self, parent: u32, specifier: Specifier, depth: usize) -> Parsed<()> {
        let type_name = self.scanner.word();
        let name = self.scanner.string()?;
        let node = self.node(parent, &name, NodeKind::Prim);
        self.push(node, "specifier", FieldContent::Specifier(specifier));
        if !type_name.is_empty() {
            let type_name = self.name(type_name);
            self.push(node, "typeName", FieldContent::TypeName(type_name));
        }
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
        while !self.scanner.take(b'}') {
            match self.scanner.peek_word() {
                "variantSet" => self.variant_set(node, depth)?,
                "def" | "over" | "class" => self.prim_or_reorder(node, depth + 1)?,
                "" => return self.scanner.expected("a prim, a property or '}'"),
                _ => self.property(node)?,
            }
        }
        Ok(())
    }

    /// `variantSet "name" = { "variant" (metadata) { … } … }`.
    fn variant_set(&mut self, prim: u32, depth: usize) -> Parsed<()> {
        self.scanner.word();
        let set = self.scanner.string()?;
        self.scanner.require(b'=')?;
        self.scanner.require(b'{')?;
        while !self.scanner.take(b'}') {
            let name = self.scanner.string()?;
            let node = self.loose_node(prim, &format!("{{{set}={name}}}"), NodeKind::Prim);
            self.variants.push(Variant { prim, set: set.clone(), name, node });
            if self.scanner.peek() == Some(b'(') {
                self.metadata(node)?;
            }
            self.body(node, depth + 1)?;
        }
        Ok(())
    }

    /// `[edit] [custom] [uniform] type name[.timeSamples | .connect] [= value] [(metadata)]`, or the same with `rel`.
    fn property(&mut self, prim: u32) -> Parsed<()> {
        let mut word = self.scanner.word();
        let edit = edit(word);
        if edit.is_some() {
            word = self.scanner.word();
        }
        if edit == Some(Edit::Reorder) && matches!(word, "nameChildren" | "properties") {
            self.scanner.require(b'=')?;
            return self.scanner.skip_value();
        }
        let custom = word == "custom";
        if custom {
            word = self.scanner.word();
        }
        let uniform = matches!(word, "uniform" | "config");
        if uniform || word == "varying" {
            word = self.scanner.word();
        }
        let is_relationship = word == "rel";
        let mut type_name = word.to_owned();
        if !is_relationship && self.scanner.take(b'[') {
            self.scanner.require(b']')?;
            type_name.push_str("[]");
        }
        let name = self.scanner.required_word("the name of a property")?;
        let kind = if is_relationship { NodeKind::Relationship } else { NodeKind::Attribute };
        let node = self.declared(prim, name, kind);
        if custom {
            self.push(node, "custom", FieldContent::Custom);
        }
        if uniform {
            self.push(node, "variability", FieldContent::Uniform);
        }
        if is_relationship {
            return self.relationship(node, edit.unwrap_or(Edit::Explicit));
        }
        let type_name = self.name(&type_name);
        if !self.has(node, "typeName") {
            self.push(node, "typeName", FieldContent::TypeName(type_name));
        }
        self.attribute(node, edit.unwrap_or(Edit::Explicit))
    }

    /// The property of this name: it may come in several statements, one for its default, one for its samples. They
    /// follow each other, so the last one is the one to look at.
    fn declared(&mut self, prim: u32, name: &str, kind: NodeKind) -> u32 {
        let last = self.nodes[prim as usize].properties.last().copied();
        let same = last.filter(|&last| {
            let node = &self.nodes[last as usize];
            node.kind == kind && *node.name == *name
        });
        same.unwrap_or_else(|| self.node(prim, name, kind))
    }

    fn has(&self, node: u32, name: &str) -> bool {
        self.fields[node as usize].iter().any(|field| *field.name == *name)
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
            self.push_edit(node, "targetPaths", edit, at);
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
                self.push(node, "timeSamples", FieldContent::Samples(samples));
            }
            "connect" => {
                self.scanner.require(b'=')?;
                let at = self.value()?;
                self.push_edit(node, "connectionPaths", edit, at);
            }
            "" => {
                if self.scanner.take(b'=') {
                    let at = self.value()?;
                    self.push(node, "default", FieldContent::Value(at));
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
            let start = self.value()?;
            samples.push(Sample { time, start, end: self.scanner.position as u64 });
            if !self.scanner.take(b',') {
                self.scanner.require(b'}')?;
                break;
            }
        }
        samples.sort_by(|a, b| a.time.total_cmp(&b.time));
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
                self.push(node, "comment", FieldContent::Metadata(at));
                continue;
            }
            let mut name = self.scanner.required_word("the name of metadata, or ')'")?;
            let edit = edit(name);
            if edit.is_some() {
                name = self.scanner.required_word("the name of a list")?;
            }
            self.scanner.require(b'=')?;
            let at = self.value()?;
            if matches!(self.scanner.byte_at(at), Some(b'@' | b'<')) {
                self.scanner.skip_reference()?;
            }
            let name = type_name::of_text(name);
            match edit {
                Some(edit) => self.push_edit(node, name, edit, at),
                None => self.push(node, name, FieldContent::Metadata(at)),
            }
        }
        Ok(())
    }
}
