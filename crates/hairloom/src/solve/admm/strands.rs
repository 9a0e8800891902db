//! Strands side by side in packs, one per lane: layout, and the way to and from `State`.

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::newton::{Constants, Hold, Load, Moving};
use super::params::{Clamp, Elastic, Params};
use super::splitting::Split;
use crate::math::lanes::WIDTH;
use crate::math::{Quaternion, Stored};
use crate::rod::der::{Bend, Frame, Measure};
use crate::scene::Model;
use crate::solve::packing::{EMPTY, groups};

/// Strands of nearly equal vertex counts, held alike, and all that is known of them. Rows are vertices.
#[derive(Debug, Clone)]
pub(super) struct Pack<S> {
    /// The strand of each lane, or [`EMPTY`].
    pub strands: [u32; WIDTH],
    /// Vertices of each strand.
    pub counts: [u32; WIDTH],
    /// The vertex that the free part hangs from; `None` where nothing holds the strands.
    pub base: Option<usize>,
    pub rest: Vec<Constants<S>>,
    pub moving: Vec<Moving<S>>,
    /// Velocities [m/s].
    pub velocities: Vec<[S; 3]>,
    /// Rates of twist of the edges [rad/s].
    pub spins: Vec<S>,
    /// Rate at which each strand takes on the velocity of the air [1/s].
    pub drag: S,
    /// World positions of the roots [m].
    pub roots: [DVec3; WIDTH],
    /// For each strand the frames as groomed of its clamp, and of the edges held before it.
    pub held_frames: Vec<Vec<DQuat>>,
    /// Positions relative to the roots when the step began [m].
    pub start: Vec<[S; 3]>,
    /// How far the roots move during the step [m].
    pub shift: [S; 3],
    /// The frames of the clamps at the start and at the end of the step.
    pub clamp_before: [S; 4],
    pub clamp: [S; 4],
    /// What acts on the vertices, contact aside.
    pub base_loads: Vec<Load<S>>,
    /// What acts on the vertices.
    pub loads: Vec<Load<S>>,
    /// Strains and lengths when the step began; empty without damping.
    pub old_strains: Vec<([S; 3], S)>,
    /// Frames held behind edges; empty where the pack has none.
    pub holds: Vec<Hold<S>>,
    /// 1 for strands whose edges couple by moments and shear, 0 for those in contact.
    pub couplings: S,
    /// What the splitting knows from iteration to iteration; empty for Newton steps.
    pub split: Split<S>,
}

impl<S> Pack<S> {
    /// Lanes that hold a strand.
    pub(super) fn lanes(&self) -> impl Iterator<Item = (usize, usize)> + use<S> {
        self.strands.into_iter().enumerate().filter(|&(_, s)| s != EMPTY).map(|(lane, s)| (lane, s as usize))
    }

    /// The first row that moves by itself, or hangs at the clamp.
    pub(super) fn first(&self) -> usize {
        self.base.unwrap_or(0)
    }
}

/// All strands.
#[derive(Debug, Clone, Default)]
pub(super) struct Strands<S> {
    pub packs: Vec<Pack<S>>,
    /// For each strand its pack and lane.
    pub place: Vec<(u32, u32)>,
}

/// The frame of the first edge of a curve, and by parallel transport along it of all others. The third axis is
/// the tangent.
pub(super) fn transported_frames(points: &[DVec3], first: Option<DQuat>) -> Vec<DQuat> {
    let mut frame = first.unwrap_or(DQuat::IDENTITY);
    let mut frames: Vec<DQuat> = points
        .windows(2)
        .map(|pair| {
            let tangent = (pair[1] - pair[0]).normalize_or(frame * DVec3::Z);
            frame = (DQuat::from_rotation_arc(frame * DVec3::Z, tangent) * frame).normalize();
            frame
        })
        .collect();
    frames.push(frame);
    frames
}

/// The strain between two frames.
fn strain(measure: Measure, before: DQuat, behind: DQuat) -> [f64; 3] {
    let [before, behind] = [before, behind].map(|frame| Frame(Quaternion::splat(frame)));
    Bend::<f64>::strain(measure, before, behind).to_array()
}

impl<S: Stored> Strands<S> {
    /// Lays out strands of which `held[strand]` vertices are held at the root.
    pub(super) fn new(model: &Model, held: &[u32], params: &Params) -> Self {
        let mut place = vec![(EMPTY, 0); model.strands()];
        let groups = groups(model, held, S::LANES);
        for (pack, (_, group)) in groups.iter().enumerate() {
            for (lane, &strand) in group.iter().enumerate() {
                place[strand as usize] = (pack as u32, lane as u32);
            }
        }
        let packs = groups.par_iter().map(|(held, group)| Pack::new(model, group, *held as usize, params));
        Self { packs: packs.collect(), place }
    }

