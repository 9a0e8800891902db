//! Procedural growth of hair styles on any triangle mesh.
//!
//! Roots are spread evenly over the skin ([`roots`]). From each root a strand is integrated edge by edge: it
//! leaves along a mix of normal and comb, turns towards where the comb and then gravity take it, and glides on the
//! skin where it meets it ([`path`]). Locks draw strands together, curls wind around them, and a last
//! pass from root to tip restores edge lengths and the distance to the skin ([`shape`]).

mod ball;
mod path;
mod roots;
mod shape;
mod skin;
mod style;

pub use ball::hairy_ball;
pub use style::{Bangs, Clumps, Comb, Curl, Preset, Style, Tie};

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use thiserror::Error;

use super::{Curves, Groom, Root};
use crate::body::TriMesh;
use crate::math::Random;

/// Why no hair can be grown.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GrowError {
    /// A parameter is out of range.
    #[error("style: `{field}` is {value}; expected a number from {low} to {high}")]
    Parameter {
        /// Name of the parameter.
        field: &'static str,
        /// Its value.
        value: f32,
        /// The lowest value allowed.
        low: f32,
        /// The highest value allowed.
        high: f32,
    },
    /// There is no such preset.
    #[error("there is no style `{name}`; known styles: {known}")]
    NoSuchPreset {
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The mesh cannot be used.
    #[error("the surface mesh cannot grow hair: {reason}")]
    Mesh {
        /// What is wrong with it.
        reason: String,
    },
    /// A column of the surface has the wrong size.
    #[error(
        "the surface's `{column}` has {found} values for {expected} mesh vertices; give one for each, or none"
    )]
    Column {
        /// Name of the column.
        column: &'static str,
        /// How many values there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// There is nowhere to grow.
    #[error("the surface has no area where its density is above 0; paint a region to grow hair on")]
    NoArea,
    /// The density asks for too many strands.
    #[error("the density asks for {strands:.0} strands; expected 1 to {most}")]
    Density {
        /// How many strands it would take.
        strands: f64,
        /// The most that are allowed.
        most: u32,
    },
}

/// A surface that hair grows on.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// The skin.
    pub mesh: TriMesh,
    /// How dense hair grows at each vertex, 0 to 1; empty for 1 everywhere.
    pub density: Vec<f32>,
    /// Where hair at each vertex is combed to; a zero vector or an empty list leaves it to the style.
    pub comb: Vec<Vec3>,
    /// Where the face looks, a horizontal direction.
    pub front: Vec3,
}

impl Surface {
    /// A surface with hair everywhere that looks along +z.
    pub fn new(mesh: TriMesh) -> Self {
        Self { mesh, density: Vec::new(), comb: Vec::new(), front: Vec3::Z }
    }

    /// The same surface with hair only where `density` (0 to 1, for each vertex) allows it.
    pub fn with_density(self, density: Vec<f32>) -> Self {
        Self { density, ..self }
    }

    fn density_at(&self, vertex: u32) -> f32 {
        self.density.get(vertex as usize).copied().unwrap_or(1.0).clamp(0.0, 1.0)
    }

    /// Density between the corners of the triangle that a strand grows on.
    fn density_of(&self, place: &roots::Place) -> f32 {
        let corners = self.mesh.triangles[place.triangle as usize];
        corners.iter().zip(place.weights).map(|(&vertex, weight)| self.density_at(vertex) * weight).sum()
    }

    fn comb_at(&self, place: &roots::Place) -> Vec3 {
        let corners = self.mesh.triangles[place.triangle as usize];
        let hint = |vertex: u32| self.comb.get(vertex as usize).copied().unwrap_or_default();
        corners.iter().zip(place.weights).map(|(&vertex, weight)| hint(vertex) * weight).sum()
    }

