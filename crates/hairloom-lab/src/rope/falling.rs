//! Figures 4 and 5: a level rope falls, without the velocity correction and with it.

use glam::DVec3;
use hairloom::solve::{Method, ftl};
use hairloom_picture::plot::{Axis, Panel, Series, fade};

use super::leader::{Hold, Leader};
use super::params::Params;
use super::reference::Reference;
use super::track::{Track, record};
use crate::LabError;
use crate::outcome::{Check, Findings, Row};

/// Frames laid over each other in a picture.
const OVERLAID: usize = 18;

/// A rope that fell.
struct Fall {
    name: String,
    track: Track,
}

/// Runs figures 4 and 5.
pub(super) fn run(params: &Params, base: &ftl::Params, findings: &mut Findings) -> Result<(), LabError> {
    let exact = fall_exactly(params, params.reference_dt)?;
    let finer = fall_exactly(params, params.reference_dt * 0.5)?.until(swing_time(params));
    // Later on a chain is chaotic, and the distance to any reference says nothing.
    let swing = exact.until(swing_time(params));
    let uncorrected = Fall { name: "s = 0".to_owned(), track: fall(params, base, 0.0)? };
    let mut corrected = Vec::new();
    for &correction in &params.corrections {
        corrected.push(Fall { name: format!("s = {correction}"), track: fall(params, base, correction)? });
    }
    let length = params.length();
    findings.rows.push(row(params, "4", "0", &uncorrected.track, &swing));
    for (correction, fall) in params.corrections.iter().zip(&corrected) {
        findings.rows.push(row(params, "5", &correction.to_string(), &fall.track, &swing));
    }
    findings.rows.push(row(params, "5", "reference", &exact, &finer));
    let energy =
        exact.frames.iter().map(|frame| (frame.energy_share(params) - 1.0).abs()).fold(0.0, f64::max);
    let stretch = corrected.iter().chain([&uncorrected]).map(|fall| fall.track.stretch(params.segment));
    let distance = |fall: &Fall| swing.tip_distance_to(&fall.track);
    let farthest = corrected.iter().map(distance).fold(0.0, f64::max);
    let gain = corrected.iter().map(|fall| most_energy(params, &fall.track)).fold(0.0, f64::max);
    findings.checks.extend([
        Check::at_most("fig 4 and 5: reference keeps its energy to", energy, 0.01),
        Check::at_most(
            "fig 4 and 5: reference against half its step, rms / length",
            swing.distance_to(&finer) / length,
            0.01,
        ),
        Check::at_most("fig 4 and 5: stretch", stretch.fold(0.0, f64::max), 1.0e-5),
        Check::at_most(
            "fig 5: corrected tip's distance to the reference over the uncorrected one's",
            farthest / distance(&uncorrected),
            0.9,
        ),
        Check::at_least(
            "fig 4: energy of the uncorrected rope, most over start",
            most_energy(params, &uncorrected.track),
            3.0,
        ),
        Check::at_most("fig 5: energy of the corrected rope, most over start", gain, 1.5),
    ]);
    findings.figure.panels.push(overlay(
        params,
        "Figure 4: no correction (s = 0)",
        &uncorrected.track,
        0.5 * swing_time(params),
    ));
    for fall in &corrected {
        let title = format!("Figure 5: correction {}", fall.name);
        findings.figure.panels.push(overlay(params, &title, &fall.track, swing_time(params)));
    }
    findings.figure.panels.push(overlay(params, "Figures 4 and 5: reference", &exact, swing_time(params)));
    let reference = Fall { name: "reference".to_owned(), track: exact };
    let all: Vec<&Fall> = corrected.iter().chain([&uncorrected, &reference]).collect();
    findings.figure.panels.push(energies(params, &all));
    findings.figure.panels.push(swings(params, &all));
    Ok(())
}

fn fall(params: &Params, base: &ftl::Params, correction: f64) -> Result<Track, LabError> {
    let method = Method::Ftl(ftl::Params { correction, ..*base });
    let mut rig = Leader::new(params, &method, Hold::FirstEnd, params.straight(DVec3::X), None)?;
    record(&mut rig, params.steps(params.duration), params.dt, &|_| DVec3::ZERO)
}

