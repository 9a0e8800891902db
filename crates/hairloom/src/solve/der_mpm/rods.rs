//! All strands as elastic rods: the semi-implicit stage.

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::Params;
use super::pack::{Load, Pack, get_vector, set_vector, transported};
use super::step::{Conditions, Solve};
use crate::math::Stored;
use crate::math::band::Scratch;
use crate::scene::{Model, State};
use crate::solve::packing::groups;
use crate::solve::{StepError, lost_vertex};

/// Strands as elastic rods in lanes of `S`: [`crate::math::lanes::Row`] for eight in single precision,
/// [`crate::math::lanes::DoubleRow`] for four in double precision, `f64` for one.
#[derive(Debug, Clone)]
pub(super) struct Rods<S> {
    pub(super) packs: Vec<Pack<S>>,
    /// Where each strand's vertices begin.
    pub(super) offsets: Vec<u32>,
    pub(super) params: Params,
}

impl<S: Stored> Rods<S> {
    /// Lays out the hair of a model, as groomed; `pinned` tells for each vertex whether it is held.
    pub(super) fn new(model: &Model, pinned: &[bool], params: Params) -> Self {
        let held: Vec<u32> = (0..model.strands())
            .map(|s| model.range(s).take_while(|&v| pinned.get(v).copied().unwrap_or(false)).count() as u32)
            .collect();
        let groups = groups(model, &held, S::LANES);
        let packs =
            groups.par_iter().map(|(held, group)| Pack::new(model, group, *held as usize, pinned, &params));
        let mut rods = Self { packs: packs.collect(), offsets: model.offsets.clone(), params };
        rods.load(&State::at_rest(model.groomed.iter().map(|p| p.as_dvec3()).collect()), None);
        rods
    }

    /// Sets positions and velocities. Directors come from the state's orientations; where it has none, from the groom, turned by
    /// `turns[strand]` and transported along the strand.
    pub(super) fn load(&mut self, state: &State, turns: Option<&[DQuat]>) {
        let offsets = &self.offsets;
        self.packs.par_iter_mut().for_each(|pack| {
            for (lane, strand) in pack.lanes() {
                let range = offsets[strand] as usize..offsets[strand + 1] as usize;
                let positions = &state.positions[range.clone()];
                let turn = turns.and_then(|turns| turns.get(strand)).copied().unwrap_or(DQuat::IDENTITY);
                let (tangent, director) = pack.groomed[lane][0];
                let mut frames = transported(positions, Some((turn * tangent, turn * director)));
                if let Some(orientations) = state.orientations.get(range.clone()) {
                    for ((tangent, director), orientation) in frames.iter_mut().zip(orientations) {
                        let axis = *orientation * DVec3::X;
                        *director = axis.reject_from_normalized(*tangent).normalize_or(*director);
                    }
                }
                pack.set_strand(lane, positions, &state.velocities[range], &frames);
            }
        });
    }

    /// Writes positions, velocities and orientations of all strands.
    pub(super) fn store(&self, state: &mut State) {
        let mut strands = state.by_strand(&self.offsets);
        let of_pack = |pack: &Pack<S>| -> Vec<_> {
            pack.lanes().map(|(lane, strand)| (lane, std::mem::take(&mut strands[strand]))).collect()
        };
        let parts: Vec<_> = self.packs.iter().map(of_pack).collect();
        self.packs.par_iter().zip(parts).for_each(|(pack, strands)| {
            strands.into_iter().for_each(|(lane, strand)| pack.store(lane, strand));
        });
    }

    /// Writes where the vertices of all strands are [m].
    pub(super) fn store_positions(&self, positions: &mut Vec<DVec3>) {
        positions.resize(self.offsets.last().map_or(0, |&end| end as usize), DVec3::ZERO);
        let mut rest = positions.as_mut_slice();
        let counts = self.offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
        let mut strands: Vec<&mut [DVec3]> =
            counts.map(|count| rest.split_off_mut(..count).unwrap_or_default()).collect();
        let of_pack = |pack: &Pack<S>| -> Vec<_> {
            pack.lanes().map(|(lane, strand)| (lane, std::mem::take(&mut strands[strand]))).collect()
        };
        let parts: Vec<_> = self.packs.iter().map(of_pack).collect();
        self.packs.par_iter().zip(parts).for_each(|(pack, strands)| {
            for (lane, strand) in strands {
                strand.iter_mut().zip(pack.positions(lane)).for_each(|(to, from)| *to = from);
            }
        });
    }

