//! All stages after the forces: a rest shape that makes them.

use std::ops::Range;

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::helices::helices;
use super::law::Law;
use super::local_force::{Segment, turned_to};
use super::made::{Made, made};
use super::rods::{Against, Rod, RoundRod};
use super::torque::{Chain, Joints};
use super::{Forces, Hair, RestError, RestShape, Stiffness};
use crate::rod::cosserat::{bending_length, frames_along};
use crate::scene::Material;

/// A rest shape, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The rest shape.
    pub shape: RestShape,
    /// Segments and joints that had to be stiffened, of all, from 0 to 1.
    pub stiffened: f64,
    /// Strands that would leave their equilibrium without being stiffened.
    pub unstable_strands: usize,
    /// Mean square of the force that is left on a vertex, by the forces that the rest shape makes [N²].
    pub force_error: f64,
    /// Largest acceleration that is left on a vertex likewise, over gravity's.
    pub worst_acceleration: f64,
    /// Largest moment that is left on a segment, by the moments and forces that the rest shape makes, over the largest of a joint.
    pub moment_left: f64,
    /// Forces that the rest shape makes where the hair is to stay, on vertices nearer to the tip [N]: those of the shape but for rounding.
    pub made: Vec<DVec3>,
    /// Segments under compression [%].
    pub compressed: f64,
    /// Largest force of a segment [N].
    pub largest_force: f64,
}

/// What one strand gets.
struct Strand {
    segments: Vec<Segment>,
    frames: Vec<DQuat>,
    joints: Vec<DQuat>,
    bend: Vec<f64>,
    /// Natural curvatures, of a super-helix.
    curvatures: Vec<DVec3>,
    unstable: bool,
}

/// As [`sag_free`], for discrete elastic rods of their materials whose strains are measured by half sines.
pub fn sag_free_elastic(hair: &Hair<'_>, forces: Forces, against: Against) -> Result<Outcome, RestError> {
    stages(hair, forces, Stages::All, |material| {
        let bend = DVec3::from_array(material.rod_stiffness());
        Rod::Elastic(material.young * material.area(), bend, against)
    })
}

/// As [`sag_free_elastic`], for super-helices of so many elements, clamped at their roots.
pub fn sag_free_helices(hair: &Hair<'_>, forces: Forces, elements: usize) -> Result<Outcome, RestError> {
    let found = helices(hair, &forces.contacts, elements)?;
    let moment_left = found.iter().map(|strand| strand.moment_left).fold(0.0, f64::max);
    let strands = found.into_iter().map(|found| Strand {
        segments: found
            .lengths
            .iter()
            .map(|&length| Segment { length, director: DVec3::Z, stiffening: 1.0 })
            .collect(),
        bend: vec![found.stiffening; found.joints.len()],
        frames: found.frames,
        joints: found.joints,
        curvatures: found.curvatures,
        unstable: found.stiffening > 1.0,
    });
    // Lengths cannot change: what holds them makes any force.
    let found = Made { forces: forces.segments.clone(), moment_left };
    let (shape, unstable_strands) = assemble(hair, forces, strands.collect());
    Ok(Outcome::new(hair, shape, unstable_strands, found))
}

/// As [`sag_free_elastic`], for rods that bend by their curvature binormals; `rod` tells that of a material.
pub fn sag_free_binormal(
    hair: &Hair<'_>,
    forces: Forces,
    rod: impl Fn(&Material) -> RoundRod + Sync,
) -> Result<Outcome, RestError> {
    stages(hair, forces, Stages::All, |material| Rod::Binormal(rod(material)))
}

/// A rest shape by which rods make `forces`, and so keep `hair` where it is; `stiffness` tells that of a material. Roots must be held.
pub fn sag_free(
    hair: &Hair<'_>,
    forces: Forces,
    stiffness: impl Fn(&Material) -> Stiffness + Sync,
) -> Result<Outcome, RestError> {
    stages(hair, forces, Stages::All, |material| Rod::Cosserat(stiffness(material)))
}

