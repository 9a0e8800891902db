//! A primal–dual interior point method that begins with every strand carrying itself, and stays feasible.
//!
//! # Theory
//!
//! Mehrotra's predictor and corrector with the scaling of Nesterov and Todd, on the programme with x = (z⁺, z⁻, zᵗ, s):
//!
//!   least ½ xᵀPx + qᵀx   with   A x = b,   z± ≥ 0,   s = (−c h + ε, dev S) in the second-order cone.
//!
//! All unknowns but the nodes' multipliers are eliminated block by block, which leaves A (P + W⁻²)⁻¹ Aᵀ on the nodes
//! ([`normal`](super::normal)): one sparse factorisation for each iteration.
//!
//! # In practice
//!
//! - A cohesion ε makes S = 0 an interior point. It is a few weights of a particle at the start, so that this is well inside, and
//!   every direction leads to none. Stress grows by a factor of two in an iteration where it begins near the apex, but falls
//!   towards it by as much as the method likes: with a small ε from the start half of all iterations do nothing.
//! - Strands that carry themselves are the start, and each direction leaves the nodes at rest but for what rounding takes; that
//!   is put right once ε is below the tolerance of the cones. Before that, stresses without the cohesion lie in their cones, but leave nodes
//!   accelerations of some ε. Strands that carry themselves leave none, so as much of the iterate is mixed to them, or to the best forces without stress, as nodes may feel: every
//!   iteration has an answer, and the best one is kept.
//! - The multipliers need not be exact: they only tell how far there is to go.

use std::time::Instant;

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::at_rest::{bring_to_rest, excess, largest_stress, refined};
use super::cone::{self, Point, Scaling};
use super::normal::{Normal, Roots};
use super::programme::{Programme, Unknowns};

/// ε at the start, and all that lies in cones there, over the root mean square of the strands' forces. With much less steps are short until
/// stresses have grown.
const FIRST_COHESION: f64 = 0.6;
/// ε where iterates may be kept, as a part of the largest stress.
const LAST_COHESION: f64 = 8e-7;
/// How much of an iterate must be in the answer where the method ends. The rest gains little: the objective is flat there.
const ENOUGH: f64 = 0.95;
/// How much of the complementarity an iteration leaves at least. Less, and the cohesion falls in shorter steps.
const LEAST_CENTERING: f64 = 0.3;
/// Iterations after which the answer is taken as it is.
const MOST_ITERATIONS: usize = 100;
/// How much of the objective may still be gained where the method ends.
const GAP: f64 = 1e-2;
/// How large slopes may be that nothing balances, where the method ends, as a part of the largest.
const SLOPE: f64 = 0.1;
/// The largest acceleration that may be left at a node, in units of gravity.
const REST: f64 = 8e-5;
/// Most steps of conjugate gradients for one direction, and the acceleration, in units of gravity, that ends them. What they leave at
/// the nodes the next direction takes.
const REFINEMENTS: usize = 12;
const ROUGHLY_AT_REST: f64 = 1e-3;
/// How near to the boundary a step may lead.
const NEARNESS: f64 = 0.99;

/// One value for each block of unknowns: values, duals, directions, or parts of the right-hand side.
#[derive(Debug, Clone)]
struct Blocks {
    /// z⁺ and z⁻.
    along: Vec<[f64; 2]>,
    /// zᵗ.
    across: Vec<[f64; 2]>,
    /// s.
    cones: Vec<Point>,
}

impl Blocks {
    fn advance(&mut self, step: f64, direction: &Self) {
        add(self.along.as_flattened_mut(), step, direction.along.as_flattened());
        add(self.across.as_flattened_mut(), step, direction.across.as_flattened());
        add(self.cones.as_flattened_mut(), step, direction.cones.as_flattened());
    }

    /// The product over the parts that lie in cones.
    fn dot(&self, other: &Self) -> f64 {
        let along: f64 =
            self.along.iter().flatten().zip(other.along.iter().flatten()).map(|(a, b)| a * b).sum();
        along + self.cones.iter().zip(&other.cones).map(|(a, b)| cone::dot(a, b)).sum::<f64>()
    }

