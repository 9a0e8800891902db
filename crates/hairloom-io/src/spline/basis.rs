//! The bases of cubic curves, and where points on them are.

use glam::Vec3;
use hairloom::groom::Curves;

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
    pub(super) fn has_corner(&self, controls: &[Vec3], segment: usize) -> bool {
        let around = controls.get((3 * segment).saturating_sub(1)..);
        let Some([before, joint, after, ..]) = around.filter(|_| self.basis == Basis::Bezier) else {
            return false;
        };
        let (inward, outward) = (joint - before, after - joint);
        inward.dot(outward) < 0.985 * inward.length() * outward.length()
    }

    /// The weights of four control points at a place of their segment, 0 to 1.
    pub(super) fn weights(&self, t: f64) -> [f64; 4] {
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
    pub(super) fn at<T: Copy, Sum>(
        &self,
        controls: &[T],
        place: Place,
        mix: impl Fn([T; 4], [f64; 4]) -> Sum,
    ) -> Sum {
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
pub(super) struct Place {
    pub(super) segment: usize,
    /// Where on the segment, 0 to 1.
    pub(super) t: f64,
}
