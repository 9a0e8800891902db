use serde::Serialize;

use super::error::SceneError;
use super::material::MaterialPreset;
use super::parse::{Field, Section, choice};

choice! {
    /// Hairstyles that can be grown on a body.
    pub StylePreset, "style" {
        /// Straight head hair.
        Straight = "straight",
        /// Head hair in loose waves.
        Wavy = "wavy",
        /// Head hair in locks of helices.
        Curly = "curly",
        /// Head hair in tight coils.
        Coily = "coily",
        /// Short hair all over the body.
        Fur = "fur",
    }
}

impl StylePreset {
    /// The material that such hair usually has.
    pub fn material(self) -> MaterialPreset {
        match self {
            Self::Straight => MaterialPreset::Straight,
            Self::Wavy => MaterialPreset::Wavy,
            Self::Curly | Self::Coily => MaterialPreset::Curly,
            Self::Fur => MaterialPreset::Fur,
        }
    }
}

choice! {
    /// Grooms of known experiments.
    pub BuiltinGroom, "groom" {
        /// Strands that stand out from a ball in all directions.
        HairyBall = "hairy-ball",
    }
}

choice! {
    /// Which ends of the strands are held.
    pub Attach, "attachment" {
        /// The root follows the body.
        Root = "root",
        /// Root and tip follow the body.
        BothEnds = "both-ends",
        /// Nothing is held: the strands fall.
        None = "none",
    }
}

/// A style and the values in which the scene departs from it: `[groom.style]`.
///
/// What is `None` keeps the style's own value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StyleSettings {
    /// The style that the other values started from.
    pub preset: StylePreset,
    /// How many strands grow.
    pub strands: Option<u32>,
    /// Length of a strand along its curve [m].
    pub length: Option<f64>,
    /// Part of the length by which strands are shorter at random, from 0 to 1.
    pub length_variation: Option<f64>,
    /// Vertices of each strand, at least 2.
    pub vertices: Option<u32>,
    /// Radius of the curls' helix [m]; 0 for straight hair.
    pub curl_radius: Option<f64>,
    /// Advance of the curls' helix in one turn [m].
    pub curl_pitch: Option<f64>,
    /// How far strands are drawn to the centre of their clump, from 0 to 1.
    pub clumping: Option<f64>,
    /// How many clumps the strands are gathered in.
    pub clumps: Option<u32>,
    /// Size of the small random deviations along a strand [m].
    pub frizz: Option<f64>,
    /// Diameter of the strands for pictures and files [m].
    pub width: Option<f64>,
    /// Seed of everything random in the groom.
    pub seed: Option<u32>,
}

impl StyleSettings {
    /// The style as it is.
    pub fn new(preset: StylePreset) -> Self {
        Self {
            preset,
            strands: None,
            length: None,
            length_variation: None,
            vertices: None,
            curl_radius: None,
            curl_pitch: None,
            clumping: None,
            clumps: None,
            frizz: None,
            width: None,
            seed: None,
        }
    }

    fn read(field: Field<'_>) -> Result<Self, SceneError> {
        if field.is_text() {
            return Ok(Self::new(field.choice()?));
        }
        const KEYS: &[&str] = &[
            "preset",
            "strands",
            "length",
            "length_variation",
            "vertices",
            "curl_radius",
            "curl_pitch",
            "clumping",
            "clumps",
            "frizz",
            "width",
            "seed",
        ];
        let section = field.section(KEYS)?;
        Ok(Self {
            preset: section.require("preset", "the name of a style as preset")?.choice()?,
            strands: section.maybe("strands", |field| field.whole(1))?,
            length: section.maybe("length", |field| field.positive())?,
            length_variation: section.maybe("length_variation", |field| field.between(0.0, 1.0))?,
            vertices: section.maybe("vertices", |field| field.whole(2))?,
            curl_radius: section.maybe("curl_radius", |field| field.not_negative())?,
            curl_pitch: section.maybe("curl_pitch", |field| field.positive())?,
            clumping: section.maybe("clumping", |field| field.between(0.0, 1.0))?,
            clumps: section.maybe("clumps", |field| field.whole(1))?,
            frizz: section.maybe("frizz", |field| field.not_negative())?,
            width: section.maybe("width", |field| field.positive())?,
            seed: section.maybe("seed", |field| field.whole(0))?,
        })
    }
}

/// Where the hair comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GroomSource {
    /// A groom file, relative to the scene's file.
    File(String),
    /// Hair grown on the body in a style.
    Style(StyleSettings),
    /// The groom of a known experiment.
    Builtin(BuiltinGroom),
}

/// Simulated guides that carry all other strands along: `guides = { fraction = 0.03, blend = 3 }`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GuideSettings {
    /// Part of the strands that is simulated, above 0 and at most 1.
    pub fraction: f64,
    /// How many guides a follower blends.
    pub blend: u32,
}

impl GuideSettings {
    fn read(field: Field<'_>) -> Result<Self, SceneError> {
        let section = field.section(&["fraction", "blend"])?;
        Ok(Self {
            fraction: section.or("fraction", 0.03, |field| field.between(1e-6, 1.0))?,
            blend: section.or("blend", 3, |field| field.whole(1))?,
        })
    }
}

/// The hair and how it is held: `[groom]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroomSettings {
    /// Name of the body that holds the roots; the only body when a scene has just one, none when it has none.
    pub body: Option<String>,
    /// Vertices that each strand is resampled to, or as the source has them.
    pub resample: Option<u32>,
    /// Which ends are held.
    pub attach: Attach,
    /// Vertices held at each held end. Two hold the direction of the hair as its follicle does.
    pub pinned: u32,
    /// Which strands are simulated and which follow; every strand is simulated when absent.
    pub guides: Option<GuideSettings>,
    /// Where the hair comes from: `file`, `style` or `builtin`.
    #[serde(flatten)]
    pub source: GroomSource,
}

impl GroomSettings {
    /// Reads `[groom]`; `bodies` are the names that `body` may take.
    pub(super) fn read(scene: &Section<'_>, bodies: &[&str]) -> Result<Self, SceneError> {
        const KEYS: &[&str] = &["file", "style", "builtin", "body", "resample", "guides", "attach", "pinned"];
        let section = scene.section("groom", KEYS)?;
        let source = match section.exactly_one(&["file", "style", "builtin"])? {
            "file" => GroomSource::File(section.require("file", "a file")?.file()?),
            "style" => GroomSource::Style(StyleSettings::read(section.require("style", "a style")?)?),
            _ => GroomSource::Builtin(section.require("builtin", "a groom")?.choice()?),
        };
        Ok(Self {
            source,
            body: Self::read_body(&section, bodies)?,
            resample: section.maybe("resample", |field| field.whole(2))?,
            attach: section.or("attach", Attach::Root, |field| field.choice())?,
            pinned: section.or("pinned", 2, |field| field.whole(1))?,
            guides: section.maybe("guides", GuideSettings::read)?,
        })
    }

    fn read_body(section: &Section<'_>, bodies: &[&str]) -> Result<Option<String>, SceneError> {
        let Some(field) = section.get("body") else {
            return match bodies {
                [] => Ok(None),
                [only] => Ok(Some((*only).to_owned())),
                _ => Err(section.missing(&format!(
                    "body, the name of the body that holds the roots: one of {}",
                    bodies.join(", ")
                ))),
            };
        };
        let name = field.clone().text()?;
        if bodies.contains(&name.as_str()) {
            Ok(Some(name))
        } else {
            Err(field.unknown_name("body", &name, bodies))
        }
    }
}
