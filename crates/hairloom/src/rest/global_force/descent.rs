//! Strands carry each other: the objective is lowered from strands that carry themselves, with nodes at rest all the way.
//!
//! # Theory
//!
//! Nodes add up what particles feel, so strands carry each other on the grid, and pressures c of particles help. What of the programme is [`Loose`] then
//! reads: least φ(f + y) + w_d |c|² with A y + G c = 0 and c ≥ 0, f the forces of strands that carry themselves and φ smooth but for the kink of
//! [`Price`](super::price::Price). Conjugate gradients (Polak and Ribière) with exact steps along each direction; slopes g become directions by H, one
//! number for each segment:
//!
//!   H z = g − Aᵀ λ,   A z = 0,   hence   K λ = A H⁻¹ g   with   K = A H⁻¹ Aᵀ.
//!
//! Forces answer to pressures by y = −H⁻¹ Aᵀ K⁻¹ G c, beside what they do on their own: so the slope along pressures is 2 w_d c − Gᵀ λ, and their
//! curvature 2 w_d + Gᵀ K⁻¹ G, of which a diagonal is guessed.
//!
//! # In practice
//!
//! - H is the mean of the second derivative over the directions, so K has one number for each pair of nodes ([`Coupling`]); it is factored a few times in
//!   all. Prices differ by ten, not by thousands, because each force is counted over what its segment carries alone: that is why ten or twenty iterations
//!   find nearly everything, and some hundred the last hundredth and the limit of forces.
//! - Pressures join in where forces alone have nothing more to gain. Until the price of forces above the limit is known again that may cost more than it
//!   gains: what forces came to alone is kept until the end.
//! - Pressures that a step would make tensions become none, and forces answer to that; then the way there is a direction of its own, with an exact step.
//! - Every point leaves nodes at rest but for rounding, which is taken away at the end of each round. It may be stopped at any moment; as much of
//!   what is found then is taken as keeps all forces below the largest of strands that carry themselves.

use std::time::Instant;

use glam::DVec3;
use rayon::prelude::*;

use super::coupling::Coupling;
use super::loose::Loose;
use super::pressure::Pressures;
use super::programme::{NONE, Programme, Unknowns};
use crate::math::Random;

/// Iterations after which the answer is taken as it is.
const MOST_ITERATIONS: usize = 400;
/// How much of the objective a direction may promise where the method ends.
const GAIN: f64 = 3e-3;
/// Iterations between two looks at the excess of forces: at least, where there is little to gain, and at most.
const ROUND: [usize; 2] = [5, 12];
/// H is found anew after each of the first rounds, then now and then.
const FIRST_ROUNDS: usize = 3;
const LATER_ROUNDS: usize = 5;
/// A step along a direction ends at a slope of so much of the first one, or after so many trials.
const FLAT: f64 = 0.02;
const TRIALS: usize = 12;
/// The largest acceleration that may be left at a node, in units of gravity.
const REST: f64 = 8e-5;
/// How often rows of the curvature along pressures are made equally long, and how many pressures are tried each time.
const LEVELLINGS: usize = 4;
const PROBES: usize = 4;
/// Segments that are summed at a time: sums have the same bits on any number of threads.
const CHUNK: usize = 2048;

/// When to stop at the latest.
#[derive(Debug, Clone, Copy)]
pub(super) enum Until {
    /// At this moment.
    Time(Instant),
    /// After so many iterations.
    #[cfg(test)]
    Iterations(usize),
}

impl Until {
    fn is_over(self, iterations: usize) -> bool {
        match self {
            Self::Time(time) => iterations == MOST_ITERATIONS || Instant::now() >= time,
            #[cfg(test)]
            Self::Iterations(most) => iterations == most,
        }
    }
}

