//! The second stage: rest lengths, directions and strains that make the forces of the first (section 3.2.2 of Hsu et al. 2023).

use glam::{DQuat, DVec3};

use super::Stiffness;

/// Largest share of EA that a segment may carry across its direction: beyond it there is no rest length, and near it the
/// segment would point far away from where it lies.
const MOST_SHEAR: f64 = 0.5;

/// What a segment must be like at rest to make a force.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Segment {
    /// l₀ [m].
    pub length: f64,
    /// d₃.
    pub director: DVec3,
    /// Factor on the stiffness against stretching.
    pub stiffening: f64,
}

/// Equation 14, for a stiffness EA that does not hang on the rest length: with the edge e and the force f on its end towards the tip,
/// `f = −EA (e / l₀ − d₃)` and |d₃| = 1 give a quadratic equation for 1 / l₀. It has a solution where EA exceeds the force across.
pub(super) fn segment(edge: DVec3, force: DVec3, stiffness: &Stiffness) -> Segment {
    let stiffening = (force.length() / (MOST_SHEAR * stiffness.stretch)).max(1.0);
    let strain = force / (stiffness.stretch * stiffening);
    let along = edge.dot(strain);
    let square = edge.length_squared();
    let root = along.mul_add(along, square * (1.0 - strain.length_squared())).sqrt();
    let inverse = (root - along) / square;
    Segment { length: 1.0 / inverse, director: (edge * inverse + strain).normalize(), stiffening }
}

/// The rest length that gives an edge that cannot be sheared its tension: with the force f on its end towards the tip and the length l,
/// `−f · t = EA (l / l₀ − 1)`. It is stiffened where it would be stretched by more than `most`, relatively.
pub(super) fn unsheared(edge: DVec3, force: DVec3, stretch: f64, most: f64) -> Segment {
    let (length, director) = (edge.length(), edge.normalize());
    let tension = -force.dot(director);
    let stiffening = (tension.abs() / (most.min(MOST_SHEAR) * stretch)).max(1.0);
    Segment { length: length / (1.0 + tension / (stretch * stiffening)), director, stiffening }
}

/// The frame whose third axis is `director`, as little turned from `frame` as can be.
pub(super) fn turned_to(frame: DQuat, director: DVec3) -> DQuat {
    let axis = frame * DVec3::Z;
    let (cosine, sine) = (axis.dot(director), axis.cross(director));
    if cosine < 0.0 {
        return (DQuat::from_rotation_arc(axis, director) * frame).normalize();
    }
    // glam's takes angles below 3e-8 for none, which is as much as hair is sheared by the weight of a vertex.
    (DQuat::from_xyzw(sine.x, sine.y, sine.z, 1.0 + cosine).normalize() * frame).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quaternion, Random, Vector3};
    use crate::rod::cosserat::{Darboux, StretchShear};

    #[test]
    fn segments_make_the_forces_that_they_were_made_for() {
        let mut random = Random::new(11);
        for round in 0..300 {
            let edge = random.direction().as_dvec3() * 0.01;
            let stiffness = Stiffness { stretch: 24.0, bend: 1.0, darboux: Darboux::Augmented };
            // From a hair's weight to more than it can carry unstiffened.
            let force = random.direction().as_dvec3() * [1e-6, 1e-2, 5.0, 30.0][round % 4];
            let Segment { length, director, stiffening } = segment(edge, force, &stiffness);
            assert_eq!(stiffening > 1.0, force.length() > 12.0);
            let frame = Quaternion::<f64>::splat(turned_to(DQuat::IDENTITY, director));
            let element = StretchShear::new(Vector3::splat(edge), 1.0 / length, frame);
            let made = element.force(24.0 * stiffening * length, 1.0 / length);
            assert!((DVec3::from_array(made.to_array()) - force).length() < 1e-13 * 24.0 * stiffening);
            // Pulled segments are shorter at rest, pressed ones longer.
            if force.length() < 1.0 {
                assert_eq!(length < edge.length(), force.dot(edge) < 0.0);
            }
        }
    }

    #[test]
    fn frames_turn_by_the_smallest_shear() {
        let mut random = Random::new(2);
        for angle in [1e-12, 1e-9, 2e-8, 1e-5, 0.1, 3.0] {
            let frame = DQuat::from_scaled_axis(random.direction().as_dvec3());
            let across = frame * DVec3::X;
            let director = frame * DVec3::Z * f64::cos(angle) + across * f64::sin(angle);
            let turned = turned_to(frame, director) * DVec3::Z;
            assert!((turned - director).length() < 1e-15, "{angle}: {}", (turned - director).length());
        }
    }
}
