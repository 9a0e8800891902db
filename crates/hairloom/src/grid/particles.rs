use std::sync::atomic::AtomicU32;

use glam::{DVec3, Mat3, Vec3};
use rayon::prelude::*;

use super::blocks::particle;
use super::{GridError, Looks, Material};
use crate::math::Symmetric3;
use crate::math::lanes::Row;

/// What a particle is made of and how it is strained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Strain of sand: b − I = F Fᵀ − I with the elastic deformation gradient F. Without the identity small strains keep
    /// all their digits; what F has besides, a rotation, does not matter to an isotropic material.
    pub strain: Symmetric3<f32>,
    /// Kirchhoff stress τ = J σ [Pa]: that of `strain` and `gain` after a step; see
    /// [`refresh_stresses`](Particles::refresh_stresses).
    pub stress: Symmetric3<f32>,
    /// Sand: logarithm of the volume gained without stress, which closes before pressure builds up. Fluid: J − 1, the
    /// relative change of the volume.
    pub gain: f32,
    /// Mass [kg].
    pub mass: f32,
    /// Volume at rest V⁰ [m³].
    pub volume: f32,
    /// Moved from outside: no gravity, and the velocity stays as it was given.
    pub pinned: bool,
}

/// A point in one line of the cache, so that eight of them turn into lanes: strain, gain and mass; then stress, volume, and 1
/// where it is pinned.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct Packed(pub [Row; 2]);

impl Packed {
    /// Whether the point is moved from outside.
    #[inline(always)]
    pub(super) fn is_pinned(&self) -> bool {
        self.0[1].0[7] > 0.0
    }
}

impl From<Point> for Packed {
    fn from(point: Point) -> Self {
        let (b, s) = (&point.strain, &point.stress);
        let pinned = if point.pinned { 1.0 } else { 0.0 };
        Self([
            Row([b.xx, b.xy, b.yy, b.xz, b.yz, b.zz, point.gain, point.mass]),
            Row([s.xx, s.xy, s.yy, s.xz, s.yz, s.zz, point.volume, pinned]),
        ])
    }
}

impl From<Packed> for Point {
    fn from(Packed([Row(first), Row(second)]): Packed) -> Self {
        let symmetric =
            |v: &[f32; 8]| Symmetric3 { xx: v[0], xy: v[1], yy: v[2], xz: v[3], yz: v[4], zz: v[5] };
        Self {
            strain: symmetric(&first),
            stress: symmetric(&second),
            gain: first[6],
            mass: first[7],
            volume: second[6],
            pinned: second[7] > 0.0,
        }
    }
}

/// Material points. Positions and velocities are in the order in which particles were added; what the grid alone
/// works with follows its blocks in memory, and is reached by particle through [`point`](Self::point) and
/// [`affine`](Self::affine).
#[derive(Debug, Clone, Default)]
pub struct Particles {
    /// Positions [m].
    pub positions: Vec<DVec3>,
    /// Velocities [m/s]. A pinned particle moves with the velocity that it was given and keeps it.
    pub velocities: Vec<Vec3>,
    /// By slot.
    pub(super) points: Vec<Packed>,
    /// By slot; empty as long as no particle has one.
    pub(super) affine: Vec<Mat3>,
    /// The slot of each particle.
    pub(super) slots: Vec<u32>,
    /// What they saw of solids when they last looked.
    pub(super) looks: Looks,
    spare_points: Vec<Packed>,
    spare_affine: Vec<Mat3>,
}

/// Whether all that belongs to the particles is the same, however it lies in memory.
impl PartialEq for Particles {
    fn eq(&self, other: &Self) -> bool {
        let same = |p: usize| self.point(p) == other.point(p) && self.affine(p) == other.affine(p);
        self.positions == other.positions
            && self.velocities == other.velocities
            && self.len() == other.len()
            && (0..self.len()).all(same)
    }
}

