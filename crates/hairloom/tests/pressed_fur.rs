//! Short hair that a body presses down is bent by what pushes it, and not by the correction that takes it out of the body.

use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation};

const SCENE: &str = r#"
[time]
fps = 24
frames = 10
substeps = 4
[groom]
body = "ball"
pinned = 2
[groom.style]
preset = "short-fur"
strands = 300
length = 0.012
length_variation = 0.0
vertices = 13
curl = { radius = 0.0, pitch = 0.05 }
clumps = { count = 0 }
[material]
radius = 5e-5
young = 3.0e9
friction = 0.2
drag = 0.0
[gravity]
value = [0.0, 0.0, 0.0]
[[body]]
name = "ball"
shape = "sphere"
radius = 0.05
[[body]]
name = "press"
shape = "sphere"
radius = 0.06
friction = 0.2
motion.keyframes = [
    { time = 0.0, position = [0.0, 0.124, 0.0] },
    { time = 0.5, position = [0.0, 0.1155, 0.0] },
]
[solver]
method = "admm"
"#;

/// The elastic energy at the end of each frame [J].
fn energies(more: &str) -> Vec<f64> {
    let scene = Scene::from_toml(&format!("{SCENE}{more}"), "fur.toml").unwrap();
    let mut simulation = Simulation::new(scene, &NoFiles).unwrap();
    (0..10).map(|_| simulation.advance().unwrap().solver.energy.unwrap().elastic).collect()
}

#[test]
fn fur_under_a_sphere_is_bent_as_many_iterations_bend_it() {
    let (usual, many) = (energies(""), energies("iterations = 400\ncontact_weight = 0.01\n"));
    println!("{usual:?}\n{many:?}");
    // Later strands below the sphere fold, some to one side and some to the other.
    for frame in [8, 9] {
        assert!(many[frame] > 1.0e-8, "the sphere must press");
        let off = usual[frame] / many[frame] - 1.0;
        assert!(off.abs() < 0.02, "frame {}: {off} off {} J", frame + 1, many[frame]);
    }
}
