//! Motion through keys.

use glam::{DQuat, DVec3};
use serde::Serialize;

use super::error::SceneError;
use super::motion::read_rotation;
use super::parse::{Section, choice};
use crate::math::Pose;

choice! {
    /// How a body goes from key to key.
    pub Interpolation, "interpolation" {
        /// Through the keys with continuous velocity, at rest at the first and the last.
        Smooth = "smooth",
        /// At rest at every key.
        Ease = "ease",
        /// With constant velocity from key to key; velocity jumps at keys, the first one included.
        Linear = "linear",
    }
}

/// Where a body is at one time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Keyframe {
    /// Time [s].
    pub time: f64,
    /// Position [m].
    pub position: DVec3,
    /// Rotation, a unit quaternion. A scene may give `rotation_degrees` (about x, then y, then z) or `axis` and
    /// `angle_degrees` instead.
    pub rotation: DQuat,
}

/// Motion through keys; the first and the last hold outside.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Keyframes {
    /// How the body goes from key to key.
    pub interpolation: Interpolation,
    /// Keys in order of time.
    pub keyframes: Vec<Keyframe>,
}

impl Keyframes {
    /// Pose at a time [s].
    pub fn pose(&self, time: f64) -> Pose {
        let keys = &self.keyframes;
        let after = keys.partition_point(|key| key.time <= time);
        let hold = |key: &Keyframe| Pose { rotation: key.rotation, translation: key.position };
        match (after.checked_sub(1).and_then(|index| keys.get(index)), keys.get(after)) {
            (Some(a), Some(b)) => {
                let u = (time - a.time) / (b.time - a.time);
                match self.interpolation {
                    Interpolation::Linear => hold(a).interpolate(&hold(b), u),
                    Interpolation::Ease => hold(a).interpolate(&hold(b), u * u * (3.0 - 2.0 * u)),
                    Interpolation::Smooth => self.smooth(after - 1, u),
                }
            }
            (Some(only), None) | (None, Some(only)) => hold(only),
            (None, None) => Pose::IDENTITY,
        }
    }

    /// Fraction `u` of the way from key `index` to the next: cubic Hermite curves. The rotation is the cumulative
    /// Bézier curve of Kim, Kim and Shin (1995), which has the given angular velocities at both ends.
    fn smooth(&self, index: usize, u: f64) -> Pose {
        let (Some(a), Some(b)) = (self.keyframes.get(index), self.keyframes.get(index + 1)) else {
            return Pose::IDENTITY;
        };
        let duration = b.time - a.time;
        let ((velocity_a, spin_a), (velocity_b, spin_b)) = (self.slopes(index), self.slopes(index + 1));
        let v = 1.0 - u;
        let translation = a.position * (v * v * (1.0 + 2.0 * u))
            + velocity_a * (duration * u * v * v)
            + b.position * (u * u * (3.0 - 2.0 * u))
            - velocity_b * (duration * u * u * v);
        let (first, last) = (spin_a * (duration / 3.0), spin_b * (duration / 3.0));
        let start = a.rotation * DQuat::from_scaled_axis(first);
        let end = b.rotation * DQuat::from_scaled_axis(-last);
        let rotation = a.rotation
            * DQuat::from_scaled_axis(first * (1.0 - v * v * v))
            * DQuat::from_scaled_axis(turn(start, end) * (u * u * (3.0 - 2.0 * u)))
            * DQuat::from_scaled_axis(last * (u * u * u));
        Pose { rotation: rotation.normalize(), translation }
    }

    /// Velocity [m/s] and angular velocity in the body's frame [rad/s] at a key: the parabola's through it and
    /// its neighbours; zero at the ends and beside a pause.
    fn slopes(&self, index: usize) -> (DVec3, DVec3) {
        let neighbours = index.checked_sub(1).and_then(|before| self.keyframes.get(before..index + 2));
        let Some([before, here, after]) = neighbours else { return (DVec3::ZERO, DVec3::ZERO) };
        let (h0, h1) = (here.time - before.time, after.time - here.time);
        let blend = |d0: DVec3, d1: DVec3| {
            if d0 == DVec3::ZERO || d1 == DVec3::ZERO {
                return DVec3::ZERO;
            }
            (d0 / h0 * h1 + d1 / h1 * h0) / (h0 + h1)
        };
        (
            blend(here.position - before.position, after.position - here.position),
            blend(turn(before.rotation, here.rotation), turn(here.rotation, after.rotation)),
        )
    }

