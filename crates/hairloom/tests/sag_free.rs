//! Hair that is given a sag-free rest shape stays where it was groomed, and hair that is not falls.

use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation};

/// The farthest that a vertex gets from where it was groomed in five seconds, over the length of its strand.
fn drift(style: &str, rest: &str) -> f64 {
    let text = format!(
        r#"
[time]
frames = 150
fps = 30

[groom.style]
{style}

[[body]]
name = "head"
figure = "bust"

[solver]
method = "xpbd-mpm"
rest = "{rest}"
contact = false
"#
    );
    let scene = Scene::from_toml(&text, "sag-free").unwrap();
    let mut simulation = Simulation::new(scene, &NoFiles).unwrap();
    let model = simulation.model().clone();
    let mut farthest = 0.0f64;
    for _ in 0..150 {
        simulation.advance().unwrap();
        let state = simulation.state();
        for strand in 0..model.strands() {
            let range = model.range(strand);
            let length: f64 = model.rest_lengths[range.clone()].iter().sum();
            for vertex in range {
                let moved = state.positions[vertex].distance(model.groomed[vertex].as_dvec3());
                farthest = farthest.max(moved / length);
            }
        }
    }
    farthest
}

const STYLES: [(&str, &str); 3] = [
    ("short", "preset = \"straight\"\nstrands = 24\nvertices = 16\nlength = 0.1\nlift = 0.8"),
    ("long", "preset = \"wavy\"\nstrands = 24\nvertices = 16\nlength = 0.3"),
    ("curly", "preset = \"curly\"\nstrands = 12\nvertices = 32\nlength = 0.2"),
];

#[test]
fn sag_free_hair_of_cosserat_rods_stays_as_groomed_for_five_seconds() {
    for (name, style) in STYLES {
        let moved = drift(style, "sag-free");
        assert!(moved < 0.005, "{name}: a vertex moved by {moved} of its strand's length");
    }
}

#[test]
fn hair_with_its_groom_for_a_rest_shape_sags() {
    for (name, style) in STYLES {
        let moved = drift(style, "groomed");
        assert!(moved > 0.1, "{name}: no vertex moved by more than {moved} of its strand's length");
    }
}
