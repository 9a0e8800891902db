//! Broken and hostile archives: an answer or an error, never a panic, an endless loop or a flood of memory.

mod mutation;
mod run_common;

use std::path::Path;
use std::time::{Duration, Instant};

use glam::Vec3;
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};
use hairloom_io::Space;
use hairloom_io::alembic::{self, AlembicError, Archive, WriteOptions};

/// Looks at everything in an archive; the first fault ends it.
fn visit(bytes: &[u8]) -> Result<usize, AlembicError> {
    let archive = Archive::from_bytes("broken.abc", bytes.to_vec())?;
    let mut times = archive.curve_times()?;
    times.extend(archive.mesh_times()?);
    times.truncate(4);
    times.push(0.02);
    let mut found = 0;
    for time in times {
        let groom = archive.groom(time)?;
        assert_eq!(groom.curves.offsets.last().copied(), Some(groom.curves.points.len() as u32));
        assert!(groom.widths.is_empty() || groom.widths.len() == groom.vertices());
        let memory = groom.vertices() * size_of::<Vec3>() + groom.strands() * size_of::<Root>();
        assert!(memory <= 8 * bytes.len() + (1 << 21), "{memory} bytes from {}", bytes.len());
        found += groom.vertices();
        for mesh in archive.triangle_meshes(time)? {
            let points = mesh.points.len();
            assert!(mesh.triangles.iter().flatten().all(|&vertex| (vertex as usize) < points));
            found += points;
        }
    }
    Ok(found)
}

/// A groom with attributes in two groups.
fn groom() -> Vec<u8> {
    let mut curves = Curves::default();
    for strand in 0..4_u8 {
        curves.push((0..3_u8).map(|vertex| Vec3::new(f32::from(strand), f32::from(vertex), 0.0)));
    }
    let attribute = |name: &str, values| Attribute { name: name.into(), domain: Domain::Strand, values };
    let groom = Groom {
        roots: vec![Root::Rigid; 4],
        widths: vec![1e-4; 12],
        ids: vec![1, 2, 3, 4],
        attributes: vec![
            attribute("groom_group_id", Values::Int(vec![1, 1, 2, 2])),
            attribute("shade", Values::Vec3(vec![Vec3::ONE; 4])),
        ],
        curves,
        ..Groom::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groom.abc");
    alembic::write(
        &path,
        &groom,
        &WriteOptions { file: Space { unit: 0.01, ..Space::SCENE }, ..WriteOptions::default() },
    )
    .unwrap();
    std::fs::read(path).unwrap()
}

/// A short cache with a body that moves.
fn cache(folder: &Path) -> Vec<u8> {
    let text = run_common::SMALL.replace("strands = 20", "strands = 4");
    let options = run_common::options(folder, &text, "a.abc");
    run_common::run_until(&options, None).0.unwrap();
    std::fs::read(folder.join("a.abc")).unwrap()
}

fn survive(good: &[u8], count: usize, seed: u64) -> usize {
    let words: [&[u8]; 7] = [
        &[0xff; 8],
        &[0; 8],
        b"Ogawa\xff",
        &[0, 0, 0, 0, 0, 0, 0, 0x80],
        &[16, 0, 0, 0, 0, 0, 0, 0],
        b"P",
        &[0xff, 0x7f],
    ];
    mutation::survive(good, count, seed, &words, |bytes| visit(bytes).is_ok())
}

#[test]
fn damaged_grooms_are_read_or_refused() {
    let good = groom();
    assert!(visit(&good).unwrap() > 10);
    let accepted = survive(&good, 20_000, 1);
    // Flipped bits in values and hashes are data; most other damage is not.
    assert!((500..19_000).contains(&accepted), "{accepted} of 20000 accepted");
}

#[test]
fn damaged_caches_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let good = cache(folder.path());
    assert!(visit(&good).unwrap() > 100);
    let accepted = survive(&good, 3_000, 2);
    assert!((50..2_900).contains(&accepted), "{accepted} of 3000 accepted");
}

