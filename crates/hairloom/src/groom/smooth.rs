//! The path of a strand without its waves and curls.

use glam::Vec3;

/// A path may turn by this much in all before it counts as curled [rad]: hair that is combed over a head and falls
/// to the shoulders turns by less.
pub(super) const MOST_TURNING: f32 = 4.0;

/// The least reach, in vertices to each side, over which a strand has to be averaged to lose its curls; 0 for one
/// that has none.
pub(super) fn reach_without_curls(points: &[Vec3]) -> usize {
    let (mut path, mut sums) = (points.to_vec(), Vec::new());
    let most = points.len() / 4;
    let mut reach = 0;
    while turning(&path) > MOST_TURNING && reach < most {
        reach = (reach + 1 + reach / 2).min(most);
        smooth(points, reach, &mut sums, &mut path);
    }
    reach
}

/// By how much a path turns in all [rad].
pub(super) fn turning(points: &[Vec3]) -> f32 {
    let angle = |p: &[Vec3]| (p[1] - p[0]).angle_between(p[2] - p[1]);
    points.windows(3).map(angle).filter(|angle| angle.is_finite()).sum()
}

/// Averages each point twice with those up to `reach` before and after it, fewer towards the ends: these stay, and
/// so does a straight line.
pub(super) fn smooth(points: &[Vec3], reach: usize, sums: &mut Vec<Vec3>, out: &mut Vec<Vec3>) {
    out.clear();
    out.extend_from_slice(points);
    if reach == 0 {
        return;
    }
    let last = points.len() - 1;
    for _ in 0..2 {
        // Seen from the first point, so that the sums stay small.
        let origin = out[0];
        sums.clear();
        sums.push(Vec3::ZERO);
        let mut sum = Vec3::ZERO;
        for &point in out.iter() {
            sum += point - origin;
            sums.push(sum);
        }
        for (i, point) in out.iter_mut().enumerate().take(last).skip(1) {
            let reach = reach.min(i).min(last - i);
            *point = origin + (sums[i + reach + 1] - sums[i - reach]) / (2 * reach + 1) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn helix(turns: f32) -> Vec<Vec3> {
        let at = |k: usize| k as f32 / 47.0;
        let angle = |s: f32| std::f32::consts::TAU * turns * s;
        (0..48)
            .map(at)
            .map(|s| Vec3::new(0.006 * angle(s).cos(), -0.36 * s, 0.006 * angle(s).sin()))
            .collect()
    }

    #[test]
    fn waves_go_and_the_line_they_run_along_stays() {
        let points = helix(5.5);
        let reach = reach_without_curls(&points);
        let mut path = Vec::new();
        smooth(&points, reach, &mut Vec::new(), &mut path);
        assert_eq!((path[0], path[47]), (points[0], points[47]));
        for point in &path[12..36] {
            assert!(Vec3::new(point.x, 0.0, point.z).length() < 0.002, "{point} with a reach of {reach}");
        }
    }

    #[test]
    fn straight_and_combed_hair_is_left_alone() {
        let arc = |k: usize| (std::f32::consts::PI * (k as f32 / 30.0)).sin_cos();
        let combed: Vec<Vec3> =
            (0..31).map(arc).map(|(sin, cos)| Vec3::new(0.1 * sin, 0.1 * cos, 0.0)).collect();
        assert_eq!(reach_without_curls(&combed), 0);
        assert!(reach_without_curls(&helix(5.5)) > 0);
        assert_eq!(reach_without_curls(&combed[..2]), 0);
    }
}
