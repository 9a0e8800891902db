//! Sag-free initialisation on the hairstyles of table 1 of Hsu et al. 2023, all four stages: with each strand carrying itself ("own weight"), the
//! cone programme in clarabel ("cone"), and the same programme in a method of our own ("anytime").
//!
//! Without any variable set, clarabel runs on the drape alone: on the others it takes minutes.

use std::time::Instant;

use glam::DVec3;
use hairloom::rest::global_force::{Balance, Engine, Weights, assess, balance, least_stiffened};
use hairloom::rest::{Forces, Hair, Hairstyle, own_weight, sag_free};
use hairloom::scene::{Material, MaterialPreset, Model};
use hairloom::solve::xpbd_mpm;
use serde_json::{Map, Value, json};

use super::clock::{forget_peak, on_threads, peak_bytes};
use super::{Bench, Ratio};
use crate::LabError;

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
const THREADS: usize = 2;
/// Most time for one run of our own method, where nothing else is asked for [s]: more than it should need, as a run that is stopped at its goal could not
/// miss it.
const SECONDS: f64 = 120.0;
/// Most time of clarabel [s].
const REFERENCE_SECONDS: f64 = 3000.0;
/// Most time that our own method should need for the wig [s].
const WIG_SECONDS: f64 = 60.0;
/// Set this variable to the most time for one run of an engine [s].
const TIME: &str = "HAIRLOOM_BENCH_SECONDS";
/// Set this variable to names of hairstyles, with commas between them, to run only those.
const STYLES: &str = "HAIRLOOM_BENCH_STYLES";
/// Set this variable to run clarabel on "middle" and "long" as well: four minutes more.
const LARGE: &str = "HAIRLOOM_BENCH_LARGE";

/// What one engine did.
struct Run {
    seconds: f64,
    peak: Option<u64>,
    found: Balance,
    /// Elements stiffened [%].
    stiffened: f64,
}

/// A hairstyle, ready to be balanced.
struct Head {
    style: Hairstyle,
    model: Model,
    positions: Vec<DVec3>,
    held: Vec<bool>,
}

impl Head {
    fn new(style: Hairstyle) -> Result<Self, LabError> {
        let groom = style.groom().map_err(bad)?;
        let model = Model::new(&groom.curves, &Material::preset(MaterialPreset::Wavy)).map_err(bad)?;
        let (positions, held) = (Hairstyle::positions(&groom), style.held(&groom));
        Ok(Self { style, model, positions, held })
    }

    fn run(&self, engine: Engine) -> Result<Run, LabError> {
        let (positions, held) = (&self.positions, &self.held);
        let hair = Hair { model: &self.model, positions, held, gravity: GRAVITY };
        forget_peak();
        let clock = Instant::now();
        let paper = Weights::default();
        let medium = self.style.medium();
        let stiffness = |material: &Material| xpbd_mpm::Params::default().stiffness(material);
        let (mut found, outcome, global) = on_threads(THREADS, || {
            let found = balance(&hair, &medium, &paper, engine).map_err(bad)?;
            let global = clock.elapsed().as_secs_f64();
            let shape = |forces: Forces| sag_free(&hair, forces, stiffness);
            let outcome = match engine {
                Engine::Anytime { .. } => {
                    let own = own_weight(&hair).map_err(bad)?;
                    least_stiffened(&own, &found.forces, shape)
                }
                _ => shape(found.forces.clone()),
            };
            Ok::<_, LabError>((found, outcome.map_err(bad)?, global))
        })?;
        let (seconds, peak) = (clock.elapsed().as_secs_f64(), peak_bytes());
        found.phases.push(("other stages", seconds - global));
        let (segments, stresses) = (outcome.shape.forces.clone(), outcome.shape.stresses.clone());
        found.forces = Forces { segments, stresses, cell: Some(medium.cell), contacts: Vec::new() };
        found.quality = assess(&hair, &medium, &paper, &found.forces).map_err(bad)?;
        Ok(Run { seconds, peak, found, stiffened: 100.0 * outcome.stiffened })
    }

