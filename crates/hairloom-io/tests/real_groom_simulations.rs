//! Grooms by others on their own heads, simulated: nothing stretches, nothing that starts outside sinks in.

mod real_grooms;

use hairloom::body::TriMesh;
use hairloom::groom::{Groom, turn_strands};
use hairloom::scene::{GroomFileSettings, Scene};
use hairloom::simulate::{AnimatedMesh, Library, Simulation};
use hairloom_io::{BodyMesh, Folder};
use real_grooms::real_groom;
use toml::Value;

const FRAMES: u32 = 8;
/// Largest relative change of an edge's length.
const STRETCH: f64 = 1.0e-5;
/// Deepest place inside a body [m].
const PENETRATION: f32 = 1.0e-4;

/// Simulates a scene whose groom and bodies are real files.
fn simulated(text: &str, groom: &str, unit: f64, meshes: &[&str]) -> Simulation {
    let path = |name: &str| Value::String(real_groom(name).to_string_lossy().into_owned());
    let unit = Value::Float(unit);
    let mut settings = vec![("groom.file".to_owned(), path(groom)), ("groom.unit".to_owned(), unit)];
    settings.extend(meshes.iter().enumerate().map(|(k, mesh)| (format!("body.{k}.mesh"), path(mesh))));
    let scene = Scene::from_toml_with(text, groom, &settings).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(scene, &Folder::new("")).unwrap_or_else(|error| panic!("{groom}: {error}"))
}

/// The depth of the deepest vertex of each strand [m], but for the first `held`.
fn depths(simulation: &Simulation, held: usize) -> Vec<f32> {
    let bodies = simulation.bodies().at(1.0);
    let curves = &simulation.groom().curves;
    let depth = |strand: usize| {
        let points = &simulation.strands().points[curves.range(strand)];
        let free = points.iter().skip(held);
        free.filter_map(|&point| bodies.nearest(point))
            .map(|(_, sample)| -sample.distance)
            .fold(0.0, f32::max)
    };
    (0..curves.strands()).map(depth).collect()
}

fn check(mut simulation: Simulation) {
    let name = simulation.scene().name.clone();
    let outside: Vec<bool> = depths(&simulation, 0).iter().map(|&depth| depth <= PENETRATION).collect();
    let count = outside.iter().filter(|&&outside| outside).count();
    assert!(4 * count > outside.len(), "{name}: only {count} of {} strands start outside", outside.len());
    let start = simulation.strands().points.clone();
    for _ in 0..FRAMES {
        let report = simulation.advance().unwrap_or_else(|error| panic!("{name}: {error}"));
        let (stretch, frame) = (report.measures.stretch, report.frame);
        assert!(stretch.value <= STRETCH, "{name}, frame {frame}: {stretch:?}");
        let pinned = simulation.scene().groom.pinned as usize;
        let deepest = depths(&simulation, pinned).into_iter().zip(&outside).enumerate();
        let deepest =
            deepest.filter(|(_, (_, outside))| **outside).map(|(strand, (depth, _))| (depth, strand));
        let (depth, strand) = deepest.fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
        let points = &simulation.strands().points[simulation.groom().curves.range(strand)];
        let was = &start[simulation.groom().curves.range(strand)];
        assert!(
            depth <= PENETRATION,
            "{name}, frame {frame}: strand {strand} is {depth} m deep, {points:?}, at first {was:?}"
        );
    }
    let moved = simulation.strands().points.iter().zip(&start);
    let moved = moved.map(|(now, then)| now.distance(*then)).fold(0.0, f32::max);
    assert!((0.005..1.0).contains(&moved), "{name}: hair moved by {moved} m");
}

const SINTEL: &str = r#"
name = "sintel"
[time]
substeps = 2
[groom]
body = "head"
[[body]]
name = "head"
motion = { builtin = "head-turn", amplitude_degrees = 50, period = 1.5 }
[[body]]
name = "collider"
motion = { builtin = "head-turn", amplitude_degrees = 50, period = 1.5 }
[solver]
method = "ftl"
bending = 0.3
"#;

#[test]
#[ignore = "needs real grooms, which are not part of the project: cargo xtask test"]
fn real_groom_of_sintel_stays_on_her_head() {
    let meshes = ["sintel/sintel.obj", "sintel/sintel-collider.obj"];
    let hair = "sintel/SintelHairOriginal-sintel_hair.16points.tfx";
    let simulation = simulated(SINTEL, hair, 1.0, &meshes);
    let imported = simulation.imported();
    let seating = imported.seating.expect("roots on a head");
    assert_eq!(imported.turned.strands, 0);
    assert!(
        seating.roots == 11_400 && seating.floating.worst < 0.01 && seating.buried.worst < 0.005,
        "{seating:?}"
    );
    assert!(simulation.warnings().iter().any(|warning| warning.to_string().contains("float above it")));
    check(simulation);
}

#[test]
#[ignore = "needs real grooms, which are not part of the project: cargo xtask test"]
fn real_groom_of_guides_stays_on_its_head() {
    // The guides are in centimetres, and 1.2 m lower than the head.
    let text = SINTEL.replace("motion =", "position = [0, -1.197, 0]\nmotion =").replace("sintel", "guides");
    let meshes = ["sintel/sintel.obj", "sintel/sintel-collider.obj"];
    check(simulated(&text, "sintel/sintel_guides_228x32.tfx", 0.01, &meshes));
}

