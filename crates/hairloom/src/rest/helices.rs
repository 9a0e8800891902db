//! Rest shapes of super-helices, which have no segments: natural curvatures and twists by which gravity's generalised force is balanced.
//!
//! The energy is ½ Σ l (κ − κ̄)ᵀ K (κ − κ̄) and that of height: its slope at the groom is zero for κ̄ = κ − (l K)⁻¹ ∫ ρA Jᵀ g. Its second
//! derivative does not hang on κ̄, and tells how stiff a strand must be to stay there.

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::torque::{SAFETY, least_stable};
use super::{Hair, RestError};
use crate::math::dense::cholesky;
use crate::rod::cosserat::frames_along;
use crate::rod::super_helix::{Chain, Evenly, Rod, Root, fit_evenly};

/// Rounds in which natural curvatures are found: the points that mass is summed at hang on them.
const ROUNDS: usize = 3;

/// The rest shape of one strand.
pub(super) struct HelixStrand {
    /// Natural curvatures of its elements [1/m].
    pub curvatures: Vec<DVec3>,
    /// Factor on its stiffness.
    pub stiffening: f64,
    /// Largest moment that is left by them in an element, over the largest of one.
    pub moment_left: f64,
    /// Lengths of its edges at rest, straight from vertex to vertex [m].
    pub lengths: Vec<f64>,
    /// Rotations over its joints at rest.
    pub joints: Vec<DQuat>,
    /// Frames of its edges as groomed.
    pub frames: Vec<DQuat>,
}

/// Rest shapes of all strands as super-helices of so many elements.
pub(super) fn helices(hair: &Hair<'_>, elements: usize) -> Result<Vec<HelixStrand>, RestError> {
    hair.check()?;
    (0..hair.model.strands()).into_par_iter().map(|strand| one(hair, elements, strand)).collect()
}

fn one(hair: &Hair<'_>, elements: usize, strand: usize) -> Result<HelixStrand, RestError> {
    let (range, material) = (hair.model.range(strand), hair.model.material(strand));
    let held = range.clone().take_while(|&vertex| hair.held[vertex]).count();
    if held == 0 || range.clone().skip(held).any(|vertex| hair.held[vertex]) {
        return Err(RestError::NotClamped { strand });
    }
    let groomed = frames_along(&hair.positions[range.clone()], DQuat::IDENTITY);
    let mut result = HelixStrand {
        curvatures: Vec::new(),
        stiffening: 1.0,
        moment_left: 0.0,
        lengths: hair.model.rest_lengths[range.start..range.end - 1].to_vec(),
        joints: (0..groomed.len()).map(|s| groomed[s.saturating_sub(1)].conjugate() * groomed[s]).collect(),
        frames: groomed,
    };
    let first = range.start + held - 1;
    if first + 1 == range.end {
        return Ok(result);
    }
    let free = &hair.positions[first..range.end];
    let Evenly { arcs, lengths, fit } =
        fit_evenly(free, &hair.model.rest_lengths[first..range.end - 1], elements);
    let mut rod = Rod {
        lengths,
        rest: fit.curvatures.clone(),
        stiffness: DVec3::from_array(material.rod_stiffness()),
        mass_per_length: material.mass_per_length(),
        spin_inertia: material.twisting_inertia(),
    };
    result.stiffening = stiffening(&rod, fit.root, &fit.curvatures, hair.gravity);
    rod.stiffness *= result.stiffening;
    for _ in 0..ROUNDS {
        let (slopes, _) = rod.slopes(fit.root, &fit.curvatures, hair.gravity);
        for (element, slope) in slopes.chunks_exact(3).enumerate() {
            rod.rest[element] += DVec3::from_slice(slope) / (rod.stiffness * rod.lengths[element]);
        }
    }
    result.moment_left = moment_left(&rod, fit.root, &fit.curvatures, hair.gravity);
    let chain = Chain::new(fit.root, &rod.lengths, &rod.rest);
    let points: Vec<DVec3> = arcs.iter().map(|&arc| chain.position(arc)).collect();
    put_free(&mut result, held - 1, fit.root.frame, &points);
    result.curvatures = rod.rest;
    Ok(result)
}

/// The largest slope of a rod's energy in its shape, as a moment, over the largest moment of an element.
fn moment_left(rod: &Rod, root: Root, curvatures: &[DVec3], gravity: DVec3) -> f64 {
    let (slopes, _) = rod.slopes(root, curvatures, gravity);
    let left =
        slopes.chunks_exact(3).zip(&rod.lengths).map(|(slope, l)| DVec3::from_slice(slope).length() / l);
    let made = curvatures.iter().zip(&rod.rest).map(|(now, rest)| (rod.stiffness * (*now - *rest)).length());
    left.fold(0.0, f64::max) / made.fold(f64::MIN_POSITIVE, f64::max)
}

/// The least factor on a rod's stiffness, with a margin, by which it stays in its shape; 1 where it does anyway.
fn stiffening(rod: &Rod, root: Root, curvatures: &[DVec3], gravity: DVec3) -> f64 {
    let (_, whole) = rod.slopes(root, curvatures, gravity);
    let size = 3 * curvatures.len();
    let elastic = |row: usize| rod.lengths[row / 3] * rod.stiffness[row % 3];
    least_stable(|factor| {
        let mut matrix = whole.clone();
        (0..size).for_each(|row| matrix[row * (size + 1)] += (factor / SAFETY - 1.0) * elastic(row));
        cholesky(&mut matrix, size)
    })
}

/// Sets edges and joints from vertex `first` on to a rod at rest that is clamped with that frame.
fn put_free(strand: &mut HelixStrand, first: usize, clamp: DQuat, points: &[DVec3]) {
    let frames = frames_along(points, DQuat::IDENTITY);
    // The clamp as it is seen from the frame of the groom's first edge.
    let groomed = strand.frames[first];
    let mut before = DQuat::from_rotation_arc(groomed * DVec3::Z, clamp * DVec3::Z) * groomed;
    let mut turned = None;
    for (edge, frame) in frames.iter().enumerate() {
        // Frames at rest start untwisted against the clamp.
        let by = *turned.get_or_insert_with(|| {
            let tangent = *frame * DVec3::Z;
            let carried = DQuat::from_rotation_arc(before * DVec3::Z, tangent) * before;
            frame.conjugate() * carried
        });
        let frame = (*frame * by).normalize();
        strand.joints[first + edge] = (before.conjugate() * frame).normalize();
        strand.lengths[first + edge] = points[edge].distance(points[edge + 1]);
        before = frame;
    }
}
