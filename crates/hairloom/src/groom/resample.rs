use super::plan::{Plan, coordinate_at};
use super::{Groom, GroomError};

/// The groom with `vertices` vertices (at least two) on every strand, evenly spaced along the old polyline.
/// End points stay exactly where they are, values at vertices are interpolated (whole numbers: the nearest).
pub fn resample(groom: &Groom, vertices: usize) -> Groom {
    resample_each(groom, |_| vertices)
}

/// The groom with so many vertices in all, shared out by the lengths of the strands, so that edges are as even as they can be. Every strand
/// gets two at least, whatever that makes of the sum.
pub fn resample_in_all(groom: &Groom, vertices: usize) -> Groom {
    let lengths: Vec<f64> =
        (0..groom.strands()).map(|strand| f64::from(groom.curves.length(strand))).collect();
    let edges = vertices.saturating_sub(lengths.len());
    let per_length = edges as f64 / lengths.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let shares: Vec<f64> = lengths.iter().map(|length| length * per_length).collect();
    let mut counts: Vec<usize> = shares.iter().map(|share| (*share as usize).max(1)).collect();
    // One more or less for those that miss most of their share, or have most beyond it.
    let mut order: Vec<usize> = (0..counts.len()).collect();
    let mut given: usize = counts.iter().sum();
    while given != edges {
        let missing = |&strand: &usize| shares[strand] - counts[strand] as f64;
        order.sort_by(|a, b| missing(b).total_cmp(&missing(a)));
        if given < edges {
            order.iter().take(edges - given).for_each(|&strand| counts[strand] += 1);
        } else {
            let longer = order.iter().rev().filter(|&&strand| counts[strand] > 1).take(given - edges);
            let longer: Vec<usize> = longer.copied().collect();
            longer.iter().for_each(|&strand| counts[strand] -= 1);
            if longer.is_empty() {
                break;
            }
        }
        given = counts.iter().sum();
    }
    resample_each(groom, |strand| counts[strand] + 1)
}

/// The groom with as many vertices on each strand as `vertices` says, at least two.
fn resample_each(groom: &Groom, vertices: impl Fn(usize) -> usize) -> Groom {
    let mut plan = Plan::new();
    for (index, strand) in groom.curves.iter().enumerate() {
        let vertices = vertices(index).max(2);
        if strand.len() < 2 {
            continue;
        }
        let length = groom.curves.length(index);
        let (mut edge, mut start) = (0, 0.0);
        plan.push(
            index,
            (0..vertices).map(|vertex| {
                if vertex + 1 == vertices {
                    return (strand.len() - 1) as f32;
                }
                let target = length * vertex as f32 / (vertices - 1) as f32;
                let coordinate;
                (coordinate, edge, start) = coordinate_at(strand, target, edge, start);
                coordinate
            }),
        );
    }
    plan.apply(groom)
}

impl Groom {
    /// The groom of the named strands alone, in that order. Strands keep their identifiers.
    pub fn subset(&self, strands: &[usize]) -> Result<Groom, GroomError> {
        let mut plan = Plan::new();
        for &strand in strands {
            if strand >= self.strands() {
                return Err(GroomError::NoSuchStrand { strand, strands: self.strands() });
            }
            plan.keep(strand, &self.curves);
        }
        Ok(plan.apply(self))
    }
}

#[cfg(test)]
mod tests {
    use glam::{Vec2, Vec3};

    use super::super::{Attribute, Curves, Domain, Groom, Root, Values, resample, resample_in_all};

