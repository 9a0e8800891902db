//! `.hair` files: every combination of arrays, exact round trips, and what is refused.

mod real_grooms;

use std::fs;

use glam::Vec3;
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};
use hairloom_io::Axis;
use hairloom_io::hair::{
    self, COLOUR, Column, HairFile, HairProblem, INFO_BYTES, ReadOptions, TRANSPARENCY, WriteOptions,
};
use proptest::prelude::*;
use real_grooms::real_groom;

const METRES: ReadOptions = ReadOptions { unit: 1.0, up: Axis::Y };

fn in_metres() -> WriteOptions {
    WriteOptions { unit: 1.0, up: Axis::Y, ..WriteOptions::default() }
}

fn header(strands: u32, points: u32, flags: u32, segments: u32) -> Vec<u8> {
    let mut bytes = b"HAIR".to_vec();
    for number in [strands, points, flags, segments] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [0.5f32, 0.25, 1.0, 0.5, 0.0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([b'i'; INFO_BYTES]);
    bytes
}

fn floats(bytes: &mut Vec<u8>, values: &[f32]) {
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

fn problem(bytes: &[u8]) -> HairProblem {
    HairFile::read_from(&mut &bytes[..], bytes.len() as u64).expect_err("this file is broken")
}

/// A file put together byte by byte from the format's description, with all arrays.
#[test]
fn all_arrays_are_found_at_their_places() {
    let mut bytes = header(2, 3, 0x1f, 9);
    bytes.extend([1, 0, 0, 0]);
    floats(&mut bytes, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    floats(&mut bytes, &[0.1, 0.2, 0.3]);
    floats(&mut bytes, &[0.4, 0.5, 0.6]);
    floats(&mut bytes, &[0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    let file = HairFile::read_from(&mut &bytes[..], bytes.len() as u64).expect("a good file");
    assert_eq!(file.info, [b'i'; INFO_BYTES]);

    let groom = file.clone().into_groom(&METRES).expect("a groom");
    assert_eq!(groom.curves.offsets, [0, 2, 3]);
    assert_eq!(groom.curves.points[1], Vec3::new(4.0, 5.0, 6.0));
    assert_eq!(groom.widths, [0.1, 0.2, 0.3]);
    assert_eq!(groom.roots, [Root::Rigid; 2]);
    let expected = [
        (TRANSPARENCY, Values::Float(vec![0.4, 0.5, 0.6])),
        (COLOUR, Values::Vec3(vec![Vec3::Z, Vec3::Y, Vec3::X])),
    ];
    for (attribute, (name, values)) in groom.attributes.iter().zip(expected) {
        assert_eq!((attribute.name.as_str(), attribute.domain), (name, Domain::Vertex));
        assert_eq!(attribute.values, values);
    }

    let mut again = Vec::new();
    file.write_to(&mut again).expect("written");
    assert_eq!(again, bytes);
}

#[test]
fn defaults_of_the_header_stand_for_missing_arrays() {
    let mut bytes = header(2, 4, 0b10, 1);
    floats(&mut bytes, &[0.0; 12]);
    let file = HairFile::read_from(&mut &bytes[..], bytes.len() as u64).expect("a good file");
    let groom = file.into_groom(&ReadOptions { unit: 0.5, up: Axis::Y }).expect("a groom");
    assert_eq!(groom.curves.offsets, [0, 2, 4]);
    assert_eq!(groom.widths, [0.25; 4]);
    assert_eq!(groom.attributes[0].values, Values::Float(vec![0.25; 2]));
    assert_eq!(groom.attributes[1].values, Values::Vec3(vec![Vec3::new(1.0, 0.5, 0.0); 2]));
    assert_eq!(groom.attributes[1].domain, Domain::Strand);
}

#[test]
fn z_up_centimetres_become_y_up_metres() {
    let mut bytes = header(1, 1, 0b10, 0);
    floats(&mut bytes, &[100.0, 200.0, 300.0]);
    let file = HairFile::read_from(&mut &bytes[..], bytes.len() as u64).expect("a good file");
    let groom = file.into_groom(&ReadOptions::default()).expect("a groom");
    assert!(groom.curves.points[0].abs_diff_eq(Vec3::new(1.0, 3.0, -2.0), 1e-6));
    assert!((groom.widths[0] - 0.005).abs() < 1e-9);

    let (file, _) = HairFile::from_groom(&groom, &WriteOptions::default()).expect("a file");
    assert!(file.points[0].abs_diff_eq(Vec3::new(100.0, 200.0, 300.0), 1e-4), "{}", file.points[0]);
}

#[test]
fn a_billion_strands_in_a_small_file_name_claimed_and_available_bytes() {
    let mut bytes = header(1_000_000_000, 2_000_000_000, 0x1f, 0);
    bytes.extend([0; 100]);
    let message = problem(&bytes).to_string();
    let claimed = 128u64 + 2 * 1_000_000_000 + 32 * 2_000_000_000;
    assert!(message.contains("1000000000 strands"), "{message}");
    assert!(message.contains(&format!("{claimed} bytes")), "{message}");
    assert!(message.contains("the file has 228"), "{message}");
}

#[test]
fn broken_headers_are_refused_with_their_reason() {
    let mut foreign = header(0, 0, 0b10, 0);
    foreign[..4].copy_from_slice(b"PLY\n");
    assert!(problem(&foreign).to_string().contains(r"PLY\n"), "{}", problem(&foreign));
    assert!(matches!(problem(&header(0, 0, 0b100010, 0)), HairProblem::UnknownArrays { flags: 34 }));
    assert!(matches!(problem(&header(0, 0, 0, 0)), HairProblem::NoPoints));
    assert!(matches!(problem(b"HAIR"), HairProblem::ShortHeader { available: 4 }));

    let mut too_long = header(1, 1, 0b10, 0);
    floats(&mut too_long, &[0.0; 4]);
    assert!(matches!(problem(&too_long), HairProblem::Size { claimed: 140, available: 144, .. }));

    let mut miscounted = header(1, 1, 0b10, 7);
    floats(&mut miscounted, &[0.0; 3]);
    assert!(matches!(problem(&miscounted), HairProblem::PointCount { points: 1, counted: 8, .. }));
    let overflowing = header(u32::MAX, 0, 0b10, u32::MAX);
    assert!(matches!(problem(&overflowing), HairProblem::PointCount { .. }));
}

#[test]
fn what_does_not_fit_is_refused_on_writing_and_leaves_the_old_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("old.hair");
    fs::write(&path, "old").expect("written");
    let mut groom = Groom::default();
    groom.curves.push([Vec3::ZERO; 65_536]);
    let (file, _) = HairFile::from_groom(&groom, &in_metres()).expect("65535 segments fit");
    assert_eq!(file.segments.default, 65_535);

    for points in [0, 65_537] {
        let mut groom = Groom::default();
        groom.curves.push([Vec3::ZERO; 2]);
        groom.curves.push(vec![Vec3::ZERO; points]);
        let error = hair::write(&path, &groom, &in_metres()).expect_err("does not fit");
        assert!(matches!(error.problem, HairProblem::StrandLength { strand: 1, .. }), "{error}");
        assert!(error.to_string().contains("old.hair"), "{error}");
    }
    let mut groom = Groom::default();
    groom.curves.push([Vec3::ZERO; 2]);
    groom.widths = vec![1.0; 3];
    assert!(matches!(
        HairFile::from_groom(&groom, &in_metres()),
        Err(HairProblem::Mismatch { expected: 2, found: 3, .. })
    ));
    for offsets in [vec![], vec![0, 3], vec![1, 2], vec![0, 2, 1, 2]] {
        groom.curves.offsets = offsets;
        assert!(HairFile::from_groom(&groom, &in_metres()).is_err());
    }
    for unit in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let options = WriteOptions { unit, ..in_metres() };
        let error = hair::write(&path, &Groom::default(), &options).expect_err("no such unit");
        assert!(matches!(error.problem, HairProblem::Unit { .. }));
        assert!(hair::read(&path, &ReadOptions { unit, up: Axis::Y }).is_err());
    }
    assert_eq!(fs::read(&path).expect("still there"), b"old");
}

#[test]
fn what_the_format_cannot_hold_is_named() {
    let mut groom = Groom::default();
    groom.curves.push([Vec3::ZERO, Vec3::X]);
    groom.roots = vec![Root::Free];
    groom.ids = vec![7];
    groom.attributes =
        vec![Attribute { name: "clump".to_owned(), domain: Domain::Strand, values: Values::Int(vec![3]) }];
    let (_, written) = HairFile::from_groom(&groom, &in_metres()).expect("a file");
    assert_eq!(written.dropped, ["roots", "ids", "clump"]);
}

#[test]
fn attributes_of_strands_are_spread_or_kept_in_the_header() {
    let mut groom = Groom::default();
    groom.curves.push([Vec3::ZERO, Vec3::X]);
    groom.curves.push([Vec3::ZERO]);
    for (values, expected) in [
        (vec![0.5, 0.25], Column { default: 0.5, values: Some(vec![0.5, 0.5, 0.25]) }),
        (vec![0.5, 0.5], Column { default: 0.5, values: None }),
    ] {
        let name = TRANSPARENCY.to_owned();
        let values = Values::Float(values);
        groom.attributes = vec![Attribute { name, domain: Domain::Strand, values }];
        let (file, _) = HairFile::from_groom(&groom, &in_metres()).expect("a file");
        assert_eq!(file.transparency, expected);
    }
}

#[test]
fn long_information_is_cut_between_characters() {
    let info = "ä".repeat(60);
    let options = WriteOptions { info, ..in_metres() };
    let (file, _) = HairFile::from_groom(&Groom::default(), &options).expect("a file");
    assert_eq!(str::from_utf8(&file.info), Ok("ä".repeat(44).as_str()));
}

#[test]
fn folders_and_missing_files_are_errors_with_a_path() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in [folder.path().to_owned(), folder.path().join("none.hair")] {
        let error = hair::read(&path, &METRES).expect_err("nothing to read");
        assert!(error.to_string().starts_with(&*path.to_string_lossy()), "{error}");
    }
}

#[test]
#[ignore = "needs real grooms, which are not part of the project: cargo xtask test"]
fn real_groom_hangs_down_from_a_head() {
    let path = real_groom("straight/straight.hair");
    let groom = hair::read(path, &ReadOptions::default()).expect("a groom");
    assert_eq!(groom.curves.strands(), 10_000);
    assert!(groom.curves.iter().all(|strand| strand.len() == 16));
    let length = |strand: &[Vec3]| strand.windows(2).map(|pair| pair[0].distance(pair[1])).sum::<f32>();
    let mean_length = groom.curves.iter().map(length).sum::<f32>() / 10_000.0;
    assert!((0.7..0.85).contains(&mean_length), "{mean_length}");
    let falling = groom.curves.iter().filter(|strand| strand[15].y < strand[0].y).count();
    assert!(falling > 9_900, "{falling} of 10000 tips are below their roots");
    assert!(groom.attributes.iter().any(|attribute| attribute.name == COLOUR));

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("copy.hair");
    hair::write(&path, &groom, &in_metres()).expect("written");
    assert!(hair::read(&path, &METRES).expect("read again") == groom);
}

fn any_f32() -> impl Strategy<Value = f32> {
    use proptest::num::f32;
    f32::POSITIVE | f32::NEGATIVE | f32::NORMAL | f32::SUBNORMAL | f32::ZERO
}

fn any_vec3() -> impl Strategy<Value = Vec3> {
    [any_f32(), any_f32(), any_f32()].prop_map(Vec3::from_array)
}

prop_compose! {
    fn any_curves()(lengths in prop::collection::vec(1usize..7, 0..12))(
        points in prop::collection::vec(any_vec3(), lengths.iter().sum::<usize>()),
        lengths in Just(lengths),
    ) -> Curves {
        let mut offsets = vec![0];
        offsets.extend(lengths.iter().scan(0, |end, &length| {
            *end += length as u32;
            Some(*end)
        }));
        Curves { offsets, points }
    }
}

prop_compose! {
    fn any_groom()(curves in any_curves())(
        widths in prop::collection::vec(any_f32(), curves.points.len()),
        transparency in prop::collection::vec(any_f32(), curves.points.len()),
        colours in prop::collection::vec(any_vec3(), curves.points.len()),
        curves in Just(curves),
    ) -> Groom {
        let attribute = |name: &str, values| Attribute { name: name.to_owned(), domain: Domain::Vertex, values };
        Groom {
            roots: vec![Root::Rigid; curves.strands()],
            curves,
            widths,
            attributes: vec![
                attribute(TRANSPARENCY, Values::Float(transparency)),
                attribute(COLOUR, Values::Vec3(colours)),
            ],
            ..Groom::default()
        }
    }
}

proptest! {
    #[test]
    fn grooms_come_back_bit_for_bit(groom in any_groom()) {
        let (file, written) = HairFile::from_groom(&groom, &in_metres()).expect("a file");
        prop_assert!(written.dropped.is_empty());
        let mut bytes = Vec::new();
        file.write_to(&mut bytes).expect("written");
        let read = HairFile::read_from(&mut &bytes[..], bytes.len() as u64).expect("read");
        prop_assert_eq!(&read, &file);
        let back = read.into_groom(&METRES).expect("a groom");
        prop_assert_eq!(back, groom);
    }

    #[test]
    fn z_up_files_come_back_within_two_units_in_the_last_place(
        x in -1e3f32..1e3, y in -1e3f32..1e3, z in -1e3f32..1e3,
    ) {
        let mut groom = Groom::default();
        groom.curves.push([Vec3::new(x, y, z)]);
        let (file, _) = HairFile::from_groom(&groom, &WriteOptions::default()).expect("a file");
        let back = file.into_groom(&ReadOptions::default()).expect("a groom").curves.points[0];
        for (was, is) in groom.curves.points[0].to_array().into_iter().zip(back.to_array()) {
            prop_assert!((was - is).abs() <= 2.0 * f32::EPSILON * was.abs(), "{} became {}", was, is);
        }
    }

    #[test]
    fn raw_files_keep_every_array_and_default(
        curves in any_curves(), present in any::<[bool; 3]>(), default in any_f32(), seed in any::<u8>(),
    ) {
        let count = curves.points.len();
        let values = |present: bool| present.then(|| (0..count).map(|at| at as f32 + f32::from(seed)).collect());
        let file = HairFile {
            strands: curves.strands() as u32,
            segments: Column {
                default: 77,
                values: Some(curves.iter().map(|strand| strand.len() as u16 - 1).collect()),
            },
            thickness: Column { default, values: values(present[0]) },
            transparency: Column { default, values: values(present[1]) },
            colour: Column { default: Vec3::splat(default), values: present[2].then(|| curves.points.clone()) },
            points: curves.points,
            info: [seed; INFO_BYTES],
        };
        let mut bytes = Vec::new();
        file.write_to(&mut bytes).expect("written");
        let read = HairFile::read_from(&mut &bytes[..], bytes.len() as u64).expect("read");
        prop_assert_eq!(read, file);
    }
}
