//! The packed headers of objects and properties, and what their values are made of.

use std::sync::Arc;

/// Kinds of plain values, with the codes that files have for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Pod {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
    String,
    WideString,
}

impl Pod {
    const ALL: [Self; 14] = [
        Self::Bool,
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::U64,
        Self::I64,
        Self::F16,
        Self::F32,
        Self::F64,
        Self::String,
        Self::WideString,
    ];

    /// Size of a value [bytes]; of texts that of a letter.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::Bool | Self::U8 | Self::I8 | Self::String => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 | Self::WideString => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// The name in metadata.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool_t",
            Self::U8 => "uint8_t",
            Self::I8 => "int8_t",
            Self::U16 => "uint16_t",
            Self::I16 => "int16_t",
            Self::U32 => "uint32_t",
            Self::I32 => "int32_t",
            Self::U64 => "uint64_t",
            Self::I64 => "int64_t",
            Self::F16 => "float16_t",
            Self::F32 => "float32_t",
            Self::F64 => "float64_t",
            Self::String => "string",
            Self::WideString => "wstring",
        }
    }
}

/// So many plain values make one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DataType {
    pub(super) pod: Pod,
    pub(super) extent: u8,
}

impl DataType {
    pub(super) const fn new(pod: Pod, extent: u8) -> Self {
        Self { pod, extent }
    }

    /// Size of an element [bytes].
    pub(super) fn bytes(self) -> u64 {
        self.pod.bytes() * u64::from(self.extent)
    }
}

/// What a property holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Other properties.
    Compound,
    /// Samples.
    Samples(Samples),
}

/// How the samples of a property are stored: the first, and those from the first to the last that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Samples {
    /// Whether a sample is an array, not one element.
    pub(super) array: bool,
    /// Whether every array so far has one element.
    pub(super) scalar_like: bool,
    /// Whether all arrays have the same length.
    pub(super) homogeneous: bool,
    pub(super) data_type: DataType,
    pub(super) count: u32,
    /// The first sample that differs from the one before; 0 if none does.
    pub(super) first_changed: u32,
    /// The last sample that differs from the one before; 0 if none does.
    pub(super) last_changed: u32,
    /// Index of the time sampling.
    pub(super) sampling: u32,
}

impl Samples {
    /// Where among the stored samples a sample is.
    pub(super) fn stored(&self, sample: u32) -> u32 {
        if sample < self.first_changed || self.last_changed == 0 {
            0
        } else {
            sample.min(self.last_changed) - self.first_changed + 1
        }
    }
}

/// The header of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PropertyHeader {
    pub(super) name: String,
    pub(super) metadata: Arc<str>,
    pub(super) kind: Kind,
}

/// The value of a key in metadata, which is written `key=value;key=value`.
pub(super) fn metadata_value<'a>(metadata: &'a str, key: &str) -> Option<&'a str> {
    metadata.split(';').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
}

/// The table of short metadata that many headers share; index 0 is the empty one.
#[derive(Debug, Default)]
pub(super) struct MetadataTable(Vec<Arc<str>>);

/// The index that says: the metadata stands here.
const IN_PLACE: u8 = 0xff;

impl MetadataTable {
    fn index(&mut self, metadata: &str) -> u8 {
        if metadata.is_empty() {
            return 0;
        }
        if let Some(index) = self.0.iter().position(|entry| &**entry == metadata) {
            return index as u8 + 1;
        }
        if metadata.len() > 255 || self.0.len() >= 254 {
            return IN_PLACE;
        }
        self.0.push(metadata.into());
        self.0.len() as u8
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let entry = |text: &Arc<str>| [&[text.len() as u8], text.as_bytes()].concat();
        self.0.iter().flat_map(entry).collect()
    }

    /// The table of a file; nothing if the bytes are not such.
    pub(super) fn decode(mut bytes: &[u8]) -> Option<Self> {
        let mut entries = Vec::new();
        while let Some((&length, rest)) = bytes.split_first() {
            let (text, rest) = rest.split_at_checked(usize::from(length))?;
            entries.push(String::from_utf8_lossy(text).into());
            bytes = rest;
        }
        Some(Self(entries))
    }

