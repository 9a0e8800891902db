//! TressFX 4 hair files (`.tfx`): strands that all have as many vertices, little-endian binary.
//!
//! # The format
//!
//! A header of 160 bytes: version (f32), strands, vertices of every strand, then where the arrays are (u32 each, in bytes
//! from the start of the file; 0 if absent): positions (x, y, z, w), texture coordinates of the strands (2 × f32), of
//! the vertices (2 × f32), thickness of the strands (f32), colours of the vertices (4 × f32); 128 bytes are reserved.
//!
//! # In a groom
//!
//! All strands are plain strands: what TressFX calls guides are those of which its loader makes more, by a
//! number that is not in the file. `w` is the inverse mass: 0 where a vertex is held. Where it is not
//! the usual one (0 at the root and 1 beyond it) it becomes the attribute [`INVERSE_MASS`], and it is written from there. Texture
//! coordinates of strands are the `root_uv`, those of vertices the attribute `st`, thickness becomes `widths` and colours
//! `displayColor` with the opacity `displayOpacity`.
//!
//! The format states neither unit nor axes: the numbers are taken as metres, y up, unless the caller says otherwise.

use std::io::Write;
use std::path::Path;

use glam::{Vec2, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};

use crate::file::{FilePieces, FileProblem, Pieces, check_offsets, word};

/// The name of the groom attribute that holds the inverse masses, one for each vertex.
pub const INVERSE_MASS: &str = "inverseMass";

const HEADER_BYTES: usize = 160;
const COLOUR: &str = "displayColor";
const OPACITY: &str = "displayOpacity";
const VERTEX_UV: &str = "st";

/// The groom in the bytes of a file, in the file's own unit and axes.
pub fn parse(mut bytes: &[u8]) -> Result<Groom, FileProblem> {
    read_pieces(&mut bytes)
}

/// The groom in a file, in the file's own unit and axes.
pub(crate) fn read(path: &Path) -> Result<Groom, FileProblem> {
    read_pieces(&mut FilePieces::open(path)?)
}

fn read_pieces(source: &mut dyn Pieces) -> Result<Groom, FileProblem> {
    let header = Header::read(source)?;
    let (strands, vertices) = (header.strands as usize, header.strands as usize * header.length as usize);
    let (points, usual) = read_positions(source, &header, vertices)?;
    let mut groom = Groom {
        curves: Curves {
            offsets: (0..=header.strands).map(|strand| strand * header.length).collect(),
            points,
        },
        roots: vec![Root::Rigid; strands],
        ..Groom::default()
    };
    let strand_uv = (header.strand_uv, strands, "texture coordinates of strands");
    groom.root_uv = array(source, strand_uv, vec2)?.unwrap_or_default();
    let mut add = |name: &str, values| {
        groom.attributes.push(Attribute { name: name.to_owned(), domain: Domain::Vertex, values });
    };
    let positions = (header.positions, vertices, "positions");
    if !usual && let Some(masses) = array(source, positions, |bytes| vec4(bytes).1)? {
        add(INVERSE_MASS, Values::Float(masses));
    }
    let vertex_uv = (header.vertex_uv, vertices, "texture coordinates of vertices");
    if let Some(uv) = array(source, vertex_uv, vec2)? {
        add(VERTEX_UV, Values::Vec2(uv));
    }
    let colours = (header.colours, vertices, "colours");
    if let Some(colour) = array(source, colours, |bytes| vec4(bytes).0)? {
        add(COLOUR, Values::Vec3(colour));
        let opacity = array(source, colours, |bytes| vec4(bytes).1)?;
        add(OPACITY, Values::Float(opacity.unwrap_or_default()));
    }
    if let Some(thickness) = array(source, (header.thickness, strands, "thickness"), f32::from_le_bytes)? {
        groom.widths.reserve_exact(vertices);
        for width in thickness {
            groom.widths.extend(std::iter::repeat_n(width, header.length as usize));
        }
    }
    Ok(groom)
}

/// The points, and whether every root has the inverse mass 0 and every other vertex 1.
fn read_positions(
    source: &mut dyn Pieces,
    header: &Header,
    vertices: usize,
) -> Result<(Vec<Vec3>, bool), FileProblem> {
    let (start, bytes) = place::<16>(source, (header.positions, vertices, "positions"))?.unwrap_or_default();
    let length = (header.length as usize).max(1);
    let mut points = Vec::with_capacity(vertices);
    let mut usual = true;
    // Whole strands at a time.
    source.visit(start, bytes, 16 * length, &mut |piece| {
        for strand in piece.as_chunks::<16>().0.chunks_exact(length) {
            points.extend(strand.iter().map(|&row| vec4(row).0));
            let free = strand[1..].iter().fold(true, |all, &row| all & (vec4(row).1 == 1.0));
            usual &= free & (vec4(strand[0]).1 == 0.0);
        }
    })?;
    Ok((points, usual))
}

