//! An interior-point method for all contacts at once, for where sweeps are slow.
//!
//! With `s = μ ‖u_T‖` held, the law is the optimum of a convex programme on a product of self-dual cones. Its central path
//! is followed with Nesterov and Todd's scaling, one sparse factorisation of `W` plus 3×3 blocks per step, and `s` follows along.
//! The number of steps hardly hangs on the condition of W. What it leaves, sweeps finish.

use std::rc::Rc;

use glam::{DMat3, DVec3};

use super::anderson::{Anderson, residual};
use super::factor::Factor;
use super::krylov::gmres;
use super::pattern::Pattern;
use super::system::{LARGEST, System};
use crate::contact::coulomb::{jordan_product, tangent_length};

impl Shift {
    /// Where the path ends: a held shift is not worth more than the shift itself is known.
    fn least_gap(self) -> f64 {
        match self {
            Self::Exact | Self::Lagged => 1.0e-18,
            Self::Held => 1.0e-14,
        }
    }
}

/// A step this short hardly moves; so many in a row, and the path has no end.
const SHORT: f64 = 0.02;
const MOST_SHORT: usize = 4;

/// How exactly the shift's derivative is solved for, and in how many products: a step that is a little off loses the path.
const SHEAR_TOLERANCE: f64 = 1.0e-8;
const MOST_PRODUCTS: usize = 100;

/// By what part of itself a contact is taken as stiffer where forces are guessed that would stop it: hardly at all. And where contacts
/// are so redundant that those forces are huge, by enough to bound them.
pub(super) const STIFFER: f64 = 1.0e-8;
pub(super) const MUCH_STIFFER: f64 = 1.0e-2;

/// Contacts with hardly any friction count as having a little.
const LEAST_FRICTION: f64 = 1.0e-8;

/// The cones' metric: normal less tangential.
const SIGNS: DVec3 = DVec3::new(1.0, -1.0, -1.0);

pub(super) struct Interior<'a> {
    system: &'a System,
    pattern: Rc<Pattern>,
    factor: Factor,
    shift: Shift,
    /// Tangential speeds that a held shift stands for.
    speeds: Vec<f64>,
    /// Speed below which the shift is rounded off, so that it has a slope where nothing slides.
    pub(super) rounding: f64,
}

/// Where a path begins: forces and velocities, inside their cones.
pub(super) type Start = (Vec<DVec3>, Vec<DVec3>);

/// How the shift `μ ‖u_T‖` is carried along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shift {
    /// With its derivative in the Newton step: fewer steps, and none left where the path bends back.
    Exact,
    /// As it was before the step: each step is one of a convex programme.
    Lagged,
    /// As it is given: one convex programme, which always has a solution near every step of its path.
    Held,
}

impl<'a> Interior<'a> {
    /// Where the factor has its numbers. None where it would take too much memory.
    pub(super) fn pattern(system: &System) -> Option<Rc<Pattern>> {
        // A factor of half a gigabyte.
        const MOST_BLOCKS: usize = 7_000_000;
        let neighbours = |row: usize| system.row(row).map(|(column, _)| column);
        Pattern::new(system.len(), neighbours, MOST_BLOCKS).map(Rc::new)
    }

    /// Multiplications per step, about: the factorisation, the solves with it, and what is done at each contact.
    pub(super) fn work(pattern: &Pattern) -> f64 {
        const SOLVES: f64 = 8.0;
        const CONTACT: f64 = 1_500.0;
        // Both triangles are eliminated, and solved with.
        2.0 * (pattern.work() + SOLVES * 9.0 * pattern.blocks() as f64) + CONTACT * pattern.place.len() as f64
    }

