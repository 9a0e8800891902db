use glam::{DQuat, DVec3};

use crate::math::{Quaternion, Vector3};
use crate::rod::der::{Clamp, Edge, Elasticity, Frame, Measure, Rod, RodShape, Tip, voronoi_lengths};

/// H/W of a heavy horizontal cantilever, from the planar equation of the elastica, against Γ = ρ g A L³ / E I.
const EXACT: [(f64, f64); 2] = [(1.0, 0.124_561_766_441_706_74), (100.0, 5.888_104_623_327_327)];

/// A straight rod along x of length 1 and bending stiffness 1.
fn straight(edges: usize) -> RodShape {
    let vertices: Vec<_> = (0..=edges).map(|k| DVec3::X * (k as f64 / edges as f64)).collect();
    RodShape::through(&vertices, Frame(Quaternion::splat(DQuat::from_rotation_arc(DVec3::Z, DVec3::X))))
}

fn elasticity(measure: Measure, clamp: Clamp, tip: Tip) -> Elasticity {
    let radius: f64 = 1e-3;
    let young = 4.0 / (std::f64::consts::PI * radius.powi(4));
    Elasticity { measure, clamp, tip, ..Elasticity::round(radius, young, 0.4) }
}

/// Solves a dense symmetric system by LDLᵀ.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for column in 0..size {
        // The matrix of a strand is banded: fewer than eight rows below the diagonal.
        let end = size.min(column + 8);
        let pivots = matrix[column][column..end].to_vec();
        for row in column + 1..end {
            let factor = matrix[row][column] / pivots[0];
            for (entry, pivot) in matrix[row][column..end].iter_mut().zip(&pivots) {
                *entry -= factor * pivot;
            }
            right[row] -= factor * right[column];
        }
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size.min(row + 8)).map(|other| matrix[row][other] * right[other]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    right
}

/// The equilibrium under gravity along −y, by Newton's method in polar steps, and the steps it took. Where
/// the root is not a ghost the first edge is held.
fn equilibrium(rod: &Rod, mut shape: RodShape, gamma: f64, held: usize) -> (RodShape, usize) {
    let edges = shape.edges.len();
    let rest: Vec<_> = rod.stretches.iter().map(|stretch| stretch.rest_length).collect();
    let mut lengths = Vec::new();
    voronoi_lengths(&rest, &mut lengths);
    // The potential Σ m g y has this derivative in each edge: the weight that hangs on it.
    let weight: Vec<f64> = (0..edges).map(|edge| gamma * lengths[edge + 1..].iter().sum::<f64>()).collect();
    for iteration in 0..100 {
        let (mut gradient, blocks) = rod.derivatives(&shape, false);
        let mut matrix = vec![vec![0.0; 4 * edges]; 4 * edges];
        for edge in 0..edges {
            gradient[edge][1] += weight[edge];
            let element = Edge::new(shape.edges[edge]);
            // Turning an edge by ψ lifts its end by ½ |ψ|² of its drop: what the weight's potential adds across, in
            // place of the present tension, which a polar step does not stretch.
            let tension = rod.stretches[edge].exact(rod.stretch_measure, element).positive().across;
            let across = (-weight[edge] * element.tangent.y * element.inverse_length).max(0.0) - tension;
            let tangent = element.tangent.to_array();
            for row in 0..4 {
                for column in 0..4 {
                    let mut entry = blocks[edge].bb[row][column];
                    if edge + 1 < edges {
                        entry += blocks[edge + 1].aa[row][column];
                        matrix[4 * edge + row][4 * edge + 4 + column] += blocks[edge + 1].ab[row][column];
                        matrix[4 * edge + 4 + column][4 * edge + row] += blocks[edge + 1].ab[row][column];
                    }
                    if row < 3 && column < 3 {
                        entry +=
                            across * (f64::from(u8::from(row == column)) - tangent[row] * tangent[column]);
                    }
                    matrix[4 * edge + row][4 * edge + column] += entry;
                }
            }
        }
        let mut right: Vec<f64> = gradient.iter().flatten().map(|value| -value).collect();
        for unknown in 0..4 * held {
            right[unknown] = 0.0;
            matrix[unknown].fill(0.0);
            matrix.iter_mut().for_each(|row| row[unknown] = 0.0);
            matrix[unknown][unknown] = 1.0;
        }
        let step = solve(matrix, right);
        let mut largest = 0.0f64;
        for (edge, part) in step.chunks_exact(4).enumerate() {
            let element = Edge::new(shape.edges[edge]);
            let next = element.stepped(Vector3::new(part[0], part[1], part[2]), 0.7);
            shape.edges[edge] = next.vector();
            shape.frames[edge] = shape.frames[edge].transported(next.tangent).turned(part[3]);
            largest = part.iter().fold(largest, |most, value| most.max(value.abs() * edges as f64));
        }
        if largest < 1e-9 {
            return (shape, iteration + 1);
        }
    }
    panic!("no equilibrium at Γ = {gamma} with {edges} edges");
}