    /// Reads `keyframes` and `interpolation`.
    pub(super) fn read(section: &Section<'_>) -> Result<Self, SceneError> {
        const KEYS: &[&str] = &["time", "position", "rotation", "rotation_degrees", "axis", "angle_degrees"];
        let read = |key: &Section<'_>| {
            Ok(Keyframe {
                time: key.require("time", "a time [s]")?.time()?,
                position: key.or("position", DVec3::ZERO, |field| field.vector())?,
                rotation: read_rotation(key)?,
            })
        };
        let keyframes = section.keyframes(KEYS, read, |key| key.time)?;
        let sections = section.sections("keyframes", KEYS)?;
        for (before, after) in sections.iter().zip(sections.iter().skip(1)) {
            reject_half_turns(before, after)?;
        }
        let interpolation = section.or("interpolation", Interpolation::Smooth, |field| field.choice())?;
        Ok(Self { interpolation, keyframes })
    }
}

/// The shortest rotation from `a` to `b` in `a`'s frame, as axis times angle [rad].
fn turn(a: DQuat, b: DQuat) -> DVec3 {
    if a == b {
        return DVec3::ZERO;
    }
    let relative = a.conjugate() * b;
    if relative.w < 0.0 { (-relative).to_scaled_axis() } else { relative.to_scaled_axis() }
}

/// Between keys a body turns the shortest way. From 0° to 360° that is not at all, surely not what was meant.
fn reject_half_turns(before: &Section<'_>, after: &Section<'_>) -> Result<(), SceneError> {
    let reason = "turns by 180° or more since the key before, and the shortest way would be taken; add a key in between";
    if let (Some(a), Some(b)) = (before.get("rotation_degrees"), after.get("rotation_degrees"))
        && (b.clone().vector()? - a.vector()?).abs().max_element() >= 180.0
    {
        return Err(b.conflict(reason.to_owned()));
    }
    if let (Some(a), Some(b)) = (before.get("angle_degrees"), after.get("angle_degrees"))
        && (b.clone().number()? - a.number()?).abs() >= 180.0
    {
        return Err(b.conflict(reason.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tumble(interpolation: Interpolation) -> Keyframes {
        let key = |time: f64, position: [f64; 3], turn: [f64; 3]| Keyframe {
            time,
            position: position.into(),
            rotation: DQuat::from_scaled_axis(turn.into()),
        };
        let keyframes = vec![
            key(0.5, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
            key(1.0, [1.0, 0.2, 0.0], [0.0, 1.5, 0.0]),
            key(1.2, [1.0, 0.2, 0.0], [0.0, 1.5, 0.0]),
            key(2.0, [0.0, 0.7, 0.3], [-1.0, 0.5, 0.8]),
            key(2.3, [-0.4, 0.7, 0.1], [-2.0, 0.5, 0.1]),
            key(3.0, [0.0, 0.0, 0.0], [0.3, 0.0, 2.5]),
        ];
        Keyframes { interpolation, keyframes }
    }

    #[test]
    fn every_interpolation_meets_its_keys() {
        for interpolation in Interpolation::ALL {
            let motion = tumble(*interpolation);
            for key in &motion.keyframes {
                for time in [key.time - 1e-9, key.time, key.time + 1e-9] {
                    let pose = motion.pose(time);
                    assert!(pose.translation.distance(key.position) < 1e-7, "{interpolation} {time}");
                    assert!(pose.rotation.dot(key.rotation).abs() > 1.0 - 1e-12, "{interpolation} {time}");
                }
            }
            assert_eq!(motion.pose(-5.0), motion.pose(0.5));
            assert_eq!(motion.pose(50.0), motion.pose(3.0));
        }
    }

    #[test]
    fn smooth_keys_have_continuous_velocity_and_pauses_hold() {
        let motion = tumble(Interpolation::Smooth);
        let h = 1e-6;
        let slopes = |time: f64| {
            let (a, b) = (motion.pose(time), motion.pose(time + h));
            ((b.translation - a.translation) / h, turn(a.rotation, b.rotation) / h)
        };
        for key in &motion.keyframes {
            let (left, right) = (slopes(key.time - 2.0 * h), slopes(key.time + h));
            assert!(left.0.distance(right.0) < 1e-3, "{} {} {}", key.time, left.0, right.0);
            assert!(left.1.distance(right.1) < 1e-3, "{} {} {}", key.time, left.1, right.1);
        }
        assert!(slopes(2.3).0.length() > 0.1, "passes through an inner key without stopping");
        assert!(motion.pose(1.1).translation.distance(DVec3::new(1.0, 0.2, 0.0)) < 1e-12);
    }
}
