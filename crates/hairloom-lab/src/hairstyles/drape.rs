//! The drape experiment (figure 8): a sheaf of strands that lies across another one, by every way to begin.
//!
//! Without the yield constraint means a cone that bears any shear: grains that yield at their own angle then cannot bear what they are to carry,
//! and the sheaf slides, as in the figure. With the constraint it stays. Forces alone (Hsu et al. 2022) leave moments unbalanced, and it falls.

use hairloom::rest::Medium;
use hairloom::rest::global_force::Weights;

use super::*;

/// Friction angle of a medium that bears any shear [°].
const NO_YIELD: f64 = 89.0;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// For how long it is watched [s].
    seconds: f64,
    /// Rate at which hair takes on the velocity of the still air [1/s].
    drag: f64,
    /// The most time for the cone programme [s].
    solve_seconds: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { seconds: 5.0, drag: 2.0, solve_seconds: 120.0 }
    }
}

/// The experiment.
pub(crate) struct Drape;

impl Experiment for Drape {
    type Params = Params;
    const NAME: &'static str = "drape";
    const SUMMARY: &'static str =
        "a sheaf across another one stays with sag-free rest shapes, and slides or falls with others";
    const REFERENCE: &'static str = "the groomed shape itself; figure 8 of Hsu et al. 2023";
    const SOLVERS: &'static [&'static str] = &["xpbd-mpm"];
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("seconds", "for how long it is watched [s]"),
        ("drag", "rate at which hair takes on the velocity of the still air [1/s]"),
        ("solve_seconds", "the most time for the cone programme [s]"),
    ];

    fn adapt(method: &mut Method) {
        let Medium { cell, friction_angle } = Hairstyle::Drape.medium();
        if let Method::XpbdMpm(params) = method {
            (params.cell, params.friction_angle) = (Some(cell), Some(friction_angle as f32));
        }
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("seconds", params.seconds, 0.0, 100.0))?;
        check_range(("drag", params.drag, 0.0, 1.0e3))?;
        check_range(("solve_seconds", params.solve_seconds, 1.0, 1.0e4))
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let style = Hairstyle::Drape;
        let hair = wavy(params.drag);
        let heads = |start: Start| Head::new(style, start, &hair, method);
        // Contact is to carry much here: stress in the paper's proportion to forces across, for segments that carry eight vertices.
        let weights = Weights { hydrostatic: 0.005, deviatoric: 0.5, ..Weights::default() };
        let engine = Engine::Reference { seconds: params.solve_seconds };
        let with_contact = |friction_angle: Option<f64>| -> Result<Head, LabError> {
            let head = heads(Start::Naive)?;
            let medium = method.medium(&head.rig.model).unwrap_or(style.medium());
            let medium = Medium { friction_angle: friction_angle.unwrap_or(medium.friction_angle), ..medium };
            let (rig, outcome) = head.rig.balanced(method, &medium, &weights, engine)?;
            Ok(Head { rig, groomed: head.groomed, outcome: Some(outcome) })
        };
        let all = [
            ("naive", heads(Start::Naive)?),
            ("force-only", heads(Start::ForceOnly)?),
            ("without-yield", with_contact(Some(NO_YIELD))?),
            ("with-contact", with_contact(None)?),
            ("own-weight", heads(Start::SagFree)?),
        ];
        let (mut rows, mut checks, mut figure) = (Vec::new(), Vec::new(), Figure::new("Drape"));
        for (name, mut head) in all {
            let most = head.pass(params.seconds)?;
            let after = head.away();
            let stiffened = head.outcome.as_ref().map(|outcome| 100.0 * outcome.stiffened);
            rows.push(
                Row::new()
                    .with("start", name)
                    .with("stiffened_percent", stiffened)
                    .with("moved", most)
                    .with("mean_away_after", after.iter().sum::<f64>() / after.len() as f64),
            );
            match name {
                "own-weight" | "with-contact" => {
                    checks.push(Check::at_most(format!("{name}: moved [lengths]"), most, 0.005));
                }
                _ => checks.push(Check::at_least(format!("{name}: moved [lengths]"), most, 0.1)),
            }
            figure = figure.with(picture(name, &[(name, head.lines())]));
        }
        Ok(Findings { rows, checks, figure })
    }
}