    pub(super) fn new(system: &'a System, pattern: &Rc<Pattern>, shift: Shift) -> Self {
        let mut factor = Factor::new(Rc::clone(pattern));
        for row in 0..system.len() {
            let scale = stretch(system, row);
            let own = system.contacts()[row].matrix.to_cols_array();
            for (column, block) in system.row(row).chain([(row, &own)]) {
                let other = stretch(system, column);
                let mut stretched = *block;
                for j in 0..3 {
                    (0..3).for_each(|i| stretched[3 * j + i] *= scale[i] * other[j]);
                }
                factor.set(row, column, stretched);
            }
        }
        let speeds = vec![0.0; system.len()];
        Self { system, pattern: Rc::clone(pattern), factor, shift, speeds, rounding: 0.0 }
    }

    /// Follows the central path; forces in the units of the system. `accept` sees each iterate and says when to stop.
    pub(super) fn solve(&mut self, start: Start, steps: usize, mut accept: impl FnMut(&[DVec3]) -> bool) {
        let count = self.system.len();
        let mut short = 0;
        let (mut force, mut velocity) = start;
        for _ in 0..steps {
            let gap = pairing(&force, &velocity) / count as f64;
            let Some(step) = self.step(&force, &velocity, gap) else { break };
            short = if step.share < SHORT { short + 1 } else { 0 };
            if !(step.share.is_finite() && step.share > 1.0e-8) || short > MOST_SHORT {
                break;
            }
            advance(&mut force, &step.force, step.share);
            advance(&mut velocity, &step.velocity, step.share);
            if accept(&self.offered(&force)) || gap < self.shift.least_gap() {
                break;
            }
        }
    }

    /// The fixed point of Cadoux 2009: hold the shift, solve the convex programme, take the shift from its velocities;
    /// mixed like sweeps are. `accept` sees the forces after each programme.
    pub(super) fn solve_outer(&mut self, programmes: usize, mut accept: impl FnMut(&[DVec3]) -> bool) {
        const STEPS: usize = 40;
        let count = self.system.len();
        let mut anderson = Anderson::new(8, count);
        let mut held = vec![DVec3::ZERO; count];
        let (mut image, mut change) = (held.clone(), held.clone());
        for _ in 0..programmes {
            self.speeds = held.iter().map(|speed| speed.x.max(0.0)).collect();
            let mut last = vec![DVec3::ZERO; count];
            let start = self.start(STIFFER);
            self.solve(start, STEPS, |forces| {
                last.copy_from_slice(forces);
                false
            });
            if accept(&last) {
                return;
            }
            for (image, velocity) in image.iter_mut().zip(self.system.velocities(&last)) {
                image.x = tangent_length(velocity);
            }
            let clean: Vec<DVec3> = self.speeds.iter().map(|&speed| DVec3::X * speed).collect();
            residual(&image, &clean, &mut change);
            anderson.mix(&image, &change, &mut held);
        }
    }

    /// Forces on the cones' axes, about as large as those that would stop all contacts if every one of them were stiffer by a part
    /// of itself; and velocities of one.
    pub(super) fn start(&mut self, stiffer: f64) -> Start {
        let count = self.system.len();
        let mut right = vec![0.0; 3 * count];
        for (row, &place) in self.pattern.place.iter().enumerate() {
            let pulled = stretch(self.system, row) * self.system.contacts()[row].offset;
            right[3 * place..3 * place + 3].copy_from_slice(&(-pulled).to_array());
        }
        if !self.factor.factor(|_| [0.0; 9], stiffer) {
            return (vec![DVec3::X; count], vec![DVec3::X; count]);
        }
        self.factor.solve(&mut right);
        let size = |&place: &usize| DVec3::from_slice(&right[3 * place..3 * place + 3]).length();
        let forces =
            self.pattern.place.iter().map(|place| DVec3::X * (1.5 * size(place)).clamp(1.0, LARGEST));
        (forces.collect(), vec![DVec3::X; count])
    }

