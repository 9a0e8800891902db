use super::frame::Frame;
use super::measure::{BendMeasure, Relative};
use crate::math::{Real, Symmetric3, Vector3};

/// Bending and twisting at a vertex, between the material frames of the edges before and after it. Energy
/// `½ (κ − κ̄)ᵀ K/v̄ (κ − κ̄)` of section 4.1 of Daviet 2023.
///
/// Damping in proportion to the strain rate (section 4.4, relaxation time T) needs nothing new: stiffness times
/// `1 + T/Δt`, and for the natural strain the mean of κ̄ and the last step's κ with weights 1 and T/Δt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bend<R> {
    /// Natural strain κ̄, about m₁, about m₂, twist [rad], in the measure that the energy uses.
    pub rest: Vector3<R>,
    /// Stiffness per bending length, `(E I₁, E I₂, G J) / v̄` [N m]. Zero where there is no element.
    pub stiffness: Vector3<R>,
}

/// What a bend answers to a relative rotation: first and second derivative of the energy with respect to a
/// rotation vector `w` (world axes) of the second frame against the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bending<R> {
    /// Energy [J].
    pub energy: R,
    /// Gradient [N m]: the torque that the first edge exerts on the second is minus this.
    pub torque: Vector3<R>,
    /// Second derivative [N m].
    pub stiffness: Symmetric3<R>,
}

impl<R: Real> Bend<R> {
    /// The strain κ between two frames [rad].
    #[inline(always)]
    pub fn strain<M: BendMeasure>(measure: M, a: Frame<R>, b: Frame<R>) -> Vector3<R> {
        measure.strain(a.to(b))
    }

    /// The energy between two frames [J].
    #[inline(always)]
    pub fn energy<M: BendMeasure>(&self, measure: M, a: Frame<R>, b: Frame<R>) -> R {
        let deviation = measure.deviation(Self::strain(measure, a, b), self.rest);
        deviation.scaled(self.stiffness).dot(deviation) * R::splat(0.5)
    }

    /// Energy [J] and torque [N m].
    #[inline(always)]
    pub fn gradient<M: BendMeasure>(&self, measure: M, a: Frame<R>, b: Frame<R>) -> (R, Vector3<R>) {
        let relative = Relative::new(a.0, b.0);
        let (energy, moment) = self.moment(measure, &relative);
        (energy, weighted(measure.rows(&relative), moment))
    }

    /// Energy, torque and the Gauss–Newton stiffness, positive semi-definite.
    #[inline(always)]
    pub fn gauss_newton<M: BendMeasure>(&self, measure: M, a: Frame<R>, b: Frame<R>) -> Bending<R> {
        self.derivatives(measure, &Relative::new(a.0, b.0)).0
    }

    /// Energy, torque and the exact second derivative.
    #[inline(always)]
    pub fn exact<M: BendMeasure>(&self, measure: M, a: Frame<R>, b: Frame<R>) -> Bending<R> {
        let relative = Relative::new(a.0, b.0);
        let (mut bending, moment) = self.derivatives(measure, &relative);
        bending.stiffness = bending.stiffness + measure.curvature(&relative, moment);
        bending
    }

    /// Energy and moment, `K/v̄ (κ − κ̄)` in material axes.
    #[inline(always)]
    fn moment<M: BendMeasure>(&self, measure: M, relative: &Relative<R>) -> (R, Vector3<R>) {
        let deviation = measure.deviation(measure.strain(relative.rotation), self.rest);
        let moment = deviation.scaled(self.stiffness);
        (moment.dot(deviation) * R::splat(0.5), moment)
    }

    #[inline(always)]
    fn derivatives<M: BendMeasure>(&self, measure: M, relative: &Relative<R>) -> (Bending<R>, Vector3<R>) {
        let (energy, moment) = self.moment(measure, relative);
        let rows = measure.rows(relative);
        let [first, second, third] = rows;
        let stiffness = Symmetric3::outer(self.stiffness.x, first)
            .add_outer(self.stiffness.y, second)
            .add_outer(self.stiffness.z, third);
        (Bending { energy, torque: weighted(rows, moment), stiffness }, moment)
    }
}

#[inline(always)]
fn weighted<R: Real>([first, second, third]: [Vector3<R>; 3], weights: Vector3<R>) -> Vector3<R> {
    first.mul_add(weights.x, second.mul_add(weights.y, third * weights.z))
}
