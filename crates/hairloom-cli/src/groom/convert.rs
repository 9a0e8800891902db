use std::path::PathBuf;

use clap::Args;
use toml::Value;

use super::{groom_of, summary, write};
use crate::failure::Failure;
use crate::output::print;

/// Convert a groom to another format; of an animated file the first frame.
///
/// Reads and writes .usdc, .usda, .abc and .hair. What has one obvious remedy is mended on the way, and said: strands
/// without length, doubled vertices, missing widths. Lengths are in metres and y points up; .hair files, which do not
/// say, are taken and written in centimetres and z up, and .abc files, which do not say either, in metres.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The groom to read.
    from: PathBuf,
    /// The groom to write.
    to: PathBuf,
    /// Vertices that each strand is resampled to.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    resample: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  hairloom groom convert wStraight.hair straight.usdc
  hairloom groom convert straight.usdc straight.abc
  hairloom groom convert export.usda hair.hair --resample 32";

const SCENE: &str = "[groom]\n[output]\nvelocities = false\n";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = arguments.from.to_string_lossy().into_owned();
    let mut settings = vec![("groom.file".to_owned(), Value::String(file))];
    if let Some(vertices) = arguments.resample {
        settings.push(("groom.resample".to_owned(), Value::Integer(vertices.into())));
    }
    let simulation = groom_of(SCENE, "groom convert", &settings)?;
    write(&arguments.to, &simulation)?;
    print(&summary(&arguments.to, &simulation))
}
