use glam::DVec3;
use serde::Serialize;

use super::error::SceneError;
use super::parse::Field;

/// Strands that keep more of how they were combed, by more held vertices: `bangs = { pinned = 6, center = [0, 1.7, 0.1], radius = 0.05 }`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BangsSettings {
    /// Vertices held at the root of such a strand.
    pub pinned: u32,
    /// Which strands these are.
    #[serde(flatten)]
    pub place: BangsPlace,
}

/// Which strands hold more vertices.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum BangsPlace {
    /// Those whose root is in a ball about `center`.
    Ball {
        /// The middle of the ball, in the rest pose [m].
        center: DVec3,
        /// Its radius [m].
        radius: f64,
    },
    /// As an attribute of the groom says, painted on its strands: 0 for as many as all others, 1 for all of `pinned`.
    Painted {
        /// Its name.
        attribute: String,
    },
}

impl BangsSettings {
    pub(super) fn read(field: Field<'_>) -> Result<Self, SceneError> {
        let section = field.section(&["pinned", "center", "radius", "attribute"])?;
        let place = match section.exactly_one(&["center", "attribute"])? {
            "attribute" => {
                section.reject(&["radius"], "it belongs to a center, not to an attribute")?;
                BangsPlace::Painted { attribute: section.require("attribute", "a name")?.text()? }
            }
            _ => BangsPlace::Ball {
                center: section.require("center", "a place")?.vector()?,
                radius: section.require("radius", "a number of metres")?.positive()?,
            },
        };
        Ok(Self { pinned: section.or("pinned", 6, |field| field.whole(1))?, place })
    }
}
