//! Fibres whose vertices move freely, with frames on their edges: what they have in common, whatever holds them together.

use glam::{DMat3, DQuat, DVec3};

use super::elements::Elements;
use super::fibre::{Carried, Fibre, FibreStep, Hold, System, Vertices, chord_spin};
use crate::rod::cosserat::frames_along;
use crate::scene::Model;
use crate::solve::Energy;

/// The part of its first edge in which a rod is as good as clamped.
const NEARLY_CLAMPED: f64 = 0.5;

/// A strand as a polyline from the last vertex that its body holds on. Its velocities are, vertex by vertex, that of the vertex, and the
/// rates at which the edge before it turns.
pub(super) struct PolylineFibre<E> {
    elements: E,
    /// Rate at which it takes on the velocity of the air [1/s].
    drag: f64,
    /// Vertices that are held.
    held: usize,
    /// The clamp's frame as groomed.
    groomed: DQuat,
    /// Masses of the free vertices [kg].
    masses: Vec<f64>,
    /// Lengths of their edges at rest [m].
    lengths: Vec<f64>,
    now: Line,
    /// Velocities, as the contact solver has them.
    velocities: Vec<f64>,
    /// How the clamp moves: velocity [m/s] and spin [rad/s].
    moving: (DVec3, DVec3),
    /// Positions of the held vertices but the last [m].
    before: Vec<DVec3>,
    /// The clamp in the middle of the step that was linearised last, and how it moves.
    during: Carried,
    /// The free vertices in the middle of that step [m].
    middle: Vec<DVec3>,
}

/// Where a fibre is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    /// The clamp [m].
    pub root: DVec3,
    /// The clamp's frame.
    pub clamp: DQuat,
    /// The free vertices [m].
    pub points: Vec<DVec3>,
    /// Frames of the edges before them.
    pub frames: Vec<DQuat>,
}

impl Line {
    /// The edges [m].
    pub(super) fn edges(&self) -> Vec<DVec3> {
        let before = std::iter::once(&self.root).chain(&self.points);
        self.points.iter().zip(before).map(|(point, before)| *point - *before).collect()
    }
}

impl<E: Elements> PolylineFibre<E> {
    /// The fibre of a strand whose first `held` vertices are held, as groomed. At least one vertex is held, and one is not.
    pub(super) fn new(model: &Model, strand: usize, held: usize) -> Self {
        let (range, material) = (model.range(strand), model.material(strand));
        let groomed = |vertex: usize| model.groomed[vertex].as_dvec3();
        let root = range.start + held - 1;
        let points: Vec<DVec3> = (root + 1..range.end).map(groomed).collect();
        let all: Vec<DVec3> = range.clone().map(groomed).collect();
        let clamp = frames_along(&all, DQuat::IDENTITY)[held.max(2) - 2];
        let lengths = model.rest_lengths[root..range.end - 1].to_vec();
        let frames = transported(clamp, groomed(root), &points);
        let now = Line { root: groomed(root), clamp, points, frames };
        let shape = model.rest.as_ref().map(|shape| (root..range.end - 1).map(|v| shape.of(v)).collect());
        let elements = E::new(&now, shape, &lengths, material);
        let count = now.points.len();
        Self {
            elements,
            drag: material.drag,
            held,
            groomed: clamp,
            masses: (root + 1..range.end).map(|vertex| f64::from(model.masses[vertex])).collect(),
            lengths,
            velocities: vec![0.0; count * E::FREEDOM],
            moving: (DVec3::ZERO, DVec3::ZERO),
            before: (range.start..root).map(groomed).collect(),
            during: Carried { point: now.root, ..Carried::default() },
            middle: now.points.clone(),
            now,
        }
    }

    fn clamp_of(&self, hold: &Hold) -> (DVec3, DQuat) {
        let position = hold.positions.last().copied().unwrap_or(self.now.root);
        (position, (hold.turn * self.groomed).normalize())
    }

    /// Velocity and spin of the clamp in a step.
    fn motion(&self, step: &FibreStep<'_>) -> (DVec3, DVec3) {
        let (root, clamp) = self.clamp_of(&step.hold);
        let turn = clamp * self.now.clamp.conjugate();
        let turn = if turn.w < 0.0 { -turn } else { turn };
        ((root - self.now.root) / step.dt, turn.to_scaled_axis() / step.dt)
    }

    /// How far the coordinates have come after a part of a step that ends with these velocities.
    fn come(&self, step: &FibreStep<'_>, velocities: &[f64], part: f64) -> Vec<f64> {
        let scale = part * step.dt;
        let mean = |(old, new): (&f64, &f64)| scale * ((1.0 - step.theta) * old + step.theta * new);
        self.velocities.iter().zip(velocities).map(mean).collect()
    }