    /// Forces and velocities within their cones, this far from those given.
    pub(super) fn near(&self, forces: &[DVec3], distance: f64) -> Start {
        let inside =
            |vector: DVec3| DVec3::new(vector.x.max(tangent_length(vector)) + distance, vector.y, vector.z);
        let plain = self.system.velocities(forces);
        let of = |row: usize| {
            let stretch = stretch(self.system, row);
            let velocity = stretch * plain[row];
            let shifted = velocity + DVec3::X * tangent_length(velocity);
            (inside(forces[row] / stretch), inside(shifted))
        };
        (0..forces.len()).map(of).unzip()
    }

    /// Forces without the change to self-dual cones.
    pub(super) fn plain(&self, force: &[DVec3]) -> Vec<DVec3> {
        force.iter().enumerate().map(|(row, force)| stretch(self.system, row) * *force).collect()
    }

    /// The same for others to see: within the cones of contacts that have less friction than is counted here.
    pub(super) fn offered(&self, force: &[DVec3]) -> Vec<DVec3> {
        let within = |(row, force): (usize, DVec3)| {
            let friction = self.system.contacts()[row].friction;
            let share = (friction / LEAST_FRICTION).min(1.0);
            DVec3::new(force.x, share * force.y, share * force.z)
        };
        self.plain(force).into_iter().enumerate().map(within).collect()
    }

    /// What forces make of velocities, shifted, less the velocities at hand.
    pub(super) fn residuals(&self, force: &[DVec3], velocity: &[DVec3]) -> Vec<DVec3> {
        let plain = self.system.velocities(&self.plain(force));
        let residual = |row: usize| {
            // De Saxcé's shift over μ is the tangential speed.
            let speed = match self.shift {
                Shift::Held => self.speeds[row],
                Shift::Exact | Shift::Lagged => tangent_length(velocity[row]).hypot(self.rounding),
            };
            stretch(self.system, row) * plain[row] + DVec3::X * speed - velocity[row]
        };
        (0..force.len()).map(residual).collect()
    }

    /// The Newton step on the perturbed conditions, a predictor and a corrector (Mehrotra 1992) with one factorisation:
    /// `(Ŵ + V²) dx = −(Ŵ x + q̂ − z) + V d` and `dz = V d − V² dx`.
    fn step(&mut self, force: &[DVec3], velocity: &[DVec3], gap: f64) -> Option<Step> {
        let count = force.len();
        let scalings: Vec<Scaling> =
            force.iter().zip(velocity).map(|(x, z)| Scaling::new(*x, *z, self.rounding)).collect();
        let residuals = self.residuals(force, velocity);
        if !self.factor(&scalings) {
            return None;
        }
        let still: Vec<DVec3> = scalings.iter().map(|scaling| -scaling.middle).collect();
        let predicted = self.solve_step(&scalings, &residuals, &still);
        let share = common_share(force, velocity, &predicted).min(1.0);
        let target = gap * (1.0 - share).powi(3).clamp(1.0e-6, 0.8);
        let aims: Vec<DVec3> = (0..count)
            .map(|row| {
                let scaling = &scalings[row];
                // Of a step that can only be taken in part, the curvature along it is little known: as much of it counts.
                let second = share
                    * jordan_product(
                        scaling.forth * predicted.force[row],
                        scaling.back * predicted.velocity[row],
                    );
                let square = jordan_product(scaling.middle, scaling.middle);
                divide(target * DVec3::X - square - second, scaling.middle)
            })
            .collect();
        let mut step = self.solve_step(&scalings, &residuals, &aims);
        step.share = (0.99 * common_share(force, velocity, &step)).min(1.0);
        Some(step)
    }

