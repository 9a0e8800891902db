//! From a scene to a picture.
//!
//! Strands become short shaded segments on the screen ([`strands`]), bodies become triangles ([`body`]). The
//! picture is cut into tiles ([`tile`]); in each tile the strands leave fragments ([`fragment`]) with their exact
//! coverage, the bodies depth samples, and both are blended in the order of their depth. What light reaches a
//! point comes from volumes and shadow maps that are built first ([`volume`], [`shadow_map`]).

mod body;
mod fragment;
mod light;
mod shade;
mod shadow_map;
mod strands;
#[cfg(test)]
mod tests;
mod tile;
mod volume;

use glam::{Vec2, Vec3};
use rayon::prelude::*;

pub use light::Light;

use crate::camera::Projection;
use crate::color::{linear_from_srgb, srgb_from_linear, tone_map};
use crate::image::check_size;
use crate::{Camera, Image, PictureError, Scene};
use body::{BodySamples, ScreenBodies, Surface};
use fragment::Fragments;
use light::Lighting;
use strands::{StrandBatch, project_strands};
use tile::{Rect, TileGrid};

/// More fragments than this in a tile, and it is drawn in quarters: memory stays bounded.
const MOST_FRAGMENTS: usize = 2 << 20;
/// Rectangles of this side are never cut further [px].
const SMALLEST: u32 = 4;

/// How a scene is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Width of the picture [px].
    pub width: u32,
    /// Height of the picture [px].
    pub height: u32,
    /// The background behind the middle of the picture and toward its corners, 8-bit sRGB.
    pub background: ([u8; 3], [u8; 3]),
    /// Multiplies all light.
    pub exposure: f32,
    /// The lights; without any, [`Light::studio`] places three around the camera.
    pub lights: Vec<Light>,
}

impl Options {
    /// A picture of this size [px] in a soft grey studio.
    pub fn new(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            background: ([214, 216, 219], [139, 143, 150]),
            exposure: 1.0,
            lights: Vec::new(),
        }
    }
}

/// Draws a scene.
///
/// The same scene gives the same bytes for any number of threads. Points that are not finite, strands behind the
/// camera and triangles without area are left out.
pub fn render(scene: &Scene, camera: &Camera, options: &Options) -> Result<Image, PictureError> {
    let (width, height) = (options.width, options.height);
    let light = draw_light(scene, camera, options)?;
    let exposure = if options.exposure.is_finite() { options.exposure.max(0.0) } else { 1.0 };
    let pixels = light
        .into_par_iter()
        .enumerate()
        .map(|(index, light)| develop(light * exposure, index % width as usize, index / width as usize))
        .collect();
    Ok(Image { width, height, pixels })
}

/// The linear light of every pixel.
fn draw_light(scene: &Scene, camera: &Camera, options: &Options) -> Result<Vec<Vec3>, PictureError> {
    let count = check_size(options.width, options.height)?;
    camera.check()?;
    scene.check()?;
    let studio = Light::studio(camera);
    let lights = if options.lights.is_empty() { &studio } else { &options.lights };
    let lighting = &Lighting::new(scene, lights);
    let projection = camera.projection(options.width, options.height);
    let tiles = TileGrid::new(options.width, options.height);
    let (strands, bodies) = rayon::join(
        || project_strands(scene, &projection, lighting, &tiles),
        || ScreenBodies::new(scene, projection, &tiles),
    );
    let backdrop = &Backdrop::new(scene, options, projection);
    let (strands, bodies, most_fragments) = (&strands[..], &bodies, MOST_FRAGMENTS);
    let frame = FrameParts { strands, bodies, lighting, backdrop, most_fragments };
    let parts: Vec<Vec<Vec3>> = (0..tiles.count())
        .into_par_iter()
        .map_init(Workspace::default, |workspace, tile| {
            let rect = tiles.rect(tile);
            let mut light = vec![Vec3::ZERO; rect.pixels()];
            frame.draw(tile, rect, rect, workspace, &mut light);
            light
        })
        .collect();
    let mut light = vec![Vec3::ZERO; count];
    for (tile, part) in parts.iter().enumerate() {
        let rect = tiles.rect(tile);
        for (y, row) in (rect.y as usize..).zip(part.chunks_exact(rect.width as usize)) {
            let start = y * options.width as usize + rect.x as usize;
            light[start..start + row.len()].copy_from_slice(row);
        }
    }
    Ok(light)
}

