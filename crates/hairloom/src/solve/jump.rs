//! Hair that goes along when the body that holds it jumps.

use crate::scene::{Attachment, Drive, Model, State};

/// Moves the strands rigidly whose bodies all jump at the start of `drive`, without giving them speed; tells which.
/// A rope between a body that jumps and one that does not stays, and the solver pulls it taut.
pub(super) fn carry(model: &Model, drive: &Drive<'_>, state: &mut State) -> Vec<usize> {
    let mut carried = Vec::new();
    let same_strand = |a: &Attachment, b: &Attachment| a.strand == b.strand;
    for held in drive.attachments.items.chunk_by(same_strand) {
        if !held.iter().all(|attachment| drive.jumps(attachment.body as usize)) {
            continue;
        }
        carried.push(held[0].strand as usize);
        let (before, after) = (drive.seat_frame(&held[0], 0.0), drive.seat_frame(&held[0], 1.0));
        let turn = after.rotation * before.rotation.conjugate();
        for vertex in model.range(held[0].strand as usize) {
            state.positions[vertex] = after.apply(before.apply_inverse(state.positions[vertex]));
            state.velocities[vertex] = turn * state.velocities[vertex];
            if let Some(orientation) = state.orientations.get_mut(vertex) {
                *orientation = turn * *orientation;
            }
        }
    }
    carried
}
