//! The last word on strands that would pass through each other.
//!
//! A step that has not converged may leave strands that flew at each other on each other's wrong side, and nothing would
//! ever bring them back. Such strands go only a part of their way: as far as they can without crossing, seen from what moves them
//! both. Strands without a root share their mean motion, so that no momentum is lost between them.
//!
//! That is for lone strands, which are beside a few others at most, and among these alone. In dense hair a strand that stays behind is in the
//! way of its neighbours; if these had to wait in turn, all would come to a halt while the body moves on. So lone strands that cannot be
//! held back without crossing other lone ones end where the step took them, and what still crosses is counted. Nobody looks whether
//! dense hair sweeps over a strand that was held back.
//!
//! Of 40 pairs of crossing strands thrown at each other at 20 m/s, 40 pass through each other without continuous detection at 60, 192 and
//! 1,500 steps a second, and 36 at 4,000; with it none does (`tests/admm_contact.rs`).

use glam::{DQuat, DVec3, Vec3, Vec3A};
use rayon::prelude::*;

use super::{Contacts, redirect};
use crate::body::Obstacles;
use crate::contact::{self, ContactError, Detector, Impact, Known};
use crate::math::Stored;
use crate::solve::admm::newton::Moving;
use crate::solve::admm::strands::{Strands, get_quaternion, get_vector, set_quaternion, set_vector};

/// Centrelines that come within this share of their thickness cross. A power of two scales without rounding.
const THIN: f32 = 0.125;
/// Lone strands are beside no more others than this.
const FEW: usize = 3;
/// How often strands are looked at again; in the last round they stay where they were.
const ROUNDS: usize = 6;
/// Strands go this share of the way to where they cross.
const SHARE: f32 = 0.5;

/// What strands that go back must heed.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Around<'a> {
    /// The bodies.
    pub(in super::super) obstacles: Option<&'a Obstacles<'a>>,
    /// Distance kept from them beyond the hair's radius [m].
    pub(in super::super) margin: f32,
    /// Packs and lanes of strands that are held beyond their roots, too, in order. They cannot go back.
    pub(in super::super) tied: &'a [(u32, u32)],
    /// The time step, where there is one [s].
    pub(in super::super) dt: Option<f64>,
}

/// Strands in groups.
struct Groups(Vec<usize>);

impl Groups {
    /// Every strand alone.
    fn new(strands: usize) -> Self {
        Self((0..strands).collect())
    }

    /// The first strand of the group of `strand`.
    fn first(&mut self, mut strand: usize) -> usize {
        while self.0[strand] != strand {
            self.0[strand] = self.0[self.0[strand]];
            strand = self.0[strand];
        }
        strand
    }

    fn join(&mut self, [a, b]: [usize; 2]) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// The rows of a strand as the step left them: frame, place and velocity.
type Rows = Vec<(DQuat, DVec3, DVec3)>;

/// Strands that cross each other as the step ends.
struct Held {
    /// Pairs of strands that cross, sorted.
    pairs: Vec<[usize; 2]>,
    /// Each of these strands as the step left it, unless it was let go again.
    left: Vec<Option<Rows>>,
}

/// Looks for lone strands that cross each other.
struct Lone {
    detector: Detector,
    /// The vertices of these strands.
    vertices: Vec<u32>,
}

impl Lone {
    fn new(contacts: &Contacts) -> Result<Self, ContactError> {
        let (mut offsets, mut vertices) = (vec![0], Vec::new());
        for strand in contacts.lone_strands() {
            vertices.extend(contacts.ordered.range(strand).map(|vertex| vertex as u32));
            offsets.push(vertices.len() as u32);
        }
        let thin = |&vertex: &u32| THIN * contacts.ordered.radii[vertex as usize];
        let radii: Vec<f32> = vertices.iter().map(thin).collect();
        Ok(Self { detector: Detector::new(&offsets, &radii)?, vertices })
    }

