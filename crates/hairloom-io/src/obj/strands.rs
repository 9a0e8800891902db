use std::io::Write;

use hairloom::groom::Groom;

use super::ObjProblem;
use super::parse::Parser;
use super::tokens::Statements;
use crate::Axis;
use crate::chains::{Chains, groom_of};
use crate::file::{FileProblem, check_offsets};
use crate::space::Space;

/// Reads strands from the polylines (`l`) of an OBJ file, in the file's own unit and axes. Polylines that continue one
/// another are one strand, so that files with a polyline for every edge give strands, too; a strand starts where its first polyline
/// starts. Vertices must stand before the polylines that name them; those that none names are left out, and so is all else.
pub fn parse_strands(bytes: &[u8]) -> Result<Groom, ObjProblem> {
    let mut parser = Parser::new(Space { unit: 1.0, up: Axis::Y }, None);
    let mut chains = Chains::new(0);
    for (line, mut words) in Statements::new(bytes) {
        match words.next() {
            Some(b"v") => parser.vertex(line, words)?,
            Some(b"l") => {
                let vertices = parser.points.len();
                chains.grow(vertices);
                let mut before = None;
                for word in words {
                    let vertex = parser.corner(line, word)?;
                    if vertex as usize > vertices {
                        return Err(ObjProblem::NoSuchVertex { line, index: i64::from(vertex), vertices });
                    }
                    if let Some(before) = before.replace(vertex - 1) {
                        let joined = chains.join(before, vertex - 1);
                        joined
                            .map_err(|problem| ObjProblem::Polyline { line, problem: problem.to_string() })?;
                    }
                }
            }
            _ => {}
        }
    }
    let strands = groom_of(&parser.points, &chains);
    let (groom, _) = strands.map_err(|problem| ObjProblem::Groom { problem: problem.to_string() })?;
    if groom.strands() == 0 { Err(ObjProblem::NoPolylines) } else { Ok(groom) }
}

/// Writes a groom that is in the file's own unit and axes: a polyline for each strand, so that reading it gives the same
/// bits. Widths and attributes are left out.
pub fn write_strands(out: &mut impl Write, groom: &Groom) -> Result<(), FileProblem> {
    check_offsets(groom)?;
    if let Some(vertex) = groom.curves.points.iter().position(|point| !point.is_finite()) {
        return Err(FileProblem::Groom(format!("vertex {vertex} of the groom is not finite")));
    }
    writeln!(out, "# Written by Hairloom")?;
    let mut text = zmij::Buffer::new();
    for point in &groom.curves.points {
        out.write_all(b"v")?;
        for part in point.to_array() {
            out.write_all(b" ")?;
            out.write_all(text.format_finite(part).as_bytes())?;
        }
        out.write_all(b"\n")?;
    }
    let mut text = itoa::Buffer::new();
    for range in groom.curves.offsets.windows(2).filter(|range| range[0] < range[1]) {
        out.write_all(b"l")?;
        for vertex in range[0]..range[1] {
            out.write_all(b" ")?;
            out.write_all(text.format(u64::from(vertex) + 1).as_bytes())?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}
