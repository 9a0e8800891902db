//! The prims of a composition, and their attributes with the strongest value.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::super::error::UsdError;
use super::super::path::Path;
use super::super::prim::{Attribute, Prim};
use super::super::value::{LayerOffset, Specifier, Token, Value};
use super::{Composition, NONE};

/// A prim of a [`Composition`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComposedPrim<'a> {
    scene: &'a Composition,
    node: u32,
}

impl<'a> ComposedPrim<'a> {
    pub(super) fn new(scene: &'a Composition, node: u32) -> Self {
        Self { scene, node }
    }

    /// The prims of layers that say something about it, the strongest first.
    fn opinions(
        &self,
    ) -> impl DoubleEndedIterator<Item = (Prim<'a>, LayerOffset)> + ExactSizeIterator + use<'a> {
        let scene = self.scene;
        let start = scene.prims[self.node as usize].opinions as usize;
        let end = scene.prims.get(self.node as usize + 1).map(|next| next.opinions as usize);
        let opinions = &scene.opinions[start..end.unwrap_or(scene.opinions.len())];
        opinions.iter().map(|opinion| {
            let prim = scene.layers[usize::from(opinion.layer)].prim_at(opinion.node);
            (prim, scene.offsets[usize::from(opinion.offset)])
        })
    }

    /// The number of the prim in the composition.
    pub(crate) fn node(&self) -> u32 {
        self.node
    }

    /// The prim above; nothing for those at the top.
    pub(crate) fn parent(&self) -> Option<Self> {
        let parent = self.scene.prims[self.node as usize].parent;
        (parent != 0 && parent != NONE).then(|| Self::new(self.scene, parent))
    }

    /// The first prim directly below.
    pub(crate) fn first_child(&self) -> Option<Self> {
        self.other(self.scene.prims[self.node as usize].first_child)
    }

    /// The next prim below the same one.
    pub(crate) fn next_sibling(&self) -> Option<Self> {
        self.other(self.scene.prims[self.node as usize].next_sibling)
    }

    fn other(&self, node: u32) -> Option<Self> {
        (node != NONE).then(|| Self::new(self.scene, node))
    }

    /// The last element of the path.
    pub(crate) fn name(&self) -> &'a str {
        self.opinions().next().map_or("", |(prim, _)| prim.name())
    }

    /// The path, such as `/World/Hair`.
    pub(crate) fn path(&self) -> Path {
        let mut names: Vec<&str> =
            std::iter::successors(Some(*self), Self::parent).map(|prim| prim.name()).collect();
        names.reverse();
        Path::new(format!("/{}", names.join("/")))
    }

    /// The type, such as `BasisCurves`; empty if there is none.
    pub(crate) fn type_name(&self) -> Result<Token, UsdError> {
        for (prim, _) in self.opinions() {
            let name = prim.type_name()?;
            if !name.is_empty() {
                return Ok(name);
            }
        }
        Ok("".into())
    }

    /// Whether the prim is defined, a class, or neither: overridden and defined nowhere.
    pub(crate) fn specifier(&self) -> Result<Specifier, UsdError> {
        for (prim, _) in self.opinions() {
            let specifier = prim.specifier()?;
            if specifier != Specifier::Over {
                return Ok(specifier);
            }
        }
        Ok(Specifier::Over)
    }

    /// Metadata of the prim, such as `kind`; entries of dictionaries are looked for one by one.
    pub(crate) fn metadata(&self, name: &str) -> Result<Option<Value>, UsdError> {
        let mut found: Option<Vec<(Token, Value)>> = None;
        for (prim, _) in self.opinions() {
            match (prim.metadata(name)?, &mut found) {
                (Some(Value::Dictionary(entries)), None) => found = Some(entries),
                (Some(Value::Dictionary(weaker)), Some(entries)) => {
                    let known: HashSet<Token> = entries.iter().map(|(key, _)| key.clone()).collect();
                    entries.extend(weaker.into_iter().filter(|(key, _)| !known.contains(key)));
                }
                (Some(value), None) => return Ok(Some(value)),
                _ => {}
            }
        }
        Ok(found.map(Value::Dictionary))
    }