/// Lowers the objective from `start`, strands that carry themselves; gives the point found and the iterations.
pub(super) fn solve(whole: &Programme, start: &Unknowns, until: Until) -> (Unknowns, usize) {
    if until.is_over(0) {
        return (start.clone(), 0);
    }
    let loose = Loose::new(whole);
    if loose.members.is_empty() {
        return (start.clone(), 0);
    }
    let mut method = Descent::new(whole, &loose, start);
    let mut iterations = 0;
    let mut outlook = Outlook::Open;
    while outlook == Outlook::Open && !until.is_over(iterations) {
        outlook = method.iterate();
        iterations += 1;
    }
    let (found, objective) = (method.answer(), |point: &Unknowns| whole.objective(point));
    match method.alone {
        Some(alone) if objective(&alone) < objective(&found) => (alone, iterations),
        _ => (found, iterations),
    }
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outlook {
    Open,
    Done,
}

/// A point on its way.
struct Descent<'a> {
    whole: &'a Programme,
    loose: &'a Loose,
    start: &'a Unknowns,
    pressures: Pressures<'a>,
    /// Forces of strands that carry themselves, in world axes.
    own: Vec<DVec3>,
    /// The group of each segment, or none.
    groups: Vec<u32>,
    /// y and c.
    more: Change,
    /// μ, of each segment.
    multipliers: Vec<f64>,
    /// H, of each group.
    stiffness: Vec<f64>,
    /// The curvature along the pressure of each particle, about.
    hardness: Vec<f64>,
    /// What forces came to alone, once pressures have joined in.
    alone: Option<Unknowns>,
    coupling: Coupling,
    /// The last direction, and the slope there with its size; none at the start of a round.
    last: Option<Last>,
    rounds: usize,
    /// Iterations in this round.
    within: usize,
}

/// Forces of groups and pressures of particles: a point, a slope or a direction. Directions and slopes have forces alone that leave nodes at rest, or act on such:
/// what answers to pressures is added by [`Descent::answered`].
#[derive(Clone)]
struct Change {
    forces: Vec<DVec3>,
    pressures: Vec<f64>,
}

impl Change {
    fn dot(&self, other: &Self) -> f64 {
        dot(&self.forces, &other.forces)
            + self.pressures.iter().zip(&other.pressures).map(|(a, b)| a * b).sum::<f64>()
    }

    fn add(&mut self, other: &Self, part: f64) {
        self.forces.iter_mut().zip(&other.forces).for_each(|(own, other)| *own += *other * part);
        self.pressures.iter_mut().zip(&other.pressures).for_each(|(own, other)| *own += *other * part);
    }

    fn times(mut self, factor: f64) -> Self {
        self.forces.iter_mut().for_each(|force| *force *= factor);
        self.pressures.iter_mut().for_each(|pressure| *pressure *= factor);
        self
    }
}

struct Last {
    direction: Change,
    slope: Change,
    size: f64,
}

impl<'a> Descent<'a> {
    fn new(whole: &'a Programme, loose: &'a Loose, start: &'a Unknowns) -> Self {
        let mut groups = vec![NONE; whole.segments.len()];
        for (group, members) in (0..).zip(&loose.members) {
            members.iter().for_each(|&segment| groups[segment as usize] = group);
        }
        let pressures = Pressures::new(&loose.programme);
        let pressures_count = pressures.count();
        let mut method = Self {
            whole,
            loose,
            start,
            own: whole.in_world(&start.forces),
            multipliers: vec![0.0; groups.len()],
            groups,
            more: Change {
                forces: vec![DVec3::ZERO; loose.members.len()],
                pressures: vec![0.0; pressures_count],
            },
            pressures,
            stiffness: Vec::new(),
            hardness: vec![1.0; pressures_count],
            alone: None,
            coupling: Coupling::new(&loose.programme),
            last: None,
            rounds: 0,
            within: 0,
        };
        method.factor();
        method
    }

    /// A value of each group, for each segment.
    fn of_segments(&self, groups: &[DVec3]) -> Vec<DVec3> {
        self.groups.iter().map(|&group| groups.get(group as usize).copied().unwrap_or(DVec3::ZERO)).collect()
    }

    /// The sum over the segments of each group.
    fn of_groups<T: Copy + Default + std::ops::AddAssign>(&self, segments: &[T]) -> Vec<T> {
        let mut sums = vec![T::default(); self.more.forces.len()];
        for (value, &group) in segments.iter().zip(&self.groups).filter(|(_, group)| **group != NONE) {
            sums[group as usize] += *value;
        }
        sums
    }

    /// Forces in world axes.
    fn forces(&self) -> Vec<DVec3> {
        let more = self.of_segments(&self.more.forces);
        self.own.iter().zip(&more).map(|(own, more)| *own + *more).collect()
    }

    /// Vectors in world axes along the frames of their segments.
    fn in_frames(&self, vectors: &[DVec3]) -> Vec<DVec3> {
        let segments = self.whole.segments.iter().zip(vectors);
        segments.map(|(segment, vector)| segment.frame.transpose() * *vector).collect()
    }

