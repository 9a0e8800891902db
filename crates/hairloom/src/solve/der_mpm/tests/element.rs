//! Derivatives of the corner against finite differences, from nearly straight to nearly folded.

use glam::{DQuat, DVec3};

use crate::math::{Random, Vector3};
use crate::solve::der_mpm::element::{Corner, Curvature, Derivatives, Edge, Shift, stretch, twist};

/// Two edges and their directors, as vectors.
#[derive(Clone, Copy)]
struct Pair {
    edges: [DVec3; 2],
    directors: [DVec3; 2],
}

impl Pair {
    /// Edges that bend by `angle` in some plane, with random directors.
    fn random(angle: f64, random: &mut Random) -> Self {
        let mut direction =
            || DVec3::from_array([(); 3].map(|()| 2.0 * random.unit_f64() - 1.0)).normalize_or(DVec3::X);
        let a = direction();
        let axis = a.cross(direction()).normalize();
        let b = DQuat::from_axis_angle(axis, angle) * a;
        let directors = [a, b].map(|t| t.cross(direction()).normalize());
        Self { edges: [a * 0.7, b * 1.3], directors }
    }

    /// After steps of edge and twist, directors carried along.
    fn stepped(&self, step: &[f64; 8]) -> Self {
        let mut next = *self;
        for k in 0..2 {
            let part = &step[4 * k..];
            let old = self.edges[k].normalize();
            next.edges[k] += DVec3::new(part[0], part[1], part[2]);
            let new = next.edges[k].normalize();
            let carried = DQuat::from_rotation_arc(old, new) * self.directors[k];
            next.directors[k] = DQuat::from_axis_angle(new, part[3]) * carried;
        }
        next
    }

    fn edge(&self, k: usize) -> Edge<f64> {
        let length = self.edges[k].length();
        Edge {
            tangent: Vector3::splat(self.edges[k] / length),
            length,
            inverse_length: 1.0 / length,
            director: Vector3::splat(self.directors[k]),
        }
    }

    /// The four curvatures, from their definition, and the twist.
    fn strains(&self) -> [f64; 5] {
        let [a, b] = self.edges.map(|edge| edge.normalize());
        let binormal = 2.0 * a.cross(b) / (1.0 + a.dot(b));
        let [d, f] = self.directors;
        let (ea, eb) = (self.edge(0), self.edge(1));
        let turn = twist(&ea, &eb, &Curvature::new(&ea, &eb, 0.0));
        [binormal.dot(d), binormal.dot(a.cross(d)), binormal.dot(f), binormal.dot(b.cross(f)), turn]
    }

    fn derivatives(&self, corner: &Corner<f64>, shift: [f64; 8], least: f64) -> Derivatives<f64> {
        let (a, b) = (self.edge(0), self.edge(1));
        let curvature = Curvature::new(&a, &b, least);
        let part = |k: usize| Shift {
            edge: Vector3::new(shift[k], shift[k + 1], shift[k + 2]),
            twist: shift[k + 3],
        };
        corner.derivatives((&a, &part(0)), (&b, &part(4)), &curvature, twist(&a, &b, &curvature))
    }
}

fn corner(random: &mut Random) -> Corner<f64> {
    let mut natural = || 2.0 * random.unit_f64() - 1.0;
    Corner {
        bending: 0.3,
        twisting: 0.7,
        natural_a: [natural(), natural()],
        natural_b: [natural(), natural()],
    }
}

fn gradient_of(d: &Derivatives<f64>) -> [f64; 8] {
    let ([a, b, c], [e, f, g]) = (d.gradient_a.edge.to_array(), d.gradient_b.edge.to_array());
    [a, b, c, d.gradient_a.twist, e, f, g, d.gradient_b.twist]
}

fn matrix(d: &Derivatives<f64>) -> [[f64; 8]; 8] {
    let mut full = [[0.0; 8]; 8];
    for (start, block) in [(0, &d.a), (4, &d.b)] {
        for (row, column) in block.edge.full().transpose().0.iter().enumerate() {
            full[start + row][start..start + 3].copy_from_slice(&column.to_array());
        }
        for (row, value) in block.mixed.to_array().into_iter().enumerate() {
            full[start + row][start + 3] = value;
            full[start + 3][start + row] = value;
        }
        full[start + 3][start + 3] = block.twist;
    }
    let c = &d.coupling;
    for row in 0..3 {
        for column in 0..3 {
            full[row][4 + column] = c.edges[row][column];
            full[4 + column][row] = c.edges[row][column];
        }
        full[row][7] = c.edge_twist.to_array()[row];
        full[7][row] = full[row][7];
        full[3][4 + row] = c.twist_edge.to_array()[row];
        full[4 + row][3] = full[3][4 + row];
    }
    full[3][7] = c.twists;
    full[7][3] = c.twists;
    full
}

const ANGLES: [f64; 8] = [1e-6, 1e-3, 0.1, 0.5, 1.0, 1.8, 2.4, 2.8];
const H: f64 = 1e-6;

