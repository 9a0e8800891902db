//! Where the planar shape of a naturally curved hanging rod loses its stability, for any Poisson's ratio.
//!
//! The continuous rod, Kirchhoff 1859: inextensible, round, bending stiffness B, twisting stiffness `c B` with `c = 1 / (1 + ν)`. Lengths
//! are in radii of its natural curvature. σ runs from the free tip to the clamp at σ = φ, and the weight beyond σ is `w = x³ σ`.
//! With the tangent's angle θ off straight down, and the curvature `k = −dθ/dσ`, the rod in its plane obeys
//!
//! `dk/dσ = −w sin θ`, `θ(0) = α`, `k(0) = 1`: no moment at the tip; `θ(φ) = 0`: the clamp.
//!
//! Out of the plane the tangent tilts by β, and the section turns by ψ about it. With ′ = −d/dσ, what the energy gains is
//!
//! `½ ∫ β′² − 2 β′ψ + (k − k² + w cos θ) β² + k ψ² + c (ψ′ + k β)² dσ`,
//!
//! whose moments are `p = β′ − ψ` and `q = c (ψ′ + k β)`. By Jacobi's condition the planar shape is stable until the determinant of
//! `(β, ψ)` of two solutions that begin at the tip without moments vanishes at the clamp. Where it does is the edge of the tongue, a curve
//! through `(α, x, φ)`; it is followed from the coil that light hair is.

use std::f64::consts::PI;

use glam::{DMat3, DVec2, DVec3};

/// Longest step of the integration.
const STRIDE: f64 = 0.1;
/// Distance between points of the edge.
const SPACING: f64 = 0.35;
/// φ where the edge is first met.
const FIRST: f64 = 3.0 * PI;
/// φ up to which the left and the right branch are followed. The right one is a vertical line from there on, to 5e-5.
const LONGEST: [f64; 2] = [26.0 * PI, 4.0 * PI];
/// First zero of the Bessel function J of order −¼.
const BESSEL: f64 = 2.006_299_7;

/// `φ x^{3/2}` on the left edge for long coils, whose bending and twisting average over the turns.
pub(super) fn left_asymptote(poisson: f64) -> f64 {
    (4.0 * BESSEL / ((1.0 + 2.0 * poisson) * (2.0 + poisson)).sqrt()).sqrt()
}

/// The edge `(x, φ)` from the left branch over the tip of the tongue to the right branch; `None` if it cannot be followed.
pub(super) fn edge(poisson: f64) -> Option<Vec<(f64, f64)>> {
    Some(curve(poisson)?.iter().map(|point| (point.y, point.z)).collect())
}

/// The edge with the angle of the tip, `(α, x, φ)`.
fn curve(poisson: f64) -> Option<Vec<DVec3>> {
    let clamp = |at: DVec3| at_clamp(at, 1.0 / (1.0 + poisson));
    // The planar shape of one length, as its weight grows, up to where it is unstable.
    let planar = |at: DVec3| DVec2::new(clamp(at).x, at.z - FIRST);
    let mut coil = DVec3::new(FIRST, 0.02, FIRST);
    while clamp(coil).y > 0.0 {
        coil = correct(planar, coil + 0.02 * DVec3::Y, DVec3::Y).filter(|coil| coil.y < 1.0)?;
    }
    let first = correct(clamp, coil, DVec3::Z)?;
    let left = follow(clamp, first, DVec3::Z, LONGEST[0])?;
    let right = follow(clamp, first, DVec3::NEG_Z, LONGEST[1])?;
    Some(left.into_iter().rev().chain(right.into_iter().skip(1)).collect())
}

/// Follows the curve of zeros of `function` from `first` towards `ahead`, until φ is beyond `longest`.
fn follow(
    function: impl Fn(DVec3) -> DVec2,
    first: DVec3,
    mut ahead: DVec3,
    longest: f64,
) -> Option<Vec<DVec3>> {
    let (mut point, mut points) = (first, vec![first]);
    while point.z < longest {
        let (_, [a, b]) = linear(&function, point);
        let along = a.cross(b).normalize();
        ahead = along * along.dot(ahead).signum();
        point = correct(&function, point + SPACING * ahead, ahead)?;
        points.push(point);
        if points.len() > 2000 {
            return None;
        }
    }
    Some(points)
}