/// Damage where it hurts: pointers of groups, sizes and headers, replaced by positions elsewhere in the file.
#[test]
fn pointers_to_anywhere_are_followed_or_refused() {
    let good = groom();
    let words: Vec<usize> = (0..good.len() - 8)
        .filter(|&at| {
            let word = u64::from_le_bytes(good[at..at + 8].try_into().unwrap()) & !(1 << 63);
            word < good.len() as u64
        })
        .collect();
    let mut random = mutation::Random(5);
    for case in 0..20_000 {
        let mut bytes = good.clone();
        for _ in 0..=random.below(3) {
            let at = words[random.below(words.len())];
            let from = words[random.below(words.len())];
            let mut word = u64::from_le_bytes(bytes[from..from + 8].try_into().unwrap());
            match random.below(4) {
                0 => word = (random.below(bytes.len()) as u64) | (word & 1 << 63),
                1 => word ^= 1 << 63,
                _ => {}
            }
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        let start = Instant::now();
        let _ = visit(&bytes);
        assert!(start.elapsed() < Duration::from_secs(1), "case {case} took {:?}", start.elapsed());
    }
}

#[test]
fn every_truncation_is_refused() {
    let good = groom();
    for length in 0..good.len() {
        assert!(visit(&good[..length]).is_err(), "{length} bytes of {}", good.len());
    }
}

fn message(bytes: &[u8]) -> String {
    visit(bytes).unwrap_err().to_string()
}

#[test]
fn errors_say_what_is_wrong() {
    let good = groom();
    assert!(message(b"hello").contains("not an Alembic archive"));
    assert!(message(b"\x89HDF\r\n\x1a\n").contains("HDF5"));
    assert!(message(b"Ogawa").contains("not finished"));
    let mut unfinished = good.clone();
    unfinished[5] = 0;
    assert!(message(&unfinished).contains("not finished"));
    let mut beyond = good.clone();
    beyond[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(message(&beyond).contains("the file ends before"), "{}", message(&beyond));
    let mut version = good;
    version[7] = 9;
    assert!(message(&version).contains("byte 6: expected version 1"), "{}", message(&version));
}

/// Appends to an archive by hand.
struct Forger(Vec<u8>);

impl Forger {
    fn new() -> Self {
        Self([&b"Ogawa\xff\x00\x01"[..], &[0; 8]].concat())
    }

    fn words(&mut self, words: &[u64]) -> u64 {
        let position = self.0.len() as u64;
        self.0.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        position
    }

    fn group(&mut self, pointers: &[u64]) -> u64 {
        self.words(&[&[pointers.len() as u64], pointers].concat())
    }

    fn data(&mut self, bytes: &[u8]) -> u64 {
        let position = self.words(&[bytes.len() as u64]);
        self.0.extend_from_slice(bytes);
        position | 1 << 63
    }

    /// Closes the archive with `top` as its topmost object.
    fn finish(mut self, top: u64, table: &[&str]) -> Vec<u8> {
        let version = self.data(&[0; 4]);
        let sampling =
            [&1_u32.to_le_bytes()[..], &1.0_f64.to_le_bytes(), &1_u32.to_le_bytes(), &[0; 8]].concat();
        let samplings = self.data(&sampling);
        let entries: Vec<u8> =
            table.iter().flat_map(|text| [&[text.len() as u8], text.as_bytes()].concat()).collect();
        let table = self.data(&entries);
        let root = self.group(&[version, version, top, 1 << 63, samplings, table]);
        self.0[8..16].copy_from_slice(&root.to_le_bytes());
        self.0
    }
}

const CURVES: &str = "schema=AbcGeom_Curve_v2";

/// The header of an object with the first metadata of the table.
fn object_header(name: &str) -> Vec<u8> {
    [&(name.len() as u32).to_le_bytes()[..], name.as_bytes(), &[1]].concat()
}

fn timed(bytes: &[u8]) -> String {
    let start = Instant::now();
    let problem = message(bytes);
    let limit = 1.0 + bytes.len() as f64 / 1e6;
    assert!(start.elapsed().as_secs_f64() < limit, "{:?} for {} bytes", start.elapsed(), bytes.len());
    problem
}

#[test]
fn an_object_inside_itself_is_refused() {
    let mut forger = Forger::new();
    let headers = forger.data(&[&object_header("a")[..], &[0; 32]].concat());
    let position = forger.0.len() as u64;
    let top = forger.group(&[0, position, headers]);
    assert_eq!(top, position);
    assert!(timed(&forger.finish(top, &[CURVES])).contains("in one place only"));
}

#[test]
fn a_chain_of_a_hundred_thousand_objects_is_walked_without_a_stack() {
    let mut forger = Forger::new();
    let mut below = 0;
    for _ in 0..100_000 {
        let headers = forger.data(&[&object_header("a")[..], &[0; 32]].concat());
        below = forger.group(&[0, below, headers]);
    }
    let bytes = forger.finish(below, &["schema=AbcGeom_Xform_v3"]);
    let archive = Archive::from_bytes("chain.abc", bytes).unwrap();
    assert!(!archive.has_curves());
}

/// Where an array lies in an archive, as groups point at it: before its bytes are their length and a digest.
fn pointer_to(archive: &[u8], array: &[u8]) -> u64 {
    let mut found = (0..archive.len() - array.len()).filter(|&at| archive[at..].starts_with(array));
    let at = found.next().expect("the array is in the archive");
    assert_eq!(archive[at - 24..at - 16], (16 + array.len() as u64).to_le_bytes());
    (at - 24) as u64 | 1 << 63
}

/// A good archive of a hundred small groups and a large one, changed so that all have the points of the large one: what
/// would fill the memory is refused.
#[test]
fn shared_data_does_not_multiply() {
    let (groups, vertices) = (100_u16, 100_000_u32);
    let mut curves = Curves::default();
    curves.push((0..vertices).map(|vertex| Vec3::new(-1.0, vertex as f32, 0.5)));
    for group in 0..groups {
        curves.push([Vec3::new(f32::from(group), 2.0, 3.0), Vec3::new(f32::from(group), 4.0, 3.0)]);
    }
    let ids = Values::Int((0..=i32::from(groups)).collect());
    let attribute = Attribute { name: "groom_group_id".into(), domain: Domain::Strand, values: ids };
    let roots = vec![Root::Rigid; curves.strands()];
    let groom = Groom { roots, attributes: vec![attribute], curves, ..Groom::default() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.abc");
    alembic::write(&path, &groom, &WriteOptions::default()).unwrap();
    let good = std::fs::read(path).unwrap();
    assert_eq!(Archive::from_bytes("a.abc", good.clone()).unwrap().groom(0.0).unwrap().curves, groom.curves);
    let bytes_of = |strand: usize| -> Vec<u8> {
        let points = groom.curves.strand(strand).iter();
        points.flat_map(|point| point.to_array()).flat_map(f32::to_le_bytes).collect()
    };
    let mut aliases: Vec<(u64, u64)> = Vec::new();
    let large = pointer_to(&good, &bytes_of(0));
    aliases.extend((1..groom.strands()).map(|strand| (pointer_to(&good, &bytes_of(strand)), large)));
    // The numbers of vertices, which the small groups share already; each with the length and the digest before it.
    let counts = |count: u32| {
        let lengths = (24..good.len() - 4).filter(|&at| {
            good[at..at + 4] == count.to_le_bytes() && good[at - 24..at - 16] == 20_u64.to_le_bytes()
        });
        lengths.map(|at| (at - 24) as u64 | 1 << 63).collect::<Vec<_>>()
    };
    let large = counts(vertices)[0];
    aliases.extend(counts(2).into_iter().map(|small| (small, large)));
    let mut bytes = good.clone();
    let mut changed = 0;
    for at in 0..good.len() - 8 {
        let word = u64::from_le_bytes(good[at..at + 8].try_into().unwrap());
        if let Some((_, other)) = aliases.iter().find(|(small, _)| *small == word) {
            bytes[at..at + 8].copy_from_slice(&other.to_le_bytes());
            changed += 1;
        }
    }
    assert!(changed >= 2 * usize::from(groups), "{changed} pointers");
    assert!(Archive::from_bytes("a.abc", bytes.clone()).unwrap().has_curves());
    let told = mutation::in_proportion(bytes.len(), || timed(&bytes));
    assert!(told.contains("in proportion"), "{told}");
}

/// A property that never changes may claim any number of samples.
#[test]
fn four_billion_samples_of_nothing_are_refused() {
    let mut forger = Forger::new();
    let points = forger.data(&[0; 16 + 12]);
    let points = forger.group(&[points, 1 << 63]);
    // Four-byte numbers, constant.
    let info = 0x3ca2_u32 | 2 << 2;
    let header = [&info.to_le_bytes()[..], &u32::MAX.to_le_bytes(), &1_u32.to_le_bytes(), b"P"].concat();
    let headers = forger.data(&header);
    let geometry = forger.group(&[points, headers]);
    let headers = forger.data(&[&[0, 0, 0, 0, 5][..], b".geom"].concat());
    let properties = forger.group(&[geometry, headers]);
    let object = forger.group(&[properties]);
    let headers = forger.data(&[&object_header("a")[..], &[0; 32]].concat());
    let top = forger.group(&[0, object, headers]);
    assert!(timed(&forger.finish(top, &[CURVES])).contains("in proportion"));
}

/// A hundred thousand parameters with nothing in them.
#[test]
fn countless_parameters_take_time_in_proportion() {
    let mut forger = Forger::new();
    let points = forger.data(&[0; 16 + 24]);
    let points = forger.group(&[points, 1 << 63]);
    let counts = forger.data(&[&[0; 16][..], &2_u32.to_le_bytes()].concat());
    let counts = forger.group(&[counts, 1 << 63]);
    let header =
        |info: u32, name: &str| [&info.to_le_bytes()[..], &[1, name.len() as u8], name.as_bytes()].concat();
    let params = 100_000;
    let headers = forger.data(&header(0x1ca2, "").repeat(params));
    let params = forger.group(&[&vec![counts; params][..], &[headers]].concat());
    let compound = [&[0, 0, 0, 0, 14][..], b".arbGeomParams"].concat();
    let headers = forger.data(&[header(0x3ca2, "P"), header(0x1c62, "nVertices"), compound].concat());
    let geometry = forger.group(&[points, counts, params, headers]);
    let headers = forger.data(&[&[0, 0, 0, 0, 5][..], b".geom"].concat());
    let properties = forger.group(&[geometry, headers]);
    let object = forger.group(&[properties]);
    let headers = forger.data(&[&object_header("a")[..], &[0; 32]].concat());
    let top = forger.group(&[0, object, headers]);
    let bytes = forger.finish(top, &[CURVES]);
    let length = bytes.len();
    let archive = Archive::from_bytes("a.abc", bytes).unwrap();
    let start = mutation::busy();
    let problem = mutation::in_proportion(length, || archive.groom(0.0)).unwrap_err().to_string();
    let taken = (mutation::busy() - start).as_secs_f64();
    assert!(problem.contains("in proportion"), "{problem}");
    assert!(taken < 1.0 + length as f64 / 1e6, "{taken} s for {length} bytes");
}
