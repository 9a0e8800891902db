//! Hair that is given a sag-free rest shape stays where it was groomed, and hair that is not falls: every method that has rest
//! shapes, without contact between strands, and with it.

use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation};

/// What a scene's hair did in so many frames of 1/30 s, over the lengths of its strands.
struct Drift {
    /// The farthest that a vertex got from where it was groomed.
    groomed: f64,
    /// The farthest that it got from where the first frame had it.
    first: f64,
    /// How far a vertex is from its groom at most because its method cannot follow that.
    misfit: f64,
}

fn drift(style: &str, rest: &str, solver: &str, frames: u32) -> Drift {
    let text = format!(
        r#"
[time]
frames = {frames}
fps = 30

[groom.style]
{style}

[[body]]
name = "head"
figure = "bust"

[solver]
rest = "{rest}"
{solver}
"#
    );
    let scene = Scene::from_toml(&text, "sag-free").unwrap();
    let mut simulation = Simulation::new(scene, &NoFiles).unwrap();
    let model = simulation.model().clone();
    let mut drift = Drift { groomed: 0.0, first: 0.0, misfit: 0.0 };
    let mut first = Vec::new();
    for _ in 0..frames {
        let report = simulation.advance().unwrap();
        let positions = &simulation.state().positions;
        first = if first.is_empty() { positions.clone() } else { first };
        for strand in 0..model.strands() {
            let range = model.range(strand);
            let length: f64 = model.rest_lengths[range.clone()].iter().sum();
            drift.misfit = drift.misfit.max(report.solver.misfit / length);
            for vertex in range {
                let groomed = positions[vertex].distance(model.groomed[vertex].as_dvec3());
                drift.groomed = drift.groomed.max(groomed / length);
                drift.first = drift.first.max(positions[vertex].distance(first[vertex]) / length);
            }
        }
    }
    drift
}

const SHORT: &str = "preset = \"straight\"\nstrands = 24\nvertices = 16\nlength = 0.1\nlift = 0.8";
const LONG: &str = "preset = \"wavy\"\nstrands = 24\nvertices = 16\nlength = 0.3";
const CURLY: &str = "preset = \"curly\"\nstrands = 12\nvertices = 32\nlength = 0.2";
const STYLES: [(&str, &str); 3] = [("short", SHORT), ("long", LONG), ("curly", CURLY)];

/// Five seconds.
const FRAMES: u32 = 150;

fn stays(solver: &str, styles: &[(&str, &str)]) {
    for (name, style) in styles {
        let Drift { groomed, first, misfit } = drift(style, "sag-free", solver, FRAMES);
        println!("{name}: sag-free {groomed:.2e} from the groom, {first:.2e} from the first frame");
        let moved = (groomed - misfit).max(first);
        assert!(moved < 0.005, "{name}: a vertex moved by {moved} of its strand's length");
    }
}

fn sags(solver: &str, styles: &[(&str, &str)]) {
    for (name, style) in styles {
        let moved = drift(style, "groomed", solver, 30).groomed;
        println!("{name}: groomed {moved:.2e}");
        assert!(moved > 0.1, "{name}: no vertex moved by more than {moved} of its strand's length");
    }
}

const XPBD: &str = "method = \"xpbd-mpm\"\ncontact = false";
const ADMM: &str = "method = \"admm\"\nstrand_contacts = false";
const DER: &str = "method = \"der-mpm\"\ngrains = \"none\"";
/// Super-helices do not follow every groom: what is measured begins where they do.
const HELICES: &str = "method = \"nsgs\"\nstrand_contacts = false\nelements = 8";

#[test]
fn cosserat_rods_stay_as_groomed_for_five_seconds() {
    stays(XPBD, &STYLES);
    sags(XPBD, &STYLES);
}

/// As scenes have it that say no more than `rest = "sag-free"`.
#[test]
fn cosserat_rods_that_meet_on_the_grid_stay_as_groomed_for_five_seconds() {
    stays("method = \"xpbd-mpm\"", &STYLES);
    sags("method = \"xpbd-mpm\"", &STYLES);
}

