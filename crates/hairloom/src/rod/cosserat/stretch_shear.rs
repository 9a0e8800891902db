use crate::math::{Quaternion, Real, Vector3};

/// Stretching and shearing of a segment, equation 1 of Hsu et al. 2023.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StretchShear<R> {
    /// e / l₀ − d₃: along d₃ how far the segment is stretched, across it how far it is sheared.
    pub strain: Vector3<R>,
    /// d₃, the third axis of the frame.
    pub director: Vector3<R>,
}

impl<R: Real> StretchShear<R> {
    /// The strain of an edge [m] with one over its rest length [1/m] and a frame.
    #[inline(always)]
    pub fn new(edge: Vector3<R>, inverse_length: R, frame: Quaternion<R>) -> Self {
        let director = frame.third_axis();
        Self { strain: edge * inverse_length - director, director }
    }

    /// Energy [J] for a stiffness [J].
    #[inline(always)]
    pub fn energy(self, stiffness: R) -> R {
        R::splat(0.5) * stiffness * self.strain.length_squared()
    }

    /// Force on the vertex towards the tip [N]; the other one feels the opposite.
    #[inline(always)]
    pub fn force(self, stiffness: R, inverse_length: R) -> Vector3<R> {
        self.strain * -(stiffness * inverse_length)
    }

    /// Torque on the frame [N m].
    #[inline(always)]
    pub fn torque(self, stiffness: R) -> Vector3<R> {
        self.director.cross(self.strain) * stiffness
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;
    use crate::math::Random;

    #[test]
    fn forces_and_torques_are_derivatives_of_the_energy() {
        let mut random = Random::new(3);
        for round in 0..60 {
            // From all but unstrained to far off, and edges from a millimetre to a metre.
            let off = [1e-4, 1e-2, 1.0][round % 3];
            let (length, stiffness) = ([1e-3, 1e-2, 1.0][round / 3 % 3], 0.7);
            let frame = DQuat::from_rotation_arc(DVec3::Z, random.direction().as_dvec3());
            let edge = (frame * DVec3::Z + random.direction().as_dvec3() * off) * length;
            let energy = |edge: DVec3, frame: DQuat| {
                StretchShear::<f64>::new(Vector3::splat(edge), 1.0 / length, Quaternion::splat(frame))
                    .energy(stiffness)
            };
            let element =
                StretchShear::<f64>::new(Vector3::splat(edge), 1.0 / length, Quaternion::splat(frame));
            let (force, torque) = (element.force(stiffness, 1.0 / length), element.torque(stiffness));
            let direction = random.direction().as_dvec3();
            let h = 1e-6;
            let along = |value: Vector3<f64>| DVec3::from_array(value.to_array()).dot(direction);
            let slope = (energy(edge + direction * (h * length), frame)
                - energy(edge - direction * (h * length), frame))
                / (2.0 * h * length);
            let size = stiffness * off;
            assert!((slope + along(force)).abs() < 1e-5 * size / length, "{slope} {}", along(force));
            let turned = |by: f64| DQuat::from_scaled_axis(direction * by) * frame;
            let slope = (energy(edge, turned(h)) - energy(edge, turned(-h))) / (2.0 * h);
            assert!((slope + along(torque)).abs() < 1e-5 * size, "{slope} {}", along(torque));
        }
    }

    #[test]
    fn a_stretched_segment_pulls_its_tip_back() {
        let edge = Vector3::new(0.0, 0.0, 0.011);
        let element = StretchShear::new(edge, 100.0, Quaternion::<f64>::identity());
        // EA = k / l₀ = 300 N, stretched by a tenth.
        assert!((element.force(3.0, 100.0).z + 30.0).abs() < 1e-12);
        assert!(element.torque(3.0).length() < 1e-15);
    }
}
