use std::path::PathBuf;

use clap::Args;
use toml::Value;

use super::{groom_of, summary, write};
use crate::failure::Failure;
use crate::output::print;
use crate::settings::setting;

/// Grow a groom on a built-in figure or on a mesh of your own.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The groom to write: .usdc, .usda, .abc or .hair.
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// straight, wavy, curly, afro, ponytail, short-fur or bob.
    #[arg(long, default_value = "straight")]
    style: String,
    /// bust, ball, monster, dog or girl.
    #[arg(long, default_value = "bust", conflicts_with = "mesh")]
    figure: String,
    /// Grow on a mesh (.obj, USD or Alembic) in metres instead, everywhere on it.
    #[arg(long, value_name = "FILE")]
    mesh: Option<PathBuf>,
    /// Set a parameter of the style: strands, length, vertices, curl.radius and so on.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<(String, Value)>,
    /// Seed of everything random.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u32,
    /// Write the body along with the hair (USD and Alembic).
    #[arg(long)]
    body: bool,
}

const EXAMPLES: &str = "\
Examples:
  hairloom groom make -o hair.usdc --style wavy --set strands=20000 --set length=0.3
  hairloom groom make -o fur.hair --style short-fur --figure dog
  hairloom groom make -o own.usda --mesh head.obj --set \"curl={radius=0.004, pitch=0.02}\"

The parameters of styles: strands, density, vertices, length, length_variation, root_width, tip_width, lift, droop,
scatter, volume, comb.{parting, side, back, reach}, clumps.{count, strength, shape},
curl.{radius, pitch, jitter, flatness, onset}, tie.{elevation, radius}, bangs.{length, width, depth}. Metres and degrees.";

/// The body only holds the hair: as a collider it would cost time.
const SCENE: &str = "[groom.style]\n[[body]]\nname = 'body'\ncollide = false\n[output]\nvelocities = false\n";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let text = |value: &str| Value::String(value.to_owned());
    let body = match &arguments.mesh {
        Some(mesh) => ("body.0.mesh".to_owned(), text(&mesh.to_string_lossy())),
        None => ("body.0.figure".to_owned(), text(&arguments.figure)),
    };
    let mut settings = vec![
        ("groom.style.preset".to_owned(), text(&arguments.style)),
        ("groom.style.seed".to_owned(), Value::Integer(arguments.seed.into())),
        ("output.bodies".to_owned(), Value::Boolean(arguments.body)),
        body,
    ];
    settings.extend(arguments.set.iter().map(|(key, value)| (format!("groom.style.{key}"), value.clone())));
    let simulation = groom_of(SCENE, "groom make", &settings)?;
    write(&arguments.out, &simulation)?;
    print(&summary(&arguments.out, &simulation))
}
