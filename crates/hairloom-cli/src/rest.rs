use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use glam::{DQuat, DVec3};
use hairloom::groom::{Attribute, Domain, Groom, Root, Values};
use hairloom::rest::global_force::{Medium, Weights, assess, problem};
use hairloom::rest::{Forces, Hair, Outcome, RestError};
use hairloom::scene::RestEngine;
use hairloom::simulate::Simulation;
use hairloom::solve::Method;
use hairloom_io::Folder;
use hairloom_io::Space;
use hairloom_io::grooms::{FileGroom, Said};
use hairloom_io::run::{RunOptions, peak_memory, read_scene};
use serde::Serialize;
use toml::Value;

use crate::failure::Failure;
use crate::groom::write_file;
use crate::output::{print, tell, write_json};
use crate::settings::setting;

/// Find the rest shape that keeps a scene's hair as groomed, and write it.
///
/// Hair falls from its groom because gravity bends it. In the rest shape written here it would be without gravity; with it, it
/// is as groomed. `hairloom sim` starts with it where a scene has `rest = "sag-free"` in `[solver]`.
///
/// Attributes of the groom that is written tell the rest, in USD and Alembic. Of each vertex: rest_length, the length of the segment behind it
/// [m]; rest_joint, the rotation over the joint at it, twist included, as the imaginary part of a quaternion whose real part is not negative;
/// rest_stretch_factor and rest_bend_factor, how many times stiffer segment and joint are than the material; rest_force, of the segment on its
/// vertex nearer to the tip under gravity [N]; rest_stress_normal (xx, yy, zz) and rest_stress_shear (xy, xz, yz), volume times stress of
/// contact [J]; rest_contact, what single contacts push it with [N]. Of each strand: rest_cell, the side of a cell of the grid that contact
/// balances on [m], 0 where strands do not meet on one.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The scene.
    scene: PathBuf,
    /// The groom to write: .usdc, .usda, .abc or .hair.
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Solver to use instead of the scene's, with its usual parameters.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Method::NAMES))]
    solver: Option<String>,
    /// What finds the forces: every strand carries itself (own-weight), or contact carries a part. With xpbd-mpm and der-mpm that is a cone programme after Hsu
    /// et al. 2023, in clarabel (cone) or in a method of our own, which may be stopped at any time (anytime). With nsgs and admm it is one
    /// force for each contact between strands of the groom (anytime).
    #[arg(long, value_name = "NAME", value_parser = engines())]
    engine: Option<String>,
    /// The most time that the engine may take [s]. With nsgs and admm a number of sweeps ends it instead.
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Write the cone programme for other solvers: least ½ xᵀPx + qᵀx with A x + s = b and s in the cones.
    #[arg(long, value_name = "FILE.json", long_help = PROBLEM)]
    dump_problem: Option<PathBuf>,
    /// Set any key of the scene, its value in TOML; bare words are strings.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<(String, Value)>,
    /// Write what was found; "-" prints it, and nothing else.
    #[arg(long, value_name = "FILE.json", visible_alias = "json")]
    report: Option<PathBuf>,
    /// Let USD files bring in layers from outside their own folders (absolute paths, `..`, links).
    #[arg(long)]
    allow_outside: bool,
}

const EXAMPLES: &str = "\
Examples:
  hairloom rest scenes/head-turn.toml --solver xpbd-mpm -o rest.usdc
  hairloom rest scenes/head-turn.toml --solver xpbd-mpm --engine anytime --seconds 20 -o rest.usdc --json -
  hairloom sim scenes/head-turn.toml --solver xpbd-mpm --set solver.rest=sag-free --out still.usdc";

const PROBLEM: &str = "\
Write the cone programme for other solvers: least ½ xᵀPx + qᵀx with A x + s = b and s in the cones, one after the other along the rows.

