//! Rest shapes of super-helices, which have no segments: natural curvatures and twists by which gravity's generalised force is balanced.
//!
//! The energy is ½ Σ l (κ − κ̄)ᵀ K (κ − κ̄) and that of height: its slope at the groom is zero for κ̄ = κ − (l K)⁻¹ ∫ ρA Jᵀ g. Its second
//! derivative does not hang on κ̄, and tells how stiff a strand must be to stay there. Contacts that carry a part add Jᵀ r at their points.

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::torque::{SAFETY, least_stable};
use super::{Hair, RestContact, RestError};
use crate::math::dense::cholesky;
use crate::rod::cosserat::frames_along;
use crate::rod::super_helix::{Chain, Evenly, Rod, Root, fit_evenly};

/// Rounds in which natural curvatures are found: the points that mass is summed at hang on them.
const ROUNDS: usize = 3;
/// Change of a turn of an element by which second derivatives are measured [rad].
const TURN: f64 = 1.0e-5;

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

/// Rest shapes of all strands as super-helices of so many elements, with contacts that carry a part.
pub(super) fn helices(
    hair: &Hair<'_>,
    contacts: &[RestContact],
    elements: usize,
) -> Result<Vec<HelixStrand>, RestError> {
    hair.check()?;
    let mut touches: Vec<(usize, f64, DVec3)> = Vec::with_capacity(2 * contacts.len());
    for &RestContact { edges: [a, b], places: [s, t], force } in contacts {
        touches.extend([(a as usize, s, force), (b as usize, t, -force)]);
    }
    touches.sort_by_key(|&(vertex, ..)| vertex);
    let of = |strand: usize| {
        let range = hair.model.range(strand);
        let [begin, end] = [range.start, range.end].map(|end| touches.partition_point(|touch| touch.0 < end));
        one(hair, &touches[begin..end], elements, strand)
    };
    (0..hair.model.strands()).into_par_iter().map(of).collect()
}

/// How many vertices of a strand are held at its root.
fn clamped(hair: &Hair<'_>, strand: usize) -> Result<usize, RestError> {
    let range = hair.model.range(strand);
    let held = range.clone().take_while(|&vertex| hair.held[vertex]).count();
    if held == 0 || range.skip(held).any(|vertex| hair.held[vertex]) {
        return Err(RestError::NotClamped { strand });
    }
    Ok(held)
}

/// Where vertices of a groom are once its strands are super-helices of so many elements [m]: that is where they touch.
pub fn on_helices(hair: &Hair<'_>, elements: usize) -> Result<Vec<DVec3>, RestError> {
    hair.check()?;
    let of = |strand: usize| -> Result<Vec<DVec3>, RestError> {
        let range = hair.model.range(strand);
        let first = range.start + clamped(hair, strand)? - 1;
        let mut positions = hair.positions[range.clone()].to_vec();
        if first + 1 < range.end {
            let rest_lengths = &hair.model.rest_lengths[first..range.end - 1];
            let Evenly { arcs, lengths, fit } =
                fit_evenly(&hair.positions[first..range.end], rest_lengths, elements);
            let chain = Chain::new(fit.root, &lengths, &fit.curvatures);
            let places = positions[first - range.start..].iter_mut().zip(arcs);
            places.for_each(|(place, arc)| *place = chain.position(arc));
        }
        Ok(positions)
    };
    let strands: Vec<Vec<DVec3>> =
        (0..hair.model.strands()).into_par_iter().map(of).collect::<Result<_, _>>()?;
    Ok(strands.concat())
}

