//! The catenary experiment: long hair between two points of equal height.

use glam::DVec3;
use hairloom::scene::{Material, State};
use hairloom::solve::Method;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

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
    /// Edges of the hair.
    edges: usize,
    /// Distances between the ends [lengths].
    spans: Vec<f64>,
}

impl Default for Params {
    fn default() -> Self {
        let spans = vec![0.4, 0.6, 0.8, 0.9, 0.95];
        Self { rod: Rod::of(3.0, 0.0), edges: 200, spans }
    }
}

impl Params {
    fn material(&self) -> Material {
        // Drag near that of a critically damped swing, so that it soon hangs still.
        let drag = 2.0 * (GRAVITY / self.rod.length).sqrt();
        Material { drag, ..self.rod.material() }
    }
}

/// The experiment.
pub(crate) struct Catenary;

impl Experiment for Catenary {
    type Params = Params;
    const NAME: &'static str = "catenary";
    const SUMMARY: &'static str = "long hair held at both ends hangs like a chain";
    const REFERENCE: &'static str = "the catenary y = a cosh(x / a) with 2 a sinh(d / 2 a) = L";
    const HELP: &'static [(&'static str, &'static str)] = &[
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
        check_list("spans", &params.spans, 100, 0.1, 0.99)
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let length = params.rod.length;
        let edges = params.rod.edges(length, params.edges);
        let tips: Vec<DVec3> = params.spans.iter().map(|span| DVec3::X * (span * length)).collect();
        // Groomed along the tangent that the chain has at its end, so that the clamp does not bend it.
        let curves: Vec<Vec<DVec3>> =
            params.spans.iter().map(|&span| straight(end_tangent(span), length, edges)).collect();
        let mut rig = Rig::new(&curves, &params.material(), Hold::Both, method)?.with_tips(&tips);
        // Two straight halves.
        let halves = params.spans.iter().flat_map(|&span| {
            let middle = DVec3::new(0.5 * span, -0.5 * (1.0 - span * span).sqrt(), 0.0) * length;
            (0..=edges).map(move |i| {
                let s = 2.0 * i as f64 / edges as f64;
                if s <= 1.0 { middle * s } else { middle + (middle * DVec3::new(1.0, -1.0, 1.0)) * (s - 1.0) }
            })
        });
        rig.load(&State::at_rest(halves.collect()));
        let swing = (length / GRAVITY).sqrt();
        for _ in 0..(SWINGS / STEP) as usize {
            rig.step(swing * STEP)?;
        }
        let speed = rig.state().velocities.iter().map(|v| v.length()).fold(0.0, f64::max) * swing / length;

        let mut rows = Vec::new();
        let (mut worst, mut loose) = (0.0_f64, 0.0_f64);
        let mut panel = Panel::new(Axis::new("x / L"), Axis::new("y / L"))
            .titled("Hair between two points")
            .with_equal_aspect();
        for ((&span, shape), tip) in params.spans.iter().zip(rig.shapes()).zip(&tips) {
            let sag = -shape.iter().map(|point| point.y).fold(0.0, f64::min) / length;
            let a = scale(span);
            let reference = a * ((0.5 * span / a).cosh() - 1.0);
            let error = sag / reference - 1.0;
            worst = worst.max(error.abs());
            loose = loose.max(shape.last().map_or(f64::NAN, |last| last.distance(*tip)) / length);
            rows.push(
                Row::new()
                    .with("span", span)
                    .with("sag", sag)
                    .with("reference", reference)
                    .with("error", error),
            );
            let chain = (0..=50).map(|i| f64::from(i) / 50.0 * span);
            let chain =
                chain.map(|x| (x, a * (((x - 0.5 * span) / a).cosh() - (0.5 * span / a).cosh()))).collect();
            panel = panel.with(Series::line("", chain).dashed().colored([70, 70, 78])).with(Series::line(
                format!("span {span}"),
                shape.iter().map(|p| (p.x / length, p.y / length)).collect(),
            ));
        }
        let checks = vec![
            Check::at_most("worst error of the sag", worst, 0.005),
            Check::at_most("tips away from where they are held [lengths]", loose, 1.0e-4),
            Check::at_most("speed at the end [√(L g)]", speed, 1.0e-4),
            Check::at_least(
                "heaviness Γ, for bending not to count",
                heaviness(&params.material(), length),
                1.0e4,
            ),
        ];
        Ok(Findings { rows, checks, figure: Figure::new("Catenaries").with(panel) })
    }
}

/// The parameter a of the catenary over `span` [lengths].
fn scale(span: f64) -> f64 {
    // sinh(u) / u = 1 / span, u = span / 2 a.
    let (mut low, mut high) = (1.0e-6_f64, 50.0_f64);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if middle.sinh() / middle < 1.0 / span { low = middle } else { high = middle }
    }
    span / (low + high)
}

/// The chain's direction at its first end.
fn end_tangent(span: f64) -> DVec3 {
    let slope = (0.5 * span / scale(span)).sinh();
    DVec3::new(1.0, -slope, 0.0).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catenaries_have_the_tabulated_sag() {
        for (span, sag) in [(0.2, 0.472_833_670_7), (0.6, 0.362_782_185_2), (0.99, 0.061_145_279_1)] {
            let a = scale(span);
            assert!((a * ((0.5 * span / a).cosh() - 1.0) - sag).abs() < 1.0e-9);
        }
    }
}
