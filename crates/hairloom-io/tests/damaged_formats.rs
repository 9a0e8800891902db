//! Readers of `.hair`, `.tfx`, `.data`, PLY, OBJ and scene files on thousands of damaged files: an answer or an error, never a panic, never
//! memory that the file does not pay for.

mod mutation;

use glam::{Vec2, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};
use hairloom::scene::Scene;
use hairloom_io::hair::{self, Column, HairFile, INFO_BYTES};
use hairloom_io::{obj, ply, tfx, tfxmesh, usc};

fn small_hair(arrays: bool) -> Vec<u8> {
    let count = 12;
    let number = |index: usize| index as f32 * 0.5;
    let column = |default| Column { default, values: arrays.then(|| (0..count).map(number).collect()) };
    let file = HairFile {
        strands: 4,
        segments: Column { default: 2, values: arrays.then(|| vec![1, 0, 5, 2]) },
        points: (0..count).map(|index| Vec3::splat(number(index))).collect(),
        thickness: column(0.1),
        transparency: column(0.2),
        colour: Column {
            default: Vec3::ONE,
            values: arrays.then(|| (0..count).map(|index| Vec3::X * number(index)).collect()),
        },
        info: [b'.'; INFO_BYTES],
    };
    let mut bytes = Vec::new();
    file.write_to(&mut bytes).expect("a good file");
    bytes
}

fn read_hair(bytes: &[u8]) -> bool {
    let Ok(file) = HairFile::read_from(&mut &bytes[..], bytes.len() as u64) else { return false };
    let mut again = Vec::new();
    file.write_to(&mut again).expect("what was read can be written");
    assert_eq!(again, bytes, "what was accepted is kept to the bit");
    let groom = file.into_groom(&hair::ReadOptions::default()).expect("what was read is a groom");
    assert_eq!(groom.curves.offsets.last().copied(), Some(groom.curves.points.len() as u32));
    assert_eq!(groom.widths.len(), groom.curves.points.len());
    true
}

#[test]
fn damaged_hair_files_are_read_or_refused() {
    for (seed, arrays) in [(1, true), (2, false)] {
        let words: [&[u8]; 4] = [b"HAIR", &[0xff; 4], &[0; 12], b"\x1f\0\0\0"];
        let accepted = mutation::survive(&small_hair(arrays), 20_000, seed, &words, read_hair);
        // Flipped bits in values and text are data; most other damage is not.
        assert!((200..18_000).contains(&accepted), "{accepted} of 20000 accepted");
    }
}

#[test]
fn every_cut_of_a_hair_file_is_refused() {
    for good in [small_hair(true), small_hair(false)] {
        for length in 0..good.len() {
            assert!(!read_hair(&good[..length]), "{length} of {} bytes", good.len());
        }
        assert!(read_hair(&good));
    }
}

/// The length that the caller names may be wrong as well, for instance if the file shrinks meanwhile.
#[test]
fn a_hair_file_that_ends_early_is_refused() {
    let good = small_hair(true);
    for length in 0..good.len() {
        assert!(HairFile::read_from(&mut &good[..length], good.len() as u64).is_err());
    }
}

const OBJ: &[u8] = b"# head\nmtllib a.mtl\no head\nv 0 0 0\nv 1.5 0 0 1.0\nv 1 1e0 0\nv 0 1 -0.25 1 0 0\r\nvn 0 0 1\n\
vt 0.5 0.5\ng skin scalp\ns off\nf 1/1/1 2/1/1 3/1/1 4/1/1\nf -4//1 -3//1 -2//1\nf 1 2 \\\n 3\nl 1 2 3\np 1\n";

const OBJ_WORDS: [&[u8]; 14] = [
    b"\nf ",
    b"\nv ",
    b"-1 ",
    b" 0 ",
    b"4294967296 ",
    b"-9223372036854775808 ",
    b"//",
    b"\\\n",
    b"1e400 ",
    b"nan ",
    b"#",
    b"\xff\xfe",
    b"\ng ",
    b"\0",
];

