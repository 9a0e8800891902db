//! Edits against closed forms.

use std::f32::consts::TAU;

use glam::{Vec2, Vec3};

use super::super::{Attribute, Curves, Domain, Root, Values};
use super::*;
use crate::math::Random;

/// A groom with every column filled, whose attribute `arc` is the arc length at each vertex.
fn filled(curves: Curves) -> Groom {
    let (strands, vertices) = (curves.strands(), curves.points.len());
    let mut arcs = Vec::new();
    for strand in curves.iter() {
        let mut arc = 0.0;
        for (k, &point) in strand.iter().enumerate() {
            arc += if k > 0 { point.distance(strand[k - 1]) } else { 0.0 };
            arcs.push(arc);
        }
    }
    let attribute = |name: &str, domain, values| Attribute { name: name.into(), domain, values };
    let groom = Groom {
        roots: vec![Root::Rigid; strands],
        widths: (0..vertices).map(|k| 1e-4 + 1e-6 * k as f32).collect(),
        root_uv: (0..strands).map(|k| Vec2::splat(k as f32)).collect(),
        ids: (0..strands as u32).map(|k| 100 + k).collect(),
        guides: (0..strands).map(|k| k % 2 == 0).collect(),
        attributes: vec![
            attribute("arc", Domain::Vertex, Values::Float(arcs)),
            attribute("vertex", Domain::Vertex, Values::Int((0..vertices as i32).collect())),
            attribute("strand", Domain::Strand, Values::Int((0..strands as i32).collect())),
        ],
        curves,
    };
    groom.validate().unwrap();
    groom
}

fn helix(radius: f32, turns: usize, per_turn: usize) -> Vec<Vec3> {
    let vertices = turns * per_turn + 1;
    let point = |k: usize| {
        let angle = TAU * k as f32 / per_turn as f32;
        Vec3::new(radius * angle.cos(), -0.3 * k as f32 / (vertices - 1) as f32, radius * angle.sin())
    };
    (0..vertices).map(point).collect()
}

fn bent(strands: usize) -> Groom {
    let mut random = Random::new(5);
    let mut curves = Curves::default();
    for strand in 0..strands {
        let mut point = Vec3::new(0.01 * strand as f32, 0.0, 0.0);
        let points: Vec<Vec3> = (0..12)
            .map(|_| {
                point += 0.01 * (Vec3::Y + 0.8 * random.direction());
                point
            })
            .collect();
        curves.push(points);
    }
    filled(curves)
}

fn floats<'a>(groom: &'a Groom, name: &str) -> &'a [f32] {
    let found = groom.attributes.iter().find(|attribute| attribute.name == name);
    match found.map(|attribute| &attribute.values) {
        Some(Values::Float(values)) => values,
        _ => panic!("no floats named {name}"),
    }
}

/// The ball of radius 1 around the origin.
fn ball(point: Vec3) -> (f32, Vec3) {
    (point.length() - 1.0, point.normalize_or(Vec3::Y))
}

#[test]
fn lengths_scale_and_roots_stay() {
    let groom = bent(4);
    let scaled = scale_length(&groom, 1.7);
    for strand in 0..4 {
        assert_eq!(scaled.curves.strand(strand)[0], groom.curves.strand(strand)[0]);
        assert!((scaled.curves.length(strand) / groom.curves.length(strand) - 1.7).abs() < 1e-5);
    }
    assert_eq!((scaled.ids, scaled.attributes), (groom.ids, groom.attributes));
}

#[test]
fn the_radius_of_a_helix_scales_and_its_axis_stays() {
    let mut curves = Curves::default();
    curves.push(helix(0.01, 8, 12));
    let groom = filled(curves);
    for factor in [0.0, 0.5, 1.6] {
        let scaled = scale_curl(&groom, factor, false);
        let (old, new) = (groom.curves.strand(0), scaled.curves.strand(0));
        assert_eq!((old[0], old[96]), (new[0], new[96]));
        // A turn at each end leads from the ends, which stay, to the axis.
        for (k, point) in new.iter().enumerate().take(84).skip(13) {
            let radius = Vec2::new(point.x, point.z).length();
            assert!((radius - 0.01 * factor).abs() < 2e-4, "radius {radius} at {k} for {factor}");
            assert!((point.y - old[k].y).abs() < 1e-5);
        }
    }
    assert_eq!(scale_curl(&groom, 1.0, true), groom);
}

