//! The stick-slip experiment: hair pressed onto a floor from above buckles until its tip slips.

use glam::DVec3;
use hairloom::solve::Method;
use hairloom::solve::admm::Precision;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use super::Floor;
use super::reference::{HEAVIEST, Sticking};
use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{Rod, check_list, check_range, heaviness};

/// The clamp goes down by this share of the length in its first steps, and later by this share of its depth.
const FIRST: f64 = 2.0e-5;
const GROWTH: f64 = 4.0e-3;
/// Depth at which a tip that has not slipped never will [lengths].
const DEEPEST: f64 = 0.38;
/// Depth at which the hair begins, bent as it buckles [lengths].
const BEGIN: f64 = 1.0e-4;
/// Sideways motion of the tip that begins a slip, and the least that it grows to: once it slips it runs away, while hair
/// that lies down flat only shuffles [lengths].
const SLIPPED: f64 = 1.0e-5;
const FAR: f64 = 5.0e-3;
/// Weight of the tip's contact [E I / L³]. Contact weighs as much as one edge is stiff by itself, E I / h³, so that with short edges
/// it sticks before the hair behind it gives way, and forces creep: the weight of the whole hair finds them at any resolution.
const WEIGHT: f64 = 1.1e4;
/// Edges for which the iterations of the solver are meant; more edges take more in proportion.
const EDGES: usize = 48;
/// Steps that find the forces.
const FIRST_STEPS: usize = 60;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair.
    #[serde(flatten)]
    rod: Rod,
    /// Acceleration of gravity [m/s²].
    gravity: f64,
    /// Coefficients of friction.
    mus: Vec<f64>,
    /// Edges of the hair.
    edges: usize,
}

impl Default for Params {
    fn default() -> Self {
        let mus = vec![0.03, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.34, 0.35, 0.36, 0.37, 0.38, 0.4];
        Self { rod: Rod::of(0.1, 0.0), gravity: 0.0, mus, edges: EDGES }
    }
}

impl Params {
    /// Γ, the weight beside the stiffness.
    fn heaviness(&self) -> f64 {
        heaviness(&self.rod.material(), self.rod.length) * self.gravity / crate::strands::GRAVITY
    }
}

/// The experiment.
pub(crate) struct StickSlip;

impl Experiment for StickSlip {
    type Params = Params;
    const NAME: &'static str = "stick-slip";
    const SUMMARY: &'static str =
        "hair pressed onto a floor buckles until its tip slips, or never above a critical coefficient";
    const REFERENCE: &'static str = "the heavy elastica between a clamp and a hinge, solved by shooting; figure 2 of Daviet, SIGGRAPH 2023";
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("gravity", "acceleration of gravity [m/s²], 0 to 100"),
        ("mus", "coefficients of friction, 0.001 to 2"),
        (
            "edges",
            "edges of the hair, 16 to 500; the solver's iterations are for 48, more edges take more in proportion",
        ),
    ];

    fn adapt(method: &mut Method) {
        if let Method::Admm(params) = method {
            params.precision = Precision::F64;
            params.strand_contacts = false;
            params.tolerance = 0.0;
            params.margin = 0.0;
            params.iterations = 40;
            params.correction_sweeps = 0;
        }
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("gravity", params.gravity, 0.0, 100.0))?;
        check_range(("edges", params.edges as f64, 16.0, 500.0))?;
        check_list("mus", &params.mus, 200, 1.0e-3, 2.0)?;
        let gamma = params.heaviness();
        if !(0.0..=HEAVIEST).contains(&gamma) {
            return Err(("length", format!("Γ = {gamma:.3}; it must be {HEAVIEST} at most")));
        }
        Ok(())
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let theory = Sticking::new(params.heaviness())?;
        let slips = press(params, method)?;
        let (mut rows, mut worst, mut wrong) = (Vec::new(), 0.0_f64, 0.0_f64);
        let (mut measured, mut expected) = (Vec::new(), Vec::new());
        for (&mu, slip) in params.mus.iter().zip(slips) {
            let reference = theory.slip(mu);
            if let (Some(slip), Some(reference)) = (slip, reference) {
                // As a share of what is allowed: 2 % or 2e-4 of the length.
                worst = worst.max((slip - reference).abs() / (0.02 * reference).max(2.0e-4));
            } else if slip.is_some() != reference.is_some() {
                wrong = wrong.max((mu - theory.critical()).abs());
            }
            measured.extend(slip.map(|slip| (mu, slip)));
            expected.extend(reference.map(|slip| (mu, slip)));
            let [slip, reference] = [slip, reference].map(serde_json::Value::from);
            rows.push(Row::new().with("mu", mu).with("slip", slip).with("reference", reference));
        }
        let checks = vec![
            Check::at_most("worst error, in 2 % of the depth or 2e-4 of the length", worst, 1.0),
            Check::at_most("farthest from the critical coefficient with the wrong outcome", wrong, 0.01),
        ];
        let panel = Panel::new(Axis::new("coefficient of friction"), Axis::new("depth / length"))
            .titled("Depth at which the tip slips")
            .with(Series::line("heavy elastica", expected).dashed())
            .with(Series::scatter("measured", measured));
        Ok(Findings { rows, checks, figure: Figure::new("Stick-slip").with(panel) })
    }
}

