use serde::{Deserialize, Serialize};

use super::carried::MOST_CELLS;
use crate::grid::{self, Fluid, GridParams, Sand, Transfer};
use crate::rest::RoundRod;
use crate::scene::{Material, Model};
use crate::solve::material_points::{OUT_OF_REACH, balanced_on, flip_of, stiffened};

/// Width of the numbers that rods are computed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Eight strands side by side in single precision.
    F32,
    /// Four strands side by side in double precision: twice the time, and hair's own stiffness against stretching.
    F64,
}

/// What hair is to itself where strands meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GrainKind {
    /// Sand (Drucker and Prager's): strands resist being pressed together, and rub against each other.
    Sand,
    /// A weakly compressible fluid: strands resist being pressed together, and slide.
    Fluid,
    /// Nothing: strands pass through each other.
    None,
}

/// Parameters of the rods, and of the grid on which they meet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Longest step of the rods [s]. Longer steps are cut into equal parts.
    pub step: f64,
    /// Width of numbers.
    pub precision: Precision,
    /// Young's modulus for stretching [Pa], where the material's is larger. Single precision holds Δt² Y / (ρ l²) up to about
    /// 2e4, which is 3e7 Pa at steps of 1/120 s and edges of 1 cm.
    pub stretch_young: f64,
    /// Young's modulus for bending [Pa]; the material's where there is none.
    pub bend_young: Option<f64>,
    /// Shear modulus for twisting [Pa]; where there is none it follows from the material.
    pub shear: Option<f64>,
    /// Size of the curvature binormal, 2 tan(φ/2), beyond which it grows no more.
    pub largest_curvature: f64,
    /// Share of the velocity of the head that its pinned vertices take on at once, from 0 (not included) to 1.
    pub pin_blend: f64,
    /// How far a body may move in a step before the hair that it holds goes along rigidly [m].
    pub most_shift: f64,
    /// How far a body may turn in a step before the hair that it holds goes along rigidly [rad].
    pub most_turn: f64,
    /// Distance that vertices keep from bodies, beside their radius [m].
    pub margin: f64,
    /// Most that an edge may be longer or shorter than at rest, relatively.
    pub most_stretch: f64,
    /// What hair is to itself.
    pub grains: GrainKind,
    /// Steps of the grid in each step of the rods.
    pub substeps: u32,
    /// Side of a cell of the grid [m]. A rest shape that balances on a grid brings its own.
    pub cell: f64,
    /// The part of what the grid cannot represent of the velocities that vertices keep, from 0 to 1. At most 0.9 where a rest shape balances
    /// on the grid.
    pub flip: f64,
    /// The part of that which also moves them, from 0 to 1, where hair is pressed together and where it is parting.
    pub separation: [f64; 2],
    /// Whether vertices carry an affine velocity field: less damping.
    pub affine: bool,
    /// Young's modulus of hair as grains [Pa]; sand that balances on the grid at rest is as stiff as the steps allow, if that is more.
    pub grid_young: f64,
    /// Poisson's ratio of hair as grains.
    pub grid_poisson: f64,
    /// Mass density of hair as grains [kg/m³].
    pub grid_density: f64,
    /// Friction angle of hair as sand [°].
    pub friction_angle: f64,
    /// Most volume that parting hair may gain before it resists closing again, as a logarithm. Without a bound the gain, a sum of all that
    /// the grid saw of strands passing each other, grows until hair in motion feels no contact at all.
    pub most_gain: f64,
    /// How deep inside a body nodes of the grid are bound by it, in cells. From 1.5 on hair outside does not reach them: nothing slows it
    /// near a body, but what lies on one bears nothing above it, and loose hair comes to lie flat on the ground. With 0, the paper's way, heaps
    /// stay.
    pub inset: f64,
}

