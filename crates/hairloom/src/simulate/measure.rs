use rayon::prelude::*;
use serde::Serialize;

use glam::DVec3;

use crate::body::{Bodies, Obstacles};
use crate::scene::{Attachments, Model, State};

/// A worst value and where it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Worst {
    /// The value.
    pub value: f64,
    /// Index of the strand.
    pub strand: usize,
    /// Vertex along the strand.
    pub vertex: usize,
}

/// How the hair is doing, measured from outside the solver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Measures {
    /// Largest relative change of an edge's length, from positions in double precision.
    pub stretch: Worst,
    /// Deepest free vertex inside a body [m]; 0 where none is inside.
    pub penetration: Worst,
    /// Energy of motion [J].
    pub kinetic_energy: f64,
    /// Energy of height over the origin, along gravity [J].
    pub potential_energy: f64,
}

/// The later of two that are equal gives way: the result does not hang on how the work was split.
fn worse(a: Worst, b: Worst) -> Worst {
    let b_wins = b.value > a.value || (b.value == a.value && (b.strand, b.vertex) < (a.strand, a.vertex));
    if b_wins { b } else { a }
}

/// Measures a state at the end of the step under way.
pub fn measure(
    model: &Model,
    state: &State,
    bodies: &Bodies,
    attachments: &Attachments,
    gravity: DVec3,
) -> Measures {
    let mut held = vec![false; model.vertices()];
    for attachment in &attachments.items {
        let first = model.range(attachment.strand as usize).start + attachment.first as usize;
        held[first..first + attachment.count as usize].fill(true);
    }
    let obstacles = bodies.at(1.0);
    let strands: Vec<Measures> = (0..model.strands())
        .into_par_iter()
        .with_min_len(64)
        .map(|strand| measure_strand(model, state, &obstacles, &held, gravity, strand))
        .collect();
    strands.iter().fold(Measures::default(), |sum, one| Measures {
        stretch: worse(sum.stretch, one.stretch),
        penetration: worse(sum.penetration, one.penetration),
        kinetic_energy: sum.kinetic_energy + one.kinetic_energy,
        potential_energy: sum.potential_energy + one.potential_energy,
    })
}

fn measure_strand(
    model: &Model,
    state: &State,
    obstacles: &Obstacles<'_>,
    held: &[bool],
    gravity: DVec3,
    strand: usize,
) -> Measures {
    let range = model.range(strand);
    let mut measures = Measures::default();
    for (vertex, index) in range.clone().enumerate() {
        let (position, mass) = (state.positions[index], f64::from(model.masses[index]));
        measures.kinetic_energy += 0.5 * mass * state.velocities[index].length_squared();
        measures.potential_energy -= mass * gravity.dot(position);
        if index + 1 < range.end {
            let length = (state.positions[index + 1] - position).length();
            let value = (length / model.rest_lengths[index] - 1.0).abs();
            measures.stretch = worse(measures.stretch, Worst { value, strand, vertex });
        }
        let point = position.as_vec3();
        if !held[index] && obstacles.clearance(point) < 0.0 {
            let depth = obstacles.nearest(point).map_or(0.0, |(_, sample)| -f64::from(sample.distance));
            measures.penetration =
                worse(measures.penetration, Worst { value: depth.max(0.0), strand, vertex });
        }
    }
    measures
}
