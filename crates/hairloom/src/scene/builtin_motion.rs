//! Motions that come with Hairloom.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use serde::Serialize;

use super::error::SceneError;
use super::noise::{Random, spline};
use super::parse::{Section, choice};
use crate::math::Pose;

/// Motions that come with Hairloom. All begin at rest and, but for `Teleport`, have continuous velocity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "builtin", rename_all = "kebab-case")]
pub enum BuiltinMotion {
    /// Looks left and right: about y.
    HeadTurn {
        /// Largest turn to each side [°].
        amplitude_degrees: f64,
        /// Time from left to right and back [s].
        period: f64,
    },
    /// Nods: about x.
    Nod {
        /// Largest turn up and down [°].
        amplitude_degrees: f64,
        /// Time of one nod [s].
        period: f64,
    },
    /// Shakes the head fast: about y.
    Shake {
        /// Largest turn to each side [°].
        amplitude_degrees: f64,
        /// Time from side to side and back [s].
        period: f64,
    },
    /// Walks along z: bobs at each step, sways and rolls from foot to foot.
    Walk {
        /// Largest roll about z to each side [°].
        amplitude_degrees: f64,
        /// Height of the bob, and twice the sway to each side [m].
        distance: f64,
        /// Time of two steps [s].
        period: f64,
        /// Forward speed [m/s]; 0 walks on the spot.
        speed: f64,
    },
    /// Fast turns about changing axes with rests between them, for the hairy ball.
    ///
    /// Axes are the world's, times and angles are multiples of `period` and `amplitude_degrees`. Each turn goes
    /// from rest to rest as 6u⁵ − 15u⁴ + 10u³; in between the ball rests. The sequence repeats from where it
    /// ended.
    ///
    /// | from | to | axis | angle |
    /// |---|---|---|---|
    /// | 1/16 | 2/16 | y | +1 |
    /// | 3/16 | 4/16 | x | +1 |
    /// | 5/16 | 6/16 | z | −1 |
    /// | 7/16 | 8/16 | y | −2 |
    /// | 9/16 | 10/16 | x | −1 |
    /// | 11/16 | 12/16 | z | +1 |
    /// | 13/16 | 14/16 | (1, 1, 0)/√2 | +2 |
    HairyBall {
        /// Angle of a single turn [°].
        amplitude_degrees: f64,
        /// Time of the whole sequence [s].
        period: f64,
    },
    /// Wanders and tumbles smoothly at random. Its speed is at most 2 `distance` / `period`, its angular
    /// velocity at most 2 `amplitude_degrees` / `period`.
    Random {
        /// Largest rotation away from the start [°].
        amplitude_degrees: f64,
        /// Largest distance from the start [m].
        distance: f64,
        /// Time between random poses [s].
        period: f64,
        /// Seed of the path.
        seed: u32,
    },
    /// Jumps to a random pose each `period`, to test stability.
    Teleport {
        /// Largest rotation away from the start [°].
        amplitude_degrees: f64,
        /// Largest distance from the start [m].
        distance: f64,
        /// Time between jumps [s].
        period: f64,
        /// Seed of the poses.
        seed: u32,
    },
}

choice! {
    /// Names of the built-in motions.
    pub MotionName, "motion" {
        /// Looks left and right.
        HeadTurn = "head-turn",
        /// Nods.
        Nod = "nod",
        /// Shakes fast.
        Shake = "shake",
        /// Walks.
        Walk = "walk",
        /// Turns as the hairy ball.
        HairyBall = "hairy-ball",
        /// Wanders at random.
        Random = "random",
        /// Jumps at random.
        Teleport = "teleport",
    }
}

impl BuiltinMotion {
    /// The motion with its usual values.
    pub fn usual(name: MotionName) -> Self {
        let seed = 0;
        match name {
            MotionName::HeadTurn => Self::HeadTurn { amplitude_degrees: 60.0, period: 2.0 },
            MotionName::Nod => Self::Nod { amplitude_degrees: 25.0, period: 1.5 },
            MotionName::Shake => Self::Shake { amplitude_degrees: 35.0, period: 0.4 },
            MotionName::Walk => {
                Self::Walk { amplitude_degrees: 2.0, distance: 0.04, period: 1.1, speed: 0.0 }
            }
            MotionName::HairyBall => Self::HairyBall { amplitude_degrees: 90.0, period: 4.0 },
            MotionName::Random => Self::Random { amplitude_degrees: 90.0, distance: 0.2, period: 0.5, seed },
            MotionName::Teleport => {
                Self::Teleport { amplitude_degrees: 180.0, distance: 0.5, period: 0.5, seed }
            }
        }
    }

