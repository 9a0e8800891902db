//! Long hair that meets itself on a grid stays out of the body and keeps its lengths, on a thinned copy of the example scene.

use hairloom::scene::Scene;
use hairloom::simulate::{NoFiles, Simulation};
use toml::Value;

const SCENE: &str = include_str!("../../../scenes/long-hair-der-mpm.toml");

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
