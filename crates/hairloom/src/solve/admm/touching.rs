//! What touches what: contacts of strands with each other and with bodies.

use glam::{DVec3, Vec3, Vec3A};
use rayon::prelude::*;

use super::touch::Touch;
use crate::body::{Obstacles, Sample};
use crate::contact::{Contact, Impact};
use crate::scene::Model;

/// Steps of bisection along an edge.
const BISECTIONS: u32 = 7;
/// Contacts that one task looks up.
const PER_TASK: usize = 4096;

/// What contacts are made from: all vertices strand after strand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hair<'a> {
    pub model: &'a Model,
    /// Where positions are measured from [m].
    pub origin: DVec3,
    /// Positions when the step began [m].
    pub start: &'a [Vec3],
    /// Displacements since [m].
    pub moved: &'a [Vec3A],
    /// The strand of each vertex.
    pub strand_of: &'a [u32],
}

impl Hair<'_> {
    /// A contact between strands, found when vertices were at `time` of the way from the start to where they are.
    fn between(&self, contact: &Contact, time: f32) -> Touch {
        let Contact { a, b, s, t, normal, gap } = *contact;
        let strand = |vertex: u32| self.strand_of[vertex as usize] as usize;
        let friction = self.model.friction(strand(a), strand(b));
        let touch = Touch::between([a, b], [s, t], normal, friction);
        touch.with_gap(gap - time * normal.dot(touch.relative(self.moved).into()), Vec3::ZERO)
    }

    /// Contacts between strands that are close at the start of the step.
    pub(super) fn close(&self, contacts: &[Contact]) -> Vec<Touch> {
        contacts.par_iter().map(|contact| self.between(contact, 0.0)).collect()
    }

    /// Contacts between strands that meet on their way.
    pub(super) fn impacts(&self, impacts: &[Impact]) -> Vec<Touch> {
        impacts.par_iter().map(|impact| self.between(&impact.contact, impact.time)).collect()
    }

    /// Contacts of vertices with bodies, where they are now, and of edges at the point between their ends that is deepest
    /// or nearest, if they are within `reach` [m] beyond the hair's radius and `margin`. Sorted. `dt` is how long bodies
    /// move [s].
    pub(super) fn with_bodies(
        &self,
        obstacles: &Obstacles<'_>,
        margin: f32,
        reach: f32,
        dt: f32,
    ) -> Vec<Touch> {
        let strands = (0..self.model.strands()).into_par_iter().with_min_len(16);
        let found = strands.map(|strand| self.strand_with_bodies(strand, obstacles, margin, reach, dt));
        found.flatten_iter().collect()
    }

    fn strand_with_bodies(
        &self,
        strand: usize,
        obstacles: &Obstacles<'_>,
        margin: f32,
        reach: f32,
        dt: f32,
    ) -> Vec<Touch> {
        let range = self.model.range(strand);
        let place = |vertex: usize| {
            (self.origin + (self.start[vertex] + Vec3::from(self.moved[vertex])).as_dvec3()).as_vec3()
        };
        let points: Vec<Vec3> = range.clone().map(place).collect();
        let axis = |k: usize| points.iter().map(|point| point[k]).collect::<Vec<f32>>();
        let mut clearance = vec![0.0; points.len()];
        obstacles.clearance_batch(&axis(0), &axis(1), &axis(2), &mut clearance);
        let edges = points.len() - 1;
        let radius = |i: usize| self.model.radii[range.start + i];
        // No point of the edge is nearer to a body than half of what its length leaves between its ends.
        let near = |i: usize| {
            let least = 0.5 * (clearance[i] + clearance[i + 1] - points[i].distance(points[i + 1]));
            let limit = radius(i).max(radius(i + 1)) + margin + reach;
            least.min(clearance[i]).min(clearance[i + 1]) <= limit
        };
        let mut touches = Vec::new();
        let mut touch = |edge: usize, s: f32, thickness: f32, (body, sample): (usize, Sample)| {
            if sample.distance > thickness + margin + reach {
                return;
            }
            let friction = self.model.body_friction(strand, body, obstacles.body(body).friction);
            let vertex = (range.start + edge) as u32;
            let touch = Touch::on_body(vertex, s, body, sample.normal, friction);
            let gap =
                sample.distance - thickness - margin - sample.normal.dot(touch.relative(self.moved).into());
            touches.push(touch.with_gap(gap, sample.velocity * dt));
        };
        let mut before: Option<(usize, (usize, Sample))> = None;
        for i in (0..edges).filter(|&i| near(i)) {
            let known = before.filter(|(vertex, _)| *vertex == i).map(|(_, sample)| sample);
            let Some(first) = known.or_else(|| obstacles.nearest(points[i])) else { continue };
            let Some(second) = obstacles.nearest(points[i + 1]) else { continue };
            touch(i, 0.0, radius(i), first);
            if let Some((s, sample)) = deepest(points[i], points[i + 1], first.1, second.1, obstacles) {
                touch(i, s, radius(i).max(radius(i + 1)), sample);
            }
            // The edge behind begins with this vertex, if it is near too.
            if i + 1 == edges || !near(i + 1) {
                touch(i, 1.0, radius(i + 1), second);
            }
            before = Some((i + 1, second));
        }
        touches.sort_unstable_by_key(Touch::key);
        touches
    }
}

/// The point between the ends of an edge where the distance to the nearest body is smallest, if that is at neither end.
fn deepest(
    start: Vec3,
    end: Vec3,
    first: Sample,
    second: Sample,
    obstacles: &Obstacles<'_>,
) -> Option<(f32, (usize, Sample))> {
    let edge = end - start;
    if first.normal.dot(edge) >= 0.0 || second.normal.dot(edge) <= 0.0 {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        let (_, sample) = obstacles.nearest(start + edge * middle)?;
        if sample.normal.dot(edge) < 0.0 { low = middle } else { high = middle }
    }
    let middle = 0.5 * (low + high);
    Some((middle, obstacles.nearest(start + edge * middle)?))
}

/// Hands the forces of `before` to the contacts of `touches` that were there, as [N] in `correction`. Both are sorted
/// by key.
pub(super) fn warm_start(touches: &mut [Touch], before: &[(u64, Vec3)]) {
    touches.par_chunks_mut(PER_TASK).for_each(|touches| {
        let Some(first) = touches.first() else { return };
        let mut old = before.partition_point(|(key, _)| *key < first.key());
        for touch in touches {
            while before.get(old).is_some_and(|(key, _)| *key < touch.key()) {
                old += 1;
            }
            let same = before.get(old).filter(|(key, _)| *key == touch.key());
            touch.correction = same.map_or(Vec3::ZERO, |(_, force)| *force);
        }
    });
}

/// Sorted lists of contacts as one; a contact that both hold is taken from the first.
pub(super) fn merge(known: impl Iterator<Item = Touch>, new: &[Touch]) -> Vec<Touch> {
    let mut all = Vec::with_capacity(known.size_hint().1.unwrap_or(0) + new.len());
    let mut new = new.iter().peekable();
    for touch in known {
        while let Some(before) = new.next_if(|new| new.key() < touch.key()) {
            all.push(*before);
        }
        let _ = new.next_if(|new| new.key() == touch.key());
        all.push(touch);
    }
    all.extend(new);
    all
}
