use serde::Serialize;

use super::error::SceneError;
use super::material::{Material, MaterialPreset};
use super::parse::Section;

/// The name that strands have which no `[[strands]]` names.
pub const ALL_OTHERS: &str = "hair";

/// Strands that are made of something else than the others: `[[strands]]`. A strand that several of them name is of the last.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StrandSettings {
    /// A name, unlike those of all others and of bodies.
    pub name: String,
    /// Which strands these are.
    #[serde(flatten)]
    pub which: Which,
    /// What they are made of. What is not written is the preset's, and without a preset as in `[material]`.
    #[serde(flatten)]
    pub material: Material,
    /// Coulomb friction with others by name, instead of what follows from the materials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub friction_with: Vec<PairFriction>,
}

/// Which strands are made of something else.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Which {
    /// Those that have this value in an attribute of the groom, which has one number for each strand.
    Painted {
        /// Its name.
        attribute: String,
        /// The value; numbers that are not whole are rounded.
        value: u32,
    },
    /// So many of all, scattered among the others.
    Share {
        /// From 0 to 1.
        share: f64,
    },
}

/// Friction with other strands, or with a body: `{ name = "head", friction = 0.4 }`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairFriction {
    /// The others: of `[[strands]]`, of `[[body]]`, or `hair`.
    pub name: String,
    /// Coulomb's coefficient.
    pub friction: f64,
}

impl StrandSettings {
    const KEYS: &'static [&'static str] = &[
        "name",
        "attribute",
        "value",
        "share",
        "friction_with",
        "preset",
        "young",
        "poisson",
        "density",
        "radius",
        "flatness",
        "friction",
        "body_friction",
        "drag",
    ];

    /// Reads all of them. `usual` is the material of the others, `bodies` are the names of bodies.
    pub(super) fn read_all(
        scene: &Section<'_>,
        usual: &Material,
        bodies: &[&str],
    ) -> Result<Vec<Self>, SceneError> {
        let sections = scene.sections("strands", Self::KEYS)?;
        let mut names: Vec<String> = bodies.iter().map(|&name| name.to_owned()).collect();
        if let Some(section) = sections.first().filter(|_| bodies.contains(&ALL_OTHERS)) {
            let reason = format!("a body is named '{ALL_OTHERS}', which stands for all other strands here");
            return Err(section.require("name", "name")?.conflict(reason));
        }
        names.push(ALL_OTHERS.to_owned());
        for section in &sections {
            let field = section.require("name", "name")?;
            let name = field.clone().text()?;
            if names.contains(&name) {
                let reason =
                    format!("'{name}' is the name of a body or of other strands, or stands for all others");
                return Err(field.conflict(reason));
            }
            names.push(name);
        }
        let all: Vec<Self> =
            sections.iter().map(|section| Self::read(section, usual, &names)).collect::<Result<_, _>>()?;
        for (index, section) in sections.iter().enumerate() {
            let own = &all[index];
            for (place, pair) in own.friction_with.iter().enumerate() {
                let before = own.friction_with[..place].iter().any(|one| one.name == pair.name);
                let others = all[..index].iter().filter(|other| other.name == pair.name);
                let named_there =
                    others.flat_map(|other| &other.friction_with).any(|one| one.name == own.name);
                if before || named_there || pair.name == own.name {
                    let reason = format!("friction of '{}' with '{}' is given twice", own.name, pair.name);
                    return Err(section.require("friction_with", "friction_with")?.conflict(reason));
                }
            }
        }
        Ok(all)
    }

    fn read(section: &Section<'_>, usual: &Material, names: &[String]) -> Result<Self, SceneError> {
        let which = match section.exactly_one(&["attribute", "share"])? {
            "attribute" => Which::Painted {
                attribute: section.require("attribute", "a name")?.text()?,
                value: section.require("value", "a whole number")?.whole(0)?,
            },
            _ => {
                section.reject(&["value"], "it belongs to an attribute, not to a share")?;
                Which::Share { share: section.require("share", "a share")?.between(0.0, 1.0)? }
            }
        };
        let base = section.maybe("preset", |field| field.choice::<MaterialPreset>())?;
        let base = base.map_or(*usual, Material::preset);
        let mut friction_with = Vec::new();
        for pair in section.sections("friction_with", &["name", "friction"])? {
            let field = pair.require("name", "name")?;
            let name = field.clone().text()?;
            if !names.contains(&name) {
                let known: Vec<&str> = names.iter().map(String::as_str).collect();
                return Err(field.unknown_name("strands or body", &name, &known));
            }
            let friction = pair.require("friction", "friction")?.not_negative()?;
            friction_with.push(PairFriction { name, friction });
        }
        Ok(Self {
            name: section.require("name", "name")?.text()?,
            which,
            material: Material::read_from(section, base)?,
            friction_with,
        })
    }
}
