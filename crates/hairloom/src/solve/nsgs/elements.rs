//! What holds a polyline together: discrete elastic rods, the same with lengths projected, and Cosserat rods.

use glam::{DMat3, DQuat, DVec3};

use super::polyline::{Line, in_world};
use crate::math::{Quaternion, Vector3};
use crate::rest::RestElement;
use crate::rod::cosserat::StretchShear;
use crate::rod::der::{
    Bend, Clamp, Edge, Frame, Measure, Rod, RodShape, Stretch, StretchMeasure, Tip, bending_lengths,
};
use crate::scene::Material;

/// A rest shape that is not the groomed one.
pub(super) type Shape = Option<Vec<RestElement>>;

/// Elasticity of a polyline whose edges carry frames.
pub(super) trait Elements: Send + Sync + Sized {
    /// Velocities for each free vertex: three of its own, the others of the frame on the edge before it.
    const FREEDOM: usize;
    /// Whether [`Self::project`] moves anything.
    const PROJECTS: bool = false;
    /// Elements that have their natural shape at `rest`, with these lengths of edges [m]; or another `shape`, edge by edge.
    fn new(rest: &Line, shape: Shape, lengths: &[f64], material: &Material) -> Self;
    /// A frame after its edge has become `edge`, and it has turned by `angles` [rad].
    fn turned(frame: DQuat, edge: DVec3, angles: &[f64]) -> DQuat;
    /// Turns the rates of a frame with the world.
    fn turn_rates(turn: DQuat, rates: &mut [f64]);
    /// Inertia of a frame, as many rows and columns as it has angles [kg m²].
    fn inertia(&self, frame: DQuat, length: f64) -> [[f64; 3]; 3];
    /// Adds the derivatives of the energy, and second ones that are positive semi-definite, row-major.
    fn derivatives(&self, line: &Line, lengths: &[f64], gradient: &mut [f64], hessian: &mut [f64]);
    /// Energy [J].
    fn energy(&self, line: &Line, lengths: &[f64]) -> f64;
    /// Gives edges their lengths back, where that is not the energy's task.
    fn project(&self, _line: &mut Line, _lengths: &[f64], _masses: &[f64]) {}
}

fn frame(turn: DQuat) -> Frame<f64> {
    Frame(Quaternion::splat(turn))
}

fn turn(frame: Frame<f64>) -> DQuat {
    let Quaternion { real, imaginary } = frame.0;
    DQuat::from_xyzw(imaginary.x, imaginary.y, imaginary.z, real).normalize()
}

fn vector(value: Vector3<f64>) -> DVec3 {
    DVec3::from_array(value.to_array())
}

/// One bend at each vertex but the tip, natural at `rest` or in another `shape`.
fn bends(rest: &Line, shape: &Shape, lengths: &[f64], material: &Material) -> Vec<Bend<f64>> {
    let mut bending = Vec::new();
    bending_lengths(lengths, Clamp::default(), Tip::default(), &mut bending);
    let stiffness = DVec3::from_array(material.rod_stiffness());
    let before = std::iter::once(&rest.clamp).chain(&rest.frames);
    let bend = |((length, a), b): ((&f64, &DQuat), &DQuat)| Bend {
        rest: Bend::strain(Measure::default(), frame(*a), frame(*b)),
        stiffness: Vector3::splat(stiffness / *length),
    };
    let mut bends: Vec<Bend<f64>> = bending.iter().zip(before).zip(&rest.frames).map(bend).collect();
    for (bend, element) in bends.iter_mut().zip(shape.iter().flatten()) {
        bend.rest = Bend::strain(Measure::default(), frame(DQuat::IDENTITY), frame(element.joint));
        bend.stiffness = bend.stiffness * element.bend;
    }
    bends
}

/// Discrete elastic rods ([`crate::rod::der`]): frames follow their edges, and may twist about them.
pub(super) struct Der {
    rod: Rod,
    /// Rotational inertia about the tangent per length [kg m].
    twisting: f64,
}

