//! Bones and skinning by blended dual quaternions (Kavan et al. 2008): twists keep their volume.

use glam::{Quat, Vec3};

use crate::math::Pose;

/// A bone: a joint that turns with everything below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bone {
    /// Its name, such as `head` or `thigh.left` (left is at x > 0).
    pub name: &'static str,
    /// The bone that carries it; parents come first. `None` for the root.
    pub parent: Option<usize>,
    /// The joint about which it turns, in the rest pose \[m\].
    pub pivot: Vec3,
}

/// The bones that move one vertex, and how much: at most four, the weights sum to one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoneWeights {
    /// Indices of bones.
    pub bones: [u16; 4],
    /// Weights of these bones.
    pub weights: [f32; 4],
}

impl BoneWeights {
    /// All weight on one bone.
    pub const fn one(bone: u16) -> Self {
        Self { bones: [bone; 4], weights: [1.0, 0.0, 0.0, 0.0] }
    }

    /// `second` with weight `share`, `first` with the rest.
    pub const fn two(first: u16, second: u16, share: f32) -> Self {
        Self { bones: [first, second, first, first], weights: [1.0 - share, share, 0.0, 0.0] }
    }
}

/// The four strongest of a list of bones with weights, scaled to sum to one.
pub(super) fn strongest(pulls: &[(u16, f32)]) -> BoneWeights {
    let mut sorted = pulls.to_vec();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    sorted.truncate(4);
    // The fifth would vanish abruptly from one vertex to the next: fade out what is weak anyway.
    for (_, weight) in &mut sorted {
        *weight = (*weight - 0.01).max(0.0);
    }
    let sum: f32 = sorted.iter().map(|(_, weight)| weight).sum();
    let mut out = BoneWeights::one(sorted.first().map_or(0, |(bone, _)| *bone));
    for (slot, (bone, weight)) in sorted.iter().enumerate().filter(|_| sum > 0.0) {
        out.bones[slot] = *bone;
        out.weights[slot] = weight / sum;
    }
    out
}

/// A unit dual quaternion: a rotation, and half the translation times the rotation.
#[derive(Debug, Clone, Copy)]
struct DualQuat {
    real: Quat,
    dual: Quat,
}

impl From<&Pose> for DualQuat {
    fn from(pose: &Pose) -> Self {
        let real = pose.rotation.normalize().as_quat();
        let t = pose.translation.as_vec3() * 0.5;
        Self { real, dual: Quat::from_xyzw(t.x, t.y, t.z, 0.0).mul_quat(real) }
    }
}

/// The points moved by their bones; `moves[b]` carries the rest pose of bone `b` to where it is now.
pub(super) fn skin(points: &[Vec3], weights: &[BoneWeights], moves: &[Pose]) -> Vec<Vec3> {
    let moves: Vec<DualQuat> = moves.iter().map(DualQuat::from).collect();
    points.iter().zip(weights).map(|(&p, weights)| blend(&moves, weights, p)).collect()
}

fn blend(moves: &[DualQuat], weights: &BoneWeights, p: Vec3) -> Vec3 {
    let first = moves[weights.bones[0] as usize];
    let (mut real, mut dual) = (first.real * weights.weights[0], first.dual * weights.weights[0]);
    for slot in 1..4 {
        let weight = weights.weights[slot];
        if weight > 0.0 {
            let next = moves[weights.bones[slot] as usize];
            // q and −q are the same rotation: take the one on the side of the first bone.
            let weight = if next.real.dot(first.real) < 0.0 { -weight } else { weight };
            real += next.real * weight;
            dual += next.dual * weight;
        }
    }
    let scale = 1.0 / real.length();
    let (real, dual) = (real * scale, dual * scale);
    let (r, d) = (real.xyz(), dual.xyz());
    let shift = 2.0 * (real.w * d - dual.w * r + r.cross(d));
    real * p + shift
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;

    #[test]
    fn one_bone_moves_points_rigidly() {
        let pose = Pose {
            rotation: DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.2, 2.0),
            translation: DVec3::ONE,
        };
        let p = Vec3::new(0.3, -0.2, 0.7);
        let moved = skin(&[p], &[BoneWeights::one(1)], &[Pose::IDENTITY, pose]);
        assert!(moved[0].distance(pose.apply(p.as_dvec3()).as_vec3()) < 1e-6);
    }

    #[test]
    fn a_twist_does_not_collapse_like_a_candy_wrapper() {
        let pose = Pose { rotation: DQuat::from_rotation_y(2.6), translation: DVec3::ZERO };
        let moved = skin(&[Vec3::X], &[BoneWeights::two(0, 1, 0.5)], &[Pose::IDENTITY, pose]);
        assert!(moved[0].distance(Vec3::new(1.3_f32.cos(), 0.0, -1.3_f32.sin())) < 1e-6, "{}", moved[0]);
    }

    #[test]
    fn the_strongest_four_share_all_the_weight() {
        let weights = strongest(&[(3, 0.2), (1, 1.0), (7, 0.005), (4, 0.5), (9, 0.3), (2, 0.1)]);
        assert_eq!(weights.bones, [1, 4, 9, 3]);
        assert!((weights.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }
}
