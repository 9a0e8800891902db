//! Feasible contact projection (section 4.5 of the paper): displacements that obey Coulomb's law.
//!
//! Contacts are solved one after the other (Gauss–Seidel). What lets them go side by side is that strands stand in blocks of
//! neighbours: contacts within a block are one run, contacts between two blocks another, and the runs of a round share no block.
//! Rounds follow one another, and contacts with bodies come last. The order is fixed by the contacts alone, so the result does not hang
//! on the number of threads.
//!
//! The paper has eight batches instead, with Jacobi inside, and splits the mass of a vertex among the contacts of a batch: what
//! suits thousands of threads. With two, blocks touch each contact once in a sweep, stay in the cache, and come closer to the
//! solution, since no mass is split.
//!
//! The force `r` of a contact is kept as the displacement `r̃ = D̂ r`, with `D̂` the sum of `h² / W` over its vertices. What
//! contacts add to a vertex in all is `push = W⁻¹ Hᵀ r`: after a projection that *is* the multiplier λ of the
//! splitting, so no second array holds it, and each projection starts from `z = x − λ + W⁻¹ Hᵀ r = x`.

use std::cmp::Reverse;

use glam::{Vec3, Vec3A, Vec4};
use rayon::prelude::*;

use super::contacts::split;
use super::touch::Touch;
use crate::math::lanes::prefetch;

/// Vertices of a block: the more blocks, the more rounds, and rounds wait for their slowest run.
const BLOCK: std::ops::RangeInclusive<usize> = 512..=16384;
const FEW_BLOCKS: usize = 16;
/// Contacts of a run are taken from this many places in turn: neighbours would wait for each other's vertices.
const STREAMS: usize = 4;
/// How many contacts ahead of time the vertices of a contact are sent for, in each stream.
const AHEAD: usize = 4;
/// No more blocks than this, since every pair of them may touch.
const MOST_BLOCKS: usize = 256;

/// Contacts within a block, or between two, sorted by key.
#[derive(Debug, Default)]
struct Run {
    /// The blocks of first and of second edges.
    blocks: [usize; 2],
    touches: Vec<Touch>,
}

/// All contacts of a step, ready for projection.
#[derive(Debug)]
pub(super) struct Projection {
    /// Where the vertices of each block end.
    ends: Vec<usize>,
    /// The block of each vertex.
    block_of: Vec<u16>,
    /// Runs that share no block, round after round.
    rounds: Vec<Vec<Run>>,
    /// Round of each pair of blocks, and place there.
    places: Vec<(u32, u32)>,
    /// The pair of blocks of each contact between strands, in the order of keys.
    pair_of: Vec<u32>,
    /// Contacts with bodies, by block.
    bodies: Vec<Vec<Touch>>,
}

/// Vertices of the two blocks of a run; there is no second slice within a block.
struct Sides<'a> {
    first: &'a mut [Vec4],
    second: Option<&'a mut [Vec4]>,
    /// Where the vertices of each block begin.
    begins: [usize; 2],
}

impl Projection {
    /// For vertices that come in indivisible groups, which end at `groups`.
    pub(super) fn new(groups: &[usize]) -> Self {
        let vertices = groups.last().copied().unwrap_or(0);
        let size =
            (vertices / FEW_BLOCKS).clamp(*BLOCK.start(), *BLOCK.end()).max(vertices / MOST_BLOCKS + 1);
        let (mut ends, mut block_of) = (Vec::new(), Vec::with_capacity(vertices));
        for &end in groups {
            let begin = ends.last().copied().unwrap_or(0);
            if end - begin >= size || end == vertices {
                block_of.resize(end, ends.len() as u16);
                ends.push(end);
            }
        }
        let bodies = ends.iter().map(|_| Vec::new()).collect();
        Self { ends, block_of, rounds: vec![], places: vec![], pair_of: vec![], bodies }
    }