    fn row(&self, engine: &str, run: &Run) -> Map<String, Value> {
        let quality = &run.found.quality;
        let phases: Map<String, Value> =
            run.found.phases.iter().map(|(name, seconds)| ((*name).to_owned(), json!(seconds))).collect();
        let row = json!({
            "scene": self.style.name(),
            "engine": engine,
            "strands": self.model.strands(),
            "vertices": self.model.vertices(),
            "nodes": run.found.nodes,
            "seconds": run.seconds,
            "peak_bytes": run.peak,
            "phases": phases,
            "iterations": run.found.iterations,
            "objective": quality.objective,
            "node_acceleration": quality.node_acceleration,
            "cone_excess": quality.cone_excess,
            "percent_compressed": quality.compressed,
            "percent_stiffened": run.stiffened,
            "percent_stiffened_in_the_paper": self.style.stiffened_in_the_paper(),
            "largest_force": quality.largest_force,
            "force_mean_square": quality.force_mean_square,
        });
        row.as_object().cloned().unwrap_or_default()
    }
}

fn bad(error: impl std::fmt::Display) -> LabError {
    LabError::Bench { problem: error.to_string() }
}

/// The number that a variable is set to.
fn asked(variable: &str) -> Option<f64> {
    std::env::var(variable).ok()?.parse().ok()
}

pub(super) fn run() -> Result<Bench, LabError> {
    let large = std::env::var_os(LARGE).is_some();
    let seconds = asked(TIME).unwrap_or(SECONDS);
    let names = std::env::var(STYLES).unwrap_or_default();
    let wanted = |style: &Hairstyle| names.is_empty() || names.split(',').any(|name| name == style.name());
    let (mut rows, mut ratios) = (vec![], vec![]);
    for style in Hairstyle::ALL.into_iter().filter(wanted) {
        let small = matches!(style, Hairstyle::Middle | Hairstyle::Long);
        let with_reference = style == Hairstyle::Drape || (large && small);
        engines(style, seconds, with_reference, &mut rows, &mut ratios)?;
    }
    if names.is_empty() {
        own_weight_growth(&mut rows, &mut ratios)?;
        growth(seconds, &mut rows, &mut ratios)?;
    }
    Ok(Bench { bench: "sag-free", rows, ratios })
}

/// All engines on one hairstyle, side by side.
fn engines(
    style: Hairstyle,
    seconds: f64,
    with_reference: bool,
    rows: &mut Vec<Map<String, Value>>,
    ratios: &mut Vec<Ratio>,
) -> Result<(), LabError> {
    let (head, name) = (Head::new(style)?, style.name());
    let own = head.run(Engine::OwnWeight)?;
    rows.push(head.row("own weight", &own));
    let ours = head.run(Engine::Anytime { seconds })?;
    rows.push(head.row("anytime", &ours));
    sound(&format!("{name}, own weight"), &own, ratios);
    compare(name, &own, &ours, gains(style), ratios);
    if with_reference {
        against_reference(&head, &ours, rows, ratios)?;
    }
    if matches!(style, Hairstyle::CurlyWig { .. }) {
        ratios.push(Ratio::at_most("curly-wig: seconds of anytime", ours.seconds, WIG_SECONDS));
    }
    Ok(())
}

/// Whether contact can gain anything on this hair. The drape and the knit have fewer particles than nodes, whose rows then leave strands that
/// carry themselves as the only answer without shear: there is nothing to be had, and nothing may be lost.
fn gains(style: Hairstyle) -> bool {
    !matches!(style, Hairstyle::Drape | Hairstyle::Knit)
}

/// Nothing lost, but for rounding.
const ROUNDED: f64 = 1.0 + 1e-9;

/// Our own method against strands that carry themselves: better in every way where there is anything to be gained, nowhere worse elsewhere.
fn compare(name: &str, own: &Run, ours: &Run, gains: bool, ratios: &mut Vec<Ratio>) {
    let (before, after) = (&own.found.quality, &ours.found.quality);
    let improved = [
        ("objective", before.objective, after.objective),
        ("percent compressed", before.compressed, after.compressed),
        ("percent stiffened", own.stiffened, ours.stiffened),
        ("largest force", before.largest_force, after.largest_force),
    ];
    for (what, before, after) in improved {
        let title = format!("{name}: {what} against own weight");
        ratios.push(match (before > 0.0, gains) {
            (true, true) => Ratio::below(title, after / before, 1.0),
            (true, false) => {
                Ratio::at_most(format!("{title}, where contact gains nothing"), after / before, ROUNDED)
            }
            (false, _) => Ratio::at_most(format!("{title}, which has none"), after, 0.0),
        });
    }
    sound(name, ours, ratios);
}

