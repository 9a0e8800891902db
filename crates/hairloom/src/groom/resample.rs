use super::plan::{Plan, coordinate_at};
use super::{Groom, GroomError};

/// The groom with `vertices` vertices (at least two) on every strand, evenly spaced along the old polyline.
/// End points stay exactly where they are, values at vertices are interpolated (whole numbers: the nearest).
pub fn resample(groom: &Groom, vertices: usize) -> Groom {
    let vertices = vertices.max(2);
    let mut plan = Plan::new();
    for (index, strand) in groom.curves.iter().enumerate() {
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

    use super::super::{Attribute, Curves, Domain, Groom, Root, Values, resample};

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
