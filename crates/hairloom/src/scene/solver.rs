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

/// The solver and its own parameters: `[solver]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SolverSettings {
    /// The solver's name.
    pub method: String,
    /// The shape of the hair at rest.
    pub rest: RestKind,
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
        Self { method: method.to_owned(), rest: RestKind::Groomed, parameters: Parameters::none("solver") }
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
        let (own, parameters) = field.split(&["method", "rest"])?;
        let method = own.or("method", Self::default().method, |field| field.text())?;
        let rest = own.or("rest", RestKind::Groomed, |field| field.choice())?;
        Ok(Self { method, rest, parameters })
    }
}
