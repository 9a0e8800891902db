//! Strands side by side, one per lane: what they are made of, where they are, and the way in and out.

use glam::{DQuat, DVec3};

use super::Params;
use crate::math::lanes::WIDTH;
use crate::math::{Pose, Stored};
use crate::rest::RestElement;
use crate::rod::cosserat::{bending_length, frames_along};
use crate::scene::{Model, State};
use crate::solve::packing::EMPTY;

/// One row of constants: a vertex, the segment behind it and the joint before that segment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Still<S> {
    /// Mean mass of the strand's vertices over that of this one; 0 where it is held, and behind the tip.
    pub weight: S,
    /// The same as the segment feels it; 0 where there is no segment.
    pub start: S,
    /// Rest length of the segment [m]; 1 where there is none.
    pub length: S,
    /// Rotation over the joint at rest.
    pub rest: [S; 4],
}

/// One row of what [`Timed`] is made of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Made<S> {
    /// One over the mean length of the strand's segments [1/m].
    pub inverse_mean: S,
    /// Compliance of the segment, m l₀ / EA with the mean mass m [s²].
    pub compliance: S,
    /// Mass times squared length of the segment over mean mass and squared mean length; 0 where it is held.
    pub mass: S,
    /// Stiffness K of the joint over mean mass and squared mean length [1/s²].
    pub bend: S,
}

/// One row of what moves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moving<S> {
    /// Position of the vertex, from the lane's origin [m].
    pub position: [S; 3],
    /// Velocity of the vertex [m/s].
    pub velocity: [S; 3],
    /// Frame of the segment.
    pub frame: [S; 4],
    /// Angular velocity of the segment, along the axes of the world [rad/s].
    pub spin: [S; 3],
    /// Force of the segment on the vertex towards the tip over the mean mass, in the last step [m/s²].
    pub force: [S; 3],
    /// Torque of joints and forces on the segment over mean mass and squared mean length, in the last step [1/s²].
    pub torque: [S; 3],
}

/// Constants that hang on the time step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Timed<S> {
    /// Compliance over the squared time step.
    pub compliance: S,
    /// Inertia of the segment over mean mass and squared mean length.
    pub inertia: S,
    /// One over that.
    pub slow: S,
    /// Length over squared mean length [1/m]: what a force at the ends, over the mean mass, turns the segment with.
    pub arm: S,
    /// Stiffness of the joint times the squared time step.
    pub bend: S,
}

/// Strands of nearly equal vertex counts.
#[derive(Debug, Clone)]
pub(super) struct Pack<S> {
    /// The strand of each lane, or [`EMPTY`].
    pub strands: [u32; WIDTH],
    /// Vertices of each strand.
    pub counts: [u32; WIDTH],
    pub still: Vec<Still<S>>,
    pub made: Vec<Made<S>>,
    pub moving: Vec<Moving<S>>,
    pub timed: Vec<Timed<S>>,
    /// The time step that `timed` is for [s].
    pub timed_for: f64,
    /// Rate at which each strand takes on the velocity of the air [1/s].
    pub drag: S,
    /// Frame that the first joint hangs on.
    pub clamp: [S; 4],
    /// World positions that the lanes count from [m]: of the first vertices at the start of a step.
    pub origins: [DVec3; WIDTH],
    /// Where held vertices are at the end of the step: lane, vertex, world position [m].
    pub targets: Vec<(u32, u32, DVec3)>,
    /// Frames of held segments at the end of the step: lane, segment, frame.
    pub frames: Vec<(u32, u32, DQuat)>,
    /// Velocity of the air at each vertex [m/s]; empty where it stands still.
    pub wind: Vec<[S; 3]>,
    /// Frames as groomed, for each lane.
    pub groomed: Vec<Vec<DQuat>>,
}

pub(super) fn get_vector<S: Stored>(stored: &[S; 3], lane: usize) -> DVec3 {
    DVec3::new(stored[0].get(lane), stored[1].get(lane), stored[2].get(lane))
}

pub(super) fn set_vector<S: Stored>(stored: &mut [S; 3], lane: usize, value: DVec3) {
    for (stored, value) in stored.iter_mut().zip(value.to_array()) {
        stored.set(lane, value);
    }
}

pub(super) fn get_frame<S: Stored>(stored: &[S; 4], lane: usize) -> DQuat {
    DQuat::from_xyzw(stored[0].get(lane), stored[1].get(lane), stored[2].get(lane), stored[3].get(lane))
}

pub(super) fn set_frame<S: Stored>(stored: &mut [S; 4], lane: usize, value: DQuat) {
    for (stored, value) in stored.iter_mut().zip(value.to_array()) {
        stored.set(lane, value);
    }
}

