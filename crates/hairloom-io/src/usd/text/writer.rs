//! Writes text layers. The samples of one attribute must stand together in the file, but come frame by frame: they
//! wait in side files, one for each attribute, and are put together when the file is written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path as FilePath, PathBuf};

use super::super::draft::{AttributeDraft, Draft, Fields, PrimId, Property, RelationshipDraft};
use super::super::element::Component;
use super::super::error::UsdError;
use super::super::layer::Layer;
use super::super::nodes::{Node, NodeKind};
use super::super::prim::Prim;
use super::super::value::{Given, Specifier, Value};
use super::super::writer::{Backend, Keep};
use super::{TextFile, print};

/// Samples are indented this deep in the side files, which are copied as they are.
const SAMPLE_INDENT: usize = 2;

/// Spools samples beside a text file.
#[derive(Debug)]
pub(in super::super) struct TextBackend {
    path: PathBuf,
    parts: PathBuf,
    buffer: Vec<u8>,
}

/// `NAME.usda` with something after it.
fn beside(path: &FilePath, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

impl TextBackend {
    pub(in super::super) fn create(path: &FilePath) -> io::Result<Self> {
        let parts = beside(path, ".part");
        match fs::remove_dir_all(&parts) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::create_dir(&parts)?;
        Ok(Self { path: path.to_owned(), parts, buffer: Vec::new() })
    }

    /// Takes the samples of a file apart again and goes on after those that stay.
    pub(in super::super) fn resume(layer: &Layer, keep: Keep) -> Result<(Self, Draft<Value>), UsdError> {
        let path = layer.file();
        let io = |error| UsdError::io(path, error);
        let Some(file) = layer.text_file() else {
            return Err(UsdError::Usage(format!("{}: expected a text layer", path.display())));
        };
        let backend = Self::create(path).map_err(io)?;
        let source = Source { layer, file };
        let mut draft = Draft::new();
        draft.prims[0].metadata = source.metadata(layer.node(0))?;
        for prim in layer.prims()? {
            let id = draft.define(prim.path().as_str(), &prim.type_name()?)?;
            draft.prims[id.0].specifier = prim.specifier()?;
            draft.prims[id.0].metadata = source.metadata(prim.node())?;
            for (name, kind) in prim.property_order()? {
                if kind == NodeKind::Attribute {
                    let (index, node) = source.attribute(&mut draft, prim, id, &name)?;
                    let times = file.times(node);
                    draft.attributes[index].times = times[..keep.count(&times)].to_vec();
                    backend.respool(file, index, node, keep.count(&times)).map_err(io)?;
                } else {
                    source.relationship(&mut draft, prim, id, &name)?;
                }
            }
        }
        Ok((backend, draft))
    }

    fn part(&self, attribute: usize) -> PathBuf {
        self.parts.join(attribute.to_string())
    }

    fn respool(&self, file: &TextFile, attribute: usize, node: &Node, count: usize) -> io::Result<()> {
        if count == 0 {
            return Ok(());
        }
        let mut part = BufWriter::new(File::create(self.part(attribute))?);
        let mut head = Vec::new();
        for (time, text) in file.sample_texts(node).take(count) {
            head.clear();
            print_time(&mut head, time);
            part.write_all(&head)?;
            part.write_all(text)?;
            part.write_all(b",\n")?;
        }
        part.flush()
    }

    fn write_prim(
        &self,
        out: &mut impl Write,
        draft: &Draft<Value>,
        index: usize,
        depth: usize,
    ) -> io::Result<()> {
        let prim = &draft.prims[index];
        let mut head = Vec::new();
        print::indent(&mut head, depth);
        head.extend_from_slice(match prim.specifier {
            Specifier::Def => b"def ",
            Specifier::Over => b"over ",
            Specifier::Class => b"class ",
        });
        if !prim.type_name.is_empty() {
            head.extend_from_slice(prim.type_name.as_bytes());
            head.push(b' ');
        }
        print::string(&mut head, &prim.name);
        print_metadata(&mut head, &prim.metadata, depth);
        head.push(b'\n');
        print::indent(&mut head, depth);
        head.extend_from_slice(b"{\n");
        out.write_all(&head)?;
        for property in &prim.properties {
            match *property {
                Property::Attribute(index) => {
                    self.write_attribute(out, index, &draft.attributes[index], depth + 1)?;
                }
                Property::Relationship(index) => {
                    write_relationship(out, &draft.relationships[index], depth + 1)?;
                }
            }
        }
        for &child in &prim.children {
            out.write_all(b"\n")?;
            self.write_prim(out, draft, child, depth + 1)?;
        }
        head.clear();
        print::indent(&mut head, depth);
        head.extend_from_slice(b"}\n");
        out.write_all(&head)
    }

    fn write_attribute(
        &self,
        out: &mut impl Write,
        index: usize,
        attribute: &AttributeDraft<Value>,
        depth: usize,
    ) -> io::Result<()> {
        let mut text = Vec::new();
        let head = |text: &mut Vec<u8>| {
            print::indent(text, depth);
            text.extend_from_slice(if attribute.custom { b"custom " } else { b"" });
            text.extend_from_slice(if attribute.uniform { b"uniform " } else { b"" });
            text.extend_from_slice(attribute.type_name.as_bytes());
            text.push(b' ');
            text.extend_from_slice(attribute.name.as_bytes());
        };
        if attribute.default.is_some() || !attribute.metadata.is_empty() || attribute.times.is_empty() {
            head(&mut text);
            if let Some(value) = &attribute.default {
                text.extend_from_slice(b" = ");
                print::value(&mut text, value, depth);
            }
            print_metadata(&mut text, &attribute.metadata, depth);
            text.push(b'\n');
        }
        if attribute.times.is_empty() {
            return out.write_all(&text);
        }
        head(&mut text);
        text.extend_from_slice(b".timeSamples = {\n");
        out.write_all(&text)?;
        io::copy(&mut File::open(self.part(index))?, out)?;
        text.clear();
        print::indent(&mut text, depth);
        text.extend_from_slice(b"}\n");
        out.write_all(&text)
    }
}

impl Backend for TextBackend {
    type Stored = Value;

    fn store(&mut self, value: &Given) -> io::Result<Value> {
        Ok(value.to_value())
    }

    fn append(&mut self, attribute: usize, time: f64, value: &Given) -> io::Result<()> {
        self.buffer.clear();
        print_time(&mut self.buffer, time);
        match value {
            Given::Value(value) => print::value(&mut self.buffer, value, SAMPLE_INDENT),
            numbers => print::value(&mut self.buffer, &numbers.to_value(), SAMPLE_INDENT),
        }
        self.buffer.extend_from_slice(b",\n");
        // Opened and closed every time: a scene may have more attributes than a process may have files.
        OpenOptions::new().append(true).create(true).open(self.part(attribute))?.write_all(&self.buffer)
    }

    fn write(&mut self, draft: &Draft<Value>, last: bool) -> io::Result<()> {
        let temporary = beside(&self.path, ".tmp");
        let mut out = BufWriter::with_capacity(1 << 18, File::create(&temporary)?);
        let mut head = b"#usda 1.0".to_vec();
        if draft.prims[0].metadata.is_empty() {
            head.push(b'\n');
        } else {
            head.push(b'\n');
            print_block(&mut head, &draft.prims[0].metadata, 0);
            head.push(b'\n');
        }
        out.write_all(&head)?;
        for &prim in &draft.prims[0].children {
            out.write_all(b"\n")?;
            self.write_prim(&mut out, draft, prim, 0)?;
        }
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        if last {
            file.sync_data()?;
        }
        drop(file);
        fs::rename(temporary, &self.path)
    }
}

impl Drop for TextBackend {
    fn drop(&mut self) {
        // Nothing sensible can be done when this fails: the file itself is complete, or was never asked for.
        let _ = fs::remove_dir_all(&self.parts);
    }
}

fn print_time(out: &mut Vec<u8>, time: f64) {
    print::indent(out, SAMPLE_INDENT);
    time.print(out);
    out.extend_from_slice(b": ");
}

fn print_metadata(out: &mut Vec<u8>, metadata: &Fields<Value>, depth: usize) {
    if !metadata.is_empty() {
        out.push(b' ');
        print_block(out, metadata, depth);
    }
}

fn print_block(out: &mut Vec<u8>, metadata: &Fields<Value>, depth: usize) {
    out.extend_from_slice(b"(\n");
    for (name, value) in metadata {
        print::metadata(out, name, value, depth + 1);
    }
    print::indent(out, depth);
    out.push(b')');
}

fn write_relationship(
    out: &mut impl Write,
    relationship: &RelationshipDraft<Value>,
    depth: usize,
) -> io::Result<()> {
    let mut text = Vec::new();
    let head = format!("{}rel {}", if relationship.custom { "custom " } else { "" }, relationship.name);
    if let Some(targets) = &relationship.targets {
        print::relationship(&mut text, &head, targets, depth);
    } else {
        print::indent(&mut text, depth);
        text.extend_from_slice(head.as_bytes());
        text.push(b'\n');
    }
    if !relationship.metadata.is_empty() {
        text.pop();
        print_metadata(&mut text, &relationship.metadata, depth);
        text.push(b'\n');
    }
    out.write_all(&text)
}

/// A text layer whose structure is taken up again.
struct Source<'a> {
    layer: &'a Layer,
    file: &'a TextFile,
}

