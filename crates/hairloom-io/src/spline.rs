//! Cubic curves as polylines.
//!
//! A strand's vertices lie on its curve, evenly by arc length, from one end to the other; at a corner of the curve, the nearest
//! one is moved to it. There are as few as keep the polyline within
//! [`TOLERANCE`] of the curve's length of it, but no fewer than the curve has segments and one more, and no more than
//! [`MOST`] for each control point. The number, and which vertices stand at corners, are chosen at the first time sample, so that
//! they stay the same in all frames.
//!
//! Values at the control points follow the basis of the curve, values at the ends of segments (varying ones) are linear between them.

use glam::{DVec3, Vec2, Vec3};
use hairloom::groom::{Attribute, Curves, Domain, Groom, Values};

use crate::stage::element_bytes;

/// The largest distance of a polyline from its curve, as a part of the curve's length. It is not kept beside corners, where a vertex
/// was moved, nor by curves that would need more than [`MOST`] vertices.
pub(crate) const TOLERANCE: f64 = 1.0e-3;

/// The most vertices of a polyline for each control point of its curve.
pub(crate) const MOST: usize = 6;

/// Points of a segment at which lengths are measured …
const PIECES: usize = 24;

/// … but no more than so many of a strand, or else one for each segment: a long strand is not worth many times its file.
const MOST_PIECES: usize = 1 << 16;

/// What the control points mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    Bezier,
    Bspline,
    CatmullRom,
}

/// A kind of cubic curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cubic {
    pub(crate) basis: Basis,
    /// Whether the curve reaches its first and last control point although its basis would not have it so.
    pub(crate) pinned: bool,
}

impl Cubic {
    /// The segments of a strand with so many control points; 0 if there are too few for one.
    pub(crate) fn segments(&self, controls: usize) -> Result<usize, String> {
        match self.basis {
            Basis::Bezier if controls >= 4 && !(controls - 1).is_multiple_of(3) => Err(format!(
                "a cubic Bézier curve has {controls} control points; expected 4, 7, 10 and so on, three more for each segment"
            )),
            Basis::Bezier => Ok(controls.saturating_sub(1) / 3),
            _ if self.pinned => Ok(controls.saturating_sub(1)),
            _ => Ok(controls.saturating_sub(3)),
        }
    }

    /// The varying values that strands have: one for each end of a segment.
    pub(crate) fn varying(&self, curves: &Curves) -> Result<usize, String> {
        let mut count = 0;
        for strand in 0..curves.strands() {
            let controls = curves.vertices_of(strand);
            count += match self.segments(controls)? {
                0 => controls,
                segments => segments + 1,
            };
        }
        Ok(count)
    }

    /// Whether the curve turns abruptly where a segment begins, by more than some ten degrees: only Bézier curves can.
    fn has_corner(&self, controls: &[Vec3], segment: usize) -> bool {
        let around = controls.get((3 * segment).saturating_sub(1)..);
        let Some([before, joint, after, ..]) = around.filter(|_| self.basis == Basis::Bezier) else {
            return false;
        };
        let (inward, outward) = (joint - before, after - joint);
        inward.dot(outward) < 0.985 * inward.length() * outward.length()
    }

    /// The weights of four control points at a place of their segment, 0 to 1.
    fn weights(&self, t: f64) -> [f64; 4] {
        let s = 1.0 - t;
        match self.basis {
            Basis::Bezier => [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t],
            Basis::Bspline => [
                s * s * s / 6.0,
                (3.0 * t * t * t - 6.0 * t * t + 4.0) / 6.0,
                (3.0 * s * s * s - 6.0 * s * s + 4.0) / 6.0,
                t * t * t / 6.0,
            ],
            Basis::CatmullRom => [
                0.5 * t * (-1.0 + t * (2.0 - t)),
                0.5 * (2.0 + t * t * (3.0 * t - 5.0)),
                0.5 * t * (1.0 + t * (4.0 - 3.0 * t)),
                0.5 * t * t * (t - 1.0),
            ],
        }
    }

