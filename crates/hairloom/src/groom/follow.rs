//! Full strands that follow simulated guides, after Yuksel and Tariq, "Advanced techniques in real-time hair
//! rendering and simulation" (SIGGRAPH 2010 courses).
//!
//! Each strand knows the three guides around its root that lie nearest along their whole length (a strand beside a
//! parting would swing with hair at the other side of the head), with weights w₀ + w₁ + w₂ = 1. A guide carries
//! the space around it: at the fraction s of its arc length a point x at rest moves to
//!
//! ```text
//! Mⱼ(s) x = q′ⱼ(s) + Qⱼ(s) (x − qⱼ(s))
//! ```
//!
//! with q and q′ the guide's points at rest and posed, and Q the rotation between them: that of the scalp at
//! the root, transported along the guide without twist. Of a guide with waves or curls q and q′ are the paths that
//! remain when these are averaged away: strands keep their own curls, whatever becomes of the guide's. The single-guide scheme is x₁ = M₀(s) x, the multi-guide
//! scheme x₃ = Σ wⱼ Mⱼ(s) x, and the result mixes them along the strand,
//!
//! ```text
//! x′(s) = (1 − β(s)) x₁ + β(s) x₃,    β(s) = root + (tip − root) s.
//! ```
//!
//! Then the strand is shifted so that it begins exactly at its own root, and its edges are brought back to
//! their rest lengths from root to tip, keeping their directions.

use glam::Vec3;
use rayon::prelude::*;
use thiserror::Error;

use super::carry::RestGuides;
use super::lanes::{Maps, Moved, PoseStrands, RestStrands, rows};
use super::nearest::PointTree;
use super::{Curves, Groom};
use crate::math::lanes::{Row, WIDTH, dispatch};

/// Strands in one task.
const BLOCK: usize = 64;
/// So many guides around a root are looked at for the three that are nearest.
const CANDIDATES: usize = 16;

/// Why strands cannot follow guides.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FollowError {
    /// There is nothing to follow.
    #[error("no guides were given; pick one or more")]
    NoGuides,
    /// A guide has no edge.
    #[error("guide {guide} has fewer than two vertices; repair the groom first")]
    TooFewVertices {
        /// Index of the guide.
        guide: usize,
    },
    /// An array has the wrong size.
    #[error("{found} {what} were given where {expected} are expected")]
    Size {
        /// What the array holds.
        what: &'static str,
        /// How many values there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}

/// How the single-guide and the multi-guide scheme are mixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FollowBlend {
    /// Share of the multi-guide scheme at the root, 0 to 1.
    pub root: f32,
    /// Share of the multi-guide scheme at the tip, 0 to 1.
    pub tip: f32,
    /// Whether edges are brought back to their rest lengths.
    pub keep_lengths: bool,
}

impl Default for FollowBlend {
    fn default() -> Self {
        Self { root: 0.0, tip: 1.0, keep_lengths: true }
    }
}

/// The guides of one strand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Binding {
    /// The three guides that are nearest, the nearest first. Where there are fewer, the last ones weigh 0.
    pub guides: [u32; 3],
    /// Their weights; they sum to one.
    pub weights: [f32; 3],
    /// The guide without curls that this strand coincides with, point by point; then it simply copies it.
    pub same_as: Option<u32>,
}

/// Strands bound to guides in their common rest pose.
#[derive(Debug, Clone)]
pub struct Follow {
    /// How the two schemes are mixed; may be changed at any time.
    pub blend: FollowBlend,
    guides: RestGuides,
    rest: RestStrands,
    bindings: Vec<Binding>,
    maps: Maps,
}

impl Follow {
    /// Binds every strand to the guides around its root, both in the rest pose.
    pub fn bind(guides: &Groom, strands: &Groom) -> Result<Follow, FollowError> {
        let curves = &guides.curves;
        if curves.strands() == 0 {
            return Err(FollowError::NoGuides);
        }
        if let Some(guide) = curves.iter().position(|strand| strand.len() < 2) {
            return Err(FollowError::TooFewVertices { guide });
        }
        let tree = PointTree::new(&curves.root_points());
        let shapes: Vec<Shape> = curves.iter().map(shape).collect();
        let mut bindings: Vec<Binding> = (0..strands.strands())
            .into_par_iter()
            .map(|strand| {
                let points = strands.curves.strand(strand);
                let (guides, weights) = nearest_guides(&tree, &shapes, &shape(points));
                let same = curves.strand(guides[0] as usize) == points;
                Binding { guides, weights, same_as: same.then_some(guides[0]) }
            })
            .collect();
        let slots = most_common_count(&strands.curves).max(2);
        let guides = RestGuides::new(curves, slots);
        // A curly strand that is a guide keeps its curls, as the others around it do.
        for binding in &mut bindings {
            binding.same_as = binding.same_as.filter(|&guide| guides.reaches[guide as usize] == 0);
        }
        Ok(Self {
            blend: FollowBlend::default(),
            guides,
            rest: RestStrands::new(&strands.curves, slots),
            bindings,
            maps: Maps::default(),
        })
    }

