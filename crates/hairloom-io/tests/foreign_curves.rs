//! Curves as other programs write them: several prims that do not have the same, values of every type, closed and curly ones.

mod counting;

use std::path::Path;

use glam::{Vec2, Vec3};
use hairloom::groom::{Attribute, Domain, Groom, Values};
use hairloom_io::cache::{Cache, convert_frames};
use hairloom_io::grooms::{self, Said};
use hairloom_io::usd::{Value, Writer};

fn layer(prims: &str) -> String {
    format!("#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n{prims}")
}

/// A prim of two linear strands of two points, with more lines.
fn strands(name: &str, lines: &str) -> String {
    format!(
        "def BasisCurves \"{name}\"\n{{\n    uniform token type = \"linear\"\n    int[] curveVertexCounts = [2, 2]\n    point3f[] \
         points = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]\n{lines}\n}}\n"
    )
}

fn primvar(type_name: &str, name: &str, value: &str, interpolation: &str) -> String {
    format!("    {type_name} {name} = {value} (\n        interpolation = \"{interpolation}\"\n    )\n")
}

fn open(folder: &Path, prims: &str) -> Cache {
    let path = folder.join("a.usda");
    std::fs::write(&path, layer(prims)).unwrap();
    Cache::open(path).unwrap()
}

fn read(prims: &str) -> Groom {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path(), prims).frame(0).unwrap().groom
}

fn values<'a>(groom: &'a Groom, name: &str) -> Option<&'a Values> {
    groom.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| &attribute.values)
}

