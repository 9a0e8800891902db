//! The energies of one edge and of one corner, with their Gauss–Newton matrices, without state.
//!
//! A corner is an inner vertex with the edges a before and b behind it: unit tangents `t_a`, `t_b`, lengths `l_a`, `l_b`, and a
//! director on each. With `c = t_a · t_b`, `s = 1 / (1 + c)` and the curvature binormal `κb = 2 s t_a × t_b`, the four-component
//! curvature of Bergou et al. 2008 is κb seen in both material frames, so that (equation 1 of Huang et al. 2023, rods of round
//! section, l̄ the length over which the corner bends)
//!
//! ```text
//! E_b = ½ B (|κb − κ̄_a|² + |κb − κ̄_b|²)    B = π r⁴ Y / (8 l̄)    κ̄_a, κ̄_b: the natural κb carried by either frame
//! E_t = ½ T μ²                              T = π r⁴ G / (2 l̄)    (the paper prints half of it)
//! E_s = ½ K (l − l̄)²                        K = π r² Y / l̄
//! ```
//!
//! Natural frames are those of parallel transport along the groom, so there is no natural twist but where a rest shape brings one: then μ
//! is what differs from it. The twist is taken from −π to π: a memory of whole turns would wind up where edges turn over within a step.
//!
//! The unknowns are the edge vectors and the twists of both edges, eight in all. Since the section is round, the sum over the
//! directors of a frame does not hang on how they are turned, and the products of first derivatives that make up the
//! Gauss–Newton matrix close:
//!
//! ```text
//! e_a e_a   (8 B s² (I − t_a t_aᵀ) + (T/4 − B) κb κbᵀ) / l_a²      e_a θ_a   κb (2 B c s − T/2) / l_a      θ_a θ_a   B |κb|² + T
//! e_b e_b   (8 B s² (I − t_b t_bᵀ) + (T/4 − B) κb κbᵀ) / l_b²      e_b θ_b  −κb (2 B c s − T/2) / l_b      θ_b θ_b   B |κb|² + T
//! e_a e_b   (8 B s² (t_b t_aᵀ − c I) + T/4 κb κbᵀ) / (l_a l_b)     e_a θ_b   κb (2 B s + T/2) / l_a        θ_a θ_b  −T
//!                                                                  e_b θ_a  −κb (2 B s + T/2) / l_b
//! ```
//!
//! Every bending term goes with s², so bounding s towards the fold (section 4.1 of the paper) scales a positive semi-definite
//! matrix and keeps it one. The gradient is scaled in the same way, derivatives first: a bound on κb alone would make the fold a
//! minimum that hair is caught in.

use crate::math::{Real, Symmetric3, Vector3};

/// An edge as its corners see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge<R> {
    /// Unit tangent.
    pub tangent: Vector3<R>,
    /// Length [m].
    pub length: R,
    /// One over the length [1/m].
    pub inverse_length: R,
    /// First director of the material frame, across the tangent.
    pub director: Vector3<R>,
}

impl<R: Real> Edge<R> {
    /// The second director.
    #[inline(always)]
    pub(super) fn second(&self) -> Vector3<R> {
        self.tangent.cross(self.director)
    }
}

/// What a corner is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corner<R> {
    /// Stiffness B against bending [N m].
    pub bending: R,
    /// Stiffness T against twisting [N m].
    pub twisting: R,
    /// Natural κb along the two directors of edge a.
    pub natural_a: [R; 2],
    /// Natural κb along the two directors of edge b.
    pub natural_b: [R; 2],
}

/// Second derivatives in one edge vector and its twist.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<R> {
    /// Edge with edge.
    pub edge: Symmetric3<R>,
    /// Edge with twist.
    pub mixed: Vector3<R>,
    /// Twist with twist.
    pub twist: R,
}

/// Mixed derivatives of a corner: rows are of edge a, columns of edge b.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coupling<R> {
    /// Edge a with edge b.
    pub edges: [[R; 3]; 3],
    /// Edge a with the twist of b.
    pub edge_twist: Vector3<R>,
    /// Twist of a with edge b.
    pub twist_edge: Vector3<R>,
    /// Twist with twist.
    pub twists: R,
}

/// First derivatives in one edge vector and its twist.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gradient<R> {
    /// In the edge [N].
    pub edge: Vector3<R>,
    /// In the twist [N m].
    pub twist: R,
}

/// A displacement of one edge vector and its twist.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shift<R> {
    /// Of the edge vector [m].
    pub edge: Vector3<R>,
    /// Of the twist [rad].
    pub twist: R,
}

/// All derivatives of a corner.
#[derive(Debug, Clone, Copy)]
pub(super) struct Derivatives<R> {
    /// First derivatives, edge a.
    pub gradient_a: Gradient<R>,
    /// First derivatives, edge b.
    pub gradient_b: Gradient<R>,
    /// Second derivatives, edge a.
    pub a: Block<R>,
    /// Second derivatives, edge b.
    pub b: Block<R>,
    /// Second derivatives, mixed.
    pub coupling: Coupling<R>,
}

