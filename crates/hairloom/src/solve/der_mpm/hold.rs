//! Vertices and edges that bodies hold, and strands that they take along.

use glam::{DQuat, DVec3};

use super::pack::{Pack, Settled, get_vector, set_vector};
use crate::math::Stored;

/// The angle about `tangent` from one director to another [rad].
fn angle_about(tangent: DVec3, from: DVec3, to: DVec3) -> f64 {
    tangent.cross(from).dot(to).atan2(from.dot(to))
}

impl<S: Stored> Pack<S> {
    /// Moves a strand rigidly: `position` and the directions are turned about the origin, then shifted [m].
    pub(super) fn carry(&mut self, lane: usize, turn: DQuat, shift: DVec3) {
        self.roots[lane] = turn * self.roots[lane] + shift;
        self.turned[lane] = turn * self.turned[lane];
        for moving in &mut self.moving {
            for vector in [&mut moving.tangent, &mut moving.director, &mut moving.velocity] {
                let turned = turn * get_vector(vector, lane);
                set_vector(vector, lane, turned);
            }
        }
    }

    /// See [`super::rods::Driven::hold`].
    pub(super) fn hold(
        &mut self,
        lane: usize,
        vertex: usize,
        targets: &[DVec3],
        turn: DQuat,
        dt: f64,
        blend: f64,
    ) {
        let mut position = self.positions(lane).nth(vertex).unwrap_or(self.roots[lane]);
        let mut before = None;
        for (row, &target) in (vertex + self.first..self.moving.len()).zip(targets) {
            let moving = &mut self.moving[row];
            let velocity = get_vector(&moving.velocity, lane).lerp((target - position) / dt, blend);
            set_vector(&mut moving.velocity, lane, velocity);
            let reached = if blend >= 1.0 { target } else { position + velocity * dt };
            if vertex > 0 || before.is_some() {
                self.pin_targets.push((lane as u32, row as u32, reached));
            }
            let moving = &mut self.moving[row];
            position += get_vector(&moving.tangent, lane) * moving.length.get(lane);
            if let Some(last) = before {
                self.hold_edge(lane, row - 1, turn, (velocity - last) * dt, dt, None);
            } else if vertex == 0 {
                self.root_targets[lane] = (blend >= 1.0).then_some(target);
                self.hold_ghost(lane, turn, velocity, dt);
            }
            before = Some(velocity);
        }
    }

    /// The far end of a ghost turns about the root, which has this velocity.
    fn hold_ghost(&mut self, lane: usize, turn: DQuat, velocity: DVec3, dt: f64) {
        if self.first == 1 {
            let tangent = turn * self.groomed[lane][0].0;
            let ghost = &mut self.moving[0];
            let shift = (tangent - get_vector(&ghost.tangent, lane)) * ghost.length.get(lane);
            set_vector(&mut ghost.velocity, lane, velocity - shift / dt);
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
        let scale = 1.0 / (1.0 + old.dot(new)).max(1e-6);
        let carried = get_vector(&moving.director, lane);
        let carried = carried - (old + new) * (new.dot(carried) * scale);
        let angle = angle_about(new, carried, director.reject_from_normalized(new));
        moving.spin.set(lane, angle / dt);
        self.settled.push(Settled { row: row as u32, lane: lane as u32, director, tangent });
    }
}
