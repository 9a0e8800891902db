use super::bend::Bend;
use super::expand::{PairGradient, PairHessian};
use super::frame::{Edge, Frame};
use super::measure::BendMeasure;
use super::stretch::{Stretch, StretchMeasure};
use crate::math::Real;

/// One edge as a pair of edges sees it.
#[derive(Debug, Clone, Copy)]
pub struct PairEdge<R> {
    /// Where the edge is.
    pub edge: Edge<R>,
    /// Its material frame.
    pub frame: Frame<R>,
    /// How it stretches.
    pub stretch: Stretch<R>,
    /// Which part of its stretching this pair counts: one half where two pairs hold the edge, 1 where one does.
    pub share: R,
}

/// Bending of two adjacent edges together with their shares of stretching: coercive in the edges (section 4.4 of
/// Daviet 2023).
#[derive(Debug, Clone, Copy)]
pub struct EdgePair<R> {
    /// Energy [J].
    pub energy: R,
    /// First derivatives.
    pub gradient: PairGradient<R>,
    /// Second derivatives.
    pub hessian: PairHessian<R>,
}

impl<R: Real> EdgePair<R> {
    /// Energy, gradient and a positive semi-definite Hessian: Gauss–Newton, and the exact stretching of taut edges.
    /// Take [`PairGradient::edges`] and [`PairHessian::edges`] of it for a local solve with the twists held.
    #[inline(always)]
    pub fn gauss_newton<M: BendMeasure>(
        measure: M,
        stretch_measure: StretchMeasure,
        bend: &Bend<R>,
        a: &PairEdge<R>,
        b: &PairEdge<R>,
    ) -> Self {
        let bending = bend.gauss_newton(measure, a.frame, b.frame);
        let mut hessian = bending.gauss_newton_hessian(a.edge, b.edge);
        let mut gradient = bending.gradient(a.edge, b.edge);
        let mut energy = bending.energy;
        energy += a.add(stretch_measure, &mut gradient.a, &mut hessian.aa);
        energy += b.add(stretch_measure, &mut gradient.b, &mut hessian.bb);
        Self { energy, gradient, hessian }
    }

    /// Energy and gradient alone.
    #[inline(always)]
    pub fn gradient<M: BendMeasure>(
        measure: M,
        stretch_measure: StretchMeasure,
        bend: &Bend<R>,
        a: &PairEdge<R>,
        b: &PairEdge<R>,
    ) -> (R, PairGradient<R>) {
        let pair = Self::gauss_newton(measure, stretch_measure, bend, a, b);
        (pair.energy, pair.gradient)
    }
}

impl<R: Real> PairEdge<R> {
    /// Adds this edge's share of stretching; returns its energy [J].
    #[inline(always)]
    fn add(&self, measure: StretchMeasure, gradient: &mut [R; 4], hessian: &mut [[R; 4]; 4]) -> R {
        let stretching = self.stretch.exact(measure, self.edge).positive().shared(self.share);
        let [x, y, z] = stretching.gradient(self.edge).to_array();
        gradient[0] += x;
        gradient[1] += y;
        gradient[2] += z;
        stretching.add_hessian(self.edge, hessian);
        stretching.energy
    }
}