/// Display bytes of linear light. A fixed pattern below one step keeps soft gradients free of bands.
fn develop(light: Vec3, x: usize, y: usize) -> [u8; 3] {
    let pattern = (x as f32 * 0.754_877_7 + y as f32 * 0.569_840_3).fract() - 0.5;
    tone_map(light)
        .to_array()
        .map(|value| (srgb_from_linear(value) * 255.0 + pattern * 0.8).round().clamp(0.0, 255.0) as u8)
}

/// Buffers of one thread.
#[derive(Default)]
struct Workspace {
    fragments: Fragments,
    samples: BodySamples,
    surfaces: Vec<Surface>,
    /// Where each pixel's fragments begin in `order`.
    starts: Vec<u32>,
    /// Depth and number of each fragment, pixel by pixel.
    order: Vec<u64>,
}

/// Everything that is ready to be drawn.
#[derive(Clone, Copy)]
struct FrameParts<'a> {
    strands: &'a [StrandBatch],
    bodies: &'a ScreenBodies<'a>,
    lighting: &'a Lighting,
    backdrop: &'a Backdrop,
    most_fragments: usize,
}

impl FrameParts<'_> {
    /// Draws `rect`, a part of `whole`, the rectangle of `tile` that `light` covers.
    fn draw(&self, tile: usize, whole: Rect, rect: Rect, workspace: &mut Workspace, light: &mut [Vec3]) {
        if rect.pixels() == 0 {
            return;
        }
        workspace.fragments.start(rect);
        for (number, batch) in self.strands.iter().enumerate() {
            for &segment in &batch.tiles[tile] {
                workspace.fragments.add(number as u32, &batch.points, segment);
            }
            if workspace.fragments.list.len() > self.most_fragments && rect.width.max(rect.height) > SMALLEST
            {
                for quarter in rect.quarters() {
                    self.draw(tile, whole, quarter, workspace, light);
                }
                return;
            }
        }
        workspace.sort(rect);
        self.bodies.draw(tile, rect, &mut workspace.samples);
        for index in 0..rect.pixels() {
            let (x, y) = (rect.x + index as u32 % rect.width, rect.y + index as u32 / rect.width);
            let corner = Vec2::new(x as f32, y as f32);
            let surfaces = &mut workspace.surfaces;
            self.bodies.surfaces(&workspace.samples, index, corner, self.lighting, surfaces);
            let open = 1.0 - surfaces.iter().map(|surface| surface.share).sum::<f32>();
            if open > 1e-4 {
                surfaces.push(self.backdrop.surface(corner + 0.5, open, self.lighting));
                surfaces.sort_by(|a, b| a.depth.total_cmp(&b.depth));
            }
            let place = (y - whole.y) * whole.width + (x - whole.x);
            light[place as usize] = workspace.blend(index);
        }
    }
}

impl Workspace {
    /// Orders the fragments by pixel and depth.
    fn sort(&mut self, rect: Rect) {
        let list = &self.fragments.list;
        self.starts.clear();
        self.starts.resize(rect.pixels() + 1, 0);
        for fragment in list {
            self.starts[fragment.pixel as usize + 1] += 1;
        }
        for pixel in 0..rect.pixels() {
            self.starts[pixel + 1] += self.starts[pixel];
        }
        self.order.clear();
        self.order.resize(list.len(), 0);
        let mut next = self.starts.clone();
        for (number, fragment) in list.iter().enumerate() {
            let place = &mut next[fragment.pixel as usize];
            // The bits of positive numbers are ordered like the numbers.
            self.order[*place as usize] = u64::from(fragment.depth.to_bits()) << 32 | number as u64;
            *place += 1;
        }
        for pixel in 0..rect.pixels() {
            self.order[self.starts[pixel] as usize..self.starts[pixel + 1] as usize].sort_unstable();
        }
    }

