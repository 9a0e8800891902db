//! Values from text, with the type that is declared or, for metadata, the one that shows.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::element::{Component, Element, Quat};
use super::super::error::Parsed;
use super::super::half::Half;
use super::super::path::Path;
use super::super::type_name;
use super::super::value::{Kind, ListOp, Value, numeric_kinds};
use super::references;
use super::scan::{DEEPEST_NESTING, Scanner};

/// Parses a value of a known type.
pub(super) fn typed(scanner: &mut Scanner<'_>, kind: Kind, array: bool) -> Parsed<Value> {
    if scanner.peek_word() == "None" {
        scanner.word();
        return Ok(Value::Block);
    }
    if scanner.peek_word() == "AnimationBlock" {
        scanner.word();
        return Ok(Value::Unsupported("animation block"));
    }
    macro_rules! parse {
        ($($scalar:ident, $array:ident, $type:ty, $code:literal, $doc:literal;)*) => {
            match (kind, array) {
                $((Kind::$scalar, false) => Value::$scalar(element::<$type>(scanner)?),)*
                $((Kind::$scalar, true) => Value::$array(list(scanner, element::<$type>)?),)*
                (Kind::String, false) => Value::String(scanner.string()?),
                (Kind::Token, false) => Value::Token(scanner.string()?),
                (Kind::Asset, false) => Value::Asset(scanner.asset()?),
                (Kind::String, true) => Value::StringArray(texts(scanner, Scanner::string)?),
                (Kind::Token, true) => Value::TokenArray(texts(scanner, Scanner::string)?),
                (Kind::Asset, true) => Value::AssetArray(texts(scanner, Scanner::asset)?),
            }
        };
    }
    Ok(numeric_kinds!(parse))
}

/// Items between square brackets.
pub(super) fn list<'a, T>(
    scanner: &mut Scanner<'a>,
    mut item: impl FnMut(&mut Scanner<'a>) -> Parsed<T>,
) -> Parsed<Vec<T>> {
    scanner.require(b'[')?;
    let mut items = Vec::new();
    while !scanner.take(b']') {
        items.push(item(scanner)?);
        if !scanner.take(b',') {
            scanner.require(b']')?;
            break;
        }
    }
    Ok(items)
}

/// Texts between square brackets; equal ones are shared.
fn texts<'a>(
    scanner: &mut Scanner<'a>,
    item: fn(&mut Scanner<'a>) -> Parsed<Arc<str>>,
) -> Parsed<Vec<Arc<str>>> {
    let mut known: HashSet<Arc<str>> = HashSet::new();
    list(scanner, |scanner| {
        let text = item(scanner)?;
        if let Some(shared) = known.get(&text) {
            return Ok(shared.clone());
        }
        known.insert(text.clone());
        Ok(text)
    })
}

pub(super) fn number<C: Component>(scanner: &mut Scanner<'_>) -> Parsed<C> {
    scanner.skip_space();
    let start = scanner.position;
    let word = scanner.number();
    match C::parse(word).or_else(|| from_real(word)) {
        Some(number) => Ok(number),
        None => {
            scanner.position = start;
            scanner.expected(format!("a number that is a {}, not \"{word}\"", std::any::type_name::<C>()))
        }
    }
}

/// An integer that is written with a point, as some programs do.
fn from_real<C: Component>(word: &str) -> Option<C> {
    let real: f64 = word.parse().ok()?;
    (real.fract() == 0.0 && real.abs() < 1e15).then(|| C::parse(&format!("{real:.0}"))).flatten()
}

fn element<E: Element>(scanner: &mut Scanner<'_>) -> Parsed<E> {
    let mut value = E::default();
    if E::COUNT == 1 {
        value.set_part(0, number(scanner)?);
        return Ok(value);
    }
    let columns = E::COUNT / E::ROWS;
    if E::ROWS > 1 {
        scanner.require(b'(')?;
    }
    for row in 0..E::ROWS {
        scanner.require(b'(')?;
        for column in 0..columns {
            value.set_part(row * columns + column, number(scanner)?);
            if column + 1 < columns {
                scanner.require(b',')?;
            }
        }
        scanner.require(b')')?;
        if row + 1 < E::ROWS {
            scanner.require(b',')?;
        }
    }
    if E::ROWS > 1 {
        scanner.require(b')')?;
    }
    Ok(value)
}

/// Parses metadata: of the type that its name implies, else as it looks.
pub(super) fn metadata(scanner: &mut Scanner<'_>, name: &str) -> Parsed<Value> {
    if let Some((kind, array)) = type_name::of_metadata(name) {
        return typed(scanner, kind, array);
    }
    if references::FIELDS.contains(&name) {
        return Ok(Value::References(ListOp::explicit(references::references(scanner)?)));
    }
    if name == "subLayers" {
        return Ok(Value::StringArray(references::sublayers(scanner)?.0));
    }
    let value = guessed(scanner, 0)?;
    Ok(match (name, value) {
        ("variantSetNames", value) => Value::StringListOp(ListOp::explicit(into_texts(value))),
        ("apiSchemas", value) => Value::TokenListOp(ListOp::explicit(into_texts(value))),
        (_, value) => value,
    })
}

