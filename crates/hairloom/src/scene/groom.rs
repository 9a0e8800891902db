use serde::Serialize;

use super::error::SceneError;
use super::material::MaterialPreset;
use super::parameters::Parameters;
use super::parse::{Field, Section, choice};

choice! {
    /// Hairstyles that can be grown on a body.
    pub StylePreset, "style" {
        /// Long straight hair, parted in the middle.
        Straight = "straight",
        /// Long waves.
        Wavy = "wavy",
        /// Ringlets.
        Curly = "curly",
        /// A round cloud of tight coils.
        Afro = "afro",
        /// Gathered behind the head, then hanging.
        Ponytail = "ponytail",
        /// Fur of a few centimetres, all over the body.
        ShortFur = "short-fur",
        /// Chin-length with bangs over the forehead.
        Bob = "bob",
    }
}

impl StylePreset {
    /// The material that such hair usually has.
    pub fn material(self) -> MaterialPreset {
        match self {
            Self::Straight | Self::Ponytail | Self::Bob => MaterialPreset::Straight,
            Self::Wavy => MaterialPreset::Wavy,
            Self::Curly | Self::Afro => MaterialPreset::Curly,
            Self::ShortFur => MaterialPreset::Fur,
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

/// A style and the values in which the scene departs from it: `style = "curly"` or `[groom.style]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StyleSettings {
    /// The style to start from.
    pub preset: StylePreset,
    /// Seed of everything random in the groom.
    pub seed: u32,
    /// Every other key of the table, parameters of growth: `strands`, `length` [m], `length_variation`, `vertices`,
    /// `curl = { radius, pitch }` [m], `clumps = { count, strength }`, `root_width`, `tip_width` [m] and so on.
    /// Read them over the preset's own with [`Parameters::read_over`].
    #[serde(flatten)]
    pub parameters: Parameters,
}

impl StyleSettings {
    /// The style as it is.
    pub fn new(preset: StylePreset) -> Self {
        Self { preset, seed: 0, parameters: Parameters::none("groom.style") }
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

/// Simulated guides that carry all other strands along: `guides = { fraction = 0.03 }`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GuideSettings {
    /// Part of the strands that is simulated, above 0 and at most 1; of no effect on marked guides.
    pub fraction: f64,
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
        let section = field.section(&["fraction", "pick", "blend", "keep_lengths", "seed"])?;
        let blend = section.section("blend", &["root", "tip"])?;
        Ok(Self {
            fraction: section.or("fraction", 0.03, |field| field.between(1e-6, 1.0))?,
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
        if bodies.is_empty() {
            return Err(field.conflict(format!("the scene has no bodies; add a [[body]] named '{name}'")));
        }
        if !bodies.contains(&name.as_str()) {
            return Err(field.unknown_name("body", &name, bodies));
        }
        Ok(Some(name))
    }
}
