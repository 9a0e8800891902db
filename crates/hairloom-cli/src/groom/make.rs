use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use hairloom::figure;
use hairloom::groom::Preset;
use toml::Value;

use super::{groom_of, summary, write};
use crate::failure::Failure;
use crate::output::print;
use crate::settings::setting;

/// Grow a groom on a built-in figure or on a mesh of your own.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The groom to write: .usdc, .usda, .abc, .hair, .tfx, .data, .ply or .obj.
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// The style to start from.
    #[arg(long, value_name = "NAME", default_value = "straight", value_parser = PossibleValuesParser::new(Preset::ALL.map(Preset::name)))]
    style: String,
    /// The built-in figure to grow on.
    #[arg(long, value_name = "NAME", default_value = "bust", conflicts_with = "mesh", value_parser = PossibleValuesParser::new(figure::NAMES))]
    figure: String,
    /// Grow on a mesh (.obj, USD or Alembic) in metres instead, everywhere on it.
    #[arg(long, value_name = "FILE")]
    mesh: Option<PathBuf>,
    /// Set a parameter of the style; --help lists them all.
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
  hairloom groom make -o own.usda --mesh head.obj --set curl.radius=0.004 --set curl.pitch=0.02

Parameters of styles, for --set; a style has usual values for all of them. Lengths are in metres, angles in degrees:
  strands     how many; or density, how many on a square centimetre
  vertices    on each strand; curls need about 12 for each turn
  length      of a strand; length_variation, the random part of it, 0 to 1
  taper       how much shorter hair is where it grows thinly, 0 to 1
  root_width  diameter at the root; tip_width, that at the tip
  lift        how steeply strands leave the skin, 0 (flat) to 1 (upright)
  droop       how fast they turn to where comb and gravity lead, per metre
  scatter     random change of direction, about radians
  volume      thickness of the layer of hair
  comb        .parting (-1 to 1) .side .back .reach
  clumps      .count .strength (0 to 1) .shape: locks
  curl        .radius .pitch .jitter .flatness .onset: helices and waves
  tie         .elevation .radius: a ponytail
  bangs       .length .width .depth: hair over the forehead";

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
    let simulation = groom_of(SCENE, "groom make", &settings).map_err(|failure| match failure {
        // Here a key is given without the table that it has in a scene.
        Failure::BadInput(text) => Failure::BadInput(text.replace("--set groom.style.", "--set ")),
        other => other,
    })?;
    write(&arguments.out, &simulation)?;
    print(&summary(&arguments.out, &simulation))
}

#[cfg(test)]
mod tests {
    use hairloom::groom::{Bangs, Style, Tie};

    use super::*;

    #[test]
    fn the_help_names_every_parameter_of_styles() {
        let style = Style {
            density: Some(1.0),
            tie: Some(Tie::default()),
            bangs: Some(Bangs::default()),
            ..Style::default()
        };
        let Ok(Value::Table(all)) = Value::try_from(style) else { panic!("a style is a table") };
        let words: Vec<&str> =
            EXAMPLES.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).collect();
        for (key, value) in &all {
            let inner = value.as_table().into_iter().flatten().map(|(key, _)| key);
            for key in inner.chain([key]) {
                assert!(words.contains(&key.as_str()), "the help of `groom make` does not tell of {key}");
            }
        }
    }
}
