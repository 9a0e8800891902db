//! Rest shapes that hold the groomed hair where it is under gravity.
//!
//! # Theory
//!
//! J. Hsu, T. Wang, Z. Pan, X. Gao, C. Yuksel, K. Wu, *Sag-Free Initialization for Strand-Based Hybrid Hair Simulation*, 2023. Four
//! stages: forces that balance gravity (global force: [`Forces`]), the rest lengths, orientations and strains that make them (local
//! force), moments that balance those forces (global torque), and the rest curvatures that make those (local torque).
//!
//! Strands carry themselves ([`own_weight`]), or each other: on the paper's grid ([`global_force`]), or at single contacts
//! ([`with_contacts`]) where a method has those instead.
//!
//! # Conventions
//!
//! A segment belongs to its vertex nearer to the root, as rest lengths do in [`Model`]: segment `v` joins vertices
//! `v` and `v + 1`, and the entry at a tip is zero. Its force acts on vertex `v + 1`, and its opposite on vertex `v`. So a strand
//! that hangs from its root has forces that point up, each as large as the weight of all vertices behind it.

mod binormal;
mod contacts;
mod error;
pub mod global_force;
mod hairstyles;
mod helices;
mod law;
mod lever;
mod local_force;
mod made;
mod own_weight;
mod rods;
mod sag_free;
mod torque;

pub use contacts::with_contacts;
pub use error::RestError;
pub use global_force::Medium;
pub use hairstyles::Hairstyle;
pub use helices::on_helices;
pub use own_weight::own_weight;
pub use rods::{Against, RoundRod};
pub use sag_free::{Outcome, force_only, sag_free, sag_free_binormal, sag_free_elastic, sag_free_helices};

use glam::{DQuat, DVec3};

use crate::contact::pair_key;
use crate::groom::Curves;
use crate::rod::cosserat::{Darboux, frames_along};
use crate::scene::Model;

/// Hair that is to stay where it is.
#[derive(Debug, Clone, Copy)]
pub struct Hair<'a> {
    /// What stays constant.
    pub model: &'a Model,
    /// Where all vertices are, and are to stay [m].
    pub positions: &'a [DVec3],
    /// Which vertices something else holds.
    pub held: &'a [bool],
    /// Acceleration of gravity [m/s²].
    pub gravity: DVec3,
}

/// Forces and stresses that keep hair at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Forces {
    /// The force of each segment on its vertex nearer to the tip [N]; zero at tips. The other vertex feels the opposite.
    pub segments: Vec<DVec3>,
    /// V⁰τ of each vertex, its volume at rest times its Kirchhoff stress [J]: xx, xy, xz, yy, yz, zz. A node i of the grid feels
    /// −V⁰τ ∇w_i.
    pub stresses: Vec<[f64; 6]>,
    /// Side of a cell of the grid whose nodes, on world multiples of it, forces and stresses keep at rest [m]; none where forces alone keep
    /// every vertex at rest.
    pub cell: Option<f64>,
    /// Single contacts that carry a part, sorted by their edges; none where strands carry themselves, or meet on a grid.
    pub contacts: Vec<RestContact>,
}

/// A contact between strands at rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RestContact {
    /// The edges that touch, by their vertices nearer to the root; the first is the lesser.
    pub edges: [u32; 2],
    /// Where they touch, from 0 to 1 along each.
    pub places: [f64; 2],
    /// The force on the first edge [N]; the second feels the opposite.
    pub force: DVec3,
}

impl RestContact {
    /// Which pair of edges it is of, as one number.
    pub fn key(&self) -> u64 {
        pair_key(self.edges[0], self.edges[1])
    }

    /// The forces on the vertices of both edges [N].
    pub fn loads(&self) -> [(usize, DVec3); 4] {
        let ([a, b], [s, t]) = (self.edges.map(|edge| edge as usize), self.places);
        let force = self.force;
        [(a, force * (1.0 - s)), (a + 1, force * s), (b, force * (t - 1.0)), (b + 1, force * -t)]
    }
}

impl Forces {
    /// A part of the way from these to others. Where both keep hair at rest, so does every mix: nodes and vertices add up what they feel, and
    /// cones of stresses and of friction are convex.
    pub fn towards(&self, others: &Self, part: f64) -> Self {
        let segments = self.segments.iter().zip(&others.segments);
        let stresses = self.stresses.iter().zip(&others.stresses);
        let mix = |(own, other): (&[f64; 6], &[f64; 6])| {
            std::array::from_fn(|at| (1.0 - part) * own[at] + part * other[at])
        };
        Self {
            segments: segments.map(|(own, other)| own.lerp(*other, part)).collect(),
            stresses: stresses.map(mix).collect(),
            cell: others.cell,
            contacts: self.contacts_towards(others, part),
        }
    }

