//! Checkpoints: all that the next step needs, bit for bit.

use glam::{DVec3, Vec3};

use super::Admm;
use super::params::Elastic;
use crate::contact::Contact;
use crate::math::Stored;
use crate::solve::{Checkpoint, CheckpointError};

/// Name and version of this method's checkpoints.
const CHECKPOINT: (&str, u32) = ("admm", 2);

impl<S: Stored> Admm<S> {
    /// Writes all that goes on.
    pub(super) fn write(&self, out: &mut Checkpoint) {
        let (method, version) = CHECKPOINT;
        out.begin(method, version);
        out.put("held", self.held.clone());
        out.put("frames known", vec![u32::from(self.frames_known)]);
        let packs = &self.strands.packs;
        let lanes = |row: &S| (0..S::LANES).map(|lane| row.get(lane)).collect::<Vec<f64>>();
        let mut rows = Vec::new();
        for pack in packs {
            for ((moving, velocity), spin) in pack.moving.iter().zip(&pack.velocities).zip(&pack.spins) {
                let parts = moving.frame.iter().chain(&moving.position).chain([&moving.length, spin]);
                parts.chain(velocity).for_each(|part| rows.extend(lanes(part)));
            }
        }
        out.put("rows", rows);
        let roots = packs.iter().flat_map(|pack| pack.roots).flat_map(|root| root.to_array());
        out.put("roots", roots.collect::<Vec<f64>>());
        if self.params.elastic == Elastic::Splitting {
            let splits = packs.iter().flat_map(|pack| pack.split.memory().chain(pack.clamp));
            out.put("multipliers", splits.flat_map(|value| lanes(&value)).collect::<Vec<f64>>());
        }
        out.put("ties", self.tie_forces.iter().map(|(key, _)| *key).collect::<Vec<u64>>());
        let forces = self.tie_forces.iter().flat_map(|(_, force)| force.to_array());
        out.put("tie forces", forces.collect::<Vec<f64>>());
        let (forces, close) = self.contacts.memory();
        out.put("contact keys", forces.iter().map(|(key, _)| *key).collect::<Vec<u64>>());
        out.put(
            "contact forces",
            forces.iter().flat_map(|(_, force)| force.to_array()).collect::<Vec<f32>>(),
        );
        out.put("close edges", close.iter().map(|contact| contact.key()).collect::<Vec<u64>>());
        out.put("close normals", close.iter().flat_map(|c| c.normal.to_array()).collect::<Vec<f32>>());
    }

    /// Goes on from what was written.
    pub(super) fn read(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        let (method, version) = CHECKPOINT;
        from.expect(method, version)?;
        self.held = from.take("held", self.model.strands())?.to_vec();
        self.frames_known = from.take::<u32>("frames known", 1)?[0] != 0;
        self.lay_out(self.held.clone());
        let packs = &mut self.strands.packs;
        let count: usize = packs.iter().map(|pack| pack.moving.len()).sum();
        let mut rows = from.take::<f64>("rows", count * 12 * S::LANES)?.iter();
        let mut roots =
            from.take::<f64>("roots", packs.iter().map(|pack| 3 * pack.roots.len()).sum())?.chunks_exact(3);
        for pack in packs {
            for ((moving, velocity), spin) in
                pack.moving.iter_mut().zip(&mut pack.velocities).zip(&mut pack.spins)
            {
                let parts = moving.frame.iter_mut().chain(&mut moving.position);
                for part in parts.chain([&mut moving.length, spin]).chain(velocity) {
                    (0..S::LANES).zip(&mut rows).for_each(|(lane, &value)| part.set(lane, value));
                }
            }
            pack.roots.iter_mut().zip(&mut roots).for_each(|(root, value)| *root = DVec3::from_slice(value));
        }
        if self.params.elastic == Elastic::Splitting {
            let packs = &mut self.strands.packs;
            let count =
                packs.iter().map(|pack| pack.split.memory().count() + pack.clamp.len()).sum::<usize>();
            let mut values = from.take::<f64>("multipliers", count * S::LANES)?.iter();
            for part in packs.iter_mut().flat_map(|pack| pack.split.memory_mut().chain(&mut pack.clamp)) {
                (0..S::LANES).zip(&mut values).for_each(|(lane, &value)| part.set(lane, value));
            }
        }
        let ties = from.take_all::<u64>("ties")?;
        let forces = from.take::<f64>("tie forces", 3 * ties.len())?.chunks_exact(3);
        self.tie_forces = ties.iter().copied().zip(forces.map(DVec3::from_slice)).collect();
        let keys = from.take_all::<u64>("contact keys")?;
        let forces =
            from.take::<f32>("contact forces", 3 * keys.len())?.chunks_exact(3).map(Vec3::from_slice);
        let edges = from.take_all::<u64>("close edges")?;
        let normals =
            from.take::<f32>("close normals", 3 * edges.len())?.chunks_exact(3).map(Vec3::from_slice);
        let contact = |(&key, normal): (&u64, Vec3)| Contact {
            a: (key >> 32) as u32,
            b: key as u32,
            normal,
            ..Contact::default()
        };
        self.contacts.remember(
            keys.iter().copied().zip(forces).collect(),
            edges.iter().zip(normals).map(contact).collect(),
        );
        Ok(())
    }
}