    /// Hair and surfaces of one pixel, front to back.
    ///
    /// Hairs cover each part of the pixel alike; a surface ends its own share of the pixel.
    fn blend(&self, pixel: usize) -> Vec3 {
        let range = self.starts[pixel] as usize..self.starts[pixel + 1] as usize;
        let (mut light, mut pass, mut open) = (Vec3::ZERO, 1.0, 1.0);
        let mut surfaces = self.surfaces.iter().peekable();
        for &key in &self.order[range] {
            let fragment = &self.fragments.list[(key & 0xFFFF_FFFF) as usize];
            while let Some(surface) = surfaces.next_if(|surface| surface.depth < fragment.depth) {
                light += surface.light * (surface.share * pass);
                open -= surface.share;
            }
            if open < 1e-4 || pass < 1e-4 {
                return light;
            }
            light += fragment.light * (fragment.cover * pass * open);
            pass *= 1.0 - fragment.cover;
        }
        surfaces.fold(light, |light, surface| light + surface.light * (surface.share * pass))
    }
}

/// What lies behind everything.
struct Backdrop {
    projection: Projection,
    middle: Vec3,
    corner: Vec3,
    ground: Option<crate::Ground>,
    /// Where the ground begins to fade, and the middle of the scene [m].
    reach: f32,
    center: Vec3,
}

impl Backdrop {
    fn new(scene: &Scene, options: &Options, projection: Projection) -> Self {
        let (low, high) = scene.bounds().unwrap_or((Vec3::ZERO, Vec3::ONE));
        let exposure = if options.exposure.is_finite() { options.exposure.max(1e-6) } else { 1.0 };
        let light = |color: [u8; 3]| {
            Vec3::from_array(color.map(|value| light_for(linear_from_srgb(f32::from(value) / 255.0))))
                / exposure
        };
        Self {
            projection,
            middle: light(options.background.0),
            corner: light(options.background.1),
            ground: scene.ground,
            reach: (high - low).length(),
            center: (low + high) * 0.5,
        }
    }

    /// The part of a pixel that no body covers.
    fn surface(&self, pixel: Vec2, share: f32, lighting: &Lighting) -> Surface {
        let offset = (pixel - self.projection.center) / self.projection.center.length();
        let distance = (offset + Vec2::new(0.0, 0.12)).length() / 0.95;
        let fade = (distance * distance * (3.0 - 2.0 * distance.min(1.0))).clamp(0.0, 1.0);
        let light = self.middle.lerp(self.corner, fade);
        let plain = Surface { depth: f32::INFINITY, share, light };
        let Some(ground) = self.ground else { return plain };
        let ray = self.projection.ray(pixel);
        let depth = (ground.height - self.projection.eye.y) / ray.y;
        if !(depth > self.projection.near && depth.is_finite()) {
            return plain;
        }
        let point = self.projection.eye + ray * depth;
        let away = (point - self.center).with_y(0.0).length() / self.reach.max(1e-6);
        let near = 1.0 - ((away - 0.6) / 1.6).clamp(0.0, 1.0);
        let near = near * near * (3.0 - 2.0 * near);
        if near <= 0.0 {
            return plain;
        }
        let ratio = shade::shade_ground(&ground, point, lighting);
        Surface { depth, share, light: light * Vec3::ONE.lerp(ratio, near) }
    }
}

/// The light that the tone curve maps to this display value, by bisection.
fn light_for(display: f32) -> f32 {
    let (mut low, mut high) = (0.0, 16.0);
    for _ in 0..40 {
        let middle = (low + high) * 0.5;
        if tone_map(Vec3::splat(middle)).x < display { low = middle } else { high = middle }
    }
    (low + high) * 0.5
}
