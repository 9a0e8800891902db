use glam::Vec2;

use crate::canvas::{Anchor, Canvas};
use crate::font::text_width;
use crate::image::check_size;
use crate::{Image, PictureError};

/// Many frames on one picture, in a grid with small gaps, each with a label.
///
/// Frames are scaled down as they are added, so that a long run needs no more memory than the sheet.
#[derive(Debug, Clone)]
pub struct ContactSheet {
    sheet: Image,
    columns: u32,
    rows: u32,
    cell: (u32, u32),
    added: u32,
}

/// Space between frames and around the sheet [px].
const GAP: u32 = 6;
const PAPER: [u8; 3] = [24, 25, 28];

impl ContactSheet {
    /// An empty sheet for `frames` pictures, `columns` in a row, each shown `cell` = (width, height) large [px].
    pub fn new(frames: u32, columns: u32, cell: (u32, u32)) -> Result<Self, PictureError> {
        let columns = columns.clamp(1, frames.max(1));
        let rows = frames.max(1).div_ceil(columns);
        check_size(cell.0, cell.1)?;
        let side = |count: u32, size: u32| {
            count
                .checked_mul(size.saturating_add(GAP))
                .and_then(|sum| sum.checked_add(GAP))
                .unwrap_or(u32::MAX)
        };
        let sheet = Image::new(side(columns, cell.0), side(rows, cell.1), PAPER)?;
        Ok(Self { sheet, columns, rows, cell, added: 0 })
    }

    /// Adds the next frame with a label such as "frame 24"; frames beyond the last cell are an error.
    pub fn add(&mut self, frame: &Image, label: &str) -> Result<(), PictureError> {
        let count = check_size(frame.width, frame.height)?;
        let (width, height) = (frame.width, frame.height);
        if frame.pixels.len() != count {
            let (expected_width, expected_height) = self.cell;
            return Err(PictureError::FrameSize { expected_width, expected_height, width, height });
        }
        if self.added >= self.columns * self.rows {
            return Err(PictureError::Animation(format!(
                "the contact sheet is full with {} frames",
                self.added
            )));
        }
        let scale = (self.cell.0 as f32 / width as f32).min(self.cell.1 as f32 / height as f32);
        let small = resize(
            frame,
            ((width as f32 * scale).round() as u32).clamp(1, self.cell.0),
            ((height as f32 * scale).round() as u32).clamp(1, self.cell.1),
        );
        let (column, row) = (self.added % self.columns, self.added / self.columns);
        let left = GAP + column * (self.cell.0 + GAP) + (self.cell.0 - small.width) / 2;
        let top = GAP + row * (self.cell.1 + GAP) + (self.cell.1 - small.height) / 2;
        for (y, line) in small.pixels.chunks_exact(small.width as usize).enumerate() {
            let start = (top as usize + y) * self.sheet.width as usize + left as usize;
            self.sheet.pixels[start..start + line.len()].copy_from_slice(line);
        }
        self.draw_label(label, Vec2::new(left as f32, (top + small.height) as f32));
        self.added += 1;
        Ok(())
    }

    /// A dark tag in the lower left corner, readable on any picture.
    fn draw_label(&mut self, label: &str, corner: Vec2) {
        if label.is_empty() {
            return;
        }
        let size = (self.cell.1 as f32 * 0.034).clamp(7.0, 18.0);
        let (padding, width) = (size * 0.7, text_width(label, size));
        let mut canvas = Canvas::new(&mut self.sheet);
        let low = corner - Vec2::new(0.0, size + padding * 2.0);
        let mut ink = crate::canvas::Ink::from(PAPER);
        ink.opacity = 0.72;
        canvas.fill(low, Vec2::new(corner.x + width + padding * 2.0, corner.y), ink);
        canvas.text(label, corner + Vec2::new(padding, -padding), size, Anchor::Left, [240, 240, 240].into());
    }

    /// The sheet with all frames added so far.
    pub fn finish(self) -> Image {
        self.sheet
    }
}

/// A picture at another size; smaller ones average the area of each pixel.
fn resize(image: &Image, width: u32, height: u32) -> Image {
    if (width, height) == (image.width, image.height) {
        return image.clone();
    }
    let columns = overlaps(image.width, width);
    let rows = overlaps(image.height, height);
    let mut pixels = Vec::with_capacity(width as usize * height as usize);
    for row in &rows {
        for column in &columns {
            let mut sum = [0.0f32; 3];
            for &(y, down) in row {
                for &(x, across) in column {
                    for (sum, value) in sum.iter_mut().zip(image.pixel(x, y)) {
                        *sum += f32::from(value) * across * down;
                    }
                }
            }
            pixels.push(sum.map(|value| value.round().clamp(0.0, 255.0) as u8));
        }
    }
    Image { width, height, pixels }
}

/// For each of `to` cells, the cells out of `from` that it covers, with their shares.
fn overlaps(from: u32, to: u32) -> Vec<Vec<(u32, f32)>> {
    let scale = f64::from(from) / f64::from(to);
    (0..to)
        .map(|cell| {
            let (low, high) = (f64::from(cell) * scale, f64::from(cell + 1) * scale);
            (low as u32..(high.ceil() as u32).min(from))
                .map(|index| {
                    let share = high.min(f64::from(index) + 1.0) - low.max(f64::from(index));
                    (index, (share / scale) as f32)
                })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinking_keeps_the_mean() {
        let mut image = Image::new(97, 53, [0; 3]).unwrap();
        for (index, pixel) in image.pixels.iter_mut().enumerate() {
            *pixel = [(index * 7 % 256) as u8; 3];
        }
        let mean = |image: &Image| {
            image.pixels.iter().map(|pixel| f64::from(pixel[0])).sum::<f64>() / image.pixels.len() as f64
        };
        let small = resize(&image, 20, 11);
        assert!((mean(&small) - mean(&image)).abs() < 0.5);
    }

    #[test]
    fn sheet_has_gaps_cells_and_an_end() {
        let mut sheet = ContactSheet::new(3, 2, (50, 40)).unwrap();
        let frame = Image::new(100, 80, [200, 10, 10]).unwrap();
        for number in 0..3 {
            sheet.add(&frame, &format!("frame {number}")).unwrap();
        }
        sheet.add(&frame, "").unwrap();
        assert!(sheet.add(&frame, "").is_err());
        let image = sheet.finish();
        assert_eq!((image.width, image.height), (2 * 56 + 6, 2 * 46 + 6));
        assert_eq!(image.pixel(2, 2), PAPER);
        assert_eq!(image.pixel(20, 12), [200, 10, 10]);
    }

    #[test]
    fn gigantic_sheets_are_refused() {
        assert!(ContactSheet::new(u32::MAX, 1, (100, 100)).is_err());
        assert!(ContactSheet::new(4, 2, (0, 100)).is_err());
    }
}
