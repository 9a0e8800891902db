//! From a [`ValueRef`] to the value.

use std::sync::Arc;

use super::super::element::{Element, Quat};
use super::super::error::{Parsed, fault};
use super::super::half::Half;
use super::super::path::Path;
use super::super::value::{Kind, LayerOffset, ListOp, Reference, Specifier, Value, numeric_kinds};
use super::arrays::{read_array, read_count};
use super::cursor::Cursor;
use super::sections::{CrateFile, within_memory};
use super::{ValueRef, code};

/// Dictionaries nest no deeper than this.
const DEEPEST_NESTING: u32 = 32;

/// Where the samples of an attribute lie.
#[derive(Debug)]
pub(in super::super) struct StoredSamples {
    pub(in super::super) times: Vec<f64>,
    /// Where the references to the values begin [bytes].
    values_at: u64,
}

/// Decodes one value; counts what it takes, because nested values may all refer to the same large one.
struct Decoder<'a> {
    file: &'a CrateFile,
    taken: u64,
}

impl CrateFile {
    /// Reads the value that `value` refers to.
    pub(in super::super) fn value(&self, value: ValueRef) -> Parsed<Value> {
        Decoder { file: self, taken: 0 }.value(value, 0)
    }

    /// Reads the times of samples, and where their values are.
    pub(in super::super) fn samples(&self, value: ValueRef) -> Parsed<StoredSamples> {
        let mut cursor = self.source.at(value.payload());
        follow(&mut cursor)?;
        let times_ref = cursor.value_ref()?;
        let times = self.times(times_ref)?;
        if times.windows(2).any(|pair| pair[0] >= pair[1]) || times.iter().any(|time| time.is_nan()) {
            return fault(times_ref.payload(), "times of samples that increase");
        }
        follow(&mut cursor)?;
        let at = cursor.position;
        let count = cursor.u64("the number of samples")?;
        if count != times.len() as u64 {
            return fault(at, format!("as many samples as times, {}, not {count}", times.len()));
        }
        cursor.require(count, 8, "references to samples")?;
        Ok(StoredSamples { times, values_at: cursor.position })
    }

    fn times(&self, value: ValueRef) -> Parsed<Vec<f64>> {
        if value.is_array() {
            return read_array(&self.source, self.version, value);
        }
        if value.code() != code::DOUBLE_VECTOR {
            return fault(value.payload(), "times of samples");
        }
        let mut cursor = self.source.at(value.payload());
        let count = cursor.u64("the number of times")?;
        cursor.elements(count, "times")
    }

    /// The reference to the value of the sample at `index`, which must be less than the number of times.
    pub(in super::super) fn sample_ref(&self, samples: &StoredSamples, index: usize) -> Parsed<ValueRef> {
        self.source.at(samples.values_at + 8 * index as u64).value_ref()
    }

    /// The references to the values of all samples.
    pub(in super::super) fn sample_refs(&self, samples: &StoredSamples) -> Parsed<Vec<ValueRef>> {
        let count = samples.times.len() as u64;
        let words: Vec<u64> = self.source.at(samples.values_at).elements(count, "references to samples")?;
        Ok(words.into_iter().map(ValueRef).collect())
    }

    fn token(&self, index: u32, at: u64) -> Parsed<Arc<str>> {
        match self.tokens.get(index as usize) {
            Some(token) => Ok(token.clone()),
            None => fault(at, format!("one of {} tokens, not token {index}", self.tokens.len())),
        }
    }

    fn string(&self, index: u32, at: u64) -> Parsed<Arc<str>> {
        match self.strings.get(index as usize) {
            Some(&token) => self.token(token, at),
            None => fault(at, format!("one of {} strings, not string {index}", self.strings.len())),
        }
    }
}

/// Goes where the offset at the cursor points to; offsets count from themselves.
fn follow(cursor: &mut Cursor<'_>) -> Parsed<()> {
    let at = cursor.position;
    let offset = cursor.u64("an offset")?;
    cursor.position = at.wrapping_add(offset);
    if cursor.left() == 0 {
        return fault(at, format!("an offset to a place inside the file, not {}", offset as i64));
    }
    Ok(())
}