    /// Pairs of edges whose centrelines cross on the way. What begins crossed stays so.
    fn crossings(&mut self, contacts: &Contacts) -> Result<Vec<Impact>, ContactError> {
        let start = |&vertex: &u32| contacts.start[vertex as usize];
        let end =
            |&vertex: &u32| contacts.start[vertex as usize] + Vec3::from(contacts.moved[vertex as usize]);
        let from: Vec<Vec3> = self.vertices.iter().map(start).collect();
        let to: Vec<Vec3> = self.vertices.iter().map(end).collect();
        let (settings, all) = (contact::Settings::continuous(0.0), Known::default());
        let mut crossings: Vec<Impact> = Vec::new();
        self.detector.continuous(&from, &to, &settings, &all, &mut crossings)?;
        crossings.retain(|crossing| crossing.time > 0.0);
        for Impact { contact, .. } in &mut crossings {
            [contact.a, contact.b] = [contact.a, contact.b].map(|edge| self.vertices[edge as usize]);
        }
        Ok(crossings)
    }
}

impl Contacts {
    /// Holds strands back that cross each other between the start of the step and now. Returns how many pairs of edges
    /// cross all the same.
    pub(in super::super) fn hold_back<S: Stored>(
        &mut self,
        strands: &mut Strands<S>,
        around: &Around<'_>,
    ) -> Result<u32, ContactError> {
        self.gather(strands);
        let mut lone = Lone::new(self)?;
        let mut crossings = lone.crossings(self)?;
        if crossings.is_empty() {
            return Ok(0);
        }
        let mut held = self.held(strands, &crossings);
        for round in 1..=ROUNDS {
            let let_go = self.let_go_of_dense(strands, &mut held, &crossings);
            let waits = |strand: usize| held.left[strand].is_some();
            let waiting: Vec<Impact> = crossings
                .iter()
                .copied()
                .filter(|crossing| self.pair(crossing).into_iter().all(waits))
                .collect();
            if waiting.is_empty() && !let_go {
                return Ok(crossings.len() as u32);
            }
            let mut shares = vec![1.0_f32; self.ordered.strands()];
            for crossing in &waiting {
                let share = if round < ROUNDS { SHARE * crossing.time } else { 0.0 };
                for strand in self.pair(crossing) {
                    shares[strand] = shares[strand].min(share);
                }
            }
            let common = self.common_motions(&waiting, &mut shares);
            self.go_back(strands, &shares, &common, around);
            self.gather(strands);
            crossings = lone.crossings(self)?;
        }
        if self.let_go_of_dense(strands, &mut held, &crossings) {
            self.gather(strands);
            crossings = lone.crossings(self)?;
        }
        Ok(crossings.len() as u32)
    }