/// A rest shape after the first two stages alone: forces balance, moments do not. What is left of the method of Hsu et al. 2022 for rods
/// whose segments turn, for comparison (figures 1 and 10 of Hsu et al. 2023): hair sags from it.
pub fn force_only(
    hair: &Hair<'_>,
    forces: Forces,
    stiffness: impl Fn(&Material) -> Stiffness + Sync,
) -> Result<Outcome, RestError> {
    stages(hair, forces, Stages::Forces, |material| Rod::Cosserat(stiffness(material)))
}

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stages {
    /// Forces alone.
    Forces,
    /// Forces and moments.
    All,
}

fn stages(
    hair: &Hair<'_>,
    forces: Forces,
    stages: Stages,
    rod: impl Fn(&Material) -> Rod + Sync,
) -> Result<Outcome, RestError> {
    hair.check()?;
    let vertices = hair.model.vertices();
    for (column, given) in [("segments", forces.segments.len()), ("stresses", forces.stresses.len())] {
        if given != vertices {
            return Err(RestError::WrongCount { column, given, vertices });
        }
    }
    let strands: Vec<Strand> = (0..hair.model.strands())
        .into_par_iter()
        .map(|strand| one_strand(hair, &forces, strand, &rod(hair.model.material(strand)), stages))
        .collect::<Result<_, _>>()?;
    let (shape, unstable_strands) = assemble(hair, forces, strands);
    let found = made(hair, &shape, rod);
    Ok(Outcome::new(hair, shape, unstable_strands, found))
}

/// The second to the fourth stage for one strand.
fn one_strand(
    hair: &Hair<'_>,
    forces: &Forces,
    strand: usize,
    rod: &Rod,
    stages: Stages,
) -> Result<Strand, RestError> {
    let range = hair.model.range(strand);
    if !hair.held[range.start] && hair.gravity != DVec3::ZERO {
        return Err(RestError::Rootless { strand });
    }
    let positions = &hair.positions[range.clone()];
    let groomed = frames_along(positions, DQuat::IDENTITY);
    let edges: Vec<DVec3> = positions.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let forces = &forces.segments[range.start..range.end - 1];
    let segments: Vec<Segment> =
        edges.iter().zip(forces).map(|(&edge, &force)| rod.segment(edge, force)).collect();
    let held = |vertex: usize| hair.held[range.start + vertex];
    let segment_held = |segment: usize| held(segment) && held(segment + 1);
    let frames: Vec<DQuat> = (0..edges.len())
        .map(|s| if segment_held(s) { groomed[s] } else { turned_to(groomed[s], segments[s].director) })
        .collect();
    let lengths = &hair.model.rest_lengths[range.start..range.end - 1];
    // Nothing bends between segments that are held: those joints are in no chain.
    let laws: Vec<Law> = (0..edges.len())
        .map(|s| rod.law(bending_length(lengths, s, held).unwrap_or(f64::INFINITY)))
        .collect();

    let mut result = Strand {
        segments,
        joints: (0..edges.len()).map(|s| natural(&groomed, &frames, s)).collect(),
        frames,
        bend: vec![1.0; edges.len()],
        curvatures: Vec::new(),
        unstable: false,
    };
    // Without gravity there is nothing to balance, and roots may be free, where no joint bends.
    let bends = stages == Stages::All && hair.gravity != DVec3::ZERO;
    let runs = if bends { free_runs(edges.len(), segment_held) } else { Vec::new() };
    for free in runs {
        let first = free.start;
        let before = if first == 0 { groomed[0] } else { result.frames[first - 1] };
        let clamp = if rod.against() == Against::Itself { groomed[first] } else { before };
        let chain = Chain {
            clamp,
            frames: result.frames[free.clone()].to_vec(),
            edges: edges[free.clone()].to_vec(),
            forces: forces[free.clone()].to_vec(),
            laws: laws[free.clone()].to_vec(),
        };
        let Joints { rests, stiffening, stability } = chain.joints();
        result.joints[free.clone()].copy_from_slice(&rests);
        result.joints[first] = (before.conjugate() * clamp * rests[0]).normalize();
        result.bend[free].copy_from_slice(&stiffening);
        result.unstable |= stability > 1.0;
    }
    Ok(result)
}

/// The rotation over the joint before a segment, as it is.
fn natural(groomed: &[DQuat], frames: &[DQuat], segment: usize) -> DQuat {
    let before = if segment == 0 { groomed[0] } else { frames[segment - 1] };
    (before.conjugate() * frames[segment]).normalize()
}

