//! Which prims of which layers have something to say about one prim of a composition.
//!
//! The index of a prim is a tree of sites. Each site is a prim in a stack of layers; below it are the sites that it brings in.
//! Going through the tree from the top, with the stronger branches first, gives all opinions in order of strength. The index
//! of a child is that of its parent with every site one name further down, and what is named there besides.

use std::rc::Rc;

use super::super::error::UsdError;
use super::super::value::{LayerOffset, Token, Value};
use super::Composer;
use super::arcs::{self, Target};
use super::layers::Layers;

/// Sites bring in others, and those others, no farther than this.
const DEEPEST: usize = 64;

/// How a site is brought in, the strongest way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Arc {
    Root,
    Variant,
    Reference,
    Payload,
}

/// The names of a path, the last one first.
#[derive(Debug)]
pub(super) struct Names {
    name: Token,
    above: Option<Rc<Names>>,
}

/// A prim in a stack of layers.
#[derive(Clone, Debug)]
pub(super) struct Site {
    arc: Arc,
    /// The site that brings it in; always before it.
    parent: Option<u32>,
    /// How deep in the composition it was brought in: what a prim names itself is stronger than what those above it name.
    depth: u32,
    /// Which of several that are named in one place.
    order: u32,
    pub(super) stack: u32,
    path: Option<Rc<Names>>,
    /// Which layers of the stack have the prim, and its nodes there.
    pub(super) specs: Vec<(u32, u32)>,
    /// How times of the stack are placed in the composition.
    pub(super) offset: LayerOffset,
    /// Whether what it names was brought in.
    expanded: bool,
    /// The sets of variants that are settled.
    settled: Vec<Token>,
}

/// All sites of a prim.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub(super) sites: Vec<Site>,
    depth: u32,
}

impl Index {
    pub(super) fn len(&self) -> usize {
        self.sites.len()
    }

    /// The sites by strength.
    pub(super) fn ranked(&self) -> Vec<usize> {
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.sites.len()];
        for (index, site) in self.sites.iter().enumerate() {
            if let Some(parent) = site.parent {
                below[parent as usize].push(index);
            }
        }
        let key = |&site: &usize| {
            let site = &self.sites[site];
            (site.arc, std::cmp::Reverse(site.depth), site.order)
        };
        let mut ranked = Vec::with_capacity(self.sites.len());
        let mut open = vec![0];
        while let Some(site) = open.pop() {
            ranked.push(site);
            below[site].sort_by_key(key);
            open.extend(below[site].iter().rev());
        }
        ranked
    }

    /// The sites of a child, before anything that is named there.
    pub(super) fn child(&self, layers: &Layers, name: &Token) -> Self {
        let specs_of = |site: &Site| -> Vec<(u32, u32)> {
            let stack = layers.stack(site.stack);
            let child = |&(place, node): &(u32, u32)| {
                let layer = &layers[stack[place as usize].0];
                layer.child(node, true, name).map(|child| (place, child))
            };
            site.specs.iter().filter_map(child).collect()
        };
        let specs: Vec<Vec<(u32, u32)>> = self.sites.iter().map(specs_of).collect();
        // What has nothing to say, nor anything below it, goes.
        let mut keep: Vec<bool> = specs.iter().map(|specs| !specs.is_empty()).collect();
        for index in (1..keep.len()).rev() {
            if let (true, Some(parent)) = (keep[index], self.sites[index].parent) {
                keep[parent as usize] = true;
            }
        }
        keep[0] = true;
        let mut places = vec![0; keep.len()];
        let mut sites: Vec<Site> = Vec::new();
        for ((index, site), specs) in self.sites.iter().enumerate().zip(specs) {
            if !keep[index] {
                continue;
            }
            places[index] = sites.len() as u32;
            sites.push(Site {
                parent: site.parent.map(|parent| places[parent as usize]),
                path: Some(Rc::new(Names { name: name.clone(), above: site.path.clone() })),
                specs,
                expanded: false,
                settled: Vec::new(),
                ..*site
            });
        }
        Self { sites, depth: self.depth + 1 }
    }

    /// How many sites lead to one.
    fn chain(&self, site: usize) -> impl Iterator<Item = &Site> {
        std::iter::successors(Some(&self.sites[site]), |site| Some(&self.sites[site.parent? as usize]))
    }
}

fn names(path: &Option<Rc<Names>>) -> Vec<Token> {
    let links = std::iter::successors(path.as_ref(), |link| link.above.as_ref());
    let mut names: Vec<Token> = links.map(|link| link.name.clone()).collect();
    names.reverse();
    names
}

impl Composer {
    /// The index of what is above all prims of a stack.
    pub(super) fn root_index(&mut self, stack: u32) -> Result<Index, UsdError> {
        let specs = (0..self.layers.stack(stack).len() as u32).map(|place| (place, 0)).collect();
        let root = Site {
            arc: Arc::Root,
            parent: None,
            depth: 0,
            order: 0,
            stack,
            path: None,
            specs,
            offset: LayerOffset::NONE,
            expanded: true,
            settled: Vec::new(),
        };
        self.hold(Index { sites: vec![root], depth: 0 })
    }

    /// Takes the sites of an index on the account.
    pub(super) fn hold(&mut self, index: Index) -> Result<Index, UsdError> {
        self.account(index.len(), &index, 0)?;
        Ok(index)
    }

    fn account(&mut self, sites: usize, index: &Index, site: usize) -> Result<(), UsdError> {
        let held = self.budget.hold(sites, self.layers.bytes());
        held.map_err(|problem| {
            let site = &index.sites[site];
            let (place, node) = site.specs.first().copied().unwrap_or_default();
            self.layers.problem(self.layers.stack(site.stack)[place as usize].0, node, &problem)
        })
    }

