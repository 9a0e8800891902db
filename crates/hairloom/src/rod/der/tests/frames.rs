use glam::{DQuat, DVec3};

use super::case::{rotation, vector};
use crate::math::{Quaternion, Random, Real, Vector3};
use crate::rod::der::{Edge, Frame};

fn glam_vector(value: Vector3<f64>) -> DVec3 {
    DVec3::from_array(value.to_array())
}

#[test]
fn transport_is_the_smallest_rotation() {
    let mut random = Random::new(1);
    for _ in 0..200 {
        let frame = Frame(Quaternion::<f64>::splat(rotation(&mut random)));
        let target = random.direction().as_dvec3().normalize();
        let arc = DQuat::from_rotation_arc(glam_vector(frame.tangent()), target);
        let moved = frame.transported(vector(target)).directors();
        for (found, before) in moved.into_iter().zip(frame.directors()) {
            assert!((glam_vector(found) - arc * glam_vector(before)).length() < 1e-7);
        }
    }
}

#[test]
fn tangents_that_turn_right_back_are_reached() {
    for offset in [0.0, 1e-9, 1e-7, 1e-5, 1e-3] {
        let frame = Frame(Quaternion::<f64>::splat(DQuat::from_rotation_x(0.7)));
        let [first, _, tangent] = frame.directors();
        let target = Edge::new(first * offset - tangent).tangent;
        let found = frame.transported(target);
        assert!((found.tangent() - target).length() < 1e-6, "{offset}");
        assert!((found.0.dot(found.0) - 1.0).abs() < 1e-12, "{offset}");
    }
    let down = Frame::along(Vector3::new(0.0f32, 0.0, -1.0));
    assert!((down.tangent() - Vector3::new(0.0, 0.0, -1.0)).length() < 1e-6);
}

#[test]
fn frames_stay_orthonormal_and_on_their_edge_over_many_updates_in_single_precision() {
    let mut random = Random::new(2);
    let mut frame = Frame::along(Vector3::new(0.0f32, 0.6, 0.8));
    let mut edge = Vector3::new(0.0f32, 0.6, 0.8);
    let mut worst = 0.0f32;
    for _ in 0..100_000 {
        let push = random.direction() * 0.3;
        edge = Edge::new(edge + Vector3::new(push.x, push.y, push.z)).tangent;
        frame = frame.transported(edge).turned(0.2 * random.signed());
        let [first, second, third] = frame.directors();
        for error in [
            first.length() - 1.0,
            second.length() - 1.0,
            third.length() - 1.0,
            first.dot(second),
            second.dot(third),
            third.dot(first),
            (third - edge).length(),
        ] {
            worst = worst.max(error.abs());
        }
    }
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn twist_of_material_frames_is_difference_of_angles_and_reference_twist() {
    // The twist of Bergou et al. 2010: m = θ_b − θ_a + reference twist.
    let mut random = Random::new(3);
    let mut reference = [Frame::along(vector(DVec3::Z)), Frame::along(vector(DVec3::Z))];
    let mut edges = [DVec3::Z, DVec3::Z];
    let (mut reference_twist, mut twist) = (0.0, 0.0);
    let mut most: f64 = 0.0;
    for step in 0..5000 {
        let theta = [f64::from(step) * 1e-2, f64::from(step) * -1e-2];
        for (edge, frame) in edges.iter_mut().zip(&mut reference) {
            *edge = (*edge + random.direction().as_dvec3() * 0.1 + DVec3::Z * 0.02).normalize();
            *frame = frame.transported(vector(*edge));
        }
        reference_twist = reference[0].twist_to(reference[1], reference_twist);
        let material = [reference[0].turned(theta[0]), reference[1].turned(theta[1])];
        let expected = theta[1] - theta[0] + reference_twist;
        // Two steps of 1e-2 and what transport adds, well within half a turn of the last twist.
        twist = material[0].twist_to(material[1], expected);
        assert!((twist - expected).abs() < 1e-9, "step {step}: {twist} {expected}");
        most = most.max(reference_twist.abs());
    }
    assert!(twist < -80.0, "many turns are counted: {twist}");
    assert!(most > 0.1, "transport along loops turns frames: {most}");
}

#[test]
fn polar_steps_keep_lengths_and_agree_with_sums_to_first_order() {
    let edge = Edge::new(Vector3::new(0.3f64, -0.4, 1.2));
    let delta = Vector3::new(1e-4, 2e-4, -3e-4);
    let stepped = edge.stepped(delta, 0.7);
    assert!((stepped.vector() - (edge.vector() + delta)).length() < 1e-6);
    let across = Vector3::new(4.0, 3.0, 0.0);
    assert!(across.dot(edge.tangent).abs() < 1e-12);
    let turned = edge.stepped(across, 0.7);
    assert!((turned.length - edge.length).abs() < 1e-12);
    assert!((turned.tangent.dot(edge.tangent) - 0.7f64.cos()).abs() < 1e-12);
    assert!((turned.tangent.length() - 1.0).abs() < 1e-12);
    assert_eq!(edge.stepped(edge.vector() * -3.0, 0.7).length, edge.length / 2.0);
    assert!((edge.stepped(Vector3::zero(), 0.7).vector() - edge.vector()).length() < 1e-15);
}

#[test]
fn edges_without_length_are_finite() {
    let edge = Edge::new(Vector3::<f32>::zero());
    assert!(edge.inverse_length.is_finite() && edge.tangent.length() == 0.0);
    assert_eq!(f32::zero(), Edge::fixed(Frame::along(Vector3::new(0.0f32, 0.0, 1.0))).inverse_length);
}
