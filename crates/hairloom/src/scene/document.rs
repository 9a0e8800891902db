//! The scene's text as a tree in which every key and value knows its place, and overrides of single keys.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Place, Problem, SceneError};

/// A value and the place of the key that it belongs to.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Value,
}

/// A TOML value.
#[derive(Debug, Clone)]
pub(super) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Datetime(toml::value::Datetime),
    Array(Vec<Node>),
    /// Entries in the order of the text.
    Table(Vec<(String, Node)>),
}

impl Value {
    /// What an error message says was found.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::String(text) => format!("the string {text:?}"),
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => format!("{number:?}").to_lowercase(),
            Self::Boolean(value) => value.to_string(),
            Self::Datetime(_) => "a date".to_owned(),
            Self::Array(items) => format!("a list of {}", items.len()),
            Self::Table(_) => "a table".to_owned(),
        }
    }

    /// The same value without places.
    pub(super) fn to_toml(&self) -> toml::Value {
        match self {
            Self::String(text) => toml::Value::String(text.clone()),
            Self::Integer(number) => toml::Value::Integer(*number),
            Self::Float(number) => toml::Value::Float(*number),
            Self::Boolean(value) => toml::Value::Boolean(*value),
            Self::Datetime(value) => toml::Value::Datetime(*value),
            Self::Array(items) => toml::Value::Array(items.iter().map(|item| item.value.to_toml()).collect()),
            Self::Table(entries) => toml::Value::Table(
                entries.iter().map(|(key, node)| (key.clone(), node.value.to_toml())).collect(),
            ),
        }
    }

    fn from_override(value: &toml::Value, place: &Place) -> Self {
        let node = |value| Node { place: place.clone(), value: Self::from_override(value, place) };
        match value {
            toml::Value::String(text) => Self::String(text.clone()),
            toml::Value::Integer(number) => Self::Integer(*number),
            toml::Value::Float(number) => Self::Float(*number),
            toml::Value::Boolean(value) => Self::Boolean(*value),
            toml::Value::Datetime(value) => Self::Datetime(*value),
            toml::Value::Array(items) => Self::Array(items.iter().map(node).collect()),
            toml::Value::Table(table) => {
                Self::Table(table.iter().map(|(key, value)| (key.clone(), node(value))).collect())
            }
        }
    }
}

/// Turns byte offsets of one text into places.
struct Text<'a> {
    file: Arc<str>,
    text: &'a str,
    /// Byte offset at which each line begins.
    lines: Vec<usize>,
}

impl<'a> Text<'a> {
    fn new(text: &'a str, file: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(index, _)| index + 1);
        Self { file: file.into(), text, lines: std::iter::once(0).chain(breaks).collect() }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.lines.partition_point(|begin| *begin <= offset);
        let begin = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = self.text.get(begin..offset).map_or(0, |text| text.chars().count());
        Place::Text { file: self.file.clone(), line, column: before + 1 }
    }

    fn table(&self, table: &DeTable<'_>) -> Result<Value, SceneError> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            let place = self.place(key.span().start);
            let name: &std::borrow::Cow<'_, str> = key.get_ref();
            Ok((name.to_string(), Node { value: self.value(value.get_ref(), &place)?, place }))
        };
        Ok(Value::Table(entries.into_iter().map(entry).collect::<Result<_, SceneError>>()?))
    }

    fn value(&self, value: &DeValue<'_>, place: &Place) -> Result<Value, SceneError> {
        let too_large = |text: &str| {
            SceneError::new(place, Problem::Syntax(format!("the number {text} is too large to represent")))
        };
        Ok(match value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Integer(number) => Value::Integer(
                i64::from_str_radix(number.as_str(), number.radix())
                    .map_err(|_| too_large(number.as_str()))?,
            ),
            DeValue::Float(number) => {
                Value::Float(number.as_str().parse().map_err(|_| too_large(number.as_str()))?)
            }
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Datetime(value) => Value::Datetime(*value),
            DeValue::Array(items) => {
                let item = |item: &Spanned<DeValue<'_>>| {
                    let place = self.place(item.span().start);
                    Ok(Node { value: self.value(item.get_ref(), &place)?, place })
                };
                Value::Array(items.iter().map(item).collect::<Result<_, SceneError>>()?)
            }
            DeValue::Table(table) => self.table(table)?,
        })
    }
}

/// The whole text as one table.
pub(super) fn parse(text: &str, file: &str) -> Result<Node, SceneError> {
    let source = Text::new(text, file);
    let place = source.place(0);
    let table = DeTable::parse(text).map_err(|error| {
        let place = source.place(error.span().map_or(0, |span| span.start));
        SceneError::new(&place, Problem::Syntax(error.message().trim().replace('\n', ", ")))
    })?;
    Ok(Node { value: source.table(table.get_ref())?, place })
}

/// Sets the value at a dotted key, making the tables on the way.
///
/// An item of a list is chosen by its position, counted from 0, or by its `name`: `body.1.friction`,
/// `body.head.friction`.
pub(super) fn set(root: &mut Node, key: &str, value: &toml::Value) -> Result<(), SceneError> {
    let place = Place::Override { key: key.into() };
    let mut node = root;
    for part in key.split('.') {
        if part.is_empty() {
            return Err(unexpected(&place, key, "a dotted key such as time.fps", "an empty part"));
        }
        node = match &mut node.value {
            Value::Table(entries) => entry(entries, part, &place),
            Value::Array(items) => {
                let count = items.len();
                let index = item_index(items, part);
                index.and_then(|index| items.get_mut(index)).ok_or_else(|| {
                    let expected = format!("the position (0 to {}) or the name of an item", count.max(1) - 1);
                    unexpected(&place, key, &expected, &format!("'{part}'"))
                })?
            }
            other => {
                let found = other.describe();
                return Err(unexpected(&place, key, &format!("a table before '.{part}'"), &found));
            }
        };
    }
    *node = Node { value: Value::from_override(value, &place), place };
    Ok(())
}

fn unexpected(place: &Place, key: &str, expected: &str, found: &str) -> SceneError {
    let (key, expected, found) = (key.to_owned(), expected.to_owned(), found.to_owned());
    SceneError::new(place, Problem::Unexpected { key, expected, found })
}

fn entry<'a>(entries: &'a mut Vec<(String, Node)>, key: &str, place: &Place) -> &'a mut Node {
    let index = entries.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
        entries.push((key.to_owned(), Node { place: place.clone(), value: Value::Table(Vec::new()) }));
        entries.len() - 1
    });
    &mut entries[index].1
}

fn item_index(items: &[Node], part: &str) -> Option<usize> {
    let named = |item: &Node| {
        match &item.value {
        Value::Table(entries) => entries.iter().any(
            |(key, node)| matches!((key.as_str(), &node.value), ("name", Value::String(name)) if name == part),
        ),
        _ => false,
    }
    };
    items.iter().position(named).or_else(|| part.parse().ok())
}
