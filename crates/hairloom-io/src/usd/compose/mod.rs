//! Layers put together to one scene: sublayers, references, payloads and the variants that are chosen.
//!
//! A composition is made once, when it is opened: every prim of it knows the prims of layers that have something to say about
//! it, the strongest first. Values stay in the files and are looked up in that order. Strength is that of USD: a layer before
//! its sublayers, these before variants, references and payloads, and what a prim names itself before what those above it
//! name ([`index`]).
//!
//! What is not put together is said: classes (`inherits`, `specializes`) that are there are an error, and a set of variants
//! none of which is chosen is a warning. Unlike in USD a file or prim that is not there is an error too: hair that is silently
//! missing helps nobody.
//!
//! Layers are not trusted. Files outside the folder of the first one are refused unless that is allowed ([`place`]), circles
//! are found, and everything is paid for from a budget in proportion to the files ([`budget`]).

mod arcs;
mod budget;
mod index;
mod layers;
mod place;
mod prim;

pub(crate) use prim::{ComposedAttribute, ComposedPrim};

use std::path::Path as FilePath;

use super::error::UsdError;
use super::layer::Layer;
use super::nodes::push_lean;
use super::value::{LayerOffset, Token, Value};
use budget::Budget;
use index::Index;
use layers::Layers;

/// Marks what has no next one.
const NONE: u32 = u32::MAX;

/// A scene put together from layers.
#[derive(Debug)]
pub(crate) struct Composition {
    layers: Vec<Layer>,
    /// The first is the root. Parents come before what is below them.
    prims: Vec<Entry>,
    /// Those of each prim one after the other, the strongest first.
    opinions: Vec<Opinion>,
    /// Ways in which times are placed.
    offsets: Vec<LayerOffset>,
    warnings: Vec<String>,
}

/// A prim of a composition; its name is that of its opinions.
#[derive(Debug)]
struct Entry {
    parent: u32,
    first_child: u32,
    next_sibling: u32,
    /// Where its opinions begin.
    opinions: u32,
}

/// A prim of a layer that says something about a prim of the composition.
#[derive(Clone, Copy, Debug)]
struct Opinion {
    layer: u16,
    offset: u16,
    node: u32,
}

impl Composition {
    /// Opens a file and all that it brings in; files outside its folder only if `outside` allows it.
    pub(crate) fn open(path: &FilePath, outside: bool) -> Result<Self, UsdError> {
        let (layers, root) = Layers::open(path, outside)?;
        Composer {
            layers,
            budget: Budget::default(),
            prims: Vec::new(),
            opinions: Vec::new(),
            offsets: vec![LayerOffset::NONE],
        }
        .compose(root)
    }

    /// How long all layers are together [bytes].
    pub(crate) fn length(&self) -> u64 {
        self.layers.iter().map(Layer::length).sum()
    }

    /// The file that was opened.
    pub(crate) fn file(&self) -> &FilePath {
        self.layers[0].file()
    }

    /// Metadata of the file that was opened: the other layers have no say in it.
    pub(crate) fn metadata(&self, name: &str) -> Result<Option<Value>, UsdError> {
        self.layers[0].metadata(name)
    }

    /// What is left out and may matter, in words.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What is above all prims.
    pub(crate) fn root(&self) -> ComposedPrim<'_> {
        self.prim_at(0)
    }

    /// The prim with a number that [`ComposedPrim::node`] gave.
    pub(crate) fn prim_at(&self, node: u32) -> ComposedPrim<'_> {
        ComposedPrim::new(self, node)
    }
}

/// A composition in the making.
struct Composer {
    layers: Layers,
    budget: Budget,
    prims: Vec<Entry>,
    opinions: Vec<Opinion>,
    offsets: Vec<LayerOffset>,
}

/// A prim whose children are being put together.
struct Open {
    index: Index,
    prim: u32,
    children: Children,
    /// The child before.
    last: u32,
}

/// The prims of layers that name the children that are still to come.
enum Children {
    /// The next one of a layer in the order of its file.
    Walk { layer: u32, next: Option<u32> },
    /// Layer and node, the next one last.
    Listed(Vec<(u32, u32)>),
}

impl Children {
    const NONE: Self = Self::Listed(Vec::new());

    /// The layer and node that name the next child.
    fn take(&mut self, layers: &Layers) -> Option<(u32, u32)> {
        match self {
            Self::Walk { layer, next } => {
                let node = (*next)?;
                *next = layers[*layer].next_prim(node);
                Some((*layer, node))
            }
            Self::Listed(list) => list.pop(),
        }
    }
}

