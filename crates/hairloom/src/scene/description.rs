use serde::Serialize;

use super::body::BodySettings;
use super::document::{self, Node, Places, Value};
use super::error::{Problem, SceneError, one_of, suggest};
use super::gravity::Gravity;
use super::groom::GroomSettings;
use super::material::Material;
use super::output::OutputSettings;
use super::parse::Section;
use super::solver::SolverSettings;
use super::strands::StrandSettings;
use super::time::TimeRange;
use super::wind::Wind;

/// All that a simulation starts from, as a user writes it in TOML.
///
/// Only `[groom]` must be there, with one of `file`, `style` and `builtin`:
///
/// ```
/// let text = r#"
///     [groom]
///     style = "curly"
///
///     [[body]]
///     name = "head"
///     figure = "bust"
///     motion = { builtin = "head-turn" }
/// "#;
/// let scene = hairloom::scene::Scene::from_toml(text, "turn.toml")?;
/// assert_eq!(scene.groom.body.as_deref(), Some("head"));
/// # Ok::<(), hairloom::scene::SceneError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scene {
    /// A name for people.
    pub name: String,
    /// The time that is simulated.
    pub time: TimeRange,
    /// The hair and how it is held.
    pub groom: GroomSettings,
    /// What the hair is made of.
    pub material: Material,
    /// Strands that are made of something else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strands: Vec<StrandSettings>,
    /// Bodies that hair grows on or collides with.
    #[serde(rename = "body")]
    pub bodies: Vec<BodySettings>,
    /// Gravity.
    pub gravity: Gravity,
    /// The air's movement.
    pub wind: Wind,
    /// The solver and its own parameters.
    pub solver: SolverSettings,
    /// What is written.
    pub output: OutputSettings,
    #[serde(skip)]
    places: Places,
}

const KEYS: &[&str] =
    &["name", "time", "groom", "material", "strands", "body", "gravity", "wind", "solver", "output"];

impl Scene {
    /// Reads a scene; `file_name` is only for error messages.
    pub fn from_toml(text: &str, file_name: &str) -> Result<Self, SceneError> {
        Self::from_toml_with(text, file_name, &[])
    }

    /// Reads a scene in which the values at some dotted keys are replaced or added, as in `time.fps`,
    /// `body.head.friction` (the body named head) or `body.0.friction` (the first body).
    ///
    /// A `solver.method` other than the text's drops the text's parameters for its solver.
    pub fn from_toml_with(
        text: &str,
        file_name: &str,
        overrides: &[(String, toml::Value)],
    ) -> Result<Self, SceneError> {
        let mut root = document::parse(text, file_name)?;
        if let Some((_, method)) = overrides.iter().rfind(|(key, _)| key == "solver.method") {
            drop_parameters_of_others(&mut root, method);
        }
        for (key, value) in overrides {
            document::set(&mut root, key, value)?;
        }
        Self::read(&root)
    }

    /// The scene as TOML, with every value written out.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// The body that holds the roots.
    pub fn groom_body(&self) -> Option<&BodySettings> {
        let name = self.groom.body.as_deref()?;
        self.bodies.iter().find(|body| body.name == name)
    }

    /// The error for something that turns out to be wrong at a dotted key (`groom.file`, `body.0.mesh`) only when
    /// the scene is put to use.
    pub fn error(&self, key: &str, reason: impl Into<String>) -> SceneError {
        let problem = Problem::Conflict { key: key.to_owned(), reason: reason.into() };
        SceneError::new(&self.places.find(key), problem)
    }

    /// The error for a name at a dotted key (`solver.method`, `body.0.animation`) that is none of `names`; `what`
    /// says what is named.
    pub fn unknown_name(&self, key: &str, what: &str, found: &str, names: &[&str]) -> SceneError {
        let problem = Problem::UnknownName {
            key: key.to_owned(),
            what: what.to_owned(),
            found: found.to_owned(),
            expected: one_of(names),
            suggestion: suggest(found, names),
        };
        SceneError::new(&self.places.find(key), problem)
    }

    fn read(root: &Node) -> Result<Self, SceneError> {
        let section = Section::root(root, KEYS)?;
        let time = TimeRange::read(&section)?;
        let bodies = BodySettings::read_all(&section, time.start)?;
        let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
        let groom = GroomSettings::read(&section, &names)?;
        let material = Material::read(&section, groom.source.usual_material())?;
        Ok(Self {
            name: section.or("name", "scene".to_owned(), |field| field.text())?,
            strands: StrandSettings::read_all(&section, &material, &names)?,
            material,
            gravity: Gravity::read(&section)?,
            wind: Wind::read(&section)?,
            solver: SolverSettings::read(&section)?,
            output: OutputSettings::read(&section)?,
            time,
            groom,
            bodies,
            places: Places::new(root),
        })
    }
}

/// Parameters belong to the method that they were written for.
fn drop_parameters_of_others(root: &mut Node, method: &toml::Value) {
    let Value::Table(entries) = &mut root.value else { return };
    let solver = entries.iter_mut().find(|(key, _)| key == "solver");
    let Some((_, Node { value: Value::Table(entries), .. })) = solver else { return };
    let written = entries.iter().find(|(key, _)| key == "method").map(|(_, node)| node.value.to_toml());
    let written = written.unwrap_or_else(|| SolverSettings::default().method.into());
    if written != *method {
        entries.clear();
    }
}
