//! The cone programme itself: its unknowns, its rows, its objective (equations 13 and 19 to 22).

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::lattice::Lattice;
use super::moments::{Moments, runs};
use super::price::Price;
use super::{GlobalForceError, Medium, Weights};
use crate::rest::{Forces, Hair};

/// 1/√2, 1/√3 and 1/√6, of the orthonormal basis of symmetric matrices.
const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;
const THIRD: f64 = 0.577_350_269_189_625_8;
const SIXTH: f64 = 0.408_248_290_463_863;

/// A stress in the basis (I/√3, xy, xz, yz, (xx − yy)/√2, (xx + yy − 2zz)/√6): the first part is hydrostatic, the
/// others deviatoric.
pub(super) type Stress = [f64; 6];

/// A segment that something free hangs on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    /// The vertex nearer to the root; the other one follows it.
    pub vertex: u32,
    /// Columns: the direction in which tension pulls the vertex nearer to the tip, and two across.
    pub frame: DMat3,
    /// Length [cells].
    pub length: f64,
    /// Size of its force where its strand carries itself, in weights of a mean particle, and at least one.
    pub carried: f64,
    /// The moment before it if its strand stood out level, in weights of a mean particle times the side of a cell.
    pub lever: f64,
}

impl Segment {
    /// From the vertex nearer to the root to the other one [cells].
    pub(super) fn edge(&self) -> DVec3 {
        self.frame.x_axis * -self.length
    }
}

/// Forces of all segments along their frames and stresses of all particles, in the units of the programme.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unknowns {
    /// Tension (positive) or compression, and two forces across.
    pub forces: Vec<DVec3>,
    /// V⁰τ.
    pub stresses: Vec<Stress>,
}

impl Unknowns {
    /// A part of the way from these to others.
    pub(super) fn towards(&self, others: &Self, part: f64) -> Self {
        let forces = self.forces.iter().zip(&others.forces);
        let stresses = self.stresses.iter().zip(&others.stresses);
        let mix = |(own, other): (&Stress, &Stress)| {
            std::array::from_fn(|at| (1.0 - part) * own[at] + part * other[at])
        };
        Self {
            forces: forces.map(|(own, other)| own.lerp(*other, part)).collect(),
            stresses: stresses.map(mix).collect(),
        }
    }
}

/// The programme. Forces are in weights of a mean free particle, V⁰τ in that times the side of a cell.
#[derive(Debug, Clone)]
pub(super) struct Programme {
    pub lattice: Lattice,
    pub segments: Vec<Segment>,
    /// Weight of each particle; zero where it is held.
    pub gravity: Vec<DVec3>,
    /// Whether each particle is free to move.
    pub free: Vec<bool>,
    /// The segment before and behind each particle, or `u32::MAX`.
    pub beside: Vec<[u32; 2]>,
    /// ‖deviatoric‖ may be at most this times −hydrostatic, in the basis of [`Stress`].
    pub slope: f64,
    pub price: Price,
    pub moments: Moments,
    /// m^{-1/2} of each node: rows are scaled by it.
    pub row_scales: Vec<f64>,
    /// Weight of a mean free particle [N].
    pub unit: f64,
    /// Side of a cell [m].
    pub cell: f64,
}

/// No segment.
pub(super) const NONE: u32 = u32::MAX;

impl Programme {
    pub(super) fn new(
        hair: &Hair<'_>,
        own: &Forces,
        medium: &Medium,
        weights: &Weights,
    ) -> Result<Self, GlobalForceError> {
        medium.check()?;
        weights.check()?;

        if let Some(vertex) = hair.positions.iter().position(|p| !p.is_finite()) {
            return Err(GlobalForceError::NotFinite { vertex });
        }
        let free: Vec<bool> = hair.held.iter().map(|held| !held).collect();
        let count = free.iter().filter(|&&free| free).count().max(1);
        let masses: Vec<f64> = hair.model.masses.iter().map(|&mass| f64::from(mass)).collect();
        let mean = masses.iter().zip(&free).filter(|(_, free)| **free).map(|(mass, _)| mass).sum::<f64>()
            / count as f64;
        let unit = mean * hair.gravity.length();
        if !(unit > 0.0 && unit.is_finite()) {
            return Err(GlobalForceError::Weightless);
        }
        let relative: Vec<f64> = masses.iter().map(|mass| mass / mean).collect();
        let lattice = Lattice::new(hair.positions, &relative, medium.cell)?;
        let down = hair.gravity.normalize();
        let gravity = relative.iter().zip(&free).map(|(m, free)| if *free { down * *m } else { DVec3::ZERO });
        let (mut segments, beside) = segments(hair, medium.cell);
        let sizes: Vec<f64> =
            segments.iter().map(|s| own.segments[s.vertex as usize].length() / unit).collect();
        weigh(&mut segments, &sizes);
        let largest = sizes.iter().copied().fold(1.0, f64::max);
        Ok(Self {
            moments: Moments::new(&segments, weights.moment),
            row_scales: lattice.masses.iter().map(|mass| mass.max(1e-30).powf(-0.5)).collect(),
            gravity: gravity.collect(),
            lattice,
            segments,
            free,
            beside,
            slope: medium.slope() * 3f64.sqrt(),
            price: Price { weights: *weights, largest },
            unit,
            cell: medium.cell,
        })
    }

