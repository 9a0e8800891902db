use glam::DQuat;

use super::segments::{PARALLEL_F64, closest};
use super::select::Item;
use super::*;
use crate::math::{Random, Vector3};

/// Clumped strands: each clump has a direction that its strands follow with noise.
struct Hair {
    offsets: Vec<u32>,
    points: Vec<DVec3>,
    radii: Vec<f32>,
}

fn hair(seed: u64, strands: usize, vertices: usize, edge: f64, spread: f64, radius: f32) -> Hair {
    let random = Random::new(seed);
    let (mut offsets, mut points, mut radii) = (vec![0], vec![], vec![]);
    for strand in 0..strands {
        let mut clump = random.fork((strand / 8) as u64);
        let (centre, heading) = (clump.direction().as_dvec3() * spread, clump.direction().as_dvec3());
        let mut own = random.fork(1_000_000 + strand as u64);
        let mut point = centre + own.direction().as_dvec3() * 0.1 * spread;
        let count = 1 + own.below(vertices);
        let thickness = radius * (0.5 + own.unit());
        for _ in 0..count {
            points.push(point);
            radii.push(thickness);
            point += (heading + own.direction().as_dvec3() * 0.5) * edge * own.unit_f64();
        }
        offsets.push(points.len() as u32);
    }
    Hair { offsets, points, radii }
}

fn exact(a: [DVec3; 2], b: [DVec3; 2]) -> f64 {
    let ends = |edge: [DVec3; 2]| edge.map(|point| Vector3::<f64>::splat(point - a[0]));
    closest(ends(a), ends(b), PARALLEL_F64).between.length_squared().sqrt()
}

/// Compares with all pairs, in double precision; what rounding could tip is left open.
fn compare_with_all_pairs(hair: &Hair, settings: &Settings, doubt: f64) -> usize {
    let mut detector = Detector::new(&hair.offsets, &hair.radii).expect("good strands");
    let mut contacts = vec![];
    let all = Settings { keep: 100_000, ..*settings };
    let tally = detector.proximity(&hair.points, &all, &[], &mut contacts).expect("good positions");
    assert_eq!(tally.dropped, 0);
    assert!(
        contacts.windows(2).all(|two| pair_key(two[0].a, two[0].b) < pair_key(two[1].a, two[1].b)),
        "sorted, once each"
    );
    let distance = f64::from(settings.distance);
    let edge = |first: u32| [hair.points[first as usize], hair.points[first as usize + 1]];
    let mut next = contacts.iter().peekable();
    for (place, &a) in detector.edges.iter().enumerate() {
        for &b in &detector.edges[place + 1..] {
            let found = next.next_if(|contact| (contact.a, contact.b) == (a, b));
            if detector.strands[a as usize] == detector.strands[b as usize] && b - a <= settings.skip {
                assert!(found.is_none(), "{a} and {b} are neighbours");
                continue;
            }
            let between = exact(edge(a), edge(b));
            let gap = between - f64::from(detector.radii[a as usize]) - f64::from(detector.radii[b as usize]);
            if let Some(contact) = found {
                assert!(gap <= distance + doubt, "{a} and {b}: {gap}");
                assert!(
                    (f64::from(contact.gap) - gap).abs() <= doubt,
                    "{a} and {b}: {} for {gap}",
                    contact.gap
                );
                assert!((contact.normal.length() - 1.0).abs() < 1.0e-5);
            } else if gap < distance - doubt {
                // The next edge has it where the last vertex is as close as any point.
                let is_shared = |a: u32, b: u32| {
                    let end = hair.points[a as usize + 1];
                    detector.goes_on[a as usize] && exact([end, end], edge(b)) < between + doubt
                };
                assert!(is_shared(a, b) || is_shared(b, a), "{a} and {b} are missing: gap {gap}");
            }
        }
    }
    assert!(next.next().is_none(), "contacts of pairs that are none");
    contacts.len()
}

#[test]
fn same_pairs_as_all_against_all() {
    let mut total = 0;
    for seed in 0..12 {
        let random = &mut Random::new(seed);
        let hair = hair(seed, 60, 12, 0.01, 0.03, 4.0e-5);
        for distance in [0.0, 1.0e-4, 1.0e-3, 5.0e-3, 0.03, 0.5] {
            let settings = Settings { skip: random.below(4) as u32, ..Settings::proximity(distance) };
            total += compare_with_all_pairs(&hair, &settings, 1.0e-7);
        }
    }
    assert!(total > 10_000, "{total}");
}

