//! Strands of the USC-HairSalon database (`.data`): the number of strands (i32), then for each strand its number of
//! vertices (i32) and their x, y and z (f32), all little-endian.
//!
//! Bald roots of the database are strands of one vertex; reading keeps them, and checking the groom drops them with a
//! report. The format states neither unit nor axes: the numbers are taken as metres, y up, as in the database, unless
//! the caller says otherwise.

use std::io::Write;

use hairloom::groom::{Curves, Groom, Root};

use crate::file::{FileProblem, check_offsets, vec3_from_bytes, vec3_to_bytes, word};

/// The groom in the bytes of a file, in the file's own unit and axes.
pub fn parse(bytes: &[u8]) -> Result<Groom, FileProblem> {
    let claimed = word(bytes, 0).map(i32::from_le_bytes).ok_or_else(|| {
        FileProblem::content(
            "a .data file starts with its number of strands in four bytes, and this file has fewer",
        )
    })?;
    let (strands, vertices) = count(bytes, claimed)?;
    let mut curves =
        Curves { offsets: Vec::with_capacity(strands + 1), points: Vec::with_capacity(vertices) };
    curves.offsets.push(0);
    let mut rest = &bytes[4..];
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        // The lengths were checked while they were counted.
        let (points, after) = after.split_at(i32::from_le_bytes(*length) as usize * 12);
        curves.points.extend(points.as_chunks().0.iter().map(|&bytes| vec3_from_bytes(bytes)));
        curves.offsets.push(curves.points.len() as u32);
        rest = after;
    }
    Ok(Groom { curves, roots: vec![Root::Rigid; strands], ..Groom::default() })
}

/// The strands and vertices of a file, if they are those that it claims and all there.
fn count(bytes: &[u8], claimed: i32) -> Result<(usize, usize), FileProblem> {
    let (mut strands, mut vertices, mut position) = (0, 0_usize, 4);
    while let Some(length) = word(bytes, position).map(i32::from_le_bytes) {
        let end =
            usize::try_from(length).ok().and_then(|length| length.checked_mul(12)?.checked_add(position + 4));
        let Some(end) = end.filter(|&end| end <= bytes.len()) else {
            return Err(FileProblem::content(format!(
                "strand {strands} claims {length} vertices, and {} bytes are left for them: the file is cut off or \
                 damaged",
                bytes.len() - position - 4
            )));
        };
        strands += 1;
        vertices += length as usize;
        position = end;
    }
    if position != bytes.len() || usize::try_from(claimed) != Ok(strands) {
        return Err(FileProblem::content(format!(
            "the file claims {claimed} strands, and holds {strands}{}: it is cut off or damaged",
            if position == bytes.len() { "" } else { " and some more bytes" }
        )));
    }
    if u32::try_from(vertices).is_err() {
        return Err(FileProblem::content("there are more vertices than a groom can hold"));
    }
    Ok((strands, vertices))
}

/// Writes a groom that is in the file's own unit and axes.
pub fn write_to(out: &mut impl Write, groom: &Groom) -> Result<(), FileProblem> {
    check_offsets(groom)?;
    let number = |count: usize| {
        let problem = || FileProblem::Groom("a .data file counts no more than 2147483647 strands".into());
        i32::try_from(count).map(i32::to_le_bytes).map_err(|_| problem())
    };
    out.write_all(&number(groom.strands())?)?;
    let mut piece = Vec::new();
    for strand in groom.curves.iter() {
        piece.extend_from_slice(&number(strand.len())?);
        for &point in strand {
            piece.extend_from_slice(&vec3_to_bytes(point));
        }
        if piece.len() > 1 << 16 {
            out.write_all(&piece)?;
            piece.clear();
        }
    }
    Ok(out.write_all(&piece)?)
}
