//! Forces alone: the least objective without any stress, by an interior point method whose every iterate is feasible.
//!
//! # Theory
//!
//! Nodes add up what particles feel, so strands carry each other on the grid without any stress. What of the programme is [`Loose`] then reads: least
//!
//!   Σ ½ (P₊ z₊² + P₋ z₋² + P_b |zᵗ|²) + q z₋   with   A y = 0,   z₊ − z₋ = f·n,   z± ≥ 0,
//!
//! where f is the force of a strand that carries itself and y of the group of the segment. Mehrotra's predictor and corrector; all unknowns but the nodes'
//! multipliers are eliminated, segment by segment and group by group. With [`Limits`] some segments have z₊ = f·n − least ≥ 0 alone, and forces lie in
//! balls besides, each a second-order cone.
//!
//! # In practice
//!
//! y = 0 is the start, and every direction leaves nodes at rest but for rounding, which the next one takes: each iterate is an answer, and the first three
//! or four gain most. Six to eight are all there are without limits, ten to sixteen with them, as there are no rows that others imply. Limits
//! are relaxed where the start would not be inside them; each step takes a part of that away.

use std::time::Instant;

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::at_rest::refined;
use super::cone::{self, Point, Scaling};
use super::limits::{Ball, Limits, Relaxed, balls, least_along};
use super::loose::Loose;
use super::normal::{Normal, Roots};
use super::programme::{Programme, Unknowns};

/// z± at the start, over the root mean square of the strands' forces.
const FIRST: f64 = 0.6;
/// Iterations after which the answer is taken as it is.
const MOST_ITERATIONS: usize = 30;
/// How much of the objective may still be gained where the method ends, and where it ends within limits: there what is gained last is little
/// beside what limits cost.
const GAP: f64 = 1e-2;
const GAP_WITHIN_LIMITS: f64 = 5e-2;
/// How large slopes may be that nothing balances, where the method ends, as a part of the largest.
const SLOPE: f64 = 0.1;
/// The largest acceleration that may be left at a node, in units of gravity.
const REST: f64 = 8e-5;
/// Most steps of conjugate gradients for one direction, and the acceleration, in units of gravity, that ends them.
const REFINEMENTS: usize = 8;
const ENOUGH: f64 = 1e-5;
/// How near to the boundary a step may lead.
const NEARNESS: f64 = 0.99;
/// How much of the complementarity an iteration leaves at least.
const LEAST_CENTERING: f64 = 0.05;

/// Steps so short, so many times in a row, are the end: rounding leaves nothing to gain.
const SHORT: f64 = 0.01;
const SHORT_STEPS: usize = 3;

/// z₊ and z₋ of each segment, their duals, or changes of these. Where a segment may not be pressed the second has no meaning and stays.
type Pairs = Vec<[f64; 2]>;

/// All that lies in cones, its duals, or changes of these.
#[derive(Debug, Clone)]
struct Blocks {
    pairs: Pairs,
    /// The points of the balls.
    balls: Vec<Point>,
}

impl Blocks {
    fn longest_step(&self, direction: &Self) -> f64 {
        let all = self.pairs.as_flattened().iter().zip(direction.pairs.as_flattened());
        let step = all.filter(|(_, d)| **d < 0.0).map(|(x, d)| -x / d).fold(1.0, f64::min);
        self.balls.iter().zip(&direction.balls).fold(step, |step, (x, d)| cone::longest_step(x, d, step))
    }

    fn advance(&mut self, step: f64, direction: &Self) {
        advance(self.pairs.as_flattened_mut(), step, direction.pairs.as_flattened());
        advance(self.balls.as_flattened_mut(), step, direction.balls.as_flattened());
    }
}

fn advance(values: &mut [f64], step: f64, direction: &[f64]) {
    values.iter_mut().zip(direction).for_each(|(x, d)| *x += step * d);
}

