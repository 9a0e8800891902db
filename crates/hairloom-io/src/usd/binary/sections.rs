//! The structural sections of a crate file, read whole when it is opened.

use std::sync::Arc;

use super::super::error::{Parsed, fault};
use super::compress::decompress;
use super::cursor::{Cursor, Source};
use super::integers::unpack;
use super::structure::{PathTable, read_paths};
use super::{CONTENTS_AT, END_OF_SET, HEADER_BYTES, MAGIC, ValueRef, spec};

/// The oldest version that is read: before it, sections were not compressed.
const OLDEST_VERSION: [u8; 3] = [0, 4, 0];
/// The first part of a version that changes when old readers cannot cope.
const MAJOR_VERSION: u8 = 0;
/// LZ4 lets a small file describe a vast one. No honest file of this size needs more memory than this [bytes].
const MEMORY_FLOOR: u64 = 1 << 20;
const MEMORY_PER_FILE_BYTE: u64 = 8;

/// One spec: which path, which set of fields, which type.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Spec {
    pub(in super::super) path: u32,
    pub(in super::super) field_set: u32,
    pub(in super::super) kind: u32,
}

/// A crate file whose structure is known and whose values are still in the file.
#[derive(Debug)]
pub(in super::super) struct CrateFile {
    pub(in super::super) source: Source,
    pub(in super::super) version: [u8; 3],
    pub(in super::super) tokens: Vec<Arc<str>>,
    /// Tokens that are strings.
    pub(in super::super) strings: Vec<u32>,
    /// Token that names it, value.
    pub(in super::super) fields: Vec<(u32, ValueRef)>,
    pub(in super::super) field_sets: Vec<u32>,
    pub(in super::super) paths: PathTable,
    pub(in super::super) specs: Vec<Spec>,
    /// Where the table of contents ends [bytes].
    pub(in super::super) contents_end: u64,
}

/// The table of contents: name, start and size of each section.
struct Contents(Vec<([u8; 16], u64, u64)>);

impl CrateFile {
    pub(in super::super) fn open(source: Source) -> Parsed<Self> {
        let (version, contents_at) = read_header(&source)?;
        let (contents, contents_end) = read_contents(&source, contents_at)?;
        let tokens = read_tokens(&mut contents.section(&source, "TOKENS")?)?;
        let strings = read_strings(&mut contents.section(&source, "STRINGS")?, tokens.len())?;
        let fields = read_fields(&mut contents.section(&source, "FIELDS")?, &source, tokens.len())?;
        let mut cursor = contents.section(&source, "FIELDSETS")?;
        let field_sets = read_field_sets(&mut cursor, &source, fields.len())?;
        let paths = read_paths(&mut contents.section(&source, "PATHS")?, &source, &tokens)?;
        let mut cursor = contents.section(&source, "SPECS")?;
        let specs = read_specs(&mut cursor, &source, &paths, &field_sets)?;
        Ok(Self { source, version, tokens, strings, fields, field_sets, paths, specs, contents_end })
    }

    /// The fields of a set.
    pub(in super::super) fn set(&self, field_set: u32) -> impl Iterator<Item = (u32, ValueRef)> + '_ {
        let set = self.field_sets.get(field_set as usize..).unwrap_or_default();
        set.iter()
            .take_while(|&&field| field != END_OF_SET)
            .filter_map(|&field| self.fields.get(field as usize).copied())
    }

    /// The field of this name in a set.
    pub(in super::super) fn field(&self, field_set: u32, name: &str) -> Option<ValueRef> {
        self.set(field_set)
            .find(|&(token, _)| self.tokens.get(token as usize).is_some_and(|text| **text == *name))
            .map(|(_, value)| value)
    }
}

