use glam::Vec3;
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};

use super::{
    COLOUR, Column, HairFile, HairProblem, INFO_BYTES, ReadOptions, TRANSPARENCY, WriteOptions, Written,
};
use crate::space::Space;

impl HairFile {
    /// The groom in this file, in metres and y up.
    pub fn into_groom(self, options: &ReadOptions) -> Result<Groom, HairProblem> {
        let space = valid_space(Space { unit: options.unit, up: options.up })?;
        let strands = self.strands as usize;
        let offsets = self.offsets()?;
        let vertices = self.points.len();
        let mut points = self.points;
        // Going through large arrays once more costs as much as reading them.
        if space != Space::SCENE {
            points.iter_mut().for_each(|point| *point = space.scene_from_file(*point));
        }
        let widths = match self.thickness.values {
            Some(mut widths) => {
                if space.unit != 1.0 {
                    widths.iter_mut().for_each(|width| *width *= space.unit);
                }
                widths
            }
            None => vec![self.thickness.default * space.unit; vertices],
        };
        let attributes = vec![
            attribute(TRANSPARENCY, self.transparency, strands, Values::Float),
            attribute(COLOUR, self.colour, strands, Values::Vec3),
        ];
        let curves = Curves { offsets, points };
        Ok(Groom { curves, roots: vec![Root::Rigid; strands], widths, attributes, ..Groom::default() })
    }

    /// The file that holds `groom`, which is in metres and y up. Numbers of segments, widths and attributes of the
    /// strands go to the header where they are all the same; attributes of the vertices are always arrays.
    pub fn from_groom(groom: &Groom, options: &WriteOptions) -> Result<(Self, Written), HairProblem> {
        let space = valid_space(Space { unit: options.unit, up: options.up })?;
        let (mut file, written) = Self::around(groom, &options.info, |width| width / space.unit)?;
        file.points = groom.curves.points.iter().map(|&point| space.file_from_scene(point)).collect();
        Ok((file, written))
    }

    /// The file that holds `groom`, but for its points; `width_in_file` makes the file's widths of the groom's.
    pub(super) fn around(
        groom: &Groom,
        info: &str,
        width_in_file: impl Fn(f32) -> f32,
    ) -> Result<(Self, Written), HairProblem> {
        let offsets = checked_offsets(groom)?;
        let vertices = groom.curves.points.len();
        let widths = optional(&groom.widths, "widths", vertices)?;
        let mut transparency = None;
        let mut colour = None;
        let mut written = Written { dropped: dropped_parts(groom) };
        for attribute in &groom.attributes {
            match (attribute.name.as_str(), &attribute.values) {
                (TRANSPARENCY, Values::Float(values)) if transparency.is_none() => {
                    let bits = |value: f32| [value.to_bits()];
                    transparency = Some(attribute_column(attribute, values, offsets, bits)?);
                }
                (COLOUR, Values::Vec3(values)) if colour.is_none() => {
                    let bits = |value: Vec3| value.to_array().map(f32::to_bits);
                    colour = Some(attribute_column(attribute, values, offsets, bits)?);
                }
                _ => written.dropped.push(attribute.name.clone()),
            }
        }
        let file = Self {
            strands: (offsets.len() - 1) as u32,
            segments: segments_column(offsets)?,
            points: Vec::new(),
            thickness: column(widths, 0.0, f32::to_bits, width_in_file),
            transparency: transparency.unwrap_or(Column { default: 0.0, values: None }),
            colour: colour.unwrap_or(Column { default: Vec3::ONE, values: None }),
            info: info_bytes(info),
        };
        Ok((file, written))
    }

    /// Where each strand's points begin, and the end of the last.
    fn offsets(&self) -> Result<Vec<u32>, HairProblem> {
        let (strands, points) = (self.strands, u32::try_from(self.points.len()).unwrap_or(u32::MAX));
        let mut offsets = Vec::with_capacity(1 + self.strands.min(points) as usize);
        offsets.push(0);
        let mut counted = 0;
        for strand_points in self.strand_points() {
            counted += strand_points;
            // Stops early: a file built by hand may count far more points than it has.
            if counted > u64::from(points) {
                return Err(HairProblem::PointCount { strands, points, counted });
            }
            offsets.push(counted as u32);
        }
        if counted != self.points.len() as u64 {
            return Err(HairProblem::PointCount { strands, points, counted });
        }
        Ok(offsets)
    }
}

fn valid_space(space: Space) -> Result<Space, HairProblem> {
    if space.is_valid() { Ok(space) } else { Err(HairProblem::Unit { unit: space.unit }) }
}

