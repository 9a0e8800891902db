//! A layer that is read: its prims and properties, and their values on demand.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::OnceLock;

use super::binary;
use super::binary::cursor::Source;
use super::binary::sections::CrateFile;
use super::error::{Fault, Parsed, UsdError};
use super::nodes::{NONE, Node, NodeKind, crate_nodes, variant_of};
use super::package;
use super::path::Path;
use super::prim::{Attribute, Prim};
use super::text::TextFile;
use super::value::{Token, Value};

/// What is behind a layer.
#[derive(Debug)]
pub(super) enum Content {
    Crate(Box<CrateFile>),
    Text(TextFile),
}

/// A USD layer, opened for reading. Large values stay in the file until they are asked for.
#[derive(Debug)]
pub struct Layer {
    file: PathBuf,
    /// The first is the root.
    pub(super) nodes: Vec<Node>,
    pub(super) content: Content,
    /// The nodes of variants, by prim, set and name.
    variants: Vec<u32>,
    /// What lies below prims with many children or properties, by parent, kind and name; made when it is first needed.
    by_name: OnceLock<Vec<u32>>,
}

/// Among so many, looking at each is quickest.
const FEW: usize = 16;

impl Layer {
    /// Opens a `.usda` or `.usdc` file or the first layer of a `.usdz` package, whichever it turns out to be (the extension
    /// does not matter).
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, UsdError> {
        let path = path.as_ref();
        let io = |error| UsdError::io(path, error);
        let file = File::open(path).map_err(io)?;
        Self::read(path, file)
    }

    /// Reads a layer inside of a `.usdz` package, of at most `room` bytes; nothing if there is no file of that name in it.
    pub(super) fn read_inside(
        package: &std::path::Path,
        mut file: File,
        name: &str,
        room: u64,
    ) -> Result<Option<Self>, UsdError> {
        let binary = |fault| binary_error(package, fault);
        let Some(part) = package::layer(&mut file, Some(name)).map_err(binary)? else { return Ok(None) };
        if part.1 > room {
            let expected =
                "files that lie one after the other in the package, and do not share bytes".to_owned();
            return Err(binary(Fault::Format { offset: part.0, expected }));
        }
        let shown = PathBuf::from(format!("{}[{name}]", package.display()));
        Self::read_part(&shown, file, part).map(Some)
    }

    /// The name of the first layer inside of a package; nothing for a file that is none.
    pub(super) fn first_name(path: &std::path::Path, file: &mut File) -> Result<Option<String>, UsdError> {
        package::first_name(file).map_err(|fault| binary_error(path, fault))
    }

    /// Reads a file that is open, or the first layer of a package.
    pub(super) fn read(path: &std::path::Path, mut file: File) -> Result<Self, UsdError> {
        let io = |error| UsdError::io(path, error);
        let mut magic = Vec::new();
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        (&mut file).take(8).read_to_end(&mut magic).map_err(io)?;
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        if magic == *binary::MAGIC {
            return Self::binary(path, Source::file(file).map_err(io)?);
        }
        if magic.starts_with(package::MAGIC) {
            let part = package::first_layer(&mut file).map_err(|fault| binary_error(path, fault))?;
            return Self::read_part(path, file, part);
        }
        let mut text = magic;
        if text.starts_with(b"#usda") {
            text.clear();
            file.read_to_end(&mut text).map_err(io)?;
        }
        Self::text(path, text)
    }

    /// Reads a layer that is a part of a file.
    fn read_part(path: &std::path::Path, mut file: File, part: (u64, u64)) -> Result<Self, UsdError> {
        let io = |error| UsdError::io(path, error);
        let mut magic = package::read_part(&mut file, (part.0, part.1.min(8))).map_err(io)?;
        if magic == *binary::MAGIC {
            return Self::binary(path, Source::part(file, part));
        }
        if magic.starts_with(b"#usda") {
            magic = package::read_part(&mut file, part).map_err(io)?;
        }
        Self::text(path, magic)
    }

    /// A layer from the bytes of a file; `name` is for messages.
    pub fn from_bytes(name: impl AsRef<std::path::Path>, bytes: Vec<u8>) -> Result<Self, UsdError> {
        if bytes.starts_with(binary::MAGIC) {
            return Self::binary(name.as_ref(), Source::memory(bytes));
        }
        if bytes.starts_with(package::MAGIC) {
            let part = package::first_layer(&mut std::io::Cursor::new(&bytes));
            let (start, length) = part.map_err(|fault| binary_error(name.as_ref(), fault))?;
            let layer = bytes.get(start as usize..(start + length) as usize).unwrap_or_default().to_vec();
            // A package in a package is no layer.
            return match layer.starts_with(binary::MAGIC) {
                true => Self::binary(name.as_ref(), Source::memory(layer)),
                false => Self::text(name.as_ref(), layer),
            };
        }
        Self::text(name.as_ref(), bytes)
    }

