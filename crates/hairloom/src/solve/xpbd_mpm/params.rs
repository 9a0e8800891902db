use serde::{Deserialize, Serialize};

use crate::grid::{GridParams, Sand, Transfer};
use crate::rest::Stiffness;
use crate::rod::cosserat::Darboux;
use crate::scene::{Material, Model};
use crate::solve::material_points::{balanced_on, flip_of, stiffened};

/// Density of hair [kg/m³].
const USUAL_DENSITY: f64 = 1300.0;

/// Parameters of the Cosserat rods and of their contact on the grid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Longest step [s]. Longer steps are cut into equal parts.
    pub step: f64,
    /// Least number of iterations of a step.
    pub iterations: u32,
    /// How far lengths may be off, relatively, before a step takes more iterations: where bodies throw the hair about, and where curls
    /// couple bending and stretching. What is left pulls: 1e-6 moves a knit of one yarn of six metres by a hundredth of its length.
    pub tolerance: f64,
    /// What joints compare with their rest shape.
    pub darboux: Darboux,
    /// Young's modulus for stretching and shearing [Pa]; the material's where there is none.
    pub stretch_young: Option<f64>,
    /// Young's modulus for bending and twisting [Pa]; the material's where there is none.
    pub bend_young: Option<f64>,
    /// How slow segments are to turn: their inertia is at least this times Δt √(EI / ρA) for each of their mass. Bending that goes
    /// through less than a radian in a step does not feel it; with much less than 1 a joint turns a segment without moving its vertices,
    /// and takes many iterations.
    pub rotary_inertia: f64,
    /// Whether strands meet each other, through the grid. Bodies are met in any case.
    pub contact: bool,
    /// Side of a cell of the grid [m]; where there is none it is the mean length of the segments, or what sound crosses in two steps if
    /// that is more. A rest shape that balances on a grid brings its own.
    pub cell: Option<f64>,
    /// Young's modulus of hair as a granular material [Pa]; more where hair balances on the grid, see [`Params::grains`].
    pub grain_young: f32,
    /// Poisson's ratio of hair as a granular material.
    pub grain_poisson: f32,
    /// Friction angle of hair as a granular material [°]; the arc tangent of the material's friction where there is none.
    pub friction_angle: Option<f32>,
    /// Share of the forces of its rod that a vertex takes by itself, from 0 (all go through the grid, as in the paper) to 1. It is 0
    /// whatever stands here where a rest shape balances on the grid.
    pub direct: f64,
    /// α of ASFLIP: the part of what the grid cannot represent that vertices keep, from 0 to 1. At most 0.9 where a rest shape balances on the grid.
    pub flip: f32,
    /// β of ASFLIP: the part of that which also moves vertices, under pressure and where strands part, from 0 to 1.
    pub separation: [f32; 2],
    /// Distance that vertices keep from bodies, beside their radius [m].
    pub margin: f64,
}

/// Least density of the hair [kg/m³]: that in which sound is fastest.
fn density(model: &Model) -> f64 {
    let densities = model.materials.iter().map(|material| material.density);
    densities.reduce(f64::min).unwrap_or(USUAL_DENSITY)
}

impl Default for Params {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Params {
    /// The usual parameters.
    pub const USUAL: Self = Self {
        step: 1.0 / 360.0,
        iterations: 1,
        tolerance: 1.0e-7,
        darboux: Darboux::Augmented,
        stretch_young: None,
        bend_young: None,
        rotary_inertia: 1.0,
        contact: true,
        cell: None,
        grain_young: 1.2e3,
        grain_poisson: 0.3,
        friction_angle: None,
        direct: 1.0,
        flip: 1.0,
        separation: [1.0, 1.0],
        margin: 0.0,
    };

    /// The stiffness of strands of a material. Flat sections count as round ones that are as stiff in the mean.
    pub fn stiffness(&self, material: &Material) -> Stiffness {
        let [over, along, _] = material.rod_stiffness();
        Stiffness {
            stretch: material.area() * self.stretch_young.unwrap_or(material.young),
            bend: 0.5 * (over + along) * (self.bend_young.unwrap_or(material.young) / material.young),
            darboux: self.darboux,
        }
    }

