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
    File(Mutex<File>),
    Memory(Vec<u8>),
}

impl Source {
    pub(super) fn file(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { content: Content::File(Mutex::new(file)), length })
    }

    pub(super) fn memory(bytes: Vec<u8>) -> Self {
        Self { length: bytes.len() as u64, content: Content::Memory(bytes) }
    }

    /// Size of the archive [bytes].
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Fills `bytes` from a position on.
    pub(super) fn read(&self, position: u64, bytes: &mut [u8]) -> io::Result<()> {
        match &self.content {
            Content::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(position))?;
                file.read_exact(bytes)
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
