//! Integers as crate files pack them: differences to the one before, two bits for the size of each, the most
//! frequent difference for free; then LZ4.

use std::collections::HashMap;

use super::super::error::{Parsed, fault};
use super::compress::{compress, decompress};

/// A 32- or 64-bit integer, either sign.
pub(in super::super) trait Packed: Copy {
    /// Sizes of a difference of each class [bytes]; class 0 is the most frequent one and stores nothing.
    const SIZES: [usize; 4];
    fn to_wide(self) -> i64;
    fn from_wide(wide: i64) -> Self;
    /// The difference, wrapped around as the width has it.
    fn wrap(wide: i64) -> i64;
}

macro_rules! packed {
    ($type:ty, $signed:ty, $sizes:expr) => {
        impl Packed for $type {
            const SIZES: [usize; 4] = $sizes;
            fn to_wide(self) -> i64 {
                i64::from(self as $signed)
            }
            fn from_wide(wide: i64) -> Self {
                wide as $type
            }
            fn wrap(wide: i64) -> i64 {
                i64::from(wide as $signed)
            }
        }
    };
}
packed!(i32, i32, [0, 1, 2, 4]);
packed!(u32, i32, [0, 1, 2, 4]);
packed!(i64, i64, [0, 2, 4, 8]);
packed!(u64, i64, [0, 2, 4, 8]);

/// The most bytes that `count` integers take before LZ4.
fn largest_encoding<T: Packed>(count: u64) -> u64 {
    let width = T::SIZES[3] as u64;
    width + count.div_ceil(4) + count.saturating_mul(width)
}

/// The compressed form of `values`.
pub(in super::super) fn pack<T: Packed>(values: &[T]) -> Vec<u8> {
    if values.is_empty() {
        return compress(&[]);
    }
    let width = T::SIZES[3];
    let frequent = most_frequent_difference(values);
    let mut out = frequent.to_le_bytes()[..width].to_vec();
    let classes = out.len();
    out.resize(classes + values.len().div_ceil(4), 0);
    let mut before = 0;
    for (index, value) in values.iter().enumerate() {
        let difference = T::wrap(value.to_wide().wrapping_sub(before));
        before = value.to_wide();
        let class = if difference == frequent {
            0
        } else {
            let bits = |size: usize| 64 - 8 * size as u32;
            (1..3)
                .find(|&class| {
                    let unused = bits(T::SIZES[class]);
                    difference << unused >> unused == difference
                })
                .unwrap_or(3)
        };
        out[classes + index / 4] |= (class as u8) << (2 * (index % 4));
        out.extend_from_slice(&difference.to_le_bytes()[..T::SIZES[class]]);
    }
    compress(&out)
}

/// Ties go to the largest difference, so that the hashing order does not show.
fn most_frequent_difference<T: Packed>(values: &[T]) -> i64 {
    let mut counts = HashMap::new();
    let mut before = 0;
    for value in values {
        *counts.entry(T::wrap(value.to_wide().wrapping_sub(before))).or_insert(0_usize) += 1;
        before = value.to_wide();
    }
    counts
        .into_iter()
        .max_by_key(|&(difference, count)| (count, difference))
        .map_or(0, |(difference, _)| difference)
}

/// Undoes [`pack`] for `count` integers. `offset` is where `bytes` lie, for errors.
///
/// The LZ4 block is undone first, so that a count which the bytes do not bear out is found before memory is taken
/// for it.
pub(in super::super) fn unpack<T: Packed>(bytes: &[u8], count: u64, offset: u64) -> Parsed<Vec<T>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let data = decompress(bytes, largest_encoding::<T>(count), offset)?;
    let width = T::SIZES[3];
    let shortage = || format!("{count} packed integers, not {} bytes of them", data.len());
    let class_bytes = count.div_ceil(4);
    if (data.len() as u64) < width as u64 + class_bytes {
        return fault(offset, shortage());
    }
    let (frequent, rest) = data.split_at(width);
    let (classes, mut rest) = rest.split_at(class_bytes as usize);
    let frequent = sign_extended(frequent);
    let mut values = Vec::with_capacity(count as usize);
    let mut value = 0_i64;
    for index in 0..count as usize {
        let class = usize::from(classes[index / 4] >> (2 * (index % 4)) & 3);
        let difference = if class == 0 {
            frequent
        } else {
            let Some((bytes, after)) = rest.split_at_checked(T::SIZES[class]) else {
                return fault(offset, shortage());
            };
            rest = after;
            sign_extended(bytes)
        };
        value = T::wrap(value.wrapping_add(difference));
        values.push(T::from_wide(value));
    }
    Ok(values)
}

#[inline]
fn sign_extended(bytes: &[u8]) -> i64 {
    match *bytes {
        [a] => i64::from(a as i8),
        [a, b] => i64::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => bytes.try_into().map(i64::from_le_bytes).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::{pack, unpack};

    #[test]
    fn integers_of_every_size_come_back() {
        let small: Vec<i32> = vec![123, 124, 125, 100_125, 100_125, 100_126, i32::MIN, i32::MAX, -1, 0, 0];
        assert_eq!(unpack::<i32>(&pack(&small), small.len() as u64, 0).unwrap(), small);
        let unsigned: Vec<u32> = vec![u32::MAX, 0, 7, 1 << 31, 3];
        assert_eq!(unpack::<u32>(&pack(&unsigned), 5, 0).unwrap(), unsigned);
        let wide: Vec<i64> = vec![i64::MIN, i64::MAX, 0, 1 << 40, -40_000, 5];
        assert_eq!(unpack::<i64>(&pack(&wide), 6, 0).unwrap(), wide);
        let wide: Vec<u64> = (0..1000).map(|index| index * index * 1_000_003).collect();
        assert_eq!(unpack::<u64>(&pack(&wide), 1000, 0).unwrap(), wide);
    }

    #[test]
    fn the_documented_example_has_the_documented_size() {
        let values = [123, 124, 125, 100_125, 100_125, 100_126, 100_126];
        let encoded = super::decompress(&pack(&values), 100, 0).unwrap();
        assert_eq!(encoded, [1, 0, 0, 0, 0b1100_0001, 0b0001_0001, 123, 0xA0, 0x86, 0x01, 0x00, 0, 0]);
    }

    #[test]
    fn a_count_that_the_bytes_do_not_bear_out_is_an_error() {
        let packed = pack(&[1, 2, 3, 4]);
        assert!(unpack::<i32>(&packed, 1 << 40, 0).is_err());
        assert!(unpack::<i32>(&packed[..2], 4, 0).is_err());
    }
}