    fn get(&self, index: u8) -> Option<Arc<str>> {
        match index {
            0 => Some("".into()),
            _ => self.0.get(usize::from(index) - 1).cloned(),
        }
    }
}

/// Bytes that are taken from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of 1, 2 or 4 bytes.
    fn number(&mut self, width: usize) -> Option<u32> {
        let mut bytes = [0; 4];
        bytes[..width].copy_from_slice(self.take(width)?);
        Some(u32::from_le_bytes(bytes))
    }

    fn text(&mut self, width: usize) -> Option<String> {
        let length = self.number(width)? as usize;
        Some(String::from_utf8_lossy(self.take(length)?).into_owned())
    }
}

const TYPE: u32 = 0x3;
const WIDTH: u32 = 0xc;
const HAS_SAMPLING: u32 = 0x100;
const HAS_CHANGES: u32 = 0x200;
const HOMOGENEOUS: u32 = 0x400;
const CONSTANT: u32 = 0x800;

fn number(bytes: &mut Vec<u8>, value: u32, width: usize) {
    bytes.extend_from_slice(&value.to_le_bytes()[..width]);
}

impl PropertyHeader {
    pub(super) fn encode(&self, table: &mut MetadataTable, bytes: &mut Vec<u8>) {
        let index = table.index(&self.metadata);
        let mut largest = (self.name.len() as u32).max(self.metadata.len() as u32);
        if let Kind::Samples(samples) = &self.kind {
            largest = largest.max(samples.count).max(samples.sampling);
        }
        let (code, width) = match largest {
            0..=0xff => (0, 1),
            0x100..=0xffff => (1, 2),
            _ => (2, 4),
        };
        let mut info = u32::from(index) << 20 | code << 2;
        match &self.kind {
            Kind::Compound => number(bytes, info, 4),
            Kind::Samples(samples) => {
                info |= if samples.array { 2 | u32::from(samples.scalar_like) } else { 1 };
                info |= (samples.data_type.pod as u32) << 4 | u32::from(samples.data_type.extent) << 12;
                let changes = (samples.first_changed, samples.last_changed);
                let every = (1, samples.count.saturating_sub(1));
                let flags = [
                    (HAS_SAMPLING, samples.sampling != 0),
                    (HOMOGENEOUS, samples.homogeneous),
                    (CONSTANT, changes == (0, 0)),
                    (HAS_CHANGES, changes != (0, 0) && changes != every),
                ];
                info |= flags.iter().filter(|(_, set)| *set).fold(0, |all, (flag, _)| all | flag);
                number(bytes, info, 4);
                number(bytes, samples.count, width);
                if info & HAS_CHANGES != 0 {
                    number(bytes, samples.first_changed, width);
                    number(bytes, samples.last_changed, width);
                }
                if samples.sampling != 0 {
                    number(bytes, samples.sampling, width);
                }
            }
        }
        number(bytes, self.name.len() as u32, width);
        bytes.extend_from_slice(self.name.as_bytes());
        if index == IN_PLACE {
            number(bytes, self.metadata.len() as u32, width);
            bytes.extend_from_slice(self.metadata.as_bytes());
        }
    }

    fn decode(bytes: &mut Bytes<'_>, table: &MetadataTable) -> Option<Self> {
        let info = bytes.number(4)?;
        let width = match (info & WIDTH) >> 2 {
            0 => 1,
            1 => 2,
            2 => 4,
            _ => return None,
        };
        let kind = match info & TYPE {
            0 => Kind::Compound,
            kind => Kind::Samples(Self::decode_samples(bytes, info, kind, width)?),
        };
        let name = bytes.text(width)?;
        let metadata = match (info >> 20) as u8 {
            IN_PLACE => bytes.text(width)?.into(),
            index => table.get(index)?,
        };
        Some(Self { name, metadata, kind })
    }

