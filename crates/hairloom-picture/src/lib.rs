//! Pictures of hair on the CPU: shaded frames, contact sheets, animated previews and plots.

mod camera;
mod color;
mod error;
mod image;
mod render;
mod scene;

pub use camera::{Camera, View};
pub use color::HairColor;
pub use error::PictureError;
pub use image::Image;
pub use render::{Light, Options, render};
pub use scene::{BodyLayer, Ground, HairLayer, Scene};
