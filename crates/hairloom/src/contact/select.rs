//! The few closest contacts of each edge.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// The times of the first few impacts of each edge of a block, as far as they are known: later ones need no exact look. Memory is kept
/// between uses.
#[derive(Debug, Default)]
pub(super) struct Earliest {
    /// So many times of each edge, in order; none where an edge may keep too many.
    times: Vec<f32>,
    keep: usize,
}

impl Earliest {
    /// Most impacts of an edge that times are kept of.
    const MOST: usize = 8;

    /// Begins a block with `edges`, each of which keeps so many impacts; with none no edge is ever done.
    pub(super) fn begin(&mut self, keep: usize, edges: usize) {
        self.keep = if keep <= Self::MOST { keep } else { 0 };
        self.times.clear();
        self.times.resize(self.keep * edges, 1.0);
    }

    /// The time after which neither edge keeps an impact.
    #[inline(always)]
    pub(super) fn latest(&self, i: u32, j: u32) -> f32 {
        if self.keep == 0 {
            return 1.0;
        }
        let last = |edge: u32| self.times[(edge as usize + 1) * self.keep - 1];
        last(i).max(last(j))
    }

    /// Whether an edge has met as many as it keeps before a time.
    #[inline(always)]
    pub(super) fn is_done(&self, edge: usize, time: f32) -> bool {
        self.keep > 0 && self.times[(edge + 1) * self.keep - 1] < time
    }

    /// Adds an impact of two edges.
    pub(super) fn add(&mut self, i: u32, j: u32, time: f32) {
        for edge in [i, j] {
            let mut time = time;
            for slot in &mut self.times[edge as usize * self.keep..][..self.keep] {
                if time < *slot {
                    std::mem::swap(slot, &mut time);
                }
            }
        }
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

/// What one task has found. Memory is kept between searches.
#[derive(Debug)]
pub(super) struct Chunk<T> {
    /// Contacts or impacts; sorted by pair once [`Chunk::sort`] has run.
    pub(super) items: Vec<T>,
    /// Second edge and place in `items`, sorted.
    seconds: Vec<u64>,
    /// What the task did.
    pub(super) tally: Tally,
}

impl<T> Default for Chunk<T> {
    fn default() -> Self {
        Self { items: vec![], seconds: vec![], tally: Tally::default() }
    }
}

impl<T: Item> Chunk<T> {
    /// Forgets everything but its memory.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.seconds.clear();
        self.tally = Tally::default();
    }

    /// Sorts what was found, by first and by second edges.
    pub(super) fn sort(&mut self) {
        self.items.sort_unstable_by_key(T::key);
        let seconds =
            self.items.iter().enumerate().map(|(k, item)| u64::from(item.edges()[1]) << 32 | k as u64);
        self.seconds.extend(seconds);
        self.seconds.sort_unstable();
    }

    /// Items whose first edge is in `part`.
    fn firsts(&self, part: &Range<u32>) -> &[T] {
        let place = |edge: u32| self.items.partition_point(|item| item.edges()[0] < edge);
        &self.items[place(part.start)..place(part.end)]
    }

    /// Second edges in `part`, and their items.
    fn seconds(&self, part: &Range<u32>) -> impl Iterator<Item = (u32, &T)> {
        let place = |edge: u32| self.seconds.partition_point(|&second| second >> 32 < u64::from(edge));
        let seconds = &self.seconds[place(part.start)..place(part.end)];
        seconds.iter().map(|&second| ((second >> 32) as u32, &self.items[second as u32 as usize]))
    }

    /// Memory held [bytes].
    pub(super) fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>() + self.seconds.capacity() * 8
    }
}

/// Vertices that one task brings together.
const PART: usize = 8192;

/// Chooses among what all tasks have found, and sorts it.
#[derive(Debug, Default)]
pub(super) struct Chooser {
    /// Last place that the edge behind each vertex keeps.
    last: Vec<u64>,
    /// Where the items of each part begin, and the end.
    starts: Vec<usize>,
    /// Memory of each thread: where the places of each vertex begin, and the places.
    work: Vec<Mutex<(Vec<u32>, Vec<u64>)>>,
}