    fn binary(path: &std::path::Path, source: Source) -> Result<Self, UsdError> {
        let file = CrateFile::open(source).map_err(|fault| binary_error(path, fault))?;
        let (nodes, variants) = crate_nodes(&file);
        Ok(Self::new(path, nodes, variants, Content::Crate(Box::new(file))))
    }

    fn text(path: &std::path::Path, text: Vec<u8>) -> Result<Self, UsdError> {
        if !text.starts_with(b"#usda") {
            return Err(UsdError::UnknownFormat { path: path.to_owned() });
        }
        let (content, nodes, variants) =
            TextFile::parse(text).map_err(|(fault, text)| text_error(path, &text, fault))?;
        Ok(Self::new(path, nodes, variants, Content::Text(content)))
    }

    fn new(path: &std::path::Path, nodes: Vec<Node>, mut variants: Vec<u32>, content: Content) -> Self {
        let mut layer =
            Self { file: path.to_owned(), nodes, content, variants: Vec::new(), by_name: OnceLock::new() };
        variants.sort_unstable_by(|&a, &b| (layer.variant_key(a), a).cmp(&(layer.variant_key(b), b)));
        layer.variants = variants;
        layer
    }

    pub(super) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// The last element of the path of a node; of a variant only its name, unless the format has both in one.
    pub(super) fn name(&self, node: u32) -> &str {
        let label = self.node(node).label;
        match &self.content {
            Content::Crate(file) => file.tokens.get(label.far() as usize).map_or("", |name| name),
            Content::Text(file) => file.name(label),
        }
    }

    /// The prim, the set and the name of a variant.
    fn variant_key(&self, node: u32) -> (u32, &str, &str) {
        let (prim, name) = (self.node(node).parent, self.name(node));
        match &self.content {
            Content::Crate(_) => {
                let (set, name) = variant_of(name).unwrap_or_default();
                (prim, set, name)
            }
            Content::Text(file) => (prim, file.set_name(self.node(node)), name),
        }
    }

    /// The prims and properties below a node, in the order of the file.
    fn below(&self, parent: u32) -> impl Iterator<Item = u32> {
        let last = self.node(parent).last;
        let first = (last != NONE).then(|| self.node(last).next);
        std::iter::successors(first, move |&node| (node != last).then(|| self.node(node).next))
    }

    /// The prims, or else the properties, below a node, in the order of the file.
    pub(super) fn members(&self, parent: u32, prims: bool) -> impl Iterator<Item = u32> {
        self.below(parent).filter(move |&node| (self.node(node).kind() == NodeKind::Prim) == prims)
    }

    /// The prim below the same parent that comes next in the file.
    pub(super) fn next_prim(&self, node: u32) -> Option<u32> {
        let last = self.node(self.node(node).parent).last;
        let next = |&node: &u32| (node != last).then(|| self.node(node).next);
        std::iter::successors(Some(node), next).skip(1).find(|&node| self.node(node).kind() == NodeKind::Prim)
    }

    /// How long the layer is [bytes].
    pub(crate) fn length(&self) -> u64 {
        match &self.content {
            Content::Crate(file) => file.source.length(),
            Content::Text(file) => file.text().len() as u64,
        }
    }

    /// The file.
    pub fn file(&self) -> &std::path::Path {
        &self.file
    }

    /// Metadata of the layer, such as `upAxis` or `metersPerUnit`.
    pub fn metadata(&self, name: &str) -> Result<Option<Value>, UsdError> {
        self.field(0, name)
    }

