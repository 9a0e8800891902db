use serde::{Deserialize, Serialize};

use crate::scene::Material;

/// How strands are made of rods.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RodParams {
    /// Young's modulus for stretching [Pa], where the material's is larger. Single precision holds up to about 3e7 at steps of
    /// 1/120 s and edges of 1 cm.
    pub stretch_young: f64,
    /// Young's modulus for bending [Pa]; the material's where there is none.
    pub bend_young: Option<f64>,
    /// Shear modulus for twisting [Pa]; where there is none it follows from the material.
    pub shear: Option<f64>,
    /// Size of the curvature binormal, 2 tan(φ/2), beyond which it grows no more.
    pub largest_curvature: f64,
}

impl Default for RodParams {
    fn default() -> Self {
        Self { stretch_young: 1.6e7, bend_young: None, shear: None, largest_curvature: 10.0 }
    }
}

/// Stiffnesses of a round rod.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stiffness {
    /// Against stretching, π r² Y [N].
    pub stretch: f64,
    /// Against bending, π r⁴ Y / 4 [N m²].
    pub bend: f64,
    /// Against twisting, π r⁴ G / 2 [N m²].
    pub twist: f64,
}

impl RodParams {
    /// The moduli of table 2.
    pub fn table_2() -> Self {
        Self { bend_young: Some(1.5e10), shear: Some(7.7e9), ..Self::default() }
    }

    /// The least that 1 + cos φ counts as: with T = tan(φ/2) it is 2 / (1 + T²).
    pub(super) fn least(&self) -> f64 {
        let half = 0.5 * self.largest_curvature;
        2.0 / (1.0 + half * half)
    }

    /// The stiffnesses of a material. Flat sections count as round ones that are as stiff in the mean.
    pub(super) fn stiffness(&self, material: &Material) -> Stiffness {
        let [over, along, twist] = material.rod_stiffness();
        let bend = 0.5 * (over + along);
        let inertia = bend / material.young;
        let shear = material.young / (2.0 * (1.0 + material.poisson));
        Stiffness {
            stretch: material.area() * self.stretch_young.min(material.young),
            bend: self.bend_young.map_or(bend, |young| inertia * young),
            twist: self.shear.map_or(twist, |wanted| twist / shear * wanted),
        }
    }

    /// The parameter that is out of range, if any, and what was expected there.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if !positive(self.stretch_young) {
            return Err(("stretch_young", "a positive number of pascals"));
        }
        if self.bend_young.is_some_and(|young| !positive(young)) {
            return Err(("bend_young", "a positive number of pascals"));
        }
        if self.shear.is_some_and(|shear| !positive(shear)) {
            return Err(("shear", "a positive number of pascals"));
        }
        if !(0.1..=1000.0).contains(&self.largest_curvature) {
            return Err(("largest_curvature", "a number from 0.1 to 1000"));
        }
        Ok(())
    }
}
