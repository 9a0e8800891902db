use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

use super::document::{Node, Value};
use super::error::{Place, Problem, SceneError};
use super::reader::Reader;

/// A table of a scene that another part understands, with the places of its keys.
///
/// The part reads it into a type of its own. Give that type `#[serde(default, deny_unknown_fields)]`: then a
/// misspelt key is reported with its place and a suggestion.
#[derive(Debug, Clone)]
pub struct Parameters {
    path: String,
    place: Place,
    entries: Vec<(String, Node)>,
    /// Places of keys of the same table that its owner reads itself.
    beside: Vec<(String, Place)>,
}

impl PartialEq for Parameters {
    fn eq(&self, other: &Self) -> bool {
        self.to_table() == other.to_table()
    }
}

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_table().serialize(serializer)
    }
}

impl Parameters {
    /// No parameters, for the table named `path`.
    pub fn none(path: &str) -> Self {
        Self::new(path, &Place::Program, Vec::new())
    }

    pub(super) fn new(path: &str, place: &Place, entries: Vec<(String, Node)>) -> Self {
        Self { path: path.to_owned(), place: place.clone(), entries, beside: Vec::new() }
    }

    /// Remembers where keys of the same table stand that are not among the parameters.
    pub(super) fn beside(mut self, places: Vec<(String, Place)>) -> Self {
        self.beside = places;
        self
    }

    /// The parameters as plain TOML.
    pub fn to_table(&self) -> toml::Table {
        self.entries.iter().map(|(key, node)| (key.clone(), node.value.to_toml())).collect()
    }

    /// The parameters as `P`, whose own defaults stand for what is not written.
    pub fn read<P: DeserializeOwned>(&self) -> Result<P, SceneError> {
        self.read_value(&Value::Table(self.entries.clone()))
    }

    /// The parameters as `P`, where `base` stands for what is not written, down to the keys of tables within.
    pub fn read_over<P: Serialize + DeserializeOwned>(&self, base: &P) -> Result<P, SceneError> {
        let base = toml::Value::try_from(base).map_err(|error| self.error("", error.to_string()))?;
        let mut merged = Node { value: Value::with_place(&base, &self.place), place: self.place.clone() };
        merged.overlay(&Value::Table(self.entries.clone()));
        self.read_value(&merged.value)
    }

    fn read_value<P: DeserializeOwned>(&self, value: &Value) -> Result<P, SceneError> {
        Reader { path: self.path.clone(), place: &self.place, value }.read()
    }

    /// The error for a parameter that is out of range; `key` is its dotted name within this table.
    pub fn invalid(&self, key: &str, expected: &str) -> SceneError {
        let found = self.find(key).map_or("its usual value".to_owned(), |node| node.value.describe());
        let problem =
            Problem::Unexpected { key: format!("{}.{key}", self.path), expected: expected.to_owned(), found };
        SceneError::new(self.find(key).map_or(&self.place, |node| &node.place), problem)
    }

    /// The error for anything else that is wrong at `key`, a dotted name within this table.
    pub fn error(&self, key: &str, reason: String) -> SceneError {
        let beside = || self.beside.iter().find(|(name, _)| name == key).map(|(_, place)| place);
        let place = self.find(key).map(|node| &node.place).or_else(beside).unwrap_or(&self.place);
        let key = format!("{}.{key}", self.path).trim_end_matches('.').to_owned();
        SceneError::new(place, Problem::Conflict { key, reason })
    }

    fn find(&self, key: &str) -> Option<&Node> {
        let mut entries = &self.entries;
        let mut found = None;
        for part in key.split('.') {
            let (_, node) = entries.iter().find(|(name, _)| name == part)?;
            found = Some(node);
            match &node.value {
                Value::Table(inner) => entries = inner,
                _ => break,
            }
        }
        found
    }
}