/// Where an array starts, how many elements it has, and what it is.
type Array<'a> = (u32, usize, &'a str);

/// An array of the file, if it is there.
fn array<T, const SIZE: usize>(
    source: &mut dyn Pieces,
    array: Array<'_>,
    make: impl Fn([u8; SIZE]) -> T,
) -> Result<Option<Vec<T>>, FileProblem> {
    let Some((start, bytes)) = place::<SIZE>(source, array)? else { return Ok(None) };
    let mut values = Vec::with_capacity(array.1);
    let take = &mut |piece: &[u8]| values.extend(piece.as_chunks().0.iter().map(|&element| make(element)));
    source.visit(start, bytes, SIZE, take)?;
    Ok(Some(values))
}

/// Where an array is and how long it is [bytes], if it is there and all within the file.
fn place<const SIZE: usize>(
    source: &mut dyn Pieces,
    (start, count, what): Array<'_>,
) -> Result<Option<(u64, u64)>, FileProblem> {
    if start == 0 {
        return Ok(None);
    }
    let (start, bytes, length) = (u64::from(start), count as u64 * SIZE as u64, source.length());
    if start < HEADER_BYTES as u64 || start + bytes > length {
        return Err(FileProblem::content(format!(
            "the {what} should be {bytes} bytes from byte {start} on, and the file has {length}: it is cut off, or the \
             header is damaged"
        )));
    }
    Ok(Some((start, bytes)))
}

/// Writes a groom that is in the file's own unit and axes. All strands must have as many vertices. Thickness is one for
/// each strand, that of its root, and is left out where the groom has none.
pub fn write_to(out: &mut impl Write, groom: &Groom) -> Result<(), FileProblem> {
    check_offsets(groom)?;
    let (strands, vertices) = (groom.strands(), groom.vertices());
    let length = if strands == 0 { 0 } else { groom.curves.vertices_of(0) };
    if let Some(strand) = (0..strands).find(|&strand| groom.curves.vertices_of(strand) != length) {
        return Err(FileProblem::Groom(format!(
            "strand {strand} has {} vertices and the first has {length}; all strands of a .tfx file have as \
             many: resample the groom",
            groom.curves.vertices_of(strand)
        )));
    }
    let masses = floats(groom, INVERSE_MASS, vertices);
    let vertex_uv = groom.attributes.iter().find_map(|attribute| match &attribute.values {
        Values::Vec2(uv) if holds(groom, attribute) && uv.len() == vertices => Some(uv),
        _ => None,
    });
    let colours = groom.attributes.iter().find_map(|attribute| match &attribute.values {
        Values::Vec3(colours) if holds(groom, attribute) && colours.len() == vertices => Some(colours),
        _ => None,
    });
    let opacity = floats(groom, OPACITY, vertices);
    let has_uv = groom.root_uv.len() == strands && strands > 0;
    let has_widths = groom.widths.len() == vertices && vertices > 0;

    let mut end = HEADER_BYTES as u64;
    let mut place = |present: bool, elements: usize, size: u64| -> Result<u32, FileProblem> {
        let start = end.next_multiple_of(8);
        if !present {
            return Ok(0);
        }
        end = start + elements as u64 * size;
        u32::try_from(start).map_err(|_| FileProblem::Groom("a .tfx file holds no more than 4 GB".into()))
    };
    let places = [
        place(true, vertices, 16)?,
        place(has_uv, strands, 8)?,
        place(vertex_uv.is_some(), vertices, 8)?,
        place(has_widths, strands, 4)?,
        place(colours.is_some(), vertices, 16)?,
    ];
    let mut header = Vec::with_capacity(HEADER_BYTES);
    header.extend(4.0_f32.to_le_bytes());
    header.extend((strands as u32).to_le_bytes());
    header.extend((length as u32).to_le_bytes());
    places.iter().for_each(|place| header.extend(place.to_le_bytes()));
    header.resize(HEADER_BYTES, 0);
    out.write_all(&header)?;

    let mut piece = Vec::new();
    let mut write_points = |out: &mut dyn Write, points: &[Vec3], fourth: &dyn Fn(usize) -> f32| {
        for (chunk, points) in points.chunks(PIECE).enumerate() {
            piece.clear();
            for (index, point) in points.iter().enumerate() {
                let (number, mut bytes) = (chunk * PIECE + index, [0; 16]);
                let parts = [point.x, point.y, point.z, fourth(number)];
                for (bytes, part) in bytes.chunks_exact_mut(4).zip(parts) {
                    bytes.copy_from_slice(&part.to_le_bytes());
                }
                piece.extend_from_slice(&bytes);
            }
            out.write_all(&piece)?;
        }
        Ok::<(), FileProblem>(())
    };
    match masses {
        Some(masses) => write_points(out, &groom.curves.points, &|vertex| masses[vertex])?,
        None => {
            let free = |vertex: usize| if vertex.is_multiple_of(length.max(1)) { 0.0 } else { 1.0 };
            write_points(out, &groom.curves.points, &free)?;
        }
    }
    for uv in [has_uv.then_some(&groom.root_uv), vertex_uv].into_iter().flatten() {
        let bytes: Vec<u8> = uv.iter().flat_map(|uv| uv.to_array()).flat_map(f32::to_le_bytes).collect();
        out.write_all(&bytes)?;
    }
    if has_widths {
        let roots = (0..strands).map(|strand| groom.widths[strand * length]);
        let mut bytes: Vec<u8> = roots.flat_map(f32::to_le_bytes).collect();
        if colours.is_some() {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        out.write_all(&bytes)?;
    }
    if let Some(colours) = colours {
        write_points(out, colours, &|vertex| opacity.map_or(1.0, |opacity| opacity[vertex]))?;
    }
    Ok(())
}

/// Whether a file holds an attribute of a groom.
pub(crate) fn holds(groom: &Groom, attribute: &Attribute) -> bool {
    let colour = |attribute: &Attribute| {
        attribute.name == COLOUR
            && attribute.domain == Domain::Vertex
            && matches!(attribute.values, Values::Vec3(_))
    };
    let known = match (attribute.name.as_str(), &attribute.values) {
        (INVERSE_MASS, Values::Float(_)) | (VERTEX_UV, Values::Vec2(_)) | (COLOUR, Values::Vec3(_)) => true,
        // Opacity is a part of the colours.
        (OPACITY, Values::Float(_)) => groom.attributes.iter().any(colour),
        _ => false,
    };
    known && attribute.domain == Domain::Vertex
}

/// Whether strands of a groom have widths that a file cannot hold: it has one for each strand.
pub(crate) fn widths_vary(groom: &Groom) -> bool {
    let varies = |strand: usize| {
        let widths = groom.widths.get(groom.curves.range(strand)).unwrap_or_default();
        widths.iter().any(|width| Some(width) != widths.first())
    };
    (0..groom.strands()).any(varies)
}

/// Vertices that are encoded before they go out.
const PIECE: usize = 4096;

fn floats<'a>(groom: &'a Groom, name: &str, count: usize) -> Option<&'a [f32]> {
    groom.attributes.iter().find_map(|attribute| match &attribute.values {
        Values::Float(values)
            if attribute.name == name && attribute.domain == Domain::Vertex && values.len() == count =>
        {
            Some(values.as_slice())
        }
        _ => None,
    })
}

