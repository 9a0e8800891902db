//! Figure 2: an overstretched rope, projected from one end, from both, and blended.

use glam::DVec3;
use hairloom::solve::Method;
use hairloom_picture::plot::{Axis, Panel, Series};

use super::leader::{Hold, Leader};
use super::params::Params;
use super::track::{Rig, length_error};
use crate::LabError;
use crate::outcome::{Check, Findings, Row};

/// Particles of this rope, few enough to see each.
const PARTICLES: usize = 9;
/// How much too long its segments are at the start.
const OVERSTRETCH: f64 = 1.35;

/// A way to give the segments their lengths, and what came of it.
struct Case {
    name: &'static str,
    points: Vec<DVec3>,
}

/// Runs figure 2.
pub(super) fn run(params: &Params, method: &Method, findings: &mut Findings) -> Result<(), LabError> {
    let start = overstretched(params.segment);
    let cases = cases(params, method, &start)?;
    for case in &cases {
        let ends = [0, PARTICLES - 1].map(|i| case.points[i].distance(start[i]) / params.segment);
        findings.rows.push(
            Row::new()
                .with("figure", "2")
                .with("case", case.name)
                .with("max_edge_error", length_error(&case.points, params.segment))
                .with("first_end_moved", ends[0])
                .with("last_end_moved", ends[1])
                .with("centre_moved", centre(&case.points).distance(centre(&start)) / params.segment),
        );
    }
    let error = |name: &str| {
        let case = cases.iter().find(|case| case.name == name);
        case.map_or(f64::NAN, |case| length_error(&case.points, params.segment))
    };
    findings.checks.push(Check::at_most("fig 2: detached rope, worst segment", error(DETACHED), 1.0e-5));
    findings.checks.push(Check::at_most("fig 2: rope held at both ends, worst segment", error(HELD), 1.0e-3));
    // What makes more than a blend necessary.
    findings.checks.push(Check::at_least("fig 2: weighted blend alone, worst segment", error(BLEND), 0.01));
    findings.figure.panels.push(panel(&start, &cases, params.segment));
    Ok(())
}

const DETACHED: &str = "solver, detached";
const HELD: &str = "solver, both ends held";
const BLEND: &str = "weighted blend";

fn cases(params: &Params, method: &Method, start: &[DVec3]) -> Result<Vec<Case>, LabError> {
    let left = from_left(start, params.segment);
    let right = from_right(start, params.segment);
    let last = PARTICLES - 1;
    let mean = blend(&left, &right, |_| 0.5);
    let mut ends_fixed = mean.clone();
    (ends_fixed[0], ends_fixed[last]) = (start[0], start[last]);
    let weighted = blend(&left, &right, |i| i as f64 / last as f64);
    let solved = |hold| -> Result<Vec<DVec3>, LabError> {
        let mut rig = Leader::new(params, method, hold, start.to_vec(), None)?.weightless();
        rig.step(&|_| start[0], params.dt)?;
        Ok(rig.frame().positions)
    };
    let case = |name, points| Case { name, points };
    Ok(vec![
        case("from the left", left),
        case("from the right", right),
        case("average", mean),
        case("average, ends fixed", ends_fixed),
        case(BLEND, weighted),
        case(DETACHED, solved(Hold::Nothing)?),
        case(HELD, solved(Hold::BothEnds)?),
    ])
}

/// A zigzag that is too long everywhere, with its ends within reach of each other.
fn overstretched(segment: f64) -> Vec<DVec3> {
    let mut points = vec![DVec3::ZERO];
    for i in 1..PARTICLES {
        let turn = [0.9, -0.6, -1.1, 0.5, 1.0, -0.8, 0.7, -1.0][(i - 1) % 8];
        let direction = DVec3::new(f64::cos(turn), f64::sin(turn), 0.0);
        points.push(points[i - 1] + direction * (segment * OVERSTRETCH));
    }
    points
}

fn from_left(points: &[DVec3], segment: f64) -> Vec<DVec3> {
    let mut new = points.to_vec();
    for i in 1..new.len() {
        new[i] = new[i - 1] + (new[i] - new[i - 1]).normalize_or(DVec3::X) * segment;
    }
    new
}

fn from_right(points: &[DVec3], segment: f64) -> Vec<DVec3> {
    let reversed: Vec<DVec3> = points.iter().rev().copied().collect();
    from_left(&reversed, segment).into_iter().rev().collect()
}

fn blend(a: &[DVec3], b: &[DVec3], weight: impl Fn(usize) -> f64) -> Vec<DVec3> {
    a.iter().zip(b).enumerate().map(|(i, (a, b))| a.lerp(*b, weight(i))).collect()
}

fn centre(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len() as f64
}

/// All cases below one another.
fn panel(start: &[DVec3], cases: &[Case], segment: f64) -> Panel {
    let mut panel = Panel::new(
        Axis::new("x [m]").from_to(-segment, 22.0 * segment),
        Axis::new("y, one rope below the other [m]"),
    )
    .titled("Figure 2: an overstretched rope and its projections")
    .with_equal_aspect();
    let ropes = std::iter::once(("overstretched", start))
        .chain(cases.iter().map(|case| (case.name, case.points.as_slice())));
    for (k, (name, points)) in ropes.enumerate() {
        let shift = -(k as f64) * 2.2 * segment;
        let points = points.iter().map(|p| (p.x, p.y + shift)).collect();
        let mut series = Series::line(name, points).marked();
        series.marks = 6.0;
        panel = panel.with(if k == 0 { series.dashed().colored([120, 120, 126]) } else { series });
    }
    panel
}