JSON: p and a are sparse matrices by columns (rows, columns, column_starts, row_indices, values; of p the upper triangle), q and b lists, \
cones a list of {\"zero\": n}, {\"nonnegative\": n} and {\"second-order\": n}, in the order of the rows. Unknowns, each of all segments: tension \
and two forces across, over what the segment carries where its strand carries itself; what tension lacks to its least; the excess over the limit \
of forces; three of the moment, over that of a strand that stands out level; then six of V⁰τ for each vertex along I/√3, xy, xz, yz, \
(xx − yy)/√2, (xx + yy − 2zz)/√6, in weights of a mean free vertex times the side of a cell. Rows of a node are divided by the root of its mass.";

fn engines() -> PossibleValuesParser {
    PossibleValuesParser::new(RestEngine::ALL.iter().map(|engine| engine.name()))
}

/// What was found, as JSON.
#[derive(Serialize)]
struct Report {
    solver: &'static str,
    engine: &'static str,
    strands: usize,
    vertices: usize,
    stiffened_percent: f64,
    unstable_strands: usize,
    largest_stiffening: f64,
    /// Single contacts that carry a part.
    contacts: usize,
    /// How good the forces are; of the grid only where strands meet on one.
    #[serde(flatten)]
    balance: Balanced,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

/// How good the forces and moments are that the rest shape makes.
#[derive(Serialize)]
struct Balanced {
    compressed_percent: f64,
    largest_force_newtons: f64,
    force_mse_newtons: f64,
    worst_acceleration_over_gravity: f64,
    moment_left_over_largest: f64,
    objective: Option<f64>,
    cone_excess_over_largest_stress: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut overrides = arguments.set.clone();
    if let Some(solver) = &arguments.solver {
        overrides.push(("solver.method".to_owned(), Value::String(solver.clone())));
    }
    overrides.push(("solver.rest".to_owned(), Value::String("sag-free".to_owned())));
    if let Some(engine) = &arguments.engine {
        overrides.push(("solver.rest_engine".to_owned(), Value::String(engine.clone())));
    }
    if let Some(seconds) = arguments.seconds {
        overrides.push(("solver.rest_seconds".to_owned(), Value::Float(seconds)));
    }
    let options = RunOptions {
        scene: arguments.scene.clone(),
        overrides,
        out: None,
        report: None,
        contact_problems: None,
        resume: false,
        allow_outside: arguments.allow_outside,
    };
    let scene = read_scene(&options).map_err(Failure::bad_input)?;
    let method = Method::from_settings(&scene.solver).map_err(Failure::bad_input)?;
    let library = Folder::of_scene(&arguments.scene).allowing_outside(arguments.allow_outside);
    let simulation = Simulation::new(scene, &library).map_err(Failure::bad_input)?;
    simulation.warnings().iter().for_each(|warning| tell(&format!("warning: {warning}")));
    let Some(outcome) = simulation.rest() else {
        return Err(Failure::run("no rest shape was found"));
    };
    let peak = peak_memory();
    let (model, held, scene) = (simulation.model(), simulation.held(), simulation.scene());
    let positions: Vec<DVec3> = model.groomed.iter().map(|point| point.as_dvec3()).collect();
    let gravity = scene.gravity.at(scene.time.start);
    let hair = Hair { model, positions: &positions, held: &held, gravity };
    let medium = method.medium(model);
    let report = Report {
        seconds: simulation.rest_seconds(),
        peak_memory_bytes: peak,
        ..Report::new(&simulation, outcome, method.name(), balanced(&hair, outcome, medium.as_ref())?)
    };
    if let Some(path) = &arguments.dump_problem {
        dump(path, &hair, medium.as_ref(), method.name())?;
    }
    write(arguments, &simulation, outcome)?;
    if arguments.report.as_deref() != Some(Path::new("-")) {
        print(&told(arguments, &report))?;
    }
    arguments.report.as_ref().map_or(Ok(()), |path| write_json(path, &report))
}

/// Writes the rest shape as a groom.
fn write(arguments: &Arguments, simulation: &Simulation, outcome: &Outcome) -> Result<(), Failure> {
    let model = simulation.model();
    let groom = Groom {
        curves: outcome.shape.curves(model),
        roots: vec![Root::Free; model.strands()],
        widths: model.radii.iter().map(|radius| 2.0 * radius).collect(),
        attributes: attributes(outcome, model.strands()),
        ..Groom::default()
    };
    write_file(&arguments.out, &FileGroom { groom, space: Space::SCENE }, &Said::default())
}

/// What curves do not tell of a rest shape.
fn attributes(outcome: &Outcome, strands: usize) -> Vec<Attribute> {
    let shape = &outcome.shape;
    let floats = |values: &[f64]| Values::Float(values.iter().map(|&value| value as f32).collect());
    let vectors =
        |values: &mut dyn Iterator<Item = DVec3>| Values::Vec3(values.map(|v| v.as_vec3()).collect());
    let imaginary = |joint: &DQuat| joint.xyz() * joint.w.signum();
    let stresses = |parts: [usize; 3]| {
        let part = move |stress: &[f64; 6]| DVec3::from_array(parts.map(|part| stress[part]));
        vectors(&mut shape.stresses.iter().map(part))
    };
    let columns = [
        ("rest_length", Domain::Vertex, floats(&shape.lengths)),
        ("rest_joint", Domain::Vertex, vectors(&mut shape.joints.iter().map(imaginary))),
        ("rest_stretch_factor", Domain::Vertex, floats(&shape.stretch)),
        ("rest_bend_factor", Domain::Vertex, floats(&shape.bend)),
        ("rest_force", Domain::Vertex, vectors(&mut shape.forces.iter().copied())),
        ("rest_stress_normal", Domain::Vertex, stresses([0, 3, 5])),
        ("rest_stress_shear", Domain::Vertex, stresses([1, 2, 4])),
        ("rest_contact", Domain::Vertex, vectors(&mut shape.contact_loads().into_iter())),
        ("rest_cell", Domain::Strand, floats(&vec![shape.cell.unwrap_or(0.0); strands])),
    ];
    columns.map(|(name, domain, values)| Attribute { name: name.to_owned(), domain, values }).into()
}

impl Report {
    /// All but what it took and how good the forces are.
    fn new(simulation: &Simulation, outcome: &Outcome, solver: &'static str, balance: Balanced) -> Self {
        let model = simulation.model();
        Self {
            solver,
            engine: simulation.scene().solver.rest_engine.name(),
            strands: model.strands(),
            vertices: model.vertices(),
            stiffened_percent: 100.0 * outcome.stiffened,
            unstable_strands: outcome.unstable_strands,
            largest_stiffening: outcome.largest_stiffening(),
            contacts: outcome.shape.contacts.len(),
            balance,
            seconds: 0.0,
            peak_memory_bytes: None,
        }
    }
}

/// How good the forces are that the shape makes: by the nodes of the grid where they balance there, by the vertices themselves elsewhere.
fn balanced(hair: &Hair<'_>, outcome: &Outcome, medium: Option<&Medium>) -> Result<Balanced, Failure> {
    let own = Balanced {
        compressed_percent: outcome.compressed,
        largest_force_newtons: outcome.largest_force,
        force_mse_newtons: outcome.force_error,
        worst_acceleration_over_gravity: outcome.worst_acceleration,
        moment_left_over_largest: outcome.moment_left,
        objective: None,
        cone_excess_over_largest_stress: None,
    };
    let (stresses, cell) = (outcome.shape.stresses.clone(), outcome.shape.cell);
    let forces = Forces { segments: outcome.made.clone(), stresses, cell, contacts: Vec::new() };
    let quality = medium.map(|medium| assess(hair, medium, &Weights::default(), &forces));
    Ok(match quality.transpose() {
        // Strands that carry themselves need no programme: there is none without gravity or friction.
        Err(_) if cell.is_none() => own,
        Ok(None) => own,
        Ok(Some(quality)) => {
            let nodes = [quality.force_mean_square, quality.node_acceleration];
            let vertices = [own.force_mse_newtons, own.worst_acceleration_over_gravity];
            let [force_mse_newtons, worst_acceleration_over_gravity] =
                if cell.is_some() { nodes } else { vertices };
            Balanced {
                force_mse_newtons,
                worst_acceleration_over_gravity,
                objective: Some(quality.objective),
                cone_excess_over_largest_stress: Some(quality.cone_excess),
                ..own
            }
        }
        Err(error) => return Err(Failure::run(error)),
    })
}

/// Writes the cone programme.
fn dump(path: &Path, hair: &Hair<'_>, medium: Option<&Medium>, method: &'static str) -> Result<(), Failure> {
    let medium = medium.ok_or_else(|| Failure::bad_input(RestError::NoGrid { method }))?;
    write_json(path, &problem(hair, medium, &Weights::default()).map_err(Failure::bad_input)?)
}

fn told(arguments: &Arguments, report: &Report) -> String {
    let memory =
        report.peak_memory_bytes.map_or(String::new(), |bytes| format!(", {} MB", bytes / 1_000_000));
    let balance = &report.balance;
    let objective = balance.objective.map_or(String::new(), |value| format!(", objective {value:.4e}"));
    let contacts = match report.contacts {
        0 => String::new(),
        contacts => format!(", {contacts} contacts carry a part"),
    };
    let cone = balance
        .cone_excess_over_largest_stress
        .map_or(String::new(), |value| format!(", cones exceeded by {value:.1e} of the largest stress"));
    format!(
        "{}: {} strands, {} ({}), {:.2} s{memory}{contacts}\n  {:.1} % stiffened (by up to {:.1}), {:.1} % compressed, largest force \
         {:.2e} N{objective}\n  force MSE {:.1e} N², acceleration left {:.1e} g, moments left {:.1e} of the \
         largest{cone}\n",
        arguments.out.display(),
        report.strands,
        report.solver,
        report.engine,
        report.seconds,
        report.stiffened_percent,
        report.largest_stiffening,
        balance.compressed_percent,
        balance.largest_force_newtons,
        balance.force_mse_newtons,
        balance.worst_acceleration_over_gravity,
        balance.moment_left_over_largest,
    )
}
