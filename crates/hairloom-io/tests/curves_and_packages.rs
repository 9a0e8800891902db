//! Cubic curves, packages, guides and velocities in USD and Alembic files.

mod mutation;

use std::path::Path;

use glam::{Vec2, Vec3};
use hairloom::groom::{Curves, Groom, Root};
use hairloom::simulate::Library;
use hairloom_io::cache::Cache;
use hairloom_io::grooms::{self, FileGroom, Said};
use hairloom_io::usd::Layer;
use hairloom_io::{Folder, Space};

/// A layer with one prim of curves in metres.
fn layer(body: &str) -> String {
    format!(
        "#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\ndef Xform \"World\"\n{{\n    def BasisCurves \"Hair\"\n    \
         {{\n{body}    }}\n}}\n"
    )
}

fn read(folder: &Path, text: &str) -> Result<Groom, String> {
    std::fs::write(folder.join("a.usda"), text).unwrap();
    Folder::new(folder).groom("a.usda")
}

const STRAIGHT: &str = "        int[] curveVertexCounts = [4, 7]\n        point3f[] points = [(0, 0, 0), (0, 1, 0), (0, 2, 0), \
    (0, 3, 0), (1, 0, 0), (1, 1, 0), (1, 2, 0), (1, 3, 0), (1, 4, 0), (1, 5, 0), (1, 6, 0)]\n";

#[test]
fn cubic_curves_of_every_basis_are_polylines_on_them() {
    let folder = tempfile::tempdir().unwrap();
    for (basis, wrap, ends) in [
        ("bezier", "nonperiodic", [0.0, 3.0, 0.0, 6.0]),
        ("bspline", "nonperiodic", [1.0, 2.0, 1.0, 5.0]),
        ("catmullRom", "nonperiodic", [1.0, 2.0, 1.0, 5.0]),
        ("bspline", "pinned", [0.0, 3.0, 0.0, 6.0]),
        ("catmullRom", "pinned", [0.0, 3.0, 0.0, 6.0]),
    ] {
        let kind = format!(
            "        uniform token type = \"cubic\"\n        uniform token basis = \"{basis}\"\n        uniform token wrap = \
             \"{wrap}\"\n"
        );
        let groom = read(folder.path(), &layer(&(kind + STRAIGHT))).unwrap();
        for strand in 0..2 {
            let points = &groom.curves.points[groom.curves.range(strand)];
            let (root, tip) = (points[0].y, points[points.len() - 1].y);
            assert!((root - ends[2 * strand]).abs() < 1e-5, "{basis} {wrap}: {points:?}");
            assert!((tip - ends[2 * strand + 1]).abs() < 1e-5, "{basis} {wrap}: {points:?}");
            assert!(points.iter().all(|point| point.x == strand as f32 && point.z == 0.0));
        }
    }
    let closed = layer(&format!("        uniform token wrap = \"periodic\"\n{STRAIGHT}"));
    assert!(read(folder.path(), &closed).unwrap_err().contains("expected three for each segment"));
}

/// One width for all, for each strand, for each end of a segment, for each control point.
#[test]
fn widths_of_every_interpolation_lie_along_the_curves() {
    let folder = tempfile::tempdir().unwrap();
    // Two Bézier strands of one and two segments: 2 + 3 ends, 4 + 7 control points.
    for (interpolation, values, root, tip) in [
        ("constant", "[0.5]", 0.5, 0.5),
        ("uniform", "[0.5, 0.25]", 0.25, 0.25),
        ("varying", "[1, 2, 3, 4, 6]", 3.0, 6.0),
        ("vertex", "[1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16]", 10.0, 16.0),
    ] {
        let widths = format!(
            "        uniform token type = \"cubic\"\n        float[] widths = {values} (\n            interpolation = \
             \"{interpolation}\"\n        )\n"
        );
        let groom = read(folder.path(), &layer(&(widths + STRAIGHT))).unwrap();
        assert_eq!(groom.widths.len(), groom.vertices(), "{interpolation}");
        let second = &groom.widths[groom.curves.range(1)];
        assert!((second[0] - root).abs() < 1e-5, "{interpolation}: {second:?}");
        assert!((second[second.len() - 1] - tip).abs() < 1e-5, "{interpolation}: {second:?}");
    }
}

