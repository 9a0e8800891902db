//! Chains of points that get their edges' lengths back: between fixed ends, and with both ends free.

use glam::DVec3;

/// Blends of the two projections before Newton's method takes over.
const BLENDS: usize = 8;
/// Newton iterations on the lengths.
const NEWTON: usize = 30;
/// Relative length error that ends the iteration.
pub(super) const LENGTH_TOLERANCE: f64 = 1.0e-7;

/// Largest relative error of the edges' lengths.
pub(super) fn length_error(points: &[DVec3], lengths: &[f64]) -> f64 {
    points.windows(2).zip(lengths).map(|(p, l)| ((p[1] - p[0]).length() / l - 1.0).abs()).fold(0.0, f64::max)
}

/// Follow the leader from the first point on.
fn project_forward(points: &mut [DVec3], lengths: &[f64]) {
    for i in 1..points.len() {
        let edge = points[i] - points[i - 1];
        points[i] = points[i - 1] + edge.normalize_or(DVec3::NEG_Y) * lengths[i - 1];
    }
}

/// Follow the leader from the last point back.
fn project_backward(points: &mut [DVec3], lengths: &[f64]) {
    for i in (1..points.len()).rev() {
        let edge = points[i - 1] - points[i];
        points[i - 1] = points[i] + edge.normalize_or(DVec3::NEG_Y) * lengths[i - 1];
    }
}

/// Gives all edges their lengths between fixed ends; tells whether the ends are within reach.
pub(super) fn hang_between(points: &mut [DVec3], lengths: &[f64]) -> bool {
    let last = points.len() - 1;
    let (start, end) = (points[0], points[last]);
    let total: f64 = lengths.iter().sum();
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    let span = (end - start).length();
    if span >= total * (1.0 - 1.0e-12) {
        // Taut or out of reach: the least bad is the same stretch everywhere.
        let mut along = 0.0;
        for i in 1..last {
            along += lengths[i - 1];
            points[i] = start.lerp(end, along / total);
        }
        return span <= total * (1.0 + LENGTH_TOLERANCE);
    }
    for _ in 0..BLENDS {
        let (mut left, mut right) = (points.to_vec(), points.to_vec());
        project_forward(&mut left, lengths);
        project_backward(&mut right, lengths);
        for i in 1..last {
            points[i] = left[i].lerp(right[i], i as f64 / last as f64);
        }
    }
    if newton(points, lengths) > LENGTH_TOLERANCE {
        inflate(points, lengths, total);
        newton(points, lengths);
    }
    // An edge longer than all others and the span together cannot close the polygon either.
    2.0 * longest <= total + span
}

/// Newton's method on all lengths at once, ends fixed. Returns the error left.
fn newton(points: &mut [DVec3], lengths: &[f64]) -> f64 {
    let free = vec![DVec3::ZERO; points.len()];
    let mut error = length_error(points, lengths);
    for _ in 0..NEWTON {
        if error <= LENGTH_TOLERANCE {
            break;
        }
        let steps = length_steps(points, lengths, &free);
        points.iter_mut().zip(steps).for_each(|(point, step)| *point += step);
        error = length_error(points, lengths);
    }
    error
}

/// Gives one edge after the other its length by moving both its ends, those of the rope excepted.
pub(super) fn mend(points: &mut [DVec3], lengths: &[f64], backwards: bool) {
    let edges = lengths.len();
    for k in 0..edges {
        let k = if backwards { edges - 1 - k } else { k };
        let edge = points[k + 1] - points[k];
        let missing = edge - edge.normalize_or(DVec3::NEG_Y) * lengths[k];
        let (first, second) = (f64::from(k > 0), f64::from(k + 1 < edges));
        let share = missing / (first + second).max(1.0);
        points[k] += share * first;
        points[k + 1] -= share * second;
    }
}

/// The steps that give all edges their lengths to first order (a tridiagonal system), ends fixed, where vertices with a
/// normal can move in their plane only. The steps are what the edges ask for: the part along the normal is for the
/// caller to take away.
pub(super) fn length_steps(points: &[DVec3], lengths: &[f64], normals: &[DVec3]) -> Vec<DVec3> {
    let edges = lengths.len();
    let directions: Vec<DVec3> =
        points.windows(2).map(|p| (p[1] - p[0]).normalize_or(DVec3::NEG_Y)).collect();
    let through = |vertex: usize, a: DVec3, b: DVec3| {
        let held = vertex == 0 || vertex == edges;
        if held { 0.0 } else { a.dot(b) - a.dot(normals[vertex]) * b.dot(normals[vertex]) }
    };
    let of_edge =
        |k: usize| through(k, directions[k], directions[k]) + through(k + 1, directions[k], directions[k]);
    let mut diagonal: Vec<f64> = (0..edges).map(|k| of_edge(k) + 1.0e-9).collect();
    let mut multiplier: Vec<f64> =
        (0..edges).map(|k| (points[k + 1] - points[k]).length() - lengths[k]).collect();
    let off: Vec<f64> = (1..edges).map(|k| -through(k, directions[k - 1], directions[k])).collect();
    for k in 1..edges {
        let factor = off[k - 1] / diagonal[k - 1];
        diagonal[k] = (diagonal[k] - factor * off[k - 1]).max(1.0e-9);
        multiplier[k] -= factor * multiplier[k - 1];
    }
    for k in (0..edges).rev() {
        let after = if k + 1 < edges { off[k] * multiplier[k + 1] } else { 0.0 };
        multiplier[k] = (multiplier[k] - after) / diagonal[k];
    }
    let mut steps = vec![DVec3::ZERO; points.len()];
    for vertex in 1..edges {
        let step = directions[vertex - 1] * -multiplier[vertex - 1] + directions[vertex] * multiplier[vertex];
        // Far from the solution the linear model promises too much.
        steps[vertex] = step.clamp_length_max(lengths[vertex - 1].max(lengths[vertex]));
    }
    steps
}

