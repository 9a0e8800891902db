//! The catenary experiment: hair between two points of equal height, from stiff hair to a chain.

mod reference;

use glam::DVec3;
use hairloom::scene::{Material, State};
use hairloom::solve::Method;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::reference::Hanging;
use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{GRAVITY, Hold, Rig, Rod, alone, check_list, check_range, heaviness, straight};

/// A time step, and how long hair has to come to rest [√(L / g)].
const STEP: f64 = 0.1;
const SWINGS: f64 = 30.0;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair.
    #[serde(flatten)]
    rod: Rod,
    /// Lengths of hair [m].
    lengths: Vec<f64>,
    /// Edges of the hair.
    edges: usize,
    /// Distances between the ends [lengths].
    spans: Vec<f64>,
}

impl Default for Params {
    fn default() -> Self {
        let spans = vec![0.4, 0.6, 0.8, 0.9, 0.95];
        let lengths = vec![0.25, 0.53, 1.15, 3.0];
        Self { rod: Rod::of(0.0, 0.0), lengths, edges: 200, spans }
    }
}

impl Params {
    /// Length and span of every hair [m], [lengths].
    fn hairs(&self) -> Vec<(f64, f64)> {
        let mut lengths = self.rod.lengths(&self.lengths);
        lengths.dedup();
        lengths.iter().flat_map(|&length| self.spans.iter().map(move |&span| (length, span))).collect()
    }

    /// What the longest hair takes to swing [s].
    fn swing(&self) -> f64 {
        (self.hairs().iter().map(|hair| hair.0).fold(0.0, f64::max) / GRAVITY).sqrt()
    }

    fn material(&self) -> Material {
        // Drag near that of a critically damped swing, so that it soon hangs still.
        Material { drag: 2.0 / self.swing(), ..self.rod.material() }
    }
}

/// The experiment.
pub(crate) struct Catenary;

impl Experiment for Catenary {
    type Params = Params;
    const NAME: &'static str = "catenary";
    const SUMMARY: &'static str = "hair held at both ends hangs like a chain, or nearly so where it is stiff";
    const REFERENCE: &'static str = "the heavy elastica between two pins, θ″ / Γ = H sin θ − (½ − s) cos θ, stretched by its weight, which for Γ → ∞ is the catenary y = a cosh(x / a)";
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("lengths", "lengths of hair [m]; Γ, the weight beside the stiffness, must lie between 1 and 1e7"),
        ("edges", "edges of the hair, 16 to 1000"),
        ("spans", "distances between the ends [lengths], 0.1 to 0.99"),
    ];

    fn adapt(method: &mut Method) {
        alone(method);
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_range(("edges", params.edges as f64, 16.0, 1000.0))?;
        check_list("lengths", &params.lengths, 100, 1.0e-3, 100.0)?;
        let gammas: Vec<f64> =
            params.hairs().iter().map(|hair| heaviness(&params.rod.material(), hair.0)).collect();
        if let Some(gamma) = gammas.iter().find(|gamma| !(1.0..=1.0e7).contains(*gamma)) {
            return Err(("lengths", format!("Γ = {gamma:.3} is among them; it must lie between 1 and 1e7")));
        }
        check_list("spans", &params.spans, 100, 0.1, 0.99)
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let (hairs, material) = (params.hairs(), params.material());
        let gammas: Vec<f64> = hairs.iter().map(|hair| heaviness(&material, hair.0)).collect();
        // What its weight stretches hair by.
        let softness = |length: f64| material.density * GRAVITY * length / material.young;
        let references = hairs.par_iter().zip(&gammas);
        let references: Result<Vec<Hanging>, LabError> =
            references.map(|(hair, &gamma)| Hanging::new(hair.1, gamma, softness(hair.0))).collect();
        let references = references?;
        let tips: Vec<DVec3> = hairs.iter().map(|(length, span)| DVec3::X * (span * length)).collect();
        // Groomed along the tangent that hair has at a pin, so that the clamp does not bend it.
        let groomed = |(&(length, _), hair): (&(f64, f64), &Hanging)| {
            let (sin, cos) = hair.end().sin_cos();
            straight(DVec3::new(cos, -sin, 0.0), length, params.rod.edges(length, params.edges))
        };
        let curves: Vec<Vec<DVec3>> = hairs.iter().zip(&references).map(groomed).collect();
        let mut rig = Rig::new(&curves, &material, Hold::Both, method)?.with_tips(&tips);
        // Two straight halves.
        let halves = hairs.iter().zip(&curves).flat_map(|(&(length, span), curve)| {
            let middle = DVec3::new(0.5 * span, -0.5 * (1.0 - span * span).sqrt(), 0.0) * length;
            (0..curve.len()).map(move |i| {
                let s = 2.0 * i as f64 / (curve.len() - 1) as f64;
                if s <= 1.0 { middle * s } else { middle + (middle * DVec3::new(1.0, -1.0, 1.0)) * (s - 1.0) }
            })
        });
        rig.load(&State::at_rest(halves.collect()));
        for _ in 0..(SWINGS / STEP) as usize {
            rig.step(params.swing() * STEP)?;
        }
        let velocities = rig.state().velocities;

        let mut rows = Vec::new();
        let (mut worst, mut loose, mut fastest) = (0.0_f64, 0.0_f64, 0.0_f64);
        let mut panel = Panel::new(Axis::new("x / L"), Axis::new("y / L"))
            .titled("Hair between two points")
            .with_equal_aspect();
        for (i, shape) in rig.shapes().iter().enumerate() {
            let ((length, span), hair) = (hairs[i], &references[i]);
            let sag = -shape.iter().map(|point| point.y).fold(0.0, f64::min) / length;
            let error = sag / hair.sag() - 1.0;
            let speeds = velocities[rig.model.range(i)].iter().map(|velocity| velocity.length());
            let speed = speeds.fold(0.0, f64::max) / (length * GRAVITY).sqrt();
            fastest = fastest.max(speed);
            worst = worst.max(error.abs());
            loose = loose.max(shape.last().map_or(f64::NAN, |last| last.distance(tips[i])) / length);
            rows.push(
                Row::new()
                    .with("length", length)
                    .with("gamma", gammas[i])
                    .with("span", span)
                    .with("sag", sag)
                    .with("reference", hair.sag())
                    .with("error", error)
                    .with("speed", speed),
            );
            panel = panel
                .with(Series::line("", hair.curve()).dashed().colored([70, 70, 78]))
                .with(Series::line("", shape.iter().map(|p| (p.x / length, p.y / length)).collect()));
        }
        let checks = vec![
            Check::at_most("worst error of the sag", worst, 0.002),
            Check::at_most("tips away from where they are held [lengths]", loose, 1.0e-4),
            Check::at_most("speed at the end [√(L g)]", fastest, 1.0e-4),
        ];
        Ok(Findings { rows, checks, figure: Figure::new("Catenaries").with(panel) })
    }
}
