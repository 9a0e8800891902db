//! Long hair on heads that move at 10 m/s: no edge stretches, no vertex sinks into the head, at any frame.

use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation};

/// Largest relative change of an edge's length.
const STRETCH: f64 = 1.0e-5;
/// Deepest that a vertex may be inside the head [m].
const PENETRATION: f64 = 1.0e-4;

/// Back and forth along x. Eased from rest to rest, the speed is 1.5 distance / time at its peak: 10 m/s.
const BACK_AND_FORTH: &str = r#"
pivot = [0.0, 1.5, 0.0]
keyframes = [
    { time = 0.1 },
    { time = 0.25, position = [1.0, 0.0, 0.0] },
    { time = 0.4, position = [0.0, 0.0, 0.0] },
    { time = 0.55, position = [-1.0, 0.0, 0.0] },
    { time = 0.7, position = [0.0, 0.0, 0.0] },
    { time = 0.85, position = [0.0, 0.6, 0.8] },
    { time = 1.0, position = [0.0, 0.0, 0.0] },
]
"#;

/// Turns about all axes through a point 0.6 m below the head, which the head circles at up to 10 m/s.
const TURNS: &str = r#"
pivot = [0.0, 1.0, 0.0]
keyframes = [
    { time = 0.1 },
    { time = 0.22, rotation_degrees = [75, 0, 0] },
    { time = 0.34, rotation_degrees = [0, 0, 0] },
    { time = 0.46, rotation_degrees = [0, 0, 75] },
    { time = 0.58, rotation_degrees = [0, 0, 0] },
    { time = 0.70, rotation_degrees = [0, 110, 0] },
    { time = 0.86, rotation_degrees = [0, -50, 0] },
    { time = 1.0, rotation_degrees = [0, 0, 0] },
]
"#;

const BUST: &str = r#"
figure = "bust"
sdf = { mode = "exact" }
"#;

const BALL: &str = r#"
figure = "ball"
sdf = { mode = "exact" }
position = [0.0, 1.5, 0.0]
"#;

fn scene(body: &str, motion: &str, solver: &str) -> String {
    format!(
        r#"
name = "fast head"

[time]
frames = 75
fps = 60
substeps = 1

[groom.style]
preset = "straight"
strands = 300
vertices = 32
length = 0.4
seed = 4

[[body]]
name = "head"
{body}

[body.motion]
interpolation = "ease"
{motion}

[solver]
method = "ftl"
{solver}
"#
    )
}

/// Runs to the end and says at which frames, strands and vertices a limit was broken.
fn violations(text: &str) -> Vec<String> {
    let scene = Scene::from_toml(text, "fast-head.toml").unwrap();
    let frames = scene.time.frames;
    let mut simulation = Simulation::new(scene, &NoFiles).unwrap();
    let mut found = Vec::new();
    for _ in 0..frames {
        let report = simulation.advance().unwrap();
        let (stretch, penetration) = (report.measures.stretch, report.measures.penetration);
        if stretch.value > STRETCH {
            found.push(format!("frame {}: stretch {stretch:?}", report.frame));
        }
        if penetration.value > PENETRATION {
            found.push(format!("frame {}: penetration {penetration:?} m", report.frame));
        }
    }
    found
}

fn check(body: &str, motion: &str, solver: &str) {
    let found = violations(&scene(body, motion, solver));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn bust_back_and_forth() {
    check(BUST, BACK_AND_FORTH, "");
}

#[test]
fn bust_turning() {
    check(BUST, TURNS, "");
}

#[test]
fn bust_turning_with_everything() {
    check(BUST, TURNS, "bending = 0.3\nfriction = 0.1\nrepulsion = 2.0");
}

#[test]
fn ball_back_and_forth() {
    check(BALL, BACK_AND_FORTH, "");
}

#[test]
fn ball_turning() {
    check(BALL, TURNS, "");
}

/// The limits must be able to fail: the same motion without a single collision sinks.
#[test]
fn without_collision_hair_would_sink() {
    let text = scene(&format!("{BUST}\ncollide = false"), BACK_AND_FORTH, "");
    let mut simulation =
        Simulation::new(Scene::from_toml(&text, "fast-head.toml").unwrap(), &NoFiles).unwrap();
    let mut sunk = 0;
    for _ in 0..30 {
        simulation.advance().unwrap();
        let inside =
            |point: &glam::DVec3| simulation.bodies().at(1.0).sample(0, point.as_vec3()).distance < -0.01;
        sunk += simulation.state().positions.iter().filter(|point| inside(point)).count();
    }
    assert!(sunk > 100, "{sunk}");
}
