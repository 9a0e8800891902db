//! Super-helices by themselves: a cantilever against the elastica, a helix against Frenet's, a swing against its energy.

use glam::{DQuat, DVec3};
use hairloom::rod::super_helix::{Chain, Forces, Middle, Rod, Root, Twist, fit};
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::cantilever::reference::tip;
use crate::experiment::{BadKey, LawExperiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{GRAVITY, check_list, check_range, hair};

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// Length of the rods [m].
    length: f64,
    /// Radius of the rods [m].
    radius: f64,
    /// Young's modulus [Pa].
    young: f64,
    /// Density [kg/m³].
    density: f64,
    /// Elements of the cantilevers, each twice the one before for the order.
    elements: Vec<f64>,
    /// Radius of the helix [m].
    helix_radius: f64,
    /// Rise of the helix in one turn [m].
    helix_pitch: f64,
    /// Steps of the swing, each twice the one before for the order.
    steps: Vec<f64>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            length: 0.12,
            radius: 50e-6,
            young: 3.0e9,
            density: 1300.0,
            elements: vec![5.0, 10.0, 20.0, 40.0],
            helix_radius: 0.01,
            helix_pitch: 0.02,
            steps: vec![800.0, 1600.0],
        }
    }
}

/// The experiment.
pub(crate) struct SuperHelix;

impl LawExperiment for SuperHelix {
    type Params = Params;
    const NAME: &'static str = "super-helix";
    const SUMMARY: &'static str =
        "rods of helices: where they hang, how well they fit, and whether they keep their energy";
    const REFERENCE: &'static str = "the planar elastica; Frenet's helix; conservation of energy";
    const SOLVERS: &'static [&'static str] = &["super-helix"];
    const HELP: &'static [(&'static str, &'static str)] = &[
        ("length", "length of the rods [m]"),
        ("radius", "their radius [m]"),
        ("young", "Young's modulus [Pa]"),
        ("density", "density [kg/m³]"),
        ("elements", "elements of the cantilevers, each twice the one before"),
        ("helix_radius", "radius of the helix [m]"),
        ("helix_pitch", "its rise in one turn [m]"),
        ("steps", "steps of the swing over 0.2 s, each twice the one before"),
    ];

    fn check(params: &Params) -> Result<(), BadKey> {
        check_list("elements", &params.elements, 10, 1.0, 200.0)?;
        check_list("steps", &params.steps, 10, 10.0, 1.0e5)?;
        check_range(("length", params.length, 1.0e-3, 2.0))?;
        check_range(("radius", params.radius, 1.0e-6, 1.0e-2))?;
        check_range(("young", params.young, 1.0e3, 1.0e12))?;
        check_range(("density", params.density, 1.0, 1.0e5))?;
        check_range(("helix_radius", params.helix_radius, 1.0e-4, 1.0))?;
        check_range(("helix_pitch", params.helix_pitch, 0.0, 1.0))
    }

    fn run(params: &Params, _: &'static str) -> Result<Findings, LabError> {
        let (mut rows, mut checks) = (vec![], vec![]);
        let points = cantilevers(params, &mut rows, &mut checks)?;
        helix(params, &mut rows, &mut checks);
        swings(params, &mut rows, &mut checks)?;
        let panel = Panel::new(Axis::log("elements"), Axis::log("error of the tip [lengths]"))
            .with(Series::line("super-helix", points).marked());
        Ok(Findings { rows, checks, figure: Figure::new("Super-helix").with(panel) })
    }
}

fn rod(params: &Params, elements: usize) -> Rod {
    let material = hair(params.radius, params.young, params.density, 0.37);
    Rod {
        lengths: vec![params.length / elements as f64; elements],
        rest: vec![DVec3::ZERO; elements],
        stiffness: DVec3::from_array(material.rod_stiffness()),
        mass_per_length: material.mass_per_length(),
        spin_inertia: material.twisting_inertia(),
    }
}

/// Held out along x.
fn clamp() -> Root {
    Root { position: DVec3::ZERO, frame: DQuat::from_rotation_arc(DVec3::Z, DVec3::X) }
}

/// Rounding leaves no order.
const ROUNDING: f64 = 1.0e-9;

fn order(values: &[(f64, f64)]) -> Option<f64> {
    let [.., (coarse, before), (fine, after)] = values else { return None };
    (*after > ROUNDING && fine > coarse).then(|| (before / after).ln() / (fine / coarse).ln())
}