/// Lowers the objective from strands that carry themselves until `seconds` of the clock; gives the best point and the iterations.
/// With limits the last one is best: what they are relaxed by falls.
pub(super) fn solve(
    whole: &Programme,
    start: &Unknowns,
    limits: Limits,
    clock: Instant,
    seconds: f64,
) -> (Unknowns, usize) {
    let loose = Loose::new(whole);
    let mut best = (whole.objective(start), start.clone());
    if loose.members.is_empty() {
        return (best.1, 0);
    }
    let mut normal = Normal::new(&loose.programme);
    let mut method = Method::new(whole, &loose, start, limits);
    let mut short = 0;
    let enough = if limits == Limits::None { GAP } else { GAP_WITHIN_LIMITS };
    for iteration in 0..MOST_ITERATIONS {
        if clock.elapsed().as_secs_f64() > seconds || !method.iterate(&mut normal) {
            return (best.1, iteration);
        }
        let (point, part) = method.answer(start);
        let objective = whole.objective(&point);
        let is_better = objective < best.0 || (limits != Limits::None && part == 1.0);
        short = if method.step < SHORT { short + 1 } else { 0 };
        if is_better {
            best = (objective, point);
        }
        if short == SHORT_STEPS {
            return (best.1, iteration + 1);
        }
        if method.gap() * whole.weights.bending < enough * objective && method.error < SLOPE {
            return (best.1, iteration + 1);
        }
    }
    (best.1, MOST_ITERATIONS)
}

/// A segment of the whole programme.
struct Member {
    group: u32,
    frame: DMat3,
    /// Force of a strand that carries itself.
    own: DVec3,
    /// Slope of compression.
    push: f64,
    /// The least force along the segment, where it may not be pressed.
    least: Option<Relaxed>,
}

impl Member {
    /// z₊ and z₋ at the start, inside by `size`.
    fn first_pair(&self, size: f64) -> [f64; 2] {
        match self.least {
            Some(least) => [self.own.x - least.bound + least.by, 1.0],
            None => [self.own.x.max(0.0) + size, (-self.own.x).max(0.0) + size],
        }
    }

    /// f in the frame of the segment.
    fn force(&self, more: &[DVec3]) -> DVec3 {
        self.own + self.frame.transpose() * more[self.group as usize]
    }
}

/// A point on its way.
struct Method<'a> {
    whole: &'a Programme,
    loose: &'a Loose,
    members: Vec<Member>,
    /// Balls, each with its member.
    balls: Vec<(u32, Ball)>,
    /// P of z₊, z₋ and zᵗ.
    curvature: [f64; 3],
    /// y.
    more: Vec<DVec3>,
    values: Blocks,
    duals: Blocks,
    /// The multipliers of z₊ − z₋ = f·n.
    split: Vec<f64>,
    multipliers: Vec<DVec3>,
    /// Largest slope that nothing balances, relative to the largest.
    error: f64,
    /// The part of all relaxations that is left.
    left: f64,
    /// The last step.
    step: f64,
}

impl<'a> Method<'a> {
    fn new(whole: &'a Programme, loose: &'a Loose, start: &Unknowns, limits: Limits) -> Self {
        let w = &whole.weights;
        let curvature = [w.tension, w.compression, w.bending].map(|weight| 2.0 * weight / w.bending);
        let largest = start.forces.iter().map(|force| force.length()).fold(0.0, f64::max);
        let member = |group: usize, s: u32| {
            let segment = &whole.segments[s as usize];
            let own = start.forces[s as usize];
            let push = curvature[1] * w.bias * segment.strand_weight;
            let least = least_along(own, largest, limits);
            Member { group: group as u32, frame: segment.frame, own, push, least }
        };
        let groups = loose.members.iter().enumerate();
        let members: Vec<Member> =
            groups.flat_map(|(group, all)| all.iter().map(move |&s| member(group, s))).collect();
        let each = (0u32..).zip(&members);
        let balls: Vec<(u32, Ball)> = each
            .flat_map(|(at, m)| balls(m.own, largest, limits).into_iter().map(move |ball| (at, ball)))
            .collect();
        let squares: f64 = start.forces.iter().map(|force| force.length_squared()).sum();
        let size = FIRST * (squares / start.forces.len().max(1) as f64).sqrt();
        let values = Blocks {
            pairs: members.iter().map(|m| m.first_pair(size)).collect(),
            balls: balls.iter().map(|(m, ball)| ball.point(members[*m as usize].own, 1.0)).collect(),
        };
        let duals = Blocks {
            pairs: values.pairs.iter().map(|pair| pair.map(|z| size * size / z)).collect(),
            balls: values.balls.iter().map(|t| cone::inverse(t).map(|part| size * size * part)).collect(),
        };
        Self {
            whole,
            loose,
            balls,
            curvature,
            more: vec![DVec3::ZERO; loose.members.len()],
            duals,
            values,
            split: vec![0.0; members.len()],
            multipliers: vec![DVec3::ZERO; loose.programme.lattice.nodes()],
            members,
            error: f64::INFINITY,
            left: 1.0,
            step: 1.0,
        }
    }

