use serde::{Deserialize, Serialize};

use crate::math::{Quaternion, Real, Vector3};

/// What is compared with the rest shape at a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Darboux {
    /// All four components of the rotation between two frames (equation 10 of Hsu et al. 2023): one rest shape.
    Augmented,
    /// The imaginary part alone (equation 9, Kugelstadt and Schömer 2016): a joint that is bent by φ also rests at 2π − φ.
    Plain,
}

/// The product of two quaternions: [`Quaternion::after`] in as few operations as fused ones need.
#[inline(always)]
fn product<R: Real>(a: Quaternion<R>, b: Quaternion<R>) -> Quaternion<R> {
    let (w, Vector3 { x, y, z }) = (a.real, a.imaginary);
    let (v, i) = (b.real, b.imaginary);
    Quaternion {
        real: w.mul_add(v, -a.imaginary.dot(i)),
        imaginary: Vector3::new(
            w.mul_add(i.x, v.mul_add(x, y.mul_add(i.z, -(z * i.y)))),
            w.mul_add(i.y, v.mul_add(y, z.mul_add(i.x, -(x * i.z)))),
            w.mul_add(i.z, v.mul_add(z, x.mul_add(i.y, -(y * i.x)))),
        ),
    }
}

/// Bending and twisting of a joint between two segments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BendTwist<R> {
    /// Frame of the segment before the joint, towards the root.
    pub before: Quaternion<R>,
    /// Frame of the segment behind it.
    pub behind: Quaternion<R>,
    /// The rotation `q̄₁ q₂` between them at rest, a unit quaternion.
    pub rest: Quaternion<R>,
}

impl<R: Real> BendTwist<R> {
    /// Half of what the joint pulls the frame behind it with, for a stiffness of one: the torque on it is 2 K times this, that on
    /// the frame before the opposite. With the augmented vector it is the axis of the misfit times the sine of half its angle.
    #[inline(always)]
    pub fn pull(self, darboux: Darboux) -> Vector3<R> {
        match darboux {
            Darboux::Augmented => {
                let misfit = product(product(self.before, self.rest), self.behind.conjugate());
                let negative = misfit.real.less(R::zero());
                Vector3::select(negative, -misfit.imaginary, misfit.imaginary)
            }
            Darboux::Plain => {
                let between = self.before.conjugate().after(self.behind);
                let strain = between.imaginary - self.nearer_rest(between).imaginary;
                let local = strain.mul_add(between.real, between.imaginary.cross(strain));
                -self.before.rotate(local)
            }
        }
    }

    /// Energy [J] for a stiffness K [N m].
    #[inline(always)]
    pub fn energy(self, darboux: Darboux, stiffness: R) -> R {
        let between = self.before.conjugate().after(self.behind);
        let rest = match darboux {
            Darboux::Augmented => {
                let negative = between.dot(self.rest).less(R::zero());
                self.rest.scaled(R::select(negative, R::splat(-1.0), R::one()))
            }
            Darboux::Plain => self.nearer_rest(between),
        };
        let bend = (between.imaginary - rest.imaginary).length_squared();
        let strain = match darboux {
            Darboux::Augmented => (between.real - rest.real).mul_add(between.real - rest.real, bend),
            Darboux::Plain => bend,
        };
        R::splat(2.0) * stiffness * strain
    }

    /// The rest rotation with the sign whose imaginary part is nearer: φ of equation 2 for the plain vector.
    #[inline(always)]
    fn nearer_rest(self, between: Quaternion<R>) -> Quaternion<R> {
        let negative = between.imaginary.dot(self.rest.imaginary).less(R::zero());
        self.rest.scaled(R::select(negative, R::splat(-1.0), R::one()))
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;
    use crate::math::Random;

    fn joint(before: DQuat, behind: DQuat, rest: DQuat) -> BendTwist<f64> {
        BendTwist {
            before: Quaternion::splat(before),
            behind: Quaternion::splat(behind),
            rest: Quaternion::splat(rest),
        }
    }

    fn turn(random: &mut Random, angle: f64) -> DQuat {
        DQuat::from_scaled_axis(random.direction().as_dvec3() * angle)
    }

    #[test]
    fn torques_are_derivatives_of_the_energy() {
        let mut random = Random::new(8);
        for round in 0..200 {
            let darboux = [Darboux::Augmented, Darboux::Plain][round % 2];
            // Nearly straight, bent, nearly folded; and near to the rest shape or far from it.
            let bent = [1e-3, 0.5, 2.0, 3.0][round / 2 % 4];
            let off = [1e-4, 0.1, 1.0][round % 3];
            let before = turn(&mut random, 2.0);
            let rest = turn(&mut random, bent);
            let behind = before * rest * turn(&mut random, off);
            let flip = if round % 5 == 0 { -1.0 } else { 1.0 };
            let (behind, stiffness, h) = (behind * flip, 0.3, 1e-5);
            let direction = random.direction().as_dvec3();
            let by = |amount: f64| DQuat::from_scaled_axis(direction * amount);
            let energy =
                |a: f64, b: f64| joint(by(a) * before, by(b) * behind, rest).energy(darboux, stiffness);
            let torque = joint(before, behind, rest).pull(darboux) * (2.0 * stiffness);
            let torque = DVec3::from_array(torque.to_array()).dot(direction);
            let on_behind = (energy(0.0, h) - energy(0.0, -h)) / (2.0 * h);
            let on_before = (energy(h, 0.0) - energy(-h, 0.0)) / (2.0 * h);
            let size = 1e-6 * off + 1e-10;
            assert!((on_behind + torque).abs() < size, "{round}: {on_behind} {torque}");
            assert!((on_before - torque).abs() < size, "{round}: {on_before} {torque}");
        }
    }

    #[test]
    fn a_small_misfit_pulls_like_a_spring_of_its_angle() {
        let rest = DQuat::from_rotation_x(0.4);
        for darboux in [Darboux::Augmented, Darboux::Plain] {
            let pull = joint(DQuat::IDENTITY, DQuat::from_rotation_x(0.401), rest).pull(darboux) * 2.0;
            // The plain vector is softer by the square of the cosine of half the bend.
            let softer = if darboux == Darboux::Plain { 0.2f64.cos().powi(2) } else { 1.0 };
            assert!((pull.x + 0.001 * softer).abs() < 1e-6, "{pull:?}");
        }
    }

    #[test]
    fn only_the_plain_vector_rests_in_two_shapes() {
        let (bent, mirrored) =
            (DQuat::from_rotation_y(2.0), DQuat::from_rotation_y(std::f64::consts::TAU - 2.0));
        // Of the same imaginary part, and the opposite real part.
        let other = joint(DQuat::IDENTITY, mirrored, bent);
        assert!(other.energy(Darboux::Plain, 1.0) < 1e-20);
        assert!(other.energy(Darboux::Augmented, 1.0) > 0.1);
        assert!(joint(DQuat::IDENTITY, -bent, bent).energy(Darboux::Augmented, 1.0) < 1e-20);
    }
}