/// Runs of segments that are not held.
fn free_runs(segments: usize, held: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for segment in (0..segments).filter(|&segment| !held(segment)) {
        match runs.last_mut() {
            Some(run) if run.end == segment => run.end += 1,
            _ => runs.push(segment..segment + 1),
        }
    }
    runs
}

/// Puts strands together; tells how many would leave their equilibrium without being stiffened.
fn assemble(hair: &Hair<'_>, forces: Forces, strands: Vec<Strand>) -> (RestShape, usize) {
    let vertices = hair.model.vertices();
    let mut shape = RestShape {
        lengths: Vec::with_capacity(vertices),
        joints: Vec::with_capacity(vertices),
        stretch: Vec::with_capacity(vertices),
        bend: Vec::with_capacity(vertices),
        orientations: Vec::with_capacity(vertices),
        forces: forces.segments,
        curvatures: Vec::new(),
        stresses: forces.stresses,
        cell: forces.cell,
        contacts: forces.contacts,
    };
    if strands.iter().any(|strand| !strand.curvatures.is_empty()) {
        shape.curvatures = strands.iter().map(|strand| strand.curvatures.clone()).collect();
    }
    for strand in &strands {
        shape.lengths.extend(strand.segments.iter().map(|segment| segment.length).chain([0.0]));
        shape.stretch.extend(strand.segments.iter().map(|segment| segment.stiffening).chain([1.0]));
        shape.joints.extend(strand.joints.iter().copied().chain([DQuat::IDENTITY]));
        shape.bend.extend(strand.bend.iter().copied().chain([1.0]));
        shape.orientations.extend_from_slice(&strand.frames);
        shape.orientations.extend(strand.frames.last());
    }
    (shape, strands.iter().filter(|strand| strand.unstable).count())
}

impl Outcome {
    /// Counts what a shape took, and how well it holds.
    fn new(hair: &Hair<'_>, shape: RestShape, unstable_strands: usize, made: Made) -> Self {
        let raised = |factors: &[f64]| factors.iter().filter(|&&factor| factor > 1.0).count();
        let elements = 2 * (hair.model.vertices() - hair.model.strands()).max(1);
        let (force_error, worst_acceleration) = residual(hair, &made.forces, &shape);
        Self {
            stiffened: (raised(&shape.stretch) + raised(&shape.bend)) as f64 / elements as f64,
            unstable_strands,
            force_error,
            worst_acceleration,
            moment_left: made.moment_left,
            compressed: hair.compressed(&shape.forces),
            largest_force: shape.forces.iter().map(|force| force.length()).fold(0.0, f64::max),
            made: made.forces,
            shape,
        }
    }

    /// The largest factor on a stiffness.
    pub fn largest_stiffening(&self) -> f64 {
        self.shape.bend.iter().chain(&self.shape.stretch).copied().fold(1.0, f64::max)
    }
}

/// Acceleration that others are held against where there is no gravity [m/s²].
const EARTH: f64 = 9.81;

/// Mean square of the force left on a free vertex [N²] and its largest acceleration over gravity's. Where forces balance on a grid that alone
/// knows what is left, and vertices say nothing.
fn residual(hair: &Hair<'_>, forces: &[DVec3], shape: &RestShape) -> (f64, f64) {
    if shape.cell.is_some() {
        return (f64::NAN, f64::NAN);
    }
    let pushes = shape.contact_loads();
    let (mut sum, mut worst, mut count) = (0.0, 0.0f64, 0usize);
    for strand in 0..hair.model.strands() {
        let range = hair.model.range(strand);
        for vertex in range.clone().filter(|&vertex| !hair.held[vertex]) {
            let before = if vertex == range.start { DVec3::ZERO } else { forces[vertex - 1] };
            let mass = f64::from(hair.model.masses[vertex]);
            let left = before - forces[vertex] + hair.gravity * mass + pushes[vertex];
            sum += left.length_squared();
            worst = worst.max(left.length() / mass);
            count += 1;
        }
    }
    let gravity = if hair.gravity == DVec3::ZERO { EARTH } else { hair.gravity.length() };
    (sum / count.max(1) as f64, worst / gravity)
}