/// Guides that lack what the strands have, and have the same identifiers: strands name guides by those.
#[test]
fn guides_keep_their_identifiers_beside_strands_with_the_same() {
    let hair = primvar("int[]", "primvars:id", "[0, 1]", "uniform")
        + &primvar("texCoord2f[]", "primvars:st", "[(0, 1), (1, 0)]", "uniform")
        + &primvar("float[]", "widths", "[0.5]", "constant")
        + &primvar("float3[]", "primvars:groom_closest_guides", "[(1, 0, 0), (0, 1, 1)]", "uniform");
    let guides =
        primvar("int[]", "primvars:id", "[1, 0]", "uniform") + "    uniform token purpose = \"guide\"";
    let groom = read(&(strands("Hair", &hair) + &strands("Guides", &guides)));
    assert_eq!(groom.ids, [0, 1, 1, 0]);
    assert_eq!(groom.guides, [false, false, true, true]);
    assert_eq!(groom.widths, [0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(groom.root_uv, [Vec2::Y, Vec2::X, Vec2::ZERO, Vec2::ZERO]);
    let closest = [Vec3::X, Vec3::new(0.0, 1.0, 1.0), Vec3::ZERO, Vec3::ZERO];
    assert_eq!(values(&groom, "groom_closest_guides"), Some(&Values::Vec3(closest.to_vec())));
    // In archives they are objects of their own.
    let folder = tempfile::tempdir().unwrap();
    let said = Said::default();
    let file = grooms::FileGroom { groom: groom.clone(), space: hairloom_io::Space::SCENE };
    for ending in ["abc", "usdc"] {
        let path = folder.path().join(format!("a.{ending}"));
        grooms::write(&path, &file, &said).unwrap();
        assert_eq!(grooms::read(&path, &said).unwrap().groom, groom, "{ending}");
        let bytes = std::fs::read(&path).unwrap();
        let named = bytes.windows(11).any(|window| window == b"GuidesShape");
        assert_eq!(named, ending == "abc");
    }
}

#[test]
fn widths_are_read_through_indices_and_in_every_precision() {
    let indexed = primvar("float[]", "primvars:widths", "[3, 4]", "uniform")
        + "    int[] primvars:widths:indices = [1, 0]";
    assert_eq!(read(&strands("Hair", &indexed)).widths, [4.0, 4.0, 3.0, 3.0]);
    let one = primvar("float[]", "primvars:widths", "[3, 4]", "vertex")
        + "    int[] primvars:widths:indices = [1, 0, 0, 1]";
    assert_eq!(read(&strands("Hair", &one)).widths, [4.0, 3.0, 3.0, 4.0]);
    for type_name in ["half[]", "double[]", "int[]"] {
        let widths = primvar(type_name, "primvars:widths", "[3, 4, 5, 6]", "vertex");
        assert_eq!(read(&strands("Hair", &widths)).widths, [3.0, 4.0, 5.0, 6.0], "{type_name}");
    }
}

#[test]
fn primvars_of_every_number_type_are_read_and_others_are_named() {
    let pair = |name: &str| Some(Values::Vec2(vec![Vec2::X, Vec2::Y])).filter(|_| !name.is_empty());
    let triples = Some(Values::Vec3(vec![Vec3::X, Vec3::Y]));
    let (whole, parts) = (Some(Values::Int(vec![1, 0])), Some(Values::Float(vec![1.0, 0.0])));
    let mut lines = String::new();
    let mut wanted = Vec::new();
    let mut add = |type_name: &str, value: &str, interpolation: &str, expected: Option<Values>| {
        let name = format!("p{}", wanted.len());
        lines.push_str(&primvar(type_name, &format!("primvars:{name}"), value, interpolation));
        wanted.push((name, type_name.to_owned(), expected));
    };
    for type_name in ["double[]", "half[]", "float[]"] {
        add(type_name, "[1, 0]", "uniform", parts.clone());
    }
    for type_name in ["int64[]", "uint[]", "uint64[]", "uchar[]", "bool[]"] {
        add(type_name, "[1, 0]", "uniform", whole.clone());
    }
    for type_name in ["texCoord2d[]", "float2[]", "half2[]", "int2[]"] {
        add(type_name, "[(1, 0), (0, 1)]", "uniform", pair(type_name));
    }
    for type_name in ["color3h[]", "vector3d[]", "int3[]"] {
        add(type_name, "[(1, 0, 0), (0, 1, 0)]", "uniform", triples.clone());
    }
    add("float", "1.5", "constant", Some(Values::Float(vec![1.5; 2])));
    add("float[]", "[1, 2, 3, 4]", "faceVarying", Some(Values::Float(vec![1.0, 2.0, 3.0, 4.0])));
    add("string[]", "[\"a\", \"b\"]", "uniform", None);
    add("color4f[]", "[(1, 0, 0, 1), (1, 0, 0, 1)]", "uniform", None);
    add("float[]", "[1, 2, 3]", "constant", None);
    lines.push_str("    normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 1, 0), (0, 1, 0)]\n");
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path(), &strands("Hair", &lines));
    let groom = cache.frame(0).unwrap().groom;
    let unread = cache.unfollowed().unwrap();
    for (name, type_name, expected) in &wanted {
        assert_eq!(values(&groom, name), expected.as_ref(), "{type_name}");
        assert_eq!(unread.contains(&format!("primvar {name} ")), expected.is_none(), "{type_name}: {unread}");
    }
    let normals = Attribute {
        name: "normals".into(),
        domain: Domain::Vertex,
        values: Values::Vec3(vec![Vec3::Z, Vec3::Z, Vec3::Y, Vec3::Y]),
    };
    assert!(groom.attributes.contains(&normals));
}

#[test]
fn normals_turn_with_their_prim() {
    let lines = "    normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 1, 0), (0, 1, 0)]\n    float xformOp:rotateX = 90\n    \
                 uniform token[] xformOpOrder = [\"xformOp:rotateX\"]";
    let groom = read(&strands("Hair", lines));
    let Some(Values::Vec3(normals)) = values(&groom, "normals") else { panic!("no normals") };
    for (normal, wanted) in normals.iter().zip([Vec3::NEG_Y, Vec3::NEG_Y, Vec3::Z, Vec3::Z]) {
        assert!(normal.distance(wanted) < 1e-6, "{normals:?}");
    }
}

#[test]
fn copies_by_an_instancer_are_missed_aloud() {
    let folder = tempfile::tempdir().unwrap();
    let prims = format!("def PointInstancer \"Many\"\n{{\n{}\n}}\n", strands("Hair", ""));
    let cache = open(folder.path(), &prims);
    assert!(cache.unfollowed().unwrap().contains("/Many: copies by a PointInstancer"));
    assert_eq!(cache.frame(0).unwrap().groom.strands(), 2);
}

/// Groups that were emptied are left in files as prims without points.
#[test]
fn prims_without_points_are_left_out_aloud() {
    let folder = tempfile::tempdir().unwrap();
    let empty = "def BasisCurves \"Emptied\"\n{\n}\ndef Mesh \"Nothing\"\n{\n}\n";
    let cache = open(folder.path(), &(strands("Hair", "") + empty));
    let told = cache.unfollowed().unwrap();
    assert!(told.contains("/Emptied is left out") && told.contains("/Nothing is left out"), "{told}");
    let frame = cache.frame(0).unwrap();
    assert_eq!((frame.groom.strands(), frame.bodies.len()), (2, 0));
}

/// A file may hold closed curves beside its hair.
#[test]
fn closed_curves_are_opened_where_they_begin() {
    let ring = "def BasisCurves \"Ring\"\n{\n    uniform token type = \"linear\"\n    uniform token wrap = \"periodic\"\n    int[] \
                curveVertexCounts = [3]\n    point3f[] points = [(0, 0, 0), (0, 1, 0), (1, 0, 0)]\n    float[] widths = [1, 2, 3] \
                (\n        interpolation = \"vertex\"\n    )\n}\n";
    let groom = read(&(strands("Hair", "") + ring));
    assert_eq!(groom.curves.offsets, [0, 2, 4, 8]);
    assert_eq!(groom.curves.strand(2), [Vec3::ZERO, Vec3::Y, Vec3::X, Vec3::ZERO]);
    assert_eq!(groom.widths[4..], [1.0, 2.0, 3.0, 1.0]);
}

/// Curls of few control points want many vertices: they get what their file is worth.
#[test]
fn curly_cubic_strands_are_read_within_their_worth() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.usdc");
    let (strands, controls) = (5000, 16);
    let mut writer = Writer::create(&path).unwrap();
    let hair = writer.define("/Hair", "BasisCurves").unwrap();
    writer.declare_uniform(hair, "basis", "token", &Value::token("catmullRom")).unwrap();
    writer.declare_uniform(hair, "wrap", "token", &Value::token("pinned")).unwrap();
    let counts = writer.declare(hair, "curveVertexCounts", "int[]").unwrap();
    writer.set_default(counts, &Value::IntArray(vec![controls; strands])).unwrap();
    let widths = writer.declare(hair, "widths", "float[]").unwrap();
    writer.set_default(widths, &Value::FloatArray(vec![0.0001])).unwrap();
    let points = writer.declare(hair, "points", "point3f[]").unwrap();
    let curl = |index: usize| {
        let (strand, step) = ((index / controls as usize) as f32, (index % controls as usize) as f32);
        let angle = 1.6 * step;
        [0.03 * angle.cos() + strand, 0.007 * step, 0.03 * angle.sin()]
    };
    let all = (0..strands * controls as usize).map(curl).collect();
    writer.set_default(points, &Value::Vec3fArray(all)).unwrap();
    writer.finish().unwrap();
    let length = std::fs::metadata(&path).unwrap().len() as usize;
    let read = || grooms::read(&path, &Said::default()).unwrap().groom;
    let (groom, peak) = counting::measured(read);
    assert_eq!(groom.strands(), strands);
    assert!(groom.vertices() > 3 * strands * controls as usize, "{} vertices", groom.vertices());
    assert!(peak < 8 * length + (2 << 20), "{peak} for {length}");
}

