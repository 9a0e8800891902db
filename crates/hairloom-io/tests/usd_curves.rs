//! Curves in USD layers: primvars of every kind, many prims, and values that unfold to more than the layer is worth.

mod mutation;

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use hairloom::groom::{Groom, Values};
use hairloom::simulate::Library;
use hairloom_io::Folder;
use hairloom_io::cache::Cache;
use hairloom_io::usd::{Value, Writer};

fn read(folder: &Path, prims: &str) -> Result<Groom, String> {
    std::fs::write(folder.join("a.usda"), layer(prims)).unwrap();
    Folder::new(folder).groom("a.usda")
}

fn layer(prims: &str) -> String {
    format!("#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n{prims}")
}

/// A prim of curves with these lines.
fn curves(lines: &[&str]) -> String {
    format!("def BasisCurves \"Hair\"\n{{\n    {}\n}}\n", lines.join("\n    "))
}

fn floats<'a>(groom: &'a Groom, name: &str) -> &'a [f32] {
    match &groom.attributes.iter().find(|attribute| attribute.name == name).unwrap().values {
        Values::Float(values) => values,
        other => panic!("{other:?}"),
    }
}

const LINEAR: &str = "uniform token type = \"linear\"";
const THREE: &str = "int[] curveVertexCounts = [3]\n    point3f[] points = [(0, 0, 0), (0, 1, 0), (0, 2, 0)]";

#[test]
fn varying_widths_of_linear_curves_are_those_of_the_vertices() {
    let folder = tempfile::tempdir().unwrap();
    let widths = "float[] widths = [3, 2, 1] (\n        interpolation = \"varying\"\n    )";
    let groom = read(folder.path(), &curves(&[LINEAR, THREE, widths])).unwrap();
    assert_eq!(groom.widths, [3.0, 2.0, 1.0]);
}

/// The basis of the curve would pass 0 and 1.
#[test]
fn varying_values_of_pinned_curves_are_linear_between_the_ends() {
    let folder = tempfile::tempdir().unwrap();
    let kind = "uniform token basis = \"catmullRom\"\n    uniform token wrap = \"pinned\"\n    int[] curveVertexCounts = [4]";
    let points = "point3f[] points = [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0)]";
    let varying = "float[] primvars:a = [0, 0, 1, 1] (\n        interpolation = \"varying\"\n    )";
    let groom = read(folder.path(), &curves(&[kind, points, varying])).unwrap();
    for (point, value) in groom.curves.points.iter().zip(floats(&groom, "a")) {
        assert!((value - (point.y - 1.0).clamp(0.0, 1.0)).abs() < 1e-5, "{point} {value}");
    }
    assert!(groom.vertices() >= 4);
}

#[test]
fn primvars_with_samples_have_the_value_of_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let vertex = "(\n        interpolation = \"vertex\"\n    )";
    let moving = "point3f[] points.timeSamples = {\n        0: [(0, 0, 0), (0, 1, 0), (0, 2, 0)],\n        1: [(1, 0, 0), (1, 1, 0), \
        (1, 2, 0)],\n        2: [(2, 0, 0), (2, 1, 0), (2, 2, 0)],\n    }\n    int[] curveVertexCounts = [3]";
    let still = format!(
        "float[] primvars:b {vertex}\n    float[] primvars:b.timeSamples = {{\n        0: [7, 8, 9],\n    }}"
    );
    let changing = format!(
        "float[] primvars:a {vertex}\n    float[] primvars:a.timeSamples = {{\n        0: [0, 0, 0],\n        2: [2, 4, 6],\n    }}"
    );
    let named = format!(
        "float[] primvars:c = [5, 6] {vertex}\n    int[] primvars:c:indices.timeSamples = {{\n        0: [0, 0, 1],\n        \
         2: [1, 1, 0],\n    }}"
    );
    let prims = curves(&[LINEAR, moving, &still, &changing, &named]);
    std::fs::write(folder.path().join("a.usda"), layer(&prims)).unwrap();
    let cache = Cache::open(folder.path().join("a.usda")).unwrap();
    let groom = cache.frame(1).unwrap().groom;
    assert_eq!(floats(&groom, "b"), [7.0, 8.0, 9.0]);
    assert_eq!(floats(&groom, "a"), [1.0, 2.0, 3.0]);
    assert_eq!(floats(&groom, "c"), [5.0, 5.0, 6.0]);
    assert_eq!(floats(&cache.frame(2).unwrap().groom, "c"), [6.0, 6.0, 5.0]);
}

/// A scale that grows along one axis makes the curve bend more: the number of vertices stays that of the first frame.
#[test]
fn a_transform_that_moves_does_not_change_the_number_of_vertices() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        "int[] curveVertexCounts = [4]",
        "point3f[] points = [(0, 0, 0), (0, 1, 0), (0.3, 2, 0), (1, 3, 0)]",
        "vector3f[] velocities = [(0, 0, 0), (0, 1, 0), (0, 1, 0), (1, 0, 0)]",
    ];
    let scale = "    float3 xformOp:scale.timeSamples = {\n        0: (0.01, 1, 1),\n        1: (4, 1, 1),\n    }\n    \
                 uniform token[] xformOpOrder = [\"xformOp:scale\"]\n";
    let prims = format!("def Xform \"World\"\n{{\n{scale}\n{}}}\n", curves(&lines));
    std::fs::write(folder.path().join("a.usda"), layer(&prims)).unwrap();
    let cache = Cache::open(folder.path().join("a.usda")).unwrap();
    let frames = [0, 1].map(|index| cache.frame(index).unwrap());
    assert_eq!(frames[0].groom.vertices(), frames[1].groom.vertices());
    // Nor are velocities of control points those of vertices, though there may be as many.
    assert!(frames.iter().all(|frame| frame.velocities.is_empty()));
    // Alone, the second frame would have more.
    let alone = prims.replace("0: (0.01, 1, 1),\n", "0: (4, 1, 1),\n");
    assert!(read(folder.path(), &alone).unwrap().vertices() > frames[1].groom.vertices());
}

