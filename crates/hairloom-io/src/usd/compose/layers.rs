//! The layers of a composition: each is opened once, with the sublayers below it.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Index;
use std::path::{Path as FilePath, PathBuf};

use super::super::error::UsdError;
use super::super::layer::Layer;
use super::super::value::{LayerOffset, Value};
use super::place::{Place, Reach};

/// More layers than this are not opened for one file.
const MOST_LAYERS: usize = 1024;

/// A layer and how its times are placed in the first one of the stack.
type Stacked = (u32, LayerOffset);

/// All layers that are open, and the stacks that they make with their sublayers.
#[derive(Debug)]
pub(super) struct Layers {
    reach: Reach,
    layers: Vec<Layer>,
    places: Vec<Place>,
    by_place: HashMap<Place, u32>,
    /// The strongest layer first.
    stacks: Vec<Vec<Stacked>>,
    stack_of_layer: HashMap<u32, u32>,
    bytes: u64,
    /// How much of each package was opened [bytes].
    unpacked: HashMap<PathBuf, u64>,
    warnings: Vec<String>,
}

impl Index<u32> for Layers {
    type Output = Layer;

    fn index(&self, layer: u32) -> &Layer {
        &self.layers[layer as usize]
    }
}

impl Layers {
    /// Opens the first layer with its sublayers; answers its stack.
    pub(super) fn open(path: &FilePath, outside: bool) -> Result<(Self, u32), UsdError> {
        let io = |error| UsdError::io(path, error);
        let mut file = File::open(path).map_err(io)?;
        let (reach, place) = Reach::of(path, outside).map_err(io)?;
        let inside = Layer::first_name(path, &mut file)?;
        let place = Place { inside, ..place };
        let first = Layer::read(path, file)?;
        let mut layers = Self {
            reach,
            bytes: first.length(),
            unpacked: HashMap::from([(place.file.clone(), first.length())]),
            layers: vec![first],
            places: vec![place.clone()],
            by_place: HashMap::from([(place, 0)]),
            stacks: Vec::new(),
            stack_of_layer: HashMap::new(),
            warnings: Vec::new(),
        };
        let stack = layers.stack_of(0)?;
        Ok((layers, stack))
    }

    /// All layers, and what is to be said.
    pub(super) fn finish(self) -> (Vec<Layer>, Vec<String>) {
        (self.layers, self.warnings)
    }

