use std::f64::consts::TAU;

use crate::math::{Quaternion, Real, Vector3};

/// An edge of the centreline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge<R> {
    /// Unit tangent.
    pub tangent: Vector3<R>,
    /// Length [m].
    pub length: R,
    /// One over the length [1/m]; 0 for an edge that does not move, such as the ghost edge of a clamp.
    pub inverse_length: R,
}

impl<R: Real> Edge<R> {
    /// The edge along `vector` [m].
    #[inline(always)]
    pub fn new(vector: Vector3<R>) -> Self {
        let length = vector.length_squared().max(R::splat(1e-30)).sqrt();
        let inverse_length = R::one() / length;
        Self { tangent: vector * inverse_length, length, inverse_length }
    }

    /// The ghost edge of a clamp: it has a direction, and no derivative with respect to it.
    #[inline(always)]
    pub fn fixed(frame: Frame<R>) -> Self {
        Self { tangent: frame.tangent(), length: R::zero(), inverse_length: R::zero() }
    }

    /// The edge as a vector [m].
    #[inline(always)]
    pub fn vector(self) -> Vector3<R> {
        self.tangent * self.length
    }

    /// A Newton step `delta` [m] taken in polar coordinates: the part across turns the edge, by at most `limit`
    /// [rad], and the part along changes its length, which at most halves or doubles.
    #[inline(always)]
    pub fn stepped(self, delta: Vector3<R>, limit: R) -> Self {
        let along = self.tangent.dot(delta);
        let across = delta - self.tangent * along;
        let size = across.length_squared().max(R::splat(1e-30)).sqrt();
        let (sine, cosine) = (size * self.inverse_length).min(limit).sin_cos();
        let turned = (across * (R::one() / size)).mul_add(sine, self.tangent * cosine);
        let half = self.length * R::splat(0.5);
        let length = (self.length + along).max(half).min(self.length + self.length);
        // The turned tangent is a unit vector but for rounding: one Newton step of its length.
        let correction = turned.length_squared().mul_add(R::splat(-0.5), R::splat(1.5));
        Self { tangent: turned * correction, length, inverse_length: R::one() / length }
    }
}

/// An orthonormal frame on an edge, as the unit quaternion that turns the axes x, y, z into the directors m₁
/// (major axis of the section), m₂ and the tangent. Serves as reference and as material frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame<R>(pub Quaternion<R>);

impl<R: Real> Frame<R> {
    /// Some frame along a unit tangent: the axes, transported from z.
    #[inline(always)]
    pub fn along(tangent: Vector3<R>) -> Self {
        Self(Quaternion::identity()).transported(tangent)
    }

    /// The third director.
    #[inline(always)]
    pub fn tangent(self) -> Vector3<R> {
        self.0.third_axis()
    }

    /// The three directors m₁, m₂, t.
    #[inline(always)]
    pub fn directors(self) -> [Vector3<R>; 3] {
        self.0.axes()
    }

    /// The frame after parallel transport to another unit tangent: the smallest rotation that takes its own
    /// tangent there. In time it carries a frame along with its edge, in space from one edge to the next. A
    /// tangent that turns right back is reached by half a turn about m₂.
    #[inline(always)]
    pub fn transported(self, tangent: Vector3<R>) -> Self {
        let own = self.tangent();
        let sum = own + tangent;
        // Half the turn goes from `own` to the bisector. The sum, unlike 1 + cos, keeps its precision near folds.
        let folded = sum.length_squared().less(R::splat(1e-12));
        let sum = Vector3::select(folded, self.0.axes()[0], sum);
        let bisector = sum * (R::one() / sum.length());
        let turn = Quaternion::new(bisector.dot(own), own.cross(bisector));
        Self(turn.after(self.0).renormalized())
    }

    /// The frame turned about its tangent by `angle` [rad].
    #[inline(always)]
    pub fn turned(self, angle: R) -> Self {
        let (sine, cosine) = (angle * R::splat(0.5)).sin_cos();
        let turn = Quaternion::new(cosine, Vector3::new(R::zero(), R::zero(), sine));
        Self(self.0.after(turn).renormalized())
    }

    /// The rotation from this frame to the next, seen in either of them, with a real part that is not negative.
    #[inline(always)]
    pub fn to(self, next: Self) -> Quaternion<R> {
        self.0.conjugate().after(next.0).forward()
    }

    /// How far the `next` frame is turned about its tangent from this one transported there [rad], on the
    /// branch nearest to `previous`: the reference twist of two reference frames, the twist of two material ones.
    #[inline(always)]
    pub fn twist_to(self, next: Self, previous: R) -> R {
        let between = self.to(next);
        let principal = between.imaginary.z.atan2(between.real) * R::splat(2.0);
        ((previous - principal) * R::splat(1.0 / TAU)).round().mul_add(R::splat(TAU), principal)
    }
}

/// How a frame transported from tangent `from` to `edge` turns about the edge when the edge moves: the angle per
/// displacement of the edge vector [rad/m]. The derivatives of [`super::Bend`] hold for frames that are carried
/// along with their edges; for an energy whose frames are transported from a fixed tangent in one go, add this
/// vector times the twist derivative of an edge to its edge derivative.
#[inline(always)]
pub fn holonomy<R: Real>(from: Vector3<R>, edge: Edge<R>) -> Vector3<R> {
    let one_plus_cosine = (R::one() + from.dot(edge.tangent)).max(R::splat(1e-6));
    from.cross(edge.tangent) * (-edge.inverse_length / one_plus_cosine)
}
