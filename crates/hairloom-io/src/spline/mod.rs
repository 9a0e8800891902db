//! Cubic curves as polylines.
//!
//! A strand's vertices lie on its curve, evenly by arc length, from one end to the other; at a corner of the curve, the nearest
//! one is moved to it. There are as few as keep the polyline within
//! [`TOLERANCE`] of the curve's length of it, but no fewer than the curve has segments and one more, and no more than
//! [`MOST`] for each control point, nor more than a file of its size is worth (see [`lay_all`]). The number, and which vertices stand at corners, are chosen at the first time sample, so that
//! they stay the same in all frames.
//!
//! Closed curves are opened where they begin: their polylines end there again.
//!
//! Values at the control points follow the basis of the curve, values at the ends of segments (varying ones) are linear between them.

mod basis;
mod closed;
mod column;
mod measured;

pub(crate) use basis::{Basis, Cubic};
pub(crate) use closed::closed_ends;

use glam::Vec3;
use hairloom::groom::{Attribute, Curves, Domain, Groom, Values};

use crate::notes::Notes;
use crate::stage::element_bytes;
use basis::Place;
use column::Column;
use measured::{Measured, weighted};

/// The largest distance of a polyline from its curve, as a part of the curve's length. It is not kept beside corners, where a vertex
/// was moved, nor by curves that would need more than [`MOST`] vertices for each control point or that their file is not worth.
pub(crate) const TOLERANCE: f64 = 1.0e-3;

/// The most vertices of a polyline for each control point of its curve.
pub(crate) const MOST: usize = 6;

/// Points of a segment at which lengths are measured …
const PIECES: usize = 24;

/// … but no more than so many of a strand, or else one for each segment: a long strand is not worth many times its file.
const MOST_PIECES: usize = 1 << 16;

/// Curves as a file gives them: the points of cubic ones are control points.
pub(crate) struct Unlaid {
    /// What kind of cubic curves they are; nothing for polylines.
    pub(crate) cubic: Option<Cubic>,
    /// The control points at the first time, if they move.
    pub(crate) first: Option<Vec<Vec3>>,
    pub(crate) groom: Groom,
    /// Attributes with a value for each end of a segment, in which one named `widths` stands for the widths.
    pub(crate) varying: Vec<Attribute>,
}

/// Makes polylines of all curves, and lays their widths and attributes of vertices along them. They take no more than they are
/// `worth` [bytes]: where all vertices that the tolerance asks for would, those strands with the most for each control point get fewer.
/// `pay` is asked before memory is taken [bytes].
pub(crate) fn lay_all(
    parts: Vec<Unlaid>,
    worth: u64,
    pay: impl Fn(u64) -> Result<(), String>,
    notes: &Notes,
) -> Result<Vec<Groom>, String> {
    let wanted = parts.iter().map(Unlaid::wanted).collect::<Result<Vec<_>, _>>()?;
    let bytes = |most: f64| -> u64 {
        let each = parts.iter().zip(&wanted).map(|(part, wanted)| part.bytes(wanted, most));
        each.fold(0, u64::saturating_add)
    };
    let vertices = |most: f64| -> usize {
        parts.iter().zip(&wanted).map(|(part, wanted)| part.vertices(wanted, most)).sum()
    };
    let (mut low, mut high) = (0.0, MOST as f64);
    let most = match bytes(high) <= worth {
        true => high,
        false => {
            for _ in 0..20 {
                let middle = 0.5 * (low + high);
                *(if bytes(middle) <= worth { &mut low } else { &mut high }) = middle;
            }
            notes.tell(|| {
                format!(
                    "its cubic curves need {} vertices to be followed within {TOLERANCE} of their length, and a file of this size is worth \
                     {}: they are followed less closely (export polylines, or curves with more control points)",
                    vertices(MOST as f64),
                    vertices(low)
                )
            });
            low
        }
    };
    parts.into_iter().zip(wanted).map(|(part, wanted)| part.laid(&wanted, most, &pay)).collect()
}

