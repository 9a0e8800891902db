//! Closed curves, opened where they begin.

use hairloom::groom::{Curves, Domain};

use super::{Basis, Cubic, Unlaid};
use crate::stage::spread;

/// The fewest points that a closed curve has; one with fewer stays as it is.
const FEWEST: usize = 3;

/// The segments of a closed curve with so many control points, if it can be closed.
fn segments(cubic: Option<&Cubic>, controls: usize) -> Result<Option<usize>, String> {
    match cubic.map(|cubic| cubic.basis) {
        _ if controls < FEWEST => Ok(None),
        Some(Basis::Bezier) if !controls.is_multiple_of(3) => Err(format!(
            "a closed cubic Bézier curve has {controls} control points; expected three for each segment"
        )),
        Some(Basis::Bezier) => Ok(Some(controls / 3)),
        _ => Ok(Some(controls)),
    }
}

/// The varying values that closed strands have: one for each segment.
pub(crate) fn closed_ends(cubic: Option<&Cubic>, curves: &Curves) -> Result<usize, String> {
    let ends = |strand: usize| {
        let controls = curves.vertices_of(strand);
        Ok(segments(cubic, controls)?.unwrap_or(controls))
    };
    (0..curves.strands()).map(ends).sum()
}

impl Unlaid {
    /// Closed curves as open ones that end where they begin: control points are repeated. `pay` is asked before memory is
    /// taken [bytes].
    pub(crate) fn opened(mut self, pay: impl Fn(u64) -> Result<(), String>) -> Result<Self, String> {
        // The last points of linear and Bézier curves are the first ones; other segments reach over three more.
        let repeated = match self.cubic.map(|cubic| cubic.basis) {
            Some(Basis::Bspline | Basis::CatmullRom) => 3,
            _ => 1,
        };
        let curves = &self.groom.curves;
        let most = curves.points.len() + repeated * curves.strands();
        pay((most * (self.vertex_bytes() + 2 * size_of::<i32>())) as u64)?;
        let (mut vertices, mut ends, mut offsets) = (Vec::with_capacity(most), Vec::new(), vec![0]);
        let mut first_end = 0;
        for strand in 0..curves.strands() {
            let range = curves.range(strand);
            let segments = segments(self.cubic.as_ref(), range.len())?;
            let count = segments.unwrap_or(range.len());
            vertices.extend(range.clone().map(|vertex| vertex as i32));
            ends.extend((first_end..first_end + count).map(|end| end as i32));
            if segments.is_some() {
                vertices.extend(range.take(repeated).map(|vertex| vertex as i32));
                ends.push(first_end as i32);
            }
            first_end += count;
            offsets.push(u32::try_from(vertices.len()).map_err(|_| "more points than a groom can hold")?);
        }
        let groom = &mut self.groom;
        let pick = |points: &[glam::Vec3]| vertices.iter().map(|&vertex| points[vertex as usize]).collect();
        self.first = self.first.filter(|first| first.len() == groom.vertices()).map(|first| pick(&first));
        groom.curves = Curves { points: pick(&groom.curves.points), offsets };
        if !groom.widths.is_empty() {
            groom.widths = vertices.iter().map(|&vertex| groom.widths[vertex as usize]).collect();
        }
        for attribute in groom.attributes.iter_mut().filter(|one| one.domain == Domain::Vertex) {
            let given = std::mem::replace(&mut attribute.values, hairloom::groom::Values::Int(Vec::new()));
            attribute.values = spread(given, &vertices).ok_or("an attribute is not complete")?;
        }
        for attribute in &mut self.varying {
            let given = std::mem::replace(&mut attribute.values, hairloom::groom::Values::Int(Vec::new()));
            attribute.values = spread(given, &ends).ok_or("an attribute is not complete")?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;
    use hairloom::groom::{Attribute, Groom, Values};

    use super::super::lay_all;
    use super::*;
    use crate::notes::Notes;

    fn ring(basis: Option<Basis>, controls: Vec<Vec3>) -> Groom {
        let cubic = basis.map(|basis| Cubic { basis, pinned: false });
        let count = controls.len();
        let curves = Curves { offsets: vec![0, count as u32], points: controls };
        let ends = closed_ends(cubic.as_ref(), &curves).unwrap();
        let groom = Groom { curves, widths: vec![0.5; count], ..Groom::default() };
        let values = Values::Float((0..ends).map(|end| end as f32).collect());
        let varying = vec![Attribute { name: "v".into(), domain: Domain::Vertex, values }];
        let varying = if cubic.is_some() { varying } else { Vec::new() };
        let part = Unlaid { cubic, first: None, groom, varying }.opened(|_| Ok(())).unwrap();
        lay_all(vec![part], u64::MAX, |_| Ok(()), &Notes::default()).unwrap().remove(0)
    }

    #[test]
    fn closed_curves_end_where_they_begin() {
        let corner = |step: usize| {
            let angle = std::f32::consts::TAU * step as f32 / 6.0;
            Vec3::new(angle.cos(), 0.0, angle.sin())
        };
        let corners: Vec<Vec3> = (0..6).map(corner).collect();
        for basis in [None, Some(Basis::Bezier), Some(Basis::Bspline), Some(Basis::CatmullRom)] {
            let groom = ring(basis, corners.clone());
            let points = &groom.curves.points;
            assert!(points[0].distance(points[points.len() - 1]) < 1e-6, "{basis:?}");
            assert_eq!((groom.curves.offsets.len(), groom.widths.len()), (2, points.len()));
            // All the way round.
            let around: f32 = points.windows(2).map(|edge| edge[0].angle_between(edge[1])).sum();
            assert!((around - std::f32::consts::TAU).abs() < 0.01, "{basis:?}: {around}");
            if let Some(Attribute { values: Values::Float(values), .. }) = groom.attributes.first() {
                let last = values[values.len() - 1];
                assert!(values[0].abs() < 1e-6 && last.abs() < 1e-6, "{basis:?}: {values:?}");
            }
        }
        assert_eq!(ring(None, corners[..2].to_vec()).vertices(), 2);
    }

    #[test]
    fn closed_bezier_curves_have_three_points_for_each_segment() {
        let curves = Curves { offsets: vec![0, 4], points: vec![Vec3::X; 4] };
        let cubic = Cubic { basis: Basis::Bezier, pinned: false };
        assert!(closed_ends(Some(&cubic), &curves).unwrap_err().contains("three"));
    }
}
