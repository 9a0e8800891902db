//! From values to bytes appended to a crate file, and the tables that values refer to.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;

use glam::Vec3;

use super::super::element::{Element, Quat};
use super::super::half::Half;
use super::super::path::Path;
use super::super::value::{Given, Kind, ListOp, Specifier, Value, numeric_kinds};
use super::integers::{Packed, pack};
use super::{CONTENTS_AT, SHORTEST_COMPRESSED, ValueRef, code};
use crate::file::triples_into;

/// Arrays are converted in pieces that stay in the processor's cache [bytes].
const PIECE: usize = 1 << 18;

/// A path: its parent, its last element, and whether that is a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PathEntry {
    pub(super) parent: u32,
    pub(super) token: u32,
    pub(super) property: bool,
}

/// Tokens, strings and paths: they only ever grow, so that old references stay right.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) tokens: Vec<Arc<str>>,
    token_index: HashMap<Arc<str>, u32>,
    pub(super) strings: Vec<u32>,
    string_index: HashMap<u32, u32>,
    pub(super) paths: Vec<PathEntry>,
    path_index: HashMap<PathEntry, u32>,
}

impl Tables {
    pub(super) fn token(&mut self, text: &str) -> u32 {
        if let Some(&index) = self.token_index.get(text) {
            return index;
        }
        self.push_token(text.into())
    }

    /// Adds a token that is new.
    pub(super) fn push_token(&mut self, text: Arc<str>) -> u32 {
        let index = self.tokens.len() as u32;
        self.tokens.push(text.clone());
        self.token_index.insert(text, index);
        index
    }

    fn string(&mut self, text: &str) -> u32 {
        let token = self.token(text);
        self.push_string(token)
    }

    /// The string that is this token.
    pub(super) fn push_string(&mut self, token: u32) -> u32 {
        *self.string_index.entry(token).or_insert_with(|| {
            self.strings.push(token);
            self.strings.len() as u32 - 1
        })
    }

    pub(super) fn path_entry(&mut self, entry: PathEntry) -> u32 {
        *self.path_index.entry(entry).or_insert_with(|| {
            self.paths.push(entry);
            self.paths.len() as u32 - 1
        })
    }

    /// The index of a path, new or old, and of all above it.
    pub(super) fn path(&mut self, path: &str) -> u32 {
        let (prim, property) = match path.split_once('.') {
            Some((prim, property)) => (prim, Some(property)),
            None => (path, None),
        };
        let mut index = 0;
        for name in prim.split('/').filter(|name| !name.is_empty()) {
            let token = self.token(name);
            index = self.path_entry(PathEntry { parent: index, token, property: false });
        }
        match property {
            Some(name) => {
                let token = self.token(name);
                self.path_entry(PathEntry { parent: index, token, property: true })
            }
            None => index,
        }
    }
}

/// The end of a crate file, where everything new goes.
#[derive(Debug)]
pub(super) struct Encoder {
    file: File,
    /// Bytes that wait, at its front: filled again and again, never cleared.
    buffer: Vec<u8>,
    waiting: usize,
    position: u64,
    pub(super) tables: Tables,
}

impl Encoder {
    /// Goes on at the end of `file`.
    pub(super) fn new(mut file: File, tables: Tables) -> io::Result<Self> {
        let position = file.seek(SeekFrom::End(0))?;
        Ok(Self { file, buffer: vec![0; PIECE], waiting: 0, position, tables })
    }