impl<R: Real> Block<R> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        Self { edge: Symmetric3::zero(), mixed: Vector3::zero(), twist: R::zero() }
    }
}

impl<R: Real> Coupling<R> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        let (edge_twist, twist_edge) = (Vector3::zero(), Vector3::zero());
        Self { edges: [[R::zero(); 3]; 3], edge_twist, twist_edge, twists: R::zero() }
    }
}

impl<R: Real> Gradient<R> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        Self { edge: Vector3::zero(), twist: R::zero() }
    }
}

impl<R: Real> Derivatives<R> {
    /// Of a corner that is not there.
    #[inline(always)]
    pub(super) fn zero() -> Self {
        let (gradient, block) = (Gradient::zero(), Block::zero());
        Self { gradient_a: gradient, gradient_b: gradient, a: block, b: block, coupling: Coupling::zero() }
    }
}

/// The curvature binormal with the numbers it is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Curvature<R> {
    /// κb, of size 2 tan(φ/2) up to the bound.
    pub binormal: Vector3<R>,
    /// cos φ.
    pub cosine: R,
    /// s = 1 / (1 + cos φ), bounded.
    pub scale: R,
    /// The same without the bound.
    pub unbounded: R,
}

impl<R: Real> Curvature<R> {
    /// Of two edges; 1 + cos φ counts as `least` where it is less.
    #[inline(always)]
    pub(super) fn new(a: &Edge<R>, b: &Edge<R>, least: R) -> Self {
        let cosine = a.tangent.dot(b.tangent);
        let sum = R::one() + cosine;
        let scale = R::one() / sum.max(least);
        let unbounded = R::one() / sum.max(R::splat(1e-6));
        Self { binormal: a.tangent.cross(b.tangent) * (scale + scale), cosine, scale, unbounded }
    }
}

/// How far the director of b is turned about its tangent from that of a, transported there, from −π to π [rad].
#[inline(always)]
pub(super) fn twist<R: Real>(a: &Edge<R>, b: &Edge<R>, curvature: &Curvature<R>) -> R {
    let moved = transport(a.director, a.tangent, b.tangent, curvature.unbounded);
    (-moved.dot(b.second())).atan2(moved.dot(b.director))
}

/// A vector across the unit tangent `from`, carried to the unit tangent `to` by the smallest rotation; `scale` is
/// 1 / (1 + from · to).
#[inline(always)]
pub(super) fn transport<R: Real>(
    vector: Vector3<R>,
    from: Vector3<R>,
    to: Vector3<R>,
    scale: R,
) -> Vector3<R> {
    (from + to).mul_add(-(to.dot(vector) * scale), vector)
}

