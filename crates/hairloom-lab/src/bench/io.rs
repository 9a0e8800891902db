//! Every binary format of grooms: reading and writing a large one, against copying the same bytes.

use std::cell::RefCell;
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

use super::clock::shortest_in_turn;
use super::{Bench, Ratio};
use crate::LabError;

const STRANDS: usize = 50_000;
const VERTICES: usize = 32;
/// Runs of which the shortest counts.
const RUNS: usize = 15;
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

fn read_all(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::with_capacity(file.metadata()?.len() as usize);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The shortest seconds of four things with one format.
struct Times {
    read: f64,
    copy_in: f64,
    write: f64,
    copy_out: f64,
    megabytes: f64,
}

/// Writes and reads a groom, in turn with the same bytes; whatever is written is a new file.
fn times(groom: &FileGroom, path: &Path, copy: &Path) -> Result<Times, String> {
    let (said, problem) = (Said::default(), RefCell::new(None));
    let note = |failure: Option<String>| problem.replace_with(|before| before.take().or(failure));
    let write = || drop(note(grooms::write(path, groom, &said).err().map(|error| error.to_string())));
    write();
    let bytes = read_all(path).map_err(|error| error.to_string())?;
    // The copy is not there yet in the first round.
    let clear = || [path, copy].iter().for_each(|path| drop(std::fs::remove_file(path)));
    let (written, copy_out) = shortest_in_turn(RUNS, clear, write, || {
        let copied = File::create(copy).and_then(|mut file| file.write_all(&bytes));
        note(copied.err().map(|error| error.to_string()));
    });
    write();
    let read = || match grooms::read(path, &said) {
        Ok(groom) => drop(black_box(groom)),
        Err(error) => drop(note(Some(error.to_string()))),
    };
    let (read, copy_in) = shortest_in_turn(
        RUNS,
        || {},
        read,
        || match read_all(path) {
            Ok(bytes) => drop(black_box(bytes)),
            Err(error) => drop(note(Some(error.to_string()))),
        },
    );
    let times = Times { read, copy_in, write: written, copy_out, megabytes: bytes.len() as f64 * 1e-6 };
    problem.into_inner().map_or(Ok(times), Err)
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
    let groom = groom();
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    for ending in ["usdc", "abc", "hair", "tfx", "data", "ply"] {
        let path = folder.join(format!("groom.{ending}"));
        let Times { read, copy_in, write, copy_out, megabytes } = times(&groom, &path, &folder.join("copy"))?;
        let row = json!({
            "format": ending,
            "megabytes": megabytes,
            "read (MB/s)": megabytes / read,
            "copy in (MB/s)": megabytes / copy_in,
            "write (MB/s)": megabytes / write,
            "copy out (MB/s)": megabytes / copy_out,
        });
        rows.push(row.as_object().cloned().unwrap_or_else(Map::new));
        let ratio = |what: &str, value| {
            Ratio::at_least(format!(".{ending}: {what}, of a copy's speed"), value, LEAST)
        };
        ratios.extend([ratio("reading", copy_in / read), ratio("writing", copy_out / write)]);
    }
    Ok(Bench { bench: "io", rows, ratios })
}
