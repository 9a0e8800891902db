//! Figure 3: the smallest angle that bending resistance leaves between segments.

use std::f64::consts::PI;

use glam::DVec3;
use hairloom::solve::{Method, ftl};
use hairloom_picture::plot::{Axis, Panel, Series};

use super::leader::{Hold, Leader};
use super::params::Params;
use super::track::record;
use crate::LabError;
use crate::outcome::{Check, Findings, Row};

pub(super) fn run(params: &Params, base: &ftl::Params, findings: &mut Findings) -> Result<(), LabError> {
    let steps = params.steps(params.duration);
    let mut panel = Panel::new(Axis::new("bending resistance s"), Axis::new("angle [degrees]"))
        .titled("Figure 3: smallest angle between segments of a shaken rope");
    let mut measured = Vec::new();
    for &bending in &params.bendings {
        let method = Method::Ftl(ftl::Params { bending, ..*base });
        let start = params.straight(DVec3::X);
        let mut rig = Leader::new(params, &method, Hold::FirstEnd, start, None)?;
        let track = record(&mut rig, steps, params.dt, &|t| hand(params, t))?;
        let smallest =
            track.frames.iter().flat_map(|frame| frame.angles()).fold(PI, f64::min).to_degrees();
        let limit = smallest_angle(bending).to_degrees();
        measured.push((bending, smallest));
        let stretch = track.stretch(params.segment);
        findings.rows.push(
            Row::new()
                .with("figure", "3")
                .with("bending", bending)
                .with("smallest_angle", smallest)
                .with("phi_min", limit)
                .with("below_phi_min", limit - smallest)
                .with("max_stretch", stretch),
        );
    }
    let limits = (0..=100).map(|i| f64::from(i) * 0.01).map(|s| (s, smallest_angle(s).to_degrees())).collect();
    panel = panel
        .with(Series::line("π − 2 arccos s", limits).dashed())
        .with(Series::scatter("measured", measured));
    findings.figure.panels.push(panel);
    Ok(())
}

/// Equation 12, with the half turn that it lacks in print [rad].
fn smallest_angle(bending: f64) -> f64 {
    PI - 2.0 * bending.acos()
}

/// A hand that tosses the rope.
fn hand(params: &Params, time: f64) -> DVec3 {
    let phase = 2.0 * PI * params.drag_frequency * time;
    DVec3::new((2.0 * phase).sin(), (3.0 * phase).sin() * 0.5, 0.0) * params.drag_amplitude
}