    /// Where the fibre is after its coordinates have changed, with its clamp there.
    fn moved(&self, (root, clamp): (DVec3, DQuat), changes: &[f64]) -> Line {
        let moved = |(point, change): (&DVec3, &[f64])| *point + DVec3::from_slice(&change[..3]);
        let changes_of = || changes.chunks_exact(E::FREEDOM);
        let points: Vec<DVec3> = self.now.points.iter().zip(changes_of()).map(moved).collect();
        let mut line = Line { root, clamp, points, frames: Vec::with_capacity(self.now.frames.len()) };
        let edges = line.edges();
        let turned = self.now.frames.iter().zip(edges).zip(changes_of());
        line.frames.extend(turned.map(|((frame, edge), change)| E::turned(*frame, edge, &change[3..])));
        line
    }

    /// Where the fibre is at the end of a step with these velocities.
    fn reached(&self, step: &FibreStep<'_>, velocities: &[f64]) -> Line {
        let mut line = self.moved(self.clamp_of(&step.hold), &self.come(step, velocities, 1.0));
        self.elements.project(&mut line, &self.lengths, &self.masses);
        line
    }

    /// How far along the rod a point of the edge behind a vertex is [m].
    fn arc(&self, vertex: usize, share: f64) -> f64 {
        let edges = (vertex + 1).saturating_sub(self.held);
        let whole: f64 = self.lengths.iter().take(edges).sum();
        whole + if vertex + 1 >= self.held { share * self.lengths.get(edges).unwrap_or(&0.0) } else { 0.0 }
    }

    /// Adds inertia, air and springs.
    fn add_loads(&self, step: &FibreStep<'_>, line: &Line, system: &mut System) {
        let size = self.velocities.len();
        for (k, &mass) in self.masses.iter().enumerate() {
            let first = k * E::FREEDOM;
            let velocity = DVec3::from_slice(&self.velocities[first..first + 3]);
            let air = if self.drag > 0.0 { self.drag * (step.wind)(line.points[k]) } else { DVec3::ZERO };
            let impulse = mass * (velocity + step.dt * (step.gravity + air));
            for axis in 0..3 {
                system.mass[(first + axis) * (size + 1)] += mass * (1.0 + step.dt * self.drag);
                system.impulse[first + axis] += impulse[axis];
            }
            let inertia = self.elements.inertia(line.frames[k], self.lengths[k]);
            for (row, line) in inertia.iter().enumerate().take(E::FREEDOM - 3) {
                for (column, value) in line.iter().enumerate().take(E::FREEDOM - 3) {
                    system.mass[(first + 3 + row) * size + first + 3 + column] += value;
                    system.impulse[first + 3 + row] += value * self.velocities[first + 3 + column];
                }
            }
        }
        for &(vertex, target, stiffness) in &step.pulls {
            let Some(k) = vertex.checked_sub(self.held) else { continue };
            for axis in 0..3 {
                let row = k * E::FREEDOM + axis;
                let come = (1.0 - step.theta) * step.dt * self.velocities[row];
                let gap = target[axis] - self.now.points[k][axis] - come;
                system.mass[row * (size + 1)] += step.theta * step.dt * step.dt * stiffness;
                system.impulse[row] += step.dt * stiffness * gap;
            }
        }
    }
}

/// Frames that follow a line from its clamp on without twisting.
fn transported(clamp: DQuat, root: DVec3, points: &[DVec3]) -> Vec<DQuat> {
    let (mut frame, mut before) = (clamp, root);
    let next = points.iter().map(|point| {
        let tangent = (*point - before).normalize_or(frame * DVec3::Z);
        frame = (DQuat::from_rotation_arc(frame * DVec3::Z, tangent) * frame).normalize();
        before = *point;
        frame
    });
    next.collect()
}

impl<E: Elements> Fibre for PolylineFibre<E> {
    fn seat(&mut self, positions: &[DVec3], velocities: &[DVec3], hold: &Hold) {
        self.before = hold.positions[..self.held - 1].to_vec();
        (self.now.root, self.now.clamp) = self.clamp_of(hold);
        self.now.points = positions[self.held..].to_vec();
        self.now.frames = transported(self.now.clamp, self.now.root, &self.now.points);
        self.elements.project(&mut self.now, &self.lengths, &self.masses);
        self.velocities.fill(0.0);
        for (own, velocity) in self.velocities.chunks_exact_mut(E::FREEDOM).zip(&velocities[self.held..]) {
            own[..3].copy_from_slice(&velocity.to_array());
        }
        self.moving = (velocities[self.held - 1], DVec3::ZERO);
    }

    fn freedom(&self) -> usize {
        self.velocities.len()
    }

