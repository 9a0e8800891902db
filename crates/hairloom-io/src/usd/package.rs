//! USD packages (`.usdz`): zip archives whose entries are stored, not compressed. The first entry is the layer that counts, and the
//! others are there for it to name.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::error::{Parsed, fault};

/// What a package begins with: the mark of a zip entry.
pub(super) const MAGIC: &[u8; 4] = b"PK\x03\x04";

const LOCAL_BYTES: u64 = 30;
const CENTRAL_BYTES: u64 = 46;
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const END_BYTES: u64 = 22;

/// Where the first layer of a package is: its first byte and its length.
pub(super) fn first_layer(bytes: &mut (impl Read + Seek)) -> Parsed<(u64, u64)> {
    match layer(bytes, None)? {
        Some(part) => Ok(part),
        None => fault(0, "a package with at least one file in it"),
    }
}

/// The name of the first file in a package; nothing for what is no package.
pub(super) fn first_name(bytes: &mut (impl Read + Seek)) -> Parsed<Option<String>> {
    let length = bytes.seek(SeekFrom::End(0))?;
    if length < MAGIC.len() as u64 || read(bytes, 0)? != *MAGIC {
        return Ok(None);
    }
    let (position, _) = directory(bytes, length)?;
    let entry: [u8; CENTRAL_BYTES as usize] = read(bytes, position)?;
    let mut name = vec![0; usize::from(u16::from_le_bytes([entry[28], entry[29]]))];
    bytes.read_exact(&mut name)?;
    Ok(Some(String::from_utf8_lossy(&name).into_owned()))
}

/// Where the layer of a name is in a package, or the first of all; nothing if there is none.
pub(super) fn layer(bytes: &mut (impl Read + Seek), wanted: Option<&str>) -> Parsed<Option<(u64, u64)>> {
    let length = bytes.seek(SeekFrom::End(0))?;
    let (mut position, directory_bytes) = directory(bytes, length)?;
    let end = position + directory_bytes;
    while end - position >= CENTRAL_BYTES {
        let entry: [u8; CENTRAL_BYTES as usize] = read(bytes, position)?;
        if !entry.starts_with(CENTRAL) {
            return fault(position, "an entry of the zip directory (PK\\x01\\x02)");
        }
        let short = |at: usize| u64::from(u16::from_le_bytes([entry[at], entry[at + 1]]));
        let (name_bytes, size) = (short(28), CENTRAL_BYTES + short(28) + short(30) + short(32));
        if position + CENTRAL_BYTES + name_bytes > length {
            return fault(position, "the name of an entry");
        }
        let mut name = vec![0; name_bytes as usize];
        bytes.read_exact(&mut name)?;
        if wanted.is_none_or(|wanted| wanted.as_bytes() == name) {
            return stored(bytes, length, position, &entry, &name).map(Some);
        }
        position = end.min(position + size);
    }
    Ok(None)
}

/// Where the content of an entry of the directory is.
fn stored(
    bytes: &mut (impl Read + Seek),
    length: u64,
    directory: u64,
    entry: &[u8; CENTRAL_BYTES as usize],
    name: &[u8],
) -> Parsed<(u64, u64)> {
    let short = |at: usize| u64::from(u16::from_le_bytes([entry[at], entry[at + 1]]));
    let long = |at: usize| short(at) | short(at + 2) << 16;
    let (flags, method, stored, size) = (short(8), short(10), long(20), long(24));
    let start = long(42);
    let layer =
        [&b".usd"[..], b".usda", b".usdc"].iter().any(|ending| name.to_ascii_lowercase().ends_with(ending));
    if !layer {
        let name = String::from_utf8_lossy(name).escape_debug().take(80).collect::<String>();
        return fault(directory, format!("a USD layer in the package, not '{name}'"));
    }
    if method != 0 || flags & 1 != 0 {
        return fault(
            directory + 10,
            "a stored entry: the files of a .usdz package are neither compressed nor encrypted; unpack it, or pack it \
             again with usdzip",
        );
    }
    if stored != size || [stored, start].contains(&0xffff_ffff) {
        return fault(directory + 20, "the same size packed and unpacked, below 4 GB");
    }
    let local: [u8; LOCAL_BYTES as usize] = match start.checked_add(LOCAL_BYTES) {
        Some(end) if end <= length => read(bytes, start)?,
        _ => return fault(start, "a zip entry within the file"),
    };
    if !local.starts_with(MAGIC) {
        return fault(start, "a zip entry (PK\\x03\\x04)");
    }
    let short = |at: usize| u64::from(u16::from_le_bytes([local[at], local[at + 1]]));
    let data = start + LOCAL_BYTES + short(26) + short(28);
    match data.checked_add(size) {
        Some(end) if end <= length => Ok((data, size)),
        _ => fault(data, format!("{size} bytes of a layer")),
    }
}

/// Where the directory of a zip archive is, and its size.
fn directory(bytes: &mut (impl Read + Seek), length: u64) -> Parsed<(u64, u64)> {
    // The end record may be followed by a comment.
    let tail_bytes = length.min(END_BYTES + 0xffff);
    let mut tail = vec![0; tail_bytes as usize];
    bytes.seek(SeekFrom::Start(length - tail_bytes))?;
    bytes.read_exact(&mut tail)?;
    let end = tail.windows(END_BYTES as usize).rposition(|window| window.starts_with(END));
    let Some(end) = end else { return fault(length, "the end of a zip directory (PK\\x05\\x06)") };
    let long = |at: usize| -> u64 {
        let word = tail[end + at..].first_chunk().copied().unwrap_or_default();
        u64::from(u32::from_le_bytes(word))
    };
    let (size, start) = (long(12), long(16));
    if start + size > length {
        return fault(length - tail_bytes + end as u64, "a zip directory within the file");
    }
    Ok((start, size))
}

fn read<const BYTES: usize>(bytes: &mut (impl Read + Seek), position: u64) -> Parsed<[u8; BYTES]> {
    let mut part = [0; BYTES];
    bytes.seek(SeekFrom::Start(position))?;
    bytes.read_exact(&mut part)?;
    Ok(part)
}

/// The bytes of a layer of a package that is in a file, if they are to be in memory.
pub(super) fn read_part(file: &mut File, (start, length): (u64, u64)) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}
