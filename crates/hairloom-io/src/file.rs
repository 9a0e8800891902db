//! What the readers and writers of whole files share.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use glam::Vec3;
use hairloom::groom::Groom;

/// Why a file of strands could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: FileProblem,
}

/// What can be wrong with a file of strands, or with a groom that shall become one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// The system could not open, read or write the file.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is not what its name says, is cut off, or contradicts itself; the text says what was expected.
    #[error("{0}")]
    Content(String),
    /// The groom cannot be written in this format; the text says why and what to do.
    #[error("{0}")]
    Groom(String),
    /// The unit is zero, negative or not a number.
    #[error("the unit must be a positive number of metres, and is {unit}")]
    Unit {
        /// The unit that was asked for [m].
        unit: f32,
    },
}

impl FileProblem {
    pub(crate) fn content(text: impl Into<String>) -> Self {
        Self::Content(text.into())
    }

    pub(crate) fn at(self, path: &Path) -> FileError {
        FileError { path: path.to_owned(), problem: self }
    }
}

/// All bytes of a regular file.
pub(crate) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(usize::try_from(metadata.len()).unwrap_or(usize::MAX))
        .map_err(io::Error::other)?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Bytes that are gone through in pieces, so that a large file need not be in memory as a whole.
pub(crate) trait Pieces {
    /// How many bytes there are.
    fn length(&self) -> u64;

    /// Shows `take` the bytes from `start` on, `length` of them, which must be there, in pieces of whole elements of `size` bytes.
    fn visit(&mut self, start: u64, length: u64, size: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<()>;
}

impl Pieces for &[u8] {
    fn length(&self) -> u64 {
        self.len() as u64
    }

    fn visit(&mut self, start: u64, length: u64, _: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let end = start.saturating_add(length);
        match self.get(start as usize..end as usize) {
            Some(bytes) => take(bytes),
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        Ok(())
    }
}

/// A file that is read in pieces which stay in the processor's cache.
pub(crate) struct FilePieces {
    file: File,
    length: u64,
    piece: Vec<u8>,
}

impl FilePieces {
    const PIECE: usize = 1 << 18;

    /// Opens a regular file.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Self { file, length: metadata.len(), piece: Vec::new() })
    }
}

impl Pieces for FilePieces {
    fn length(&self) -> u64 {
        self.length
    }

    fn visit(&mut self, start: u64, length: u64, size: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let most = (Self::PIECE / size.max(1)).max(1) * size.max(1);
        self.piece.resize(most, 0);
        self.file.seek(SeekFrom::Start(start))?;
        let mut left = length;
        while left > 0 {
            let piece = &mut self.piece[..left.min(most as u64) as usize];
            self.file.read_exact(piece)?;
            left -= piece.len() as u64;
            take(piece);
        }
        Ok(())
    }
}

/// Lets `write` make a file beside `path`, and puts it in the place of `path` when it is complete: a write that fails
/// leaves what was there before. What is not a regular file (a pipe, a device) is written itself.
pub(crate) fn replace<T, E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<T, E> {
    // A link stays, and what it leads to is replaced.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let before = std::fs::metadata(&target).ok();
    let Some(name) = target.file_name() else { return write(path) };
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        return write(path);
    }
    // The ending stays: it says the format.
    let mut temporary = OsString::from(format!(".{}.", std::process::id()));
    temporary.push(name);
    let temporary = target.with_file_name(temporary);
    let written = write(&temporary).and_then(|answer| {
        if let Some(before) = before {
            std::fs::set_permissions(&temporary, before.permissions())?;
        }
        std::fs::rename(&temporary, &target)?;
        Ok(answer)
    });
    if written.is_err() {
        // It may not have come into being.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Writes a file through a buffer, in the place of an old one when it is complete.
pub(crate) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), FileProblem>,
) -> Result<(), FileError> {
    let written = replace(path, |path| {
        let mut out = BufWriter::with_capacity(1 << 18, File::create(path)?);
        write(&mut out)?;
        Ok(out.flush()?)
    });
    written.map_err(|problem: FileProblem| problem.at(path))
}

/// Whether the offsets of a groom's curves fit its points.
pub(crate) fn check_offsets(groom: &Groom) -> Result<(), FileProblem> {
    let offsets = &groom.curves.offsets;
    let fit = offsets.is_sorted()
        && offsets.first() == Some(&0)
        && offsets.last().map(|&end| end as usize) == Some(groom.vertices());
    match fit {
        true => Ok(()),
        false => Err(FileProblem::Groom("the offsets of the groom's curves do not fit its points".into())),
    }
}

/// A little-endian number of four bytes at a position.
pub(crate) fn word(bytes: &[u8], position: usize) -> Option<[u8; 4]> {
    bytes.get(position..)?.first_chunk().copied()
}

/// The bytes of vectors, in place of what was there.
pub(crate) fn encode_triples(vectors: &[Vec3], bytes: &mut Vec<u8>) {
    bytes.resize(vectors.len() * 12, 0);
    triples_into(vectors, bytes);
}

/// Puts the bytes of vectors where there is room for them.
pub(crate) fn triples_into(vectors: &[Vec3], bytes: &mut [u8]) {
    for (bytes, vector) in bytes.as_chunks_mut::<12>().0.iter_mut().zip(vectors) {
        *bytes = vec3_to_bytes(*vector);
    }
}

/// A vector from twelve little-endian bytes.
#[inline]
pub(crate) fn vec3_from_bytes(bytes: [u8; 12]) -> Vec3 {
    let (parts, _) = bytes.as_chunks::<4>();
    Vec3::new(f32::from_le_bytes(parts[0]), f32::from_le_bytes(parts[1]), f32::from_le_bytes(parts[2]))
}

/// Twelve little-endian bytes of a vector.
#[inline]
pub(crate) fn vec3_to_bytes(vector: Vec3) -> [u8; 12] {
    let mut bytes = [0; 12];
    for (bytes, number) in bytes.chunks_exact_mut(4).zip(vector.to_array()) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}
