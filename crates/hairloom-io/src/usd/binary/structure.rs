//! The tree of paths of a crate file.

use std::sync::Arc;

use super::super::error::{Parsed, fault};
use super::super::path::Path;
use super::cursor::{Cursor, Source};
use super::sections::{packed_u32, within_memory};

/// Prims nest no deeper than this.
pub(in super::super) const DEEPEST_PATH: u32 = 512;
/// Marks what has no parent.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct PathNode {
    parent: u32,
    token: u32,
    depth: u32,
    property: bool,
}

/// Paths as elements and parents: full texts could be quadratic in the size of the file.
#[derive(Debug)]
pub(in super::super) struct PathTable(Vec<Option<PathNode>>);

impl PathTable {
    pub(in super::super) fn len(&self) -> usize {
        self.0.len()
    }

    fn node(&self, index: u32) -> Option<&PathNode> {
        self.0.get(index as usize)?.as_ref()
    }

    /// The path one element shorter; nothing for the root.
    pub(in super::super) fn parent(&self, index: u32) -> Option<u32> {
        self.node(index).map(|node| node.parent).filter(|&parent| parent != NONE)
    }

    /// The token of the last element.
    pub(in super::super) fn token(&self, index: u32) -> Option<u32> {
        self.node(index).map(|node| node.token)
    }

    /// The token of the last element, and whether it is a property.
    pub(in super::super) fn element(&self, index: u32) -> Option<(u32, bool)> {
        self.node(index).map(|node| (node.token, node.property))
    }

    /// The path as text; empty if no element was stored for it.
    pub(in super::super) fn text(&self, index: u32, tokens: &[Arc<str>]) -> Path {
        let mut elements = Vec::new();
        let mut next = self.node(index);
        let Some(last) = next else { return Path::new("") };
        if last.parent == NONE {
            return Path::new("/");
        }
        while let Some(node) = next.filter(|node| node.parent != NONE) {
            elements.push(node);
            next = self.node(node.parent);
        }
        let mut text = String::new();
        for node in elements.into_iter().rev() {
            let token = tokens.get(node.token as usize).map_or("", |token| token);
            if node.property {
                text.push('.');
            } else if !token.starts_with(['{', '[', '.']) && !text.ends_with('}') {
                text.push('/');
            }
            text.push_str(token);
        }
        Path::new(text)
    }
}

pub(super) fn read_paths(cursor: &mut Cursor<'_>, source: &Source, tokens: &[Arc<str>]) -> Parsed<PathTable> {
    let count = cursor.u64("the number of paths")?;
    let encoded = cursor.u64("the number of encoded paths")?;
    let at = cursor.position;
    within_memory(source, count.max(encoded), 32, at, "paths")?;
    if encoded > count {
        return fault(at, format!("at most {count} encoded paths, not {encoded}"));
    }
    let indices = packed_u32(cursor, encoded, "indices of paths")?;
    let elements = packed_u32(cursor, encoded, "elements of paths")?;
    let jumps = packed_u32(cursor, encoded, "jumps between paths")?;
    let mut nodes = vec![None; count as usize];
    let mut visited = vec![false; encoded as usize];
    // Where to go on, and the parent there.
    let mut open = if encoded == 0 { vec![] } else { vec![(0_usize, NONE)] };
    while let Some((position, parent)) = open.pop() {
        match visited.get_mut(position) {
            Some(visited) if !*visited => *visited = true,
            _ => return fault(at, format!("a tree of paths; element {position} is missing or met twice")),
        }
        let depth = parent_depth(&nodes, parent) + 1;
        if depth > DEEPEST_PATH {
            return fault(at, format!("paths of at most {DEEPEST_PATH} elements"));
        }
        let element = elements[position] as i32;
        let token = element.unsigned_abs();
        if token as usize >= tokens.len() {
            return fault(
                at,
                format!("elements of paths among the {} tokens, not token {token}", tokens.len()),
            );
        }
        let index = indices[position];
        match nodes.get_mut(index as usize) {
            Some(node @ None) => *node = Some(PathNode { parent, token, depth, property: element < 0 }),
            _ => return fault(at, format!("each of {count} paths once, not path {index}")),
        }
        let jump = jumps[position] as i32;
        if jump >= 0 {
            let sibling = position + if jump == 0 { 1 } else { jump as usize };
            open.push((sibling, parent));
        }
        if jump > 0 || jump == -1 {
            open.push((position + 1, index));
        }
    }
    Ok(PathTable(nodes))
}

fn parent_depth(nodes: &[Option<PathNode>], parent: u32) -> u32 {
    nodes.get(parent as usize).copied().flatten().map_or(0, |node| node.depth)
}
