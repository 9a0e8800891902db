//! Smooth lines, discs and letters on a picture.

use glam::Vec2;

use crate::Image;
use crate::font::{text_strokes, text_width};

/// A pen for an [`Image`].
pub(crate) struct Canvas<'a> {
    image: &'a mut Image,
    /// Nothing is drawn outside these columns and rows: low and high corner [px].
    clip: (Vec2, Vec2),
    mask: Vec<f32>,
}

/// A colour and how much of it is laid on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ink {
    pub(crate) color: [u8; 3],
    pub(crate) opacity: f32,
}

impl From<[u8; 3]> for Ink {
    fn from(color: [u8; 3]) -> Self {
        Self { color, opacity: 1.0 }
    }
}

/// Which point of a text is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Left,
    Middle,
    Right,
}

/// The part of the picture that a drawing touches.
#[derive(Clone, Copy)]
struct Window {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

impl<'a> Canvas<'a> {
    pub(crate) fn new(image: &'a mut Image) -> Self {
        let clip = (Vec2::ZERO, Vec2::new(image.width as f32, image.height as f32));
        Self { image, clip, mask: Vec::new() }
    }

    /// Draws only inside this box [px] from now on.
    pub(crate) fn clip(&mut self, low: Vec2, high: Vec2) {
        let size = Vec2::new(self.image.width as f32, self.image.height as f32);
        self.clip = (low.clamp(Vec2::ZERO, size), high.clamp(Vec2::ZERO, size));
    }

    /// Draws everywhere again.
    pub(crate) fn unclip(&mut self) {
        self.clip(Vec2::ZERO, Vec2::INFINITY);
    }

    /// Chains of straight lines with round ends, `width` wide [px]. Where they cross, ink is laid on once.
    pub(crate) fn stroke(&mut self, chains: &[Vec<Vec2>], width: f32, ink: Ink) {
        let radius = width * 0.5;
        let points = chains.iter().flatten().filter(|point| point.is_finite());
        let Some(window) = self.window(points, radius + 1.0) else { return };
        self.mask.clear();
        self.mask.resize(window.width * window.height, 0.0);
        for chain in chains {
            match chain[..] {
                [single] => self.cover_segment(window, single, single, radius),
                _ => chain.windows(2).for_each(|pair| self.cover_segment(window, pair[0], pair[1], radius)),
            }
        }
        self.blend_mask(window, ink);
    }

    /// A disc [px].
    pub(crate) fn disc(&mut self, center: Vec2, radius: f32, ink: Ink) {
        self.stroke(&[vec![center]], radius * 2.0, ink);
    }

    /// A box [px] with sharp edges.
    pub(crate) fn fill(&mut self, low: Vec2, high: Vec2, ink: Ink) {
        let corners = [low, high];
        let Some(window) = self.window(corners.iter(), 0.0) else { return };
        self.mask.clear();
        self.mask.resize(window.width * window.height, 1.0);
        self.blend_mask(window, ink);
    }

    /// A line of text whose capitals are `size` high [px]; `at` lies on the base line.
    pub(crate) fn text(&mut self, text: &str, at: Vec2, size: f32, anchor: Anchor, ink: Ink) {
        self.turned_text(text, at, size, anchor, ink, Vec2::X);
    }

    /// A line of text that runs along `direction`, of unit length.
    pub(crate) fn turned_text(
        &mut self,
        text: &str,
        at: Vec2,
        size: f32,
        anchor: Anchor,
        ink: Ink,
        direction: Vec2,
    ) {
        let back = match anchor {
            Anchor::Left => 0.0,
            Anchor::Middle => text_width(text, size) * 0.5,
            Anchor::Right => text_width(text, size),
        };
        let mut strokes = text_strokes(text, size);
        for point in strokes.iter_mut().flatten() {
            *point = at + direction.rotate(*point - Vec2::new(back, 0.0));
        }
        self.stroke(&strokes, pen_width(size), ink);
    }