    /// Lets `work` hold and load every strand, in parallel.
    pub(super) fn drive(&mut self, work: impl Fn(usize, &mut Driven<'_, S>) + Sync) {
        self.packs.par_iter_mut().for_each(|pack| {
            for (lane, strand) in pack.lanes() {
                work(strand, &mut Driven { pack, lane });
            }
        });
    }

    /// The velocities at the end of a step of `dt` [s] under gravity [m/s²], loads and pins, by one linear solve per strand.
    /// Loads are used up. Nothing moves yet.
    pub(super) fn solve(&mut self, dt: f64, gravity: DVec3) -> Result<(), StepError> {
        let least = self.params.least();
        let lost = self.packs.par_iter_mut().map_init(Scratch::default, |scratch, pack| {
            let momenta = if pack.free { pack.momenta(gravity * dt) } else { Vec::new() };
            let conditions = Conditions { dt, gravity, least };
            let pivots = S::dispatch(Solve { pack, conditions, scratch });
            pack.balance(&momenta, dt);
            pack.loads.clear();
            let bad = pack.lanes().find(|&(lane, _)| pivots.get(lane).is_nan() || pivots.get(lane) <= 0.0);
            bad.map(|(_, strand)| strand)
        });
        match lost.reduce(|| None, |a, b| a.min(b).or(a).or(b)) {
            None => Ok(()),
            Some(strand) => Err(StepError::Diverged {
                strand,
                vertex: 0,
                problem: "the system of the strand cannot be solved".to_owned(),
            }),
        }
    }

    /// Takes all speed from the rods.
    pub(super) fn stop(&mut self) {
        for moving in self.packs.iter_mut().flat_map(|pack| &mut pack.moving) {
            moving.velocity = [S::default(); 3];
            moving.spin = S::default();
        }
    }

    /// That no vertex is lost.
    pub(super) fn check(&self) -> Result<(), StepError> {
        let lost = |pack: &Pack<S>| {
            pack.lanes().find_map(|(lane, strand)| {
                let rows = pack.moving[pack.first..][..pack.counts[lane] as usize].iter();
                lost_vertex(strand, rows.map(|row| get_vector(&row.velocity, lane).length()))
            })
        };
        self.packs.par_iter().find_map_first(lost).map_or(Ok(()), Err)
    }
}

/// One strand between two steps, for [`Rods::drive`].
pub(super) struct Driven<'a, S> {
    pack: &'a mut Pack<S>,
    lane: usize,
}

impl<S: Stored> Driven<'_, S> {
    /// Pins vertices from `vertex` on, which must have been named when the rods were laid out: they will be at `targets` [m] after
    /// `dt` [s], and the edges between them (the root's clamp, where it alone is held) are turned from the groom by `turn`. `blend`
    /// from 0 to 1 is the share of the velocity that leads there, the rest is the last step's (section 3.1.3); with less than 1 the
    /// hair arrives later, softer, and without lag while the head keeps its speed.
    pub(super) fn hold(&mut self, vertex: usize, targets: &[DVec3], turn: DQuat, dt: f64, blend: f64) {
        self.pack.hold(self.lane, vertex, targets, turn, dt, blend);
    }

    /// Adds to what acts on a vertex during the next solve: `resistance` [kg] times the new velocity is subtracted from the
    /// momentum, `impulse` [kg m/s] added. A spring k to a point takes (Δt² k, Δt k (point − position)), moving air (Δt c, Δt c w).
    pub(super) fn add_load(&mut self, vertex: usize, resistance: f64, impulse: DVec3) {
        let (pack, lane) = (&mut *self.pack, self.lane);
        pack.loads.resize(pack.moving.len(), Load::default());
        let load = &mut pack.loads[pack.first + vertex];
        load.resistance.set(lane, load.resistance.get(lane) + resistance);
        let sum = get_vector(&load.impulse, lane) + impulse;
        set_vector(&mut load.impulse, lane, sum);
    }

    /// Moves the strand rigidly: turned about the origin, then shifted [m]. Velocities turn along.
    pub(super) fn carry(&mut self, turn: DQuat, shift: DVec3) {
        self.pack.carry(self.lane, turn, shift);
    }

    /// World positions of the vertices [m].
    pub(super) fn positions(&self) -> impl Iterator<Item = DVec3> + '_ {
        self.pack.positions(self.lane)
    }
}
