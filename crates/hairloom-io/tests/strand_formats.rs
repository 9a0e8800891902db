//! TressFX, USC-HairSalon, PLY and OBJ strands; conversion between all formats of grooms; real grooms.

mod real_grooms;

use glam::{Vec2, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Root, Values};
use hairloom::simulate::Library;
use hairloom_io::cache::Cache;
use hairloom_io::grooms::{self, FileGroom, Said};
use hairloom_io::{Axis, Folder, Space, obj, ply, tfx, usc};
use real_grooms::real_groom;

/// Positions with full mantissas.
fn points(count: usize) -> Vec<Vec3> {
    let wave = |index: usize| (index as f32 * 0.73).sin() * 0.37 + 1.6;
    (0..count).map(|index| Vec3::new(wave(index), wave(index + 7), index as f32 * 0.013 + 0.1)).collect()
}

fn groom(strands: usize, length: usize) -> Groom {
    let vertices = strands * length;
    Groom {
        curves: Curves {
            offsets: (0..=strands).map(|strand| (strand * length) as u32).collect(),
            points: points(vertices),
        },
        roots: vec![Root::Rigid; strands],
        widths: (0..vertices).map(|vertex| 7e-5 + (vertex / length) as f32 * 1e-6).collect(),
        root_uv: (0..strands).map(|strand| Vec2::new(strand as f32 * 0.1, 0.25)).collect(),
        ..Groom::default()
    }
}

fn colours(count: usize) -> Attribute {
    let values = Values::Vec3((0..count).map(|index| Vec3::new(0.1, 0.2, index as f32 * 0.01)).collect());
    Attribute { name: "displayColor".into(), domain: Domain::Vertex, values }
}

#[test]
fn tfx_files_come_back_to_the_bit() {
    let mut full = groom(5, 4);
    full.attributes.push(colours(20));
    let opacity = Values::Float((0..20).map(|index| index as f32 * 0.05).collect());
    full.attributes.push(Attribute {
        name: "displayOpacity".into(),
        domain: Domain::Vertex,
        values: opacity,
    });
    let plain = Groom { widths: Vec::new(), root_uv: Vec::new(), ..groom(3, 8) };
    for groom in [full, plain] {
        let mut bytes = Vec::new();
        tfx::write_to(&mut bytes, &groom).unwrap();
        assert_eq!(tfx::parse(&bytes).unwrap(), groom);
        // The layout: version, counts, where the positions are; w is 0 at roots and 1 beyond them.
        assert_eq!(bytes[..4], 4.0_f32.to_le_bytes());
        assert_eq!(bytes[4..8], (groom.strands() as u32).to_le_bytes());
        assert_eq!(bytes[12..16], 160_u32.to_le_bytes());
        assert_eq!(bytes[160..164], groom.curves.points[0].x.to_le_bytes());
        assert_eq!(bytes[172..176], 0.0_f32.to_le_bytes());
        assert_eq!(bytes[188..192], 1.0_f32.to_le_bytes());
    }
}

#[test]
fn tfx_strands_must_be_of_one_length() {
    let mut uneven = groom(2, 4);
    uneven.curves.offsets[1] = 3;
    let problem = tfx::write_to(&mut Vec::new(), &uneven).unwrap_err().to_string();
    assert!(problem.contains("resample"), "{problem}");
}

