//! The files that scenes name: what is read from them, and where it stands in the world.

use std::f32::consts::FRAC_1_SQRT_2;
use std::fs;
use std::path::Path;

use glam::Vec3;
use hairloom::groom::{Domain, Values};
use hairloom::simulate::Library;
use hairloom_io::Folder;
use hairloom_io::cache::Cache;

/// A layer in centimetres, z up, with what is given below a root that is moved.
fn layer(inner: &str) -> String {
    format!(
        "#usda 1.0\n(\n    metersPerUnit = 0.01\n    upAxis = \"Z\"\n    timeCodesPerSecond = 10\n)\n\
         def Xform \"Root\"\n{{\n    double3 xformOp:translate = (0, 0, 100)\n    \
         uniform token[] xformOpOrder = [\"xformOp:translate\"]\n{inner}\n}}\n"
    )
}

const CURVES: &str = r#"
    def BasisCurves "A"
    {
        uniform token type = "linear"
        int[] curveVertexCounts = [2, 3]
        point3f[] points = [(0, 0, 0), (10, 0, 0), (0, 0, 0), (0, 10, 0), (0, 20, 0)]
        float[] widths = [0.02] (
            interpolation = "constant"
        )
        int[] primvars:id = [7, 9] (
            interpolation = "uniform"
        )
        float[] primvars:melanin = [0.5, 0.25] (
            interpolation = "uniform"
        )
        int[] primvars:melanin:indices = [1, 0]
        float3 xformOp:rotateXYZ = (0, 0, 90)
        float3 xformOp:scale = (2, 2, 2)
        uniform token[] xformOpOrder = ["xformOp:rotateXYZ", "xformOp:scale"]
    }
    def BasisCurves "Hidden" (
        active = false
    )
    {
        uniform token type = "linear"
        int[] curveVertexCounts = [2]
        point3f[] points = [(0, 0, 0), (1, 0, 0)]
    }
"#;

fn near(a: Vec3, b: Vec3) -> bool {
    a.distance(b) < 1e-6
}

#[test]
fn curves_are_placed_in_metres_and_y_up() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("hair.usda"), layer(CURVES)).unwrap();
    let groom = Folder::new(folder.path()).groom("hair.usda").unwrap();
    assert_eq!(groom.curves.offsets, [0, 2, 5]);
    let points = &groom.curves.points;
    // 10 cm along x, doubled, turned about z to y, raised by 1 m along z; then y becomes −z, and z becomes y.
    assert!(near(points[0], Vec3::new(0.0, 1.0, 0.0)), "{points:?}");
    assert!(near(points[1], Vec3::new(0.0, 1.0, -0.2)), "{points:?}");
    assert!(near(points[4], Vec3::new(-0.4, 1.0, 0.0)), "{points:?}");
    assert_eq!(groom.widths.len(), 5);
    assert!(groom.widths.iter().all(|width| (width - 0.0004).abs() < 1e-9), "{:?}", groom.widths);
    assert_eq!(groom.ids, [7, 9]);
    let melanin = groom.attributes.iter().find(|attribute| attribute.name == "melanin").unwrap();
    assert_eq!((melanin.domain, &melanin.values), (Domain::Strand, &Values::Float(vec![0.25, 0.5])));
    groom.checked().unwrap();
}

#[test]
fn several_prims_are_one_groom_with_what_any_of_them_has() {
    let folder = tempfile::tempdir().unwrap();
    let other =
        CURVES.replace("\"A\"", "\"B\"").replace("melanin", "other").replace("[0.02]", "[0.02, 0.04]");
    let other = other.replace("constant", "uniform");
    fs::write(folder.path().join("hair.usda"), layer(&format!("{CURVES}\n{other}"))).unwrap();
    let groom = Folder::new(folder.path()).groom("hair.usda").unwrap();
    assert_eq!(groom.curves.offsets, [0, 2, 5, 7, 10]);
    assert!((groom.widths[9] - 0.0008).abs() < 1e-9 && (groom.widths[5] - 0.0004).abs() < 1e-9);
    assert_eq!(groom.ids, [7, 9, 7, 9]);
    let values = groom.attributes.iter().map(|attribute| (attribute.name.as_str(), attribute.values.clone()));
    let wanted = [
        ("melanin", Values::Float(vec![0.25, 0.5, 0.0, 0.0])),
        ("other", Values::Float(vec![0.0, 0.0, 0.25, 0.5])),
    ];
    assert_eq!(values.collect::<Vec<_>>(), wanted);
}

