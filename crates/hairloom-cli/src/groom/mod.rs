//! `hairloom groom`: make, look at, edit and convert grooms.

mod convert;
mod edit;
mod info;
mod make;

use std::path::Path;

use clap::Subcommand;
use hairloom::scene::Scene;
use hairloom::simulate::Simulation;
use hairloom_io::cache::{CacheFormat, CacheWriter};
use hairloom_io::{Folder, hair};
use toml::Value;

use crate::failure::Failure;
use crate::output::{make_parent, tell};

/// Make grooms, look into them, edit and convert them.
#[derive(Subcommand)]
#[command(after_long_help = EXAMPLES)]
pub(crate) enum Command {
    Make(make::Arguments),
    Info(info::Arguments),
    Convert(convert::Arguments),
    Edit(edit::Arguments),
}

const EXAMPLES: &str = "\
Examples:
  hairloom groom make -o hair.usdc --style curly     hair on the built-in bust
  hairloom groom info hair.usdc                      what is in it
  hairloom groom convert hair.usdc hair.hair         another format
  hairloom groom edit hair.usdc -o bob.usdc --do \"trim length=0.15\"   shorter hair
Then simulate it: write `[groom]` with `file = \"hair.usdc\"` into a scene, and run `hairloom sim` on that.";

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Make(arguments) => make::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Edit(arguments) => edit::run(arguments),
    }
}

/// Makes the groom of a scene without running it, so that it comes out as `hairloom sim` would start with it.
fn groom_of(text: &str, origin: &str, settings: &[(String, Value)]) -> Result<Simulation, Failure> {
    let scene = Scene::from_toml_with(text, origin, settings).map_err(Failure::bad_input)?;
    set_up(scene)
}

/// Makes the groom of a scene that is read.
fn set_up(scene: Scene) -> Result<Simulation, Failure> {
    let simulation = Simulation::new(scene, &Folder::new("")).map_err(Failure::bad_input)?;
    simulation.warnings().iter().for_each(|warning| tell(&format!("warning: {warning}")));
    Ok(simulation)
}

/// Writes a groom in the format of the file's name.
fn write(path: &Path, simulation: &Simulation) -> Result<(), Failure> {
    let format = CacheFormat::of_file(path).map_err(Failure::bad_input)?;
    make_parent(path)?;
    if format == CacheFormat::Hair {
        let written = hair::write(path, simulation.groom(), &hair::WriteOptions::default());
        let dropped = written.map_err(Failure::run)?.dropped;
        if !dropped.is_empty() {
            tell(&format!("warning: .hair files cannot hold {}", dropped.join(", ")));
        }
        return Ok(());
    }
    let writer = CacheWriter::create(path, simulation).and_then(|mut writer| {
        writer.write_frame(simulation)?;
        writer.finish()
    });
    writer.map_err(Failure::run)
}

/// One line about a groom that was written.
fn summary(path: &Path, simulation: &Simulation) -> String {
    let groom = simulation.groom();
    format!("{}: {} strands, {} vertices\n", path.display(), groom.strands(), groom.vertices())
}
