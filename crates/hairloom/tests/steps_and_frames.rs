//! Steps so many a second, frames so many: hair moves the same however many frames are written of it.

use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation};
use hairloom::solve::Checkpoint;

const SCENE: &str = r#"
[time]
end = 0.5
steps_per_second = 120

[groom.style]
preset = "straight"
strands = 40
vertices = 12
length = 0.2
seed = 4

[[body]]
name = "head"
figure = "ball"
motion = { builtin = "head-turn", amplitude_degrees = 60, period = 0.6 }

[solver]
method = "METHOD"
"#;

fn simulation(method: &str, settings: &[(&str, f64)]) -> Simulation {
    let text = SCENE.replace("METHOD", method);
    let settings: Vec<_> =
        settings.iter().map(|&(key, value)| (key.to_owned(), toml::Value::Float(value))).collect();
    let scene = Scene::from_toml_with(&text, "a.toml", &settings).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(scene, &NoFiles).unwrap_or_else(|error| panic!("{error}"))
}

fn advance(simulation: &mut Simulation) {
    simulation.advance().unwrap_or_else(|error| panic!("{error}"));
}

/// Largest relative change of an edge's length.
fn stretch(simulation: &Simulation) -> f64 {
    let (model, positions) = (simulation.model(), &simulation.state().positions);
    let strands = (0..model.strands()).map(|strand| model.range(strand));
    let edges = strands.flat_map(|range| (range.start..range.end - 1).map(|vertex| [vertex, vertex + 1]));
    let change = |[a, b]: [usize; 2]| {
        let rest = f64::from(model.groomed[a].distance(model.groomed[b]));
        (positions[a].distance(positions[b]) / rest - 1.0).abs()
    };
    edges.map(change).fold(0.0, f64::max)
}

#[test]
fn motion_does_not_depend_on_the_frame_rate() {
    for method in ["ftl", "der-mpm"] {
        let mut expected = None;
        for fps in [24.0, 60.0, 50.0, 240.0] {
            let mut simulation = simulation(method, &[("time.fps", fps)]);
            assert_eq!(simulation.scene().time.frames, (0.5 * fps) as u32);
            let most = if method == "ftl" { 1.0e-5 } else { 1.0e-2 };
            while simulation.frame() < simulation.scene().time.frames {
                advance(&mut simulation);
                let stretch = stretch(&simulation);
                assert!(stretch < most, "{method}, {fps}: stretched by {stretch}");
            }
            let state = simulation.state().clone();
            assert!(*expected.get_or_insert_with(|| state.clone()) == state, "{method}: {fps} differs");
        }
    }
}

/// A solver that cuts steps by itself meets bodies where their motion has them, not on the way between the ends of a long step.
#[test]
fn bodies_go_their_way_in_every_step_of_a_solver() {
    let run = |rate: f64| {
        let mut simulation =
            simulation("nsgs", &[("time.steps_per_second", rate), ("solver.tolerance_fast", 1.0e-9)]);
        (0..6).for_each(|_| advance(&mut simulation));
        simulation.state().positions.clone()
    };
    // The solver's own steps are 1/240 s.
    let (few, many) = (run(24.0), run(240.0));
    let off = few.iter().zip(&many).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(off < 1.0e-6, "{off} m");
}

/// At 50 frames a second frame 1 lies 2.4 steps after the start.
#[test]
fn frames_between_steps_lie_between_them() {
    let mut frames = simulation("ftl", &[("time.fps", 50.0)]);
    let mut steps = simulation("ftl", &[("time.fps", 120.0)]);
    for (frame, step, part) in [(1, 2, 0.4), (2, 4, 0.8), (3, 7, 0.2), (4, 9, 0.6)] {
        while steps.frame() < step {
            advance(&mut steps);
        }
        advance(&mut frames);
        assert_eq!(frames.frame(), frame);
        let before = steps.state().positions.clone();
        advance(&mut steps);
        let straight = before.iter().zip(&steps.state().positions).map(|(a, b)| a.lerp(*b, part));
        let off = straight.zip(&frames.state().positions).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        // Not on a straight line, for edges turn and keep their lengths, but nearly.
        let step =
            before.iter().zip(&steps.state().positions).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(off < 0.1 * step && step > 1.0e-3, "frame {frame}: {off} m off in a step of {step} m");
        // Roots are where the head has them at that time.
        let pose = frames.bodies().pose(0, 1.0);
        let start = simulation("ftl", &[]);
        for strand in 0..40 {
            let root = start.model().range(strand).start;
            let held = start.bodies().pose(0, 1.0).apply_inverse(start.state().positions[root]);
            let root = frames.state().positions[root];
            assert!(pose.apply(held).distance(root) < 1.0e-7, "root {strand} in frame {frame}");
        }
    }
}

#[test]
fn a_run_goes_on_between_two_steps() {
    for method in ["ftl", "der-mpm", "nsgs"] {
        let mut whole = simulation(method, &[("time.fps", 50.0)]);
        let mut saved = Checkpoint::default();
        for frame in 1..=8 {
            advance(&mut whole);
            if frame == 3 {
                whole.save(&mut saved);
            }
        }
        let mut resumed = simulation(method, &[("time.fps", 50.0)]);
        resumed.restore(&saved).unwrap();
        for _ in 4..=8 {
            advance(&mut resumed);
        }
        assert!(whole.state() == resumed.state(), "{method}");
    }
}

/// The head jumps by half a metre; no frame shows hair on the way.
#[test]
fn nothing_is_between_before_and_after_a_jump() {
    let jump = r#"motion = { builtin = "teleport", distance = 0.5, amplitude_degrees = 90, period = 0.11 }"#;
    let (head, tail) = SCENE.split_once("motion =").unwrap();
    let tail = tail.split_once('\n').unwrap().1;
    let text = format!("{head}{jump}\n{tail}").replace("METHOD", "ftl");
    let fps = [("time.fps".to_owned(), toml::Value::Float(50.0))];
    let scene = Scene::from_toml_with(&text, "a.toml", &fps).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::new(scene, &NoFiles).unwrap();
    let mut jumped = 0;
    for frame in 1..=25 {
        let before = simulation.bodies().pose(0, 1.0).translation;
        advance(&mut simulation);
        jumped += u32::from(simulation.bodies().pose(0, 1.0).translation.distance(before) > 0.05);
        let stretch = stretch(&simulation);
        assert!(stretch < 1.0e-5, "frame {frame}: stretched by {stretch}");
    }
    assert!(jumped >= 2, "{jumped} jumps");
}