/// Fails if `count` things of `size` bytes are more than a file of this size can honestly need.
pub(in super::super) fn within_memory(
    source: &Source,
    count: u64,
    size: u64,
    offset: u64,
    what: &str,
) -> Parsed<()> {
    let budget = MEMORY_FLOOR + MEMORY_PER_FILE_BYTE * source.length();
    if count.checked_mul(size).is_none_or(|bytes| bytes > budget) {
        return fault(
            offset,
            format!("at most {} {what} in a file of {} bytes, not {count}", budget / size, source.length()),
        );
    }
    Ok(())
}

fn read_header(source: &Source) -> Parsed<([u8; 3], u64)> {
    let mut cursor = source.at(0);
    if source.length() < HEADER_BYTES {
        return fault(
            source.length(),
            format!("a header of {HEADER_BYTES} bytes; the file was cut off, or never finished"),
        );
    }
    let start = cursor.bytes(24, "header")?;
    if &start[..8] != MAGIC {
        return fault(0, "\"PXR-USDC\"");
    }
    let version = [start[8], start[9], start[10]];
    if version[0] != MAJOR_VERSION || version < OLDEST_VERSION {
        return fault(
            8,
            format!("crate version 0.4.0 or a later 0.x, not {}.{}.{}", version[0], version[1], version[2]),
        );
    }
    let mut cursor = source.at(CONTENTS_AT);
    Ok((version, cursor.u64("the position of the table of contents")?))
}

fn read_contents(source: &Source, position: u64) -> Parsed<(Contents, u64)> {
    if position < HEADER_BYTES || position >= source.length() {
        return fault(
            CONTENTS_AT,
            format!(
                "the position of a table of contents inside the file of {} bytes, not {position}; the file was \
                 cut off, or nothing was flushed before its writer stopped",
                source.length()
            ),
        );
    }
    let mut cursor = source.at(position);
    let count = cursor.u64("the number of sections")?;
    cursor.require(count, 32, "sections")?;
    let mut sections = Vec::new();
    for _ in 0..count {
        let mut name = [0; 16];
        name.copy_from_slice(&cursor.bytes(16, "name of a section")?);
        let at = cursor.position;
        let start = cursor.u64("the start of a section")?;
        let size = cursor.u64("the size of a section")?;
        if start.checked_add(size).is_none_or(|end| end > source.length()) {
            return fault(at, format!("a section inside the file, not {size} bytes from byte {start}"));
        }
        sections.push((name, start, size));
    }
    Ok((Contents(sections), cursor.position))
}

impl Contents {
    fn section<'a>(&self, source: &'a Source, name: &str) -> Parsed<Cursor<'a>> {
        let found = self.0.iter().find(|(bytes, ..)| {
            bytes.split(|&byte| byte == 0).next().is_some_and(|bytes| bytes == name.as_bytes())
        });
        match found {
            Some(&(_, start, _)) => Ok(source.at(start)),
            None => fault(CONTENTS_AT, format!("a table of contents with a section {name}")),
        }
    }
}

fn read_tokens(cursor: &mut Cursor<'_>) -> Parsed<Vec<Arc<str>>> {
    let count = cursor.u64("the number of tokens")?;
    let size = cursor.u64("the size of the tokens")?;
    let compressed = cursor.u64("the compressed size of the tokens")?;
    let at = cursor.position;
    let bytes = cursor.bytes(compressed, "bytes of compressed tokens")?;
    let text = if size == 0 { Vec::new() } else { decompress(&bytes, size, at)? };
    if count > text.len() as u64 {
        return fault(at, format!("{count} tokens, not {} bytes of them", text.len()));
    }
    let tokens: Vec<Arc<str>> = text
        .split_inclusive(|&byte| byte == 0)
        .take(count as usize)
        .map(|token| String::from_utf8_lossy(token.strip_suffix(&[0]).unwrap_or(token)).into())
        .collect();
    if (tokens.len() as u64) < count {
        return fault(at, format!("{count} tokens, not {}", tokens.len()));
    }
    Ok(tokens)
}

