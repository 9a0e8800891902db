//! Our archives before Alembic's own library and Blender, our USD layers before Blender, and the library's archives before our reader. Needs Python
//! with `alembic3d` and `bpy`, which HAIRLOOM_PYTHON names.

mod run_common;

use std::path::{Path, PathBuf};
use std::process::Command;

use glam::{Vec2, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};
use hairloom::simulate::Library;
use hairloom_io::alembic::{self, Archive, WriteOptions};
use hairloom_io::cache::{Cache, ROOT_NORMAL};
use hairloom_io::grooms::{self, FileGroom, Said};
use hairloom_io::{Axis, Folder, Space};
use serde_json::{Value as Json, json};

/// Runs a script; answers the JSON that it printed, a value for each line.
fn run(script: &str, arguments: &[&Path]) -> Vec<Json> {
    let python = std::env::var_os("HAIRLOOM_PYTHON").map(PathBuf::from);
    let python = python.expect("HAIRLOOM_PYTHON names a Python with alembic3d and bpy: cargo xtask test");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script);
    let output = Command::new(python).arg(script).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{text}\n{errors}\n(Blender's package bpy is for Python 3.11 alone; cargo xtask test takes python3.11 if it is there)"
    );
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn object<'a>(dump: &'a Json, path: &str) -> &'a Json {
    let objects = dump["objects"].as_array().unwrap();
    objects.iter().find(|object| object["path"] == path).unwrap_or_else(|| panic!("{path} in {dump}"))
}

/// The same with every number in single precision: the JSON parser may be off in the last bit of a double.
fn single(value: &Json) -> Json {
    match value {
        Json::Number(number) if number.is_f64() => json!(number.as_f64().unwrap() as f32),
        Json::Array(parts) => parts.iter().map(single).collect(),
        other => other.clone(),
    }
}

fn triples(points: &[Vec3]) -> Json {
    json!(points.iter().map(|point| point.to_array()).collect::<Vec<_>>())
}

fn numbers(values: &[f32]) -> Json {
    json!(values)
}

fn points(value: &Json) -> Vec<Vec3> {
    let row = |row: &Json| {
        let part = |index: usize| row[index].as_f64().unwrap() as f32;
        Vec3::new(part(0), part(1), part(2))
    };
    value.as_array().unwrap().iter().map(row).collect()
}

fn near(a: &[Vec3], b: &[Vec3], tolerance: f32) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.distance(*b) <= tolerance)
}

fn small_groom() -> Groom {
    let mut curves = Curves::default();
    for strand in 0..5_u8 {
        let root = Vec3::new(0.1 * f32::from(strand), 1.6, -0.05);
        curves.push(
            (0..3 + strand % 2).map(|vertex| root + Vec3::new(0.003, -0.0137, 0.001) * f32::from(vertex)),
        );
    }
    let (strands, vertices) = (curves.strands(), curves.points.len());
    let attribute = |name: &str, domain, values| Attribute { name: name.into(), domain, values };
    Groom {
        roots: vec![Root::Rigid; strands],
        widths: (0..vertices).map(|vertex| 1e-5 * (1 + vertex) as f32).collect(),
        root_uv: (0..strands).map(|index| Vec2::new(0.1 * index as f32, 0.77)).collect(),
        ids: vec![9, 8, 7, 6, 5],
        guides: vec![true, false, false, false, true],
        attributes: vec![
            attribute("groom_group_id", Domain::Strand, Values::Int(vec![0, 0, 0, 1, 1])),
            attribute(
                "groom_closest_guides",
                Domain::Strand,
                Values::Vec3(vec![Vec3::new(9.0, 5.0, 9.0); strands]),
            ),
            attribute(
                "groom_guide_weights",
                Domain::Strand,
                Values::Vec3(vec![Vec3::new(0.5, 0.25, 0.25); strands]),
            ),
            attribute(
                "displayColor",
                Domain::Vertex,
                Values::Vec3(vec![Vec3::new(0.25, 0.5, 0.75); vertices]),
            ),
        ],
        curves,
    }
}

