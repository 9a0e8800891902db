//! What a prim names to be brought in.

use super::super::error::UsdError;
use super::super::value::{LayerOffset, ListOp, Reference, Token, Value};
use super::budget::MOST_HELD;
use super::index::{Arc, Site};
use super::layers::Layers;

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

/// All that is named at a site, the strongest first.
pub(super) fn targets(layers: &mut Layers, site: &Site) -> Result<Vec<Target>, UsdError> {
    let mut all = Vec::new();
    for (field, arc) in [("references", Arc::Reference), ("payload", Arc::Payload)] {
        let mut list = Vec::new();
        for &(place, node) in site.specs.iter().rev() {
            let (layer, _) = layers.stack(site.stack)[place as usize];
            let Some(Value::References(edits)) = layers[layer].field(node, field)? else { continue };
            if edits.items().count() + edits.deleted.len() + list.len() > MOST_HELD {
                return Err(layers.problem(layer, node, &format!("it has more than {MOST_HELD} {field}")));
            }
            list = edited(list, edits, |reference| target(layers, site, arc, place, node, &reference))?;
        }
        all.append(&mut list);
    }
    for &(place, node) in &site.specs {
        refuse_classes(layers, site, place, node)?;
    }
    Ok(all)
}

fn target(
    layers: &mut Layers,
    site: &Site,
    arc: Arc,
    place: u32,
    node: u32,
    reference: &Reference,
) -> Result<Target, UsdError> {
    let (layer, placed) = layers.stack(site.stack)[place as usize];
    let stack = match &*reference.asset {
        "" => site.stack,
        asset => layers.follow(layer, node, asset)?,
    };
    let wrong = |layers: &Layers, problem: String| layers.problem(layer, node, &problem);
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
fn edited(
    weaker: Vec<Target>,
    edits: ListOp<Reference>,
    mut target: impl FnMut(Reference) -> Result<Target, UsdError>,
) -> Result<Vec<Target>, UsdError> {
    let mut resolved = |items: Vec<Reference>| -> Result<Vec<Target>, UsdError> {
        let mut all = Vec::with_capacity(items.len());
        for item in items {
            let item = target(item)?;
            if !all.iter().any(|known| same(known, &item)) {
                all.push(item);
            }
        }
        Ok(all)
    };
    if let Some(items) = edits.explicit {
        return resolved(items);
    }
    let mut list = weaker;
    let without = |list: &mut Vec<Target>, items: &[Target]| {
        list.retain(|known| !items.iter().any(|item| same(known, item)));
    };
    without(&mut list, &resolved(edits.deleted)?);
    for item in resolved(edits.added)? {
        if !list.iter().any(|known| same(known, &item)) {
            list.push(item);
        }
    }
    let mut front = resolved(edits.prepended)?;
    without(&mut list, &front);
    front.append(&mut list);
    let mut back = resolved(edits.appended)?;
    without(&mut front, &back);
    front.append(&mut back);
    Ok(front)
}

/// Whether two items of a list are one, whoever names them.
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