    /// All attributes, one after the other.
    pub(crate) fn attributes(
        &self,
    ) -> Result<impl Iterator<Item = ComposedAttribute<'a>> + use<'a>, UsdError> {
        let this = *self;
        let mut several = Vec::new();
        let mut single = None;
        let opinions = self.opinions();
        if opinions.len() == 1 {
            for (prim, offset) in opinions {
                let all = prim.each_attribute()?;
                single = Some(all.map(move |one| ComposedAttribute::new(vec![(one, offset)])));
            }
        } else {
            let mut seen = HashSet::new();
            for (prim, _) in opinions {
                several
                    .extend(prim.each_attribute()?.map(|one| one.name()).filter(|name| seen.insert(*name)));
            }
        }
        let several = several.into_iter().filter_map(move |name| this.attribute(name));
        Ok(single.into_iter().flatten().chain(several))
    }

    /// The attribute of this name, such as `points`.
    pub(crate) fn attribute(&self, name: &str) -> Option<ComposedAttribute<'a>> {
        let all: Vec<_> =
            self.opinions().filter_map(|(prim, offset)| Some((prim.attribute(name)?, offset))).collect();
        (!all.is_empty()).then(|| ComposedAttribute::new(all))
    }
}

/// An attribute of a [`ComposedPrim`]: the strongest opinion with samples or a default counts.
#[derive(Debug)]
pub(crate) struct ComposedAttribute<'a> {
    /// The strongest first; never empty.
    opinions: Vec<(Attribute<'a>, LayerOffset)>,
    /// The times of the samples where they are not those of the layer.
    times: OnceLock<Vec<f64>>,
}

impl<'a> ComposedAttribute<'a> {
    fn new(opinions: Vec<(Attribute<'a>, LayerOffset)>) -> Self {
        Self { opinions, times: OnceLock::new() }
    }

    /// The name, such as `primvars:st`.
    pub(crate) fn name(&self) -> &'a str {
        self.opinions[0].0.name()
    }

    /// Metadata of the attribute, such as `interpolation`.
    pub(crate) fn metadata(&self, name: &str) -> Result<Option<Value>, UsdError> {
        for (attribute, _) in &self.opinions {
            if let Some(value) = attribute.metadata(name)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The strongest opinion that has samples, unless a stronger one has a default.
    fn sampled(&self) -> Result<Option<&(Attribute<'a>, LayerOffset)>, UsdError> {
        for (place, opinion) in self.opinions.iter().enumerate() {
            if !opinion.0.times()?.is_empty() {
                return Ok(Some(opinion));
            }
            let weaker = place + 1 < self.opinions.len();
            if weaker && opinion.0.default()?.is_some() {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// The value that holds where there are no samples.
    pub(crate) fn default(&self) -> Result<Option<Value>, UsdError> {
        self.metadata("default")
    }

    /// The times of the samples, increasing [time codes]; none if there are none.
    pub(crate) fn times(&self) -> Result<&[f64], UsdError> {
        let Some((attribute, offset)) = self.sampled()? else { return Ok(&[]) };
        if *offset == LayerOffset::NONE {
            return attribute.times();
        }
        if self.times.get().is_none() {
            let place = |&time: &f64| offset.apply(time).clamp(f64::MIN, f64::MAX);
            let placed = attribute.times()?.iter().map(place).collect();
            return Ok(self.times.get_or_init(|| placed));
        }
        Ok(self.times.get().map_or(&[], |times| times))
    }

    /// Reads the sample at `index` of [`Self::times`].
    pub(crate) fn sample(&self, index: usize) -> Result<Value, UsdError> {
        match self.sampled()? {
            Some((attribute, _)) => attribute.sample(index),
            None => Ok(Value::Block),
        }
    }
}
