//! What is simulated: the scene as written by the user, the model that stays constant, the state that moves,
//! and the drive that the world exerts during one step.

mod attachment;
mod bangs;
mod body;
mod builtin_motion;
mod description;
mod document;
mod drive;
mod edit;
mod error;
mod gravity;
mod groom;
mod keyframes;
mod material;
mod model;
mod motion;
mod noise;
mod output;
mod parameters;
mod parse;
mod reader;
mod solver;
mod state;
mod strands;
mod time;
mod wind;

#[cfg(test)]
mod tests;

pub use attachment::{Attachment, Attachments, Seat, held_vertices};
pub use bangs::{BangsPlace, BangsSettings};
pub use body::{Animation, BodySettings, BodyShape, DistanceMode, DistanceSettings, Figure, Primitive};
pub use builtin_motion::{BuiltinMotion, MotionName};
pub use description::Scene;
pub use drive::{Drive, Handle};
pub use edit::{KEYS_OF_EDITS, edit_from_table};
pub use error::{Place, Problem, SceneError};
pub use gravity::{Gravity, GravityKey};
pub use groom::{
    Attach, BuiltinGroom, BuiltinSettings, GroomFileSettings, GroomSettings, GroomSource, GuideBlend,
    GuidePick, GuideSettings, StyleSettings, UpAxis,
};
pub use keyframes::{Interpolation, Keyframe, Keyframes};
pub use material::{Material, MaterialPreset};
pub use model::{Frictions, Model, ModelError};
pub use motion::{Motion, MotionPart, MotionPath};
pub use output::OutputSettings;
pub use parameters::Parameters;
pub use solver::{RestEngine, RestKind, SolverSettings};
pub use state::State;
pub(crate) use state::StrandState;
pub use strands::{ALL_OTHERS, PairFriction, StrandSettings, Which};
pub use time::{Steps, TimeRange};
pub use wind::{Wind, WindKind};