impl Decoder<'_> {
    fn charge(&mut self, bytes: u64, at: u64) -> Parsed<()> {
        self.taken = self.taken.saturating_add(bytes);
        within_memory(&self.file.source, self.taken, 1, at, "bytes of one value")
    }

    fn value(&mut self, value: ValueRef, depth: u32) -> Parsed<Value> {
        let at = value.payload();
        if depth > DEEPEST_NESTING {
            return fault(at, format!("values nested at most {DEEPEST_NESTING} deep"));
        }
        self.charge(size_of::<Value>() as u64, at)?;
        if value.is_array_edit() {
            return Ok(Value::Unsupported("array edit"));
        }
        if let Some(kind) = Kind::from_code(value.code()) {
            return if value.is_array() { self.array(kind, value) } else { self.scalar(kind, value) };
        }
        self.other(value, depth)
    }

    fn scalar(&mut self, kind: Kind, value: ValueRef) -> Parsed<Value> {
        let at = value.payload();
        let payload = at as u32;
        macro_rules! decode {
            ($($scalar:ident, $array:ident, $type:ty, $code:literal, $doc:literal;)*) => {
                match kind {
                    $(Kind::$scalar => {
                        // Whatever has at most four bytes is always inline, flagged so or not.
                        if value.is_inline() || <$type as Element>::BYTES <= 4 {
                            Value::$scalar(<$type as Element>::unpack(payload))
                        } else {
                            Value::$scalar(self.file.source.at(at).element("a value")?)
                        }
                    })*
                    Kind::String => Value::String(self.file.string(payload, at)?),
                    Kind::Token => Value::Token(self.file.token(payload, at)?),
                    Kind::Asset => Value::Asset(self.file.token(payload, at)?),
                }
            };
        }
        Ok(numeric_kinds!(decode))
    }

    fn array(&mut self, kind: Kind, value: ValueRef) -> Parsed<Value> {
        let file = self.file;
        macro_rules! decode {
            ($($scalar:ident, $array:ident, $type:ty, $code:literal, $doc:literal;)*) => {
                match kind {
                    $(Kind::$scalar => {
                        let elements = read_array::<$type>(&file.source, file.version, value)?;
                        self.charge((elements.len() * size_of::<$type>()) as u64, value.payload())?;
                        Value::$array(elements)
                    })*
                    Kind::String => Value::StringArray(self.texts(value, CrateFile::string)?),
                    Kind::Token => Value::TokenArray(self.texts(value, CrateFile::token)?),
                    Kind::Asset => Value::AssetArray(self.texts(value, CrateFile::string)?),
                }
            };
        }
        Ok(numeric_kinds!(decode))
    }

    fn texts(
        &mut self,
        value: ValueRef,
        text: fn(&CrateFile, u32, u64) -> Parsed<Arc<str>>,
    ) -> Parsed<Vec<Arc<str>>> {
        if value.payload() == 0 {
            return Ok(Vec::new());
        }
        let mut cursor = self.file.source.at(value.payload());
        let count = read_count(&mut cursor, self.file.version)?;
        self.charge(count.saturating_mul(16), value.payload())?;
        let indices: Vec<u32> = cursor.elements(count, "texts")?;
        indices.into_iter().map(|index| text(self.file, index, value.payload())).collect()
    }

    /// A 64-bit count, and that many items.
    fn vector<T>(
        &mut self,
        cursor: &mut Cursor<'_>,
        item: fn(&mut Self, u32, u64) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let at = cursor.position;
        let count = cursor.u64("the number of items")?;
        self.charge(count.saturating_mul(size_of::<T>() as u64), at)?;
        let indices: Vec<u32> = cursor.elements(count, "items of a list")?;
        indices.into_iter().map(|index| item(self, index, at)).collect()
    }

    fn token(&mut self, index: u32, at: u64) -> Parsed<Arc<str>> {
        self.file.token(index, at)
    }

    fn string(&mut self, index: u32, at: u64) -> Parsed<Arc<str>> {
        self.file.string(index, at)
    }

    fn path(&mut self, index: u32, at: u64) -> Parsed<Path> {
        if index as usize >= self.file.paths.len() {
            return fault(at, format!("one of {} paths, not path {index}", self.file.paths.len()));
        }
        let path = self.file.paths.text(index, &self.file.tokens);
        self.charge(path.as_str().len() as u64, at)?;
        Ok(path)
    }

    fn other(&mut self, value: ValueRef, depth: u32) -> Parsed<Value> {
        let at = value.payload();
        let mut cursor = self.file.source.at(at);
        let cursor = &mut cursor;
        Ok(match value.code() {
            code::DICTIONARY if value.is_inline() => Value::Dictionary(Vec::new()),
            code::DICTIONARY => Value::Dictionary(self.dictionary(cursor, depth)?),
            code::TOKEN_LIST_OP => {
                Value::TokenListOp(self.list_op(cursor, |this, cursor| this.vector(cursor, Self::token))?)
            }
            code::STRING_LIST_OP => {
                Value::StringListOp(self.list_op(cursor, |this, cursor| this.vector(cursor, Self::string))?)
            }
            code::PATH_LIST_OP => {
                Value::PathListOp(self.list_op(cursor, |this, cursor| this.vector(cursor, Self::path))?)
            }
            code::INT_LIST_OP => Value::IntListOp(self.list_op(cursor, integers::<i32>)?),
            code::UINT_LIST_OP => Value::IntListOp(self.list_op(cursor, integers::<u32>)?),
            code::INT64_LIST_OP => Value::IntListOp(self.list_op(cursor, integers::<i64>)?),
            code::UINT64_LIST_OP => Value::IntListOp(self.list_op(cursor, wide_integers)?),
            code::PATH_VECTOR => Value::PathListOp(ListOp::explicit(self.vector(cursor, Self::path)?)),
            code::TOKEN_VECTOR => Value::TokenArray(self.vector(cursor, Self::token)?),
            code::STRING_VECTOR => Value::StringArray(self.vector(cursor, Self::string)?),
            code::DOUBLE_VECTOR => Value::DoubleArray(self.file.times(value)?),
            code::SPECIFIER => Value::Specifier(match at as u32 {
                0 => Specifier::Def,
                1 => Specifier::Over,
                2 => Specifier::Class,
                other => return fault(0, format!("def, over or class (0 to 2) for a prim, not {other}")),
            }),
            code::VARIABILITY => Value::Uniform(at as u32 != 0),
            code::VARIANT_SELECTION => self.selection(cursor)?,
            code::BLOCK => Value::Block,
            code::VALUE => {
                follow(cursor)?;
                let inner = cursor.value_ref()?;
                self.value(inner, depth + 1)?
            }
            code::TIME_SAMPLES => Value::Unsupported("time samples"),
            code::REFERENCE_LIST_OP => Value::References(self.list_op(cursor, Self::references)?),
            code::PAYLOAD_LIST_OP => Value::References(self.list_op(cursor, Self::payloads)?),
            code::PAYLOAD => Value::References(ListOp::explicit(vec![self.payload(cursor)?])),
            code::LAYER_OFFSETS => Value::LayerOffsets(self.layer_offsets(cursor)?),
            43 => Value::Unsupported("permission"),
            53 | 54 => Value::Unsupported("unregistered value"),
            57 => Value::Unsupported("path expression"),
            58 => Value::Unsupported("relocates"),
            59 => Value::Unsupported("spline"),
            60 => Value::Unsupported("animation block"),
            _ => Value::Unsupported("unknown type"),
        })
    }

    /// A 64-bit count, and that many references.
    fn references(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Vec<Reference>> {
        self.counted(cursor, |this, cursor| {
            let (asset, prim) = this.target(cursor)?;
            let offset = layer_offset(cursor)?;
            // Data of the reference's own says nothing about what it brings in.
            this.dictionary(cursor, 0)?;
            Ok(Reference { asset, prim, offset })
        })
    }

    fn payloads(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Vec<Reference>> {
        self.counted(cursor, Self::payload)
    }

    fn payload(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Reference> {
        let (asset, prim) = self.target(cursor)?;
        // Older files have none.
        let has_offset = self.file.version >= [0, 8, 0];
        let offset = if has_offset { layer_offset(cursor)? } else { LayerOffset::NONE };
        Ok(Reference { asset, prim, offset })
    }

    /// The file and the prim of a reference.
    fn target(&mut self, cursor: &mut Cursor<'_>) -> Parsed<(Arc<str>, Path)> {
        let at = cursor.position;
        let asset = cursor.u32("the file of a reference")?;
        let asset = self.file.string(asset, at)?;
        let prim = cursor.u32("the prim of a reference")?;
        Ok((asset, self.path(prim, at)?))
    }

    fn layer_offsets(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Vec<LayerOffset>> {
        self.counted(cursor, |_, cursor| layer_offset(cursor))
    }

    /// A 64-bit count, and that many items of at least eight bytes.
    fn counted<T>(
        &mut self,
        cursor: &mut Cursor<'_>,
        item: impl Fn(&mut Self, &mut Cursor<'_>) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let at = cursor.position;
        let count = cursor.u64("the number of items")?;
        cursor.require(count, 8, "items of a list")?;
        self.charge(count.saturating_mul(size_of::<T>() as u64), at)?;
        (0..count).map(|_| item(self, cursor)).collect()
    }

    fn dictionary(&mut self, cursor: &mut Cursor<'_>, depth: u32) -> Parsed<Vec<(Arc<str>, Value)>> {
        let count = cursor.u64("the number of entries of a dictionary")?;
        cursor.require(count, 12, "entries of a dictionary")?;
        let mut entries = Vec::new();
        for _ in 0..count {
            let at = cursor.position;
            let key = cursor.u32("the key of an entry")?;
            let key = self.file.string(key, at)?;
            follow(cursor)?;
            let inner = cursor.value_ref()?;
            entries.push((key, self.value(inner, depth + 1)?));
        }
        Ok(entries)
    }

    fn selection(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Value> {
        let at = cursor.position;
        let count = cursor.u64("the number of variant selections")?;
        cursor.require(count, 8, "variant selections")?;
        self.charge(count * size_of::<(Arc<str>, Value)>() as u64, at)?;
        let mut entries = Vec::new();
        for _ in 0..count {
            let key = cursor.u32("the name of a variant set")?;
            let choice = cursor.u32("the name of a variant")?;
            entries.push((self.file.string(key, at)?, Value::String(self.file.string(choice, at)?)));
        }
        Ok(Value::Dictionary(entries))
    }

    fn list_op<T>(
        &mut self,
        cursor: &mut Cursor<'_>,
        items: impl Fn(&mut Self, &mut Cursor<'_>) -> Parsed<Vec<T>>,
    ) -> Parsed<ListOp<T>> {
        let bits = cursor.u8("which lists follow")?;
        let mut list = |bit: u8| if bits & bit == 0 { Ok(Vec::new()) } else { items(self, cursor) };
        let explicit = list(1 << 1)?;
        // The order of the lists in the file is not that of the bits.
        Ok(ListOp {
            added: list(1 << 2)?,
            prepended: list(1 << 5)?,
            appended: list(1 << 6)?,
            deleted: list(1 << 3)?,
            ordered: list(1 << 4)?,
            explicit: (bits & 1 != 0).then_some(explicit),
        })
    }
}

fn layer_offset(cursor: &mut Cursor<'_>) -> Parsed<LayerOffset> {
    let [offset, scale] = cursor.element("the offset and the scale of times")?;
    Ok(LayerOffset { offset, scale })
}

fn integers<E: Element + Into<i64>>(decoder: &mut Decoder<'_>, cursor: &mut Cursor<'_>) -> Parsed<Vec<i64>> {
    let count = cursor.u64("the number of integers")?;
    decoder.charge(count.saturating_mul(8), cursor.position)?;
    Ok(cursor.elements::<E>(count, "integers")?.into_iter().map(Into::into).collect())
}

fn wide_integers(decoder: &mut Decoder<'_>, cursor: &mut Cursor<'_>) -> Parsed<Vec<i64>> {
    let count = cursor.u64("the number of integers")?;
    decoder.charge(count.saturating_mul(8), cursor.position)?;
    Ok(cursor.elements::<u64>(count, "integers")?.into_iter().map(|value| value as i64).collect())
}
