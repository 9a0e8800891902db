//! What touches what: contacts of strands with each other and with bodies.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::projection::Touch;
use crate::body::Obstacles;
use crate::contact::{Contact, Impact};
use crate::scene::Model;

/// Steps of bisection along an edge.
const BISECTIONS: u32 = 7;
/// Keys of contacts with bodies are above all keys of pairs of edges.
const BODY: u64 = 1 << 63;

impl Touch {
    /// Whether this is a contact with a body.
    pub(super) fn with_body(&self) -> bool {
        self.key & BODY != 0
    }
}

/// What contacts are made from: all vertices strand after strand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hair<'a> {
    pub model: &'a Model,
    /// Where positions are measured from [m].
    pub origin: DVec3,
    /// Positions when the step began [m].
    pub start: &'a [Vec3],
    /// Displacements since [m].
    pub moved: &'a [Vec3],
    /// The strand of each vertex.
    pub strand_of: &'a [u32],
}

impl Hair<'_> {
    fn friction(&self, vertex: u32) -> f32 {
        self.model.material(self.strand_of[vertex as usize] as usize).friction as f32
    }

    /// A contact between strands, found when vertices were at `time` of the way from the start to where they are.
    fn between(&self, contact: &Contact, time: f32) -> Touch {
        let Contact { a, b, s, t, normal, gap } = *contact;
        let mut touch = Touch {
            key: contact.key(),
            vertices: [a, a + 1, b, b + 1],
            shares: [1.0 - s, s, t - 1.0, -t],
            normal,
            gap,
            friction: 0.5 * (self.friction(a) + self.friction(b)),
            ..Touch::default()
        };
        touch.gap -= time * normal.dot(touch.relative(self.moved));
        touch
    }

    /// Contacts between strands that are close at the start of the step.
    pub(super) fn close(&self, contacts: &[Contact]) -> Vec<Touch> {
        contacts.par_iter().map(|contact| self.between(contact, 0.0)).collect()
    }

    /// Contacts between strands that meet on their way.
    pub(super) fn impacts(&self, impacts: &[Impact]) -> Vec<Touch> {
        impacts.par_iter().map(|impact| self.between(&impact.contact, impact.time)).collect()
    }

    /// Contacts of edges with bodies, where they are now: the point of each edge that is deepest, or nearest, if it
    /// is within `reach` [m] beyond the hair's radius and `margin`. `dt` is how long bodies move [s].
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
        let place =
            |vertex: usize| (self.origin + (self.start[vertex] + self.moved[vertex]).as_dvec3()).as_vec3();
        let points: Vec<Vec3> = range.clone().map(place).collect();
        let axis = |k: usize| points.iter().map(|point| point[k]).collect::<Vec<f32>>();
        let mut clearance = vec![0.0; points.len()];
        obstacles.clearance_batch(&axis(0), &axis(1), &axis(2), &mut clearance);
        let mut touches = Vec::new();
        let mut ended_at = None;
        for i in 0..points.len() - 1 {
            let vertex = range.start + i;
            let thickness = self.model.radii[vertex].max(self.model.radii[vertex + 1]) + margin;
            let edge = points[i + 1] - points[i];
            // No point of the edge is nearer to a body than this.
            let least = 0.5 * (clearance[i] + clearance[i + 1] - edge.length());
            if least.min(clearance[i]).min(clearance[i + 1]) > thickness + reach {
                continue;
            }
            let Some((body, sample, s)) = deepest(points[i], edge, obstacles) else { continue };
            if sample.distance > thickness + reach {
                continue;
            }
            // A vertex between two edges belongs to the one that begins there, if that meets the body there too.
            if s <= 0.0 && ended_at == Some(i) {
                touches.pop();
            }
            ended_at = (s >= 1.0).then_some(i + 1);
            let mut touch = Touch {
                key: BODY | (vertex as u64) << 16 | body as u64,
                vertices: [vertex as u32, vertex as u32 + 1, vertex as u32, vertex as u32],
                shares: [1.0 - s, s, 0.0, 0.0],
                normal: sample.normal,
                gap: sample.distance - thickness,
                drift: sample.velocity * dt,
                friction: obstacles.body(body).friction,
                ..Touch::default()
            };
            touch.gap -= touch.normal.dot(touch.relative(self.moved));
            touches.push(touch);
        }
        touches
    }
}

/// The point of an edge where the distance to the nearest body is smallest.
fn deepest(start: Vec3, edge: Vec3, obstacles: &Obstacles<'_>) -> Option<(usize, crate::body::Sample, f32)> {
    let at = |s: f32| obstacles.nearest(start + edge * s).map(|(body, sample)| (body, sample, s));
    let slope = |found: &(usize, crate::body::Sample, f32)| found.1.normal.dot(edge);
    let (first, second) = (at(0.0)?, at(1.0)?);
    if slope(&first) >= 0.0 && slope(&second) >= 0.0 {
        return Some(first);
    }
    if slope(&first) <= 0.0 && slope(&second) <= 0.0 {
        return Some(second);
    }
    if slope(&first) > 0.0 {
        // The middle is farther than the ends.
        return Some(if first.1.distance <= second.1.distance { first } else { second });
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = at(0.5 * (low + high))?;
        if slope(&middle) < 0.0 { low = middle.2 } else { high = middle.2 }
    }
    at(0.5 * (low + high))
}

/// Hands the forces of `before` to the contacts of `touches` that were there, as [N] in `correction`.
pub(super) fn warm_start(touches: &mut [Touch], before: &[(u64, Vec3)]) {
    touches.par_iter_mut().with_min_len(1024).for_each(|touch| {
        let place = before.binary_search_by_key(&touch.key, |(key, _)| *key);
        touch.correction = place.map_or(Vec3::ZERO, |index| before[index].1);
    });
}
