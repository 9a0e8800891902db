//! Bodies that hair meets: vertices leave them at the end of a step.

use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;

use super::rods::{Driven, Rods};
use crate::body::Obstacles;
use crate::math::Stored;
use crate::scene::Model;

/// Bodies that a vertex may be pushed out of, one after the other.
const PUSHES: usize = 8;

/// Moves every vertex out of the bodies, to the distance of its radius and the margin [m], and takes from its velocity what leads
/// into them, with friction by Coulomb's law. Returns how many vertices touch.
pub(super) fn leave<S: Stored>(
    rods: &mut Rods<S>,
    model: &Model,
    bodies: &Obstacles<'_>,
    margin: f64,
) -> u64 {
    let contacts = AtomicU64::new(0);
    rods.drive(|strand, driven| {
        let start = model.range(strand).start;
        let positions: Vec<DVec3> = driven.positions().collect();
        let mut touching = 0;
        for (vertex, position) in positions.into_iter().enumerate() {
            let distance = model.radii[start + vertex] + margin as f32;
            if !driven.is_pinned(vertex) && bodies.clearance(position.as_vec3()) < distance {
                touching += u64::from(push_out(driven, vertex, position, bodies, distance));
            }
        }
        contacts.fetch_add(touching, Ordering::Relaxed);
    });
    contacts.into_inner()
}

/// Pushes one vertex out of the nearest body, where it is inside, and then of the next: bodies may meet in a corner.
fn push_out<S: Stored>(
    driven: &mut Driven<'_, S>,
    vertex: usize,
    position: DVec3,
    bodies: &Obstacles<'_>,
    distance: f32,
) -> bool {
    let (mut shift, mut velocity) = (DVec3::ZERO, driven.velocity(vertex));
    for _ in 0..PUSHES {
        let Some((body, sample)) = bodies.nearest((position + shift).as_vec3()) else { break };
        let depth = f64::from(distance - sample.distance);
        if depth.is_nan() || depth <= 0.0 {
            break;
        }
        let normal = sample.normal.as_dvec3();
        shift += normal * depth;
        let relative = velocity - sample.velocity.as_dvec3();
        let into = -relative.dot(normal);
        if into > 0.0 {
            let slip = relative + normal * into;
            let (speed, friction) = (slip.length(), f64::from(bodies.body(body).friction));
            let kept = if speed > 0.0 { (1.0 - friction * into / speed).max(0.0) } else { 0.0 };
            velocity = sample.velocity.as_dvec3() + slip * kept;
        }
    }
    if shift == DVec3::ZERO {
        return false;
    }
    driven.push(vertex, shift, velocity);
    true
}
