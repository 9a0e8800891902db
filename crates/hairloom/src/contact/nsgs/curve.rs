//! The curve that leads from forces of our choice to a solution, followed around its bends.
//!
//! With the shift `s = μ ‖u_T‖` as a part of the equations, the central path of the interior point is a curve that may turn back: where
//! friction is large the problem is far from convex, and no step makes both gap and residual smaller. Each point of it solves
//! `Ŵ x + q̂ + ‖z_T‖ e − z = λ ρ₀` and `x ∘ z = λ γ₀ e`; it begins where λ = 1 and ends, at λ = 0, in a solution. Its length is the parameter here
//! instead of λ, which may grow again on the way (Allgower and Georg 1990, chapter 6): a step along the tangent, then Newton steps
//! across it.

use glam::DVec3;

use super::interior::{Interior, STIFFER, Scaling, Step, advance, common_share, divide};
use crate::contact::coulomb::{jordan_product, tangent_length};

/// A point of the curve.
#[derive(Clone)]
struct Point {
    force: Vec<DVec3>,
    velocity: Vec<DVec3>,
    /// The logarithm of λ.
    level: f64,
}

/// A direction, of forces and velocities, and how λ's logarithm changes along it.
struct Direction {
    step: Step,
    level: f64,
}

/// Newton steps across the curve at most, and the longest last one, in parts of the distance to the cones' surfaces.
const CORRECTIONS: usize = 7;
const CLOSE: f64 = 0.3;
/// Largest part of the way to the surface of a cone.
const REACH: f64 = 0.8;
/// Shortest and longest steps along the curve, in parts of the distance to the cones' surfaces.
const SHORTEST: f64 = 1.0e-6;
const LONGEST: f64 = 4.0;
/// Where curves end: λ's logarithm at a solution, but for rounding, and on a way that does not lead to one.
const SMALLEST: f64 = -45.0;
const LARGEST: f64 = 3.0;

/// How the shift is rounded off along a curve, `(‖z_T‖² + ε²)^½` with `ε = size γ₀ λ^exponent`. Each rounding makes another curve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounding {
    pub(super) size: f64,
    pub(super) exponent: f64,
}

/// A curve under way.
pub(super) struct Curve<'a, 'b> {
    interior: &'b mut Interior<'a>,
    /// Residual and product at the start.
    residual: Vec<DVec3>,
    product: f64,
    /// Rounding at the start, and the power of λ that it falls with.
    rounding: f64,
    exponent: f64,
    /// Factors that may still be made.
    left: usize,
}

impl<'a, 'b> Curve<'a, 'b> {
    /// Follows the curve; `accept` sees forces of each point and says when to stop. No more than `factors` are made; returns how many of them
    /// are left.
    pub(super) fn follow(
        interior: &'b mut Interior<'a>,
        rounding: Rounding,
        steps: usize,
        factors: usize,
        accept: impl FnMut(&[DVec3]) -> bool,
    ) -> usize {
        let (force, _) = interior.start(STIFFER);
        let product = force.iter().map(|force| force.x).sum::<f64>() / force.len() as f64;
        let velocity: Vec<DVec3> = force.iter().map(|force| DVec3::X * (product / force.x)).collect();
        let (rounding, exponent) = (product * rounding.size, rounding.exponent);
        interior.rounding = rounding;
        let residual = interior.residuals(&force, &velocity);
        let mut curve = Self { interior, residual, product, rounding, exponent, left: factors };
        curve.go(Point { force, velocity, level: 0.0 }, steps, accept);
        curve.left
    }

    /// From a point on, for so many steps.
    fn go(&mut self, mut at: Point, steps: usize, mut accept: impl FnMut(&[DVec3]) -> bool) {
        let Some(mut scalings) = self.scaled(&at) else { return };
        let mut along = self.turned(&at, &scalings, self.with_level(&at, &scalings), None);
        let mut length = 0.5_f64;
        for _ in 0..steps {
            let Some((next, next_scalings, direction, corrections)) =
                self.step(&at, &scalings, &along, &mut length)
            else {
                return;
            };
            (at, scalings, along) = (next, next_scalings, direction);
            if corrections <= 3 {
                length = (1.7 * length).min(LONGEST);
            } else if corrections >= 5 {
                length *= 0.7;
            }
            if accept(&self.interior.offered(&at.force)) || !(SMALLEST..LARGEST).contains(&at.level) {
                return;
            }
        }
    }

    /// How far the shift is rounded off.
    fn rounding_at(&self, level: f64) -> f64 {
        self.rounding * (self.exponent * level).exp()
    }

    /// Scalings of a point, and the factor for them.
    fn scaled(&mut self, at: &Point) -> Option<Vec<Scaling>> {
        self.left = self.left.checked_sub(1)?;
        self.interior.rounding = self.rounding_at(at.level);
        let scalings: Vec<Scaling> = at
            .force
            .iter()
            .zip(&at.velocity)
            .map(|(x, z)| Scaling::new(*x, *z, self.interior.rounding))
            .collect();
        self.interior.factor(&scalings).then_some(scalings)
    }

