//! Vertices that are held elsewhere than at the root, or pulled at.

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::Admm;
use super::newton::{Hold, strain_between};
use super::strands::{
    add_force, add_spring, get_quaternion, get_vector, set_quaternion, set_vector, transported_frames,
};
use crate::math::Stored;
use crate::scene::Drive;

/// Stiffness of the spring that ties a vertex in the end, beside that of its edge against stretching.
const TIE: f64 = 0.1;
/// How much stiffer the springs of ties become from one iteration to the next, at most. They begin no stiffer than hair bends,
/// so that a strand whose ends come together has time to bend rather than be crushed.
const TIGHTEN: f64 = 3.0;
/// Springs of ties begin as stiff as hair of this part of the strand's length bends, or of an edge where that is longer: finer edges
/// change nothing in how strands hang.
const BENDS: f64 = 200.0;
/// What a tie misses pulls no harder in the next iteration than this beside the force that the tie already has: a Newton step misses
/// by how much strands curve on their way, and a stiff spring would make a blow of that.
const CAUTION: f64 = 0.3;
/// Misses that are no longer than this many roundings of a position say nothing about how stiff a spring may be: a stiffer one
/// would turn rounding into forces, and hair would tremble.
const ROUNDINGS: f64 = 1.0e3;

/// A vertex that is tied farther from the root than this beside the length up to it is out of reach.
const REACH: f64 = 1.0 + 1.0e-3;

/// Which tie this is, from step to step.
fn tie_key(strand: usize, row: usize) -> u64 {
    (strand as u64) << 32 | row as u64
}

/// A vertex held elsewhere than at the root.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tie {
    pub(super) pack: u32,
    pub(super) lane: u32,
    pub(super) row: u32,
    /// Stiffness of its spring, and the least and the most that it may become [N/m].
    pub(super) weight: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    /// The least miss that counts [m].
    pub(super) rounding: f64,
    /// Where it is held, in the world [m].
    pub(super) target: DVec3,
    /// The force that keeps it there, as far as it is known [N].
    pub(super) force: DVec3,
}

impl<S: Stored> Admm<S> {
    pub(super) fn pull_handles(&mut self, drive: &Drive<'_>) {
        for handle in drive.handles {
            let (pack, lane) = self.strands.find(handle.strand as usize);
            let (pack, row) = (&mut self.strands.packs[pack], handle.vertex as usize);
            let weight = pack.rest[row].mass.get(lane) * handle.stiffness;
            let target = handle.target - pack.roots[lane];
            add_spring(&mut pack.base_loads[row], lane, weight, target);
        }
    }

    /// Finds the vertices that are held elsewhere than at the root. They begin with the forces of the last step.
    pub(super) fn tie(&mut self, drive: &Drive<'_>) {
        let mut ties = std::mem::take(&mut self.ties);
        ties.clear();
        let forces = std::mem::take(&mut self.tie_forces);
        let remembered = |strand: usize, row: usize| {
            let place = forces.binary_search_by_key(&tie_key(strand, row), |(key, _)| *key);
            place.map_or(DVec3::ZERO, |place| forces[place].1)
        };
        self.strands.packs.iter_mut().for_each(|pack| pack.holds.clear());
        for attachment in drive.attachments.items.iter().filter(|attachment| attachment.first > 0) {
            let strand = attachment.strand as usize;
            let (pack, lane) = self.strands.find(strand);
            let rest = &self.strands.packs[pack].rest;
            let frame = drive.seat_frame(attachment, 1.0);
            let edges = self.model.range(strand).len() - 1;
            let length: f64 = self.model.rest_lengths[self.model.range(strand)].iter().sum();
            for (k, &point) in drive.attachments.points_of(attachment).iter().enumerate() {
                let row = attachment.first as usize + k;
                let edge = &rest[row.min(edges - 1)];
                let most = TIE * edge.stretching.get(lane);
                let bends = edge.length.get(lane).max(length / BENDS);
                let least = (edge.bending[0].get(lane) * edge.length.get(lane) / bends.powi(3)).min(most);
                let (weight, target, force) = (least, frame.apply(point), remembered(strand, row));
                let rounding =
                    ROUNDINGS * S::ROUNDING * target.distance(self.strands.packs[pack].roots[lane]);
                let (pack, lane, row) = (pack as u32, lane as u32, row as u32);
                ties.push(Tie { pack, lane, row, weight, least, most, rounding, target, force });
            }
            if attachment.clamped {
                let before = drive.seat_frame(attachment, 0.0);
                let turns = [&before, &frame].map(|frame| attachment.turn_from_groom(frame));
                self.clamp_behind(strand, attachment.first as usize - 1, turns);
            }
        }
        self.ties = ties;
    }

