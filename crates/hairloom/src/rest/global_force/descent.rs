//! Strands carry each other: the objective is lowered from strands that carry themselves, with nodes at rest all the way.
//!
//! # Theory
//!
//! Nodes add up what particles feel, so strands carry each other on the grid without any stress. What of the programme is [`Loose`] then reads: least φ(f + y)
//! with A y = 0, f the forces of strands that carry themselves and φ smooth but for the kink of [`Price`](super::price::Price). Conjugate gradients
//! (Polak and Ribière) with exact steps along each direction; slopes g become directions by H, one number for each segment:
//!
//!   H z = g − Aᵀ λ,   A z = 0,   hence   A H⁻¹ Aᵀ λ = A H⁻¹ g.
//!
//! # In practice
//!
//! - H is the mean of the second derivative over the directions, so A H⁻¹ Aᵀ has one number for each pair of nodes ([`Coupling`]); it is factored a few times in
//!   all. Prices differ by ten, not by thousands, because each force is counted over what its segment carries alone: that is why ten or twenty iterations
//!   find nearly everything, and some hundred the last hundredth and the limit of forces.
//! - Every point leaves nodes at rest but for rounding, which is taken away at the end of each round. It may be stopped at any moment; as much of
//!   what is found then is taken as keeps all forces below the largest of strands that carry themselves.

use std::time::Instant;

use glam::DVec3;
use rayon::prelude::*;

use super::coupling::Coupling;
use super::loose::Loose;
use super::programme::{NONE, Programme, Unknowns};

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
    (method.answer(start), iterations)
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
    /// Forces of strands that carry themselves, in world axes.
    own: Vec<DVec3>,
    /// The group of each segment, or none.
    groups: Vec<u32>,
    /// y, of each group.
    more: Vec<DVec3>,
    /// μ, of each segment.
    multipliers: Vec<f64>,
    /// H, of each group.
    stiffness: Vec<f64>,
    coupling: Coupling,
    /// The last direction, and the slope of the groups there with its size; none at the start of a round.
    last: Option<Last>,
    rounds: usize,
    /// Iterations in this round.
    within: usize,
}

struct Last {
    direction: Vec<DVec3>,
    slope: Vec<DVec3>,
    size: f64,
}

impl<'a> Descent<'a> {
    fn new(whole: &'a Programme, loose: &'a Loose, start: &Unknowns) -> Self {
        let mut groups = vec![NONE; whole.segments.len()];
        for (group, members) in (0..).zip(&loose.members) {
            members.iter().for_each(|&segment| groups[segment as usize] = group);
        }
        let mut method = Self {
            whole,
            loose,
            own: whole.in_world(&start.forces),
            multipliers: vec![0.0; groups.len()],
            groups,
            more: vec![DVec3::ZERO; loose.members.len()],
            stiffness: Vec::new(),
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
        let mut sums = vec![T::default(); self.more.len()];
        for (value, &group) in segments.iter().zip(&self.groups).filter(|(_, group)| **group != NONE) {
            sums[group as usize] += *value;
        }
        sums
    }

    /// Forces in world axes.
    fn forces(&self) -> Vec<DVec3> {
        let more = self.of_segments(&self.more);
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
        self.last = None;
    }

    /// The change of forces that leaves nodes at rest and is nearest to H⁻¹ `slope`.
    fn at_rest(&self, slope: &[DVec3]) -> Vec<DVec3> {
        let programme = &self.loose.programme;
        let flexible = |slope: &[DVec3]| -> Vec<DVec3> {
            slope.iter().zip(&self.stiffness).map(|(slope, h)| *slope / *h).collect()
        };
        let mut change = flexible(slope);
        let mut nodes = programme.apply_forces(&change);
        self.coupling.solve(&mut nodes);
        let back = flexible(&programme.apply_forces_transposed(&nodes));
        change.iter_mut().zip(&back).for_each(|(change, back)| *change -= *back);
        change
    }

    /// One step along one direction.
    fn iterate(&mut self) -> Outlook {
        let forces = self.forces();
        let frames = self.in_frames(&forces);
        let moments = self.whole.moments.of(&forces);
        let slope = self.slope(&frames, &moments);
        let steepest = self.at_rest(&slope);
        let size = dot(&slope, &steepest);
        let direction = self.direction(&steepest, &slope, size);
        let line = Line::new(self, &frames, &moments, &direction);
        let step = line.least();
        self.more.iter_mut().zip(&direction).for_each(|(more, by)| *more += *by * step);
        self.last = Some(Last { direction, slope, size });
        self.within += 1;
        self.look(size)
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
    fn direction(&self, steepest: &[DVec3], slope: &[DVec3], size: f64) -> Vec<DVec3> {
        let down = || steepest.iter().map(|z| -*z).collect();
        let Some(last) = &self.last else { return down() };
        let part = (size - dot(&last.slope, steepest)) / last.size;
        let mixed: Vec<DVec3> = last.direction.iter().zip(steepest).map(|(d, z)| *d * part - *z).collect();
        if part > 0.0 && dot(&mixed, slope) < 0.0 { mixed } else { down() }
    }

    /// Looks at what there is to gain, and ends a round where that is little or enough was done.
    fn look(&mut self, size: f64) -> Outlook {
        let forces = self.in_frames(&self.forces());
        let point = Unknowns { forces, stresses: vec![[0.0; 6]; self.whole.free.len()] };
        let is_flat = 0.5 * size < GAIN * self.whole.objective(&point);
        if self.within < ROUND[usize::from(!is_flat)] {
            return Outlook::Open;
        }
        let price = self.whole.price;
        let excess = point.forces.iter().map(|force| price.excess(*force)).fold(0.0, f64::max);
        if is_flat && excess <= 1.0 - price.weights.limit {
            return Outlook::Done;
        }
        let all = self.multipliers.iter_mut().zip(&point.forces);
        all.for_each(|(mu, force)| *mu = price.next_multiplier(*force, *mu));
        self.rounds += 1;
        self.within = 0;
        self.last = None;
        if self.rounds <= FIRST_ROUNDS || self.rounds.is_multiple_of(LATER_ROUNDS) {
            self.factor();
        }
        self.more = self.rested();
        Outlook::Open
    }

    /// y without what rounding left at the nodes.
    fn rested(&self) -> Vec<DVec3> {
        let weighted: Vec<DVec3> =
            self.more.iter().zip(&self.stiffness).map(|(more, h)| *more * *h).collect();
        self.at_rest(&weighted)
    }

    /// The point of the whole programme: as much of this one as leaves nodes at rest and no force above the largest of strands that carry
    /// themselves.
    fn answer(&self, start: &Unknowns) -> Unknowns {
        let point = self.loose.whole(start, &self.rested(), self.whole);
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
    /// Slope and curvature of what moments cost, at the start.
    moments: [f64; 2],
}

impl<'a, 'b> Line<'a, 'b> {
    fn new(method: &'a Descent<'b>, forces: &'a [DVec3], moments: &[DVec3], direction: &[DVec3]) -> Self {
        let world = method.of_segments(direction);
        let turned = method.whole.moments.of(&world);
        let product = |other: &[DVec3]| 2.0 * method.whole.moments.product(&turned, other);
        let moments = [product(moments), product(&turned)];
        Self { method, forces, changes: method.in_frames(&world), moments }
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
        let [slope, curvature] = self.moments;
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