/// The texts of a value that is one text or many.
pub(super) fn into_texts(value: Value) -> Vec<Arc<str>> {
    match value {
        Value::String(text) | Value::Token(text) => vec![text],
        Value::StringArray(texts) | Value::TokenArray(texts) => texts,
        _ => Vec::new(),
    }
}

/// Paths: one, several in brackets, or `None`.
pub(super) fn paths(scanner: &mut Scanner<'_>) -> Parsed<Vec<Path>> {
    match scanner.peek() {
        Some(b'[') => list(scanner, |scanner| scanner.path().map(Path::new)),
        Some(b'<') => Ok(vec![Path::new(scanner.path()?)]),
        _ if scanner.peek_word() == "None" => {
            scanner.word();
            Ok(Vec::new())
        }
        _ => scanner.expected("a path such as </World/Hair>, or a list of them"),
    }
}

fn guessed(scanner: &mut Scanner<'_>, depth: usize) -> Parsed<Value> {
    match scanner.peek() {
        Some(b'"' | b'\'') => Ok(Value::String(scanner.string()?)),
        Some(b'<') => {
            let paths = paths(scanner)?;
            let reference = scanner.skip_reference()?;
            Ok(if reference {
                Value::Unsupported("references")
            } else {
                Value::PathListOp(ListOp::explicit(paths))
            })
        }
        Some(b'{') => dictionary(scanner, depth),
        Some(b'@') => {
            let asset = scanner.asset()?;
            let reference = scanner.skip_reference()?;
            Ok(if reference { Value::Unsupported("references") } else { Value::Asset(asset) })
        }
        Some(b'[') => {
            let mut ahead = *scanner;
            ahead.position += 1;
            Ok(match ahead.peek() {
                Some(b'"' | b'\'') => Value::StringArray(texts(scanner, Scanner::string)?),
                Some(b'<') => path_list(scanner)?,
                Some(byte) if byte.is_ascii_digit() || matches!(byte, b'-' | b'.') => {
                    Value::DoubleArray(list(scanner, number)?)
                }
                _ => {
                    scanner.skip_value()?;
                    Value::Unsupported("list")
                }
            })
        }
        Some(b'(') => {
            scanner.skip_value()?;
            Ok(Value::Unsupported("tuple"))
        }
        _ => word_or_number(scanner),
    }
}

/// A list of paths; of references if anything but paths is in it.
fn path_list(scanner: &mut Scanner<'_>) -> Parsed<Value> {
    let start = *scanner;
    match paths(scanner) {
        Ok(paths) => Ok(Value::PathListOp(ListOp::explicit(paths))),
        Err(_) => {
            *scanner = start;
            scanner.skip_value()?;
            Ok(Value::Unsupported("references"))
        }
    }
}

fn word_or_number(scanner: &mut Scanner<'_>) -> Parsed<Value> {
    let start = *scanner;
    let word = scanner.number();
    if let Ok(integer) = word.parse() {
        return Ok(Value::Int64(integer));
    }
    Ok(match word {
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        "None" => Value::Block,
        _ => match word.parse() {
            Ok(real) => Value::Double(real),
            Err(_) => {
                *scanner = start;
                Value::token(scanner.required_word("a value")?)
            }
        },
    })
}

/// `{ type name = value … }`.
fn dictionary(scanner: &mut Scanner<'_>, depth: usize) -> Parsed<Value> {
    if depth >= DEEPEST_NESTING {
        return scanner.expected(format!("dictionaries nested at most {DEEPEST_NESTING} deep"));
    }
    scanner.require(b'{')?;
    let mut entries = Vec::new();
    while !scanner.take(b'}') {
        let base = scanner.required_word("the type of an entry, or '}'")?;
        let array = scanner.take(b'[');
        if array {
            scanner.require(b']')?;
        }
        let key = match scanner.peek() {
            Some(b'"' | b'\'') => scanner.string()?,
            _ => scanner.required_word("the name of an entry")?.into(),
        };
        scanner.require(b'=')?;
        let value = match type_name::parse(base) {
            _ if base == "dictionary" => dictionary(scanner, depth + 1)?,
            Some((kind, _)) => typed(scanner, kind, array)?,
            None => {
                scanner.skip_value()?;
                Value::Unsupported("unknown type")
            }
        };
        entries.push((key, value));
        scanner.take(b',');
    }
    Ok(Value::Dictionary(entries))
}