impl Der {
    fn shape(line: &Line) -> RodShape {
        RodShape {
            clamp: frame(line.clamp),
            edges: line.edges().into_iter().map(Vector3::splat).collect(),
            frames: line.frames.iter().map(|turn| frame(*turn)).collect(),
        }
    }
}

impl Elements for Der {
    const FREEDOM: usize = 4;

    fn new(rest: &Line, shape: Shape, lengths: &[f64], material: &Material) -> Self {
        let stiffness = material.young * material.area();
        let mut stretches: Vec<Stretch<f64>> =
            lengths.iter().map(|&rest_length| Stretch { rest_length, stiffness }).collect();
        for (stretch, element) in stretches.iter_mut().zip(shape.iter().flatten()) {
            *stretch = Stretch { rest_length: element.length, stiffness: stiffness * element.stretch };
        }
        let rod = Rod {
            measure: Measure::default(),
            stretch_measure: StretchMeasure::default(),
            bends: bends(rest, &shape, lengths, material),
            stretches,
        };
        Self { rod, twisting: material.twisting_inertia() }
    }

    fn turned(turning: DQuat, edge: DVec3, angles: &[f64]) -> DQuat {
        let tangent = Edge::new(Vector3::splat(edge)).tangent;
        turn(frame(turning).transported(tangent).turned(angles[0]))
    }

    fn turn_rates(_turn: DQuat, _rates: &mut [f64]) {}

    fn inertia(&self, _frame: DQuat, length: f64) -> [[f64; 3]; 3] {
        [[self.twisting * length, 0.0, 0.0], [0.0; 3], [0.0; 3]]
    }

    fn derivatives(&self, line: &Line, _lengths: &[f64], gradient: &mut [f64], hessian: &mut [f64]) {
        let (edges, pairs) = self.rod.derivatives(&Self::shape(line), false);
        let size = gradient.len();
        for (edge, derivative) in edges.iter().enumerate() {
            for axis in 0..3 {
                gradient[4 * edge + axis] += derivative[axis];
                if edge > 0 {
                    gradient[4 * (edge - 1) + axis] -= derivative[axis];
                }
            }
            gradient[4 * edge + 3] += derivative[3];
        }
        for (vertex, pair) in pairs.iter().enumerate() {
            // Two vertices and a twist before this vertex, this one, the twist behind it, and the next one.
            let place = |index: usize| {
                let (block, axis) = (index / 4, index % 4);
                let edge = if axis == 3 { vertex + block } else { (vertex + block).checked_sub(1)? };
                edge.checked_sub(1).map(|edge| 4 * edge + axis)
            };
            for (row, values) in pair.vertices_and_twists().iter().enumerate() {
                let Some(row) = place(row) else { continue };
                for (column, value) in values.iter().enumerate() {
                    if let Some(column) = place(column) {
                        hessian[row * size + column] += value;
                    }
                }
            }
        }
    }

    fn energy(&self, line: &Line, _lengths: &[f64]) -> f64 {
        self.rod.energy(&Self::shape(line))
    }
}

/// Discrete elastic rods whose edges get their lengths back after each step by fast projection (Goldenthal et al. 2007).
pub(super) struct ProjectedDer(Der);

/// Projections at most, and the relative length error that ends them.
const PROJECTIONS: usize = 50;
const LENGTH_TOLERANCE: f64 = 1.0e-10;

impl Elements for ProjectedDer {
    const FREEDOM: usize = Der::FREEDOM;
    const PROJECTS: bool = true;

    fn new(rest: &Line, shape: Shape, lengths: &[f64], material: &Material) -> Self {
        Self(Der::new(rest, shape, lengths, material))
    }

    fn turned(turning: DQuat, edge: DVec3, angles: &[f64]) -> DQuat {
        Der::turned(turning, edge, angles)
    }

    fn turn_rates(turn: DQuat, rates: &mut [f64]) {
        Der::turn_rates(turn, rates);
    }

    fn inertia(&self, frame: DQuat, length: f64) -> [[f64; 3]; 3] {
        self.0.inertia(frame, length)
    }

    fn derivatives(&self, line: &Line, lengths: &[f64], gradient: &mut [f64], hessian: &mut [f64]) {
        self.0.derivatives(line, lengths, gradient, hessian);
    }