fn cantilevers(
    params: &Params,
    rows: &mut Vec<Row>,
    checks: &mut Vec<Check>,
) -> Result<Vec<(f64, f64)>, LabError> {
    let one = rod(params, 1);
    let gamma = one.mass_per_length * GRAVITY * params.length.powi(3) / one.stiffness.x;
    let (drop, reach) = tip(gamma);
    let mut errors = vec![];
    for &elements in &params.elements {
        let rod = rod(params, elements as usize);
        let found = rod.equilibrium(clamp(), &rod.rest, DVec3::NEG_Y * GRAVITY);
        let (curvatures, steps) = found.ok_or_else(|| LabError::Bench {
            problem: "a cantilever came to no rest; is it too heavy for its stiffness?".to_owned(),
        })?;
        let end = Chain::new(clamp(), &rod.lengths, &curvatures).position(params.length) / params.length;
        let error = (end - DVec3::new(reach, -drop, 0.0)).length();
        errors.push((elements, error));
        rows.push(
            Row::new()
                .with("what", "cantilever")
                .with("elements", elements as usize)
                .with("gamma", gamma)
                .with("error", error)
                .with("order", order(&errors))
                .with("newton_steps", steps),
        );
    }
    if let Some(&(_, error)) = errors.iter().find(|(elements, _)| *elements == 20.0) {
        checks.push(Check::at_most("error of the tip with 20 elements [lengths]", error, 2.0e-3));
    }
    if let Some(order) = order(&errors) {
        checks.push(Check::at_most("order of the tip's error beside 2", (order - 2.0).abs(), 0.1));
    }
    Ok(errors)
}

/// A groomed helix is one element, whatever its turns.
fn helix(params: &Params, rows: &mut Vec<Row>, checks: &mut Vec<Check>) {
    let rise = params.helix_pitch / std::f64::consts::TAU;
    let square = params.helix_radius.powi(2) + rise * rise;
    let per_length = 1.0 / square.sqrt();
    let count = 240;
    let arcs: Vec<f64> = (0..=count).map(|i| params.length * f64::from(i) / f64::from(count)).collect();
    let at = |arc: f64| {
        let (sin, cos) = (arc * per_length).sin_cos();
        DVec3::new(params.helix_radius * cos, rise * arc * per_length, params.helix_radius * sin)
    };
    let points: Vec<DVec3> = arcs.iter().map(|&arc| at(arc)).collect();
    let found = fit(&points, &arcs, &vec![params.length / 5.0; 5]);
    let (bend, twist) = (params.helix_radius / square, rise / square);
    let off = |k: &DVec3| (k.truncate().length() / bend - 1.0).abs().max((k.z.abs() - twist).abs() / bend);
    let worst = found.curvatures.iter().map(off).fold(0.0, f64::max);
    let row = Row::new().with("what", "helix").with("curvature", bend).with("torsion", twist);
    rows.push(row.with("fit_error", found.largest).with("curvature_off", worst));
    checks.push(Check::at_most("fit of a helix [m]", found.largest, 1.0e-6));
    checks.push(Check::at_most("curvature and torsion of a helix, relative", worst, 1.0e-3));
}

fn swings(params: &Params, rows: &mut Vec<Row>, checks: &mut Vec<Check>) -> Result<(), LabError> {
    let mut errors = vec![];
    for &steps in &params.steps {
        let strayed = swing(params, steps as usize)
            .ok_or_else(|| LabError::Bench { problem: "a swing has no solution".to_owned() })?;
        errors.push((steps, strayed));
        let row = Row::new().with("what", "swing").with("steps", steps as usize);
        rows.push(row.with("energy_off", strayed).with("order", order(&errors)));
    }
    if let Some(order) = order(&errors) {
        checks.push(Check::at_least("order of the energy's error, θ = ½", order, 1.7));
    }
    Ok(())
}

/// Lets a cantilever go for 0.2 s by the scheme with θ = ½: how far its energy strays, over its weight times its length.
fn swing(params: &Params, steps: usize) -> Option<f64> {
    const DURATION: f64 = 0.2;
    const PASSES: usize = 4;
    let (rod, dt, still) = (rod(params, 4), DURATION / steps as f64, Twist::default());
    let gravity = DVec3::NEG_Y * GRAVITY;
    let (mut curvatures, mut rates) = (rod.rest.clone(), vec![DVec3::ZERO; 4]);
    let scale = rod.mass_per_length * GRAVITY * params.length.powi(2);
    let total = |curvatures: &[DVec3], rates: &[DVec3]| {
        let chain = Chain::new(clamp(), &rod.lengths, curvatures);
        let kinetic = rod.kinetic_energy(&chain, rates, &still);
        kinetic + rod.elastic_energy(curvatures) + rod.gravity_energy(&chain, gravity)
    };
    let start = total(&curvatures, &rates);
    let forces = Forces { gravity, drag: 0.0, wind: &|_| DVec3::ZERO, pulls: &[] };
    let mut strayed = 0.0_f64;
    for _ in 0..steps {
        let mut next = rates.clone();
        for _ in 0..PASSES {
            let mean: Vec<DVec3> = rates.iter().zip(&next).map(|(a, b)| 0.5 * (*a + *b)).collect();
            let middle = curvatures.iter().zip(&mean).map(|(k, rate)| *k + 0.5 * dt * *rate).collect();
            let middle = Middle {
                root: clamp(),
                before: still,
                during: still,
                curvatures: middle,
                rates: mean,
                field: None,
            };
            let (_, linear) = rod.linearised((&curvatures, &rates), &middle, &forces, (dt, 0.5));
            next = linear.solved()?.chunks_exact(3).map(DVec3::from_slice).collect();
        }
        for (k, (a, b)) in curvatures.iter_mut().zip(rates.iter().zip(&next)) {
            *k += 0.5 * dt * (*a + *b);
        }
        rates = next;
        strayed = strayed.max((total(&curvatures, &rates) - start).abs() / scale);
    }
    Some(strayed)
}
