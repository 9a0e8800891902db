use glam::Vec3;

use super::{Fluid, GridError, Sand};

/// How velocities go from particles to nodes and back.
///
/// With the velocity interpolated from the nodes before (v) and after (v′) the forces, a particle takes
/// v′ + α (v_p − v) and moves with v′ + β α (v_p − v). Affine transfers also carry the gradient of the velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// α: the part of what the nodes cannot represent that a particle keeps, from 0 to 1.
    pub flip: f32,
    /// Whether particles carry an affine velocity field (APIC).
    pub affine: bool,
    /// β: the part of that which also moves the particle, from 0 to 1, where the material is under pressure or closing
    /// and where it is free and parting ("trap breaking ratios").
    pub separation: [f32; 2],
}

impl Transfer {
    /// Particle-in-cell: stable, dissipative.
    pub fn pic() -> Self {
        Self { flip: 0.0, affine: false, separation: [0.0; 2] }
    }

    /// Fluid-implicit-particle, blended with particle-in-cell: particles move with the nodes' velocity.
    pub fn flip(ratio: f32) -> Self {
        Self { flip: ratio, ..Self::pic() }
    }

    /// Affine particle-in-cell: keeps angular momentum.
    pub fn apic() -> Self {
        Self { affine: true, ..Self::pic() }
    }

    /// Separable FLIP (Fei et al. 2021): particles may leave each other within a cell.
    pub fn sflip(ratio: f32, separation: [f32; 2]) -> Self {
        Self { flip: ratio, affine: false, separation }
    }

    /// Affine-augmented separable FLIP.
    pub fn asflip(ratio: f32, separation: [f32; 2]) -> Self {
        Self { affine: true, ..Self::sflip(ratio, separation) }
    }
}

/// What the particles are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Material {
    /// Frictional grains.
    Sand(Sand),
    /// A liquid that resists compression alone.
    Fluid(Fluid),
}

/// How particles are advanced on the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridParams {
    /// Δx: side of a cell [m]. Nodes lie on world multiples of it.
    pub cell: f64,
    /// Acceleration of particles that are not pinned [m/s²].
    pub gravity: Vec3,
    /// How velocities are transferred.
    pub transfer: Transfer,
    /// What the particles are made of.
    pub material: Material,
    /// Most blocks of 4×4×4 cells that particles may lie in. A block takes 7 kB, and its nodes and those around it up to
    /// 16 kB more.
    pub most_blocks: usize,
}

impl Default for GridParams {
    /// The preset of real-time hair (Huang et al. 2023, table 2).
    fn default() -> Self {
        Self {
            cell: 0.01,
            gravity: Vec3::new(0.0, -9.81, 0.0),
            transfer: Transfer::sflip(0.3, [0.05, 0.2]),
            material: Material::Sand(Sand::default()),
            most_blocks: 1 << 14,
        }
    }
}

impl GridParams {
    /// Whether every number makes sense.
    pub fn check(&self) -> Result<(), GridError> {
        let unit = "between 0 and 1";
        within("the side of a cell", self.cell, 1e-6, 1e6, "between 1e-6 and 1e6 m")?;
        for axis in self.gravity.to_array() {
            within("gravity", axis.into(), -1e6, 1e6, "finite, and at most 1e6 m/s²")?;
        }
        within("the FLIP ratio", self.transfer.flip.into(), 0.0, 1.0, unit)?;
        for ratio in self.transfer.separation {
            within("the separation ratio", ratio.into(), 0.0, 1.0, unit)?;
        }
        within("the number of blocks", self.most_blocks as f64, 1.0, (1 << 24) as f64, "between 1 and 2^24")?;
        match &self.material {
            Material::Sand(sand) => sand.check(),
            Material::Fluid(fluid) => fluid.check(),
        }
    }

    /// The longest explicit step [s] for which sound crosses at most half a cell, for material of `density` [kg/m³]: a
    /// safe choice, of which up to twice as much is often stable.
    pub fn stable_step(&self, density: f64) -> f64 {
        let modulus = match &self.material {
            Material::Sand(sand) => sand.wave_modulus(),
            Material::Fluid(fluid) => fluid.stiffest(),
        };
        0.5 * self.cell * (density / modulus).sqrt()
    }
}

/// That `value` lies between `low` and `high`.
pub(super) fn within(
    parameter: &'static str,
    value: f64,
    low: f64,
    high: f64,
    expected: &'static str,
) -> Result<(), GridError> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(GridError::BadParameter { parameter, value, expected })
    }
}
