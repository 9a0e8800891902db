use std::path::PathBuf;

use clap::Args;
use hairloom::groom::resample;
use hairloom_io::grooms::{self, FileGroom, Said};
use hairloom_io::{Axis, Space};

use super::{Source, write_file};
use crate::failure::Failure;
use crate::output::{print, tell};

/// Convert a groom to another format; of an animated file the first frame.
///
/// Reads .usdc, .usda, .usdz, .abc, .hair, .tfx (TressFX), .data (USC-HairSalon), .ply and .obj (polylines), and writes all but
/// .usdz. What has one obvious remedy is mended on the way, and said: strands without length, doubled vertices, missing widths.
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
    /// Metres per unit of the file that is written.
    #[arg(long, value_name = "METRES")]
    to_unit: Option<f32>,
    /// The axis that points up in the file that is written.
    #[arg(long, value_name = "y|z", value_parser = super::axis)]
    to_up: Option<Axis>,
    /// Vertices that each strand is resampled to.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    resample: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  hairloom groom convert wStraight.hair straight.usdc
  hairloom groom convert straight.usdc straight.abc
  hairloom groom convert guides.tfx guides.usdc --unit 0.1
  hairloom groom convert export.usda hair.hair --resample 32";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let read = grooms::read(&arguments.from, &arguments.source.said()).map_err(Failure::bad_input)?;
    let from = arguments.from.display();
    let mended = read.mended().map_err(|error| Failure::bad_input(format!("{from}: {error}")));
    let (mut file, repairs) = mended?;
    if !repairs.is_empty() {
        tell(&format!("warning: the groom was repaired: {repairs}"));
    }
    if let Some(vertices) = arguments.resample {
        let space = file.space;
        let groom = resample(&file.into_metres(), vertices as usize);
        file = FileGroom { groom, space: Space::SCENE }.in_space(space);
    }
    let said = Said { unit: arguments.to_unit, up: arguments.to_up };
    write_file(&arguments.to, &file, &said)?;
    let (strands, vertices) = (file.groom.strands(), file.groom.vertices());
    print(&format!("{}: {strands} strands, {vertices} vertices\n", arguments.to.display()))
}
