//! Our layers before Pixar's library, and its layers before our reader. Needs Python with `usd-core`, which
//! HAIRLOOM_PYTHON names.

mod python_common;
mod usd_common;

use std::path::{Path, PathBuf};
use std::process::Command;

use glam::{Vec2, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};
use hairloom::simulate::Library;
use hairloom_io::cache::Cache;
use hairloom_io::grooms::{self, FileGroom, Said};
use hairloom_io::usd::{Half, Layer, Prim, Quat, Specifier, Value};
use hairloom_io::{Axis, Folder, Space};
use python_common::python;
use serde_json::{Value as Json, json};

fn run(python: &Path, script: &str, arguments: &[&str], version: Option<&str>) -> (bool, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script);
    let mut command = Command::new(python);
    command.arg(script).args(arguments);
    if let Some(version) = version {
        command.env("USD_WRITE_NEW_USDC_FILES_AS_VERSION", version);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        println!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    (output.status.success(), text)
}

fn half(value: &Half) -> f64 {
    f64::from(value.to_f32())
}

fn quat<C: Copy>(quat: &Quat<C>, number: impl Fn(&C) -> f64) -> Json {
    json!(quat.0.iter().map(number).collect::<Vec<_>>())
}

fn rows<C, const N: usize>(items: &[[C; N]], number: impl Fn(&C) -> f64) -> Json {
    json!(items.iter().map(|row| row.iter().map(&number).collect::<Vec<_>>()).collect::<Vec<_>>())
}

fn single(value: &f32) -> f64 {
    f64::from(*value)
}

/// A value as `usd_check.plain` writes it.
fn to_json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => json!(value),
        Value::BoolArray(values) => json!(values),
        Value::UChar(value) => json!(value),
        Value::UCharArray(values) => json!(values),
        Value::Int(value) => json!(value),
        Value::IntArray(values) => json!(values),
        Value::UInt(value) => json!(value),
        Value::UIntArray(values) => json!(values),
        Value::Int64(value) => json!(value),
        Value::Int64Array(values) => json!(values),
        Value::UInt64(value) => json!(value),
        Value::UInt64Array(values) => json!(values),
        Value::Half(value) => json!(half(value)),
        Value::HalfArray(values) => json!(values.iter().map(half).collect::<Vec<_>>()),
        Value::Float(value) => json!(single(value)),
        Value::FloatArray(values) => json!(values.iter().map(single).collect::<Vec<_>>()),
        Value::Double(value) | Value::TimeCode(value) => json!(value),
        Value::DoubleArray(values) | Value::TimeCodeArray(values) => json!(values),
        Value::String(text) | Value::Token(text) | Value::Asset(text) => json!(&**text),
        Value::StringArray(texts) | Value::TokenArray(texts) | Value::AssetArray(texts) => {
            json!(texts.iter().map(|text| &**text).collect::<Vec<_>>())
        }
        Value::Matrix2d(value) => json!(value),
        Value::Matrix2dArray(values) => json!(values),
        Value::Matrix3d(value) => json!(value),
        Value::Matrix3dArray(values) => json!(values),
        Value::Matrix4d(value) => json!(value),
        Value::Matrix4dArray(values) => json!(values),
        Value::Quatd(value) => quat(value, |part| *part),
        Value::QuatdArray(values) => values.iter().map(|value| quat(value, |part| *part)).collect(),
        Value::Quatf(value) => quat(value, single),
        Value::QuatfArray(values) => values.iter().map(|value| quat(value, single)).collect(),
        Value::Quath(value) => quat(value, half),
        Value::QuathArray(values) => values.iter().map(|value| quat(value, half)).collect(),
        Value::Vec2i(value) => json!(value),
        Value::Vec3i(value) => json!(value),
        Value::Vec4i(value) => json!(value),
        Value::Vec2iArray(values) => json!(values),
        Value::Vec3iArray(values) => json!(values),
        Value::Vec4iArray(values) => json!(values),
        Value::Vec2d(value) => json!(value),
        Value::Vec3d(value) => json!(value),
        Value::Vec4d(value) => json!(value),
        Value::Vec2dArray(values) => json!(values),
        Value::Vec3dArray(values) => json!(values),
        Value::Vec4dArray(values) => json!(values),
        Value::Vec2f(value) => json!(value.map(f64::from)),
        Value::Vec3f(value) => json!(value.map(f64::from)),
        Value::Vec4f(value) => json!(value.map(f64::from)),
        Value::Vec2fArray(values) => rows(values, single),
        Value::Vec3fArray(values) => rows(values, single),
        Value::Vec4fArray(values) => rows(values, single),
        Value::Vec2h(value) => json!(value.map(|part| half(&part))),
        Value::Vec3h(value) => json!(value.map(|part| half(&part))),
        Value::Vec4h(value) => json!(value.map(|part| half(&part))),
        Value::Vec2hArray(values) => rows(values, half),
        Value::Vec3hArray(values) => rows(values, half),
        Value::Vec4hArray(values) => rows(values, half),
        Value::Block => Json::Null,
        other => panic!("no attribute holds {other:?}"),
    }
}

