//! The binary crate format (`.usdc`).
//!
//! A crate is a header, values wherever their writer put them, and structural sections: tokens, strings, fields
//! (name and value), sets of fields, paths and specs (path, set of fields, type). The header points to a table of
//! contents, and that to the sections. A value is known by a 64-bit reference ([`ValueRef`]): its type, and either
//! the value itself when it fits into four bytes, or where it lies.

pub(super) mod arrays;
pub(super) mod compress;
pub(super) mod cursor;
pub(super) mod decode;
pub(super) mod encode;
pub(super) mod integers;
pub(super) mod restore;
pub(super) mod sections;
pub(super) mod structure;
pub(super) mod writer;

pub(super) const MAGIC: &[u8; 8] = b"PXR-USDC";
/// Size of the header [bytes].
pub(super) const HEADER_BYTES: u64 = 88;
/// Where in the header the position of the table of contents is [bytes].
pub(super) const CONTENTS_AT: u64 = 16;
/// The version that is written: the first with every kind of value that is written.
pub(super) const WRITTEN_VERSION: [u8; 3] = [0, 9, 0];
/// Arrays shorter than this are never compressed.
pub(super) const SHORTEST_COMPRESSED: u64 = 16;
/// Marks the end of a set of fields.
pub(super) const END_OF_SET: u32 = u32::MAX;

/// Codes of the types that no attribute has, but fields do.
pub(super) mod code {
    pub(in super::super) const DICTIONARY: u8 = 31;
    pub(in super::super) const TOKEN_LIST_OP: u8 = 32;
    pub(in super::super) const STRING_LIST_OP: u8 = 33;
    pub(in super::super) const PATH_LIST_OP: u8 = 34;
    pub(in super::super) const REFERENCE_LIST_OP: u8 = 35;
    pub(in super::super) const INT_LIST_OP: u8 = 36;
    pub(in super::super) const INT64_LIST_OP: u8 = 37;
    pub(in super::super) const UINT_LIST_OP: u8 = 38;
    pub(in super::super) const UINT64_LIST_OP: u8 = 39;
    pub(in super::super) const PATH_VECTOR: u8 = 40;
    pub(in super::super) const TOKEN_VECTOR: u8 = 41;
    pub(in super::super) const SPECIFIER: u8 = 42;
    pub(in super::super) const VARIABILITY: u8 = 44;
    pub(in super::super) const VARIANT_SELECTION: u8 = 45;
    pub(in super::super) const TIME_SAMPLES: u8 = 46;
    pub(in super::super) const PAYLOAD: u8 = 47;
    pub(in super::super) const DOUBLE_VECTOR: u8 = 48;
    pub(in super::super) const LAYER_OFFSETS: u8 = 49;
    pub(in super::super) const STRING_VECTOR: u8 = 50;
    pub(in super::super) const BLOCK: u8 = 51;
    pub(in super::super) const VALUE: u8 = 52;
    pub(in super::super) const PAYLOAD_LIST_OP: u8 = 55;
}

/// Codes of the types of specs.
pub(super) mod spec {
    pub(in super::super) const ATTRIBUTE: u32 = 1;
    pub(in super::super) const PRIM: u32 = 6;
    pub(in super::super) const ROOT: u32 = 7;
    pub(in super::super) const RELATIONSHIP: u32 = 8;
    pub(in super::super) const VARIANT: u32 = 10;
    /// Codes from here on are unknown.
    pub(in super::super) const END: u32 = 12;
}

/// A value: its type and flags in the upper 16 bits, itself or its position in the lower 48.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueRef(pub(super) u64);

impl ValueRef {
    const ARRAY: u64 = 1 << 63;
    const INLINE: u64 = 1 << 62;
    const COMPRESSED: u64 = 1 << 61;
    const ARRAY_EDIT: u64 = 1 << 60;
    const PAYLOAD: u64 = (1 << 48) - 1;

    pub(super) fn inline(code: u8, payload: u32) -> Self {
        Self(Self::INLINE | u64::from(code) << 48 | u64::from(payload))
    }

    pub(super) fn stored(code: u8, position: u64) -> Self {
        Self(u64::from(code) << 48 | position & Self::PAYLOAD)
    }

    pub(super) fn array(code: u8, position: u64, compressed: bool) -> Self {
        let flags = Self::ARRAY | if compressed { Self::COMPRESSED } else { 0 };
        Self(flags | u64::from(code) << 48 | position & Self::PAYLOAD)
    }

    pub(super) fn code(self) -> u8 {
        (self.0 >> 48) as u8
    }

    pub(super) fn payload(self) -> u64 {
        self.0 & Self::PAYLOAD
    }

    pub(super) fn is_array(self) -> bool {
        self.0 & Self::ARRAY != 0
    }

    pub(super) fn is_inline(self) -> bool {
        self.0 & Self::INLINE != 0
    }

    pub(super) fn is_compressed(self) -> bool {
        self.0 & Self::COMPRESSED != 0
    }

    pub(super) fn is_array_edit(self) -> bool {
        self.0 & Self::ARRAY_EDIT != 0
    }
}