impl Composer {
    fn compose(mut self, root: u32) -> Result<Composition, UsdError> {
        let index = self.root_index(root)?;
        let mut open = vec![self.enter(index, NONE)?];
        while let Some(top) = open.last_mut() {
            let Some((layer, node)) = top.children.take(&self.layers) else {
                if let Some(done) = open.pop() {
                    self.budget.release(done.index.len());
                }
                continue;
            };
            let (parent, before) = (top.prim, top.last);
            let name: Token = self.layers[layer].name(node).into();
            let index = top.index.child(&self.layers, &name);
            let mut index = self.hold(index)?;
            self.expand(&mut index, 0)?;
            let child = self.enter(index, parent)?;
            top.last = child.prim;
            match before {
                NONE => self.prims[parent as usize].first_child = child.prim,
                before => self.prims[before as usize].next_sibling = child.prim,
            }
            open.push(child);
        }
        let Self { layers, prims, opinions, offsets, .. } = self;
        let (layers, warnings) = layers.finish();
        Ok(Composition { layers, prims, opinions, offsets, warnings })
    }

    /// Adds a prim whose index is known.
    fn enter(&mut self, index: Index, parent: u32) -> Result<Open, UsdError> {
        let prim = self.prims.len() as u32;
        let opinions = self.opinions.len() as u32;
        let ranked = index.ranked();
        let mut active = None;
        for &site in &ranked {
            let site = &index.sites[site];
            for &(place, node) in &site.specs {
                let (layer, placed) = self.layers.stack(site.stack)[place as usize];
                let offset = self.offset(&site.offset.after(&placed))?;
                push_lean(&mut self.opinions, Opinion { layer: layer as u16, offset, node });
                if active.is_none()
                    && let Some(Value::Bool(value)) = self.layers[layer].field(node, "active")?
                {
                    active = Some(value);
                }
            }
        }
        let added = self.opinions.len() - opinions as usize;
        let bytes = size_of::<Entry>() + added * size_of::<Opinion>();
        self.budget.pay(bytes, self.layers.bytes()).map_err(|problem| self.layers.problem(0, 0, &problem))?;
        push_lean(&mut self.prims, Entry { parent, first_child: NONE, next_sibling: NONE, opinions });
        let children = match active {
            Some(false) => Children::NONE,
            _ => self.children(&index, &ranked)?,
        };
        Ok(Open { index, prim, children, last: NONE })
    }

    /// The prims below, one of each name: those of weak opinions come first.
    fn children(&self, index: &Index, ranked: &[usize]) -> Result<Children, UsdError> {
        if let [site] = ranked
            && let [(place, node)] = index.sites[*site].specs[..]
        {
            let (layer, _) = self.layers.stack(index.sites[*site].stack)[place as usize];
            if self.layers[layer].text_file().is_some() {
                return Ok(Children::Walk { layer, next: self.layers[layer].members(node, true).next() });
            }
        }
        let mut list = Vec::new();
        for &site in ranked.iter().rev() {
            let site = &index.sites[site];
            for &(place, node) in site.specs.iter().rev() {
                let (layer, _) = self.layers.stack(site.stack)[place as usize];
                for child in self.layers[layer].prim_at(node).child_nodes()? {
                    push_lean(&mut list, (layer, child));
                }
            }
        }
        let name = |place: u32| {
            let (layer, node) = list[place as usize];
            self.layers[layer].name(node)
        };
        let mut firsts: Vec<u32> = (0..list.len() as u32).collect();
        firsts.sort_unstable_by(|&a, &b| (name(a), a).cmp(&(name(b), b)));
        firsts.dedup_by(|later, first| name(*later) == name(*first));
        firsts.sort_unstable_by(|a, b| b.cmp(a));
        Ok(Children::Listed(firsts.into_iter().map(|place| list[place as usize]).collect()))
    }

    /// The number of a way in which times are placed.
    fn offset(&mut self, offset: &LayerOffset) -> Result<u16, UsdError> {
        // Each step was looked at, but steps multiply.
        let offset = &offset.checked().map_err(|problem| self.layers.problem(0, 0, &problem))?;
        let known = self.offsets.iter().rposition(|known| known == offset);
        let index = known.unwrap_or_else(|| {
            self.offsets.push(*offset);
            self.offsets.len() - 1
        });
        // Looking through them all must stay cheap.
        u16::try_from(index).ok().filter(|&index| index < 4096).ok_or_else(|| {
            self.layers.problem(0, 0, "its layers are placed in time in more than 4096 different ways")
        })
    }
}
