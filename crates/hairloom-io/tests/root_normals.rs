//! Caches have the normals of the body at the roots: those of the groom's file, or else those of the mesh.

mod run_common;

use std::fmt::Write;
use std::path::Path;

use glam::{Quat, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};
use hairloom::simulate::Library;
use hairloom_io::cache::{Cache, CacheFrame, ROOT_NORMAL};
use hairloom_io::grooms::{self, FileGroom, Said};
use hairloom_io::run::RunOptions;
use hairloom_io::{Axis, BodyMesh, Folder, Space};

const SCENE: &str = "name = \"normals\"\n[time]\nframes = 3\n[groom]\nfile = \"hair.usda\"\nbody = \"ball\"\n[[body]]\nname = \"ball\"\nmesh = \"ball.obj\"\n";

/// A ball of quads 7.5 degrees wide and high, each with vertices of its own.
fn write_ball(path: &Path) {
    let (rows, columns) = (24_u8, 48_u8);
    let point = |row: u8, column: u8| {
        let (polar, around) = (f32::from(row).to_radians() * 7.5, f32::from(column % 48).to_radians() * 7.5);
        0.1 * Vec3::new(polar.sin() * around.sin(), polar.cos(), polar.sin() * around.cos())
    };
    let mut text = String::new();
    for row in 0..rows {
        for column in 0..columns {
            for (down, right) in [(0, 0), (1, 0), (1, 1), (0, 1)] {
                let Vec3 { x, y, z } = point(row + down, column + right);
                writeln!(text, "v {x} {y} {z}").unwrap();
            }
            text += "f -4 -3 -2 -1\n";
        }
    }
    std::fs::write(path, text).unwrap();
}

/// Strands that stand on the ball, away from its poles.
fn groom() -> Groom {
    let mut curves = Curves::default();
    for strand in 0..200_u8 {
        let around = Quat::from_rotation_y(2.4 * f32::from(strand));
        let out = around * Quat::from_rotation_x(f32::from(strand) / 200.0 - 0.5) * Vec3::Z;
        curves.push([0.1, 0.12, 0.14].map(|radius| radius * out));
    }
    Groom { roots: vec![Root::Rigid; 200], widths: vec![1e-4; 600], curves, ..Groom::default() }
}

fn write_groom(path: &Path, groom: Groom) {
    grooms::write(path, &FileGroom { groom, space: Space::SCENE }, &Said::default()).unwrap();
}

fn normals(frame: &CacheFrame) -> &[Vec3] {
    let found = frame.groom.attributes.iter().find(|attribute| attribute.name == ROOT_NORMAL).unwrap();
    assert_eq!(found.domain, Domain::Strand);
    let Values::Vec3(normals) = &found.values else { panic!("{found:?}") };
    normals
}

/// The normals of a ball are known. Those of its faces are up to 5 degrees off, smooth ones less than one.
#[test]
fn caches_have_the_normals_of_the_mesh() {
    let folder = tempfile::tempdir().unwrap();
    write_ball(&folder.path().join("ball.obj"));
    write_groom(&folder.path().join("hair.usda"), groom());
    let moving = format!("{SCENE}motion = {{ builtin = \"random\", period = 0.5 }}\n");
    // A ball of quads, and one that a formula describes.
    let cases = [(&*moving, "a.usda", 200), (&moving, "a.usdc", 200), (&moving, "a.abc", 200)];
    for (scene, out, strands) in cases.into_iter().chain([(run_common::SMALL, "b.abc", 20)]) {
        let options = run_common::options(folder.path(), scene, out);
        // Interrupted and resumed, when the body is elsewhere.
        run_common::run_until(&options, Some(1)).0.unwrap();
        run_common::run_until(&RunOptions { resume: true, ..options }, None).0.unwrap();
        let cache = Cache::open(folder.path().join(out)).unwrap();
        assert!(cache.frames() >= 4, "{out}");
        let frame = cache.frame(0).unwrap();
        let ball = &frame.bodies[0].mesh.points;
        let centre = ball.iter().sum::<Vec3>() / ball.len() as f32;
        assert_eq!(normals(&frame).len(), strands, "{out}");
        for (strand, normal) in normals(&frame).iter().enumerate() {
            let out = (frame.groom.curves.strand(strand)[0] - centre).normalize();
            let off = normal.angle_between(out).to_degrees();
            assert!((normal.length() - 1.0).abs() < 1e-5 && off < 1.0, "strand {strand}: {off} degrees");
        }
    }
}

/// A groom in the unit and axes of its file gets the normals in those axes, and its strands are turned without moving a point.
#[test]
fn files_of_any_axes_get_the_normals_of_a_mesh() {
    let folder = tempfile::tempdir().unwrap();
    write_ball(&folder.path().join("ball.obj"));
    let body = BodyMesh::new(Folder::new(folder.path()).mesh("ball.obj").unwrap()).unwrap();
    let own = Space { unit: 0.01, up: Axis::Z };
    let proper = FileGroom { groom: groom(), space: Space::SCENE }.in_space(own);
    let mut reversed = proper.clone();
    for strand in 0..200 {
        let range = reversed.groom.curves.range(strand);
        reversed.groom.curves.points[range].reverse();
    }
    let (turned, count) = body.turn(reversed);
    assert_eq!((count.strands, &turned.groom.curves), (200, &proper.groom.curves));
    let with = body.with_root_normals(turned);
    let Values::Vec3(normals) = &with.groom.attributes[0].values else { panic!() };
    for (strand, normal) in normals.iter().enumerate() {
        let off = normal.angle_between(with.groom.curves.strand(strand)[0]).to_degrees();
        assert!(off < 1.0, "strand {strand}: {off} degrees");
    }
    assert_eq!(body.with_root_normals(with.clone()), with, "its own normals stay");
}

#[test]
fn normals_of_the_groom_stay() {
    let folder = tempfile::tempdir().unwrap();
    write_ball(&folder.path().join("ball.obj"));
    let values = Values::Vec3(vec![Vec3::new(0.6, 0.0, 0.8); 200]);
    let attribute = Attribute { name: ROOT_NORMAL.into(), domain: Domain::Strand, values };
    write_groom(&folder.path().join("hair.usda"), Groom { attributes: vec![attribute], ..groom() });
    for out in ["a.usdc", "a.abc"] {
        let options = run_common::options(folder.path(), SCENE, out);
        run_common::run_until(&options, None).0.unwrap();
        let frame = Cache::open(folder.path().join(out)).unwrap().frame(0).unwrap();
        assert_eq!(normals(&frame), [Vec3::new(0.6, 0.0, 0.8); 200], "{out}");
    }
}
