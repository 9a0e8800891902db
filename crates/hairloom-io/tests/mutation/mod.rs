//! Damaged files from a seed: what a broken disk, a cut connection or an unkind person makes of a good file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

#[path = "../counting/mod.rs"]
mod counting;

pub(crate) use counting::measured;

/// SplitMix64: small, and the same on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 if `limit` is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Damages `bytes` in one to four places; `words` are put in now and then.
pub(crate) fn mutate(bytes: &mut Vec<u8>, random: &mut Random, words: &[&[u8]]) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(9) {
            0 => bytes.truncate(at),
            1 => flip(bytes, at, random),
            // Headers are at the front: damage them more often than chance would.
            2 => flip(bytes, random.below(40), random),
            3 => overwrite(bytes, (at % 40) & !3, &extreme(random).to_le_bytes()),
            4 => overwrite(bytes, at, words[random.below(words.len())]),
            5 => {
                let word = words[random.below(words.len())];
                bytes.splice(at..at, word.iter().copied());
            }
            6 => {
                bytes.drain(at..bytes.len().min(at + 1));
            }
            7 => {
                let value = [0, u64::MAX, 1 << 40, i64::MIN as u64, random.next()][random.below(5)];
                overwrite(bytes, at, &value.to_le_bytes());
            }
            _ => {
                let end = (at + random.below(64)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, copy);
            }
        }
    }
}

fn flip(bytes: &mut [u8], at: usize, random: &mut Random) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn overwrite(bytes: &mut [u8], at: usize, with: &[u8]) {
    for (byte, &new) in bytes.iter_mut().skip(at).zip(with) {
        *byte = new;
    }
}

fn extreme(random: &mut Random) -> u32 {
    [0, 1, 2, 0xff, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, u32::MAX, 1_000_000_000][random.below(10)]
}

/// Readers may hold so many times the size of a file …
const MEMORY_FACTOR: usize = 8;
/// … and so much more [bytes].
const MEMORY_FLOOR: usize = 1 << 20;

/// Fails if `run` holds more memory than a file of `length` bytes is worth.
pub(crate) fn in_proportion<T>(length: usize, run: impl FnOnce() -> T) -> T {
    let (result, peak) = measured(run);
    let most = MEMORY_FACTOR * length + MEMORY_FLOOR;
    assert!(peak <= most, "held {peak} bytes for a file of {length}");
    result
}

/// Runs `read` on `count` damaged copies of `good`, which must be accepted itself. Each must come back, without a
/// panic, soon and with little memory; answers how many were still accepted.
pub(crate) fn survive(
    good: &[u8],
    count: usize,
    seed: u64,
    words: &[&[u8]],
    read: impl Fn(&[u8]) -> bool,
) -> usize {
    assert!(read(good), "the file was to be good before it is damaged");
    let mut random = Random(seed);
    let mut accepted = 0;
    for case in 0..count {
        let mut bytes = good.to_vec();
        mutate(&mut bytes, &mut random, words);
        let start = busy();
        let answer = catch_unwind(AssertUnwindSafe(|| in_proportion(bytes.len(), || read(&bytes))));
        let seconds = busy().saturating_sub(start);
        accepted += usize::from(
            answer
                .unwrap_or_else(|_| panic!("panic in case {case} of seed {seed}: {}", bytes.escape_ascii())),
        );
        assert!(seconds < Duration::from_secs(1), "case {case} of seed {seed} took {seconds:?}");
    }
    accepted
}

/// How long this thread has been at work, whatever else the machine does; where the system does not tell, the time.
pub(crate) fn busy() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}