    /// The motion's name.
    pub fn name(&self) -> MotionName {
        match self {
            Self::HeadTurn { .. } => MotionName::HeadTurn,
            Self::Nod { .. } => MotionName::Nod,
            Self::Shake { .. } => MotionName::Shake,
            Self::Walk { .. } => MotionName::Walk,
            Self::HairyBall { .. } => MotionName::HairyBall,
            Self::Random { .. } => MotionName::Random,
            Self::Teleport { .. } => MotionName::Teleport,
        }
    }

    /// Pose `time` [s] after the beginning, before which the body rests.
    pub fn pose(&self, time: f64) -> Pose {
        if time <= 0.0 {
            return Pose::IDENTITY;
        }
        let swing = |axis: DVec3, amplitude_degrees: f64, period: f64| Pose {
            rotation: DQuat::from_scaled_axis(
                axis * oscillation(time, amplitude_degrees.to_radians(), period),
            ),
            translation: DVec3::ZERO,
        };
        match *self {
            Self::HeadTurn { amplitude_degrees, period } => swing(DVec3::Y, amplitude_degrees, period),
            Self::Nod { amplitude_degrees, period } => swing(DVec3::X, amplitude_degrees, period),
            Self::Shake { amplitude_degrees, period } => swing(DVec3::Y, amplitude_degrees, period),
            Self::Walk { amplitude_degrees, distance, period, speed } => {
                let translation = DVec3::new(
                    oscillation(time, 0.5 * distance, period),
                    // Lowest with both feet on the ground, as at the start; two steps to a period.
                    ease(2.0 * time / period) * 0.5 * distance * (1.0 - (2.0 * TAU * time / period).cos()),
                    speed * eased_time(time, 0.5 * period),
                );
                Pose { translation, ..swing(DVec3::NEG_Z, amplitude_degrees, period) }
            }
            Self::HairyBall { amplitude_degrees, period } => hairy_ball(time, amplitude_degrees, period),
            Self::Random { amplitude_degrees, distance, period, seed } => {
                // Zeros up to the second control point make the path leave the start from rest.
                let pose = |index: i64, part: usize| match index {
                    ..=1 => DVec3::ZERO,
                    _ => random_pose(seed, index)[part],
                };
                let position = spline(time / period, |index| pose(index, 0)) * distance;
                let rotation = spline(time / period, |index| pose(index, 1)) * amplitude_degrees.to_radians();
                Pose { rotation: DQuat::from_scaled_axis(rotation), translation: position }
            }
            Self::Teleport { amplitude_degrees, distance, period, seed } => {
                match (time / period).floor() as i64 {
                    0 => Pose::IDENTITY,
                    index => {
                        let [position, rotation] = random_pose(seed, index);
                        let rotation = DQuat::from_scaled_axis(rotation * amplitude_degrees.to_radians());
                        Pose { rotation, translation: position * distance }
                    }
                }
            }
        }
    }

    pub(super) fn read(section: &Section<'_>) -> Result<Self, SceneError> {
        let name: MotionName = section.require("builtin", "a motion")?.choice()?;
        let mut motion = Self::usual(name);
        let reject =
            |keys| section.reject(keys, &format!("has no effect on the motion \"{name}\"; remove it"));
        match &mut motion {
            Self::HeadTurn { amplitude_degrees, period }
            | Self::Nod { amplitude_degrees, period }
            | Self::Shake { amplitude_degrees, period }
            | Self::HairyBall { amplitude_degrees, period } => {
                reject(&["distance", "speed", "seed"])?;
                *amplitude_degrees = section.or("amplitude_degrees", *amplitude_degrees, |f| f.number())?;
                *period = section.or("period", *period, |f| f.positive())?;
            }
            Self::Walk { amplitude_degrees, distance, period, speed } => {
                reject(&["seed"])?;
                *amplitude_degrees = section.or("amplitude_degrees", *amplitude_degrees, |f| f.number())?;
                *distance = section.or("distance", *distance, |f| f.not_negative())?;
                *period = section.or("period", *period, |f| f.positive())?;
                *speed = section.or("speed", *speed, |f| f.number())?;
            }
            Self::Random { amplitude_degrees, distance, period, seed }
            | Self::Teleport { amplitude_degrees, distance, period, seed } => {
                reject(&["speed"])?;
                *amplitude_degrees = section.or("amplitude_degrees", *amplitude_degrees, |f| f.number())?;
                *distance = section.or("distance", *distance, |f| f.not_negative())?;
                *period = section.or("period", *period, |f| f.positive())?;
                *seed = section.or("seed", *seed, |f| f.whole(0))?;
            }
        }
        Ok(motion)
    }
}

