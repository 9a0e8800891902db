//! Experiments with whole heads of hair: the hairstyles of table 1 of Hsu et al. 2023, at rest and stirred.

mod drape;
mod hold;
mod stir;

pub(crate) use drape::Drape;
pub(crate) use hold::Hairstyles;
pub(crate) use stir::Stirred;

use glam::DVec3;
use hairloom::body::{Body, MeshSettings, MeshShape, Shape};
use hairloom::figure;
use hairloom::rest::global_force::Engine;
use hairloom::rest::{Hairstyle, Outcome};
use hairloom::scene::{Material, MaterialPreset};
use hairloom::solve::Method;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{Rig, alone, check_range};

/// Steps a second; solvers cut them into parts.
const RATE: f64 = 60.0;
/// Strands of a head that plots show at most.
const SHOWN: usize = 48;

/// Strands as plots show them, point by point [m].
type Lines = Vec<Vec<(f64, f64)>>;

/// What strands have for a rest shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// The groom.
    Naive,
    /// One by which forces balance, and moments do not (Hsu et al. 2022).
    ForceOnly,
    /// A sag-free one.
    SagFree,
}

impl Start {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Naive, "naive"), (Self::ForceOnly, "force-only"), (Self::SagFree, "sag-free")];
}

/// Wavy hair that takes on the velocity of the air at this rate [1/s].
fn wavy(drag: f64) -> Material {
    Material { drag, ..Material::preset(MaterialPreset::Wavy) }
}

/// A hairstyle on what holds it.
struct Head {
    rig: Rig,
    groomed: Vec<Vec<DVec3>>,
    /// What its rest shape took.
    outcome: Option<Outcome>,
}

impl Head {
    fn new(style: Hairstyle, start: Start, material: &Material, method: &Method) -> Result<Self, LabError> {
        Self::on(body(style, BODY_FRICTION)?, style, (start, Engine::OwnWeight), material, method)
    }

    /// The same on a body that is given, with forces that an engine finds.
    fn on(
        body: Body,
        style: Hairstyle,
        (start, engine): (Start, Engine),
        material: &Material,
        method: &Method,
    ) -> Result<Self, LabError> {
        let groom = style.groom().map_err(|error| LabError::Bench { problem: error.to_string() })?;
        let held = style.held(&groom);
        let rig = Rig::on_body(&groom.curves, material, &held, body, method)?;
        let groomed = rig.shapes();
        let (rig, outcome) = match start {
            Start::Naive => (rig, None),
            Start::ForceOnly => (rig.force_only(method)?, None),
            Start::SagFree => {
                let (rig, outcome) = rig.sag_free_by(method, engine)?;
                (rig, Some(outcome))
            }
        };
        Ok(Self { rig, groomed, outcome })
    }

    /// Lets time pass [s]; tells how far a vertex was at most from where it was groomed, over the length of its strand.
    fn pass(&mut self, seconds: f64) -> Result<f64, LabError> {
        let mut most = 0.0f64;
        for _ in 0..(seconds * RATE).round() as usize {
            self.rig.step(1.0 / RATE)?;
            most = most.max(largest(&self.away()));
        }
        Ok(most)
    }

    /// How far each strand is at most from where it was groomed, over its length.
    fn away(&self) -> Vec<f64> {
        self.rig.away(&self.groomed)
    }

    /// A few strands, seen from the front.
    fn lines(&self) -> Lines {
        let shapes = self.rig.shapes();
        let every = shapes.len().div_ceil(SHOWN);
        shapes.iter().step_by(every).map(|shape| shape.iter().map(|p| (p.x, p.y)).collect()).collect()
    }
}

/// Coefficient of friction of hair on the bust.
const BODY_FRICTION: f64 = 0.2;

/// What holds a hairstyle: the bust with a coefficient of friction, or a clamp that nothing touches.
fn body(style: Hairstyle, friction: f64) -> Result<Body, LabError> {
    if matches!(style, Hairstyle::Drape | Hairstyle::Knit) {
        return Ok(Body { name: "clamp".into(), shape: Shape::Plane, friction: 0.0, collides: false });
    }
    let mesh = MeshShape::new(&figure::bust().mesh, MeshSettings::default())?;
    Ok(Body::new("bust", Shape::Mesh(mesh), friction as f32)?)
}

/// The styles that a list names.
fn styles(names: &[String]) -> Result<Vec<Hairstyle>, BadKey> {
    let find = |name: &String| {
        let known =
            Hairstyle::ALL.into_iter().chain([128, 256, 512].map(|strands| Hairstyle::CurlyWig { strands }));
        let mut known = known.map(|style| (label(style), style));
        known.find(|(label, _)| label == name).map(|(_, style)| style).ok_or_else(|| {
            let names: Vec<String> = Hairstyle::ALL.into_iter().map(label).collect();
            (
                "styles",
                format!(
                    "there is no hairstyle '{name}'; there are {}, and curly-wig-128, -256 and -512",
                    names.join(", ")
                ),
            )
        })
    };
    names.iter().map(find).collect()
}

/// The name of a style; wigs of other sizes than the table's carry theirs.
fn label(style: Hairstyle) -> String {
    match style {
        Hairstyle::CurlyWig { strands } if strands != 1024 => format!("curly-wig-{strands}"),
        _ => style.name().to_owned(),
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Strands drawn beside each other in one panel, each kind with its own dashes.
fn picture(title: &str, kinds: &[(&str, Lines)]) -> Panel {
    let mut panel = Panel::new(Axis::new("x [m]"), Axis::new("y [m]")).titled(title).with_equal_aspect();
    for (name, lines) in kinds {
        // One series for each kind, so that it has one colour; the way between strands is a gap.
        let mut points = Vec::new();
        for line in lines {
            points.extend_from_slice(line);
            points.push((f64::NAN, f64::NAN));
        }
        panel = panel.with(Series::line(*name, points));
    }
    panel
}
