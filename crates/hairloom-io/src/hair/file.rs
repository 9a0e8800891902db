use std::io::{self, Read, Write};

use glam::Vec3;

use super::HairProblem;
use crate::file::{vec3_from_bytes, vec3_to_bytes};

/// The size of the free text in the header, in bytes.
pub const INFO_BYTES: usize = 88;

const HEADER_BYTES: usize = 128;
const MAGIC: [u8; 4] = *b"HAIR";
const SEGMENTS: u32 = 1;
const POINTS: u32 = 1 << 1;
const THICKNESS: u32 = 1 << 2;
const TRANSPARENCY: u32 = 1 << 3;
const COLOURS: u32 = 1 << 4;
const KNOWN: u32 = SEGMENTS | POINTS | THICKNESS | TRANSPARENCY | COLOURS;

/// The arrays are read and written in pieces of about this size, a multiple of every element's size, in bytes.
const PIECE_BYTES: usize = 12 * 4096;

/// One value per element, or the same for all.
#[derive(Debug, Clone, PartialEq)]
pub struct Column<Value, Default = Value> {
    /// The value in the header; it counts only if there are no `values`.
    pub default: Default,
    /// One value for each strand (segments) or for each point (all others).
    pub values: Option<Vec<Value>>,
}

/// A `.hair` file as it is: units and axes of the file, every bit kept.
#[derive(Debug, Clone, PartialEq)]
pub struct HairFile {
    /// The number of strands.
    pub strands: u32,
    /// Segments of the strands: a strand has one point more than segments.
    pub segments: Column<u16, u32>,
    /// The points of all strands, root first.
    pub points: Vec<Vec3>,
    /// Diameter at the points.
    pub thickness: Column<f32>,
    /// Transparency at the points, 0 to 1.
    pub transparency: Column<f32>,
    /// Red, green and blue at the points, 0 to 1.
    pub colour: Column<Vec3>,
    /// Free text, filled up with zeros.
    pub info: [u8; INFO_BYTES],
}

impl HairFile {
    /// Reads a file that has `available` bytes in all, from its first byte. What the header claims is held
    /// against `available` before any memory is taken for it.
    pub fn read_from(source: &mut impl Read, available: u64) -> Result<Self, HairProblem> {
        let header = Header::read_from(source, available)?;
        let Header { strands, points, .. } = header;
        let mut column = Columns { source, flags: header.flags };
        let segments = column.read(SEGMENTS, strands, u16::from_le_bytes)?;
        let segments = Column { default: header.segments, values: segments };
        let counted = counted_points(strands, &segments);
        if counted != u64::from(points) {
            return Err(HairProblem::PointCount { strands, points, counted });
        }
        Ok(Self {
            strands,
            segments,
            points: column.read(POINTS, points, vec3_from_bytes)?.ok_or(HairProblem::NoPoints)?,
            thickness: Column {
                default: header.thickness,
                values: column.read(THICKNESS, points, f32::from_le_bytes)?,
            },
            transparency: Column {
                default: header.transparency,
                values: column.read(TRANSPARENCY, points, f32::from_le_bytes)?,
            },
            colour: Column { default: header.colour, values: column.read(COLOURS, points, vec3_from_bytes)? },
            info: header.info,
        })
    }

    /// Writes the file, its arrays checked first: nothing is written if they do not fit together.
    pub fn write_to(&self, sink: &mut impl Write) -> Result<(), HairProblem> {
        self.write_with(sink, &self.points, |point| point)
    }

    /// Writes the file with other points than its own, each as `in_file` makes it.
    pub(super) fn write_with(
        &self,
        sink: &mut impl Write,
        points: &[Vec3],
        in_file: impl Fn(Vec3) -> Vec3,
    ) -> Result<(), HairProblem> {
        let header = self.checked_header(points.len())?;
        sink.write_all(&header.to_bytes())?;
        if let Some(segments) = &self.segments.values {
            write_array(sink, segments, |value| value.to_le_bytes())?;
        }
        write_array(sink, points, |point| vec3_to_bytes(in_file(point)))?;
        for values in [&self.thickness.values, &self.transparency.values].into_iter().flatten() {
            write_array(sink, values, |value| value.to_le_bytes())?;
        }
        if let Some(colours) = &self.colour.values {
            write_array(sink, colours, vec3_to_bytes)?;
        }
        Ok(())
    }

    /// The number of points of each strand, by its segments.
    pub(super) fn strand_points(&self) -> impl Iterator<Item = u64> + '_ {
        let default = u64::from(self.segments.default);
        let values = self.segments.values.as_deref();
        (0..self.strands as usize).map(move |strand| {
            let segments = values.map_or(default, |values| values.get(strand).map_or(0, |&n| u64::from(n)));
            segments + 1
        })
    }

    fn checked_header(&self, points: usize) -> Result<Header, HairProblem> {
        let count = |name: &str, found: Option<usize>, expected: usize| match found {
            Some(found) if found != expected => {
                Err(HairProblem::Mismatch { name: name.to_owned(), expected, found })
            }
            found => Ok(found.is_some()),
        };
        let has_segments =
            count("segments", self.segments.values.as_ref().map(Vec::len), self.strands as usize)?;
        let has_thickness = count("thickness", self.thickness.values.as_ref().map(Vec::len), points)?;
        let has_transparency =
            count("transparency", self.transparency.values.as_ref().map(Vec::len), points)?;
        let has_colours = count("colour", self.colour.values.as_ref().map(Vec::len), points)?;
        let counted = counted_points(self.strands, &self.segments);
        let header_points = u32::try_from(points).unwrap_or(u32::MAX);
        if counted != points as u64 || points as u64 != u64::from(header_points) {
            return Err(HairProblem::PointCount { strands: self.strands, points: header_points, counted });
        }
        let flag = |present: bool, bit: u32| if present { bit } else { 0 };
        Ok(Header {
            strands: self.strands,
            points: header_points,
            flags: POINTS
                | flag(has_segments, SEGMENTS)
                | flag(has_thickness, THICKNESS)
                | flag(has_transparency, TRANSPARENCY)
                | flag(has_colours, COLOURS),
            segments: self.segments.default,
            thickness: self.thickness.default,
            transparency: self.transparency.default,
            colour: self.colour.default,
            info: self.info,
        })
    }
}

