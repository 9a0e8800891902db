use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use crate::math::{Quaternion, Real, Symmetric3, Vector3};

/// The rotation between two adjacent material frames with its derivative.
///
/// `rotation` is `p = q̄_a q_b` with `p₀ ≥ 0`. A small rotation vector `w` of frame b against frame a (world axes)
/// changes twice its imaginary part by `rows · w` and twice its real part by `real · w`.
#[derive(Debug, Clone, Copy)]
pub struct Relative<R> {
    /// The relative rotation.
    pub rotation: Quaternion<R>,
    /// Gradients of twice the imaginary part. Up to scale they are the directors half-way between the frames.
    pub rows: [Vector3<R>; 3],
    /// Gradient of twice the real part.
    pub real: Vector3<R>,
}

impl<R: Real> Relative<R> {
    /// From two frames. With `q = (q₀, q⃗)`: `rows = (a₀b₀ − a⃗·b⃗) I − [a₀b⃗ + b₀a⃗]× + a⃗b⃗ᵀ + b⃗a⃗ᵀ`, the matrix of
    /// `w ↦ Im(q̄_a w q_b)`.
    #[inline(always)]
    pub fn new(a: Quaternion<R>, b: Quaternion<R>) -> Self {
        let rotation = a.conjugate().after(b);
        // Of the two quaternions of one rotation take the one that makes the relative rotation go the short way.
        let flip = R::select(rotation.real.less(R::zero()), -R::one(), R::one());
        let (rotation, b) = (rotation.scaled(flip), b.scaled(flip));
        let (u, v) = (a.imaginary, b.imaginary);
        let isotropic = a.real.mul_add(b.real, -u.dot(v));
        let [x, y, z] = (Symmetric3::diagonal(isotropic) + Symmetric3::mixed(u, v)).full().0;
        let axial = v.mul_add(a.real, u * b.real);
        let rows = [
            Vector3::new(x.x, x.y + axial.z, x.z - axial.y),
            Vector3::new(y.x - axial.z, y.y, y.z + axial.x),
            Vector3::new(z.x + axial.y, z.y - axial.x, z.z),
        ];
        let real = u.mul_add(b.real, v.cross(u)) - v * a.real;
        Self { rotation, rows, real }
    }
}

/// A measure of bending and twisting between two adjacent frames: three numbers [rad] in the material frame,
/// rotation about m₁, about m₂ and about the tangent, integrated over the vertex (not per length).
pub trait BendMeasure: Copy {
    /// The strain of a relative rotation, seen in the frames.
    fn strain<R: Real>(self, rotation: Quaternion<R>) -> Vector3<R>;

    /// The strain less the natural one.
    #[inline(always)]
    fn deviation<R: Real>(self, strain: Vector3<R>, rest: Vector3<R>) -> Vector3<R> {
        strain - rest
    }

    /// The gradients of the three strains with respect to a rotation vector of the second frame (world axes).
    fn rows<R: Real>(self, relative: &Relative<R>) -> [Vector3<R>; 3];

    /// The sum over the strains of `moment` times their second derivatives with respect to the rotation vector.
    fn curvature<R: Real>(self, relative: &Relative<R>, moment: Vector3<R>) -> Symmetric3<R>;
}

/// Korner, Audoly and Bhattacharya 2021: twice the imaginary part of the relative rotation. Bending by φ measures
/// `2 sin(φ/2)`: bounded, smooth up to the fold. Twist measures `2 sin(τ/2) cos(φ/2)` and has no memory of full turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HalfSine;

impl BendMeasure for HalfSine {
    #[inline(always)]
    fn strain<R: Real>(self, rotation: Quaternion<R>) -> Vector3<R> {
        rotation.imaginary * R::splat(2.0)
    }

    #[inline(always)]
    fn rows<R: Real>(self, relative: &Relative<R>) -> [Vector3<R>; 3] {
        relative.rows
    }

    #[inline(always)]
    fn curvature<R: Real>(self, relative: &Relative<R>, moment: Vector3<R>) -> Symmetric3<R> {
        Symmetric3::diagonal(moment.dot(relative.rotation.imaginary) * R::splat(-0.5))
    }
}

/// Bergou et al. 2008 and 2010: the curvature binormal `2 t_a × t_b / (1 + t_a · t_b)`, of size `2 tan(φ/2)`, in the
/// mean of the two material frames; and the angle of twist. It grows without bound towards the fold, where it
/// stops growing at φ = π − 2e-3.
///
/// All three follow from the relative rotation p: `2 p₁ p₀ / D`, `2 p₂ p₀ / D` and `2 atan2(p₃, p₀)`, with
/// `D = p₀² + p₃² = cos²(φ/2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HalfTangent;