    fn energy(&self, line: &Line, lengths: &[f64]) -> f64 {
        self.0.energy(line, lengths)
    }

    fn project(&self, line: &mut Line, lengths: &[f64], masses: &[f64]) {
        for _ in 0..PROJECTIONS {
            let edges = line.edges();
            let missing: Vec<f64> = edges
                .iter()
                .zip(lengths)
                .map(|(edge, length)| 0.5 * (edge.length_squared() / length - length))
                .collect();
            let off = |(missing, length): (&f64, &f64)| missing.abs() <= LENGTH_TOLERANCE * length;
            if missing.iter().zip(lengths).all(off) {
                break;
            }
            let rows: Vec<DVec3> = edges.iter().zip(lengths).map(|(edge, length)| *edge / *length).collect();
            let pulls = multipliers(&rows, masses, missing);
            for (k, point) in line.points.iter_mut().enumerate() {
                let behind = rows.get(k + 1).map_or(DVec3::ZERO, |row| *row * pulls[k + 1]);
                *point -= (rows[k] * pulls[k] - behind) / masses[k];
            }
        }
        let edges = line.edges();
        line.frames
            .iter_mut()
            .zip(edges)
            .for_each(|(frame, edge)| *frame = Self::turned(*frame, edge, &[0.0]));
    }
}

/// The pulls along edges that undo what is `missing` to first order: one tridiagonal system.
fn multipliers(rows: &[DVec3], masses: &[f64], mut missing: Vec<f64>) -> Vec<f64> {
    let count = rows.len();
    let before = |k: usize| if k > 0 { 1.0 / masses[k - 1] } else { 0.0 };
    let mut diagonal: Vec<f64> =
        (0..count).map(|k| rows[k].length_squared() * (1.0 / masses[k] + before(k))).collect();
    let off: Vec<f64> = (1..count).map(|k| -rows[k - 1].dot(rows[k]) * before(k)).collect();
    for k in 1..count {
        let factor = off[k - 1] / diagonal[k - 1];
        diagonal[k] -= factor * off[k - 1];
        missing[k] -= factor * missing[k - 1];
    }
    for k in (0..count).rev() {
        let after = if k + 1 < count { off[k] * missing[k + 1] } else { 0.0 };
        missing[k] = (missing[k] - after) / diagonal[k];
    }
    missing
}

/// Cosserat rods (CoRdE, Spillmann and Teschner 2007): frames turn freely, and a penalty ties them to their edges
/// ([`crate::rod::cosserat`]).
pub(super) struct Corde {
    bends: Vec<Bend<f64>>,
    shape: Shape,
    /// Stiffness against stretching and shearing [N].
    stiffness: f64,
    /// Rotational inertia in the axes of the frame, per length [kg m].
    turning: DVec3,
}

impl Corde {
    /// Length [m] and stiffness [N] of an edge at rest, which was groomed with this length.
    fn at_rest(&self, edge: usize, groomed: f64) -> (f64, f64) {
        let element = self.shape.as_ref().and_then(|shape| shape.get(edge));
        element.map_or((groomed, self.stiffness), |rest| (rest.length, self.stiffness * rest.stretch))
    }

    fn strain(edge: DVec3, turn: DQuat, length: f64) -> StretchShear<f64> {
        StretchShear::new(Vector3::splat(edge), 1.0 / length, Quaternion::splat(turn))
    }
}

impl Elements for Corde {
    const FREEDOM: usize = 6;

    fn new(rest: &Line, shape: Shape, lengths: &[f64], material: &Material) -> Self {
        let twisting = material.twisting_inertia();
        Self {
            bends: bends(rest, &shape, lengths, material),
            shape,
            stiffness: material.young * material.area(),
            turning: DVec3::new(0.5, 0.5, 1.0) * twisting,
        }
    }

    fn turned(turn: DQuat, _edge: DVec3, angles: &[f64]) -> DQuat {
        (DQuat::from_scaled_axis(DVec3::from_slice(angles)) * turn).normalize()
    }

