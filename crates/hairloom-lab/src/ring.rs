//! The ring experiment: twisted hair closed to a ring leaves its plane.
//!
//! Root and tip are clamped to one place and one direction. Any motion of a closed ring that nothing holds is one that keeps the place
//! where it was closed, up to moving as a whole: the ring held there is as stable as a free one.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use hairloom::math::Pose;
use hairloom::scene::{Material, State};
use hairloom::solve::Method;
use hairloom::solve::admm::Precision;
use hairloom_picture::plot::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::experiment::{BadKey, Experiment};
use crate::outcome::{Check, Findings, Row};
use crate::strands::{Hold, Rig, Rod, alone, check_list, check_range, straight};

/// Twists that are tried [critical twists].
const TWISTS: [f64; 5] = [0.9, 0.95, 1.0, 1.05, 1.1];
/// Largest slope out of the plane at the start.
const SLOPE: f64 = 1.0e-3;
/// Steps until the softest mode alone is left.
const STEPS: usize = 60;
/// Length of a step, and rate of drag, in units of √(ρ A L⁴ / E I): modes creep, the softest ones by some tens of percent a step.
const STEP: f64 = 0.1;
const DRAG: f64 = 1.0e3;

/// What can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The hair.
    #[serde(flatten)]
    rod: Rod,
    /// Poisson's ratios beside that of the hair.
    poissons: Vec<f64>,
    /// Edges of the hair.
    edges: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self { rod: Rod::of(0.1, 0.0), poissons: vec![0.0, 0.25, 0.5], edges: 100 }
    }
}

impl Params {
    fn material(&self, poisson: f64) -> Material {
        Rod { poisson, ..self.rod }.material()
    }
}

/// The experiment.
pub(crate) struct Ring;

impl Experiment for Ring {
    type Params = Params;
    const NAME: &'static str = "ring";
    const SUMMARY: &'static str =
        "straight hair twisted and closed to a ring stays flat up to a critical twist";
    const REFERENCE: &'static str =
        "Michell's instability of a twisted ring: 2 π √3 times bending over twisting stiffness";
    const HELP: &'static [(&'static str, &'static str)] =
        &[("poissons", "more of Poisson's ratios"), ("edges", "edges of the hair, 32 to 500")];

    fn adapt(method: &mut Method) {
        alone(method);
        if let Method::Admm(params) = method {
            params.precision = Precision::F64;
            params.tolerance = 0.0;
            params.iterations = 30;
        }
    }

    fn rod(params: &Params) -> Option<&Rod> {
        Some(&params.rod)
    }

    fn check(params: &Params) -> Result<(), BadKey> {
        check_list("poissons", &params.poissons, 20, -0.9, 0.5)?;
        check_range(("edges", params.edges as f64, 32.0, 500.0))
    }

    fn run(params: &Params, method: &Method) -> Result<Findings, LabError> {
        let (mut rows, mut worst) = (Vec::new(), 0.0_f64);
        let mut panel = Panel::new(Axis::new("twist / Michell's"), Axis::new("ω² ρ A L⁴ / E I"))
            .titled("Stiffness of the softest mode");
        for &poisson in std::iter::once(&params.rod.poisson).chain(&params.poissons) {
            let material = params.material(poisson);
            let [bending, _, twisting] = material.rod_stiffness();
            let reference = TAU * 3.0_f64.sqrt() * bending / twisting;
            let stiffness = stiffness_at(params, &material, reference, method)?;
            let points: Vec<(f64, f64)> = TWISTS.into_iter().zip(stiffness.iter().copied()).collect();
            let critical = crossing(&points) * reference;
            let error = critical / reference - 1.0;
            worst = if error.is_nan() { f64::NAN } else { worst.max(error.abs()) };
            rows.push(
                Row::new()
                    .with("poisson", poisson)
                    .with("b_over_c", bending / twisting)
                    .with("critical_twist", critical)
                    .with("reference", reference)
                    .with("error", error)
                    .with("stiffness", stiffness),
            );
            panel = panel.with(Series::line(format!("ν = {poisson}"), points));
        }
        let checks = vec![Check::at_most("worst error of the critical twist", worst, 0.02)];
        Ok(Findings { rows, checks, figure: Figure::new("Twisted rings").with(panel) })
    }
}

