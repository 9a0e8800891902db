use std::path::{Path, PathBuf};

use clap::Args;
use glam::Vec3;
use hairloom::groom::{Domain, Groom, Root, Seating, Values, turn_strands};
use hairloom::simulate::Imported;
use hairloom_io::Axis;
use hairloom_io::cache::Cache;
use serde::Serialize;

use super::{Source, body_mesh};
use crate::failure::Failure;
use crate::output::{print, write_json};
use crate::table::number;

/// Show what a groom or a cache holds, and what is wrong with it.
///
/// With --body it also tells how the roots sit on the mesh that the hair grows on: how many float above it or are buried
/// in it, and whether strands are given from tip to root. The exit code is 1 if the groom cannot be simulated.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A groom or a cache: .usdc, .usda, .usdz, .abc, .hair, .tfx, .data, .ply or .obj.
    #[arg(required_unless_present = "json")]
    file: Option<PathBuf>,
    #[command(flatten)]
    source: Source,
    /// The mesh that the hair grows on.
    #[arg(long, value_name = "MESH")]
    body: Option<PathBuf>,
    /// Metres per unit of the mesh.
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, requires = "body", value_parser = crate::settings::factor)]
    body_scale: f32,
    /// Write it as JSON; `-` prints it, and nothing else.
    #[arg(long, value_name = "FILE|-", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  hairloom groom info hair.usdc --json
  hairloom groom info import.abc --body head.obj          are its roots on the head?";

/// All that is worth knowing of a groom.
#[derive(Serialize)]
struct Info {
    file: String,
    strands: usize,
    vertices: usize,
    /// Metres per unit of the file [m]; everything else here is in metres, y up.
    unit: f64,
    /// The axis that points up in the file.
    up: &'static str,
    vertices_per_strand: Range<usize>,
    /// Arc lengths [m].
    lengths: Range<f64>,
    mean_length: f64,
    /// Diameters [m].
    widths: Range<f64>,
    /// Corners of the box around all vertices [m].
    bounds: Option<[Vec3; 2]>,
    attributes: Vec<AttributeInfo>,
    frames: usize,
    fps: f64,
    /// Of something that moves.
    time_range: Option<TimeRange>,
    bodies: Vec<String>,
    /// How the groom sits on the body that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    on_body: Option<Imported>,
    /// What a simulation would mend by itself.
    repairs: Option<String>,
    /// Why the groom cannot be simulated.
    problem: Option<String>,
    /// Why the unit may be wrong.
    unlikely_size: Option<String>,
    /// What was left out and may matter.
    unread: Option<String>,
    /// All that is wrong: what would be mended, what cannot be, and what was not looked at.
    problems: Vec<String>,
}

/// The first and the last frame of something that moves.
#[derive(Serialize)]
struct TimeRange {
    /// [s].
    start: f64,
    /// [s].
    end: f64,
    /// Counted in frames from 0 s.
    first_frame: f64,
    last_frame: f64,
}

#[derive(Serialize)]
struct Range<T> {
    low: T,
    high: T,
}

#[derive(Serialize)]
struct AttributeInfo {
    name: String,
    per: &'static str,
    kind: &'static str,
    values: usize,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    // A name right behind --json is that of the groom where no other is given.
    let (file, json) = match (&arguments.file, &arguments.json) {
        (Some(file), json) => (file, json.as_deref()),
        (None, Some(file)) => (file, Some(Path::new("-"))),
        (None, None) => {
            return Err(Failure::bad_input("name a groom, as in `hairloom groom info hair.usdc`"));
        }
    };
    let info = read(file, arguments)?;
    match json {
        Some(to) => write_json(to, &info)?,
        None => print(&text(&info))?,
    }
    match info.problem {
        Some(problem) => Err(Failure::run(format!("{}: {problem}", info.file))),
        None => Ok(()),
    }
}

fn read(file: &Path, arguments: &Arguments) -> Result<Info, Failure> {
    let cache = Cache::open_as(file, &arguments.source.said()).map_err(Failure::bad_input)?;
    let frame = cache.frame(0).map_err(Failure::bad_input)?;
    let space = cache.space();
    let groom = frame.groom;
    let strands = groom.strands();
    let lengths: Vec<f64> = (0..strands).map(|strand| f64::from(groom.curves.length(strand))).collect();
    let mut info = Info {
        file: file.display().to_string(),
        strands,
        // The shortest decimals of the float, as people write them.
        unit: space.unit.to_string().parse().unwrap_or(f64::from(space.unit)),
        up: if space.up == Axis::Z { "z" } else { "y" },
        vertices: groom.vertices(),
        vertices_per_strand: Range {
            low: (0..strands).map(|strand| groom.curves.vertices_of(strand)).min().unwrap_or(0),
            high: (0..strands).map(|strand| groom.curves.vertices_of(strand)).max().unwrap_or(0),
        },
        mean_length: lengths.iter().sum::<f64>() / strands.max(1) as f64,
        lengths: range(lengths),
        widths: range(groom.widths.iter().map(|&width| f64::from(width))),
        bounds: groom.curves.bounds().map(|(low, high)| [low, high]),
        attributes: attributes(&groom),
        frames: cache.frames(),
        fps: cache.fps(),
        time_range: cache.time_range().map(|[start, end]| {
            let frame = |time: f64| (time * cache.fps() * 1e6).round() / 1e6;
            TimeRange { start, end, first_frame: frame(start), last_frame: frame(end) }
        }),
        bodies: frame.bodies.into_iter().map(|body| body.name).collect(),
        on_body: None,
        repairs: None,
        unlikely_size: groom.curves.unlikely_size(),
        problem: None,
        unread: None,
        problems: Vec::new(),
    };
    match groom.checked() {
        Ok((groom, repairs)) => {
            info.repairs = (!repairs.is_empty()).then(|| repairs.to_string());
            let body = arguments.body.as_ref();
            info.on_body = body.map(|mesh| on_body(&groom, mesh, arguments)).transpose()?;
        }
        Err(problem) => info.problem = Some(problem.to_string()),
    }
    let turned = info.on_body.as_ref().map_or(0, |imported| imported.turned.strands);
    let reversed = (turned > 0).then(|| format!("{turned} strands are given from tip to root"));
    let seating = info.on_body.as_ref().and_then(|imported| imported.seating?.problem());
    info.unread = cache.unfollowed();
    let unlikely = info.unlikely_size.clone();
    let all = [info.problem.clone(), info.repairs.clone(), unlikely, reversed, seating, info.unread.clone()];
    info.problems = all.into_iter().flatten().collect();
    Ok(info)
}