impl Chooser {
    /// Fills `items` with what was found, sorted by pair, each pair once, without what the rule does not keep.
    pub(super) fn choose<T: Item>(
        &mut self,
        chunks: &mut [Chunk<T>],
        items: &mut Vec<T>,
        vertices: usize,
        most: usize,
        rule: Keep,
    ) {
        self.work.resize_with(rayon::current_num_threads().max(self.work.len()), Mutex::default);
        self.last.resize(vertices, u64::MAX);
        let (work, found) = (&self.work, &*chunks);
        self.last.par_chunks_mut(PART).enumerate().for_each(|(index, last)| {
            let first = (index * PART) as u32;
            let mut work = lock(&work[rayon::current_thread_index().unwrap_or(0)]);
            limits(found, first..first + last.len() as u32, most, &mut work, last);
        });
        let last = &self.last;
        chunks.par_iter_mut().for_each(|chunk| {
            chunk.items.retain(|item| {
                let ([i, j], places) = (item.edges(), item.places());
                let within = [places[0] <= last[i as usize], places[1] <= last[j as usize]];
                match rule {
                    Keep::Either => within[0] || within[1],
                    Keep::Both => within[0] && within[1],
                }
            });
        });
        self.gather(chunks, items, vertices);
        items.dedup_by_key(|item| item.key());
    }

    /// Brings the items of all chunks together, part by part.
    fn gather<T: Item>(&mut self, chunks: &[Chunk<T>], items: &mut Vec<T>, vertices: usize) {
        let parts = vertices.div_ceil(PART);
        let range = |part: usize| (part * PART) as u32..((part + 1) * PART).min(vertices) as u32;
        self.starts.resize(parts + 1, 0);
        self.starts[..parts].par_iter_mut().enumerate().for_each(|(part, count)| {
            *count = chunks.iter().map(|chunk| chunk.firsts(&range(part)).len()).sum();
        });
        self.starts[parts] = 0;
        let mut sum = 0;
        for start in &mut self.starts {
            (*start, sum) = (sum, sum + *start);
        }
        let Some(&blank) = chunks.iter().find_map(|chunk| chunk.items.first()) else {
            items.clear();
            return;
        };
        items.resize(sum, blank);
        each_part(items, &self.starts, 0, &|part: usize, out: &mut [T]| {
            let mut filled = 0;
            for chunk in chunks {
                let firsts = chunk.firsts(&range(part));
                out[filled..filled + firsts.len()].copy_from_slice(firsts);
                filled += firsts.len();
            }
            out.sort_unstable_by_key(T::key);
        });
    }

    /// Memory held [bytes].
    pub(super) fn bytes(&self) -> usize {
        8 * (self.last.capacity() + self.starts.capacity())
    }
}

/// Waits for the memory of a thread; a panic elsewhere does not spoil it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `visit` for each part of `items` in parallel; `starts` says where parts begin and the last one ends.
fn each_part<T: Send>(
    items: &mut [T],
    starts: &[usize],
    first: usize,
    visit: &(impl Fn(usize, &mut [T]) + Sync),
) {
    match starts.len() {
        0 | 1 => {}
        2 => visit(first, items),
        count => {
            let middle = count / 2;
            let (low, high) = items.split_at_mut(starts[middle] - starts[0]);
            rayon::join(
                || each_part(low, &starts[..=middle], first, visit),
                || each_part(high, &starts[middle..], first + middle, visit),
            );
        }
    }
}

/// The last place that each edge of a part keeps.
fn limits<T: Item>(
    chunks: &[Chunk<T>],
    part: Range<u32>,
    most: usize,
    (starts, places): &mut (Vec<u32>, Vec<u64>),
    last: &mut [u64],
) {
    last.fill(u64::MAX);
    starts.clear();
    starts.resize(last.len() + 1, 0);
    let local = |edge: u32| (edge - part.start) as usize;
    for chunk in chunks {
        chunk.firsts(&part).iter().for_each(|item| starts[local(item.edges()[0])] += 1);
        chunk.seconds(&part).for_each(|(edge, _)| starts[local(edge)] += 1);
    }
    if starts.iter().all(|&count| count as usize <= most) {
        return;
    }
    let mut sum = 0;
    for start in starts.iter_mut() {
        (*start, sum) = (sum, sum + *start);
    }
    places.resize(sum as usize, 0);
    // Each start moves on to the next while its places are filled in.
    let mut put = |edge: u32, place: u64| {
        places[starts[local(edge)] as usize] = place;
        starts[local(edge)] += 1;
    };
    for chunk in chunks {
        chunk.firsts(&part).iter().for_each(|item| put(item.edges()[0], item.places()[0]));
        chunk.seconds(&part).for_each(|(edge, item)| put(edge, item.places()[1]));
    }
    let mut begin = 0;
    for (last, &end) in last.iter_mut().zip(starts.iter()) {
        let own = &mut places[begin..end as usize];
        begin = end as usize;
        if own.len() > most {
            *last = nth_distinct(own, most);
        }
    }
}

/// The `most`-th smallest of different places, or the largest number if there are not that many.
fn nth_distinct(places: &mut [u64], most: usize) -> u64 {
    places.sort_unstable();
    let mut left = most;
    let mut before = None;
    for &place in places.iter() {
        if before != Some(place) {
            left = left.saturating_sub(1);
            if left == 0 {
                return place;
            }
            before = Some(place);
        }
    }
    u64::MAX
}
