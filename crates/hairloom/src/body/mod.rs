//! Bodies that hair grows on and collides with: planes, spheres, capsules and triangle meshes, rigid or deforming,
//! behind one interface.
//!
//! [`Bodies`] holds all bodies of a scene during one step, and [`Bodies::at`] gives the [`Obstacles`] of one moment of it.
//! [`Obstacles::nearest`] gives the signed distance, the outward normal and the velocity of the body's material at the
//! closest point; [`Obstacles::clearance`] is a cheap lower bound of the distance that lets a solver skip most exact
//! queries.

mod bodies;
mod deforming;
mod error;
mod grid;
mod mesh;
mod mesh_shape;
mod motion;
mod obstacles;
mod primitive;
mod surface;
mod topology;
mod triangle;

#[cfg(test)]
mod tests;

use glam::Vec3;

pub use bodies::Bodies;
pub use error::BodyError;
pub use grid::DistanceGrid;
pub use mesh::TriMesh;
pub use mesh_shape::{MeshQuery, MeshSettings, MeshShape};
pub use motion::Motion;
pub(crate) use obstacles::Lookout;
pub use obstacles::Obstacles;
pub use surface::SurfacePoint;

/// What hair meets at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Signed distance to the surface [m], negative inside.
    pub distance: f32,
    /// Outward unit normal.
    pub normal: Vec3,
    /// Velocity of the body's material at the closest point [m/s].
    pub velocity: Vec3,
}

/// The shape of a body, in the body's own frame.
#[derive(Debug, Clone)]
pub enum Shape {
    /// The plane y = 0; outside is above.
    Plane,
    /// A sphere around the origin.
    Sphere {
        /// Radius [m].
        radius: f32,
    },
    /// All points within `radius` of a piece of the y axis.
    Capsule {
        /// Radius [m].
        radius: f32,
        /// Half of the length of the piece of the y axis, without the round ends [m].
        half_height: f32,
    },
    /// A triangle mesh.
    Mesh(MeshShape),
}

/// Something solid that hair collides with.
#[derive(Debug, Clone)]
pub struct Body {
    /// What the scene calls it.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
    /// Coulomb coefficient of friction with hair.
    pub friction: f32,
    /// Whether hair collides with it; otherwise hair only grows on it.
    pub collides: bool,
}

impl Body {
    /// A body that hair collides with, once its sizes and friction are known to make sense.
    pub fn new(name: impl Into<String>, shape: Shape, friction: f32) -> Result<Self, BodyError> {
        let body = Self { name: name.into(), shape, friction, collides: true };
        let numbers = match body.shape {
            Shape::Sphere { radius } => [("radius", radius), ("friction", friction), ("half height", 0.0)],
            Shape::Capsule { radius, half_height } => {
                [("radius", radius), ("friction", friction), ("half height", half_height)]
            }
            Shape::Plane | Shape::Mesh(_) => [("radius", 0.0), ("friction", friction), ("half height", 0.0)],
        };
        for (quantity, value) in numbers {
            if !(value.is_finite() && value >= 0.0) {
                return Err(BodyError::BadNumber { body: body.name, quantity, value });
            }
        }
        Ok(body)
    }
}
