//! What putting layers together may cost: a few lines of references could otherwise unfold to more than fits into memory.

/// Prims and opinions may take so many times the size of all layers …
const FACTOR: u64 = 3;
/// … and so much more [bytes].
const FLOOR: u64 = 1 << 19;
/// So many sites may be looked at for each byte of the layers …
const SITES_PER_BYTE: u64 = 1;
/// … and so many more.
const SITES: u64 = 1 << 18;
/// So many sites may be held at a time, for the prims on the way down to the one that is put together.
pub(super) const MOST_HELD: usize = 1024;

/// What was spent.
#[derive(Debug, Default)]
pub(super) struct Budget {
    /// [bytes]
    paid: u64,
    /// Sites that were looked at.
    visited: u64,
    held: usize,
}

impl Budget {
    /// Pays for memory that stays [bytes], with layers of so many bytes; says what is wrong where there is not enough.
    pub(super) fn pay(&mut self, bytes: usize, layers: u64) -> Result<(), String> {
        self.paid += bytes as u64;
        match self.paid > FACTOR * layers + FLOOR {
            true => Err(unfolds(layers)),
            false => Ok(()),
        }
    }

    /// Takes on sites that are held until they are released.
    pub(super) fn hold(&mut self, sites: usize, layers: u64) -> Result<(), String> {
        self.held += sites;
        self.visited += sites as u64;
        if self.held > MOST_HELD {
            return Err(format!("more than {MOST_HELD} references, payloads and variants meet in one prim"));
        }
        match self.visited > SITES_PER_BYTE * layers + SITES {
            true => Err(unfolds(layers)),
            false => Ok(()),
        }
    }

    /// Gives sites back.
    pub(super) fn release(&mut self, sites: usize) {
        self.held = self.held.saturating_sub(sites);
    }
}

fn unfolds(layers: u64) -> String {
    format!("its references unfold to more prims than {layers} bytes of layers are worth")
}
