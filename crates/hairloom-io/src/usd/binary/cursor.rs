//! Reading at any place of a file, with every length checked against what is left of it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use super::super::element::Element;
use super::super::error::{Parsed, fault};
use super::ValueRef;

/// Small reads fetch this much, so that a dictionary is not one system call for each of its words [bytes].
const WINDOW: usize = 4096;
/// Large arrays are converted in pieces that stay in the processor's cache [bytes].
const PIECE: usize = 1 << 18;

/// A file, or bytes in memory, read at random places.
#[derive(Debug)]
pub(in super::super) struct Source {
    content: Content,
    /// Where the layer begins in the file [bytes].
    start: u64,
    length: u64,
}

#[derive(Debug)]
enum Content {
    File(Mutex<File>),
    Memory(Vec<u8>),
}

impl Source {
    pub(in super::super) fn file(file: File) -> std::io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { content: Content::File(Mutex::new(file)), start: 0, length })
    }

    /// A part of a file, as if there were nothing else in it.
    pub(in super::super) fn part(file: File, (start, length): (u64, u64)) -> Self {
        Self { content: Content::File(Mutex::new(file)), start, length }
    }

    pub(in super::super) fn memory(bytes: Vec<u8>) -> Self {
        Self { length: bytes.len() as u64, start: 0, content: Content::Memory(bytes) }
    }

    /// Size of the file [bytes].
    pub(in super::super) fn length(&self) -> u64 {
        self.length
    }

    pub(in super::super) fn at(&self, position: u64) -> Cursor<'_> {
        Cursor { source: self, position, window: Vec::new(), window_start: 0 }
    }

    fn read(&self, position: u64, bytes: &mut [u8]) -> Parsed<()> {
        match &self.content {
            Content::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                if position.saturating_add(bytes.len() as u64) > self.length {
                    return fault(position, "more bytes");
                }
                file.seek(SeekFrom::Start(self.start + position))?;
                Ok(file.read_exact(bytes)?)
            }
            Content::Memory(all) => {
                let end = position.saturating_add(bytes.len() as u64) as usize;
                let Some(part) = all.get(position as usize..end) else {
                    return fault(position, "more bytes");
                };
                bytes.copy_from_slice(part);
                Ok(())
            }
        }
    }
}

/// A place in a [`Source`].
pub(in super::super) struct Cursor<'a> {
    source: &'a Source,
    pub(in super::super) position: u64,
    window: Vec<u8>,
    window_start: u64,
}

impl Cursor<'_> {
    /// Bytes between here and the end of the file.
    pub(in super::super) fn left(&self) -> u64 {
        self.source.length.saturating_sub(self.position)
    }

    /// Fails unless `count` items of `size` bytes are left.
    pub(in super::super) fn require(&self, count: u64, size: u64, what: &str) -> Parsed<()> {
        match count.checked_mul(size) {
            Some(bytes) if bytes <= self.left() => Ok(()),
            _ => fault(
                self.position,
                format!("{count} {what} of {size} bytes each, but only {} bytes are left", self.left()),
            ),
        }
    }

    /// The next `length` bytes.
    pub(in super::super) fn bytes(&mut self, length: u64, what: &str) -> Parsed<Vec<u8>> {
        self.require(length, 1, what)?;
        let mut bytes = vec![0; length as usize];
        self.source.read(self.position, &mut bytes)?;
        self.position += length;
        Ok(bytes)
    }

    /// The next few bytes, through the window.
    fn small<const N: usize>(&mut self, what: &str) -> Parsed<[u8; N]> {
        if self.left() < N as u64 {
            return fault(self.position, format!("{what}, but the file ends here"));
        }
        let inside = self.position >= self.window_start
            && self.position + N as u64 <= self.window_start + self.window.len() as u64;
        if !inside {
            self.window.resize(WINDOW.min(self.left() as usize).max(N), 0);
            self.window_start = self.position;
            self.source.read(self.position, &mut self.window)?;
        }
        let start = (self.position - self.window_start) as usize;
        self.position += N as u64;
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.window[start..start + N]);
        Ok(bytes)
    }

    pub(in super::super) fn u8(&mut self, what: &str) -> Parsed<u8> {
        Ok(self.small::<1>(what)?[0])
    }

    pub(in super::super) fn u32(&mut self, what: &str) -> Parsed<u32> {
        Ok(u32::from_le_bytes(self.small(what)?))
    }

    pub(in super::super) fn u64(&mut self, what: &str) -> Parsed<u64> {
        Ok(u64::from_le_bytes(self.small(what)?))
    }

    pub(in super::super) fn value_ref(&mut self) -> Parsed<ValueRef> {
        Ok(ValueRef(self.u64("a reference to a value")?))
    }

    /// One element, such as a vector.
    pub(in super::super) fn element<E: Element>(&mut self, what: &str) -> Parsed<E> {
        Ok(E::fetch(&self.bytes(E::BYTES as u64, what)?))
    }

    /// The next `count` elements.
    pub(in super::super) fn elements<E: Element>(&mut self, count: u64, what: &str) -> Parsed<Vec<E>> {
        self.require(count, E::BYTES as u64, what)?;
        let mut elements = Vec::with_capacity(count as usize);
        let piece = (PIECE / E::BYTES).max(1);
        let mut buffer = vec![0; piece.min(count as usize) * E::BYTES];
        let mut left = count as usize;
        while left > 0 {
            let bytes = &mut buffer[..left.min(piece) * E::BYTES];
            self.source.read(self.position, bytes)?;
            self.position += bytes.len() as u64;
            let known = elements.len();
            elements.resize(known + left.min(piece), E::default());
            E::fetch_all(&mut elements[known..], bytes);
            left -= left.min(piece);
        }
        Ok(elements)
    }
}