#[test]
fn same_pairs_for_huge_tiny_and_far_hair() {
    for (edge, spread, radius, distance, doubt) in [
        (100.0, 300.0, 0.5, 10.0, 1.0e-3),
        (1.0e-5, 3.0e-5, 1.0e-7, 1.0e-6, 1.0e-10),
        (0.3, 0.01, 1.0e-3, 1.0e-3, 1.0e-6),
        (1.0e-3, 0.3, 0.02, 0.01, 1.0e-6),
        (0.0, 0.01, 1.0e-3, 2.0e-3, 1.0e-7),
    ] {
        let mut hair = hair(7, 50, 10, edge, spread, radius);
        let found = compare_with_all_pairs(&hair, &Settings::proximity(distance), doubt);
        assert!(found > 0, "edge {edge}");
        // Far from the origin, in double precision, nothing changes.
        hair.points.iter_mut().for_each(|p| *p += DVec3::new(5.0e4, -3.0e4, 1.0e4));
        compare_with_all_pairs(&hair, &Settings::proximity(distance), doubt + 1.0e-10);
    }
}

#[test]
fn one_stray_strand_far_away_changes_nothing_near() {
    let mut hair = hair(3, 60, 12, 0.01, 0.03, 1.0e-3);
    let last = hair.points.len() - 1;
    hair.points[last] = DVec3::new(100.0, 50.0, -30.0);
    let found = compare_with_all_pairs(&hair, &Settings::proximity(1.0e-3), 2.0e-5);
    assert!(found > 100, "{found}");
}

/// The first few of each edge by sorting, from all contacts or impacts.
fn first_few<T: Item>(all: &[T], keep: usize, rule: Keep) -> Vec<T> {
    let vertices = all.iter().map(|item| item.edges()[1] as usize + 1).max().unwrap_or(0);
    let mut of_edge: Vec<Vec<(f32, u32)>> = vec![vec![]; vertices];
    for item in all {
        let [a, b] = item.edges();
        of_edge[a as usize].push((item.rank(), b));
        of_edge[b as usize].push((item.rank(), a));
    }
    of_edge.iter_mut().for_each(|list| list.sort_by(|x, y| x.partial_cmp(y).expect("numbers")));
    let kept =
        |edge: u32, other: u32| of_edge[edge as usize].iter().take(keep).any(|&(_, second)| second == other);
    let both = |item: &&T| {
        let [a, b] = item.edges();
        match rule {
            Keep::Either => kept(a, b) || kept(b, a),
            Keep::Both => kept(a, b) && kept(b, a),
        }
    };
    all.iter().filter(both).copied().collect()
}

#[test]
fn each_edge_keeps_its_closest() {
    let hair = hair(5, 200, 12, 0.01, 0.02, 1.0e-4);
    let mut detector = Detector::new(&hair.offsets, &hair.radii).expect("good strands");
    let (mut all, mut few) = (vec![], vec![]);
    for rule in [Keep::Either, Keep::Both] {
        for keep in [1, 2, 6, 20] {
            let settings = Settings { rule, keep, ..Settings::proximity(5.0e-3) };
            let everything = Settings { keep: 100_000, ..settings };
            detector.proximity(&hair.points, &everything, &[], &mut all).expect("good positions");
            detector.proximity(&hair.points, &settings, &[], &mut few).expect("good positions");
            assert!(few == first_few(&all, keep, rule), "{rule:?} {keep}");
            assert!(few.len() < all.len() && !few.is_empty());
        }
    }
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let hair = hair(6, 3000, 20, 0.01, 0.05, 1.0e-4);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let mut detector = Detector::new(&hair.offsets, &hair.radii).expect("good strands");
            let mut contacts = vec![];
            let tally = detector.proximity(&hair.points, &Settings::proximity(1.0e-3), &[], &mut contacts);
            let random = Random::new(9);
            let way = |k: usize| random.fork(k as u64).direction().as_dvec3() * 0.02;
            let to: Vec<DVec3> = hair.points.iter().enumerate().map(|(k, &p)| p + way(k)).collect();
            let (settings, mut impacts) = (Settings::continuous(1.0e-4), vec![]);
            let met = detector.continuous(&hair.points, &to, &settings, &Known::default(), &mut impacts);
            (tally.expect("good positions"), contacts, met.expect("good positions"), impacts)
        })
    };
    let one = run(1);
    assert!(one.1.len() > 10_000 && one.3.len() > 10_000, "{}, {}", one.1.len(), one.3.len());
    assert!(one == run(2) && one == run(8));
}

