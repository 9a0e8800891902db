//! Grooms: curves as structure of arrays, with what the artist attached to them.

mod carry;
mod check;
mod curves;
mod edit;
mod follow;
mod grow;
mod lanes;
mod nearest;
mod pick;
mod plan;
mod remap;
mod resample;
mod seating;
mod size;
mod smooth;

pub use check::{DEFAULT_WIDTH, FARTHEST, GroomError, Repairs, SHORTEST_EDGE};
pub use curves::Curves;
pub use edit::{
    Amount, Axis, Cut, Edit, EditError, Skin, Turned, choose_guides, clump, grow_length, mirror, remove,
    remove_inside, scale_curl, scale_length, seat, smooth_strands, trim, trim_to_fraction, trim_to_length,
    trim_to_plane, turn_strands,
};
pub use follow::{Binding, Follow, FollowBlend, FollowError};
pub use grow::{Bangs, Clumps, Comb, Curl, GrowError, Preset, Style, Surface, Tie, grow, hairy_ball};
pub use pick::{Pick, pick_guides};
pub use remap::Remap;
pub use resample::{resample, resample_in_all};
pub use seating::{OffSkin, Seating};

use glam::{Vec2, Vec3};

/// How a strand's root is held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Root {
    /// Not held at all.
    Free,
    /// Moves rigidly with the body that the groom sits on.
    Rigid,
    /// Sits on a triangle of the body's mesh and follows it when it deforms.
    Triangle {
        /// Index of the triangle.
        triangle: u32,
        /// Barycentric weights of its corners; they sum to one.
        weights: [f32; 3],
    },
}

/// Values of one extra attribute, one per strand or one per vertex.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Real numbers.
    Float(Vec<f32>),
    /// Pairs, for instance texture coordinates.
    Vec2(Vec<Vec2>),
    /// Triples, for instance colours.
    Vec3(Vec<Vec3>),
    /// Whole numbers.
    Int(Vec<i32>),
}

/// What an attribute's values belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// One value for each strand.
    Strand,
    /// One value for each vertex.
    Vertex,
}

/// A named attribute that Hairloom carries along.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Its name in files.
    pub name: String,
    /// Strand or vertex.
    pub domain: Domain,
    /// The values, as many as the domain has elements.
    pub values: Values,
}

/// A head of hair: curves, how they are held, and their attributes. Metres; the y axis points up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Groom {
    /// The curves, root first.
    pub curves: Curves,
    /// How each strand is held; one for each strand.
    pub roots: Vec<Root>,
    /// Diameter at each vertex [m].
    pub widths: Vec<f32>,
    /// Texture coordinates of the roots, one for each strand, or empty.
    pub root_uv: Vec<Vec2>,
    /// Identifiers, one for each strand, or empty (then a strand's index is its identifier).
    pub ids: Vec<u32>,
    /// Which strands are guides, one for each strand, or empty (none marked).
    pub guides: Vec<bool>,
    /// Everything else that came with the groom.
    pub attributes: Vec<Attribute>,
}

impl Groom {
    /// The number of strands.
    pub fn strands(&self) -> usize {
        self.curves.strands()
    }

    /// The number of vertices of all strands together.
    pub fn vertices(&self) -> usize {
        self.curves.points.len()
    }
}

impl Values {
    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Float(values) => values.len(),
            Self::Vec2(values) => values.len(),
            Self::Vec3(values) => values.len(),
            Self::Int(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
