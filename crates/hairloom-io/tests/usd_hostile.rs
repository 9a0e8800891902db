//! Broken and hostile files: an error, never a panic, an endless loop or a flood of memory.

mod mutation;
mod usd_common;

use std::path::Path;

use hairloom::simulate::Library;
use hairloom_io::Folder;
use hairloom_io::usd::{Layer, UsdError};

/// Looks at everything in a layer; the first fault ends it.
fn visit(path: &Path) -> Result<usize, UsdError> {
    look_at(&Layer::open(path)?)
}

fn look_at(layer: &Layer) -> Result<usize, UsdError> {
    let mut found = 0;
    for name in ["upAxis", "customLayerData", "metersPerUnit"] {
        found += usize::from(layer.metadata(name)?.is_some());
    }
    for prim in layer.prims()? {
        prim.type_name()?;
        prim.metadata("apiSchemas")?;
        for attribute in prim.attributes()? {
            attribute.default()?;
            for index in 0..attribute.times()?.len() {
                found += attribute.sample(index)?.element_count();
            }
        }
        for relationship in prim.relationships()? {
            found += relationship.targets()?.len();
        }
    }
    Ok(found)
}

const WORDS: [&[u8]; 10] = [b"[", b"]", b"{", b"(", b"\"", b"@", b"=", b" = [", b"\0", b"\xff\xff\xff\xff"];

/// Damages a good layer in many ways; how many were noticed.
fn attack(extension: &str, write: fn(&Path) -> Result<(), UsdError>, rounds: usize) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("layer.{extension}"));
    write(&path).unwrap();
    assert!(visit(&path).unwrap() > 10);
    let bytes = std::fs::read(&path).unwrap();
    let read =
        |broken: &[u8]| match Layer::from_bytes(&path, broken.to_vec()).and_then(|layer| look_at(&layer)) {
            Ok(_) => true,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                false
            }
        };
    rounds - mutation::survive(&bytes, rounds, bytes.len() as u64, &WORDS, read)
}

/// Geometry in damaged layers, as a scene reads it: grooms, meshes, meshes that move.
#[test]
fn mutated_geometry_is_survived() {
    let folder = tempfile::tempdir().unwrap();
    for extension in ["usda", "usdc"] {
        let name = format!("layer.{extension}");
        let path = folder.path().join(&name);
        usd_common::write_hair(&path, 2).unwrap();
        let good = std::fs::read(&path).unwrap();
        let library = Folder::new(folder.path());
        let read = |broken: &[u8]| {
            std::fs::write(&path, broken).unwrap();
            let groom = library.groom(&name);
            let mesh = library.animated_mesh(&name);
            for told in [groom.as_ref().err(), mesh.as_ref().err()].into_iter().flatten() {
                assert!(told.contains("layer."), "{told}");
            }
            if let Ok(groom) = &groom {
                let checked = groom.clone().checked();
                assert!(checked.is_err() || groom.curves.points.len() < 1000);
            }
            if let Ok(animated) = &mesh {
                let points = animated.mesh.points.len();
                assert!(
                    animated.mesh.triangles.as_flattened().iter().all(|&vertex| (vertex as usize) < points)
                );
            }
            groom.is_ok() && mesh.is_ok()
        };
        let accepted = mutation::survive(&good, 2000, 7, &WORDS, read);
        assert!((50..1950).contains(&accepted), "{accepted} of 2000 {extension} accepted");
    }
}

fn small_hair(path: &Path) -> Result<(), UsdError> {
    usd_common::write_hair(path, 2)
}

#[test]
fn mutated_binary_files_are_survived() {
    let errors = attack("usdc", usd_common::write_kinds, 3000) + attack("usdc", small_hair, 3000);
    assert!(errors > 500, "{errors}");
}

#[test]
fn mutated_text_files_are_survived() {
    let errors = attack("usda", usd_common::write_kinds, 1500) + attack("usda", small_hair, 1500);
    assert!(errors > 500, "{errors}");
}

