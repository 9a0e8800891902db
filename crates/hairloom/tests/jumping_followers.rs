//! Hair that follows guides while its head jumps: a jump is no motion, but what the guides do around it is.

use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation};

/// The ball jumps at 0.25 s, while its hair is still falling; every tenth strand is simulated.
const SCENE: &str = r#"
name = "jumping followers"

[time]
frames = 16
fps = 60
substeps = 1

[groom.style]
preset = "straight"
strands = 300
vertices = 16
length = 0.3
seed = 4

[groom.guides]
fraction = 0.1

[[body]]
name = "head"
figure = "ball"
collide = false

[body.motion]
builtin = "teleport"
distance = 0.5
amplitude_degrees = 90
period = 0.25

[solver]
method = "ftl"
"#;

#[test]
fn followers_move_as_their_guides_do_when_the_head_jumps() {
    let scene = Scene::from_toml(SCENE, "jumping-followers.toml").unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::new(scene, &NoFiles).unwrap_or_else(|error| panic!("{error}"));
    let start = simulation.bodies().pose(0, 1.0);
    while simulation.bodies().pose(0, 1.0) == start {
        simulation.advance().unwrap_or_else(|error| panic!("{error}"));
        assert!(simulation.frame() <= 16, "the head never jumps");
    }
    let (strands, state) = (simulation.strands(), simulation.state());
    let fastest = state.velocities.iter().map(|v| v.length()).fold(0.0, f64::max) as f32;
    assert!(fastest > 0.1, "the guides should be falling, not at {fastest} m/s");
    // No follower is much faster than the guides (the jump itself would be some 30 m/s), nor do they stand still.
    let mean = |sum: f32| sum / strands.velocities.len() as f32;
    let speeds = strands.velocities.iter().map(|v| v.length());
    assert!(speeds.clone().fold(0.0, f32::max) < 3.0 * fastest);
    let guides =
        state.velocities.iter().map(|v| v.length() as f32).sum::<f32>() / state.velocities.len() as f32;
    let ratio = mean(speeds.sum()) / guides;
    assert!((0.5..2.0).contains(&ratio), "followers go {ratio} times as fast as guides");
    // A strand that is a guide has that guide's velocities.
    let (groom, model) = (simulation.groom(), simulation.model());
    let mut found = 0;
    for guide in 0..model.strands() {
        let range = model.range(guide);
        let Some(strand) = groom.curves.iter().position(|points| points == &model.groomed[range.clone()])
        else {
            continue;
        };
        found += 1;
        let followed = &strands.velocities[groom.curves.range(strand)];
        for (followed, own) in followed.iter().zip(&state.velocities[range]) {
            let error = (followed.as_dvec3() - own).length();
            assert!(error < 0.05 * f64::from(fastest) + 1.0e-3, "{followed} against {own}");
        }
    }
    assert_eq!(found, model.strands());
}