/// Lowers the clamp until tips slip, all hairs at once; returns the depth at which each does [lengths], if it does.
fn press(params: &Params, method: &Method) -> Result<Vec<Option<f64>>, LabError> {
    let length = params.rod.length;
    let edges = params.rod.edges(length, params.edges);
    let count = params.mus.len();
    let top = DVec3::Y * (length + params.rod.radius);
    let straight: Vec<DVec3> =
        (0..=edges).map(|i| top - DVec3::Y * (length * i as f64 / edges as f64)).collect();
    let mut method = method.clone();
    if let Method::Admm(solver) = &mut method {
        let asked = if solver.contact_weight > 0.0 { solver.contact_weight } else { 1.0 };
        solver.contact_weight = asked * WEIGHT / (edges as f64).powi(3);
        solver.iterations = (solver.iterations as usize * edges.max(EDGES) / EDGES) as u32;
        // All strands stand in one place.
        solver.strand_contacts = false;
    }
    let mut floor = Floor::new(&vec![straight; count], &params.rod.material(), 1.0, true, &method)?;
    floor.gravity = DVec3::NEG_Y * params.gravity;
    floor.solver.load(&hairloom::scene::State::at_rest(buckled(top, length, edges).repeat(count)));
    let material = params.rod.material();
    // Long beside the vibrations of the hair, which backward Euler then damps.
    let slow = (material.mass_per_length() * length.powi(4) / material.rod_stiffness()[0]).sqrt();
    let dt = 0.04 * slow;
    let mut depth = BEGIN;
    // The first steps find the forces, while friction holds the tips. Until they are found tips may slide, all by the same way: the clamp goes
    // after them, for they must stand right below.
    let mut aside = DVec3::ZERO;
    for step in 0..2 * FIRST_STEPS {
        floor.step(aside - DVec3::Y * (depth * length), dt)?;
        if step + 1 == FIRST_STEPS {
            aside.x = floor.state.positions[edges].x;
        }
    }
    floor.set_frictions(&params.mus, &method)?;
    let begin = floor.state.positions[edges].x;
    let mut tips = vec![Tip::default(); count];
    while depth < DEEPEST && tips.iter().any(|tip| !tip.ran_away) {
        let step = FIRST.max(GROWTH * depth);
        depth += step;
        floor.step(aside - DVec3::Y * (depth * length), dt)?;
        for (tip, hair) in tips.iter_mut().zip(floor.state.positions.chunks(edges + 1)) {
            tip.follow((hair[edges].x - begin).abs() / length, depth - 0.5 * step);
        }
    }
    Ok(tips.iter().map(|tip| tip.slipped_at.filter(|_| tip.ran_away)).collect())
}

/// What a tip has done so far.
#[derive(Debug, Clone, Copy, Default)]
struct Tip {
    /// Depth at which it began to move [lengths].
    slipped_at: Option<f64>,
    /// Whether it went far since.
    ran_away: bool,
}

impl Tip {
    /// Takes note of how far it has moved at `depth` [lengths].
    fn follow(&mut self, moved: f64, depth: f64) {
        if moved > SLIPPED {
            self.slipped_at.get_or_insert(depth);
        }
        self.ran_away |= moved > FAR;
    }
}

/// Hair in its first buckling mode between the clamp and a hinge below.
fn buckled(top: DVec3, length: f64, edges: usize) -> Vec<DVec3> {
    // tan k = k
    let k = 4.493_409_457_909_064_f64;
    // The mean square slope of sin ku − u sin k is k²/2 (1 + sin 2k / 2k) − sin² k; twice the depth is that of the mode.
    let square = 0.5 * k * k * (1.0 + (2.0 * k).sin() / (2.0 * k)) - k.sin().powi(2);
    let amplitude = (2.0 * BEGIN / square).sqrt();
    let mut place = top - DVec3::Y * (BEGIN * length);
    let mut places = vec![place];
    for i in 0..edges {
        let u = 1.0 - (i as f64 + 0.5) / edges as f64;
        let slope = -amplitude * (k * (k * u).cos() - k.sin());
        let (sin, cos) = slope.sin_cos();
        place += DVec3::new(sin, -cos, 0.0) * (length / edges as f64);
        places.push(place);
    }
    places
}
