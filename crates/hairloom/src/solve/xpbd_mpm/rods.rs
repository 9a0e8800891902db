//! All strands as rods.

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::Params;
use super::advance::Conditions;
use super::drive::{Holds, Part};
use super::pack::{Pack, get_vector};
use crate::body::Obstacles;
use crate::math::{Pose, Stored};
use crate::scene::{Model, State};
use crate::solve::packing::groups;
use crate::solve::{StepError, lost_vertex};

/// Strands in lanes of `S`.
#[derive(Debug, Clone)]
pub(super) struct Rods<S> {
    pub packs: Vec<Pack<S>>,
    offsets: Vec<u32>,
}

impl<S: Stored> Rods<S> {
    /// Lays out the hair of a model, as groomed; `held` tells for each vertex whether it is held.
    pub(super) fn new(model: &Model, held: &[bool], params: &Params) -> Self {
        let groups = groups(model, &vec![0; model.strands()], S::LANES);
        let packs = groups.par_iter().map(|(_, group)| Pack::new(model, group, held, params));
        let mut rods = Self { packs: packs.collect(), offsets: model.offsets.clone() };
        let groomed = model.groomed.iter().map(|point| point.as_dvec3()).collect();
        rods.load(model, &State::at_rest(groomed), |_| DQuat::IDENTITY);
        rods
    }

    /// Sets positions and velocities. Frames come from the state; where it has none, from the groom, turned as told and transported
    /// along the strand.
    pub(super) fn load(&mut self, model: &Model, state: &State, turn: impl Fn(usize) -> DQuat + Sync) {
        self.packs.par_iter_mut().for_each(|pack| {
            for (lane, strand) in pack.lanes() {
                let range = model.range(strand);
                pack.load(lane, state, range.clone(), turn(strand));
                pack.load_forces(lane, model, range);
            }
        });
    }

    /// Writes positions, velocities and orientations of all strands.
    pub(super) fn store(&self, state: &mut State) {
        let vertices = self.offsets.last().map_or(0, |&end| end as usize);
        state.positions.resize(vertices, DVec3::ZERO);
        state.velocities.resize(vertices, DVec3::ZERO);
        state.orientations.resize(vertices, DQuat::IDENTITY);
        for pack in &self.packs {
            for (lane, strand) in pack.lanes() {
                let range = self.offsets[strand] as usize..self.offsets[strand + 1] as usize;
                pack.store(lane, state, range);
            }
        }
    }

    /// Parts of a step, of the rods by themselves. Returns the most iterations that a strand took, over all parts. Each pack goes through
    /// all parts before the next, while it is in the processor's cache.
    pub(super) fn advance<'a>(
        &mut self,
        holds: &Holds<'a>,
        parts: &[Part<'a>],
        params: &Params,
    ) -> Result<u32, StepError> {
        let packs = self.packs.par_iter_mut();
        let taken = packs.map_init(Vec::new, |scratch, pack| {
            let (mut all, mut lost) = (0, false);
            for part in parts {
                holds.act(part, pack);
                let taken = pack.advance(Conditions::new(part, params), scratch);
                pack.rebase();
                (all, lost) = (all + taken.iterations, lost || taken.lost);
            }
            (all, lost)
        });
        let (iterations, lost) = taken.reduce(|| (0, false), |a, b| (a.0.max(b.0), a.1 || b.1));
        if lost {
            self.check()?;
        }
        Ok(iterations)
    }

    /// Moves strands rigidly from one pose to another.
    pub(super) fn carry(&mut self, jumping: &[(usize, Pose, Pose)]) {
        let places: Vec<(usize, usize, usize)> = self
            .packs
            .iter()
            .enumerate()
            .flat_map(|(pack, lanes)| lanes.lanes().map(move |(lane, strand)| (strand, pack, lane)))
            .collect();
        let mut of_strand = vec![(0, 0); places.len()];
        for (strand, pack, lane) in places {
            of_strand[strand] = (pack, lane);
        }
        for (strand, before, after) in jumping {
            let (pack, lane) = of_strand[*strand];
            self.packs[pack].carry(lane, before, after);
        }
    }

    /// Moves all vertices out of bodies. Returns how many touch.
    pub(super) fn leave_bodies(&mut self, model: &Model, bodies: &Obstacles<'_>, margin: f64) -> u64 {
        let packs = self.packs.par_iter_mut();
        packs
            .map(|pack| {
                let touching = pack.leave_bodies(model, bodies, margin as f32);
                pack.rebase();
                touching
            })
            .sum()
    }

    /// Takes all speed from the rods.
    pub(super) fn stop(&mut self) {
        for row in self.packs.iter_mut().flat_map(|pack| &mut pack.moving) {
            row.velocity = [S::default(); 3];
            row.spin = [S::default(); 3];
        }
    }

    /// That no vertex is lost.
    pub(super) fn check(&self) -> Result<(), StepError> {
        let lost = |pack: &Pack<S>| {
            pack.lanes().find_map(|(lane, strand)| {
                let rows = pack.moving[..pack.counts[lane] as usize].iter();
                lost_vertex(strand, rows.map(|row| get_vector(&row.velocity, lane).length()))
            })
        };
        self.packs.par_iter().find_map_first(lost).map_or(Ok(()), Err)
    }
}