    /// The programme's unknowns from forces [N] and V⁰τ [J].
    pub(super) fn unknowns(&self, forces: &Forces) -> Unknowns {
        let local = |s: &Segment| s.frame.transpose() * forces.segments[s.vertex as usize] / self.unit;
        let scale = 1.0 / (self.unit * self.cell);
        Unknowns {
            forces: self.segments.iter().map(local).collect(),
            stresses: forces.stresses.iter().map(|s| to_basis(*s).map(|value| value * scale)).collect(),
        }
    }

    /// Forces [N] and V⁰τ [J] from the programme's unknowns.
    pub(super) fn forces(&self, unknowns: &Unknowns) -> Forces {
        let mut segments = vec![DVec3::ZERO; self.free.len()];
        for (segment, force) in self.segments.iter().zip(&unknowns.forces) {
            segments[segment.vertex as usize] = segment.frame * *force * self.unit;
        }
        let scale = self.unit * self.cell;
        let stresses = unknowns.stresses.iter().map(|s| from_basis(*s).map(|value| value * scale)).collect();
        Forces { segments, stresses, cell: Some(self.cell), contacts: Vec::new() }
    }

    /// What the rods do to a particle that is free.
    pub(super) fn rod_force(&self, particle: usize, forces: &[DVec3]) -> DVec3 {
        if !self.free[particle] {
            return DVec3::ZERO;
        }
        let [before, behind] = self.beside[particle];
        let world = |segment: u32| match self.segments.get(segment as usize) {
            Some(s) => s.frame * forces[segment as usize],
            None => DVec3::ZERO,
        };
        world(before) - world(behind)
    }

    /// A x − b: force left at each node; rows scaled.
    pub(super) fn residual(&self, x: &Unknowns) -> Vec<DVec3> {
        let tile = |cell: usize| {
            let mut tile = [DVec3::ZERO; 27];
            for &particle in self.lattice.members(cell) {
                let particle = particle as usize;
                let force = self.rod_force(particle, &x.forces) + self.gravity[particle];
                let stress = matrix(x.stresses[particle]);
                for (sum, (weight, gradient)) in tile.iter_mut().zip(self.lattice.places[particle].nodes()) {
                    *sum += force * weight - stress * gradient;
                }
            }
            tile
        };
        let mut nodes = self.lattice.collected(tile);
        nodes
            .par_iter_mut()
            .zip(&self.row_scales)
            .with_min_len(1024)
            .for_each(|(node, scale)| *node *= *scale);
        nodes
    }

    /// A y for forces alone, in world axes.
    pub(super) fn apply_forces(&self, forces: &[DVec3]) -> Vec<DVec3> {
        let force = |segment: u32| forces.get(segment as usize).copied().unwrap_or(DVec3::ZERO);
        let tile = |cell: usize| {
            let mut tile = [DVec3::ZERO; 27];
            for &particle in self.lattice.members(cell) {
                let particle = particle as usize;
                if self.free[particle] {
                    let [before, behind] = self.beside[particle].map(force);
                    for (sum, (weight, _)) in tile.iter_mut().zip(self.lattice.places[particle].nodes()) {
                        *sum += (before - behind) * weight;
                    }
                }
            }
            tile
        };
        let mut nodes = self.lattice.collected(tile);
        nodes.iter_mut().zip(&self.row_scales).for_each(|(node, scale)| *node *= *scale);
        nodes
    }

    /// Aᵀ λ for forces alone, in world axes.
    pub(super) fn apply_forces_transposed(&self, multipliers: &[DVec3]) -> Vec<DVec3> {
        let scaled: Vec<DVec3> = multipliers.iter().zip(&self.row_scales).map(|(m, s)| *m * *s).collect();
        let read = |particle: usize| {
            if !self.free[particle] {
                return DVec3::ZERO;
            }
            let place = &self.lattice.places[particle];
            let nodes = self.lattice.cells[place.cell as usize].iter().zip(place.nodes());
            nodes.map(|(&node, (weight, _))| scaled[node as usize] * weight).sum()
        };
        let read: Vec<DVec3> = (0..self.free.len()).into_par_iter().with_min_len(256).map(read).collect();
        self.segments.iter().map(|s| read[s.vertex as usize + 1] - read[s.vertex as usize]).collect()
    }