    /// The largest step, at most 1, that leads no farther than to the boundary.
    fn longest_step(&self, direction: &Self) -> f64 {
        let along = self.along.iter().flatten().zip(direction.along.iter().flatten());
        let step = along.filter(|(_, d)| **d < 0.0).map(|(x, d)| -x / d).fold(1.0, f64::min);
        self.cones.iter().zip(&direction.cones).fold(step, |step, (x, d)| cone::longest_step(x, d, step))
    }
}

fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// Lowers the objective from `own`, strands that carry themselves, until the clock says `seconds`; gives the best point, which is `start` where
/// none is better, and the iterations.
pub(super) fn solve(
    programme: &Programme,
    own: &Unknowns,
    start: Unknowns,
    clock: Instant,
    seconds: f64,
) -> (Unknowns, usize) {
    if clock.elapsed().as_secs_f64() > seconds {
        return (start, 0);
    }
    let mut normal = Normal::new(programme);
    let mut method = Method::new(programme, own);
    let mut best = (programme.objective(&start), start.clone());
    for iteration in 0..MOST_ITERATIONS {
        if clock.elapsed().as_secs_f64() > seconds || !method.iterate(&mut normal) {
            return (best.1, iteration);
        }
        let (point, part) = method.answer(&mut normal, &start);
        let objective = programme.objective(&point);
        if objective < best.0 && excess(&point, programme.slope) < 1e-6 {
            best = (objective, point);
            let gap = method.gap() * programme.weights.bending;
            if part > ENOUGH && gap < GAP * objective && method.dual_error < SLOPE {
                return (best.1, iteration + 1);
            }
        }
    }
    (best.1, MOST_ITERATIONS)
}

/// A point on its way.
struct Method<'a> {
    programme: &'a Programme,
    values: Blocks,
    duals: Blocks,
    multipliers: Vec<DVec3>,
    /// P of z⁺, z⁻, zᵗ, s₀ and the rest of s.
    curvature: [f64; 5],
    /// Largest dual residual, relative to the largest slope.
    dual_error: f64,
    /// ε.
    cohesion: f64,
}

impl<'a> Method<'a> {
    fn new(programme: &'a Programme, start: &Unknowns) -> Self {
        let w = &programme.weights;
        let slope = programme.slope;
        let curvature = [w.tension, w.compression, w.bending, w.hydrostatic / (slope * slope), w.deviatoric]
            .map(|weight| 2.0 * weight / w.bending);
        let squares: f64 = start.forces.iter().map(|force| force.length_squared()).sum();
        let cohesion = FIRST_COHESION * (squares / start.forces.len().max(1) as f64).sqrt();
        let along = |f: &DVec3| [f.x.max(0.0) + cohesion, (-f.x).max(0.0) + cohesion];
        let values = Blocks {
            along: start.forces.iter().map(along).collect(),
            across: start.forces.iter().map(|f| [f.y, f.z]).collect(),
            cones: start.stresses.iter().map(|s| to_cone(s, slope, cohesion)).collect(),
        };
        let duals = Blocks {
            along: values.along.iter().map(|pair| pair.map(|x| cohesion * cohesion / x)).collect(),
            across: vec![[0.0; 2]; values.across.len()],
            cones: vec![[cohesion, 0.0, 0.0, 0.0, 0.0, 0.0]; values.cones.len()],
        };
        let multipliers = vec![DVec3::ZERO; programme.lattice.nodes()];
        Self { programme, values, duals, multipliers, curvature, dual_error: f64::INFINITY, cohesion }
    }

    fn unknowns(&self) -> Unknowns {
        self.with_cohesion(self.cohesion)
    }

    /// What the values mean if the cones have this cohesion: with less than ε nodes are not at rest, with none stresses lie in their cones.
    fn with_cohesion(&self, cohesion: f64) -> Unknowns {
        let mut all = self.linear(&self.values);
        let shift = cohesion / self.programme.slope;
        all.stresses.iter_mut().for_each(|s| s[0] += shift);
        all
    }