impl Particles {
    /// Adds an unstrained particle at rest: position [m], mass [kg], and volume at rest [m³].
    pub fn push(&mut self, position: DVec3, mass: f32, volume: f32) {
        self.slots.push(self.points.len() as u32);
        self.positions.push(position);
        self.velocities.push(Vec3::ZERO);
        let (strain, stress) = (Symmetric3::zero(), Symmetric3::zero());
        self.points.push(Point { strain, stress, gain: 0.0, mass, volume, pinned: false }.into());
        if !self.affine.is_empty() {
            self.affine.push(Mat3::ZERO);
        }
    }

    /// What a particle is made of and how it is strained.
    ///
    /// # Panics
    /// Where there is no such particle.
    pub fn point(&self, particle: usize) -> Point {
        self.points[self.slots[particle] as usize].into()
    }

    /// Lets `change` change what a particle is made of and how it is strained.
    ///
    /// # Panics
    /// Where there is no such particle.
    pub fn change_point(&mut self, particle: usize, change: impl FnOnce(&mut Point)) {
        let mut point = self.point(particle);
        change(&mut point);
        self.points[self.slots[particle] as usize] = point.into();
    }

    /// The affine velocity field C of a particle [1/s], carried by affine transfers alone.
    ///
    /// # Panics
    /// Where there is no such particle.
    pub fn affine(&self, particle: usize) -> Mat3 {
        self.affine.get(self.slots[particle] as usize).copied().unwrap_or(Mat3::ZERO)
    }

    /// Sets the affine velocity field of a particle [1/s].
    ///
    /// # Panics
    /// Where there is no such particle.
    pub fn set_affine(&mut self, particle: usize, field: Mat3) {
        self.affine.resize(self.points.len(), Mat3::ZERO);
        self.affine[self.slots[particle] as usize] = field;
    }

    /// Puts the particle `order[slot]` into each slot, and so into `slots[particle]`. From one step to the next little
    /// changes, so that this reads nearly in order.
    pub(super) fn arrange(&mut self, order: &[AtomicU32], slots: &[u32]) {
        if self.slots == slots {
            return;
        }
        permute(order, &self.slots, &self.points, &mut self.spare_points, Packed::default());
        std::mem::swap(&mut self.points, &mut self.spare_points);
        if !self.affine.is_empty() {
            permute(order, &self.slots, &self.affine, &mut self.spare_affine, Mat3::ZERO);
            std::mem::swap(&mut self.affine, &mut self.spare_affine);
        }
        self.slots.copy_from_slice(slots);
    }

    /// How many particles there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Whether there is one position and one velocity for each particle that was added.
    pub(super) fn check_lengths(&self) -> Result<(), GridError> {
        let particles = self.points.len();
        for (column, given) in [("positions", self.positions.len()), ("velocities", self.velocities.len())] {
            if given != particles {
                return Err(GridError::WrongCount { column, given, particles });
            }
        }
        Ok(())
    }

    /// Whether positions and velocities are as many as particles, and masses and volumes positive numbers. To be called
    /// once, and again where columns were replaced from outside.
    pub fn check(&self) -> Result<(), GridError> {
        self.check_lengths()?;
        for particle in 0..self.len() {
            let point = self.point(particle);
            for (quantity, value) in [("mass", point.mass), ("volume", point.volume)] {
                if !(value.is_finite() && value > 0.0) {
                    return Err(GridError::BadParticle { particle, quantity, value });
                }
            }
        }
        Ok(())
    }

    /// Sets every stress to that of the strain, after strains or gains were set from outside. Strains outside the yield
    /// surface go back to it.
    pub fn refresh_stresses(&mut self, material: &Material) {
        for packed in &mut self.points {
            let mut point = Point::from(*packed);
            (point.strain, point.stress, point.gain) = material.settle(point.strain, point.gain);
            *packed = point.into();
        }
    }
}

/// Fills slot after slot with what its particle had in the slots before.
fn permute<T: Copy + Send + Sync>(order: &[AtomicU32], slots: &[u32], from: &[T], to: &mut Vec<T>, empty: T) {
    to.resize(order.len(), empty);
    to.par_chunks_mut(2048).zip(order.par_chunks(2048)).for_each(|(to, order)| {
        for (to, entry) in to.iter_mut().zip(order) {
            *to = from[slots[particle(entry)] as usize];
        }
    });
}