fn vec2(bytes: [u8; 8]) -> Vec2 {
    let (parts, _) = bytes.as_chunks::<4>();
    Vec2::new(f32::from_le_bytes(parts[0]), f32::from_le_bytes(parts[1]))
}

fn vec4(bytes: [u8; 16]) -> (Vec3, f32) {
    let (parts, _) = bytes.as_chunks::<4>();
    let number = |part: usize| f32::from_le_bytes(parts[part]);
    (Vec3::new(number(0), number(1), number(2)), number(3))
}

struct Header {
    strands: u32,
    /// Vertices of every strand.
    length: u32,
    positions: u32,
    strand_uv: u32,
    vertex_uv: u32,
    thickness: u32,
    colours: u32,
}

impl Header {
    fn read(source: &mut dyn Pieces) -> Result<Self, FileProblem> {
        let length = source.length();
        if length < HEADER_BYTES as u64 {
            return Err(FileProblem::content(format!(
                "a .tfx file starts with a header of {HEADER_BYTES} bytes, and this file has only {length}"
            )));
        }
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        source.visit(0, HEADER_BYTES as u64, 1, &mut |piece| bytes.extend_from_slice(piece))?;
        let number = |index: usize| word(&bytes, index * 4).map_or(0, u32::from_le_bytes);
        let version = f32::from_bits(number(0));
        if !(4.0..5.0).contains(&version) {
            return Err(FileProblem::content(format!(
                "expected TressFX version 4 at the start of the file, and found {version}"
            )));
        }
        let header = Self {
            strands: number(1),
            length: number(2),
            positions: number(3),
            strand_uv: number(4),
            vertex_uv: number(5),
            thickness: number(6),
            colours: number(7),
        };
        let vertices = u64::from(header.strands) * u64::from(header.length);
        if header.length == 0 && header.strands > 0 {
            return Err(FileProblem::content("the header says that strands have no vertices"));
        }
        if vertices.saturating_mul(16) > length {
            return Err(FileProblem::content(format!(
                "the header claims {} strands of {} vertices, which takes {} bytes, and the file has {}: it is cut \
                 off, or the header is damaged",
                header.strands,
                header.length,
                vertices * 16 + HEADER_BYTES as u64,
                length
            )));
        }
        if header.positions == 0 {
            return Err(FileProblem::content("the file has no positions, so it holds no strands"));
        }
        Ok(header)
    }
}
