//! Forces alone: the least objective without any stress, by an interior point method whose every iterate is feasible.
//!
//! # Theory
//!
//! Nodes add up what particles feel, so strands carry each other on the grid without any stress. What of the programme is [`Loose`] then reads: least
//!
//!   Σ ½ (P₊ z₊² + P₋ z₋² + P_b |zᵗ|²) + q z₋   with   A y = 0,   z₊ − z₋ = f·n,   z± ≥ 0,
//!
//! where f is the force of a strand that carries itself and y of the group of the segment. Mehrotra's predictor and corrector; all unknowns but the nodes'
//! multipliers are eliminated, segment by segment and group by group.
//!
//! # In practice
//!
//! y = 0 is the start, and every direction leaves nodes at rest but for rounding, which the next one takes: each iterate is an answer, and the first three
//! or four gain most. Six to eight are all there are, as there are neither cones nor rows that others imply.

use std::time::Instant;

use glam::{DMat3, DVec3};

use super::at_rest::refined;
use super::loose::Loose;
use super::normal::{Normal, Roots};
use super::programme::{Programme, Unknowns};

/// z± at the start, over the root mean square of the strands' forces.
const FIRST: f64 = 0.6;
/// Iterations after which the answer is taken as it is.
const MOST_ITERATIONS: usize = 30;
/// How much of the objective may still be gained where the method ends.
const GAP: f64 = 1e-2;
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

/// z₊ and z₋ of each segment, their duals, or changes of these.
type Pairs = Vec<[f64; 2]>;

fn longest_step(values: &Pairs, direction: &Pairs) -> f64 {
    let all = values.as_flattened().iter().zip(direction.as_flattened());
    all.filter(|(_, d)| **d < 0.0).map(|(x, d)| -x / d).fold(1.0, f64::min)
}

fn advance(values: &mut [f64], step: f64, direction: &[f64]) {
    values.iter_mut().zip(direction).for_each(|(x, d)| *x += step * d);
}