#[test]
fn straightened_hair_keeps_its_length() {
    let (radius, turns) = (0.0033_f32, 24);
    let mut curves = Curves::default();
    curves.push(helix(radius, turns, 12));
    let groom = filled(curves);
    let around = 2.0 * radius * (TAU / 24.0).sin() * (12 * turns) as f32;
    for factor in [0.0, 0.5, 1.1] {
        let scaled = scale_curl(&groom, factor, true);
        assert!((scaled.curves.length(0) / groom.curves.length(0) - 1.0).abs() < 1e-5);
        // Pythagoras on the unrolled helix, but for a turn at each end.
        let tall = (around * around * (1.0 - factor * factor) + 0.3 * 0.3).sqrt();
        let found = -scaled.curves.strand(0)[12 * turns].y;
        assert!((found / tall - 1.0).abs() < 0.06, "{found} for {tall} at {factor}");
    }
    let frizzy = scale_curl(&groom, 100.0, true);
    assert!(frizzy.curves.points.iter().all(|point| point.is_finite()));
}

#[test]
fn hair_without_curls_stays_as_it_is() {
    let mut curves = Curves::default();
    curves.push((0..20).map(|k| Vec3::new((k as f32 * 0.1).sin(), (k as f32 * 0.1).cos(), 0.0)));
    let groom = filled(curves);
    assert_eq!(scale_curl(&groom, 0.0, true), groom);
}

#[test]
fn trimmed_lengths_are_exact_and_values_are_linear() {
    let groom = bent(40);
    for longest in [0.013, 0.02, 0.0555, 0.07] {
        let cut = trim_to_length(&groom, longest);
        cut.validate().unwrap();
        for strand in 0..groom.strands() {
            let (before, after) = (groom.curves.length(strand), cut.curves.length(strand));
            assert!((after - before.min(longest)).abs() < 1e-7, "{before} cut to {longest} is {after}");
            let tip = cut.curves.range(strand).end - 1;
            assert!((floats(&cut, "arc")[tip] - after).abs() < 1e-7);
        }
        assert_eq!(cut.ids, groom.ids);
    }
    let half = trim_to_fraction(&groom, 0.5);
    for strand in 0..groom.strands() {
        assert!((half.curves.length(strand) / groom.curves.length(strand) - 0.5).abs() < 1e-5);
    }
    assert_eq!(trim_to_fraction(&groom, 1.0), groom);
}

#[test]
fn plane_cuts_end_on_the_plane() {
    let groom = bent(60);
    let (point, normal) = (Vec3::new(0.3, 0.06, 0.0), Vec3::new(0.4, 2.0, -0.3));
    let cut = trim_to_plane(&groom, point, normal);
    cut.validate().unwrap();
    let height = |p: Vec3| normal.normalize().dot(p - point);
    let mut on_plane = 0;
    for (strand, points) in cut.curves.iter().enumerate() {
        assert!(points.iter().all(|&p| height(p) < 1e-7));
        let old = groom.curves.strand(cut.ids[strand] as usize - 100);
        match old.iter().any(|&p| height(p) > 0.0) {
            true => {
                assert!(height(points[points.len() - 1]).abs() < 1e-7);
                on_plane += 1;
            }
            false => assert_eq!(points, old),
        }
    }
    assert!(on_plane > 20, "{on_plane}");
    let gone = (0..60).filter(|&strand| height(groom.curves.strand(strand)[0]) > 0.0).count();
    assert_eq!(cut.strands(), 60 - gone);
    // The cut is where the values of both sides meet: linear along the edge.
    let mut curves = Curves::default();
    curves.push([Vec3::ZERO, Vec3::Y, Vec3::Y * 2.0]);
    let cut = trim_to_plane(&filled(curves), Vec3::Y * 1.75, Vec3::Y);
    assert_eq!(floats(&cut, "arc"), [0.0, 1.0, 1.75]);
    assert!((cut.widths[2] - 1.0175e-4).abs() < 1e-10);
}

