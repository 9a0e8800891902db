//! Joints of rods that bend by their curvature binormal, seen from both frames, and twist: those of `solve::der_mpm`.
//!
//! With the rotation (w, x, y, z) from the frame before to the one behind, N = w² + z², the curvature binormal along the directors
//! before is β = 2 (xw − yz, yw + xz) / N, and the twist is μ = 2 atan2(z, w). The energy is
//! ½ B (|β − β̄|² + |β − Rot(δ) β̄|²) + ½ T δ² with the natural β̄ and δ = μ − μ̄.

use glam::{DMat3, DQuat, DVec2, DVec3};

use super::law::{Joint, by_differences};

/// Size of the natural curvature binormal that joints stay below where they can: a fold of 120°.
const MOST_CURVATURE: f64 = 3.46;
/// Least room for a joint that is folded as far already.
const LEAST_ROOM: f64 = 0.3;
/// Most of a natural twist, beside the one there is [rad].
const MOST_TWIST: f64 = 1.0;

/// A joint's stiffness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Binormal {
    /// B, half of that against bending [N m].
    pub bend: f64,
    /// T, against twisting [N m].
    pub twist: f64,
}

/// How a joint is bent and twisted.
#[derive(Debug, Clone, Copy)]
struct Strain {
    bend: DVec2,
    twist: f64,
}

impl Strain {
    fn of(q: DQuat) -> Self {
        let q = if q.w < 0.0 { -q } else { q };
        let square = q.w * q.w + q.z * q.z;
        let bend = DVec2::new(q.x * q.w - q.y * q.z, q.y * q.w + q.x * q.z) * (2.0 / square.max(1.0e-12));
        Self { bend, twist: 2.0 * q.z.atan2(q.w) }
    }

    /// The rotation that is bent and twisted so.
    fn rotation(&self) -> DQuat {
        let swing = DQuat::from_xyzw(0.5 * self.bend.x, 0.5 * self.bend.y, 0.0, 1.0).normalize();
        (swing * DQuat::from_rotation_z(self.twist)).normalize()
    }
}

/// How the strain of a joint changes with a turn of the frame behind it, in the axes of the frame before: the columns are turns, the
/// rows the two of the bend, and the twist.
fn jacobian(q: DQuat) -> DMat3 {
    let square = (q.w * q.w + q.z * q.z).max(1.0e-12);
    let a = DVec2::new(q.x * q.w - q.y * q.z, q.y * q.w + q.x * q.z);
    let column = |axis: DVec3| {
        // Half of the turn times the rotation.
        let d = DQuat::from_xyzw(0.5 * axis.x, 0.5 * axis.y, 0.5 * axis.z, 0.0) * q;
        let da = DVec2::new(
            d.x * q.w + q.x * d.w - d.y * q.z - q.y * d.z,
            d.y * q.w + q.y * d.w + d.x * q.z + q.x * d.z,
        );
        let grown = 2.0 * (q.w * d.w + q.z * d.z) / square;
        let bend = (da - a * grown) * (2.0 / square);
        bend.extend(2.0 * (q.w * d.z - q.z * d.w) / square)
    };
    DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
}

/// What the energy must change by with bend and twist for a joint to make its moment.
struct Wanted {
    strain: Strain,
    bend: DVec2,
    twist: f64,
}

impl Wanted {
    fn new(joint: &Joint) -> Self {
        let q = joint.before.conjugate() * joint.behind;
        let moment = joint.before.conjugate() * joint.moment;
        let slopes = jacobian(q).transpose().inverse() * -moment;
        Self { strain: Strain::of(q), bend: slopes.truncate(), twist: slopes.z }
    }

    /// What of the moment about the tangent the twist must make.
    fn twisting(&self) -> f64 {
        self.twist - 0.5 * self.strain.bend.dot(self.bend.perp())
    }
}

impl Binormal {
    /// As [`super::law::Law::needed`].
    pub(super) fn needed(&self, joint: &Joint) -> f64 {
        let wanted = Wanted::new(joint);
        let room = (MOST_CURVATURE - wanted.strain.bend.length()).max(LEAST_ROOM);
        let bending = wanted.bend.length() / (2.0 * self.bend * room);
        let twisting = wanted.twisting().abs() / (self.twist * MOST_TWIST);
        // Keeps the equation for the twist rising.
        let rising = wanted.strain.bend.dot(wanted.bend).abs() / (2.0 * self.twist);
        bending.max(twisting).max(rising)
    }

