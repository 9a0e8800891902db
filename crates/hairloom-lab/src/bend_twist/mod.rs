//! The bend-twist experiment: naturally curved hair that hangs down stays in its plane or leaves it.

mod reference;
mod stability;

use glam::DVec3;
use hairloom::solve::Method;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use self::reference::{Known, POISSON, Tongue, sweep};
use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{GRAVITY, Hold, Rig, Rod, check_list, heaviness, still};

/// Largest angle between neighbouring edges at rest [rad].
const FINEST: f64 = 0.1;
/// Edges that a strand has at least.
const FEWEST: f64 = 32.0;
/// How far gravity is tilted out of the plane at first [rad].
const TILT: f64 = 0.1;
/// Iterations under tilted gravity.
const TILTED: u32 = 100;
/// Most iterations under true gravity.
const MOST: u32 = 8000;
/// A shape is planar while no vertex is farther from the plane than this [radii of curvature].
const PLANAR: f64 = 0.03;
/// Cells nearer to the edge of the tongue than this do not count [ln x].
const UNDECIDED: f64 = 0.05;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair.
    #[serde(flatten)]
    rod: Rod,
    /// Natural curvature of each strand [1/m].
    curvatures: Vec<f64>,
    /// Length of each strand [m].
    lengths: Vec<f64>,
}

impl Default for Params {
    fn default() -> Self {
        // Six digits read better.
        let short = |value: f64| {
            let unit = 10.0_f64.powi(value.log10().floor() as i32 - 6);
            (value / unit).round() * unit
        };
        let (curvatures, lengths) =
            sweep().into_iter().map(|(curvature, phi)| (short(curvature), short(phi / curvature))).unzip();
        Self { rod: Rod { poisson: POISSON, ..Rod::of(0.0, 0.0) }, curvatures, lengths }
    }
}

/// An arc in the plane of x and y that begins straight down and turns to +x.
fn arc(rod: &Rod, curvature: f64, length: f64) -> Vec<DVec3> {
    let usual = (curvature.abs() * length / FINEST).ceil().max(FEWEST);
    let edges = rod.edges(length, usual as usize);
    let edge = length / edges as f64;
    let mut points = vec![DVec3::ZERO];
    for i in 0..edges {
        let angle = curvature * edge * (i as f64 + 0.5);
        points.push(points[i] + DVec3::new(angle.sin(), -angle.cos(), 0.0) * edge);
    }
    points
}

/// What became of one strand.
struct Hung {
    /// [lengths]
    tip: DVec3,
    /// Farthest from the plane [lengths].
    out: f64,
}

fn measure(shape: &[DVec3], length: f64) -> Hung {
    let out = shape.iter().map(|point| point.z.abs()).fold(0.0, f64::max);
    Hung { tip: shape.last().copied().unwrap_or_default() / length, out: out / length }
}

/// Hangs arcs of the given curvatures [1/m] and lengths [m].
fn hang(arcs: &[(f64, f64)], rod: &Rod, method: &Method) -> Result<(Vec<Hung>, u32), LabError> {
    let curves: Vec<Vec<DVec3>> =
        arcs.iter().map(|&(curvature, length)| arc(rod, curvature, length)).collect();
    let tilted = DVec3::new(0.0, -TILT.cos(), TILT.sin()) * GRAVITY;
    let mut rig = Rig::new(&curves, &rod.material(), Hold::Root, method)?.with_gravity(tilted);
    rig.settle(TILTED)?;
    rig.gravity = DVec3::NEG_Y * GRAVITY;
    let iterations = rig.relax(20, 1.0e-5, MOST)?;
    let hung = rig.shapes().iter().zip(arcs).map(|(shape, &(_, length))| measure(shape, length)).collect();
    Ok((hung, iterations))
}

/// The experiment.
pub(crate) struct BendTwist;