#[test]
fn smoothing_keeps_ends_and_lines_and_flattens_a_zigzag() {
    let mut curves = Curves::default();
    curves.push((0..41).map(|k| Vec3::new(0.01 * k as f32, if k % 2 == 0 { 0.002 } else { -0.002 }, 0.0)));
    curves.push((0..9).map(|k| Vec3::ONE * k as f32 * 0.125));
    let groom = filled(curves);
    let smoothed = smooth_strands(&groom, 0.05, 1.0);
    assert_eq!(smoothed.curves.strand(0)[0], groom.curves.strand(0)[0]);
    assert_eq!(smoothed.curves.strand(0)[40], groom.curves.strand(0)[40]);
    assert!(smoothed.curves.strand(0)[10..31].iter().all(|point| point.y.abs() < 1e-4));
    for (point, old) in smoothed.curves.strand(1).iter().zip(groom.curves.strand(1)) {
        assert!(point.distance(*old) < 1e-6);
    }
    let half = smooth_strands(&groom, 0.05, 0.5);
    let middle = groom.curves.points[20].lerp(smoothed.curves.points[20], 0.5);
    assert!(half.curves.points[20].distance(middle) < 1e-7);
    assert_eq!(smooth_strands(&groom, 0.05, 0.0), groom);
}

#[test]
fn locks_meet_at_their_tips_and_keep_lengths() {
    let mut curves = Curves::default();
    for k in 0..7 {
        curves.push((0..30).map(|v| Vec3::new(0.002 * k as f32, 0.01 * v as f32, 0.0)));
    }
    let groom = filled(curves);
    let clumps = Clumps { count: 1, strength: 1.0, shape: 1.0 };
    let drawn = clump(&groom, &clumps, 3);
    let tip = |groom: &Groom, strand: usize| groom.curves.strand(strand)[29];
    let middle = (0..7).find(|&strand| drawn.curves.strand(strand) == groom.curves.strand(strand)).unwrap();
    for strand in 0..7 {
        for (old, new) in groom.curves.strand(strand).windows(2).zip(drawn.curves.strand(strand).windows(2)) {
            assert!((old[0].distance(old[1]) - new[0].distance(new[1])).abs() < 1e-7);
        }
        assert_eq!(drawn.curves.strand(strand)[0], groom.curves.strand(strand)[0]);
        // Slanted by the angle whose tangent leads to the middle's tip, as long as before.
        let away = 0.002 * (strand as f32 - middle as f32);
        let slanted = 0.29 / 0.29f32.hypot(away);
        let expected = Vec3::new(tip(&groom, strand).x - away * slanted, 0.29 * slanted, 0.0);
        assert!(tip(&drawn, strand).distance(expected) < 1e-5);
    }
    let apart = clump(&groom, &Clumps { count: 7, ..clumps }, 3);
    assert_eq!(apart, groom);
}

#[test]
fn strands_that_start_inside_go_and_others_are_seated() {
    let mut curves = Curves::default();
    for start in [0.5, 0.9995, 1.0, 1.1] {
        curves.push([Vec3::X * start, Vec3::X * (start + 1.0)]);
    }
    let groom = filled(curves);
    let left = remove_inside(&groom, &ball, 1e-3);
    assert_eq!(left.ids, [101, 102, 103]);
    assert_eq!(left.curves.strand(0), groom.curves.strand(1));
    let seated = seat(&groom, &ball, 0.2);
    assert_eq!(seated.curves.strand(0), groom.curves.strand(0));
    for strand in 1..4 {
        assert!((seated.curves.strand(strand)[0].x - 1.0).abs() < 1e-6);
        assert!((seated.curves.length(strand) - 1.0).abs() < 1e-6);
    }
    let edit = Edit::RemoveInside { depth: 0.0 };
    assert_eq!(edit.apply(&groom, None), Err(EditError::NoBody));
    let all = Edit::apply_all(&[edit, Edit::RemoveInside { depth: -9.0 }], groom, Some(&ball));
    let told = all.unwrap_err().to_string();
    assert!(told.starts_with("edit 2 (remove-inside): it leaves no strands"), "{told}");
}

#[test]
fn farthest_guides_are_spread_wider_than_random_ones() {
    let mut random = Random::new(11);
    let mut curves = Curves::default();
    for _ in 0..500 {
        let root = random.direction();
        curves.push([root, root * 1.5]);
    }
    let groom = filled(curves);
    let spread = |pick| {
        let chosen = choose_guides(&groom, 25, pick, true, 4);
        assert_eq!((chosen.strands(), &chosen.guides[..]), (25, &[true; 25][..]));
        let roots = chosen.curves.root_points();
        let pairs = (0..25).flat_map(|a| (0..a).map(move |b| (a, b)));
        pairs.map(|(a, b): (usize, usize)| roots[a].distance(roots[b])).fold(f32::INFINITY, f32::min)
    };
    let (farthest, at_random) = (spread(Pick::Farthest), spread(Pick::Random));
    assert!(farthest > 2.0 * at_random, "{farthest} and {at_random}");
    let marked = choose_guides(&groom, 25, Pick::Farthest, false, 4);
    assert_eq!(marked.guides.iter().filter(|&&guide| guide).count(), 25);
    assert_eq!((&marked.curves, &marked.ids), (&groom.curves, &groom.ids));
}

