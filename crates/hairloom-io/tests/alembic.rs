//! Alembic archives: what is written comes back.

mod run_common;

use std::fs;
use std::path::Path;

use glam::{Vec2, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};
use hairloom_io::Space;
use hairloom_io::alembic::{self, Archive, WriteOptions};
use hairloom_io::cache::Cache;

/// A groom with everything that an archive holds, in groups that follow one another.
fn rich_groom() -> Groom {
    let mut curves = Curves::default();
    for strand in 0..7_u8 {
        let root = Vec3::new(0.1 * f32::from(strand), 1.6, -0.05);
        curves.push(
            (0..2 + strand % 3).map(|vertex| root + Vec3::new(0.003, -0.0137, 0.001) * f32::from(vertex)),
        );
    }
    let (strands, vertices) = (curves.strands(), curves.points.len());
    let column = |scale: f32, count: usize| (0..count).map(|index| scale * index as f32).collect::<Vec<_>>();
    let triples =
        |count: usize| (0..count).map(|index| Vec3::new(0.3, 0.01 * index as f32, 0.7)).collect::<Vec<_>>();
    let attribute = |name: &str, domain, values| Attribute { name: name.into(), domain, values };
    Groom {
        roots: vec![Root::Rigid; strands],
        widths: column(1.1e-5, vertices),
        root_uv: (0..strands).map(|index| Vec2::new(0.1 * index as f32, 0.77)).collect(),
        ids: (0..strands as u32).map(|index| 1000 - 3 * index).collect(),
        guides: (0..strands).map(|index| index % 3 == 1).collect(),
        attributes: vec![
            attribute("groom_group_id", Domain::Strand, Values::Int(vec![4, 4, 4, 9, 9, 2, 2])),
            attribute(
                "groom_closest_guides",
                Domain::Strand,
                Values::Vec3(vec![Vec3::new(7.0, 1e6, 3.0); strands]),
            ),
            attribute("groom_guide_weights", Domain::Strand, Values::Vec3(triples(strands))),
            attribute("displayColor", Domain::Vertex, Values::Vec3(triples(vertices))),
            attribute("clump", Domain::Strand, Values::Float(column(0.5, strands))),
            attribute("age", Domain::Vertex, Values::Int((0..vertices as i32).collect())),
            attribute("flow", Domain::Vertex, Values::Vec2(vec![Vec2::new(0.1, 0.2); vertices])),
        ],
        curves,
    }
}

fn written(groom: &Groom, options: &WriteOptions) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groom.abc");
    alembic::write(&path, groom, options).unwrap();
    (folder, path)
}

#[test]
fn every_attribute_comes_back_to_the_bit() {
    let groom = rich_groom();
    let (_folder, path) = written(&groom, &WriteOptions::default());
    assert_eq!(alembic::read(&path).unwrap(), groom);
}

#[test]
fn points_keep_their_bits_in_any_unit() {
    let mut groom = rich_groom();
    let awkward = |seed: usize| f32::from_bits(0x3dcc_cccd + 7919 * seed as u32);
    for (index, point) in groom.curves.points.iter_mut().enumerate() {
        *point = Vec3::new(awkward(index), -awkward(3 * index), 1e-3 * awkward(5 * index));
    }
    for unit in [0.01_f32, 0.0254, 0.3048, 1000.0] {
        let (_folder, path) = written(
            &groom,
            &WriteOptions { file: Space { unit, ..Space::SCENE }, ..WriteOptions::default() },
        );
        let archive = Archive::open(&path).unwrap();
        assert_eq!(archive.unit() as f32, unit);
        assert_eq!(archive.groom(0.0).unwrap().curves, groom.curves, "unit {unit}");
        let widths = archive.groom(0.0).unwrap().widths;
        assert!(widths.iter().zip(&groom.widths).all(|(a, b)| (a - b).abs() <= 1e-6 * b));
    }
}

#[test]
fn groups_that_are_mixed_stay_in_one_object_and_in_order() {
    let mut groom = rich_groom();
    groom.attributes[0].values = Values::Int(vec![4, 9, 4, 9, 9, 2, 2]);
    let (_folder, path) = written(&groom, &WriteOptions::default());
    assert_eq!(alembic::read(&path).unwrap(), groom);
}

#[test]
fn grooms_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groom.abc");
    let mut groom = rich_groom();
    groom.curves.offsets[2] = 1000;
    let error = alembic::write(&path, &groom, &WriteOptions::default()).unwrap_err();
    assert!(error.to_string().contains("offsets"), "{error}");
    let error = alembic::write(
        &path,
        &rich_groom(),
        &WriteOptions { file: Space { unit: 0.0, ..Space::SCENE }, ..WriteOptions::default() },
    )
    .unwrap_err();
    assert!(error.to_string().contains("no length"), "{error}");
}

#[test]
fn an_empty_groom_comes_back() {
    let (_folder, path) = written(&Groom::default(), &WriteOptions::default());
    assert_eq!(alembic::read(&path).unwrap().strands(), 0);
}

/// All frames of a cache, as bits.
fn frames(path: &Path) -> Vec<(Vec<Vec3>, Vec<Vec<Vec3>>)> {
    let cache = Cache::open(path).unwrap();
    let all = (0..cache.frames()).map(|frame| cache.frame(frame).unwrap());
    all.map(|frame| {
        let bodies = frame.bodies.into_iter().map(|body| body.mesh.points).collect();
        (frame.groom.curves.points, bodies)
    })
    .collect()
}