    /// The value of control values at a place; `mix` adds up four of them by their weights.
    fn at<T: Copy, Sum>(&self, controls: &[T], place: Place, mix: impl Fn([T; 4], [f64; 4]) -> Sum) -> Sum {
        let weights = self.weights(place.t);
        let first = match self.basis {
            Basis::Bezier => 3 * place.segment,
            _ if self.pinned => {
                let last = controls.len() - 1;
                let [a, b, c, d] = weights;
                let (before, after) = (place.segment == 0, place.segment + 2 > last);
                // The point beyond an end mirrors the second one: 2 p₀ − p₁.
                let (now, next) = (controls[place.segment], controls[place.segment + 1]);
                return match (before, after) {
                    (true, true) => mix([now, next, now, next], [2.0 * a + b, c + 2.0 * d, -d, -a]),
                    (true, false) => {
                        mix([now, next, controls[place.segment + 2], now], [2.0 * a + b, c - a, d, 0.0])
                    }
                    (false, true) => {
                        mix([controls[place.segment - 1], now, next, now], [a, b - d, c + 2.0 * d, 0.0])
                    }
                    (false, false) => {
                        let around = [controls[place.segment - 1], now, next, controls[place.segment + 2]];
                        mix(around, weights)
                    }
                };
            }
            _ => place.segment,
        };
        mix([controls[first], controls[first + 1], controls[first + 2], controls[first + 3]], weights)
    }
}

/// A place on a strand.
#[derive(Debug, Clone, Copy)]
struct Place {
    segment: usize,
    /// Where on the segment, 0 to 1.
    t: f64,
}

/// A strand's curve, measured.
#[derive(Default)]
struct Measured {
    segments: usize,
    /// How many pieces each segment has.
    pieces: usize,
    /// Points along the curve where the pieces begin, and the last.
    points: Vec<DVec3>,
    /// The length of the curve up to each of them.
    lengths: Vec<f64>,
}

impl Measured {
    fn measure(&mut self, cubic: &Cubic, controls: &[Vec3], segments: usize) {
        self.points.clear();
        self.lengths.clear();
        self.segments = segments;
        self.pieces = PIECES.min(MOST_PIECES / segments).max(1);
        let count = segments * self.pieces + 1;
        self.points.reserve_exact(count);
        self.lengths.reserve_exact(count);
        let mut length = 0.0;
        for step in 0..count {
            let point = cubic.at(controls, self.place(step as f64), weighted);
            if let Some(&last) = self.points.last() {
                length += point.distance(last);
            }
            self.points.push(point);
            self.lengths.push(length);
        }
    }

    /// The place that is so many pieces from the start.
    fn place(&self, step: f64) -> Place {
        let whole = step / self.pieces as f64;
        let segment = (whole as usize).min(self.segments - 1);
        Place { segment, t: (whole - segment as f64).clamp(0.0, 1.0) }
    }

    /// The place where a segment begins, or the last one ends.
    fn joint(&self, segment: usize) -> Place {
        self.place((segment * self.pieces) as f64)
    }

    /// The vertices, of `count`, that are nearest to corners of the curve, and at which segments those begin.
    fn corners(&self, cubic: &Cubic, controls: &[Vec3], count: usize) -> Vec<(usize, usize)> {
        let joints = (1..self.segments).filter(|&joint| cubic.has_corner(controls, joint));
        let vertices = joints.map(|joint| {
            let share = self.lengths[joint * self.pieces] / self.length();
            (((count - 1) as f64 * share).round() as usize, joint)
        });
        vertices.filter(|(vertex, _)| (1..count - 1).contains(vertex)).collect()
    }

    fn length(&self) -> f64 {
        self.lengths.last().copied().unwrap_or(0.0)
    }

    /// How many pieces from the start a length is, in fractions of them.
    fn step_at(&self, length: f64) -> f64 {
        let after = self.lengths.partition_point(|&until| until < length).min(self.lengths.len() - 1);
        let Some(before) = after.checked_sub(1) else { return 0.0 };
        let piece = self.lengths[after] - self.lengths[before];
        before as f64 + if piece > 0.0 { ((length - self.lengths[before]) / piece).min(1.0) } else { 0.0 }
    }

    /// The vertices that the polyline needs.
    fn vertices(&self, controls: usize) -> usize {
        let most = (MOST * controls).max(2);
        let mut count = (self.segments + 1).min(most);
        let allowed = TOLERANCE * self.length();
        // Also where lengths are not finite.
        while count < most && self.deviation(count) > allowed {
            count = (count + count.div_ceil(4)).min(most);
        }
        count
    }