/// Equal but for 1 against 1.0, and for the last bit of a 64-bit number, which the JSON parser may miss.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Number(a), Json::Number(b)) if a.is_f64() || b.is_f64() => {
            let [a, b] = [a, b].map(|number| number.as_f64().unwrap());
            (a - b).abs() <= a.abs() * f64::EPSILON
        }
        _ => a == b,
    }
}

fn compare_prim(prim: Prim<'_>, expected: &Json) {
    assert_eq!(&*prim.type_name().unwrap(), expected["type"]);
    let specifier = match prim.specifier().unwrap() {
        Specifier::Def => "Def",
        Specifier::Over => "Over",
        Specifier::Class => "Class",
    };
    assert_eq!(specifier, expected["specifier"]);
    let children: Vec<&str> = prim.children().unwrap().iter().map(Prim::name).collect();
    assert_eq!(json!(children), expected["children"], "children of {}", prim.path());
    let attributes = prim.attributes().unwrap();
    assert_eq!(attributes.len(), expected["attributes"].as_object().unwrap().len());
    for attribute in attributes {
        let expected = &expected["attributes"][attribute.name()];
        let name = attribute.path();
        assert_eq!(&*attribute.type_name().unwrap(), expected["type"], "{name}");
        let default = attribute.default().unwrap().map_or(Json::Null, |value| to_json(&value));
        assert!(same(&default, &expected["default"]), "{name}: {default} is not {}", expected["default"]);
        assert!(same(&json!(attribute.times().unwrap()), &expected["times"]), "{name}");
        for index in 0..attribute.times().unwrap().len() {
            let value = to_json(&attribute.sample(index).unwrap());
            let expected = &expected["values"][index];
            assert!(same(&value, expected), "{name}, sample {index}: {value} is not {expected}");
        }
    }
    let relationships = prim.relationships().unwrap();
    assert_eq!(relationships.len(), expected["relationships"].as_object().unwrap().len());
    for relationship in relationships {
        let targets: Vec<String> = relationship.targets().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(json!(targets), expected["relationships"][relationship.name()]);
    }
}

/// Reads files here and with Pixar's library: returns how many attributes were compared in each.
fn compare(python: &Path, paths: &[PathBuf]) -> Vec<usize> {
    let names: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let (opened, text) = run(python, "usd_dump.py", &names, None);
    assert!(opened, "Pixar's library cannot read one of {names:?}");
    assert_eq!(text.lines().count(), paths.len());
    paths.iter().zip(text.lines()).map(|(path, line)| compare_layer(path, line)).collect()
}

fn compare_layer(path: &Path, line: &str) -> usize {
    println!("{}", path.display());
    let expected: Json = serde_json::from_str(line).unwrap();
    let layer = Layer::open(path).unwrap();
    assert_eq!(layer.metadata("upAxis").unwrap().unwrap().as_str().unwrap(), expected["upAxis"]);
    let prims = expected["prims"].as_array().unwrap();
    assert_eq!(layer.prims().unwrap().len(), prims.len());
    let mut count = 0;
    for expected in prims {
        let prim = layer.prim(expected["path"].as_str().unwrap()).unwrap();
        compare_prim(prim, expected);
        count += expected["attributes"].as_object().unwrap().len();
    }
    count
}

