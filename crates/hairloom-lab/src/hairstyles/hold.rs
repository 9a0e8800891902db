//! The hairstyles experiment: every style of table 1 of Hsu et al. 2023 for some seconds under gravity, with its groom for a rest shape,
//! with one that balances forces alone, and with a sag-free one. Strands meet each other, as they do in scenes; sag-free ones are watched without
//! that, too.

use hairloom::scene::RestEngine;

use super::*;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// Names of the styles.
    styles: Vec<String>,
    /// For how long they are watched [s].
    seconds: f64,
    /// Rate at which hair takes on the velocity of the still air [1/s].
    drag: f64,
    /// Factor on Young's modulus of hair.
    stiffness: f64,
    /// What finds the forces of sag-free rest shapes.
    engine: String,
    /// The most time that it may take [s].
    engine_seconds: f64,
}

impl Params {
    fn engine(&self) -> Result<Engine, BadKey> {
        let seconds = self.engine_seconds;
        match RestEngine::ALL.iter().find(|engine| engine.name() == self.engine) {
            Some(RestEngine::OwnWeight) => Ok(Engine::OwnWeight),
            Some(RestEngine::Cone) => Ok(Engine::Reference { seconds }),
            Some(RestEngine::Anytime) => Ok(Engine::Anytime { seconds }),
            None => {
                let names: Vec<&str> = RestEngine::ALL.iter().map(|engine| engine.name()).collect();
                Err((
                    "engine",
                    format!("there is no engine '{}'; there are {}", self.engine, names.join(", ")),
                ))
            }
        }
    }
}

impl Default for Params {
    fn default() -> Self {
        Self {
            styles: Hairstyle::ALL.into_iter().map(label).collect(),
            seconds: 5.0,
            drag: 2.0,
            stiffness: 1.0,
            engine: RestEngine::OwnWeight.name().to_owned(),
            engine_seconds: 60.0,
        }
    }
}

/// The experiment.
pub(crate) struct Hairstyles;

impl Experiment for Hairstyles {
    type Params = Params;
    const NAME: &'static str = "hairstyles";
    const SUMMARY: &'static str = "the hairstyles of table 1 stay as groomed for five seconds with sag-free rest shapes, and fall without";
    const REFERENCE: &'static str =
        "the groomed shapes themselves; table 1, figures 1, 9 to 12 and 16 of Hsu et al. 2023";
    const SOLVERS: &'static [&'static str] = &["xpbd-mpm", "der-mpm"];
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("styles", "names of the styles, of table 1 and curly-wig-128, -256 and -512"),
        ("seconds", "for how long they are watched [s]"),
        ("drag", "rate at which hair takes on the velocity of the still air [1/s]"),
        ("stiffness", "factor on Young's modulus of hair"),
        ("engine", "what finds the forces of sag-free rest shapes: own-weight, cone or anytime"),
        ("engine_seconds", "the most time that it may take [s]"),
    ];

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("seconds", params.seconds, 0.0, 100.0))?;
        check_range(("drag", params.drag, 0.0, 1.0e3))?;
        check_range(("stiffness", params.stiffness, 1.0e-3, 1.0e6))?;
        check_range(("engine_seconds", params.engine_seconds, 0.1, 1.0e5))?;
        params.engine()?;
        styles(&params.styles).map(|_| ())
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let (mut rows, mut checks, mut figure) = (Vec::new(), Vec::new(), Figure::new("Hairstyles"));
        let hair = wavy(params.drag);
        let hair = Material { young: params.stiffness * hair.young, ..hair };
        for style in styles(&params.styles).unwrap_or_default() {
            let (name, mut kinds, mut moved, mut ends) = (label(style), Vec::new(), Vec::new(), Vec::new());
            let mut row = Row::new().with("style", name.clone());
            for (start, kind) in Start::ALL {
                let engine = params.engine().unwrap_or(Engine::OwnWeight);
                let mut head = Head::on(body(style, BODY_FRICTION)?, style, (start, engine), &hair, method)?;
                let most = head.pass(params.seconds)?;
                if let Some(outcome) = &head.outcome {
                    row = row
                        .with("strands", head.rig.model.strands())
                        .with("vertices", head.rig.model.vertices())
                        .with("stiffened_percent", 100.0 * outcome.stiffened)
                        .with("in_the_paper_percent", style.stiffened_in_the_paper())
                        .with("unstable_strands", outcome.unstable_strands);
                }
                moved.push(most);
                let away = head.away();
                ends.push(away.iter().sum::<f64>() / away.len() as f64);
                kinds.push((kind, head.lines()));
            }
            let mut without_contact = method.clone();
            alone(&mut without_contact);
            let lone = Head::new(style, Start::SagFree, &hair, &without_contact)?.pass(params.seconds)?;
            // Other methods have no such shapes.
            if matches!(method, Method::XpbdMpm(_)) {
                row = row.with("moved_force_only", moved[1]).with("mean_force_only", ends[1]);
            }
            rows.push(
                row.with("moved_naive", moved[0])
                    .with("moved_sag_free", moved[2])
                    .with("moved_sag_free_without_contact", lone)
                    .with("mean_naive", ends[0])
                    .with("mean_sag_free", ends[2]),
            );
            checks.push(Check::at_most(format!("{name}: sag-free, moved [lengths]"), moved[2], 0.005));
            checks.push(Check::at_most(format!("{name}: the same without contact [lengths]"), lone, 0.005));
            checks.push(Check::at_least(format!("{name}: naive, moved [lengths]"), moved[0], 0.1));
            kinds.remove(1);
            figure = figure.with(picture(&name, &kinds));
        }
        Ok(Findings { rows, checks, figure })
    }
}
