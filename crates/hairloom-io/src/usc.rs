//! Strands of the USC-HairSalon database (`.data`): the number of strands (i32), then for each strand its number of
//! vertices (i32) and their x, y and z (f32), all little-endian.
//!
//! Bald roots of the database are strands of one vertex; reading keeps them, and checking the groom drops them with a
//! report. The format states neither unit nor axes: the numbers are taken as metres, y up, as in the database, unless
//! the caller says otherwise.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use glam::Vec3;
use hairloom::groom::{Curves, Groom, Root};

use crate::file::{FileProblem, check_offsets, vec3_from_bytes, vec3_to_bytes};

/// The groom in the bytes of a file, in the file's own unit and axes.
pub fn parse(mut bytes: &[u8]) -> Result<Groom, FileProblem> {
    let length = bytes.len() as u64;
    read_from(&mut bytes, length)
}

/// The groom in a file, in the file's own unit and axes.
pub(crate) fn read(path: &Path) -> Result<Groom, FileProblem> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file").into());
    }
    read_from(&mut BufReader::with_capacity(1 << 18, file), metadata.len())
}

/// The groom in a source of so many bytes.
fn read_from(source: &mut impl BufRead, length: u64) -> Result<Groom, FileProblem> {
    if length < 4 {
        return Err(FileProblem::content(
            "a .data file starts with its number of strands in four bytes, and this file has fewer",
        ));
    }
    let claimed = number(source)?;
    let mut left = length - 4;
    if left / 12 > u64::from(u32::MAX) {
        return Err(FileProblem::content("there are more vertices than a groom can hold"));
    }
    let mut curves = Curves { offsets: vec![0], points: Vec::with_capacity((left / 12) as usize) };
    while left >= 4 {
        let vertices = number(source)?;
        left -= 4;
        let bytes = u64::try_from(vertices).ok().map(|vertices| vertices * 12).filter(|&bytes| bytes <= left);
        let Some(bytes) = bytes else {
            return Err(FileProblem::content(format!(
                "strand {} claims {vertices} vertices, and {left} bytes are left for them: the file is cut off or \
                 damaged",
                curves.offsets.len() - 1
            )));
        };
        left -= bytes;
        read_points(source, vertices as usize, &mut curves.points)?;
        curves.offsets.push(curves.points.len() as u32);
    }
    let strands = curves.offsets.len() - 1;
    if left > 0 || usize::try_from(claimed) != Ok(strands) {
        return Err(FileProblem::content(format!(
            "the file claims {claimed} strands, and holds {strands}{}: it is cut off or damaged",
            if left == 0 { "" } else { " and some more bytes" }
        )));
    }
    Ok(Groom { curves, roots: vec![Root::Rigid; strands], ..Groom::default() })
}

fn number(source: &mut impl BufRead) -> Result<i32, FileProblem> {
    let mut word = [0; 4];
    source.read_exact(&mut word)?;
    Ok(i32::from_le_bytes(word))
}

/// Reads points, from the buffer of the source as far as they are in it.
fn read_points(source: &mut impl BufRead, count: usize, points: &mut Vec<Vec3>) -> Result<(), FileProblem> {
    let mut left = count;
    while left > 0 {
        let (ready, _) = source.fill_buf()?.as_chunks::<12>();
        let ready = &ready[..ready.len().min(left)];
        points.extend(ready.iter().map(|&bytes| vec3_from_bytes(bytes)));
        let taken = ready.len();
        source.consume(12 * taken);
        left -= taken;
        if taken == 0 {
            // One that lies across the end of the buffer.
            let mut bytes = [0; 12];
            source.read_exact(&mut bytes)?;
            points.push(vec3_from_bytes(bytes));
            left -= 1;
        }
    }
    Ok(())
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