#[test]
fn a_cache_holds_what_a_usd_cache_holds() {
    let folder = tempfile::tempdir().unwrap();
    let run = |out: &str| {
        let options = run_common::options(folder.path(), run_common::SMALL, out);
        run_common::run_until(&options, None).0.unwrap();
        folder.path().join(out)
    };
    let (usd, abc) = (run("a.usdc"), run("a.abc"));
    assert_eq!(frames(&usd), frames(&abc));
    let (usd, abc) = (Cache::open(usd).unwrap(), Cache::open(abc).unwrap());
    assert_eq!(usd.fps(), abc.fps());
    let (usd, abc) = (usd.frame(2).unwrap(), abc.frame(2).unwrap());
    assert_eq!(usd.bodies, abc.bodies);
    assert!((usd.time_code - abc.time_code).abs() < 1e-9);
    assert_eq!(usd.groom.widths, abc.groom.widths);
    assert_eq!(usd.groom.curves, abc.groom.curves);
}

/// Copies the cache after every frame, as a process that is killed would leave it.
struct Killed {
    path: std::path::PathBuf,
    left: Vec<Vec<u8>>,
}

impl hairloom_io::run::Observer for Killed {
    fn frame(&mut self, _: &hairloom::simulate::FrameReport, _: u32) {
        self.left.push(fs::read(&self.path).unwrap());
    }
}

#[test]
fn a_process_killed_at_any_frame_leaves_all_frames_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let options = run_common::options(folder.path(), run_common::SMALL, "a.abc");
    let mut killed = Killed { path: folder.path().join("a.abc"), left: Vec::new() };
    hairloom_io::run::run(&options, &mut killed, &false.into()).unwrap();
    let all = frames(&killed.path);
    assert_eq!(all.len(), killed.left.len() + 1);
    for (index, mut left) in killed.left.into_iter().enumerate() {
        // The next frame was under way.
        left.extend([0x5a; 1000]);
        let path = folder.path().join("left.abc");
        fs::write(&path, left).unwrap();
        assert_eq!(frames(&path), all[..index + 2]);
    }
}

#[test]
fn an_interrupted_cache_goes_on_as_if_nothing_had_been() {
    let folder = tempfile::tempdir().unwrap();
    let whole = run_common::options(folder.path(), run_common::SMALL, "whole.abc");
    run_common::run_until(&whole, None).0.unwrap();
    let mut broken = run_common::options(folder.path(), run_common::SMALL, "broken.abc");
    run_common::run_until(&broken, Some(2)).0.unwrap();
    let path = folder.path().join("broken.abc");
    assert_eq!(frames(&path).len(), 3);
    broken.resume = true;
    run_common::run_until(&broken, None).0.unwrap();
    assert_eq!(frames(&path), frames(&folder.path().join("whole.abc")));
    // What never changes is not written twice: only structure is.
    let size = |name: &str| fs::metadata(folder.path().join(name)).unwrap().len();
    assert!(size("broken.abc") < size("whole.abc") + 20_000, "{} {}", size("broken.abc"), size("whole.abc"));
}

/// A figure that walks by itself, with a few hairs.
const WALKER: &str = r#"
name = "walker"
[time]
frames = 3
[groom]
style = { preset = "short-fur", strands = 20 }
[[body]]
name = "girl/1"
figure = "girl"
animation = "walk"
collide = false
"#;

#[test]
fn a_body_that_deforms_comes_back_and_can_carry_hair_again() {
    let folder = tempfile::tempdir().unwrap();
    for out in ["a.usdc", "a.abc"] {
        run_common::run_until(&run_common::options(folder.path(), WALKER, out), None).0.unwrap();
    }
    let (usd, abc) = (folder.path().join("a.usdc"), folder.path().join("a.abc"));
    let all = frames(&abc);
    assert!(all == frames(&usd), "the same frames");
    assert_ne!(all[0].1, all[3].1, "it walks");
    let body = &Cache::open(&abc).unwrap().frame(0).unwrap().bodies[0];
    assert_eq!(body.name, "girl_1");
    let again = WALKER
        .replace("figure = \"girl\"", "mesh = \"a.abc\"")
        .replace("\"walk\"", "\"a.abc\"")
        .replace("style = { preset = \"short-fur\", strands = 20 }", "file = \"a.abc\"");
    run_common::run_until(&run_common::options(folder.path(), &again, "b.abc"), None).0.unwrap();
    let carried = frames(&folder.path().join("b.abc"));
    assert_eq!(carried[0], all[0]);
    // Between frames the file's points are taken as linear, at frames as they are.
    let apart = carried[3].1[0].iter().zip(&all[3].1[0]).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(apart < 1e-5, "{apart}");
}

#[test]
fn a_cache_of_another_scene_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = run_common::options(folder.path(), run_common::SMALL, "a.abc");
    run_common::run_until(&options, Some(2)).0.unwrap();
    let other = rich_groom();
    alembic::write(folder.path().join("a.abc"), &other, &WriteOptions::default()).unwrap();
    options.resume = true;
    let error = run_common::run_until(&options, None).0.unwrap_err().to_string();
    assert!(error.contains("cannot go on with this cache"), "{error}");
    // What could not be continued is left as it was.
    assert_eq!(alembic::read(folder.path().join("a.abc")).unwrap(), other);
}