    /// A feasible point, and how much of the iterate is in it; the rest is the start.
    fn answer(&self, normal: &mut Normal, start: &Unknowns) -> (Unknowns, f64) {
        let programme = self.programme;
        let allowed = LAST_COHESION * largest_stress(&self.unknowns());
        let mut point = self.with_cohesion(self.cohesion.min(allowed));
        let mut restless = programme.worst(&programme.residual(&point));
        if restless > REST && self.cohesion <= allowed {
            bring_to_rest(programme, normal, &mut point, &self.values.cones);
            restless = programme.worst(&programme.residual(&point));
        }
        let part = (REST / restless).min(1.0);
        (start.towards(&point, part), part)
    }

    /// What blocks of values mean in the programme, without the cohesion.
    fn linear(&self, blocks: &Blocks) -> Unknowns {
        let force =
            |(along, across): (&[f64; 2], &[f64; 2])| DVec3::new(along[0] - along[1], across[0], across[1]);
        let slope = self.programme.slope;
        let stress = |s: &Point| [-s[0] / slope, s[1], s[2], s[3], s[4], s[5]];
        Unknowns {
            forces: blocks.along.iter().zip(&blocks.across).map(force).collect(),
            stresses: blocks.cones.iter().map(stress).collect(),
        }
    }

    /// Aᵀ λ by blocks.
    fn transposed(&self, multipliers: &[DVec3]) -> Blocks {
        let u = self.programme.apply_transposed(multipliers);
        let slope = self.programme.slope;
        Blocks {
            along: u.forces.iter().map(|f| [f.x, -f.x]).collect(),
            across: u.forces.iter().map(|f| [f.y, f.z]).collect(),
            cones: u.stresses.iter().map(|s| [-s[0] / slope, s[1], s[2], s[3], s[4], s[5]]).collect(),
        }
    }

    /// How much the objective, in units of the weight of bending, may at most still fall.
    fn gap(&self) -> f64 {
        self.values.dot(&self.duals)
    }

    /// P x + q.
    fn slopes(&self) -> Blocks {
        let [tension, compression, bending, pressure, shear] = self.curvature;
        let mut out = self.values.clone();
        let push = compression * self.programme.weights.bias;
        for (along, segment) in out.along.iter_mut().zip(&self.programme.segments) {
            *along = [tension * along[0], compression * along[1] + push * segment.strand_weight];
        }
        out.across.iter_mut().flatten().for_each(|x| *x *= bending);
        for s in &mut out.cones {
            s[0] = pressure * (s[0] - self.cohesion);
            s[1..].iter_mut().for_each(|x| *x *= shear);
        }
        out
    }

    /// One predictor and corrector. False where no step is possible.
    fn iterate(&mut self, normal: &mut Normal) -> bool {
        let cones = self.values.cones.par_iter().zip(&self.duals.cones).with_min_len(256);
        let scalings: Vec<Scaling> = cones.map(|(s, z)| Scaling::new(s, z)).collect();
        let inverse = self.inverse(&scalings);
        normal.factor(self.programme, &inverse);
        let mut slopes = self.slopes();
        let size = largest(&slopes).max(1.0);
        slopes.advance(-1.0, &self.transposed(&self.multipliers));
        slopes.advance(-1.0, &self.duals);
        self.dual_error = largest(&slopes) / size;
        let left = self.programme.residual(&self.unknowns());
        let system = System {
            method: self,
            normal,
            scalings: &scalings,
            inverse: &inverse,
            slopes: &slopes,
            left: &left,
        };
        let degree = (2 * self.values.along.len() + self.values.cones.len()) as f64;
        let mean = self.gap() / degree;
        let guess = system.direction(None, 0.0);
        let reach = self.values.longest_step(&guess.values).min(self.duals.longest_step(&guess.duals));
        let centering = (1.0 - reach).powi(3).max(LEAST_CENTERING);
        let direction = system.direction(Some(&guess), centering * mean);
        let reach =
            self.values.longest_step(&direction.values).min(self.duals.longest_step(&direction.duals));
        let step = (NEARNESS * reach).min(1.0);
        if !(step > 1e-9 && direction.multipliers.iter().all(|m| m.is_finite())) {
            return false;
        }
        self.cohesion -= step * self.cohesion;
        self.values.advance(step, &direction.values);
        self.duals.advance(step, &direction.duals);
        for (multiplier, change) in self.multipliers.iter_mut().zip(&direction.multipliers) {
            *multiplier += *change * step;
        }
        true
    }