    fn window<'p>(&self, points: impl Iterator<Item = &'p Vec2>, margin: f32) -> Option<Window> {
        let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
        for &point in points {
            (low, high) = (low.min(point), high.max(point));
        }
        let low = (low - margin).max(self.clip.0);
        let high = (high + margin).min(self.clip.1);
        if !(low.x < high.x && low.y < high.y) {
            return None;
        }
        let (x, y) = (low.x.floor() as usize, low.y.floor() as usize);
        let (right, bottom) = (high.x.ceil() as usize, high.y.ceil() as usize);
        Some(Window { x, y, width: right - x, height: bottom - y })
    }

    fn cover_segment(&mut self, window: Window, from: Vec2, to: Vec2, radius: f32) {
        if !(from.is_finite() && to.is_finite()) {
            return;
        }
        let origin = Vec2::new(window.x as f32, window.y as f32);
        let (from, to) = (from - origin, to - origin);
        let (low, high) = (from.min(to) - radius - 1.0, from.max(to) + radius + 1.0);
        let columns = low.x.max(0.0) as usize..(high.x.max(0.0) as usize + 1).min(window.width);
        let along = to - from;
        let square = along.length_squared();
        for y in low.y.max(0.0) as usize..(high.y.max(0.0) as usize + 1).min(window.height) {
            for x in columns.clone() {
                let offset = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - from;
                let t = if square > 0.0 { (offset.dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
                let distance = (offset - along * t).length();
                // Lines thinner than a pixel keep their place and lose strength.
                let cover = (radius + 0.5 - distance).clamp(0.0, (radius * 2.0).min(1.0));
                let value = &mut self.mask[y * window.width + x];
                *value = value.max(cover);
            }
        }
    }

    fn blend_mask(&mut self, window: Window, ink: Ink) {
        for y in 0..window.height {
            let start = (window.y + y) * self.image.width as usize + window.x;
            let row = &mut self.image.pixels[start..start + window.width];
            for (pixel, cover) in row.iter_mut().zip(&self.mask[y * window.width..]) {
                let amount = cover * ink.opacity;
                for (value, target) in pixel.iter_mut().zip(ink.color) {
                    let mixed = f32::from(*value) + (f32::from(target) - f32::from(*value)) * amount;
                    *value = mixed.round().clamp(0.0, 255.0) as u8;
                }
            }
        }
    }
}

/// Width of the pen for letters of this size [px].
pub(crate) fn pen_width(size: f32) -> f32 {
    (size * 0.125).max(1.15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn darkness(draw: impl Fn(&mut Canvas)) -> f32 {
        let mut image = Image::new(64, 64, [255; 3]).unwrap();
        draw(&mut Canvas::new(&mut image));
        image.pixels.iter().map(|pixel| (255.0 - f32::from(pixel[0])) / 255.0).sum()
    }

    #[test]
    fn a_line_covers_its_area() {
        let chain = vec![vec![Vec2::new(10.3, 12.1), Vec2::new(50.2, 40.7)]];
        let length = (chain[0][1] - chain[0][0]).length();
        for width in [0.5f32, 2.0, 5.0] {
            let round_ends = std::f32::consts::PI * width * width / 4.0;
            let covered = darkness(|canvas| canvas.stroke(&chain, width, [0; 3].into()));
            let expected = length * width + round_ends;
            assert!((covered - expected).abs() / expected < 0.08, "{width}: {covered} {expected}");
        }
    }

    #[test]
    fn drawing_outside_or_without_place_is_harmless() {
        let far = vec![vec![Vec2::splat(-1e30), Vec2::new(f32::NAN, 3.0), Vec2::splat(1e30)]];
        darkness(|canvas| canvas.stroke(&far, 2.0, [0; 3].into()));
        darkness(|canvas| {
            canvas.text("far away", Vec2::new(500.0, -20.0), 12.0, Anchor::Left, [0; 3].into())
        });
        assert_eq!(darkness(|canvas| canvas.fill(Vec2::splat(70.0), Vec2::splat(90.0), [0; 3].into())), 0.0);
    }
}
