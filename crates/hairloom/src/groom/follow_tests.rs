use std::f32::consts::TAU;

use glam::{Quat, Vec3};

use super::super::{Curves, Groom, Pick, pick_guides, resample};
use super::{Follow, FollowError};
use crate::math::Random;

/// Wavy hair hanging from a patch at head height.
fn patch(strands: usize, vertices: usize, seed: u64) -> Groom {
    let random = Random::new(seed);
    let mut curves = Curves::default();
    for strand in 0..strands {
        let mut random = random.fork(strand as u64);
        let root = Vec3::new(0.1 * random.signed(), 1.6 + 0.01 * random.unit(), 0.1 * random.signed());
        let (phase, length) = (TAU * random.unit(), 0.2 + 0.1 * random.unit());
        curves.push((0..vertices).map(|k| {
            let s = k as f32 / (vertices - 1) as f32;
            let (sin, cos) = (phase + 9.0 * s).sin_cos();
            root + Vec3::new(0.01 * s * cos, -length * s, 0.01 * s * sin + 0.05 * s * s)
        }));
    }
    Groom { curves, ..Groom::default() }
}

fn bound(strands: &Groom, count: usize, vertices: usize) -> (Groom, Follow) {
    let guides = strands.subset(&pick_guides(strands, count, Pick::Farthest, 1)).unwrap();
    let guides = resample(&guides, vertices);
    let follow = Follow::bind(&guides, strands).unwrap();
    (guides, follow)
}

fn applied(follow: &mut Follow, guides: &[Vec3], roots: &[Vec3], count: usize) -> Vec<Vec3> {
    let mut points = vec![Vec3::NAN; count];
    follow.apply(guides, roots, &mut points).unwrap();
    points
}