#[test]
fn cubic_curves_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let read = |basis: &str, points: &str| {
        let text = format!(
            "#usda 1.0\n(\n    metersPerUnit = 1\n)\ndef BasisCurves \"A\"\n{{\n    uniform token type = \"cubic\"\n    \
             uniform token basis = \"{basis}\"\n    int[] curveVertexCounts = [4]\n    point3f[] points = [{points}]\n}}\n"
        );
        fs::write(folder.path().join("hair.usda"), text).unwrap();
        Folder::new(folder.path()).groom("hair.usda").unwrap().curves.points
    };
    // From the first to the last point of the only piece, and past its middle; the curve bends too much for 24 vertices (six for
    // each control point) to be within a thousandth of its length everywhere, so a chord may be off by its sagitta.
    let follows = |points: &[Vec3], ends: [Vec3; 3], curvature: f32| {
        let beside = |p: Vec3| {
            let edges = points.windows(2).map(|edge| {
                let along = edge[1] - edge[0];
                let s = ((p - edge[0]).dot(along) / along.length_squared()).clamp(0.0, 1.0);
                p.distance(edge[0] + along * s)
            });
            edges.fold(f32::INFINITY, f32::min)
        };
        let reached = near(points[0], ends[0]) && near(points[points.len() - 1], ends[2]);
        let edge = points.windows(2).map(|edge| edge[0].distance(edge[1])).fold(0.0, f32::max);
        let length: f32 = points.windows(2).map(|edge| edge[0].distance(edge[1])).sum();
        let (allowed, off) = ((1e-3 * length).max(edge * edge * curvature / 8.0), beside(ends[1]));
        assert!(points.len() <= 24 && reached && off <= allowed, "{off} {allowed}: {points:?}");
    };
    let corners = "(0,0,0), (0,1,0), (1,1,0), (1,0,0)";
    // x = 3 (1−t) t² · 1 + t³ · 1 and so on, at t = 0, 1/3 and 1.
    let third = Vec3::new(7.0 / 27.0, 2.0 / 3.0, 0.0);
    follows(&read("bezier", corners), [Vec3::ZERO, third, Vec3::X], 8.0 / 3.0);
    let (first, last) = (Vec3::new(1.0 / 6.0, 5.0 / 6.0, 0.0), Vec3::new(5.0 / 6.0, 5.0 / 6.0, 0.0));
    follows(&read("bspline", corners), [first, Vec3::new(0.5, 23.0 / 24.0, 0.0), last], 0.0);
    follows(
        &read("catmullRom", corners),
        [Vec3::Y, Vec3::new(0.5, 1.125, 0.0), Vec3::new(1.0, 1.0, 0.0)],
        0.0,
    );
}

const MOVING: &str = r#"
    def Mesh "M"
    {
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points.timeSamples = {
            0: [(0, 0, 0), (100, 0, 0), (100, 100, 0), (0, 100, 0)],
            10: [(0, 0, 50), (100, 0, 50), (100, 100, 50), (0, 100, 50)],
        }
        quatf xformOp:orient.timeSamples = {
            0: (1, 0, 0, 0),
            5: (HALF, HALF, 0, 0),
        }
        uniform token[] xformOpOrder = ["xformOp:orient"]
    }
"#;

