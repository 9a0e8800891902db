//! Where a naturally curved hanging rod leaves its plane, and where its tip then is: the continuous rod.
//!
//! The planar shape is unstable inside a tongue of the plane of `x = Γ^⅓ / φ` and `φ = κ L`, see [`super::stability`]. A table
//! holds tips of equilibria for some of Poisson's ratios: boundary-value problems of Kirchhoff's rod, started at its states of least energy.

use std::f64::consts::PI;

use super::stability::{edge, left_asymptote};

/// Poisson's ratio of the sweep in the paper.
pub(crate) const POISSON: f64 = 0.45;
/// Poisson's ratios for which the edge is that of the only tongue.
const POISSONS: std::ops::RangeInclusive<f64> = 0.0..=0.5;

/// Edge of the tongue.
pub(crate) struct Tongue {
    /// Poisson's ratio.
    pub(crate) poisson: f64,
    /// `(ln φ, ln x)` on its left, by growing φ.
    left: Vec<(f64, f64)>,
    /// The same on its right.
    right: Vec<(f64, f64)>,
}

/// An equilibrium of which the tip is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Known {
    /// Angle of the arc at rest [rad].
    pub(crate) phi: f64,
    pub(crate) gamma: f64,
    /// Towards the curvature, up, and out of the plane on either side [lengths].
    pub(crate) tip: [f64; 3],
}

/// On which side of the edge a rod lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Side {
    /// Whether the planar shape is stable.
    pub(crate) planar: bool,
    /// How far the edge is, in logarithms.
    pub(crate) distance: f64,
}

/// The rows of numbers of a table; lines that begin with `#` say what they are.
pub(crate) fn numbers(table: &str) -> impl Iterator<Item = Vec<f64>> + '_ {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| line.split(',').filter_map(|cell| cell.trim().parse().ok()).collect())
}

/// Equilibria of which the tip is known. Those in the plane do not twist, and are the same for any of Poisson's ratios.
fn known() -> impl Iterator<Item = (f64, Known)> {
    let rows = numbers(include_str!("../../data/bend_twist_tips.csv")).filter(|row| row.len() == 6);
    rows.map(|row| (row[0], Known { phi: row[1], gamma: row[2], tip: [row[3], row[4], row[5]] }))
}

/// The sweep of figure 2 of the paper: curvatures [1/m] and angles φ [rad].
pub(crate) fn sweep() -> Vec<(f64, f64)> {
    let along = |first: f64, last: f64, i: u32| first * (last / first).powf(f64::from(i) / 23.0);
    let angles = (0..24).map(|i| along(0.25 * PI, 25.0 * PI, i));
    angles.flat_map(|phi| (0..24).map(move |j| (along(17.5, 200.0, j), phi))).collect()
}

impl Tongue {
    /// For one of Poisson's ratios, if its tongue is known.
    pub(crate) fn new(poisson: f64) -> Option<Self> {
        let edge = if POISSONS.contains(&poisson) { edge(poisson)? } else { return None };
        let edge: Vec<(f64, f64)> = edge.iter().map(|(x, phi)| (phi.ln(), x.ln())).collect();
        let tip = (0..edge.len()).min_by(|&a, &b| edge[a].0.total_cmp(&edge[b].0))?;
        let left: Vec<(f64, f64)> = edge[..=tip].iter().rev().copied().collect();
        let mut right = edge[tip..].to_vec();
        // The right branch goes straight up from its last point.
        right.push((left.last()?.0, right.last()?.1));
        Some(Self { poisson, left, right })
    }

    /// Stable equilibria of which the tip is known.
    pub(crate) fn known(&self) -> Vec<Known> {
        let own = |(poisson, known): &(f64, Known)| {
            let planar = known.tip[2] == 0.0 && self.side(known.phi, known.gamma).planar;
            planar || (known.tip[2] != 0.0 && (poisson - self.poisson).abs() < 1.0e-9)
        };
        known().filter(own).map(|(_, known)| known).collect()
    }

    pub(crate) fn side(&self, phi: f64, gamma: f64) -> Side {
        let (x, angle) = ((gamma.cbrt() / phi).ln(), phi.ln());
        let shortest = self.left[0].0;
        if angle <= shortest {
            return Side { planar: true, distance: shortest - angle };
        }
        let left =
            interpolate(&self.left, angle).unwrap_or_else(|| (left_asymptote(self.poisson) / phi).ln() / 1.5);
        let right = interpolate(&self.right, angle).unwrap_or(self.right[self.right.len() - 1].1);
        let distance = (x - left).abs().min((x - right).abs());
        Side { planar: !(left < x && x < right), distance }
    }

    /// Points of the edge, `(x, φ / π)`.
    pub(crate) fn outline(&self) -> Vec<(f64, f64)> {
        let edge = self.left.iter().rev().chain(&self.right[1..]);
        edge.map(|(angle, x)| (x.exp(), angle.exp() / PI)).collect()
    }
}

/// Between the points of a curve; `None` beyond its end.
fn interpolate(curve: &[(f64, f64)], at: f64) -> Option<f64> {
    let next = curve.iter().position(|point| point.0 >= at)?;
    let (a, b) = (curve[next.saturating_sub(1)], curve[next]);
    let share = if b.0 > a.0 { (at - a.0) / (b.0 - a.0) } else { 0.0 };
    Some(a.1 + share * (b.1 - a.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strands::{hair, heaviness};

    #[test]
    fn every_cell_of_the_labelled_sweep_is_on_its_side() {
        let tongue = Tongue::new(POISSON).expect("its edge is known");
        let material = hair(5.0e-5, 3.0e9, 1300.0, POISSON);
        let cells: Vec<Vec<f64>> = numbers(include_str!("../../data/bend_twist_labels.csv")).collect();
        assert_eq!(cells.len(), 576);
        for (cell, (curvature, phi)) in cells.iter().zip(sweep()) {
            assert!((cell[0] / curvature - 1.0).abs() < 1.0e-9 && (cell[1] / phi - 1.0).abs() < 1.0e-9);
            let side = tongue.side(phi, heaviness(&material, phi / curvature));
            if cell[3] > 0.01 {
                assert_eq!(side.planar, cell[2] == 0.0, "{cell:?}: {side:?}");
            }
            assert_eq!(side.distance > 0.05, cell[3] > 0.05, "{cell:?}: {side:?}");
        }
    }

    #[test]
    fn known_tips_are_within_reach_and_on_their_side() {
        assert!(known().count() >= 40);
        for poisson in [0.0, 0.2, 0.3, POISSON, 0.5] {
            let tongue = Tongue::new(poisson).expect("its edge is known");
            let states = tongue.known();
            assert!(states.iter().filter(|state| state.tip[2] != 0.0).count() >= 5, "{poisson}");
            assert!(states.iter().filter(|state| state.tip[2] == 0.0).count() >= 8, "{poisson}");
            for state in states {
                let [x, y, z] = state.tip;
                assert!(x * x + y * y + z * z <= 1.0);
                assert_eq!(tongue.side(state.phi, state.gamma).planar, z == 0.0, "{poisson}: {state:?}");
            }
        }
    }

    #[test]
    fn no_tongue_is_claimed_where_none_was_followed() {
        for poisson in [-0.9, -0.3, 0.51, f64::NAN] {
            assert!(Tongue::new(poisson).is_none(), "{poisson}");
        }
    }
}
