use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::image::check_size;
use crate::{Image, PictureError};

/// Writes an animated PNG, frame by frame: only the last frame is held in memory.
///
/// Of each frame only the rectangle that changed is stored.
pub struct Animation<W: Write> {
    writer: png::Writer<W>,
    frames: u32,
    written: u32,
    previous: Image,
}

/// How an animation plays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Playback {
    /// Frames each second.
    pub fps: f64,
    /// How often it plays; 0 for ever.
    pub plays: u32,
}

impl Animation<BufWriter<File>> {
    /// Begins an animated PNG file of `frames` pictures of one size [px].
    pub fn create(
        path: impl AsRef<Path>,
        size: (u32, u32),
        frames: u32,
        playback: Playback,
    ) -> Result<Self, PictureError> {
        let path = path.as_ref();
        let file = File::create(path)
            .map_err(|source| PictureError::File { path: path.display().to_string(), source })?;
        Self::new(BufWriter::new(file), size, frames, playback)
    }
}

impl<W: Write> Animation<W> {
    /// Begins an animated PNG of `frames` pictures of one size [px].
    pub fn new(to: W, size: (u32, u32), frames: u32, playback: Playback) -> Result<Self, PictureError> {
        let (width, height) = size;
        check_size(width, height)?;
        if frames == 0 {
            return Err(PictureError::Animation("it needs at least one frame".to_string()));
        }
        let (numerator, denominator) = delay(playback.fps)?;
        let mut encoder = png::Encoder::new(to, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_animated(frames, playback.plays)?;
        encoder.set_frame_delay(numerator, denominator)?;
        let writer = encoder.write_header()?;
        Ok(Self { writer, frames, written: 0, previous: Image { width, height, pixels: Vec::new() } })
    }

    /// Adds the next frame.
    pub fn add(&mut self, frame: &Image) -> Result<(), PictureError> {
        let (expected_width, expected_height) = (self.previous.width, self.previous.height);
        if (frame.width, frame.height) != (expected_width, expected_height)
            || frame.pixels.len() != frame.width as usize * frame.height as usize
        {
            let (width, height) = (frame.width, frame.height);
            return Err(PictureError::FrameSize { expected_width, expected_height, width, height });
        }
        if self.written == self.frames {
            return Err(PictureError::Animation(format!(
                "it was begun for {} frames, this is one more",
                self.frames
            )));
        }
        if self.written == 0 {
            self.writer.write_image_data(frame.pixels.as_flattened())?;
        } else {
            self.write_change(frame, change(&self.previous, frame))?;
        }
        self.previous.pixels.clone_from(&frame.pixels);
        self.written += 1;
        Ok(())
    }

    /// Completes the file. If frames are missing, the last one stands for them, so that what was written can be seen.
    pub fn finish(mut self) -> Result<(), PictureError> {
        if self.written == 0 {
            return Err(PictureError::Animation("no frame was added".to_string()));
        }
        while self.written < self.frames {
            let last = std::mem::take(&mut self.previous.pixels);
            let frame = Image { pixels: last, ..self.previous };
            self.write_change(&frame, (0, 0, 1, 1))?;
            self.previous = frame;
            self.written += 1;
        }
        Ok(self.writer.finish()?)
    }

    fn write_change(
        &mut self,
        frame: &Image,
        (x, y, width, height): (u32, u32, u32, u32),
    ) -> Result<(), PictureError> {
        // Back to the corner first: position and size are checked against each other.
        self.writer.reset_frame_position()?;
        self.writer.set_frame_dimension(width, height)?;
        self.writer.set_frame_position(x, y)?;
        let mut bytes = Vec::with_capacity(width as usize * height as usize * 3);
        for row in y..y + height {
            let start = row as usize * frame.width as usize + x as usize;
            bytes.extend_from_slice(frame.pixels[start..start + width as usize].as_flattened());
        }
        Ok(self.writer.write_image_data(&bytes)?)
    }
}

/// Seconds for a frame as a fraction of two small whole numbers.
fn delay(fps: f64) -> Result<(u16, u16), PictureError> {
    if !(fps > 0.02 && fps <= 1000.0) {
        return Err(PictureError::Animation(format!(
            "{fps} frames each second are not possible, use 0.02 to 1000"
        )));
    }
    if fps.fract() == 0.0 {
        Ok((1, fps as u16))
    } else if fps < 65.0 {
        Ok((1000, (fps * 1000.0).round() as u16))
    } else {
        Ok((50, (fps * 50.0).round() as u16))
    }
}

/// The rectangle (x, y, width, height) outside which two pictures of one size are equal; at least one pixel.
fn change(before: &Image, after: &Image) -> (u32, u32, u32, u32) {
    let width = after.width as usize;
    let (mut left, mut right, mut top, mut bottom) = (width, 0, usize::MAX, 0);
    let rows = before.pixels.chunks_exact(width).zip(after.pixels.chunks_exact(width));
    for (y, (old, new)) in rows.enumerate() {
        let Some(first) = (0..width).find(|&x| old[x] != new[x]) else { continue };
        let last = (first..width).rfind(|&x| old[x] != new[x]).unwrap_or(first);
        (left, right) = (left.min(first), right.max(last));
        (top, bottom) = (top.min(y), y);
    }
    if top == usize::MAX {
        return (0, 0, 1, 1);
    }
    (left as u32, top as u32, (right - left + 1) as u32, (bottom - top + 1) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(step: u32) -> Image {
        let mut image = Image::new(40, 30, [200, 210, 220]).unwrap();
        for offset in 0..5 {
            image.pixels[((step + offset) * 40 + 3 + step) as usize] = [step as u8, 7, 9];
        }
        image
    }

    /// Plays a file back: every frame as a full picture.
    fn play(bytes: &[u8]) -> Vec<Image> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let frames = reader.info().animation_control.unwrap().num_frames;
        let mut screen = Image::new(40, 30, [0; 3]).unwrap();
        (0..frames)
            .map(|_| {
                let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
                reader.next_frame(&mut buffer).unwrap();
                let control = *reader.info().frame_control().unwrap();
                for y in 0..control.height {
                    for x in 0..control.width {
                        let from = ((y * control.width + x) * 3) as usize;
                        let to = (y + control.y_offset) * 40 + x + control.x_offset;
                        screen.pixels[to as usize].copy_from_slice(&buffer[from..from + 3]);
                    }
                }
                screen.clone()
            })
            .collect()
    }

    #[test]
    fn frames_come_back_as_they_went_in() {
        let mut bytes = Vec::new();
        let mut animation =
            Animation::new(&mut bytes, (40, 30), 6, Playback { fps: 24.0, plays: 0 }).unwrap();
        let frames: Vec<Image> = [0, 1, 1, 2, 20, 3].map(frame).into();
        frames.iter().for_each(|frame| animation.add(frame).unwrap());
        assert!(animation.add(&frames[0]).is_err());
        animation.finish().unwrap();
        assert_eq!(play(&bytes), frames);
    }

    #[test]
    fn a_run_that_stops_early_leaves_a_file_that_plays() {
        let mut bytes = Vec::new();
        let mut animation =
            Animation::new(&mut bytes, (40, 30), 5, Playback { fps: 29.97, plays: 1 }).unwrap();
        animation.add(&frame(1)).unwrap();
        animation.add(&frame(2)).unwrap();
        animation.finish().unwrap();
        let frames = play(&bytes);
        assert_eq!(frames.len(), 5);
        assert_eq!(frames[4], frame(2));
    }

    #[test]
    fn bad_requests_are_errors() {
        let begin = |size, frames, fps| Animation::new(Vec::new(), size, frames, Playback { fps, plays: 0 });
        assert!(begin((0, 10), 3, 24.0).is_err());
        assert!(begin((10, 10), 0, 24.0).is_err());
        assert!(begin((10, 10), 3, f64::NAN).is_err());
        let mut animation = begin((10, 10), 3, 24.0).unwrap();
        assert!(animation.add(&frame(0)).unwrap_err().to_string().contains("10x10"));
        assert!(animation.finish().is_err());
    }
}
