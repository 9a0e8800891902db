//! Properties and their samples, for one request.

use std::cell::RefCell;
use std::collections::HashMap;

use glam::{DMat4, Vec2, Vec3};

use super::super::header::{Kind, Pod, PropertyHeader, Samples};
use super::super::time::{Bracket, TimeSampling};
use super::archive::Archive;
use super::reader::{Child, Data, Reader, Result};
use crate::file::vec3_from_bytes;
use crate::usd::Half;

/// Before the data of every sample stands its key [bytes].
pub(in super::super) const KEY_BYTES: u64 = 16;

/// Large arrays are converted in pieces that stay in the processor's cache [bytes].
const PIECE: u64 = 1 << 18;

/// A header takes up to so many times its size in the file when it is unpacked.
const UNPACKING: u64 = 16;

/// One request to an archive.
#[derive(Debug)]
pub(in super::super) struct Session<'a> {
    pub(in super::super) archive: &'a Archive,
    pub(in super::super) reader: Reader<'a>,
    /// Transforms to the world that are known already.
    pub(super) places: RefCell<HashMap<(u32, u64), DMat4>>,
}

/// The properties of an object, or of a property.
#[derive(Debug)]
pub(in super::super) struct Compound {
    pub(in super::super) headers: Vec<PropertyHeader>,
    group: u64,
}

/// A property with samples.
#[derive(Debug, Clone)]
pub(in super::super) struct Property {
    pub(in super::super) header: PropertyHeader,
    pub(in super::super) samples: Samples,
    pub(in super::super) group: u64,
}

impl Compound {
    /// Where the property of a name is.
    pub(in super::super) fn find(&self, name: &str) -> Option<usize> {
        self.headers.iter().position(|header| header.name == name)
    }
}

impl<'a> Session<'a> {
    pub(in super::super) fn new(archive: &'a Archive) -> Self {
        Self { archive, reader: archive.reader(), places: RefCell::default() }
    }

    /// The properties of an object.
    pub(in super::super) fn properties(&self, object: u32) -> Result<Compound> {
        let group = self.reader.group(self.archive.objects[object as usize].group)?;
        if group.count == 0 {
            return Ok(Compound { headers: Vec::new(), group: 0 });
        }
        match self.reader.child(&group, 0)? {
            Child::Group(group) => self.open(group),
            Child::Data(position) => Err(self.reader.fault(position, "a group of properties")),
        }
    }

    fn open(&self, position: u64) -> Result<Compound> {
        let group = self.reader.group(position)?;
        let Some(last) = group.count.checked_sub(1) else {
            return Ok(Compound { headers: Vec::new(), group: 0 });
        };
        let Child::Data(place) = self.reader.child(&group, last)? else {
            return Err(self.reader.fault(position, "headers of properties at the end of a group"));
        };
        let data = self.reader.data(place)?;
        self.reader.allow(data.size.saturating_mul(UNPACKING), place)?;
        let bytes = self.reader.bytes(data)?;
        // As a list that grows holds them; a header takes two bytes of the file or more, and each has its group.
        let most = (bytes.len() as u64 / 2).min(last).next_power_of_two();
        self.reader.pay(most.saturating_mul(size_of::<PropertyHeader>() as u64), place)?;
        let headers = PropertyHeader::decode_all(&bytes, &self.archive.table)
            .filter(|headers| headers.len() as u64 <= last)
            .ok_or_else(|| self.reader.fault(place, "headers of properties, and a group for each"))?;
        Ok(Compound { headers, group: position })
    }

    /// The group of a property.
    fn group_of(&self, compound: &Compound, index: usize) -> Result<u64> {
        match self.reader.child(&self.reader.group(compound.group)?, index as u64)? {
            Child::Group(position) => Ok(position),
            Child::Data(position) => Err(self.reader.fault(position, "the group of a property")),
        }
    }