    fn decode_samples(bytes: &mut Bytes<'_>, info: u32, kind: u32, width: usize) -> Option<Samples> {
        let pod = *Pod::ALL.get((info >> 4 & 0xf) as usize)?;
        let extent = (info >> 12) as u8;
        let count = bytes.number(width)?;
        let (first_changed, last_changed) = if info & HAS_CHANGES != 0 {
            (bytes.number(width)?, bytes.number(width)?)
        } else if info & CONSTANT != 0 || count < 2 {
            (0, 0)
        } else {
            (1, count - 1)
        };
        let sampling = if info & HAS_SAMPLING != 0 { bytes.number(width)? } else { 0 };
        let ordered = first_changed <= last_changed && last_changed <= count;
        (extent > 0 && ordered).then_some(Samples {
            array: kind != 1,
            scalar_like: kind & 1 != 0,
            homogeneous: info & HOMOGENEOUS != 0,
            data_type: DataType { pod, extent },
            count,
            first_changed,
            last_changed,
            sampling,
        })
    }

    /// All headers of a compound; nothing if the bytes are not such.
    pub(super) fn decode_all(bytes: &[u8], table: &MetadataTable) -> Option<Vec<Self>> {
        let mut bytes = Bytes(bytes);
        let mut headers = Vec::new();
        while !bytes.0.is_empty() {
            headers.push(Self::decode(&mut bytes, table)?);
        }
        Some(headers)
    }
}

/// Writes the header of an object.
pub(super) fn encode_object(name: &str, metadata: &str, table: &mut MetadataTable, bytes: &mut Vec<u8>) {
    number(bytes, name.len() as u32, 4);
    bytes.extend_from_slice(name.as_bytes());
    let index = table.index(metadata);
    bytes.push(index);
    if index == IN_PLACE {
        number(bytes, metadata.len() as u32, 4);
        bytes.extend_from_slice(metadata.as_bytes());
    }
}

/// Hands the name and the metadata of every object to `take`; whether the bytes are such headers.
pub(super) fn decode_objects(bytes: &[u8], table: &MetadataTable, mut take: impl FnMut(&str, &str)) -> bool {
    let mut bytes = Bytes(bytes);
    while !bytes.0.is_empty() {
        let mut header = || {
            let name = bytes.text(4)?;
            let metadata = match bytes.number(1)? as u8 {
                IN_PLACE => bytes.text(4)?.into(),
                index => table.get(index)?,
            };
            take(&name, &metadata);
            Some(())
        };
        if header().is_none() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(count: u32, first_changed: u32, last_changed: u32) -> Samples {
        Samples {
            array: true,
            scalar_like: false,
            homogeneous: true,
            data_type: DataType::new(Pod::F32, 3),
            count,
            first_changed,
            last_changed,
            sampling: 1,
        }
    }

    #[test]
    fn headers_come_back() {
        let header = |name: &str, metadata: &str, kind| PropertyHeader {
            name: name.into(),
            metadata: metadata.into(),
            kind,
        };
        let headers = [
            header(".geom", "schema=AbcGeom_Curve_v2", Kind::Compound),
            header("P", "geoScope=vtx", Kind::Samples(samples(70_000, 3, 60_000))),
            header("nVertices", "", Kind::Samples(samples(300, 0, 0))),
            header(&"long".repeat(100), &"x=1;".repeat(100), Kind::Samples(samples(4, 1, 3))),
            header(
                "id",
                "",
                Kind::Samples(Samples { array: false, scalar_like: true, sampling: 0, ..samples(1, 0, 0) }),
            ),
        ];
        let (mut table, mut bytes) = (MetadataTable::default(), Vec::new());
        headers.iter().for_each(|header| header.encode(&mut table, &mut bytes));
        let table = MetadataTable::decode(&table.encode()).unwrap();
        assert_eq!(PropertyHeader::decode_all(&bytes, &table).unwrap(), headers);
    }

    #[test]
    fn unchanged_samples_share_what_is_stored() {
        let stored = |samples: Samples| (0..6).map(|sample| samples.stored(sample)).collect::<Vec<_>>();
        assert_eq!(stored(samples(6, 0, 0)), [0; 6]);
        assert_eq!(stored(samples(6, 1, 5)), [0, 1, 2, 3, 4, 5]);
        assert_eq!(stored(samples(6, 2, 4)), [0, 0, 1, 2, 3, 3]);
    }

    #[test]
    fn metadata_is_found_by_its_whole_key() {
        let metadata = "schema=AbcGeom_Curve_v2;schemaObjTitle=a:.geom";
        assert_eq!(metadata_value(metadata, "schema"), Some("AbcGeom_Curve_v2"));
        assert_eq!(metadata_value(metadata, "Title"), None);
    }
}