/// Some programs write a prim for each strand.
#[test]
fn many_prims_and_many_primvars_take_time_in_proportion() {
    let folder = tempfile::tempdir().unwrap();
    let mut prims = String::from("def Xform \"World\"\n{\n");
    for strand in 0..50_000 {
        writeln!(
            prims,
            "def BasisCurves \"s{strand}\"\n{{\n{LINEAR}\nint[] curveVertexCounts = [2]\npoint3f[] points.timeSamples = {{\n0: \
             [({strand}, 0, 0), ({strand}, 1, 0)],\n1: [({strand}, 0, 0), ({strand}, 1, 0)]\n}}\n}}"
        )
        .unwrap();
    }
    prims.push_str("}\n");
    let start = mutation::busy();
    let groom = read(folder.path(), &prims).unwrap();
    let taken = mutation::busy() - start;
    assert_eq!(groom.strands(), 50_000);
    assert_eq!(groom.curves.points[2 * 777].x, 777.0);
    assert!(taken < Duration::from_secs(2), "{taken:?}");

    let mut lines = vec![LINEAR.to_owned(), THREE.to_owned()];
    for index in 0..25_000 {
        lines.push(format!("float[] primvars:p{index} = [{index}] (\ninterpolation = \"uniform\"\n)"));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let start = mutation::busy();
    let groom = read(folder.path(), &curves(&lines)).unwrap();
    let taken = mutation::busy() - start;
    assert_eq!(floats(&groom, "p24999"), [24999.0]);
    assert!(taken < Duration::from_secs(2), "{taken:?}");
}

/// Whole numbers that are all the same take next to nothing in the file.
#[test]
fn values_that_unfold_are_refused_together() {
    let folder = tempfile::tempdir().unwrap();
    let vertices = 50_000;
    let write = |columns: usize| {
        let mut writer = Writer::create(folder.path().join("a.usdc")).unwrap();
        let hair = writer.define("/Hair", "BasisCurves").unwrap();
        writer.declare_uniform(hair, "type", "token", &Value::token("linear")).unwrap();
        let counts = writer.declare(hair, "curveVertexCounts", "int[]").unwrap();
        writer.set_default(counts, &Value::IntArray(vec![vertices])).unwrap();
        let points = writer.declare(hair, "points", "point3f[]").unwrap();
        writer.set_default(points, &Value::Vec3fArray(vec![[0.0; 3]; vertices as usize])).unwrap();
        for column in 0..columns {
            let zeros = writer.declare(hair, &format!("primvars:p{column}"), "int[]").unwrap();
            writer.set_default(zeros, &Value::IntArray(vec![0; vertices as usize])).unwrap();
            writer.set_attribute_metadata(zeros, "interpolation", &Value::token("vertex")).unwrap();
        }
        writer.finish().unwrap();
        std::fs::metadata(folder.path().join("a.usdc")).unwrap().len() as usize
    };
    write(4);
    assert_eq!(Folder::new(folder.path()).groom("a.usdc").unwrap().attributes.len(), 4);
    let length = write(200);
    assert!(length < 2 * 12 * vertices as usize, "{length}");
    let read = || Folder::new(folder.path()).groom("a.usdc").unwrap_err();
    let (told, peak) = mutation::measured(read);
    assert!(told.contains("in proportion"), "{told}");
    assert!(peak < 9 * length + (2 << 20), "{peak} for {length}");
}

/// One strand of many control points is measured in few pieces.
#[test]
fn a_long_cubic_strand_takes_memory_in_proportion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.usdc");
    let controls = 150_000;
    let mut writer = Writer::create(&path).unwrap();
    let hair = writer.define("/Hair", "BasisCurves").unwrap();
    writer.declare_uniform(hair, "basis", "token", &Value::token("bspline")).unwrap();
    let counts = writer.declare(hair, "curveVertexCounts", "int[]").unwrap();
    writer.set_default(counts, &Value::IntArray(vec![controls])).unwrap();
    let points = writer.declare(hair, "points", "point3f[]").unwrap();
    let line = (0..controls).map(|step| [0.0, step as f32, 0.0]).collect();
    writer.set_default(points, &Value::Vec3fArray(line)).unwrap();
    writer.finish().unwrap();
    let length = std::fs::metadata(&path).unwrap().len() as usize;
    let groom = mutation::in_proportion(length, || Folder::new(folder.path()).groom("a.usdc")).unwrap();
    assert!(groom.vertices() >= controls as usize - 2, "{}", groom.vertices());
}

#[test]
fn damaged_primvars_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let samples = "float[] primvars:a (\n        interpolation = \"varying\"\n    )\n    float[] primvars:a.timeSamples = {\n        \
                   0: [1, 2],\n        2: [2, 4],\n    }";
    let points =
        "int[] curveVertexCounts = [4]\n    point3f[] points = [(0, 0, 0), (0, 1, 0), (0, 2, 1), (0, 3, 3)]";
    let good = layer(&curves(&[points, samples]));
    let words: [&[u8]; 6] = [b"[", b"]", b", ", b"0: ", b"\"uniform\"", b"1e38"];
    let accepted = mutation::survive(good.as_bytes(), 2_000, 31, &words, |bytes| {
        std::fs::write(folder.path().join("a.usda"), bytes).unwrap();
        Folder::new(folder.path()).groom("a.usda").is_ok()
    });
    assert!((50..1_900).contains(&accepted), "{accepted}");
}
