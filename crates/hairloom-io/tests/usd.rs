//! Layers that are written, read back, broken off and resumed.

mod usd_common;

use std::path::Path;

use hairloom_io::usd::{Keep, Layer, Specifier, UsdError, Value, Writer};
use usd_common::{declare_hair, every_kind, positions, write_frame, write_hair, write_kinds};

const EXTENSIONS: [&str; 2] = ["usda", "usdc"];

fn in_both_formats(test: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    for extension in EXTENSIONS {
        test(&folder.path().join(format!("layer.{extension}")));
    }
}

/// Everything in a layer, as text: equal dumps mean equal content.
fn dump(path: &Path) -> String {
    let layer = Layer::open(path).unwrap();
    let mut text = String::new();
    for name in
        ["upAxis", "metersPerUnit", "defaultPrim", "timeCodesPerSecond", "startTimeCode", "customLayerData"]
    {
        text += &format!("{name} {:?}\n", layer.metadata(name).unwrap());
    }
    for prim in layer.prims().unwrap() {
        text += &format!("{} {} {:?}", prim.path(), prim.type_name().unwrap(), prim.specifier().unwrap());
        for name in ["kind", "apiSchemas", "documentation"] {
            text += &format!(" {:?}", prim.metadata(name).unwrap());
        }
        for attribute in prim.attributes().unwrap() {
            text += &format!("\n  {} {} ", attribute.name(), attribute.type_name().unwrap());
            for name in ["interpolation", "elementSize", "custom", "variability"] {
                text += &format!(" {:?}", attribute.metadata(name).unwrap());
            }
            text += &format!(" = {:?}", attribute.default().unwrap());
            for (index, time) in attribute.times().unwrap().iter().enumerate() {
                text += &format!("\n    {time}: {:?}", attribute.sample(index).unwrap());
            }
        }
        for relationship in prim.relationships().unwrap() {
            text += &format!("\n  {} -> {:?}", relationship.name(), relationship.targets().unwrap());
        }
        text.push('\n');
    }
    text
}

#[test]
fn a_value_of_every_kind_comes_back() {
    in_both_formats(|path| {
        write_kinds(path).unwrap();
        let layer = Layer::open(path).unwrap();
        assert_eq!(layer.metadata("metersPerUnit").unwrap(), Some(Value::Double(0.01)));
        let prim = layer.prim("/A/B").unwrap();
        assert_eq!(prim.specifier().unwrap(), Specifier::Def);
        for (index, (type_name, value)) in every_kind().into_iter().enumerate() {
            let attribute = prim.attribute(&format!("user:a{index}")).unwrap();
            assert_eq!(&*attribute.type_name().unwrap(), type_name);
            assert_eq!(attribute.default().unwrap().as_ref(), Some(&value), "{type_name}");
            assert_eq!(attribute.times().unwrap(), [-1.5, 2.0, 1e6]);
            assert_eq!(attribute.sample(0).unwrap(), value, "{type_name}");
            assert_eq!(attribute.sample(1).unwrap(), Value::Block);
            assert_eq!(attribute.held_at(1e7).unwrap(), Some(value), "{type_name}");
        }
        let targets = prim.relationship("user:targets").unwrap().targets().unwrap();
        assert_eq!(targets.iter().map(|path| path.as_str()).collect::<Vec<_>>(), ["/A", "/A/B.user:a0"]);
    });
}

#[test]
fn both_formats_hold_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for write in [write_kinds, |path: &Path| write_hair(path, 3)] {
        let [text, binary] = EXTENSIONS.map(|extension| folder.path().join(format!("same.{extension}")));
        write(&text).unwrap();
        write(&binary).unwrap();
        assert_eq!(dump(&text), dump(&binary));
    }
}