    /// A feasible point of the whole programme: the iterate, mixed with the start as far as rounding asks for, and how much of it.
    fn answer(&self, start: &Unknowns) -> (Unknowns, f64) {
        let point = self.loose.whole(start, &self.more, self.whole);
        let restless = self.whole.worst(&self.whole.residual(&point));
        let part = (REST / restless).min(1.0);
        (start.towards(&point, part), part)
    }

    /// How much the objective, in units of the weight of bending, may at most still fall.
    fn gap(&self) -> f64 {
        let pairs = self.members.iter().zip(self.values.pairs.iter().zip(&self.duals.pairs));
        let pairs: f64 =
            pairs.map(|(m, (z, d))| z[0] * d[0] + if m.least.is_some() { 0.0 } else { z[1] * d[1] }).sum();
        pairs + self.values.balls.iter().zip(&self.duals.balls).map(|(t, k)| cone::dot(t, k)).sum::<f64>()
    }

    /// One predictor and corrector. False where no step is possible.
    fn iterate(&mut self, normal: &mut Normal) -> bool {
        let system = System::new(self, normal);
        let single = self.members.iter().filter(|member| member.least.is_some()).count();
        let mean = self.gap() / (2 * self.members.len() - single + self.balls.len()) as f64;
        let reach =
            |d: &Direction| self.values.longest_step(&d.values).min(self.duals.longest_step(&d.duals));
        let guess = system.direction(None, 0.0);
        let centering = (1.0 - reach(&guess)).powi(3).max(LEAST_CENTERING);
        let direction = system.direction(Some(&guess), centering * mean);
        let step = (NEARNESS * reach(&direction)).min(1.0);
        self.error = system.error;
        if !(step > 1e-9 && direction.multipliers.iter().all(|m| m.is_finite())) {
            return false;
        }
        self.step = step;
        self.left -= step * self.left;
        self.values.advance(step, &direction.values);
        self.duals.advance(step, &direction.duals);
        advance(&mut self.split, step, &direction.split);
        let (more, nodes) = (self.more.iter_mut().zip(&direction.more), self.multipliers.iter_mut());
        more.chain(nodes.zip(&direction.multipliers)).for_each(|(to, by)| *to += *by * step);
        true
    }
}

/// What a segment adds to the slopes, along its frame.
struct Slopes {
    /// Of y.
    slope: DVec3,
    stiffness: DVec3,
    flexible: [f64; 2],
    /// What is left of the slopes of z₊ and z₋, with the opposite sign.
    rest: [f64; 2],
    largest: f64,
}

impl Method<'_> {
    fn slopes(&self, index: usize) -> Slopes {
        let [tension, compression, bending] = self.curvature;
        let member = &self.members[index];
        let (z, dual, split) = (&self.values.pairs[index], &self.duals.pairs[index], self.split[index]);
        let force = member.force(&self.more);
        let across = bending * force.y.abs().max(force.z.abs());
        let with = |along: f64, stiff: f64, flexible, rest, largest: f64| Slopes {
            slope: DVec3::new(along, bending * force.y, bending * force.z),
            stiffness: DVec3::new(stiff, bending, bending),
            flexible,
            rest,
            largest: largest.max(across),
        };
        if member.least.is_some() {
            let bound = dual[0] / z[0];
            return with(tension * force.x - dual[0], tension + bound, [bound, 0.0], [0.0; 2], 0.0);
        }
        let d = [1.0 / (tension + dual[0] / z[0]), 1.0 / (compression + dual[1] / z[1])];
        let pulls = [tension * z[0], compression * z[1] + member.push];
        let rest = [dual[0] + split - pulls[0], dual[1] - split - pulls[1]];
        with(split, 1.0 / (d[0] + d[1]), d, rest, pulls[0].max(pulls[1]))
    }
}

/// A direction in all unknowns.
struct Direction {
    values: Blocks,
    duals: Blocks,
    split: Vec<f64>,
    more: Vec<DVec3>,
    multipliers: Vec<DVec3>,
}

/// Inverse Hessians of the groups, and their roots.
struct Inverse {
    groups: Vec<DMat3>,
    roots: Vec<DMat3>,
}

impl Roots for Inverse {
    fn stress(&self, _: usize) -> Option<[[f64; 6]; 6]> {
        None
    }

