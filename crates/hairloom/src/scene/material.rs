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
/// A strand is a rod of elliptic section, round where ℓ = 0. Its area is `A = π R² (1 − ℓ²)`, its mass per length
/// `ρ A`. It bends over its flat side with `E A R² (1 − ℓ)² / 4`, over its edge with `E A R² (1 + ℓ)² / 4`, and twists
/// with `E A R² (1 − ℓ²)² / (4 (1 + ℓ²) (1 + ν))`.
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
    /// Mean radius R of the cross-section [m].
    pub radius: f64,
    /// Flatness ℓ of the cross-section, from 0 (round) to below 1: its half axes are (1 + ℓ) R and (1 − ℓ) R.
    pub flatness: f64,
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
            flatness: 0.0,
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

    /// Area of the cross-section [m²].
    pub fn area(&self) -> f64 {
        std::f64::consts::PI * self.radius * self.radius * (1.0 - self.flatness * self.flatness)
    }

    /// Mass per length [kg/m].
    pub fn mass_per_length(&self) -> f64 {
        self.density * self.area()
    }

    /// Stiffness against bending about the long axis of the section, about its short axis, and against twisting
    /// [N m²].
    pub fn rod_stiffness(&self) -> [f64; 3] {
        let round = self.young * self.area() * self.radius * self.radius / 4.0;
        let flat = self.flatness;
        let torsion = (1.0 - flat * flat).powi(2) / ((1.0 + flat * flat) * (1.0 + self.poisson));
        [round * (1.0 - flat).powi(2), round * (1.0 + flat).powi(2), round * torsion]
    }

    /// Rotational inertia about the tangent per length [kg m].
    pub fn twisting_inertia(&self) -> f64 {
        self.mass_per_length() * self.radius * self.radius * (1.0 + self.flatness * self.flatness) / 2.0
    }

    pub(super) fn read(scene: &Section<'_>, usual: MaterialPreset) -> Result<Self, SceneError> {
        const KEYS: &[&str] = &[
            "preset",
            "young",
            "poisson",
            "density",
            "radius",
            "flatness",
            "friction",
            "body_friction",
            "drag",
        ];
        let section = scene.section("material", KEYS)?;
        let preset = section.or("preset", usual, |field| field.choice())?;
        Self::read_from(&section, Self::preset(preset))
    }

    /// The values of a section, those of `base` where it has none.
    pub(super) fn read_from(section: &Section<'_>, base: Self) -> Result<Self, SceneError> {
        Ok(Self {
            preset: base.preset,
            young: section.or("young", base.young, |field| field.positive())?,
            poisson: section.or("poisson", base.poisson, |field| field.between(0.0, 0.5))?,
            density: section.or("density", base.density, |field| field.positive())?,
            radius: section.or("radius", base.radius, |field| field.between(1e-7, 0.1))?,
            flatness: section.or("flatness", base.flatness, |field| field.between(0.0, 0.95))?,
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
        let [bending, other, twisting] = material.rod_stiffness();
        assert!((bending / (3e9 * 4.908_738_5e-18) - 1.0).abs() < 1e-7);
        assert_eq!(bending, other);
        let shear_modulus = material.young / (2.0 * (1.0 + material.poisson));
        let polar = 2.0 * 4.908_738_5e-18;
        assert!((twisting / (shear_modulus * polar) - 1.0).abs() < 1e-7);
        assert!((material.mass_per_length() - 1300.0 * 7.853_981_6e-9).abs() < 1e-12);
    }

    #[test]
    fn stiffnesses_follow_from_an_elliptic_section() {
        let material =
            Material { radius: 40e-6, flatness: 0.25, ..Material::preset(MaterialPreset::Straight) };
        let (a, b): (f64, f64) = (50e-6, 30e-6);
        let quarter = std::f64::consts::PI / 4.0;
        let [flat, edge, twisting] = material.rod_stiffness();
        assert!((flat / (material.young * quarter * a * b.powi(3)) - 1.0).abs() < 1e-12);
        assert!((edge / (material.young * quarter * a.powi(3) * b) - 1.0).abs() < 1e-12);
        // Torsion constant of an ellipse: π a³ b³ / (a² + b²).
        let shear_modulus = material.young / (2.0 * (1.0 + material.poisson));
        let torsion = std::f64::consts::PI * (a * b).powi(3) / (a * a + b * b);
        assert!((twisting / (shear_modulus * torsion) - 1.0).abs() < 1e-12);
        let polar = material.density * quarter * a * b * (a * a + b * b);
        assert!((material.twisting_inertia() / polar - 1.0).abs() < 1e-12);
    }
}
