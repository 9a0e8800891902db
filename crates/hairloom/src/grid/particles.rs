use glam::{DVec3, Mat3, Vec3};

use super::{GridError, Material};
use crate::math::Symmetric3;

/// Material points, by column. All columns have one entry for each particle.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Particles {
    /// Positions [m].
    pub positions: Vec<DVec3>,
    /// Velocities [m/s]. A pinned particle moves with the velocity that it was given and keeps it.
    pub velocities: Vec<Vec3>,
    /// Affine velocity fields C [1/s]; carried by affine transfers alone.
    pub affine: Vec<Mat3>,
    /// Masses [kg].
    pub masses: Vec<f32>,
    /// Volumes at rest V⁰ [m³].
    pub volumes: Vec<f32>,
    /// Strain of sand: b − I = F Fᵀ − I with the elastic deformation gradient F. Without the identity small strains keep
    /// all their digits; what F has besides, a rotation, does not matter to an isotropic material.
    pub strains: Vec<Symmetric3<f32>>,
    /// Sand: logarithm of the volume gained without stress, which closes before pressure builds up. Fluid: J − 1, the
    /// relative change of the volume.
    pub gains: Vec<f32>,
    /// Kirchhoff stresses τ = J σ [Pa], always those of `strains` and `gains` after a step; see
    /// [`refresh_stresses`](Self::refresh_stresses).
    pub stresses: Vec<Symmetric3<f32>>,
    /// Particles that are moved from outside: no gravity, and the velocity stays as it was given.
    pub pinned: Vec<bool>,
}

impl Particles {
    /// Adds an unstrained particle at rest: position [m], mass [kg], and volume at rest [m³].
    pub fn push(&mut self, position: DVec3, mass: f32, volume: f32) {
        self.positions.push(position);
        self.velocities.push(Vec3::ZERO);
        self.affine.push(Mat3::ZERO);
        self.masses.push(mass);
        self.volumes.push(volume);
        self.strains.push(Symmetric3::zero());
        self.gains.push(0.0);
        self.stresses.push(Symmetric3::zero());
        self.pinned.push(false);
    }

    /// How many particles there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Whether all columns are as long as the positions.
    pub(super) fn check_lengths(&self) -> Result<(), GridError> {
        let lengths = [
            ("velocities", self.velocities.len()),
            ("affine velocity fields", self.affine.len()),
            ("masses", self.masses.len()),
            ("volumes", self.volumes.len()),
            ("strains", self.strains.len()),
            ("gains", self.gains.len()),
            ("stresses", self.stresses.len()),
            ("pins", self.pinned.len()),
        ];
        for (column, given) in lengths {
            if given != self.len() {
                return Err(GridError::WrongCount { column, given, particles: self.len() });
            }
        }
        Ok(())
    }

    /// Whether masses and volumes are positive numbers, and all columns as long as the positions. To be called once, and
    /// again where columns were replaced from outside.
    pub fn check(&self) -> Result<(), GridError> {
        self.check_lengths()?;
        for (quantity, column) in [("mass", &self.masses), ("volume", &self.volumes)] {
            if let Some(particle) = column.iter().position(|&value| !(value.is_finite() && value > 0.0)) {
                return Err(GridError::BadParticle { particle, quantity, value: column[particle] });
            }
        }
        Ok(())
    }

    /// Sets every stress to that of the strain, after strains or gains were set from outside. Strains outside the yield
    /// surface go back to it.
    pub fn refresh_stresses(&mut self, material: &Material) {
        for particle in 0..self.len() {
            let (strain, stress, gain) = material.settle(self.strains[particle], self.gains[particle]);
            self.strains[particle] = strain;
            self.stresses[particle] = stress;
            self.gains[particle] = gain;
        }
    }
}
