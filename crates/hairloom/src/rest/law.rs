//! What joints answer to being turned: by which rest rotation they make a moment, and how stiff they are then.

use glam::{DMat3, DQuat, DVec3};

use super::binormal::Binormal;
use crate::math::{Quaternion, Symmetric3, Vector3};
use crate::rod::cosserat::{BendTwist, Darboux};
use crate::rod::der::{Bend, BendMeasure, Frame, HalfSine, Relative};

/// ε_b of equation 18 of Hsu et al. 2023: how far the sine of half the misfit of a joint stays from 1.
const MARGIN: f64 = 0.1;

/// A joint between two segments, in the shape that is to be kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Joint {
    /// Frame of the segment before.
    pub before: DQuat,
    /// Frame of the segment behind.
    pub behind: DQuat,
    /// What the joint must turn the segment behind it by [N m].
    pub moment: DVec3,
}

/// The energy of joints, with their stiffness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Law {
    /// Cosserat rods with the augmented Darboux vector: K [N m].
    Cosserat(f64),
    /// Cosserat rods with the plain Darboux vector: K [N m].
    Plain(f64),
    /// Discrete elastic rods, strains measured by half sines: about m₁, about m₂ and about the tangent [N m].
    Elastic(DVec3),
    /// Discrete elastic rods whose strains are their curvature binormals and twists.
    Binormal(Binormal),
}

impl Law {
    /// The least factor on the stiffness, 1 or more, with which there is a rest rotation on the right side.
    pub(super) fn needed(&self, joint: &Joint) -> f64 {
        let needed = match self {
            Self::Cosserat(stiffness) => {
                let between = joint.before.conjugate() * joint.behind;
                // Equation 18.
                let bound = between.w.abs().clamp(1e-3, 1.0 - MARGIN);
                joint.moment.length() / (2.0 * stiffness * bound)
            }
            Self::Plain(stiffness) => {
                let (strain, off) = plain_deviation(joint, *stiffness);
                let room = off.length() / (1.0 - MARGIN - strain.length()).max(0.05);
                // Beyond this the opposite of the rest rotation would be nearer, and be taken for it.
                let side = (1.0 + MARGIN) * off.dot(strain) / strain.length_squared().max(1e-9);
                room.max(side)
            }
            Self::Elastic(stiffness) => {
                let (strain, off) = deviation(joint, *stiffness);
                // No strain is larger than 2. What is bent farther than the margin leaves has half of what is left.
                let left = 2.0 - strain.length();
                off.length() / (left - 2.0 * MARGIN).max(0.5 * left).max(1e-6)
            }
            Self::Binormal(law) => law.needed(joint),
        };
        needed.max(1.0)
    }

    /// The rotation over the joint at rest by which it makes its moment, with the stiffness times `factor`.
    pub(super) fn rest(&self, joint: &Joint, factor: f64) -> DQuat {
        match self {
            Self::Cosserat(stiffness) => {
                let sine = joint.moment / (2.0 * stiffness * factor);
                // q_before · rest · q̄_behind is the misfit, by which the joint pulls.
                (joint.before.conjugate() * rotation(sine) * joint.behind).normalize()
            }
            Self::Plain(stiffness) => {
                let (strain, off) = plain_deviation(joint, *stiffness);
                rotation(strain - off / factor)
            }
            Self::Elastic(stiffness) => {
                let (strain, off) = deviation(joint, *stiffness);
                rotation((strain - off / factor) * 0.5)
            }
            Self::Binormal(law) => law.rest(joint, factor),
        }
    }

    /// What a joint turns the segment behind it by, with its rotation at rest and the stiffness times `factor` [N m].
    pub(super) fn moment(&self, before: DQuat, behind: DQuat, rest: DQuat, factor: f64) -> DVec3 {
        let pull = |darboux: Darboux, stiffness: f64| {
            let [before, behind, rest] = [before, behind, rest].map(Quaternion::<f64>::splat);
            let pull = BendTwist { before, behind, rest }.pull(darboux);
            DVec3::from_array(pull.to_array()) * (2.0 * stiffness * factor)
        };
        match self {
            Self::Cosserat(stiffness) => pull(Darboux::Augmented, *stiffness),
            Self::Plain(stiffness) => pull(Darboux::Plain, *stiffness),
            Self::Elastic(stiffness) => {
                let rest = HalfSine.strain(Quaternion::<f64>::splat(rest));
                let bend = Bend { rest, stiffness: Vector3::splat(*stiffness * factor) };
                let [before, behind] = [before, behind].map(|q| Frame(Quaternion::splat(q)));
                -DVec3::from_array(bend.gradient(HalfSine, before, behind).1.to_array())
            }
            Self::Binormal(law) => law.moment(before, behind, rest, factor),
        }
    }

    /// The second derivative of the energy with respect to a turn of the segment behind against the one before [N m], with the stiffness
    /// times `factor`.
    pub(super) fn stiffness(&self, joint: &Joint, factor: f64) -> DMat3 {
        match self {
            Self::Cosserat(stiffness) => {
                let sine = joint.moment / (2.0 * stiffness * factor);
                DMat3::from_diagonal(DVec3::splat(stiffness * factor * rotation(sine).w))
            }
            Self::Plain(_) => by_differences(joint, |behind| {
                self.moment(joint.before, behind, self.rest(joint, factor), factor)
            }),
            Self::Elastic(stiffness) => {
                let (strain, off) = deviation(joint, *stiffness);
                let bend = Bend {
                    rest: Vector3::<f64>::splat(strain - off / factor),
                    stiffness: Vector3::splat(*stiffness * factor),
                };
                let [before, behind] = [joint.before, joint.behind].map(|q| Frame(Quaternion::splat(q)));
                let Symmetric3 { xx, xy, yy, xz, yz, zz } = bend.exact(HalfSine, before, behind).stiffness;
                DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz))
            }
            Self::Binormal(law) => law.stiffness(joint, factor),
        }
    }
}

