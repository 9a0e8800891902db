use std::path::PathBuf;

use clap::Args;
use hairloom::groom::FARTHEST;
use hairloom_io::cache::{Cache, CacheFrame};
use hairloom_io::grooms::Said;
use hairloom_picture::{Animation, ContactSheet, HairColor, PictureError, Playback, View};

use crate::failure::Failure;
use crate::output::{make_parent, print};
use crate::progress::Progress;
use crate::settings::{factor, size};
use crate::stage::Look;

/// Draw a groom or a frame of a cache, a contact sheet of several frames, or an animation.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A cache or a groom: .usdc, .usda, .usdz, .abc, .hair, .tfx, .data, .ply or .obj.
    file: PathBuf,
    /// The picture to write.
    #[arg(long, short, value_name = "FILE.png")]
    out: PathBuf,
    /// The frame to draw, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    frame: usize,
    /// Draw N frames, evenly spaced from the first to the last, on one contact sheet.
    #[arg(long, value_name = "N", conflicts_with_all = ["frame", "animation"], value_parser = clap::value_parser!(u32).range(1..=400))]
    sheet: Option<u32>,
    /// Draw all frames as an animated PNG, which browsers play.
    #[arg(long, conflicts_with = "frame")]
    animation: bool,
    /// Size in pixels; with --sheet that of one frame.
    #[arg(long, value_name = "WxH", default_value = "960x960", value_parser = size)]
    size: (u32, u32),
    /// front, side, back, three-quarter, top, or pairs: "dir=1,0.2,1;zoom=1.5" or "eye=0,1.6,1;target=0,1.6,0;fov=30".
    #[arg(long, value_name = "VIEW", default_value = "three-quarter")]
    camera: View,
    /// black, dark-brown, brown, light-brown, auburn, red, blond, grey, white, or #rrggbb.
    #[arg(long, value_name = "NAME", default_value = "brown")]
    color: HairColor,
    /// Multiplies the diameters of the strands; chosen from their number when left out.
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true, value_parser = factor)]
    thickness: Option<f32>,
    /// Let USD files bring in layers from outside their own folders (absolute paths, `..`, links).
    #[arg(long)]
    allow_outside: bool,
}

const EXAMPLES: &str = "\
Examples:
  hairloom render out/demo/demo.usdc -o frame.png --frame 24 --color blond
  hairloom render walk.usdc -o sheet.png --sheet 12 --size 320x320 --camera side
  hairloom render walk.usdc -o walk.png --animation --size 480x480";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let said = Said { allow_outside: arguments.allow_outside, ..Said::default() };
    let cache = Cache::open_as(&arguments.file, &said).map_err(Failure::bad_input)?;
    let last = cache.frames() - 1;
    if arguments.frame > last {
        let file = arguments.file.display();
        let problem = format!("{file} has the frames 0 to {last}, and --frame asks for {}", arguments.frame);
        return Err(Failure::bad_input(problem));
    }
    make_parent(&arguments.out)?;
    let look = Look { size: arguments.size, color: arguments.color, thickness: arguments.thickness };
    match arguments.sheet {
        Some(count) => sheet(arguments, &cache, look, count)?,
        None if arguments.animation => animation(arguments, &cache, look)?,
        None => {
            let shot = read(arguments, &cache, arguments.frame)?;
            let image = look.draw(&shot, &look.camera(&arguments.camera, [&shot]))?;
            image.save_png(&arguments.out).map_err(failure)?;
        }
    }
    print(&format!("{}\n", arguments.out.display()))
}

/// Reads a frame and refuses what no simulation would take either: points that are nowhere.
fn read(arguments: &Arguments, cache: &Cache, frame: usize) -> Result<CacheFrame, Failure> {
    let shot = cache.frame(frame).map_err(Failure::bad_input)?;
    let wrong = |problem: String| {
        Failure::bad_input(format!("{}, frame {frame}: {problem}", arguments.file.display()))
    };
    shot.groom.check_shape().map_err(|error| wrong(error.to_string()))?;
    let curves = &shot.groom.curves;
    if shot.bodies.is_empty() && !(0..curves.strands()).any(|strand| curves.length(strand) > 0.0) {
        return Err(wrong(
            "there is nothing to draw: no strand has two distinct vertices, and no bodies".into(),
        ));
    }
    for body in &shot.bodies {
        let nowhere = |point: &glam::Vec3| !point.is_finite() || point.abs().max_element() > FARTHEST;
        if let Some(vertex) = body.mesh.points.iter().position(nowhere) {
            let position = body.mesh.points[vertex];
            return Err(wrong(format!(
                "body '{}', vertex {vertex}: the position {position} m is not finite or more than 1000 km from the \
                 origin; export the mesh again",
                body.name
            )));
        }
    }
    Ok(shot)
}

fn sheet(arguments: &Arguments, cache: &Cache, look: Look, count: u32) -> Result<(), Failure> {
    let frames = spread(cache.frames(), count);
    let shots = frames.iter().map(|&frame| read(arguments, cache, frame)).collect::<Result<Vec<_>, _>>()?;
    let camera = look.camera(&arguments.camera, &shots);
    let count = frames.len() as u32;
    let columns = f64::from(count).sqrt().ceil() as u32;
    let mut sheet = ContactSheet::new(count, columns, look.size).map_err(failure)?;
    let mut progress = Progress::new("picture");
    progress.begin(0, frames.len() as u64);
    for (index, (shot, frame)) in shots.iter().zip(&frames).enumerate() {
        sheet.add(&look.draw(shot, &camera)?, &format!("frame {frame}")).map_err(failure)?;
        progress.step(index as u64 + 1, frames.len() as u64, "");
    }
    sheet.finish().save_png(&arguments.out).map_err(failure)
}

fn animation(arguments: &Arguments, cache: &Cache, look: Look) -> Result<(), Failure> {
    // A few frames tell where the scene goes; reading all of them twice would take as long as drawing.
    let scouted = spread(cache.frames(), 8);
    let scouted =
        scouted.into_iter().map(|frame| read(arguments, cache, frame)).collect::<Result<Vec<_>, _>>()?;
    let camera = look.camera(&arguments.camera, &scouted);
    let total = cache.frames();
    let playback = Playback { fps: cache.fps(), plays: 0 };
    let mut animation =
        Animation::create(&arguments.out, look.size, total as u32, playback).map_err(failure)?;
    let mut progress = Progress::new("picture");
    progress.begin(0, total as u64);
    for frame in 0..total {
        animation.add(&look.draw(&read(arguments, cache, frame)?, &camera)?).map_err(failure)?;
        progress.step(frame as u64 + 1, total as u64, "");
    }
    animation.finish().map_err(failure)
}

/// At most `count` of `frames` frames, evenly spaced, with the first and the last.
pub(crate) fn spread(frames: usize, count: u32) -> Vec<usize> {
    let count = (count as usize).clamp(1, frames.max(1));
    (0..count).map(|index| index * (frames - 1) / (count - 1).max(1)).collect()
}

/// Only what cannot be written is no fault of the input.
pub(crate) fn failure(error: PictureError) -> Failure {
    match error {
        PictureError::File { .. } => Failure::run(error),
        other => Failure::bad_input(other),
    }
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn frames_are_spread_from_first_to_last() {
        assert_eq!(spread(61, 4), [0, 20, 40, 60]);
        assert_eq!(spread(3, 9), [0, 1, 2]);
        assert_eq!(spread(10, 1), [0]);
        assert_eq!(spread(1, 5), [0]);
    }
}
