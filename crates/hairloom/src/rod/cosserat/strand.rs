use glam::{DQuat, DVec3};

use crate::math::Quaternion;
use crate::rod::der::{Frame, RodShape};

/// The frames of a curve's segments, carried along it by parallel transport from `first`.
pub fn frames_along(points: &[DVec3], first: DQuat) -> Vec<DQuat> {
    let shape = RodShape::through(points, Frame(Quaternion::splat(first)));
    let quaternion = |frame: Frame<f64>| {
        let Quaternion { real, imaginary } = frame.0;
        DQuat::from_xyzw(imaginary.x, imaginary.y, imaginary.z, real)
    };
    shape.frames.into_iter().map(quaternion).collect()
}

/// The length over which a strand bends at the joint before a segment [m], if it does there: half of either segment, of a clamped
/// one nothing. `None` at a free root, and between two segments that are held. `held` tells which vertices are.
pub fn bending_length(lengths: &[f64], segment: usize, held: impl Fn(usize) -> bool) -> Option<f64> {
    let own = lengths.get(segment)?;
    let segment_held = |segment: usize| held(segment) && held(segment + 1);
    let before = match segment.checked_sub(1) {
        None if held(0) => 0.0,
        None => return None,
        Some(before) if segment_held(before) => 0.0,
        Some(before) => lengths[before],
    };
    (before > 0.0 || !segment_held(segment)).then_some(0.5 * (before + own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_bend_over_half_of_either_segment_and_not_within_clamps() {
        let lengths = [1.0, 2.0, 4.0];
        let at = |segment, held: usize| bending_length(&lengths, segment, |vertex| vertex < held);
        assert_eq!([0, 1, 2, 3].map(|segment| at(segment, 0)), [None, Some(1.5), Some(3.0), None]);
        assert_eq!([0, 1, 2].map(|segment| at(segment, 1)), [Some(0.5), Some(1.5), Some(3.0)]);
        assert_eq!([0, 1, 2].map(|segment| at(segment, 2)), [None, Some(1.0), Some(3.0)]);
        assert_eq!([0, 1, 2].map(|segment| at(segment, 3)), [None, None, Some(2.0)]);
    }

    #[test]
    fn frames_follow_the_curve() {
        let points = [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 2.0, 0.5), DVec3::new(0.0, 3.0, 1.0)];
        let frames = frames_along(&points, DQuat::IDENTITY);
        assert_eq!(frames.len(), 3);
        for (frame, pair) in frames.iter().zip(points.windows(2)) {
            assert!((*frame * DVec3::Z - (pair[1] - pair[0]).normalize()).length() < 1e-12);
        }
    }
}
