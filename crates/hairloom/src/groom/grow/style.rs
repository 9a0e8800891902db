use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::GrowError;

/// A hair style, as parameters of procedural growth. Missing fields take the values of [`Style::default`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Style {
    /// Number of strands.
    pub strands: u32,
    /// Strands per area where the density mask is one [1/cm²]; replaces `strands` if given.
    pub density: Option<f32>,
    /// Vertices on each strand, 2 to 1000; curls need about 12 for each turn.
    pub vertices: u32,
    /// Arc length of the strands [m].
    pub length: f32,
    /// Strands are shorter by a random part of their length, from 0 up to this, below 1.
    pub length_variation: f32,
    /// How much shorter strands are where hair grows thinly: 0 not at all, 1 in proportion to the surface's density.
    pub taper: f32,
    /// Diameter at the root [m].
    pub root_width: f32,
    /// Diameter at the tip [m].
    pub tip_width: f32,
    /// How steeply strands leave the skin: 0 lies flat, 1 stands along the normal.
    pub lift: f32,
    /// How fast strands turn towards where comb and gravity take them [1/m]; 0 keeps them straight.
    pub droop: f32,
    /// Random change of direction, as a part of one (about radians).
    pub scatter: f32,
    /// Thickness of the layer of hair on the head [m]: strands from higher up lie farther out.
    pub volume: f32,
    /// Where the hair is combed to.
    pub comb: Comb,
    /// Locks of strands that come together towards their tips.
    pub clumps: Clumps,
    /// Curls.
    pub curl: Curl,
    /// Gathers all hair at one place behind the head.
    pub tie: Option<Tie>,
    /// Short hair over the forehead.
    pub bangs: Option<Bangs>,
}

/// Where hair is combed to, before gravity takes over.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Comb {
    /// Place of the parting, from -1 (one side of the scalp) over 0 (the middle) to 1 (the side of +x on a head
    /// that looks along +z).
    pub parting: f32,
    /// Strength of combing away from the parting.
    pub side: f32,
    /// Strength of combing backwards; negative combs forwards.
    pub back: f32,
    /// Arc length over which the comb gives way to gravity [m].
    pub reach: f32,
}

/// Locks of strands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Clumps {
    /// Number of locks; 0 for none.
    pub count: u32,
    /// How close the tips come to the middle of the lock, 0 to 1.
    pub strength: f32,
    /// Where along the strand locks close: 1 evenly, higher values towards the tip.
    pub shape: f32,
}

/// Helical curls around the way that a strand would take without them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Curl {
    /// Radius of the helix [m]; 0 for straight hair.
    pub radius: f32,
    /// Advance along the axis for one turn [m].
    pub pitch: f32,
    /// Random part of radius, pitch and phase, 0 (all strands of a lock alike) to 1.
    pub jitter: f32,
    /// 0 for a helix, 1 for a wave in one plane.
    pub flatness: f32,
    /// Distance from the root over which the curl sets in [m].
    pub onset: f32,
}

/// Where a ponytail is tied.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tie {
    /// Angle above the horizontal, seen from the middle of the scalp [degrees].
    pub elevation: f32,
    /// Radius of the gathered hair [m].
    pub radius: f32,
}

/// Hair over the forehead.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bangs {
    /// Arc length [m].
    pub length: f32,
    /// Part of the scalp's width that they take, 0 to 1.
    pub width: f32,
    /// Part of the scalp's depth, from the front, that they take, 0 to 1.
    pub depth: f32,
}

impl Default for Comb {
    fn default() -> Self {
        Self { parting: 0.0, side: 1.0, back: 0.8, reach: 0.04 }
    }
}

impl Default for Clumps {
    fn default() -> Self {
        Self { count: 0, strength: 0.6, shape: 1.5 }
    }
}

impl Default for Curl {
    fn default() -> Self {
        Self { radius: 0.0, pitch: 0.05, jitter: 0.2, flatness: 0.0, onset: 0.03 }
    }
}

impl Default for Tie {
    fn default() -> Self {
        Self { elevation: 20.0, radius: 0.014 }
    }
}

impl Default for Bangs {
    fn default() -> Self {
        Self { length: 0.075, width: 0.6, depth: 0.3 }
    }
}

impl Default for Style {
    fn default() -> Self {
        Self {
            strands: 8000,
            density: None,
            vertices: 32,
            length: 0.3,
            length_variation: 0.12,
            taper: 0.0,
            root_width: 8e-5,
            tip_width: 5e-5,
            lift: 0.25,
            droop: 60.0,
            scatter: 0.04,
            volume: 0.012,
            comb: Comb::default(),
            clumps: Clumps { count: 300, strength: 0.5, shape: 1.5 },
            curl: Curl::default(),
            tie: None,
            bangs: None,
        }
    }
}

/// Styles to start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Long, straight, parted in the middle.
    Straight,
    /// Long waves with a side parting.
    Wavy,
    /// Ringlets.
    Curly,
    /// A round cloud of tight coils.
    Afro,
    /// Gathered behind the head, then hanging.
    Ponytail,
    /// Fur of a few centimetres.
    ShortFur,
    /// Shoulder-length with bangs over the forehead.
    Bob,
}

impl Preset {
    /// All presets.
    pub const ALL: [Preset; 7] =
        [Self::Straight, Self::Wavy, Self::Curly, Self::Afro, Self::Ponytail, Self::ShortFur, Self::Bob];

