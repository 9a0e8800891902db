use std::ops::Range;

use glam::{DQuat, DVec3, Quat};

use super::Model;
use crate::body::Bodies;
use crate::math::Pose;

/// What an attachment holds on to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seat {
    /// The body's own frame.
    Body,
    /// The frame of a triangle of the body's mesh, at a point of that triangle: follows a deforming mesh.
    Triangle {
        /// Index of the triangle.
        triangle: u32,
        /// Barycentric weights of its corners; they sum to one.
        weights: [f32; 3],
    },
}

/// A run of vertices of one strand held by a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attachment {
    /// Index of the strand.
    pub strand: u32,
    /// First held vertex, counted along the strand.
    pub first: u32,
    /// How many vertices are held.
    pub count: u32,
    /// Index of the body.
    pub body: u32,
    /// Where on the body.
    pub seat: Seat,
    /// Where the coordinates of the held vertices begin in [`Attachments::points`].
    pub points: u32,
    /// Rotation of the seat when it took hold of the groomed strand: directions as groomed are turned from there.
    pub bind: Quat,
    /// Whether it holds the direction and the twist of the strand, too, by methods that know them. Roots are always clamped.
    pub clamped: bool,
}

/// All attachments of a scene, sorted by strand and then by first vertex.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attachments {
    /// The attachments.
    pub items: Vec<Attachment>,
    /// Coordinates of held vertices in the frames of their seats [m].
    pub points: Vec<DVec3>,
}

impl Seat {
    /// The frame of this seat on `body`, at fraction `t` of the step under way. A triangle that the body does
    /// not have gives the body's own frame.
    pub fn frame(&self, bodies: &Bodies, body: usize, t: f64) -> Pose {
        match *self {
            Seat::Body => None,
            Seat::Triangle { triangle, weights } => {
                bodies.triangle_frame(body, triangle as usize, weights, t)
            }
        }
        .unwrap_or_else(|| bodies.pose(body, t))
    }
}

impl Attachment {
    /// How far the groom is turned where the seat has this frame.
    pub fn turn_from_groom(&self, frame: &Pose) -> DQuat {
        frame.rotation * self.bind.as_dquat().conjugate().normalize()
    }
}

impl Attachments {
    /// The attachments of each of so many strands.
    pub fn by_strand(&self, strands: usize) -> Vec<Range<usize>> {
        let (mut of_strand, mut start) = (vec![0..0; strands], 0);
        for same in self.items.chunk_by(|a, b| a.strand == b.strand) {
            of_strand[same[0].strand as usize] = start..start + same.len();
            start += same.len();
        }
        of_strand
    }

    /// Holds `vertices` (world positions, consecutive from vertex `first` of `strand`) to where `body` is at
    /// the start of the step under way. Call in order of strands.
    pub fn hold(
        &mut self,
        bodies: &Bodies,
        body: usize,
        seat: Seat,
        strand: u32,
        first: u32,
        vertices: &[DVec3],
    ) {
        let frame = seat.frame(bodies, body, 0.0);
        let points = self.points.len() as u32;
        self.points.extend(vertices.iter().map(|&vertex| frame.apply_inverse(vertex)));
        let count = vertices.len() as u32;
        let bind = frame.rotation.as_quat();
        let (body, clamped) = (body as u32, first == 0);
        self.items.push(Attachment { strand, first, count, body, seat, points, bind, clamped });
    }

    /// As [`Self::hold`], but holds the direction and the twist of the strand as groomed, too.
    pub fn clamp(
        &mut self,
        bodies: &Bodies,
        body: usize,
        seat: Seat,
        strand: u32,
        first: u32,
        vertices: &[DVec3],
    ) {
        self.hold(bodies, body, seat, strand, first, vertices);
        if let Some(last) = self.items.last_mut() {
            last.clamped = true;
        }
    }

    /// The coordinates of the vertices that `attachment` holds.
    pub fn points_of(&self, attachment: &Attachment) -> &[DVec3] {
        &self.points[attachment.points as usize..(attachment.points + attachment.count) as usize]
    }
}

/// Which vertices of a model are held.
pub fn held_vertices(model: &Model, attachments: &Attachments) -> Vec<bool> {
    let mut held = vec![false; model.vertices()];
    for attachment in &attachments.items {
        let start = model.range(attachment.strand as usize).start + attachment.first as usize;
        held[start..start + attachment.count as usize].fill(true);
    }
    held
}
