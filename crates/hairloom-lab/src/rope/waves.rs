//! Section 3.4: a small sphere hits a hanging rope low down; how far up does the rope notice?

use glam::DVec3;
use hairloom::solve::{Method, ftl};
use hairloom_picture::plot::{Axis, Panel, Series, fade};

use super::leader::{Ball, Hold, Leader};
use super::params::Params;
use super::track::{Track, record};
use crate::LabError;
use crate::outcome::{Check, Findings, Row};

/// A particle is disturbed when it leaves its place by so much of the sphere's radius.
const DISTURBED: f64 = 0.1;
/// Frames laid over each other in a picture.
const OVERLAID: usize = 10;

/// Runs the one- and the two-pass wave.
pub(super) fn run(params: &Params, base: &ftl::Params, findings: &mut Findings) -> Result<(), LabError> {
    let ball = ball(params);
    // From the first touch on, until the sphere has gone on by three radii.
    let seconds = 4.0 * params.sphere_radius / params.sphere_speed;
    let mut amplitudes = Vec::new();
    for (name, backward) in [("one pass", false), ("two passes", true)] {
        let method = Method::Ftl(ftl::Params { backward, ..*base });
        let start = params.straight(DVec3::NEG_Y);
        let mut rig = Leader::new(params, &method, Hold::FirstEnd, start, Some(ball))?;
        let track = record(&mut rig, params.steps(seconds), params.dt, &|_| DVec3::ZERO)?;
        let amplitude = amplitude(&track);
        let reach = climb(params, &amplitude);
        let moved = amplitude.iter().sum::<f64>() / (params.particles as f64 * params.sphere_radius);
        findings.rows.push(
            Row::new()
                .with("figure", "section 3.4")
                .with("passes", if backward { 2 } else { 1 })
                .with("climb", reach)
                .with("mean_amplitude", moved)
                .with("max_stretch", track.stretch(params.segment)),
        );
        findings.figure.panels.push(overlay(params, name, &track, &ball, seconds));
        amplitudes.push((name, amplitude, reach, track.stretch(params.segment)));
    }
    let (one, two) = (&amplitudes[0], &amplitudes[1]);
    findings.checks.extend([
        Check::at_least("section 3.4: climb of the disturbance, two passes over one", two.2 / one.2, 1.2),
        Check::at_most("section 3.4: stretch", one.3.max(two.3), 1.0e-5),
    ]);
    let mut panel = Panel::new(Axis::new("distance from the top / length"), Axis::new("amplitude / sphere radius"))
        .titled("Section 3.4: how far each particle was moved");
    for (name, amplitude, ..) in &amplitudes {
        let place = |i: usize| i as f64 / (params.particles - 1) as f64;
        let points = amplitude.iter().enumerate().map(|(i, a)| (place(i), a / params.sphere_radius)).collect();
        panel = panel.with(Series::line(*name, points).marked());
    }
    findings.figure.panels.push(panel);
    Ok(())
}

/// A sphere that just touches the rope from the left, at the height asked for.
fn ball(params: &Params) -> Ball {
    let height = -params.sphere_place * params.length();
    Ball {
        radius: params.sphere_radius,
        start: DVec3::new(-1.01 * params.sphere_radius, height, 0.0),
        velocity: DVec3::X * params.sphere_speed,
    }
}

/// The farthest that each particle was from its place [m].
fn amplitude(track: &Track) -> Vec<f64> {
    let first = &track.frames[0].positions;
    let far = |i: usize| track.frames.iter().map(|frame| frame.positions[i].distance(first[i])).fold(0.0, f64::max);
    (0..first.len()).map(far).collect()
}

/// How far above the sphere's centre the highest disturbed particle is, in sphere radii.
fn climb(params: &Params, amplitude: &[f64]) -> f64 {
    let highest = amplitude.iter().position(|a| *a > DISTURBED * params.sphere_radius);
    highest.map_or(f64::NAN, |i| {
        (params.sphere_place * params.length() - params.segment * i as f64) / params.sphere_radius
    })
}

fn overlay(params: &Params, name: &str, track: &Track, ball: &Ball, seconds: f64) -> Panel {
    let (length, radius) = (params.length(), params.sphere_radius);
    let top = (params.sphere_place * length - 8.0 * radius).max(-radius);
    let mut panel = Panel::new(Axis::new("x [m]"), Axis::new("y [m]").from_to(-1.02 * length, -top))
        .titled(format!("Section 3.4: {name}"))
        .with_equal_aspect();
    for k in 0..=OVERLAID {
        let share = k as f64 / OVERLAID as f64;
        let points = track.at(share * seconds).positions.iter().map(|p| (p.x, p.y)).collect();
        let label = match k {
            0 => "0 s".to_owned(),
            OVERLAID => format!("{seconds:.2} s"),
            _ => String::new(),
        };
        panel = panel.with(Series::line(label, points).colored(fade(share)));
    }
    let centre = ball.centre(seconds);
    let circle = (0..=48).map(|k| f64::from(k) / 48.0 * std::f64::consts::TAU);
    let circle = circle.map(|a| (centre.x + radius * a.cos(), centre.y + radius * a.sin())).collect();
    panel.with(Series::line("sphere at the end", circle).colored([208, 88, 0]))
}