impl HalfTangent {
    #[inline(always)]
    fn inverse_denominator<R: Real>(rotation: Quaternion<R>) -> R {
        let (p0, p3) = (rotation.real, rotation.imaginary.z);
        R::one() / p0.mul_add(p0, p3 * p3).max(R::splat(1e-6))
    }
}

impl BendMeasure for HalfTangent {
    /// Takes the twist on the branch nearest to the natural one, so that natural twist may be of any size.
    #[inline(always)]
    fn deviation<R: Real>(self, strain: Vector3<R>, rest: Vector3<R>) -> Vector3<R> {
        let Vector3 { x, y, z } = strain - rest;
        Vector3::new(x, y, (z * R::splat(1.0 / TAU)).round().mul_add(R::splat(-TAU), z))
    }

    #[inline(always)]
    fn strain<R: Real>(self, rotation: Quaternion<R>) -> Vector3<R> {
        let two = R::splat(2.0);
        let (p0, p) = (rotation.real, rotation.imaginary);
        let scale = two * p0 * Self::inverse_denominator(rotation);
        Vector3::new(p.x * scale, p.y * scale, p.z.atan2(p0) * two)
    }

    #[inline(always)]
    fn rows<R: Real>(self, relative: &Relative<R>) -> [Vector3<R>; 3] {
        let (p0, p) = (relative.rotation.real, relative.rotation.imaginary);
        let ([first, second, third], real) = (relative.rows, relative.real);
        let inverse = Self::inverse_denominator(relative.rotation);
        // Half the gradient of D is p₀ ∇p₀ + p₃ ∇p₃; κ = 2 pᵢ p₀ / D.
        let denominator = real.mul_add(p0, third * p.z);
        let scale = R::splat(-2.0) * p0 * inverse;
        let common = denominator.mul_add(scale, real);
        [
            first.mul_add(p0, common * p.x) * inverse,
            second.mul_add(p0, common * p.y) * inverse,
            third.mul_add(p0, real * -p.z) * inverse,
        ]
    }

    #[inline(always)]
    fn curvature<R: Real>(self, relative: &Relative<R>, moment: Vector3<R>) -> Symmetric3<R> {
        let half = R::splat(0.5);
        let (p0, p) = (relative.rotation.real, relative.rotation.imaginary);
        let ([first, second, third], real) = (relative.rows, relative.real);
        let inverse = Self::inverse_denominator(relative.rotation);
        let [bend_first, bend_second, _] = self.rows(relative);

        // κ D = 2 N with N = pᵢ p₀, so ∇²κ = (2 ∇²N − ∇κ ∇Dᵀ − ∇D ∇κᵀ − κ ∇²D) / D, summed with the moments.
        let strain = moment.x.mul_add(p.x, moment.y * p.y) * p0 * (inverse + inverse);
        let numerator = first.mul_add(moment.x, second * moment.y) * half;
        let gradient = bend_first.mul_add(moment.x, bend_second * moment.y);
        let denominator = real.mul_add(p0, third * p.z);
        let bending = (Symmetric3::mixed(numerator, real) - Symmetric3::mixed(gradient, denominator))
            .add_outer(strain * -half, real)
            .add_outer(strain * -half, third);

        // The second derivatives of atan2.
        let scale = moment.z * half * inverse;
        let diagonal = scale * (p0 + p0) * p.z;
        let twisting = Symmetric3::mixed(real, third)
            .scaled(scale * p.z.mul_add(p.z, -(p0 * p0)))
            .add_outer(diagonal, real)
            .add_outer(-diagonal, third);
        (bending + twisting).scaled(inverse)
    }
}

/// The choice of a measure at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// [`HalfSine`], the default.
    #[default]
    HalfSine,
    /// [`HalfTangent`].
    HalfTangent,
}

impl BendMeasure for Measure {
    #[inline(always)]
    fn deviation<R: Real>(self, strain: Vector3<R>, rest: Vector3<R>) -> Vector3<R> {
        match self {
            Self::HalfSine => HalfSine.deviation(strain, rest),
            Self::HalfTangent => HalfTangent.deviation(strain, rest),
        }
    }

    #[inline(always)]
    fn strain<R: Real>(self, rotation: Quaternion<R>) -> Vector3<R> {
        match self {
            Self::HalfSine => HalfSine.strain(rotation),
            Self::HalfTangent => HalfTangent.strain(rotation),
        }
    }

    #[inline(always)]
    fn rows<R: Real>(self, relative: &Relative<R>) -> [Vector3<R>; 3] {
        match self {
            Self::HalfSine => HalfSine.rows(relative),
            Self::HalfTangent => HalfTangent.rows(relative),
        }
    }

    #[inline(always)]
    fn curvature<R: Real>(self, relative: &Relative<R>, moment: Vector3<R>) -> Symmetric3<R> {
        match self {
            Self::HalfSine => HalfSine.curvature(relative, moment),
            Self::HalfTangent => HalfTangent.curvature(relative, moment),
        }
    }
}