#[test]
fn a_resumed_file_holds_the_same_as_an_unbroken_one() {
    in_both_formats(|path| {
        write_hair(path, 6).unwrap();
        let unbroken = dump(path);
        for keep in [Keep::Samples(3), Keep::Until(2.2)] {
            let mut writer = Writer::create(path).unwrap();
            let hair = declare_hair(&mut writer, 20, 8).unwrap();
            for frame in 0..4 {
                write_frame(&mut writer, &hair, frame, 160).unwrap();
                writer.flush().unwrap();
            }
            // A frame that is begun and never flushed, as when the process dies.
            writer.write_sample(hair.points, 100.0, &Value::Vec3fArray(positions(9, 160))).unwrap();
            std::mem::forget(writer);
            let layer = Layer::open(path).unwrap();
            assert_eq!(layer.attribute("/World/Hair.points").unwrap().times().unwrap(), [1.0, 1.5, 2.0, 2.5]);

            let mut writer = Writer::resume(path, keep).unwrap();
            let find = |name: &str| writer.attribute(format!("/World/{name}")).unwrap();
            let hair = usd_common::Hair {
                points: find("Hair.points"),
                velocities: find("Hair.velocities"),
                transform: find("Body.xformOp:transform"),
            };
            assert_eq!(writer.times(hair.points), [1.0, 1.5, 2.0]);
            for frame in 3..6 {
                write_frame(&mut writer, &hair, frame, 160).unwrap();
            }
            writer.finish().unwrap();
            assert_eq!(dump(path), unbroken);
        }
    });
}

#[test]
fn a_binary_file_cut_off_after_a_flush_is_readable_at_every_length() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.usdc");
    let mut writer = Writer::create(&path).unwrap();
    let hair = declare_hair(&mut writer, 4, 3).unwrap();
    write_frame(&mut writer, &hair, 0, 12).unwrap();
    writer.flush().unwrap();
    let flushed = std::fs::read(&path).unwrap();
    write_frame(&mut writer, &hair, 1, 12).unwrap();
    writer.flush().unwrap();
    let mut later = std::fs::read(&path).unwrap();
    assert_eq!(later[24..flushed.len()], flushed[24..], "what was published must not change");
    // The header as it was until the very last write of the second flush.
    later[16..24].copy_from_slice(&flushed[16..24]);
    for length in (flushed.len()..later.len()).step_by(23).chain([later.len()]) {
        std::fs::write(&path, &later[..length]).unwrap();
        let layer = Layer::open(&path).unwrap();
        let points = layer.attribute("/World/Hair.points").unwrap();
        assert_eq!(points.sample(0).unwrap(), Value::Vec3fArray(positions(0, 12)));
        assert_eq!(points.times().unwrap(), [1.0]);
    }
}

#[test]
fn text_leaves_nothing_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    write_hair(&folder.path().join("a.usda"), 2).unwrap();
    let mut writer = Writer::create(folder.path().join("b.usda")).unwrap();
    let hair = declare_hair(&mut writer, 2, 2).unwrap();
    write_frame(&mut writer, &hair, 0, 4).unwrap();
    drop(writer);
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.usda"]);
}

#[test]
fn misuse_is_told() {
    in_both_formats(|path| {
        let mut writer = Writer::create(path).unwrap();
        let prim = writer.define("/A", "Mesh").unwrap();
        let points = writer.declare(prim, "points", "point3f[]").unwrap();
        let message = |result: Result<(), UsdError>| result.unwrap_err().to_string();
        let wrong_type = message(writer.write_sample(points, 1.0, &Value::Float(1.0)));
        assert!(
            wrong_type.contains("/A.points has the type point3f[], but the value has float"),
            "{wrong_type}"
        );
        writer.write_sample(points, 1.0, &Value::Vec3fArray(vec![])).unwrap();
        let order = message(writer.write_sample(points, 1.0, &Value::Vec3fArray(vec![])));
        assert!(order.contains("order of time"), "{order}");
        assert!(writer.write_sample(points, f64::NAN, &Value::Vec3fArray(vec![])).is_err());
        assert!(writer.define("/A/1x", "Mesh").is_err());
        assert!(writer.define("A", "Mesh").is_err());
        assert!(writer.declare(prim, "points", "point3f[]").is_err());
        assert!(writer.declare(prim, "a b", "float").is_err());
        assert!(writer.declare(prim, "x", "float5").is_err());
        assert!(writer.relate(prim, "r", &["A".into()]).is_err());
        let uniform = writer.declare_uniform(prim, "u", "int", &Value::Int(1)).unwrap();
        assert!(writer.write_sample(uniform, 1.0, &Value::Int(1)).is_err());
    });
    assert!(Writer::create("x.abc").is_err());
}