    /// Finds H and its factors at this point.
    fn factor(&mut self) {
        let (price, forces) = (&self.whole.price, self.in_frames(&self.forces()));
        let mut curvatures = self.whole.moments.mean_curvatures();
        for (index, curvature) in curvatures.iter_mut().enumerate() {
            let carried = self.whole.segments[index].carried;
            *curvature += price.mean_curvature(forces[index], carried, self.multipliers[index]);
        }
        self.stiffness = self.of_groups(&curvatures);
        self.coupling.factor(&self.loose.programme, &self.stiffness);
        if self.alone.is_some() {
            self.harden();
        }
        self.last = None;
    }

    /// Guesses the curvature along pressures: 2 w_d, and numbers that make rows of Gᵀ K⁻¹ G about equally long, which pressures of random signs tell. Pressures
    /// at light nodes, which hardly any force can hold, are a million times as hard as others.
    fn harden(&mut self) {
        let mut hardness = self.pressures.squares(&self.coupling.diagonal);
        let mut random = Random::new(0);
        for _ in 0..LEVELLINGS {
            let mut squares = vec![0.0; hardness.len()];
            for _ in 0..PROBES {
                let mut sign = || f64::from(random.signed()).signum();
                let probe: Vec<f64> =
                    hardness.iter().map(|&h| if h > 0.0 { sign() / h.sqrt() } else { 0.0 }).collect();
                let mut nodes = self.pressures.pushed(&probe);
                self.coupling.solve(&mut nodes);
                let felt = self.pressures.felt(&nodes);
                squares.iter_mut().zip(&felt).for_each(|(sum, felt)| *sum += felt * felt / PROBES as f64);
            }
            let rows = hardness.iter_mut().zip(&squares).filter(|(h, _)| **h > 0.0);
            rows.for_each(|(h, square)| *h *= (square / *h).sqrt());
        }
        let alone = 2.0 * self.whole.price.weights.hydrostatic;
        self.hardness = hardness.iter().map(|h| alone + h).collect();
    }

    /// H⁻¹ `slope`.
    fn yielding(&self, slope: &[DVec3]) -> Vec<DVec3> {
        slope.iter().zip(&self.stiffness).map(|(slope, h)| *slope / *h).collect()
    }

    /// The least change of forces that does to the nodes what is asked for, K⁻¹ times which is given: H⁻¹ Aᵀ λ.
    fn answer_of(&self, nodes: &[DVec3]) -> Vec<DVec3> {
        self.yielding(&self.loose.programme.apply_forces_transposed(nodes))
    }

    /// The change of forces that leaves nodes at rest and is nearest to H⁻¹ `slope`, and λ.
    fn at_rest(&self, slope: &[DVec3]) -> (Vec<DVec3>, Vec<DVec3>) {
        let mut change = self.yielding(slope);
        let mut nodes = self.loose.programme.apply_forces(&change);
        self.coupling.solve(&mut nodes);
        change.iter_mut().zip(self.answer_of(&nodes)).for_each(|(change, back)| *change -= back);
        (change, nodes)
    }

    /// A change of pressures with what forces answer.
    fn answered(&self, mut change: Change) -> Change {
        let mut nodes = self.pressures.pushed(&change.pressures);
        self.coupling.solve(&mut nodes);
        change.forces.iter_mut().zip(self.answer_of(&nodes)).for_each(|(force, back)| *force -= back);
        change
    }

    /// One step along one direction.
    fn iterate(&mut self) -> Outlook {
        let forces = self.forces();
        let frames = self.in_frames(&forces);
        let moments = self.whole.moments.of(&forces);
        let along_forces = self.slope(&frames, &moments);
        let (down, nodes) = self.at_rest(&along_forces);
        let slope = Change { forces: along_forces, pressures: self.pressure_slope(&nodes) };
        let pressures = slope.pressures.iter().zip(&self.hardness).map(|(slope, h)| slope / h).collect();
        let steepest = Change { forces: down, pressures };
        let size = slope.dot(&steepest);
        let direction = self.direction(&steepest, &slope, size);
        let change = self.answered(direction.clone());
        let step = Line::new(self, &frames, &moments, &change).least();
        let change = change.times(step);
        match self.allowed(&change) {
            None => self.more.add(&change, 1.0),
            Some(change) => {
                let step = Line::new(self, &frames, &moments, &change).least().clamp(0.0, 1.0);
                self.more.add(&change, step);
            }
        }
        self.last = Some(Last { direction, slope, size });
        self.within += 1;
        self.look(size)
    }

