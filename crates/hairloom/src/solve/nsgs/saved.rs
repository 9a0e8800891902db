//! Checkpoints of this method.

use glam::{DQuat, DVec3, Vec3};

use super::Nsgs;
use crate::contact::Contact;
use crate::scene::State;
use crate::solve::{Checkpoint, CheckpointError};

const NAME: &str = "nsgs";
const VERSION: u32 = 1;

fn flat(vectors: impl Iterator<Item = DVec3>) -> Vec<f64> {
    vectors.flat_map(|vector| vector.to_array()).collect()
}

fn vectors(values: &[f64]) -> Vec<DVec3> {
    values.chunks_exact(3).map(DVec3::from_slice).collect()
}

impl Nsgs {
    pub(super) fn write(&self, out: &mut Checkpoint) {
        out.begin(NAME, VERSION);
        out.put("held", self.held.clone());
        out.put("step", vec![self.step]);
        out.put("allowed", self.allowed.clone());
        out.put("owners", self.owners.clone());
        out.put("keys", self.forces.iter().map(|(key, _)| *key).collect());
        out.put("forces", flat(self.forces.iter().map(|(_, force)| *force)));
        out.put("edges", self.close.iter().flat_map(|contact| [contact.a, contact.b]).collect());
        out.put("normals", self.close.iter().flat_map(|contact| contact.normal.to_array()).collect());
        let mut moving = Vec::new();
        self.fibres.iter().flatten().for_each(|fibre| fibre.save(&mut moving));
        out.put("fibres", moving);
        out.put("rigid", flat(self.rigid.iter().copied()));
        out.put("seated", vec![u32::from(self.pending.is_none())]);
        if let Some(state) = &self.pending {
            out.put("positions", flat(state.positions.iter().copied()));
            out.put("velocities", flat(state.velocities.iter().copied()));
            out.put("orientations", state.orientations.iter().flat_map(|turn| turn.to_array()).collect());
        }
    }

    pub(super) fn read(&mut self, from: &Checkpoint) -> Result<(), CheckpointError> {
        from.expect(NAME, VERSION)?;
        let (strands, vertices) = (self.model.strands(), self.model.vertices());
        let held = from.take::<u32>("held", strands)?.to_vec();
        let step = from.take::<f64>("step", 1)?[0];
        let allowed = from.take::<f32>("allowed", vertices)?.to_vec();
        let owners = from.take::<u32>("owners", strands)?.to_vec();
        let keys = from.take_all::<u64>("keys")?;
        let forces = vectors(from.take("forces", 3 * keys.len())?);
        let edges = from.take_all::<u32>("edges")?;
        let normals = from.take::<f32>("normals", edges.len() / 2 * 3)?;
        let rigid = vectors(from.take("rigid", 3 * vertices)?);
        let pending = match from.take::<u32>("seated", 1)?[0] {
            0 => Some(State {
                positions: vectors(from.take("positions", 3 * vertices)?),
                velocities: vectors(from.take("velocities", 3 * vertices)?),
                orientations: from
                    .take_all::<f64>("orientations")?
                    .chunks_exact(4)
                    .map(DQuat::from_slice)
                    .collect(),
            }),
            _ => None,
        };
        let fits = |(strand, &held): (usize, &u32)| held as usize <= self.model.range(strand).len();
        if !held.iter().enumerate().all(fits) {
            let problem = "it holds more vertices than there are".to_owned();
            return Err(CheckpointError::Column { column: "held".to_owned(), problem });
        }
        let mut fibres = if pending.is_none() { self.build_fibres(&held) } else { Vec::new() };
        let sizes: usize = fibres.iter().flatten().map(|fibre| fibre.saved()).sum();
        let mut moving = from.take::<f64>("fibres", sizes)?;
        for fibre in fibres.iter_mut().flatten() {
            let (own, rest) = moving.split_at(fibre.saved());
            fibre.restore(own);
            moving = rest;
        }
        let contact = |(edge, normal): (&[u32], &[f32])| Contact {
            a: edge[0],
            b: edge[1],
            normal: Vec3::from_slice(normal),
            ..Contact::default()
        };
        self.close = edges.chunks_exact(2).zip(normals.chunks_exact(3)).map(contact).collect();
        self.forces = keys.iter().copied().zip(forces).collect();
        (self.held, self.step, self.allowed, self.rigid) = (held, step, allowed, rigid);
        (self.fibres, self.pending, self.owners) = (fibres, pending, owners);
        Ok(())
    }
}