    /// The largest distance of the measured points from a polyline with so many vertices.
    fn deviation(&self, vertices: usize) -> f64 {
        let edge = self.length() / (vertices - 1) as f64;
        let (mut worst, mut piece) = (0.0_f64, 0);
        let mut start = self.points[0];
        for vertex in 1..vertices {
            let until = edge * vertex as f64;
            let step = self.step_at(until);
            let (low, high) = (step.floor() as usize, (step.ceil() as usize).min(self.points.len() - 1));
            let end = self.points[low].lerp(self.points[high], step.fract());
            while piece < self.points.len() && self.lengths[piece] <= until {
                worst = worst.max(distance_to_edge(self.points[piece], start, end));
                piece += 1;
            }
            start = end;
        }
        worst
    }
}

fn distance_to_edge(point: DVec3, start: DVec3, end: DVec3) -> f64 {
    let edge = end - start;
    let along = (point - start).dot(edge) / edge.length_squared().max(f64::MIN_POSITIVE);
    point.distance(start + edge * along.clamp(0.0, 1.0))
}

/// Points by their weights, in double precision.
fn weighted(points: [Vec3; 4], weights: [f64; 4]) -> DVec3 {
    points.iter().zip(weights).map(|(point, weight)| point.as_dvec3() * weight).sum()
}

/// Makes polylines of the control points in `groom`, and lays its widths and its attributes of vertices along them.
/// `first` are the control points at the first time; `varying` are attributes with a value for each end of a segment, in
/// which one named `widths` stands for the widths. `pay` is asked before memory is taken [bytes].
pub(crate) fn lay_along(
    cubic: &Cubic,
    first: Option<&[Vec3]>,
    mut groom: Groom,
    varying: Vec<Attribute>,
    pay: impl Fn(u64) -> Result<(), String>,
) -> Result<Groom, String> {
    let controls = std::mem::take(&mut groom.curves);
    let first = first.filter(|first| first.len() == controls.points.len()).unwrap_or(&controls.points);
    let mut columns: Vec<Column> = Vec::new();
    if !groom.widths.is_empty() {
        let widths = std::mem::take(&mut groom.widths);
        columns.push(Column::new("widths".to_owned(), Values::Float(widths), false));
    }
    for attribute in std::mem::take(&mut groom.attributes) {
        match attribute.domain {
            Domain::Strand => groom.attributes.push(attribute),
            Domain::Vertex => columns.push(Column::new(attribute.name, attribute.values, false)),
        }
    }
    columns.extend(varying.into_iter().map(|one| Column::new(one.name, one.values, true)));
    let vertex_bytes =
        size_of::<Vec3>() + columns.iter().map(|column| element_bytes(&column.values)).sum::<usize>();
    let mut curves = Curves { offsets: Vec::with_capacity(controls.offsets.len()), points: Vec::new() };
    curves.offsets.push(0);
    let (mut measured, mut places, mut start) = (Measured::default(), Vec::new(), 0);
    for strand in 0..controls.strands() {
        let range = controls.range(strand);
        let segments = cubic.segments(range.len())?;
        places.clear();
        if segments == 0 {
            curves.points.extend_from_slice(&controls.points[range.clone()]);
            columns.iter_mut().for_each(|column| column.copy(range.clone(), start));
            start += range.len();
        } else {
            let strand_controls = &controls.points[range.clone()];
            measured.measure(cubic, &first[range.clone()], segments);
            let count = measured.vertices(range.len());
            pay((count * vertex_bytes) as u64)?;
            // A corner gets the vertex that is nearest, or else an edge would cut it.
            let corners = measured.corners(cubic, &first[range.clone()], count);
            measured.measure(cubic, strand_controls, segments);
            let (length, last) = (measured.length(), (count - 1) as f64);
            places.extend((0..count - 1).map(|vertex| {
                let step = measured.step_at(length * vertex as f64 / last);
                measured.place(step)
            }));
            places.push(measured.joint(segments));
            for (vertex, joint) in corners {
                places[vertex] = measured.joint(joint);
            }
            let on_curve = |&place: &Place| cubic.at(strand_controls, place, weighted).as_vec3();
            curves.points.extend(places.iter().map(on_curve));
            columns.iter_mut().for_each(|column| column.follow(cubic, &places, range.clone(), start));
            start += segments + 1;
        }
        let end =
            u32::try_from(curves.points.len()).map_err(|_| "more points than a groom can hold".to_owned())?;
        curves.offsets.push(end);
    }
    groom.curves = curves;
    for Column { name, along, .. } in columns {
        match (name.as_str(), along) {
            ("widths", Values::Float(widths)) => groom.widths = widths,
            (_, values) => groom.attributes.push(Attribute { name, domain: Domain::Vertex, values }),
        }
    }
    Ok(groom)
}

