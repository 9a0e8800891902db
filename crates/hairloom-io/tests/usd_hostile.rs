//! Broken and hostile files: an error, never a panic, an endless loop or a flood of memory.

mod usd_common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

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

/// A small generator (SplitMix64), so that every run breaks files in the same ways.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Breaks `bytes` in one of several ways.
fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut broken = bytes.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(broken.len());
        match random.below(7) {
            0 => broken[at] ^= 1 << random.below(8),
            1 => broken[at] = random.next() as u8,
            2 => broken.truncate(at.max(1)),
            3 => {
                let value =
                    [0, u64::MAX, 1 << 40, i64::MIN as u64, random.next()][random.below(5)].to_le_bytes();
                let end = broken.len().min(at + 8);
                broken[at..end].copy_from_slice(&value[..end - at]);
            }
            4 => {
                let from = random.below(broken.len());
                let length = random.below(64).min(broken.len() - from).min(broken.len() - at);
                broken.copy_within(from..from + length, at);
            }
            5 => {
                broken.remove(at);
            }
            _ => broken.insert(at, b"[](){}\"'@<>=#,:.-+x0\n\0\xff"[random.below(23)]),
        }
        if broken.is_empty() {
            broken.push(0);
        }
    }
    broken
}

fn attack(extension: &str, write: fn(&Path) -> Result<(), UsdError>, rounds: usize) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("layer.{extension}"));
    write(&path).unwrap();
    assert!(visit(&path).unwrap() > 10);
    let bytes = std::fs::read(&path).unwrap();
    let mut random = Random(bytes.len() as u64);
    let mut errors = 0;
    for round in 0..rounds {
        let broken = mutate(&bytes, &mut random);
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| look_at(&Layer::from_bytes(&path, broken)?)));
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{extension}: round {round} took {:?}",
            start.elapsed()
        );
        match result {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                errors += 1;
                assert!(!error.to_string().is_empty());
            }
            Err(_) => panic!("{extension}: round {round} panicked"),
        }
    }
    errors
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
