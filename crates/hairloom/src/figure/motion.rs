//! Cyclic motions: sums of harmonics on the joints, eased in from the rest pose.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3, Vec3};

use super::skin::Bone;
use crate::math::Pose;

/// What a channel moves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Target {
    /// Turns a bone about an axis [rad].
    Turn { bone: usize, axis: DVec3 },
    /// Shifts a bone along an axis [m].
    Shift { bone: usize, axis: DVec3 },
    /// Stretches the whole body upwards from the ground and thins it, keeping its volume [1].
    Stretch,
}

/// One number of the motion: `mean + amplitude · sin(2π (harmonic · t / period + phase))`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Channel {
    target: Target,
    mean: f64,
    amplitude: f64,
    harmonic: f64,
    phase: f64,
}

/// A named cyclic motion.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// Its name, such as `walk`.
    pub name: &'static str,
    /// Length of a cycle \[s\].
    pub period: f64,
    /// Time in which the motion grows out of the rest pose \[s\].
    pub ease: f64,
    channels: Vec<Channel>,
}

/// A wave of a channel: mean, amplitude, harmonic, phase in cycles.
pub(super) type Wave = (f64, f64, f64, f64);

impl Motion {
    pub(super) fn new(name: &'static str, period: f64, ease: f64) -> Self {
        Self { name, period, ease, channels: Vec::new() }
    }

    /// Turn `bone` about `axis` [degrees].
    pub(super) fn turn(mut self, bone: usize, axis: Vec3, wave: Wave) -> Self {
        let (mean, amplitude, harmonic, phase) = wave;
        let target = Target::Turn { bone, axis: axis.as_dvec3() };
        let (mean, amplitude) = (mean.to_radians(), amplitude.to_radians());
        self.channels.push(Channel { target, mean, amplitude, harmonic, phase });
        self
    }

    /// Shift `bone` along `axis` [m].
    pub(super) fn shift(mut self, bone: usize, axis: Vec3, wave: Wave) -> Self {
        let (mean, amplitude, harmonic, phase) = wave;
        let target = Target::Shift { bone, axis: axis.as_dvec3() };
        self.channels.push(Channel { target, mean, amplitude, harmonic, phase });
        self
    }

    /// Stretch the body upwards.
    pub(super) fn stretch(mut self, (mean, amplitude, harmonic, phase): Wave) -> Self {
        self.channels.push(Channel { target: Target::Stretch, mean, amplitude, harmonic, phase });
        self
    }

    /// What carries each bone from rest to its place at `time` [s], and the stretch of the body.
    pub(super) fn at(&self, bones: &[Bone], time: f64) -> (Vec<Pose>, f64) {
        let time = if time.is_finite() { time.max(0.0) } else { 0.0 };
        let ease = ease(time / self.ease);
        let mut turns = vec![DVec3::ZERO; bones.len()];
        let mut shifts = vec![DVec3::ZERO; bones.len()];
        let mut stretch = 1.0;
        for channel in &self.channels {
            let cycles = channel.harmonic * (time / self.period) + channel.phase;
            let value = ease * (channel.mean + channel.amplitude * (TAU * cycles.fract()).sin());
            match channel.target {
                Target::Turn { bone, axis } => turns[bone] += axis * value,
                Target::Shift { bone, axis } => shifts[bone] += axis * value,
                Target::Stretch => stretch += value,
            }
        }
        let locals: Vec<Pose> = (0..bones.len())
            .map(|b| about(bones[b].pivot.as_dvec3(), DQuat::from_scaled_axis(turns[b]), shifts[b]))
            .collect();
        (chain(bones, &locals), stretch)
    }
}

/// The rigid motion that turns about `pivot` and then shifts.
pub(super) fn about(pivot: DVec3, rotation: DQuat, shift: DVec3) -> Pose {
    Pose { rotation, translation: pivot + shift - rotation * pivot }
}

/// Each bone's motion with those of its parents.
pub(super) fn chain(bones: &[Bone], locals: &[Pose]) -> Vec<Pose> {
    let mut moves: Vec<Pose> = Vec::with_capacity(bones.len());
    for (bone, local) in bones.iter().zip(locals) {
        moves.push(bone.parent.map_or(*local, |parent| moves[parent].compose(local)));
    }
    moves
}

/// From 0 to 1 with no jump in speed or acceleration.
fn ease(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * x * (x * (6.0 * x - 15.0) + 10.0)
}