/// Contact that is a part of the rest shape once let curls grow away from it, by a factor of four in each second.
#[test]
fn curls_that_contact_carries_stay_as_groomed_for_five_seconds() {
    let style = "preset = \"curly\"\nseed = 1\nstrands = 400\nvertices = 32";
    for method in ["xpbd-mpm", "der-mpm"] {
        stays(&format!("method = \"{method}\"\nrest_engine = \"anytime\""), &[("curls", style)]);
    }
}

/// What nothing holds floats without gravity: joints rest as they are groomed, and free roots have none.
#[test]
fn loose_hair_without_gravity_stays_where_it_is() {
    let loose = |solver: &str| {
        let text = format!(
            "[time]\nframes = 3\n[gravity]\nvalue = [0, 0, 0]\n[groom]\nattach = \"none\"\n[groom.style]\n{CURLY}\n[[body]]\nname = \"head\"\n\
             figure = \"bust\"\n[solver]\nrest = \"sag-free\"\n{solver}\n"
        );
        Scene::from_toml(&text, "loose").unwrap()
    };
    for solver in [XPBD, "method = \"xpbd-mpm\"", ADMM, DER] {
        let scene = loose(solver);
        let mut simulation = Simulation::new(scene, &NoFiles).unwrap();
        let outcome = simulation.rest().unwrap();
        assert!(outcome.shape.joints.iter().all(|joint| joint.is_finite()), "{solver}");
        let left = outcome.worst_acceleration;
        assert!(outcome.stiffened == 0.0 && left < 1e-4, "{solver}: {left}");
        let groomed = simulation.model().groomed.clone();
        for _ in 0..3 {
            simulation.advance().unwrap();
        }
        for (now, groomed) in simulation.state().positions.iter().zip(&groomed) {
            let moved = now.distance(groomed.as_dvec3());
            assert!(moved < 1e-3, "{solver}: a vertex moved by {moved} m");
        }
    }
    // Fibres of nsgs are clamped at their roots, and say so.
    let error = Simulation::new(loose(HELICES), &NoFiles).err().unwrap().to_string();
    assert!(error.contains("super-helices are clamped at their roots alone"), "{error}");
}

#[test]
fn rods_of_admm_stay_as_groomed_for_five_seconds() {
    stays(ADMM, &STYLES);
    sags(ADMM, &STYLES);
}

#[test]
fn rods_of_der_mpm_stay_as_groomed_for_five_seconds() {
    stays(DER, &STYLES);
    sags(DER, &STYLES);
}

#[test]
fn super_helices_stay_as_groomed_for_five_seconds() {
    stays(HELICES, &STYLES);
    sags(HELICES, &STYLES);
}

#[test]
fn other_fibres_of_nsgs_stay_as_groomed_for_five_seconds() {
    for fibre in ["der", "der-projected", "corde"] {
        let solver = format!("method = \"nsgs\"\nstrand_contacts = false\nfibre = \"{fibre}\"");
        stays(&solver, &STYLES[..2]);
        sags(&solver, &STYLES[..2]);
    }
}

/// A head of hair whose every strand carries itself, among other strands and on the head.
#[test]
fn hair_that_meets_other_hair_stays_as_groomed() {
    let style = "preset = \"bob\"\nstrands = 64\nvertices = 16\nlength = 0.1";
    for solver in ["method = \"admm\"", "method = \"nsgs\"\nfibre = \"der\"", "method = \"der-mpm\""] {
        let Drift { groomed, .. } = drift(style, "sag-free", solver, 45);
        let sags = drift(style, "groomed", solver, 10).groomed;
        println!("{solver}: sag-free {groomed:.2e}, groomed {sags:.2e}");
        assert!(groomed < 0.005, "{solver}: a vertex moved by {groomed} of its strand's length");
        assert!(sags > 0.1, "{solver}: no vertex moved by more than {sags} of its strand's length");
    }
}