    /// The guides of each strand.
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// Poses the strands: `guides` are the posed points of all guides [m], `roots` where each strand begins
    /// now [m] (roots ride on the scalp, not on the guides), `points` receives the strands' points [m].
    pub fn apply(&mut self, guides: &[Vec3], roots: &[Vec3], points: &mut [Vec3]) -> Result<(), FollowError> {
        let size = |what, expected, found| {
            if expected == found { Ok(()) } else { Err(FollowError::Size { what, expected, found }) }
        };
        size("guide points", self.guides.curves.points.len(), guides.len())?;
        size("roots", self.bindings.len(), roots.len())?;
        size("points to write", self.rest.vertices(), points.len())?;
        let mut maps = std::mem::take(&mut self.maps);
        self.guides.maps(guides, !self.rest.all_even(), &mut maps);
        let betas = self.betas();
        self.blocks(points).into_par_iter().for_each_init(Moved::default, |scratch, (first, out)| {
            let end = (first + BLOCK).min(roots.len());
            dispatch(PoseStrands {
                rest: &self.rest,
                first,
                bindings: &self.bindings[first..end],
                roots: &roots[first..end],
                guides: &self.guides.curves,
                posed: guides,
                maps: &maps,
                slots: self.guides.slots,
                betas: &betas,
                keep_lengths: self.blend.keep_lengths,
                scratch,
                out,
            });
        });
        self.maps = maps;
        Ok(())
    }

    /// The share of the multi-guide scheme at each slot.
    fn betas(&self) -> Vec<Row> {
        let slots = self.guides.slots;
        let step = (self.blend.tip - self.blend.root) / (slots - 1) as f32;
        let mut betas = vec![Row::default(); rows(slots)];
        for slot in 0..slots {
            betas[slot / WIDTH].0[slot % WIDTH] = self.blend.root + step * slot as f32;
        }
        betas
    }

    /// Cuts the points into blocks of strands: the first strand of each block, and the block's points.
    fn blocks<'a>(&self, mut points: &'a mut [Vec3]) -> Vec<(usize, &'a mut [Vec3])> {
        let strands = self.bindings.len();
        let mut blocks = Vec::with_capacity(strands.div_ceil(BLOCK));
        for first in (0..strands).step_by(BLOCK) {
            let end = (first + BLOCK).min(strands);
            let vertices = self.rest.range(end - 1).end - self.rest.range(first).start;
            let (block, others) = points.split_at_mut(vertices);
            blocks.push((first, block));
            points = others;
        }
        blocks
    }
}

/// The number of vertices that most strands have; the larger one of equals.
fn most_common_count(curves: &Curves) -> usize {
    let mut counts: Vec<usize> = curves.iter().map(<[Vec3]>::len).collect();
    counts.sort_unstable();
    let runs = counts.chunk_by(|a, b| a == b);
    runs.max_by_key(|run| run.len()).map_or(0, |run| run[0])
}

/// A strand's root, and where it is at a quarter, a half and the whole of its vertices [m].
type Shape = [Vec3; 4];

fn shape(strand: &[Vec3]) -> Shape {
    let last = strand.len().saturating_sub(1);
    [0, 1, 2, 4].map(|quarters| strand.get(quarters * last / 4).copied().unwrap_or_default())
}

/// How far apart two strands are, at their roots and on the mean along their length [m].
fn apart(a: &Shape, b: &Shape) -> f32 {
    let [root, quarter, half, tip] = [0, 1, 2, 3].map(|k| a[k].distance(b[k]));
    root + (quarter + half + tip) / 3.0
}

/// The three nearest guides, weighted by Shepard's method in the form that falls to zero towards the fourth,
/// so that weights change continuously over the scalp.
fn nearest_guides(tree: &PointTree, shapes: &[Shape], strand: &Shape) -> ([u32; 3], [f32; 3]) {
    let mut found = tree.nearest::<CANDIDATES>(strand[0]);
    for (guide, distance) in found.iter_mut().filter(|(_, distance)| distance.is_finite()) {
        *distance = apart(&shapes[*guide as usize], strand);
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    let guides = [0, 1, 2].map(|place| found[place].0);
    if found[0].1 == 0.0 {
        return (guides, [1.0, 0.0, 0.0]);
    }
    let reach = 1.05 * found[3].1;
    let weights = [0, 1, 2].map(|place| {
        let distance = found[place].1;
        let falling = if reach.is_finite() { 1.0 - distance / reach } else { 1.0 };
        (falling * found[0].1 / distance).powi(2)
    });
    let sum: f32 = weights.iter().sum();
    (guides, weights.map(|weight| weight / sum))
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