    /// Its name, as in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Straight => "straight",
            Self::Wavy => "wavy",
            Self::Curly => "curly",
            Self::Afro => "afro",
            Self::Ponytail => "ponytail",
            Self::ShortFur => "short-fur",
            Self::Bob => "bob",
        }
    }

    /// Its parameters.
    pub fn style(self) -> Style {
        let base = Style::default();
        match self {
            Self::Straight => Style { length: 0.4, ..base },
            Self::Wavy => Style {
                length: 0.36,
                vertices: 48,
                volume: 0.016,
                comb: Comb { parting: 0.3, ..base.comb },
                clumps: Clumps { count: 220, strength: 0.65, shape: 1.2 },
                curl: Curl { radius: 0.006, pitch: 0.065, jitter: 0.3, flatness: 0.6, onset: 0.07 },
                ..base
            },
            Self::Curly => Style {
                length: 0.36,
                vertices: 72,
                lift: 0.5,
                volume: 0.03,
                clumps: Clumps { count: 260, strength: 0.8, shape: 0.8 },
                curl: Curl { radius: 0.008, pitch: 0.03, jitter: 0.3, flatness: 0.0, onset: 0.04 },
                ..base
            },
            Self::Afro => Style {
                strands: 12_000,
                length: 0.16,
                vertices: 96,
                length_variation: 0.15,
                lift: 1.0,
                droop: 0.0,
                scatter: 0.25,
                volume: 0.0,
                clumps: Clumps { count: 0, ..base.clumps },
                curl: Curl { radius: 0.003, pitch: 0.011, jitter: 0.6, flatness: 0.0, onset: 0.008 },
                ..base
            },
            Self::Ponytail => Style {
                length: 0.45,
                vertices: 40,
                lift: 0.1,
                droop: 45.0,
                volume: 0.006,
                scatter: 0.02,
                clumps: Clumps { count: 60, strength: 0.4, shape: 2.0 },
                tie: Some(Tie::default()),
                ..base
            },
            Self::ShortFur => Style {
                strands: 20_000,
                length: 0.025,
                vertices: 8,
                length_variation: 0.3,
                lift: 0.55,
                droop: 20.0,
                scatter: 0.15,
                volume: 0.0,
                comb: Comb { side: 0.0, back: 1.0, ..base.comb },
                clumps: Clumps { count: 900, strength: 0.5, shape: 1.0 },
                ..base
            },
            Self::Bob => Style {
                length: 0.2,
                length_variation: 0.05,
                vertices: 28,
                comb: Comb { back: 0.35, ..base.comb },
                bangs: Some(Bangs::default()),
                ..base
            },
        }
    }
}

impl FromStr for Preset {
    type Err = GrowError;

    fn from_str(name: &str) -> Result<Self, GrowError> {
        Self::ALL.into_iter().find(|preset| preset.name() == name).ok_or_else(|| GrowError::NoSuchPreset {
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

impl Style {
    /// Checks that all parameters are in their ranges.
    pub fn validate(&self) -> Result<(), GrowError> {
        let real = [
            ("length", self.length, 1e-3, 10.0),
            ("length_variation", self.length_variation, 0.0, 0.99),
            ("taper", self.taper, 0.0, 1.0),
            ("root_width", self.root_width, 1e-6, 0.1),
            ("tip_width", self.tip_width, 1e-6, 0.1),
            ("density", self.density.unwrap_or(1.0), 1e-4, 1e5),
            ("lift", self.lift, 0.0, 1.0),
            ("droop", self.droop, 0.0, 1e4),
            ("scatter", self.scatter, 0.0, 1.0),
            ("volume", self.volume, 0.0, 0.2),
            ("comb.parting", self.comb.parting, -1.0, 1.0),
            ("comb.side", self.comb.side, -10.0, 10.0),
            ("comb.back", self.comb.back, -10.0, 10.0),
            ("comb.reach", self.comb.reach, 1e-3, 10.0),
            ("clumps.strength", self.clumps.strength, 0.0, 1.0),
            ("clumps.shape", self.clumps.shape, 0.1, 10.0),
            ("curl.radius", self.curl.radius, 0.0, 0.2),
            ("curl.pitch", self.curl.pitch, 1e-3, 10.0),
            ("curl.jitter", self.curl.jitter, 0.0, 1.0),
            ("curl.flatness", self.curl.flatness, 0.0, 1.0),
            ("curl.onset", self.curl.onset, 0.0, 10.0),
            ("tie.elevation", self.tie.unwrap_or_default().elevation, -60.0, 89.0),
            ("tie.radius", self.tie.unwrap_or_default().radius, 1e-3, 0.1),
            ("bangs.length", self.bangs.unwrap_or_default().length, 1e-3, 10.0),
            ("bangs.width", self.bangs.unwrap_or_default().width, 0.0, 1.0),
            ("bangs.depth", self.bangs.unwrap_or_default().depth, 0.0, 1.0),
        ];
        let whole = [
            ("strands", self.strands as f32, 1.0, MOST_STRANDS as f32),
            ("vertices", self.vertices as f32, 2.0, 1000.0),
        ];
        for (field, value, low, high) in real.into_iter().chain(whole) {
            // A NaN fails this comparison too.
            if !(value >= low && value <= high) {
                return Err(GrowError::Parameter { field, value, low, high });
            }
        }
        Ok(())
    }
}

/// More strands than this are taken for a mistake.
pub(super) const MOST_STRANDS: u32 = 2_000_000;