#[test]
fn data_files_come_back_to_the_bit() {
    let mut uneven = Groom { widths: Vec::new(), root_uv: Vec::new(), ..groom(3, 4) };
    uneven.curves.offsets = vec![0, 1, 7, 12];
    let mut bytes = Vec::new();
    usc::write_to(&mut bytes, &uneven).unwrap();
    assert_eq!(bytes.len(), 4 + 3 * 4 + 12 * 12);
    assert_eq!(usc::parse(&bytes).unwrap(), uneven);
    for length in 0..bytes.len() {
        assert!(usc::parse(&bytes[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn ply_strands_of_all_conventions_are_the_same() {
    let head = "ply\nformat ascii 1.0\ncomment c\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n";
    let body = "0 0 0\n0 1 0\n0 2 0\n1 0 0\n1 1 0.1\n";
    let lists = format!(
        "{head}element strand 2\nproperty list uchar int vertex_indices\nend_header\n{body}3 0 1 2\n2 3 4\n"
    );
    let counts = format!("{head}element strand 2\nproperty int vertex_count\nend_header\n{body}3\n2\n");
    let edges = format!(
        "{head}element edge 3\nproperty int vertex1\nproperty int vertex2\nend_header\n{body}1 2\n0 1\n3 4\n"
    );
    let ids =
        format!("{head}property int strand_id\nend_header\n0 0 0 7\n0 1 0 7\n0 2 0 7\n1 0 0 3\n1 1 0.1 3\n");
    let expected = ply::parse(lists.as_bytes()).unwrap();
    assert_eq!(expected.curves.offsets, [0, 3, 5]);
    assert_eq!(expected.curves.points[4], Vec3::new(1.0, 1.0, 0.1));
    assert_eq!(ply::parse(counts.as_bytes()).unwrap(), expected);
    assert_eq!(ply::parse(edges.as_bytes()).unwrap(), expected);
    let by_ids = ply::parse(ids.as_bytes()).unwrap();
    assert_eq!((by_ids.curves, by_ids.ids), (expected.curves, vec![7, 3]));
}

#[test]
fn ply_edges_start_at_the_root_and_do_not_branch() {
    let file = |edges: &str, count: usize| {
        format!(
            "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement edge \
             {count}\nproperty int vertex1\nproperty int vertex2\nend_header\n0 0 0\n1 0 0\n2 0 0\n3 0 0\n{edges}"
        )
    };
    // Edges that run down from vertex 3 make it the root.
    let turned = ply::parse(file("3 2\n2 1\n1 0\n", 3).as_bytes()).unwrap();
    assert_eq!(turned.curves.points[0], Vec3::X * 3.0);
    for (edges, count, word) in
        [("0 1\n1 2\n1 3\n", 3, "branch"), ("0 1\n1 2\n2 0\n", 3, "ring"), ("0 1\n1 0\n", 2, "twice")]
    {
        let problem = ply::parse(file(edges, count).as_bytes()).unwrap_err().to_string();
        assert!(problem.contains(word), "{problem}");
    }
}

#[test]
fn ply_files_come_back_to_the_bit_in_both_byte_orders() {
    let mut groom = Groom { root_uv: Vec::new(), ..groom(4, 5) };
    groom.attributes.push(colours(20));
    groom.curves.offsets = vec![0, 2, 9, 10, 20];
    let mut bytes = Vec::new();
    ply::write_to(&mut bytes, &groom).unwrap();
    assert_eq!(ply::parse(&bytes).unwrap(), groom);
    // The same with every number of four bytes turned round: all of them are.
    let end = bytes.windows(11).position(|window| window == b"end_header\n").unwrap() + 11;
    let header = String::from_utf8(bytes[..end].to_vec()).unwrap().replace("little", "big");
    let turned = bytes[end..].chunks(4).flat_map(|word| word.iter().rev().copied());
    let big: Vec<u8> = header.bytes().chain(turned).collect();
    assert_eq!(ply::parse(&big).unwrap(), groom);
}

#[test]
fn obj_polylines_come_back_and_edges_join() {
    let mut groom = Groom { widths: Vec::new(), root_uv: Vec::new(), ..groom(3, 4) };
    groom.curves.offsets = vec![0, 2, 7, 12];
    let mut bytes = Vec::new();
    obj::write_strands(&mut bytes, &groom).unwrap();
    assert_eq!(obj::parse_strands(&bytes).unwrap(), groom);
    let edges = b"v 0 0 0\nv 0 1 0\nv 0 2 0\nv 5 5 5\nl 1 2\nl -3 -2\n";
    let joined = obj::parse_strands(edges).unwrap();
    assert_eq!(joined.curves.offsets, [0, 3]);
    assert!(obj::parse_strands(b"v 0 0 0\nl 1 2\n").is_err());
    assert!(obj::parse_strands(b"v 0 0 0\n").unwrap_err().to_string().contains("polylines"));
}

/// From every format to every other and back: the same bits, where the unit is kept.
#[test]
fn positions_survive_any_conversion() {
    let folder = tempfile::tempdir().unwrap();
    let endings = ["usda", "usdc", "abc", "hair", "tfx", "data", "ply", "obj"];
    let start = FileGroom {
        groom: Groom { root_uv: Vec::new(), ..groom(4, 6) },
        space: Space { unit: 0.01, up: Axis::Z },
    };
    let said = Said { unit: Some(0.01), up: Some(Axis::Z), ..Said::default() };
    for first in endings {
        for second in endings {
            let (a, b) =
                (folder.path().join(format!("a.{first}")), folder.path().join(format!("b.{second}")));
            grooms::write(&a, &start, &said).unwrap();
            let read = grooms::read(&a, &said).unwrap();
            grooms::write(&b, &read, &said).unwrap();
            let read = grooms::read(&b, &said).unwrap();
            assert_eq!(read.groom.curves, start.groom.curves, "{first} to {second}");
            assert_eq!(read.space, start.space, "{first} to {second}");
        }
    }
}

/// Alembic states no unit: points keep the one they came in beside it, whatever the file is said to be in.
#[test]
fn positions_survive_alembic_without_a_word_about_units() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let unsaid = Said::default();
    for space in [Space { unit: 0.01, up: Axis::Z }, Space { unit: 0.0254, up: Axis::Y }, Space::SCENE] {
        let start = FileGroom { groom: groom(4, 6), space };
        for file in [unsaid, Said { unit: Some(0.01), ..unsaid }, Said { up: Some(Axis::Z), ..unsaid }] {
            grooms::write(at("a.usdc"), &start, &unsaid).unwrap();
            grooms::write(at("b.abc"), &grooms::read(at("a.usdc"), &unsaid).unwrap(), &file).unwrap();
            let read = grooms::read(at("b.abc"), &unsaid).unwrap();
            assert_eq!((&read.groom.curves, read.space), (&start.groom.curves, space), "{space:?} {file:?}");
            assert_eq!(read.groom.widths, start.groom.widths);
            // Others see metres, y up, or what was asked for.
            let seen = Cache::open(at("b.abc")).unwrap().frame(0).unwrap().groom.curves.points[5];
            let expected = start.clone().into_metres().curves.points[5];
            assert!((seen - expected).length() <= 1e-6 * expected.length(), "{seen} {expected}");
            grooms::write(at("c.usdc"), &read, &unsaid).unwrap();
            assert_eq!(grooms::read(at("c.usdc"), &unsaid).unwrap().groom.curves, start.groom.curves);
        }
    }
}

/// A file that states its unit keeps that of the file it came from, without a word about it.
#[test]
fn usd_keeps_the_unit_of_a_hair_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let start = FileGroom { groom: groom(4, 6), space: Space { unit: 0.01, up: Axis::Z } };
    let said = Said::default();
    grooms::write(at("a.hair"), &start, &said).unwrap();
    grooms::write(at("b.usdc"), &grooms::read(at("a.hair"), &said).unwrap(), &said).unwrap();
    let usd = grooms::read(at("b.usdc"), &said).unwrap();
    assert_eq!((usd.space, &usd.groom.curves), (start.space, &start.groom.curves));
    grooms::write(at("c.hair"), &usd, &said).unwrap();
    assert_eq!(grooms::read(at("c.hair"), &said).unwrap().groom.curves, start.groom.curves);
    // And in metres it is where it should be.
    let metres = Folder::new(folder.path()).groom("b.usdc").unwrap();
    let (file, scene) = (start.groom.curves.points[3], metres.curves.points[3]);
    let expected = Vec3::new(file.x, file.z, -file.y) * 0.01;
    assert!((scene - expected).length() < 1e-8, "{scene} {expected}");
    assert!((metres.widths[0] - 7e-7).abs() < 1e-12);
}

#[test]
fn ply_meshes_are_bodies() {
    let folder = tempfile::tempdir().unwrap();
    let text = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face \
                1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n";
    std::fs::write(folder.path().join("quad.ply"), text).unwrap();
    let mesh = Folder::new(folder.path()).mesh("quad.ply").unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    let problem = ply::parse_mesh(text.replace("4 0 1 2 3", "4 0 1 2 4").as_bytes()).unwrap_err();
    assert!(problem.to_string().contains("vertex 4"), "{problem}");
}

#[test]
#[ignore = "needs real grooms"]
fn real_grooms_have_the_strands_that_are_known() {
    for (name, strands, length) in [
        ("sintel/SintelHairOriginal-sintel_hair.16points.tfx", 11_400, 16),
        ("sintel/sintel_guides_228x32.tfx", 228, 32),
        ("ratboy/Ratboy_mohawk.tfx", 2_228, 32),
        ("straight/straight.hair", 10_000, 16),
    ] {
        let path = real_groom(name);
        let read = grooms::read(&path, &Said::default()).unwrap();
        assert_eq!((read.groom.strands(), read.groom.vertices()), (strands, strands * length), "{name}");
        let frame = Cache::open(&path).unwrap().frame(0).unwrap();
        assert_eq!(frame.groom.strands(), strands);
        // To USD and back to the same format: every position the same.
        let folder = tempfile::tempdir().unwrap();
        let usd = folder.path().join("groom.usdc");
        grooms::write(&usd, &read, &Said::default()).unwrap();
        let again = folder.path().join(format!("again.{}", &name[name.len() - 4..].trim_start_matches('.')));
        grooms::write(&again, &grooms::read(&usd, &Said::default()).unwrap(), &Said::default()).unwrap();
        let back = grooms::read(&again, &Said::default()).unwrap();
        assert_eq!(back.groom.curves, read.groom.curves, "{name}");
        let mean = (0..strands).map(|strand| f64::from(read.groom.curves.length(strand)));
        let mean = mean.sum::<f64>() / strands as f64;
        match name {
            "sintel/sintel_guides_228x32.tfx" => {}
            "straight/straight.hair" => assert!((70.0..86.0).contains(&mean), "{mean}"),
            _ => assert!((0.095..0.111).contains(&mean), "{name}: {mean}"),
        }
    }
}

#[test]
#[ignore = "needs real grooms"]
fn real_groom_head_is_read_from_ply() {
    let path = real_groom("straight/woman_head.ply");
    let mesh = Folder::new(path.parent().unwrap()).mesh("woman_head.ply").unwrap();
    assert_eq!((mesh.points.len(), mesh.triangles.len()), (43_662, 78_520));
}