    /// (P + W⁻²)⁻¹ by blocks, as roots.
    fn inverse(&self, scalings: &[Scaling]) -> Inverse {
        let [tension, compression, bending, pressure, shear] = self.curvature;
        let along = self.values.along.iter().zip(&self.duals.along);
        let along: Vec<[f64; 2]> =
            along.map(|(x, z)| [1.0 / (tension + z[0] / x[0]), 1.0 / (compression + z[1] / x[1])]).collect();
        let roots = self.programme.segments.iter().zip(&along).map(|(segment, d)| {
            let across = bending.powf(-0.5);
            segment.frame * DMat3::from_diagonal(DVec3::new((d[0] + d[1]).sqrt(), across, across))
        });
        let slope = self.programme.slope;
        let stress = |scaling: &Scaling| {
            let mut block = scaling.inverse_square();
            for (at, row) in block.iter_mut().enumerate() {
                row[at] += if at == 0 { pressure } else { shear };
            }
            let mut root = inverse_root(block);
            root.iter_mut().for_each(|column| column[0] *= -1.0 / slope);
            root
        };
        Inverse {
            forces: roots.collect(),
            along,
            across: 1.0 / bending,
            stresses: scalings.par_iter().with_min_len(256).map(stress).collect(),
            slope,
        }
    }
}

fn to_cone(stress: &[f64; 6], slope: f64, cohesion: f64) -> Point {
    let mut s = *stress;
    s[0] = cohesion - slope * s[0];
    s
}

fn largest(blocks: &Blocks) -> f64 {
    let along = blocks.along.as_flattened().iter().chain(blocks.across.as_flattened());
    along.chain(blocks.cones.as_flattened()).fold(0.0, |most, value| most.max(value.abs()))
}

/// R, by columns, with R Rᵀ = K⁻¹ for a positive K: the inverse of the transpose of its Cholesky factor.
fn inverse_root(mut k: [Point; 6]) -> [Point; 6] {
    for j in 0..6 {
        let scale = k[j][j];
        for i in 0..j {
            k[j][j] -= k[j][i] * k[j][i];
        }
        let pivot = k[j][j].max(1e-14 * scale).sqrt();
        k[j][j] = pivot;
        for row in j + 1..6 {
            let known: f64 = (0..j).map(|i| k[row][i] * k[j][i]).sum();
            k[row][j] = (k[row][j] - known) / pivot;
        }
    }
    // Column c of R solves Lᵀ r = e_c.
    let mut root = [[0.0; 6]; 6];
    for (c, column) in root.iter_mut().enumerate() {
        for i in (0..=c).rev() {
            let known: f64 = (i + 1..=c).map(|j| k[j][i] * column[j]).sum();
            column[i] = (f64::from(u8::from(i == c)) - known) / k[i][i];
        }
    }
    root
}

/// (P + W⁻²)⁻¹.
struct Inverse {
    forces: Vec<DMat3>,
    along: Vec<[f64; 2]>,
    across: f64,
    stresses: Vec<[[f64; 6]; 6]>,
    slope: f64,
}

impl Roots for Inverse {
    fn stress(&self, particle: usize) -> Option<[[f64; 6]; 6]> {
        Some(self.stresses[particle])
    }

    fn force(&self, segment: usize) -> DMat3 {
        self.forces[segment]
    }
}

