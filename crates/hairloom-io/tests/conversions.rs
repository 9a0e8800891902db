//! Grooms and caches on their way from file to file: what stays, what is told, and what is refused.

use glam::{Vec2, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};
use hairloom::scene::Scene;
use hairloom::simulate::Simulation;
use hairloom_io::cache::{Cache, convert_frames};
use hairloom_io::grooms::{self, FileGroom, Said};
use hairloom_io::{Axis, Folder, Space};

fn groom(strands: usize, length: usize) -> Groom {
    let vertices = strands * length;
    let point = |vertex: usize| Vec3::new((vertex / length) as f32 * 0.37, vertex as f32 * 0.013, 0.1);
    Groom {
        curves: Curves {
            offsets: (0..=strands).map(|strand| (strand * length) as u32).collect(),
            points: (0..vertices).map(point).collect(),
        },
        roots: vec![Root::Rigid; strands],
        widths: (0..vertices).map(|vertex| 7e-5 + (vertex / length) as f32 * 1e-6).collect(),
        root_uv: (0..strands).map(|strand| Vec2::new(strand as f32 * 0.1, 0.25)).collect(),
        ..Groom::default()
    }
}

/// What is written over an old file replaces it when it is complete, and not before.
#[test]
fn a_refused_write_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let start = FileGroom { groom: groom(3, 4), space: Space::SCENE };
    let mut uneven = start.clone();
    uneven.groom.curves.offsets = vec![0, 3, 8, 12];
    let mut wrong = start.clone();
    wrong.groom.curves.offsets = vec![0, 4, 8, 11];
    for ending in ["usda", "usdc", "abc", "hair", "tfx", "data", "ply", "obj"] {
        let path = folder.path().join(format!("a.{ending}"));
        grooms::write(&path, &start, &Said::default()).unwrap();
        let before = std::fs::read(&path).unwrap();
        let refused = if ending == "tfx" { &uneven } else { &wrong };
        let error = grooms::write(&path, refused, &Said::default()).unwrap_err().to_string();
        assert!(error.contains(&format!("/a.{ending}: ")), "{ending}: {error}");
        assert_eq!(std::fs::read(&path).unwrap(), before, "{ending}");
        grooms::write(&path, &start, &Said::default()).unwrap();
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 8, "files are left behind");
}

#[test]
fn what_a_format_cannot_hold_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let attribute = |name: &str, domain, values| Attribute { name: name.into(), domain, values };
    let mut start = FileGroom { groom: groom(2, 3), space: Space::SCENE };
    start.groom.widths = vec![1e-4; 6];
    let colour = |count: usize| Values::Vec3(vec![Vec3::ONE; count]);
    let told = |start: &FileGroom, ending: &str| {
        grooms::write(folder.path().join(format!("a.{ending}")), start, &Said::default()).unwrap()
    };
    start.groom.attributes = vec![attribute("displayColor", Domain::Vertex, colour(6))];
    assert_eq!(told(&start, "tfx"), Vec::<String>::new());
    start.groom.attributes = vec![
        attribute("displayColor", Domain::Strand, colour(2)),
        attribute("displayOpacity", Domain::Vertex, Values::Float(vec![0.5; 6])),
    ];
    let lost = ["displayColor (one for each strand)", "displayOpacity"];
    assert_eq!(told(&start, "tfx"), lost);
    // A PLY file has colours for vertices, and those of strands are spread over them.
    assert_eq!(told(&start, "ply"), ["root_uv", "displayOpacity"]);
    start.groom.attributes.clear();
    start.groom.widths[4] = 2e-4;
    assert_eq!(told(&start, "tfx"), ["widths along a strand (all of it is as wide as its root)"]);
    assert_eq!(told(&start, "usdc"), Vec::<String>::new());
}

#[test]
fn a_scene_says_the_unit_and_the_axes_of_its_groom() {
    let folder = tempfile::tempdir().unwrap();
    let start = FileGroom { groom: groom(2, 3), space: Space { unit: 0.01, up: Axis::Z } };
    let said = Said { unit: Some(0.01), up: Some(Axis::Z), ..Said::default() };
    grooms::write(folder.path().join("a.tfx"), &start, &said).unwrap();
    let scene = Scene::from_toml("[groom]\nfile = 'a.tfx'\nunit = 'cm'\nup = 'z'\n", "a.toml").unwrap();
    let simulation = Simulation::new(scene, &Folder::new(folder.path())).unwrap();
    assert_eq!(simulation.groom().curves, start.into_metres().curves);
}

