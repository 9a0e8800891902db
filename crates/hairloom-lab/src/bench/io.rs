//! Every binary format of grooms: reading and writing a large one, against copying the same bytes.

use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;

use glam::Vec3;
use hairloom::groom::{Curves, Groom, Root};
use hairloom::math::Random;
use hairloom_io::Space;
use hairloom_io::grooms::{self, FileGroom, Said};
use serde_json::{Map, json};

use super::clock::shortest;
use super::{Bench, Ratio};
use crate::LabError;

const STRANDS: usize = 50_000;
const VERTICES: usize = 32;
/// Runs of which the shortest counts.
const RUNS: usize = 7;
/// The goal: the least part of the speed of a copy.
const LEAST: f64 = 0.3;

/// Strands that hang and wave.
fn groom() -> FileGroom {
    let random = Random::new(11);
    let mut curves = Curves::default();
    for strand in 0..STRANDS {
        let mut random = random.fork(strand as u64);
        let root = Vec3::new(0.1 * random.signed(), 1.6, 0.1 * random.signed());
        curves.push((0..VERTICES).map(|vertex| {
            let s = vertex as f32 / VERTICES as f32;
            root + Vec3::new(0.01 * (20.0 * s).sin(), -0.3 * s, 0.01 * (17.0 * s).cos())
        }));
    }
    let groom = Groom {
        roots: vec![Root::Rigid; STRANDS],
        widths: vec![7e-5; STRANDS * VERTICES],
        curves,
        ..Groom::default()
    };
    FileGroom { groom, space: Space::SCENE }
}

/// Seconds to read all bytes of a file, and to write as many to a new one.
fn copy(from: &Path, to: &Path) -> std::io::Result<(f64, f64)> {
    let mut bytes = Vec::new();
    let mut failure = None;
    let read = shortest(RUNS, || {
        let mut fresh = Vec::with_capacity(std::fs::metadata(from).map_or(0, |data| data.len() as usize));
        let done = File::open(from).and_then(|mut file| file.read_to_end(&mut fresh));
        failure = failure.take().or(done.err());
        bytes = black_box(fresh);
    });
    let write = shortest(RUNS, || {
        let done = File::create(to).and_then(|mut file| file.write_all(&bytes));
        failure = failure.take().or(done.err());
    });
    failure.map_or(Ok((read, write)), Err)
}

pub(super) fn run() -> Result<Bench, LabError> {
    let folder = std::env::temp_dir().join(format!("hairloom-bench-io-{}", std::process::id()));
    let outcome =
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string()).and_then(|()| measure(&folder));
    // What is left behind is only in the way; the outcome counts.
    let _ = std::fs::remove_dir_all(&folder);
    outcome.map_err(|problem| LabError::bench(&format!("{}: {problem}", folder.display())))
}

fn measure(folder: &Path) -> Result<Bench, String> {
    let (groom, said) = (groom(), Said::default());
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    for ending in ["usdc", "abc", "hair", "tfx", "data", "ply"] {
        let (path, other) = (folder.join(format!("groom.{ending}")), folder.join("copy"));
        let mut failure = None;
        let write = shortest(RUNS, || failure = failure.take().or(grooms::write(&path, &groom, &said).err()));
        let read = shortest(RUNS, || match grooms::read(&path, &said) {
            Ok(groom) => drop(black_box(groom)),
            Err(error) => failure = Some(error),
        });
        if let Some(failure) = failure {
            return Err(failure.to_string());
        }
        let (copy_read, copy_write) = copy(&path, &other).map_err(|error| error.to_string())?;
        let megabytes = std::fs::metadata(&path).map_err(|error| error.to_string())?.len() as f64 * 1e-6;
        let row = json!({
            "format": ending,
            "megabytes": megabytes,
            "read (MB/s)": megabytes / read,
            "copy in (MB/s)": megabytes / copy_read,
            "write (MB/s)": megabytes / write,
            "copy out (MB/s)": megabytes / copy_write,
        });
        rows.push(row.as_object().cloned().unwrap_or_else(Map::new));
        ratios.push(Ratio::at_least(
            format!(".{ending}: reading, of a copy's speed"),
            copy_read / read,
            LEAST,
        ));
        ratios.push(Ratio::at_least(
            format!(".{ending}: writing, of a copy's speed"),
            copy_write / write,
            LEAST,
        ));
    }
    Ok(Bench { bench: "io", rows, ratios })
}
