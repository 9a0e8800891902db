use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::PictureError;
use crate::error::{MAX_PIXELS, MAX_SIDE};

/// A finished picture: 8-bit sRGB, rows from the top, pixels from the left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Width [px].
    pub width: u32,
    /// Height [px].
    pub height: u32,
    /// Red, green and blue of each pixel; `width * height` entries.
    pub pixels: Vec<[u8; 3]>,
}

impl Image {
    /// A picture of one colour.
    pub fn new(width: u32, height: u32, color: [u8; 3]) -> Result<Self, PictureError> {
        let count = check_size(width, height)?;
        Ok(Self { width, height, pixels: vec![color; count] })
    }

    /// The pixel at column `x` and row `y`; black outside.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        if x >= self.width {
            return [0; 3];
        }
        self.pixels.get(y as usize * self.width as usize + x as usize).copied().unwrap_or([0; 3])
    }

    /// Writes the picture as a PNG.
    pub fn write_png(&self, to: impl Write) -> Result<(), PictureError> {
        check_size(self.width, self.height)?;
        let mut encoder = png::Encoder::new(to, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        Ok(writer.finish()?)
    }

    /// Writes the picture as a PNG file.
    pub fn save_png(&self, path: impl AsRef<Path>) -> Result<(), PictureError> {
        let path = path.as_ref();
        let file = File::create(path)
            .map_err(|source| PictureError::File { path: path.display().to_string(), source })?;
        let mut file = BufWriter::new(file);
        self.write_png(&mut file)?;
        file.flush().map_err(|source| PictureError::File { path: path.display().to_string(), source })
    }
}

/// The number of pixels, if a picture of this size may be made.
pub(crate) fn check_size(width: u32, height: u32) -> Result<usize, PictureError> {
    let count = u64::from(width) * u64::from(height);
    if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE || count > MAX_PIXELS {
        return Err(PictureError::Size { width, height });
    }
    Ok(count as usize)
}