/// A zip archive of one file, as USD packages are.
fn package(name: &str, content: &[u8], method: u16) -> Vec<u8> {
    package_of(&[name], content, method)
}

/// A zip archive with several names, of the same length, for one content.
fn package_of(names: &[&str], content: &[u8], method: u16) -> Vec<u8> {
    let name = names[0];
    let mut bytes = Vec::new();
    let padding = (64 - (30 + name.len() + 4) % 64) % 64 + 4;
    let sizes = [(content.len() as u32).to_le_bytes(); 2].concat();
    let common = [&method.to_le_bytes()[..], &[0; 8], &sizes, &(name.len() as u16).to_le_bytes()].concat();
    bytes.extend([b"PK\x03\x04\x0a\0\0\0", &common[..], &(padding as u16).to_le_bytes()].concat());
    bytes.extend(name.as_bytes());
    bytes.extend(vec![0; padding]);
    assert_eq!(bytes.len() % 64, 0);
    bytes.extend(content);
    let directory = bytes.len() as u32;
    for name in names {
        bytes.extend([b"PK\x01\x02\x0a\0\x0a\0\0\0", &common[..], &[0; 16]].concat());
        bytes.extend(name.as_bytes());
    }
    let size = bytes.len() as u32 - directory;
    bytes.extend(
        [&b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..], &size.to_le_bytes(), &directory.to_le_bytes(), &[0; 2]]
            .concat(),
    );
    bytes
}

fn guided() -> FileGroom {
    let mut curves = Curves::default();
    for strand in 0..4_u8 {
        curves.push((0..3_u8).map(|vertex| Vec3::new(f32::from(strand), f32::from(vertex), 0.3)));
    }
    let groom = Groom {
        roots: vec![Root::Rigid; 4],
        widths: vec![1e-4; 12],
        ids: vec![9, 8, 7, 6],
        root_uv: vec![Vec2::new(0.25, 0.5); 4],
        guides: vec![false, true, false, true],
        curves,
        ..Groom::default()
    };
    FileGroom { groom, space: Space::SCENE }
}

#[test]
fn packages_are_read_by_their_first_layer() {
    let folder = tempfile::tempdir().unwrap();
    let start = guided();
    for ending in ["usdc", "usda"] {
        let inner = folder.path().join(format!("inner.{ending}"));
        grooms::write(&inner, &start, &Said::default()).unwrap();
        let content = std::fs::read(&inner).unwrap();
        let path = folder.path().join("groom.usdz");
        std::fs::write(&path, package(&format!("inner.{ending}"), &content, 0)).unwrap();
        assert_eq!(grooms::read(&path, &Said::default()).unwrap(), start);
        assert_eq!(Cache::open(&path).unwrap().frame(0).unwrap().groom, start.groom);
        std::fs::write(&path, package(&format!("inner.{ending}"), &content, 8)).unwrap();
        let told = grooms::read(&path, &Said::default()).unwrap_err().to_string();
        assert!(told.contains("compressed"), "{told}");
        std::fs::write(&path, package("picture.png", &content, 0)).unwrap();
        let told = grooms::read(&path, &Said::default()).unwrap_err().to_string();
        assert!(told.contains("picture.png"), "{told}");
    }
}

/// A package may be named through a link: its own layers are still looked for in it.
#[cfg(unix)]
#[test]
fn a_link_to_a_package_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let [there, here] = ["there", "here"].map(|name| folder.path().join(name));
    std::fs::create_dir(&there).unwrap();
    std::fs::create_dir(&here).unwrap();
    let content = b"#usda 1.0\ndef \"A\" (references = @./e2.usda@</B>) {}\n";
    std::fs::write(there.join("real.usdz"), package("e1.usda", content, 0)).unwrap();
    std::os::unix::fs::symlink(there.join("real.usdz"), here.join("link.usdz")).unwrap();
    let told = grooms::read(here.join("link.usdz"), &Said::default()).unwrap_err().to_string();
    assert!(told.contains("there is no e2.usda in link.usdz"), "{told}");
}

