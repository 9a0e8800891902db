//! Hair that carries hair at single contacts, as strands of `nsgs` and `admm` meet.
//!
//! # Theory
//!
//! Any forces within Coulomb's cones at contacts that are closed keep hair at rest, if rest shapes make what they and gravity ask for: nothing
//! moves, so nothing slides or parts. Of these we take those that strands would have which were put into place without weight, and then let
//! go slowly. To first order a strand yields to forces f at its vertices by strains v = √C B f ([`Lever`]), and its points move by
//! (√C B)ᵀ v. With contacts forces r enter by H = (√C B)ᵀ at their points: v = v₀ + Hᵀ r, their sides move by u = H v, and both obey
//! Coulomb's law. That is a contact problem like those of time steps, with identities for masses (equation 3 of Daviet et al. 2011).
//!
//! The law has r · u ≤ 0, so v · (v − v₀) ≤ 0 and ‖v‖ ≤ ‖v₀‖: contact never adds to the elastic energy of strands that carry themselves,
//! with friction as without. That holds for every part of these forces too, as ‖v‖² is convex.
//!
//! # Limits
//!
//! - Bodies carry nothing.
//! - Contacts of strands that are held elsewhere than at their roots, or not at all, carry nothing.
//! - All contacts are solved together, however long that takes, and strands of n edges have matrices of 16 n² numbers while it does.
//! - Contacts at a vertex between two edges may belong to the other edge in single precision relative to another origin; solvers then begin
//!   without their forces, and hair moves by some ten-thousandths of its length until they have found them.

use std::collections::BTreeMap;

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::lever::Lever;
use super::own_weight::carry;
use super::{Forces, Hair, RestContact, RestError, own_weight};
use crate::contact::coulomb::project;
use crate::contact::nsgs::{FullProblem, JacobianBlock, Settings, solve_near};
use crate::contact::{self, Contact, Detector};

/// Surfaces that are not farther apart than this touch [m]: solvers leave half of it, and hair that has to close such a gap first hardly
/// moves, beside its clamp neither.
const TOUCHING: f32 = 2.0e-6;
/// How much of the friction that there is hair at rest makes use of; what is left is for gaps that close first, and for tolerances.
const RESERVE: f64 = 0.9;
/// Sweeps and steps that forces are searched with at most. Wherever that stops, they hold.
const MOST_SWEEPS: usize = 10_000;
const MOST_INTERIOR_STEPS: usize = 120;

/// Forces by which strands carry each other where they touch; those of [`own_weight`] where none do. `friction` is a factor on all
/// coefficients. Strands of so many `helices` leave more alone beside their clamps than those of edges.
pub fn with_contacts(hair: &Hair<'_>, friction: f64, helices: Option<usize>) -> Result<Forces, RestError> {
    let own = own_weight(hair)?;
    let levers: Vec<Option<Lever>> =
        (0..hair.model.strands()).into_par_iter().map(|strand| Lever::new(hair, strand, helices)).collect();
    let found = Touching { hair, levers, strand_of: strands_of(hair) }.settled(friction)?;
    if found.is_empty() {
        return Ok(own);
    }
    let mut loads = hair.weights();
    for (load, push) in loads.iter_mut().zip(contact_loads(&found, hair.model.vertices())) {
        *load += push;
    }
    Ok(Forces { segments: carry(hair, &loads)?, contacts: found, ..own })
}

/// What contacts push each vertex with [N].
pub(super) fn contact_loads(contacts: &[RestContact], vertices: usize) -> Vec<DVec3> {
    let mut loads = vec![DVec3::ZERO; vertices];
    for (vertex, force) in contacts.iter().flat_map(RestContact::loads) {
        loads[vertex] += force;
    }
    loads
}

/// The strand of each vertex.
fn strands_of(hair: &Hair<'_>) -> Vec<u32> {
    let of = |strand: usize| std::iter::repeat_n(strand as u32, hair.model.range(strand).len());
    (0..hair.model.strands()).flat_map(of).collect()
}

/// Hair that touches hair.
struct Touching<'a> {
    hair: &'a Hair<'a>,
    levers: Vec<Option<Lever>>,
    strand_of: Vec<u32>,
}

/// What the contact problem is counted in, so that its numbers are near 1.
struct Units {
    /// The weight of a mean free vertex [N].
    force: f64,
    /// The mean elastic energy of a strand under its own weight [J].
    energy: f64,
}

