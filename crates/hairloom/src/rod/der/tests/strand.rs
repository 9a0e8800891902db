use glam::{DQuat, DVec3};

use super::case::assert_close;
use crate::math::{Quaternion, Random, Vector3};
use crate::rod::CrossSection;
use crate::rod::der::{
    Clamp, Edge, Elasticity, Frame, Measure, Rod, RodShape, StretchMeasure, Tip, holonomy,
};

const EDGES: usize = 7;

fn elasticity(measure: Measure, clamp: Clamp) -> Elasticity {
    Elasticity {
        section: CrossSection { radius: 0.1, flatness: 0.2 },
        measure,
        clamp,
        stretch_measure: StretchMeasure::Quadratic,
        tip: Tip::WholeEdge,
        ..Elasticity::round(0.1, 1e4, 0.4)
    }
}

/// A helix that starts off the clamp's axis.
fn helix() -> RodShape {
    let vertices: Vec<_> = (0..=EDGES)
        .map(|k| {
            let (sine, cosine) = (0.9 * k as f64).sin_cos();
            DVec3::new(cosine, sine, 0.4 * k as f64)
        })
        .collect();
    RodShape::through(&vertices, Frame::along(Vector3::new(0.0, 0.6, 0.8)))
}

fn deformed(rest: &RodShape, seed: u64) -> RodShape {
    let mut random = Random::new(seed);
    let steps: Vec<[f64; 4]> =
        rest.edges.iter().map(|_| [(); 4].map(|()| 0.5 * f64::from(random.signed()))).collect();
    rest.stepped(&steps)
}

/// The step of one unknown.
fn unit_step(unknown: usize, size: f64) -> Vec<[f64; 4]> {
    let mut steps = vec![[0.0; 4]; EDGES];
    steps[unknown / 4][unknown % 4] = size;
    steps
}

fn for_all(check: impl Fn(&Elasticity, &Rod, &RodShape)) {
    for measure in [Measure::HalfSine, Measure::HalfTangent] {
        for (seed, clamp) in [Clamp::Ghost, Clamp::FirstEdge, Clamp::Free].into_iter().enumerate() {
            let elasticity = elasticity(measure, clamp);
            let rest = helix();
            check(&elasticity, &Rod::new(&rest, &elasticity), &deformed(&rest, seed as u64));
        }
    }
}

#[test]
fn a_strand_in_its_natural_shape_has_no_energy_and_no_force() {
    for_all(|_, rod, moved| {
        assert!(rod.energy(&helix()) < 1e-20);
        assert!(rod.gradient(&helix()).iter().flatten().all(|force| force.abs() < 1e-9));
        assert!(rod.energy(moved) > 1e-3);
    });
}

#[test]
fn gradients_of_a_strand_are_finite_differences() {
    for_all(|_, rod, moved| {
        let gradient: Vec<f64> = rod.gradient(moved).into_iter().flatten().collect();
        let expected: Vec<f64> = (0..4 * EDGES)
            .map(|unknown| {
                let at = |size| rod.energy(&moved.stepped(&unit_step(unknown, size)));
                (8.0 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4
            })
            .collect();
        assert_close(&gradient, &expected, 1e-8, "strand");
    });
}

#[test]
fn hessians_of_a_strand_are_finite_differences() {
    for_all(|_, rod, moved| {
        let (_, blocks) = rod.derivatives(moved, true);
        // The gradient as a function of steps from `moved`.
        let gradient_at = |unknown: usize, size: f64| -> Vec<f64> {
            let next = moved.stepped(&unit_step(unknown, size));
            let mut gradient = rod.gradient(&next);
            for (edge, part) in gradient.iter_mut().enumerate() {
                let turn = holonomy(Edge::new(moved.edges[edge]).tangent, Edge::new(next.edges[edge]));
                turn.to_array().into_iter().enumerate().for_each(|(axis, turn)| part[axis] += turn * part[3]);
            }
            gradient.into_iter().flatten().collect()
        };
        for unknown in 0..4 * EDGES {
            let mut column = [0.0; 4 * EDGES];
            let (own, place) = (unknown / 4, unknown % 4);
            for row in 0..4 {
                column[4 * own + row] += blocks[own].bb[row][place];
                if own > 0 {
                    column[4 * own - 4 + row] += blocks[own].ab[row][place];
                }
                if own + 1 < EDGES {
                    column[4 * own + row] += blocks[own + 1].aa[row][place];
                    column[4 * own + 4 + row] += blocks[own + 1].ab[place][row];
                }
            }
            let (near, far) = ([1e-4, -1e-4], [2e-4, -2e-4]);
            let (near, far) = (near.map(|s| gradient_at(unknown, s)), far.map(|s| gradient_at(unknown, s)));
            let expected: Vec<f64> = (0..4 * EDGES)
                .map(|row| (8.0 * (near[0][row] - near[1][row]) - (far[0][row] - far[1][row])) / 12e-4)
                .collect();
            assert_close(&column, &expected, 1e-7, "strand");
        }
    });
}

#[test]
fn a_strand_moved_rigidly_keeps_its_energy_and_turns_its_forces() {
    let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.4, 1.1, -2.0);
    let rotation = Quaternion::<f64>::splat(turn);
    for_all(|_, rod, moved| {
        let turned = RodShape {
            clamp: Frame(rotation.after(moved.clamp.0)),
            edges: moved.edges.iter().map(|&edge| rotation.rotate(edge)).collect(),
            frames: moved.frames.iter().map(|frame| Frame(rotation.after(frame.0))).collect(),
        };
        assert!((rod.energy(&turned) / rod.energy(moved) - 1.0).abs() < 1e-12);
        for (after, before) in rod.vertex_gradient(&turned).into_iter().zip(rod.vertex_gradient(moved)) {
            assert!((after - turn * before).length() < 1e-9 * before.length().max(1.0));
        }
    });
}

#[test]
fn a_free_strand_feels_no_net_force_and_no_net_torque() {
    for_all(|elasticity, rod, moved| {
        if elasticity.clamp == Clamp::Ghost {
            return;
        }
        let forces = rod.vertex_gradient(moved);
        let scale: f64 = forces.iter().map(|force| force.length()).sum();
        let mut vertex = DVec3::ZERO;
        // Twisting torques act along the edges.
        let mut torque = DVec3::ZERO;
        for (edge, gradient) in moved.edges.iter().zip(rod.gradient(moved)) {
            torque += DVec3::from_array(Edge::new(*edge).tangent.to_array()) * gradient[3];
        }
        for (index, force) in forces.iter().enumerate() {
            torque += vertex.cross(*force);
            vertex += moved.edges.get(index).map_or(DVec3::ZERO, |edge| DVec3::from_array(edge.to_array()));
        }
        assert!(forces.iter().sum::<DVec3>().length() < 1e-12 * scale);
        assert!(torque.length() < 1e-11 * scale, "{torque} of {scale}");
    });
}
