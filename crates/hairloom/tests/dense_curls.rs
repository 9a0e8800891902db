//! Curls of elastic rods that lie in each other.

use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation};

const SCENE: &str = r#"
[time]
fps = 24
frames = 8
substeps = 4
[groom]
pinned = 2
[groom.style]
preset = "curly"
strands = 150
seed = 1
length = 0.06
[material]
preset = "curly"
[[body]]
name = "ball"
shape = "sphere"
radius = 0.015
[solver]
method = "admm"
"#;

/// What a frame may gain, beside all that the curls have lost so far: ten iterations leave contact a little short of equilibrium.
const GAIN: f64 = 1.0e-2;

/// Nothing moves the ball: the curls sink onto each other and lose energy frame by frame.
#[test]
fn dense_curls_never_gain_energy() {
    sink("newton");
}

#[test]
fn dense_curls_never_gain_energy_with_the_splitting() {
    sink("splitting");
}

fn sink(elastic: &str) {
    let scene = format!("{SCENE}elastic = '{elastic}'\n");
    let scene = Scene::from_toml(&scene, "dense-curls.toml").unwrap();
    let mut simulation = Simulation::new(scene, &NoFiles).unwrap();
    let (mut first, mut before) = (None, f64::INFINITY);
    for _ in 0..8 {
        let report = simulation.advance().unwrap();
        let energy = report.solver.energy.unwrap();
        let total = energy.kinetic + energy.elastic + energy.gravity;
        let first = *first.get_or_insert(total);
        println!("{elastic}, frame {}: {total} J", report.frame);
        let gain = total - before;
        assert!(gain <= GAIN * (first - before), "frame {}: {gain} J gained of {first} J", report.frame);
        before = total;
        assert!(energy.elastic < -energy.gravity, "frame {}: {energy:?}", report.frame);
        assert!(
            report.measures.stretch.value < 1e-4,
            "frame {}: {:?}",
            report.frame,
            report.measures.stretch
        );
        assert!(report.solver.contacts > 100, "frame {}: {} contacts", report.frame, report.solver.contacts);
    }
}
