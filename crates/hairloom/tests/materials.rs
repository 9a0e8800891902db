//! Strands of several materials in one scene: each is its own rod, and pairs of them and of bodies have frictions of their own.

use glam::{DVec3, Vec3};
use hairloom::body::TriMesh;
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};
use hairloom::scene::{GroomFileSettings, Scene};
use hairloom::simulate::{AnimatedMesh, Library, NoFiles, Simulation, SimulationError};

/// Three straight strands beside each other across a slope, with a number for each.
struct Shelf;

impl Library for Shelf {
    fn groom_as(&self, _: &str, _: &GroomFileSettings) -> Result<Groom, String> {
        let (mut offsets, mut points) = (vec![0], vec![]);
        let down = -20.0_f32.to_radians();
        let up = Vec3::new(-down.sin(), down.cos(), 0.0);
        for strand in 0..3 {
            for vertex in 0..9 {
                points.push(up * 1.5e-4 + Vec3::Z * (0.2 * strand as f32 + 0.0125 * vertex as f32));
            }
            offsets.push(points.len() as u32);
        }
        let attributes = vec![Attribute {
            name: "kind".into(),
            domain: Domain::Strand,
            values: Values::Int(vec![0, 1, 2]),
        }];
        let (roots, widths) = (vec![Root::Free; 3], vec![8.0e-5; points.len()]);
        Ok(Groom { curves: Curves { offsets, points }, roots, widths, attributes, ..Groom::default() })
    }

    fn mesh(&self, file: &str) -> Result<TriMesh, String> {
        NoFiles.mesh(file)
    }

    fn animated_mesh(&self, file: &str) -> Result<AnimatedMesh, String> {
        NoFiles.animated_mesh(file)
    }
}

const SLOPE: &str = r#"
[time]
frames = 12
fps = 24
substeps = 4
[groom]
file = "shelf"
attach = "none"
[material]
preset = "straight"
body_friction = 0.1
drag = 0.0
[[strands]]
name = "rough"
attribute = "kind"
value = 1
radius = 5e-5
friction = 0.4
body_friction = 0.6
[[strands]]
name = "waxed"
attribute = "kind"
value = 2
body_friction = 0.6
friction_with = [{ name = "slope", friction = 0.2 }, { name = "rough", friction = 0.05 }]
[[body]]
name = "slope"
shape = "plane"
rotation_degrees = [0, 0, -20]
[solver]
method = "admm"
"#;

fn simulation(text: &str) -> Result<Simulation, SimulationError> {
    let scene = Scene::from_toml(text, "slope.toml").unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(scene, &Shelf)
}

/// tan 20° = 0.364: a strand slides where its own coefficient is below, by g (sin α − μ cos α) t² / 2.
#[test]
fn each_strand_slides_by_its_own_friction() {
    let mut simulation = simulation(SLOPE).unwrap_or_else(|error| panic!("{error}"));
    let centre = |simulation: &Simulation, strand: usize| {
        let range = simulation.model().range(strand);
        let points = &simulation.state().positions[range];
        points.iter().fold(DVec3::ZERO, |sum, &point| sum + point) / points.len() as f64
    };
    let begin: Vec<DVec3> = (0..3).map(|strand| centre(&simulation, strand)).collect();
    for _ in 0..12 {
        simulation.advance().unwrap_or_else(|error| panic!("{error}"));
    }
    let slid: Vec<f64> = (0..3).map(|strand| centre(&simulation, strand).distance(begin[strand])).collect();
    let angle = 20.0_f64.to_radians();
    let expected = |friction: f64| 0.5 * 9.81 * (angle.sin() - friction * angle.cos()) * 0.25;
    assert!((slid[0] / expected(0.1) - 1.0).abs() < 0.03, "{} m, {} expected", slid[0], expected(0.1));
    assert!(slid[1] < 1.0e-3, "the rough strand slid by {} m", slid[1]);
    assert!((slid[2] / expected(0.2) - 1.0).abs() < 0.03, "{} m, {} expected", slid[2], expected(0.2));
}

#[test]
fn pairs_have_the_mean_of_both_frictions_unless_they_are_given_one() {
    let simulation = simulation(SLOPE).unwrap_or_else(|error| panic!("{error}"));
    let model = simulation.model();
    assert_eq!(model.radii[model.range(1).start], 5.0e-5);
    assert_eq!([model.friction(0, 1), model.friction(1, 2), model.friction(2, 1)], [0.3, 0.05, 0.05]);
    assert_eq!(model.body_friction(0, 0, 0.1), 0.1);
    assert_eq!(model.body_friction(1, 0, 0.1), 0.6);
}

#[test]
fn strands_survive_being_written_and_read() {
    let scene = Scene::from_toml(SLOPE, "slope.toml").unwrap_or_else(|error| panic!("{error}"));
    let text = scene.to_toml().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        Scene::from_toml(&text, "slope.toml").unwrap_or_else(|error| panic!("{error}\n{text}")),
        scene
    );
}

#[test]
fn methods_without_friction_of_pairs_say_so() {
    let simulation = simulation(&SLOPE.replace("admm", "ftl")).unwrap_or_else(|error| panic!("{error}"));
    let told = simulation.warnings().iter().any(|warning| warning.to_string().contains("friction_with"));
    assert!(told, "{:?}", simulation.warnings());
}

#[test]
fn an_attribute_that_is_not_there_is_told() {
    let error = simulation(&SLOPE.replace("\"kind\"", "\"colour\"")).err().map(|error| error.to_string());
    let expected = "slope.toml:15:1: strands.0.attribute: the groom has no attribute 'colour' with one number for each strand";
    assert_eq!(error.as_deref(), Some(expected));
}

#[test]
fn a_share_of_all_strands_is_scattered() {
    let text = r#"
[groom]
body = "head"
[groom.style]
preset = "straight"
strands = 1000
[[strands]]
name = "grey"
share = 0.3
preset = "coarse"
[[body]]
name = "head"
figure = "ball"
[solver]
method = "ftl"
"#;
    let scene = Scene::from_toml(text, "grey.toml").unwrap_or_else(|error| panic!("{error}"));
    let simulation = Simulation::new(scene, &NoFiles).unwrap_or_else(|error| panic!("{error}"));
    for (place, hundred) in simulation.model().material_of.chunks(100).enumerate() {
        let grey = hundred.iter().filter(|&&material| material == 1).count();
        assert!((15..45).contains(&grey), "{grey} of hundred {place}");
    }
    assert_eq!(simulation.model().materials[1].radius, 50.0e-6);
}
