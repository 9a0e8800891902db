//! Boxes around points.

use glam::Vec3;

/// The smallest and largest corner of the box around points; all zero if there are none.
///
/// Four boxes grow side by side: one alone would wait for itself at every point.
pub(crate) fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    let first = points.first().copied().unwrap_or_default();
    let (fours, rest) = points.as_chunks::<4>();
    let (mut low, mut high) = ([first; 4], [first; 4]);
    for four in fours {
        for lane in 0..4 {
            low[lane] = low[lane].min(four[lane]);
            high[lane] = high[lane].max(four[lane]);
        }
    }
    let all = |four: [Vec3; 4], pick: fn(Vec3, Vec3) -> Vec3| {
        let four = pick(pick(four[0], four[1]), pick(four[2], four[3]));
        rest.iter().fold(four, |corner, &point| pick(corner, point))
    };
    (all(low, Vec3::min), all(high, Vec3::max))
}

#[cfg(test)]
mod tests {
    use glam::Vec3;
    use hairloom::math::Random;

    use super::bounds;

    #[test]
    fn the_box_is_that_of_a_plain_search_at_every_count() {
        let mut random = Random::new(5);
        let mut points = Vec::new();
        assert_eq!(bounds(&points), (Vec3::ZERO, Vec3::ZERO));
        for _ in 0..23 {
            points.push(Vec3::new(random.signed(), random.signed(), random.signed()));
            let plain =
                points.iter().fold((points[0], points[0]), |(low, high), &p| (low.min(p), high.max(p)));
            assert_eq!(bounds(&points), plain);
        }
    }
}
