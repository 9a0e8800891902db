//! Forces and stresses that balance gravity at every node of the grid: the global force step.
//!
//! # Theory
//!
//! Hsu et al. 2023, sections 3.2.1 and 3.2.5: among all forces of the segments and stresses of the particles that leave
//! every node at rest (equation 12), with every stress inside the Drucker–Prager cone, those with the least objective
//! (equation 22), which would rather have tension than compression or bending, and pressure than shear.
//!
//! # In practice
//!
//! - Forces are counted in weights of a mean free particle, V⁰τ in that times the side of a cell; the weights of the
//!   objective have a meaning only then. Rows are divided by the square root of a node's mass.
//! - The bias of equation 22 is +W/2, with the weight W of the strand: what is left of it is a penalty W |z⁻| beside
//!   (z⁻)². With −W/2 compression up to half the weight of the strand would cost nothing.
//! - Held particles have a mass and may have a stress, but neither weight nor rod forces: what pulls on them goes into
//!   what holds them.
//! - Where nodes have few particles, their rows determine everything and all stress is zero, so the programme has no
//!   interior. The own-weight solution is always feasible.
//!
//! Engines ([`Engine`]): each strand carries itself; the programme in clarabel, whose answer is put back into the cones
//! (`at_rest`); and interior point methods of our own, which begin with the own-weight solution and keep nodes at rest: the programme itself, first
//! for forces alone (`forces`), every iterate of which is an answer, then for stresses too (`interior`); and forces alone within limits (`limits`)
//! that let no segment be worse off than in strands that carry themselves.
//! Of the answers of our own as much is taken as stiffens no more of the hair than strands that carry themselves ([`least_stiffened`]).
//!
//! Within limits hair is better than strands that carry themselves in all that matters later, at every size: (`hairloom bench sag-free`)
//!
//! | hair | engine | objective | compressed | stiffened | largest force | node at rest to |
//! |---|---|---|---|---|---|---|
//! | middle, 256 × 16 | own weight | 6.014e8 | 1.56 % | 2.62 % | 14.0 µN | 6e-15 g |
//! | | within limits | 5.697e8 | 1.51 % | 2.28 % | 13.9 µN | 4e-5 g |
//! | short, 256 × 16 | own weight | 1.305e9 | 3.13 % | 0 % | 5.59 µN | 4e-15 g |
//! | | within limits | 1.232e9 | 2.79 % | 0 % | 5.58 µN | 4e-5 g |
//! | afro, 256 × 16 | own weight | 4.243e9 | 61.7 % | 7.36 % | 6.71 µN | 4e-15 g |
//! | | within limits | 4.029e9 | 60.6 % | 6.26 % | 6.69 µN | 2e-5 g |
//! | long, 512 × 16 | own weight | 1.391e9 | 0.76 % | 16.0 % | 22.4 µN | 6e-15 g |
//! | | within limits | 1.284e9 | 0.66 % | 15.5 % | 22.3 µN | 2e-5 g |
//! | wig, 1,024 × 32 | own weight | 7.813e10 | 5.31 % | 13.8 % | 20.5 µN | 1e-14 g |
//! | | within limits | 6.532e10 | 4.98 % | 12.2 % | 20.4 µN | 7e-5 g |
//!
//! (At a gap of 1 %, which the wig did not reach in two minutes on a busy machine.) The drape and the knit have fewer particles than nodes, where
//! forces alone gain nothing.
//!
//! The programme itself:
//!
//! | hair | engine | objective | compressed | stiffened | largest force | node at rest to | cones to | CPU time |
//! |---|---|---|---|---|---|---|---|---|
//! | drape, 32 × 16 | own weight | 3.844e8 | 0 % | 36.7 % | 16.0 µN | 6e-15 g | 0 | 0.01 s |
//! | | clarabel | 3.786e8 | 0 % | 36.7 % | 24.4 µN | 7e-7 g | 3e-7 | 6.6 s |
//! | | interior | 3.788e8 | 0 % | 36.7 % | 19.8 µN | 6e-5 g | 7e-7 | 1.4 s |
//! | middle, 256 × 16 | own weight | 6.014e8 | 1.56 % | 2.62 % | 14.0 µN | 6e-15 g | 0 | |
//! | | clarabel | 2.961e8 | 0.57 % | 4.34 % | 131 µN | 7e-5 g | 4e-7 | 335 s |
//! | | interior, the paper's weights | 2.968e8 | 0.99 % | 4.09 % | 129 µN | 1e-5 g | 8e-7 | 38 s |
//! | | interior, all | 3.255e8 | 0.89 % | 2.76 % | 40.5 µN | 1e-5 g | 8e-7 | 36 s |
//! | | interior, 9/10 taken | 3.339e8 | 0.96 % | 2.49 % | 37.7 µN | 1e-5 g | 8e-7 | 36 s |
//! | | forces alone, the paper's weights | 3.723e8 | 1.80 % | 3.80 % | 125 µN | 7e-5 g | 0 | 5 s |
//! | long, 512 × 16 | own weight | 1.391e9 | 0.76 % | 16.0 % | 22.4 µN | 6e-15 g | 0 | |
//! | | forces alone, the paper's weights | 5.823e8 | 0.79 % | 27.3 % | 251 µN | 8e-5 g | 0 | 13 s |
//! | wig, 1,024 × 32 | own weight | 7.813e10 | 5.31 % | 13.8 % | 20.5 µN | 1e-14 g | 0 | |
//! | | forces alone, all | 2.354e10 | 4.47 % | 33.4 % | 468 µN | 2e-5 g | 0 | 32 s |
//! | wig, 16,384 × 32 | own weight | 1.243e12 | 5.2 % | 13.7 % | 20.5 µN | 2e-14 g | 0 | < 4 s |
//!
//! (The interior point method with [`Weights::calm`] but where said, which on the middle hair costs a tenth of the objective and saves two thirds of the largest
//! force; objectives with the paper's weights. Forces alone: before a part of them is taken, on a busy machine; on the wig stopped after 25 s.) SCS reaches 3.786e8 on the drape in 2.0 s, but
//! leaves cones at 5e-4 there, and at 1.5e-4 after 21 s.
//!
//! # Limits
//!
//! - No answer can be within 5 % of the least objective and have no larger force than strands that carry themselves: on the middle hair tension of at
//!   most the latter's largest force costs 14 % of the objective. So there are two methods.
//! - Of limits, no larger force and no more compression alone still stiffen long hair by 27 % instead of 16 %, and the wig by 28 % instead of
//!   14 %: forces across that change their sign from segment to segment. Without those 9 % of long hair would do.
//! - Forces alone gain from the first iteration on: on the middle hair (seven iterations) 65 % of what they gain in all after one, 86 % after two, 94 % after
//!   three. They are a quarter above the programme with stresses there, and strands brace against each other more: without limits
//!   only a part of them can be taken ([`least_stiffened`]). Hair with fewer particles than nodes, as the drape, gains nothing by them.
//! - With stresses, gains come late: on the drape (14 iterations) 4 % of what there is to gain after 9 iterations, 53 % after 12, 95 % after 13. The first
//!   iterations find nearly all of the objective, but with a cohesion; the others take that away, in short steps that particles near the apex of their cones
//!   allow. On "long" and the wig (32 and 71 GFlop for each factorisation) the time of some forty iterations is minutes.
//! - Tried without success: steps that take the cohesion away only as fast as the complementarity (22 iterations instead of 14 on the drape, stuck at
//!   7e-5 on the middle hair); limits together with stresses (58 iterations on the middle hair, and nodes not at rest); leaving out nodes of little mass (of a
//!   thirtieth of a particle: a fifth of what there is to gain is lost, and no fewer iterations); leaving out stresses near the apex and bringing nodes to rest by the others (each round pushes more of them out of their
//!   cones, until none is left); uniform pressure as a start on what is loose (nodes of little mass ask for forces of 1e8 weights).