    /// Remembers strands that cross.
    fn held<S: Stored>(&self, strands: &Strands<S>, crossings: &[Impact]) -> Held {
        let mut pairs: Vec<[usize; 2]> = crossings.iter().map(|crossing| self.pair(crossing)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut left = vec![None; self.ordered.strands()];
        for &strand in pairs.iter().flatten() {
            let (pack, lane) = self.seats[strand];
            let (pack, lane) = (&strands.packs[pack as usize], lane as usize);
            let row = |(moving, velocity): (&Moving<S>, &[S; 3])| {
                let place = get_vector(&moving.position, lane);
                (get_quaternion(&moving.frame, lane), place, get_vector(velocity, lane))
            };
            left[strand] = Some(pack.moving.iter().zip(&pack.velocities).map(row).collect());
        }
        Held { pairs, left }
    }

    /// Takes strands that cross others than those they crossed at first to where the step left them. Returns whether there
    /// were any.
    fn let_go_of_dense<S: Stored>(
        &self,
        strands: &mut Strands<S>,
        held: &mut Held,
        crossings: &[Impact],
    ) -> bool {
        let mut any = false;
        let new = crossings.iter().map(|crossing| self.pair(crossing));
        for strand in new.filter(|pair| held.pairs.binary_search(pair).is_err()).flatten() {
            let Some(left) = held.left[strand].take() else { continue };
            any = true;
            let (pack, lane) = self.seats[strand];
            let (pack, lane) = (&mut strands.packs[pack as usize], lane as usize);
            for (row, (frame, place, velocity)) in left.into_iter().enumerate() {
                set_quaternion(&mut pack.moving[row].frame, lane, frame);
                set_vector(&mut pack.moving[row].position, lane, place);
                set_vector(&mut pack.velocities[row], lane, velocity);
            }
        }
        any
    }

    /// The strands of a crossing.
    fn pair(&self, crossing: &Impact) -> [usize; 2] {
        [crossing.contact.a, crossing.contact.b].map(|edge| self.strand_of[edge as usize] as usize)
    }

    /// Strands that are beside a few others at most when the step begins. What they meet on their way does not count: a lone strand may fly
    /// at many.
    fn lone_strands(&self) -> Vec<usize> {
        let mut beside = vec![[usize::MAX; FEW + 1]; self.ordered.strands()];
        for contact in &self.close {
            let [a, b] = [contact.a, contact.b].map(|edge| self.strand_of[edge as usize] as usize);
            for (strand, other) in [(a, b), (b, a)].into_iter().filter(|_| a != b) {
                let others = &mut beside[strand];
                if let Some(place) = others.iter().position(|known| [usize::MAX, other].contains(known)) {
                    others[place] = other;
                }
            }
        }
        (0..beside.len()).filter(|&strand| beside[strand][FEW] == usize::MAX).collect()
    }

    /// The motion of each strand as a whole [m]: that of its root, or where nothing holds it, what it shares with the
    /// loose strands that it crosses. These go the same share of their ways, the smallest of all, or momentum would be lost
    /// between them.
    fn common_motions(&self, crossings: &[Impact], shares: &mut [f32]) -> Vec<Vec3A> {
        let count = self.ordered.strands();
        let first = |strand: usize| self.ordered.offsets[strand] as usize;
        let loose = |strand: usize| self.ease[first(strand)] > 0.0;
        let mut groups = Groups::new(count);
        for crossing in crossings {
            let pair = self.pair(crossing);
            if pair.iter().all(|&strand| loose(strand)) {
                groups.join(pair);
            }
        }
        for strand in (0..count).filter(|&strand| loose(strand)) {
            let root = groups.first(strand);
            shares[root] = shares[root].min(shares[strand]);
        }
        for strand in (0..count).filter(|&strand| loose(strand)) {
            shares[strand] = shares[groups.first(strand)];
        }
        let mut sums = vec![(DVec3::ZERO, 0.0); count];
        for strand in (0..count).filter(|&strand| loose(strand)) {
            let (sum, mass) = &mut sums[groups.first(strand)];
            for vertex in self.ordered.range(strand) {
                let weight = f64::from(self.ordered.masses[vertex]);
                *sum += self.moved[vertex].as_dvec3() * weight;
                *mass += weight;
            }
        }
        let of_strand = |strand: usize| match loose(strand) {
            true => {
                let (sum, mass) = sums[groups.first(strand)];
                (sum / mass).as_vec3a()
            }
            false => self.moved[first(strand)],
        };
        (0..count).map(of_strand).collect()
    }

    /// Takes strands back to `shares` of their way, beyond their common motions.
    fn go_back<S: Stored>(
        &self,
        strands: &mut Strands<S>,
        shares: &[f32],
        common: &[Vec3A],
        around: &Around<'_>,
    ) {
        let packs = strands.packs.par_iter_mut().zip(self.ranges()).enumerate();
        packs.for_each(|(index, (pack, range))| {
            let mut vertex = range.start;
            for (lane, _) in pack.lanes() {
                let vertices = vertex..vertex + pack.counts[lane] as usize;
                vertex = vertices.end;
                let strand = self.strand_of[vertices.start] as usize;
                let tied = around.tied.binary_search(&(index as u32, lane as u32)).is_ok();
                if shares[strand] >= 1.0 || tied {
                    continue;
                }
                let back = |v: usize| (self.moved[v] - common[strand]) * (shares[strand] - 1.0);
                let corrections: Vec<DVec3> = vertices.clone().map(|v| back(v).as_dvec3()).collect();
                let distance = self.ordered.radii[vertices.start] + around.margin;
                redirect(pack, lane, &corrections, around.obstacles, distance);
                let Some(dt) = around.dt else { continue };
                let shift = get_vector(&pack.shift, lane);
                for row in 0..vertices.len() {
                    let now = get_vector(&pack.moving[row].position, lane) + shift;
                    let before = get_vector(&pack.start[row], lane);
                    set_vector(&mut pack.velocities[row], lane, (now - before) / dt);
                }
            }
        });
    }
}
