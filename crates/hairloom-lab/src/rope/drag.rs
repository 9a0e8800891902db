//! Figure 7: a rope dragged at its top by follow-the-leader, position based dynamics and springs.

use std::f64::consts::PI;

use glam::DVec3;
use hairloom::solve::Method;
use hairloom_picture::plot::{Axis, Panel, Series};

use super::euler::{Euler, stable_stiffness};
use super::leader::{Hold, Leader};
use super::params::Params;
use super::pbd::Pbd;
use super::reference::Reference;
use super::timing::{Contender, time_per_step};
use super::track::{Track, record};
use crate::LabError;
use crate::outcome::{Check, Findings, Row};

/// How the paper ran its rivals: first in about the time of follow-the-leader, then with about its looks.
const PBD_ITERATIONS: [usize; 2] = [2, 25];
const EULER: [(f64, usize); 2] = [(100.0, 2), (3000.0, 20)];
/// Halvings of the range in which the largest stable stiffness is sought.
const HALVINGS: usize = 16;

/// A method and what its rope did.
struct Dragged {
    name: String,
    track: Track,
    seconds_per_step: f64,
}

/// Runs figure 7.
pub(super) fn run(params: &Params, method: &Method, findings: &mut Findings) -> Result<(), LabError> {
    let exact = exact(params, params.reference_dt)?;
    let finer = self::exact(params, params.reference_dt * 0.5)?;
    let runs = contest(params, method)?;
    let ours = runs[0].seconds_per_step;
    let error = |track: &Track| track.distance_to(&exact) / params.length();
    for run in &runs {
        findings.rows.push(
            Row::new()
                .with("figure", "7")
                .with("method", run.name.clone())
                .with("max_stretch", run.track.elongation(params.segment))
                .with("max_length_error", run.track.stretch(params.segment))
                .with("distance", error(&run.track))
                .with("seconds_per_step", run.seconds_per_step)
                .with("time_over_ftl", run.seconds_per_step / ours),
        );
    }
    let stretch = |index: usize| runs[index].track.elongation(params.segment);
    let ratio = |index: usize| runs[index].seconds_per_step / ours;
    findings.checks.extend([
        Check::at_most("fig 7: reference against half its step, rms / length", error(&finer), 0.01),
        Check::at_most(
            "fig 7: length error of follow-the-leader",
            runs[0].track.stretch(params.segment),
            1.0e-5,
        ),
        Check::at_most(
            "fig 7: follow-the-leader's distance to the reference over the better rival's at its price",
            error(&runs[0].track) / error(&runs[1].track).min(error(&runs[2].track)),
            1.0,
        ),
        Check::at_least(format!("fig 7: stretch of {}", runs[1].name), stretch(1), 0.1),
        Check::at_least(format!("fig 7: stretch of {}", runs[2].name), stretch(2), 0.1),
        Check::at_least(format!("fig 7: time of {} over follow-the-leader", runs[3].name), ratio(3), 3.0),
        Check::at_least(format!("fig 7: time of {} over follow-the-leader", runs[4].name), ratio(4), 3.0),
    ]);
    limits(params, findings)?;
    pictures(params, &runs, &exact, findings);
    Ok(())
}

/// The hand, from rest to full swing within the first time to and fro.
fn hand(params: &Params, time: f64) -> DVec3 {
    let phase = 2.0 * PI * params.drag_frequency * time;
    let ramp = (phase / (2.0 * PI)).min(1.0);
    let swing = ramp * ramp * (3.0 - 2.0 * ramp) * params.drag_amplitude;
    DVec3::new(phase.sin(), 0.3 * (2.0 * phase).sin(), 0.0) * swing
}

fn exact(params: &Params, small: f64) -> Result<Track, LabError> {
    let mut rig = Reference::new(params, params.straight(DVec3::NEG_Y), small);
    record(&mut rig, params.steps(params.duration), params.dt, &|t| hand(params, t))
}

