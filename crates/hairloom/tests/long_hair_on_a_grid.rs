//! The scenes of hair that meets itself on a grid: they have the sizes of the paper's, and long hair stays out of the body and keeps its
//! lengths, on a thinned copy of its scene.

use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation, measure_written};
use toml::Value;

const SCENE: &str = include_str!("../../../scenes/long-hair-der-mpm.toml");
const TWICE: &str = include_str!("../../../scenes/long-hair-der-mpm-2x.toml");
const FOUR_TIMES: &str = include_str!("../../../scenes/long-hair-der-mpm-4x.toml");
const DANCE: &str = include_str!("../../../scenes/dance-der-mpm.toml");

fn scene(text: &str) -> Scene {
    Scene::from_toml(text, "a scene").unwrap_or_else(|error| panic!("{error}"))
}

/// Strands and particles of Huang et al. 2023, table 1.
#[test]
fn scenes_have_the_sizes_of_table_1() {
    for (text, strands, particles) in [(DANCE, 2_076, 27_114), (SCENE, 1_053, 43_262)] {
        let simulation = Simulation::new(scene(text), &NoFiles).unwrap_or_else(|error| panic!("{error}"));
        let model = simulation.model();
        assert_eq!((model.strands(), model.vertices()), (strands, particles));
    }
    for faster in [TWICE, FOUR_TIMES] {
        assert_eq!(scene(faster).groom, scene(SCENE).groom);
    }
}

/// Relative changes of the lengths of all edges, the smallest first.
fn stretches(simulation: &Simulation) -> Vec<f64> {
    let (model, positions) = (simulation.model(), &simulation.state().positions);
    let edges = (0..model.vertices()).filter(|&vertex| model.rest_lengths[vertex] > 0.0);
    let stretch =
        |vertex: usize| positions[vertex + 1].distance(positions[vertex]) / model.rest_lengths[vertex] - 1.0;
    let mut stretches: Vec<f64> = edges.map(|vertex| stretch(vertex).abs()).collect();
    stretches.sort_by(f64::total_cmp);
    stretches
}

/// The head turns to both sides for two seconds, and then rests. Lengths are held by stiffness alone here, not by their bound.
#[test]
fn long_hair_stays_out_of_its_body_and_keeps_its_lengths() {
    let settings = [
        ("groom.style.strands", Value::Integer(2400)),
        ("groom.guides.fraction", Value::Float(0.05)),
        ("time.frames", Value::Integer(210)),
        ("solver.most_stretch", Value::Float(0.5)),
    ]
    .map(|(key, value)| (key.to_owned(), value));
    let scene =
        Scene::from_toml_with(SCENE, "long hair", &settings).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::new(scene, &NoFiles).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(simulation.model().strands(), 120);
    while simulation.frame() < simulation.scene().time.frames {
        let report = simulation.advance().unwrap_or_else(|error| panic!("{error}"));
        let depth = report.measures.penetration.value.max(report.measures.written.penetration.value);
        assert!(depth <= 2.0e-3, "{depth} m deep in frame {}", report.frame);
        if report.frame.is_multiple_of(30) {
            // Points that are known to be outside need not be looked at again.
            let (groom, points) = (&simulation.groom().curves, &simulation.strands().points);
            let again = measure_written(groom, points, simulation.bodies(), &[]);
            assert_eq!(again, report.measures.written);
        }
        let stretches = stretches(&simulation);
        let most = stretches[stretches.len() * 99 / 100];
        assert!(
            most <= 0.02,
            "99 % of the edges are within {most} of their lengths in frame {}",
            report.frame
        );
    }
    let most = stretches(&simulation)[stretches(&simulation).len() - 1];
    assert!(most <= 0.01, "an edge is {most} off its length at rest");
}