    /// The derivative with respect to pressures, forces answering; none where a pressure is none and would become a tension.
    fn pressure_slope(&self, nodes: &[DVec3]) -> Vec<f64> {
        if self.alone.is_none() {
            return vec![0.0; self.pressures.count()];
        }
        let price = 2.0 * self.whole.price.weights.hydrostatic;
        let felt = self.pressures.felt(nodes);
        let each = self.more.pressures.iter().zip(&felt);
        each.map(|(&pressure, felt)| {
            let slope = price * pressure - felt;
            if pressure > 0.0 || slope < 0.0 { slope } else { 0.0 }
        })
        .collect()
    }

    /// A change without what would make pressures tensions, forces answering; none where there is no such thing.
    fn allowed(&self, change: &Change) -> Option<Change> {
        let each = self.more.pressures.iter().zip(&change.pressures);
        let beyond: Vec<f64> = each.map(|(pressure, change)| (-pressure - change).max(0.0)).collect();
        if beyond.iter().all(|beyond| *beyond == 0.0) {
            return None;
        }
        let none = vec![DVec3::ZERO; change.forces.len()];
        let mut allowed = self.answered(Change { forces: none, pressures: beyond });
        allowed.add(change, 1.0);
        // What becomes none is none to the last bit.
        for ((to, own), wanted) in
            allowed.pressures.iter_mut().zip(&self.more.pressures).zip(&change.pressures)
        {
            *to = if own + wanted < 0.0 { -own } else { *wanted };
        }
        Some(allowed)
    }

    /// The derivative of the objective with respect to the groups.
    fn slope(&self, frames: &[DVec3], moments: &[DVec3]) -> Vec<DVec3> {
        let price = &self.whole.price;
        let segments = self.whole.segments.par_iter().zip(frames).zip(&self.multipliers).with_min_len(CHUNK);
        let mut slope: Vec<DVec3> = segments
            .map(|((segment, force), mu)| segment.frame * price.gradient(*force, segment.carried, *mu))
            .collect();
        self.whole.moments.add_gradient(moments, &mut slope);
        self.of_groups(&slope)
    }

    /// The next direction: down, and on along the last one as far as that still helps.
    fn direction(&self, steepest: &Change, slope: &Change, size: f64) -> Change {
        let down = || steepest.clone().times(-1.0);
        let Some(last) = &self.last else { return down() };
        let part = (size - last.slope.dot(steepest)) / last.size;
        let mut mixed = down();
        mixed.add(&last.direction, part);
        let pressures = mixed.pressures.iter_mut().zip(&self.more.pressures).zip(&slope.pressures);
        // What is none stays so where it would become a tension.
        pressures
            .filter(|((_, own), slope)| **own == 0.0 && **slope == 0.0)
            .for_each(|((to, _), _)| *to = 0.0);
        if part > 0.0 && mixed.dot(slope) < 0.0 { mixed } else { down() }
    }

    /// The point of the whole programme, with these forces of groups.
    fn point(&self, forces: &[DVec3]) -> Unknowns {
        self.loose.whole(self.start, forces, &self.more.pressures, self.whole)
    }

    /// Looks at what there is to gain, and ends a round where that is little or enough was done.
    fn look(&mut self, size: f64) -> Outlook {
        let point = self.point(&self.more.forces);
        let is_flat = 0.5 * size < GAIN * self.whole.objective(&point);
        if self.within < ROUND[usize::from(!is_flat)] {
            return Outlook::Open;
        }
        let price = self.whole.price;
        let excess = point.forces.iter().map(|force| price.excess(*force)).fold(0.0, f64::max);
        let is_done = is_flat && excess <= 1.0 - price.weights.limit;
        if is_done && self.alone.is_some() {
            return Outlook::Done;
        }
        let all = self.multipliers.iter_mut().zip(&point.forces);
        all.for_each(|(mu, force)| *mu = price.next_multiplier(*force, *mu));
        self.rounds += 1;
        self.within = 0;
        self.last = None;
        if is_done {
            self.alone = Some(self.answer());
            self.rounds = 0;
        }
        if self.rounds <= FIRST_ROUNDS || self.rounds.is_multiple_of(LATER_ROUNDS) {
            self.factor();
        }
        self.more.forces = self.rested();
        Outlook::Open
    }

