//! Hair that is held a long way from its root, over skin that bends.

use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation};

/// The skin of the neck turns with part of the head: what is held over it comes too near on one side.
#[test]
fn held_hair_sinks_into_a_turning_neck() {
    let text = r#"
name = "neck"
[time]
frames = 24
substeps = 2
[groom]
pinned = 7
[groom.style]
preset = "straight"
strands = 400
length = 0.3
vertices = 24
[[body]]
name = "head"
figure = "bust"
motion = { builtin = "head-turn", part = "head", amplitude_degrees = 60, period = 1.0 }
[solver]
method = "ftl"
"#;
    let mut simulation = Simulation::new(Scene::from_toml(text, "neck.toml").unwrap(), &NoFiles).unwrap();
    for _ in 0..24 {
        let report = simulation.advance().unwrap();
        let (free, written) = (report.measures.penetration, report.measures.written.penetration);
        assert!(free.value < 1e-4, "frame {}: {free:?} m", report.frame);
        assert!(written.value < 1e-4, "frame {}, held: {written:?} m", report.frame);
        assert!(
            report.measures.stretch.value < 1e-5,
            "frame {}: {:?}",
            report.frame,
            report.measures.stretch
        );
    }
}
