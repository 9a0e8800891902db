//! Leaving a body without changing an edge's length (section 3.1: "the two remaining degrees of freedom …
//! can be used to resolve the collision").

use glam::Vec3;

use crate::body::{Obstacles, Sample};

/// Penetration that is left alone [m].
const TOLERANCE: f32 = 1.0e-5;
/// Tangent-plane iterations before the search takes over.
const PLANE_ITERATIONS: usize = 6;
/// Halvings of the arc in the search.
const ARC_ITERATIONS: usize = 12;
/// Directions that the search tries where the one away from the body leads into it again.
const DIRECTIONS: usize = 40;

/// Where a follower went, and what pushed it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch {
    /// The new edge, from the leader [m].
    pub edge: Vec3,
    /// The body's normal there.
    pub normal: Vec3,
    /// The body's velocity there [m/s].
    pub velocity: Vec3,
    /// Friction coefficient against the body.
    pub friction: f32,
    /// How far the follower was inside [m].
    pub depth: f32,
}

/// Moves a follower at `leader + edge` out of the bodies to distance `radius`, keeping the edge's length.
/// `None` where it is not inside.
pub(crate) fn resolve(bodies: &Obstacles<'_>, leader: Vec3, edge: Vec3, radius: f32) -> Option<Touch> {
    let (body, first) = bodies.nearest(leader + edge)?;
    let depth = radius - first.distance;
    if depth <= TOLERANCE {
        return None;
    }
    let length = edge.length();
    let mut sample = first;
    let mut new_edge = edge;
    for _ in 0..PLANE_ITERATIONS {
        new_edge = onto_plane(new_edge, length, &sample, radius);
        sample = bodies.nearest(leader + new_edge)?.1;
        if sample.distance >= radius - TOLERANCE {
            break;
        }
    }
    if sample.distance < radius - TOLERANCE {
        (new_edge, sample) = search_arc(bodies, leader, new_edge, length, radius, sample)?;
    }
    let friction = bodies.body(body).friction;
    Some(Touch { edge: new_edge, normal: sample.normal, velocity: sample.velocity, friction, depth })
}

/// The edge of the given length nearest to `edge` whose end lies on the body's tangent plane (or as near to
/// it as the length allows).
fn onto_plane(edge: Vec3, length: f32, sample: &Sample, radius: f32) -> Vec3 {
    let along = edge.dot(sample.normal);
    let height = (along + radius - sample.distance).clamp(-length, length);
    // Twice: what an edge along the normal leaves is rounding, which is not across the normal yet.
    let across = |edge: Vec3| edge - sample.normal * edge.dot(sample.normal);
    let flat = across(edge)
        .try_normalize()
        .and_then(|flat| across(flat).try_normalize())
        .unwrap_or_else(|| sample.normal.any_orthonormal_vector());
    let placed = sample.normal * height + flat * (length * length - height * height).max(0.0).sqrt();
    placed * (length / placed.length())
}

/// Turns the edge towards the direction away from the body until its end is outside: robust where the
/// tangent plane misleads (ridges, concave places, a leader that is itself pressed in).
fn search_arc(
    bodies: &Obstacles<'_>,
    leader: Vec3,
    edge: Vec3,
    length: f32,
    radius: f32,
    mut best: Sample,
) -> Option<(Vec3, Sample)> {
    let away = bodies.nearest(leader)?.1.normal;
    let start = edge.normalize_or(away);
    let mut best_edge = edge;
    let mut look = |direction: Vec3| -> Option<bool> {
        let sample = bodies.nearest(leader + direction * length)?.1;
        let out = sample.distance >= radius - TOLERANCE;
        if out || (sample.distance > best.distance && best.distance < radius - TOLERANCE) {
            best = sample;
            best_edge = direction * length;
        }
        Some(out)
    };
    // Directions from likely to desperate: away from the body, then all around, those nearest to the edge first.
    let mut goals = sphere_directions();
    goals.sort_by(|a, b| b.dot(start).total_cmp(&a.dot(start)));
    let goal = std::iter::once(away).chain(goals).find(|&goal| look(goal) == Some(true));
    if let Some(goal) = goal {
        let (mut inside, mut outside) = (0.0_f32, 1.0_f32);
        for _ in 0..ARC_ITERATIONS {
            let middle = 0.5 * (inside + outside);
            let turned = (start * (1.0 - middle) + goal * middle).normalize_or(goal);
            if look(turned)? { outside = middle } else { inside = middle }
        }
    }
    Some((best_edge, best))
}

/// Directions spread evenly over the sphere, on a golden spiral.
fn sphere_directions() -> [Vec3; DIRECTIONS] {
    std::array::from_fn(|k| {
        let height = 1.0 - (2 * k + 1) as f32 / DIRECTIONS as f32;
        let (sin, cos) = (2.399_963_2 * k as f32).sin_cos();
        let flat = (1.0 - height * height).sqrt();
        Vec3::new(flat * cos, height, flat * sin)
    })
}

/// The velocity of a follower that touched a body: inelastic along the normal (it may only leave as fast as
/// it already wanted to, `wanted`), Coulomb friction across.
pub(super) fn after_touch(velocity: Vec3, wanted: Vec3, touch: &Touch, dt: f32) -> Vec3 {
    let relative = velocity - touch.velocity;
    let along = relative.dot(touch.normal);
    let leaving = (wanted - touch.velocity).dot(touch.normal).max(0.0);
    let across = relative - touch.normal * along;
    let speed = across.length();
    let grip = touch.friction * touch.depth / dt;
    let kept = if speed > grip { 1.0 - grip / speed } else { 0.0 };
    touch.velocity + touch.normal * along.clamp(0.0, leaving) + across * kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An edge along the normal leaves nothing but rounding when its part along the normal is taken away.
    #[test]
    fn upright_edges_keep_their_length_on_a_plane() {
        let length = 0.011;
        for k in 0..10_000 {
            let (sin, cos) = (0.37 * k as f32).sin_cos();
            let normal = Vec3::new(cos, 0.3 * sin, 0.8 + 0.1 * sin).normalize();
            let lean = normal.any_orthonormal_vector() * (10.0_f32).powi(-(k % 9));
            let edge = (-normal + lean).normalize() * length;
            let sample = Sample { distance: -0.01 * (0.5 + 0.5 * cos), normal, velocity: Vec3::ZERO };
            let error = (onto_plane(edge, length, &sample, 1e-4).length() / length - 1.0).abs();
            assert!(error < 5e-7, "{k}: {error}");
        }
    }
}