/// The squared frequency of the softest mode out of the plane, negative where it grows [E I / ρ A L⁴], for each twist.
fn stiffness_at(
    params: &Params,
    material: &Material,
    critical: f64,
    method: &Method,
) -> Result<Vec<f64>, LabError> {
    let length = params.rod.length;
    let edges = params.rod.edges(length, params.edges);
    let unit = (material.mass_per_length() * length.powi(4) / material.rod_stiffness()[0]).sqrt();
    let material = Material { drag: DRAG / unit, ..*material };
    let curves = vec![straight(DVec3::X, length, edges); TWISTS.len()];
    let twists = TWISTS.map(|share| share * critical);
    // The tip's clamp comes to the root's place and turns about their common direction.
    let clamps = twists
        .map(|twist| Pose { rotation: DQuat::from_rotation_x(twist), translation: DVec3::NEG_X * length });
    let mut rig =
        Rig::new(&curves, &material, Hold::Clamps, method)?.with_gravity(DVec3::ZERO).with_clamps(&clamps)?;
    let mut state = State::default();
    for twist in twists {
        let (positions, frames) = ring(length, edges, twist);
        state.velocities.extend(vec![DVec3::ZERO; positions.len()]);
        state.positions.extend(positions);
        state.orientations.extend(frames);
    }
    rig.load(&state);
    for _ in 0..STEPS - 2 {
        rig.step(STEP * unit)?;
    }
    let first = rig.shapes();
    rig.step(STEP * unit)?;
    let second = rig.shapes();
    rig.step(STEP * unit)?;
    let shapes = first.iter().zip(&second).zip(rig.shapes());
    Ok(shapes.map(|((first, second), third)| squared_frequency(growth(first, second, &third))).collect())
}

/// The factor by which motion out of the plane grows in a step. Displacements count, not places: groomed points in single precision
/// make a ring that is not quite round, and that rests a little out of its plane.
fn growth(first: &[DVec3], second: &[DVec3], third: &[DVec3]) -> f64 {
    let (mut product, mut square) = (0.0, 0.0);
    for ((first, second), third) in first.iter().zip(second).zip(third) {
        let before = second.z - first.z;
        product += before * (third.z - second.z);
        square += before * before;
    }
    product / square
}

/// From the factor `z` by which an amplitude grows in a step of backward Euler:
/// `(z − 2 + 1/z) / dt² + drag (z − 1) / dt + ω² z = 0`.
fn squared_frequency(z: f64) -> f64 {
    -((z - 2.0 + 1.0 / z) / (STEP * STEP) + DRAG * (z - 1.0) / STEP) / z
}

/// Where a line through points of falling height crosses zero. It is straight in the square of the twist.
fn crossing(points: &[(f64, f64)]) -> f64 {
    let pair = points.windows(2).find(|pair| pair[0].1 >= 0.0 && pair[1].1 < 0.0);
    pair.map_or(f64::NAN, |pair| {
        let share = pair[0].1 / (pair[0].1 - pair[1].1);
        let (a, b) = (pair[0].0.powi(2), pair[1].0.powi(2));
        (a + (b - a) * share).sqrt()
    })
}

/// A ring in the plane of x and y, evenly twisted, that leaves its plane a little: positions, and frames as groomed along x.
fn ring(length: f64, edges: usize, twist: f64) -> (Vec<DVec3>, Vec<DQuat>) {
    let groomed = DQuat::from_rotation_arc(DVec3::Z, DVec3::X);
    let mut points = vec![DVec3::ZERO];
    let mut frames: Vec<DQuat> = Vec::with_capacity(edges + 1);
    for i in 0..edges {
        let s = (i as f64 + 0.5) / edges as f64;
        let around = DQuat::from_rotation_z(TAU * s);
        let out = DQuat::from_rotation_y(-SLOPE * (2.0 * TAU * s).sin());
        let frame = around * out * DQuat::from_rotation_x(twist * s) * groomed;
        points.push(points[i] + frame * DVec3::Z * (length / edges as f64));
        frames.push(frame);
    }
    frames.extend(frames.last().copied());
    (points, frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_closed_and_twisted() {
        let (points, frames) = ring(0.1, 100, 15.0);
        assert!(points[100].length() < 1.0e-7 && frames.len() == 101);
        let diameter = points.iter().map(|point| point.y).fold(0.0, f64::max);
        assert!((diameter - 0.1 / std::f64::consts::PI).abs() < 1.0e-5, "{diameter}");
    }

    #[test]
    fn frequencies_come_back_from_growth() {
        // ω² from the factor that it gives.
        for square in [-50.0_f64, 0.0, 80.0] {
            let rate = 1.0 / (STEP * STEP) + DRAG / STEP;
            let (mut x, mut v) = (1.0, 0.0);
            let mut z = 1.0;
            for _ in 0..200 {
                let next: f64 = (x * rate + v / STEP) / (rate + square);
                (z, v) = (next / x, (next - x) / STEP);
                x = next;
            }
            assert!((squared_frequency(z) - square).abs() < 1.0e-6, "{square}: {}", squared_frequency(z));
        }
    }
}
