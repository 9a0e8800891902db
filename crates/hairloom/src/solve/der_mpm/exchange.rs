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

    /// Visits a column of the points with their velocities [m/s].
    fn read_velocities<T>(&self, column: &mut [T], visit: impl Fn(&mut T, Vec3)) {
        let mut column = column.iter_mut();
        self.each_point(|lane, row| {
            if let Some(value) = column.next() {
                visit(value, get_vector(&self.moving[row].velocity, lane).as_vec3());
            }
        });
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

    /// A column cut into the parts of the packs.
    fn parts<'a, T>(&self, mut column: &'a mut [T]) -> Vec<&'a mut [T]> {
        let part = |pack: &Pack<S>| column.split_off_mut(..pack.points()).unwrap_or_default();
        self.packs.iter().map(part).collect()
    }

    /// World positions [m], twice, and velocities [m/s] of all points.
    pub(super) fn read(&self, before: &mut [DVec3], positions: &mut [DVec3], velocities: &mut [Vec3]) {
        let columns =
            self.parts(before).into_par_iter().zip(self.parts(positions)).zip(self.parts(velocities));
        self.packs.par_iter().zip(columns).for_each(|(pack, ((before, positions), velocities))| {
            let places = pack.lanes().flat_map(|(lane, _)| pack.positions(lane));
            for ((before, position), place) in before.iter_mut().zip(positions).zip(places) {
                (*before, *position) = (place, place);
            }
            pack.read_velocities(velocities, |velocity, own| *velocity = own);
        });
    }

    /// A share of what velocities have changed by since `before` [m/s].
    pub(super) fn read_changes(&self, before: &[Vec3], share: f32, changes: &mut [Vec3]) {
        let mut rest = before;
        let before: Vec<&[Vec3]> =
            self.packs.iter().map(|pack| rest.split_off(..pack.points()).unwrap_or_default()).collect();
        let columns = self.parts(changes).into_par_iter().zip(before);
        self.packs.par_iter().zip(columns).for_each(|(pack, (changes, before))| {
            pack.read_velocities(changes, |change, own| *change = own);
            changes.iter_mut().zip(before).for_each(|(change, before)| *change = (*change - before) * share);
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
