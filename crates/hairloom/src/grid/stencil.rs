use glam::{DVec3, IVec3};

/// The 27 nodes around a point and their weights: quadratic B-splines on world multiples of the cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stencil {
    /// The node with the smallest coordinates, in cells from the origin.
    pub base: IVec3,
    /// The weights of three nodes along each axis.
    pub weights: [[f64; 3]; 3],
    /// Where the point is, in cells from the base: from 0.5 to 1.5.
    pub fraction: DVec3,
    /// Side of a cell [m].
    pub cell: f64,
}

impl Stencil {
    /// The stencil of a point [m], for cells of side `cell` [m]. The point must lie within [`REACH`](super::REACH)
    /// cells of the origin.
    pub(crate) fn new(point: DVec3, cell: f64) -> Self {
        let scaled = point * (1.0 / cell);
        let base = DVec3::from_array((scaled - 1.0).to_array().map(f64::round_ties_even));
        let fraction = scaled - base;
        let weights = fraction.to_array().map(weights);
        Self { base: base.as_ivec3(), weights, fraction, cell }
    }

    /// Each node, its weight w, and the gradient ∇w [1/m] that stress acts through: 4/Δx² w (x_i − x_p), that of a
    /// moving least-squares fit (Hu et al. 2018).
    #[cfg(test)]
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (IVec3, f64, DVec3)> + '_ {
        (0..27).map(|at| {
            let (i, j, k) = (at % 3, at / 3 % 3, at / 9);
            let weight = self.weights[0][i] * self.weights[1][j] * self.weights[2][k];
            let offset = DVec3::new(i as f64, j as f64, k as f64) - self.fraction;
            let node = self.base + IVec3::new(i as i32, j as i32, k as i32);
            (node, weight, offset * (4.0 * weight / self.cell))
        })
    }
}

fn weights(fraction: f64) -> [f64; 3] {
    [0.5 * (1.5 - fraction).powi(2), 0.75 - (fraction - 1.0).powi(2), 0.5 * (fraction - 0.5).powi(2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_reproduce_constants_and_lines_at_any_place() {
        for point in [DVec3::ZERO, DVec3::new(-0.013, 0.2571, -7.9999), DVec3::new(0.005, -0.005, 0.015)] {
            let stencil = Stencil::new(point, 0.01);
            let (mut sum, mut mean, mut slope) = (0.0, DVec3::ZERO, 0.0);
            for (node, weight, gradient) in stencil.nodes() {
                assert!(weight >= 0.0);
                sum += weight;
                mean += node.as_dvec3() * 0.01 * weight;
                slope += gradient.x * node.x as f64 * 0.01;
            }
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
            assert!(mean.distance(point) < 1e-12, "{mean}");
            assert!((slope - 1.0).abs() < 1e-9, "{slope}");
        }
    }
}
