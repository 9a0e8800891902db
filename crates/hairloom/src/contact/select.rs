//! The few closest contacts of each edge.

use rayon::prelude::*;

use super::{Keep, Tally};

/// A contact or an impact, as far as choosing among them goes.
pub(super) trait Item: Copy + Send + Sync {
    /// The two edges, the lower number first.
    fn edges(&self) -> [u32; 2];
    /// What comes first is kept first.
    fn rank(&self) -> f32;

    /// The pair as one number that sorts by first edge, then second.
    #[inline(always)]
    fn key(&self) -> u64 {
        let [a, b] = self.edges();
        super::pair_key(a, b)
    }

    /// The item's rank among those of its first and of its second edge: ties go to the lower number of the other edge.
    #[inline(always)]
    fn places(&self) -> [u64; 2] {
        let [a, b] = self.edges();
        let rank = u64::from(ordered(self.rank())) << 32;
        [rank | u64::from(b), rank | u64::from(a)]
    }
}

/// Bits that sort as the numbers do.
#[inline(always)]
fn ordered(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// The last place that each edge of a block keeps. Memory is kept between uses.
#[derive(Debug, Default)]
pub(super) struct Limits {
    counts: Vec<u32>,
    best: Vec<u64>,
}

impl Limits {
    /// Removes from `items[begin..]`, between the edges `pairs` of a block with `edges` of them, what is not among the
    /// `most` first of either edge. No later choice can want it.
    pub(super) fn cut<T: Item>(
        &mut self,
        most: usize,
        edges: usize,
        items: &mut Vec<T>,
        begin: usize,
        pairs: &mut Vec<(u32, u32)>,
    ) {
        self.counts.clear();
        self.counts.resize(edges, 0);
        let mut highest = 0;
        for &(i, j) in pairs.iter() {
            for edge in [i, j] {
                self.counts[edge as usize] += 1;
                highest = highest.max(self.counts[edge as usize]);
            }
        }
        if highest as usize <= most {
            return;
        }
        self.best.clear();
        self.best.resize(edges * most, u64::MAX);
        for (item, &(i, j)) in items[begin..].iter().zip(pairs.iter()) {
            for (edge, place) in [i, j].into_iter().zip({
                let [a, b] = item.places();
                [b, a]
            }) {
                insert(&mut self.best[edge as usize * most..][..most], place);
            }
        }
        let mut kept = 0;
        for k in 0..pairs.len() {
            let (item, (i, j)) = (items[begin + k], pairs[k]);
            let last = [i, j].map(|edge| self.best[edge as usize * most + most - 1]);
            let places = {
                let [a, b] = item.places();
                [b, a]
            };
            if places[0] <= last[0] || places[1] <= last[1] {
                items[begin + kept] = item;
                pairs[kept] = (i, j);
                kept += 1;
            }
        }
        items.truncate(begin + kept);
        pairs.truncate(kept);
    }
}

/// Puts a place into a sorted list, whose last one falls out.
#[inline(always)]
fn insert(list: &mut [u64], place: u64) {
    let mut k = list.len();
    while k > 0 && list[k - 1] > place {
        if k < list.len() {
            list[k] = list[k - 1];
        }
        k -= 1;
    }
    if k < list.len() {
        list[k] = place;
    }
}

/// Sorts what blocks have found and keeps what the edges may keep.
#[derive(Debug, Default)]
pub(super) struct Chooser {
    /// Last place that each vertex's edge keeps.
    last: Vec<u64>,
    /// (second edge, place in the list), sorted.
    seconds: Vec<(u32, u32)>,
    places: Vec<u64>,
}

impl Chooser {
    /// Fills `items` with what was found, sorted by pair, each pair once, without what the rule does not keep.
    pub(super) fn choose<T: Item>(
        &mut self,
        found: &[(Vec<T>, Tally)],
        items: &mut Vec<T>,
        vertices: usize,
        most: usize,
        rule: Keep,
    ) {
        items.clear();
        found.iter().for_each(|(found, _)| items.extend_from_slice(found));
        items.par_sort_unstable_by_key(T::key);
        items.dedup_by_key(|item| item.key());
        self.seconds.clear();
        self.seconds.extend(items.iter().enumerate().map(|(k, item)| (item.edges()[1], k as u32)));
        self.seconds.par_sort_unstable();
        self.last.clear();
        self.last.resize(vertices, u64::MAX);
        let (mut a, mut b) = (0, 0);
        for vertex in 0..vertices as u32 {
            self.places.clear();
            while a < items.len() && items[a].edges()[0] == vertex {
                self.places.push(items[a].places()[0]);
                a += 1;
            }
            while b < items.len() && self.seconds[b].0 == vertex {
                self.places.push(items[self.seconds[b].1 as usize].places()[1]);
                b += 1;
            }
            if self.places.len() > most && most > 0 {
                self.last[vertex as usize] = *self.places.select_nth_unstable(most - 1).1;
            }
        }
        items.retain(|item| {
            let [i, j] = item.edges();
            let places = item.places();
            let within = [places[0] <= self.last[i as usize], places[1] <= self.last[j as usize]];
            match rule {
                Keep::Either => within[0] || within[1],
                Keep::Both => within[0] && within[1],
            }
        });
    }

    /// Memory held [bytes].
    pub(super) fn bytes(&self) -> usize {
        8 * (self.last.capacity() + self.seconds.capacity() + self.places.capacity())
    }
}