    /// As [`super::law::Law::rest`].
    pub(super) fn rest(&self, joint: &Joint, factor: f64) -> DQuat {
        let wanted = Wanted::new(joint);
        let Strain { bend, twist } = wanted.strain;
        let (b, t) = (self.bend * factor, self.twist * factor);
        // β̄ + Rot(δ) β̄ = 2 β − ∂E/∂β / B, and T δ + ½ B (β · sum) tan(δ/2) = what the twist must make.
        let sum = bend * 2.0 - wanted.bend / b;
        let (pull, right) = (0.5 * b * bend.dot(sum), wanted.twisting());
        let mut off = 0.0f64;
        for _ in 0..20 {
            let tangent = (0.5 * off).tan();
            let slope = t + 0.5 * pull * (1.0 + tangent * tangent);
            off = (off - (t * off + pull * tangent - right) / slope).clamp(-2.0, 2.0);
        }
        let natural = DVec2::from_angle(-0.5 * off).rotate(sum) / (2.0 * (0.5 * off).cos());
        Strain { bend: natural, twist: twist - off }.rotation()
    }

    /// As [`super::law::Law::stiffness`], by differences of the moment.
    pub(super) fn stiffness(&self, joint: &Joint, factor: f64) -> DMat3 {
        let rest = self.rest(joint, factor);
        by_differences(joint, |behind| self.moment(joint.before, behind, rest, factor))
    }

    /// As [`super::law::Law::moment`].
    pub(super) fn moment(&self, before: DQuat, behind: DQuat, rest: DQuat, factor: f64) -> DVec3 {
        let law = Self { bend: self.bend * factor, twist: self.twist * factor };
        before * law.torque(before.conjugate() * behind, &Strain::of(rest))
    }

    /// What a joint turns the frame behind it by, in the axes of the frame before [N m].
    fn torque(&self, q: DQuat, rest: &Strain) -> DVec3 {
        let now = Strain::of(q);
        let off = now.twist - rest.twist;
        let carried = DVec2::from_angle(off).rotate(rest.bend);
        let bend = (now.bend * 2.0 - rest.bend - carried) * self.bend;
        let twist = self.twist * off - self.bend * now.bend.dot(carried.perp());
        -(jacobian(q).transpose() * bend.extend(twist))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::math::Random;

    /// The energy by its definition: the curvature binormal of two tangents, seen in either frame, and the turn of the second frame
    /// against the first, transported.
    pub(in super::super) fn energy(law: &Binormal, before: DQuat, behind: DQuat, rest: DQuat) -> f64 {
        let shape = |a: DQuat, b: DQuat| {
            let (s, t) = (a * DVec3::Z, b * DVec3::Z);
            let binormal = s.cross(t) * (2.0 / (1.0 + s.dot(t)));
            let moved = DQuat::from_rotation_arc(s, t) * (a * DVec3::X);
            let twist = (-moved.dot(b * DVec3::Y)).atan2(moved.dot(b * DVec3::X));
            (a.conjugate() * binormal, b.conjugate() * binormal, twist)
        };
        let (now, natural) = (shape(before, behind), shape(DQuat::IDENTITY, rest));
        let bending = (now.0 - natural.0).length_squared() + (now.1 - natural.1).length_squared();
        0.5 * law.bend * bending + 0.5 * law.twist * (now.2 - natural.2).powi(2)
    }

    #[test]
    fn joints_make_their_moments_and_are_as_stiff_as_their_energy_says() {
        let mut random = Random::new(3);
        for round in 0..200 {
            let before = DQuat::from_scaled_axis(random.direction().as_dvec3() * 2.0);
            let bent = [1e-3, 0.3, 1.2][round % 3];
            let behind = before * DQuat::from_scaled_axis(random.direction().as_dvec3() * bent);
            let moment = random.direction().as_dvec3() * [1e-3, 0.1, 4.0][round / 3 % 3];
            let (joint, law) = (Joint { before, behind, moment }, Binormal { bend: 0.5, twist: 0.7 });
            let factor = law.needed(&joint).max(1.0);
            let rest = law.rest(&joint, factor);
            let stiff = Binormal { bend: law.bend * factor, twist: law.twist * factor };
            let at = |turn: DVec3| energy(&stiff, before, DQuat::from_scaled_axis(turn) * behind, rest);
            let stiffness = law.stiffness(&joint, factor);
            let scale = factor.max(1.0);
            for (axis, unit) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
                let (step, wide) = (1e-6, 1e-3);
                let slope = (at(unit * step) - at(unit * -step)) / (2.0 * step);
                assert!((slope + moment[axis]).abs() < 1e-8 * scale, "{round}: {slope} {moment}");
                let second = (at(unit * wide) - 2.0 * at(DVec3::ZERO) + at(unit * -wide)) / (wide * wide);
                let known = unit.dot(stiffness * unit);
                assert!((second - known).abs() < 1e-4 * scale, "{round}: {second} {known}");
            }
        }
    }
}
