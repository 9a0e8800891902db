//! Forces and stresses that balance gravity at every node of the grid: the global force step.
//!
//! # Theory
//!
//! Hsu et al. 2023, sections 3.2.1 and 3.2.5: among all forces of the segments and stresses of the particles that leave
//! every node at rest (equation 12), with every stress inside the Drucker–Prager cone, those with the least objective. The paper's (equation 22) would
//! rather have tension than compression or forces across, and pressure than shear; what its weights mean hangs on units that it does not tell. Ours:
//!
//!   Σ w_t x∥² + w_c (θ − x∥)₊² + w_b |x⊥|² + w_m |M|² + w_e (|f| − κF)₊ / F   over segments,   Σ w_d |h|² + w_o |s|²   over particles,
//!
//! with the force f of a segment, x the same over what the segment carries where its strand carries itself, along the segment and across, the moment M before
//! the segment over what it would be if the strand stood out level, the largest force F of all strands that carry themselves, and hydrostatic and deviatoric
//! stress h and s over the weight of a mean particle.
//!
//! # In practice
//!
//! - **Why these terms.** What matters later is how much of the hair is pressed, how much has to be stiffened, and the largest force. In weights of
//!   a particle, with the paper's weights, the optimum braces strands against each other: long hair has the least objective with 27 % stiffened instead of 16 %,
//!   and eleven times the largest force. Measured (forces alone, long and middle hair, and the wig):
//!   1. Counted over what its segment carries alone, a force near a tip is as dear as one near a root that is fifteen times as large: long hair then has
//!      15 % stiffened, middle hair 1.5 % (2.6 % by own weight).
//!   2. The strands of the wig that then need more stiffening are not pressed at all, but bent: their moments grow by a tenth, those of strands that need
//!      less fall by two fifths. So moments have a price, and the wig has 12.7 % stiffened instead of 13.8 %. Far dearer moments (w_m = 100) stiffen the wig
//!      less (10.8 %), but long hair and the afro more.
//!   3. No force beyond κF: linear in the excess, so that it is none wherever there is a choice. Strands that carry themselves are always feasible.
//!   4. Compression is counted from a tension of θ on, which takes the place of the paper's bias. With the bias +W/2 the objective has a kink at no force, with
//!      −W/2 compression up to half the weight of the strand costs nothing; from 0 on, more of the hair is pressed than by own weight.
//! - Forces are in weights of a mean free particle, V⁰τ in that times the side of a cell. Rows are divided by the square root of a node's mass.
//! - Held particles have a mass and may have a stress, but neither weight nor rod forces: what pulls on them goes into
//!   what holds them.
//! - Where nodes have few particles, their rows determine everything and all stress is zero, so the programme has no
//!   interior. The own-weight solution is always feasible.
//!
//! Engines ([`Engine`]): each strand carries itself; the programme in clarabel; and a method of our own for the same programme with pressures for stresses (`descent`), which
//! begins with strands that carry themselves and keeps nodes at rest, so that each of its points is an answer. Of that as much is taken as stiffens no more of the hair
//! than strands that carry themselves ([`least_stiffened`]; so far always all).
//!
//! | hair | engine | objective | compressed | stiffened | largest force | node at rest to | cones to | time |
//! |---|---|---|---|---|---|---|---|---|
//! | drape, 32 × 16 | own weight | 9,123 | 0 % | 36.7 % | 16.0 µN | 3e-15 g | 0 | |
//! | | anytime | 9,123 | 0 % | 36.7 % | 16.0 µN | 3e-15 g | 0 | |
//! | | clarabel | 9,098 | 0 % | 36.7 % | 17.0 µN | 3e-8 g | 3e-8 | 4.3 s |
//! | middle, 256 × 16 | own weight | 7,857 | 1.56 % | 2.62 % | 13.98 µN | 6e-15 g | 0 | |
//! | | anytime | 6,150 | 0.65 % | 1.33 % | 13.96 µN | 1e-7 g | 0 | 1.3 s |
//! | | clarabel | 5,907 | 0.55 % | 1.20 % | 13.84 µN | 7e-7 g | 5e-8 | 78 s |
//! | short, 256 × 16 | own weight | 14,317 | 3.13 % | 0 % | 5.59 µN | 4e-15 g | 0 | |
//! | | anytime | 8,469 | 1.28 % | 0 % | 5.56 µN | 6e-8 g | 0 | 2.2 s |
//! | afro, 256 × 16 | own weight | 47,243 | 61.7 % | 7.36 % | 6.71 µN | 4e-15 g | 0 | |
//! | | anytime | 36,783 | 53.5 % | 4.40 % | 6.70 µN | 2e-7 g | 0 | 2.3 s |
//! | long, 512 × 16 | own weight | 16,969 | 0.76 % | 16.0 % | 22.4 µN | 6e-15 g | 0 | |
//! | | anytime | 13,573 | 0.35 % | 12.0 % | 22.3 µN | 5e-7 g | 0 | 4.4 s |
//! | | clarabel | 13,236 | 0.34 % | 11.7 % | 22.2 µN | 7e-7 g | 4e-8 | 162 s |
//! | wig, 1,024 × 32 | own weight | 118,816 | 5.31 % | 13.8 % | 20.5 µN | 1e-14 g | 0 | |
//! | | anytime | 66,504 | 2.69 % | 12.6 % | 20.4 µN | 7e-7 g | 0 | 15 s |
//!
//! (`HAIRLOOM_BENCH_LARGE=1 hairloom bench sag-free`; clarabel on one thread.) The drape and the knit have fewer particles than nodes: there strands that carry
//! themselves are all that there is without shear, and with it clarabel gains 0.3 % of the objective and nothing else.
//!
//! # Beside table 1 of the paper
//!
//! The paper stiffens 15.3 % of long hair, 7.3 % of the afro, 18.9 % of middle hair, 20.3 % of short hair and 1.2 % of the drape. How much it is hangs on how stiff
//! hair is beside its weight, which the paper does not tell in units; its hair is not at hand either. By own weight, with factors on Young's modulus
//! (`hairloom lab hairstyles --set stiffness=… --set seconds=0`):
//!
//! | factor | drape | middle | short | afro | long |
//! |---|---|---|---|---|---|
//! | 1/4 | 43.3 % | 11.9 % | 2.7 % | 29.0 % | 33.5 % |
//! | 1/2 | 40.0 % | 7.5 % | 0.3 % | 21.5 % | 24.8 % |
//! | 1 | 36.7 % | 2.6 % | 0 % | 7.4 % | 16.0 % |
//! | 2 | 33.3 % | 0.5 % | 0 % | 0 % | 8.1 % |
//! | 4 | 30.0 % | 0.1 % | 0 % | 0 % | 2.0 % |
//! | 16 | 16.7 % | 0 % | 0 % | 0 % | 0 % |
//! | 64 | 0 % | 0 % | 0 % | 0 % | 0 % |
//!
//! With contact all but the drape have fewer than the paper at a factor of 1. Each strand of the drape stands out level for 27 cm, where hair of this radius
//! holds itself up for some centimetres: all 32 fall unless their joints near the wall are stiffened, and nothing lies below them that could carry them.
//!
//! # Limits
//!
//! - Our own method has pressures, and no shear. On middle hair forces alone come to 6,378, with pressures there is 5,988 to be had, and with all stresses 5,907.
//!   Where a few strands stand on a coarse grid shear counts for more: on the brush of the tests pressures come to 12,690, all stresses to 11,660.
//! - Shapes that contact carries a part of balance on the grid alone. Nothing brings vertices back in what the grid cannot represent: curls of
//!   `scenes/sag-free.toml` left them, by a factor of four in a second, until such motion was damped (`flip_of` in `solve/material_points.rs`); now they
//!   stay within 2e-5 of their lengths for five seconds. They balance for one place of the grid.
//! - Tried before for stresses: interior point methods of our own (32 GFlop for long hair and 71 for the wig in each of some forty iterations), ADMM and conjugate
//!   gradients on the dual (stalled at nodes of little mass).