#[test]
fn hair_all_in_one_point_is_bounded() {
    let strands = 20_000;
    let offsets: Vec<u32> = (0..=strands).map(|k| 3 * k).collect();
    let points = vec![Vec3::new(0.1, 0.2, 0.3); 3 * strands as usize];
    let mut detector = Detector::new(&offsets, &vec![1.0e-4; points.len()]).expect("good strands");
    let mut contacts = vec![];
    let settings = Settings { most_candidates: 256, ..Settings::proximity(1.0e-3) };
    let tally = detector.proximity(&points, &settings, &[], &mut contacts).expect("good positions");
    assert!(tally.dropped > 0 && tally.candidates <= 256 * 2 * u64::from(strands));
    assert!(contacts.len() <= 6 * 2 * strands as usize && !contacts.is_empty());
    assert!(contacts.iter().all(|contact| contact.normal.is_normalized()));
    assert!(detector.bytes() < 200 << 20, "{}", detector.bytes());
}

#[test]
fn bad_input_is_refused() {
    assert!(Detector::new(&[], &[]).is_err());
    assert!(Detector::new(&[0, 3, 2], &[0.0; 2]).is_err());
    assert!(Detector::new(&[0, 2], &[0.0; 3]).is_err());
    assert_eq!(
        Detector::new(&[0, 2], &[0.0, -1.0]).err(),
        Some(ContactError::BadRadius { vertex: 1, radius: -1.0 })
    );
    let mut detector = Detector::new(&[0, 2, 4], &[0.0; 4]).expect("good strands");
    let mut out = vec![];
    let mut points = vec![Vec3::ZERO; 4];
    let settings = Settings::proximity(0.1);
    assert!(detector.proximity(&points, &Settings::proximity(f32::NAN), &[], &mut out).is_err());
    assert!(detector.proximity(&points[1..], &settings, &[], &mut out).is_err());
    for bad in [f32::NAN, f32::INFINITY, 1.0e7] {
        points[2].y = bad;
        let error = detector.proximity(&points, &settings, &[], &mut out).err();
        assert_eq!(error, Some(ContactError::BadPosition { vertex: 2 }));
    }
    let mut empty = Detector::new(&[0], &[]).expect("no strands");
    empty.proximity::<Vec3>(&[], &settings, &[], &mut out).expect("nothing to find");
    assert!(out.is_empty());
}

