use std::io::Write;

use glam::Vec3;
use hairloom::groom::{Domain, Groom, Values};

use crate::file::{FileProblem, check_offsets, vec3_to_bytes};

/// Bytes that are gathered before they go out.
const PIECE_BYTES: usize = 1 << 16;

/// Writes a groom that is in the file's own unit and axes: its vertices with their widths and colours, and the strands as
/// lists of vertices.
pub fn write_to(out: &mut impl Write, groom: &Groom) -> Result<(), FileProblem> {
    check_offsets(groom)?;
    let (strands, vertices) = (groom.strands(), groom.vertices());
    if i32::try_from(vertices).is_err() {
        return Err(FileProblem::Groom(
            "a PLY file of strands holds no more than 2147483647 vertices".into(),
        ));
    }
    let widths = Some(&groom.widths).filter(|widths| widths.len() == vertices && vertices > 0);
    let colours = vertex_colours(groom);
    let mut header = String::from("ply\nformat binary_little_endian 1.0\ncomment Written by Hairloom\n");
    header += &format!("element vertex {vertices}\nproperty float x\nproperty float y\nproperty float z\n");
    if widths.is_some() {
        header += "property float width\n";
    }
    if colours.is_some() {
        header += "property float red\nproperty float green\nproperty float blue\n";
    }
    header += &format!("element strand {strands}\nproperty list uint int vertex_indices\nend_header\n");
    out.write_all(header.as_bytes())?;
    let mut piece = Vec::with_capacity(PIECE_BYTES + 64);
    for (vertex, &point) in groom.curves.points.iter().enumerate() {
        piece.extend_from_slice(&vec3_to_bytes(point));
        if let Some(widths) = widths {
            piece.extend_from_slice(&widths[vertex].to_le_bytes());
        }
        if let Some(colours) = &colours {
            piece.extend_from_slice(&vec3_to_bytes(colours[vertex]));
        }
        if piece.len() >= PIECE_BYTES {
            out.write_all(&piece)?;
            piece.clear();
        }
    }
    for range in groom.curves.offsets.windows(2) {
        piece.extend_from_slice(&(range[1] - range[0]).to_le_bytes());
        for vertex in range[0]..range[1] {
            piece.extend_from_slice(&vertex.to_le_bytes());
        }
        if piece.len() >= PIECE_BYTES {
            out.write_all(&piece)?;
            piece.clear();
        }
    }
    Ok(out.write_all(&piece)?)
}

/// Colours for each vertex, if the groom has colours.
fn vertex_colours(groom: &Groom) -> Option<Vec<Vec3>> {
    let attribute = groom.attributes.iter().find(|attribute| attribute.name == super::read::COLOUR)?;
    let Values::Vec3(colours) = &attribute.values else { return None };
    match attribute.domain {
        Domain::Vertex => Some(colours.clone()).filter(|colours| colours.len() == groom.vertices()),
        Domain::Strand if colours.len() == groom.strands() => {
            let spread = (0..groom.strands()).zip(colours);
            Some(
                spread
                    .flat_map(|(strand, &c)| std::iter::repeat_n(c, groom.curves.vertices_of(strand)))
                    .collect(),
            )
        }
        Domain::Strand => None,
    }
}
