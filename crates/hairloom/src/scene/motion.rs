use glam::{DQuat, DVec3, EulerRot};
use serde::Serialize;

use super::builtin_motion::BuiltinMotion;
use super::error::SceneError;
use super::keyframes::Keyframes;
use super::parse::{Section, choice};
use crate::math::Pose;

choice! {
    /// What moves.
    pub MotionPart, "part" {
        /// The whole body.
        Whole = "whole",
        /// A figure's head, on its neck.
        Head = "head",
    }
}

/// How a body moves: `[body.motion]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Motion {
    /// What moves.
    pub part: MotionPart,
    /// The point that rotations leave in place, in the world [m]. A head turns about its figure's neck instead.
    #[serde(skip_serializing_if = "is_origin")]
    pub pivot: DVec3,
    /// Rest before a built-in motion begins [s].
    #[serde(skip_serializing_if = "is_zero")]
    pub delay: f64,
    /// Time at which the scene starts [s]; built-in motions begin `delay` later, from rest.
    #[serde(skip)]
    pub start: f64,
    /// The path: `keyframes` or `builtin`.
    #[serde(flatten)]
    pub path: MotionPath,
}

fn is_origin(value: &DVec3) -> bool {
    *value == DVec3::ZERO
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// The path of a motion.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MotionPath {
    /// No motion.
    Still,
    /// Through keys. Their times are the scene's.
    Keyframes(Keyframes),
    /// One that comes with Hairloom.
    Builtin(BuiltinMotion),
}

impl Default for Motion {
    fn default() -> Self {
        Self::still()
    }
}

impl Motion {
    /// No motion.
    pub fn still() -> Self {
        Self { part: MotionPart::Whole, pivot: DVec3::ZERO, delay: 0.0, start: 0.0, path: MotionPath::Still }
    }

    /// A built-in motion that begins at `start` [s] and turns about the point `pivot` [m].
    pub fn builtin(motion: BuiltinMotion, pivot: DVec3, start: f64) -> Self {
        Self { part: MotionPart::Whole, pivot, delay: 0.0, start, path: MotionPath::Builtin(motion) }
    }

    /// Whether nothing moves.
    pub fn is_still(&self) -> bool {
        self.path == MotionPath::Still
    }

    /// Whether a body jumps between `begin` and `end` [s] instead of moving there.
    pub fn teleports(&self, begin: f64, end: f64) -> bool {
        let MotionPath::Builtin(BuiltinMotion::Teleport { period, .. }) = self.path else { return false };
        let interval = |time: f64| ((time - self.start - self.delay) / period).floor().max(0.0);
        interval(begin) != interval(end)
    }

    /// Pose at a time [s].
    pub fn pose(&self, time: f64) -> Pose {
        let pose = match &self.path {
            MotionPath::Still => return Pose::IDENTITY,
            MotionPath::Keyframes(keyframes) => keyframes.pose(time),
            MotionPath::Builtin(motion) => motion.pose(time - self.start - self.delay),
        };
        Pose { translation: pose.translation + self.pivot - pose.rotation * self.pivot, ..pose }
    }

    /// Reads the motion of a body, in a scene that starts at `start` [s].
    pub(super) fn read(body: &Section<'_>, start: f64) -> Result<Self, SceneError> {
        const KEYS: &[&str] = &[
            "keyframes",
            "interpolation",
            "builtin",
            "amplitude_degrees",
            "distance",
            "period",
            "speed",
            "seed",
            "delay",
            "pivot",
            "part",
        ];
        let Some(field) = body.get("motion") else { return Ok(Self::still()) };
        let section = field.section(KEYS)?;
        let path = if section.exactly_one(&["keyframes", "builtin"])? == "keyframes" {
            let others = &["amplitude_degrees", "distance", "period", "speed", "seed", "delay"];
            section.reject(others, "has no effect on keyframes; remove it")?;
            MotionPath::Keyframes(Keyframes::read(&section)?)
        } else {
            section.reject(&["interpolation"], "has no effect without keyframes; remove it")?;
            MotionPath::Builtin(BuiltinMotion::read(&section)?)
        };
        let part = section.or("part", MotionPart::Whole, |field| field.choice())?;
        if part == MotionPart::Head {
            section.reject(&["pivot"], "a figure's head turns about its own neck; leave pivot out")?;
        }
        let pivot = section.or("pivot", DVec3::ZERO, |field| field.vector())?;
        let delay = section.or("delay", 0.0, |field| field.not_negative())?;
        Ok(Self { part, pivot, delay, start, path })
    }
}

/// A rotation written as quaternion, as three angles, or as axis and angle; none when absent.
pub(super) fn read_rotation(section: &Section<'_>) -> Result<DQuat, SceneError> {
    let form = section.at_most_one(&["rotation", "rotation_degrees", "axis"])?;
    if form != Some("axis") {
        section.reject(&["angle_degrees"], "needs an axis = [x, y, z] beside it")?;
    }
    Ok(match form {
        None => DQuat::IDENTITY,
        Some("rotation") => section.require("rotation", "a rotation")?.quaternion()?,
        Some("rotation_degrees") => {
            let degrees = section.require("rotation_degrees", "angles [°]")?.vector()?;
            let [x, y, z] = degrees.to_array().map(f64::to_radians);
            DQuat::from_euler(EulerRot::ZYX, z, y, x)
        }
        Some(_) => {
            let axis = section.require("axis", "an axis")?.direction()?;
            let angle = section.require("angle_degrees", "angle_degrees beside the axis")?.number()?;
            DQuat::from_axis_angle(axis, angle.to_radians())
        }
    })
}
