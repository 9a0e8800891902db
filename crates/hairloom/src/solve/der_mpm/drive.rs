//! What the world does to the rods during a step.

use std::ops::Range;

use glam::{DQuat, DVec3, Vec3};

use super::Params;
use super::rods::{Driven, Rods};
use crate::body::Shape;
use crate::grid::Approach;
use crate::math::{Pose, Stored};
use crate::scene::{Attachment, Drive, Model, Seat};

/// Which attachments hold each strand, and where their bodies are.
pub(super) struct Holds<'a> {
    model: &'a Model,
    items: &'a [Attachment],
    /// The attachments of each strand.
    of_strand: Vec<Range<usize>>,
    /// The poses of the bodies at the start and at the end.
    poses: Vec<[Pose; 2]>,
    drive: Drive<'a>,
}

impl<'a> Holds<'a> {
    pub(super) fn new(model: &'a Model, drive: &Drive<'a>) -> Self {
        let items = drive.attachments.items.as_slice();
        let of_strand = drive.attachments.by_strand(model.strands());
        let poses = (0..drive.bodies.len()).map(|body| [0.0, 1.0].map(|t| drive.pose(body, t)));
        Self { model, items, of_strand, poses: poses.collect(), drive: *drive }
    }

    /// The frames of an attachment's seat at the start and at the end.
    fn frames(&self, attachment: &Attachment) -> [Pose; 2] {
        match attachment.seat {
            Seat::Body => self.poses[attachment.body as usize],
            Seat::Triangle { .. } => [0.0, 1.0].map(|t| self.drive.seat_frame(attachment, t)),
        }
    }

    /// How far the groom of each strand is turned by the body that holds it at the start.
    pub(super) fn turns_at_start(&self) -> Vec<DQuat> {
        let turn = |range: &Range<usize>| match self.items[range.clone()].first() {
            Some(attachment) => attachment.turn_from_groom(&self.frames(attachment)[0]),
            None => DQuat::IDENTITY,
        };
        self.of_strand.iter().map(turn).collect()
    }

    /// Carries strands along whose bodies all jump. A rope between a body that jumps and one that does not stays.
    pub(super) fn jump<S: Stored>(&self, rods: &mut Rods<S>) {
        rods.drive(|strand, driven| {
            let items = &self.items[self.of_strand[strand].clone()];
            let Some(first) = items.first() else { return };
            if items.iter().all(|attachment| self.drive.jumps(attachment.body as usize)) {
                let [before, after] = self.frames(first);
                let turn = (after.rotation * before.rotation.conjugate()).normalize();
                driven.carry(turn, after.translation - turn * before.translation);
            }
        });
    }

    /// Carries strands along with bodies that move too far, pins what is held, and lets wind and handles act.
    pub(super) fn act<S: Stored>(&self, rods: &mut Rods<S>, params: &Params, drive: &Drive<'_>, dt: f64) {
        let windy = !drive.wind.is_none();
        rods.drive(|strand, driven| {
            let items = &self.items[self.of_strand[strand].clone()];
            // What jumps has taken its hair along already.
            if let Some(first) = items.first().filter(|first| !drive.jumps(first.body as usize)) {
                carry_beyond(driven, params, self.frames(first));
            }
            let mut targets = Vec::new();
            for attachment in items {
                let end = self.frames(attachment)[1];
                targets.clear();
                targets.extend(drive.attachments.points_of(attachment).iter().map(|&point| end.apply(point)));
                let turn = attachment.turn_from_groom(&end);
                driven.hold(attachment.first as usize, &targets, turn, dt, params.pin_blend);
            }
            if windy {
                self.blow(strand, driven, drive, dt);
            }
            for handle in drive.handles.iter().filter(|handle| handle.strand as usize == strand) {
                let vertex = handle.vertex as usize;
                let mass = f64::from(self.model.masses[self.model.range(strand).start + vertex]);
                let position = driven.positions().nth(vertex);
                if let Some(position) = position {
                    let spring = mass * handle.stiffness * dt;
                    driven.add_load(vertex, spring * dt, (handle.target - position) * spring);
                }
            }
        });
    }