    fn validate(&self) -> Result<(), GrowError> {
        let vertices = self.mesh.points.len();
        let mesh = |reason: String| Err(GrowError::Mesh { reason });
        if self.mesh.triangles.is_empty() {
            return mesh("it has no triangles".into());
        }
        if let Some(vertex) = self.mesh.points.iter().position(|point| !point.is_finite()) {
            return mesh(format!("vertex {vertex} is not finite"));
        }
        let outside = |triangle: &[u32; 3]| triangle.iter().any(|&vertex| vertex as usize >= vertices);
        if let Some(index) = self.mesh.triangles.iter().position(outside) {
            return mesh(format!(
                "triangle {index} names a vertex that does not exist ({vertices} vertices)"
            ));
        }
        for (column, found) in [("density", self.density.len()), ("comb", self.comb.len())] {
            if found != 0 && found != vertices {
                return Err(GrowError::Column { column, expected: vertices, found });
            }
        }
        if self.density.iter().any(|density| density.is_nan())
            || self.comb.iter().any(|comb| !comb.is_finite())
        {
            return mesh("its density or comb is not finite".into());
        }
        Ok(())
    }
}

/// Grows hair of a style on a surface. The same seed gives the same hair, on any number of threads.
///
/// Roots are bound to the mesh ([`Root::Triangle`]). `root_uv` maps the scalp spherically about its middle: u is
/// the angle around the vertical axis (0.5 in front), v the angle from straight down (0) to straight up (1).
pub fn grow(surface: &Surface, style: &Style, seed: u64) -> Result<Groom, GrowError> {
    surface.validate()?;
    style.validate()?;
    let skin = skin::Skin::new(surface)?;
    let random = Random::new(seed);
    let cumulative = roots::cumulative_area(surface);
    let count = strand_count(style, cumulative.last().copied().unwrap_or(0.0))?;
    let places = roots::scatter(surface, &cumulative, count, &random.fork(0))?;
    let head = path::Head::new(surface, &skin, style, &places);
    let strand_random = random.fork(1);
    let mut paths: Vec<path::Path> = places
        .par_iter()
        .enumerate()
        .map(|(index, place)| head.path(place, strand_random.fork(index as u64)))
        .collect();
    let locks = shape::Locks::new(style, &paths, &head, &random.fork(2));
    locks.draw_together(style, &mut paths);
    let points: Vec<Vec<Vec3>> = paths
        .par_iter()
        .enumerate()
        .map(|(strand, path)| shape::finish(style, &skin, &locks, strand, path))
        .collect();
    let mut curves = Curves::default();
    points.into_iter().for_each(|strand| curves.push(strand));
    let vertices = style.vertices as usize;
    let width = |vertex: usize| {
        style.root_width + (style.tip_width - style.root_width) * vertex as f32 / (vertices - 1) as f32
    };
    Ok(Groom {
        widths: (0..count).flat_map(|_| (0..vertices).map(width)).collect(),
        roots: places
            .iter()
            .map(|place| Root::Triangle { triangle: place.triangle, weights: place.weights })
            .collect(),
        root_uv: places.iter().map(|place| head.spherical(place.point)).collect(),
        curves,
        ..Groom::default()
    })
}

fn strand_count(style: &Style, area: f64) -> Result<usize, GrowError> {
    let Some(density) = style.density else { return Ok(style.strands as usize) };
    let strands = (f64::from(density) * area * 1e4).round();
    if !(strands >= 1.0 && strands <= f64::from(style::MOST_STRANDS)) {
        return Err(GrowError::Density { strands, most: style::MOST_STRANDS });
    }
    Ok(strands as usize)
}

/// Longitude and latitude of a direction, both from 0 to 1.
fn spherical_uv(direction: Vec3, front: Vec3) -> Vec2 {
    use std::f32::consts::{PI, TAU};
    let side = Vec3::Y.cross(front);
    let longitude = direction.dot(side).atan2(direction.dot(front));
    let latitude = direction.normalize_or(Vec3::Y).y.clamp(-1.0, 1.0).asin();
    Vec2::new(0.5 + longitude / TAU, 0.5 + latitude / PI)
}

#[cfg(test)]
mod tests;
