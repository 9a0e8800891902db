//! Hair that goes along when the body that holds it jumps.

use crate::math::Pose;
use crate::scene::{Attachment, Drive, Model, State};

/// The strands whose bodies all jump at the start of `drive`, with the seat of each before and after. A rope between a body that jumps and
/// one that does not stays, and the solver pulls it taut.
pub(super) fn jumping(drive: &Drive<'_>) -> Vec<(usize, Pose, Pose)> {
    let same_strand = |a: &Attachment, b: &Attachment| a.strand == b.strand;
    let strands = drive.attachments.items.chunk_by(same_strand);
    strands
        .filter(|held| held.iter().all(|attachment| drive.jumps(attachment.body as usize)))
        .map(|held| {
            let [before, after] = [0.0, 1.0].map(|t| drive.seat_frame(&held[0], t));
            (held[0].strand as usize, before, after)
        })
        .collect()
}

/// Moves the strands rigidly that jump, without giving them speed; tells which.
pub(super) fn carry(model: &Model, drive: &Drive<'_>, state: &mut State) -> Vec<usize> {
    let jumping = jumping(drive);
    for (strand, before, after) in &jumping {
        let turn = after.rotation * before.rotation.conjugate();
        for vertex in model.range(*strand) {
            state.positions[vertex] = after.apply(before.apply_inverse(state.positions[vertex]));
            state.velocities[vertex] = turn * state.velocities[vertex];
            if let Some(orientation) = state.orientations.get_mut(vertex) {
                *orientation = turn * *orientation;
            }
        }
    }
    jumping.into_iter().map(|(strand, ..)| strand).collect()
}