    /// The prims at the top.
    pub fn roots(&self) -> Result<Vec<Prim<'_>>, UsdError> {
        self.root().children()
    }

    fn root(&self) -> Prim<'_> {
        Prim::new(self, 0)
    }

    /// All prims, parents before children.
    pub fn prims(&self) -> Result<Vec<Prim<'_>>, UsdError> {
        let mut prims = Vec::new();
        let mut open = self.roots()?;
        open.reverse();
        while let Some(prim) = open.pop() {
            prims.push(prim);
            let start = open.len();
            open.extend(prim.children()?);
            open[start..].reverse();
        }
        Ok(prims)
    }

    /// The prim at a path such as `/World/Hair`.
    pub fn prim(&self, path: &str) -> Option<Prim<'_>> {
        let names = path.strip_prefix('/')?.split('/').filter(|name| !name.is_empty());
        let mut node = 0;
        for name in names {
            node = self.child(node, true, name)?;
        }
        (node != 0).then(|| Prim::new(self, node))
    }

    /// The attribute at a path such as `/World/Hair.points`.
    pub fn attribute(&self, path: &str) -> Option<Attribute<'_>> {
        let (prim, name) = path.split_once('.')?;
        self.prim(prim)?.attribute(name)
    }

    /// The prim, or else the property, of a name below a prim.
    pub(super) fn child(&self, parent: u32, is_prim: bool, name: &str) -> Option<u32> {
        if self.below(parent).nth(FEW).is_none() {
            return self.members(parent, is_prim).find(|&node| self.name(node) == name);
        }
        let key = |node: u32| {
            let entry = self.node(node);
            (entry.parent, entry.kind() == NodeKind::Prim, self.name(node))
        };
        let by_name = self.by_name.get_or_init(|| {
            let many = || {
                let parents =
                    (0..self.nodes.len() as u32).filter(|&node| self.below(node).nth(FEW).is_some());
                parents.flat_map(|parent| self.below(parent))
            };
            let mut all = Vec::with_capacity(many().count());
            all.extend(many());
            // Where two have a name, the first counts.
            all.sort_unstable_by(|&a, &b| (key(a), a).cmp(&(key(b), b)));
            all
        });
        let wanted = (parent, is_prim, name);
        let found = *by_name.get(by_name.partition_point(|&node| key(node) < wanted))?;
        (key(found) == wanted).then_some(found)
    }

    /// The node with the opinions of a variant of a prim.
    pub(super) fn variant(&self, prim: u32, set: &str, name: &str) -> Option<u32> {
        let wanted = (prim, set, name);
        let place = self.variants.partition_point(|&variant| self.variant_key(variant) < wanted);
        self.variants.get(place).copied().filter(|&variant| self.variant_key(variant) == wanted)
    }

    /// The prim at a node.
    pub(super) fn prim_at(&self, node: u32) -> Prim<'_> {
        Prim::new(self, node)
    }

    pub(super) fn path_of(&self, node: u32) -> Path {
        let mut names = Vec::new();
        let mut next = node;
        while next != 0 {
            names.push(next);
            next = self.nodes[next as usize].parent;
        }
        let mut text = String::new();
        for node in names.into_iter().rev() {
            match self.node(node).kind() {
                // Variants stand in braces right after the prim.
                NodeKind::Variant => {
                    let (_, set, name) = self.variant_key(node);
                    text += &format!("{{{set}={name}}}");
                    continue;
                }
                NodeKind::Prim => text.push('/'),
                NodeKind::Attribute | NodeKind::Relationship => text.push('.'),
            }
            text.push_str(self.name(node));
        }
        Path::new(if text.is_empty() { "/".to_owned() } else { text })
    }

    pub(super) fn field(&self, node: u32, name: &str) -> Result<Option<Value>, UsdError> {
        let node = self.node(node);
        let value = match &self.content {
            Content::Crate(file) => file.field(node.fields, name).map(|value| file.value(value)).transpose(),
            Content::Text(file) => file.field(node, name),
        };
        self.check(value)
    }

    /// The type of a prim or an attribute; empty if there is none.
    pub(super) fn type_name(&self, node: u32) -> Result<Token, UsdError> {
        Ok(match self.field(node, "typeName")? {
            Some(Value::Token(name)) => name,
            _ => "".into(),
        })
    }

    /// Names the file, and the byte or line, in a fault.
    pub(super) fn check<T>(&self, parsed: Parsed<T>) -> Result<T, UsdError> {
        parsed.map_err(|fault| match &self.content {
            Content::Crate(_) => binary_error(&self.file, fault),
            Content::Text(file) => text_error(&self.file, file.text(), fault),
        })
    }

    /// The fields of the root.
    pub(super) fn root_fields(&self) -> u32 {
        self.nodes[0].fields
    }

    /// The crate file behind the layer, if it is one.
    pub(super) fn crate_file(&self) -> Option<&CrateFile> {
        match &self.content {
            Content::Crate(file) => Some(file),
            Content::Text(_) => None,
        }
    }

    /// The text behind the layer, if it is text.
    pub(super) fn text_file(&self) -> Option<&TextFile> {
        match &self.content {
            Content::Crate(_) => None,
            Content::Text(file) => Some(file),
        }
    }
}

fn binary_error(path: &std::path::Path, fault: Fault) -> UsdError {
    match fault {
        Fault::Io(source) => UsdError::io(path, source),
        Fault::Format { offset, expected } => UsdError::Binary { path: path.to_owned(), offset, expected },
    }
}

fn text_error(path: &std::path::Path, text: &[u8], fault: Fault) -> UsdError {
    match fault {
        Fault::Io(source) => UsdError::io(path, source),
        Fault::Format { offset, expected } => {
            let before = &text[..text.len().min(offset as usize)];
            let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
            UsdError::Text { path: path.to_owned(), line, column: 1 + before.len() - line_start, expected }
        }
    }
}