    /// The side of a cell for this hair [m]: that of its rest shape, where that balances on one.
    pub fn cell_of(&self, model: &Model) -> f64 {
        if let Some(cell) = balanced_on(model) {
            return cell;
        }
        let edges = model.rest_lengths.iter().filter(|&&length| length > 0.0);
        let (count, sum) = edges.fold((0u32, 0.0), |(count, sum), length| (count + 1, sum + length));
        let density = density(model);
        let crossed = 2.0 * self.step * (self.grains(model).wave_modulus() / density).sqrt();
        self.cell.unwrap_or_else(|| crossed.max(sum / f64::from(count.max(1))))
    }

    /// The share of its rod's forces that a vertex takes by itself: none where these balance on the grid.
    pub fn direct_of(&self, model: &Model) -> f64 {
        if balanced_on(model).is_some() { 0.0 } else { self.direct }
    }

    /// Hair of this model as a granular material. Where strands differ the first material's friction counts. Hair that balances on the grid
    /// is as stiff as the grid allows.
    pub fn grains(&self, model: &Model) -> Sand {
        let friction = model.materials.first().map_or(0.2, |material| material.friction);
        let sand = Sand {
            young: self.grain_young,
            poisson: self.grain_poisson,
            friction_angle: self.friction_angle.unwrap_or(friction.atan().to_degrees() as f32),
            ..Sand::default()
        };
        stiffened(sand, model, density(model), self.step)
    }

    /// The grid for this hair, without gravity.
    pub fn grid(&self, model: &Model) -> GridParams {
        GridParams {
            cell: self.cell_of(model),
            gravity: glam::Vec3::ZERO,
            transfer: Transfer::asflip(flip_of(model, self.flip), self.separation),
            material: crate::grid::Material::Sand(self.grains(model)),
            ..GridParams::default()
        }
    }

    /// The parameter that is out of range, if any, and what was expected there.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let unit = |value: f32| (0.0..=1.0).contains(&value);
        let checks = [
            ("step", (1e-5..=0.1).contains(&self.step), "a number of seconds from 1e-5 to 0.1"),
            ("iterations", (1..=10_000).contains(&self.iterations), "a whole number from 1 to 10000"),
            ("tolerance", positive(self.tolerance), "a positive number"),
            ("stretch_young", self.stretch_young.is_none_or(positive), "a positive number of pascals"),
            ("bend_young", self.bend_young.is_none_or(positive), "a positive number of pascals"),
            ("rotary_inertia", (0.01..=100.0).contains(&self.rotary_inertia), "a number from 0.01 to 100"),
            (
                "cell",
                self.cell.is_none_or(|cell| (1e-4..=10.0).contains(&cell)),
                "a number of metres from 1e-4 to 10",
            ),
            (
                "grain_young",
                self.grain_young > 0.0 && self.grain_young <= 1.0e9,
                "a positive number of pascals, at most 1e9",
            ),
            ("grain_poisson", (0.0..=0.49).contains(&self.grain_poisson), "a number from 0 to 0.49"),
            (
                "friction_angle",
                self.friction_angle.is_none_or(|angle| (0.0..=89.0).contains(&angle)),
                "a number of degrees from 0 to 89",
            ),
            ("direct", (0.0..=1.0).contains(&self.direct), "a number from 0 to 1"),
            ("flip", unit(self.flip), "a number from 0 to 1"),
            ("separation", self.separation.into_iter().all(unit), "two numbers from 0 to 1"),
            ("margin", (0.0..=0.1).contains(&self.margin), "a number of metres from 0 to 0.1"),
        ];
        match checks.into_iter().find(|(_, ok, _)| !ok) {
            Some((key, _, expected)) => Err((key, expected)),
            None => Ok(()),
        }
    }

    /// The parameter that does not fit this hair, if any, and what was expected there.
    pub fn check_for(&self, model: &Model) -> Result<(), (&'static str, &'static str)> {
        let sand = Sand { young: self.grain_young, poisson: self.grain_poisson, ..Sand::default() };
        let crossed = self.step * (sand.wave_modulus() / density(model)).sqrt();
        if self.contact && self.cell.is_some_and(|cell| crossed > cell) {
            return Err((
                "cell",
                "larger cells or a smaller step: sound in the hair must not cross a cell within one",
            ));
        }
        Ok(())
    }
}