#[test]
#[ignore = "needs real grooms, which are not part of the project: cargo xtask test"]
fn real_groom_of_a_mohawk_moves_without_a_body() {
    let text = "name = 'mohawk'\n[groom]\nattach = 'root'\n[solver]\nmethod = 'ftl'\n";
    let simulation = simulated(text, "ratboy/Ratboy_mohawk.tfx", 1.0, &[]);
    assert_eq!(simulation.imported().seating, None);
    check(simulation);
}

const STRAIGHT: &str = r#"
name = "straight"
[time]
substeps = 2
[groom]
[[groom.edit]]
do = "guides"
count = 1500
only = true
[[groom.edit]]
do = "trim"
length = 0.5
[[groom.edit]]
do = "seat"
reach = 0.06
[[body]]
name = "head"
scale = 0.00695
rotation_degrees = [-90, 90, 0]
position = [0, 0.175, -0.06]
motion = { builtin = "head-turn", amplitude_degrees = 40, period = 2 }
[solver]
method = "ftl"
"#;

#[test]
#[ignore = "needs real grooms, which are not part of the project: cargo xtask test"]
fn real_groom_of_straight_hair_is_seated_on_a_head() {
    // The head is not the one that the hair was made for: it is brought to its size, and the hair onto its skin.
    let simulation = simulated(STRAIGHT, "straight/straight.hair", 0.01, &["straight/woman_head.ply"]);
    let seating = simulation.imported().seating.expect("roots on a head");
    assert_eq!((seating.floating.strands, seating.buried.strands), (0, 0), "{seating:?}");
    check(simulation);
}

#[test]
#[ignore = "needs real grooms, which are not part of the project: cargo xtask test"]
fn real_groom_from_tip_to_root_is_turned() {
    let hair = "sintel/SintelHairOriginal-sintel_hair.16points.tfx";
    struct Reversed;
    impl Library for Reversed {
        fn groom_as(&self, file: &str, settings: &GroomFileSettings) -> Result<Groom, String> {
            let mut groom = Folder::new("").groom_as(file, settings)?;
            for strand in 0..groom.strands() {
                let range = groom.curves.range(strand);
                groom.curves.points[range].reverse();
            }
            Ok(groom)
        }
        fn mesh(&self, file: &str) -> Result<TriMesh, String> {
            Folder::new("").mesh(file)
        }
        fn animated_mesh(&self, file: &str) -> Result<AnimatedMesh, String> {
            Folder::new("").animated_mesh(file)
        }
    }
    let path = |name: &str| real_groom(name).to_string_lossy().into_owned();
    let settings = [
        ("groom.file".to_owned(), Value::String(path(hair))),
        ("body.0.mesh".to_owned(), Value::String(path("sintel/sintel.obj"))),
        ("body.1.mesh".to_owned(), Value::String(path("sintel/sintel-collider.obj"))),
    ];
    let scene = |settings: &[(String, Value)]| Scene::from_toml_with(SINTEL, "reversed", settings).unwrap();
    let simulation = Simulation::new(scene(&settings), &Reversed).unwrap();
    let proper = Folder::new("").groom(&path(hair)).unwrap();
    let turned = simulation.imported().turned;
    let same = (0..proper.strands())
        .filter(|&strand| simulation.groom().curves.strand(strand) == proper.curves.strand(strand))
        .count();
    assert!(turned.most && same as f64 >= 0.99 * proper.strands() as f64, "{turned:?}, {same} right");
    let left = [&settings[..], &[("groom.turn".to_owned(), Value::Boolean(false))]].concat();
    let simulation = Simulation::new(scene(&left), &Reversed).unwrap();
    assert_eq!(simulation.imported().turned.strands, 0);
}

/// Strands of Sintel's hair given from tip to root, among the others: her tips lie a fifth of their length off the head.
#[test]
#[ignore = "needs real grooms, which are not part of the project: cargo xtask test"]
fn real_groom_of_sintel_has_single_strands_turned() {
    let folder = Folder::new("");
    let path = |name: &str| real_groom(name).to_string_lossy().into_owned();
    let body = BodyMesh::new(folder.mesh(&path("sintel/sintel.obj")).unwrap()).unwrap();
    let proper = folder.groom(&path("sintel/SintelHairOriginal-sintel_hair.16points.tfx")).unwrap();
    // Of so many strands one is reversed, so many may be wrong afterwards.
    for (every, wrong) in [(3, 114), (500, 11)] {
        let mut given = proper.clone();
        for strand in (0..given.strands()).step_by(every) {
            let range = given.curves.range(strand);
            given.curves.points[range].reverse();
        }
        let (turned, found) = turn_strands(&given, &|point| body.skin(point));
        let differs = |&strand: &usize| turned.curves.strand(strand) != proper.curves.strand(strand);
        let count = (0..proper.strands()).filter(differs).count();
        assert!(count <= wrong, "one of {every} reversed: {count} strands are wrong, {found:?}");
    }
}