impl Default for Params {
    /// Stretching and the grid as in table 2, bending and twisting by the material.
    fn default() -> Self {
        Self {
            step: 1.0 / 120.0,
            precision: Precision::F32,
            stretch_young: 1.6e7,
            bend_young: None,
            shear: None,
            largest_curvature: 10.0,
            pin_blend: 1.0,
            most_shift: 0.1,
            most_turn: 0.5,
            margin: 5.0e-4,
            most_stretch: 0.01,
            grains: GrainKind::Sand,
            substeps: 3,
            cell: 0.01,
            flip: 0.3,
            separation: [0.05, 0.2],
            affine: false,
            grid_young: 1.2e3,
            grid_poisson: 0.3,
            grid_density: 1300.0,
            friction_angle: 20.0,
            most_gain: 0.3,
            inset: OUT_OF_REACH,
        }
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

impl Params {
    /// All moduli of table 2, whatever the material.
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

    /// What rest shapes must know of the rods of a material.
    pub(in crate::solve) fn round_rod(&self, material: &Material) -> RoundRod {
        let Stiffness { stretch, bend, twist } = self.stiffness(material);
        RoundRod { stretch, bend, twist, most_stretch: self.most_stretch }
    }

    /// The grid that strands meet on. Gravity comes with the momentum of the rods.
    pub(super) fn grid(&self) -> GridParams {
        let (young, poisson) = (self.grid_young, self.grid_poisson);
        let material = match self.grains {
            GrainKind::Fluid => {
                let bulk = (young / (3.0 * (1.0 - 2.0 * poisson))) as f32;
                grid::Material::Fluid(Fluid {
                    bulk,
                    most_gain: self.most_gain.exp_m1() as f32,
                    ..Fluid::default()
                })
            }
            GrainKind::Sand | GrainKind::None => grid::Material::Sand(Sand {
                young: young as f32,
                poisson: poisson as f32,
                friction_angle: self.friction_angle as f32,
                most_gain: self.most_gain as f32,
            }),
        };
        let separation = self.separation.map(|ratio| ratio as f32);
        let transfer = Transfer { flip: self.flip as f32, affine: self.affine, separation };
        GridParams { cell: self.cell, gravity: glam::Vec3::ZERO, transfer, material, ..GridParams::default() }
    }

    /// The side of a cell for this hair [m]: that of its rest shape, where that balances on one.
    pub(in crate::solve) fn cell_of(&self, model: &Model) -> f64 {
        balanced_on(model).unwrap_or(self.cell)
    }

    /// The grid for this hair: what balances on it is as stiff as it allows (see `carried`), and is damped where it sees nothing.
    pub(super) fn grid_for(&self, model: &Model) -> GridParams {
        let mut grid = self.grid();
        grid.cell = self.cell_of(model);
        grid.transfer.flip = flip_of(model, grid.transfer.flip);
        if let grid::Material::Sand(sand) = &mut grid.material {
            let step = self.step / f64::from(self.substeps).min(2.0 * MOST_CELLS);
            *sand = stiffened(*sand, model, self.grid_density, step);
        }
        grid
    }

    /// The parameter that is out of range, if any, and what was expected there.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let unit = 0.0..=1.0;
        let checks = [
            ("step", (1e-5..=0.1).contains(&self.step), "a number of seconds from 1e-5 to 0.1"),
            ("stretch_young", positive(self.stretch_young), "a positive number of pascals"),
            ("bend_young", self.bend_young.is_none_or(positive), "a positive number of pascals"),
            ("shear", self.shear.is_none_or(positive), "a positive number of pascals"),
            (
                "largest_curvature",
                (0.1..=1000.0).contains(&self.largest_curvature),
                "a number from 0.1 to 1000",
            ),
            ("pin_blend", self.pin_blend > 0.0 && self.pin_blend <= 1.0, "a number above 0, at most 1"),
            ("most_shift", positive(self.most_shift), "a positive number of metres"),
            ("most_turn", positive(self.most_turn), "a positive number of radians"),
            ("margin", (0.0..=0.1).contains(&self.margin), "a number of metres from 0 to 0.1"),
            ("most_stretch", (1e-6..=0.5).contains(&self.most_stretch), "a number from 1e-6 to 0.5"),
            ("substeps", (1..=1000).contains(&self.substeps), "a number of steps from 1 to 1000"),
            ("cell", (1e-4..=1.0).contains(&self.cell), "a number of metres from 1e-4 to 1"),
            ("flip", unit.contains(&self.flip), "a number from 0 to 1"),
            ("separation", self.separation.iter().all(|r| unit.contains(r)), "two numbers from 0 to 1"),
            ("grid_young", (0.0..=1e9).contains(&self.grid_young), "a number of pascals from 0 to 1e9"),
            ("grid_poisson", (0.0..=0.49).contains(&self.grid_poisson), "a number from 0 to 0.49"),
            ("grid_density", (1.0..=1e5).contains(&self.grid_density), "a number of kg/m³ from 1 to 1e5"),
            (
                "friction_angle",
                (0.0..=89.0).contains(&self.friction_angle),
                "a number of degrees from 0 to 89",
            ),
            ("most_gain", self.most_gain >= 0.0, "a number that is not negative"),
            ("inset", (0.0..=10.0).contains(&self.inset), "a number of cells from 0 to 10"),
        ];
        match checks.into_iter().find(|(_, ok, _)| !ok) {
            Some((key, _, expected)) => Err((key, expected)),
            None if self.grains != GrainKind::None && !self.grid_is_stable() => {
                let expected = "more steps of the grid: sound in the hair must not cross a cell within one";
                Err(("substeps", expected))
            }
            None => Ok(()),
        }
    }

    /// Whether sound in the hair as grains crosses less than a cell in a step of the grid.
    fn grid_is_stable(&self) -> bool {
        self.step / f64::from(self.substeps) <= 2.0 * self.grid().stable_step(self.grid_density)
    }
}