impl Touching<'_> {
    /// The contacts that carry something, sorted by their edges.
    fn settled(&self, friction: f64) -> Result<Vec<RestContact>, RestError> {
        let contacts = self.contacts()?;
        let objects = self.objects(&contacts);
        let energy = 0.5 * objects.values().flatten().map(|strain| strain * strain).sum::<f64>();
        if energy == 0.0 {
            return Ok(Vec::new());
        }
        let units = Units { force: self.hair.mean_weight(), energy: energy / objects.len() as f64 };
        let coefficient = |contact: &Contact| {
            let [first, second] = self.sides(contact).map(|(strand, ..)| strand);
            RESERVE * friction * f64::from(self.hair.model.friction(first, second))
        };
        let coefficients: Vec<f64> = contacts.iter().map(coefficient).collect();
        let full = self.problem(&contacts, &objects, &coefficients, &units);
        let forces = solved(&full)?;
        let found = contacts.iter().zip(&forces).map(|(contact, force)| RestContact {
            edges: [contact.a, contact.b],
            places: [f64::from(contact.s), f64::from(contact.t)],
            force: axes(contact) * *force * units.force,
        });
        Ok(found.filter(|contact| contact.force != DVec3::ZERO).collect())
    }

    /// The strands in these contacts that are not held altogether, and their strains under their own weight.
    fn objects(&self, contacts: &[Contact]) -> BTreeMap<usize, Vec<f64>> {
        let strands = contacts.iter().flat_map(|contact| self.sides(contact)).map(|(strand, ..)| strand);
        let mut objects: BTreeMap<usize, Vec<f64>> = strands.map(|strand| (strand, Vec::new())).collect();
        objects.par_iter_mut().for_each(|(&strand, strains)| *strains = self.weighed_down(strand));
        objects.retain(|_, strains| !strains.is_empty());
        objects
    }

    /// Where strands touch that can carry each other, sorted.
    fn contacts(&self) -> Result<Vec<Contact>, RestError> {
        let (model, mut found) = (self.hair.model, Vec::new());
        let mut detector = Detector::new(&model.offsets, &model.radii)?;
        let settings = contact::Settings::proximity(TOUCHING);
        detector.proximity(self.hair.positions, &settings, &[], &mut found)?;
        found.retain(|contact| {
            let sides = self.sides(contact);
            let clamped = |&(strand, vertex, share): &(usize, usize, f64)| {
                self.levers[strand].as_ref().map(|lever| lever.is_nearly_clamped(vertex, share))
            };
            // Both are clamped at their roots, and one of them is free to move here.
            sides.iter().all(|side| clamped(side).is_some())
                && sides.iter().any(|side| clamped(side) == Some(false))
        });
        Ok(found)
    }

    /// Strand, vertex and share of the edge behind it, of both sides of a contact.
    fn sides(&self, contact: &Contact) -> [(usize, usize, f64); 2] {
        [(contact.a, contact.s), (contact.b, contact.t)].map(|(vertex, share)| {
            (self.strand_of[vertex as usize] as usize, vertex as usize, f64::from(share))
        })
    }

    /// Strains of a strand under its own weight.
    fn weighed_down(&self, strand: usize) -> Vec<f64> {
        let Some(lever) = &self.levers[strand] else { return Vec::new() };
        let mut strains = vec![0.0; lever.strains()];
        for vertex in self.hair.model.range(strand) {
            lever.add(self.hair.positions, vertex, self.hair.weight(vertex), &mut strains);
        }
        strains
    }

    /// The contact problem of strands that yield to forces.
    fn problem(
        &self,
        contacts: &[Contact],
        objects: &BTreeMap<usize, Vec<f64>>,
        friction: &[f64],
        units: &Units,
    ) -> FullProblem {
        let place: BTreeMap<usize, usize> =
            objects.keys().enumerate().map(|(place, &strand)| (strand, place)).collect();
        let scaled = |strains: &Vec<f64>| strains.iter().map(|v| v / units.energy.sqrt()).collect();
        let jacobian = contacts.par_iter().enumerate().flat_map_iter(|(index, contact)| {
            let (axes, [first, second]) = (axes(contact), self.sides(contact));
            let mut blocks: Vec<JacobianBlock> = Vec::with_capacity(2);
            for (sign, (strand, vertex, share)) in [(1.0, first), (-1.0, second)] {
                let (Some(&object), Some(lever)) = (place.get(&strand), &self.levers[strand]) else {
                    continue;
                };
                let strains = lever.strains();
                let known = blocks.iter().position(|block| block.object == object);
                let at = known.unwrap_or_else(|| {
                    let values = vec![0.0; 3 * strains];
                    blocks.push(JacobianBlock { contact: index, object, values });
                    blocks.len() - 1
                });
                let unit = sign * units.force / units.energy.sqrt();
                for (axis, row) in blocks[at].values.chunks_exact_mut(strains).enumerate() {
                    for (vertex, share) in [(vertex, 1.0 - share), (vertex + 1, share)] {
                        lever.add(self.hair.positions, vertex, axes.col(axis) * (share * unit), row);
                    }
                }
            }
            blocks
        });
        FullProblem {
            masses: objects.values().map(|strains| identity(strains.len())).collect(),
            impulses: objects.values().map(scaled).collect(),
            jacobian: jacobian.collect(),
            offset: vec![DVec3::ZERO; contacts.len()],
            friction: friction.to_vec(),
        }
    }
}

/// Forces within their cones that solve a problem, or are as near to that as we get.
fn solved(full: &FullProblem) -> Result<Vec<DVec3>, RestError> {
    let assembly = full.assembly()?;
    let settings = Settings {
        most_sweeps: MOST_SWEEPS,
        most_interior_steps: MOST_INTERIOR_STEPS,
        ..Settings::default()
    };
    let start = vec![DVec3::ZERO; full.offset.len()];
    let offset = assembly.offsets();
    let (solution, _) = solve_near(&assembly, (&offset, &full.friction), &offset, &settings, &start, 0.0)?;
    // Mixed sweeps and interior points may leave cones by rounding.
    let within =
        solution.forces.iter().zip(&full.friction).map(|(force, friction)| project(*force, *friction));
    Ok(within.collect())
}

/// The normal of a contact, towards its first side, and two tangents.
fn axes(contact: &Contact) -> DMat3 {
    let normal = contact.normal.as_dvec3().normalize_or(DVec3::Y);
    let tangent = normal.any_orthonormal_vector();
    DMat3::from_cols(normal, tangent, normal.cross(tangent))
}

fn identity(size: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; size * size];
    (0..size).for_each(|row| matrix[row * (size + 1)] = 1.0);
    matrix
}