impl Experiment for BendTwist {
    type Params = Params;
    const NAME: &'static str = "bend-twist";
    const SUMMARY: &'static str =
        "naturally curved hair that hangs down leaves its plane where bending and twist say so";
    const REFERENCE: &'static str =
        "stability of the continuous rod and tips of its equilibria; figure 2 of Daviet, SIGGRAPH 2023";
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("curvatures", "natural curvature of each strand [1/m]"),
        ("lengths", "length of each strand [m], as many as curvatures"),
    ];

    fn adapt(method: &mut Method) {
        still(method);
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_list("curvatures", &params.curvatures, 2000, 1.0e-2, 1.0e4)?;
        let own = params.rod.lengths(&params.lengths);
        check_list("lengths", &own, 2000, 1.0e-4, 20.0)?;
        let (curvatures, lengths) = (params.curvatures.len(), own.len());
        if curvatures != lengths {
            return Err((
                "lengths",
                format!("it has {lengths} values; as many as curvatures, {curvatures}, are expected"),
            ));
        }
        match params.curvatures.iter().zip(&own).find(|(k, l)| *k * *l > 400.0) {
            Some((_, length)) => Err(("lengths", format!("{length} m coil up more than 400 rad"))),
            None => Ok(()),
        }
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let material = params.rod.material();
        let tongue = Tongue::new(params.rod.poisson);
        let known = tongue.as_ref().map(Tongue::known).unwrap_or_default();
        let unit = heaviness(&material, 1.0);
        let known_arc = |known: &Known| {
            let length = (known.gamma / unit).cbrt();
            (known.phi / length, length)
        };
        let lengths = params.rod.lengths(&params.lengths);
        let mut arcs: Vec<(f64, f64)> = params.curvatures.iter().copied().zip(lengths).collect();
        arcs.extend(known.iter().map(known_arc));
        let (hung, iterations) = hang(&arcs, &params.rod, method)?;

        let (mut rows, mut right, mut decided) = (Vec::new(), 0, 0);
        let (mut flat, mut spatial) = (Vec::new(), Vec::new());
        let own = params.lengths.len();
        for (&(curvature, length), hung) in arcs[..own].iter().zip(&hung) {
            let (phi, gamma) = (curvature * length, heaviness(&material, length));
            let planar = hung.out * phi < PLANAR;
            let place = (gamma.cbrt() / phi, phi / std::f64::consts::PI);
            if planar {
                flat.push(place)
            } else {
                spatial.push(place)
            }
            let mut row = Row::new()
                .with("curvature", curvature)
                .with("length", length)
                .with("phi", phi)
                .with("gamma", gamma)
                .with("tip", hung.tip.to_array().to_vec())
                .with("planar", planar)
                .with("out_of_plane", hung.out);
            if let Some(tongue) = &tongue {
                let side = tongue.side(phi, gamma);
                row = row.with("reference_planar", side.planar).with("log_distance", side.distance);
                if side.distance > UNDECIDED {
                    decided += 1;
                    right += usize::from(side.planar == planar);
                }
            }
            rows.push(row);
        }
        let mut checks = vec![Check::at_most("iterations", f64::from(iterations), f64::from(MOST - 1))];
        if decided > 0 {
            checks.push(Check::at_least(
                "share on the right side of the edge",
                right as f64 / decided as f64,
                0.98,
            ));
        }
        if !known.is_empty() {
            let misses = known.iter().zip(&hung[own..]).map(|(known, hung)| {
                let tip = DVec3::new(hung.tip.x, hung.tip.y, hung.tip.z.abs());
                tip.distance(DVec3::from_array(known.tip))
            });
            checks.push(Check::at_most("farthest known tip [lengths]", misses.fold(0.0, f64::max), 0.02));
        }
        Ok(Findings { rows, checks, figure: figure(tongue.as_ref(), flat, spatial) })
    }
}

fn figure(tongue: Option<&Tongue>, flat: Vec<(f64, f64)>, spatial: Vec<(f64, f64)>) -> Figure {
    let mut panel = Panel::new(Axis::log("x = Γ^(1/3) / φ"), Axis::log("φ / π")).titled("Planar or not");
    if let Some(tongue) = tongue {
        let name = format!("edge of the tongue, ν = {}", tongue.poisson);
        panel = panel.with(Series::line(name, tongue.outline()).dashed());
    }
    let panel =
        panel.with(Series::scatter("planar", flat)).with(Series::scatter("out of its plane", spatial));
    Figure::new("Naturally curved hair hanging down").with(panel)
}