/// Names in a package that share bytes would be as many layers as the directory has lines.
#[test]
fn layers_that_share_bytes_in_a_package_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (10..60).map(|name| format!("e{name}.usda")).collect();
    let references: Vec<String> = names.iter().map(|name| format!("@{name}@</B>")).collect();
    let prims = "def \"C\" {}\n".repeat(20_000);
    let content = format!(
        "#usda 1.0\ndef \"A\" (references = [{}]) {{}}\ndef \"B\" {{}}\n{prims}",
        references.join(", ")
    );
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let bytes = package_of(&names, content.as_bytes(), 0);
    let path = folder.path().join("shared.usdz");
    std::fs::write(&path, &bytes).unwrap();
    let read = || grooms::read(&path, &Said::default()).map(drop);
    let told = mutation::in_proportion(bytes.len(), read).unwrap_err().to_string();
    assert!(told.contains("do not share bytes"), "{told}");
}

#[test]
fn damaged_packages_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner.usdc");
    grooms::write(&inner, &guided(), &Said::default()).unwrap();
    let good = package("inner.usdc", &std::fs::read(&inner).unwrap(), 0);
    let words: [&[u8]; 4] = [b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", &[0xff; 4]];
    let read = |bytes: &[u8]| match Layer::from_bytes("a.usdz", bytes.to_vec()) {
        Ok(layer) => layer.prims().is_ok_and(|prims| prims.len() == 3),
        Err(error) => error.to_string().is_empty(),
    };
    let accepted = mutation::survive(&good, 4_000, 21, &words, read);
    assert!((100..3_900).contains(&accepted), "{accepted} of 4000 accepted");
    for length in 0..good.len() {
        assert!(Layer::from_bytes("a.usdz", good[..length].to_vec()).is_err(), "{length} bytes");
    }
}

/// Guides stand in the file a second time, with their purpose, and are read once.
#[test]
fn guides_ids_and_coordinates_come_back() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["usda", "usdc", "abc"] {
        let path = folder.path().join(format!("guided.{ending}"));
        grooms::write(&path, &guided(), &Said::default()).unwrap();
        assert_eq!(grooms::read(&path, &Said::default()).unwrap().groom, guided().groom, "{ending}");
    }
    let layer = Layer::open(folder.path().join("guided.usdc")).unwrap();
    let guides = layer.prim("/World/Guides").unwrap();
    let purpose = guides.attribute("purpose").unwrap().default().unwrap().unwrap();
    assert_eq!(purpose.as_str(), Some("guide"));
    let points = guides.attribute("points").unwrap().default().unwrap().unwrap();
    let points = points.to_vec3f_array().unwrap();
    assert_eq!((points.len(), points[0], points[3]), (6, [1.0, 0.0, 0.3], [3.0, 0.0, 0.3]));
}

/// Curves that others wrote for guides are guides, also where the purpose is that of a prim above.
#[test]
fn curves_of_the_purpose_guide_are_guides() {
    let folder = tempfile::tempdir().unwrap();
    let curves = "        uniform token type = \"linear\"\n        int[] curveVertexCounts = [2]\n        point3f[] points = \
                  [(0, 0, 0), (0, 1, 0)]\n";
    let text = layer(curves)
        + &layer(curves).replace("#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n", "").replace(
            "def Xform \"World\"\n{\n",
            "def Xform \"Guides\"\n{\n    uniform token purpose = \"guide\"\n",
        );
    assert_eq!(read(folder.path(), &text).unwrap().guides, [false, true]);
}

#[test]
fn velocities_come_back_from_caches() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[time]\nframes = 2\n[groom]\nbuiltin = { name = \"hairy-ball\", strands = 20 }\n";
    let scene = hairloom::scene::Scene::from_toml(text, "scene.toml").unwrap();
    for ending in ["usdc", "abc"] {
        let mut simulation =
            hairloom::simulate::Simulation::new(scene.clone(), &hairloom::simulate::NoFiles).unwrap();
        let path = folder.path().join(format!("cache.{ending}"));
        let mut writer = hairloom_io::cache::CacheWriter::create(&path, &simulation).unwrap();
        writer.write_frame(&simulation).unwrap();
        simulation.advance().unwrap();
        writer.write_frame(&simulation).unwrap();
        writer.finish().unwrap();
        let frame = Cache::open(&path).unwrap().frame(1).unwrap();
        assert_eq!(frame.velocities, simulation.strands().velocities, "{ending}");
        assert!(frame.velocities.iter().any(|velocity| velocity.length() > 1e-3));
    }
}