fn worst(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn guides_at_rest_give_the_rest_strands() {
    let strands = patch(500, 13, 1);
    for (count, vertices) in [(1, 2), (2, 30), (40, 9), (40, 13)] {
        let (guides, mut follow) = bound(&strands, count, vertices);
        let points = applied(&mut follow, &guides.curves.points, &strands.curves.root_points(), 500 * 13);
        let error = worst(&points, &strands.curves.points);
        assert!(error < 1e-6, "{count} guides of {vertices}: {error}");
    }
}

#[test]
fn rigid_motion_of_guides_and_roots_moves_strands_rigidly() {
    let strands = patch(500, 13, 2);
    let (guides, mut follow) = bound(&strands, 40, 11);
    let mut random = Random::new(9);
    let mut turns: Vec<Quat> =
        (0..20).map(|_| Quat::from_axis_angle(random.direction(), 6.0 * random.unit())).collect();
    // About the very axis of the hair, upside down, and half a turn.
    turns.extend([Quat::from_rotation_y(1.0), Quat::from_rotation_x(std::f32::consts::PI)]);
    for turn in turns {
        let moved = |points: &[Vec3]| -> Vec<Vec3> {
            points.iter().map(|&p| turn * (p - Vec3::Y) + Vec3::new(0.3, 0.5, -0.2)).collect()
        };
        let roots = moved(&strands.curves.root_points());
        let points = applied(&mut follow, &moved(&guides.curves.points), &roots, 500 * 13);
        let error = worst(&points, &moved(&strands.curves.points));
        assert!(error < 2e-5, "{error}");
    }
}

#[test]
fn bent_guides_bend_strands_without_stretch_and_roots_are_exact() {
    let strands = patch(800, 13, 3);
    let (guides, mut follow) = bound(&strands, 60, 13);
    // Each guide swings about its root, more so along the x axis.
    let mut posed = Vec::new();
    for guide in guides.curves.iter() {
        let root = guide[0];
        let turn = Quat::from_rotation_z(0.8 + 4.0 * root.x);
        posed.extend(guide.iter().map(|&p| root + turn * (p - root)));
    }
    let roots: Vec<Vec3> = strands.curves.root_points().iter().map(|p| p + Vec3::X * 1e-3).collect();
    let points = applied(&mut follow, &posed, &roots, 800 * 13);
    let out = Curves { offsets: strands.curves.offsets.clone(), points };
    assert_eq!(out.root_points(), roots);
    let mut swing = 0.0;
    for (new, old) in out.iter().zip(strands.curves.iter()) {
        for (new, old) in new.windows(2).zip(old.windows(2)) {
            let (new, old) = (new[0].distance(new[1]), old[0].distance(old[1]));
            assert!((new / old - 1.0).abs() < 1e-4, "{new} {old}");
        }
        // The tip must have swung about as far as the guides here did.
        let angle = 0.8 + 4.0 * old[0].x;
        let expected = Quat::from_rotation_z(angle) * (old[12] - old[0]);
        swing = f32::max(swing, expected.angle_between(new[12] - new[0]));
    }
    assert!(swing < 0.25, "{swing}");
}

/// Guides lose their waves under a method that knows none; the strands around them keep theirs, and no more.
#[test]
fn strands_frizz_when_their_guides_hang_out() {
    let wave = |root: Vec3, phase: f32, k: usize| {
        let s = k as f32 / 47.0;
        let (sin, cos) = (phase + 5.5 * TAU * s).sin_cos();
        let start = phase.sin_cos();
        root + Vec3::new(0.006 * (cos - start.1), -0.36 * s, 0.006 * (sin - start.0))
    };
    let mut random = Random::new(3);
    let mut curves = Curves::default();
    for _ in 0..300 {
        let root = Vec3::new(0.1 * random.signed(), 1.6, 0.1 * random.signed());
        let phase = TAU * random.unit();
        curves.push((0..48).map(|k| wave(root, phase, k)));
    }
    let strands = Groom { curves, ..Groom::default() };
    let guides = strands.subset(&pick_guides(&strands, 20, Pick::Farthest, 1)).unwrap();
    let mut follow = Follow::bind(&guides, &strands).unwrap();
    let mut posed = Vec::new();
    for (index, guide) in guides.curves.iter().enumerate() {
        let edge = guides.curves.length(index) / 47.0;
        posed.extend((0..48).map(|k| guide[0] - Vec3::Y * (edge * k as f32)));
    }
    let points = applied(&mut follow, &posed, &strands.curves.root_points(), 300 * 48);
    let out = Curves { offsets: strands.curves.offsets.clone(), points };
    let turning = |points: &[Vec3]| -> f32 {
        points.windows(3).map(|p| (p[1] - p[0]).angle_between(p[2] - p[1])).sum()
    };
    for (now, rest) in out.iter().zip(strands.curves.iter()) {
        let (now, rest) = (turning(now), turning(rest));
        assert!((0.6 * rest..1.25 * rest).contains(&now), "{now} rad instead of {rest}");
    }
}

#[test]
fn three_guides_are_the_nearest_and_weights_sum_to_one() {
    let strands = patch(300, 5, 4);
    let (guides, follow) = bound(&strands, 30, 5);
    for (strand, binding) in follow.bindings().iter().enumerate() {
        let mine = strands.curves.strand(strand);
        let apart = |guide: u32| {
            let other = guides.curves.strand(guide as usize);
            mine[0].distance(other[0])
                + [1, 2, 4].map(|k| mine[k].distance(other[k])).iter().sum::<f32>() / 3.0
        };
        let mut order: Vec<u32> = (0..30).collect();
        order.sort_by(|&a, &b| apart(a).total_cmp(&apart(b)));
        assert_eq!(binding.guides[..], order[..3]);
        assert!((binding.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(binding.weights[0] >= binding.weights[1] && binding.weights[2] >= 0.0);
    }
}

#[test]
fn a_strand_that_is_a_guide_copies_it() {
    let strands = patch(50, 7, 5);
    let (guides, mut follow) = bound(&strands, 50, 7);
    let guides = Groom { curves: strands.curves.clone(), ..guides };
    let mut same = Follow::bind(&guides, &strands).unwrap();
    assert!(same.bindings().iter().all(|binding| binding.same_as.is_some()));
    let mut random = Random::new(1);
    let posed: Vec<Vec3> = strands.curves.points.iter().map(|p| p + 0.01 * random.direction()).collect();
    let roots = Curves { offsets: strands.curves.offsets.clone(), points: posed.clone() }.root_points();
    assert_eq!(applied(&mut same, &posed, &roots, 350), posed);
    assert!(matches!(follow.apply(&posed, &roots[1..], &mut []), Err(FollowError::Size { .. })));
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let strands = patch(3000, 9, 6);
    let run = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let (guides, mut follow) = bound(&strands, 100, 9);
            let posed: Vec<Vec3> = guides.curves.points.iter().map(|p| p + Vec3::Z * p.y * p.x).collect();
            applied(&mut follow, &posed, &strands.curves.root_points(), 3000 * 9)
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn nothing_to_follow_is_an_error() {
    assert_eq!(Follow::bind(&Groom::default(), &patch(2, 2, 1)).err(), Some(FollowError::NoGuides));
}

#[test]
fn strands_with_a_vertex_on_each_slot_come_out_as_if_they_were_like_any_other() {
    let mut strands = patch(300, 13, 5);
    let straight = strands
        .curves
        .root_points()
        .into_iter()
        .flat_map(|root| (0..13).map(move |k| root + Vec3::new(0.1 * root.x, -0.2, 0.03) * k as f32));
    strands.curves.points = straight.collect();
    let (guides, mut follow) = bound(&strands, 40, 13);
    assert!(follow.rest.all_even());
    let turn = Quat::from_rotation_x(0.7);
    let posed: Vec<Vec3> = guides.curves.points.iter().map(|&p| turn * p + Vec3::X * p.y * p.y).collect();
    let roots = strands.curves.root_points();
    let at_once = applied(&mut follow, &posed, &roots, 300 * 13);
    follow.rest.even.fill(false);
    let one_by_one = applied(&mut follow, &posed, &roots, 300 * 13);
    assert!(worst(&at_once, &one_by_one) < 1e-6);
}