impl<R: Real> Corner<R> {
    /// Derivatives of bending and twisting at a corner of this curvature and twist [rad]: the matrix here, and the gradient where
    /// both edges have made their shifts, to first order.
    #[inline(always)]
    pub(super) fn derivatives(
        &self,
        (a, shift_a): (&Edge<R>, &Shift<R>),
        (b, shift_b): (&Edge<R>, &Shift<R>),
        k: &Curvature<R>,
        twist: R,
    ) -> Derivatives<R> {
        let Curvature { binormal, cosine, scale, unbounded } = *k;
        let (bending, twisting) = (self.bending, self.twisting);
        let half = R::splat(0.5);

        // Deviations from the natural curvature in both frames; gradients need their sum.
        let natural_a = a.director.mul_add(self.natural_a[0], a.second() * self.natural_a[1]);
        let natural_b = b.director.mul_add(self.natural_b[0], b.second() * self.natural_b[1]);
        let off = binormal + binormal - natural_a - natural_b;
        let moment = twisting * twist;

        let twice = bending * (scale + scale);
        let (half_twisting, quarter) = (twisting * half, twisting * R::splat(0.25));
        let isotropic = twice * scale * R::splat(4.0);
        let turning = bending.mul_add(binormal.length_squared(), twisting);
        let near = twice.mul_add(cosine, -half_twisting);
        let far = twice + half_twisting;
        let (over_a, over_b) = (binormal * a.inverse_length, binormal * b.inverse_length);

        // ∇_a = B (2 s t_b × ρ − (κb · ρ) t̃) / l_a, ∇_b = B (2 s ρ × t_a − (κb · ρ) t̃) / l_b, with t̃ = s (t_a + t_b), and the
        // matrix times the shifts.
        let (u, v) = (shift_a.edge * a.inverse_length, shift_b.edge * b.inverse_length);
        let (along_u, along_v) = (binormal.dot(u), binormal.dot(v));
        let (own, other) = (quarter - bending, quarter);
        let pull = near.mul_add(shift_a.twist, far * shift_b.twist);
        let pull_a = own.mul_add(along_u, other.mul_add(along_v, moment.mul_add(half, pull)));
        let pull = far.mul_add(shift_a.twist, near * shift_b.twist);
        let pull_b = own.mul_add(along_v, other.mul_add(along_u, moment.mul_add(half, -pull)));
        // The first derivatives, too, are scaled as a whole by the bound: they must go on to open the fold.
        let bisector = (a.tangent + b.tangent) * (bending * unbounded * -binormal.dot(off));
        let turned_a = u + b.tangent * a.tangent.dot(v) - a.tangent * a.tangent.dot(u) - v * cosine;
        let turned_b = v + a.tangent * b.tangent.dot(u) - b.tangent * b.tangent.dot(v) - u * cosine;
        let edge_a = b.tangent.cross(off).mul_add(twice, turned_a.mul_add(isotropic, bisector));
        let edge_b = off.cross(a.tangent).mul_add(twice, turned_b.mul_add(isotropic, bisector));
        let spin = near.mul_add(along_u, -(far * along_v)) - moment;
        let spin_a = turning.mul_add(shift_a.twist, spin - twisting * shift_b.twist);
        let spin = far.mul_add(along_u, -(near * along_v)) + moment;
        let spin_b = turning.mul_add(shift_b.twist, spin - twisting * shift_a.twist);
        let gradient_a = Gradient {
            edge: binormal.mul_add(pull_a, edge_a) * a.inverse_length,
            twist: bending.mul_add(a.tangent.dot(binormal.cross(natural_a)), spin_a),
        };
        let gradient_b = Gradient {
            edge: binormal.mul_add(pull_b, edge_b) * b.inverse_length,
            twist: bending.mul_add(b.tangent.dot(binormal.cross(natural_b)), spin_b),
        };

        let weight = isotropic * a.inverse_length * b.inverse_length;
        let coupling = Coupling {
            edges: coupling(weight, cosine, a.tangent, b.tangent, over_a * quarter, over_b),
            edge_twist: over_a * far,
            twist_edge: over_b * -far,
            twists: -twisting,
        };
        Derivatives {
            gradient_a,
            gradient_b,
            a: Block {
                edge: block(isotropic, a, quarter - bending, over_a),
                mixed: over_a * near,
                twist: turning,
            },
            b: Block {
                edge: block(isotropic, b, quarter - bending, over_b),
                mixed: over_b * -near,
                twist: turning,
            },
            coupling,
        }
    }
}

// Written out, without closures: only what is inlined into a kernel's entry point runs in the processor's lanes.

/// `isotropic (I − t tᵀ) / l² + factor u uᵀ`.
#[inline(always)]
fn block<R: Real>(isotropic: R, edge: &Edge<R>, factor: R, u: Vector3<R>) -> Symmetric3<R> {
    let weight = isotropic * edge.inverse_length * edge.inverse_length;
    Symmetric3::diagonal(weight).add_outer(-weight, edge.tangent).add_outer(factor, u)
}

/// `weight (t_b t_aᵀ − c I) + u vᵀ`.
#[inline(always)]
fn coupling<R: Real>(
    weight: R,
    cosine: R,
    a: Vector3<R>,
    b: Vector3<R>,
    u: Vector3<R>,
    v: Vector3<R>,
) -> [[R; 3]; 3] {
    let (b, diagonal) = (b * weight, weight * cosine);
    [
        [b.x.mul_add(a.x, u.x * v.x) - diagonal, b.x.mul_add(a.y, u.x * v.y), b.x.mul_add(a.z, u.x * v.z)],
        [b.y.mul_add(a.x, u.y * v.x), b.y.mul_add(a.y, u.y * v.y) - diagonal, b.y.mul_add(a.z, u.y * v.z)],
        [b.z.mul_add(a.x, u.z * v.x), b.z.mul_add(a.y, u.z * v.y), b.z.mul_add(a.z, u.z * v.z) - diagonal],
    ]
}

/// The force of an edge of this stiffness [N/m] that has made its shift, to first order [N], and its second derivatives:
/// Gauss–Newton along the edge, and across it what tension adds, which is the exact derivative where the edge is taut. Without it
/// strands swing explicitly, which no large step survives.
#[inline(always)]
pub(super) fn stretch<R: Real>(
    edge: &Edge<R>,
    shift: Vector3<R>,
    rest_length: R,
    stiffness: R,
) -> (Vector3<R>, Symmetric3<R>) {
    let tension = stiffness * (edge.length - rest_length);
    let across = tension.max(R::zero()) * edge.inverse_length;
    let along = stiffness - across;
    let force = edge.tangent.mul_add(along.mul_add(edge.tangent.dot(shift), tension), shift * across);
    (force, Symmetric3::diagonal(across).add_outer(along, edge.tangent))
}