    /// The metric of directions at a point: parts of the distance to the cones' surfaces, on average, and of λ.
    fn product_of(&self, scalings: &[Scaling], level: f64, a: &Direction, b: &Direction) -> f64 {
        let mut sum = 0.0;
        for (row, scaling) in scalings.iter().enumerate() {
            sum += (scaling.forth * a.step.force[row]).dot(scaling.forth * b.step.force[row]);
            sum += (scaling.back * a.step.velocity[row]).dot(scaling.back * b.step.velocity[row]);
        }
        sum / (scalings.len() as f64 * self.product * level.exp()) + a.level * b.level
    }

    /// How a point moves with λ.
    fn with_level(&self, at: &Point, scalings: &[Scaling]) -> Direction {
        let part = at.level.exp();
        let rounding = self.rounding_at(at.level);
        let residuals: Vec<DVec3> = self
            .residual
            .iter()
            .zip(&at.velocity)
            .map(|(residual, velocity)| {
                let speed = tangent_length(*velocity).hypot(rounding);
                DVec3::X * (if speed > 0.0 { self.exponent * rounding * rounding / speed } else { 0.0 })
                    - part * *residual
            })
            .collect();
        let aim = part * self.product * DVec3::X;
        let aims: Vec<DVec3> = scalings.iter().map(|scaling| divide(aim, scaling.middle)).collect();
        Direction { step: self.interior.solve_step(scalings, &residuals, &aims), level: 1.0 }
    }

    /// The unit tangent from any, on in the direction of the last one; at first to smaller λ.
    fn turned(
        &self,
        at: &Point,
        scalings: &[Scaling],
        direction: Direction,
        last: Option<&Direction>,
    ) -> Direction {
        let size = self.product_of(scalings, at.level, &direction, &direction).sqrt();
        let ahead = last.map_or(-1.0, |last| self.product_of(scalings, at.level, &direction, last));
        direction.times(ahead.signum() / size)
    }

    /// A step along the curve and back onto it, shorter until that works. None where no step does.
    fn step(
        &mut self,
        from: &Point,
        scalings: &[Scaling],
        along: &Direction,
        length: &mut f64,
    ) -> Option<(Point, Vec<Scaling>, Direction, usize)> {
        let reach = REACH * common_share(&from.force, &from.velocity, &along.step);
        while *length > SHORTEST && self.left > 0 {
            let mut at = from.clone();
            at.go(along, length.min(reach));
            if let Some((scalings, direction, corrections)) = self.corrected(from, scalings, along, &mut at) {
                return Some((at, scalings, direction, corrections));
            }
            *length *= 0.4;
            *length = length.min(0.4 * reach);
        }
        None
    }

    /// Newton steps across the tangent `along` at `from`.
    fn corrected(
        &mut self,
        from: &Point,
        metric: &[Scaling],
        along: &Direction,
        at: &mut Point,
    ) -> Option<(Vec<Scaling>, Direction, usize)> {
        let mut last = f64::INFINITY;
        for correction in 1..=CORRECTIONS {
            let scalings = self.scaled(at)?;
            let part = at.level.exp();
            let mut residuals = self.interior.residuals(&at.force, &at.velocity);
            residuals.iter_mut().zip(&self.residual).for_each(|(now, start)| *now -= part * *start);
            let aim = part * self.product * DVec3::X;
            let aims: Vec<DVec3> = scalings
                .iter()
                .map(|scaling| divide(aim - jordan_product(scaling.middle, scaling.middle), scaling.middle))
                .collect();
            let newton =
                Direction { step: self.interior.solve_step(&scalings, &residuals, &aims), level: 0.0 };
            let with_level = self.with_level(at, &scalings);
            let (a, b) = (
                self.product_of(metric, from.level, &newton, along),
                self.product_of(metric, from.level, &with_level, along),
            );
            let across = newton.plus(&with_level, -a / b);
            let size = self.product_of(&scalings, at.level, &across, &across).sqrt();
            let share = (0.95 * common_share(&at.force, &at.velocity, &across.step)).min(1.0);
            if !(size.is_finite() && share > 0.3 && size < 2.0 * last) {
                return None;
            }
            at.go(&across, share);
            last = size;
            if size * (scalings.len() as f64).sqrt() < CLOSE && share == 1.0 {
                let direction = self.turned(at, &scalings, with_level, Some(along));
                return Some((scalings, direction, correction));
            }
        }
        None
    }
}

impl Point {
    fn go(&mut self, along: &Direction, share: f64) {
        advance(&mut self.force, &along.step.force, share);
        advance(&mut self.velocity, &along.step.velocity, share);
        self.level += share * along.level;
    }
}

impl Direction {
    fn times(mut self, factor: f64) -> Self {
        self.step.force.iter_mut().chain(&mut self.step.velocity).for_each(|part| *part *= factor);
        self.level *= factor;
        self
    }

    fn plus(mut self, other: &Self, share: f64) -> Self {
        advance(&mut self.step.force, &other.step.force, share);
        advance(&mut self.step.velocity, &other.step.velocity, share);
        self.level += share * other.level;
        self
    }
}