/// Values that come along.
struct Column {
    name: String,
    values: Values,
    varying: bool,
    /// The values at the vertices of the polylines.
    along: Values,
}

impl Column {
    fn new(name: String, values: Values, varying: bool) -> Self {
        let along = match &values {
            Values::Float(_) => Values::Float(Vec::new()),
            Values::Int(_) => Values::Int(Vec::new()),
            Values::Vec2(_) => Values::Vec2(Vec::new()),
            Values::Vec3(_) => Values::Vec3(Vec::new()),
        };
        Self { name, values, varying, along }
    }

    /// Takes the values of a strand that stays as it is; `start` is where its varying ones are.
    fn copy(&mut self, range: std::ops::Range<usize>, start: usize) {
        let range = if self.varying { start..start + range.len() } else { range };
        match (&self.values, &mut self.along) {
            (Values::Float(from), Values::Float(to)) => to.extend_from_slice(&from[range]),
            (Values::Int(from), Values::Int(to)) => to.extend_from_slice(&from[range]),
            (Values::Vec2(from), Values::Vec2(to)) => to.extend_from_slice(&from[range]),
            (Values::Vec3(from), Values::Vec3(to)) => to.extend_from_slice(&from[range]),
            _ => {}
        }
    }

    /// Takes the values at places of a strand.
    fn follow(&mut self, cubic: &Cubic, places: &[Place], range: std::ops::Range<usize>, start: usize) {
        let range =
            if self.varying { start..start + (cubic.segments(range.len()).unwrap_or(0) + 1) } else { range };
        let varying = self.varying;
        fn along<T: Copy>(
            cubic: &Cubic,
            (values, varying): (&[T], bool),
            place: Place,
            mix: impl Fn([T; 4], [f64; 4]) -> T,
        ) -> T {
            if varying {
                let (a, b) = (values[place.segment], values[place.segment + 1]);
                return mix([a, b, a, b], [1.0 - place.t, place.t, 0.0, 0.0]);
            }
            cubic.at(values, place, mix)
        }
        let float = |values: [f32; 4], weights: [f64; 4]| -> f32 {
            values.iter().zip(weights).map(|(&value, weight)| f64::from(value) * weight).sum::<f64>() as f32
        };
        match (&self.values, &mut self.along) {
            (Values::Float(from), Values::Float(to)) => {
                to.extend(places.iter().map(|&at| along(cubic, (&from[range.clone()], varying), at, float)));
            }
            (Values::Vec2(from), Values::Vec2(to)) => {
                let pair = |values: [Vec2; 4], weights: [f64; 4]| {
                    Vec2::new(float(values.map(|v| v.x), weights), float(values.map(|v| v.y), weights))
                };
                to.extend(places.iter().map(|&at| along(cubic, (&from[range.clone()], varying), at, pair)));
            }
            (Values::Vec3(from), Values::Vec3(to)) => {
                let triple = |values: [Vec3; 4], weights: [f64; 4]| {
                    let part = |axis: usize| float(values.map(|value| value[axis]), weights);
                    Vec3::new(part(0), part(1), part(2))
                };
                to.extend(places.iter().map(|&at| along(cubic, (&from[range.clone()], varying), at, triple)));
            }
            // Whole numbers are names rather than amounts: that of the nearest value.
            (Values::Int(from), Values::Int(to)) => {
                let from = &from[range];
                let ends = (from.len() - 1) as f64;
                let segments = places.last().map_or(1, |place| place.segment + 1) as f64;
                to.extend(places.iter().map(|place| {
                    let share = (place.segment as f64 + place.t) / segments;
                    from[(share * ends).round() as usize]
                }));
            }
            _ => {}
        }
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
        lay_along(cubic, first, groom, varying, |_| Ok(()))
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
        let groom = lay_along(&cubic, None, groom, Vec::new(), pay).unwrap();
        assert_eq!(paid.get(), 16 * groom.vertices() as u64);
        let refused = |_| Err("too much".to_owned());
        assert!(lay_along(&cubic, None, strand(quarter()), Vec::new(), refused).is_err());
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
