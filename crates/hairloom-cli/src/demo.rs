use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use hairloom_io::cache::Cache;
use hairloom_io::run::{RunOptions, Status};
use hairloom_picture::{Animation, ContactSheet, HairColor, Playback, View};
use toml::Value;

use crate::failure::Failure;
use crate::output::{make_folder, print};
use crate::progress::Progress;
use crate::render::{failure, spread};
use crate::settings::size;
use crate::sim::simulate;
use crate::stage::Look;

/// Grow hair on a head, simulate it and draw it, with no input at all.
///
/// Writes an animated cache (demo.usdc), a contact sheet (contact-sheet.png), an animated picture (preview.apng, which
/// browsers play) and the scene itself (demo.toml), to start your own from.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder to write to.
    #[arg(long, short, value_name = "DIR", default_value = "out/demo")]
    out: PathBuf,
    /// Frames to simulate.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    frames: Option<u32>,
    /// Size of the animated picture in pixels.
    #[arg(long, value_name = "WxH", default_value = "400x400", value_parser = size)]
    size: (u32, u32),
    /// Strands to grow.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=2_000_000))]
    strands: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  hairloom demo
  hairloom demo --strands 60000 --size 1080x1080 --out out/large";

const SCENE: &str = include_str!("../../../scenes/demo.toml");
const CAMERA: &str = "eye=1.05,1.62,1.5;target=0,1.495,-0.01;fov=17.5";
const COLOR: &str = "auburn";
/// Frames on the contact sheet.
const SHEET: u32 = 12;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    make_folder(&arguments.out)?;
    let scene = arguments.out.join("demo.toml");
    fs::write(&scene, SCENE).map_err(|error| Failure::bad_input(format!("{}: {error}", scene.display())))?;
    let cache = arguments.out.join("demo.usdc");
    let set = |key: &str, value: u32| (key.to_owned(), Value::Integer(i64::from(value)));
    let frames = arguments.frames.map(|frames| set("time.frames", frames));
    let strands = arguments.strands.map(|strands| set("groom.style.strands", strands));
    let options = RunOptions {
        scene,
        overrides: frames.into_iter().chain(strands).collect(),
        out: Some(cache.clone()),
        ..RunOptions::default()
    };
    let summary = simulate(&options)?;
    if summary.status == Status::Interrupted {
        return Err(Failure::run(format!("stopped after frame {}, before the pictures", summary.last_frame)));
    }
    draw(arguments, &cache)?;
    let out = &arguments.out;
    print(&format!(
        "Open {} or {} (in a browser) to see the hair move.\n\
         Open {} in Blender, Houdini or Unreal; change {} and run `hairloom sim` on it for your own.\n",
        out.join("contact-sheet.png").display(),
        out.join("preview.apng").display(),
        cache.display(),
        options.scene.display(),
    ))
}

/// Draws the contact sheet and the animation in one pass over the cache.
fn draw(arguments: &Arguments, cache: &Path) -> Result<(), Failure> {
    let cache = Cache::open(cache).map_err(Failure::run)?;
    let view: View = CAMERA.parse().map_err(failure)?;
    let color: HairColor = COLOR.parse().map_err(failure)?;
    let look = Look { size: arguments.size, color, thickness: None };
    let camera = look.camera(&view, []);
    let total = cache.frames();
    let chosen = spread(total, SHEET);
    let mut sheet = ContactSheet::new(chosen.len() as u32, 4, arguments.size).map_err(failure)?;
    let (path, playback) = (arguments.out.join("preview.apng"), Playback { fps: cache.fps(), plays: 0 });
    let mut animation = Animation::create(path, arguments.size, total as u32, playback).map_err(failure)?;
    let mut progress = Progress::new("picture");
    progress.begin(0, total as u64);
    for frame in 0..total {
        let image = look.draw(&cache.frame(frame).map_err(Failure::run)?, &camera)?;
        animation.add(&image).map_err(failure)?;
        if chosen.contains(&frame) {
            sheet.add(&image, &format!("frame {frame}")).map_err(failure)?;
        }
        progress.step(frame as u64 + 1, total as u64, "");
    }
    animation.finish().map_err(failure)?;
    sheet.finish().save_png(arguments.out.join("contact-sheet.png")).map_err(failure)
}