/// Turn by which stiffness is measured [rad].
const TURN: f64 = 1.0e-5;

/// The stiffness of a joint by differences of its moment on a segment behind it that turns.
pub(super) fn by_differences(joint: &Joint, moment: impl Fn(DQuat) -> DVec3) -> DMat3 {
    let turned = |turn: DVec3| moment(DQuat::from_scaled_axis(turn) * joint.behind);
    let column = |axis: DVec3| (turned(axis * -TURN) - turned(axis * TURN)) / (2.0 * TURN);
    let matrix = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
    (matrix + matrix.transpose()) * 0.5
}

/// The imaginary part of the rotation over a joint, and how far it must be from that at rest to make the moment: with the rotation
/// (w, p) the torque on the segment behind is −2 K (w C + p × C) for a deviation C, in the frame of the segment before.
fn plain_deviation(joint: &Joint, stiffness: f64) -> (DVec3, DVec3) {
    let between = joint.before.conjugate() * joint.behind;
    let (w, p) = (between.w, DVec3::new(between.x, between.y, between.z));
    let matrix = DMat3::from_diagonal(DVec3::splat(w)) + cross(p);
    let moment = joint.before.conjugate() * joint.moment;
    // Near half a turn there is no answer; the bound on the factor keeps what comes out small.
    let sign = if w < 0.0 { -1.0 } else { 1.0 };
    let off = matrix.inverse() * (moment * (-0.5 / stiffness));
    (p * sign, off * sign)
}

/// `a bᵀ`.
pub(super) fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// `[v]×`.
pub(super) fn cross(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}

/// The rotation with this imaginary part.
fn rotation(imaginary: DVec3) -> DQuat {
    let real = (1.0 - imaginary.length_squared()).max(0.0).sqrt();
    DQuat::from_xyzw(imaginary.x, imaginary.y, imaginary.z, real).normalize()
}

/// The strain of a joint of an elastic rod, and how far it must be from the natural one to make its moment.
fn deviation(joint: &Joint, stiffness: DVec3) -> (DVec3, DVec3) {
    let relative = Relative::<f64>::new(Quaternion::splat(joint.before), Quaternion::splat(joint.behind));
    let vector = |v: Vector3<f64>| DVec3::from_array(v.to_array());
    let [x, y, z] = HalfSine.rows(&relative).map(vector);
    // The torque is minus the gradients of the strains, weighted by stiffness times deviation.
    let weights = DMat3::from_cols(x, y, z).inverse() * -joint.moment;
    (vector(HalfSine.strain(relative.rotation)), weights / stiffness)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    #[test]
    fn joints_with_the_plain_vector_make_their_moments() {
        let mut random = Random::new(5);
        for round in 0..200 {
            let before = DQuat::from_scaled_axis(random.direction().as_dvec3() * 2.0);
            let bent = [1e-3, 0.3, 1.2][round % 3];
            let behind = before * DQuat::from_scaled_axis(random.direction().as_dvec3() * bent);
            let moment = random.direction().as_dvec3() * [1e-3, 0.1, 0.3][round / 3 % 3];
            let joint = Joint { before, behind, moment };
            let law = Law::Plain(1.3);
            let factor = law.needed(&joint);
            let element = BendTwist {
                before: Quaternion::<f64>::splat(before),
                behind: Quaternion::splat(behind),
                rest: Quaternion::splat(law.rest(&joint, factor)),
            };
            let made = element.pull(Darboux::Plain) * (2.0 * 1.3 * factor);
            let made = DVec3::from_array(made.to_array());
            assert!((made - moment).length() < 1e-12, "{round}: {made} {moment}");
        }
    }

    #[test]
    fn joints_of_elastic_rods_make_their_moments() {
        let mut random = Random::new(21);
        for round in 0..400 {
            let before = DQuat::from_scaled_axis(random.direction().as_dvec3() * 2.0);
            // Edges of curls may all but fold.
            let bent = [1e-3, 0.3, 1.2, 3.0][round % 4];
            let behind = before * DQuat::from_scaled_axis(random.direction().as_dvec3() * bent);
            let moment = random.direction().as_dvec3() * [1e-3, 0.1, 4.0][round / 4 % 3];
            let (joint, stiffness) = (Joint { before, behind, moment }, DVec3::new(1.0, 1.5, 0.7));
            let law = Law::Elastic(stiffness);
            let factor = law.needed(&joint);
            let rest = law.rest(&joint, factor);
            let natural = HalfSine.strain(Quaternion::<f64>::splat(rest));
            let bend = Bend { rest: natural, stiffness: Vector3::splat(stiffness * factor) };
            let [a, b] = [before, behind].map(|q| Frame(Quaternion::splat(q)));
            let torque = bend.gradient(HalfSine, a, b).1;
            let made = -DVec3::from_array(torque.to_array());
            assert!((made - moment).length() < 1e-9 * moment.length().max(1.0), "{round}: {made} {moment}");
        }
    }
}
