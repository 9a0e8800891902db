//! The key of a sample: MurmurHash3 in its variant of 128 bits for 64-bit machines (Austin Appleby, public domain),
//! which Alembic's own library stores before the data of every sample.

const FIRST: u64 = 0x87c3_7b91_1142_53d5;
const SECOND: u64 = 0x4cf5_ad43_2745_937f;

/// The key of some bytes.
pub(super) type Digest = [u8; 16];

fn scramble_first(word: u64) -> u64 {
    word.wrapping_mul(FIRST).rotate_left(31).wrapping_mul(SECOND)
}

fn scramble_second(word: u64) -> u64 {
    word.wrapping_mul(SECOND).rotate_left(33).wrapping_mul(FIRST)
}

fn finish(mut word: u64) -> u64 {
    word = (word ^ (word >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    word = (word ^ (word >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}

/// Up to eight bytes as a word, the first lowest.
fn word(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

/// The key of `bytes`.
pub(super) fn digest(bytes: &[u8]) -> Digest {
    let mut hasher = Hasher::default();
    hasher.take(bytes);
    hasher.key()
}

/// A key in the making, piece by piece.
#[derive(Debug, Default)]
pub(super) struct Hasher {
    one: u64,
    two: u64,
    length: u64,
    tail: [u8; 16],
}

impl Hasher {
    /// Takes the next bytes; all pieces but the last have a multiple of 16.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let (mut one, mut two) = (self.one, self.two);
        let (blocks, tail) = bytes.as_chunks::<16>();
        for block in blocks {
            let (words, _) = block.as_chunks::<8>();
            one ^= scramble_first(u64::from_le_bytes(words[0]));
            one = one.rotate_left(27).wrapping_add(two).wrapping_mul(5).wrapping_add(0x52dc_e729);
            two ^= scramble_second(u64::from_le_bytes(words[1]));
            two = two.rotate_left(31).wrapping_add(one).wrapping_mul(5).wrapping_add(0x3849_5ab5);
        }
        (self.one, self.two) = (one, two);
        self.tail[..tail.len()].copy_from_slice(tail);
        self.length += bytes.len() as u64;
    }

    /// The key of all bytes.
    pub(super) fn key(self) -> Digest {
        let Self { mut one, mut two, length, tail } = self;
        let tail = &tail[..(length % 16) as usize];
        if tail.len() > 8 {
            two ^= scramble_second(word(&tail[8..]));
        }
        one ^= scramble_first(word(&tail[..tail.len().min(8)]));
        (one, two) = (one ^ length, two ^ length);
        one = one.wrapping_add(two);
        two = two.wrapping_add(one);
        (one, two) = (finish(one), finish(two));
        one = one.wrapping_add(two);
        two = two.wrapping_add(one);
        let mut key = [0; 16];
        key[..8].copy_from_slice(&one.to_le_bytes());
        key[8..].copy_from_slice(&two.to_le_bytes());
        key
    }
}

#[cfg(test)]
mod tests {
    use super::{Hasher, digest};

    #[test]
    fn keys_made_in_pieces_are_the_same() {
        let bytes: Vec<u8> = (0..200_u8).collect();
        for end in [0, 7, 16, 32, 45, 200] {
            let mut hasher = Hasher::default();
            bytes[..end].chunks(48).for_each(|piece| hasher.take(piece));
            assert_eq!(hasher.key(), digest(&bytes[..end]));
        }
    }

    /// Keys that Alembic 1.8.12 stored for these samples.
    #[test]
    fn keys_are_those_of_the_alembic_library() {
        let tenths = 0.1_f32.to_le_bytes().repeat(5);
        let hex = |bytes: &[u8]| digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(&[1, 0]), "2eda0f724f344d1b1e8bfee48a29e048");
        assert_eq!(hex(&tenths), "a8232805ecbd05a3bed20a73f8fe578a");
        assert_eq!(hex(&[2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]), "395b06ea4831a46b1658804e565ebd04");
    }
}
