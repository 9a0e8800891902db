//! What the world does to the strands during a step: bodies that hold them, wind and handles.

use std::ops::Range;

use glam::{DQuat, DVec3};

use super::pack::{Pack, get_vector, set_frame, set_vector};
use crate::math::{Pose, Stored};
use crate::scene::{Attachment, Drive, Model, Seat};

/// Which attachments and handles hold each strand.
pub(super) struct Holds<'a> {
    model: &'a Model,
    drive: Drive<'a>,
    of_strand: Vec<Range<usize>>,
    /// Whether all seats move with their bodies as a whole.
    rigid: bool,
    /// Handles, sorted by strand.
    handles: Vec<(u32, u32, DVec3, f64)>,
}

/// A part of a step.
pub(super) struct Part<'a> {
    pub drive: Drive<'a>,
    /// Its duration [s].
    pub dt: f64,
    /// Where bodies are at its end.
    pub poses: Vec<Pose>,
    /// Whether nothing is there to be told that was not told for the part before.
    again: bool,
}

impl<'a> Holds<'a> {
    pub(super) fn new(model: &'a Model, drive: &Drive<'a>) -> Self {
        let of_strand = drive.attachments.by_strand(model.strands());
        let pulled = drive.handles.iter().map(|h| (h.strand, h.vertex, h.target, h.stiffness));
        let mut handles: Vec<_> = pulled.collect();
        handles.sort_by_key(|&(strand, vertex, _, _)| (strand, vertex));
        let rigid = drive.attachments.items.iter().all(|item| item.seat == Seat::Body);
        Self { model, drive: *drive, of_strand, rigid, handles }
    }

    /// A part of the step, of `dt` [s], after packs were last told of bodies at `told`.
    pub(super) fn part(&self, drive: &Drive<'a>, dt: f64, told: Option<&[Pose]>) -> Part<'a> {
        let poses: Vec<Pose> = (0..drive.bodies.len()).map(|body| drive.pose(body, 1.0)).collect();
        let again = told.is_some_and(|told| told == poses) && self.says_the_same();
        Part { drive: *drive, dt, poses, again }
    }

    /// Whether all that packs are told hangs on the poses of bodies alone.
    pub(super) fn says_the_same(&self) -> bool {
        self.rigid && self.drive.wind.is_none() && self.handles.is_empty()
    }

    fn attachments(&self, strand: usize) -> &'a [Attachment] {
        &self.drive.attachments.items[self.of_strand[strand].clone()]
    }

    /// How far the groom of a strand is turned by the body that holds it at the start.
    pub(super) fn turn_at_start(&self, strand: usize) -> DQuat {
        self.attachments(strand).first().map_or(DQuat::IDENTITY, |attachment| {
            attachment.turn_from_groom(&self.drive.seat_frame(attachment, 0.0))
        })
    }

    /// Tells a pack where held vertices and segments will be, and how the air moves.
    pub(super) fn act<S: Stored>(&self, part: &Part<'a>, pack: &mut Pack<S>) {
        if part.again {
            return;
        }
        pack.targets.clear();
        pack.frames.clear();
        for (lane, strand) in pack.lanes() {
            for attachment in self.attachments(strand) {
                let frame = match attachment.seat {
                    Seat::Body => part.poses[attachment.body as usize],
                    Seat::Triangle { .. } => part.drive.seat_frame(attachment, 1.0),
                };
                self.hold(pack, lane, attachment, &frame);
            }
            self.pull(pack, lane, strand, part.dt);
        }
        pack.wind.clear();
        if !part.drive.wind.is_none() {
            self.blow(pack, part);
        }
    }

    fn hold<S: Stored>(&self, pack: &mut Pack<S>, lane: usize, attachment: &Attachment, frame: &Pose) {
        let turn = attachment.turn_from_groom(frame);
        let points = self.drive.attachments.points_of(attachment);
        let first = attachment.first as usize;
        for (vertex, &point) in points.iter().enumerate() {
            pack.targets.push((lane as u32, (first + vertex) as u32, frame.apply(point)));
            if vertex + 1 < points.len() {
                let groomed = pack.groomed[lane][first + vertex];
                pack.frames.push((lane as u32, (first + vertex) as u32, turn * groomed));
            }
        }
        if first == 0 {
            let clamp = turn * pack.groomed[lane][0];
            set_frame(&mut pack.clamp, lane, clamp);
        }
    }

    /// Handles pull by springs, which are stepped backwards in time so that no stiffness throws a vertex beyond its target.
    fn pull<S: Stored>(&self, pack: &mut Pack<S>, lane: usize, strand: usize, dt: f64) {
        let first = self.handles.partition_point(|handle| (handle.0 as usize) < strand);
        for &(_, vertex, target, stiffness) in
            self.handles[first..].iter().take_while(|handle| handle.0 as usize == strand)
        {
            let vertex = vertex as usize;
            if pack.still[vertex].weight.get(lane) <= 0.0 {
                continue;
            }
            let position = pack.position(lane, vertex);
            let velocity = get_vector(&pack.moving[vertex].velocity, lane);
            let rate = stiffness * dt;
            let velocity = (velocity + (target - position) * rate) / (1.0 + rate * dt);
            set_vector(&mut pack.moving[vertex].velocity, lane, velocity);
        }
    }

    fn blow<S: Stored>(&self, pack: &mut Pack<S>, part: &Part<'a>) {
        let time = part.drive.time_at(0.5);
        pack.wind.resize(pack.moving.len(), [S::default(); 3]);
        for (lane, strand) in pack.lanes() {
            for vertex in 0..self.model.range(strand).len() {
                let wind = part.drive.wind.velocity(pack.position(lane, vertex), time);
                set_vector(&mut pack.wind[vertex], lane, wind);
            }
        }
    }
}

impl<S: Stored> Pack<S> {
    /// Takes held vertices and segments where they will be at the end of a step of `dt` [s], and gives vertices the velocities that lead
    /// there.
    #[inline(always)]
    pub(super) fn hold(&mut self, dt: f64) {
        for &(lane, vertex, target) in &self.targets {
            let (lane, row) = (lane as usize, &mut self.moving[vertex as usize]);
            let offset = target - self.origins[lane];
            let velocity = (offset - get_vector(&row.position, lane)) / dt;
            set_vector(&mut row.velocity, lane, velocity);
            set_vector(&mut row.position, lane, offset);
        }
        for &(lane, segment, frame) in &self.frames {
            let (lane, row) = (lane as usize, &mut self.moving[segment as usize]);
            set_frame(&mut row.frame, lane, frame);
        }
    }
}