    #[test]
    fn vertices_in_all_are_shared_out_by_length() {
        let mut curves = Curves::default();
        for length in [0.1, 0.3, 0.2, 1e-4, 0.11] {
            curves.push((0..5).map(|k| Vec3::X * (length * k as f32 / 4.0)));
        }
        let groom = Groom { curves, ..Groom::default() };
        for total in [10, 11, 12, 29, 53, 1000] {
            let shared = resample_in_all(&groom, total);
            assert_eq!(shared.curves.points.len(), total);
            let edges = |strand: usize| shared.curves.vertices_of(strand) - 1;
            assert!(edges(0) <= edges(4) && edges(4) <= edges(2) && edges(2) <= edges(1));
            if total > 50 {
                let longest = |strand: usize| groom.curves.length(strand) / edges(strand) as f32;
                let of_long = [0, 1, 2, 4].map(longest);
                let most = of_long.iter().copied().fold(0.0, f32::max);
                assert!(of_long.iter().all(|&edge| edge > 0.7 * most), "{of_long:?}");
            }
        }
        assert_eq!(resample_in_all(&groom, 3).curves.points.len(), 10, "two for each strand at least");
    }

    fn quarter_circle(vertices: usize) -> Groom {
        let mut curves = Curves::default();
        // Unevenly spaced on purpose.
        curves.push((0..vertices).map(|k| {
            let angle = (k as f32 / (vertices - 1) as f32).powi(2) * std::f32::consts::FRAC_PI_2;
            Vec3::new(angle.cos(), angle.sin(), 0.0)
        }));
        curves.push([Vec3::ZERO, Vec3::Y, Vec3::Y * 4.0]);
        let total = curves.points.len();
        Groom {
            curves,
            roots: vec![Root::Rigid, Root::Free],
            widths: (0..total).map(|k| k as f32).collect(),
            root_uv: vec![Vec2::ZERO, Vec2::ONE],
            attributes: vec![Attribute {
                name: "colour".into(),
                domain: Domain::Vertex,
                values: Values::Int((0..total as i32).collect()),
            }],
            ..Groom::default()
        }
    }

    #[test]
    fn resampled_vertices_are_even_on_the_curve_and_keep_the_ends() {
        let groom = quarter_circle(200);
        let resampled = resample(&groom, 10);
        let strand = resampled.curves.strand(0);
        assert_eq!(strand.len(), 10);
        assert_eq!(strand[0], groom.curves.strand(0)[0]);
        assert_eq!(strand[9], *groom.curves.strand(0).last().unwrap());
        for (k, point) in strand.iter().enumerate() {
            let angle = k as f32 / 9.0 * std::f32::consts::FRAC_PI_2;
            assert!(point.distance(Vec3::new(angle.cos(), angle.sin(), 0.0)) < 1e-4, "{k}: {point}");
        }
    }

    #[test]
    fn values_follow_their_vertices() {
        let resampled = resample(&quarter_circle(20), 5);
        // The second strand is 1 m + 3 m long; its widths are 20, 21, 22.
        let range = resampled.curves.range(1);
        let widths = &resampled.widths[range.clone()];
        for (width, expected) in widths.iter().zip([20.0, 21.0, 21.0 + 1.0 / 3.0, 21.0 + 2.0 / 3.0, 22.0]) {
            assert!((width - expected).abs() < 1e-5, "{widths:?}");
        }
        let Values::Int(colours) = &resampled.attributes[0].values else { panic!("wrong type") };
        assert_eq!(colours[range], [20, 21, 21, 22, 22]);
    }

    #[test]
    fn resampling_to_the_same_even_spacing_changes_nothing() {
        let once = resample(&quarter_circle(2), 7);
        let twice = resample(&once, 7);
        for (a, b) in once.curves.points.iter().zip(&twice.curves.points) {
            assert!(a.distance(*b) < 1e-6);
        }
    }

    #[test]
    fn subset_keeps_identity() {
        let groom = quarter_circle(4);
        let subset = groom.subset(&[1]).unwrap();
        assert_eq!(subset.ids, [1]);
        assert_eq!(subset.roots, [Root::Free]);
        assert_eq!(subset.curves.points, groom.curves.strand(1));
        assert!(groom.subset(&[2]).is_err());
        assert_eq!(groom.subset(&[0, 1]).unwrap(), groom);
    }
}