#[test]
fn moving_meshes_have_times_in_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let moving = MOVING.replace("HALF", &FRAC_1_SQRT_2.to_string());
    fs::write(folder.path().join("mesh.usda"), layer(&moving)).unwrap();
    let library = Folder::new(folder.path());
    let animated = library.animated_mesh("mesh.usda").unwrap();
    assert_eq!(animated.times, [0.0, 0.5, 1.0]);
    assert_eq!(animated.mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    // At the start: 1 m along y of the file, raised by 1 m; then y becomes −z.
    assert!(near(animated.points[0][3], Vec3::new(0.0, 1.0, -1.0)), "{:?}", animated.points[0]);
    // Half a second in: raised by 25 cm within the prim, then a quarter turn about x of (0, 100, 25) to (0, −25, 100).
    assert!(near(animated.points[1][3], Vec3::new(0.0, 2.0, 0.25)), "{:?}", animated.points[1]);
    assert_eq!(library.mesh("mesh.usda").unwrap().points, animated.points[0]);
    let cache = Cache::open(folder.path().join("mesh.usda")).unwrap();
    assert_eq!((cache.frames(), cache.fps()), (3, 10.0));
    let frame = cache.frame(1).unwrap();
    assert_eq!((frame.groom.strands(), frame.bodies[0].name.as_str()), (0, "M"));
    assert_eq!(frame.bodies[0].mesh.points, animated.points[1]);
}

#[test]
fn triangles_keep_their_outside_when_mirrored_or_left_handed() {
    let folder = tempfile::tempdir().unwrap();
    let read = |change: &str| {
        let text = format!(
            "#usda 1.0\n(\n    metersPerUnit = 1\n)\ndef Mesh \"M\"\n{{\n    {change}\n    int[] faceVertexCounts = [3]\n    \
             int[] faceVertexIndices = [0, 1, 2]\n    point3f[] points = [(0,0,0), (1,0,0), (0,1,0)]\n}}\n"
        );
        fs::write(folder.path().join("mesh.usda"), text).unwrap();
        let mesh = Folder::new(folder.path()).mesh("mesh.usda").unwrap();
        let [a, b, c] = mesh.corners(0);
        (b - a).cross(c - a).z
    };
    let mirror = "float3 xformOp:scale = (-1, 1, 1)\n    uniform token[] xformOpOrder = [\"xformOp:scale\"]";
    assert_eq!(read(""), 1.0);
    assert_eq!(read("uniform token orientation = \"leftHanded\""), -1.0);
    assert_eq!(read(mirror), 1.0);
}

#[test]
fn obj_and_hair_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let library = Folder::of_scene(&folder.path().join("scene.toml"));
    fs::write(folder.path().join("t.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    assert_eq!(library.mesh("t.obj").unwrap().triangles, [[0, 1, 2]]);
    assert!(library.animated_mesh("t.obj").unwrap_err().contains(".usdc"));
    let groom = hairloom::groom::hairy_ball(10, 1);
    hairloom_io::hair::write(folder.path().join("b.hair"), &groom, &Default::default()).unwrap();
    assert_eq!(library.groom("b.hair").unwrap().strands(), 10);
}

/// The file that `examples/breathing_egg.rs` made for `scenes/animated-mesh.toml`.
#[test]
fn the_mesh_that_breathes_is_closed_and_comes_back_to_its_start() {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let egg = Folder::new(scenes).animated_mesh("meshes/breathing-egg.usda").unwrap();
    assert_eq!((egg.times.len(), egg.times[0], egg.times[24]), (25, 0.0, 2.0));
    assert_eq!(egg.points[0], egg.points[24]);
    let far = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(far(&egg.points[0], &egg.points[6]) > 0.05, "it moves");
    // Every edge has a triangle on either side, in opposite directions; the volume is positive at all times.
    let mut edges: Vec<(u32, u32)> =
        egg.mesh.triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
    edges.sort_unstable();
    assert!(edges.iter().all(|&(a, b)| edges.binary_search(&(b, a)).is_ok()));
    assert!(edges.windows(2).all(|pair| pair[0] != pair[1]));
    for points in &egg.points {
        let corner = |vertex: u32| points[vertex as usize];
        let volumes =
            egg.mesh.triangles.iter().map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c))) / 6.0);
        let volume: f32 = volumes.sum();
        assert!((0.005..0.02).contains(&volume), "{volume}");
    }
}
