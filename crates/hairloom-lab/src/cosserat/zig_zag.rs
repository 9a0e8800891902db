//! The zig-zag experiment (figure 7): a folded rod that gravity leaves alone is blown about, and comes back only if its joints know
//! which way they were folded.

use super::*;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair.
    #[serde(flatten)]
    rod: Rod,
    /// Angle that neighbouring segments are folded by [°].
    fold: f64,
    /// Speed of the gust [m/s].
    wind: f64,
    /// Rate at which the rod takes on the velocity of the air [1/s].
    drag: f64,
    /// Time of rest before the gust, of the gust, and after it [s].
    times: [f64; 3],
}

impl Default for Params {
    fn default() -> Self {
        Self { rod: Rod::of(0.08, 5.0e-3), fold: 120.0, wind: 20.0, drag: 20.0, times: [1.0, 0.5, 4.0] }
    }
}

impl Params {
    /// The zig-zag, downwards from its root.
    fn curve(&self) -> Vec<DVec3> {
        let edges = self.rod.edges(self.rod.length, 2);
        let edge = self.rod.length / edges as f64;
        let (sine, cosine) = (0.5 * self.fold).to_radians().sin_cos();
        let mut points = vec![DVec3::ZERO];
        for i in 0..edges {
            let side = if i % 2 == 0 { sine } else { -sine };
            points.push(points[i] + DVec3::new(side, -cosine, 0.0) * edge);
        }
        points
    }
}

/// The experiment.
pub(crate) struct ZigZag;

impl Experiment for ZigZag {
    type Params = Params;
    const NAME: &'static str = "zig-zag";
    const SUMMARY: &'static str = "a folded rod in equilibrium comes back after a gust with the augmented Darboux vector, and not with the plain one";
    const REFERENCE: &'static str = "figure 7 of Hsu et al. 2023";
    const SOLVERS: &'static [&'static str] = &["xpbd-mpm"];
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("fold", "angle that neighbouring segments are folded by [°]"),
        ("wind", "speed of the gust [m/s]"),
        ("drag", "rate at which the rod takes on the velocity of the air [1/s]"),
        ("times", "time of rest before the gust, of the gust, and after it [s]"),
    ];

    fn adapt(method: &mut Method) {
        alone(method);
        // Joints that are folded this far couple bending and stretching: with the usual single iteration the plain vector, whose joints are
        // softer by the square of the cosine of half their fold, moves by 0.7 % at rest. The paper takes 64 iterations.
        if let Method::XpbdMpm(params) = method {
            params.iterations = 8;
        }
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("fold", params.fold, 0.0, 170.0))?;
        check_range(("wind", params.wind, 0.0, 1.0e3))?;
        check_range(("drag", params.drag, 0.0, 1.0e3))?;
        check_times(&params.times)
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let curves = [params.curve()];
        let mut material = params.rod.material();
        material.drag = params.drag;
        let (mut rows, mut checks, mut times, mut shapes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (darboux, name) in VECTORS {
            let method = with_vector(method, darboux);
            let rig = Rig::new(&curves, &material, Hold::Root, &method)?;
            let (mut rig, outcome) = rig.sag_free(&method)?;
            let Blown { still, most, after, line } = blow(&mut rig, &curves, params.times, params.wind)?;
            rows.push(
                Row::new()
                    .with("vector", name)
                    .with("stiffened", outcome.stiffened)
                    .with("moved_at_rest", still[0])
                    .with("blown", most[0])
                    .with("away_after", after[0]),
            );
            // Either vector has a rest shape that gravity leaves alone.
            let what = format!("{name}: moved at rest [lengths]");
            checks.push(Check::at_most(what, still[0], 0.005));
            let what = format!("{name}: away from the groomed shape after the gust [lengths]");
            checks.push(match darboux {
                Darboux::Augmented => Check::at_most(what, after[0], 0.02),
                Darboux::Plain => Check::at_least(what, after[0], 0.1),
            });
            times.push(Series::line(name, line));
            let shape = rig.shapes()[0].iter().map(|p| (p.x, p.y)).collect();
            shapes.push(Series::line(name, shape).marked());
        }
        let mut over_time = Panel::new(Axis::new("time [s]"), Axis::new("away [lengths]"))
            .titled("Distance from the groomed shape");
        for series in times {
            over_time = over_time.with(series);
        }
        let groomed = curves[0].iter().map(|p| (p.x, p.y)).collect();
        let mut after = Panel::new(Axis::new("x [m]"), Axis::new("y [m]"))
            .titled("After the gust")
            .with_equal_aspect()
            .with(Series::line("groomed", groomed).dashed());
        for series in shapes {
            after = after.with(series);
        }
        Ok(Findings { rows, checks, figure: Figure::new("Zig-zag").with(over_time).with(after) })
    }
}
