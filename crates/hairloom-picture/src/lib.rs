//! Pictures of hair on the CPU: shaded frames, contact sheets, animated previews and plots.
//!
//! ```
//! use glam::Vec3;
//! use hairloom::groom::Curves;
//! use hairloom_picture::{HairColor, HairLayer, Options, Scene, View, render};
//!
//! let mut curves = Curves::default();
//! curves.push((0..20).map(|i| Vec3::new(0.0, -0.01 * i as f32, 0.0)));
//! let hair = HairLayer::new(&curves, &[0.001], HairColor::named("auburn").unwrap_or_default());
//! let scene = Scene { hair: vec![hair], ..Scene::default() };
//! let view: View = "three-quarter".parse()?;
//! let camera = view.camera(scene.bounds().unwrap_or_default(), 1.0);
//! let image = render(&scene, &camera, &Options::new(64, 64))?;
//! assert_eq!(image.pixels.len(), 64 * 64);
//! # Ok::<(), hairloom_picture::PictureError>(())
//! ```

mod animation;
mod camera;
mod canvas;
mod color;
mod error;
mod font;
mod image;
pub mod plot;
mod render;
mod scene;
mod sheet;

pub use animation::{Animation, Playback};
pub use camera::{Camera, View};
pub use color::HairColor;
pub use error::PictureError;
pub use image::Image;
pub use render::{Light, Options, render};
pub use scene::{BodyLayer, Ground, HairLayer, Scene};
pub use sheet::ContactSheet;
