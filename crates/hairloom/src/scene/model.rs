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
    /// The shape that hair has without gravity, where it is not the groomed one.
    pub rest: Option<Arc<RestShape>>,
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
        if curves.strands() == 0 {
            return Err(ModelError::Empty);
        }
        let count = curves.points.len();
        let mut rest_lengths = vec![0.0; count];
        let mut masses = vec![0.0_f32; count];
        for strand in 0..curves.strands() {
            let range = curves.range(strand);
            if range.len() < 2 {
                return Err(ModelError::TooShort { strand, vertices: range.len() });
            }
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
        Ok(Self {
            offsets: curves.offsets.clone(),
            groomed: curves.points.clone(),
            rest_lengths,
            masses,
            radii: vec![material.radius as f32; count],
            materials: vec![*material],
            material_of: vec![0; curves.strands()],
            rest: None,
        })
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
}