    /// Factors `Ŵ + S V²`, where S is what the shift's derivative makes of velocities. Where a pivot is zero, `Ŵ + V²` stands in for it,
    /// which is symmetric and positive definite, or a little stiffer where rounding has made it indefinite: what is missing then is
    /// made up for by [`gmres`], or by the next step.
    pub(super) fn factor(&mut self, scalings: &[Scaling]) -> bool {
        let square = |row: usize| (scalings[row].forth * scalings[row].forth).to_cols_array();
        let sheared = |row: usize| scalings[row].sheared_square().to_cols_array();
        (self.shift == Shift::Exact && self.factor.factor_any(sheared))
            || [0.0, 1.0e-13, 1.0e-11, 1.0e-9].into_iter().any(|part| self.factor.factor(square, part))
    }

    /// The step for complementarity aims `d`: `(Ŵ + S V²) dx = S V d − residuals`.
    pub(super) fn solve_step(&self, scalings: &[Scaling], residuals: &[DVec3], aims: &[DVec3]) -> Step {
        let count = aims.len();
        let right = |row: usize| {
            let turned = scalings[row].forth * aims[row];
            match self.shift {
                Shift::Exact => scalings[row].shear(turned) - residuals[row],
                Shift::Lagged | Shift::Held => turned - residuals[row],
            }
        };
        let solved = self.solved((0..count).map(right));
        let squares: Vec<DMat3> = scalings.iter().map(Scaling::sheared_square).collect();
        let apply = |step: &[f64]| {
            let step = self.unordered(step);
            let product = self.product(&step);
            self.solved((0..count).map(|row| product[row] + squares[row] * step[row]))
        };
        let step = match self.shift {
            Shift::Exact => gmres(apply, &solved, MOST_PRODUCTS, SHEAR_TOLERANCE),
            Shift::Lagged | Shift::Held => solved,
        };
        let force = self.unordered(&step);
        let turn = |row: usize| scalings[row].forth * (aims[row] - scalings[row].forth * force[row]);
        Step { velocity: (0..count).map(turn).collect(), force, share: 1.0 }
    }

    /// `Ŵ x`.
    fn product(&self, x: &[DVec3]) -> Vec<DVec3> {
        let velocities = self.system.velocities(&self.plain(x)).into_iter().enumerate();
        let offset = |row: usize| self.system.contacts()[row].offset;
        velocities.map(|(row, velocity)| stretch(self.system, row) * (velocity - offset(row))).collect()
    }

    /// A vector in the order of contacts from one in the order of the factor.
    fn unordered(&self, vector: &[f64]) -> Vec<DVec3> {
        let at = |&place: &usize| DVec3::from_slice(&vector[3 * place..3 * place + 3]);
        self.pattern.place.iter().map(at).collect()
    }

    /// Solves with the factor, for a right side row by row; in the order of the factor.
    fn solved(&self, right: impl Iterator<Item = DVec3>) -> Vec<f64> {
        let mut vector = vec![0.0; 3 * self.pattern.place.len()];
        for (&place, line) in self.pattern.place.iter().zip(right) {
            vector[3 * place..3 * place + 3].copy_from_slice(&line.to_array());
        }
        self.factor.solve(&mut vector);
        vector
    }
}

/// A step of all forces and velocities, and how much of it is taken.
pub(super) struct Step {
    pub(super) force: Vec<DVec3>,
    pub(super) velocity: Vec<DVec3>,
    share: f64,
}

/// Nesterov and Todd's scaling of one contact: the symmetric V with `V x = V⁻¹ z`.
pub(super) struct Scaling {
    pub(super) forth: DMat3,
    pub(super) back: DMat3,
    /// The point in the middle, V x.
    pub(super) middle: DVec3,
    /// The direction of sliding.
    sliding: DVec3,
}