fn read_strings(cursor: &mut Cursor<'_>, tokens: usize) -> Parsed<Vec<u32>> {
    let count = cursor.u64("the number of strings")?;
    let at = cursor.position;
    let strings = cursor.elements::<u32>(count, "strings")?;
    if let Some(&bad) = strings.iter().find(|&&token| token as usize >= tokens) {
        return fault(at, format!("strings that are among the {tokens} tokens, not token {bad}"));
    }
    Ok(strings)
}

/// A length, and that many bytes of packed integers.
pub(in super::super) fn packed_u32(cursor: &mut Cursor<'_>, count: u64, what: &str) -> Parsed<Vec<u32>> {
    let size = cursor.u64(what)?;
    let at = cursor.position;
    let bytes = cursor.bytes(size, what)?;
    unpack(&bytes, count, at)
}

fn read_fields(cursor: &mut Cursor<'_>, source: &Source, tokens: usize) -> Parsed<Vec<(u32, ValueRef)>> {
    let count = cursor.u64("the number of fields")?;
    within_memory(source, count, 28, cursor.position, "fields")?;
    let at = cursor.position;
    let names = packed_u32(cursor, count, "names of fields")?;
    if let Some(&bad) = names.iter().find(|&&token| token as usize >= tokens) {
        return fault(at, format!("names of fields among the {tokens} tokens, not token {bad}"));
    }
    let size = cursor.u64("the size of the values of fields")?;
    let at = cursor.position;
    let bytes = cursor.bytes(size, "bytes of values of fields")?;
    let values = if count == 0 { Vec::new() } else { decompress(&bytes, count * 8, at)? };
    if values.len() as u64 != count * 8 {
        return fault(at, format!("{count} values of fields, not {} bytes of them", values.len()));
    }
    let values = values.as_chunks::<8>().0.iter().map(|bytes| ValueRef(u64::from_le_bytes(*bytes)));
    Ok(names.into_iter().zip(values).collect())
}

fn read_field_sets(cursor: &mut Cursor<'_>, source: &Source, fields: usize) -> Parsed<Vec<u32>> {
    let count = cursor.u64("the number of entries of field sets")?;
    within_memory(source, count, 8, cursor.position, "entries of field sets")?;
    let at = cursor.position;
    let sets = packed_u32(cursor, count, "field sets")?;
    match sets.iter().find(|&&field| field != END_OF_SET && field as usize >= fields) {
        Some(bad) => fault(at, format!("field sets of the {fields} fields, not of field {bad}")),
        None => Ok(sets),
    }
}

fn read_specs(
    cursor: &mut Cursor<'_>,
    source: &Source,
    paths: &PathTable,
    field_sets: &[u32],
) -> Parsed<Vec<Spec>> {
    let count = cursor.u64("the number of specs")?;
    let at = cursor.position;
    within_memory(source, count, 128, at, "specs")?;
    let path_indices = packed_u32(cursor, count, "paths of specs")?;
    let set_indices = packed_u32(cursor, count, "field sets of specs")?;
    let kinds = packed_u32(cursor, count, "types of specs")?;
    let mut seen = vec![false; paths.len()];
    let mut specs = Vec::with_capacity(count as usize);
    for ((path, field_set), kind) in path_indices.into_iter().zip(set_indices).zip(kinds) {
        match seen.get_mut(path as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => return fault(at, format!("each spec at a path of its own, not at path {path}")),
        }
        let before = (field_set as usize).checked_sub(1).and_then(|before| field_sets.get(before));
        let begins = field_set == 0 || before == Some(&END_OF_SET);
        if field_set as usize >= field_sets.len() || !begins {
            return fault(at, format!("specs at the start of field sets, not at entry {field_set}"));
        }
        if kind == 0 || kind >= spec::END {
            return fault(at, format!("a known type of spec, not {kind}"));
        }
        specs.push(Spec { path, field_set, kind });
    }
    Ok(specs)
}
