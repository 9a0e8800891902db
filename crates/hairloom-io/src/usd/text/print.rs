//! Values as text.

use super::super::element::{Component, Element, Quat};
use super::super::half::Half;
use super::super::path::Path;
use super::super::type_name;
use super::super::value::{ListOp, Value, numeric_kinds};

/// Four spaces for every level.
pub(super) fn indent(out: &mut Vec<u8>, depth: usize) {
    out.resize(out.len() + 4 * depth, b' ');
}

pub(super) fn value(out: &mut Vec<u8>, value: &Value, depth: usize) {
    macro_rules! print {
        ($($scalar:ident, $array:ident, $type:ty, $code:literal, $doc:literal;)*) => {
            match value {
                $(Value::$scalar(item) => element::<$type>(out, item),)*
                $(Value::$array(items) => list(out, items, element::<$type>),)*
                other => self::other(out, other, depth),
            }
        };
    }
    numeric_kinds!(print);
}

fn other(out: &mut Vec<u8>, value: &Value, depth: usize) {
    match value {
        Value::String(text) | Value::Token(text) => string(out, text),
        Value::Asset(path) => asset(out, path),
        Value::StringArray(texts) | Value::TokenArray(texts) => {
            list(out, texts, |out, text| string(out, text))
        }
        Value::AssetArray(paths) => list(out, paths, |out, path| asset(out, path)),
        Value::Dictionary(entries) => dictionary(out, entries, depth),
        _ => out.extend_from_slice(b"None"),
    }
}

fn list<T>(out: &mut Vec<u8>, items: &[T], mut item: impl FnMut(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (index, entry) in items.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(b", ");
        }
        item(out, entry);
    }
    out.push(b']');
}

fn element<E: Element>(out: &mut Vec<u8>, element: &E) {
    if E::COUNT == 1 {
        return element.part(0).print(out);
    }
    let columns = E::COUNT / E::ROWS;
    if E::ROWS > 1 {
        out.extend_from_slice(b"( ");
    }
    for row in 0..E::ROWS {
        out.extend_from_slice(if row == 0 { b"(" } else { b", (" });
        for column in 0..columns {
            if column > 0 {
                out.extend_from_slice(b", ");
            }
            element.part(row * columns + column).print(out);
        }
        out.push(b')');
    }
    if E::ROWS > 1 {
        out.extend_from_slice(b" )");
    }
}

/// A text in quotes.
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 | 0x7f => out.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

fn asset(out: &mut Vec<u8>, path: &str) {
    let mark: &[u8] = if path.contains('@') { b"@@@" } else { b"@" };
    out.extend_from_slice(mark);
    out.extend_from_slice(path.replace("@@@", "\\@@@").as_bytes());
    out.extend_from_slice(mark);
}

fn dictionary(out: &mut Vec<u8>, entries: &[(std::sync::Arc<str>, Value)], depth: usize) {
    out.extend_from_slice(b"{\n");
    for (key, entry) in entries {
        let type_name = match entry {
            Value::Dictionary(_) => "dictionary".to_owned(),
            other => match other.kind() {
                Some(kind) => type_name::of_kind(kind),
                None => continue,
            },
        };
        indent(out, depth + 1);
        out.extend_from_slice(type_name.as_bytes());
        out.push(b' ');
        string(out, key);
        out.extend_from_slice(b" = ");
        value(out, entry, depth + 1);
        out.push(b'\n');
    }
    indent(out, depth);
    out.push(b'}');
}

/// One line of metadata, or one for each kind of edit.
pub(super) fn metadata(out: &mut Vec<u8>, name: &str, entry: &Value, depth: usize) {
    let name = type_name::in_text(name);
    match entry {
        Value::TokenListOp(list) | Value::StringListOp(list) => {
            edits(out, list, name, depth, |out, items| self::list(out, items, |out, text| string(out, text)));
        }
        Value::PathListOp(list) => edits(out, list, name, depth, paths),
        other => {
            indent(out, depth);
            if name != "comment" {
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b" = ");
            }
            value(out, other, depth);
            out.push(b'\n');
        }
    }
}

/// Paths in angle brackets: one bare, several as a list.
fn paths(out: &mut Vec<u8>, paths: &[Path]) {
    let path = |out: &mut Vec<u8>, path: &Path| {
        out.push(b'<');
        out.extend_from_slice(path.as_str().as_bytes());
        out.push(b'>');
    };
    match paths {
        [one] => path(out, one),
        [] => out.extend_from_slice(b"None"),
        many => list(out, many, path),
    }
}

/// `prepend name = …` and so on, one line for each edit of a list.
pub(super) fn edits<T>(
    out: &mut Vec<u8>,
    list: &ListOp<T>,
    name: &str,
    depth: usize,
    items: impl Fn(&mut Vec<u8>, &[T]),
) {
    let mut line = |edit: &str, entries: &[T]| {
        indent(out, depth);
        out.extend_from_slice(edit.as_bytes());
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b" = ");
        items(out, entries);
        out.push(b'\n');
    };
    if let Some(entries) = &list.explicit {
        return line("", entries);
    }
    let kinds = [
        ("delete ", &list.deleted),
        ("add ", &list.added),
        ("prepend ", &list.prepended),
        ("append ", &list.appended),
        ("reorder ", &list.ordered),
    ];
    kinds
        .into_iter()
        .filter(|(_, entries)| !entries.is_empty())
        .for_each(|(edit, entries)| line(edit, entries));
}

/// `rel name = …` with its edits.
pub(super) fn relationship(out: &mut Vec<u8>, head: &str, targets: &Value, depth: usize) {
    if let Value::PathListOp(list) = targets {
        edits(out, list, head, depth, paths);
    }
}
