use super::*;
use crate::math::Random;

/// Distance of two segments without the tested function: the least over ends and the crossing of the lines.
fn distance(p: [DVec3; 2], q: [DVec3; 2]) -> f64 {
    let to_segment = |x: DVec3, [a, b]: [DVec3; 2]| {
        let along = b - a;
        let square = along.length_squared();
        let place = if square > 0.0 { ((x - a).dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
        (x - a - along * place).length()
    };
    let least =
        to_segment(p[0], q).min(to_segment(p[1], q)).min(to_segment(q[0], p)).min(to_segment(q[1], p));
    let (u, v, w) = (p[1] - p[0], q[1] - q[0], q[0] - p[0]);
    let normal = u.cross(v);
    let square = normal.length_squared();
    if square <= 0.0 {
        return least;
    }
    let (s, t) = (w.cross(v).dot(normal) / square, w.cross(u).dot(normal) / square);
    if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
        least.min((u * s - v * t - w).length())
    } else {
        least
    }
}

fn at(edge: &Moving, time: f64) -> [DVec3; 2] {
    [0, 1].map(|k| edge.from[k] + (edge.to[k] - edge.from[k]) * time)
}

/// A random pair of edges, of a kind that depends on `kind`, with a thickness.
fn pair(random: &mut Random, kind: usize) -> (Moving, Moving, f64) {
    let mut vector = |size: f64| random.direction().as_dvec3() * (size * random.unit_f64());
    let mut a = Moving { from: [vector(1.0), vector(1.0)], to: [vector(1.0), vector(1.0)] };
    let mut b = Moving { from: [vector(1.0), vector(1.0)], to: [vector(1.0), vector(1.0)] };
    let shift = vector(1.0);
    let (s, t, u) = (random.unit_f64(), random.unit_f64(), random.unit_f64());
    let mut thickness = 0.1 * u * u * u;
    match kind {
        // Parallel at the start, and at both times.
        1 => b.from[1] = b.from[0] + (a.from[1] - a.from[0]) * (2.0 * s - 1.0),
        2 => {
            b.from[1] = b.from[0] + (a.from[1] - a.from[0]) * (2.0 * s - 1.0);
            a.to = a.from.map(|p| p + shift);
            b.to = b.from.map(|p| p - shift * t);
        }
        // All in one plane.
        3 => [&mut a, &mut b].into_iter().for_each(|edge| {
            edge.from.iter_mut().chain(&mut edge.to).for_each(|p| p.z = 0.25);
        }),
        // All on one line.
        4 => [&mut a, &mut b].into_iter().for_each(|edge| {
            edge.from.iter_mut().chain(&mut edge.to).for_each(|p| (p.y, p.z) = (0.5 * p.x, -p.x));
        }),
        // No length: one edge, or both.
        5 => (a.from[1], a.to[1]) = (a.from[0], a.to[0]),
        6 => {
            (a.from[1], a.to[1]) = (a.from[0], a.to[0]);
            (b.from[1], b.to[1]) = (b.from[0], b.to[0]);
        }
        // No relative motion; no motion at all.
        7 => {
            a.to = a.from.map(|p| p + shift);
            b.to = b.from.map(|p| p + shift);
        }
        8 => (a.to, b.to) = (a.from, b.from),
        // Touching already.
        9 => {
            let point = a.from[0].lerp(a.from[1], s);
            let along = b.from[1] - b.from[0];
            b.from = [point - along * t, point + along * (1.0 - t)];
        }
        // Passing at very nearly the thickness: a straight pass across.
        10 => {
            a.from = [DVec3::new(-1.0, 0.0, 0.0), DVec3::new(1.0, 0.0, 0.0)];
            a.to = a.from;
            let height = thickness * (1.0 + (s - 0.5) * 10.0_f64.powf(-12.0 * t));
            b.from = [DVec3::new(0.3 * u, -1.0, height), DVec3::new(0.3 * u, -0.5, height)];
            b.to = b.from.map(|p| p + DVec3::Y * 2.0);
        }
        // No thickness; hair-like sizes; far from the origin.
        11 => thickness = 0.0,
        12 => {
            for edge in [&mut a, &mut b] {
                edge.from.iter_mut().chain(&mut edge.to).for_each(|p| *p *= 0.01);
            }
            thickness = 7.4e-5;
        }
        13 => {
            for edge in [&mut a, &mut b] {
                edge.from.iter_mut().chain(&mut edge.to).for_each(|p| *p += DVec3::new(1000.0, -200.0, 50.0));
            }
        }
        // Slow and nearly parallel.
        14 => {
            b.from = [a.from[0] + shift * 0.05, a.from[1] + shift * 0.05 * (1.0 + 1.0e-7 * s)];
            a.to = a.from;
            b.to = b.from.map(|p| p - shift * 0.06);
            thickness *= 0.1;
        }
        _ => {}
    }
    (a, b, thickness)
}

const KINDS: usize = 15;

/// The true time of the first impact before `end` by bisection: an interval is free of impacts if the distance in its middle exceeds
/// what the speed can cover to its ends.
fn true_time(a: &Moving, b: &Moving, thickness: f64, end: f64) -> Result<Option<f64>, &'static str> {
    let speed = (0..2)
        .flat_map(|i| (0..2).map(move |j| (a.to[i] - a.from[i] - b.to[j] + b.from[j]).length()))
        .fold(0.0, f64::max);
    let mut intervals = vec![(0.0, end)];
    for _ in 0..20_000 {
        let Some((low, high)) = intervals.pop() else { return Ok(None) };
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        let gap = distance(at(a, middle), at(b, middle)) - thickness;
        if gap > speed * half {
            continue;
        }
        if half < 1.0e-12 {
            return Ok(Some(low));
        }
        intervals.extend([(middle, high), (low, middle)]);
    }
    Err("too close to tell")
}

