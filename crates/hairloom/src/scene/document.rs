//! The scene's text as a tree in which every key and value knows its place, and overrides of single keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Place, Problem, SceneError, one_of, suggest};

/// A value and the place of the key that it belongs to.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Value,
}

impl Node {
    /// Replaces this node by `other`; tables are merged key by key.
    pub(super) fn overlay(&mut self, other: &Value) {
        let (Value::Table(entries), Value::Table(others)) = (&mut self.value, other) else {
            self.value = other.clone();
            return;
        };
        for (key, node) in others {
            let mine = entry(entries, key, &node.place);
            mine.overlay(&node.value);
            mine.place = node.place.clone();
        }
    }
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
            Self::Array(items) if items.len() <= 4 && items.iter().all(|item| item.value.is_scalar()) => {
                let items: Vec<String> = items.iter().map(|item| item.value.to_toml().to_string()).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Array(items) => format!("a list of {}", items.len()),
            Self::Table(_) => "a table".to_owned(),
        }
    }

    fn is_scalar(&self) -> bool {
        !matches!(self, Self::Array(_) | Self::Table(_))
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

    /// The same value as `value`, all of it at one place.
    pub(super) fn with_place(value: &toml::Value, place: &Place) -> Self {
        let node = |value| Node { place: place.clone(), value: Self::with_place(value, place) };
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

/// The places of all dotted keys of a scene. They do not count when scenes are compared.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    of: BTreeMap<String, Place>,
}

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Places {
    pub(super) fn new(root: &Node) -> Self {
        let mut places = Self::default();
        places.collect("", root);
        places
    }

    /// The place of a key, or of the innermost table around it that is written.
    pub(super) fn find(&self, key: &str) -> Place {
        let mut key = key;
        loop {
            if let Some(place) = self.of.get(key) {
                return place.clone();
            }
            match key.rsplit_once('.') {
                Some((table, _)) => key = table,
                None if key.is_empty() => return Place::Program,
                None => key = "",
            }
        }
    }

    fn collect(&mut self, path: &str, node: &Node) {
        self.of.insert(path.to_owned(), node.place.clone());
        let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match &node.value {
            Value::Table(entries) => entries.iter().for_each(|(key, node)| self.collect(&join(key), node)),
            Value::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, node)| self.collect(&join(&index.to_string()), node));
            }
            _ => {}
        }
    }
}

/// Sets the value at a dotted key, making the tables on the way.
///
/// An item of a list is chosen by its position, counted from 0, or by its `name`: `body.1.friction`,
/// `body.head.friction`.
pub(super) fn set(root: &mut Node, key: &str, value: &toml::Value) -> Result<(), SceneError> {
    let written = match value {
        // Without the hundreds of zeros that TOML would write out.
        toml::Value::Float(number) => format!("{number:?}").to_lowercase(),
        other => other.to_string(),
    };
    let place = Place::Override { setting: format!("{key}={written}").into() };
    let mut node = root;
    let mut path = String::new();
    for part in key.split('.') {
        if part.is_empty() {
            return Err(unexpected(&place, key, "a dotted key such as time.fps", "an empty part"));
        }
        // `style = "wavy"` is short for a table with that preset.
        if path == "groom.style" && matches!(node.value, Value::String(_)) {
            let preset = Node { value: node.value.clone(), place: node.place.clone() };
            node.value = Value::Table(vec![("preset".to_owned(), preset)]);
        }
        path = if path.is_empty() { part.to_owned() } else { format!("{path}.{part}") };
        node = match &mut node.value {
            Value::Table(entries) => entry(entries, part, &place),
            Value::Array(items) => {
                let problem = no_such_item(items, key, part);
                let index = item_index(items, part);
                let item = index.and_then(|index| items.get_mut(index));
                item.ok_or_else(|| SceneError::new(&place, problem))?
            }
            other => {
                let found = other.describe();
                return Err(unexpected(&place, key, &format!("a table before '.{part}'"), &found));
            }
        };
    }
    *node = Node { value: Value::with_place(value, &place), place };
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

/// The `name` of an item of a list.
fn item_name(item: &Node) -> Option<&str> {
    let Value::Table(entries) = &item.value else { return None };
    entries.iter().find_map(|(key, node)| match &node.value {
        Value::String(name) if key == "name" => Some(name.as_str()),
        _ => None,
    })
}

fn item_index(items: &[Node], part: &str) -> Option<usize> {
    items.iter().position(|item| item_name(item) == Some(part)).or_else(|| part.parse().ok())
}

fn no_such_item(items: &[Node], key: &str, part: &str) -> Problem {
    let names: Vec<&str> = items.iter().filter_map(item_name).collect();
    let position = match items.len() {
        1 => "the position 0".to_owned(),
        count => format!("a position from 0 to {}", count.max(1) - 1),
    };
    let expected = if names.is_empty() { position } else { format!("{} or {position}", one_of(&names)) };
    let suggestion = suggest(part, &names);
    Problem::UnknownName {
        key: key.to_owned(),
        what: "item".to_owned(),
        found: part.to_owned(),
        expected,
        suggestion,
    }
}