    /// Takes new contacts between strands, sorted by key, with the forces that they bring along as `touch.correction`
    /// [N]. `ease` is 1 / W of each vertex [m/N], 0 where it is held.
    pub(super) fn set_pairs(&mut self, touches: &[Touch], ease: &[f32]) {
        self.rounds.clear();
        let (blocks, block_of) = (self.ends.len(), &self.block_of);
        let pair = |touch: &Touch| {
            let [first, _, second, _] = touch.vertices().map(|vertex| block_of[vertex as usize]);
            u32::from(first) * blocks as u32 + u32::from(second)
        };
        touches.par_iter().with_min_len(4096).map(pair).collect_into_vec(&mut self.pair_of);
        self.plan_rounds();
        let (ends, pair_of) = (&self.ends, &self.pair_of);
        self.rounds.par_iter_mut().flatten().for_each(|run| {
            // Contacts are sorted by their first edge, so those of a block follow one another.
            let [first, second] = run.blocks;
            let before = |end: usize| touches.partition_point(|touch| (touch.vertices()[0] as usize) < end);
            let range = first.checked_sub(1).map_or(0, |block| before(ends[block]))..before(ends[first]);
            let pair = (first * blocks + second) as u32;
            let own = pair_of[range.clone()].iter().zip(&touches[range]).filter(|(of, _)| **of == pair);
            run.touches.extend(own.map(|(_, touch)| touch.taking_force(ease)));
        });
    }

    /// The same for contacts with bodies.
    pub(super) fn set_bodies(&mut self, touches: &[Touch], ease: &[f32]) {
        let mut rest = touches;
        for (own, &end) in self.bodies.iter_mut().zip(&self.ends) {
            let count = rest.partition_point(|touch| (touch.vertices()[0] as usize) < end);
            own.clear();
            own.extend(rest[..count].iter().map(|touch| touch.taking_force(ease)));
            rest = &rest[count..];
        }
    }

    /// Puts each pair of blocks with contacts into the first round where both are free, those with most contacts first.
    fn plan_rounds(&mut self) {
        let blocks = self.ends.len();
        let mut counts = vec![0_u32; blocks * blocks];
        self.pair_of.iter().for_each(|&pair| counts[pair as usize] += 1);
        let mut pairs: Vec<usize> = (0..counts.len()).filter(|&pair| counts[pair] > 0).collect();
        pairs.sort_by_key(|&pair| Reverse(counts[pair]));
        self.places.clear();
        self.places.resize(counts.len(), (0, 0));
        let mut busy: Vec<Vec<bool>> = Vec::new();
        for pair in pairs {
            let [first, second] = [pair / blocks, pair % blocks];
            let free = busy.iter().position(|busy| !busy[first] && !busy[second]);
            let round = free.unwrap_or(busy.len());
            if free.is_none() {
                busy.push(vec![false; blocks]);
                self.rounds.push(Vec::new());
            }
            busy[round][first] = true;
            busy[round][second] = true;
            self.places[pair] = (round as u32, self.rounds[round].len() as u32);
            let touches = Vec::with_capacity(counts[pair] as usize);
            self.rounds[round].push(Run { blocks: [first, second], touches });
        }
    }

    /// Writes W⁻¹ Hᵀ r, what all contacts add to the vertices, into `push` [m], which holds 1 / W [m/N] as fourth component.
    pub(super) fn sum_up(&mut self, push: &mut [Vec4]) {
        push.par_iter_mut().with_min_len(4096).for_each(|push| *push = Vec3::ZERO.extend(push.w));
        self.visit(push, |touch, sides| sides.add(touch, touch.force().into()));
    }

    /// One sweep over all contacts: moves vertices to where their contacts allow them to be, one contact after the other. The fourth
    /// component is 1 / W [m/N], for each time a contact moves a vertex.
    pub(super) fn sweep(&mut self, moved: &mut [Vec4]) {
        self.visit(moved, |touch, sides| {
            let change = touch.solve(sides.relative(touch));
            sides.add(touch, change);
        });
    }