fn read_obj(bytes: &[u8]) -> bool {
    for only in [None, Some("skin".to_owned())] {
        let options = obj::ReadOptions { only, ..obj::ReadOptions::default() };
        match obj::parse(bytes, &options) {
            Ok(read) => {
                let points = read.mesh.points.len();
                assert!(read.mesh.triangles.iter().flatten().all(|&vertex| (vertex as usize) < points));
                assert!(read.mesh.points.iter().all(|point| point.is_finite()));
            }
            Err(problem) => {
                let lines = bytes.split(|&byte| byte == b'\n' || byte == b'\r').count();
                assert!(problem.line().is_none_or(|line| (1..=lines).contains(&line)));
                assert!(problem.to_string().len() < 1000);
                return false;
            }
        }
    }
    true
}

#[test]
fn damaged_obj_files_are_read_or_refused() {
    let accepted = mutation::survive(OBJ, 20_000, 3, &OBJ_WORDS, read_obj);
    assert!((1_000..18_000).contains(&accepted), "{accepted} of 20000 accepted");
}

#[test]
fn every_cut_of_an_obj_file_comes_back() {
    for length in 0..OBJ.len() {
        let _ = read_obj(&OBJ[..length]);
    }
}

/// Megabytes of the worst of each kind must take time in proportion, which a minute is far beyond.
#[test]
fn monstrous_obj_files_are_read_in_proportionate_time() {
    let size = 4 << 20;
    let fill = |pattern: &[u8]| pattern.iter().copied().cycle().take(size).collect::<Vec<u8>>();
    let head = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf ";
    let start = std::time::Instant::now();
    let read = |bytes: &[u8]| mutation::in_proportion(bytes.len(), || read_obj(bytes));
    for pattern in [
        &b"1 2 3 "[..],
        b"9",
        b"\\\n",
        b"/",
        b"#",
        b"\n",
        b"\r",
        b" ",
        b"\0",
        b"1/",
        b"f 1 2 3\n",
        b"g a b c\n",
        b"v 1 1 1\n",
    ] {
        let _ = read(&fill(pattern));
        let _ = read(&[&head[..], &fill(pattern)].concat());
        let _ = read(&[&b"v "[..], &fill(pattern)].concat());
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

/// Strands with everything that the formats hold.
fn strands() -> Groom {
    let curves = Curves {
        offsets: vec![0, 4, 8, 12],
        points: (0..12).map(|index| Vec3::new(index as f32, 0.5, -1.25)).collect(),
    };
    let values = Values::Vec3(vec![Vec3::new(0.1, 0.2, 0.3); 12]);
    let colours = Attribute { name: "displayColor".into(), domain: Domain::Vertex, values };
    Groom {
        roots: vec![Root::Rigid; 3],
        widths: vec![1e-4; 12],
        root_uv: vec![Vec2::ONE; 3],
        attributes: vec![colours],
        curves,
        ..Groom::default()
    }
}

/// Whether a groom was read; if so, it holds together and is not much larger than its file.
fn sound(read: Result<Groom, impl std::fmt::Display>, bytes: &[u8]) -> bool {
    match read {
        Ok(groom) => {
            assert!(
                groom.check_shape().is_ok()
                    || groom.curves.points.iter().any(|p| p.abs().max_element() > 1e5 || !p.is_finite())
            );
            assert_eq!(groom.curves.offsets.last().copied(), Some(groom.curves.points.len() as u32));
            assert!(groom.widths.is_empty() || groom.widths.len() == groom.vertices());
            let memory = groom.vertices() * size_of::<Vec3>() + groom.strands() * (size_of::<Root>() + 4);
            assert!(memory <= 8 * bytes.len() + 256, "{memory} bytes from {}", bytes.len());
            true
        }
        Err(problem) => {
            assert!((1..1000).contains(&problem.to_string().len()));
            false
        }
    }
}

const WORDS: [&[u8]; 8] = [
    &[0xff; 4],
    &[0; 8],
    b"\n",
    b" 4294967296 ",
    b"-1 ",
    b"nan ",
    b"element edge 3\n",
    b"property list uchar int x\n",
];

#[test]
fn damaged_strand_files_are_read_or_refused() {
    let written = |write: fn(&mut Vec<u8>, &Groom) -> Result<(), hairloom_io::FileProblem>| {
        let mut bytes = Vec::new();
        write(&mut bytes, &strands()).unwrap();
        bytes
    };
    let tfx = written(tfx::write_to);
    mutation::survive(&tfx, 20_000, 11, &WORDS, |bytes| sound(tfx::parse(bytes), bytes));
    let data = written(usc::write_to);
    mutation::survive(&data, 20_000, 12, &WORDS, |bytes| sound(usc::parse(bytes), bytes));
    let ply = written(ply::write_to);
    mutation::survive(&ply, 20_000, 13, &WORDS, |bytes| sound(ply::parse(bytes), bytes));
    let lines = written(obj::write_strands);
    mutation::survive(&lines, 20_000, 14, &WORDS, |bytes| sound(obj::parse_strands(bytes), bytes));
    for length in 0..tfx.len() {
        assert!(!sound(tfx::parse(&tfx[..length]), &tfx), "{length} bytes");
    }
    for length in 0..ply.len() {
        assert!(!sound(ply::parse(&ply[..length]), &ply), "{length} bytes");
    }
}

const ASCII_PLY: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
property uchar red\nproperty uchar green\nproperty uchar blue\nproperty int strand_id\nelement face 2\n\
property list uchar int vertex_indices\nend_header\n0 0 0 1 2 3 5\n1 0 0 1 2 3 5\n1 1 0 1 2 3 4\n0 1 0 1 2 3 4\n\
4 0 1 2 3\n3 0 1 2\n";

#[test]
fn damaged_ascii_ply_files_are_read_or_refused() {
    let read = |bytes: &[u8]| {
        if let Ok(mesh) = ply::parse_mesh(bytes) {
            let points = mesh.points.len();
            assert!(mesh.triangles.iter().flatten().all(|&vertex| (vertex as usize) < points));
        }
        sound(ply::parse(bytes), bytes)
    };
    let accepted = mutation::survive(ASCII_PLY.as_bytes(), 20_000, 15, &WORDS, read);
    assert!((200..18_000).contains(&accepted), "{accepted} of 20000 accepted");
}

#[test]
fn damaged_collision_meshes_are_read_or_refused() {
    let good = "# made by hand\nnumOfBones 2\n0 root\n1 head\nnumOfVertices 4\n0 0 0 0 0 0 1 0 1 0 0 1 0 0 0\n\
        1 1 0 0 0 0 1\n2 0 1 0\n3 1 1 0\nnumOfTriangles 2\n0 0 1 2\n1 1 3 2\n";
    let read = |bytes: &[u8]| {
        tfxmesh::parse(bytes).is_ok_and(|mesh| {
            let points = mesh.points.len();
            assert!(mesh.triangles.iter().flatten().all(|&vertex| (vertex as usize) < points));
            true
        })
    };
    let accepted = mutation::survive(good.as_bytes(), 20_000, 16, &WORDS, read);
    assert!((200..18_000).contains(&accepted), "{accepted} of 20000 accepted");
}

/// A megabyte of what costs readers most: each takes well below a second.
#[test]
fn hostile_strand_files_take_proportionate_time() {
    let size = 1 << 20;
    let fill = |pattern: &[u8]| pattern.iter().copied().cycle().take(size).collect::<Vec<u8>>();
    let heads = [
        "ply\nformat ascii 1.0\nelement vertex 99999\nproperty float x\nproperty float y\nproperty float z\n\
         property int strand_id\nend_header\n",
        "ply\nformat ascii 1.0\nelement vertex 4000000000\nend_header\n",
        "ply\nformat ascii 1.0\nelement face 200000\nproperty list uchar int vertex_indices\nend_header\n",
        "ply\nformat binary_big_endian 1.0\nelement vertex 80000\nproperty float x\nproperty float y\n\
         property float z\nelement edge 9000\nproperty uchar vertex1\nproperty uchar vertex2\nend_header\n",
        "ply\nformat binary_little_endian 1.0\nelement strand 1\nproperty list uint uchar vertex_indices\n\
         element vertex 0\nproperty float x\nproperty float y\nproperty float z\nend_header\n\0\0\x0f\0",
        "ply\nformat binary_little_endian 1.0\nelement face 1\nproperty list uint uchar vertex_indices\nend_header\n\0\0\x0f\0",
        "v 0 0 0\nv 1 1 1\n",
        "",
    ];
    let start = std::time::Instant::now();
    for head in heads {
        for pattern in
            [&b"0 0 0 1\n"[..], b"1 ", b"\0", b"9", b"l 1 2\n", b"l 1 1\n", b"\n", b"v 1 1 1\nl -1\n"]
        {
            let bytes = [head.as_bytes(), &fill(pattern)].concat();
            mutation::in_proportion(bytes.len(), || sound(ply::parse(&bytes), &bytes));
            mutation::in_proportion(bytes.len(), || sound(usc::parse(&bytes), &bytes));
            mutation::in_proportion(bytes.len(), || sound(tfx::parse(&bytes), &bytes));
            mutation::in_proportion(bytes.len(), || sound(obj::parse_strands(&bytes), &bytes));
            let _ = mutation::in_proportion(bytes.len(), || ply::parse_mesh(&bytes));
        }
    }
    assert!(start.elapsed().as_secs() < 48, "{:?}", start.elapsed());
}

/// Vertices that are not there are not even collected.
#[test]
fn lists_longer_than_the_vertices_are_refused() {
    let size = 3_u32 << 20;
    for (element, mesh) in [("strand", false), ("face", true)] {
        let head = format!(
            "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n\
             element {element} 1\nproperty list uint uchar vertex_indices\nend_header\n\0\0\0\0\0\0\0\0\0\0\0\0"
        );
        let bytes = [head.as_bytes(), &size.to_le_bytes(), &vec![0; size as usize]].concat();
        let told = mutation::in_proportion(bytes.len(), || match mesh {
            true => ply::parse_mesh(&bytes).unwrap_err().to_string(),
            false => ply::parse(&bytes).unwrap_err().to_string(),
        });
        assert!(told.contains("names more vertices than there are"), "{told}");
    }
}

const SCENE: &str = include_str!("../../../scenes/every-key.toml");

const SCENE_WORDS: [&[u8]; 12] = [
    b" = 0\n",
    b" = -1\n",
    b" = nan\n",
    b" = 1e400\n",
    b" = []\n",
    b"[[body]]\n",
    b"[time]\n",
    b"99999999999999999999",
    b"\"\"\"",
    b"'",
    b"\xff",
    b"{",
];

#[test]
fn damaged_scenes_are_read_or_refused_with_their_place() {
    let read = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        match Scene::from_toml(&text, "scene.toml") {
            Ok(scene) => scene.to_toml().is_ok(),
            Err(error) => {
                let told = error.to_string();
                assert!(told.starts_with("scene.toml:"), "{told}");
                false
            }
        }
    };
    let accepted = mutation::survive(SCENE.as_bytes(), 4_000, 4, &SCENE_WORDS, read);
    // Much of the file is comments.
    assert!((200..3_800).contains(&accepted), "{accepted} of 4000 accepted");
}

#[test]
#[should_panic(expected = "panic in case")]
fn a_reader_that_panics_is_noticed() {
    mutation::survive(OBJ, 1_000, 5, &OBJ_WORDS, |bytes| {
        assert!(bytes.starts_with(b"# head"), "damaged at its head");
        true
    });
}