    /// The compound of a name, if there is one.
    pub(in super::super) fn compound(&self, within: &Compound, name: &str) -> Result<Option<Compound>> {
        within.find(name).map_or(Ok(None), |index| self.compound_at(within, index))
    }

    /// The compound at an index, if it is one.
    pub(in super::super) fn compound_at(&self, within: &Compound, index: usize) -> Result<Option<Compound>> {
        match within.headers[index].kind {
            Kind::Compound => Ok(Some(self.open(self.group_of(within, index)?)?)),
            Kind::Samples(_) => Ok(None),
        }
    }

    /// The property of a name, if there is one with samples.
    pub(in super::super) fn property(&self, within: &Compound, name: &str) -> Result<Option<Property>> {
        within.find(name).map_or(Ok(None), |index| self.property_at(within, index))
    }

    /// The property at an index, if it has samples.
    pub(in super::super) fn property_at(&self, within: &Compound, index: usize) -> Result<Option<Property>> {
        let header = within.headers[index].clone();
        match header.kind {
            Kind::Samples(samples) if samples.count > 0 => {
                Ok(Some(Property { header, samples, group: self.group_of(within, index)? }))
            }
            _ => Ok(None),
        }
    }

    /// The time sampling of a property.
    pub(in super::super) fn sampling(&self, property: &Property) -> Result<&'a TimeSampling> {
        let index = property.samples.sampling;
        self.archive.samplings.get(index as usize).ok_or_else(|| {
            let expected = format!("one of {} time samplings, not {index}", self.archive.samplings.len());
            self.reader.fault(property.group, expected)
        })
    }

    /// The samples around a time [s].
    pub(in super::super) fn bracket(&self, property: &Property, time: f64) -> Result<Bracket> {
        Ok(self.sampling(property)?.bracket(time, property.samples.count))
    }

    /// The data of a sample, behind its key.
    pub(in super::super) fn data(&self, property: &Property, sample: u32) -> Result<Data> {
        let step = if property.samples.array { 2 } else { 1 };
        let group = self.reader.group(property.group)?;
        let index = u64::from(property.samples.stored(sample)) * step;
        let Child::Data(position) = self.reader.child(&group, index)? else {
            return Err(self.reader.fault(property.group, "data of samples"));
        };
        let data = self.reader.data(position)?;
        if data.size == 0 {
            return Ok(data);
        }
        let size = data.size.checked_sub(KEY_BYTES);
        let size = size.ok_or_else(|| self.reader.fault(position, "data behind a key of 16 bytes"))?;
        Ok(Data { start: data.start + KEY_BYTES, size })
    }

    /// The elements of a sample, each made from its bytes.
    fn elements<T>(&self, property: &Property, sample: u32, make: impl Fn(&[u8]) -> T) -> Result<Vec<T>> {
        let data = self.data(property, sample)?;
        let size = property.samples.data_type.bytes();
        if !data.size.is_multiple_of(size) {
            let expected = format!("whole elements of {size} bytes, not {} bytes", data.size);
            return Err(self.reader.fault(data.start, expected));
        }
        let count = data.size / size;
        self.reader.pay(count.saturating_mul(size_of::<T>() as u64), data.start)?;
        let mut elements = Vec::with_capacity(count as usize);
        let piece = (PIECE / size).max(1) * size;
        let mut buffer = vec![0; piece.min(data.size) as usize];
        let mut position = data.start;
        while position < data.start + data.size {
            let left = data.start + data.size - position;
            let bytes = &mut buffer[..left.min(piece) as usize];
            self.reader.fill(position, bytes)?;
            position += bytes.len() as u64;
            elements.extend(bytes.chunks_exact(size as usize).map(&make));
        }
        Ok(elements)
    }

    /// A sample of numbers, whatever their kind; texts are none.
    pub(in super::super) fn doubles(&self, property: &Property, sample: u32) -> Result<Vec<f64>> {
        let pod = property.samples.data_type.pod;
        let single = with_extent(property, 1);
        self.elements(&single, sample, |bytes| real(pod, bytes))
    }

    /// A sample of real numbers.
    pub(in super::super) fn floats(&self, property: &Property, sample: u32) -> Result<Vec<f32>> {
        let pod = property.samples.data_type.pod;
        if pod == Pod::F32 {
            let float = |bytes: &[u8]| f32::from_le_bytes(first(bytes));
            return self.elements(&with_extent(property, 1), sample, float);
        }
        self.elements(&with_extent(property, 1), sample, |bytes| real(pod, bytes) as f32)
    }

    /// A sample of whole numbers; what 32 bits cannot hold becomes the nearest that they can.
    pub(in super::super) fn integers(&self, property: &Property, sample: u32) -> Result<Vec<i32>> {
        let pod = property.samples.data_type.pod;
        self.elements(&with_extent(property, 1), sample, |bytes| whole(pod, bytes))
    }

    /// A sample of pairs.
    pub(in super::super) fn pairs(&self, property: &Property, sample: u32) -> Result<Vec<Vec2>> {
        let pod = property.samples.data_type.pod;
        self.elements(&with_extent(property, 2), sample, |bytes| Vec2::from_array(parts(pod, bytes)))
    }

    /// A sample of triples.
    pub(in super::super) fn triples(&self, property: &Property, sample: u32) -> Result<Vec<Vec3>> {
        let pod = property.samples.data_type.pod;
        if pod == Pod::F32 {
            let triple = |bytes: &[u8]| vec3_from_bytes(first(bytes));
            return self.elements(&with_extent(property, 3), sample, triple);
        }
        self.elements(&with_extent(property, 3), sample, |bytes| Vec3::from_array(parts(pod, bytes)))
    }
}

