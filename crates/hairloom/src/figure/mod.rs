//! Built-in bodies to grow hair on, made by code alone.
//!
//! Each figure is sculpted from smoothly blended solids, meshed on the implicit surface, and
//! skinned to a few bones, so that it can move and deform. Faces look along +z, y points up, left is at x > 0.

mod ball;
mod bust;
mod dog;
mod girl;
mod head;
mod mesher;
mod monster;
mod motion;
mod sculpt;
mod skin;
#[cfg(test)]
mod tests;

use glam::{DQuat, DVec3, Vec3};

use crate::body::TriMesh;
use crate::math::Pose;

pub use ball::{ball, ball_with_edge};
pub use bust::bust;
pub use dog::dog;
pub use girl::girl;
pub use monster::monster;
pub use motion::Motion;
pub use skin::{Bone, BoneWeights};

/// The names that [`by_name`] knows.
pub const NAMES: &[&str] = &["bust", "ball", "monster", "dog", "girl"];

/// Why a figure cannot do what was asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FigureError {
    /// The figure has no motion of this name.
    #[error("figure `{figure}` has no motion `{motion}`; it has {}", list(known))]
    UnknownMotion {
        /// Name of the figure.
        figure: &'static str,
        /// The name that was asked for.
        motion: String,
        /// The motions it has.
        known: Vec<&'static str>,
    },
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// A body with a place for hair, bones and motions.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its name, one of [`NAMES`].
    pub name: &'static str,
    /// The closed surface in the rest pose \[m\].
    pub mesh: TriMesh,
    /// Density of hair at each vertex, 0 (bare) to 1.
    pub scalp: Vec<f32>,
    /// Direction in which hair is combed at each vertex, along the surface, of unit length or zero.
    pub comb: Vec<Vec3>,
    /// Colour of the skin at each vertex, linear RGB from 0 to 1.
    pub colour: Vec<Vec3>,
    /// The bones; parents come before their children.
    pub bones: Vec<Bone>,
    /// What moves each vertex.
    pub weights: Vec<BoneWeights>,
    /// The bone of the head, an index into `bones`.
    pub head: usize,
    /// The point about which the head turns on the neck, in the rest pose \[m\].
    pub head_rotation_pivot: Vec3,
    /// The built-in motions; the first is what [`Figure::pose`] plays.
    pub cycles: Vec<Motion>,
    names: Vec<&'static str>,
}

impl Figure {
    /// The names of the built-in motions; the first is the one that [`Self::pose`] plays.
    pub fn motions(&self) -> &[&'static str] {
        &self.names
    }

    /// The points at `time` \[s\] of the first motion, at rest at time 0; the rest pose if there is none.
    pub fn pose(&self, time: f64) -> Vec<Vec3> {
        self.cycles.first().map_or_else(|| self.mesh.points.clone(), |cycle| self.play(cycle, time))
    }

    /// The points at `time` \[s\] of the motion `name`, at rest at time 0.
    pub fn pose_in(&self, name: &str, time: f64) -> Result<Vec<Vec3>, FigureError> {
        Ok(self.play(self.cycle(name)?, time))
    }

    /// What carries each bone from rest to its place at `time` \[s\] of the motion `name`.
    pub fn bone_poses(&self, name: &str, time: f64) -> Result<Vec<Pose>, FigureError> {
        Ok(self.cycle(name)?.at(&self.bones, time).0)
    }

    /// The points with the head turned by `head` about [`Self::head_rotation_pivot`] (and then shifted by
    /// its translation); the neck follows smoothly, all else stays.
    pub fn pose_with(&self, head: &Pose) -> Vec<Vec3> {
        let locals: Vec<Pose> = (0..self.bones.len())
            .map(|bone| {
                let pivot = self.head_rotation_pivot.as_dvec3();
                if bone == self.head {
                    motion::about(pivot, head.rotation, head.translation)
                } else {
                    Pose { rotation: DQuat::IDENTITY, translation: DVec3::ZERO }
                }
            })
            .collect();
        skin::skin(&self.mesh.points, &self.weights, &motion::chain(&self.bones, &locals))
    }

    fn cycle(&self, name: &str) -> Result<&Motion, FigureError> {
        self.cycles.iter().find(|cycle| cycle.name == name).ok_or_else(|| FigureError::UnknownMotion {
            figure: self.name,
            motion: name.to_owned(),
            known: self.names.clone(),
        })
    }

    fn play(&self, cycle: &Motion, time: f64) -> Vec<Vec3> {
        let (moves, stretch) = cycle.at(&self.bones, time);
        let mut points = skin::skin(&self.mesh.points, &self.weights, &moves);
        if stretch != 1.0 {
            let wide = (1.0 / stretch.sqrt()) as f32;
            let scale = Vec3::new(wide, stretch as f32, wide);
            points.iter_mut().for_each(|p| *p *= scale);
        }
        points
    }
}

/// The figure called `name`, if there is one; see [`NAMES`].
pub fn by_name(name: &str) -> Option<Figure> {
    match name {
        "bust" => Some(bust()),
        "monster" => Some(monster()),
        "dog" => Some(dog()),
        "girl" => Some(girl()),
        "ball" => Some(ball(0.1)),
        _ => None,
    }
}

/// What a figure's file hands over; [`assemble`] makes the rest.
struct Parts {
    name: &'static str,
    mesh: TriMesh,
    scalp: Vec<f32>,
    comb: Vec<Vec3>,
    colour: Vec<Vec3>,
    bones: Vec<Bone>,
    weights: Vec<BoneWeights>,
    head: usize,
    cycles: Vec<Motion>,
}

fn assemble(parts: Parts) -> Figure {
    let Parts { name, mesh, scalp, comb, colour, bones, weights, head, cycles } = parts;
    let names = cycles.iter().map(|cycle| cycle.name).collect();
    let head_rotation_pivot = bones[head].pivot;
    Figure { name, mesh, scalp, comb, colour, bones, weights, head, head_rotation_pivot, cycles, names }
}

/// From 0 below `low` to 1 above `high`, without a kink.
fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// `direction` laid along a surface of normal `normal`, of unit length, or zero where it stands upright.
fn along_surface(direction: Vec3, normal: Vec3) -> Vec3 {
    let tangent = direction - normal * direction.dot(normal);
    if tangent.length() < 1e-3 * direction.length() { Vec3::ZERO } else { tangent.normalize_or_zero() }
}
