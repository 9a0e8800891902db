//! What a prim names to be brought in.

use super::super::error::UsdError;
use super::super::value::{LayerOffset, ListOp, Reference, Token, Value};
use super::budget::MOST_HELD;
use super::index::{Arc, Site};
use super::layers::Layers;
use super::place::Place;

/// A prim that is brought in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) arc: Arc,
    pub(super) stack: u32,
    /// The names of its path.
    pub(super) path: Vec<Token>,
    /// How its times are placed in those of the site.
    pub(super) offset: LayerOffset,
    /// The layer and node that name it, for messages.
    pub(super) named_by: (u32, u32),
}

/// What a prim names, before any file is opened for it: what a stronger layer takes out of a list again need not be there.
#[derive(Clone, Debug)]
struct Named {
    /// Where it is, by its text alone: nothing for the layers of the site, and what is wrong with it.
    place: Result<Option<Place>, String>,
    reference: Reference,
    /// How its times are placed in those of the site, but for the rates of the layers.
    offset: LayerOffset,
    /// The layer that names it, as its place in the stack, and the node there.
    named_by: (u32, u32),
}

impl Named {
    /// Whether two items of a list are one, whoever names them.
    fn is(&self, other: &Self) -> bool {
        (&self.place, &self.reference.prim, self.offset)
            == (&other.place, &other.reference.prim, other.offset)
    }
}

/// All that is named at a site, the strongest first.
pub(super) fn targets(layers: &mut Layers, site: &Site) -> Result<Vec<Target>, UsdError> {
    let mut all: Vec<Target> = Vec::new();
    for (field, arc) in [("references", Arc::Reference), ("payload", Arc::Payload)] {
        for named in named(layers, site, field)? {
            let target = target(layers, site, arc, named)?;
            if !all.iter().any(|known| same(known, &target)) {
                all.push(target);
            }
        }
    }
    for &(place, node) in &site.specs {
        refuse_classes(layers, site, place, node)?;
    }
    Ok(all)
}

/// What a field of all layers of a site names, with the edits of the stronger ones made to the lists of the weaker.
fn named(layers: &Layers, site: &Site, field: &str) -> Result<Vec<Named>, UsdError> {
    let mut list = Vec::new();
    for &(place, node) in site.specs.iter().rev() {
        let (layer, placed) = layers.stack(site.stack)[place as usize];
        let Some(Value::References(edits)) = layers[layer].field(node, field)? else { continue };
        if edits.items().count() + edits.deleted.len() + list.len() > MOST_HELD {
            return Err(layers.problem(layer, node, &format!("it has more than {MOST_HELD} {field}")));
        }
        list = edited(list, edits, |reference| Named {
            place: match &*reference.asset {
                "" => Ok(None),
                asset => layers.locate(layer, asset).map(Some),
            },
            offset: placed.after(&reference.offset),
            reference,
            named_by: (place, node),
        });
    }
    Ok(list)
}

fn target(layers: &mut Layers, site: &Site, arc: Arc, named: Named) -> Result<Target, UsdError> {
    let Named { place, reference, named_by: (in_stack, node), .. } = named;
    let (layer, placed) = layers.stack(site.stack)[in_stack as usize];
    let wrong = |layers: &Layers, problem: String| layers.problem(layer, node, &problem);
    let stack = match place.map_err(|problem| wrong(layers, problem))? {
        None => site.stack,
        Some(place) => layers.follow(layer, node, &reference.asset, place)?,
    };
    let first = layers.stack(stack)[0].0;
    let path = match reference.prim.as_str() {
        "" | "/" => default_prim(layers, first)?.ok_or_else(|| {
            let file = layers[first].file().display();
            wrong(layers, format!("it brings in {file}, which has no defaultPrim; name a prim of it"))
        })?,
        path => path.to_owned(),
    };
    let names: Option<Vec<Token>> =
        path.strip_prefix('/').map(|path| path.split('/').map(Into::into).collect());
    let names = names.filter(|names| names.len() <= 256 && names.iter().all(|name| !name.is_empty()));
    let path = names.ok_or_else(|| {
        wrong(layers, format!("it brings in <{path}>; expected the path of a prim, such as </World/Hair>"))
    })?;
    let said = layers.placed(layer, first, reference.offset).map_err(|problem| wrong(layers, problem))?;
    Ok(Target { arc, stack, path, offset: placed.after(&said), named_by: (layer, node) })
}

/// The path of the prim that a layer names for those who want all of it.
fn default_prim(layers: &Layers, layer: u32) -> Result<Option<String>, UsdError> {
    let named = layers[layer].metadata("defaultPrim")?;
    let name = named.as_ref().and_then(Value::as_str).filter(|name| !name.is_empty());
    Ok(name.map(|name| if name.starts_with('/') { name.to_owned() } else { format!("/{name}") }))
}

/// A weaker list with edits made to it.
fn edited(weaker: Vec<Named>, edits: ListOp<Reference>, named: impl Fn(Reference) -> Named) -> Vec<Named> {
    let each = |items: Vec<Reference>| {
        let mut all: Vec<Named> = Vec::with_capacity(items.len());
        for item in items.into_iter().map(&named) {
            if !all.iter().any(|known| known.is(&item)) {
                all.push(item);
            }
        }
        all
    };
    if let Some(items) = edits.explicit {
        return each(items);
    }
    let mut list = weaker;
    let without = |list: &mut Vec<Named>, items: &[Named]| {
        list.retain(|known| !items.iter().any(|item| item.is(known)));
    };
    without(&mut list, &each(edits.deleted));
    for item in each(edits.added) {
        if !list.iter().any(|known| known.is(&item)) {
            list.push(item);
        }
    }
    let mut front = each(edits.prepended);
    without(&mut list, &front);
    front.append(&mut list);
    let mut back = each(edits.appended);
    without(&mut front, &back);
    front.append(&mut back);
    front
}

/// Whether two ways of naming a prim mean the same one.
fn same(a: &Target, b: &Target) -> bool {
    (a.stack, &a.path, a.offset) == (b.stack, &b.path, b.offset)
}

/// Classes are not put together: one that is there would be missed.
fn refuse_classes(layers: &Layers, site: &Site, place: u32, node: u32) -> Result<(), UsdError> {
    let (layer, _) = layers.stack(site.stack)[place as usize];
    for (field, does) in [("inheritPaths", "inherits from"), ("specializes", "specializes")] {
        let Some(Value::PathListOp(paths)) = layers[layer].field(node, field)? else { continue };
        for path in paths.items() {
            let is_there = |&(layer, _): &(u32, LayerOffset)| layers[layer].prim(path.as_str()).is_some();
            if layers.stack(site.stack).iter().any(is_there) {
                let problem = format!(
                    "it {does} <{path}>, and classes are not read; flatten the stage with `usdcat --flatten`, and use that"
                );
                return Err(layers.problem(layer, node, &problem));
            }
        }
    }
    Ok(())
}