    /// Air that moves drags vertices along; what still air does is part of the solve.
    fn blow<S: Stored>(&self, strand: usize, driven: &mut Driven<'_, S>, drive: &Drive<'_>, dt: f64) {
        let (range, time) = (self.model.range(strand), drive.time_at(0.5));
        let rate = self.model.material(strand).drag * dt;
        let winds: Vec<DVec3> = driven.positions().map(|at| drive.wind.velocity(at, time)).collect();
        for (vertex, wind) in winds.into_iter().enumerate() {
            let mass = f64::from(self.model.masses[range.start + vertex]);
            driven.add_load(vertex, 0.0, wind * (rate * mass));
        }
    }
}

/// Section 4.2: where a strand's root is moved or turned farther than the limits allow, the strand goes along rigidly until what is
/// left of the motion lies within them.
fn carry_beyond<S: Stored>(driven: &mut Driven<'_, S>, params: &Params, [start, end]: [Pose; 2]) {
    let root = driven.positions().next().unwrap_or(start.translation);
    let shift = end.apply(start.apply_inverse(root)).distance(root);
    let turn = start.rotation.angle_between(end.rotation);
    let excess = (shift / params.most_shift).max(turn / params.most_turn);
    if excess > 1.0 {
        let middle = start.interpolate(&end, 1.0 - 1.0 / excess);
        let turn = (middle.rotation * start.rotation.conjugate()).normalize();
        driven.carry(turn, middle.translation - turn * start.translation);
    }
}

/// How bodies come during a drive, as seen by the body that holds the first strand.
pub(super) fn approach(drive: &Drive<'_>) -> Approach {
    let holder = drive.attachments.items.first().map(|attachment| attachment.body as usize);
    let frames = [0.0, 1.0].map(|t| holder.map_or(Pose::IDENTITY, |body| drive.pose(body, t)));
    let shift =
        |body: usize| if drive.bodies.body(body).collides { shift(drive, body, &frames) } else { 0.0 };
    let farthest = (0..drive.bodies.len()).map(shift).fold(0.0, f64::max);
    // A little more, for rounding.
    Approach { frame: frames[1], shift: farthest as f32 * (1.0 + 1e-5) + 1e-7 }
}

/// The farthest that a point of a body's surface is, at the end of a drive, from where it was at the start, seen from frames there [m];
/// infinite where that is not known.
fn shift(drive: &Drive<'_>, body: usize, frames: &[Pose; 2]) -> f64 {
    let [start, end] = [0.0, 1.0].map(|t| drive.pose(body, t));
    // Displacements of a rigid body are affine: the largest within a box is at one of its corners.
    let of_box = |low: Vec3, high: Vec3| {
        let corner = |k: usize| {
            let pick = |axis: usize| if k >> axis & 1 == 0 { low[axis] } else { high[axis] };
            let point = Vec3::new(pick(0), pick(1), pick(2)).as_dvec3();
            let [before, after] = [(&frames[0], &start), (&frames[1], &end)]
                .map(|(f, pose)| f.apply_inverse(pose.apply(point)));
            before.distance(after)
        };
        (0..8).map(corner).fold(0.0, f64::max)
    };
    let turns = || start.rotation != end.rotation || frames[0].rotation != frames[1].rotation;
    match &drive.bodies.body(body).shape {
        _ if drive.jumps(body) => f64::INFINITY,
        Shape::Plane if turns() => f64::INFINITY,
        Shape::Plane | Shape::Sphere { .. } => of_box(Vec3::ZERO, Vec3::ZERO),
        Shape::Capsule { half_height, .. } => of_box(Vec3::Y * -half_height, Vec3::Y * *half_height),
        // What deforms has no pose.
        Shape::Mesh(_) if start == Pose::IDENTITY && end == start => {
            let ways = drive.bodies.points(body, 0.0).into_iter().zip(drive.bodies.points(body, 1.0));
            let way = |(a, b): (Vec3, Vec3)| {
                frames[0].apply_inverse(a.as_dvec3()).distance(frames[1].apply_inverse(b.as_dvec3()))
            };
            let own = ways.clone().map(|(a, b)| f64::from(a.distance(b))).fold(0.0, f64::max);
            ways.map(way).fold(own, f64::max)
        }
        Shape::Mesh(mesh) => {
            let wide = |(low, high): (Vec3, Vec3), &point: &Vec3| (low.min(point), high.max(point));
            let (low, high) = mesh.points().iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), wide);
            of_box(low, high)
        }
    }
}