#[test]
#[ignore = "needs usd-core: cargo xtask test"]
fn layers_of_pixars_library_are_read_with_the_same_values() {
    let python = python();
    let folder = tempfile::tempdir().unwrap();
    let files =
        [("usdc", "0.4.0"), ("usdc", "0.6.0"), ("usdc", "0.7.0"), ("usdc", "0.10.0"), ("usda", "0.9.0")];
    let make = |(extension, version): (&str, &str)| {
        let path = folder.path().join(format!("{version}.{extension}"));
        assert!(run(&python, "usd_make.py", &[path.to_str().unwrap()], Some(version)).0);
        path
    };
    let paths = files.map(make);
    for (compared, path) in compare(&python, &paths).into_iter().zip(&paths) {
        assert!(compared > 100, "{compared} attributes compared in {}", path.display());
        let layer = Layer::open(path).unwrap();
        let Some(Value::Dictionary(data)) = layer.metadata("customLayerData").unwrap() else {
            panic!("no data")
        };
        assert_eq!(data.iter().find(|(key, _)| &**key == "count").unwrap().1, Value::Int(3));
        let model = layer.prim("/World/Model").unwrap();
        let note = model.metadata("documentation").unwrap().unwrap();
        assert_eq!(note.as_str(), Some("a \"model\"\nof two lines"));
        let Some(Value::TokenListOp(schemas)) = model.metadata("apiSchemas").unwrap() else {
            panic!("no schemas")
        };
        assert_eq!(schemas.prepended, ["GeomModelAPI".into()]);
    }
}

#[test]
#[ignore = "needs usd-core: cargo xtask test"]
fn pixars_library_reads_what_is_written_and_finds_no_fault() {
    let python = python();
    let folder = tempfile::tempdir().unwrap();
    for extension in ["usda", "usdc"] {
        let path = folder.path().join(format!("hair.{extension}"));
        usd_common::write_hair(&path, 5).unwrap();
        assert!(run(&python, "usd_check.py", &[path.to_str().unwrap(), "--strict"], None).0);
        assert_eq!(compare(&python, &[path]), [11]);
        let path = folder.path().join(format!("kinds.{extension}"));
        usd_common::write_kinds(&path).unwrap();
        assert_eq!(compare(&python, &[path]), [usd_common::every_kind().len()]);
    }
}

#[test]
#[ignore = "needs usd-core: cargo xtask test"]
fn pixars_library_reads_a_binary_file_that_was_resumed_and_never_finished() {
    let python = python();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hair.usdc");
    usd_common::write_hair(&path, 5).unwrap();
    let mut writer = hairloom_io::usd::Writer::resume(&path, hairloom_io::usd::Keep::Samples(2)).unwrap();
    let points = writer.attribute("/World/Hair.points").unwrap();
    for frame in 2..4 {
        let value = Value::Vec3fArray(usd_common::positions(frame, 160));
        writer.write_sample(points, 1.0 + frame as f64, &value).unwrap();
        writer.flush().unwrap();
    }
    std::mem::forget(writer);
    compare(&python, std::slice::from_ref(&path));
    let layer = Layer::open(&path).unwrap();
    assert_eq!(layer.attribute("/World/Hair.points").unwrap().times().unwrap(), [1.0, 1.5, 3.0, 4.0]);
}

/// Cubic curves that Pixar's library wrote, as a layer and as a package: polylines on the curves, within the tolerance.
#[test]
#[ignore = "needs usd-core: cargo xtask test"]
fn cubic_curves_and_packages_of_pixars_library_are_read() {
    let python = python();
    let folder = tempfile::tempdir().unwrap();
    let (made, text) = run(&python, "usd_curves.py", &[folder.path().to_str().unwrap()], None);
    assert!(made);
    let strands: Vec<Json> = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    for name in ["curves.usdc", "curves.usdz"] {
        let groom = Folder::new(folder.path()).groom(name).unwrap();
        assert_eq!(groom.strands(), strands.len(), "{name}");
        for (strand, expected) in strands.iter().enumerate() {
            let number = |value: &Json| value.as_f64().unwrap() as f32;
            let points = expected["points"].as_array().unwrap().iter();
            let curve: Vec<Vec3> =
                points.map(|p| Vec3::new(number(&p[0]), number(&p[1]), number(&p[2]))).collect();
            let length: f32 = curve.windows(2).map(|edge| edge[0].distance(edge[1])).sum();
            let range = groom.curves.range(strand);
            let polyline = &groom.curves.points[range.clone()];
            let far = |point: &Vec3| {
                let edges = polyline.windows(2).map(|edge| {
                    let along = (point - edge[0]).dot(edge[1] - edge[0]) / edge[0].distance_squared(edge[1]);
                    point.distance(edge[0].lerp(edge[1], along.clamp(0.0, 1.0)))
                });
                edges.fold(f32::INFINITY, f32::min)
            };
            let worst = curve.iter().map(far).fold(0.0, f32::max);
            assert!(worst <= 1.05e-3 * length, "{expected:?}: {worst} of {length}");
            assert!(
                polyline[0].distance(curve[0]) < 1e-6
                    && polyline[polyline.len() - 1].distance(curve[curve.len() - 1]) < 1e-6
            );
            let widths = &groom.widths[range];
            assert!(
                (widths[0] - 0.01).abs() < 1e-6
                    && (widths[widths.len() - 1] - number(&expected["tip"])).abs() < 1e-6
            );
            assert_eq!(groom.guides[strand], expected["guide"].as_bool().unwrap());
        }
    }
}

