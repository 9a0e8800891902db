//! How rods are made: what their segments and joints answer to a rest shape with.

use glam::DVec3;

use super::Stiffness;
use super::binormal::Binormal;
use super::law::Law;
use super::local_force::{Segment, segment, unsheared};
use crate::rod::cosserat::Darboux;

/// How rods are made.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rod {
    /// Cosserat rods.
    Cosserat(Stiffness),
    /// Discrete elastic rods: EA [N], and stiffness against bending about both axes and twisting [N m²].
    Elastic(f64, DVec3, Against),
    /// Discrete elastic rods that bend by their curvature binormals.
    Binormal(RoundRod),
}

/// What the first free edge of a strand bends against, where edges before it are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// The last held edge.
    LastHeld,
    /// A clamp that points as it does itself in the groom.
    Itself,
}

/// A round rod that bends by its curvature binormals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundRod {
    /// EA, against stretching [N].
    pub stretch: f64,
    /// EI, against bending [N m²].
    pub bend: f64,
    /// GJ, against twisting [N m²].
    pub twist: f64,
    /// The most that its edges may be stretched, relatively.
    pub most_stretch: f64,
}

impl Rod {
    /// What a segment must be like to make a force.
    pub(super) fn segment(&self, edge: DVec3, force: DVec3) -> Segment {
        match self {
            Self::Cosserat(stiffness) => segment(edge, force, stiffness),
            Self::Elastic(stretch, ..) => unsheared(edge, force, *stretch, 1.0),
            Self::Binormal(rod) => unsheared(edge, force, rod.stretch, 0.5 * rod.most_stretch),
        }
    }

    /// EA, against stretching [N].
    pub(super) fn stretch(&self) -> f64 {
        match self {
            Self::Cosserat(stiffness) => stiffness.stretch,
            Self::Elastic(stretch, ..) => *stretch,
            Self::Binormal(rod) => rod.stretch,
        }
    }

    /// What its first free edge bends against.
    pub(super) fn against(&self) -> Against {
        match self {
            Self::Elastic(_, _, against) => *against,
            Self::Cosserat(_) | Self::Binormal(_) => Against::LastHeld,
        }
    }

    /// The joint of a bending length [m].
    pub(super) fn law(&self, length: f64) -> Law {
        match self {
            Self::Cosserat(stiffness) => match stiffness.darboux {
                Darboux::Augmented => Law::Cosserat(stiffness.bend / length),
                Darboux::Plain => Law::Plain(stiffness.bend / length),
            },
            Self::Elastic(_, bend, _) => Law::Elastic(*bend / length),
            Self::Binormal(rod) => {
                Law::Binormal(Binormal { bend: 0.5 * rod.bend / length, twist: rod.twist / length })
            }
        }
    }
}
