//! Grooms and caches in front of the camera.

use glam::Vec3;
use hairloom::groom::DEFAULT_WIDTH;
use hairloom_io::cache::{CacheBody, CacheFrame};
use hairloom_picture::{BodyLayer, Camera, HairColor, HairLayer, Image, Options, Scene, View, render};

use crate::failure::Failure;

/// A head has about this many hairs; sparser grooms are drawn with thicker strands that hide as much.
const FULL_HEAD: f32 = 100_000.0;
/// The usual mean diameter of a hair [m]; grooms with thicker strands need less help.
const USUAL_WIDTH: f32 = 6.5e-5;
/// Strands are never drawn thicker than this by themselves.
const THICKEST: f32 = 6.0;

/// How hair is drawn.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    /// Size of the picture [px].
    pub(crate) size: (u32, u32),
    /// Colour of the hair.
    pub(crate) color: HairColor,
    /// Multiplies the diameters; chosen from the number of strands when absent.
    pub(crate) thickness: Option<f32>,
}

impl Look {
    /// Draws a frame.
    pub(crate) fn draw(&self, shot: &CacheFrame, camera: &Camera) -> Result<Image, Failure> {
        let options = Options::new(self.size.0, self.size.1);
        render(&self.scene(shot), camera, &options).map_err(Failure::bad_input)
    }

    /// The camera that sees all of some frames from `view`.
    pub(crate) fn camera<'s>(&self, view: &View, shots: impl IntoIterator<Item = &'s CacheFrame>) -> Camera {
        let boxes = shots.into_iter().filter_map(|shot| self.scene(shot).subject());
        let all = boxes.reduce(|(low, high), (a, b)| (low.min(a), high.max(b))).unwrap_or_default();
        view.camera(all, self.size.0 as f32 / self.size.1 as f32)
    }

    fn scene<'s>(&self, shot: &'s CacheFrame) -> Scene<'s> {
        let widths = if shot.groom.widths.is_empty() { &[DEFAULT_WIDTH] } else { &shot.groom.widths[..] };
        let mut hair = HairLayer::new(&shot.groom.curves, widths, self.color);
        hair.width_scale = self.thickness.unwrap_or_else(|| thickness(shot.groom.strands(), widths));
        let body = |body: &'s CacheBody| BodyLayer {
            mesh: &body.mesh,
            color: body.color.map_or(BodyLayer::SKIN, Vec3::from_array),
            point_colors: &body.point_colors,
        };
        Scene { hair: vec![hair], bodies: shot.bodies.iter().map(body).collect(), ground: None }
    }
}

/// The factor for the diameters with which so many strands hide a head.
fn thickness(strands: usize, widths: &[f32]) -> f32 {
    let mean = widths.iter().sum::<f32>() / widths.len().max(1) as f32;
    let sparse = (FULL_HEAD / strands.max(1) as f32).sqrt();
    // `max` also takes the place of a mean that is no number.
    (sparse * USUAL_WIDTH / mean.max(1e-6)).clamp(1.0, THICKEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_and_thin_hair_is_drawn_thicker() {
        assert_eq!(thickness(100_000, &[USUAL_WIDTH]), 1.0);
        assert_eq!(thickness(25_000, &[USUAL_WIDTH]), 2.0);
        assert_eq!(thickness(10_000, &[1e-3, 1e-3]), 1.0);
        assert_eq!(thickness(1, &[0.0]), THICKEST);
        assert!((1.0..=THICKEST).contains(&thickness(0, &[f32::NAN])));
    }
}
