//! The Ogawa container: groups of groups and data, at positions that the file names. Every position and every length
//! is checked, and all that one request reads is paid from a budget in proportion to the file: data that many
//! places share, groups that overlap and circles cannot make it read, or hold, more.

use std::cell::Cell;
use std::path::Path;

use super::super::error::AlembicError;
use super::super::source::Source;

pub(super) type Result<T> = std::result::Result<T, AlembicError>;

/// A request may read, and hold, so many times the size of the file …
const BUDGET_FACTOR: u64 = 8;
/// … of which polylines of cubic curves may take so many …
const LAID_FACTOR: u64 = 5;
/// … and so much more [bytes]: small files are mostly structure.
const BUDGET_FLOOR: u64 = 1 << 20;

/// The bit that tells data from groups.
pub(in super::super) const DATA: u64 = 1 << 63;

/// Reads for one request.
#[derive(Debug)]
pub(in super::super) struct Reader<'a> {
    source: &'a Source,
    path: &'a Path,
    left: Cell<u64>,
}

/// A group, opened.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Group {
    position: u64,
    /// The number of children.
    pub(in super::super) count: u64,
}

/// What a group points to; position 0 is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Child {
    Group(u64),
    Data(u64),
}

/// Where some data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Data {
    pub(in super::super) start: u64,
    /// Size [bytes].
    pub(in super::super) size: u64,
}

impl Child {
    fn new(pointer: u64) -> Self {
        if pointer & DATA != 0 { Self::Data(pointer & !DATA) } else { Self::Group(pointer) }
    }
}

impl<'a> Reader<'a> {
    pub(in super::super) fn new(source: &'a Source, path: &'a Path) -> Self {
        let budget = source.length().saturating_mul(BUDGET_FACTOR).saturating_add(BUDGET_FLOOR);
        Self { source, path, left: Cell::new(budget) }
    }

    /// The error that something else was expected at a position.
    pub(in super::super) fn fault(&self, offset: u64, expected: impl Into<String>) -> AlembicError {
        AlembicError::Format { path: self.path.to_owned(), offset, expected: expected.into() }
    }

    /// What polylines of cubic curves may take [bytes]: the same at all times, unless little is left.
    pub(in super::super) fn worth(&self) -> u64 {
        let most = self.source.length().saturating_mul(LAID_FACTOR).saturating_add(BUDGET_FLOOR / 2);
        self.left.get().min(most)
    }

    /// Pays for memory [bytes] that is needed because of what stands at a position.
    pub(in super::super) fn pay(&self, bytes: u64, position: u64) -> Result<()> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(self.fault(
                position,
                format!(
                    "content in proportion to the {} bytes of the file, but it unfolds to more than {} times as much",
                    self.source.length(),
                    BUDGET_FACTOR
                ),
            )),
        }
    }

    /// Fails if so much memory [bytes] would be out of proportion, though it is needed only for a moment.
    pub(in super::super) fn allow(&self, bytes: u64, position: u64) -> Result<()> {
        let whole = self.left.get();
        self.pay(bytes, position)?;
        self.left.set(whole);
        Ok(())
    }

    /// Fills `bytes` from a position on.
    pub(in super::super) fn fill(&self, position: u64, bytes: &mut [u8]) -> Result<()> {
        let end = position.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > self.source.length()) {
            return Err(self.fault(position, format!("{} bytes, but the file ends before", bytes.len())));
        }
        self.pay(bytes.len() as u64, position)?;
        self.source.read(position, bytes).map_err(|error| AlembicError::io(self.path, error))
    }

    fn word(&self, position: u64) -> Result<u64> {
        let mut bytes = [0; 8];
        self.fill(position, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Opens the group at a position.
    pub(in super::super) fn group(&self, position: u64) -> Result<Group> {
        if position == 0 {
            return Ok(Group { position, count: 0 });
        }
        let count = self.word(position)?;
        // The word just read lies inside the file.
        let room = (self.source.length() - position - 8) / 8;
        if count > room {
            return Err(self.fault(position, format!("a group of at most {room} children, not {count}")));
        }
        Ok(Group { position, count })
    }

    /// What a child of a group is.
    pub(in super::super) fn child(&self, group: &Group, index: u64) -> Result<Child> {
        if index >= group.count {
            let expected = format!("a group of more than {index} children, not {}", group.count);
            return Err(self.fault(group.position, expected));
        }
        Ok(Child::new(self.word(group.position + 8 + 8 * index)?))
    }

    /// All children of a group.
    pub(in super::super) fn children(&self, group: &Group) -> Result<Vec<Child>> {
        self.pay(group.count * 16, group.position)?;
        let mut bytes = vec![0; group.count as usize * 8];
        if group.count > 0 {
            self.fill(group.position + 8, &mut bytes)?;
        }
        Ok(bytes.as_chunks::<8>().0.iter().map(|word| Child::new(u64::from_le_bytes(*word))).collect())
    }

    /// Where the data at a position is.
    pub(in super::super) fn data(&self, position: u64) -> Result<Data> {
        if position == 0 {
            return Ok(Data { start: 0, size: 0 });
        }
        let size = self.word(position)?;
        let room = self.source.length() - position - 8;
        if size > room {
            return Err(self.fault(position, format!("data of at most {room} bytes, not {size}")));
        }
        Ok(Data { start: position + 8, size })
    }

    /// All bytes of some data.
    pub(in super::super) fn bytes(&self, data: Data) -> Result<Vec<u8>> {
        // Paid by `fill`; the size was checked against the file.
        let mut bytes = vec![0; data.size as usize];
        if data.size > 0 {
            self.fill(data.start, &mut bytes)?;
        }
        Ok(bytes)
    }
}