/// The vertices of a strand with so many segments and control points that wants so many, with `most` for each control point.
fn allowed(wanted: u32, segments: usize, controls: usize, most: f64) -> usize {
    (wanted as usize).min(((most * controls as f64) as usize).max(segments + 1))
}

impl Unlaid {
    /// The control points that tell how many vertices there are.
    fn first(&self) -> &[Vec3] {
        let points = &self.groom.curves.points;
        self.first.as_deref().filter(|first| first.len() == points.len()).unwrap_or(points)
    }

    /// The vertices of each strand that the tolerance asks for; none for polylines.
    fn wanted(&self) -> Result<Vec<u32>, String> {
        let Some(cubic) = &self.cubic else { return Ok(Vec::new()) };
        let (controls, first, mut measured) = (&self.groom.curves, self.first(), Measured::default());
        let vertices = |strand: usize| -> Result<u32, String> {
            let range = controls.range(strand);
            Ok(match cubic.segments(range.len())? {
                0 => range.len() as u32,
                segments => {
                    measured.measure(cubic, &first[range.clone()], segments);
                    measured.vertices(range.len()) as u32
                }
            })
        };
        (0..controls.strands()).map(vertices).collect()
    }

    /// The memory of a vertex [bytes].
    fn vertex_bytes(&self) -> usize {
        let of_vertices = self.groom.attributes.iter().filter(|one| one.domain == Domain::Vertex);
        let attributes = of_vertices.chain(&self.varying).map(|one| element_bytes(&one.values));
        let widths = if self.groom.widths.is_empty() { 0 } else { size_of::<f32>() };
        size_of::<Vec3>() + widths + attributes.sum::<usize>()
    }

    /// The vertices of all strands with `most` for each control point.
    fn vertices(&self, wanted: &[u32], most: f64) -> usize {
        let Some(cubic) = &self.cubic else { return 0 };
        let vertices = |(strand, &wanted): (usize, &u32)| {
            let controls = self.groom.curves.vertices_of(strand);
            match cubic.segments(controls) {
                Ok(segments) if segments > 0 => allowed(wanted, segments, controls, most),
                _ => wanted as usize,
            }
        };
        wanted.iter().enumerate().map(vertices).sum()
    }

    fn bytes(&self, wanted: &[u32], most: f64) -> u64 {
        self.vertices(wanted, most) as u64 * self.vertex_bytes() as u64
    }

    fn laid(
        mut self,
        wanted: &[u32],
        most: f64,
        pay: impl Fn(u64) -> Result<(), String>,
    ) -> Result<Groom, String> {
        let Some(cubic) = self.cubic else { return Ok(self.groom) };
        let total = self.vertices(wanted, most);
        pay(self.bytes(wanted, most))?;
        let mut columns = self.columns(total);
        let (controls, first) = (&self.groom.curves, self.first());
        let mut curves =
            Curves { offsets: Vec::with_capacity(controls.offsets.len()), points: Vec::with_capacity(total) };
        curves.offsets.push(0);
        let (mut measured, mut places, mut start) = (Measured::default(), Vec::new(), 0);
        for (strand, &wanted) in wanted.iter().enumerate() {
            let range = controls.range(strand);
            let segments = cubic.segments(range.len())?;
            if segments == 0 {
                curves.points.extend_from_slice(&controls.points[range.clone()]);
                columns.iter_mut().for_each(|column| column.copy(range.clone(), start));
                start += range.len();
            } else {
                let (first, now) = (&first[range.clone()], &controls.points[range.clone()]);
                let count = allowed(wanted, segments, range.len(), most);
                places_along(&cubic, [first, now], count, &mut measured, &mut places);
                let on_curve = |&place: &Place| cubic.at(now, place, weighted).as_vec3();
                curves.points.extend(places.iter().map(on_curve));
                columns.iter_mut().for_each(|column| column.follow(&cubic, &places, range.clone(), start));
                start += segments + 1;
            }
            let end = u32::try_from(curves.points.len());
            curves.offsets.push(end.map_err(|_| "more points than a groom can hold".to_owned())?);
        }
        let mut groom = self.groom;
        groom.curves = curves;
        for Column { name, along, .. } in columns {
            match (name.as_str(), along) {
                ("widths", Values::Float(widths)) => groom.widths = widths,
                (_, values) => groom.attributes.push(Attribute { name, domain: Domain::Vertex, values }),
            }
        }
        Ok(groom)
    }