/// How a groom sits on a mesh, as a simulation would find it.
fn on_body(groom: &Groom, mesh: &Path, arguments: &Arguments) -> Result<Imported, Failure> {
    let body = body_mesh(mesh, arguments.body_scale, &arguments.source)?;
    let skin = |point: Vec3| body.skin(point);
    let (turned_groom, turned) = turn_strands(groom, &skin);
    Ok(Imported { turned, seating: Some(Seating::measure(&turned_groom, &skin)) })
}

fn range(values: impl IntoIterator<Item = f64>) -> Range<f64> {
    let ends = values.into_iter().filter(|value| value.is_finite()).fold(None, |ends, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    });
    let (low, high) = ends.unwrap_or_default();
    Range { low, high }
}

fn attributes(groom: &Groom) -> Vec<AttributeInfo> {
    let row = |name: &str, per, kind, values| AttributeInfo { name: name.to_owned(), per, kind, values };
    let bound = groom.roots.iter().filter(|root| matches!(root, Root::Triangle { .. })).count();
    let own = [
        row("root binding", "strand", "triangle", bound),
        row("root uv", "strand", "pair", groom.root_uv.len()),
        row("id", "strand", "whole number", groom.ids.len()),
        row("guide", "strand", "flag", groom.guides.len()),
    ];
    let extra = groom.attributes.iter().map(|attribute| {
        let per = match attribute.domain {
            Domain::Strand => "strand",
            Domain::Vertex => "vertex",
        };
        let kind = match attribute.values {
            Values::Float(_) => "number",
            Values::Vec2(_) => "pair",
            Values::Vec3(_) => "triple",
            Values::Int(_) => "whole number",
        };
        row(&attribute.name, per, kind, attribute.values.len())
    });
    own.into_iter().filter(|row| row.values > 0).chain(extra).collect()
}

fn text(info: &Info) -> String {
    let between = |range: &Range<f64>, scale: f64, unit: &str| {
        format!("{} to {} {unit}", number(range.low * scale), number(range.high * scale))
    };
    let vertices = &info.vertices_per_strand;
    let mut lines = vec![
        info.file.clone(),
        format!("  strands     {}", info.strands),
        format!("  vertices    {} ({} to {} on a strand)", info.vertices, vertices.low, vertices.high),
        format!("  unit        {} m in the file, {} up", number(info.unit), info.up),
        format!("  lengths     {}, mean {} m", between(&info.lengths, 1.0, "m"), number(info.mean_length)),
        format!("  widths      {}", between(&info.widths, 1000.0, "mm")),
    ];
    if let Some([low, high]) = info.bounds {
        let point = |p: Vec3| p.to_array().map(|value| number(f64::from(value))).join(", ");
        lines.push(format!("  bounds      ({}) to ({}) m", point(low), point(high)));
    }
    let time = match &info.time_range {
        None => "none, one frame".to_owned(),
        Some(TimeRange { start, end, first_frame, last_frame }) => format!(
            "{} frames, {} a second: frames {} to {}, {} to {} s",
            info.frames,
            number(info.fps),
            number(*first_frame),
            number(*last_frame),
            number(*start),
            number(*end)
        ),
    };
    lines.push(format!("  animation   {time}"));
    for attribute in &info.attributes {
        lines.push(format!(
            "  attribute   {}: a {} for each {}",
            attribute.name, attribute.kind, attribute.per
        ));
    }
    lines.extend(info.bodies.iter().map(|body| format!("  body        {body}")));
    if let Some(Imported { turned, seating }) = &info.on_body {
        if turned.strands > 0 {
            let told = "are given from tip to root (a simulation turns them)";
            lines.push(format!("  direction   {} strands {told}", turned.strands));
        }
        let problem = seating.and_then(|seating| seating.problem());
        let fine = || "all within 1 mm of the body's surface".to_owned();
        lines.push(format!("  roots       {}", problem.unwrap_or_else(fine)));
    }
    lines.push(match (&info.repairs, &info.problem) {
        (Some(repairs), _) => format!("  to mend     {repairs} (a simulation does that by itself)"),
        (None, Some(problem)) => format!("  problem     {problem}"),
        (None, None) => "  problems    none".to_owned(),
    });
    lines.extend(info.unlikely_size.iter().map(|size| format!("  size        {size}")));
    lines.extend(info.unread.iter().map(|unread| format!("  not read    {unread}")));
    lines.join("\n") + "\n"
}