mod at_rest;
mod cone;
mod dissection;
mod factor;
mod forces;
mod interior;
mod lattice;
mod limits;
mod loose;
mod normal;
mod programme;
mod reference;

#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Forces, Hair, Outcome, RestError, own_weight};
use limits::Limits;
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
    #[error("clarabel found no solution: {status}; take the own-weight or the interior engine")]
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

/// The weights of equation 22.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// w_t, of tension.
    pub tension: f64,
    /// w_c, of compression.
    pub compression: f64,
    /// w_b, of forces across the segment.
    pub bending: f64,
    /// w_d, of hydrostatic stress.
    pub hydrostatic: f64,
    /// w_o, of deviatoric stress.
    pub deviatoric: f64,
    /// z⁻* in weights of the strand.
    pub bias: f64,
}

impl Default for Weights {
    /// Those of the paper.
    fn default() -> Self {
        Self { tension: 1.0, compression: 1e4, bending: 1e4, hydrostatic: 1e3, deviatoric: 1e5, bias: 0.5 }
    }
}

impl Weights {
    /// Those of the paper, but with tension that is not nearly free: strands brace against each other less, the largest force
    /// is smaller, and the paper's objective hardly larger (0.1 % for the drape).
    pub fn calm() -> Self {
        Self { tension: 300.0, ..Self::default() }
    }

