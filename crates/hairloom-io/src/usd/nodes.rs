//! The prims and properties of a layer, as a tree of small nodes.

use super::binary::sections::CrateFile;
use super::binary::spec;

/// What a node of a layer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Prim,
    Attribute,
    Relationship,
    /// Opinions that count where the variant is chosen: like a prim, but no child of one.
    Variant,
}

/// Marks what has no last or next one.
pub(super) const NONE: u32 = u32::MAX;

/// What a node is, and where the format keeps its name: a token, or a place in a text and how far after it. Packed, as
/// hostile layers have a node for every few bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label(u64);

impl Label {
    const FAR_BITS: u32 = 40;
    const NEAR_BITS: u32 = 22;

    /// Nothing if a part is too large.
    pub(super) fn new(kind: NodeKind, far: u64, near: u64) -> Option<Self> {
        let fits = far >> Self::FAR_BITS == 0 && near >> Self::NEAR_BITS == 0;
        let kind = (kind as u64) << (Self::FAR_BITS + Self::NEAR_BITS);
        fits.then_some(Self(kind | near << Self::FAR_BITS | far))
    }

    pub(super) fn kind(self) -> NodeKind {
        match self.0 >> (Self::FAR_BITS + Self::NEAR_BITS) {
            0 => NodeKind::Prim,
            1 => NodeKind::Attribute,
            2 => NodeKind::Relationship,
            _ => NodeKind::Variant,
        }
    }

    pub(super) fn far(self) -> u64 {
        self.0 & ((1 << Self::FAR_BITS) - 1)
    }

    pub(super) fn near(self) -> u64 {
        self.0 >> Self::FAR_BITS & ((1 << Self::NEAR_BITS) - 1)
    }
}

/// A prim or a property.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) label: Label,
    pub(super) parent: u32,
    /// The next prim or property below the parent, the first after the last; in a text the set that a variant is of.
    pub(super) next: u32,
    /// The last one below.
    pub(super) last: u32,
    /// Which fields it has, in the terms of the format.
    pub(super) fields: u32,
}

impl Node {
    pub(super) fn new(label: Label, parent: u32, fields: u32) -> Self {
        Self { label, parent, next: NONE, last: NONE, fields }
    }

    pub(super) fn kind(&self) -> NodeKind {
        self.label.kind()
    }
}

/// Adds a node to those below its parent.
pub(super) fn link(nodes: &mut [Node], node: u32) {
    let parent = nodes[node as usize].parent as usize;
    let last = std::mem::replace(&mut nodes[parent].last, node);
    nodes[node as usize].next = match last {
        NONE => node,
        last => std::mem::replace(&mut nodes[last as usize].next, node),
    };
}

/// Adds to a list that may become long, with little room to spare: doubling would double what a hostile layer takes.
pub(super) fn push_lean<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 16 + 16);
    }
    list.push(item);
}

/// The prims, properties and variants among the specs of a crate file.
pub(super) fn crate_nodes(file: &CrateFile) -> (Vec<Node>, Vec<u32>) {
    let mut variants = Vec::new();
    let mut nodes = Vec::new();
    // The root has no name: there is no token so far out.
    let nameless = (1 << Label::FAR_BITS) - 1;
    nodes.extend(Label::new(NodeKind::Prim, nameless, 0).map(|label| Node::new(label, 0, u32::MAX)));
    let mut of_path = vec![u32::MAX; file.paths.len()];
    for entry in &file.specs {
        let kind = match entry.kind {
            spec::ROOT => {
                nodes[0].fields = entry.field_set;
                of_path[entry.path as usize] = 0;
                continue;
            }
            spec::PRIM | spec::VARIANT => NodeKind::Prim,
            spec::ATTRIBUTE => NodeKind::Attribute,
            spec::RELATIONSHIP => NodeKind::Relationship,
            _ => continue,
        };
        let token = file.paths.token(entry.path);
        let Some((token, name)) = token.and_then(|token| Some((token, file.tokens.get(token as usize)?)))
        else {
            continue;
        };
        let kind = if variant_of(name).is_some() { NodeKind::Variant } else { kind };
        let Some(label) = Label::new(kind, u64::from(token), 0) else { continue };
        of_path[entry.path as usize] = nodes.len() as u32;
        // The path for now, the parent below, once every path has its node.
        push_lean(&mut nodes, Node::new(label, entry.path, entry.field_set));
    }
    for node in 1..nodes.len() {
        let path = nodes[node].parent;
        nodes[node].parent = 0;
        let parent = file.paths.parent(path).and_then(|parent| of_path.get(parent as usize));
        let Some(&parent) = parent.filter(|&&parent| parent != u32::MAX) else { continue };
        let holds = matches!(nodes[parent as usize].kind(), NodeKind::Prim | NodeKind::Variant);
        if !holds || parent as usize == node {
            continue;
        }
        nodes[node].parent = parent;
        match nodes[node].kind() {
            NodeKind::Variant => variants.push(node as u32),
            _ => link(&mut nodes, node as u32),
        }
    }
    (nodes, variants)
}

/// The set and the name in an element of a path such as `{look=red}`.
pub(super) fn variant_of(element: &str) -> Option<(&str, &str)> {
    element.strip_prefix('{')?.strip_suffix('}')?.split_once('=')
}
