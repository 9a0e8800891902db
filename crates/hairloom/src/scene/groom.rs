use serde::Serialize;

use super::bangs::BangsSettings;
use super::edit;
use super::error::SceneError;
use super::material::MaterialPreset;
use super::parameters::Parameters;
use super::parse::{Choice, Field, Section, choice};
use crate::groom::{Edit, GrowError, Preset, Style};

impl Choice for Preset {
    const WHAT: &'static str = "style";
    const ALL: &'static [Self] = &Preset::ALL;

    fn name(self) -> &'static str {
        Preset::name(self)
    }
}

/// The material that hair of a style usually has.
fn usual_material(preset: Preset) -> MaterialPreset {
    match preset {
        Preset::Straight | Preset::Ponytail | Preset::Bob => MaterialPreset::Straight,
        Preset::Wavy => MaterialPreset::Wavy,
        Preset::Curly | Preset::Afro => MaterialPreset::Curly,
        Preset::ShortFur => MaterialPreset::Fur,
    }
}

/// Most vertices that a strand may be resampled to.
pub(super) const MOST_VERTICES: u32 = 10_000;

choice! {
    /// Grooms of known experiments.
    pub BuiltinGroom, "groom" {
        /// Helices on the top half of a ball of radius 9 cm around the body's origin.
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

/// A style and the values in which the scene departs from it: `style = "curly"` or `[groom.style]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StyleSettings {
    /// The style to start from.
    pub preset: Preset,
    /// Seed of everything random in the groom.
    pub seed: u32,
    /// Every other key of the table, parameters of growth: `strands`, `length` [m], `length_variation`, `vertices`,
    /// `curl = { radius, pitch }` [m], `clumps = { count, strength }`, `root_width`, `tip_width` [m] and so on.
    /// [`StyleSettings::style`] reads them over the preset's own.
    #[serde(flatten)]
    pub parameters: Parameters,
}

impl StyleSettings {
    /// The style as it is.
    pub fn new(preset: Preset) -> Self {
        Self { preset, seed: 0, parameters: Parameters::none("groom.style") }
    }

    /// The style with the scene's values in place of the preset's.
    pub fn style(&self) -> Result<Style, SceneError> {
        let style = self.parameters.read_over(&self.preset.style())?;
        style.validate().map_err(|error| match error {
            GrowError::Parameter { field, low, high, .. } => {
                self.parameters.invalid(field, &format!("a number from {low} to {high}"))
            }
            other => self.parameters.error("", other.to_string()),
        })?;
        Ok(style)
    }

    fn read(field: Field<'_>) -> Result<Self, SceneError> {
        if field.is_text() {
            return Ok(Self::new(field.choice()?));
        }
        let (own, others) = field.split(&["preset", "seed"])?;
        Ok(Self {
            preset: own.require("preset", "the name of a style as preset")?.choice()?,
            seed: own.or("seed", 0, |field| field.whole(0))?,
            parameters: others,
        })
    }
}

/// The groom of a known experiment: `builtin = "hairy-ball"` or `[groom.builtin]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BuiltinSettings {
    /// Which groom.
    pub name: BuiltinGroom,
    /// How many strands it has.
    pub strands: u32,
    /// Seed of everything random in the groom.
    pub seed: u32,
}

impl BuiltinSettings {
    /// The groom with its usual values.
    pub fn new(name: BuiltinGroom) -> Self {
        Self { name, strands: 1000, seed: 0 }
    }

    fn read(field: Field<'_>) -> Result<Self, SceneError> {
        if field.is_text() {
            return Ok(Self::new(field.choice()?));
        }
        let section = field.section(&["name", "strands", "seed"])?;
        let usual = Self::new(section.require("name", "the name of a groom")?.choice()?);
        Ok(Self {
            strands: section.or("strands", usual.strands, |field| field.whole(1))?,
            seed: section.or("seed", usual.seed, |field| field.whole(0))?,
            ..usual
        })
    }
}

choice! {
    /// The axis that points up in a file.
    pub UpAxis, "axis" {
        /// The y axis, as in scenes.
        Y = "y",
        /// The z axis.
        Z = "z",
    }
}

/// What a scene says about its groom's file, where the file itself does not say or is wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct GroomFileSettings {
    /// Metres per unit of the file [m]: `unit = 0.01` or `unit = "cm"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<f64>,
    /// The axis that points up in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<UpAxis>,
}

impl GroomFileSettings {
    /// The names of units, with their lengths [m].
    pub const UNITS: [(&str, f64); 4] = [("m", 1.0), ("cm", 0.01), ("mm", 0.001), ("in", 0.0254)];
    /// Shortest and longest unit that a file may have [m].
    pub const SHORTEST_AND_LONGEST_UNIT: (f64, f64) = (1e-9, 1e9);

    /// The length of a unit by its name [m].
    pub fn unit_named(name: &str) -> Option<f64> {
        Self::UNITS.iter().find(|(known, _)| *known == name).map(|&(_, length)| length)
    }

    fn read(section: &Section<'_>) -> Result<Self, SceneError> {
        let unit = |field: Field<'_>| {
            if !field.is_text() {
                let (least, most) = Self::SHORTEST_AND_LONGEST_UNIT;
                return field.between(least, most);
            }
            let name = field.clone().text()?;
            let names = Self::UNITS.map(|(name, _)| name);
            Self::unit_named(&name).ok_or_else(|| field.unknown_name("unit", &name, &names))
        };
        Ok(Self { unit: section.maybe("unit", unit)?, up: section.maybe("up", |field| field.choice())? })
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
    Builtin(BuiltinSettings),
}

