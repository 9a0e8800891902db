//! Strands side by side, one per lane: what they are made of, where they are, and the way in and out.

use glam::{DQuat, DVec3};

use super::RodParams;
use crate::math::Stored;
use crate::math::lanes::WIDTH;
use crate::scene::Model;
use crate::solve::packing::EMPTY;

/// How much heavier than hair a pinned vertex is: so much that nothing the hair does shows in its velocity.
const HEAVY: f64 = 1.0e20;

/// One row of constants: a vertex, the edge behind it and the corner at it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rest<S> {
    /// Rest length of the edge [m].
    pub length: S,
    /// Stretching stiffness of the edge, π r² Y / l̄ [N/m].
    pub stretching: S,
    /// Bending stiffness of the corner [N m].
    pub bending: S,
    /// Twisting stiffness of the corner [N m].
    pub twisting: S,
    /// Natural κb of the corner along the directors of the edge before and of the edge behind.
    pub natural: [S; 4],
    /// Natural twist of the corner [rad].
    pub natural_twist: S,
    /// Mass of the vertex, huge where it is pinned [kg].
    pub inertia: S,
    /// Mass that gravity and air act on, zero where the vertex is pinned [kg].
    pub free_mass: S,
    /// Inertia of the edge about its tangent, huge where it is pinned [kg m²].
    pub spin_inertia: S,
}

/// One row of what moves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moving<S> {
    /// Unit tangent of the edge.
    pub tangent: [S; 3],
    /// Length of the edge [m].
    pub length: S,
    /// First director of the edge.
    pub director: [S; 3],
    /// Twist at the corner [rad].
    pub twist: S,
    /// Velocity of the vertex [m/s].
    pub velocity: [S; 3],
    /// Rate of the twist of the edge [rad/s].
    pub spin: S,
}

/// What acts on a vertex beside gravity and still air.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Load<S> {
    /// What a unit of velocity is resisted by [kg].
    pub resistance: S,
    /// Momentum handed over during the step [kg m/s].
    pub impulse: [S; 3],
}

/// Where an edge with two pinned ends has its director at the end of the step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settled {
    pub row: u32,
    pub lane: u32,
    pub director: DVec3,
    /// The tangent, of a ghost edge.
    pub tangent: Option<DVec3>,
}

/// Strands of nearly equal vertex counts, held alike. Rows are vertices from the root on, behind a ghost where one vertex
/// alone is held: an edge that ends at the root and turns with the body, so that the root is clamped.
#[derive(Debug, Clone)]
pub(super) struct Pack<S> {
    /// The strand of each lane, or [`EMPTY`].
    pub strands: [u32; WIDTH],
    /// Vertices of each strand.
    pub counts: [u32; WIDTH],
    /// The row of the first vertex: 1 behind a ghost.
    pub first: usize,
    pub rest: Vec<Rest<S>>,
    pub moving: Vec<Moving<S>>,
    /// Empty where nothing but gravity and still air acts.
    pub loads: Vec<Load<S>>,
    /// Rate at which each strand takes on the velocity of the air [1/s].
    pub drag: S,
    /// World positions of the first vertices [m].
    pub roots: [DVec3; WIDTH],
    /// Where pinned first vertices will be at the end of the step [m].
    pub root_targets: [Option<DVec3>; WIDTH],
    /// Directors of held edges at the end of the step.
    pub settled: Vec<Settled>,
    /// Directors of all edges as groomed, and of the ghost, row by row for each lane.
    pub groomed: Vec<Vec<(DVec3, DVec3)>>,
}

/// The director of the first edge of a curve, and by parallel transport of all others, with their tangents. One for each
/// point: the last repeats.
pub(super) fn transported(points: &[DVec3], first: Option<(DVec3, DVec3)>) -> Vec<(DVec3, DVec3)> {
    let mut frame = first.unwrap_or((DVec3::Z, DVec3::X));
    let mut frames: Vec<_> = points
        .windows(2)
        .map(|pair| {
            let tangent = (pair[1] - pair[0]).normalize_or(frame.0);
            let director = DQuat::from_rotation_arc(frame.0, tangent) * frame.1;
            frame = (tangent, director.reject_from_normalized(tangent).normalize());
            frame
        })
        .collect();
    frames.push(frame);
    frames
}

/// The angle about `tangent` from one director to another [rad].
pub(super) fn angle_about(tangent: DVec3, from: DVec3, to: DVec3) -> f64 {
    tangent.cross(from).dot(to).atan2(from.dot(to))
}

pub(super) fn set_vector<S: Stored>(stored: &mut [S; 3], lane: usize, value: DVec3) {
    for (stored, value) in stored.iter_mut().zip(value.to_array()) {
        stored.set(lane, value);
    }
}

pub(super) fn get_vector<S: Stored>(stored: &[S; 3], lane: usize) -> DVec3 {
    DVec3::new(stored[0].get(lane), stored[1].get(lane), stored[2].get(lane))
}