/// Edges do not come nearer than the thickness before the time that is reported, for a million pairs. Pairs that stay within rounding of the
/// thickness for long are too close to tell, and few.
#[test]
fn a_million_pairs_are_never_reported_late() {
    use rayon::prelude::*;
    let random = Random::new(11);
    let count = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    let look = |index: u64| {
        let (a, b, thickness) = pair(&mut random.fork(index), index as usize % KINDS);
        let met = meeting(&a, &b, thickness);
        let end = met.map_or(1.0, |met| met.time);
        assert!((0.0..=1.0).contains(&end));
        let thin = thickness * (1.0 - 1.0e-12) - 1.0e-12;
        let known = match true_time(&a, &b, thin, end) {
            _ if end == 0.0 => true,
            Ok(None) => true,
            // Bisection knows the time to 2e-12 where edges meet head on, and less well the more they glance off.
            Ok(Some(time)) => {
                assert!(time >= end - 2.0e-10, "pair {index}: {end} is later than {time}");
                true
            }
            Err(_) => false,
        };
        (usize::from(met.is_some()), usize::from(!known))
    };
    let looked = (0..count).into_par_iter().map(look);
    let (impacts, unknown) = looked.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    // Both outcomes are common.
    assert!(impacts > count as usize / 10 && impacts < count as usize * 9 / 10, "{impacts}");
    assert!(unknown < count as usize / 1000, "{unknown} pairs are too close to tell");
}

#[test]
fn times_agree_with_bisection() {
    let random = Random::new(12);
    let (mut compared, mut unknown) = (0, 0);
    for index in 0..15_000 {
        let (a, b, thickness) = pair(&mut random.fork(index), index as usize % KINDS);
        let met = meeting(&a, &b, thickness);
        // With the tolerance added, the true impact is at or before what is reported.
        let thick = thickness * (1.0 + NEAR) + NEAR_OF_GAP * 2.0 + 1.0e-9;
        match (true_time(&a, &b, thickness, 1.0), true_time(&a, &b, thick, 1.0)) {
            (Ok(exact), Ok(early)) => {
                compared += 1;
                let time = met.map_or(f64::INFINITY, |met| met.time);
                // Bisection knows the time to 2e-12 where edges meet head on, and less well the more they glance off.
                assert!(
                    time <= exact.unwrap_or(f64::INFINITY) + 2.0e-10,
                    "pair {index}: {time} is later than {exact:?}"
                );
                let gave_up = met.is_some_and(|met| met.distance > thick);
                assert!(
                    gave_up || time >= early.unwrap_or(f64::INFINITY) - 1.0e-9,
                    "pair {index}: {time}, {early:?}"
                );
            }
            _ => unknown += 1,
        }
    }
    assert!(compared > 12_000, "{unknown} pairs were too close to tell");
}

#[test]
fn head_on_impact_has_the_closed_form_time() {
    let a = Moving { from: [-DVec3::X, DVec3::X], to: [-DVec3::X, DVec3::X] };
    let from = [DVec3::new(0.1, 2.0, -1.0), DVec3::new(0.1, 2.0, 1.0)];
    let b = Moving { from, to: from.map(|p| p - 4.0 * DVec3::Y) };
    let met = meeting(&a, &b, 0.5).expect("they meet");
    assert!((met.time - 1.5 / 4.0).abs() < 0.005 / 4.0 && met.time <= 1.5 / 4.0, "{}", met.time);
    assert!((met.closest.s - 0.55).abs() < 1.0e-12 && (met.closest.t - 0.5).abs() < 1.0e-12);
    assert!(meeting(&a, &Moving { from, to: from.map(|p| p - 1.4 * DVec3::Y) }, 0.5).is_none());
}