    /// Takes out what is laid along the curves, for so many vertices.
    fn columns(&mut self, vertices: usize) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        if !self.groom.widths.is_empty() {
            let widths = Values::Float(std::mem::take(&mut self.groom.widths));
            columns.push(Column::new("widths".to_owned(), widths, false, vertices));
        }
        for attribute in std::mem::take(&mut self.groom.attributes) {
            match attribute.domain {
                Domain::Strand => self.groom.attributes.push(attribute),
                Domain::Vertex => {
                    columns.push(Column::new(attribute.name, attribute.values, false, vertices));
                }
            }
        }
        let varying = std::mem::take(&mut self.varying).into_iter();
        columns.extend(varying.map(|one| Column::new(one.name, one.values, true, vertices)));
        columns
    }
}

/// The places of so many vertices on a strand, whose control points are given at the first time and now.
fn places_along(
    cubic: &Cubic,
    [first, now]: [&[Vec3]; 2],
    count: usize,
    measured: &mut Measured,
    places: &mut Vec<Place>,
) {
    let segments = cubic.segments(now.len()).unwrap_or(0);
    measured.measure(cubic, first, segments);
    // A corner gets the vertex that is nearest, or else an edge would cut it.
    let corners = measured.corners(cubic, first, count);
    if first != now {
        measured.measure(cubic, now, segments);
    }
    let (length, last) = (measured.length(), (count - 1) as f64);
    places.clear();
    places.extend((0..count - 1).map(|vertex| {
        let step = measured.step_at(length * vertex as f64 / last);
        measured.place(step)
    }));
    places.push(measured.joint(segments));
    for (vertex, joint) in corners {
        places[vertex] = measured.joint(joint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strand(points: Vec<Vec3>) -> Groom {
        let curves = Curves { offsets: vec![0, points.len() as u32], points };
        Groom { curves, ..Groom::default() }
    }

    /// Without a limit to memory.
    fn laid(
        cubic: &Cubic,
        first: Option<&[Vec3]>,
        groom: Groom,
        varying: Vec<Attribute>,
    ) -> Result<Groom, String> {
        lay(cubic, first, groom, varying, u64::MAX, |_| Ok(()))
    }

    fn lay(
        cubic: &Cubic,
        first: Option<&[Vec3]>,
        groom: Groom,
        varying: Vec<Attribute>,
        worth: u64,
        pay: impl Fn(u64) -> Result<(), String>,
    ) -> Result<Groom, String> {
        let part = Unlaid { cubic: Some(*cubic), first: first.map(<[Vec3]>::to_vec), groom, varying };
        Ok(lay_all(vec![part], worth, pay, &Notes::default())?.remove(0))
    }

    /// A strand that winds, which wants six vertices for each control point, and one that does not.
    #[test]
    fn what_is_worth_less_gets_fewer_vertices() {
        let cubic = Cubic { basis: Basis::CatmullRom, pinned: true };
        let wound =
            |step: usize| Vec3::new((1.6 * step as f32).cos(), 0.2 * step as f32, (1.6 * step as f32).sin());
        let two = || {
            let points = (0..16).map(wound).chain((0..16).map(|step| Vec3::Y * step as f32)).collect();
            let curves = Curves { offsets: vec![0, 16, 32], points };
            Groom { widths: vec![0.1; 32], curves, ..Groom::default() }
        };
        let counts = |groom: &Groom| [groom.curves.vertices_of(0), groom.curves.vertices_of(1)];
        let all = laid(&cubic, None, two(), Vec::new()).unwrap();
        assert_eq!(counts(&all), [96, 16]);
        for (worth, wanted) in [(16 * 112, [96, 16]), (16 * 76, [60, 16]), (16 * 32, [16, 16]), (0, [16, 16])]
        {
            let notes = Notes::default();
            let part = Unlaid { cubic: Some(cubic), first: None, groom: two(), varying: Vec::new() };
            let fewer = lay_all(vec![part], worth, |_| Ok(()), &notes).unwrap().remove(0);
            let told = notes.line().unwrap_or_default();
            assert_eq!(told.contains("need 112 vertices"), wanted[0] < 96, "{told}");
            assert!(counts(&fewer)[0].abs_diff(wanted[0]) <= 1, "{worth}: {:?}", counts(&fewer));
            assert_eq!((counts(&fewer)[1], fewer.widths.len()), (wanted[1], fewer.vertices()));
            assert!(16 * fewer.vertices() as u64 <= worth.max(16 * 32));
        }
    }

    /// The control points of a quarter of a circle of radius 1, to 0.03 %.
    fn quarter() -> Vec<Vec3> {
        let k = 0.552_284_8;
        vec![Vec3::X, Vec3::new(1.0, k, 0.0), Vec3::new(k, 1.0, 0.0), Vec3::Y]
    }

    #[test]
    fn a_circle_is_met_within_the_tolerance_and_evenly() {
        let cubic = Cubic { basis: Basis::Bezier, pinned: false };
        let groom = laid(&cubic, None, strand(quarter()), Vec::new()).unwrap();
        let points = &groom.curves.points;
        assert_eq!((points[0], points[points.len() - 1]), (Vec3::X, Vec3::Y));
        assert!(points.iter().all(|point| (point.length() - 1.0).abs() < 5e-4));
        let edges: Vec<f32> = points.windows(2).map(|edge| edge[0].distance(edge[1])).collect();
        let mean = edges.iter().sum::<f32>() / edges.len() as f32;
        assert!(edges.iter().all(|edge| (edge - mean).abs() < 2e-3 * mean), "{edges:?}");
        // The arrow of each arc is below a thousandth of the length.
        assert!(mean * mean / 8.0 < 1e-3 * std::f32::consts::FRAC_PI_2, "{mean}");
    }

    #[test]
    fn bases_reproduce_straight_lines_and_known_points() {
        let line: Vec<Vec3> = (0..7).map(|step| Vec3::X * step as f32).collect();
        for (basis, pinned, from, to) in [
            (Basis::Bezier, false, 0.0, 6.0),
            (Basis::Bspline, false, 1.0, 5.0),
            (Basis::CatmullRom, false, 1.0, 5.0),
            (Basis::Bspline, true, 0.0, 6.0),
            (Basis::CatmullRom, true, 0.0, 6.0),
        ] {
            let cubic = Cubic { basis, pinned };
            let mut groom = strand(line.clone());
            groom.widths = (0..7).map(|step| step as f32).collect();
            let count = cubic.varying(&groom.curves).unwrap();
            let values = Values::Float((0..count).map(|value| value as f32).collect());
            let varying = Attribute { name: "v".into(), domain: Domain::Vertex, values };
            let groom = laid(&cubic, None, groom, vec![varying]).unwrap();
            let points = &groom.curves.points;
            assert!((points[0].x - from).abs() < 1e-6, "{basis:?} {points:?}");
            assert!((points[points.len() - 1].x - to).abs() < 1e-6, "{basis:?} {points:?}");
            // Values at the control points follow the same basis.
            for (point, width) in points.iter().zip(&groom.widths) {
                assert!((point.x - width).abs() < 1e-5, "{basis:?} {pinned}");
            }
            let Values::Float(along) = &groom.attributes[0].values else { panic!("floats") };
            let expected = |point: &Vec3| (point.x - from) / (to - from) * (count - 1) as f32;
            assert!(points.iter().zip(along).all(|(point, value)| (expected(point) - value).abs() < 1e-4));
        }
        // Halfway between the middle points of (0, 1, 4, 9): B-spline 2 at its start would be (0 + 4 + 4) / 6.
        let squares: Vec<Vec3> = (0..4).map(|step| Vec3::X * (step * step) as f32).collect();
        let cubic = Cubic { basis: Basis::Bspline, pinned: false };
        let groom = laid(&cubic, None, strand(squares), Vec::new()).unwrap();
        assert!((groom.curves.points[0].x - 8.0 / 6.0).abs() < 1e-6);
    }

    #[test]
    fn the_number_of_vertices_stays_while_the_curve_moves() {
        let cubic = Cubic { basis: Basis::Bezier, pinned: false };
        let straight: Vec<Vec3> = (0..4).map(|step| Vec3::X * step as f32).collect();
        let curved = laid(&cubic, None, strand(quarter()), Vec::new()).unwrap();
        let later = laid(&cubic, Some(&quarter()), strand(straight), Vec::new()).unwrap();
        assert_eq!(curved.vertices(), later.vertices());
        assert!(curved.vertices() > 2);
    }

    #[test]
    fn bezier_counts_that_cannot_be_are_refused() {
        let cubic = Cubic { basis: Basis::Bezier, pinned: false };
        let five = strand(vec![Vec3::ZERO; 5]);
        assert!(laid(&cubic, None, five, Vec::new()).unwrap_err().contains("4, 7, 10"));
        let short = strand(vec![Vec3::ZERO, Vec3::X]);
        assert_eq!(laid(&cubic, None, short, Vec::new()).unwrap().vertices(), 2);
    }

    #[test]
    fn corners_keep_the_vertices_that_they_have_in_the_first_frame() {
        let cubic = Cubic { basis: Basis::Bezier, pinned: false };
        // Up and then along x: a corner at the fourth point, which moves towards the tip later on.
        let bent = |up: f32| -> Vec<Vec3> {
            let rise = (0..4).map(|step| Vec3::Y * (up * step as f32));
            rise.chain((1..4).map(|step| Vec3::new(step as f32, 3.0 * up, 0.0))).collect()
        };
        let at_corner = |groom: &Groom, up: f32| {
            groom.curves.points.iter().position(|point| point.distance(Vec3::Y * (3.0 * up)) < 1e-5)
        };
        let first = laid(&cubic, None, strand(bent(1.0)), Vec::new()).unwrap();
        let later = laid(&cubic, Some(&bent(1.0)), strand(bent(3.0)), Vec::new()).unwrap();
        assert!(at_corner(&first, 1.0).is_some());
        assert_eq!(at_corner(&first, 1.0), at_corner(&later, 3.0));
        // A joint that is straight at first gets no vertex later, so that none jumps.
        let straight: Vec<Vec3> = (0..7).map(|step| Vec3::Y * step as f32).collect();
        let all = |groom: &Groom| groom.vertices();
        let held = laid(&cubic, Some(&straight), strand(bent(1.5)), Vec::new()).unwrap();
        assert_eq!(all(&held), all(&laid(&cubic, None, strand(straight), Vec::new()).unwrap()));
    }

    #[test]
    fn what_is_laid_is_paid_for() {
        let cubic = Cubic { basis: Basis::Bezier, pinned: false };
        let paid = std::cell::Cell::new(0);
        let pay = |bytes| -> Result<(), String> {
            paid.set(paid.get() + bytes);
            Ok(())
        };
        let mut groom = strand(quarter());
        groom.widths = vec![1.0; 4];
        let groom = lay(&cubic, None, groom, Vec::new(), u64::MAX, pay).unwrap();
        assert_eq!(paid.get(), 16 * groom.vertices() as u64);
        let refused = |_| Err("too much".to_owned());
        assert!(lay(&cubic, None, strand(quarter()), Vec::new(), u64::MAX, refused).is_err());
    }

    #[test]
    fn a_long_strand_is_measured_in_few_pieces() {
        let mut measured = Measured::default();
        let controls: Vec<Vec3> = (0..200_003).map(|step| Vec3::X * step as f32).collect();
        measured.measure(&Cubic { basis: Basis::Bspline, pinned: false }, &controls, 200_000);
        assert_eq!(measured.points.len(), 200_001);
        measured.measure(&Cubic { basis: Basis::Bspline, pinned: false }, &controls[..103], 100);
        assert_eq!(measured.points.len(), 2401);
    }
}