    fn force(&self, segment: usize) -> DMat3 {
        self.roots[segment]
    }
}

/// The linear system of one iteration.
struct System<'a> {
    method: &'a Method<'a>,
    normal: &'a Normal,
    inverse: Inverse,
    /// Of the balls.
    scalings: Vec<Scaling>,
    /// Inverse curvatures of z₊ and z₋, with what their bounds add; where a segment may not be pressed what the bound adds.
    flexible: Pairs,
    /// What is left of the slopes of z₊ and z₋, and of the groups, with the opposite sign.
    slopes: Pairs,
    groups: Vec<DVec3>,
    /// A y.
    left: Vec<DVec3>,
    error: f64,
}

impl<'a> System<'a> {
    fn new(method: &'a Method<'a>, normal: &'a mut Normal) -> Self {
        let programme = &method.loose.programme;
        let mut groups = programme.apply_transposed(&method.multipliers).forces;
        let mut hessians = vec![DMat3::ZERO; groups.len()];
        let (mut flexible, mut slopes) = (Pairs::new(), Pairs::new());
        let (mut largest, mut error) = (1.0f64, 0.0f64);
        for (index, member) in method.members.iter().enumerate() {
            let own = method.slopes(index);
            hessians[member.group as usize] +=
                member.frame * DMat3::from_diagonal(own.stiffness) * member.frame.transpose();
            groups[member.group as usize] -= member.frame * own.slope;
            largest = largest.max(own.largest);
            error = error.max(own.rest[0].abs()).max(own.rest[1].abs());
            flexible.push(own.flexible);
            slopes.push(own.rest);
        }
        let pairs = method.values.balls.par_iter().zip(&method.duals.balls).with_min_len(256);
        let scalings: Vec<Scaling> = pairs.map(|(t, k)| Scaling::new(t, k)).collect();
        for (((m, ball), scaling), dual) in method.balls.iter().zip(&scalings).zip(&method.duals.balls) {
            let member = &method.members[*m as usize];
            let added = stiffness(ball, scaling);
            hessians[member.group as usize] += member.frame * added * member.frame.transpose();
            groups[member.group as usize] += member.frame * ball.pull(dual);
        }
        error = groups.iter().fold(error, |error, rest| error.max(rest.abs().max_element()));
        let inverses: Vec<DMat3> = hessians.iter().map(DMat3::inverse).collect();
        let inverse = Inverse { roots: inverses.iter().map(root).collect(), groups: inverses };
        normal.factor(programme, &inverse);
        let left = programme.apply(&unknowns(programme, method.more.clone()));
        Self { method, normal, inverse, scalings, flexible, slopes, groups, left, error: error / largest }
    }

    /// The direction towards complementarity `target`, with the second-order terms of a guess.
    fn direction(&self, guess: Option<&Direction>, target: f64) -> Direction {
        let method = self.method;
        let programme = &method.loose.programme;
        let wanted = self.wanted(guess, target);
        let mut groups = self.groups.clone();
        let mut slopes = self.slopes.clone();
        for (index, member) in method.members.iter().enumerate() {
            let (d, wanted, r) = (&self.flexible[index], &wanted.pairs[index], &mut slopes[index]);
            let pull = match member.least {
                Some(least) => wanted[0] + d[0] * method.left * least.by,
                None => {
                    *r = [r[0] + wanted[0], r[1] + wanted[1]];
                    (d[0] * r[0] - d[1] * r[1]) / (d[0] + d[1])
                }
            };
            groups[member.group as usize] += member.frame.x_axis * pull;
        }
        for (((m, ball), scaling), wanted) in method.balls.iter().zip(&self.scalings).zip(&wanted.balls) {
            let member = &method.members[*m as usize];
            let falls = ball.change(DVec3::ZERO, method.left);
            let pull = ball.pull(wanted) - ball.pull(&scaling.backward(&scaling.backward(&falls)));
            groups[member.group as usize] += member.frame * pull;
        }
        let mut nodes = programme.apply(&unknowns(programme, self.eliminated(&groups)));
        nodes.iter_mut().zip(&self.left).for_each(|(node, left)| *node = -*left - *node);
        let product = |v: &[DVec3]| {
            let back = programme.apply_transposed(v).forces;
            programme.apply(&unknowns(programme, self.eliminated(&back)))
        };
        let multipliers = refined(programme, self.normal, product, &nodes, REFINEMENTS, ENOUGH);
        let back = programme.apply_transposed(&multipliers).forces;
        groups.iter_mut().zip(&back).for_each(|(group, back)| *group += *back);
        self.finished(wanted, &slopes, self.eliminated(&groups), multipliers)
    }