    fn turn_rates(turn: DQuat, rates: &mut [f64]) {
        let turned = turn * DVec3::from_slice(rates);
        rates.copy_from_slice(&turned.to_array());
    }

    fn inertia(&self, frame: DQuat, length: f64) -> [[f64; 3]; 3] {
        in_world(frame, length * self.turning).to_cols_array_2d()
    }

    fn derivatives(&self, line: &Line, lengths: &[f64], gradient: &mut [f64], hessian: &mut [f64]) {
        let mut sums = Sums { gradient, hessian };
        for (k, (edge, &length)) in line.edges().into_iter().zip(lengths).enumerate() {
            let (length, stiffness) = self.at_rest(k, length);
            let (end, own, start) = (Some(6 * k), 6 * k + 3, k.checked_sub(1).map(|before| 6 * before));
            let StretchShear { strain, director } = Self::strain(edge, line.frames[k], length);
            let (strain, director) = (vector(strain), vector(director));
            let stiffness = stiffness * length;
            let cross = cross_matrix(director);
            // The strain changes by δe / l and by d₃ × ψ.
            let parts =
                [(end, DMat3::IDENTITY / length), (start, -DMat3::IDENTITY / length), (Some(own), cross)];
            for (a, first) in parts {
                let Some(a) = a else { continue };
                sums.add(a, first.transpose() * strain * stiffness);
                for (b, second) in parts {
                    let Some(b) = b else { continue };
                    sums.add_block(a, b, stiffness * (first.transpose() * second));
                }
            }
            // Tension holds frames in place.
            let tension = stiffness * strain.dot(director).max(0.0);
            sums.add_block(own, own, tension * (cross.transpose() * cross));
        }
        let before = std::iter::once(&line.clamp).chain(&line.frames);
        for (k, ((bend, a), b)) in self.bends.iter().zip(before).zip(&line.frames).enumerate() {
            let bending = bend.gauss_newton(Measure::default(), frame(*a), frame(*b));
            let [x, y, z] = bending.stiffness.full().0;
            let stiffness = DMat3::from_cols(vector(x), vector(y), vector(z));
            let (own, torque) = (6 * k + 3, vector(bending.torque));
            sums.add(own, torque);
            sums.add_block(own, own, stiffness);
            if k > 0 {
                sums.add(own - 6, -torque);
                sums.add_block(own - 6, own - 6, stiffness);
                sums.add_block(own, own - 6, -stiffness);
                sums.add_block(own - 6, own, -stiffness);
            }
        }
    }

    fn energy(&self, line: &Line, lengths: &[f64]) -> f64 {
        let edges = line.edges().into_iter().zip(&line.frames).zip(lengths).enumerate();
        let stretching: f64 = edges
            .map(|(k, ((edge, turn), &length))| {
                let (length, stiffness) = self.at_rest(k, length);
                Self::strain(edge, *turn, length).energy(stiffness * length)
            })
            .sum();
        let before = std::iter::once(&line.clamp).chain(&line.frames);
        let joints = self.bends.iter().zip(before).zip(&line.frames);
        let bending: f64 =
            joints.map(|((bend, a), b)| bend.energy(Measure::default(), frame(*a), frame(*b))).sum();
        stretching + bending
    }
}

/// A gradient and a matrix that are summed up.
struct Sums<'a> {
    gradient: &'a mut [f64],
    hessian: &'a mut [f64],
}

impl Sums<'_> {
    fn add(&mut self, row: usize, value: DVec3) {
        self.gradient[row..row + 3].iter_mut().zip(value.to_array()).for_each(|(sum, value)| *sum += value);
    }

    fn add_block(&mut self, row: usize, column: usize, block: DMat3) {
        let size = self.gradient.len();
        for j in 0..3 {
            for i in 0..3 {
                self.hessian[(row + i) * size + column + j] += block.col(j)[i];
            }
        }
    }
}

/// The matrix of the cross product with a vector from the left.
fn cross_matrix(of: DVec3) -> DMat3 {
    DMat3::from_cols(of.cross(DVec3::X), of.cross(DVec3::Y), of.cross(DVec3::Z))
}