    /// Where a strand is.
    pub(super) fn find(&self, strand: usize) -> (usize, usize) {
        let (pack, lane) = self.place[strand];
        (pack as usize, lane as usize)
    }
}

impl<S: Stored> Pack<S> {
    fn new(model: &Model, group: &[u32], held: usize, params: &Params) -> Self {
        let clamp = params.clamp;
        let counts = group.iter().map(|&s| model.range(s as usize).len());
        let vertices = counts.clone().max().unwrap_or(0);
        let base = held.checked_sub(1).map(|base| match clamp {
            Clamp::Ghost => base,
            Clamp::Voronoi => base.max(1),
        });
        let base = base.map(|base| base.min(counts.min().unwrap_or(1) - 1));
        // Spare rows behind a tip are massless, straight edges of no length that turn with it.
        let spare =
            Constants { stretching: S::splat(1.0), bending: [S::splat(1.0e-6); 3], ..Constants::default() };
        let mut still = Moving::default();
        still.frame[3] = S::splat(1.0);
        let mut pack = Self {
            strands: [EMPTY; WIDTH],
            counts: [0; WIDTH],
            base,
            rest: vec![spare; vertices],
            moving: vec![still; vertices],
            velocities: vec![[S::default(); 3]; vertices],
            spins: vec![S::default(); vertices],
            drag: S::default(),
            roots: [DVec3::ZERO; WIDTH],
            held_frames: Vec::new(),
            start: vec![[S::default(); 3]; vertices],
            shift: [S::default(); 3],
            clamp_before: still.frame,
            clamp: still.frame,
            base_loads: vec![Load::default(); vertices],
            loads: vec![Load::default(); vertices],
            old_strains: Vec::new(),
            holds: Vec::new(),
            couplings: S::splat(1.0),
            split: match params.elastic {
                Elastic::Newton => Split::default(),
                Elastic::Splitting => Split::new(vertices),
            },
        };
        for (lane, &strand) in group.iter().enumerate() {
            pack.strands[lane] = strand;
            pack.counts[lane] = model.range(strand as usize).len() as u32;
            pack.drag.set(lane, model.material(strand as usize).drag);
            let points: Vec<DVec3> =
                model.groomed[model.range(strand as usize)].iter().map(|p| p.as_dvec3()).collect();
            let frames = transported_frames(&points, None);
            let held = base.map_or(Vec::new(), |base| {
                let clamp = match clamp {
                    Clamp::Ghost => base,
                    Clamp::Voronoi => base - 1,
                };
                std::iter::once(frames[clamp]).chain(frames[..base].iter().copied()).collect()
            });
            pack.held_frames.push(held);
            pack.set_rest(model, strand as usize, lane, &frames, params);
            let edges = points.len() - 1;
            let first = pack.first();
            pack.split.share_edges(lane, first, edges);
        }
        pack
    }

    /// Stiffness, mass and natural shape of one strand.
    fn set_rest(&mut self, model: &Model, strand: usize, lane: usize, frames: &[DQuat], params: &Params) {
        let clamp = params.clamp;
        let (range, material) = (model.range(strand), model.material(strand));
        let edges = range.len() - 1;
        let lengths = &model.rest_lengths[range.clone()];
        let area = material.area();
        let [stiff, soft, twisting] = material.rod_stiffness();
        for i in 0..edges {
            let rest = &mut self.rest[i];
            let at_base = self.base.is_none_or(|base| i <= base);
            let bending_length = match (i, clamp) {
                (0, Clamp::Ghost) => 0.5 * lengths[0],
                (0, Clamp::Voronoi) => lengths[0],
                (_, Clamp::Ghost) if at_base && self.base.is_some() => 0.5 * lengths[i],
                (_, Clamp::Voronoi) => {
                    let root = if at_base && self.base.is_some() { 1.0 } else { 0.5 };
                    let tip = if i + 1 == edges { 1.0 } else { 0.5 };
                    root * lengths[i - 1] + tip * lengths[i]
                }
                _ => 0.5 * (lengths[i - 1] + lengths[i]),
            };
            let shape = model.rest.as_ref().map(|shape| shape.of(range.start + i));
            let length = shape.map_or(lengths[i], |shape| shape.length);
            let (stretch, bend) = shape.map_or((1.0, 1.0), |shape| (shape.stretch, shape.bend));
            rest.length.set(lane, length);
            rest.stretching.set(lane, stretch * material.young * area / length);
            for (stored, stiffness) in rest.bending.iter_mut().zip([stiff, soft, twisting]) {
                stored.set(lane, bend * stiffness / bending_length);
            }
            rest.inertia.set(lane, material.twisting_inertia() * lengths[i]);
            let natural = if let Some(shape) = shape {
                // A clamp points as the first free edge was groomed.
                let last = frames[i.max(1) - 1];
                let before = if self.base == Some(i) { frames[i] } else { last };
                strain(params.bending, before, last * shape.joint)
            } else if i == 0 || (clamp == Clamp::Ghost && self.base == Some(i)) {
                [0.0; 3]
            } else {
                strain(params.bending, frames[i - 1], frames[i])
            };
            for (stored, value) in rest.curvature.iter_mut().zip(natural) {
                stored.set(lane, value);
            }
        }
        for (i, vertex) in range.enumerate() {
            self.rest[i].mass.set(lane, f64::from(model.masses[vertex]));
        }
    }

