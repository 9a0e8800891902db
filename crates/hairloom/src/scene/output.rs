use serde::Serialize;

use super::error::SceneError;
use super::parse::Section;

/// What is written: `[output]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutputSettings {
    /// The cache, relative to where the program runs; its ending chooses the format. Named after the scene's
    /// file when absent.
    pub file: Option<String>,
    /// Whether the cache holds the strands' diameters.
    pub widths: bool,
    /// Whether the cache holds the vertices' velocities, for motion blur.
    pub velocities: bool,
    /// Whether the cache holds the bodies.
    pub bodies: bool,
}

impl Default for OutputSettings {
    fn default() -> Self {
        Self { file: None, widths: true, velocities: true, bodies: true }
    }
}

impl OutputSettings {
    pub(super) fn read(scene: &Section<'_>) -> Result<Self, SceneError> {
        let section = scene.section("output", &["file", "widths", "velocities", "bodies"])?;
        let default = Self::default();
        Ok(Self {
            file: section.maybe("file", |field| field.file())?,
            widths: section.or("widths", default.widths, |field| field.boolean())?,
            velocities: section.or("velocities", default.velocities, |field| field.boolean())?,
            bodies: section.or("bodies", default.bodies, |field| field.boolean())?,
        })
    }
}