/// A groom with guides, identifiers, coordinates and normals before Pixar's library.
#[test]
#[ignore = "needs usd-core: cargo xtask test"]
fn pixars_library_finds_no_fault_with_a_groom() {
    let python = python();
    let folder = tempfile::tempdir().unwrap();
    let mut curves = Curves::default();
    for strand in 0..3_u8 {
        curves.push((0..4_u8).map(|vertex| Vec3::new(f32::from(strand), f32::from(vertex), 0.5)));
    }
    let normals = Values::Vec3(vec![Vec3::Y; 3]);
    let groom = Groom {
        roots: vec![Root::Rigid; 3],
        widths: vec![0.001; 12],
        ids: vec![5, 6, 7],
        root_uv: vec![Vec2::new(0.5, 0.25); 3],
        guides: vec![true, false, true],
        attributes: vec![Attribute { name: "rootNormal".into(), domain: Domain::Strand, values: normals }],
        curves,
    };
    let file = FileGroom { groom, space: Space { unit: 0.01, up: Axis::Z } };
    for extension in ["usda", "usdc"] {
        let path = folder.path().join(format!("groom.{extension}"));
        grooms::write(&path, &file, &Said::default()).unwrap();
        let (good, text) =
            run(&python, "usd_check.py", &[path.to_str().unwrap(), "--strict", "--values"], None);
        assert!(good, "{text}");
        for part in ["/World/Guides", "\"guide\"", "normal3f[]", "texCoord2f[]"] {
            assert!(text.contains(part), "no {part} in {text}");
        }
        compare(&python, std::slice::from_ref(&path));
        assert_eq!(grooms::read(&path, &Said::default()).unwrap(), file);
    }
}

/// Stages of sublayers, references, payloads and variants, as layers and in packages: the same points at the same times.
#[test]
#[ignore = "needs usd-core: cargo xtask test"]
fn stages_of_many_layers_are_put_together_like_pixars_library_does() {
    let python = python();
    let folder = tempfile::tempdir().unwrap();
    let (made, text) = run(&python, "usd_compose.py", &[folder.path().to_str().unwrap()], None);
    assert!(made);
    let stages: Vec<Json> = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(stages.len(), 6);
    for stage in stages {
        let path = PathBuf::from(stage["path"].as_str().unwrap());
        let cache = Cache::open(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(cache.unfollowed(), None);
        let numbers = |value: &Json| -> Vec<f64> {
            value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
        };
        let times: Vec<f64> = cache.times().iter().map(|time| time * cache.fps()).collect();
        let expected = numbers(&stage["times"]);
        assert!(expected.len() > 4 && times.len() == expected.len(), "{times:?} {expected:?}");
        assert!(times.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{times:?} {expected:?}");
        for row in stage["rows"].as_array().unwrap() {
            let frame = cache.at_time_code(row["time"].as_f64().unwrap()).unwrap();
            let meshes: Vec<Vec3> = frame.bodies.iter().flat_map(|body| body.mesh.points.clone()).collect();
            assert_eq!(frame.bodies.len() as u64, row["meshes"]["prims"].as_u64().unwrap());
            for (kind, points) in [("curves", &frame.groom.curves.points), ("meshes", &meshes)] {
                let expected = &row[kind];
                assert_eq!(points.len() as u64, expected["points"].as_u64().unwrap(), "{}", path.display());
                let low = points.iter().copied().reduce(Vec3::min).unwrap();
                let high = points.iter().copied().reduce(Vec3::max).unwrap();
                let sum: Vec3 = points.iter().sum();
                for (ours, theirs) in [(low, "low"), (high, "high"), (sum, "sum")] {
                    let theirs = numbers(&expected[theirs]);
                    for (ours, theirs) in ours.to_array().into_iter().zip(&theirs) {
                        let error = (f64::from(ours) - theirs).abs();
                        assert!(
                            error < 1e-5 * (1.0 + theirs.abs()),
                            "{}: {kind}: {ours} {theirs}",
                            path.display()
                        );
                    }
                }
            }
        }
    }
}