/// Forces and stresses must be an answer at all.
fn sound(name: &str, run: &Run, ratios: &mut Vec<Ratio>) {
    let quality = &run.found.quality;
    ratios.push(Ratio::at_most(format!("{name}: node acceleration over g"), quality.node_acceleration, 1e-4));
    ratios.push(Ratio::at_most(format!("{name}: cone excess"), quality.cone_excess, 1e-6));
}

/// Our own method beside clarabel on the same programme.
fn against_reference(
    head: &Head,
    ours: &Run,
    rows: &mut Vec<Map<String, Value>>,
    ratios: &mut Vec<Ratio>,
) -> Result<(), LabError> {
    let name = head.style.name();
    let paper = head.run(Engine::Reference { seconds: REFERENCE_SECONDS })?;
    rows.push(head.row("cone", &paper));
    let part = ours.found.quality.objective / paper.found.quality.objective;
    ratios.push(Ratio::at_most(format!("{name}: objective against cone"), part, 1.05));
    let faster = paper.seconds / ours.seconds;
    ratios.push(Ratio::at_least(format!("{name}: time of cone against anytime"), faster, 5.0));
    sound(&format!("{name}, cone"), &paper, ratios);
    Ok(())
}

/// Power of the strands that times grow with, from the first to the last.
fn power(times: &[(u32, f64)]) -> Option<f64> {
    let (first, last) = (times.first()?, times.last()?);
    Some((last.1 / first.1).ln() / (f64::from(last.0) / f64::from(first.0)).ln())
}

/// Wigs of more and more strands on the same grid, each strand carrying itself.
fn own_weight_growth(rows: &mut Vec<Map<String, Value>>, ratios: &mut Vec<Ratio>) -> Result<(), LabError> {
    let mut times = vec![];
    for strands in [1024, 4096, 16_384] {
        let head = Head::new(Hairstyle::CurlyWig { strands })?;
        let own = head.run(Engine::OwnWeight)?;
        rows.push(head.row("own weight", &own));
        sound(&format!("{strands} × 32, own weight"), &own, ratios);
        times.push((strands, own.seconds));
        if strands == 16_384 {
            ratios.push(Ratio::at_most("16,384 × 32: seconds of own weight", own.seconds, 5.0));
            if let Some(peak) = own.peak {
                ratios.push(Ratio::at_most("16,384 × 32: peak memory in GB", peak as f64 / 1e9, 4.0));
            }
        }
    }
    let grows =
        power(&times).map(|power| Ratio::at_most("growth of own weight, power of strands", power, 1.1));
    ratios.extend(grows);
    Ok(())
}

/// The same with our own method, to its end.
fn growth(seconds: f64, rows: &mut Vec<Map<String, Value>>, ratios: &mut Vec<Ratio>) -> Result<(), LabError> {
    let mut times = vec![];
    for strands in [128, 4096, 16_384] {
        let head = Head::new(Hairstyle::CurlyWig { strands })?;
        let ours = head.run(Engine::Anytime { seconds })?;
        rows.push(head.row("anytime", &ours));
        times.push((strands, ours.seconds));
        compare(&format!("{strands} × 32"), &head.run(Engine::OwnWeight)?, &ours, true, ratios);
        if let Some(peak) = ours.peak.filter(|_| strands == 16_384) {
            ratios.push(Ratio::at_most("16,384 × 32: peak memory of anytime in GB", peak as f64 / 1e9, 4.0));
        }
    }
    let grows = power(&times[..2]);
    ratios.extend(grows.map(|power| Ratio::at_most("growth of anytime, power of strands", power, 1.3)));
    Ok(())
}
