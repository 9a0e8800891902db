//! Arrays of numbers: plain, packed integers, and numbers that are integers or come from a short table.

use super::super::element::{Element, Quat};
use super::super::error::{Parsed, fault};
use super::super::half::Half;
use super::cursor::{Cursor, Source};
use super::integers::{Packed, unpack};
use super::sections::within_memory;
use super::{SHORTEST_COMPRESSED, ValueRef};

/// An element that arrays can hold, with the compression it may have.
pub(super) trait Item: Element {
    /// Reads `count` compressed elements; most kinds have no compressed form.
    fn read_compressed(cursor: &mut Cursor<'_>, count: u64) -> Parsed<Vec<Self>> {
        cursor.elements(count, "elements of an array")
    }
}

/// Reads the array that `value` refers to.
pub(super) fn read_array<E: Item>(source: &Source, version: [u8; 3], value: ValueRef) -> Parsed<Vec<E>> {
    if value.payload() == 0 {
        return Ok(Vec::new());
    }
    let mut cursor = source.at(value.payload());
    let count = read_count(&mut cursor, version)?;
    if !value.is_compressed() || count < SHORTEST_COMPRESSED {
        return cursor.elements(count, "elements of an array");
    }
    within_memory(source, count, E::BYTES as u64, cursor.position, "elements")?;
    E::read_compressed(&mut cursor, count)
}

/// The number of elements at the head of an array: its width changed over the versions.
pub(super) fn read_count(cursor: &mut Cursor<'_>, version: [u8; 3]) -> Parsed<u64> {
    if version < [0, 5, 0] {
        cursor.u32("the rank of an array")?;
    }
    if version < [0, 7, 0] {
        return cursor.u32("the size of an array").map(u64::from);
    }
    cursor.u64("the size of an array")
}

fn packed<T: Packed>(cursor: &mut Cursor<'_>, count: u64) -> Parsed<Vec<T>> {
    let size = cursor.u64("the size of packed integers")?;
    let at = cursor.position;
    let bytes = cursor.bytes(size, "bytes of packed integers")?;
    unpack(&bytes, count, at)
}

fn read_reals<E: Element>(cursor: &mut Cursor<'_>, count: u64, from: fn(i32) -> E) -> Parsed<Vec<E>> {
    let at = cursor.position;
    match cursor.u8("how the numbers are compressed")? {
        b'i' => Ok(packed::<i32>(cursor, count)?.into_iter().map(from).collect()),
        b't' => {
            let size = cursor.u32("the size of a table of numbers")?;
            let table: Vec<E> = cursor.elements(u64::from(size), "numbers of a table")?;
            let indices = packed::<u32>(cursor, count)?;
            let values: Option<Vec<E>> =
                indices.into_iter().map(|index| table.get(index as usize).copied()).collect();
            match values {
                Some(values) => Ok(values),
                None => fault(at, format!("indices into a table of {size} numbers")),
            }
        }
        other => fault(at, format!("'i' or 't' for compressed numbers, not byte {other}")),
    }
}

macro_rules! integer_items {
    ($($type:ty)*) => {$(
        impl Item for $type {
            fn read_compressed(cursor: &mut Cursor<'_>, count: u64) -> Parsed<Vec<Self>> {
                packed(cursor, count)
            }
        }
    )*};
}
integer_items!(i32 u32 i64 u64);

macro_rules! real_items {
    ($($type:ty, $value:ident => $from:expr;)*) => {$(
        impl Item for $type {
            fn read_compressed(cursor: &mut Cursor<'_>, count: u64) -> Parsed<Vec<Self>> {
                read_reals(cursor, count, |$value| $from)
            }
        }
    )*};
}
real_items! {
    f32, value => value as f32;
    f64, value => f64::from(value);
    Half, value => Half::from_f32(value as f32);
}

macro_rules! plain_items {
    ($($type:ty),*) => {$(impl Item for $type {})*};
}
plain_items!(bool, u8, Quat<f64>, Quat<f32>, Quat<Half>, [[f64; 2]; 2], [[f64; 3]; 3], [[f64; 4]; 4]);
plain_items!([f64; 2], [f64; 3], [f64; 4], [f32; 2], [f32; 3], [f32; 4]);
plain_items!([Half; 2], [Half; 3], [Half; 4], [i32; 2], [i32; 3], [i32; 4]);