/// Puts the points on an arc between the ends whose polygon is as long as the rope, on the side to which the rope
/// hangs: a start for Newton's method where the rope is taut, folded or straight.
fn inflate(points: &mut [DVec3], lengths: &[f64], total: f64) {
    let last = points.len() - 1;
    let (start, end) = (points[0], points[last]);
    let span = (end - start).length().max(1.0e-12 * total);
    let chord = (end - start).normalize_or(DVec3::X);
    let mean: DVec3 = points.iter().map(|&p| (p - start).reject_from_normalized(chord)).sum();
    // Of points on the line only rounding is left, which may point along it.
    let sags = mean.length() > 1.0e-9 * total;
    let side = if sags { mean.normalize() } else { chord.any_orthonormal_vector() };
    // Half the opening angle of the arc: the polygon's length over its chord grows from 1 to infinity with it.
    let (mut low, mut high) = (0.0, std::f64::consts::PI);
    for _ in 0..100 {
        let angle = 0.5 * (low + high);
        let polygon: f64 = lengths.iter().map(|length| (angle * length / total).sin()).sum();
        if polygon * span < total * angle.sin() { low = angle } else { high = angle }
    }
    let (angle, radius) = (low, 0.5 * span / low.sin());
    let middle = start.lerp(end, 0.5);
    let mut along = 0.0;
    for i in 1..last {
        along += lengths[i - 1];
        let at = angle * (2.0 * along / total - 1.0);
        points[i] = middle + chord * (radius * at.sin()) + side * (radius * (at.cos() - angle.cos()));
    }
}

/// Gives all edges their lengths with both ends free, without moving the centre of mass.
pub(super) fn float_free(points: &mut [DVec3], lengths: &[f64], masses: &[f64]) {
    let centre = |points: &[DVec3]| -> DVec3 {
        let mass: f64 = masses.iter().sum();
        points.iter().zip(masses).map(|(&p, &m)| p * m).sum::<DVec3>() / mass
    };
    let before = centre(points);
    let (mut left, mut right) = (points.to_vec(), points.to_vec());
    project_forward(&mut left, lengths);
    project_backward(&mut right, lengths);
    for ((point, a), b) in points.iter_mut().zip(left).zip(right) {
        *point = (a + b) * 0.5;
    }
    let middle = points.len() / 2;
    project_forward(&mut points[middle..], &lengths[middle..]);
    project_backward(&mut points[..=middle], &lengths[..middle]);
    let moved = before - centre(points);
    for point in points {
        *point += moved;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn arch(count: usize, span: f64, sag: f64) -> Vec<DVec3> {
        (0..=count)
            .map(|i| {
                let s = i as f64 / count as f64;
                DVec3::new(span * s, -4.0 * sag * s * (1.0 - s), 0.1 * sag * (7.0 * s).sin() * s * (1.0 - s))
            })
            .collect()
    }

    #[test]
    fn ropes_within_reach_keep_their_lengths() {
        for count in [2, 5, 16, 64] {
            let lengths: Vec<f64> = (0..count).map(|i| (1.0 + 0.5 * (i % 3) as f64) / count as f64).collect();
            let total: f64 = lengths.iter().sum();
            for reach in [0.01, 0.3, 0.7, 0.95, 0.99, 0.999, 0.9999, 0.999999] {
                for sag in [0.0, 0.001, 0.2, 1.0] {
                    let mut points = arch(count, reach * total, sag);
                    assert!(hang_between(&mut points, &lengths) || count == 2);
                    let error = length_error(&points, &lengths);
                    let closes = 2.0 * lengths.iter().copied().fold(0.0, f64::max) <= total * (1.0 + reach);
                    assert!(error < 1.0e-3 || !closes, "{count} edges, reach {reach}, sag {sag}: {error}");
                    assert_eq!(points[0], DVec3::ZERO);
                    assert_eq!(points[count], DVec3::new(reach * total, 0.0, 0.0));
                }
            }
        }
    }

    #[test]
    fn ropes_out_of_reach_say_so_and_stretch_evenly() {
        let lengths = vec![0.1; 10];
        let mut points = arch(10, 1.5, 0.3);
        assert!(!hang_between(&mut points, &lengths));
        assert!((length_error(&points, &lengths) - 0.5).abs() < 1.0e-12);
    }

    #[test]
    fn detached_ropes_keep_lengths_and_centre_of_mass() {
        let lengths = vec![0.1; 10];
        let masses: Vec<f64> = (0..11).map(|i| 1.0 + 0.1 * i as f64).collect();
        let mut points = arch(10, 1.5, 0.3);
        let centre = |p: &[DVec3]| p.iter().zip(&masses).map(|(&p, &m)| p * m).sum::<DVec3>();
        let before = centre(&points);
        float_free(&mut points, &lengths, &masses);
        assert!(length_error(&points, &lengths) < 1.0e-14);
        assert!((centre(&points) - before).length() < 1.0e-13);
    }
}
