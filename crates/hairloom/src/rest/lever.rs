use glam::{DMat3, DQuat, DVec3};

use super::Hair;
use crate::rod::cosserat::{bending_length, frames_along};
use crate::rod::super_helix;

/// Strains of a joint and the segment behind it: three of bending and twisting, one of stretching.
const STRAINS: usize = 4;
/// The part of its first free edge in which a strand is as good as clamped, if it has edges.
const NEARLY_CLAMPED: f64 = 0.5;

/// A strand that is clamped at its root alone, and what forces at its vertices strain it by, to first order around the groom. Strains are
/// scaled so that half the sum of their squares is the elastic energy: with B from forces to moments and tensions, and C how much joints
/// and segments yield to those, strains are √C B f, and points move by (√C B)ᵀ times them.
pub(super) struct Lever {
    /// The last vertex that is held.
    clamp: usize,
    joints: Vec<Joint>,
    /// How far each vertex from the last held one on is along the strand, and up to where it is as good as clamped [m].
    arcs: Vec<f64>,
    clamped: f64,
}

struct Joint {
    /// Where it is [m].
    place: DVec3,
    /// Root of how much it yields to moments, which it turns into axes of the strand [1/√(N m)].
    bend: DMat3,
    /// The direction of the segment behind it, times the root of how much that yields to tension [√(m/N)].
    along: DVec3,
}

impl Lever {
    /// The lever of a strand, which may be of so many helices; without joints where all of it is held, none where it is held elsewhere than
    /// at its root, or not at all.
    pub(super) fn new(hair: &Hair<'_>, strand: usize, helices: Option<usize>) -> Option<Self> {
        let (range, material) = (hair.model.range(strand), hair.model.material(strand));
        let count = range.clone().take_while(|&vertex| hair.held[vertex]).count();
        if count == 0 || range.clone().skip(count).any(|vertex| hair.held[vertex]) {
            return None;
        }
        let clamp = range.start + count - 1;
        let frames = frames_along(&hair.positions[range.clone()], DQuat::IDENTITY);
        let lengths = &hair.model.rest_lengths[range.start..range.end - 1];
        let stiffness = DVec3::from_array(material.rod_stiffness());
        let stretch = material.young * material.area();
        let joint = |vertex: usize| {
            let segment = vertex - range.start;
            let bends = bending_length(lengths, segment, |v| hair.held[range.start + v]).unwrap_or(0.0);
            let axes = DMat3::from_quat(frames[segment]);
            let roots = (DVec3::splat(bends) / stiffness).map(f64::sqrt);
            Joint {
                place: hair.positions[vertex],
                bend: DMat3::from_diagonal(roots) * axes.transpose(),
                along: axes.z_axis * (lengths[segment] / stretch).sqrt(),
            }
        };
        let mut arcs = vec![0.0];
        for length in &lengths[count - 1..] {
            arcs.push(arcs[arcs.len() - 1] + length);
        }
        let edges = arcs.len() - 1;
        let clamped = match helices {
            // All elements are equally long.
            Some(elements) => {
                super_helix::NEARLY_CLAMPED * arcs[edges] / elements.clamp(1, edges.max(1)) as f64
            }
            None => NEARLY_CLAMPED * arcs[edges.min(1)],
        };
        Some(Self { clamp, joints: (clamp..range.end - 1).map(joint).collect(), arcs, clamped })
    }

    /// How many strains there are.
    pub(super) fn strains(&self) -> usize {
        STRAINS * self.joints.len()
    }

    /// Adds what a force at a vertex strains the strand by. What acts where it is held strains nothing.
    pub(super) fn add(&self, positions: &[DVec3], vertex: usize, force: DVec3, strains: &mut [f64]) {
        let reached = vertex.saturating_sub(self.clamp);
        for (joint, own) in self.joints[..reached].iter().zip(strains.chunks_exact_mut(STRAINS)) {
            let bent = joint.bend * (positions[vertex] - joint.place).cross(force);
            own[..3].iter_mut().zip(bent.to_array()).for_each(|(sum, part)| *sum += part);
            own[3] += joint.along.dot(force);
        }
    }

    /// Whether a point of the edge behind a vertex is so near to the clamp that solvers leave alone what touches it.
    pub(super) fn is_nearly_clamped(&self, vertex: usize, share: f64) -> bool {
        let last = self.arcs.len() - 1;
        let arc = |vertex: usize| self.arcs[vertex.saturating_sub(self.clamp).min(last)];
        vertex < self.clamp || arc(vertex) * (1.0 - share) + arc(vertex + 1) * share < self.clamped
    }
}