/// A cache of three frames that is not even in time, in centimetres, with a body.
const MOVING: &str = r#"#usda 1.0
(
    metersPerUnit = 0.01
    upAxis = "Z"
    timeCodesPerSecond = 25
)
def BasisCurves "Hair" {
    uniform token type = "linear"
    int[] curveVertexCounts = [2, 2]
    float[] widths = [0.1] (interpolation = "constant")
    point3f[] points.timeSamples = {
        10: [(0, 0, 0), (0, 0, 1.1), (1, 0, 0), (1, 0, 1)],
        11: [(0, 0, 0), (0, 0.3, 1), (1, 0, 0), (1, 0.7, 1)],
        13: [(0, 0, 0), (0, 0.9, 1), (1, 0, 0), (1, 0.1, 1)],
    }
}
def Mesh "Skin" {
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points.timeSamples = {
        10: [(0, 0, 0), (1, 0, 0), (0, 1, 0)],
        13: [(0, 0, 0), (1, 0, 0), (0, 1, 3)],
    }
}
"#;

#[test]
fn all_frames_of_a_cache_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.usda"), MOVING).unwrap();
    let source = Cache::open(at("a.usda")).unwrap();
    assert_eq!((source.frames(), source.time_range()), (3, Some([0.4, 0.52])));
    assert_eq!(source.space(), Space { unit: 0.01, up: Axis::Z });
    let convert = |from: &str, to: &str| {
        let (cache, space) = Cache::open_in_own_space(at(from), &Said::default()).unwrap();
        convert_frames(&cache, space, at(to), &Said::default(), None, Ok).unwrap();
    };
    convert("a.usda", "b.usdc");
    convert("b.usdc", "c.abc");
    convert("c.abc", "d.usda");
    for name in ["b.usdc", "c.abc", "d.usda"] {
        let cache = Cache::open(at(name)).unwrap();
        assert_eq!(cache.frames(), 3, "{name}");
        for (a, b) in source.times().iter().zip(cache.times()) {
            assert!((a - b).abs() < 1e-9, "{name}: {a} {b}");
        }
        for frame in 0..3 {
            let (a, b) = (source.frame(frame).unwrap(), cache.frame(frame).unwrap());
            for (p, q) in a.groom.curves.points.iter().zip(&b.groom.curves.points) {
                assert!(p.distance(*q) < 1e-8, "{name}, frame {frame}: {p} {q}");
            }
            assert_eq!(b.groom.curves.offsets, [0, 2, 4]);
            assert!((b.groom.widths[3] - 0.001).abs() < 1e-9, "{name}: {:?}", b.groom.widths);
            assert_eq!(b.bodies.len(), 1, "{name}");
            for (p, q) in a.bodies[0].mesh.points.iter().zip(&b.bodies[0].mesh.points) {
                assert!(p.distance(*q) < 1e-8, "{name}, frame {frame}: {p} {q}");
            }
        }
    }
    // In the same unit positions keep their bits.
    let own = |name: &str| Cache::open_in_own_space(at(name), &Said::default()).unwrap();
    let ((a, space), (b, same)) = (own("a.usda"), own("b.usdc"));
    assert_eq!(space, same);
    assert_eq!(a.frame(2).unwrap().groom.curves, b.frame(2).unwrap().groom.curves);
}

/// A guide cache: the guides alone, in every frame.
#[test]
fn guides_alone_make_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let marked = "    int[] primvars:guide = [0, 1] (interpolation = \"uniform\")\n    float[] widths";
    std::fs::write(at("a.usda"), MOVING.replacen("    float[] widths", marked, 1)).unwrap();
    let (cache, space) = Cache::open_in_own_space(at("a.usda"), &Said::default()).unwrap();
    let guides = |groom: Groom| -> Result<Groom, String> {
        let strands: Vec<usize> = (0..groom.strands()).filter(|&strand| groom.guides[strand]).collect();
        groom.subset(&strands).map_err(|error| error.to_string())
    };
    for name in ["guides.abc", "guides.usdc"] {
        assert_eq!(convert_frames(&cache, space, at(name), &Said::default(), None, guides).unwrap(), (1, 2));
        let (read, own) = Cache::open_in_own_space(at(name), &Said::default()).unwrap();
        assert_eq!((read.frames(), own), (3, space), "{name}");
        for frame in 0..3 {
            let (guide, all) = (read.frame(frame).unwrap().groom, cache.frame(frame).unwrap().groom);
            assert_eq!(guide.guides, [true], "{name}");
            assert_eq!(guide.curves.points, all.curves.points[2..], "{name}");
        }
    }
}
