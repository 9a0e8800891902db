//! Curls of elastic rods that lie in each other.

use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation};

const SCENE: &str = r#"
[time]
fps = 24
frames = 24
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

const FRAMES: usize = 24;

/// Nothing moves the ball: the curls sink onto each other and lose energy frame by frame.
#[test]
fn dense_curls_never_gain_energy() {
    // Energies are sums in single precision.
    sink("newton", 1.0e-5);
}

#[test]
fn dense_curls_never_gain_energy_with_the_splitting() {
    // Ten times ten of its iterations leave contact a little short of equilibrium.
    sink("splitting", 1.0e-4);
}

/// `most` is what a frame may gain, beside all that the curls have lost so far.
fn sink(elastic: &str, most: f64) {
    let scene = format!("{SCENE}elastic = '{elastic}'\n");
    let scene = Scene::from_toml(&scene, "dense-curls.toml").unwrap();
    let mut simulation = Simulation::new(scene, &NoFiles).unwrap();
    let (mut first, mut before) = (None, f64::INFINITY);
    for _ in 0..FRAMES {
        let report = simulation.advance().unwrap();
        let energy = report.solver.energy.unwrap();
        let total = energy.kinetic + energy.elastic + energy.gravity;
        let first = *first.get_or_insert(total);
        println!("{elastic}, frame {}: {total} J", report.frame);
        let gain = total - before;
        assert!(gain <= most * (first - before), "frame {}: {gain} J gained of {first} J", report.frame);
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