    /// Lets `edge` of a strand bend and twist against its frame as groomed, turned as at the start and the end of the step, over half its
    /// length: as at the root.
    fn clamp_behind(&mut self, strand: usize, edge: usize, [before, turn]: [DQuat; 2]) {
        let (pack, lane) = self.strands.find(strand);
        let pack = &mut self.strands.packs[pack];
        let points = self.model.groomed[self.model.range(strand)].iter().map(|point| point.as_dvec3());
        let frames = transported_frames(&points.collect::<Vec<DVec3>>(), None);
        let length = pack.rest[edge].length.get(lane);
        if pack.holds.is_empty() {
            let nothing =
                Hold { frame: pack.moving[0].frame, stiffness: [S::default(); 3], old: [S::default(); 3] };
            pack.holds = vec![nothing; pack.moving.len()];
        }
        let hold = &mut pack.holds[edge];
        set_quaternion(&mut hold.frame, lane, turn * frames[edge]);
        // The edge has not turned yet, so neither has what it is held by: or what only turns would be damped.
        let edge_frame = get_quaternion(&pack.moving[edge].frame, lane);
        let old = strain_between(edge_frame, before * frames[edge]);
        set_vector(&mut hold.old, lane, old.into());
        let stiffness = self.model.material(strand).rod_stiffness();
        for (stored, stiffness) in hold.stiffness.iter_mut().zip(stiffness) {
            stored.set(lane, stiffness / (0.5 * length));
        }
    }

    /// Loads for the coming iteration: those of the step, and ties.
    pub(super) fn load_up(&mut self) {
        self.strands.packs.par_iter_mut().for_each(|pack| pack.loads.clone_from(&pack.base_loads));
        for tie in &self.ties {
            let pack = &mut self.strands.packs[tie.pack as usize];
            let lane = tie.lane as usize;
            let target = tie.target - pack.roots[lane];
            add_spring(&mut pack.loads[tie.row as usize], lane, tie.weight, target);
            add_force(&mut pack.loads[tie.row as usize], lane, tie.force);
        }
    }

    /// Keeps the forces of ties for the next step. Returns how many strands are tied farther away than they are long.
    pub(super) fn remember_ties(&mut self) -> u32 {
        let strand = |tie: &Tie| self.strands.packs[tie.pack as usize].strands[tie.lane as usize] as usize;
        let forces = self.ties.iter().map(|tie| (tie_key(strand(tie), tie.row as usize), tie.force));
        self.tie_forces = forces.collect();
        self.tie_forces.sort_unstable_by_key(|(key, _)| *key);
        let beyond = self.ties.iter().filter(|tie| {
            let pack = &self.strands.packs[tie.pack as usize];
            let Some(base) = pack.base else { return false };
            let (first, row) = (self.model.range(strand(tie)).start, tie.row as usize);
            let length: f64 = self.model.rest_lengths[first + base.min(row)..first + row].iter().sum();
            let hangs_from =
                pack.roots[tie.lane as usize] + get_vector(&pack.moving[base].position, tie.lane as usize);
            hangs_from.distance(tie.target) > REACH * length
        });
        let mut strands: Vec<usize> = beyond.map(strand).collect();
        strands.sort_unstable();
        strands.dedup();
        strands.len() as u32
    }

    /// The way from where a tied vertex is to where it is tied to [m].
    fn missing(&self, tie: &Tie) -> DVec3 {
        let pack = &self.strands.packs[tie.pack as usize];
        let lane = tie.lane as usize;
        tie.target - pack.roots[lane] - get_vector(&pack.moving[tie.row as usize].position, lane)
    }

    /// Forces of ties grow by what is missing, and their springs become as stiff as that allows. Returns the largest miss [m].
    pub(super) fn tighten(&mut self) -> f64 {
        let mut largest = 0.0_f64;
        for index in 0..self.ties.len() {
            let way = self.missing(&self.ties[index]);
            let (tie, missing) = (&mut self.ties[index], way.length());
            tie.force += way * tie.weight;
            let bearable = CAUTION * tie.force.length() / missing.max(tie.rounding).max(f64::MIN_POSITIVE);
            tie.weight = bearable.min(tie.weight * TIGHTEN).clamp(tie.least, tie.most);
            largest = largest.max(missing);
        }
        largest
    }
}