/// The first 128 bytes.
struct Header {
    strands: u32,
    points: u32,
    flags: u32,
    segments: u32,
    thickness: f32,
    transparency: f32,
    colour: Vec3,
    info: [u8; INFO_BYTES],
}

impl Header {
    fn read_from(source: &mut impl Read, available: u64) -> Result<Self, HairProblem> {
        if available < HEADER_BYTES as u64 {
            return Err(HairProblem::ShortHeader { available });
        }
        let found = take(source)?;
        if found != MAGIC {
            return Err(HairProblem::Magic { found });
        }
        let header = Self {
            strands: u32::from_le_bytes(take(source)?),
            points: u32::from_le_bytes(take(source)?),
            flags: u32::from_le_bytes(take(source)?),
            segments: u32::from_le_bytes(take(source)?),
            thickness: f32::from_le_bytes(take(source)?),
            transparency: f32::from_le_bytes(take(source)?),
            colour: vec3_from_bytes(take(source)?),
            info: take(source)?,
        };
        if header.flags & !KNOWN != 0 {
            return Err(HairProblem::UnknownArrays { flags: header.flags });
        }
        if header.flags & POINTS == 0 {
            return Err(HairProblem::NoPoints);
        }
        let Self { strands, points, .. } = header;
        let claimed = header.file_bytes();
        if claimed != available {
            return Err(HairProblem::Size { strands, points, claimed, available });
        }
        Ok(header)
    }

    /// The size of a file with this header in bytes.
    fn file_bytes(&self) -> u64 {
        let bytes = |bit: u32, count: u32, element: u64| {
            if self.flags & bit == 0 { 0 } else { u64::from(count) * element }
        };
        HEADER_BYTES as u64
            + bytes(SEGMENTS, self.strands, 2)
            + bytes(POINTS, self.points, 12)
            + bytes(THICKNESS, self.points, 4)
            + bytes(TRANSPARENCY, self.points, 4)
            + bytes(COLOURS, self.points, 12)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend(MAGIC);
        for number in [self.strands, self.points, self.flags, self.segments] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.thickness.to_le_bytes());
        bytes.extend(self.transparency.to_le_bytes());
        bytes.extend(vec3_to_bytes(self.colour));
        bytes.extend(self.info);
        bytes
    }
}

/// The arrays of a file, which must be read in the order of their bits.
struct Columns<'a, Source> {
    source: &'a mut Source,
    flags: u32,
}

impl<Source: Read> Columns<'_, Source> {
    /// Reads the array of `bit`, if the header announced it.
    fn read<Value, const BYTES: usize>(
        &mut self,
        bit: u32,
        count: u32,
        decode: impl Fn([u8; BYTES]) -> Value,
    ) -> Result<Option<Vec<Value>>, HairProblem> {
        if self.flags & bit == 0 {
            return Ok(None);
        }
        let count = count as usize;
        let mut values = Vec::new();
        values.try_reserve_exact(count).map_err(|_| HairProblem::Memory { elements: count })?;
        let mut piece = [0; PIECE_BYTES];
        while values.len() < count {
            let bytes = ((count - values.len()) * BYTES).min(PIECE_BYTES);
            let piece = &mut piece[..bytes];
            self.source.read_exact(piece)?;
            values.extend(piece.as_chunks().0.iter().map(|&element| decode(element)));
        }
        Ok(Some(values))
    }
}

fn write_array<Value: Copy, const BYTES: usize>(
    sink: &mut impl Write,
    values: &[Value],
    encode: impl Fn(Value) -> [u8; BYTES],
) -> io::Result<()> {
    let mut piece = vec![[0; BYTES]; (PIECE_BYTES / BYTES).min(values.len())];
    for values in values.chunks(PIECE_BYTES / BYTES) {
        let piece = &mut piece[..values.len()];
        piece.iter_mut().zip(values).for_each(|(bytes, &value)| *bytes = encode(value));
        sink.write_all(piece.as_flattened())?;
    }
    Ok(())
}

fn counted_points(strands: u32, segments: &Column<u16, u32>) -> u64 {
    match &segments.values {
        Some(values) => values.iter().map(|&segments| u64::from(segments) + 1).sum(),
        // At most 2³² − 1 strands of 2³² points: fits.
        None => u64::from(strands) * (u64::from(segments.default) + 1),
    }
}

fn take<const BYTES: usize>(source: &mut impl Read) -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}
