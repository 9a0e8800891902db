//! Section 3.4: a small sphere hits a hanging rope low down; how far up does the rope notice?
//!
//! Without the velocity correction nothing above the particle that is hit ever moves in one pass, and the
//! backward pass is what carries the wave up. The correction is a road upwards of its own (equation 9 hands a
//! follower's pull to its leader), so at scales near 1 the second pass adds little.

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

/// A rope that was hit.
struct Hit {
    correction: f64,
    passes: usize,
    track: Track,
    amplitude: Vec<f64>,
    /// How far above the sphere's centre the highest disturbed particle is [sphere radii].
    climb: f64,
}

/// Runs the one- and the two-pass wave.
pub(super) fn run(params: &Params, base: &ftl::Params, findings: &mut Findings) -> Result<(), LabError> {
    let ball = ball(params);
    let mut hits = Vec::new();
    for correction in [0.0, 0.5, base.correction] {
        for passes in [1, 2] {
            hits.push(hit(params, &ftl::Params { backward: passes == 2, correction, ..*base }, ball)?);
        }
    }
    for hit in &hits {
        let mean = hit.amplitude.iter().sum::<f64>() / params.particles as f64;
        findings.rows.push(
            Row::new()
                .with("figure", "section 3.4")
                .with("correction", hit.correction)
                .with("passes", hit.passes)
                .with("climb", hit.climb)
                .with("mean_amplitude", mean / params.sphere_radius)
                .with("max_stretch", hit.track.stretch(params.segment)),
        );
    }
    let stretch = hits.iter().map(|hit| hit.track.stretch(params.segment)).fold(0.0, f64::max);
    findings.checks.extend([
        Check::at_least(
            "section 3.4: wave's climb, two passes less one, s = 0 [radii]",
            hits[1].climb - hits[0].climb,
            1.0,
        ),
        Check::at_least(
            "section 3.4: wave's climb, two passes less one, s = 0.5 [radii]",
            hits[3].climb - hits[2].climb,
            0.5,
        ),
        Check::at_most("section 3.4: stretch", stretch, 1.0e-5),
    ]);
    for hit in &hits[..2] {
        findings.figure.panels.push(overlay(params, hit, &ball));
    }
    let picks: Vec<&Hit> = hits[..2].iter().chain(&hits[4..]).collect();
    findings.figure.panels.push(amplitudes(params, &picks));
    Ok(())
}

/// From the first touch on, until the sphere has gone on by four radii [s].
fn seconds(params: &Params) -> f64 {
    4.0 * params.sphere_radius / params.sphere_speed
}

fn hit(params: &Params, ftl: &ftl::Params, ball: Ball) -> Result<Hit, LabError> {
    let start = params.straight(DVec3::NEG_Y);
    let mut rig = Leader::new(params, &Method::Ftl(*ftl), Hold::FirstEnd, start, Some(ball))?;
    let track = record(&mut rig, params.steps(seconds(params)), params.dt, &|_| DVec3::ZERO)?;
    let amplitude = amplitude(&track);
    let climb = climb(params, &amplitude);
    Ok(Hit { correction: ftl.correction, passes: if ftl.backward { 2 } else { 1 }, track, amplitude, climb })
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
    let far =
        |i: usize| track.frames.iter().map(|frame| frame.positions[i].distance(first[i])).fold(0.0, f64::max);
    (0..first.len()).map(far).collect()
}

fn climb(params: &Params, amplitude: &[f64]) -> f64 {
    let highest = amplitude.iter().position(|a| *a > DISTURBED * params.sphere_radius);
    highest.map_or(f64::NAN, |i| {
        (params.sphere_place * params.length() - params.segment * i as f64) / params.sphere_radius
    })
}

fn name(hit: &Hit) -> String {
    let passes = if hit.passes == 2 { "two passes" } else { "one pass" };
    format!("{passes}, s = {}", hit.correction)
}

fn overlay(params: &Params, hit: &Hit, ball: &Ball) -> Panel {
    let (length, radius, seconds) = (params.length(), params.sphere_radius, seconds(params));
    let top = (params.sphere_place * length - 8.0 * radius).max(-radius);
    let mut panel = Panel::new(Axis::new("x [m]"), Axis::new("y [m]").from_to(-1.02 * length, -top))
        .titled(format!("Section 3.4: {}", name(hit)))
        .with_equal_aspect();
    for k in 0..=OVERLAID {
        let share = k as f64 / OVERLAID as f64;
        let points = hit.track.at(share * seconds).positions.iter().map(|p| (p.x, p.y)).collect();
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

fn amplitudes(params: &Params, hits: &[&Hit]) -> Panel {
    let mut panel = Panel::new(
        Axis::new("distance from the top / length"),
        Axis::log("farthest from its place / sphere radius").from_to(1.0e-4, 20.0),
    )
    .titled("Section 3.4: how far each particle was moved");
    let place = |i: usize| i as f64 / (params.particles - 1) as f64;
    for hit in hits {
        let points =
            hit.amplitude.iter().enumerate().map(|(i, a)| (place(i), a / params.sphere_radius)).collect();
        let mut series = Series::line(name(hit), points).marked();
        series.marks = 5.0;
        panel = panel.with(series);
    }
    panel
}