/// All methods on the same rope; follow-the-leader first, then its rivals at its price, then at its quality.
fn contest(params: &Params, method: &Method) -> Result<Vec<Dragged>, LabError> {
    let start = params.straight(DVec3::NEG_Y);
    let steps = params.steps(params.duration);
    let path = |t: f64| hand(params, t);
    let follow = record(
        &mut Leader::new(params, method, Hold::FirstEnd, start.clone(), None)?,
        steps,
        params.dt,
        &path,
    )?;
    let mut runs = vec![("follow the leader".to_owned(), follow)];
    for level in 0..2 {
        let iterations = PBD_ITERATIONS[level];
        let track = record(&mut Pbd::new(params, &start, iterations), steps, params.dt, &path)?;
        runs.push((format!("pbd, {iterations} iterations"), track));
        let (k, substeps) = EULER[level];
        let track = record(&mut Euler::new(params, &start, k, substeps), steps, params.dt, &path)?;
        runs.push((format!("springs of {k} N/m, {substeps} substeps"), track));
    }
    let Method::Ftl(base) = method else { unreachable!("only ftl is offered") };
    let contenders = vec![
        Contender::leader(params, *base),
        Contender::Pbd(Pbd::new(params, &start, PBD_ITERATIONS[0])),
        Contender::Euler(Euler::new(params, &start, EULER[0].0, EULER[0].1)),
        Contender::Pbd(Pbd::new(params, &start, PBD_ITERATIONS[1])),
        Contender::Euler(Euler::new(params, &start, EULER[1].0, EULER[1].1)),
    ];
    let seconds = time_per_step(contenders, params, &path);
    let runs = runs.into_iter().zip(seconds);
    Ok(runs.map(|((name, track), seconds_per_step)| Dragged { name, track, seconds_per_step }).collect())
}

/// The largest stable spring constants, measured and in closed form.
fn limits(params: &Params, findings: &mut Findings) -> Result<(), LabError> {
    let mut worst = 0.0_f64;
    for (claimed, substeps) in EULER {
        let expected = stable_stiffness(params, substeps);
        let measured = largest_stable(params, substeps, expected)?;
        worst = worst.max((measured / expected - 1.0).abs());
        findings.rows.push(
            Row::new()
                .with("figure", "7")
                .with("substeps", substeps)
                .with("largest_stable_k", measured)
                .with("reference", expected)
                .with("k_of_the_paper", claimed),
        );
    }
    findings.checks.push(Check::at_most("fig 7: largest stable k against its closed form", worst, 0.1));
    Ok(())
}

/// By bisection, on the dragged rope [N/m].
fn largest_stable(params: &Params, substeps: usize, expected: f64) -> Result<f64, LabError> {
    let (mut low, mut high) = (0.25 * expected, 4.0 * expected);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let mut rig = Euler::new(params, &params.straight(DVec3::NEG_Y), middle, substeps);
        let track = record(&mut rig, params.steps(params.duration), params.dt, &|t| hand(params, t))?;
        // The weight alone stretches soft springs; a rope that bursts gets far beyond.
        let weight = params.mass * params.gravity * params.particles as f64;
        let bound = 10.0 * (1.0 + weight / (middle * params.segment));
        if track.stretch(params.segment) < bound { low = middle } else { high = middle }
    }
    Ok(low)
}

fn pictures(params: &Params, runs: &[Dragged], exact: &Track, findings: &mut Findings) {
    let colors = [[0, 90, 200], [0, 150, 70], [210, 50, 40]];
    let time = 0.75 * params.duration;
    let at_its_price = ("Figure 7: about the same time", [0, 1, 2], 1.5);
    let at_its_quality = ("Figure 7: about the same looks", [0, 3, 4], 1.1);
    for (title, picks, depth) in [at_its_price, at_its_quality] {
        // As deep as the ropes hang, and wide enough for the legend beside them.
        let depth = depth * params.length();
        let mut panel = Panel::new(
            Axis::new("x [m]").from_to(-0.4 * depth, 1.1 * depth),
            Axis::new("y [m]").from_to(-depth, 0.1 * depth),
        )
        .titled(format!("{title} (at {time:.2} s)"))
        .with_equal_aspect();
        let points = |track: &Track| track.at(time).positions.iter().map(|p| (p.x, p.y)).collect();
        for (pick, color) in picks.into_iter().zip(colors) {
            let mut series =
                Series::line(runs[pick].name.clone(), points(&runs[pick].track)).colored(color).marked();
            series.marks = 5.0;
            panel = panel.with(series);
        }
        let reference = Series::line("reference", points(exact)).dashed().colored([70, 70, 78]);
        findings.figure.panels.push(panel.with(reference));
    }
    let mut panel = Panel::new(
        Axis::new("time [s]"),
        Axis::log("length error of the worst segment").from_to(1.0e-11, 10.0),
    )
    .titled("Figure 7: stretch");
    let colors = [[0, 90, 200], [0, 150, 70], [210, 50, 40], [140, 205, 160], [240, 150, 140]];
    for (run, color) in runs.iter().zip(colors) {
        let errors = run.track.timed().skip(1);
        let points =
            errors.map(|(t, f)| (t, super::track::length_error(&f.positions, params.segment))).collect();
        panel = panel.with(Series::line(run.name.clone(), points).colored(color));
    }
    findings.figure.panels.push(panel);
}
