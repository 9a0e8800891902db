use super::case::{ANGLES, Case, rotation, vector};
use crate::math::{Quaternion, Random, Vector3};
use crate::rod::der::{Bend, BendMeasure, Edge, Frame, HalfSine, HalfTangent};

#[test]
fn bending_measures_twice_the_tangent_or_sine_of_half_the_angle() {
    let start = Frame(Quaternion::<f64>::splat(rotation(&mut Random::new(1))));
    let [m1, m2, tangent] = start.directors();
    for angle in ANGLES {
        for direction in [0.0f64, 0.7, 2.0, 4.5] {
            // Turn by `angle` about an axis across the tangent.
            let (sine, cosine) = direction.sin_cos();
            let axis = m1 * cosine + m2 * sine;
            let end = start.transported(tangent * angle.cos() + axis.cross(tangent) * angle.sin());
            let expected = |size: f64| Vector3::new(size * cosine, size * sine, 0.0);
            let half = angle / 2.0;
            let sine_error = Bend::strain(HalfSine, start, end) - expected(2.0 * half.sin());
            let tangent_error = Bend::strain(HalfTangent, start, end) - expected(2.0 * half.tan());
            assert!(sine_error.length() < 1e-13, "{angle}");
            assert!(tangent_error.length() < 1e-12 * half.tan().max(1.0).powi(2), "{angle}");
        }
    }
}

#[test]
fn half_tangent_is_the_curvature_binormal_in_the_mean_of_the_frames() {
    let mut random = Random::new(5);
    for angle in ANGLES {
        for _ in 0..20 {
            let case = Case::new(&mut random, angle);
            let [a, b] = case.pair();
            let ([first_a, second_a, _], [first_b, second_b, _]) =
                (case.frames[0].directors(), case.frames[1].directors());
            let binormal = a.tangent.cross(b.tangent) * (2.0 / (1.0 + a.tangent.dot(b.tangent)));
            let carried = case.frames[0].transported(b.tangent).directors()[0];
            let twist = carried.cross(first_b).dot(b.tangent).atan2(carried.dot(first_b));
            let expected = Vector3::new(
                binormal.dot(first_a + first_b) * 0.5,
                binormal.dot(second_a + second_b) * 0.5,
                twist,
            );
            let error = Bend::strain(HalfTangent, case.frames[0], case.frames[1]) - expected;
            assert!(error.length() < 1e-11 * (angle / 2.0).tan().max(1.0).powi(2), "{angle}: {error:?}");
        }
    }
}

#[test]
fn measures_agree_for_small_angles() {
    let mut random = Random::new(6);
    for size in [1e-1, 1e-2, 1e-3] {
        let start = Frame(Quaternion::<f64>::splat(rotation(&mut random)));
        let [m1, _, tangent] = start.directors();
        let end = start.transported(Edge::new(tangent + m1 * size).tangent).turned(0.7 * size);
        let (sine, tan) = (Bend::strain(HalfSine, start, end), Bend::strain(HalfTangent, start, end));
        assert!((sine - tan).length() < size.powi(3), "{size}");
        assert!((sine.length() - size * (1.0f64 + 0.49).sqrt()).abs() < size.powi(3));
    }
}

#[test]
fn energy_does_not_change_in_rigid_motion() {
    let mut random = Random::new(7);
    for angle in ANGLES {
        let case = Case::new(&mut random, angle);
        let turn = Quaternion::<f64>::splat(rotation(&mut random));
        let turned = case.frames.map(|frame| Frame(turn.after(frame.0).renormalized()));
        for (before, after) in [
            (case.energy(HalfSine), case.bend.energy(HalfSine, turned[0], turned[1])),
            (case.energy(HalfTangent), case.bend.energy(HalfTangent, turned[0], turned[1])),
        ] {
            assert!((before - after).abs() < 1e-10 * before.max(1.0), "{angle}: {before} {after}");
        }
    }
}

#[test]
fn natural_twist_may_be_of_any_size_for_the_half_tangent() {
    let start = Frame(Quaternion::<f64>::identity());
    let stiffness = vector(glam::DVec3::ONE);
    for natural in [-7.0, -3.2, 0.4, 3.1, 9.0] {
        let bend = Bend { rest: Vector3::new(0.0, 0.0, natural), stiffness };
        let at = |twist: f64| bend.energy(HalfTangent, start, start.turned(twist));
        assert!(at(natural) < 1e-24, "{natural}");
        assert!((at(natural + 0.5) - 0.125).abs() < 1e-12, "{natural}");
        assert!((at(natural - 0.5) - 0.125).abs() < 1e-12, "{natural}");
    }
    // The half sine knows no full turns.
    let strain = HalfSine.strain(start.to(start.turned(std::f64::consts::TAU + 0.2)));
    assert!((strain.z - 2.0 * 0.1f64.sin()).abs() < 1e-12);
}

#[test]
fn energies_at_an_exact_fold_are_finite() {
    let start = Frame(Quaternion::<f64>::identity());
    let end = start.transported(Vector3::new(0.0, 0.0, -1.0));
    let bend = Bend { rest: Vector3::zero(), stiffness: vector(glam::DVec3::ONE) };
    let sine = bend.exact(HalfSine, start, end);
    assert!((sine.energy - 2.0).abs() < 1e-12, "half of 2 squared: {}", sine.energy);
    for bending in [sine, bend.exact(HalfTangent, start, end)] {
        assert!(bending.energy.is_finite() && bending.torque.length().is_finite());
        assert!((bending.stiffness * bending.torque).length().is_finite());
    }
}
