use hairloom::contact::nsgs::Problem;
use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation};

use crate::LabError;

/// 334 fibres, tied; the head begins to turn with frame 12.
const SCENE: &str = include_str!("../../../../scenes/ponytail-nsgs.toml");
const FILE: &str = "scenes/ponytail-nsgs.toml";

/// Problems of a ponytail on a head that turns: those of the last steps of the frames `every`, 2 `every` and so on up to `frames`, by name.
pub(crate) fn ponytail(frames: usize, every: usize) -> Result<Vec<(String, Problem)>, LabError> {
    let bad = |error: &dyn std::fmt::Display| LabError::Bench { problem: error.to_string() };
    let scene = Scene::from_toml(SCENE, FILE).map_err(|error| bad(&error))?;
    let mut simulation = Simulation::new(scene, &NoFiles).map_err(|error| bad(&error))?;
    let mut problems = vec![];
    for frame in 1..=frames {
        simulation.advance().map_err(|error| bad(&error))?;
        if frame % every == 0
            && let Some(full) = simulation.contact_problem()
        {
            problems.push((format!("ponytail, frame {frame}"), full.assembly()?.reduced()));
        }
    }
    Ok(problems)
}