/// From 0 at 0 to 1 at 1 with no slope nor curvature at either end.
fn ease(u: f64) -> f64 {
    let u = u.clamp(0.0, 1.0);
    u * u * u * (10.0 + u * (6.0 * u - 15.0))
}

/// The integral of `ease(time / duration)` over time.
fn eased_time(time: f64, duration: f64) -> f64 {
    let u = (time / duration).clamp(0.0, 1.0);
    duration * u.powi(4) * (2.5 + u * (u - 3.0)) + (time - duration).max(0.0)
}

/// A sine wave that grows to its full amplitude within half a period.
fn oscillation(time: f64, amplitude: f64, period: f64) -> f64 {
    amplitude * ease(2.0 * time / period) * (TAU * time / period).sin()
}

/// Position and rotation vector of a random pose, each in the unit ball.
fn random_pose(seed: u32, index: i64) -> [DVec3; 2] {
    let mut random = Random::new(seed, index as u64);
    [random.in_ball(), random.in_ball()]
}

fn hairy_ball(time: f64, amplitude_degrees: f64, period: f64) -> Pose {
    let diagonal = (DVec3::X + DVec3::Y).normalize();
    let turns = [
        (1.0, DVec3::Y, 1.0),
        (3.0, DVec3::X, 1.0),
        (5.0, DVec3::Z, -1.0),
        (7.0, DVec3::Y, -2.0),
        (9.0, DVec3::X, -1.0),
        (11.0, DVec3::Z, 1.0),
        (13.0, diagonal, 2.0),
    ];
    let after = |sixteenths: f64| {
        turns.iter().fold(DQuat::IDENTITY, |rotation, (begin, axis, angle)| {
            let angle = angle * amplitude_degrees.to_radians() * ease(sixteenths - begin);
            DQuat::from_scaled_axis(*axis * angle) * rotation
        })
    };
    let cycles = (time / period).floor();
    let (axis, angle) = after(16.0).to_axis_angle();
    let earlier = DQuat::from_axis_angle(axis, angle * cycles);
    let rotation = after(16.0 * (time / period - cycles)) * earlier;
    Pose { rotation: rotation.normalize(), translation: DVec3::ZERO }
}

#[cfg(test)]
mod tests {
    use super::super::motion::Motion;
    use super::*;

    /// Velocity [m/s] and angular velocity [rad/s] by central differences.
    fn slopes(motion: &Motion, time: f64, h: f64) -> (DVec3, DVec3) {
        let (a, b) = (motion.pose(time - h), motion.pose(time + h));
        let mut turn = b.rotation * a.rotation.conjugate();
        if turn.w < 0.0 {
            turn = -turn;
        }
        ((b.translation - a.translation) / (2.0 * h), turn.to_scaled_axis() / (2.0 * h))
    }

    fn builtin(name: MotionName) -> Motion {
        Motion::builtin(BuiltinMotion::usual(name), DVec3::new(0.0, -0.1, 0.02), 1.0)
    }

    fn smooth_ones() -> impl Iterator<Item = MotionName> {
        MotionName::ALL.iter().copied().filter(|name| *name != MotionName::Teleport)
    }