impl<S: Stored> Pack<S> {
    /// Strands of which the first `held` vertices are pinned, and others as `pinned` tells for each vertex of the model.
    pub(super) fn new(model: &Model, group: &[u32], held: usize, pinned: &[bool], params: &RodParams) -> Self {
        let vertices = group.iter().map(|&s| model.range(s as usize).len()).max().unwrap_or(0);
        let first = usize::from(held == 1);
        let rows = vertices + first;
        // Spare rows behind a tip touch nothing.
        let spare = Rest {
            length: S::splat(1.0),
            inertia: S::splat(1.0),
            spin_inertia: S::splat(1.0),
            ..Rest::default()
        };
        let mut still = Moving { length: S::splat(1.0), ..Moving::default() };
        still.tangent[2] = S::splat(1.0);
        still.director[0] = S::splat(1.0);
        let mut pack = Self {
            strands: [EMPTY; WIDTH],
            counts: [0; WIDTH],
            first,
            rest: vec![spare; rows],
            moving: vec![still; rows],
            loads: Vec::new(),
            drag: S::default(),
            roots: [DVec3::ZERO; WIDTH],
            root_targets: [None; WIDTH],
            settled: Vec::new(),
            groomed: Vec::new(),
        };
        for (lane, &strand) in group.iter().enumerate() {
            pack.strands[lane] = strand;
            pack.counts[lane] = model.range(strand as usize).len() as u32;
            pack.drag.set(lane, model.material(strand as usize).drag);
            pack.set_rest(model, strand as usize, lane, held, pinned, params);
        }
        pack
    }

    /// Lanes that hold a strand.
    pub(super) fn lanes(&self) -> impl Iterator<Item = (usize, usize)> + use<S> {
        self.strands.into_iter().enumerate().filter(|&(_, s)| s != EMPTY).map(|(lane, s)| (lane, s as usize))
    }

    /// Stiffness, mass and natural shape of one strand.
    fn set_rest(
        &mut self,
        model: &Model,
        strand: usize,
        lane: usize,
        held: usize,
        pinned: &[bool],
        params: &RodParams,
    ) {
        let (range, material) = (model.range(strand), model.material(strand));
        let points: Vec<DVec3> = model.groomed[range.clone()].iter().map(|p| p.as_dvec3()).collect();
        let lengths = &model.rest_lengths[range.clone()];
        let frames = transported(&points, None);
        let mut groomed = frames.clone();
        if self.first == 1 {
            groomed.insert(0, frames[0]);
        }
        self.groomed.push(groomed);
        let stiffness = params.stiffness(material);
        let is_pinned = |vertex: usize| pinned.get(range.start + vertex).copied().unwrap_or(false);
        if self.first == 1 {
            let ghost = &mut self.rest[0];
            ghost.length.set(lane, lengths[0]);
            let mass = f64::from(model.masses[range.start]);
            ghost.inertia.set(lane, mass * HEAVY);
            ghost.spin_inertia.set(lane, material.twisting_inertia() * lengths[0] * HEAVY);
        }
        for vertex in 0..range.len() {
            let rest = &mut self.rest[vertex + self.first];
            let mass = f64::from(model.masses[range.start + vertex]);
            let heavy = if is_pinned(vertex) { HEAVY } else { 1.0 };
            rest.inertia.set(lane, mass * heavy);
            rest.free_mass.set(lane, if is_pinned(vertex) { 0.0 } else { mass });
            if vertex + 1 == range.len() {
                continue;
            }
            let edge_pinned = is_pinned(vertex) && is_pinned(vertex + 1);
            let heavy = if edge_pinned { HEAVY } else { 1.0 };
            rest.length.set(lane, lengths[vertex]);
            rest.stretching.set(lane, if edge_pinned { 0.0 } else { stiffness.stretch / lengths[vertex] });
            rest.spin_inertia.set(lane, material.twisting_inertia() * lengths[vertex] * heavy);
            if vertex == 0 && self.first == 0 {
                continue;
            }
            // A clamp ends half an edge before the first free edge bends; everywhere else half of either edge does.
            let clamp = held > 0 && vertex + 1 == held;
            let before = if clamp { 0.0 } else { lengths[vertex.saturating_sub(1)] };
            let bending_length = 0.5 * (before + lengths[vertex]);
            let free = if edge_pinned { 0.0 } else { 1.0 };
            rest.bending.set(lane, free * 0.5 * stiffness.bend / bending_length);
            rest.twisting.set(lane, free * stiffness.twist / bending_length);
            if vertex == 0 {
                continue;
            }
            let ((a, first_a), (b, first_b)) = (frames[vertex - 1], frames[vertex]);
            let binormal = a.cross(b) * (2.0 / (1.0 + a.dot(b)).max(params.least()));
            let natural = [first_a, a.cross(first_a), first_b, b.cross(first_b)];
            for (stored, director) in rest.natural.iter_mut().zip(natural) {
                stored.set(lane, binormal.dot(director));
            }
        }
    }