#[test]
fn impacts_are_those_of_all_pairs() {
    let mut total = 0;
    for seed in 0..9 {
        // The last is so dense that blocks cut time into many parts.
        let (strands, spread) = if seed == 8 { (300, 0.01) } else { (60, 0.03) };
        let hair = hair(seed, strands, 10, 0.01, spread, 2.0e-4);
        let random = Random::new(100 + seed);
        let speed = [0.001, 0.01, 0.05][seed as usize % 3];
        let shift = DVec3::new(0.3, -0.2, 0.1);
        // Where hair turns as a whole, each block has a motion of its own.
        let turn = DQuat::from_rotation_y(if seed % 2 == 1 { 0.5 } else { 0.0 });
        let to: Vec<DVec3> = (0..hair.points.len())
            .map(|k| turn * hair.points[k] + shift + random.fork(k as u64).direction().as_dvec3() * speed)
            .collect();
        let mut detector = Detector::new(&hair.offsets, &hair.radii).expect("good strands");
        let (mut impacts, mut few, mut others) = (vec![], vec![], vec![]);
        let settings = Settings { keep: 100_000, ..Settings::continuous(1.0e-4) };
        detector
            .continuous(&hair.points, &to, &settings, &Known::default(), &mut impacts)
            .expect("good positions");
        let mut expected = vec![];
        for (place, &a) in detector.edges.iter().enumerate() {
            for &b in &detector.edges[place + 1..] {
                let same =
                    detector.strands[a as usize] == detector.strands[b as usize] && b - a <= settings.skip;
                let ends = |edge: u32, list: &[DVec3]| [list[edge as usize], list[edge as usize + 1]];
                let moving = |edge: u32| accd::Moving { from: ends(edge, &hair.points), to: ends(edge, &to) };
                let thick = f64::from(detector.radii[a as usize] + detector.radii[b as usize])
                    + f64::from(1.0e-4_f32);
                if let Some(met) = accd::meeting(&moving(a), &moving(b), thick).filter(|_| !same) {
                    expected.push((a, b, met));
                }
            }
        }
        // What touches by the measure of the exact test must be found; what it gave up on may be left out.
        let close = |met: &accd::Meeting, a: u32, b: u32| {
            let reach = f64::from(detector.radii[a as usize] + detector.radii[b as usize]);
            met.distance <= 1.0101 * (reach + 1.0e-4)
        };
        let mut next = impacts.iter().peekable();
        for (a, b, met) in &expected {
            match next.next_if(|impact| (impact.contact.a, impact.contact.b) == (*a, *b)) {
                Some(impact) => {
                    assert!(
                        f64::from(impact.time) <= met.time && f64::from(impact.time) >= met.time - 1.0e-6
                    );
                    assert!(impact.contact.normal.is_normalized());
                }
                None => assert!(!close(met, *a, *b), "{a} and {b} are missing, met at {}", met.time),
            }
        }
        assert!(next.next().is_none(), "an impact that is none");
        total += impacts.len();
        detector
            .continuous(&hair.points, &to, &Settings::continuous(1.0e-4), &Known::default(), &mut few)
            .expect("good positions");
        assert!(few.len() <= 2 * detector.edges.len() && few == first_few(&impacts, 2, Keep::Either));
        let every_third = || impacts.iter().step_by(3).map(|impact| impact.contact.key());
        let known = Known::new(hair.points.len(), every_third());
        detector.continuous(&hair.points, &to, &settings, &known, &mut others).expect("good positions");
        let is_known = |impact: &Impact| every_third().any(|key| key == impact.contact.key());
        assert_eq!(others, impacts.iter().copied().filter(|one| !is_known(one)).collect::<Vec<_>>());
    }
    assert!(total > 2_000, "{total}");
}

#[test]
fn contacts_find_themselves_in_the_next_step() {
    let mut hair = hair(9, 300, 12, 0.01, 0.02, 1.0e-4);
    let mut detector = Detector::new(&hair.offsets, &hair.radii).expect("good strands");
    let (mut before, mut after, mut places) = (vec![], vec![], vec![]);
    let settings = Settings::proximity(1.0e-3);
    detector.proximity(&hair.points, &settings, &[], &mut before).expect("good positions");
    hair.points.iter_mut().enumerate().for_each(|(k, p)| p.x += 1.0e-4 * (k % 7) as f64);
    detector.proximity(&hair.points, &settings, &before, &mut after).expect("good positions");
    match_pairs(&before, &after, &mut places);
    let mut matched = 0;
    for (contact, &place) in after.iter().zip(&places) {
        let expected = before.iter().position(|old| (old.a, old.b) == (contact.a, contact.b));
        assert_eq!(expected, (place != u32::MAX).then_some(place as usize));
        assert_eq!(expected, find_pair(&before, contact.b, contact.a));
        matched += usize::from(expected.is_some());
    }
    assert!(matched > 100 && matched < after.len(), "{matched} of {}", after.len());
}

#[test]
fn crossing_edges_keep_the_normal_of_the_step_before() {
    let points = [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 0.0, 1.0]].map(Vec3::from_array);
    let mut detector = Detector::new(&[0, 2, 4], &[0.1; 4]).expect("good strands");
    let mut contacts = vec![];
    detector.proximity(&points, &Settings::proximity(0.1), &[], &mut contacts).expect("good positions");
    assert_eq!(contacts.len(), 1);
    assert!(contacts[0].normal.y.abs() > 0.999 && (contacts[0].gap + 0.2).abs() < 1.0e-6);
    for normal in [Vec3::Y, Vec3::NEG_Y] {
        let previous = [Contact { normal, ..contacts[0] }];
        detector
            .proximity(&points, &Settings::proximity(0.1), &previous, &mut contacts)
            .expect("good positions");
        assert_eq!(contacts[0].normal, normal);
    }
}
