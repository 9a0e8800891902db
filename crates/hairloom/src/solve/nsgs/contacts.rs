//! What touches what at the end of a step, as far as known.

use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;

use super::fibre::Carried;
use crate::body::Obstacles;
use crate::contact::{Contact, ContactError, Detector, Settings};
use crate::math::Pose;
use crate::scene::{Drive, Model};

/// Marks contacts with bodies among keys.
const BODY: u64 = 1 << 63;

/// A point of a strand: the vertex, and how far along the edge behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub strand: usize,
    pub vertex: usize,
    pub share: f64,
}

/// A contact between two strands, or of a strand with a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Touch {
    /// Which contact this is, from step to step.
    pub key: u64,
    pub first: Point,
    /// Where the other side is a strand, too.
    pub second: Option<Point>,
    /// Unit normal, towards the first side.
    pub normal: DVec3,
    /// Distance of the surfaces [m].
    pub gap: f64,
    pub friction: f64,
    /// How the surface of the body moves there, where the other side is one.
    pub body: Carried,
}

impl Touch {
    /// The contact's own axes: the normal, and two tangents.
    pub(super) fn axes(&self) -> DMat3 {
        let tangent = self.normal.any_orthonormal_vector();
        DMat3::from_cols(self.normal, tangent, self.normal.cross(tangent))
    }
}

/// How bodies move in a step.
#[derive(Debug, Clone, Default)]
pub(super) struct BodyMotions {
    /// Time step [s].
    dt: f64,
    /// Poses at the start and at the end of bodies that move as a whole.
    rigid: Vec<Option<(Pose, Pose)>>,
}

impl BodyMotions {
    pub(super) fn new(drive: &Drive<'_>, dt: f64) -> Self {
        let of = |body: usize| {
            let (start, end) = (drive.pose(body, 0.0), drive.pose(body, 1.0));
            // A body that jumps is there from the start of the step on.
            let start = if drive.jumps(body) { end } else { start };
            (!drive.bodies.deforms(body)).then_some((start, end))
        };
        Self { dt, rigid: (0..drive.bodies.len()).map(of).collect() }
    }

    /// How the surface of a body moves that is at `point` at the end of the step. Points of a mesh that deforms go straight on, with `velocity`.
    fn at(&self, body: usize, point: DVec3, velocity: DVec3) -> Carried {
        let Some(Some((start, end))) = self.rigid.get(body) else {
            return Carried { point: point - 0.5 * self.dt * velocity, velocity, spin: DVec3::ZERO };
        };
        let before = start.apply(end.apply_inverse(point));
        Carried { point: before.midpoint(point), velocity: (point - before) / self.dt, spin: DVec3::ZERO }
    }
}

/// All strands at one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hair<'a> {
    pub model: &'a Model,
    pub positions: &'a [DVec3],
    /// How many vertices of each strand are held.
    pub held: &'a [u32],
    /// The strand of each vertex.
    pub strand_of: &'a [u32],
    /// How deep each vertex may be in the body that holds it: as it was to begin with, as a distance that is not positive [m].
    pub allowed: &'a [f32],
    /// The body that holds each strand.
    pub owners: &'a [u32],
    /// Factor on coefficients of friction.
    pub friction: f64,
}

impl Hair<'_> {
    fn point(&self, vertex: u32, share: f32) -> Point {
        let strand = self.strand_of[vertex as usize] as usize;
        Point { strand, vertex: vertex as usize - self.model.range(strand).start, share: f64::from(share) }
    }

    fn is_held(&self, point: &Point) -> bool {
        point.vertex + 2 <= self.held[point.strand] as usize
    }

    /// Contacts between strands that are near each other, sorted by key. `close` holds those of the last search, and then those of
    /// this one.
    pub(super) fn between_strands(
        &self,
        detector: &mut Detector,
        proximity: f64,
        close: &mut Vec<Contact>,
    ) -> Result<Vec<Touch>, ContactError> {
        let before = std::mem::take(close);
        detector.proximity(self.positions, &Settings::proximity(proximity as f32), &before, close)?;
        let touch = |contact: &Contact| {
            let (first, second) = (self.point(contact.a, contact.s), self.point(contact.b, contact.t));
            let touch = Touch {
                key: contact.key(),
                first,
                second: Some(second),
                normal: contact.normal.as_dvec3().normalize_or(DVec3::Y),
                gap: f64::from(contact.gap),
                friction: self.friction * f64::from(self.model.friction(first.strand, second.strand)),
                body: Carried::default(),
            };
            (!self.is_held(&first) || !self.is_held(&second)).then_some(touch)
        };
        Ok(close.iter().filter_map(touch).collect())
    }

    /// Contacts of free vertices with bodies that are within `reach` of their surfaces [m], sorted by key.
    pub(super) fn with_bodies(
        &self,
        obstacles: &Obstacles<'_>,
        motions: &BodyMotions,
        reach: f32,
    ) -> Vec<Touch> {
        let strands = (0..self.model.strands()).into_par_iter().with_min_len(16);
        strands.flat_map_iter(|strand| self.strand_with_bodies(strand, obstacles, motions, reach)).collect()
    }

    fn strand_with_bodies(
        &self,
        strand: usize,
        obstacles: &Obstacles<'_>,
        motions: &BodyMotions,
        reach: f32,
    ) -> Vec<Touch> {
        let range = self.model.range(strand);
        let free = range.start + self.held[strand] as usize..range.end;
        let points: Vec<Vec3> = self.positions[free.clone()].iter().map(|point| point.as_vec3()).collect();
        let axis = |k: usize| points.iter().map(|point| point[k]).collect::<Vec<f32>>();
        let mut clearance = vec![0.0; points.len()];
        obstacles.clearance_batch(&axis(0), &axis(1), &axis(2), &mut clearance);
        let owner = self.owners[strand] as usize;
        let near = free.zip(points).zip(clearance);
        let touch = |((vertex, point), clearance): ((usize, Vec3), f32)| {
            let radius = self.model.radii[vertex];
            if clearance > radius + reach {
                return None;
            }
            let (body, sample) = obstacles.nearest(point)?;
            let thickness = if body == owner { radius + self.allowed[vertex] } else { radius };
            let friction = self.model.body_friction(strand, body, obstacles.body(body).friction);
            let normal = sample.normal.as_dvec3().normalize_or(DVec3::Y);
            let surface = self.positions[vertex] - f64::from(sample.distance) * normal;
            let touch = Touch {
                key: BODY | (vertex as u64) << 24 | body as u64,
                first: self.point(vertex as u32, 0.0),
                second: None,
                normal,
                gap: f64::from(sample.distance - thickness),
                friction: self.friction * f64::from(friction),
                body: motions.at(body, surface, sample.velocity.as_dvec3()),
            };
            (touch.gap <= f64::from(reach)).then_some(touch)
        };
        near.filter_map(touch).collect()
    }

    /// How deep each vertex is in the body that holds its strand, as a distance that is not positive [m].
    pub(super) fn depths(&self, obstacles: &Obstacles<'_>) -> Vec<f32> {
        let mut depths = vec![0.0; self.positions.len()];
        if obstacles.any_collides() {
            depths.par_iter_mut().enumerate().for_each(|(vertex, depth)| {
                let owner = self.owners[self.strand_of[vertex] as usize] as usize;
                if obstacles.collider_indices().any(|body| body == owner) {
                    let sample = obstacles.sample(owner, self.positions[vertex].as_vec3());
                    *depth = (sample.distance - self.model.radii[vertex]).min(0.0);
                }
            });
        }
        depths
    }
}