/// The rest shape of a strand that is pushed at edges: vertex before, share of the edge and force [N] of each.
fn one(
    hair: &Hair<'_>,
    touches: &[(usize, f64, DVec3)],
    elements: usize,
    strand: usize,
) -> Result<HelixStrand, RestError> {
    let (range, material) = (hair.model.range(strand), hair.model.material(strand));
    let held = clamped(hair, strand)?;
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
    let free_touches = touches.iter().filter(|(vertex, ..)| *vertex >= first);
    let pushes = free_touches.map(|&(vertex, share, force)| {
        let [before, behind] = [arcs[vertex - first], arcs[vertex + 1 - first]];
        (before * (1.0 - share) + behind * share, force)
    });
    let loads = Loads { root: fit.root, gravity: hair.gravity, pushes: pushes.collect() };
    result.stiffening = loads.stiffening(&rod, &fit.curvatures);
    rod.stiffness *= result.stiffening;
    for _ in 0..ROUNDS {
        let slopes = loads.slopes(&rod, &fit.curvatures);
        for (element, slope) in slopes.chunks_exact(3).enumerate() {
            rod.rest[element] += DVec3::from_slice(slope) / (rod.stiffness * rod.lengths[element]);
        }
    }
    result.moment_left = loads.moment_left(&rod, &fit.curvatures);
    let chain = Chain::new(fit.root, &rod.lengths, &rod.rest);
    let points: Vec<DVec3> = arcs.iter().map(|&arc| chain.position(arc)).collect();
    put_free(&mut result, held - 1, fit.root.frame, &points);
    result.curvatures = rod.rest;
    Ok(result)
}

/// What acts on a rod that is clamped at `root`.
struct Loads {
    root: Root,
    /// Acceleration of gravity [m/s²].
    gravity: DVec3,
    /// Arcs of contacts [m], and their forces [N].
    pushes: Vec<(f64, DVec3)>,
}

impl Loads {
    /// The gradient of a rod's energy.
    fn slopes(&self, rod: &Rod, curvatures: &[DVec3]) -> Vec<f64> {
        let (mut slopes, _) = rod.slopes(self.root, curvatures, self.gravity);
        let pushed = self.pushed(rod, curvatures);
        slopes.iter_mut().zip(pushed).for_each(|(slope, push)| *slope -= push);
        slopes
    }

    /// What contacts push the curvatures with, Jᵀ r.
    fn pushed(&self, rod: &Rod, curvatures: &[DVec3]) -> Vec<f64> {
        let chain = Chain::new(self.root, &rod.lengths, curvatures);
        let mut pushed = vec![0.0; chain.freedom()];
        for (arc, force) in &self.pushes {
            let rows = chain.jacobian(*arc);
            for (row, part) in rows.chunks_exact(chain.freedom()).zip(force.to_array()) {
                pushed.iter_mut().zip(row).for_each(|(sum, entry)| *sum += entry * part);
            }
        }
        pushed
    }

    /// The second derivative of a rod's energy.
    fn curvature(&self, rod: &Rod, curvatures: &[DVec3]) -> Vec<f64> {
        let (_, mut whole) = rod.slopes(self.root, curvatures, self.gravity);
        let size = 3 * curvatures.len();
        for column in (0..size).filter(|_| !self.pushes.is_empty()) {
            let step = TURN / rod.lengths[column / 3];
            let [before, behind] = [-step, step].map(|step| {
                let mut curvatures = curvatures.to_vec();
                curvatures[column / 3][column % 3] += step;
                self.pushed(rod, &curvatures)
            });
            for (row, (before, behind)) in before.iter().zip(behind).enumerate() {
                // Half of it to either side of the diagonal: differences are not quite symmetric.
                let change = 0.25 * (behind - before) / step;
                whole[row * size + column] -= change;
                whole[column * size + row] -= change;
            }
        }
        whole
    }

    /// The largest slope of a rod's energy in its shape, as a moment, over the largest moment of an element.
    fn moment_left(&self, rod: &Rod, curvatures: &[DVec3]) -> f64 {
        let slopes = self.slopes(rod, curvatures);
        let left =
            slopes.chunks_exact(3).zip(&rod.lengths).map(|(slope, l)| DVec3::from_slice(slope).length() / l);
        let made =
            curvatures.iter().zip(&rod.rest).map(|(now, rest)| (rod.stiffness * (*now - *rest)).length());
        left.fold(0.0, f64::max) / made.fold(f64::MIN_POSITIVE, f64::max)
    }

    /// The least factor on a rod's stiffness, with a margin, by which it stays in its shape; 1 where it does anyway.
    fn stiffening(&self, rod: &Rod, curvatures: &[DVec3]) -> f64 {
        let whole = self.curvature(rod, curvatures);
        let size = 3 * curvatures.len();
        let elastic = |row: usize| rod.lengths[row / 3] * rod.stiffness[row % 3];
        least_stable(|factor| {
            let mut matrix = whole.clone();
            (0..size).for_each(|row| matrix[row * (size + 1)] += (factor / SAFETY - 1.0) * elastic(row));
            cholesky(&mut matrix, size)
        })
    }
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