type Restored<T> = Result<T, UsdError>;

impl Source<'_> {
    fn metadata(&self, node: &Node) -> Restored<Fields<Value>> {
        let mut metadata = Vec::new();
        for name in self.file.metadata_names(node) {
            if let Some(value) = self.layer.check(self.file.field(node, name))? {
                metadata.push((name.into(), value));
            }
        }
        Ok(metadata)
    }

    /// The index of the attribute, and its node.
    fn attribute<'a>(
        &self,
        draft: &mut Draft<Value>,
        prim: Prim<'a>,
        id: PrimId,
        name: &str,
    ) -> Restored<(usize, &'a Node)> {
        let attribute = prim.attribute(name).ok_or_else(|| declared_twice(prim, name))?;
        let node = attribute.node();
        let index = draft.restore_attribute(id, name, &attribute.type_name()?)?.0;
        let entry = &mut draft.attributes[index];
        entry.metadata = self.metadata(node)?;
        entry.custom = attribute.metadata("custom")?.is_some();
        entry.uniform = attribute.is_uniform()?;
        entry.default = attribute.default()?;
        Ok((index, node))
    }

    fn relationship(&self, draft: &mut Draft<Value>, prim: Prim<'_>, id: PrimId, name: &str) -> Restored<()> {
        let relationship = prim.relationship(name).ok_or_else(|| declared_twice(prim, name))?;
        let index = draft.relationship(id, name)?.0;
        let entry = &mut draft.relationships[index];
        entry.metadata = self.metadata(relationship.node())?;
        entry.custom = relationship.metadata("custom")?.is_some();
        entry.targets = relationship.metadata("targetPaths")?;
        Ok(())
    }
}

fn declared_twice(prim: Prim<'_>, name: &str) -> UsdError {
    UsdError::Usage(format!("{}.{name} is declared twice", prim.path()))
}