    fn velocities(&self) -> Vec<f64> {
        self.velocities.clone()
    }

    fn linearise(&mut self, step: &FibreStep<'_>, guess: &[f64]) -> System {
        let (dt, theta, size) = (step.dt, step.theta, guess.len());
        let (velocity, spin) = self.motion(step);
        let clamp_at = |part: f64| {
            let turn = DQuat::from_scaled_axis(part * dt * spin);
            (self.now.root + part * dt * velocity, (turn * self.now.clamp).normalize())
        };
        // Elasticity counts at θ of the step.
        let line = self.moved(clamp_at(theta), &self.come(step, guess, theta));
        let mut system = System { mass: vec![0.0; size * size], impulse: vec![0.0; size] };
        let mut gradient = vec![0.0; size];
        self.elements.derivatives(&line, &self.lengths, &mut gradient, &mut system.mass);
        let scale = theta * theta * dt * dt;
        let rows = system.mass.chunks_exact_mut(size).zip(&mut system.impulse).zip(&gradient);
        for ((entries, impulse), gradient) in rows {
            entries.iter_mut().for_each(|entry| *entry *= scale);
            let known: f64 = entries.iter().zip(guess).map(|(entry, guess)| entry * guess).sum();
            *impulse += known - dt * gradient;
        }
        self.add_loads(step, &line, &mut system);
        let middle = self.moved(clamp_at(0.5), &self.come(step, guess, 0.5));
        self.during = Carried { point: middle.root, velocity, spin: chord_spin(spin, step.dt) };
        self.middle = middle.points;
        system
    }

    fn touch(&self, vertex: usize, share: f64, rows: &mut [f64]) -> Carried {
        rows.fill(0.0);
        let size = self.velocities.len();
        let Carried { point: root, velocity: root_velocity, spin } = self.during;
        let (mut point, mut velocity) = (DVec3::ZERO, DVec3::ZERO);
        for (vertex, weight) in [(vertex, 1.0 - share), (vertex + 1, share)] {
            match vertex.checked_sub(self.held) {
                Some(k) => {
                    let k = k.min(self.middle.len() - 1);
                    point += weight * self.middle[k];
                    (0..3).for_each(|axis| rows[axis * size + k * E::FREEDOM + axis] += weight);
                }
                None => {
                    // Held vertices before the last are as good as at the clamp here: nothing there can be pushed.
                    point += weight * root;
                    velocity += weight * root_velocity;
                }
            }
        }
        Carried { point, velocity, spin }
    }

    fn leverage(&self, vertex: usize, share: f64) -> f64 {
        let arc = self.arc(vertex, share);
        if arc < NEARLY_CLAMPED * self.lengths[0] {
            return 0.0;
        }
        (arc / self.lengths.iter().sum::<f64>()).powi(2)
    }

    fn reach(&self, step: &FibreStep<'_>, velocities: &[f64], positions: &mut [DVec3]) {
        let line = self.reached(step, velocities);
        let (held, free) = positions.split_at_mut(self.held);
        held.copy_from_slice(&step.hold.positions);
        free.copy_from_slice(&line.points);
    }

    fn advance(&mut self, step: &FibreStep<'_>, velocities: &[f64]) {
        let moving = self.motion(step);
        let line = self.reached(step, velocities);
        let mut reached = velocities.to_vec();
        if E::PROJECTS {
            // The way on which lengths were got back has been gone with the velocities at the end.
            let free = self.moved(self.clamp_of(&step.hold), &self.come(step, velocities, 1.0));
            let ends = reached.chunks_exact_mut(E::FREEDOM).zip(line.points.iter().zip(&free.points));
            for (own, (end, free)) in ends {
                let change = (*end - *free) / (step.theta * step.dt);
                own[..3].iter_mut().zip(change.to_array()).for_each(|(own, change)| *own += change);
            }
        }
        (self.velocities, self.now, self.moving) = (reached, line, moving);
        self.before.copy_from_slice(&step.hold.positions[..self.held - 1]);
    }

    fn shift(&mut self, changes: &[f64]) {
        let mut line = self.moved((self.now.root, self.now.clamp), changes);
        self.elements.project(&mut line, &self.lengths, &self.masses);
        self.now = line;
    }

    fn jump(&mut self, hold: &Hold) {
        let (root, clamp) = self.clamp_of(hold);
        let turn = (clamp * self.now.clamp.conjugate()).normalize();
        let old = self.now.root;
        self.now.points.iter_mut().for_each(|point| *point = root + turn * (*point - old));
        self.now.frames.iter_mut().for_each(|frame| *frame = (turn * *frame).normalize());
        for own in self.velocities.chunks_exact_mut(E::FREEDOM) {
            let velocity = turn * DVec3::from_slice(&own[..3]);
            own[..3].copy_from_slice(&velocity.to_array());
            E::turn_rates(turn, &mut own[3..]);
        }
        (self.now.root, self.now.clamp) = (root, clamp);
        self.moving = (turn * self.moving.0, turn * self.moving.1);
        self.before.copy_from_slice(&hold.positions[..self.held - 1]);
    }