#[test]
#[ignore = "needs alembic3d: cargo xtask test"]
fn the_alembic_library_reads_our_groom() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groom.abc");
    let groom = small_groom();
    alembic::write(&path, &groom, &WriteOptions::default()).unwrap();
    let dump = &run("alembic_dump.py", &[&path])[0];
    let top = object(dump, "/Hair");
    assert_eq!(top["user"]["groom_version_major"]["values"], 1);
    assert_eq!(top["user"]["groom_version_major"]["pod"], "kInt16POD");
    assert_eq!(top["user"]["groom_version_minor"]["values"], 5);
    for (path, strands) in [("/Hair/HairShape_0", 0..3), ("/Hair/HairShape_1", 3..5)] {
        let curves = object(dump, path);
        let vertices =
            groom.curves.offsets[strands.start] as usize..groom.curves.offsets[strands.end] as usize;
        assert_eq!(single(&curves["positions"]), json!([triples(&groom.curves.points[vertices.clone()])]));
        let counts: Vec<usize> = strands.clone().map(|strand| groom.curves.vertices_of(strand)).collect();
        assert_eq!(curves["counts"], json!(counts));
        assert_eq!((&curves["type"], &curves["wrap"]), (&json!("kLinear"), &json!("kNonPeriodic")));
        assert_eq!(single(&curves["widths"]), numbers(&groom.widths[vertices.clone()]));
        assert_eq!(curves["width_scope"], "kVertexScope");
        let check = |name: &str, pod: &str, extent: usize, scope: &str, values: Json| {
            let mut param = curves["params"][name].clone();
            param["values"] = single(&param["values"]);
            let interpretation = if extent > 1 { "vector" } else { "" };
            let wanted = json!({"pod": pod, "extent": extent, "scope": scope, "interpretation": interpretation,
                "param": "true", "values": values});
            assert_eq!(param, wanted, "{name}");
        };
        check("groom_id", "kInt32POD", 1, "uni", json!(groom.ids[strands.clone()]));
        let guides: Vec<i32> = groom.guides[strands.clone()].iter().map(|&guide| i32::from(guide)).collect();
        check("groom_guide", "kInt32POD", 1, "uni", json!(guides));
        let uv: Vec<[f32; 2]> = groom.root_uv[strands.clone()].iter().map(|uv| uv.to_array()).collect();
        check("groom_root_uv", "kFloat32POD", 2, "uni", json!(uv));
        check(
            "groom_group_id",
            "kInt32POD",
            1,
            "uni",
            json!(vec![i32::from(strands.start == 3); strands.len()]),
        );
        check("groom_closest_guides", "kInt32POD", 3, "uni", json!(vec![[9, 5, 9]; strands.len()]));
        check("groom_guide_weights", "kFloat32POD", 3, "uni", json!(vec![[0.5, 0.25, 0.25]; strands.len()]));
        check("groom_color", "kFloat32POD", 3, "vtx", json!(vec![[0.25, 0.5, 0.75]; vertices.len()]));
        check("groom_width", "kFloat32POD", 1, "vtx", numbers(&groom.widths[vertices]));
    }
}

/// A short cache of hair on a moving ball.
fn cache(folder: &Path) -> PathBuf {
    let options = run_common::options(folder, run_common::SMALL, "a.abc");
    run_common::run_until(&options, None).0.unwrap();
    folder.join("a.abc")
}

#[test]
#[ignore = "needs alembic3d: cargo xtask test"]
fn the_alembic_library_reads_our_cache() {
    let folder = tempfile::tempdir().unwrap();
    let path = cache(folder.path());
    let ours = Cache::open(&path).unwrap();
    let dump = &run("alembic_dump.py", &[&path])[0];
    let (hair, ball) = (object(dump, "/Hair/HairShape"), object(dump, "/ball"));
    assert_eq!(hair["positions"].as_array().unwrap().len(), ours.frames());
    assert_eq!(hair["velocities"].as_array().unwrap().len(), ours.frames());
    let mesh = object(dump, "/ball/ballShape");
    let local = points(&mesh["positions"][0]);
    for index in 0..ours.frames() {
        let frame = ours.frame(index).unwrap();
        assert!(points(&hair["positions"][index]) == frame.groom.curves.points, "frame {index}");
        let time = hair["times"][index].as_f64().unwrap();
        assert!((time - index as f64 / ours.fps()).abs() < 1e-9);
        assert_eq!(ball["times"][index], hair["times"][index]);
        let matrix = &ball["matrices"][index];
        let row = |row: usize| points(&json!([matrix[row]]))[0];
        let moved: Vec<Vec3> = local
            .iter()
            .map(|point| row(0) * point.x + row(1) * point.y + row(2) * point.z + row(3))
            .collect();
        assert!(near(&moved, &frame.bodies[0].mesh.points, 1e-6));
    }
    let frame = ours.frame(0).unwrap();
    let flat: Vec<u32> = frame.bodies[0].mesh.triangles.iter().flat_map(|&[a, b, c]| [a, c, b]).collect();
    assert_eq!(mesh["indices"], json!(flat));
    assert_eq!(mesh["counts"], json!(vec![3; frame.bodies[0].mesh.triangles.len()]));
}