mod coupling;
mod descent;
mod dissection;
mod factor;
mod lattice;
mod loose;
mod moments;
mod pattern;
mod pressure;
mod price;
mod programme;
mod reference;

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::own_weight::PRESSED;
use super::{Forces, Hair, Outcome, RestError, own_weight};
use descent::Until;
use programme::{Programme, Unknowns};
pub use reference::{Cone, Problem, Solution, Sparse};

/// Why no forces were found.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GlobalForceError {
    /// The hair itself cannot be carried.
    #[error(transparent)]
    Rest(#[from] RestError),
    /// A parameter is out of range.
    #[error("{parameter} is {value}; expected {expected}")]
    Parameter {
        /// Which parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// A position that is no number.
    #[error("vertex {vertex} has a position that is not finite")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
    },
    /// A vertex beyond the grid.
    #[error(
        "vertex {vertex} lies outside of the grid, which reaches {farthest} m from the origin; move the hair there or take larger cells"
    )]
    OutOfReach {
        /// Index of the vertex.
        vertex: usize,
        /// How far the grid reaches [m].
        farthest: f64,
    },
    /// Nothing to balance.
    #[error(
        "the hair has no weight (no gravity, no mass, or every vertex is held), so there is nothing to balance; the groomed shape is the rest shape"
    )]
    Weightless,
    /// clarabel gave up.
    #[error("clarabel found no solution: {status}; take the own-weight or the anytime engine")]
    Reference {
        /// What it says.
        status: String,
    },
}

