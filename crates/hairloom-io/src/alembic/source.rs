//! Bytes of an archive, read at any place.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

/// A file, or bytes in memory.
#[derive(Debug)]
pub(super) struct Source {
    content: Content,
    length: u64,
}

#[derive(Debug)]
enum Content {
    File(Mutex<Windowed>),
    Memory(Vec<u8>),
}

/// A file, and what was read of it around the last small read.
#[derive(Debug)]
struct Windowed {
    file: File,
    start: u64,
    window: Vec<u8>,
}

/// Structure is many small pieces next to each other: they are fetched together [bytes].
const WINDOW: u64 = 4096;
const SMALL: usize = 512;

impl Windowed {
    fn read(&mut self, position: u64, bytes: &mut [u8], length: u64) -> io::Result<()> {
        if bytes.len() > SMALL {
            self.file.seek(SeekFrom::Start(position))?;
            return self.file.read_exact(bytes);
        }
        let end = position + bytes.len() as u64;
        if position < self.start || end > self.start + self.window.len() as u64 {
            // Groups come after what they point to, so what is next is more likely before.
            let first = end.saturating_sub(WINDOW / 2).min(position);
            self.window.clear();
            self.start = first;
            self.window.resize((length - first).min(WINDOW) as usize, 0);
            self.file.seek(SeekFrom::Start(first))?;
            if let Err(error) = self.file.read_exact(&mut self.window) {
                self.window.clear();
                return Err(error);
            }
        }
        let at = (position - self.start) as usize;
        bytes.copy_from_slice(&self.window[at..at + bytes.len()]);
        Ok(())
    }
}

impl Source {
    pub(super) fn file(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let file = Windowed { file, start: 0, window: Vec::new() };
        Ok(Self { content: Content::File(Mutex::new(file)), length })
    }

    pub(super) fn memory(bytes: Vec<u8>) -> Self {
        Self { length: bytes.len() as u64, content: Content::Memory(bytes) }
    }

    /// Size of the archive [bytes].
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Fills `bytes` from a position on; whoever calls knows that they are inside.
    pub(super) fn read(&self, position: u64, bytes: &mut [u8]) -> io::Result<()> {
        match &self.content {
            Content::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.read(position, bytes, self.length)
            }
            Content::Memory(all) => {
                let rest = usize::try_from(position).ok().and_then(|start| all.get(start..));
                let part = rest.and_then(|rest| rest.get(..bytes.len()));
                bytes.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}