    /// Where the next byte goes.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len() as u64;
        if bytes.len() > PIECE - self.waiting {
            self.drain()?;
        }
        if bytes.len() > PIECE {
            return self.file.write_all(bytes);
        }
        self.buffer[self.waiting..][..bytes.len()].copy_from_slice(bytes);
        self.waiting += bytes.len();
        Ok(())
    }

    fn drain(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer[..self.waiting])?;
        self.waiting = 0;
        Ok(())
    }

    pub(super) fn u64(&mut self, value: u64) -> io::Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn u32(&mut self, value: u32) -> io::Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    /// Pads to a multiple of eight bytes, so that readers may map arrays into memory.
    fn align(&mut self) -> io::Result<u64> {
        let padding = self.position.wrapping_neg() % 8;
        self.bytes(&[0; 8][..padding as usize])?;
        Ok(self.position)
    }

    pub(super) fn elements<E: Element>(&mut self, elements: &[E]) -> io::Result<()> {
        self.converted(elements, E::BYTES, |piece, bytes| {
            for (element, bytes) in piece.iter().zip(bytes.chunks_exact_mut(E::BYTES)) {
                element.store(bytes);
            }
        })
    }

    /// Appends items of `size` bytes each, which `convert` makes of them, a piece at a time.
    fn converted<T>(
        &mut self,
        items: &[T],
        size: usize,
        convert: impl Fn(&[T], &mut [u8]),
    ) -> io::Result<()> {
        self.position += (items.len() * size) as u64;
        let mut rest = items;
        while !rest.is_empty() {
            let room = (PIECE - self.waiting) / size;
            let (piece, after) = rest.split_at(room.min(rest.len()));
            convert(piece, &mut self.buffer[self.waiting..][..piece.len() * size]);
            self.waiting += piece.len() * size;
            if !after.is_empty() {
                self.drain()?;
            }
            rest = after;
        }
        Ok(())
    }

    /// Makes the table of contents at `contents` the one that counts: everything before must be in the file, then
    /// eight bytes of the header change.
    pub(super) fn publish(&mut self, contents: u64, durable: bool) -> io::Result<()> {
        self.drain()?;
        if durable {
            self.file.sync_data()?;
        }
        self.file.seek(SeekFrom::Start(CONTENTS_AT))?;
        self.file.write_all(&contents.to_le_bytes())?;
        self.file.seek(SeekFrom::End(0))?;
        if durable {
            self.file.sync_data()?;
        }
        Ok(())
    }

    fn plain_array<E: Element>(&mut self, kind: Kind, elements: &[E]) -> io::Result<ValueRef> {
        self.array(kind, elements, |this| this.elements(elements))
    }

    fn array<T>(
        &mut self,
        kind: Kind,
        items: &[T],
        write: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<ValueRef> {
        if items.is_empty() {
            return Ok(ValueRef::array(kind as u8, 0, false));
        }
        let position = self.align()?;
        self.u64(items.len() as u64)?;
        write(self)?;
        Ok(ValueRef::array(kind as u8, position, false))
    }

    /// Appends what is given, unless it fits into the reference that is returned.
    pub(super) fn given(&mut self, given: &Given) -> io::Result<ValueRef> {
        match *given {
            Given::Value(value) => self.value(value),
            Given::Floats(numbers) => self.plain_array(Kind::Float, numbers),
            Given::Triples(vectors) => self.array(Kind::Vec3f, vectors, |this| {
                this.converted(vectors, 12, |vectors: &[Vec3], bytes| triples_into(vectors, bytes))
            }),
        }
    }

    fn integer_array<E: Element + Packed>(&mut self, kind: Kind, elements: &[E]) -> io::Result<ValueRef> {
        if (elements.len() as u64) < SHORTEST_COMPRESSED {
            return self.plain_array(kind, elements);
        }
        let position = self.align()?;
        self.u64(elements.len() as u64)?;
        let packed = pack(elements);
        self.u64(packed.len() as u64)?;
        self.bytes(&packed)?;
        Ok(ValueRef::array(kind as u8, position, true))
    }

    fn scalar<E: Element>(&mut self, kind: Kind, element: &E) -> io::Result<ValueRef> {
        if E::BYTES <= 4 {
            let mut payload = [0; 4];
            element.store(&mut payload[..E::BYTES]);
            return Ok(ValueRef::inline(kind as u8, u32::from_le_bytes(payload)));
        }
        let position = self.align()?;
        self.elements(std::slice::from_ref(element))?;
        Ok(ValueRef::stored(kind as u8, position))
    }

    /// Appends `value`, unless it fits into the reference that is returned.
    pub(super) fn value(&mut self, value: &Value) -> io::Result<ValueRef> {
        match value {
            Value::IntArray(elements) => return self.integer_array(Kind::Int, elements),
            Value::UIntArray(elements) => return self.integer_array(Kind::UInt, elements),
            Value::Int64Array(elements) => return self.integer_array(Kind::Int64, elements),
            Value::UInt64Array(elements) => return self.integer_array(Kind::UInt64, elements),
            _ => {}
        }
        macro_rules! encode {
            ($($scalar:ident, $array:ident, $type:ty, $code:literal, $doc:literal;)*) => {
                match value {
                    $(Value::$scalar(element) => self.scalar::<$type>(Kind::$scalar, element),)*
                    $(Value::$array(elements) => self.plain_array::<$type>(Kind::$scalar, elements),)*
                    other => self.other(other),
                }
            };
        }
        numeric_kinds!(encode)
    }

    fn other(&mut self, value: &Value) -> io::Result<ValueRef> {
        Ok(match value {
            Value::String(text) => ValueRef::inline(Kind::String as u8, self.tables.string(text)),
            Value::Token(text) => ValueRef::inline(Kind::Token as u8, self.tables.token(text)),
            Value::Asset(text) => ValueRef::inline(Kind::Asset as u8, self.tables.token(text)),
            Value::StringArray(texts) => self.texts(Kind::String, texts, Tables::string)?,
            Value::TokenArray(texts) => self.texts(Kind::Token, texts, Tables::token)?,
            Value::AssetArray(texts) => self.texts(Kind::Asset, texts, Tables::string)?,
            Value::TokenListOp(list) => {
                self.list_op(code::TOKEN_LIST_OP, list, |tables, text| tables.token(text))?
            }
            Value::StringListOp(list) => {
                self.list_op(code::STRING_LIST_OP, list, |tables, text| tables.string(text))?
            }
            Value::PathListOp(list) => {
                self.list_op(code::PATH_LIST_OP, list, |tables, path: &Path| tables.path(path.as_str()))?
            }
            Value::Dictionary(entries) => self.dictionary(entries)?,
            Value::Specifier(specifier) => ValueRef::inline(
                code::SPECIFIER,
                match specifier {
                    Specifier::Def => 0,
                    Specifier::Over => 1,
                    Specifier::Class => 2,
                },
            ),
            Value::Uniform(uniform) => ValueRef::inline(code::VARIABILITY, u32::from(*uniform)),
            Value::Block => ValueRef::inline(code::BLOCK, 0),
            other => {
                let message = format!("a value cannot be written: {other:?}");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
        })
    }

    fn texts(
        &mut self,
        kind: Kind,
        texts: &[Arc<str>],
        index: fn(&mut Tables, &str) -> u32,
    ) -> io::Result<ValueRef> {
        let indices: Vec<u32> = texts.iter().map(|text| index(&mut self.tables, text)).collect();
        self.plain_array(kind, &indices)
    }

    /// A list of tokens that is not an array, such as the names of the children of a prim.
    pub(super) fn token_vector(&mut self, tokens: &[u32]) -> io::Result<ValueRef> {
        let position = self.align()?;
        self.u64(tokens.len() as u64)?;
        self.elements(tokens)?;
        Ok(ValueRef::stored(code::TOKEN_VECTOR, position))
    }

    fn list_op<T>(
        &mut self,
        code: u8,
        list: &ListOp<T>,
        index: impl Fn(&mut Tables, &T) -> u32,
    ) -> io::Result<ValueRef> {
        let explicit = list.explicit.as_deref().unwrap_or_default();
        // In the order of the file, with the bit of each.
        let lists = [
            (explicit, 1 << 1),
            (&list.added, 1 << 2),
            (&list.prepended, 1 << 5),
            (&list.appended, 1 << 6),
            (&list.deleted, 1 << 3),
            (&list.ordered, 1 << 4),
        ];
        let lists = lists.into_iter().filter(|(items, _)| !items.is_empty());
        let bits = lists.clone().fold(u8::from(list.explicit.is_some()), |bits, (_, bit)| bits | bit);
        let position = self.align()?;
        self.bytes(&[bits])?;
        for (items, _) in lists {
            self.u64(items.len() as u64)?;
            for item in items {
                let index = index(&mut self.tables, item);
                self.u32(index)?;
            }
        }
        Ok(ValueRef::stored(code, position))
    }

    fn dictionary(&mut self, entries: &[(Arc<str>, Value)]) -> io::Result<ValueRef> {
        let values: Vec<ValueRef> =
            entries.iter().map(|(_, value)| self.value(value)).collect::<Result<_, _>>()?;
        let position = self.align()?;
        self.u64(entries.len() as u64)?;
        for ((key, _), value) in entries.iter().zip(values) {
            let key = self.tables.string(key);
            self.u32(key)?;
            // The offset to the reference counts from itself, and the reference comes next.
            self.u64(8)?;
            self.u64(value.0)?;
        }
        Ok(ValueRef::stored(code::DICTIONARY, position))
    }
}
