use std::path::{Path, PathBuf};

use clap::Args;
use hairloom::groom::{DEFAULT_WIDTH, Groom, GroomError, resample};
use hairloom_io::cache::{Cache, convert_frames};
use hairloom_io::grooms::{self, FileGroom, GroomFormat, Said};
use hairloom_io::{Axis, BodyMesh, Space};

use super::{Source, body_mesh, write_file};
use crate::failure::Failure;
use crate::output::{make_parent, print, tell};

/// Convert a groom or a cache to another format.
///
/// All frames of an animated file go from USD and Alembic to USD and Alembic, with the bodies that are in it; the other formats hold one
/// groom, and get the first frame or the one that --frame says.
///
/// Reads .usdc, .usda, .usdz, .abc, .hair, .tfx (TressFX), .data (USC-HairSalon), .ply and .obj (polylines), and writes all but
/// .usdz. Positions and counts stay as they are; hair without widths gets a usual one.
///
/// USD files say in which unit they are and which axis points up, and keep those of the file they came from. The others do not say: .hair
/// files are taken and written in centimetres and z up, all others in metres and y up, unless --unit, --up, --to-unit and --to-up say
/// otherwise. Positions keep their bits wherever the unit stays.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The groom to read.
    from: PathBuf,
    /// The groom to write.
    to: PathBuf,
    #[command(flatten)]
    source: Source,
    /// The unit of the file that is written.
    #[arg(long, value_name = "UNIT", value_parser = super::unit)]
    to_unit: Option<f32>,
    /// The axis that points up in the file that is written.
    #[arg(long, value_name = "y|z", value_parser = super::axis)]
    to_up: Option<Axis>,
    /// Vertices that each strand is resampled to.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    resample: Option<u32>,
    /// Write only the strands that are marked as guides: a guide cache for Unreal, if the file is Alembic.
    #[arg(long)]
    guides: bool,
    /// The mesh that the hair grows on: its normals at the roots are written too (to USD and Alembic), and in a single frame strands
    /// given from tip to root are turned by it.
    #[arg(long, value_name = "MESH")]
    body: Option<PathBuf>,
    /// Metres per unit of the mesh.
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, requires = "body", value_parser = crate::settings::factor)]
    body_scale: f32,
    /// Convert this frame alone, counted from 0.
    #[arg(long, value_name = "N")]
    frame: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  hairloom groom convert wStraight.hair straight.usdc
  hairloom groom convert straight.usdc straight.abc
  hairloom groom convert cache.usdc cache.abc                 all frames
  hairloom groom convert cache.usdc guides.abc --guides       a guide cache
  hairloom groom convert cache.usdc pose.hair --frame 30
  hairloom groom convert guides.tfx guides.usdc --unit 0.1
  hairloom groom convert hair.usdc hair.abc --body head.obj   with normals at the roots
  hairloom groom convert export.usda hair.hair --resample 32";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let from = arguments.from.display();
    let read_body = |mesh: &PathBuf| body_mesh(mesh, arguments.body_scale, &arguments.source);
    let body = arguments.body.as_ref().map(read_body).transpose()?;
    let said = Said { unit: arguments.to_unit, up: arguments.to_up, ..Said::default() };
    let (cache, space) =
        Cache::open_in_own_space(&arguments.from, &arguments.source.said()).map_err(Failure::bad_input)?;
    let to_cache =
        matches!(GroomFormat::of_file(&arguments.to), Some(GroomFormat::Usd | GroomFormat::Alembic));
    let frames = cache.frames();
    if frames > 1 && arguments.frame.is_none() {
        if to_cache {
            return all_frames(arguments, &cache, space, &said, body.as_ref());
        }
        tell(&format!("note: {from} has {frames} frames; the first is converted, --frame picks another"));
    }
    if frames == 1 {
        let bodies = cache.frame(0).map_err(Failure::bad_input)?.bodies;
        if !bodies.is_empty() && to_cache && body.is_none() {
            return all_frames(arguments, &cache, space, &said, None);
        } else if !bodies.is_empty() {
            tell(&format!("note: {from} has bodies as well; the hair alone is converted"));
        }
    }
    let (mut file, left_out) = match arguments.frame.unwrap_or(0) {
        0 => {
            grooms::read_with_notes(&arguments.from, &arguments.source.said()).map_err(Failure::bad_input)?
        }
        frame => {
            let groom = cache.frame(frame).map_err(Failure::bad_input)?.groom;
            (FileGroom { groom, space }, cache.unfollowed())
        }
    };
    drop(cache);
    tell_left_out(&arguments.from, left_out);
    file.groom = as_it_is(file.groom, &arguments.to, file.space)
        .map_err(|error| Failure::bad_input(format!("{from}: {error}")))?;
    if let Some(body) = body {
        let turned;
        (file, turned) = body.turn(file);
        if turned.strands > 0 {
            tell(&format!("note: {} strands were given from tip to root, and are turned", turned.strands));
        }
        file = body.with_root_normals(file);
    }
    if arguments.guides {
        file.groom =
            only_guides(&file.groom).map_err(|problem| Failure::bad_input(format!("{from}: {problem}")))?;
    }
    if let Some(vertices) = arguments.resample {
        let space = file.space;
        let groom = resample(&file.into_metres(), vertices as usize);
        file = FileGroom { groom, space: Space::SCENE }.in_space(space);
    }
    write_file(&arguments.to, &file, &said)?;
    let (strands, vertices) = (file.groom.strands(), file.groom.vertices());
    print(&format!("{}: {strands} strands, {vertices} vertices\n", arguments.to.display()))
}