#[test]
fn first_and_second_derivatives_of_a_corner_are_those_of_finite_differences() {
    let mut random = Random::new(5);
    for angle in ANGLES {
        for _ in 0..10 {
            let (pair, corner) = (Pair::random(angle, &mut random), corner(&mut random));
            let found = pair.derivatives(&corner, [0.0; 8], 0.0);
            let strains = pair.strains();
            let jacobian: Vec<[f64; 5]> = (0..8)
                .map(|unknown| {
                    let mut step = [0.0; 8];
                    step[unknown] = H;
                    let ahead = pair.stepped(&step).strains();
                    step[unknown] = -H;
                    let back = pair.stepped(&step).strains();
                    std::array::from_fn(|k| (ahead[k] - back[k]) / (2.0 * H))
                })
                .collect();
            let natural =
                [corner.natural_a[0], corner.natural_a[1], corner.natural_b[0], corner.natural_b[1], 0.0];
            let weights = [0.3, 0.3, 0.3, 0.3, 0.7];
            let size = 1.0 + (0.5 * angle).tan().powi(3);
            let (gradient, matrix) = (gradient_of(&found), matrix(&found));
            for (row, by_row) in jacobian.iter().enumerate() {
                let expected: f64 = (0..5).map(|k| weights[k] * by_row[k] * (strains[k] - natural[k])).sum();
                assert!(
                    (gradient[row] - expected).abs() < 1e-7 * size,
                    "{angle}, {row}: {} {expected}",
                    gradient[row]
                );
                for (column, by_column) in jacobian.iter().enumerate() {
                    let expected: f64 = (0..5).map(|k| weights[k] * by_row[k] * by_column[k]).sum();
                    let value = matrix[row][column];
                    assert!(
                        (value - expected).abs() < 1e-7 * size * size,
                        "{angle}, {row} {column}: {value} {expected}"
                    );
                }
            }
            // Shifts go in by the matrix.
            let shift: [f64; 8] = std::array::from_fn(|_| 2.0 * random.unit_f64() - 1.0);
            let shifted = gradient_of(&pair.derivatives(&corner, shift, 0.0));
            for row in 0..8 {
                let expected: f64 = gradient[row] + (0..8).map(|k| matrix[row][k] * shift[k]).sum::<f64>();
                assert!((shifted[row] - expected).abs() < 1e-11 * size * size, "{angle}, {row}");
            }
        }
    }
}

#[test]
fn the_matrix_of_a_corner_is_positive_semi_definite_beyond_the_bound_too() {
    let mut random = Random::new(8);
    for angle in [0.01, 1.0, 2.5, 3.0, 3.1, 3.1399] {
        for _ in 0..20 {
            let pair = Pair::random(angle, &mut random);
            let matrix = matrix(&pair.derivatives(&corner(&mut random), [0.0; 8], 0.08));
            for _ in 0..20 {
                let v: [f64; 8] = std::array::from_fn(|_| 2.0 * random.unit_f64() - 1.0);
                let form: f64 = (0..8).map(|i| (0..8).map(|j| v[i] * matrix[i][j] * v[j]).sum::<f64>()).sum();
                let size: f64 = (0..8).map(|i| matrix[i][i]).sum();
                assert!(form > -1e-12 * size, "{angle}: {form}");
                // 16 B s² (1/l_a² + 1/l_b²) + 2 (B |κb|² + T) with s = 1/0.08 and |κb| = 9.8.
                assert!(size < 2040.0, "the bound bounds: {size}");
            }
        }
    }
}

#[test]
fn tension_and_its_derivatives_are_those_of_the_stretching_energy() {
    let pair = Pair::random(0.3, &mut Random::new(1));
    let (rest, stiffness) = (0.65, 3.0);
    let energy = |vector: DVec3| 0.5 * stiffness * (vector.length() - rest).powi(2);
    let (force, hessian) = stretch(&pair.edge(0), Vector3::zero(), rest, stiffness);
    let force = force.to_array();
    let tangent = pair.edges[0].normalize();
    let second = hessian.full();
    for (k, axis) in DVec3::AXES.into_iter().enumerate() {
        let (ahead, back) = (pair.edges[0] + axis * 1e-4, pair.edges[0] - axis * 1e-4);
        let slope = (energy(ahead) - energy(back)) / 2e-4;
        assert!((slope - force[k]).abs() < 1e-8);
        let curve = (energy(ahead) + energy(back) - 2.0 * energy(pair.edges[0])) / 1e-8;
        assert!((curve - second.0[k].to_array()[k]).abs() < 1e-5, "exact where the edge is taut");
    }
    // Slack edges do not push sideways.
    let across = Vector3::splat(tangent.any_orthonormal_vector());
    let (force, hessian) = stretch(&pair.edge(0), across, 0.9, stiffness);
    assert!((force + Vector3::splat(tangent) * (stiffness * 0.2)).length() < 1e-12);
    assert!((hessian * across).length() < 1e-12);
}

#[test]
fn a_fold_beyond_the_bound_opens() {
    let mut random = Random::new(21);
    let straight = Corner { bending: 0.3, twisting: 0.0, natural_a: [0.0; 2], natural_b: [0.0; 2] };
    for angle in [2.0, 2.7, 3.0, 3.1, 3.13] {
        let pair = Pair::random(angle, &mut random);
        let found = pair.derivatives(&straight, [0.0; 8], 0.08);
        let [a, b] = pair.edges.map(|edge| edge.normalize());
        // Down the gradient edge a turns towards b, and b towards a.
        let (ga, gb) = (found.gradient_a.edge, found.gradient_b.edge);
        assert!(ga.dot(Vector3::splat(b - a * a.dot(b))) < 0.0, "{angle}");
        assert!(gb.dot(Vector3::splat(a - b * a.dot(b))) < 0.0, "{angle}");
        // And no edge is stretched.
        assert!(ga.dot(Vector3::splat(a)).abs() < 1e-9 * ga.length(), "{angle}");
    }
}
