//! Widths and attributes that are laid along curves.

use glam::{Vec2, Vec3};
use hairloom::groom::Values;

use super::basis::{Cubic, Place};

/// Values that come along.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) values: Values,
    pub(super) varying: bool,
    /// The values at the vertices of the polylines.
    pub(super) along: Values,
}

impl Column {
    /// Values that are laid along so many vertices.
    pub(super) fn new(name: String, values: Values, varying: bool, vertices: usize) -> Self {
        let along = match &values {
            Values::Float(_) => Values::Float(Vec::with_capacity(vertices)),
            Values::Int(_) => Values::Int(Vec::with_capacity(vertices)),
            Values::Vec2(_) => Values::Vec2(Vec::with_capacity(vertices)),
            Values::Vec3(_) => Values::Vec3(Vec::with_capacity(vertices)),
        };
        Self { name, values, varying, along }
    }

    /// Takes the values of a strand that stays as it is; `start` is where its varying ones are.
    pub(super) fn copy(&mut self, range: std::ops::Range<usize>, start: usize) {
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
    pub(super) fn follow(
        &mut self,
        cubic: &Cubic,
        places: &[Place],
        range: std::ops::Range<usize>,
        start: usize,
    ) {
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
