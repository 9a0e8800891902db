//! Which solver a scene chooses, and parameters that only that solver understands.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Expected, IntoDeserializer, Unexpected, Visitor};
use serde::{Deserializer, Serialize, Serializer, forward_to_deserialize_any};

use super::document::{Node, Value};
use super::error::{Place, Problem, SceneError, one_of, suggest};
use super::parse::Section;

/// The solver and its own parameters: `[solver]`.
///
/// `method` names the solver; all other keys are that solver's, and are read by [`SolverSettings::parameters`].
#[derive(Debug, Clone)]
pub struct SolverSettings {
    method: String,
    place: Place,
    /// The solver's own keys.
    table: Vec<(String, Node)>,
}

impl Default for SolverSettings {
    fn default() -> Self {
        Self::new("ftl")
    }
}

impl PartialEq for SolverSettings {
    fn eq(&self, other: &Self) -> bool {
        self.method == other.method && self.table() == other.table()
    }
}

impl Serialize for SolverSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let method = ("method".to_owned(), toml::Value::String(self.method.clone()));
        self.table().into_iter().chain([method]).collect::<toml::Table>().serialize(serializer)
    }
}

impl SolverSettings {
    /// The solver of that name with its usual parameters.
    pub fn new(method: &str) -> Self {
        let place = Place::Override { key: "solver".into() };
        Self { method: method.to_owned(), place, table: Vec::new() }
    }

    /// The solver's name.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// An error with a suggestion unless the solver is one of `methods`.
    pub fn check_method(&self, methods: &[&str]) -> Result<(), SceneError> {
        if methods.contains(&self.method.as_str()) {
            return Ok(());
        }
        let problem = Problem::UnknownName {
            key: "solver.method".to_owned(),
            what: "solver".to_owned(),
            found: self.method.clone(),
            expected: one_of(methods),
            suggestion: suggest(&self.method, methods),
        };
        Err(SceneError::new(&self.place, problem))
    }

    /// The solver's parameters as plain TOML.
    pub fn table(&self) -> toml::Table {
        self.table.iter().map(|(key, node)| (key.clone(), node.value.to_toml())).collect()
    }

    /// The solver's parameters as its own type. Give that type `#[serde(default, deny_unknown_fields)]`: then a
    /// misspelt key is reported with its place and a suggestion.
    pub fn parameters<P: DeserializeOwned>(&self) -> Result<P, SceneError> {
        let value = Value::Table(self.table.clone());
        let reader = Reader { path: "solver".to_owned(), place: &self.place, value: &value };
        P::deserialize(reader.clone()).map_err(|error| error.at(&reader).finish(&self.place))
    }

    /// The error for a parameter that is out of range; `key` is its name within `[solver]`.
    pub fn invalid(&self, key: &str, expected: &str) -> SceneError {
        let written = self.table.iter().find(|(name, _)| name == key).map(|(_, node)| node);
        let problem = Problem::Unexpected {
            key: format!("solver.{key}"),
            expected: expected.to_owned(),
            found: written.map_or_else(|| "its usual value".to_owned(), |node| node.value.describe()),
        };
        SceneError::new(written.map_or(&self.place, |node| &node.place), problem)
    }

    pub(super) fn read(scene: &Section<'_>) -> Result<Self, SceneError> {
        let Some(field) = scene.get("solver") else { return Ok(Self::default()) };
        let Value::Table(entries) = field.value else { return Err(field.unexpected("a table")) };
        let mut solver = Self { place: field.place.clone(), ..Self::default() };
        for (key, node) in entries {
            match (key.as_str(), &node.value) {
                ("method", Value::String(method)) => {
                    solver.method.clone_from(method);
                    solver.place = node.place.clone();
                }
                ("method", other) => {
                    let (key, expected) = ("solver.method".to_owned(), "the name of a solver".to_owned());
                    let problem = Problem::Unexpected { key, expected, found: other.describe() };
                    return Err(SceneError::new(&node.place, problem));
                }
                _ => solver.table.push((key.clone(), node.clone())),
            }
        }
        Ok(solver)
    }
}

/// Reads a value with its place into any type that serde knows.
#[derive(Clone)]
struct Reader<'a> {
    path: String,
    place: &'a Place,
    value: &'a Value,
}

impl<'a> Reader<'a> {
    fn child(&self, key: &str, node: &'a Node) -> Self {
        Self { path: format!("{}.{key}", self.path), place: &node.place, value: &node.value }
    }
}

/// An error of serde, which gets its place on the way up.
#[derive(Debug)]
enum ReadError {
    Bare(Bare),
    Placed(SceneError),
}