    #[test]
    fn motions_begin_at_rest_where_the_body_stands() {
        for name in MotionName::ALL {
            let motion = builtin(*name);
            assert!(motion.pose(0.3).translation.length() < 1e-15, "{name}");
            assert!(motion.pose(1.0).translation.length() < 1e-15, "{name}");
            let (velocity, spin) = slopes(&motion, 1.0, 1e-4);
            assert!(velocity.length() < 1e-3 && spin.length() < 1e-3, "{name}: {velocity} {spin}");
        }
    }

    #[test]
    fn motions_move_with_continuous_velocity() {
        for name in smooth_ones() {
            let motion = builtin(name);
            let (mut fastest, mut largest_jump) = (0.0_f64, 0.0_f64);
            for sample in 0..10_000 {
                let time = 0.9 + f64::from(sample) * 1e-3;
                let ((v0, w0), (v1, w1)) = (slopes(&motion, time, 1e-5), slopes(&motion, time + 1e-5, 1e-5));
                fastest = fastest.max(w0.length());
                largest_jump = largest_jump.max(v0.distance(v1)).max(w0.distance(w1));
            }
            assert!(fastest > 0.1, "{name} hardly moves");
            // A smooth path's velocity changes by acceleration · 1e-5 s; a kink changes it at once.
            assert!(largest_jump < 1e-2, "{name}: velocity jumps by {largest_jump}");
        }
    }

    #[test]
    fn random_motion_keeps_its_bounds() {
        for seed in 0..8 {
            let path = BuiltinMotion::Random { amplitude_degrees: 60.0, distance: 0.3, period: 0.25, seed };
            let motion = Motion::builtin(path, DVec3::ZERO, 0.0);
            for sample in 0..2_000 {
                let time = f64::from(sample) * 5e-3;
                let (velocity, spin) = slopes(&motion, time, 1e-5);
                assert!(motion.pose(time).translation.length() <= 0.3);
                assert!(velocity.length() <= 2.0 * 0.3 / 0.25);
                assert!(spin.length() <= 2.0 * 60_f64.to_radians() / 0.25);
            }
        }
    }

    #[test]
    fn teleports_are_announced_exactly_where_the_pose_jumps() {
        let motion = builtin(MotionName::Teleport);
        let step = 1.0 / 48.0;
        let mut jumps = 0;
        for sample in 0..200 {
            let (begin, end) = (f64::from(sample) * step, f64::from(sample + 1) * step);
            let moved = motion.pose(begin) != motion.pose(end);
            assert_eq!(moved, motion.teleports(begin, end), "{begin}");
            jumps += u32::from(moved);
        }
        assert_eq!(jumps, 6);
    }

    #[test]
    fn rotations_leave_the_pivot_in_place() {
        for name in [MotionName::HeadTurn, MotionName::Nod, MotionName::Shake, MotionName::HairyBall] {
            let motion = builtin(name);
            for sample in 0..50 {
                let moved = motion.pose(f64::from(sample) * 0.1).apply(motion.pivot);
                assert!(moved.distance(motion.pivot) < 1e-12, "{name}");
            }
        }
    }

    #[test]
    fn a_head_turn_reaches_its_amplitude() {
        let motion = builtin(MotionName::HeadTurn);
        let quarter = motion.pose(1.0 + 2.0 * 1.25).rotation.to_scaled_axis();
        assert!(quarter.distance(DVec3::Y * 60_f64.to_radians()) < 1e-9, "{quarter}");
    }

    #[test]
    fn walking_covers_the_distance() {
        let path = BuiltinMotion::Walk { amplitude_degrees: 0.0, distance: 0.0, period: 1.0, speed: 1.4 };
        let motion = Motion::builtin(path, DVec3::ZERO, 0.0);
        // Half the speed on average while it sets out, for half a second.
        assert!((motion.pose(10.0).translation.z - 1.4 * 9.75).abs() < 1e-9);
    }

    #[test]
    fn the_hairy_ball_goes_on_from_where_its_sequence_ended() {
        let motion = builtin(MotionName::HairyBall);
        let sequence = motion.pose(1.0 + 4.0).rotation;
        let twice = motion.pose(1.0 + 8.0).rotation;
        assert!((sequence * sequence).dot(twice).abs() > 1.0 - 1e-12);
        assert!(sequence.dot(motion.pose(1.0 + 3.6).rotation).abs() > 1.0 - 1e-12, "rests at the end");
    }
}