/// The zero of `function` in the plane through `guess` across `normal`, by Newton's method.
fn correct(function: impl Fn(DVec3) -> DVec2, guess: DVec3, normal: DVec3) -> Option<DVec3> {
    let mut point = guess;
    for _ in 0..20 {
        let (value, [a, b]) = linear(&function, point);
        // Rows of length one.
        let rows = DMat3::from_cols(a.normalize(), b.normalize(), normal).transpose();
        let sides = DVec3::new(value.x / a.length(), value.y / b.length(), normal.dot(point - guess));
        let change = rows.inverse() * sides;
        point -= change;
        if change.length() < 1.0e-6 {
            return Some(point);
        }
    }
    None
}

/// Both values of `function` and their gradients, by differences. Steps are short, since near the clamp all grows exponentially.
fn linear(function: impl Fn(DVec3) -> DVec2, at: DVec3) -> (DVec2, [DVec3; 2]) {
    let step = 1.0e-8;
    let value = function(at);
    let columns = DVec3::AXES.map(|axis| (function(at + step * axis) - value) / step);
    (value, [columns.map(|column| column.x).into(), columns.map(|column| column.y).into()])
}

/// θ and the determinant at the clamp, for `(α, x, φ)` and twisting over bending stiffness `c`.
fn at_clamp(at: DVec3, c: f64) -> DVec2 {
    let [alpha, x, phi] = at.to_array();
    // θ, k, and two times β, ψ, p, q.
    let rate = |sigma: f64, y: [f64; 10]| {
        let (k, w, (sin, cos)) = (y[1], x.powi(3) * sigma, y[0].sin_cos());
        let out = |beta: f64, psi: f64, p: f64, q: f64| {
            let (tilt, turn) = (p + psi, q / c - k * beta);
            [-tilt, -turn, -(k - k * k + w * cos) * beta - k * q, tilt - k * psi]
        };
        let ([a, b, d, e], [f, g, h, i]) = (out(y[2], y[3], y[4], y[5]), out(y[6], y[7], y[8], y[9]));
        [-k, -w * sin, a, b, d, e, f, g, h, i]
    };
    let moved = |y: [f64; 10], k: [f64; 10], by: f64| std::array::from_fn(|i| k[i].mul_add(by, y[i]));
    // As many steps for neighbours, so that differences are smooth.
    let steps = (phi / PI).round().max(1.0) * (PI / STRIDE).ceil();
    let h = phi / steps;
    let mut y = [alpha, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    for i in 0..steps as usize {
        let sigma = h * i as f64;
        let k1 = rate(sigma, y);
        let k2 = rate(sigma + 0.5 * h, moved(y, k1, 0.5 * h));
        let k3 = rate(sigma + 0.5 * h, moved(y, k2, 0.5 * h));
        let k4 = rate(sigma + h, moved(y, k3, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
    }
    DVec2::new(y[0], y[2] * y[7] - y[3] * y[6])
}

#[cfg(test)]
mod tests {
    use super::super::reference::numbers;
    use super::*;

    /// The point of the curve at a φ, or near the tip of the tongue at an x, that is next to `(x, φ)`.
    fn beside(curve: &[DVec3], poisson: f64, x: f64, phi: f64) -> DVec3 {
        let away = |point: &DVec3| (point.y / x).ln().abs() + (point.z / phi).ln().abs();
        let next = curve.iter().min_by(|a, b| away(a).total_cmp(&away(b))).copied().unwrap();
        let shortest = curve.iter().map(|point| point.z).fold(f64::MAX, f64::min);
        let normal = if phi < 1.02 * shortest { DVec3::Y } else { DVec3::Z };
        let guess = if normal == DVec3::Y { next.with_y(x) } else { next.with_z(phi) };
        correct(|at| at_clamp(at, 1.0 / (1.0 + poisson)), guess, normal).expect("it converges")
    }

    #[test]
    fn the_edge_is_that_of_the_table() {
        // ν = 0.45, by the second variation and by conjugate points.
        let curve = curve(0.45).unwrap();
        let rows = numbers(include_str!("../../data/bend_twist_boundary.csv"));
        let rows: Vec<Vec<f64>> = rows.filter(|row| row.len() == 2 && row[1] < 26.0 * PI).collect();
        assert!(rows.len() > 180);
        for row in rows {
            let (x, phi) = (row[0], row[1]);
            if x > 0.6 && phi > 4.0 * PI {
                let last = curve[curve.len() - 1].y;
                assert!((last / x - 1.0).abs() < 5.0e-6, "{row:?}: {last}");
                continue;
            }
            let found = beside(&curve, 0.45, x, phi);
            let away = (found.y / x - 1.0).abs().max((found.z / phi - 1.0).abs());
            assert!(away < 1.0e-5, "{row:?}: {found}");
        }
    }

    #[test]
    fn the_edge_is_right_for_other_ratios_too() {
        // Integrated adaptively to ten digits: φ / π, left and right.
        for (poisson, points, tip, right) in [
            (
                0.0,
                vec![
                    (2.5, vec![0.383_463_29, 0.498_995_28]),
                    (3.0, vec![0.360_787_85, 0.513_427_85]),
                    (6.0, vec![0.238_619_94]),
                    (16.0, vec![0.129_235_66]),
                ],
                2.034_33,
                0.516_531,
            ),
            (
                0.2,
                vec![
                    (2.5, vec![0.361_808_71, 0.548_575_18]),
                    (3.0, vec![0.339_412_15, 0.558_444_74]),
                    (6.0, vec![0.223_569_45]),
                    (16.0, vec![0.120_462_10]),
                ],
                1.91619,
                0.559999,
            ),
            (
                0.3,
                vec![
                    (2.5, vec![0.352_655_13, 0.571_888_11]),
                    (3.0, vec![0.330_606_65, 0.579_768_92]),
                    (6.0, vec![0.217_523_63]),
                    (16.0, vec![0.117_005_54]),
                ],
                1.86330,
                0.580822,
            ),
            (
                0.5,
                vec![
                    (2.5, vec![0.336_834_23, 0.615_404_23]),
                    (3.0, vec![0.315_590_60, 0.620_230_26]),
                    (6.0, vec![0.207_358_59]),
                    (16.0, vec![0.111_266_87]),
                ],
                1.76745,
                0.620_688,
            ),
        ] {
            let curve = curve(poisson).unwrap();
            for (phi, xs) in points {
                for x in xs {
                    let found = beside(&curve, poisson, x, phi * PI);
                    assert!(
                        (found.y / x - 1.0).abs() < 1.0e-5,
                        "ν = {poisson}, φ = {phi} π: {found}, not {x}"
                    );
                }
            }
            let shortest = curve.iter().map(|point| point.z).fold(f64::MAX, f64::min) / PI;
            assert!((shortest / tip - 1.0).abs() < 2.0e-3, "ν = {poisson}: {shortest}, not {tip}");
            let last = curve[curve.len() - 1].y;
            assert!((last / right - 1.0).abs() < 5.0e-5, "ν = {poisson}: {last}, not {right}");
        }
    }

    #[test]
    fn long_coils_come_to_their_asymptote() {
        for poisson in [0.0, 0.2, 0.45, 0.5] {
            let end = curve(poisson).unwrap()[0];
            let ratio = end.z * end.y.powf(1.5) / left_asymptote(poisson);
            assert!((ratio - 1.0).abs() < 0.02, "ν = {poisson}: {ratio}");
        }
        assert!((left_asymptote(0.45) - 1.928_625_8).abs() < 1.0e-6);
    }

    /// Determinants from the tip on: below zero nowhere before the clamp.
    #[test]
    fn the_edge_is_where_stability_is_first_lost() {
        for poisson in [0.0, 0.25, 0.5] {
            for point in curve(poisson).unwrap().iter().step_by(7) {
                for share in 1..40 {
                    let phi = 0.98 * point.z * f64::from(share) / 39.0;
                    let determinant = at_clamp(point.with_z(phi), 1.0 / (1.0 + poisson)).y;
                    assert!(determinant > 0.0, "ν = {poisson}, {point}: {determinant} at {phi}");
                }
            }
        }
    }
}