    fn contacts_towards(&self, others: &Self, part: f64) -> Vec<RestContact> {
        let weighed = |contacts: &[RestContact], by: f64| -> Vec<RestContact> {
            contacts.iter().map(|contact| RestContact { force: contact.force * by, ..*contact }).collect()
        };
        let mut contacts = weighed(&self.contacts, 1.0 - part);
        contacts.extend(weighed(&others.contacts, part));
        contacts.sort_by_key(RestContact::key);
        contacts.dedup_by(|second, first| {
            let is_same = first.key() == second.key();
            if is_same {
                first.force += second.force;
            }
            is_same
        });
        contacts
    }
}

/// What a round Cosserat rod resists with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stiffness {
    /// EA, against stretching and shearing [N].
    pub stretch: f64,
    /// EI, against bending and twisting [N m²].
    pub bend: f64,
    /// What joints compare with their rest shape.
    pub darboux: Darboux,
}

/// The shape that hair has without gravity.
#[derive(Debug, Clone, PartialEq)]
pub struct RestShape {
    /// Lengths of the segments [m]; 0 at tips.
    pub lengths: Vec<f64>,
    /// Rotations over the joints, from the frame of the segment before each vertex to that of the one behind it; at roots from that of
    /// the clamp.
    pub joints: Vec<DQuat>,
    /// Factors on the stiffness of the segments, 1 or more.
    pub stretch: Vec<f64>,
    /// Factors on the stiffness of the joints, 1 or more.
    pub bend: Vec<f64>,
    /// Forces that the segments make in the shape that gravity gives the hair, on their vertices nearer to the tip [N].
    pub forces: Vec<DVec3>,
    /// Frames of the segments in that shape.
    pub orientations: Vec<DQuat>,
    /// Natural curvatures of each strand's elements, where strands are super-helices; empty elsewhere [1/m].
    pub curvatures: Vec<Vec<DVec3>>,
    /// V⁰τ of each vertex in that shape [J]: xx, xy, xz, yy, yz, zz.
    pub stresses: Vec<[f64; 6]>,
    /// Side of a cell of the grid that forces and stresses balance on [m]; none where every vertex is at rest by the forces alone.
    pub cell: Option<f64>,
    /// Single contacts that carry a part, sorted by their edges: solvers begin with their forces.
    pub contacts: Vec<RestContact>,
}

/// The rest shape of one segment and of the joint before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RestElement {
    /// Length of the segment [m].
    pub length: f64,
    /// Rotation over the joint.
    pub joint: DQuat,
    /// Factor on the stiffness of the segment.
    pub stretch: f64,
    /// Factor on the stiffness of the joint.
    pub bend: f64,
}

impl RestShape {
    /// The segment behind a vertex, and the joint at it.
    ///
    /// # Panics
    /// Where there is no such vertex.
    pub fn of(&self, vertex: usize) -> RestElement {
        RestElement {
            length: self.lengths[vertex],
            joint: self.joints[vertex],
            stretch: self.stretch[vertex],
            bend: self.bend[vertex],
        }
    }

    /// What single contacts push each vertex with [N].
    pub fn contact_loads(&self) -> Vec<DVec3> {
        contacts::contact_loads(&self.contacts, self.lengths.len())
    }

    /// The strands of `model` as they would be without gravity, from their clamped roots on.
    ///
    /// # Panics
    /// Where the model has other strands than the shape was found for.
    pub fn curves(&self, model: &Model) -> Curves {
        let mut curves = Curves::default();
        for strand in 0..model.strands() {
            let range = model.range(strand);
            let groomed: Vec<DVec3> = model.groomed[range.clone()].iter().map(|p| p.as_dvec3()).collect();
            let (mut point, mut frame) = (groomed[0], frames_along(&groomed, DQuat::IDENTITY)[0]);
            let mut points = vec![point];
            for vertex in range.start..range.end - 1 {
                frame = (frame * self.joints[vertex]).normalize();
                point += frame * DVec3::Z * self.lengths[vertex];
                points.push(point);
            }
            curves.push(points.into_iter().map(|point| point.as_vec3()));
        }
        curves
    }
}