/// The grid and the friction between strands, as the forward solver has them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Medium {
    /// Side of a cell of the grid [m]; nodes lie on world multiples of it.
    pub cell: f64,
    /// Friction angle of the Drucker–Prager cone [degrees].
    pub friction_angle: f64,
}

impl Medium {
    /// Cells of side `cell` [m], and the friction angle of a coefficient of friction.
    pub fn with_friction(cell: f64, coefficient: f64) -> Self {
        Self { cell, friction_angle: coefficient.atan().to_degrees() }
    }

    fn check(&self) -> Result<(), GlobalForceError> {
        within("the side of a cell", self.cell, 1e-6, 1e6, "between 1e-6 and 1e6 m")?;
        within("the friction angle", self.friction_angle, 0.1, 89.0, "between 0.1 and 89°")
    }

    /// c_F: ‖dev τ‖ + c_F tr τ ≤ 0 inside the cone.
    fn slope(&self) -> f64 {
        let sine = self.friction_angle.to_radians().sin();
        (2.0f64 / 3.0).sqrt() * 2.0 * sine / (3.0 - sine)
    }
}

/// The weights of the objective.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// w_t, of forces along a segment, over what it carries where its strand carries itself.
    pub tension: f64,
    /// w_c, of what tension lacks to `least`.
    pub compression: f64,
    /// θ: tension that a segment should have at least, over what it carries where its strand carries itself.
    pub least: f64,
    /// w_b, of forces across a segment.
    pub bending: f64,
    /// w_m, of moments, over those of a strand that stands out level.
    pub moment: f64,
    /// w_e, of what a force exceeds the limit by, over the largest force of strands that carry themselves.
    pub excess: f64,
    /// κ: the limit of forces, over the largest force of strands that carry themselves.
    pub limit: f64,
    /// w_d, of hydrostatic stress, over the weight of a particle.
    pub hydrostatic: f64,
    /// w_o, of deviatoric stress, over the weight of a particle.
    pub deviatoric: f64,
}

impl Default for Weights {
    /// Those with which hair of every kind is better off than strands that carry themselves; see the table of this module.
    fn default() -> Self {
        Self {
            tension: 1.0,
            compression: 10.0,
            least: 0.2,
            bending: 3.0,
            moment: 20.0,
            excess: 1e3,
            limit: 0.99,
            hydrostatic: 1.0,
            deviatoric: 100.0,
        }
    }
}

impl Weights {
    fn check(&self) -> Result<(), GlobalForceError> {
        let weights = [
            ("the weight of tension", self.tension),
            ("the weight of compression", self.compression),
            ("the weight of bending", self.bending),
            ("the weight of moments", self.moment),
            ("the weight of excess", self.excess),
            ("the weight of hydrostatic stress", self.hydrostatic),
            ("the weight of deviatoric stress", self.deviatoric),
        ];
        for (parameter, value) in weights {
            within(parameter, value, 1e-9, 1e12, "between 1e-9 and 1e12")?;
        }
        within("the least tension", self.least, 0.0, 1.0, "between 0 and 1 of what a segment carries alone")?;
        within("the limit of forces", self.limit, 0.1, 1.0, "between 0.1 and 1 of the largest force")
    }
}

fn within(
    parameter: &'static str,
    value: f64,
    low: f64,
    high: f64,
    expected: &'static str,
) -> Result<(), GlobalForceError> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(GlobalForceError::Parameter { parameter, value, expected })
    }
}

/// What solves the programme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Engine {
    /// Each strand carries itself; no stress. Exact and linear in the number of vertices.
    OwnWeight,
    /// The programme in clarabel, for at most this long [s]: minutes for some hundred strands.
    Reference {
        /// Time limit [s].
        seconds: f64,
    },
    /// A method of our own, for at most this long [s]: strands carry each other, with pressures between them but no shear. Stopped at any moment it has a feasible answer.
    /// Methods whose strands meet at single contacts find forces at those ([`with_contacts`](super::with_contacts)), however long it takes.
    Anytime {
        /// Time limit [s].
        seconds: f64,
    },
}

/// How good an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quality {
    /// The objective of this module, which stands for equation 22; it has no unit.
    pub objective: f64,
    /// Largest acceleration left at a node, in units of gravity.
    pub node_acceleration: f64,
    /// Largest excess beyond the cone, as a part of the largest stress.
    pub cone_excess: f64,
    /// Segments under compression [%].
    pub compressed: f64,
    /// Largest force of a segment [N].
    pub largest_force: f64,
    /// Mean square of the force left at a node [N²].
    pub force_mean_square: f64,
}