    /// The length of all layers [bytes].
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Notes what may matter and is left out.
    pub(super) fn warn(&mut self, warning: String) {
        const MOST_WARNINGS: usize = 8;
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(warning);
        }
    }

    /// The layers of a stack, the strongest first.
    pub(super) fn stack(&self, stack: u32) -> &[Stacked] {
        &self.stacks[stack as usize]
    }

    /// Something that is wrong with a prim of a layer, or with all of it if that is 0.
    pub(super) fn problem(&self, layer: u32, node: u32, problem: &str) -> UsdError {
        let layer = &self[layer];
        let prim = if node == 0 { String::new() } else { format!("{}: ", layer.path_of(node)) };
        UsdError::Composition { path: layer.file().to_owned(), problem: format!("{prim}{problem}") }
    }

    /// Where a path in a layer leads, by its text alone.
    pub(super) fn locate(&self, layer: u32, asset: &str) -> Result<Place, String> {
        self.reach.locate(&self.places[layer as usize], asset)
    }

    /// The stack of the file at a place that a prim of a layer names.
    pub(super) fn follow(
        &mut self,
        layer: u32,
        node: u32,
        asset: &str,
        place: Place,
    ) -> Result<u32, UsdError> {
        let layer = self.layer_at(layer, node, asset, place)?;
        self.stack_of(layer)
    }

    fn layer_at(&mut self, layer: u32, node: u32, asset: &str, place: Place) -> Result<u32, UsdError> {
        if let Some(&known) = self.by_place.get(&place) {
            return Ok(known);
        }
        let wrong = |this: &Self, problem: String| this.problem(layer, node, &problem);
        if self.layers.len() >= MOST_LAYERS {
            return Err(wrong(self, format!("more than {MOST_LAYERS} layers are brought in")));
        }
        let mut file = self.reach.open(&place, asset).map_err(|problem| wrong(self, problem))?;
        let first = Layer::first_name(&place.file, &mut file)?;
        let actual = Place { inside: place.inside.clone().or(first), file: place.file.clone() };
        // Others may have named it in another way.
        if let Some(&known) = self.by_place.get(&actual) {
            self.by_place.insert(place, known);
            return Ok(known);
        }
        let opened = match &actual.inside {
            Some(name) => {
                let io = |error| UsdError::io(&actual.file, error);
                let unpacked = self.unpacked.get(&actual.file).copied().unwrap_or(0);
                // The files of a package lie one after the other; those that share bytes could multiply.
                let room = file.metadata().map_err(io)?.len().saturating_sub(unpacked);
                let found = Layer::read_inside(&actual.file, file, name, room)?;
                found.ok_or_else(|| {
                    let package = actual.file.file_name().unwrap_or_default().to_string_lossy();
                    wrong(self, format!("'{asset}': there is no {name} in {package}"))
                })?
            }
            None => Layer::read(&actual.file, file)?,
        };
        self.bytes += opened.length();
        *self.unpacked.entry(actual.file.clone()).or_default() += opened.length();
        let index = self.layers.len() as u32;
        self.layers.push(opened);
        self.places.push(actual.clone());
        self.by_place.insert(place, index);
        self.by_place.insert(actual, index);
        Ok(index)
    }

    /// The stack of a layer with its sublayers.
    fn stack_of(&mut self, layer: u32) -> Result<u32, UsdError> {
        if let Some(&known) = self.stack_of_layer.get(&layer) {
            return Ok(known);
        }
        let mut stack = Vec::new();
        let mut above = Vec::new();
        self.add(layer, LayerOffset::NONE, &mut above, &mut stack)?;
        let index = self.stacks.len() as u32;
        self.stacks.push(stack);
        self.stack_of_layer.insert(layer, index);
        Ok(index)
    }

    /// Adds a layer and its sublayers to a stack; `above` are the layers that lead to it.
    fn add(
        &mut self,
        layer: u32,
        offset: LayerOffset,
        above: &mut Vec<u32>,
        stack: &mut Vec<Stacked>,
    ) -> Result<(), UsdError> {
        if above.contains(&layer) {
            return Err(self.problem(layer, 0, "it is among its own sublayers"));
        }
        if stack.len() >= MOST_LAYERS || above.len() >= 64 {
            return Err(self.problem(layer, 0, "too many sublayers, or too many one below the other"));
        }
        stack.push((layer, offset));
        let Some(Value::StringArray(assets)) = self[layer].metadata("subLayers")? else { return Ok(()) };
        let offsets = match self[layer].metadata("subLayerOffsets")? {
            Some(Value::LayerOffsets(offsets)) => offsets,
            _ => Vec::new(),
        };
        above.push(layer);
        for (place, asset) in assets.iter().enumerate() {
            let target = self.locate(layer, asset).map_err(|problem| self.problem(layer, 0, &problem))?;
            let below = self.layer_at(layer, 0, asset, target)?;
            let placed = offsets.get(place).copied().unwrap_or(LayerOffset::NONE);
            let placed = self.placed(layer, below, placed).map_err(|text| self.problem(layer, 0, &text))?;
            self.add(below, offset.after(&placed), above, stack)?;
        }
        above.pop();
        Ok(())
    }

    /// How the times of layer `below` are placed in `above`, with what is said about it and the rates of both.
    pub(super) fn placed(&self, above: u32, below: u32, said: LayerOffset) -> Result<LayerOffset, String> {
        let scale = said.scale * self.rate(above) / self.rate(below);
        LayerOffset { offset: said.offset, scale }.checked()
    }

    /// Time codes a second of a layer [1/s].
    fn rate(&self, layer: u32) -> f64 {
        let number = |name: &str| self[layer].metadata(name).ok().flatten().and_then(|value| value.as_f64());
        let positive = |rate: &f64| rate.is_finite() && *rate > 0.0;
        let stated = number("timeCodesPerSecond").filter(positive);
        stated.or_else(|| number("framesPerSecond").filter(positive)).unwrap_or(24.0)
    }
}
