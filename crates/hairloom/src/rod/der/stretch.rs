use serde::{Deserialize, Serialize};

use super::frame::Edge;
use crate::math::{Real, Vector3};

/// A measure of stretch; both agree to first order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StretchMeasure {
    /// `ε = |e| / ē − 1`. The default.
    #[default]
    Linear,
    /// `ε = (|e|² / ē² − 1) / 2`, hyperelastic, after Korner et al. 2021.
    Quadratic,
}

/// Stretching of an edge. Energy `½ E A ē ε²` with ε without dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch<R> {
    /// Natural length ē [m].
    pub rest_length: R,
    /// Stiffness E A [N]. Zero where there is no element.
    pub stiffness: R,
}

/// What a stretched edge answers. The gradient with respect to the edge vector is `tension · t`; the Hessian is
/// `along · t tᵀ + across · (I − t tᵀ)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretching<R> {
    /// Energy [J].
    pub energy: R,
    /// Force along the tangent [N], positive where the edge is longer than at rest.
    pub tension: R,
    /// Second derivative along the tangent [N/m].
    pub along: R,
    /// Second derivative across the tangent [N/m]: tension over length. It holds taut hair in place.
    pub across: R,
}

impl<R: Real> Stretch<R> {
    /// Energy, tension and the exact second derivatives.
    #[inline(always)]
    pub fn exact(&self, measure: StretchMeasure, edge: Edge<R>) -> Stretching<R> {
        let inverse_rest = R::one() / self.rest_length;
        let ratio = edge.length * inverse_rest;
        let stiffness = self.stiffness;
        let half = R::splat(0.5);
        let (strain, tension, along) = match measure {
            StretchMeasure::Linear => {
                // The difference of lengths first: the ratio would lose what f32 still knows.
                let strain = (edge.length - self.rest_length) * inverse_rest;
                (strain, stiffness * strain, stiffness * inverse_rest)
            }
            StretchMeasure::Quadratic => {
                let strain = (edge.length - self.rest_length) * inverse_rest * (ratio + R::one()) * half;
                let along = stiffness * inverse_rest * ratio.mul_add(ratio, strain);
                (strain, stiffness * strain * ratio, along)
            }
        };
        let energy = strain * strain * stiffness * self.rest_length * half;
        Stretching { energy, tension, along, across: tension * edge.inverse_length }
    }

    /// Energy, tension and the Gauss–Newton second derivatives: none across.
    #[inline(always)]
    pub fn gauss_newton(&self, measure: StretchMeasure, edge: Edge<R>) -> Stretching<R> {
        let exact = self.exact(measure, edge);
        let along = match measure {
            StretchMeasure::Linear => exact.along,
            StretchMeasure::Quadratic => {
                let ratio = edge.length / self.rest_length;
                ratio * ratio * self.stiffness / self.rest_length
            }
        };
        Stretching { along, across: R::zero(), ..exact }
    }
}

impl<R: Real> Stretching<R> {
    /// The same with second derivatives that are not negative: the exact ones where the edge is taut.
    #[inline(always)]
    pub fn positive(self) -> Self {
        Self { along: self.along.max(R::zero()), across: self.across.max(R::zero()), ..self }
    }

    /// The same element counted in part, for edges that several elements share.
    #[inline(always)]
    pub fn shared(self, part: R) -> Self {
        Self {
            energy: self.energy * part,
            tension: self.tension * part,
            along: self.along * part,
            across: self.across * part,
        }
    }

    /// The gradient with respect to the edge vector [N].
    #[inline(always)]
    pub fn gradient(&self, edge: Edge<R>) -> Vector3<R> {
        edge.tangent * self.tension
    }

    /// Adds the Hessian to the edge part of a block of an edge and its twist.
    #[inline(always)]
    pub fn add_hessian(&self, edge: Edge<R>, block: &mut [[R; 4]; 4]) {
        let tangent = edge.tangent.to_array();
        let difference = self.along - self.across;
        for row in 0..3 {
            let scaled = tangent[row] * difference;
            for column in 0..3 {
                block[row][column] += scaled * tangent[column];
            }
            block[row][row] += self.across;
        }
    }
}