#[test]
fn widths_and_attributes_that_change_are_converted_frame_by_frame() {
    let lines = "    float[] primvars:heat (\n        interpolation = \"uniform\"\n    )\n    float[] primvars:heat.timeSamples = {\n        \
                 0: [0, 1],\n        1: [1, 2],\n        2: [2, 3],\n    }\n    float[] widths (\n        interpolation = \
                 \"constant\"\n    )\n    float[] widths.timeSamples = {\n        0: [1],\n        2: [3],\n    }";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.usda"), layer(&strands("Hair", lines))).unwrap();
    let (mut from, said) = (folder.path().join("a.usda"), Said::default());
    // On to an archive, and back again.
    for name in ["b.usdc", "b.abc", "c.abc", "c.usda"] {
        let to = folder.path().join(name);
        let (cache, space) = Cache::open_in_own_space(&from, &said).unwrap();
        assert_eq!(cache.frames(), 3, "{name}");
        convert_frames(&cache, space, &to, &said, None, Ok).unwrap();
        let written = Cache::open(&to).unwrap();
        for frame in 0..3 {
            let groom = written.frame(frame).unwrap().groom;
            let heat = frame as f32;
            assert_eq!(groom.widths, [1.0 + heat; 4], "{name}");
            assert_eq!(values(&groom, "heat"), Some(&Values::Float(vec![heat, heat + 1.0])), "{name}");
        }
        from = to;
    }
}
