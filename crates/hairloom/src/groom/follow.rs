//! Full strands that follow simulated guides, after Yuksel and Tariq, "Advanced techniques in real-time hair
//! rendering and simulation" (SIGGRAPH 2010 courses).
//!
//! Each strand knows the three guides whose roots lie nearest, with weights w₀ + w₁ + w₂ = 1. A guide carries
//! the space around it: at the fraction s of its arc length a point x at rest moves to
//!
//! ```text
//! Mⱼ(s) x = q′ⱼ(s) + Qⱼ(s) (x − qⱼ(s))
//! ```
//!
//! with q and q′ the guide's points at rest and posed, and Q the rotation between them: that of the scalp at
//! the root, transported along the guide without twist. The single-guide scheme is x₁ = M₀(s) x, the multi-guide
//! scheme x₃ = Σ wⱼ Mⱼ(s) x, and the result mixes them along the strand,
//!
//! ```text
//! x′(s) = (1 − β(s)) x₁ + β(s) x₃,    β(s) = root + (tip − root) s.
//! ```
//!
//! Then the strand is shifted so that it begins exactly at its own root, and its edges are brought back to
//! their rest lengths from root to tip, keeping their directions.

use glam::{Affine3A, Vec3, Vec3A};
use rayon::prelude::*;
use thiserror::Error;

use super::carry::RestGuides;
use super::nearest::PointTree;
use super::{Curves, Groom};

/// Strands in one task.
const BLOCK: usize = 256;

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
    /// The three guides whose roots are nearest, nearest first. Where there are fewer, the last ones weigh 0.
    pub guides: [u32; 3],
    /// Their weights; they sum to one.
    pub weights: [f32; 3],
    /// The guide that this strand coincides with, point by point; then it simply copies it.
    pub same_as: Option<u32>,
}

/// Strands bound to guides in their common rest pose.
#[derive(Debug, Clone)]
pub struct Follow {
    /// How the two schemes are mixed; may be changed at any time.
    pub blend: FollowBlend,
    guides: RestGuides,
    rest: Curves,
    fractions: Vec<f32>,
    bindings: Vec<Binding>,
    maps: Vec<Affine3A>,
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
        let bindings = (0..strands.strands())
            .into_par_iter()
            .map(|strand| {
                let points = strands.curves.strand(strand);
                let (guides, weights) = nearest_guides(&tree, points.first().copied().unwrap_or_default());
                let same = curves.strand(guides[0] as usize) == points;
                Binding { guides, weights, same_as: same.then_some(guides[0]) }
            })
            .collect();
        Ok(Self {
            blend: FollowBlend::default(),
            guides: RestGuides::new(curves),
            fractions: strands.curves.fractions(),
            rest: strands.curves.clone(),
            bindings,
            maps: Vec::new(),
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
        size("points to write", self.rest.points.len(), points.len())?;
        let mut maps = std::mem::take(&mut self.maps);
        self.guides.maps(guides, &mut maps);
        self.blocks(points).into_par_iter().for_each_init(Vec::new, |blended, (first, mut block)| {
            let count = BLOCK.min(self.bindings.len() - first);
            for strand in first..first + count {
                let out;
                (out, block) = block.split_at_mut(self.rest.vertices_of(strand));
                match self.bindings[strand].same_as {
                    Some(guide) => out.copy_from_slice(&guides[self.guides.curves.range(guide as usize)]),
                    None => {
                        self.blend_maps(&self.bindings[strand], &maps, blended);
                        self.pose(strand, blended, roots[strand], out);
                    }
                }
                if let Some(start) = out.first_mut() {
                    *start = roots[strand];
                }
            }
        });
        self.maps = maps;
        Ok(())
    }

    /// Cuts the points into blocks of strands: the first strand of each block, and the block's points.
    fn blocks<'a>(&self, mut points: &'a mut [Vec3]) -> Vec<(usize, &'a mut [Vec3])> {
        let strands = self.bindings.len();
        let mut blocks = Vec::with_capacity(strands.div_ceil(BLOCK));
        for first in (0..strands).step_by(BLOCK) {
            let end = (first + BLOCK).min(strands);
            let vertices = (self.rest.offsets[end] - self.rest.offsets[first]) as usize;
            let (block, others) = points.split_at_mut(vertices);
            blocks.push((first, block));
            points = others;
        }
        blocks
    }

    /// Both schemes are linear in the guides' maps, so mixing the maps mixes the results.
    fn blend_maps(&self, binding: &Binding, maps: &[Affine3A], blended: &mut Vec<Affine3A>) {
        let slots = self.guides.slots;
        let step = (self.blend.tip - self.blend.root) / (slots - 1) as f32;
        let guide = |place: usize| {
            let first = binding.guides[place] as usize * slots;
            &maps[first..first + slots]
        };
        let [w0, w1, w2] = binding.weights;
        blended.clear();
        blended.extend(guide(0).iter().zip(guide(1)).zip(guide(2)).enumerate().map(|(slot, ((a, b), c))| {
            let beta = self.blend.root + step * slot as f32;
            let (w0, w1, w2) = (1.0 - beta + beta * w0, beta * w1, beta * w2);
            let mix = |a: Vec3A, b: Vec3A, c: Vec3A| a * w0 + b * w1 + c * w2;
            Affine3A {
                matrix3: glam::Mat3A::from_cols(
                    mix(a.matrix3.x_axis, b.matrix3.x_axis, c.matrix3.x_axis),
                    mix(a.matrix3.y_axis, b.matrix3.y_axis, c.matrix3.y_axis),
                    mix(a.matrix3.z_axis, b.matrix3.z_axis, c.matrix3.z_axis),
                ),
                translation: mix(a.translation, b.translation, c.translation),
            }
        }));
    }

    fn pose(&self, strand: usize, maps: &[Affine3A], root: Vec3, out: &mut [Vec3]) {
        let range = self.rest.range(strand);
        let (rest, fractions) = (&self.rest.points[range.clone()], &self.fractions[range]);
        let last = maps.len() - 1;
        let root = Vec3A::from(root);
        let (mut previous_rest, mut previous, mut shift) = (Vec3A::ZERO, Vec3A::ZERO, Vec3A::ZERO);
        for (vertex, ((out, &rest), &fraction)) in out.iter_mut().zip(rest).zip(fractions).enumerate() {
            let place = fraction * last as f32;
            let slot = (place as usize).min(last - 1);
            let rest = Vec3A::from(rest);
            let (a, b) = (maps[slot].transform_point3a(rest), maps[slot + 1].transform_point3a(rest));
            let target = a + (b - a) * (place - slot as f32);
            if vertex == 0 {
                shift = root - target;
            } else if self.blend.keep_lengths {
                let edge = target - previous;
                let squared = edge.length_squared();
                if squared > 1e-16 {
                    let scale = (previous_rest.distance_squared(rest) / squared).sqrt();
                    shift += edge * (scale - 1.0);
                }
            }
            (previous_rest, previous) = (rest, target);
            *out = (target + shift).into();
        }
    }
}

/// The three nearest guides, weighted by Shepard's method in the form that falls to zero towards the fourth,
/// so that weights change continuously over the scalp.
fn nearest_guides(tree: &PointTree, root: Vec3) -> ([u32; 3], [f32; 3]) {
    let found = tree.nearest::<4>(root);
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