fn attribute<Value>(
    name: &str,
    column: Column<Value>,
    strands: usize,
    wrap: impl Fn(Vec<Value>) -> Values,
) -> Attribute
where
    Value: Clone,
{
    let (domain, values) = match column.values {
        Some(values) => (Domain::Vertex, values),
        None => (Domain::Strand, vec![column.default; strands]),
    };
    Attribute { name: name.to_owned(), domain, values: wrap(values) }
}

/// The offsets of the groom's curves, once they are known to be in order and to end with the points.
fn checked_offsets(groom: &Groom) -> Result<&[u32], HairProblem> {
    let (offsets, points) = (&groom.curves.offsets, groom.curves.points.len());
    let first_and_last = offsets.first().zip(offsets.last());
    let in_order = offsets.is_sorted() && first_and_last.is_some_and(|(&first, _)| first == 0);
    let found = first_and_last.map_or(0, |(_, &last)| last as usize);
    if in_order && found == points {
        Ok(offsets)
    } else {
        Err(HairProblem::Mismatch { name: "the offsets of the curves".to_owned(), expected: points, found })
    }
}

/// `values`, if it is empty or has the right length.
fn optional<'a, Value>(values: &'a [Value], name: &str, expected: usize) -> Result<&'a [Value], HairProblem> {
    if values.is_empty() || values.len() == expected {
        Ok(values)
    } else {
        Err(HairProblem::Mismatch { name: name.to_owned(), expected, found: values.len() })
    }
}

/// The column of an attribute, which has values for the vertices or for the strands.
fn attribute_column<Value: Copy + Default, Bits: PartialEq>(
    attribute: &Attribute,
    values: &[Value],
    offsets: &[u32],
    bits: impl Fn(Value) -> Bits,
) -> Result<Column<Value>, HairProblem> {
    let expected = match attribute.domain {
        Domain::Vertex => offsets.last().map_or(0, |&end| end as usize),
        Domain::Strand => offsets.len() - 1,
    };
    if values.len() != expected {
        let name = format!("the attribute \"{}\"", attribute.name);
        return Err(HairProblem::Mismatch { name, expected, found: values.len() });
    }
    let default = values.first().copied().unwrap_or_default();
    let at_vertices = match attribute.domain {
        Domain::Vertex => values.to_vec(),
        Domain::Strand if values.iter().all(|&value| bits(value) == bits(default)) => {
            return Ok(Column { default, values: None });
        }
        Domain::Strand => (offsets.windows(2).zip(values))
            .flat_map(|(range, &value)| std::iter::repeat_n(value, (range[1] - range[0]) as usize))
            .collect(),
    };
    Ok(Column { default, values: Some(at_vertices) })
}

/// A column of `values` as the file has them, which may be empty: then it is `absent` everywhere.
fn column<Value: Copy, Bits: PartialEq>(
    values: &[Value],
    absent: Value,
    bits: impl Fn(Value) -> Bits,
    in_file: impl Fn(Value) -> Value,
) -> Column<Value> {
    let first = values.first().copied();
    let same = first.is_none_or(|first| {
        let first = bits(first);
        // In pieces: an early end would cost more than it saves.
        values.chunks(4096).all(|piece| piece.iter().fold(true, |all, &value| all & (bits(value) == first)))
    });
    let default = first.map_or(absent, &in_file);
    Column { default, values: (!same).then(|| values.iter().map(|&value| in_file(value)).collect()) }
}

fn segments_column(offsets: &[u32]) -> Result<Column<u16, u32>, HairProblem> {
    let segments = (offsets.windows(2).enumerate())
        .map(|(strand, range)| {
            let points = range[1] - range[0];
            let segments = points.checked_sub(1).and_then(|segments| u16::try_from(segments).ok());
            segments.ok_or(HairProblem::StrandLength { strand, points: points as usize })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let Column { default, values } = column(&segments, 0, |segments| segments, |segments| segments);
    Ok(Column { default: u32::from(default), values })
}

/// What the groom has beside curves, widths and attributes, by the names of its fields.
fn dropped_parts(groom: &Groom) -> Vec<String> {
    let held = groom.roots.iter().any(|root| *root != Root::Rigid);
    let parts = [
        ("roots", held),
        ("root_uv", !groom.root_uv.is_empty()),
        ("ids", !groom.ids.is_empty()),
        ("guides", groom.guides.contains(&true)),
    ];
    parts.into_iter().filter(|(_, present)| *present).map(|(name, _)| name.to_owned()).collect()
}

/// The text, cut at a character's edge so that it stays valid UTF-8, and filled up with zeros.
fn info_bytes(text: &str) -> [u8; INFO_BYTES] {
    let end = text.floor_char_boundary(INFO_BYTES);
    let mut bytes = [0; INFO_BYTES];
    bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
    bytes
}