    fn eliminated(&self, groups: &[DVec3]) -> Vec<DVec3> {
        groups.iter().zip(&self.inverse.groups).map(|(group, inverse)| *inverse * *group).collect()
    }

    /// All that follows from the change of y.
    fn finished(
        &self,
        wanted: Blocks,
        slopes: &Pairs,
        more: Vec<DVec3>,
        multipliers: Vec<DVec3>,
    ) -> Direction {
        let method = self.method;
        let (mut pairs, mut duals, mut split) = (Pairs::new(), wanted, Vec::new());
        for (index, member) in method.members.iter().enumerate() {
            let (d, r) = (&self.flexible[index], &slopes[index]);
            let along = member.frame.x_axis.dot(more[member.group as usize]);
            if let Some(least) = member.least {
                let change = along - method.left * least.by;
                duals.pairs[index] = [duals.pairs[index][0] - d[0] * change, 0.0];
                pairs.push([change, 0.0]);
                split.push(0.0);
                continue;
            }
            let nu = (along - d[0] * r[0] + d[1] * r[1]) / (d[0] + d[1]);
            let change = [d[0] * (r[0] + nu), d[1] * (r[1] - nu)];
            for (at, change) in change.iter().enumerate() {
                let stiff = method.duals.pairs[index][at] / method.values.pairs[index][at];
                duals.pairs[index][at] -= stiff * change;
            }
            pairs.push(change);
            split.push(nu);
        }
        let change = |(m, ball): &(u32, Ball)| {
            let member = &method.members[*m as usize];
            ball.change(member.frame.transpose() * more[member.group as usize], method.left)
        };
        let balls: Vec<Point> = method.balls.iter().map(change).collect();
        for ((dual, change), scaling) in duals.balls.iter_mut().zip(&balls).zip(&self.scalings) {
            advance(dual, -1.0, &scaling.backward(&scaling.backward(change)));
        }
        Direction { values: Blocks { pairs, balls }, duals, split, more, multipliers }
    }

    /// What the duals change by where the values stay.
    fn wanted(&self, guess: Option<&Direction>, target: f64) -> Blocks {
        let method = self.method;
        let pair = |(index, member): (usize, &Member)| {
            let one = |at: usize| {
                let second = guess.map_or(0.0, |g| g.values.pairs[index][at] * g.duals.pairs[index][at]);
                (target - second) / method.values.pairs[index][at] - method.duals.pairs[index][at]
            };
            [one(0), if member.least.is_some() { 0.0 } else { one(1) }]
        };
        let ball = |(index, scaling): (usize, &Scaling)| {
            let second = guess.map(|g| (&g.values.balls[index], &g.duals.balls[index]));
            scaling.towards(second, target)
        };
        Blocks {
            pairs: method.members.iter().enumerate().map(pair).collect(),
            balls: self.scalings.par_iter().enumerate().with_min_len(256).map(ball).collect(),
        }
    }
}

/// What a ball adds to the second derivative with respect to the force of its segment.
fn stiffness(ball: &Ball, scaling: &Scaling) -> DMat3 {
    let w = scaling.inverse_square();
    let column = |j: usize| DVec3::new(w[1][j], w[2][j], w[3][j]) * ball.parts * ball.parts[j - 1];
    DMat3::from_cols(column(1), column(2), column(3))
}

fn unknowns(programme: &Programme, forces: Vec<DVec3>) -> Unknowns {
    Unknowns { forces, stresses: vec![[0.0; 6]; programme.free.len()] }
}

/// The lower root R of a positive matrix: R Rᵀ.
fn root(m: &DMat3) -> DMat3 {
    let a = m.x_axis.x.sqrt();
    let (b, c) = (m.x_axis.y / a, m.x_axis.z / a);
    let d = (m.y_axis.y - b * b).max(1e-14 * m.y_axis.y).sqrt();
    let e = (m.y_axis.z - b * c) / d;
    let f = (m.z_axis.z - c * c - e * e).max(1e-14 * m.z_axis.z).sqrt();
    DMat3::from_cols(DVec3::new(a, b, c), DVec3::new(0.0, d, e), DVec3::new(0.0, 0.0, f))
}