    fn stop(&mut self) {
        self.velocities.fill(0.0);
        self.moving = (DVec3::ZERO, DVec3::ZERO);
    }

    fn turning(&self, velocities: &[f64]) -> f64 {
        let (mut most, mut before) = (0.0_f64, self.during.velocity);
        let own = velocities.chunks_exact(E::FREEDOM).zip(self.now.edges());
        for ((own, edge), length) in own.zip(&self.lengths) {
            let velocity = DVec3::from_slice(&own[..3]);
            let turning = edge.normalize_or_zero().cross(velocity - before).length() / length;
            if turning.is_nan() || turning > most {
                most = turning;
            }
            before = velocity;
        }
        most
    }

    fn store(&self, vertices: Vertices<'_>) {
        let (root_velocity, spin) = self.moving;
        let held = self.before.iter().chain(std::iter::once(&self.now.root));
        for (k, position) in held.enumerate() {
            vertices.positions[k] = *position;
            vertices.velocities[k] = root_velocity + spin.cross(*position - self.now.root);
            vertices.orientations[k] = self.now.clamp;
        }
        // Frames belong to edges: that of the edge behind a vertex, and at the tip of the one before it.
        vertices.orientations[self.held - 1] = self.now.frames[0];
        let last = self.now.points.len() - 1;
        for (k, point) in self.now.points.iter().enumerate() {
            let vertex = self.held + k;
            vertices.positions[vertex] = *point;
            vertices.velocities[vertex] =
                DVec3::from_slice(&self.velocities[k * E::FREEDOM..k * E::FREEDOM + 3]);
            vertices.orientations[vertex] = self.now.frames[(k + 1).min(last)];
        }
    }

    fn energy(&self, gravity: DVec3) -> Energy {
        let mut energy =
            Energy { elastic: self.elements.energy(&self.now, &self.lengths), ..Energy::default() };
        for (k, (own, mass)) in self.velocities.chunks_exact(E::FREEDOM).zip(&self.masses).enumerate() {
            energy.kinetic += 0.5 * mass * DVec3::from_slice(&own[..3]).length_squared();
            let inertia = self.elements.inertia(self.now.frames[k], self.lengths[k]);
            for (row, line) in own[3..].iter().zip(&inertia) {
                energy.kinetic +=
                    0.5 * own[3..].iter().zip(line).map(|(rate, entry)| row * rate * entry).sum::<f64>();
            }
            energy.gravity -= mass * gravity.dot(self.now.points[k]);
        }
        energy
    }

    fn save(&self, out: &mut Vec<f64>) {
        let vectors = [self.now.root, self.moving.0, self.moving.1];
        let vectors = vectors.iter().chain(&self.now.points).chain(&self.before);
        out.extend(vectors.flat_map(|vector| vector.to_array()));
        let turns = std::iter::once(&self.now.clamp).chain(&self.now.frames);
        out.extend(turns.flat_map(|turn| turn.to_array()));
        out.extend(&self.velocities);
    }

    fn saved(&self) -> usize {
        let count = self.now.points.len();
        9 + 3 * count + 3 * self.before.len() + 4 * (count + 1) + self.velocities.len()
    }

    fn restore(&mut self, from: &[f64]) {
        let count = self.now.points.len();
        let (vectors, rest) = from.split_at(9 + 3 * count + 3 * self.before.len());
        let (turns, velocities) = rest.split_at(4 * (count + 1));
        let vectors: Vec<DVec3> = vectors.chunks_exact(3).map(DVec3::from_slice).collect();
        let turns: Vec<DQuat> = turns.chunks_exact(4).map(DQuat::from_slice).collect();
        self.moving = (vectors[1], vectors[2]);
        self.before = vectors[3 + count..].to_vec();
        let points = vectors[3..3 + count].to_vec();
        self.now = Line { root: vectors[0], clamp: turns[0], points, frames: turns[1..].to_vec() };
        self.velocities = velocities.to_vec();
    }

    fn misfit(&self) -> f64 {
        0.0
    }
}

/// A diagonal inertia in the axes of a frame, in those of the world.
pub(super) fn in_world(frame: DQuat, diagonal: DVec3) -> DMat3 {
    let axes = DMat3::from_quat(frame);
    axes * DMat3::from_diagonal(diagonal) * axes.transpose()
}
