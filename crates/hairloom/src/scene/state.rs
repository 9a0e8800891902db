use glam::{DQuat, DVec3};

use super::Model;
use crate::groom::Remap;

/// All that moves and that every method understands, strand after strand: the exchange format for caches,
/// comparison, and a cold start of any method.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// World positions of all vertices [m].
    pub positions: Vec<DVec3>,
    /// Velocities of all vertices [m/s].
    pub velocities: Vec<DVec3>,
    /// Material frames of the edges, stored at each edge's first vertex (a strand's last entry repeats the one
    /// before). Empty where the method has none: then frames follow from the centreline by parallel transport.
    pub orientations: Vec<DQuat>,
}

/// One strand of a [`State`].
#[derive(Debug, Default)]
pub(crate) struct StrandState<'a> {
    pub positions: &'a mut [DVec3],
    pub velocities: &'a mut [DVec3],
    pub orientations: &'a mut [DQuat],
}

impl State {
    /// Hair at rest in the given positions.
    pub fn at_rest(positions: Vec<DVec3>) -> Self {
        let velocities = vec![DVec3::ZERO; positions.len()];
        Self { positions, velocities, orientations: Vec::new() }
    }

    /// The columns of strands that begin at `offsets`, cut strand by strand to be filled in any order.
    pub(crate) fn by_strand(&mut self, offsets: &[u32]) -> Vec<StrandState<'_>> {
        let vertices = offsets.last().map_or(0, |&end| end as usize);
        self.positions.resize(vertices, DVec3::ZERO);
        self.velocities.resize(vertices, DVec3::ZERO);
        self.orientations.resize(vertices, DQuat::IDENTITY);
        let Self { positions, velocities, orientations } = self;
        let (mut positions, mut velocities) = (positions.as_mut_slice(), velocities.as_mut_slice());
        let mut orientations = orientations.as_mut_slice();
        let mut strands = Vec::with_capacity(offsets.len());
        for range in offsets.windows(2) {
            let count = (range[1] - range[0]) as usize;
            strands.push(StrandState {
                positions: positions.split_off_mut(..count).unwrap_or_default(),
                velocities: velocities.split_off_mut(..count).unwrap_or_default(),
                orientations: orientations.split_off_mut(..count).unwrap_or_default(),
            });
        }
        strands
    }
}

impl State {
    /// This state of the hair of `old`, carried over to the edited hair of `new`: kept vertices are interpolated
    /// along their old strands, and beyond the tip they go on straight. Edges get their new rest lengths, stretched as
    /// they were, from the root. Strands that are new altogether begin at rest as groomed.
    pub fn remapped(&self, old: &Model, new: &Model, remap: &Remap) -> State {
        let mut state = State::at_rest(new.groomed.iter().map(|point| point.as_dvec3()).collect());
        for strand in 0..new.strands() {
            let target = new.range(strand);
            let Some(source) = remap.strands.get(strand).copied().flatten() else { continue };
            let source = old.range(source as usize);
            for vertex in target.clone() {
                let last = source.len() - 1;
                let place = f64::from(remap.coordinates[vertex]).max(0.0);
                let first = (place.floor() as usize).min(last - 1);
                let share = place - first as f64;
                let (a, b) = (source.start + first, source.start + first + 1);
                // Beyond the tip positions go on along the last edge; velocities stay the tip's.
                state.positions[vertex] = self.positions[a].lerp(self.positions[b], share);
                state.velocities[vertex] = self.velocities[a].lerp(self.velocities[b], share.min(1.0));
            }
            for vertex in target.start + 1..target.end {
                let leader = state.positions[vertex - 1];
                let edge = state.positions[vertex] - leader;
                let middle = 0.5 * (remap.coordinates[vertex - 1] + remap.coordinates[vertex]);
                let old_edge = source.start + (middle.max(0.0) as usize).min(source.len() - 2);
                let was = self.positions[old_edge + 1] - self.positions[old_edge];
                let length = new.rest_lengths[vertex - 1] * was.length() / old.rest_lengths[old_edge];
                state.positions[vertex] = leader + edge.normalize_or(DVec3::NEG_Y) * length;
            }
        }
        state
    }
}
