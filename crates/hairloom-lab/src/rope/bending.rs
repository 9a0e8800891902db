//! Figure 3: the angles that bending resistance leaves between segments.
//!
//! Bending yields to stretching: a follower is pushed to the distance `2 s l` from the second before it, and then
//! drawn back to the distance `l` from its leader. That last projection spoils the first wherever the push took it
//! too far from the leader, so one step need not reach `φ_min = π − 2 arccos s` (equation 12, with the half
//! turn that it lacks in print). For a fold at rest of angle `φ` one step gives
//!
//! ```text
//! δ² = 1 + 4 s² − 4 s sin(φ/2),    cos φ' = (1 + δ² − 4 s²) / (2 δ),
//! ```
//!
//! whose fixed point is `φ_min`. So a fold opens to the limit within a few steps, and a rope tossed about lies
//! below it where it is folded anew in every step.

use std::f64::consts::PI;

use glam::DVec3;
use hairloom::solve::{Method, ftl};
use hairloom_picture::plot::{Axis, Panel, Series};

use super::leader::{Hold, Leader};
use super::params::Params;
use super::track::{Rig, record};
use crate::LabError;
use crate::outcome::{Check, Findings, Row};

/// The fold at the start [rad].
const FOLD: f64 = 30.0 * PI / 180.0;
/// Steps until a fold at rest counts as open.
const FOLD_STEPS: usize = 40;
/// An angle this far below the limit counts as below [degrees].
const MARGIN: f64 = 5.0;

/// Runs figure 3.
pub(super) fn run(params: &Params, base: &ftl::Params, findings: &mut Findings) -> Result<(), LabError> {
    let (mut tossed, mut opened) = (Vec::new(), Vec::new());
    let (mut step_error, mut open_error, mut worst_share) = (0.0_f64, f64::NEG_INFINITY, 0.0_f64);
    for &bending in &params.bendings {
        let method = Method::Ftl(ftl::Params { bending, ..*base });
        let limit = smallest_angle(bending).to_degrees();
        let angles = toss(params, &method)?;
        let smallest = angles.iter().copied().fold(180.0, f64::min);
        let below =
            angles.iter().filter(|angle| **angle < limit - MARGIN).count() as f64 / angles.len() as f64;
        let fold = unfold(params, &method)?;
        let (one_step, end) = (fold[1], fold[FOLD_STEPS]);
        let expected = opened_once(FOLD, bending).to_degrees();
        step_error = step_error.max((one_step - expected).abs());
        open_error = open_error.max(limit - end);
        worst_share = worst_share.max(below);
        tossed.push((bending, smallest));
        opened.push((bending, end));
        findings.rows.push(
            Row::new()
                .with("figure", "3")
                .with("bending", bending)
                .with("phi_min", limit)
                .with("fold_after_one_step", one_step)
                .with("fold_after_one_step_reference", expected)
                .with("fold_after_40_steps", end)
                .with("tossed_smallest_angle", smallest)
                .with("tossed_share_below", below),
        );
    }
    findings.checks.extend([
        Check::at_most("fig 3: fold after one step against the closed form [degrees]", step_error, 0.05),
        Check::at_most("fig 3: fold at rest stays below phi_min by [degrees]", open_error, 0.5),
        Check::at_most("fig 3: share of a tossed rope's angles 5 degrees below phi_min", worst_share, 0.05),
    ]);
    findings.figure.panels.push(panel(tossed, opened));
    Ok(())
}

/// All angles of a rope that is tossed about [degrees].
fn toss(params: &Params, method: &Method) -> Result<Vec<f64>, LabError> {
    let mut rig = Leader::new(params, method, Hold::FirstEnd, params.straight(DVec3::X), None)?;
    let hand = |time: f64| {
        let phase = 2.0 * PI * params.drag_frequency * time;
        DVec3::new((2.0 * phase).sin(), (3.0 * phase).sin() * 0.5, 0.0) * params.drag_amplitude
    };
    let track = record(&mut rig, params.steps(params.duration), params.dt, &hand)?;
    Ok(track.frames.iter().flat_map(|frame| frame.angles()).map(f64::to_degrees).collect())
}

/// The angle of a fold of two segments, step after step, each begun at rest and without weight [degrees].
fn unfold(params: &Params, method: &Method) -> Result<Vec<f64>, LabError> {
    let tip = DVec3::new(-FOLD.cos(), FOLD.sin(), 0.0) * params.segment;
    let corner = DVec3::X * params.segment;
    let mut points = vec![DVec3::ZERO, corner, corner + tip];
    let mut angles = vec![FOLD.to_degrees()];
    for _ in 0..FOLD_STEPS {
        let mut rig = Leader::new(params, method, Hold::FirstEnd, points, None)?.weightless();
        rig.step(&|_| DVec3::ZERO, params.dt)?;
        let frame = rig.frame();
        angles.extend(frame.angles().iter().map(|angle| angle.to_degrees()));
        points = frame.positions;
    }
    Ok(angles)
}

/// The angle at which neighbouring segments satisfy equation 11 [rad].
fn smallest_angle(bending: f64) -> f64 {
    PI - 2.0 * bending.acos()
}

/// What one step makes of a fold at rest [rad].
fn opened_once(angle: f64, s: f64) -> f64 {
    if angle >= smallest_angle(s) {
        return angle;
    }
    let square = 1.0 + 4.0 * s * s - 4.0 * s * (0.5 * angle).sin();
    ((1.0 + square - 4.0 * s * s) / (2.0 * square.sqrt())).clamp(-1.0, 1.0).acos()
}

fn panel(tossed: Vec<(f64, f64)>, opened: Vec<(f64, f64)>) -> Panel {
    let along = || (0..=100).map(|i| f64::from(i) * 0.01);
    let limits = along().map(|s| (s, smallest_angle(s).to_degrees())).collect();
    let once = along().map(|s| (s, opened_once(FOLD, s).to_degrees())).collect();
    Panel::new(
        Axis::new("bending resistance s"),
        Axis::new("angle between segments [degrees]").from_to(0.0, 180.0),
    )
    .titled("Figure 3: what bending resistance leaves of a fold")
    .with(Series::line("φ_min = π - 2 arccos s", limits).dashed().colored([70, 70, 78]))
    .with(Series::line("30° fold, one step, closed form", once).dashed())
    .with(Series::scatter("fold at rest, 40 steps", opened))
    .with(Series::scatter("smallest in a tossed rope", tossed))
}
