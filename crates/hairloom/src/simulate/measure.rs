use glam::{DVec3, Vec3};
use rayon::prelude::*;
use serde::Serialize;

use crate::body::{Bodies, Lookout, Obstacles};
use crate::groom::Curves;
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
    /// Deepest free vertex inside a body's true surface [m], whatever the solver asks instead; 0 where none is inside.
    pub penetration: Worst,
    /// Energy of motion [J].
    pub kinetic_energy: f64,
    /// Energy of height over the origin, along gravity [J].
    pub potential_energy: f64,
    /// The same of the strands that are shown and written: followers, and vertices that are held.
    pub written: Written,
}

/// Measures of the strands that are shown and written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Written {
    /// Largest relative change of an edge's length. Points are in single precision: a metre and a half from the origin
    /// an edge of a centimetre is off by up to 2e-5 from rounding alone.
    pub stretch: Worst,
    /// Deepest vertex inside a body [m], those that are not held and those that are, but for the held ends on the skin
    /// and the first edge where it is held as well.
    pub penetration: Worst,
}

/// The later of two that are equal gives way: the result does not hang on how the work was split.
fn worse(a: Worst, b: Worst) -> Worst {
    let b_wins = b.value > a.value || (b.value == a.value && (b.strand, b.vertex) < (a.strand, a.vertex));
    if b_wins { b } else { a }
}

/// Measures a state at the end of the step under way, as if it were written as it is.
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
        written: sum.written.or_worse(one.written),
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
    let (mut measures, mut lookout) = (Measures::default(), Lookout::new(obstacles));
    for (vertex, index) in range.clone().enumerate() {
        let (position, mass) = (state.positions[index], f64::from(model.masses[index]));
        measures.kinetic_energy += 0.5 * mass * state.velocities[index].length_squared();
        measures.potential_energy -= mass * gravity.dot(position);
        if index + 1 < range.end {
            let length = (state.positions[index + 1] - position).length();
            let value = (length / model.rest_lengths[index] - 1.0).abs();
            measures.stretch = worse(measures.stretch, Worst { value, strand, vertex });
            let written = |index: usize| state.positions[index].as_vec3().as_dvec3();
            let value =
                ((written(index + 1) - written(index)).length() / model.rest_lengths[index] - 1.0).abs();
            measures.written.stretch = worse(measures.written.stretch, Worst { value, strand, vertex });
        }
        // The first edge is part of the skin, so to say: where a limb folds into the trunk it goes along.
        let end = vertex <= 1 || index + 1 == range.end;
        if !(held[index] && end) {
            let worst = Worst { value: depth(&mut lookout, position.as_vec3()), strand, vertex };
            measures.written.penetration = worse(measures.written.penetration, worst);
            if !held[index] {
                measures.penetration = worse(measures.penetration, worst);
            }
        }
    }
    measures
}

/// Measures followers as they are written, against the groom that they came from; their roots sit on a body. Points that are `outside` of all
/// bodies for sure are not looked at again; where it is empty, all are.
pub fn measure_written(groom: &Curves, points: &[Vec3], bodies: &Bodies, outside: &[bool]) -> Written {
    let obstacles = bodies.at(1.0);
    let strands: Vec<Written> = (0..groom.strands())
        .into_par_iter()
        .with_min_len(64)
        .map(|strand| {
            let (rest, now) = (groom.strand(strand), &points[groom.range(strand)]);
            let (mut written, mut lookout) = (Written::default(), Lookout::new(&obstacles));
            for vertex in 0..now.len() {
                if vertex + 1 < now.len() {
                    let edge = |points: &[Vec3]| {
                        (points[vertex + 1].as_dvec3() - points[vertex].as_dvec3()).length()
                    };
                    let value = (edge(now) / edge(rest) - 1.0).abs();
                    written.stretch = worse(written.stretch, Worst { value, strand, vertex });
                }
                let sure = outside.get(groom.range(strand).start + vertex).copied().unwrap_or(false);
                if vertex > 0 && !sure {
                    let value = depth(&mut lookout, now[vertex]);
                    written.penetration = worse(written.penetration, Worst { value, strand, vertex });
                }
            }
            written
        })
        .collect();
    strands.into_iter().fold(Written::default(), Written::or_worse)
}

impl Written {
    fn or_worse(self, other: Self) -> Self {
        Self {
            stretch: worse(self.stretch, other.stretch),
            penetration: worse(self.penetration, other.penetration),
        }
    }
}

/// How deep a point is inside the bodies at the end of the step [m]; 0 outside. A body that answers from its grid is
/// asked for its triangles here: measured by the grid that it was moved by, hair is always outside.
fn depth(lookout: &mut Lookout<'_>, point: Vec3) -> f64 {
    lookout.nearer(point, 0.0).map_or(0.0, |distance| -f64::from(distance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{Body, MeshQuery, MeshSettings, MeshShape, Shape, TriMesh};

    /// A grid of coarse cells reads too high above a surface that curves away: hair that it holds to be outside is
    /// inside the triangles, and that is what counts.
    #[test]
    fn penetration_is_measured_against_triangles_and_not_against_the_grid() {
        let mesh = TriMesh::capsule(0.03, 0.0);
        let shape = |query| {
            let settings = MeshSettings { cell: Some(0.012), query };
            Shape::Mesh(MeshShape::new(&mesh, settings).unwrap())
        };
        let bodies = |query| Bodies::new(vec![Body::new("ball", shape(query), 0.0).unwrap()]);
        let (coarse, exact) = (bodies(MeshQuery::Grid), bodies(MeshQuery::Exact));
        let mut fooled = 0;
        for k in 0..2000 {
            let angle = 2.399_963 * k as f32;
            let height = 1.0 - (2 * k + 1) as f32 / 2000.0;
            let flat = (1.0 - height * height).sqrt();
            let point = 0.0292 * Vec3::new(flat * angle.cos(), height, flat * angle.sin());
            let truth = -f64::from(exact.at(1.0).closest(0, point).unwrap().distance);
            assert!((depth(&mut Lookout::new(&coarse.at(1.0)), point) - truth.max(0.0)).abs() < 1e-6);
            fooled += usize::from(truth > 1e-4 && coarse.at(1.0).sample(0, point).distance > 0.0);
        }
        assert!(fooled > 100, "{fooled}");
    }

    /// What one vertex sees may spare the next a look, but no vertex that is inside gets by.
    #[test]
    fn no_vertex_of_a_long_way_hides_behind_the_one_before() {
        let shape = MeshShape::new(&TriMesh::capsule(0.03, 0.02), MeshSettings::default()).unwrap();
        let bodies = Bodies::new(vec![Body::new("pill", Shape::Mesh(shape), 0.0).unwrap()]);
        let obstacles = bodies.at(1.0);
        let (mut inside, mut random) = (0, crate::math::Random::new(5));
        for _ in 0..300 {
            let mut lookout = Lookout::new(&obstacles);
            let (mut point, way) = (random.direction() * 0.12, random.direction() * 0.008);
            for _ in 0..30 {
                let truth = -f64::from(obstacles.closest(0, point).unwrap().distance);
                assert!((depth(&mut lookout, point) - truth.max(0.0)).abs() < 1e-6);
                inside += usize::from(truth > 0.0);
                point += way - point * 0.05;
            }
        }
        assert!(inside > 100, "{inside}");
    }
}
