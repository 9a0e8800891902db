//! What is simulated: the scene as written by the user, the model that stays constant, the state that moves,
//! and the drive that the world exerts during one step.

mod attachment;
mod body;
mod document;
mod drive;
mod error;
mod gravity;
mod groom;
mod keyframes;
mod material;
mod model;
mod motion;
mod noise;
mod output;
mod parse;
mod scene;
mod solver;
mod state;
mod time;
mod wind;

#[cfg(test)]
mod scene_tests;

pub use attachment::{Attachment, Attachments, Seat};
pub use body::{
    Animation, BodySettings, BodyShape, Cycle, DistanceMode, DistanceSettings, Figure, Primitive,
};
pub use drive::{Drive, Handle};
pub use error::{Place, Problem, SceneError};
pub use gravity::{Gravity, GravityKey};
pub use groom::{
    Attach, BuiltinGroom, GroomSettings, GroomSource, GuideSettings, StylePreset, StyleSettings,
};
pub use keyframes::{Interpolation, Keyframe, Keyframes};
pub use material::{Material, MaterialPreset};
pub use model::{Model, ModelError};
pub use motion::{BuiltinMotion, Motion, MotionName, MotionPath};
pub use output::OutputSettings;
pub use scene::Scene;
pub use solver::SolverSettings;
pub use state::State;
pub use time::TimeRange;
pub use wind::{Wind, WindKind};
