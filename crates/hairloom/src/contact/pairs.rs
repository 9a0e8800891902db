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