#[derive(Debug)]
enum Bare {
    Custom(String),
    Expected(String),
    UnknownField(String, &'static [&'static str]),
    UnknownVariant(String, &'static [&'static str]),
    MissingField(&'static str),
}

impl ReadError {
    /// Gives the error the reader's place, unless it has one from deeper within.
    fn at(self, reader: &Reader<'_>) -> Self {
        let Self::Bare(bare) = self else { return self };
        let key = reader.path.clone();
        let problem = match bare {
            Bare::Custom(reason) => Problem::Conflict { key, reason },
            Bare::Expected(expected) => Problem::Unexpected { key, expected, found: reader.value.describe() },
            Bare::UnknownVariant(found, names) => Problem::UnknownName {
                key,
                what: "name".to_owned(),
                expected: one_of(names),
                suggestion: suggest(&found, names),
                found,
            },
            Bare::UnknownField(key, names) => Problem::UnknownKey {
                table: format!("in [{}]", reader.path),
                expected: one_of(names),
                suggestion: suggest(&key, names),
                key,
            },
            Bare::MissingField(name) => {
                Problem::Missing { table: format!("[{key}]"), needed: name.to_owned() }
            }
        };
        Self::Placed(SceneError::new(reader.place, problem))
    }

    fn finish(self, place: &Place) -> SceneError {
        match self {
            Self::Placed(error) => error,
            Self::Bare(bare) => {
                let (key, reason) = ("solver".to_owned(), format!("{bare:?}"));
                SceneError::new(place, Problem::Conflict { key, reason })
            }
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bare(bare) => write!(formatter, "{bare:?}"),
            Self::Placed(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for ReadError {}

impl serde::de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Bare(Bare::Custom(message.to_string()))
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Bare(Bare::Expected(in_words(&expected.to_string())))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Bare(Bare::Expected(in_words(&expected.to_string())))
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::Bare(Bare::Expected(in_words(&expected.to_string())))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::Bare(Bare::UnknownField(field.to_owned(), expected))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::Bare(Bare::UnknownVariant(variant.to_owned(), expected))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Bare(Bare::MissingField(field))
    }
}

/// Serde's names of types in the words of a user.
fn in_words(expected: &str) -> String {
    match expected {
        "f32" | "f64" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "a boolean" => "true or false",
        other => other,
    }
    .to_owned()
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::String(text) => visitor.visit_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Datetime(value) => visitor.visit_string(value.to_string()),
            Value::Array(items) => visitor.visit_seq(Items { reader: &self, items, next: 0 }),
            Value::Table(entries) => visitor.visit_map(Entries { reader: &self, entries, next: 0 }),
        }
        .map_err(|error| error.at(&self))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.value {
            Value::String(text) => {
                let text: StrDeserializer<'_, ReadError> = text.as_str().into_deserializer();
                visitor.visit_enum(text)
            }
            Value::Table(entries) => {
                visitor.visit_enum(MapAccessDeserializer::new(Entries { reader: &self, entries, next: 0 }))
            }
            _ => Err(ReadError::Bare(Bare::Expected("a name".to_owned()))),
        }
        .map_err(|error| error.at(&self))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'a> {
    reader: &'a Reader<'a>,
    items: &'a [Node],
    next: usize,
}

impl<'de> serde::de::SeqAccess<'de> for Items<'_> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        let Some(node) = self.items.get(self.next) else { return Ok(None) };
        let reader = self.reader.child(&self.next.to_string(), node);
        self.next += 1;
        seed.deserialize(reader.clone()).map_err(|error| error.at(&reader)).map(Some)
    }
}

struct Entries<'a> {
    reader: &'a Reader<'a>,
    entries: &'a [(String, Node)],
    next: usize,
}

impl<'de> serde::de::MapAccess<'de> for Entries<'_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        let Some((key, node)) = self.entries.get(self.next) else { return Ok(None) };
        // An unknown key is reported where it stands, yet as a key of this table.
        let reader = Reader { path: self.reader.path.clone(), place: &node.place, value: &node.value };
        let key: StrDeserializer<'_, ReadError> = key.as_str().into_deserializer();
        seed.deserialize(key).map_err(|error| error.at(&reader)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, ReadError> {
        let Some((key, node)) = self.entries.get(self.next) else {
            return Err(serde::de::Error::custom("a key without a value"));
        };
        self.next += 1;
        let reader = self.reader.child(key, node);
        seed.deserialize(reader.clone()).map_err(|error| error.at(&reader))
    }
}