impl Inverse {
    /// (P + W⁻²)⁻¹ times blocks, in place.
    fn apply(&self, blocks: &mut Blocks) {
        for (x, d) in blocks.along.iter_mut().zip(&self.along) {
            *x = [x[0] * d[0], x[1] * d[1]];
        }
        blocks.across.iter_mut().flatten().for_each(|x| *x *= self.across);
        let cones = blocks.cones.par_iter_mut().zip(&self.stresses).with_min_len(512);
        cones.for_each(|(s, root)| {
            s[0] *= -self.slope;
            let mut out = [0.0; 6];
            for column in root {
                add(&mut out, cone::dot(column, s), column);
            }
            out[0] *= -self.slope;
            *s = out;
        });
    }
}

/// A direction in all unknowns.
struct Direction {
    values: Blocks,
    duals: Blocks,
    multipliers: Vec<DVec3>,
}

/// The linear system of one iteration.
struct System<'a> {
    method: &'a Method<'a>,
    normal: &'a Normal,
    scalings: &'a [Scaling],
    inverse: &'a Inverse,
    /// P x + q − Aᵀ λ − z.
    slopes: &'a Blocks,
    /// A x − b.
    left: &'a [DVec3],
}

impl System<'_> {
    /// The direction towards complementarity `target` and no cohesion, with the second-order terms of a guess.
    fn direction(&self, guess: Option<&Direction>, target: f64) -> Direction {
        let wanted = self.wanted(guess, target);
        let mut right = wanted.clone();
        right.advance(-1.0, self.slopes);
        let (pressure, cohesion) = (self.method.curvature[3], self.method.cohesion);
        right.cones.iter_mut().for_each(|s| s[0] -= pressure * cohesion);
        let mut inner = right.clone();
        self.inverse.apply(&mut inner);
        let method = self.method;
        let mut moved = method.linear(&inner);
        let shift = cohesion / method.programme.slope;
        moved.stresses.iter_mut().for_each(|s| s[0] -= shift);
        let mut nodes = method.programme.apply(&moved);
        for (node, left) in nodes.iter_mut().zip(self.left) {
            *node = -*left - *node;
        }
        let multipliers = self.solve(&nodes);
        right.advance(1.0, &method.transposed(&multipliers));
        let mut values = right;
        self.inverse.apply(&mut values);
        let mut duals = wanted;
        for ((dual, x), (value, z)) in
            duals.along.iter_mut().zip(&method.values.along).zip(values.along.iter().zip(&method.duals.along))
        {
            dual[0] -= z[0] / x[0] * value[0];
            dual[1] -= z[1] / x[1] * value[1];
        }
        for ((dual, value), scaling) in duals.cones.iter_mut().zip(&values.cones).zip(self.scalings) {
            add(dual, -1.0, &scaling.backward(&scaling.backward(value)));
        }
        Direction { values, duals, multipliers }
    }

    /// ξ: what the duals change by where the values stay.
    fn wanted(&self, guess: Option<&Direction>, target: f64) -> Blocks {
        let method = self.method;
        let mut out = method.duals.clone();
        out.across.iter_mut().for_each(|x| *x = [0.0; 2]);
        for (index, (xi, x)) in out.along.iter_mut().zip(&method.values.along).enumerate() {
            let second =
                |at: usize| guess.map_or(0.0, |g| g.values.along[index][at] * g.duals.along[index][at]);
            *xi = [-xi[0] + (target - second(0)) / x[0], -xi[1] + (target - second(1)) / x[1]];
        }
        for (index, (xi, scaling)) in out.cones.iter_mut().zip(self.scalings).enumerate() {
            let second = guess.map(|g| (&g.values.cones[index], &g.duals.cones[index]));
            *xi = scaling.towards(second, target);
        }
        out
    }

    /// A (P + W⁻²)⁻¹ Aᵀ v.
    fn product(&self, v: &[DVec3]) -> Vec<DVec3> {
        let mut blocks = self.method.transposed(v);
        self.inverse.apply(&mut blocks);
        self.method.programme.apply(&self.method.linear(&blocks))
    }

    fn solve(&self, right: &[DVec3]) -> Vec<DVec3> {
        refined(self.method.programme, self.normal, |v| self.product(v), right, REFINEMENTS, ROUGHLY_AT_REST)
    }
}