/// The answer of an engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Balance {
    /// The forces and stresses.
    pub forces: Forces,
    /// How good they are.
    pub quality: Quality,
    /// Nodes of the grid that hair reaches.
    pub nodes: usize,
    /// Iterations that the engine took.
    pub iterations: usize,
    /// Time spent, by phase [s].
    pub phases: Vec<(&'static str, f64)>,
}

/// No engine is given more time than a year.
const LONGEST: Duration = Duration::from_secs(31_536_000);

/// Finds forces and stresses that balance gravity at every node.
pub fn balance(
    hair: &Hair<'_>,
    medium: &Medium,
    weights: &Weights,
    engine: Engine,
) -> Result<Balance, GlobalForceError> {
    let begin = Instant::now();
    let own = own_weight(hair)?;
    let programme = Programme::new(hair, &own, medium, weights)?;
    let start = programme.unknowns(&own);
    let set_up = begin.elapsed().as_secs_f64();
    let (found, iterations) = match engine {
        Engine::OwnWeight => (start, 0),
        Engine::Reference { seconds } => reference::solve(&programme, seconds)?,
        Engine::Anytime { seconds } => {
            let most = Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST);
            descent::solve(&programme, &start, Until::Time(Instant::now() + most.min(LONGEST)))
        }
    };
    let total = begin.elapsed().as_secs_f64();
    // Where nothing was gained no grid is needed.
    let forces = if iterations == 0 { own } else { programme.forces(&found) };
    Ok(Balance {
        forces,
        quality: quality(&programme, &found),
        nodes: programme.lattice.nodes(),
        iterations,
        phases: vec![("set-up", set_up), ("solve", total - set_up)],
    })
}

/// How much of contact is tried, one after the other.
const PARTS: [f64; 6] = [1.0, 0.9, 0.75, 0.5, 0.25, 0.1];

/// The rest shape that takes the most of what contact carries in `found` without stiffening more of the hair than strands that carry
/// themselves (`own`) need. Contact bends strands the other way in places, and braces some against others.
pub fn least_stiffened(
    own: &Forces,
    found: &Forces,
    shape: impl Fn(Forces) -> Result<Outcome, RestError>,
) -> Result<Outcome, RestError> {
    let alone = shape(own.clone())?;
    for part in PARTS {
        let outcome = shape(own.towards(found, part))?;
        if outcome.stiffened <= alone.stiffened {
            return Ok(outcome);
        }
    }
    Ok(alone)
}

/// How good any forces and stresses are, in the programme of this hair.
pub fn assess(
    hair: &Hair<'_>,
    medium: &Medium,
    weights: &Weights,
    forces: &Forces,
) -> Result<Quality, GlobalForceError> {
    let vertices = hair.positions.len();
    for (column, given) in [("segments", forces.segments.len()), ("stresses", forces.stresses.len())] {
        if given != vertices {
            return Err(RestError::WrongCount { column, given, vertices }.into());
        }
    }
    let programme = Programme::new(hair, &own_weight(hair)?, medium, weights)?;
    Ok(quality(&programme, &programme.unknowns(forces)))
}

/// The programme of this module in the standard form of conic solvers, to be handed to another one.
pub fn problem(hair: &Hair<'_>, medium: &Medium, weights: &Weights) -> Result<Problem, GlobalForceError> {
    Ok(reference::problem(&Programme::new(hair, &own_weight(hair)?, medium, weights)?))
}

fn quality(programme: &Programme, found: &Unknowns) -> Quality {
    let residual = programme.residual(found);
    let scales = &programme.row_scales;
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let force = largest(&mut found.forces.iter().map(|f| f.length()));
    let pressed = found.forces.iter().filter(|f| f.x < -PRESSED).count();
    let squares = residual.iter().zip(scales).map(|(r, s)| (*r / *s).length_squared()).sum::<f64>();
    Quality {
        objective: programme.objective(found),
        node_acceleration: programme.worst(&residual),
        cone_excess: excess(found, programme.slope),
        compressed: 100.0 * pressed as f64 / found.forces.len().max(1) as f64,
        largest_force: force * programme.unit,
        force_mean_square: squares * programme.unit * programme.unit / residual.len().max(1) as f64,
    }
}

/// How far a stress lies outside of its cone at most, as a part of the largest stress.
fn excess(point: &Unknowns, slope: f64) -> f64 {
    let shear = |s: &[f64; 6]| s[1..].iter().map(|part| part * part).sum::<f64>();
    let outside = point.stresses.iter().map(|s| shear(s).sqrt() + slope * s[0]).fold(0.0, f64::max);
    let largest = point.stresses.iter().map(|s| s[0].mul_add(s[0], shear(s)).sqrt()).fold(0.0, f64::max);
    if outside > 0.0 { outside / largest } else { 0.0 }
}
