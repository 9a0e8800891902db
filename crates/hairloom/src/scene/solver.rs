use serde::Serialize;

use super::error::{SceneError, one_of, suggest};
use super::parameters::Parameters;
use super::parse::{Section, choice};

choice! {
    /// The shape that hair has at rest, without gravity.
    pub RestKind, "rest shape" {
        /// The groomed one: hair sags from there.
        Groomed = "groomed",
        /// One by which gravity keeps the hair as it was groomed.
        SagFree = "sag-free",
    }
}

choice! {
    /// What finds the forces that a sag-free rest shape makes.
    pub RestEngine, "engine" {
        /// Every strand carries itself: exact, and in no time.
        OwnWeight = "own-weight",
        /// A cone programme after Hsu et al. 2023 in clarabel, where contact carries a part; for small heads of hair.
        Cone = "cone",
        /// The same by a method of our own, with pressures between strands but no shear; it may stop at any time. Where strands meet at single
        /// contacts, forces at those.
        Anytime = "anytime",
    }
}

/// Most seconds of an engine where nothing else is said.
const USUAL_SECONDS: f64 = 60.0;

/// The solver and its own parameters: `[solver]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SolverSettings {
    /// The solver's name.
    pub method: String,
    /// The shape of the hair at rest.
    pub rest: RestKind,
    /// What finds the forces of a sag-free rest shape.
    pub rest_engine: RestEngine,
    /// The most time that it may take [s].
    pub rest_seconds: f64,
    /// Every other key of the table; only the solver knows what they mean.
    #[serde(flatten)]
    pub parameters: Parameters,
}

impl Default for SolverSettings {
    fn default() -> Self {
        Self::new("ftl")
    }
}

impl SolverSettings {
    /// The solver of that name with its usual parameters.
    pub fn new(method: &str) -> Self {
        Self {
            method: method.to_owned(),
            rest: RestKind::Groomed,
            rest_engine: RestEngine::OwnWeight,
            rest_seconds: USUAL_SECONDS,
            parameters: Parameters::none("solver"),
        }
    }

    /// The error for a method that is not among `methods`.
    pub(crate) fn unknown_method(&self, methods: &[&str]) -> SceneError {
        let hint =
            suggest(&self.method, methods).map_or(String::new(), |name| format!(". Did you mean '{name}'?"));
        let reason = format!("there is no solver '{}'; expected {}{hint}", self.method, one_of(methods));
        self.parameters.error("method", reason)
    }

    pub(super) fn read(scene: &Section<'_>) -> Result<Self, SceneError> {
        let Some(field) = scene.get("solver") else { return Ok(Self::default()) };
        let (own, parameters) = field.split(&["method", "rest", "rest_engine", "rest_seconds"])?;
        let method = own.or("method", Self::default().method, |field| field.text())?;
        let rest = own.or("rest", RestKind::Groomed, |field| field.choice())?;
        let rest_engine = own.or("rest_engine", RestEngine::OwnWeight, |field| field.choice())?;
        let rest_seconds = own.or("rest_seconds", USUAL_SECONDS, |field| field.positive())?;
        Ok(Self { method, rest, rest_engine, rest_seconds, parameters })
    }
}
