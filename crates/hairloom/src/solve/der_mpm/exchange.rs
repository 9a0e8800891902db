//! The way from the rods to material points and back. Points lie in the order of the packs, and in each strand after strand, so
//! that every pack has its own part of a column.

use glam::{DQuat, DVec3, Vec3};
use rayon::prelude::*;

use super::pack::{Pack, get_vector, set_vector};
use super::rods::Rods;
use super::settle::{Outcome, Surroundings};
use crate::grid::LooksOf;
use crate::math::Stored;

/// What the grid made of the vertices during a step of the rods, in the order of the points.
pub(super) struct Moved<'a> {
    /// Positions at the start [m].
    pub before: &'a [DVec3],
    /// Positions at the end [m].
    pub after: &'a [DVec3],
    /// Velocities at the end [m/s].
    pub velocities: &'a [Vec3],
    /// What the vertices saw of bodies when they last looked, or nothing.
    pub looks: LooksOf<'a>,
}

impl<S: Stored> Pack<S> {
    /// How many vertices the strands have together.
    fn points(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).sum()
    }

    /// Visits every vertex: lane and row.
    fn each_point(&self, mut visit: impl FnMut(usize, usize)) {
        for (lane, _) in self.lanes() {
            (self.first..self.first + self.counts[lane] as usize).for_each(|row| visit(lane, row));
        }
    }

    /// Moves the strands as the grid moved their vertices, and takes the velocities over; those of pins stay their own.
    fn follow(&mut self, moved: &Moved<'_>, dt: f64, limit: f64, rows: &mut Vec<[S; 3]>) {
        rows.clear();
        rows.resize(self.moving.len(), [S::default(); 3]);
        let mut way = moved.before.iter().zip(moved.after);
        self.each_point(|lane, row| {
            if let Some((before, after)) = way.next() {
                set_vector(&mut rows[row], lane, *after - *before);
            }
        });
        if self.first == 1 {
            // The ghost goes where its velocity takes it.
            for (lane, _) in self.lanes() {
                set_vector(&mut rows[0], lane, get_vector(&self.moving[0].velocity, lane) * dt);
            }
        }
        self.advance(dt, limit, Some(rows));
        let mut at = 0;
        for (lane, _) in self.lanes() {
            let range = self.first..self.first + self.counts[lane] as usize;
            for (rest, moving) in self.rest[range.clone()].iter().zip(&mut self.moving[range]) {
                if rest.free_mass.get(lane) > 0.0 {
                    set_vector(&mut moving.velocity, lane, moved.velocities[at].as_dvec3());
                }
                at += 1;
            }
        }
    }
}

impl<S: Stored> Rods<S> {
    /// The vertex of the model that each point is.
    pub(super) fn order(&self) -> Vec<u32> {
        let strands = self.packs.iter().flat_map(|pack| pack.lanes().map(|(_, strand)| strand));
        strands.flat_map(|strand| self.offsets[strand]..self.offsets[strand + 1]).collect()
    }

    /// Lets `work` fill the part of a column that belongs to each pack.
    fn fill<T: Send>(&self, mut column: &mut [T], work: impl Fn(&Pack<S>, &mut [T]) + Sync) {
        let mut parts = Vec::with_capacity(self.packs.len());
        for pack in &self.packs {
            let (part, rest) = column.split_at_mut(pack.points());
            parts.push((pack, part));
            column = rest;
        }
        parts.into_par_iter().for_each(|(pack, part)| work(pack, part));
    }

    /// World positions of all points [m].
    pub(super) fn read_positions(&self, column: &mut [DVec3]) {
        self.fill(column, |pack, part| {
            let positions = pack.lanes().flat_map(|(lane, _)| pack.positions(lane));
            part.iter_mut().zip(positions).for_each(|(value, position)| *value = position);
        });
    }

    /// Velocities of all points [m/s].
    pub(super) fn read_velocities(&self, column: &mut [Vec3]) {
        self.fill(column, |pack, part| {
            let mut part = part.iter_mut();
            pack.each_point(|lane, row| {
                if let Some(value) = part.next() {
                    *value = get_vector(&pack.moving[row].velocity, lane).as_vec3();
                }
            });
        });
    }

    /// How far each strand was carried round since this was last asked, by points: in the order of the packs the count of vertices
    /// and the turn of every strand.
    pub(super) fn take_turns(&mut self) -> Vec<(usize, DQuat)> {
        let mut turns = Vec::new();
        for pack in &mut self.packs {
            for (lane, _) in pack.lanes() {
                let turn = std::mem::replace(&mut pack.turned[lane], DQuat::IDENTITY);
                turns.push((pack.counts[lane] as usize, turn));
            }
        }
        turns
    }

    /// Moves the rods as the grid moved their vertices over `dt` [s], and then out of bodies, lengths kept.
    pub(super) fn take_back(&mut self, moved: &Moved<'_>, dt: f64, around: &Surroundings<'_>) -> Outcome {
        let (limit, mut start) = (self.params.most_stretch, 0);
        let starts: Vec<usize> = self
            .packs
            .iter()
            .map(|pack| {
                start += pack.points();
                start - pack.points()
            })
            .collect();
        let outcomes = self.packs.par_iter_mut().zip(starts).map_init(Vec::new, |rows, (pack, start)| {
            let range = start..start + pack.points();
            let moved = Moved {
                before: &moved.before[range.clone()],
                after: &moved.after[range.clone()],
                velocities: &moved.velocities[range.clone()],
                looks: moved.looks.part(range),
            };
            pack.follow(&moved, dt, limit, rows);
            pack.settle(around, moved.looks)
        });
        outcomes.reduce(Outcome::default, Outcome::and)
    }

    /// Moves the rods by their own velocities over `dt` [s], and then out of bodies, lengths kept.
    pub(super) fn advance(&mut self, dt: f64, around: &Surroundings<'_>) -> Outcome {
        let limit = self.params.most_stretch;
        let outcomes = self.packs.par_iter_mut().map(|pack| {
            pack.advance(dt, limit, None);
            pack.settle(around, LooksOf::default())
        });
        outcomes.reduce(Outcome::default, Outcome::and)
    }
}