/// Lowers the objective from strands that carry themselves until `seconds` of the clock; gives the best point and the iterations.
pub(super) fn solve(whole: &Programme, start: &Unknowns, clock: Instant, seconds: f64) -> (Unknowns, usize) {
    let loose = Loose::new(whole);
    let mut best = (whole.objective(start), start.clone());
    if loose.members.is_empty() {
        return (best.1, 0);
    }
    let mut normal = Normal::new(&loose.programme);
    let mut method = Method::new(whole, &loose, start);
    for iteration in 0..MOST_ITERATIONS {
        if clock.elapsed().as_secs_f64() > seconds || !method.iterate(&mut normal) {
            return (best.1, iteration);
        }
        let point = method.answer(start);
        let objective = whole.objective(&point);
        if objective < best.0 {
            best = (objective, point);
        }
        if method.gap() * whole.weights.bending < GAP * objective && method.error < SLOPE {
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
}

impl Member {
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
    /// P of z₊, z₋ and zᵗ.
    curvature: [f64; 3],
    /// y.
    more: Vec<DVec3>,
    values: Pairs,
    duals: Pairs,
    /// The multipliers of z₊ − z₋ = f·n.
    split: Vec<f64>,
    multipliers: Vec<DVec3>,
    /// Largest slope that nothing balances, relative to the largest.
    error: f64,
}

impl<'a> Method<'a> {
    fn new(whole: &'a Programme, loose: &'a Loose, start: &Unknowns) -> Self {
        let w = &whole.weights;
        let curvature = [w.tension, w.compression, w.bending].map(|weight| 2.0 * weight / w.bending);
        let member = |group: usize, s: u32| {
            let segment = &whole.segments[s as usize];
            let push = curvature[1] * w.bias * segment.strand_weight;
            Member { group: group as u32, frame: segment.frame, own: start.forces[s as usize], push }
        };
        let groups = loose.members.iter().enumerate();
        let members: Vec<Member> =
            groups.flat_map(|(group, all)| all.iter().map(move |&s| member(group, s))).collect();
        let squares: f64 = start.forces.iter().map(|force| force.length_squared()).sum();
        let size = FIRST * (squares / start.forces.len().max(1) as f64).sqrt();
        let values: Pairs =
            members.iter().map(|m| [m.own.x.max(0.0) + size, (-m.own.x).max(0.0) + size]).collect();
        Self {
            whole,
            loose,
            curvature,
            more: vec![DVec3::ZERO; loose.members.len()],
            duals: values.iter().map(|pair| pair.map(|z| size * size / z)).collect(),
            values,
            split: vec![0.0; members.len()],
            multipliers: vec![DVec3::ZERO; loose.programme.lattice.nodes()],
            members,
            error: f64::INFINITY,
        }
    }

    /// A feasible point of the whole programme: the iterate, mixed with the start as far as rounding asks for.
    fn answer(&self, start: &Unknowns) -> Unknowns {
        let point = self.loose.whole(start, &self.more, self.whole);
        let restless = self.whole.worst(&self.whole.residual(&point));
        start.towards(&point, (REST / restless).min(1.0))
    }

    /// How much the objective, in units of the weight of bending, may at most still fall.
    fn gap(&self) -> f64 {
        self.values.as_flattened().iter().zip(self.duals.as_flattened()).map(|(z, d)| z * d).sum()
    }

    /// One predictor and corrector. False where no step is possible.
    fn iterate(&mut self, normal: &mut Normal) -> bool {
        let system = System::new(self, normal);
        let mean = self.gap() / (2 * self.members.len()) as f64;
        let reach =
            |d: &Direction| longest_step(&self.values, &d.values).min(longest_step(&self.duals, &d.duals));
        let guess = system.direction(None, 0.0);
        let centering = (1.0 - reach(&guess)).powi(3).max(LEAST_CENTERING);
        let direction = system.direction(Some(&guess), centering * mean);
        let step = (NEARNESS * reach(&direction)).min(1.0);
        self.error = system.error;
        if !(step > 1e-9 && direction.multipliers.iter().all(|m| m.is_finite())) {
            return false;
        }
        advance(self.values.as_flattened_mut(), step, direction.values.as_flattened());
        advance(self.duals.as_flattened_mut(), step, direction.duals.as_flattened());
        advance(&mut self.split, step, &direction.split);
        let (more, nodes) = (self.more.iter_mut().zip(&direction.more), self.multipliers.iter_mut());
        more.chain(nodes.zip(&direction.multipliers)).for_each(|(to, by)| *to += *by * step);
        true
    }
}

/// A direction in all unknowns.
struct Direction {
    values: Pairs,
    duals: Pairs,
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
    /// Inverse curvatures of z₊ and z₋, with what their bounds add.
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
        let [tension, compression, bending] = method.curvature;
        let programme = &method.loose.programme;
        let mut groups = programme.apply_transposed(&method.multipliers).forces;
        let mut hessians = vec![DMat3::ZERO; groups.len()];
        let (mut flexible, mut slopes) = (Pairs::new(), Pairs::new());
        let (mut largest, mut error) = (1.0f64, 0.0f64);
        for (index, member) in method.members.iter().enumerate() {
            let (z, dual, split) = (&method.values[index], &method.duals[index], method.split[index]);
            let d = [1.0 / (tension + dual[0] / z[0]), 1.0 / (compression + dual[1] / z[1])];
            let force = member.force(&method.more);
            let stiff = DMat3::from_diagonal(DVec3::new(1.0 / (d[0] + d[1]), bending, bending));
            hessians[member.group as usize] += member.frame * stiff * member.frame.transpose();
            groups[member.group as usize] -=
                member.frame * DVec3::new(split, bending * force.y, bending * force.z);
            let pulls = [tension * z[0], compression * z[1] + member.push];
            let rest = [dual[0] + split - pulls[0], dual[1] - split - pulls[1]];
            largest = largest.max(pulls[0]).max(pulls[1]).max(bending * force.y.abs().max(force.z.abs()));
            error = error.max(rest[0].abs()).max(rest[1].abs());
            flexible.push(d);
            slopes.push(rest);
        }
        error = groups.iter().fold(error, |error, rest| error.max(rest.abs().max_element()));
        let inverses: Vec<DMat3> = hessians.iter().map(DMat3::inverse).collect();
        let inverse = Inverse { roots: inverses.iter().map(root).collect(), groups: inverses };
        normal.factor(programme, &inverse);
        let left = programme.apply(&unknowns(programme, method.more.clone()));
        Self { method, normal, inverse, flexible, slopes, groups, left, error: error / largest }
    }

    /// The direction towards complementarity `target`, with the second-order terms of a guess.
    fn direction(&self, guess: Option<&Direction>, target: f64) -> Direction {
        let method = self.method;
        let programme = &method.loose.programme;
        let wanted = self.wanted(guess, target);
        let mut groups = self.groups.clone();
        let mut slopes = self.slopes.clone();
        for (index, member) in method.members.iter().enumerate() {
            let (d, wanted, r) = (&self.flexible[index], &wanted[index], &mut slopes[index]);
            *r = [r[0] + wanted[0], r[1] + wanted[1]];
            let pull = (d[0] * r[0] - d[1] * r[1]) / (d[0] + d[1]);
            groups[member.group as usize] += member.frame.x_axis * pull;
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
        wanted: Pairs,
        slopes: &Pairs,
        more: Vec<DVec3>,
        multipliers: Vec<DVec3>,
    ) -> Direction {
        let method = self.method;
        let (mut values, mut duals, mut split) = (Pairs::new(), wanted, Vec::new());
        for (index, member) in method.members.iter().enumerate() {
            let (d, r) = (&self.flexible[index], &slopes[index]);
            let along = member.frame.x_axis.dot(more[member.group as usize]);
            let nu = (along - d[0] * r[0] + d[1] * r[1]) / (d[0] + d[1]);
            let change = [d[0] * (r[0] + nu), d[1] * (r[1] - nu)];
            for at in 0..2 {
                duals[index][at] -= method.duals[index][at] / method.values[index][at] * change[at];
            }
            values.push(change);
            split.push(nu);
        }
        Direction { values, duals, split, more, multipliers }
    }

    /// What the duals change by where the values stay.
    fn wanted(&self, guess: Option<&Direction>, target: f64) -> Pairs {
        let method = self.method;
        let pair = |index: usize| {
            std::array::from_fn(|at| {
                let second = guess.map_or(0.0, |g| g.values[index][at] * g.duals[index][at]);
                (target - second) / method.values[index][at] - method.duals[index][at]
            })
        };
        (0..method.members.len()).map(pair).collect()
    }
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