    /// Goes to every contact with the vertices of its blocks, in the order of the projection.
    fn visit(&mut self, vertices: &mut [Vec4], visit: impl Fn(&mut Touch, &mut Sides) + Sync) {
        let begin = |block: usize| if block == 0 { 0 } else { self.ends[block - 1] };
        let mut blocks = split(&self.ends, vertices);
        for round in &mut self.rounds {
            let mut tasks: Vec<(&mut Run, Sides)> = Vec::with_capacity(round.len());
            for run in round {
                let [first, second] = run.blocks;
                let begins = [begin(first), begin(second)];
                let second = (first != second).then(|| std::mem::take(&mut blocks[second]));
                tasks.push((run, Sides { first: std::mem::take(&mut blocks[first]), second, begins }));
            }
            let each = |(run, sides): &mut (&mut Run, Sides)| {
                sides.visit(&mut run.touches, &visit);
            };
            tasks.par_iter_mut().with_max_len(1).for_each(each);
            for (run, sides) in tasks {
                blocks[run.blocks[0]] = sides.first;
                if let Some(second) = sides.second {
                    blocks[run.blocks[1]] = second;
                }
            }
        }
        self.bodies.par_iter_mut().zip(blocks).enumerate().for_each(|(block, (touches, first))| {
            let mut sides = Sides { first, second: None, begins: [begin(block); 2] };
            sides.visit(touches, &visit);
        });
    }

    /// Forgets the forces, not the contacts.
    pub(super) fn let_go(&mut self) {
        let pairs = self.rounds.iter_mut().flatten().map(|run| &mut run.touches);
        for touches in pairs.chain(&mut self.bodies) {
            touches.par_iter_mut().with_min_len(4096).for_each(|touch| touch.correction = Vec3::ZERO);
        }
    }

    /// How many contacts there are.
    pub(super) fn count(&self) -> usize {
        self.pair_of.len() + self.bodies().count()
    }

    /// Contacts between strands, sorted by key.
    pub(super) fn pairs(&self) -> impl Iterator<Item = &Touch> {
        let mut next = vec![0_usize; self.places.len()];
        self.pair_of.iter().filter_map(move |&pair| {
            let (round, place) = self.places[pair as usize];
            let next = &mut next[pair as usize];
            *next += 1;
            self.rounds[round as usize][place as usize].touches.get(*next - 1)
        })
    }

    /// Contacts with bodies, sorted by key.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &Touch> {
        self.bodies.iter().flatten()
    }
}

impl Sides<'_> {
    /// Goes to every contact of a run.
    #[inline(always)]
    fn visit(&mut self, touches: &mut [Touch], visit: &impl Fn(&mut Touch, &mut Self)) {
        let stream = touches.len().div_ceil(STREAMS);
        for at in (0..stream).flat_map(|k| (0..STREAMS).map(move |s| s * stream + k)) {
            if let Some(ahead) = touches.get(at + AHEAD) {
                let [a, b] = self.places(ahead);
                prefetch(self.first, a);
                prefetch(self.second.as_deref().unwrap_or(self.first), b);
            }
            if let Some(touch) = touches.get_mut(at) {
                visit(touch, self);
            }
        }
    }

    /// Where the edges of a contact begin in their blocks.
    #[inline(always)]
    fn places(&self, touch: &Touch) -> [usize; 2] {
        let [a, _, b, _] = touch.vertices();
        [(a as usize).wrapping_sub(self.begins[0]), (b as usize).wrapping_sub(self.begins[1])]
    }

    /// The relative displacement of a contact's two sides [m].
    #[inline(always)]
    fn relative(&self, touch: &Touch) -> Vec3A {
        let ([a, b], [p, q, r, s]) = (self.places(touch), touch.shares());
        let second: &[Vec4] = self.second.as_deref().unwrap_or(self.first);
        let (first, second) = (&self.first[a..a + 2], &second[b..b + 2]);
        Vec3A::from_vec4(first[0] * p + first[1] * q + second[0] * r + second[1] * s)
    }

    /// Moves a contact's vertices as a change of its force [N] wants them.
    #[inline(always)]
    fn add(&mut self, touch: &Touch, change: Vec3A) {
        let ([a, b], [p, q, r, s]) = (self.places(touch), touch.shares());
        let change = change.extend(0.0);
        let first = &mut self.first[a..a + 2];
        first[0] += change * (p * first[0].w);
        first[1] += change * (q * first[1].w);
        let second = match &mut self.second {
            Some(second) => &mut second[b..b + 2],
            None => &mut self.first[b..b + 2],
        };
        second[0] += change * (r * second[0].w);
        second[1] += change * (s * second[1].w);
    }
}
