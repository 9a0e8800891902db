//! The identity of contacts, by which forces of the last step find their way into the next.

use rayon::prelude::*;

use super::Contact;

/// Contacts that one task matches.
const PER_TASK: usize = 4096;

/// The pair of edges as one number, by which contacts are sorted.
#[inline(always)]
pub fn pair_key(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

impl Contact {
    /// The pair of edges as one number, by which contacts are sorted.
    #[inline(always)]
    pub fn key(&self) -> u64 {
        pair_key(self.a, self.b)
    }
}

/// Where the contact of two edges is in a sorted list; the order of the edges does not matter.
pub fn find_pair(contacts: &[Contact], a: u32, b: u32) -> Option<usize> {
    contacts.binary_search_by_key(&pair_key(a.min(b), a.max(b)), Contact::key).ok()
}

/// For each contact of the sorted list `current` its place in the sorted list `previous`, or `u32::MAX`.
pub fn match_pairs(previous: &[Contact], current: &[Contact], places: &mut Vec<u32>) {
    places.resize(current.len(), u32::MAX);
    places.par_chunks_mut(PER_TASK).zip(current.par_chunks(PER_TASK)).for_each(|(places, current)| {
        let Some(first) = current.first() else { return };
        let mut old = previous.partition_point(|contact| contact.key() < first.key());
        for (place, contact) in places.iter_mut().zip(current) {
            while previous.get(old).is_some_and(|before| before.key() < contact.key()) {
                old += 1;
            }
            let is_match = previous.get(old).is_some_and(|before| before.key() == contact.key());
            *place = if is_match { old as u32 } else { u32::MAX };
        }
    });
}

/// A set of pairs of edges, to be asked for one by one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Known {
    /// Where the pairs of each first edge begin, and the end.
    starts: Vec<u32>,
    seconds: Vec<u32>,
}

impl Known {
    /// The pairs with these keys, sorted; edges begin at vertices less than `vertices`.
    pub fn new(vertices: usize, keys: impl Iterator<Item = u64>) -> Self {
        let mut known = Self { starts: Vec::with_capacity(vertices + 1), seconds: Vec::new() };
        for key in keys {
            while known.starts.len() <= (key >> 32) as usize {
                known.starts.push(known.seconds.len() as u32);
            }
            known.seconds.push(key as u32);
        }
        known.starts.resize(vertices + 1, known.seconds.len() as u32);
        known
    }

    /// Whether the pair of edges `a` < `b` is one of them.
    #[inline(always)]
    pub fn holds(&self, a: u32, b: u32) -> bool {
        let Some(&[begin, end]) = self.starts.get(a as usize..).and_then(<[u32]>::first_chunk) else {
            return false;
        };
        self.seconds[begin as usize..end as usize].contains(&b)
    }
}
