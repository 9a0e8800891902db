//! Hair at a frame that falls between two steps.

use glam::{DQuat, DVec3};

use crate::body::Bodies;
use crate::math::Pose;
use crate::scene::{Attachments, Model, State};
use crate::solve::{Checkpoint, CheckpointError};

/// A moment during a step. Hair goes straight from one end of the step to the other, seen from the body that holds it:
/// that body's own motion, which may be fast, is not cut short. Edges that turn keep their lengths.
pub(super) struct Between {
    /// The holder's poses at the start of the step, at the moment, and at the end of the step.
    pub poses: [Pose; 3],
    /// The part of the step that has passed; 1 after a jump, where what was before has no meaning.
    pub part: f64,
}

impl Between {
    /// Brings the state at the end of the step back to the moment; answers the lengths of the edges there.
    pub(super) fn bring_back(&self, before: &State, state: &mut State) -> Vec<f64> {
        let [from, at, to] = self.poses;
        let lengths = self.lengths(&before.positions, &state.positions);
        for (position, before) in state.positions.iter_mut().zip(&before.positions) {
            let (before, after) = (from.apply_inverse(*before), to.apply_inverse(*position));
            *position = at.apply(before.lerp(after, self.part));
        }
        for (velocity, before) in state.velocities.iter_mut().zip(&before.velocities) {
            *velocity = before.lerp(*velocity, self.part);
        }
        for (orientation, before) in state.orientations.iter_mut().zip(&before.orientations) {
            let (before, after) = (from.rotation.inverse() * *before, to.rotation.inverse() * *orientation);
            *orientation = (at.rotation * before.slerp(after, self.part)).normalize();
        }
        lengths
    }

    /// The lengths of the edges behind each vertex but the last at the moment [m], those between two strands among them.
    fn lengths(&self, before: &[DVec3], after: &[DVec3]) -> Vec<f64> {
        let length = |pair: &[DVec3]| pair[0].distance(pair[1]);
        let pairs = before.windows(2).zip(after.windows(2));
        pairs.map(|(before, after)| length(before) * (1.0 - self.part) + length(after) * self.part).collect()
    }
}

/// Gives edges their lengths, from the first vertex of each strand on. Held vertices stay.
pub(super) fn keep_lengths(model: &Model, held: &[bool], lengths: &[f64], positions: &mut [DVec3]) {
    for range in (0..model.strands()).map(|strand| model.range(strand)) {
        for vertex in (range.start + 1..range.end).filter(|&vertex| !held[vertex]) {
            let (before, edge) = (positions[vertex - 1], positions[vertex] - positions[vertex - 1]);
            positions[vertex] = before + edge.normalize_or_zero() * lengths[vertex - 1];
        }
    }
}

/// Puts held vertices where the bodies hold them at the end of the step under way.
pub(super) fn put_held(model: &Model, attachments: &Attachments, bodies: &Bodies, state: &mut State) {
    for held in &attachments.items {
        let frame = held.seat.frame(bodies, held.body as usize, 1.0);
        let start = model.range(held.strand as usize).start + held.first as usize;
        for (position, &point) in state.positions[start..].iter_mut().zip(attachments.points_of(held)) {
            *position = frame.apply(point);
        }
    }
}

/// Keeps the state before the last step.
pub(super) fn save(before: &State, out: &mut Checkpoint) {
    let flat = |values: &[DVec3]| values.iter().flat_map(|value| value.to_array()).collect::<Vec<f64>>();
    out.put("simulation positions before", flat(&before.positions));
    out.put("simulation velocities before", flat(&before.velocities));
    let orientations = before.orientations.iter().flat_map(|value| value.to_array());
    out.put("simulation orientations before", orientations.collect::<Vec<f64>>());
}

/// Takes the state before the last step from a checkpoint.
pub(super) fn restore(before: &mut State, from: &Checkpoint) -> Result<(), CheckpointError> {
    let vertices = before.positions.len();
    let vectors = |name: &str| -> Result<Vec<DVec3>, CheckpointError> {
        Ok(from.take::<f64>(name, 3 * vertices)?.chunks_exact(3).map(DVec3::from_slice).collect())
    };
    before.positions = vectors("simulation positions before")?;
    before.velocities = vectors("simulation velocities before")?;
    let orientations = from.take_all::<f64>("simulation orientations before")?;
    before.orientations = orientations.chunks_exact(4).map(DQuat::from_slice).collect();
    Ok(())
}