    /// Sets a strand from world positions, velocities and directors of its edges.
    pub(super) fn set_strand(
        &mut self,
        lane: usize,
        positions: &[DVec3],
        velocities: &[DVec3],
        frames: &[(DVec3, DVec3)],
    ) {
        self.roots[lane] = positions[0];
        self.root_targets[lane] = None;
        for (vertex, (&velocity, &(tangent, director))) in velocities.iter().zip(frames).enumerate() {
            let moving = &mut self.moving[vertex + self.first];
            set_vector(&mut moving.velocity, lane, velocity);
            moving.spin.set(lane, 0.0);
            set_vector(&mut moving.tangent, lane, tangent);
            set_vector(&mut moving.director, lane, director);
            if let Some(next) = positions.get(vertex + 1) {
                moving.length.set(lane, (*next - positions[vertex]).length());
            }
            moving.twist.set(lane, 0.0);
        }
        if self.first == 1 {
            let ghost = &mut self.moving[0];
            set_vector(&mut ghost.velocity, lane, velocities[0]);
            set_vector(&mut ghost.tangent, lane, frames[0].0);
            set_vector(&mut ghost.director, lane, frames[0].1);
            ghost.length.set(lane, self.rest[0].length.get(lane));
            ghost.spin.set(lane, 0.0);
        }
    }

    /// The world positions of a strand, from its root.
    pub(super) fn positions(&self, lane: usize) -> impl Iterator<Item = DVec3> + '_ {
        let mut position = self.roots[lane];
        self.moving[self.first..][..self.counts[lane] as usize].iter().map(move |moving| {
            let here = position;
            position += get_vector(&moving.tangent, lane) * moving.length.get(lane);
            here
        })
    }

    /// After the edges moved: roots follow, and held edges take their directors.
    pub(super) fn settle(&mut self, dt: f64, displacements: Option<&[[S; 3]]>) {
        for lane in 0..S::LANES.min(WIDTH) {
            let moved = match displacements {
                Some(by) => get_vector(&by[self.first], lane),
                None => get_vector(&self.moving[self.first].velocity, lane) * dt,
            };
            self.roots[lane] = self.root_targets[lane].take().unwrap_or(self.roots[lane] + moved);
        }
        for Settled { row, lane, director, tangent } in self.settled.drain(..) {
            let (moving, lane) = (&mut self.moving[row as usize], lane as usize);
            if let Some(tangent) = tangent {
                set_vector(&mut moving.tangent, lane, tangent);
                moving.length.set(lane, self.rest[row as usize].length.get(lane));
            }
            let tangent = get_vector(&moving.tangent, lane).normalize();
            let across = director.reject_from_normalized(tangent).normalize_or(tangent.any_orthonormal_vector());
            set_vector(&mut moving.director, lane, across);
        }
    }

    /// Sets the velocities and spins of pinned vertices from `vertex` on that must be at `targets` after `dt`, and of the edges
    /// between them, which are turned from the groom by `turn` then. `blend` is the share of the new velocity, the rest is the
    /// old one.
    pub(super) fn hold(&mut self, lane: usize, vertex: usize, targets: &[DVec3], turn: DQuat, dt: f64, blend: f64) {
        let positions: Vec<DVec3> = self.positions(lane).skip(vertex).take(targets.len()).collect();
        let mut velocities = Vec::with_capacity(targets.len());
        for (index, (&position, &target)) in positions.iter().zip(targets).enumerate() {
            let moving = &mut self.moving[vertex + index + self.first];
            let velocity = get_vector(&moving.velocity, lane).lerp((target - position) / dt, blend);
            set_vector(&mut moving.velocity, lane, velocity);
            velocities.push(velocity);
            if vertex + index == 0 && blend >= 1.0 {
                self.root_targets[lane] = Some(target);
            }
        }
        let rows = vertex + self.first;
        for (index, pair) in velocities.windows(2).enumerate() {
            self.hold_edge(lane, rows + index, turn, (pair[1] - pair[0]) * dt, dt, None);
        }
        if self.first == 1 && vertex == 0 {
            // The ghost's far end turns about the root.
            let tangent = turn * self.groomed[lane][0].0;
            let ghost = &mut self.moving[0];
            let shift = (tangent - get_vector(&ghost.tangent, lane)) * ghost.length.get(lane);
            set_vector(&mut ghost.velocity, lane, velocities[0] - shift / dt);
            self.hold_edge(lane, 0, turn, shift, dt, Some(tangent));
        }
    }

    /// The spin that brings the director of an edge, which is carried along with the edge's own motion by `shift`, where it
    /// must be.
    fn hold_edge(
        &mut self,
        lane: usize,
        row: usize,
        turn: DQuat,
        shift: DVec3,
        dt: f64,
        tangent: Option<DVec3>,
    ) {
        let director = turn * self.groomed[lane][row].1;
        let moving = &mut self.moving[row];
        let old = get_vector(&moving.tangent, lane).normalize();
        let new = (old * moving.length.get(lane) + shift).normalize_or(old);
        let carried = DQuat::from_rotation_arc(old, new) * get_vector(&moving.director, lane);
        let angle = angle_about(new, carried, director.reject_from_normalized(new));
        moving.spin.set(lane, angle / dt);
        self.settled.push(Settled { row: row as u32, lane: lane as u32, director, tangent });
    }
}