choice! {
    /// Which strands are guides.
    pub GuidePick, "way to pick guides" {
        /// An even cover: each next guide is the strand whose root is farthest from all guides so far.
        Farthest = "farthest",
        /// At random.
        Random = "random",
        /// Those that the groom's file marks as guides.
        Marked = "marked",
    }
}

impl GroomSource {
    /// The material that such hair usually has.
    pub fn usual_material(&self) -> MaterialPreset {
        match self {
            Self::Style(style) => usual_material(style.preset),
            Self::File(_) | Self::Builtin(_) => MaterialPreset::Straight,
        }
    }
}

/// Simulated guides that carry all other strands along: `guides = { fraction = 0.03 }`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GuideSettings {
    /// Part of the strands that is simulated, above 0 and at most 1; of no effect on marked guides.
    pub fraction: f64,
    /// Vertices of a guide on the mean, shared out by length, or as the strands have them: what is simulated may be finer or
    /// coarser than what is drawn.
    pub vertices: Option<f64>,
    /// Which strands are guides.
    pub pick: GuidePick,
    /// How followers blend several guides.
    pub blend: GuideBlend,
    /// Whether followers keep the lengths of their edges.
    pub keep_lengths: bool,
    /// Seed of the choice.
    pub seed: u32,
}

/// How much a follower takes from the three guides around it together rather than from the nearest alone:
/// `blend = { root = 0.0, tip = 1.0 }`. Blending is smooth, a single guide keeps locks apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GuideBlend {
    /// At the root, from 0 to 1.
    pub root: f64,
    /// At the tip, from 0 to 1.
    pub tip: f64,
}

impl GuideSettings {
    fn read(field: Field<'_>) -> Result<Self, SceneError> {
        let section = field.section(&["fraction", "vertices", "pick", "blend", "keep_lengths", "seed"])?;
        let blend = section.section("blend", &["root", "tip"])?;
        Ok(Self {
            fraction: section.or("fraction", 0.03, |field| field.between(1e-6, 1.0))?,
            vertices: section.maybe("vertices", |field| field.between(2.0, f64::from(MOST_VERTICES)))?,
            pick: section.or("pick", GuidePick::Farthest, |field| field.choice())?,
            blend: GuideBlend {
                root: blend.or("root", 0.0, |field| field.between(0.0, 1.0))?,
                tip: blend.or("tip", 1.0, |field| field.between(0.0, 1.0))?,
            },
            keep_lengths: section.or("keep_lengths", true, |field| field.boolean())?,
            seed: section.or("seed", 0, |field| field.whole(0))?,
        })
    }
}

/// The hair and how it is held: `[groom]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroomSettings {
    /// Name of the body that holds the roots; the only body when a scene has just one, none when it has none.
    pub body: Option<String>,
    /// Whether strands of a file that are given from tip to root are turned around. They are where their last point is
    /// at the body and their first away from it.
    pub turn: bool,
    /// What the scene says about the groom's file; nothing for hair from elsewhere.
    #[serde(flatten)]
    pub of_file: GroomFileSettings,
    /// What is done to the groom, in this order: `[[groom.edit]]`.
    #[serde(rename = "edit", skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
    /// Vertices that each strand is resampled to, or as the source has them.
    pub resample: Option<u32>,
    /// Which ends are held.
    pub attach: Attach,
    /// Vertices held at each held end. Two hold the direction of the hair as its follicle does.
    pub pinned: u32,
    /// Strands that hold more vertices.
    pub bangs: Option<BangsSettings>,
    /// Which strands are simulated and which follow; every strand is simulated when absent.
    pub guides: Option<GuideSettings>,
    /// Where the hair comes from: `file`, `style` or `builtin`.
    #[serde(flatten)]
    pub source: GroomSource,
}

impl GroomSettings {
    /// Reads `[groom]`; `bodies` are the names that `body` may take.
    pub(super) fn read(scene: &Section<'_>, bodies: &[&str]) -> Result<Self, SceneError> {
        const KEYS: &[&str] = &[
            "file", "unit", "up", "style", "builtin", "body", "turn", "edit", "resample", "guides", "attach",
            "pinned", "bangs",
        ];
        let section = scene.section("groom", KEYS)?;
        let source = match section.exactly_one(&["file", "style", "builtin"])? {
            "file" => GroomSource::File(section.require("file", "a file")?.file()?),
            "style" => GroomSource::Style(StyleSettings::read(section.require("style", "a style")?)?),
            _ => GroomSource::Builtin(BuiltinSettings::read(section.require("builtin", "a groom")?)?),
        };
        if !matches!(source, GroomSource::File(_)) {
            section.reject(&["unit", "up"], "it is about a groom's file, and the groom has none")?;
        }
        Ok(Self {
            source,
            of_file: GroomFileSettings::read(&section)?,
            body: Self::read_body(&section, bodies)?,
            turn: section.or("turn", true, |field| field.boolean())?,
            edits: section.or("edit", Vec::new(), edit::read_all)?,
            resample: section.maybe("resample", |field| field.whole_from_to(2, MOST_VERTICES))?,
            attach: section.or("attach", Attach::Root, |field| field.choice())?,
            pinned: section.or("pinned", 2, |field| field.whole(1))?,
            bangs: section.maybe("bangs", BangsSettings::read)?,
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
        if bodies.is_empty() {
            return Err(field.conflict(format!("the scene has no bodies; add a [[body]] named '{name}'")));
        }
        if !bodies.contains(&name.as_str()) {
            return Err(field.unknown_name("body", &name, bodies));
        }
        Ok(Some(name))
    }
}