/// The same property with elements of so many plain values.
fn with_extent(property: &Property, extent: u8) -> Property {
    let mut property = property.clone();
    property.samples.data_type.extent = extent;
    property
}

fn parts<const N: usize>(pod: Pod, bytes: &[u8]) -> [f32; N] {
    let size = pod.bytes() as usize;
    std::array::from_fn(|index| real(pod, &bytes[index * size..(index + 1) * size]) as f32)
}

/// The first bytes, as many as are wanted; whoever calls has them.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

fn real(pod: Pod, bytes: &[u8]) -> f64 {
    match pod {
        Pod::F16 => f64::from(Half(u16::from_le_bytes(first(bytes))).to_f32()),
        Pod::F32 => f64::from(f32::from_le_bytes(first(bytes))),
        Pod::F64 => f64::from_le_bytes(first(bytes)),
        Pod::U32 => f64::from(u32::from_le_bytes(first(bytes))),
        Pod::U64 => u64::from_le_bytes(first(bytes)) as f64,
        Pod::I64 => i64::from_le_bytes(first(bytes)) as f64,
        _ => f64::from(whole(pod, bytes)),
    }
}

fn whole(pod: Pod, bytes: &[u8]) -> i32 {
    match pod {
        Pod::Bool => i32::from(bytes[0] != 0),
        Pod::U8 => i32::from(bytes[0]),
        Pod::I8 => i32::from(bytes[0] as i8),
        Pod::U16 => i32::from(u16::from_le_bytes(first(bytes))),
        Pod::I16 => i32::from(i16::from_le_bytes(first(bytes))),
        Pod::I32 => i32::from_le_bytes(first(bytes)),
        // An identifier beyond the range keeps its bits, as it does in other formats.
        Pod::U32 => u32::from_le_bytes(first(bytes)) as i32,
        Pod::U64 => i32::try_from(u64::from_le_bytes(first(bytes))).unwrap_or(i32::MAX),
        Pod::I64 => i64::from_le_bytes(first(bytes)).clamp(i32::MIN.into(), i32::MAX.into()) as i32,
        Pod::F16 | Pod::F32 | Pod::F64 => real(pod, bytes) as i32,
        Pod::String | Pod::WideString => 0,
    }
}
