//! What the rope should do: a chain of equal masses on rigid links, in double precision at a tiny time step.
//!
//! The leapfrog with exact links (SHAKE; J.-P. Ryckaert, G. Ciccotti, H. J. C. Berendsen, *Numerical integration
//! of the cartesian equations of motion of a system with constraints*, J. Comput. Phys. 23, 1977) is symplectic
//! and of second order. Newton's method on all links at once needs a tridiagonal system per iteration.

use glam::DVec3;

use super::params::Params;
use super::track::{Frame, Path, Rig};
use crate::LabError;

/// Relative error of squared lengths that ends the iteration.
const TOLERANCE: f64 = 1.0e-13;
/// Newton iterations at most; it takes two or three.
const NEWTON: usize = 12;

/// The reference.
pub(super) struct Reference {
    positions: Vec<DVec3>,
    /// Displacements of the last small step [m].
    moves: Vec<DVec3>,
    gravity: DVec3,
    segment: f64,
    substeps: usize,
    /// The small time step [s].
    small: f64,
}

impl Reference {
    /// A chain at rest, with small steps of about `small` seconds.
    pub(super) fn new(params: &Params, positions: Vec<DVec3>, small: f64) -> Self {
        let substeps = (params.dt / small).ceil().max(1.0) as usize;
        let small = params.dt / substeps as f64;
        let gravity = params.gravity();
        // Velocities live half a step before the positions: at rest at the start means half a kick back.
        let moves = vec![gravity * (-0.5 * small * small); positions.len()];
        Self { positions, moves, gravity, segment: params.segment, substeps, small }
    }

    fn small_step(&mut self, root: DVec3) {
        let kick = self.gravity * (self.small * self.small);
        let old = self.positions.clone();
        for (position, step) in self.positions.iter_mut().zip(&self.moves) {
            *position += *step + kick;
        }
        self.positions[0] = root;
        let links: Vec<DVec3> = old.windows(2).map(|p| p[1] - p[0]).collect();
        for _ in 0..NEWTON {
            if self.newton(&links) < TOLERANCE {
                break;
            }
        }
        for ((step, new), old) in self.moves.iter_mut().zip(&self.positions).zip(&old) {
            *step = *new - *old;
        }
    }

    /// One iteration along the links as they were before the step. Returns the error it found.
    fn newton(&mut self, links: &[DVec3]) -> f64 {
        let count = links.len();
        let square = self.segment * self.segment;
        let now: Vec<DVec3> = self.positions.windows(2).map(|p| p[1] - p[0]).collect();
        let mut multiplier: Vec<f64> = now.iter().map(|link| link.length_squared() - square).collect();
        let error = multiplier.iter().fold(0.0_f64, |most, value| most.max(value.abs())) / square;
        // Links pull at both ends alike, the first at the held particle in vain.
        let mut above = vec![0.0; count];
        for k in 0..count {
            let mobile = if k == 0 { 1.0 } else { 2.0 };
            let mut diagonal = 2.0 * mobile * now[k].dot(links[k]);
            if k > 0 {
                let below = -2.0 * now[k].dot(links[k - 1]);
                diagonal -= below * above[k - 1];
                multiplier[k] -= below * multiplier[k - 1];
            }
            if k + 1 < count {
                above[k] = -2.0 * now[k].dot(links[k + 1]) / diagonal;
            }
            multiplier[k] /= diagonal;
        }
        for k in (0..count.saturating_sub(1)).rev() {
            multiplier[k] -= above[k] * multiplier[k + 1];
        }
        for k in 0..count {
            self.positions[k + 1] -= links[k] * multiplier[k];
            if k > 0 {
                self.positions[k] += links[k] * multiplier[k];
            }
        }
        error
    }
}

impl Rig for Reference {
    fn step(&mut self, path: Path<'_>, time: f64) -> Result<(), LabError> {
        for left in (0..self.substeps).rev() {
            self.small_step(path(time - left as f64 * self.small));
        }
        Ok(())
    }

    fn frame(&self) -> Frame {
        // From half a step back to now, the held particle excepted.
        let half = self.gravity * (0.5 * self.small);
        let mut velocities: Vec<DVec3> = self.moves.iter().map(|step| *step / self.small + half).collect();
        velocities[0] = self.moves[0] / self.small;
        Frame { positions: self.positions.clone(), velocities }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quarter of the period of a pendulum let go level is `K(sin 45°) √(l / g)`; K = 1.854074677301372.
    #[test]
    fn one_link_is_a_pendulum() {
        let quarter = 1.854_074_677_301_372 * f64::sqrt(0.5 / 10.0);
        let lowest_error = |steps: f64| {
            let params = Params { particles: 2, segment: 0.5, dt: quarter / 10.0, ..Params::default() };
            let mut chain = Reference::new(&params, params.straight(DVec3::X), params.dt / steps);
            for step in 1..=10 {
                chain.step(&|_| DVec3::ZERO, f64::from(step) * params.dt).unwrap();
            }
            chain.frame().positions[1].x.abs()
        };
        let (coarse, fine) = (lowest_error(50.0), lowest_error(100.0));
        assert!(coarse < 1.0e-4, "{coarse}");
        assert!((3.5..4.5).contains(&(coarse / fine)), "not of second order: {coarse} {fine}");
    }

    #[test]
    fn a_hanging_chain_stays() {
        let params = Params::default();
        let start = params.straight(DVec3::NEG_Y);
        let mut chain = Reference::new(&params, start.clone(), 1.0e-3);
        for step in 1..=100 {
            chain.step(&|_| DVec3::ZERO, f64::from(step) * params.dt).unwrap();
        }
        let far = chain.frame().positions.iter().zip(&start).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(far < 1.0e-12, "{far}");
    }
}