/// Each point of a finely sampled curve is within a thousandth of its length of the polyline, and the ends are the same.
fn follows(polyline: &[Vec3], curve: &[Vec3]) {
    let length: f32 = curve.windows(2).map(|edge| edge[0].distance(edge[1])).sum();
    let beside = |p: Vec3| {
        let edges = polyline.windows(2).map(|edge| {
            let along = edge[1] - edge[0];
            let s = (p - edge[0]).dot(along) / along.length_squared().max(1e-20);
            p.distance(edge[0] + along * s.clamp(0.0, 1.0))
        });
        edges.fold(f32::INFINITY, f32::min)
    };
    let worst = curve.iter().map(|&p| beside(p)).fold(0.0, f32::max);
    assert!(worst < 1e-3 * length, "{worst} of {length}: {polyline:?}");
    let ends = |points: &[Vec3]| [points[0], points[points.len() - 1]];
    assert!(near(&ends(polyline), &ends(curve), 1e-5), "{polyline:?}");
}

#[test]
#[ignore = "needs alembic3d: cargo xtask test"]
fn archives_of_the_alembic_library_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let expected = &run("alembic_make.py", &[folder.path()])[0];
    for name in ["hair", "cubic"] {
        let (archive, expected) =
            (Archive::open(folder.path().join(format!("{name}.abc"))).unwrap(), &expected[name]);
        let times = archive.curve_times().unwrap();
        assert_eq!(json!(times), expected["times"], "{name}");
        let times = if times.is_empty() { vec![0.0] } else { times };
        for (index, &time) in times.iter().enumerate() {
            let groom = archive.groom(time).unwrap();
            if name == "cubic" {
                let wanted = expected["points"][index].as_array().unwrap();
                assert_eq!(groom.strands(), wanted.len());
                for (strand, wanted) in groom.curves.iter().zip(wanted) {
                    follows(strand, &points(wanted));
                }
                continue;
            }
            let wanted = points(&expected["points"][index]);
            assert!(
                near(&groom.curves.points, &wanted, 1e-5),
                "{name}: {:?} and {wanted:?}",
                groom.curves.points
            );
            let counts: Vec<usize> = groom.curves.iter().map(<[Vec3]>::len).collect();
            assert_eq!(json!(counts), expected["counts"]);
        }
    }
    let archive = Archive::open(folder.path().join("hair.abc")).unwrap();
    assert!((archive.per_second() - 24.0).abs() < 1e-9);
    let groom = archive.groom(0.0).unwrap();
    assert_eq!(groom.ids, [7, 8]);
    assert_eq!(groom.root_uv, [Vec2::new(0.25, 0.5), Vec2::new(0.75, 1.0)]);
    // Twice as large as in the file, for so is everything.
    assert!(groom.widths.iter().zip([0.2, 0.2, 0.4, 0.4, 0.4]).all(|(a, b)| (a - b).abs() < 1e-6));
    let values = |name: &str| {
        let found = groom.attributes.iter().find(|attribute| attribute.name == name);
        found.map(|attribute| (attribute.domain, attribute.values.clone()))
    };
    let guides = vec![Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0)];
    assert_eq!(values("groom_closest_guides"), Some((Domain::Strand, Values::Vec3(guides))));
    assert_eq!(values("groom_group_id"), Some((Domain::Strand, Values::Int(vec![5, 5]))));
    let shade = Values::Float(vec![0.5, 0.25, 0.25, 0.5, 0.25]);
    assert_eq!(values("shade"), Some((Domain::Vertex, shade)));
    let cache = Cache::open(folder.path().join("hair.abc")).unwrap();
    cache.frame(0).unwrap();
    let left_out = cache.unfollowed().unwrap();
    assert_eq!(left_out, "parameter names is left out: it has no numbers, pairs or triples");
    // Halfway between two samples points and transforms are halfway, too.
    let halfway = archive.groom(0.5 / 24.0).unwrap().curves.points;
    let (before, after) = (points(&expected["hair"]["points"][0]), points(&expected["hair"]["points"][1]));
    let mean: Vec<Vec3> = before.iter().zip(&after).map(|(a, b)| a.midpoint(*b)).collect();
    assert!(near(&halfway, &mean, 1e-5));
    let body = Folder::new(folder.path()).animated_mesh("body.abc").unwrap();
    assert_eq!(body.mesh.triangles.len(), 3);
    assert!(body.mesh.triangles.iter().all(|&[a, b, c]| {
        let [a, b, c] = [a, b, c].map(|corner| body.mesh.points[corner as usize]);
        (b - a).cross(c - a).z > 0.0
    }));
    for (index, moved) in body.points.iter().enumerate() {
        assert_eq!(*moved, points(&expected["body"]["points"][index]));
        assert!((body.times[index] - index as f64 / 24.0).abs() < 1e-9);
    }
}