fn fall_exactly(params: &Params, small: f64) -> Result<Track, LabError> {
    let mut rig = Reference::new(params, params.straight(DVec3::X), small);
    record(&mut rig, params.steps(params.duration), params.dt, &|_| DVec3::ZERO)
}

fn row(params: &Params, figure: &str, correction: &str, track: &Track, exact: &Track) -> Row {
    let length = params.length();
    let energy = |time: f64| track.at(time).energy_share(params);
    Row::new()
        .with("figure", figure)
        .with("correction", correction)
        .with("tip_distance", exact.tip_distance_to(track) / length)
        .with("distance", exact.distance_to(track) / length)
        .with("first_swing", first_swing(track))
        .with("energy_half_way", energy(0.5 * params.duration))
        .with("energy_at_end", energy(params.duration))
        .with("energy_most", most_energy(params, track))
        .with("kinetic_share_of_fastest", kinetic_share(params, track))
        .with("max_stretch", track.stretch(params.segment))
}

/// How far the centre of mass swings to the other side, as a share of where it began.
fn first_swing(track: &Track) -> f64 {
    let far = track.frames.iter().map(|frame| -frame.centre().x).fold(0.0, f64::max);
    far / track.frames.first().map_or(f64::NAN, |frame| frame.centre().x)
}

/// The most energy of any frame, as a share of the start.
fn most_energy(params: &Params, track: &Track) -> f64 {
    track.frames.iter().map(|frame| frame.energy_share(params)).fold(0.0, f64::max)
}

/// Share of the kinetic energy that is in the fastest particle, averaged over the run.
fn kinetic_share(params: &Params, track: &Track) -> f64 {
    let moving = track.frames.iter().skip(1).map(|frame| frame.kinetic(params));
    let shares =
        moving.map(|energies| energies.iter().copied().fold(0.0, f64::max) / energies.iter().sum::<f64>());
    shares.sum::<f64>() / (track.frames.len() - 1) as f64
}

/// Successive frames over each other, later ones darker.
fn overlay(params: &Params, title: &str, track: &Track, seconds: f64) -> Panel {
    let reach = params.length() * 1.05;
    let mut panel = Panel::new(
        Axis::new("x [m]").from_to(-reach, reach),
        Axis::new("y [m]").from_to(-reach, 0.5 * reach),
    )
    .titled(title)
    .with_equal_aspect();
    let seconds = params.duration.min(seconds);
    for k in 0..=OVERLAID {
        let share = k as f64 / OVERLAID as f64;
        let points = track.at(share * seconds).positions.iter().map(|p| (p.x, p.y)).collect();
        let name = match k {
            0 => "0 s".to_owned(),
            OVERLAID => format!("{seconds:.2} s"),
            _ => String::new(),
        };
        let mut series = Series::line(name, points).colored(fade(share));
        series.line = 1.6;
        panel = panel.with(series);
    }
    panel
}

/// About how long a stiff rope takes from level to level on the other side [s].
fn swing_time(params: &Params) -> f64 {
    3.0 * (params.length() / params.gravity).sqrt()
}

fn energies(params: &Params, falls: &[&Fall]) -> Panel {
    let mut panel =
        Panel::new(Axis::new("time [s]"), Axis::log("energy / energy at the start").from_to(1.0e-3, 100.0))
            .titled("Figures 4 and 5: energy above that of the hanging rope");
    for fall in falls {
        let points = fall.track.timed().map(|(time, frame)| (time, frame.energy_share(params))).collect();
        panel = panel.with(Series::line(fall.name.clone(), points));
    }
    panel
}

fn swings(params: &Params, falls: &[&Fall]) -> Panel {
    let mut panel = Panel::new(Axis::new("time [s]"), Axis::new("x of the centre / length"))
        .titled("Figures 4 and 5: swing of the centre of mass");
    for fall in falls {
        let points =
            fall.track.timed().map(|(time, frame)| (time, frame.centre().x / params.length())).collect();
        panel = panel.with(Series::line(fall.name.clone(), points));
    }
    panel
}
