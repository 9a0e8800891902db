//! All that the rods need to go on bit for bit.

use glam::DVec3;

use super::pack::Pack;
use super::rods::Rods;
use crate::math::Stored;
use crate::math::lanes::WIDTH;
use crate::solve::{Checkpoint, CheckpointError};

/// Name of this method in checkpoints.
pub(super) const NAME: &str = "xpbd-mpm";
/// Version of its columns.
pub(super) const VERSION: u32 = 2;
/// Numbers in a row.
const NUMBERS: usize = 19;

/// The numbers of a pack, row after row, each for all lanes.
fn numbers<S>(pack: &mut Pack<S>) -> impl Iterator<Item = &mut S> {
    let rows = pack.moving.iter_mut().flat_map(|row| {
        let places = row.position.iter_mut().chain(&mut row.velocity).chain(&mut row.frame);
        places.chain(&mut row.spin).chain(&mut row.force).chain(&mut row.torque)
    });
    rows.chain(&mut pack.clamp)
}

impl<S: Stored> Rods<S> {
    /// Writes columns.
    pub(super) fn save(&self, out: &mut Checkpoint) {
        let (mut values, mut origins) = (Vec::new(), Vec::new());
        for pack in &self.packs {
            let mut pack = pack.clone();
            numbers(&mut pack).for_each(|number| values.extend((0..S::LANES).map(|lane| number.get(lane))));
            origins.extend(pack.origins.iter().flat_map(|origin| origin.to_array()));
        }
        out.put("rows", values);
        out.put("origins", origins);
    }

    /// Reads columns of rods that are laid out alike.
    pub(super) fn restore(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        let count: usize = self.packs.iter().map(|pack| pack.moving.len() * NUMBERS + 4).sum();
        let mut values = from.take::<f64>("rows", count * S::LANES)?.iter();
        let mut origins = from.take::<f64>("origins", self.packs.len() * WIDTH * 3)?.chunks_exact(3);
        for pack in &mut self.packs {
            for number in numbers(pack) {
                for (lane, &value) in values.by_ref().take(S::LANES).enumerate() {
                    number.set(lane, value);
                }
            }
            for (origin, value) in pack.origins.iter_mut().zip(&mut origins) {
                *origin = DVec3::from_slice(value);
            }
        }
        Ok(())
    }
}