/// The corners of a box in Blender's space, z up, in ours.
fn upright(corners: &Json) -> [Vec3; 2] {
    let turned: Vec<Vec3> =
        points(corners).iter().map(|point| Vec3::new(point.x, point.z, -point.y)).collect();
    [turned[0].min(turned[1]), turned[0].max(turned[1])]
}

#[test]
#[ignore = "needs bpy: cargo xtask test"]
fn blender_imports_our_cache() {
    let folder = tempfile::tempdir().unwrap();
    let path = cache(folder.path());
    let ours = Cache::open(&path).unwrap();
    ours.frame(0).unwrap();
    assert_eq!(ours.unfollowed(), None);
    let seen = &run("blender.py", &[&path])[0]["frames"];
    assert_eq!(seen.as_object().unwrap().len(), ours.frames());
    for index in 0..ours.frames() {
        let (frame, seen) = (ours.frame(index).unwrap(), &seen[index.to_string()]);
        let (hair, ball) = (&seen["Hair"], &seen["ball"]);
        assert_eq!(hair["curves"], frame.groom.strands(), "{seen}");
        assert_eq!(hair["points"], frame.groom.vertices());
        let (low, high) = frame.groom.curves.bounds().unwrap();
        assert!(near(&upright(&hair["bounds"]), &[low, high], 1e-5), "frame {index}: {hair}");
        let body = &frame.bodies[0].mesh;
        assert_eq!(ball["points"], body.points.len());
        assert_eq!(ball["faces"], body.triangles.len());
        assert_eq!(ball["outward"], ball["faces"]);
        let around =
            body.points.iter().fold([body.points[0]; 2], |[low, high], &p| [low.min(p), high.max(p)]);
        assert!(near(&upright(&ball["bounds"]), &around, 1e-5), "frame {index}: {ball}");
    }
}

/// Guides, identifiers, coordinates and normals in a USD layer: strands and guides as two objects, in the right place and size.
#[test]
#[ignore = "needs bpy: cargo xtask test"]
fn blender_imports_our_usd_grooms() {
    let folder = tempfile::tempdir().unwrap();
    let mut groom = small_groom();
    let strands = groom.strands();
    groom.ids = (0..strands as u32).map(|strand| 7 * strand + 3).collect();
    groom.root_uv = (0..strands).map(|strand| Vec2::new(0.1 * strand as f32, 0.5)).collect();
    groom.guides = (0..strands).map(|strand| strand % 2 == 0).collect();
    let normals = Values::Vec3(vec![Vec3::Y; strands]);
    groom.attributes.push(Attribute { name: ROOT_NORMAL.into(), domain: Domain::Strand, values: normals });
    for (name, space) in [("a.usdc", Space::SCENE), ("b.usda", Space { unit: 0.01, up: Axis::Z })] {
        let path = folder.path().join(name);
        let file = FileGroom { groom: groom.clone(), space: Space::SCENE }.in_space(space);
        grooms::write(&path, &file, &Said::default()).unwrap();
        let seen = &run("blender.py", &[&path])[0]["frames"];
        let seen = seen.as_object().unwrap().values().next().unwrap();
        let (hair, guides) = (&seen["Hair"], &seen["Guides"]);
        assert_eq!((&hair["curves"], &hair["points"]), (&json!(strands), &json!(groom.vertices())), "{seen}");
        let (low, high) = groom.curves.bounds().unwrap();
        assert!(near(&upright(&hair["bounds"]), &[low, high], 1e-5), "{name}: {hair}");
        let marked: Vec<usize> = (0..strands).filter(|&strand| groom.guides[strand]).collect();
        let alone = groom.subset(&marked).unwrap();
        assert_eq!((&guides["curves"], &guides["points"]), (&json!(marked.len()), &json!(alone.vertices())));
        let (low, high) = alone.curves.bounds().unwrap();
        assert!(near(&upright(&guides["bounds"]), &[low, high], 1e-5), "{name}: {guides}");
        for attribute in ["id", "rootNormal"] {
            let names = hair["attributes"].as_array().unwrap();
            assert!(names.iter().any(|name| name == attribute), "no {attribute} in {names:?}");
        }
    }
}