    /// y without what rounding left at the nodes.
    fn rested(&self) -> Vec<DVec3> {
        let mut nodes = self.loose.programme.apply_forces(&self.more.forces);
        let pushed = self.pressures.pushed(&self.more.pressures);
        nodes.iter_mut().zip(&pushed).for_each(|(node, pushed)| *node += *pushed);
        self.coupling.solve(&mut nodes);
        let all = self.more.forces.iter().zip(self.answer_of(&nodes));
        all.map(|(more, back)| *more - back).collect()
    }

    /// The point of the whole programme: as much of this one as leaves nodes at rest and no force above the largest of strands that carry
    /// themselves.
    fn answer(&self) -> Unknowns {
        let (start, point) = (self.start, self.point(&self.rested()));
        let restless = self.whole.worst(&self.whole.residual(&point));
        let largest = self.whole.price.largest;
        let each = start.forces.iter().zip(&point.forces);
        let reach = each.map(|(own, found)| reach(*own, *found - *own, largest)).fold(1.0, f64::min);
        start.towards(&point, reach.min(REST / restless))
    }
}

/// How much of `more` may be added to a force that is no larger than `most`, so that it stays so; at most all.
fn reach(force: DVec3, more: DVec3, most: f64) -> f64 {
    if (force + more).length_squared() <= most * most {
        return 1.0;
    }
    let (a, b) = (more.length_squared(), force.dot(more));
    let c = (most * most - force.length_squared()).max(0.0);
    ((b * b + a * c).sqrt() - b) / a
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// The objective along a direction.
struct Line<'a, 'b> {
    method: &'a Descent<'b>,
    /// Forces and their changes along the frames of the segments.
    forces: &'a [DVec3],
    changes: Vec<DVec3>,
    /// Slope and curvature of what moments and pressures cost, at the start.
    even: [f64; 2],
}

impl<'a, 'b> Line<'a, 'b> {
    fn new(method: &'a Descent<'b>, forces: &'a [DVec3], moments: &[DVec3], change: &Change) -> Self {
        let world = method.of_segments(&change.forces);
        let turned = method.whole.moments.of(&world);
        let price = method.whole.price.weights.hydrostatic;
        let product = |other: &[DVec3], pressures: &[f64]| {
            let pressed: f64 = change.pressures.iter().zip(pressures).map(|(a, b)| a * b).sum();
            2.0 * (method.whole.moments.product(&turned, other) + price * pressed)
        };
        let even = [product(moments, &method.more.pressures), product(&turned, &change.pressures)];
        Self { method, forces, changes: method.in_frames(&world), even }
    }

    /// Slope and curvature after a step.
    fn at(&self, step: f64) -> [f64; 2] {
        let (whole, multipliers) = (self.method.whole, &self.method.multipliers);
        let chunk = |(index, changes): (usize, &[DVec3])| {
            let mut sums = [0.0; 2];
            for (segment, change) in (index * CHUNK..).zip(changes) {
                let force = self.forces[segment] + *change * step;
                let (carried, mu) = (whole.segments[segment].carried, multipliers[segment]);
                sums[0] += whole.price.gradient(force, carried, mu).dot(*change);
                sums[1] += whole.price.curvature(force, *change, carried, mu);
            }
            sums
        };
        let sums: Vec<[f64; 2]> = self.changes.par_chunks(CHUNK).enumerate().map(chunk).collect();
        let [slope, curvature] = self.even;
        sums.iter()
            .fold([slope + step * curvature, curvature], |sum, part| [sum[0] + part[0], sum[1] + part[1]])
    }

    /// The step to the least value: Newton's method, between steps known to be too short and too long.
    fn least(&self) -> f64 {
        let [first, curvature] = self.at(0.0);
        let (mut low, mut high, mut step) = (0.0, f64::INFINITY, -first / curvature);
        for _ in 0..TRIALS {
            let [slope, curvature] = self.at(step);
            if slope.abs() < FLAT * first.abs() {
                break;
            }
            if slope < 0.0 {
                low = step;
            } else {
                high = step;
            }
            let next = step - slope / curvature;
            step = if low < next && next < high { next } else { 0.5 * (low + high.min(4.0 * low + 1.0)) };
        }
        step
    }
}
