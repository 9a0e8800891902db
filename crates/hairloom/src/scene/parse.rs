//! Reading tables and values with errors that say where, which key, what was expected and what was found.

use glam::{DQuat, DVec3};

use super::document::{Node, Value};
use super::error::{Place, Problem, SceneError, one_of, suggest};
use super::parameters::Parameters;

/// A set of names of which a scene chooses one.
pub(super) trait Choice: Copy + 'static {
    /// What is chosen, for error messages.
    const WHAT: &'static str;
    /// Every choice.
    const ALL: &'static [Self];
    /// The choice's name in a scene.
    fn name(self) -> &'static str;
}

/// Defines an enum whose variants have names in scenes.
macro_rules! choice {
    ($(#[$attribute:meta])* $visibility:vis $name:ident, $what:literal {
        $($(#[$variant_attribute:meta])* $variant:ident = $text:literal,)+
    }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visibility enum $name { $($(#[$variant_attribute])* $variant,)+ }

        impl $name {
            /// Every choice.
            $visibility const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The choice's name in a scene.
            $visibility fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl $crate::scene::parse::Choice for $name {
            const WHAT: &'static str = $what;
            const ALL: &'static [Self] = Self::ALL;
            fn name(self) -> &'static str { $name::name(self) }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}
pub(super) use choice;

/// A table being read.
#[derive(Debug, Clone)]
pub(super) struct Section<'a> {
    path: String,
    place: Place,
    entries: &'a [(String, Node)],
    known: &'static [&'static str],
}

impl<'a> Section<'a> {
    /// The top level of a scene.
    pub(super) fn root(node: &'a Node, known: &'static [&'static str]) -> Result<Self, SceneError> {
        Field { path: String::new(), place: &node.place, value: &node.value }.section(known)
    }

    /// A table that is not written at all; every key in it is absent.
    fn absent(path: &str, place: &Place, known: &'static [&'static str]) -> Self {
        Self { path: path.to_owned(), place: place.clone(), entries: &[], known }
    }

    /// The value of `key`, if it is there.
    pub(super) fn get(&self, key: &'static str) -> Option<Field<'a>> {
        debug_assert!(self.known.contains(&key), "{key} is not among the keys of [{}]", self.path);
        let (_, node) = self.entries.iter().find(|(name, _)| name == key)?;
        Some(Field { path: join(&self.path, key), place: &node.place, value: &node.value })
    }

    /// The value of `key`, which must be there.
    pub(super) fn require(&self, key: &'static str, needed: &str) -> Result<Field<'a>, SceneError> {
        self.get(key).ok_or_else(|| self.missing(needed))
    }

    /// The value of `key` as `read` understands it, or `default` when it is not there.
    pub(super) fn or<T>(
        &self,
        key: &'static str,
        default: T,
        read: impl FnOnce(Field<'a>) -> Result<T, SceneError>,
    ) -> Result<T, SceneError> {
        self.get(key).map_or(Ok(default), read)
    }

    /// The value of `key` as `read` understands it, if it is there.
    pub(super) fn maybe<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(Field<'a>) -> Result<T, SceneError>,
    ) -> Result<Option<T>, SceneError> {
        self.get(key).map(read).transpose()
    }

    /// The table under `key`; an empty one when it is not there.
    pub(super) fn section(
        &self,
        key: &'static str,
        known: &'static [&'static str],
    ) -> Result<Section<'a>, SceneError> {
        match self.get(key) {
            Some(field) => field.section(known),
            None => Ok(Section::absent(&join(&self.path, key), &self.place, known)),
        }
    }

    /// The tables under `key`, written as `[[key]]`; none when it is not there.
    pub(super) fn sections(
        &self,
        key: &'static str,
        known: &'static [&'static str],
    ) -> Result<Vec<Section<'a>>, SceneError> {
        let Some(field) = self.get(key) else { return Ok(Vec::new()) };
        field.items("a list of tables")?.iter().map(|item| item.section(known)).collect()
    }

    /// The one of `keys` that is written; an error when none is, or more than one.
    pub(super) fn exactly_one(&self, keys: &[&'static str]) -> Result<&'static str, SceneError> {
        match self.at_most_one(keys)? {
            Some(key) => Ok(key),
            None => Err(self.missing(&one_of(keys))),
        }
    }

    /// The one of `keys` that is written, if any; an error when more than one is.
    pub(super) fn at_most_one(&self, keys: &[&'static str]) -> Result<Option<&'static str>, SceneError> {
        let mut written = self.entries.iter().filter_map(|(name, _)| keys.iter().find(|key| *key == name));
        let Some(first) = written.next() else { return Ok(None) };
        if let Some(field) = written.next().and_then(|second| self.get(second)) {
            let first = join(&self.path, first);
            return Err(field.conflict(format!("cannot stand beside {first}; keep one of the two")));
        }
        Ok(Some(first))
    }

    /// An error when one of `keys` is written, because it has no effect; `reason` says on what it depends.
    pub(super) fn reject(&self, keys: &[&'static str], reason: &str) -> Result<(), SceneError> {
        match keys.iter().find_map(|key| self.get(key)) {
            Some(field) => Err(field.conflict(reason.to_owned())),
            None => Ok(()),
        }
    }

    /// The keys of an animation under `keyframes`: at least one, each later than the one before.
    pub(super) fn keyframes<K>(
        &self,
        known: &'static [&'static str],
        read: impl Fn(&Section<'a>) -> Result<K, SceneError>,
        time: impl Fn(&K) -> f64,
    ) -> Result<Vec<K>, SceneError> {
        let mut keys: Vec<K> = Vec::new();
        for section in self.sections("keyframes", known)? {
            let key = read(&section)?;
            if let Some(before) = keys.last().map(&time).filter(|before| time(&key) <= *before) {
                let field = section.require("time", "a time [s]")?;
                return Err(field.unexpected(&format!("a time after the key before ({before} s)")));
            }
            keys.push(key);
        }
        if keys.is_empty() {
            return Err(self.missing("at least one key in keyframes"));
        }
        Ok(keys)
    }

    /// The error for something that the table lacks.
    pub(super) fn missing(&self, needed: &str) -> SceneError {
        let (table, needed) = (format!("[{}]", self.path), needed.to_owned());
        SceneError::new(&self.place, Problem::Missing { table, needed })
    }

    fn check_keys(&self) -> Result<(), SceneError> {
        self.check_keys_but("")
    }

    /// An error for the first key that is neither known nor `own`.
    fn check_keys_but(&self, own: &str) -> Result<(), SceneError> {
        let unknown = |key: &str| key != own && !self.known.contains(&key);
        let Some((key, node)) = self.entries.iter().find(|(key, _)| unknown(key)) else { return Ok(()) };
        let table = match self.path.as_str() {
            "" => "at the top level".to_owned(),
            path => format!("in [{path}]"),
        };
        let (expected, suggestion) = (one_of(self.known), suggest(key, self.known));
        let problem = Problem::UnknownKey { key: key.clone(), table, expected, suggestion };
        Err(SceneError::new(&node.place, problem))
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A key's value being read.
#[derive(Debug, Clone)]
pub(super) struct Field<'a> {
    path: String,
    pub(super) place: &'a Place,
    pub(super) value: &'a Value,
}

impl<'a> Field<'a> {
    /// The value of a key.
    pub(super) fn new(path: &str, place: &'a Place, value: &'a Value) -> Self {
        Self { path: path.to_owned(), place, value }
    }

    /// The table that the key holds, of which `own` was read; all other keys must be known.
    pub(super) fn section_with(
        &self,
        own: &str,
        known: &'static [&'static str],
    ) -> Result<Section<'a>, SceneError> {
        let Value::Table(entries) = self.value else { return Err(self.unexpected("a table")) };
        let section = Section { path: self.path.clone(), place: self.place.clone(), entries, known };
        section.check_keys_but(own)?;
        Ok(section)
    }

    /// The table that the key holds, after a check that it holds no unknown keys.
    pub(super) fn section(&self, known: &'static [&'static str]) -> Result<Section<'a>, SceneError> {
        let Value::Table(entries) = self.value else { return Err(self.unexpected("a table")) };
        let section = Section { path: self.path.clone(), place: self.place.clone(), entries, known };
        section.check_keys()?;
        Ok(section)
    }

    /// The table that the key holds, cut in two: the keys in `known`, and all others for another part to read.
    pub(super) fn split(
        &self,
        known: &'static [&'static str],
    ) -> Result<(Section<'a>, Parameters), SceneError> {
        let Value::Table(entries) = self.value else { return Err(self.unexpected("a table")) };
        let (own, others): (Vec<_>, Vec<_>) =
            entries.iter().cloned().partition(|(key, _)| known.contains(&key.as_str()));
        let beside = own.into_iter().map(|(key, node)| (key, node.place)).collect();
        let own = Section { path: self.path.clone(), place: self.place.clone(), entries, known };
        Ok((own, Parameters::new(&self.path, self.place, others).beside(beside)))
    }

    /// The list that the key holds.
    pub(super) fn items(&self, expected: &str) -> Result<Vec<Field<'a>>, SceneError> {
        let Value::Array(items) = self.value else { return Err(self.unexpected(expected)) };
        let item = |(index, node): (usize, &'a Node)| Field {
            path: join(&self.path, &index.to_string()),
            place: &node.place,
            value: &node.value,
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// The error that names what the key takes beside what it holds.
    pub(super) fn unexpected(&self, expected: &str) -> SceneError {
        let (key, expected, found) = (self.path.clone(), expected.to_owned(), self.value.describe());
        SceneError::new(self.place, Problem::Unexpected { key, expected, found })
    }

    /// The error for a key that contradicts another.
    pub(super) fn conflict(&self, reason: String) -> SceneError {
        SceneError::new(self.place, Problem::Conflict { key: self.path.clone(), reason })
    }

    /// Whether the key holds a string.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.value, Value::String(_))
    }

    /// A word or sentence, not empty.
    pub(super) fn text(self) -> Result<String, SceneError> {
        match self.value {
            Value::String(text) if !text.is_empty() => Ok(text.clone()),
            _ => Err(self.unexpected("a string that is not empty")),
        }
    }

    /// The name of a file, relative to the scene's.
    pub(super) fn file(self) -> Result<String, SceneError> {
        match self.value {
            Value::String(text) if !text.is_empty() => Ok(text.clone()),
            _ => Err(self.unexpected("the name of a file")),
        }
    }

    /// One of the names of a choice.
    pub(super) fn choice<C: Choice>(self) -> Result<C, SceneError> {
        let names: Vec<&str> = C::ALL.iter().map(|choice| choice.name()).collect();
        let Value::String(text) = self.value else {
            return Err(self.unexpected(&format!("the name of a {}: {}", C::WHAT, one_of(&names))));
        };
        let chosen = C::ALL.iter().find(|choice| choice.name() == text);
        chosen.copied().ok_or_else(|| self.unknown_name(C::WHAT, text, &names))
    }

    /// The error for a name that is none of `names`.
    pub(super) fn unknown_name(&self, what: &str, found: &str, names: &[&str]) -> SceneError {
        let problem = Problem::UnknownName {
            key: self.path.clone(),
            what: what.to_owned(),
            found: found.to_owned(),
            expected: one_of(names),
            suggestion: suggest(found, names),
        };
        SceneError::new(self.place, problem)
    }

    /// `true` or `false`.
    pub(super) fn boolean(self) -> Result<bool, SceneError> {
        match self.value {
            Value::Boolean(value) => Ok(*value),
            _ => Err(self.unexpected("true or false")),
        }
    }

    fn number_where(&self, expected: &str, holds: impl Fn(f64) -> bool) -> Result<f64, SceneError> {
        let number = match self.value {
            Value::Integer(number) => *number as f64,
            Value::Float(number) => *number,
            _ => return Err(self.unexpected(expected)),
        };
        if !number.is_finite() {
            return Err(self.unexpected("a finite number"));
        }
        if holds(number) { Ok(number) } else { Err(self.unexpected(expected)) }
    }

    /// A finite number.
    pub(super) fn number(self) -> Result<f64, SceneError> {
        self.number_where("a finite number", |_| true)
    }

    /// A time [s], bounded so that no difference of times overflows.
    pub(super) fn time(self) -> Result<f64, SceneError> {
        self.between(-1e9, 1e9)
    }

    /// A number above zero.
    pub(super) fn positive(self) -> Result<f64, SceneError> {
        self.number_where("a number above 0", |number| number > 0.0)
    }

    /// Zero or a number above it.
    pub(super) fn not_negative(self) -> Result<f64, SceneError> {
        self.number_where("a number of at least 0", |number| number >= 0.0)
    }

    /// A number from `least` to `most`.
    pub(super) fn between(self, least: f64, most: f64) -> Result<f64, SceneError> {
        let expected = format!("a number from {least} to {most}");
        self.number_where(&expected, |number| (least..=most).contains(&number))
    }

    /// A whole number of at least `least`.
    pub(super) fn whole(self, least: u32) -> Result<u32, SceneError> {
        let most = i64::from(u32::MAX);
        match self.value {
            Value::Integer(number) if *number > most => {
                Err(self.unexpected(&format!("a whole number of at most {most}")))
            }
            Value::Integer(number) if *number >= i64::from(least) => Ok(*number as u32),
            _ => Err(self.unexpected(&format!("a whole number of at least {least}"))),
        }
    }

    /// A whole number within bounds.
    pub(super) fn whole_from_to(self, least: u32, most: u32) -> Result<u32, SceneError> {
        match self.value {
            Value::Integer(number) if (i64::from(least)..=i64::from(most)).contains(number) => {
                Ok(*number as u32)
            }
            _ => Err(self.unexpected(&format!("a whole number from {least} to {most}"))),
        }
    }

    fn numbers<const N: usize>(&self, expected: &str) -> Result<[f64; N], SceneError> {
        let items = self.items(expected)?;
        let mut numbers = [0.0; N];
        if items.len() != N {
            return Err(self.unexpected(expected));
        }
        for (number, item) in numbers.iter_mut().zip(items) {
            *number = item.number()?;
        }
        Ok(numbers)
    }

    /// Three numbers.
    pub(super) fn vector(self) -> Result<DVec3, SceneError> {
        self.numbers("three numbers [x, y, z]").map(DVec3::from_array)
    }

    /// Three numbers that are not all zero, made a unit vector.
    pub(super) fn direction(self) -> Result<DVec3, SceneError> {
        let vector = self.clone().vector()?;
        vector.try_normalize().ok_or_else(|| self.unexpected("a vector [x, y, z] that is not zero"))
    }

    /// Red, green and blue from 0 to 1.
    pub(super) fn color(self) -> Result<[f32; 3], SceneError> {
        let expected = "three numbers from 0 to 1 [red, green, blue]";
        let numbers = self.numbers::<3>(expected)?;
        if !numbers.iter().all(|number| (0.0..=1.0).contains(number)) {
            return Err(self.unexpected(expected));
        }
        Ok(numbers.map(|number| number as f32))
    }

    /// A unit quaternion `[x, y, z, w]`.
    pub(super) fn quaternion(self) -> Result<DQuat, SceneError> {
        let expected = "a rotation as quaternion [x, y, z, w] that is not zero";
        let quaternion = DQuat::from_array(self.numbers(expected)?);
        let length = quaternion.length();
        // One that is a unit already keeps its bits, so that a written scene reads back the same.
        if (length - 1.0).abs() < 1e-14 {
            return Ok(quaternion);
        }
        let unit = quaternion / length;
        if unit.is_finite() { Ok(unit) } else { Err(self.unexpected(expected)) }
    }
}