impl Scaling {
    pub(super) fn new(x: DVec3, z: DVec3, rounding: f64) -> Self {
        let (of_x, of_z) = (determinant(x).max(f64::MIN_POSITIVE), determinant(z).max(f64::MIN_POSITIVE));
        let (unit_x, unit_z) = (x / of_x.sqrt(), z / of_z.sqrt());
        let half = (0.5 * (1.0 + unit_x.dot(unit_z))).sqrt();
        let w = (unit_z + SIGNS * unit_x) / (2.0 * half);
        let size = (of_z / of_x).powf(0.25);
        let share = 1.0 / (1.0 + w.x);
        let (yy, yz, zz) = (1.0 + w.y * w.y * share, w.y * w.z * share, 1.0 + w.z * w.z * share);
        let matrix = |sign: f64| {
            DMat3::from_cols(
                DVec3::new(w.x, sign * w.y, sign * w.z),
                DVec3::new(sign * w.y, yy, yz),
                DVec3::new(sign * w.z, yz, zz),
            )
        };
        let forth = size * matrix(1.0);
        let speed = tangent_length(z).hypot(rounding);
        let sliding = if speed > 0.0 { DVec3::new(0.0, z.y, z.z) / speed } else { DVec3::ZERO };
        Self { forth, back: (1.0 / size) * matrix(-1.0), middle: forth * x, sliding }
    }

    /// S: the normal part loses what the shift gains along the direction of sliding.
    fn shear(&self, velocity: DVec3) -> DVec3 {
        velocity - DVec3::X * self.sliding.dot(velocity)
    }

    /// S V².
    fn sheared_square(&self) -> DMat3 {
        let square = self.forth * self.forth;
        DMat3::from_cols(self.shear(square.x_axis), self.shear(square.y_axis), self.shear(square.z_axis))
    }
}

/// The vector whose product with `by` is `x`.
pub(super) fn divide(x: DVec3, by: DVec3) -> DVec3 {
    let determinant = determinant(by);
    let mixed = by.y * x.y + by.z * x.z;
    let normal = (by.x * x.x - mixed) / determinant;
    // x_T = by_N y_T + y_N by_T.
    DVec3::new(normal, (x.y - normal * by.y) / by.x, (x.z - normal * by.z) / by.x)
}

/// r over r̂: the inverse of the change to the self-dual cone.
fn stretch(system: &System, row: usize) -> DVec3 {
    DVec3::new(1.0 / system.contacts()[row].friction.max(LEAST_FRICTION), 1.0, 1.0)
}

/// x_N² − ‖x_T‖², without cancellation.
fn determinant(x: DVec3) -> f64 {
    let tangent = tangent_length(x);
    (x.x - tangent) * (x.x + tangent)
}

fn pairing(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

pub(super) fn advance(x: &mut [DVec3], step: &[DVec3], share: f64) {
    x.iter_mut().zip(step).for_each(|(x, step)| *x += share * *step);
}

pub(super) fn common_share(force: &[DVec3], velocity: &[DVec3], step: &Step) -> f64 {
    largest_share(force, &step.force).min(largest_share(velocity, &step.velocity))
}

/// The largest share of a step that stays in all cones.
fn largest_share(x: &[DVec3], step: &[DVec3]) -> f64 {
    x.iter().zip(step).map(|(x, step)| largest_share_of_one(*x, *step)).fold(1.0e3, f64::min)
}

fn largest_share_of_one(x: DVec3, d: DVec3) -> f64 {
    // (x + t d) leaves where a t² + 2 b t + c = 0, with c > 0 inside.
    let metric = |a: DVec3, b: DVec3| a.dot(SIGNS * b);
    let (a, b, c) = (metric(d, d), metric(x, d), determinant(x));
    let mut share = f64::INFINITY;
    if d.x < 0.0 {
        share = -x.x / d.x;
    }
    let discriminant = b * b - a * c;
    if discriminant >= 0.0 {
        let root = discriminant.sqrt();
        // The stable pair of roots.
        let sum = -(b + if b >= 0.0 { root } else { -root });
        for candidate in
            [if a != 0.0 { sum / a } else { f64::INFINITY }, if sum != 0.0 { c / sum } else { f64::INFINITY }]
        {
            if candidate > 0.0 {
                share = share.min(candidate);
            }
        }
    }
    share
}