/// The groom with no more changed than the format asks for. What is wrong with it is told by `groom info`, and mended where it is
/// edited or simulated.
fn as_it_is(mut groom: Groom, to: &Path, space: Space) -> Result<Groom, GroomError> {
    groom.check_shape()?;
    // A point alone is a bald root in .data files, and no curve anywhere else.
    let curves: Vec<usize> =
        (0..groom.strands()).filter(|&strand| groom.curves.vertices_of(strand) > 1).collect();
    let points = groom.strands() - curves.len();
    if points > 0 && GroomFormat::of_file(to) != Some(GroomFormat::Usc) {
        tell(&format!("warning: {points} strands of a single point are left out"));
        groom = groom.subset(&curves)?;
    }
    if groom.strands() == 0 {
        return Err(GroomError::Empty);
    }
    if groom.widths.is_empty() {
        groom.widths = vec![DEFAULT_WIDTH / space.unit; groom.vertices()];
    }
    Ok(groom)
}

fn tell_left_out(from: &Path, left_out: Option<String>) {
    if let Some(left_out) = left_out {
        tell(&format!("warning: {}: {left_out}", from.display()));
    }
}

/// Converts a cache, frame by frame.
fn all_frames(
    arguments: &Arguments,
    cache: &Cache,
    space: Space,
    said: &Said,
    body: Option<&BodyMesh>,
) -> Result<(), Failure> {
    make_parent(&arguments.to)?;
    let edit = |groom: Groom| -> Result<Groom, String> {
        let groom = if arguments.guides { only_guides(&groom)? } else { groom };
        Ok(match arguments.resample {
            Some(vertices) => resample(&groom, vertices as usize),
            None => groom,
        })
    };
    let written = convert_frames(cache, space, &arguments.to, said, body, edit).map_err(Failure::run)?;
    tell_left_out(&arguments.from, cache.unfollowed());
    let ((strands, vertices), frames) = (written, cache.frames());
    print(&format!("{}: {strands} strands, {vertices} vertices, {frames} frames\n", arguments.to.display()))
}

/// The guides of a groom alone.
fn only_guides(groom: &Groom) -> Result<Groom, String> {
    let guides: Vec<usize> =
        groom.guides.iter().enumerate().filter_map(|(strand, guide)| guide.then_some(strand)).collect();
    if guides.is_empty() {
        let how = "mark some with `groom edit --do \"guides count=200\"`, or leave --guides out";
        return Err(format!("no strand is marked as a guide; {how}"));
    }
    groom.subset(&guides).map_err(|error| error.to_string())
}
