use serde::Serialize;

use super::error::SceneError;
use super::parse::{Section, choice};

choice! {
    /// Kinds of hair whose material values are known.
    pub MaterialPreset, "material" {
        /// Fine straight head hair, European: R = 35 µm.
        Straight = "straight",
        /// Wavy head hair: R = 38 µm.
        Wavy = "wavy",
        /// Curly head hair: R = 40 µm, rougher.
        Curly = "curly",
        /// Thick head hair, East Asian: R = 50 µm.
        Coarse = "coarse",
        /// Animal undercoat and short fur: R = 20 µm.
        Fur = "fur",
    }
}

/// What hair is made of: `[material]`. A preset and values that differ from it.
///
/// A strand is a round rod. Its bending stiffness is `E π R⁴ / 4`, its twisting stiffness
/// `E π R⁴ / (4 (1 + ν))`, its mass per length `ρ π R²`.
///
/// Air acts on a piece of strand of velocity `v` in wind `w` as the acceleration `drag · (w − v)`. A lone hair
/// of 40 µm radius in a draught of 0.1 to 1 m/s has a drag rate of about 13 to 30 1/s (Lamb's slow flow around
/// a cylinder, `F / L = 4 π μ U / (½ − γ − ln(Re / 8))`, over the mass per length); hair within a head of hair
/// is shielded by its neighbours, and the presets hold values for that.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Material {
    /// The kind of hair that the other values started from.
    pub preset: MaterialPreset,
    /// Young's modulus E [Pa].
    pub young: f64,
    /// Poisson's ratio ν, from 0 to 0.5.
    pub poisson: f64,
    /// Density ρ [kg/m³].
    pub density: f64,
    /// Radius R of the cross-section [m].
    pub radius: f64,
    /// Coulomb friction between strands.
    pub friction: f64,
    /// Coulomb friction between strands and bodies, where the body has none of its own.
    pub body_friction: f64,
    /// Rate at which a strand takes on the velocity of the air [1/s].
    pub drag: f64,
}

impl Material {
    /// The values of a preset.
    pub fn preset(preset: MaterialPreset) -> Self {
        let straight = Self {
            preset,
            young: 3.0e9,
            poisson: 0.37,
            density: 1300.0,
            radius: 35e-6,
            friction: 0.2,
            body_friction: 0.3,
            drag: 2.0,
        };
        match preset {
            MaterialPreset::Straight => straight,
            MaterialPreset::Wavy => Self { radius: 38e-6, friction: 0.25, ..straight },
            MaterialPreset::Curly => Self { radius: 40e-6, friction: 0.3, body_friction: 0.35, ..straight },
            MaterialPreset::Coarse => Self { young: 3.8e9, radius: 50e-6, drag: 1.0, ..straight },
            MaterialPreset::Fur => Self { radius: 20e-6, friction: 0.3, drag: 4.0, ..straight },
        }
    }

    /// Mass per length [kg/m].
    pub fn mass_per_length(&self) -> f64 {
        self.density * std::f64::consts::PI * self.radius * self.radius
    }

    /// Stiffness against bending, E I [N m²].
    pub fn bending_stiffness(&self) -> f64 {
        self.young * std::f64::consts::PI * self.radius.powi(4) / 4.0
    }

    /// Stiffness against twisting, G J [N m²].
    pub fn twisting_stiffness(&self) -> f64 {
        self.bending_stiffness() / (1.0 + self.poisson)
    }

    pub(super) fn read(scene: &Section<'_>, usual: MaterialPreset) -> Result<Self, SceneError> {
        const KEYS: &[&str] =
            &["preset", "young", "poisson", "density", "radius", "friction", "body_friction", "drag"];
        let section = scene.section("material", KEYS)?;
        let preset = section.or("preset", usual, |field| field.choice())?;
        let base = Self::preset(preset);
        Ok(Self {
            preset,
            young: section.or("young", base.young, |field| field.positive())?,
            poisson: section.or("poisson", base.poisson, |field| field.between(0.0, 0.5))?,
            density: section.or("density", base.density, |field| field.positive())?,
            radius: section.or("radius", base.radius, |field| field.positive())?,
            friction: section.or("friction", base.friction, |field| field.not_negative())?,
            body_friction: section.or("body_friction", base.body_friction, |field| field.not_negative())?,
            drag: section.or("drag", base.drag, |field| field.not_negative())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_hair() {
        for preset in MaterialPreset::ALL {
            let material = Material::preset(*preset);
            assert_eq!(material.preset, *preset);
            assert!((2.0e9..6.0e9).contains(&material.young));
            assert!((1200.0..1400.0).contains(&material.density));
            assert!((10e-6..60e-6).contains(&material.radius));
        }
    }

    #[test]
    fn stiffnesses_follow_from_the_round_section() {
        let material = Material { radius: 50e-6, young: 3e9, ..Material::preset(MaterialPreset::Coarse) };
        // I = π R⁴ / 4 = 4.9087e-18 m⁴.
        assert!((material.bending_stiffness() / (3e9 * 4.908_738_5e-18) - 1.0).abs() < 1e-7);
        let shear_modulus = material.young / (2.0 * (1.0 + material.poisson));
        let polar = 2.0 * 4.908_738_5e-18;
        assert!((material.twisting_stiffness() / (shear_modulus * polar) - 1.0).abs() < 1e-7);
        assert!((material.mass_per_length() - 1300.0 * 7.853_981_6e-9).abs() < 1e-12);
    }
}