    fn check(&self) -> Result<(), GlobalForceError> {
        let weights = [
            ("the weight of tension", self.tension),
            ("the weight of compression", self.compression),
            ("the weight of bending", self.bending),
            ("the weight of hydrostatic stress", self.hydrostatic),
            ("the weight of deviatoric stress", self.deviatoric),
        ];
        for (parameter, value) in weights {
            within(parameter, value, 1e-9, 1e12, "between 1e-9 and 1e12")?;
        }
        within("the bias", self.bias, 0.0, 1e3, "between 0 and 1e3 weights of the strand")
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
    /// The paper's programme in clarabel, for at most this long [s]; for small heads of hair.
    Reference {
        /// Time limit [s].
        seconds: f64,
    },
    /// Forces alone, by an interior point method of our own, for at most this long [s], and within limits that keep every segment from being worse
    /// off than in strands that carry themselves. Stopped at any moment it has a feasible answer.
    Limited {
        /// Time limit [s].
        seconds: f64,
    },
    /// The paper's programme by interior point methods of our own, for at most this long [s]. Stopped at any moment it has a feasible answer: strands which carry
    /// themselves, and as much of its own as leaves nodes at rest.
    Interior {
        /// Time limit [s].
        seconds: f64,
    },
}

/// How good an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quality {
    /// Equation 22 without its constant, in squared weights of a mean particle.
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

/// Finds forces and stresses that balance gravity at every node.
pub fn balance(
    hair: &Hair<'_>,
    medium: &Medium,
    weights: &Weights,
    engine: Engine,
) -> Result<Balance, GlobalForceError> {
    let begin = Instant::now();
    let own = own_weight(hair)?;
    let programme = Programme::new(hair, medium, weights)?;
    let start = programme.unknowns(&own);
    let set_up = begin.elapsed().as_secs_f64();
    let (found, iterations) = match engine {
        Engine::OwnWeight => (start, 0),
        Engine::Reference { seconds } => reference::solve(&programme, seconds)?,
        Engine::Limited { seconds } => {
            forces::solve(&programme, &start, Limits::OwnWeight, Instant::now(), seconds)
        }
        Engine::Interior { seconds } => anytime(&programme, start, seconds),
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

/// Forces alone first, then stresses too: the best point that either finds, and the iterations of both.
fn anytime(programme: &Programme, own: Unknowns, seconds: f64) -> (Unknowns, usize) {
    let clock = Instant::now();
    let (found, first) = forces::solve(programme, &own, Limits::None, clock, seconds);
    let (found, more) = interior::solve(programme, &own, found, clock, seconds);
    (found, first + more)
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
    let programme = Programme::new(hair, medium, weights)?;
    Ok(quality(&programme, &programme.unknowns(forces)))
}

/// The paper's programme in the standard form of conic solvers, to be handed to another one.
pub fn problem(hair: &Hair<'_>, medium: &Medium, weights: &Weights) -> Result<Problem, GlobalForceError> {
    own_weight(hair)?;
    Ok(reference::problem(&Programme::new(hair, medium, weights)?))
}

fn quality(programme: &Programme, found: &Unknowns) -> Quality {
    let residual = programme.residual(found);
    let scales = &programme.row_scales;
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let force = largest(&mut found.forces.iter().map(|f| f.length()));
    let pressed = found.forces.iter().filter(|f| f.x < -1e-3).count();
    let squares = residual.iter().zip(scales).map(|(r, s)| (*r / *s).length_squared()).sum::<f64>();
    Quality {
        objective: programme.objective(found),
        node_acceleration: programme.worst(&residual),
        cone_excess: at_rest::excess(found, programme.slope),
        compressed: 100.0 * pressed as f64 / found.forces.len().max(1) as f64,
        largest_force: force * programme.unit,
        force_mean_square: squares * programme.unit * programme.unit / residual.len().max(1) as f64,
    }
}
