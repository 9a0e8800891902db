//! OBJ meshes: all forms of faces, exact round trips, and errors with their line.

mod real_grooms;

use glam::Vec3;
use hairloom::body::TriMesh;
use hairloom_io::Axis;
use hairloom_io::obj::{self, ObjProblem, ReadOptions, Skipped};
use proptest::prelude::*;
use real_grooms::real_groom;

fn parse(text: &str) -> obj::ObjMesh {
    obj::parse(text.as_bytes(), &ReadOptions::default()).expect("a good file")
}

fn problem(text: &str) -> ObjProblem {
    obj::parse(text.as_bytes(), &ReadOptions::default()).expect_err("a broken file")
}

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

#[test]
fn every_form_of_a_corner_names_the_same_vertex() {
    for face in [
        "1 2 3",
        "1/1 2/2 3/3",
        "1//1 2//1 3//1",
        "1/1/1 2/2/1 3/3/1",
        "-4 -3 -2",
        "-4/-1/-1 -3 3/",
        "1 2 \\\n3",
    ] {
        let read = parse(&format!("{SQUARE}f {face}\n"));
        assert_eq!(read.mesh.triangles, [[0, 1, 2]], "f {face}");
    }
}

#[test]
fn blanks_comments_and_line_ends_of_all_sorts() {
    let text =
        "\u{feff}# a\r\n\r\n  v\t0 0  0 # root\r\nv 1 0 0 0.5\nv 1e0 +1 -0 1 0 0\nf 1 2 3#end\nf 1 3 2";
    let read = parse(text);
    assert_eq!(read.mesh.points, [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0)]);
    assert_eq!(read.mesh.triangles, [[0, 1, 2], [0, 2, 1]]);
}

#[test]
fn lines_may_end_in_any_of_three_ways() {
    let text = "# comment \\\nv 0 0 0\nv 1 0 \\\n0\n\nv 0 1 0\nf 1 2 3\nf 1 2 x";
    for end in ["\n", "\r\n", "\r"] {
        let text = text.replace('\n', end);
        let whole = text.strip_suffix(" x").expect("the fault");
        let read = parse(whole);
        assert_eq!((read.mesh.points.len(), &*read.mesh.triangles), (3, &[[0, 1, 2]][..]), "{end:?}");
        assert_eq!(read.skipped.short_faces, 1);
        assert_eq!(problem(&text).line(), Some(8), "{end:?}");
    }
}

#[test]
fn faces_may_come_before_their_vertices() {
    assert_eq!(parse(&format!("f 1 2 3\n{SQUARE}")).mesh.triangles, [[0, 1, 2]]);
}