    /// The largest acceleration, in units of gravity, of scaled rows of forces.
    pub(super) fn worst(&self, rows: &[DVec3]) -> f64 {
        rows.iter().zip(&self.row_scales).map(|(row, scale)| row.length() * scale).fold(0.0, f64::max)
    }

    /// The objective.
    pub(super) fn objective(&self, x: &Unknowns) -> f64 {
        let forces: f64 =
            self.segments.iter().zip(&x.forces).map(|(s, force)| self.price.of(*force, s.carried)).sum();
        let w = &self.price.weights;
        let stress = |s: &Stress| {
            w.hydrostatic * s[0] * s[0] + w.deviatoric * s[1..].iter().map(|part| part * part).sum::<f64>()
        };
        let moments = self.moments.of(&self.in_world(&x.forces));
        forces + self.moments.product(&moments, &moments) + x.stresses.iter().map(stress).sum::<f64>()
    }

    /// Forces along the frames of their segments in world axes.
    pub(super) fn in_world(&self, forces: &[DVec3]) -> Vec<DVec3> {
        self.segments.iter().zip(forces).map(|(segment, force)| segment.frame * *force).collect()
    }
}

/// Every segment with a free end, not yet weighed, and those beside each vertex.
fn segments(hair: &Hair<'_>, cell: f64) -> (Vec<Segment>, Vec<[u32; 2]>) {
    let mut all = Vec::new();
    let mut beside = vec![[NONE; 2]; hair.positions.len()];
    for strand in 0..hair.model.strands() {
        let range = hair.model.range(strand);
        for vertex in range.start..range.end.saturating_sub(1) {
            if hair.held[vertex] && hair.held[vertex + 1] {
                continue;
            }
            let edge = hair.positions[vertex] - hair.positions[vertex + 1];
            let pull = edge.try_normalize().unwrap_or(DVec3::Y);
            let (across, other) = pull.any_orthonormal_pair();
            beside[vertex][1] = all.len() as u32;
            beside[vertex + 1][0] = all.len() as u32;
            let frame = DMat3::from_cols(pull, across, other);
            let length = edge.length() / cell;
            all.push(Segment { vertex: vertex as u32, frame, length, carried: 1.0, lever: 1.0 });
        }
    }
    (all, beside)
}

/// Tells segments what they carry where strands carry themselves, by the sizes of these forces.
fn weigh(segments: &mut [Segment], sizes: &[f64]) {
    segments.iter_mut().zip(sizes).for_each(|(segment, size)| segment.carried = size.max(1.0));
    for run in runs(segments) {
        let mut lever = 0.0;
        for segment in segments[run].iter_mut().rev() {
            lever += segment.carried * segment.length;
            // Vertices in the same place have no lever.
            segment.lever = lever.max(1e-6);
        }
    }
}

/// A stress of the basis as a matrix.
pub(super) fn matrix(s: Stress) -> DMat3 {
    let [xx, xy, xz, yy, yz, zz] = from_basis(s);
    DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz))
}

/// The entries xx, xy, xz, yy, yz, zz of a stress of the basis.
pub(super) fn from_basis(s: Stress) -> [f64; 6] {
    let mean = s[0] * THIRD;
    let (plane, axial) = (s[4] * HALF, s[5] * SIXTH);
    [mean + plane + axial, s[1] * HALF, s[2] * HALF, mean - plane + axial, s[3] * HALF, mean - 2.0 * axial]
}

/// The stress of the basis with the entries xx, xy, xz, yy, yz, zz.
pub(super) fn to_basis([xx, xy, xz, yy, yz, zz]: [f64; 6]) -> Stress {
    let twice = 2.0 * HALF;
    [
        (xx + yy + zz) * THIRD,
        xy * twice,
        xz * twice,
        yz * twice,
        (xx - yy) * HALF,
        (xx + yy - 2.0 * zz) * SIXTH,
    ]
}

/// The 3 × 6 matrix that takes a stress of the basis to its force −S ∇w on a node.
pub(super) fn node_columns(gradient: DVec3) -> [DVec3; 6] {
    let DVec3 { x, y, z } = gradient;
    [
        DVec3::new(-x, -y, -z) * THIRD,
        DVec3::new(-y, -x, 0.0) * HALF,
        DVec3::new(-z, 0.0, -x) * HALF,
        DVec3::new(0.0, -z, -y) * HALF,
        DVec3::new(-x, y, 0.0) * HALF,
        DVec3::new(-x, -y, 2.0 * z) * SIXTH,
    ]
}
