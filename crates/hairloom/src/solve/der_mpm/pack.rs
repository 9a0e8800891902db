//! Strands side by side, one per lane: what they are made of, where they are, and the way in and out.

use glam::{DMat3, DQuat, DVec3};

use super::Params;
use super::step::Advance;
use crate::math::Stored;
use crate::math::lanes::WIDTH;
use crate::scene::{Model, StrandState};
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
    /// Whether nothing holds the strands.
    pub free: bool,
    /// World positions of the first vertices [m].
    pub roots: [DVec3; WIDTH],
    /// Where pinned first vertices will be at the end of the step [m].
    pub root_targets: [Option<DVec3>; WIDTH],
    /// Where pinned vertices behind the first one will be at the end of the step: lane, row and position [m], in order.
    pub pin_targets: Vec<(u32, u32, DVec3)>,
    /// How far strands were carried round since their material points last heard of it.
    pub turned: [DQuat; WIDTH],
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

/// How far a rotation turns about the tangent, beside carrying it there by the smallest rotation, from −π to π [rad].
fn natural_twist(joint: DQuat) -> f64 {
    let joint = if joint.w < 0.0 { -joint } else { joint };
    2.0 * joint.z.atan2(joint.w)
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
    pub(super) fn new(model: &Model, group: &[u32], held: usize, pinned: &[bool], params: &Params) -> Self {
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
            free: held == 0,
            roots: [DVec3::ZERO; WIDTH],
            root_targets: [None; WIDTH],
            pin_targets: Vec::new(),
            turned: [DQuat::IDENTITY; WIDTH],
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
        params: &Params,
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
            let shape = model.rest.as_ref().map(|shape| shape.of(range.start + vertex));
            let length = shape.map_or(lengths[vertex], |shape| shape.length);
            let (stretch, bend) = shape.map_or((1.0, 1.0), |shape| (shape.stretch, shape.bend));
            rest.length.set(lane, length);
            let stretching = stretch * stiffness.stretch / length;
            rest.stretching.set(lane, if edge_pinned { 0.0 } else { stretching });
            rest.spin_inertia.set(lane, material.twisting_inertia() * lengths[vertex] * heavy);
            if vertex == 0 && self.first == 0 {
                continue;
            }
            // A clamp ends half an edge before the first free edge bends; everywhere else half of either edge does.
            let clamp = held > 0 && vertex + 1 == held;
            let before = if clamp { 0.0 } else { lengths[vertex.saturating_sub(1)] };
            let bending_length = 0.5 * (before + lengths[vertex]);
            // Between two pinned edges nothing bends.
            let free = !(edge_pinned && (vertex == 0 || is_pinned(vertex - 1)));
            let bend = if free { bend / bending_length } else { 0.0 };
            rest.bending.set(lane, 0.5 * bend * stiffness.bend);
            rest.twisting.set(lane, bend * stiffness.twist);
            let ((a, first_a), (b, first_b)) = match shape {
                Some(shape) => {
                    let joint = shape.joint;
                    rest.natural_twist.set(lane, natural_twist(joint));
                    ((DVec3::Z, DVec3::X), (joint * DVec3::Z, joint * DVec3::X))
                }
                None if vertex == 0 => continue,
                None => (frames[vertex - 1], frames[vertex]),
            };
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

    /// Writes what moves of a strand.
    pub(super) fn store(&self, lane: usize, strand: StrandState<'_>) {
        let StrandState { positions, velocities, orientations } = strand;
        let rows = &self.moving[self.first..];
        for (index, position) in self.positions(lane).enumerate() {
            positions[index] = position;
            velocities[index] = get_vector(&rows[index].velocity, lane);
            // The tip has no edge: it repeats the last one.
            let edge = &rows[index.min(self.counts[lane] as usize - 2)];
            let tangent = get_vector(&edge.tangent, lane).normalize();
            let director = get_vector(&edge.director, lane);
            let axes = DMat3::from_cols(director, tangent.cross(director), tangent);
            orientations[index] = DQuat::from_mat3(&axes).normalize();
        }
    }

    /// The centre of mass of a strand that nothing holds, as seen from its root [m], and how far it moves [m].
    fn centre(&self, lane: usize, dt: f64, displacements: Option<&[[S; 3]]>) -> (DVec3, DVec3) {
        let (mut mass, mut place, mut way) = (0.0, DVec3::ZERO, DVec3::ZERO);
        for (row, position) in self.positions(lane).enumerate() {
            let own = self.rest[row + self.first].inertia.get(lane);
            mass += own;
            place += (position - self.roots[lane]) * own;
            way += self.displacement(row + self.first, lane, dt, displacements) * own;
        }
        (place / mass, way / mass)
    }

    fn displacement(&self, row: usize, lane: usize, dt: f64, displacements: Option<&[[S; 3]]>) -> DVec3 {
        match displacements {
            Some(by) => get_vector(&by[row], lane),
            None => get_vector(&self.moving[row].velocity, lane) * dt,
        }
    }

    /// Moves by displacements of the vertices [m], or by their velocities over `dt` [s]; edges stay within `limit` of their rest
    /// lengths, relatively. Roots follow, and held edges take their
    /// directors; the centre of mass of a strand that nothing holds goes where its vertices' mean displacement takes it.
    pub(super) fn advance(&mut self, dt: f64, limit: f64, displacements: Option<&[[S; 3]]>) {
        let centres: Vec<_> = match self.free {
            true => self.lanes().map(|(lane, _)| self.centre(lane, dt, displacements)).collect(),
            false => Vec::new(),
        };
        for (lane, _) in self.lanes() {
            let root = self.roots[lane] + self.displacement(self.first, lane, dt, displacements);
            self.roots[lane] = self.root_targets[lane].take().unwrap_or(root);
        }
        S::dispatch(Advance { pack: self, dt, limit, displacements });
        for ((lane, _), (before, way)) in self.lanes().zip(centres) {
            let (after, _) = self.centre(lane, dt, displacements);
            let moved = self.displacement(self.first, lane, dt, displacements);
            self.roots[lane] += before + way - after - moved;
        }
        for Settled { row, lane, director, tangent } in self.settled.drain(..) {
            let (moving, lane) = (&mut self.moving[row as usize], lane as usize);
            if let Some(tangent) = tangent {
                set_vector(&mut moving.tangent, lane, tangent);
                moving.length.set(lane, self.rest[row as usize].length.get(lane));
            }
            let tangent = get_vector(&moving.tangent, lane).normalize();
            let across =
                director.reject_from_normalized(tangent).normalize_or(tangent.any_orthonormal_vector());
            set_vector(&mut moving.director, lane, across);
        }
    }

    /// The momentum of each strand before a solve, with what gravity adds to it as velocity [m/s], and with its loads [kg m/s].
    pub(super) fn momenta(&self, fall: DVec3) -> Vec<DVec3> {
        let momentum = |lane: usize| {
            let rows = self.rest.iter().zip(&self.moving);
            let own = rows
                .map(|(rest, moving)| (get_vector(&moving.velocity, lane) + fall) * rest.free_mass.get(lane));
            own.chain(self.loads.iter().map(|load| get_vector(&load.impulse, lane))).sum()
        };
        self.lanes().map(|(lane, _)| momentum(lane)).collect()
    }

    /// Gives strands that nothing holds the momentum that they must have after a solve over `dt` [s]: elasticity has no say in
    /// it, but in single precision rounding of stiffness beside mass has.
    pub(super) fn balance(&mut self, momenta: &[DVec3], dt: f64) {
        for ((lane, _), &expected) in self.lanes().zip(momenta) {
            let own = &self.rest[..self.counts[lane] as usize];
            if own.iter().any(|rest| rest.free_mass.get(lane) == 0.0) {
                // Held behind its root.
                continue;
            }
            let (mut mass, mut momentum) = (0.0, DVec3::ZERO);
            for (row, (rest, moving)) in self.rest.iter().zip(&self.moving).enumerate() {
                let resistance = self.loads.get(row).map_or(0.0, |load| load.resistance.get(lane));
                let own = rest.free_mass.get(lane).mul_add(1.0 + dt * self.drag.get(lane), resistance);
                mass += own;
                momentum += get_vector(&moving.velocity, lane) * own;
            }
            let change = (expected - momentum) / mass;
            for moving in &mut self.moving[..self.counts[lane] as usize] {
                let velocity = get_vector(&moving.velocity, lane) + change;
                set_vector(&mut moving.velocity, lane, velocity);
            }
        }
    }
}