#[test]
fn mirrored_twice_is_the_same_bit_for_bit() {
    let mut groom = bent(9);
    groom.curves.points[0] = Vec3::new(0.0, -0.0, 1e-30);
    for axis in [Axis::X, Axis::Y, Axis::Z] {
        let image = mirror(&groom, axis, 0.0, false).unwrap();
        assert_ne!(image, groom);
        let twice = mirror(&image, axis, 0.0, false).unwrap();
        let bits = |groom: &Groom| -> Vec<[u32; 3]> {
            groom.curves.points.iter().map(|point| point.to_array().map(f32::to_bits)).collect()
        };
        assert_eq!(bits(&twice), bits(&groom));
        assert_eq!(twice, groom);
    }
}

#[test]
fn mirror_images_on_top_have_identifiers_of_their_own() {
    let mut groom = bent(3);
    groom.roots[1] = Root::Triangle { triangle: 3, weights: [1.0, 0.0, 0.0] };
    let both = mirror(&groom, Axis::X, 0.5, true).unwrap();
    both.validate().unwrap();
    assert_eq!(both.ids, [100, 101, 102, 103, 104, 105]);
    assert_eq!((both.roots[1], both.roots[4]), (groom.roots[1], Root::Rigid));
    for (image, old) in both.curves.points[36..].iter().zip(&groom.curves.points) {
        assert_eq!(*image, Vec3::new(1.0 - old.x, old.y, old.z));
    }
    groom.ids[2] = u32::MAX;
    let both = mirror(&groom, Axis::X, 0.5, true).unwrap();
    assert_eq!(both.ids, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn mirror_images_lean_the_other_way_and_follow_their_own_guides() {
    let mut groom = bent(3);
    let attribute = |name: &str, values| Attribute { name: name.into(), domain: Domain::Strand, values };
    let normals = vec![Vec3::new(0.6, 0.8, 0.0), Vec3::X, Vec3::Y];
    let closest = vec![Vec3::new(100.0, 102.0, -1.0), Vec3::splat(101.0), Vec3::splat(7.0)];
    groom.attributes = vec![
        attribute("rootNormal", Values::Vec3(normals.clone())),
        attribute("groom_closest_guides", Values::Vec3(closest.clone())),
        attribute("groom_closest_guides", Values::Int(vec![102, 100, -5])),
    ];
    let alone = mirror(&groom, Axis::X, 0.5, false).unwrap();
    let reflected = [Vec3::new(-0.6, 0.8, 0.0), -Vec3::X, Vec3::Y];
    assert_eq!(alone.attributes[0].values, Values::Vec3(reflected.to_vec()));
    assert_eq!(alone.attributes[1..], groom.attributes[1..]);

    let both = mirror(&groom, Axis::X, 0.5, true).unwrap();
    assert_eq!(both.ids, [100, 101, 102, 103, 104, 105]);
    assert_eq!(both.attributes[0].values, Values::Vec3([&normals[..], &reflected].concat()));
    let images = [Vec3::new(103.0, 105.0, -1.0), Vec3::splat(104.0), Vec3::splat(7.0)];
    assert_eq!(both.attributes[1].values, Values::Vec3([&closest[..], &images].concat()));
    assert_eq!(both.attributes[2].values, Values::Int(vec![102, 100, -5, 105, 103, -5]));

    // All identifiers are given anew: those of the strands themselves change too.
    groom.ids[2] = u32::MAX;
    let both = mirror(&groom, Axis::X, 0.5, true).unwrap();
    assert_eq!(both.attributes[2].values, Values::Int(vec![102, 0, -5, 102, 3, -5]));
}

/// Spikes on a ball; those in `reversed` are given from tip to root.
fn spikes(reversed: impl Fn(usize) -> bool) -> (Groom, Groom) {
    let mut random = Random::new(2);
    let (mut proper, mut given) = (Curves::default(), Curves::default());
    for strand in 0..20 {
        let root = random.direction();
        let points: Vec<Vec3> = (0..6).map(|k| root * (1.0 + 0.1 * k as f32)).collect();
        proper.push(points.iter().copied());
        match reversed(strand) {
            true => given.push(points.into_iter().rev()),
            false => given.push(points),
        }
    }
    (filled(proper), filled(given))
}

#[test]
fn strands_from_tip_to_root_are_turned_with_their_values() {
    let (proper, given) = spikes(|_| true);
    let (turned, found) = turn_strands(&given, &ball);
    assert_eq!(found, Turned { strands: 20, most: true });
    assert_eq!(turned.curves, proper.curves);
    assert_eq!(turned.ids, given.ids);
    assert_eq!(turned.widths[..6], [1.05e-4, 1.04e-4, 1.03e-4, 1.02e-4, 1.01e-4, 1e-4]);
    let indices = &turned.attributes[1].values;
    assert!(matches!(indices, Values::Int(values) if values[..6] == [5, 4, 3, 2, 1, 0]));

    let (proper, given) = spikes(|strand| strand == 7);
    let (turned, found) = turn_strands(&given, &ball);
    assert_eq!(found, Turned { strands: 1, most: false });
    assert_eq!(turned.curves, proper.curves);

    let (proper, given) = spikes(|strand| strand != 7);
    let (turned, found) = turn_strands(&given, &ball);
    assert_eq!(found, Turned { strands: 19, most: true });
    assert_eq!(turned.curves, proper.curves);
}

#[test]
fn hair_that_stands_right_or_nowhere_near_the_body_is_not_turned() {
    let (proper, _) = spikes(|_| false);
    assert_eq!(turn_strands(&proper, &ball), (proper.clone(), Turned::default()));
    // All tips lean to a body of the wrong size, far away.
    let speck = |point: Vec3| ((point - Vec3::X * 50.0).length() - 0.01, Vec3::X);
    assert_eq!(turn_strands(&proper, &speck).1, Turned::default());
}

/// Hair of 0.3 m that falls along the upper half of a ball of 1 m: tips are a tenth of its length away from the ball at
/// most, which is less than half of what roots and tips of spikes are apart. Those in `reversed` are given from tip to root.
fn falling(reversed: impl Fn(usize) -> bool) -> (Groom, Groom) {
    let mut random = Random::new(3);
    let (mut proper, mut given) = (Curves::default(), Curves::default());
    for strand in 0..2000 {
        let mut root = random.direction();
        root.y = root.y.abs();
        let down = (Vec3::NEG_Y - root * root.dot(Vec3::NEG_Y)).normalize_or(Vec3::X);
        let away = 0.01 + 0.02 * random.unit();
        let along = |k: usize| {
            let s = k as f32 / 7.0;
            (root * (0.3 * s).cos() + down * (0.3 * s).sin()) * (1.0001 + away * s)
        };
        let points: Vec<Vec3> = (0..8).map(along).collect();
        proper.push(points.iter().copied());
        match reversed(strand) {
            true => given.push(points.into_iter().rev()),
            false => given.push(points),
        }
    }
    (filled(proper), filled(given))
}

#[test]
fn single_strands_of_falling_hair_are_turned() {
    type Reversed = fn(usize) -> bool;
    let cases: [(Reversed, bool); 3] =
        [(|strand| strand % 3 == 0, false), (|strand| strand % 3 != 0, true), (|strand| strand == 41, false)];
    for (case, (reversed, most)) in cases.into_iter().enumerate() {
        let (proper, given) = falling(reversed);
        let (turned, found) = turn_strands(&given, &ball);
        let right = |&strand: &usize| turned.curves.strand(strand) == proper.curves.strand(strand);
        let right = (0..2000).filter(right).count();
        assert!(right >= 1998 && found.most == most, "case {case}: {right} right, {found:?}");
        assert!(right == 2000 || case < 2, "case {case}: {right} right, {found:?}");
    }
    let (proper, given) = falling(|strand| strand % 3 == 0);
    assert_eq!(turn_strands(&proper, &ball).1, Turned::default());
    // On a body that the hair was not made for, roots float, and tips may be nearer by chance.
    let smaller = |point: Vec3| (point.length() - 0.99, point.normalize_or(Vec3::Y));
    assert_eq!(turn_strands(&given, &smaller).1, Turned::default());
}