#[test]
fn every_truncation_is_survived() {
    let folder = tempfile::tempdir().unwrap();
    for extension in ["usda", "usdc"] {
        let path = folder.path().join(format!("layer.{extension}"));
        usd_common::write_kinds(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for length in (0..bytes.len()).step_by(bytes.len() / 500) {
            std::fs::write(&path, &bytes[..length]).unwrap();
            assert!(visit(&path).is_err(), "{length} bytes of {}", bytes.len());
        }
    }
}

/// Texts with as many things as fit into few bytes, each opened and read as a groom: memory stays in proportion whatever
/// becomes of them. Without the allowance that small files have.
#[test]
fn crowded_texts_are_held_in_proportion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("layer.usda");
    let many = |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<String>();
    let letters = |n: usize| ["a", "b", "c", "d"][n % 4];
    let nest = |_| format!("{}{}", "def\"A\"{".repeat(200), "}".repeat(200));
    let cases: [(&str, String); 14] = [
        ("prims", many(200_000, &|n| format!("def \"Q{n}\" {{}}\n"))),
        ("prims of one name", many(200_000, &|_| "def\"A\"{}".to_owned())),
        ("typed prims", many(200_000, &|n| format!("def A\"{n:x}\"{{}}"))),
        ("nested prims", many(1_000, &nest)),
        ("attributes", format!("def \"A\" {{{}}}", many(200_000, &|n| format!("int a{n:x}=1\n")))),
        ("declarations", format!("def \"A\" {{{}}}", many(300_000, &|n| format!("int {} ", letters(n))))),
        ("values", format!("def \"A\" {{{}}}", many(300_000, &|n| format!("int {}=1 ", letters(n))))),
        (
            "attributes of curves",
            many(40_000, &|n| format!("def BasisCurves \"{n:x}\"{{int a=1 int b=1 int c=1}}")),
        ),
        ("short words", format!("def \"A\" {{{}}}", many(300_000, &|n| format!("a {} ", letters(n))))),
        ("metadata", format!("def \"A\" ({}) {{}}", many(300_000, &|n| format!("{}=1 ", letters(n))))),
        ("edits", format!("def \"A\" ({}) {{}}", many(200_000, &|_| "add a=1 ".to_owned()))),
        (
            "samples",
            format!("def \"A\" {{float points.timeSamples={{{}}}}}", many(300_000, &|n| format!("{n}:1,"))),
        ),
        (
            "variants",
            format!("def \"A\" {{variantSet \"a\"={{{}}}}}", many(200_000, &|n| format!("\"{n:x}\"{{}}"))),
        ),
        ("references", many(100_000, &|n| format!("def \"{n:x}\"(references=</{:x}>){{}}", n + 1))),
    ];
    for (what, body) in &cases {
        let text = format!("#usda 1.0\n(metersPerUnit = 1)\n{body}");
        std::fs::write(&path, &text).unwrap();
        let start = mutation::busy();
        let (_, layer) = mutation::measured(|| Layer::open(&path).map(drop));
        let (read, groom) = mutation::measured(|| Folder::new(folder.path()).groom("layer.usda").map(drop));
        let ratio = |bytes: usize| bytes as f64 / text.len() as f64;
        assert!(read.is_err() && text.len() > 1 << 20, "{what}");
        assert!(ratio(layer.max(groom)) <= 8.0, "{what}: {} and {} bytes for {}", layer, groom, text.len());
        let seconds = (mutation::busy() - start).as_secs_f64();
        assert!(seconds < 2.0 * text.len() as f64 / 1e6, "{what}: {seconds} s for two readings");
    }
}

fn error_of_text(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("layer.usda");
    std::fs::write(&path, text).unwrap();
    visit(&path).unwrap_err().to_string()
}

#[test]
fn text_errors_name_line_and_column() {
    let broken = "#usda 1.0\n\ndef Mesh \"A\"\n{\n    point3f[] points = [(1, 2, 3), (4, x, 6)]\n}\n";
    let message = error_of_text(broken);
    assert!(message.contains("layer.usda:5:40: expected a number that is a f32, not \"x\""), "{message}");
    let message = error_of_text("#usda 1.0\ndef \"A\"\n{\n    int[] a = [1, 2\n}\n");
    assert!(message.contains(":5:1: expected brackets that match"), "{message}");
    let message = error_of_text("#usda 1.0\n\nfoo \"A\" {}\n");
    assert!(message.contains(":3:1: expected def, over or class"), "{message}");
}

#[test]
fn deep_nesting_and_endless_brackets_are_refused() {
    let deep = format!("#usda 1.0\n{}", "def \"A\" {".repeat(100_000));
    assert!(error_of_text(&deep).contains("nested at most"));
    let brackets = format!("#usda 1.0\ndef \"A\" {{ int[] a = {}", "[".repeat(1_000_000));
    assert!(error_of_text(&brackets).contains("nested at most"));
    let dictionaries = format!("#usda 1.0\n( customLayerData = {} )", "{ dictionary a = ".repeat(100_000));
    assert!(error_of_text(&dictionaries).contains("nested at most"));
}

#[test]
fn a_binary_error_names_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("layer.usdc");
    usd_common::write_kinds(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let message = visit(&path).unwrap_err().to_string();
    assert!(
        message.contains("byte 16: expected the position of a table of contents inside the file"),
        "{message}"
    );
    std::fs::write(&path, b"PXR-USDC").unwrap();
    assert!(visit(&path).unwrap_err().to_string().contains("byte 8: expected a header of 88 bytes"));
    std::fs::write(&path, b"hello").unwrap();
    assert!(visit(&path).unwrap_err().to_string().contains("not a USD layer"));
}
