//! The gust experiment: sag-free strands of several shapes, which meet nothing, come back to their groomed shapes after the wind.

use std::f64::consts::TAU;

use super::*;
use crate::strands::straight;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair; curves are about as long.
    #[serde(flatten)]
    rod: Rod,
    /// Speed of the gust [m/s].
    wind: f64,
    /// Rate at which strands take on the velocity of the air [1/s].
    drag: f64,
    /// Time of rest before the gust, of the gust, and after it [s].
    times: [f64; 3],
}

impl Default for Params {
    fn default() -> Self {
        Self { rod: Rod::of(0.1, 5.0e-3), wind: 3.0, drag: 10.0, times: [1.0, 1.0, 4.0] }
    }
}

impl Params {
    /// Shapes with their names, each from its root at the origin, and across the wind.
    fn shapes(&self) -> Vec<(&'static str, Vec<DVec3>)> {
        let length = self.rod.length;
        let edges = self.rod.edges(length, 8);
        let along = |place: &dyn Fn(f64) -> DVec3| -> Vec<DVec3> {
            (0..=edges).map(|i| place(i as f64 / edges as f64) - place(0.0)).collect()
        };
        let wave = |t: f64| DVec3::new(0.0, 0.02 * length * (2.0 * TAU * t).sin(), length * t);
        let curl = |t: f64| {
            let (sine, cosine) = (3.0 * TAU * t).sin_cos();
            DVec3::new(0.04 * length * cosine, -0.6 * length * t, 0.04 * length * sine)
        };
        vec![
            ("level", straight(DVec3::Z, length, edges)),
            ("oblique", straight(DVec3::new(0.5, 0.8, 0.33).normalize(), 0.7 * length, edges)),
            ("wave", along(&wave)),
            ("curl", along(&curl)),
        ]
    }
}

/// The experiment.
pub(crate) struct Gust;

impl Experiment for Gust {
    type Params = Params;
    const NAME: &'static str = "gust";
    const SUMMARY: &'static str = "sag-free strands of several shapes stay as groomed, are blown away, and come back within 2 % of their length";
    const REFERENCE: &'static str = "the groomed shapes themselves; figures 10 to 14 of Hsu et al. 2023";
    const SOLVERS: &'static [&'static str] = &["xpbd-mpm", "admm", "der-mpm"];
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("wind", "speed of the gust [m/s]"),
        ("drag", "rate at which strands take on the velocity of the air [1/s]"),
        ("times", "time of rest before the gust, of the gust, and after it [s]"),
    ];

    fn adapt(method: &mut Method) {
        alone(method);
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("wind", params.wind, 0.0, 1.0e3))?;
        check_range(("drag", params.drag, 0.0, 1.0e3))?;
        check_times(&params.times)
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let (names, curves): (Vec<_>, Vec<_>) = params.shapes().into_iter().unzip();
        let material = hairloom::scene::Material { drag: params.drag, ..params.rod.material() };
        let (mut rig, _) = Rig::new(&curves, &material, Hold::Root, method)?.sag_free(method)?;
        let Blown { still, most, after, line } = blow(&mut rig, &curves, params.times, params.wind)?;
        let (mut rows, mut checks) = (Vec::new(), Vec::new());
        for (i, name) in names.into_iter().enumerate() {
            rows.push(
                Row::new()
                    .with("shape", name)
                    .with("moved_at_rest", still[i])
                    .with("blown", most[i])
                    .with("away_after", after[i]),
            );
            checks.push(Check::at_most(format!("{name}: moved at rest [lengths]"), still[i], 0.005));
            checks.push(Check::at_least(format!("{name}: blown away [lengths]"), most[i], 0.1));
            checks.push(Check::at_most(format!("{name}: away after the gust [lengths]"), after[i], 0.02));
        }
        let panel = Panel::new(Axis::new("time [s]"), Axis::new("away [lengths]"))
            .titled("Farthest from the groomed shape")
            .with(Series::line("all strands", line));
        Ok(Findings { rows, checks, figure: Figure::new("Gust").with(panel) })
    }
}
