//! All that the rods need to go on bit for bit.

use glam::{DQuat, DVec3};

use super::pack::Pack;
use super::rods::Rods;
use crate::math::Stored;
use crate::math::lanes::WIDTH;
use crate::solve::{Checkpoint, CheckpointError};

/// Name of this method in checkpoints.
pub(super) const NAME: &str = "der-mpm";
/// Version of its columns.
pub(super) const VERSION: u32 = 2;
/// Numbers in a row.
const NUMBERS: usize = 11;

/// The numbers of a pack, row after row, each for all lanes.
fn numbers<S>(pack: &mut Pack<S>) -> impl Iterator<Item = &mut S> {
    pack.moving.iter_mut().flat_map(|row| {
        let vectors = row.tangent.iter_mut().chain(&mut row.director).chain(&mut row.velocity);
        vectors.chain([&mut row.length, &mut row.spin])
    })
}

impl<S: Stored> Rods<S> {
    /// Writes columns.
    pub(super) fn save(&self, out: &mut Checkpoint) {
        let (mut values, mut roots, mut turns) = (Vec::new(), Vec::new(), Vec::new());
        for pack in &self.packs {
            let mut pack = pack.clone();
            numbers(&mut pack).for_each(|number| values.extend((0..S::LANES).map(|lane| number.get(lane))));
            roots.extend(pack.roots.iter().flat_map(|root| root.to_array()));
            turns.extend(pack.turned.iter().flat_map(|turn| turn.to_array()));
        }
        out.put("rows", values);
        out.put("roots", roots);
        out.put("turns", turns);
    }

    /// Reads columns of rods that are laid out alike.
    pub(super) fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        let rows: usize = self.packs.iter().map(|pack| pack.moving.len()).sum();
        let mut values = from.take::<f64>("rows", rows * NUMBERS * S::LANES)?.iter();
        let mut roots = from.take::<f64>("roots", self.packs.len() * WIDTH * 3)?.chunks_exact(3);
        let mut turns = from.take::<f64>("turns", self.packs.len() * WIDTH * 4)?.chunks_exact(4);
        for pack in &mut self.packs {
            for number in numbers(pack) {
                for (lane, &value) in values.by_ref().take(S::LANES).enumerate() {
                    number.set(lane, value);
                }
            }
            for (root, value) in pack.roots.iter_mut().zip(&mut roots) {
                *root = DVec3::from_slice(value);
            }
            for (turn, value) in pack.turned.iter_mut().zip(&mut turns) {
                *turn = DQuat::from_slice(value);
            }
        }
        Ok(())
    }
}