#[test]
fn polygons_become_fans() {
    let read = parse(&format!("{SQUARE}v -1 0.5 0\nf 1 2 3 4 5\n"));
    assert_eq!(read.mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
}

fn area(mesh: &TriMesh) -> Vec3 {
    (0..mesh.triangles.len())
        .map(|index| {
            let [a, b, c] = mesh.corners(index);
            (b - a).cross(c - a) / 2.0
        })
        .sum()
}

/// Concave polygons, once from each of their corners: the triangles must cover them once and not overlap.
#[test]
fn concave_polygons_do_not_fold_over() {
    let dart: &[[f32; 2]] = &[[0.0, 0.0], [2.0, -1.0], [0.0, 2.0], [-2.0, -1.0]];
    let arrow: &[[f32; 2]] = &[[0.0, 0.0], [1.0, -2.0], [3.0, 0.0], [1.0, 2.0], [-1.0, 1.0]];
    let notched: &[[f32; 2]] = &[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [2.0, 1.0], [0.0, 4.0]];
    for (polygon, expected) in [(dart, 4.0), (arrow, 7.5), (notched, 10.0)] {
        let count = polygon.len();
        let vertices: String = polygon.iter().map(|[x, y]| format!("v {x} {y} 0\n")).collect();
        for start in 0..count {
            let face: String = (0..count).map(|at| format!(" {}", (start + at) % count + 1)).collect();
            let mesh = parse(&format!("{vertices}f{face}\n")).mesh;
            let absolute: f32 = (0..mesh.triangles.len())
                .map(|index| {
                    let [a, b, c] = mesh.corners(index);
                    (b - a).cross(c - a).length() / 2.0
                })
                .sum();
            assert_eq!(mesh.triangles.len(), count - 2);
            assert_eq!(area(&mesh), Vec3::Z * expected, "{polygon:?} from corner {start}");
            assert_eq!(absolute, expected, "{polygon:?} from corner {start}");
        }
    }
}

#[test]
fn what_is_left_out_is_counted() {
    let text = format!(
        "mtllib a.mtl\n{SQUARE}vn 0 0 1\nvt 0 0\nvt 1 0\nusemtl skin\ns off\nf 1 2 3\nf 1 2\nf\nf 1 1 2\nl 1 2 3\nl 3 4\np 1\n"
    );
    let expected = Skipped {
        polylines: 2,
        points: 1,
        normals: 1,
        texture_coordinates: 2,
        short_faces: 2,
        collapsed_triangles: 1,
        unselected_faces: 0,
        statements: 3,
    };
    let read = parse(&text);
    assert_eq!(read.skipped, expected);
    assert_eq!((read.mesh.points.len(), read.mesh.triangles.len()), (4, 1));
}

#[test]
fn one_object_or_group_can_be_chosen() {
    let text = "v 9 9 9\no left ear\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 2 3 4\no head\nv 0 0 1\ng skin scalp\nf 2 3 5\ng eyes\nf 3 4 5\n";
    let read = |only: &str| {
        let options = ReadOptions { only: Some(only.to_owned()), ..ReadOptions::default() };
        obj::parse(text.as_bytes(), &options)
    };
    for (name, triangles, points) in [("left ear", 1, 3), ("head", 2, 4), ("scalp", 1, 3), ("eyes", 1, 3)] {
        let read = read(name).expect("a mesh");
        assert_eq!((read.mesh.triangles.len(), read.mesh.points.len()), (triangles, points), "{name}");
        assert_eq!(read.skipped.unselected_faces, 3 - triangles);
    }
    assert_eq!(read("eyes").expect("a mesh").mesh.points, [Vec3::X, Vec3::Y, Vec3::Z]);
    let message = read("nose").expect_err("no nose").to_string();
    assert!(message.contains("nose") && message.contains("scalp"), "{message}");
}

#[test]
fn unit_and_axis_are_applied() {
    let options = ReadOptions { unit: 0.5, up: Axis::Z, only: None };
    let read = obj::parse(b"v 2 4 6", &options).expect("a mesh");
    assert_eq!(read.mesh.points, [Vec3::new(1.0, 3.0, -2.0)]);
    assert!(obj::parse(b"", &ReadOptions { unit: 0.0, ..options }).is_err());
}

#[test]
fn errors_name_file_line_and_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("head.obj");
    for (text, line, fault) in [
        ("v 0 0 0\nv 0 zero 0\n", 2, "\"zero\""),
        ("v 0 0", 1, "there are 2"),
        ("v 0 0 0 v 1 0 0", 1, "\"v\""),
        ("v nan 0 0", 1, "\"nan\""),
        ("v 1e39 0 0", 1, "\"1e39\""),
        ("v 0 0 0\n\nf 1 1 2\nf 1 1 1\n", 3, "vertex 2, and the file has 1"),
        ("f 1 1 0", 1, "vertex 0"),
        ("v 0 0 0\nf -1 -2 -1", 2, "vertex -2"),
        ("f 1 2 x", 1, "\"x\""),
        ("f 1/2/3/4 1 1", 1, "\"1/2/3/4\""),
        ("f 1/x 1 1", 1, "\"1/x\""),
        ("f 4294967296 1 1", 1, "vertex 4294967296"),
        ("f 99999999999999999999 1 1", 1, "\"99999999999999999999\""),
        ("v 0 0 \\\n\\\n\"", 3, "not a finite number"),
    ] {
        std::fs::write(&path, text).expect("written");
        let message = obj::read(&path, &ReadOptions::default()).expect_err("broken").to_string();
        assert!(message.contains(&format!("head.obj:{line}: ")), "{text:?}: {message}");
        assert!(message.contains(fault), "{text:?}: {message}");
    }
    assert!(problem(&format!("v {} 0 0", "9x".repeat(1000))).to_string().len() < 100);
    assert!(obj::read(folder.path(), &ReadOptions::default()).is_err());
}

#[test]
fn broken_meshes_are_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mesh.obj");
    let beyond = TriMesh { points: vec![Vec3::ZERO], triangles: vec![[0, 0, 1]] };
    let nan = TriMesh { points: vec![Vec3::NAN], triangles: vec![] };
    for mesh in [beyond, nan] {
        assert!(obj::write(&path, &mesh).is_err());
        assert!(!path.exists());
    }
}

#[test]
#[ignore = "needs real grooms, which are not part of the project: cargo xtask test"]
fn real_groom_on_a_head_that_is_read() {
    let path = real_groom("sintel/sintel.obj");
    let read = obj::read(path, &ReadOptions::default()).expect("a mesh");
    let (low, high) = read.mesh.bounds().expect("points");
    println!(
        "{} points, {} triangles, {:?}",
        read.mesh.points.len(),
        read.mesh.triangles.len(),
        read.skipped
    );
    assert!(read.mesh.triangles.len() >= 5_952);
    assert!(low.y > 1.0 && high.y < 2.0, "{low} to {high}");
}

proptest! {
    #[test]
    fn meshes_come_back_bit_for_bit(
        points in prop::collection::vec(
            [proptest::num::f32::NORMAL | proptest::num::f32::SUBNORMAL | proptest::num::f32::ZERO,
             proptest::num::f32::NORMAL, proptest::num::f32::NORMAL], 3..40),
        corners in prop::collection::vec(any::<[u16; 3]>(), 0..60),
    ) {
        let count = points.len() as u32;
        let triangles = corners.into_iter()
            .map(|corners| corners.map(|corner| u32::from(corner) % count))
            .filter(|[a, b, c]| a != b && b != c && c != a)
            .collect();
        let mesh = TriMesh { points: points.into_iter().map(Vec3::from_array).collect(), triangles };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mesh.obj");
        obj::write(&path, &mesh).expect("written");
        let back = obj::read(&path, &ReadOptions::default()).expect("read").mesh;
        let bits = |mesh: &TriMesh| -> Vec<[u32; 3]> {
            mesh.points.iter().map(|point| point.to_array().map(f32::to_bits)).collect()
        };
        prop_assert_eq!(bits(&back), bits(&mesh));
        prop_assert_eq!(back.triangles, mesh.triangles);
    }
}