    /// Sets a strand from world positions, velocities and material frames.
    pub(super) fn set_strand(
        &mut self,
        lane: usize,
        positions: &[DVec3],
        velocities: &[DVec3],
        frames: &[DQuat],
    ) {
        self.roots[lane] = positions[0];
        self.split.forget(lane);
        for (i, moving) in self.moving.iter_mut().enumerate() {
            // Spare rows stay on the tip.
            let vertex = i.min(positions.len() - 1);
            let edge = positions.get(i + 1).map_or(0.0, |next| (*next - positions[i]).length());
            moving.length.set(lane, edge);
            set_quaternion(&mut moving.frame, lane, frames[vertex]);
            set_vector(&mut moving.position, lane, positions[vertex] - positions[0]);
            set_vector(&mut self.velocities[i], lane, velocities[vertex]);
            self.spins[i].set(lane, 0.0);
        }
    }

    /// The world positions of a strand.
    pub(super) fn positions(&self, lane: usize) -> Vec<DVec3> {
        self.moving[..self.counts[lane] as usize]
            .iter()
            .map(|m| self.roots[lane] + get_vector(&m.position, lane))
            .collect()
    }

    /// Writes a strand's world positions, velocities and frames.
    pub(super) fn get_strand(
        &self,
        lane: usize,
        positions: &mut [DVec3],
        velocities: &mut [DVec3],
        frames: &mut [DQuat],
    ) {
        // The tip's frame repeats that of the last edge.
        let edges = positions.len() - 1;
        let vertices = positions.iter_mut().zip(velocities).zip(frames);
        for (i, ((position, velocity), frame)) in vertices.enumerate() {
            *position = self.roots[lane] + get_vector(&self.moving[i].position, lane);
            *velocity = get_vector(&self.velocities[i], lane);
            *frame = get_quaternion(&self.moving[i.min(edges - 1)].frame, lane);
        }
    }
}

pub(super) fn set_quaternion<S: Stored>(stored: &mut [S; 4], lane: usize, value: DQuat) {
    for (stored, value) in stored.iter_mut().zip([value.x, value.y, value.z, value.w]) {
        stored.set(lane, value);
    }
}

pub(super) fn get_quaternion<S: Stored>(stored: &[S; 4], lane: usize) -> DQuat {
    let [x, y, z, w] = stored.map(|part| part.get(lane));
    DQuat::from_xyzw(x, y, z, w).normalize()
}

pub(super) fn set_vector<S: Stored>(stored: &mut [S; 3], lane: usize, value: DVec3) {
    for (stored, value) in stored.iter_mut().zip(value.to_array()) {
        stored.set(lane, value);
    }
}

pub(super) fn get_vector<S: Stored>(stored: &[S; 3], lane: usize) -> DVec3 {
    DVec3::new(stored[0].get(lane), stored[1].get(lane), stored[2].get(lane))
}

/// Adds a spring of `weight` [N/m] that pulls a vertex to `target`, relative to the root [m].
pub(super) fn add_spring<S: Stored>(load: &mut Load<S>, lane: usize, weight: f64, target: DVec3) {
    load.weight.set(lane, load.weight.get(lane) + weight);
    add_force(load, lane, target * weight);
}

/// Adds a force to a vertex [N].
pub(super) fn add_force<S: Stored>(load: &mut Load<S>, lane: usize, force: DVec3) {
    let pull = get_vector(&load.pull, lane) + force;
    set_vector(&mut load.pull, lane, pull);
}
