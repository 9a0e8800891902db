//! The helix experiment: without weight hair stays in its natural shape, and comes back to it.

use glam::{DQuat, DVec3};
use hairloom::math::Random;
use hairloom::solve::Method;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{GRAVITY, Hold, Rig, Rod, check_list, still};

/// Steps that hair must stay at rest for, of 1/60 s.
const STEPS: usize = 120;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair.
    #[serde(flatten)]
    rod: Rod,
    /// Natural curvature of each strand [1/m].
    curvatures: Vec<f64>,
    /// Natural torsion of each strand [1/m].
    torsions: Vec<f64>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            rod: Rod::of(0.2, 2.5e-3),
            curvatures: vec![100.0, 100.0, 100.0, 50.0],
            torsions: vec![0.0, 30.0, 100.0, 20.0],
        }
    }
}

impl Params {
    /// A helix in any direction.
    fn curve(&self, curvature: f64, torsion: f64, turn: DQuat) -> Vec<DVec3> {
        let rate = curvature.hypot(torsion);
        let (radius, rise) = (curvature / (rate * rate), torsion / rate);
        let edges = self.rod.edges(self.rod.length, 2);
        let along = (0..=edges).map(|i| self.rod.length * i as f64 / edges as f64);
        along
            .map(|s| {
                turn * DVec3::new(radius * ((rate * s).cos() - 1.0), radius * (rate * s).sin(), rise * s)
            })
            .collect()
    }
}

/// The experiment.
pub(crate) struct Helix;

impl Experiment for Helix {
    type Params = Params;
    const NAME: &'static str = "helix";
    const SUMMARY: &'static str =
        "weightless helices in any direction stay at rest, and come back after a pull";
    const REFERENCE: &'static str =
        "a helix of natural curvature κ and torsion τ: radius κ / (κ² + τ²), pitch 2 π τ / (κ² + τ²)";
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("curvatures", "natural curvature of each strand [1/m]"),
        ("torsions", "natural torsion of each strand [1/m], as many as curvatures"),
    ];

    fn adapt(method: &mut Method) {
        still(method);
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_list("curvatures", &params.curvatures, 500, 1.0e-3, 2.0e3)?;
        check_list("torsions", &params.torsions, 500, -2.0e3, 2.0e3)?;
        if params.curvatures.len() != params.torsions.len() {
            return Err((
                "torsions",
                format!("as many as curvatures, {}, are expected", params.curvatures.len()),
            ));
        }
        Ok(())
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let mut random = Random::new(1);
        let pairs: Vec<(f64, f64)> =
            params.curvatures.iter().copied().zip(params.torsions.iter().copied()).collect();
        let mut any = || 2.0 * random.unit_f64() - 1.0;
        let curves: Vec<Vec<DVec3>> = pairs
            .iter()
            .map(|&(curvature, torsion)| {
                let turn = DQuat::from_xyzw(any(), any(), any(), any() + 1.5).normalize();
                params.curve(curvature, torsion, turn)
            })
            .collect();
        let away = |rig: &Rig| -> Vec<f64> {
            let far = |(shape, curve): (&Vec<DVec3>, &Vec<DVec3>)| {
                shape.iter().zip(curve).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max) / params.rod.length
            };
            rig.shapes().iter().zip(&curves).map(far).collect()
        };
        let mut rig =
            Rig::new(&curves, &params.rod.material(), Hold::Root, method)?.with_gravity(DVec3::ZERO);
        for _ in 0..STEPS {
            rig.step(1.0 / 60.0)?;
        }
        let moved = away(&rig);
        rig.settle(50)?;
        let settled = away(&rig);
        rig.gravity = DVec3::new(0.3, -1.0, 0.2) * GRAVITY;
        rig.settle(100)?;
        let pulled = away(&rig);
        rig.gravity = DVec3::ZERO;
        let iterations = rig.relax(20, 1.0e-6, 1000)?;
        let back = away(&rig);

        let mut rows = Vec::new();
        for (i, &(curvature, torsion)) in pairs.iter().enumerate() {
            let square = curvature * curvature + torsion * torsion;
            rows.push(
                Row::new()
                    .with("curvature", curvature)
                    .with("torsion", torsion)
                    .with("helix_radius", curvature / square)
                    .with("pitch", std::f64::consts::TAU * torsion / square)
                    .with("moved", moved[i])
                    .with("settled", settled[i])
                    .with("pulled", pulled[i])
                    .with("back", back[i]),
            );
        }
        let worst = |list: &[f64]| list.iter().copied().fold(0.0, f64::max);
        let checks = vec![
            Check::at_most("moved in 2 s at rest [lengths]", worst(&moved), 1.0e-5),
            Check::at_most("moved by quasistatic steps at rest [lengths]", worst(&settled), 1.0e-5),
            Check::at_most("away from rest after a pull [lengths]", worst(&back), 1.0e-4),
            Check::at_most("iterations to come back", f64::from(iterations), 999.0),
        ];
        let mut panel =
            Panel::new(Axis::new("x [m]"), Axis::new("y [m]")).titled("Back at rest").with_equal_aspect();
        for (shape, &(curvature, torsion)) in rig.shapes().iter().zip(&pairs) {
            let points = shape.iter().map(|p| (p.x, p.y)).collect();
            panel = panel.with(Series::line(format!("κ = {curvature}, τ = {torsion}"), points));
        }
        Ok(Findings { rows, checks, figure: Figure::new("Helices").with(panel) })
    }
}
