//! How much memory a request may take: values that many prims share cannot make it more than the file is worth.

use std::cell::Cell;

/// A request may hold so many times the size of the layer …
const FACTOR: u64 = 8;
/// … of which polylines of cubic curves may take so many …
const LAID_FACTOR: u64 = 5;
/// … and so much more [bytes]: small layers are mostly structure, and whole numbers are compressed.
const FLOOR: u64 = 1 << 20;

/// What is left for one request.
pub(super) struct Budget {
    /// The length of the layer [bytes].
    length: u64,
    /// [bytes]
    left: Cell<u64>,
}

impl Budget {
    /// For a layer of a length [bytes].
    pub(super) fn new(length: u64) -> Self {
        Self { length, left: Cell::new(length.saturating_mul(FACTOR).saturating_add(FLOOR)) }
    }

    /// What polylines of cubic curves may take [bytes]: the same in all frames, unless little is left.
    pub(super) fn worth(&self) -> u64 {
        self.left.get().min(self.length.saturating_mul(LAID_FACTOR).saturating_add(FLOOR / 2))
    }

    /// Pays for memory [bytes]; says what is wrong where not enough is left.
    pub(super) fn pay(&self, bytes: u64) -> Result<(), String> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(format!(
                "expected content in proportion to the {} bytes of the layer, but it unfolds to more than {FACTOR} times as much",
                self.length
            )),
        }
    }
}