impl<S: Stored> Pack<S> {
    /// Strands of which vertices are held as `held` tells for each vertex of the model, and roots that alone are held are clamped.
    pub(super) fn new(model: &Model, group: &[u32], held: &[bool], params: &Params) -> Self {
        let rows = group.iter().map(|&strand| model.range(strand as usize).len()).max().unwrap_or(0);
        let mut unit = [S::default(); 4];
        unit[3] = S::splat(1.0);
        let still = Still { length: S::splat(1.0), rest: unit, ..Still::default() };
        let made = Made { compliance: S::splat(1.0), ..Made::default() };
        let mut pack = Self {
            strands: [EMPTY; WIDTH],
            counts: [0; WIDTH],
            still: vec![still; rows],
            made: vec![made; rows],
            moving: vec![Moving { frame: unit, ..Moving::default() }; rows],
            timed: vec![Timed::default(); rows],
            timed_for: 0.0,
            drag: S::default(),
            clamp: unit,
            origins: [DVec3::ZERO; WIDTH],
            targets: Vec::new(),
            frames: Vec::new(),
            wind: Vec::new(),
            groomed: Vec::new(),
        };
        for (lane, &strand) in group.iter().enumerate() {
            pack.strands[lane] = strand;
            pack.counts[lane] = model.range(strand as usize).len() as u32;
            pack.drag.set(lane, model.material(strand as usize).drag);
            pack.set_still(model, strand as usize, lane, held, params);
        }
        pack
    }

    /// Lanes that hold a strand.
    pub(super) fn lanes(&self) -> impl Iterator<Item = (usize, usize)> + use<S> {
        self.strands.into_iter().enumerate().filter(|&(_, s)| s != EMPTY).map(|(lane, s)| (lane, s as usize))
    }