    /// Brings in all that is named at the sites of a prim, and what that names, and the variants that are chosen. `within`
    /// counts the indices that wait for this one.
    pub(super) fn expand(&mut self, index: &mut Index, within: usize) -> Result<(), UsdError> {
        loop {
            while let Some(site) = index.sites.iter().position(|site| !site.expanded) {
                index.sites[site].expanded = true;
                let targets = arcs::targets(&mut self.layers, &index.sites[site])?;
                for (order, target) in targets.into_iter().enumerate() {
                    self.bring_in(index, site, order as u32, target, within)?;
                }
            }
            if !self.choose_variant(index)? {
                return Ok(());
            }
        }
    }

    fn bring_in(
        &mut self,
        index: &mut Index,
        site: usize,
        order: u32,
        target: Target,
        within: usize,
    ) -> Result<(), UsdError> {
        let Target { arc, stack, path, offset, named_by: (layer, node) } = target;
        let told = || format!("</{}>", path.join("/"));
        let above: Vec<&Site> = index.chain(site).collect();
        let meets = |other: &&Site| {
            let other_path = names(&other.path);
            let shared = other_path.len().min(path.len());
            other.stack == stack && other_path[..shared] == path[..shared]
        };
        if above.iter().any(meets) {
            return Err(self.layers.problem(layer, node, &format!("it brings in itself, by {}", told())));
        }
        let depth_above = above.len();
        if depth_above + within >= DEEPEST {
            let problem = format!("references lead to references more than {DEEPEST} times, by {}", told());
            return Err(self.layers.problem(layer, node, &problem));
        }
        let mut found = self.root_index(stack)?;
        for (place, name) in path.iter().enumerate() {
            let next = found.child(&self.layers, name);
            self.budget.release(found.len());
            found = self.hold(next)?;
            if place + 1 < path.len() {
                self.expand(&mut found, within + depth_above)?;
            }
        }
        if found.sites.iter().all(|site| site.specs.is_empty()) {
            let file = self.layers[self.layers.stack(stack)[0].0].file().display();
            return Err(self.layers.problem(layer, node, &format!("{file} has no prim {}", told())));
        }
        let (first, placed, depth) =
            (index.len() as u32, index.sites[site].offset.after(&offset), index.depth);
        for (place, new) in found.sites.into_iter().enumerate() {
            index.sites.push(Site {
                arc: if place == 0 { arc } else { new.arc },
                parent: Some(new.parent.map_or(site as u32, |parent| first + parent)),
                // Below it, what was named above the prim is weaker than all that it names.
                depth: if place == 0 { depth } else { 0 },
                order: if place == 0 { order } else { new.order },
                offset: placed.after(&new.offset),
                ..new
            });
        }
        Ok(())
    }

    /// Brings in one variant that is chosen; false if there is none left.
    fn choose_variant(&mut self, index: &mut Index) -> Result<bool, UsdError> {
        let ranked = index.ranked();
        for &site in &ranked {
            for (order, set) in self.variant_sets(&index.sites[site])?.into_iter().enumerate() {
                if index.sites[site].settled.contains(&set) {
                    continue;
                }
                index.sites[site].settled.push(set.clone());
                let specs = self.chosen(index, &ranked, site, &set)?;
                if specs.is_empty() {
                    continue;
                }
                self.account(1, index, site)?;
                let new = Site {
                    arc: Arc::Variant,
                    parent: Some(site as u32),
                    depth: index.depth,
                    order: order as u32,
                    specs,
                    expanded: false,
                    settled: Vec::new(),
                    ..index.sites[site].clone()
                };
                index.sites.push(new);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The names of the sets of variants at a site.
    fn variant_sets(&self, site: &Site) -> Result<Vec<Token>, UsdError> {
        let mut sets: Vec<Token> = Vec::new();
        for &(place, node) in &site.specs {
            let layer = &self.layers[self.layers.stack(site.stack)[place as usize].0];
            if let Some(Value::StringListOp(list)) = layer.field(node, "variantSetNames")? {
                for set in list.items().take(256) {
                    if !sets.contains(set) {
                        sets.push(set.clone());
                    }
                }
            }
        }
        Ok(sets)
    }

    /// The opinions of the chosen variant of a set, in the layers of a site.
    fn chosen(
        &mut self,
        index: &Index,
        ranked: &[usize],
        site: usize,
        set: &Token,
    ) -> Result<Vec<(u32, u32)>, UsdError> {
        let mut choice = None;
        'search: for &other in ranked {
            let other = &index.sites[other];
            for &(place, node) in &other.specs {
                let layer = &self.layers[self.layers.stack(other.stack)[place as usize].0];
                let Some(Value::Dictionary(chosen)) = layer.field(node, "variantSelection")? else {
                    continue;
                };
                if let Some((_, name)) = chosen.iter().find(|(key, _)| key == set) {
                    choice = name.as_str().map(Token::from);
                    break 'search;
                }
            }
        }
        let at = &index.sites[site];
        let prim = names(&at.path).join("/");
        let Some(choice) = choice.filter(|choice| !choice.is_empty()) else {
            self.layers.warn(format!("no variant of \"{set}\" is chosen for /{prim}, and none is read"));
            return Ok(Vec::new());
        };
        let stack = self.layers.stack(at.stack);
        let spec = |&(place, node): &(u32, u32)| {
            let found = self.layers[stack[place as usize].0].variant(node, set, &choice)?;
            Some((place, found))
        };
        let specs: Vec<(u32, u32)> = at.specs.iter().filter_map(spec).collect();
        if specs.is_empty() {
            self.layers.warn(format!(
                "the variant \"{choice}\" of \"{set}\" is chosen for /{prim}, and is not there"
            ));
        }
        Ok(specs)
    }
}
