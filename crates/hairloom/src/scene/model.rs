use std::ops::Range;
use std::sync::Arc;

use glam::{DVec3, Vec3};
use thiserror::Error;

use super::material::Material;
use crate::groom::Curves;
use crate::rest::RestShape;

/// All that stays constant while hair moves.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Where each strand's vertices begin; one more entry than strands.
    pub offsets: Vec<u32>,
    /// Where the vertices were groomed [m]: the shape that everything else here was measured in.
    pub groomed: Vec<Vec3>,
    /// Rest length of the edge behind each vertex [m]; 0 at the tips.
    pub rest_lengths: Vec<f64>,
    /// Mass of each vertex: half of each edge beside it [kg].
    pub masses: Vec<f32>,
    /// Collision radius at each vertex [m].
    pub radii: Vec<f32>,
    /// The materials in use.
    pub materials: Vec<Material>,
    /// Which material each strand is made of.
    pub material_of: Vec<u16>,
    /// Friction of materials with each other and with bodies.
    pub frictions: Frictions,
    /// The shape that hair has without gravity, where it is not the groomed one.
    pub rest: Option<Arc<RestShape>>,
}

/// Coulomb's coefficients of pairs of materials, and of materials with bodies.
#[derive(Debug, Clone, PartialEq)]
pub struct Frictions {
    materials: usize,
    /// One row for each material, one entry for each other.
    between: Vec<f32>,
    /// Material, body and coefficient, where that is not the body's own.
    with_bodies: Vec<(u16, u16, f32)>,
}

impl Frictions {
    /// The mean of both coefficients for each pair of materials; bodies have coefficients of their own.
    pub fn new(materials: &[Material]) -> Self {
        let mean = |a: &Material, b: &Material| (0.5 * (a.friction + b.friction)) as f32;
        let between = materials.iter().flat_map(|a| materials.iter().map(move |b| mean(a, b))).collect();
        Self { materials: materials.len(), between, with_bodies: Vec::new() }
    }

    /// Sets the coefficient of two materials.
    pub fn set_between(&mut self, a: u16, b: u16, friction: f32) {
        let (a, b) = (a as usize, b as usize);
        self.between[a * self.materials + b] = friction;
        self.between[b * self.materials + a] = friction;
    }

    /// Sets the coefficient of a material with a body.
    pub fn set_with_body(&mut self, material: u16, body: usize, friction: f32) {
        self.with_bodies.retain(|&(m, b, _)| (m, usize::from(b)) != (material, body));
        self.with_bodies.push((material, body as u16, friction));
    }
}

/// Why hair cannot be simulated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// No strands at all.
    #[error("the groom has no strands; there is nothing to simulate")]
    Empty,
    /// A strand too short to have an edge.
    #[error("strand {strand} has {vertices} vertices; at least 2 are needed")]
    TooShort {
        /// Index of the strand.
        strand: usize,
        /// How many vertices it has.
        vertices: usize,
    },
    /// An edge without a length, or a coordinate that is no number.
    #[error(
        "strand {strand}, vertex {vertex}: the edge to the next vertex has length {length}; it must be positive and finite"
    )]
    BadEdge {
        /// Index of the strand.
        strand: usize,
        /// Vertex along the strand.
        vertex: usize,
        /// Its length, as text.
        length: String,
    },
}

impl Model {
    /// The model of curves in their groomed shape, all of one material.
    pub fn new(curves: &Curves, material: &Material) -> Result<Self, ModelError> {
        Self::of_materials(curves, vec![*material], vec![0; curves.strands()])
    }

    /// The model of curves in their groomed shape, each of one of the materials.
    pub fn of_materials(
        curves: &Curves,
        materials: Vec<Material>,
        material_of: Vec<u16>,
    ) -> Result<Self, ModelError> {
        if curves.strands() == 0 {
            return Err(ModelError::Empty);
        }
        let count = curves.points.len();
        let mut rest_lengths = vec![0.0; count];
        let mut masses = vec![0.0_f32; count];
        let mut radii = vec![0.0_f32; count];
        for strand in 0..curves.strands() {
            let range = curves.range(strand);
            if range.len() < 2 {
                return Err(ModelError::TooShort { strand, vertices: range.len() });
            }
            let material = &materials[material_of[strand] as usize];
            radii[range.clone()].fill(material.radius as f32);
            for vertex in range.start..range.end - 1 {
                let (a, b): (DVec3, DVec3) = (curves.points[vertex].into(), curves.points[vertex + 1].into());
                let length = (b - a).length();
                // Also refuses NaN.
                if !(length > 1.0e-9 && length < 1.0e6) {
                    let vertex = vertex - range.start;
                    return Err(ModelError::BadEdge { strand, vertex, length: format!("{length:e} m") });
                }
                let half = (0.5 * length * material.mass_per_length()) as f32;
                rest_lengths[vertex] = length;
                masses[vertex] += half;
                masses[vertex + 1] += half;
            }
        }
        let offsets = curves.offsets.clone();
        let (groomed, frictions) = (curves.points.clone(), Frictions::new(&materials));
        let rest = None;
        Ok(Self { offsets, groomed, rest_lengths, masses, radii, materials, material_of, frictions, rest })
    }

    /// The number of strands.
    pub fn strands(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of vertices of all strands.
    pub fn vertices(&self) -> usize {
        self.rest_lengths.len()
    }

    /// Where the vertices of `strand` are.
    pub fn range(&self, strand: usize) -> Range<usize> {
        self.offsets[strand] as usize..self.offsets[strand + 1] as usize
    }

    /// What `strand` is made of.
    pub fn material(&self, strand: usize) -> &Material {
        &self.materials[self.material_of[strand] as usize]
    }

    /// Coulomb's coefficient between two strands.
    pub fn friction(&self, a: usize, b: usize) -> f32 {
        let Frictions { materials, between, .. } = &self.frictions;
        between[self.material_of[a] as usize * materials + self.material_of[b] as usize]
    }

    /// Coulomb's coefficient between a strand and a body, whose own is given.
    pub fn body_friction(&self, strand: usize, body: usize, own: f32) -> f32 {
        let material = self.material_of[strand];
        let pairs = &self.frictions.with_bodies;
        let pair = pairs.iter().find(|&&(m, b, _)| m == material && usize::from(b) == body);
        pair.map_or(own, |&(_, _, friction)| friction)
    }
}