    /// How many vertices the strands have together.
    pub(super) fn points(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).sum()
    }

    /// Lane and row of every vertex, strand after strand.
    pub(super) fn vertices(&self) -> impl Iterator<Item = (usize, usize)> + use<S> {
        let counts = self.counts;
        self.lanes().flat_map(move |(lane, _)| (0..counts[lane] as usize).map(move |vertex| (lane, vertex)))
    }

    /// Moves a strand rigidly from one pose to another, with all its forces.
    pub(super) fn carry(&mut self, lane: usize, before: &Pose, after: &Pose) {
        let turn = (after.rotation * before.rotation.conjugate()).normalize();
        self.origins[lane] = after.apply(before.apply_inverse(self.origins[lane]));
        let clamp = turn * get_frame(&self.clamp, lane);
        set_frame(&mut self.clamp, lane, clamp);
        for row in &mut self.moving[..self.counts[lane] as usize] {
            let Moving { position, velocity, frame, spin, force, torque } = row;
            for vector in [position, velocity, spin, force, torque] {
                let turned = turn * get_vector(vector, lane);
                set_vector(vector, lane, turned);
            }
            let turned = turn * get_frame(frame, lane);
            set_frame(frame, lane, turned);
        }
    }

    /// Masses, stiffnesses and natural shape of one strand.
    fn set_still(&mut self, model: &Model, strand: usize, lane: usize, held: &[bool], params: &Params) {
        let (range, material) = (model.range(strand), model.material(strand));
        let points: Vec<DVec3> = model.groomed[range.clone()].iter().map(|p| p.as_dvec3()).collect();
        let frames = frames_along(&points, DQuat::IDENTITY);
        let lengths = &model.rest_lengths[range.start..range.end - 1];
        let masses = model.masses[range.clone()].iter().map(|&mass| f64::from(mass));
        let mean_mass = masses.clone().sum::<f64>() / range.len() as f64;
        let mean_length = lengths.iter().sum::<f64>() / lengths.len() as f64;
        let stiffness = params.stiffness(material);
        let is_held = |vertex: usize| held.get(range.start + vertex).copied().unwrap_or(false);
        for (vertex, mass) in masses.enumerate() {
            let (still, made) = (&mut self.still[vertex], &mut self.made[vertex]);
            let weight = if is_held(vertex) { 0.0 } else { mean_mass / mass };
            still.weight.set(lane, weight);
            let Some(&length) = lengths.get(vertex) else { continue };
            let segment_held = is_held(vertex) && is_held(vertex + 1);
            still.start.set(lane, weight);
            made.mass.set(lane, if segment_held { 0.0 } else { (length / mean_length).powi(3) });
            let natural = match vertex {
                0 => DQuat::IDENTITY,
                _ => frames[vertex - 1].conjugate() * frames[vertex],
            };
            let rest = model.rest.as_ref().map(|rest| rest.of(range.start + vertex));
            let rest = rest.unwrap_or(RestElement { length, joint: natural, stretch: 1.0, bend: 1.0 });
            still.length.set(lane, rest.length);
            made.inverse_mean.set(lane, 1.0 / mean_length);
            made.compliance.set(lane, mean_mass * rest.length / (stiffness.stretch * rest.stretch));
            let bend = bending_length(lengths, vertex, is_held).map_or(0.0, |over| stiffness.bend / over);
            made.bend.set(lane, bend * rest.bend / (mean_mass * mean_length * mean_length));
            set_frame(&mut still.rest, lane, rest.joint);
        }
        self.groomed.push(frames);
    }

    /// Puts a strand somewhere; `turn` is how far the groom is turned, for where the state has no frames.
    pub(super) fn load(&mut self, lane: usize, state: &State, range: std::ops::Range<usize>, turn: DQuat) {
        let positions = &state.positions[range.clone()];
        self.origins[lane] = positions[0];
        let clamp = turn * self.groomed[lane][0];
        let frames = match state.orientations.get(range.clone()) {
            Some(orientations) => orientations.to_vec(),
            None => frames_along(positions, clamp),
        };
        set_frame(&mut self.clamp, lane, clamp);
        for (vertex, row) in self.moving.iter_mut().enumerate().take(positions.len()) {
            set_vector(&mut row.position, lane, positions[vertex] - positions[0]);
            set_vector(&mut row.velocity, lane, state.velocities[range.start + vertex]);
            set_frame(&mut row.frame, lane, frames[vertex.min(frames.len() - 1)].normalize());
            for vector in [&mut row.spin, &mut row.force, &mut row.torque] {
                set_vector(vector, lane, DVec3::ZERO);
            }
        }
    }

    /// Writes where a strand is and how it moves.
    pub(super) fn store(&self, lane: usize, state: &mut State, range: std::ops::Range<usize>) {
        let positions = state.positions[range.clone()].iter_mut().zip(&mut state.velocities[range.clone()]);
        let columns = positions.zip(&mut state.orientations[range]);
        let mut frame = DQuat::IDENTITY;
        let last = self.counts[lane] as usize - 1;
        for (index, (row, ((position, velocity), orientation))) in self.moving.iter().zip(columns).enumerate()
        {
            *position = self.origins[lane] + get_vector(&row.position, lane);
            *velocity = get_vector(&row.velocity, lane);
            // The tip has no segment: it repeats the last one.
            if index < last {
                frame = get_frame(&row.frame, lane);
                // Unit length but for single precision: one Newton step.
                frame = frame * (1.5 - 0.5 * frame.length_squared());
            }
            *orientation = frame;
        }
    }

    /// Gives a strand the forces that it rests with, where the model has some: then its first step does not begin with none. They hold
    /// its weight, and so do not turn with the body that holds it.
    pub(super) fn load_forces(&mut self, lane: usize, model: &Model, range: std::ops::Range<usize>) {
        let Some(rest) = &model.rest else { return };
        let count = range.len() as f64;
        let mass = model.masses[range.clone()].iter().map(|&mass| f64::from(mass)).sum::<f64>() / count;
        for vertex in 0..range.len() - 1 {
            set_vector(&mut self.moving[vertex].force, lane, rest.forces[range.start + vertex] / mass);
        }
    }

    /// World position of a vertex [m].
    pub(super) fn position(&self, lane: usize, vertex: usize) -> DVec3 {
        self.origins[lane] + get_vector(&self.moving[vertex].position, lane)
    }

    /// Moves a vertex to a world position [m].
    pub(super) fn set_position(&mut self, lane: usize, vertex: usize, position: DVec3) {
        let offset = position - self.origins[lane];
        set_vector(&mut self.moving[vertex].position, lane, offset);
    }

    /// Lets lanes count from where their first vertices are: exactly there, where they are held.
    pub(super) fn rebase(&mut self) {
        let mut origins = self.origins;
        for (lane, _) in self.lanes() {
            origins[lane] = self.position(lane, 0);
        }
        for &(lane, _, target) in self.targets.iter().filter(|&&(_, vertex, _)| vertex == 0) {
            origins[lane as usize] = target;
        }
        for (lane, _) in self.lanes() {
            let root = get_vector(&self.moving[0].position, lane);
            if root != DVec3::ZERO {
                for row in &mut self.moving[..self.counts[lane] as usize] {
                    let position = get_vector(&row.position, lane) - root;
                    set_vector(&mut row.position, lane, position);
                }
            }
        }
        self.origins = origins;
    }
}