fn height_over_width(shape: &RodShape) -> f64 {
    let tip = shape.edges.iter().fold(Vector3::zero(), |tip, &edge| tip + edge);
    -tip.y / tip.x
}

/// The relative errors of H/W with 16, 32 and 64 edges.
fn errors(measure: Measure, clamp: Clamp, tip: Tip, case: usize) -> [f64; 3] {
    let (gamma, exact) = EXACT[case];
    [16, 32, 64].map(|edges| {
        let rest = straight(edges);
        let rod = Rod::new(&rest, &elasticity(measure, clamp, tip));
        let held = usize::from(clamp != Clamp::Ghost);
        let (shape, iterations) = equilibrium(&rod, rest, gamma, held);
        assert!(iterations <= 25, "{iterations} iterations at Γ = {gamma}");
        height_over_width(&shape) / exact - 1.0
    })
}

/// The expected errors come from a planar inextensible chain, solved independently.
#[track_caller]
fn assert_errors(found: [f64; 3], expected: [f64; 3]) {
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found - expected).abs() < 2e-5, "{found} is not {expected}");
    }
}

#[test]
fn a_ghost_edge_at_the_clamp_leaves_the_expected_discretisation_error() {
    let errors = |case| errors(Measure::HalfSine, Clamp::Ghost, Tip::Plain, case);
    assert_errors(errors(0), [0.003_970_293, 0.000_994_142, 0.000_248_751]);
    assert_errors(errors(1), [0.041_255_267, 0.011_368_054, 0.003_079_632]);
}

#[test]
fn whole_end_edges_leave_the_expected_discretisation_error() {
    let errors = |case| errors(Measure::HalfSine, Clamp::FirstEdge, Tip::WholeEdge, case);
    assert_errors(errors(0), [-0.018_034_200, -0.004_696_637, -0.001_197_955]);
    assert_errors(errors(1), [-0.064_464_139, -0.016_520_523, -0.004_598_273]);
}

#[test]
fn plain_voronoi_lengths_leave_the_expected_discretisation_error() {
    let errors = |case| errors(Measure::HalfSine, Clamp::Free, Tip::Plain, case);
    assert_errors(errors(0), [-0.120_725_649, -0.061_336_962, -0.030_912_580]);
    assert_errors(errors(1), [-0.199_705_710, -0.111_645_865, -0.059_529_498]);
}

#[test]
fn the_half_tangent_converges_to_the_same_cantilever() {
    for case in 0..2 {
        let [coarse, middle, fine] = errors(Measure::HalfTangent, Clamp::Ghost, Tip::Plain, case);
        assert!(fine.abs() < 0.005, "{fine}");
        assert!(
            fine.abs() < 0.6 * middle.abs() && middle.abs() < 0.6 * coarse.abs(),
            "{coarse} {middle} {fine}"
        );
    }
}

#[test]
fn cantilevers_stay_in_their_plane_and_keep_their_length() {
    let rest = straight(32);
    let rod = Rod::new(&rest, &elasticity(Measure::HalfSine, Clamp::Ghost, Tip::Plain));
    let (shape, _) = equilibrium(&rod, rest, 100.0, 0);
    let length: f64 = shape.edges.iter().map(|edge| edge.length()).sum();
    assert!((length - 1.0).abs() < 1e-4, "{length}");
    assert!(shape.edges.iter().all(|edge| edge.z.abs() < 1e-12));
}
