//! `hairloom groom`: make, look at, edit and convert grooms.

mod convert;
mod edit;
mod info;
mod make;

use std::path::Path;

use clap::{Args, Subcommand};
use hairloom::scene::{GroomFileSettings, Scene, UpAxis};
use hairloom::simulate::{Library, Simulation};
use hairloom_io::cache::{CacheError, write_still};
use hairloom_io::grooms::{self, FileGroom, GroomFormat, Said};
use hairloom_io::{Axis, BodyMesh, Folder, Space};
use toml::Value;

use crate::failure::Failure;
use crate::output::{make_parent, tell};

/// What a file of a groom does not say about itself, or says wrongly.
#[derive(Args)]
pub(crate) struct Source {
    /// The unit of the file that is read, where the file does not say or is wrong: m, cm, mm, in, or a number of metres.
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    unit: Option<f32>,
    /// The axis that points up in the file that is read.
    #[arg(long, value_name = "y|z", value_parser = axis)]
    up: Option<Axis>,
    /// Let USD files bring in layers from outside their own folders (absolute paths, `..`, links).
    #[arg(long)]
    allow_outside: bool,
}

impl Source {
    /// The same as settings of a scene.
    fn settings(&self) -> GroomFileSettings {
        let up = self.up.map(|up| match up {
            Axis::Y => UpAxis::Y,
            Axis::Z => UpAxis::Z,
        });
        GroomFileSettings { unit: self.unit.map(f64::from), up }
    }

    fn said(&self) -> Said {
        Said { unit: self.unit, up: self.up, allow_outside: self.allow_outside }
    }
}

/// A unit by its name or its length [m].
fn unit(text: &str) -> Result<f32, String> {
    let (least, most) = GroomFileSettings::SHORTEST_AND_LONGEST_UNIT;
    GroomFileSettings::unit_named(text)
        .or_else(|| text.parse().ok().filter(|unit| (least..=most).contains(unit)))
        .map(|unit| unit as f32)
        .ok_or_else(|| format!("expected m, cm, mm, in, or a number of metres from {least:e} to {most:e}"))
}

fn axis(text: &str) -> Result<Axis, String> {
    match text {
        "y" | "Y" => Ok(Axis::Y),
        "z" | "Z" => Ok(Axis::Z),
        _ => Err("expected y or z".into()),
    }
}

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

/// The mesh that hair grows on, from a file, in metres after a scale.
fn body_mesh(file: &Path, scale: f32, source: &Source) -> Result<BodyMesh, Failure> {
    let library = Folder::new("").allowing_outside(source.allow_outside);
    let mut mesh = library.mesh(&file.to_string_lossy()).map_err(Failure::bad_input)?;
    mesh.points.iter_mut().for_each(|point| *point *= scale);
    BodyMesh::new(mesh).map_err(|error| Failure::bad_input(format!("{}: {error}", file.display())))
}

/// Makes the groom of a scene without running it, so that it comes out as `hairloom sim` would start with it.
fn groom_of(text: &str, origin: &str, settings: &[(String, Value)]) -> Result<Simulation, Failure> {
    let scene = Scene::from_toml_with(text, origin, settings).map_err(Failure::bad_input)?;
    set_up(scene, false)
}

/// Makes the groom of a scene that is read, whose files may bring in others from outside their folders only where that is allowed.
fn set_up(scene: Scene, allow_outside: bool) -> Result<Simulation, Failure> {
    let library = Folder::new("").allowing_outside(allow_outside);
    let simulation = Simulation::new(scene, &library).map_err(Failure::bad_input)?;
    simulation.warnings().iter().for_each(|warning| tell(&format!("warning: {warning}")));
    Ok(simulation)
}

/// Writes a groom in the format of the file's name.
fn write(path: &Path, simulation: &Simulation) -> Result<(), Failure> {
    let format = GroomFormat::of_file(path);
    if !matches!(format, Some(GroomFormat::Usd | GroomFormat::Alembic)) {
        let groom = FileGroom { groom: simulation.groom().clone(), space: Space::SCENE };
        return write_file(path, &groom, &Said::default());
    }
    make_parent(path)?;
    write_still(path, simulation).map_err(Failure::run)
}

/// Writes a groom in the format of the file's name, in a unit and axes that may be said.
pub(crate) fn write_file(path: &Path, groom: &FileGroom, said: &Said) -> Result<(), Failure> {
    if GroomFormat::of_file(path).is_none() {
        return Err(Failure::bad_input(CacheError::unknown_groom(path, GroomFormat::WRITTEN)));
    }
    make_parent(path)?;
    let dropped = grooms::write(path, groom, said).map_err(Failure::run)?;
    if !dropped.is_empty() {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        tell(&format!("warning: .{ending} files cannot hold {}", dropped.join(", ")));
    }
    Ok(())
}

/// One line about a groom that was written.
fn summary(path: &Path, simulation: &Simulation) -> String {
    let groom = simulation.groom();
    format!("{}: {} strands, {} vertices\n", path.display(), groom.strands(), groom.vertices())
}
