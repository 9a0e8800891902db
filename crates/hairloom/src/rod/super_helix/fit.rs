use glam::{DQuat, DVec2, DVec3};

use super::{Chain, Root};
use crate::math::dense::{cholesky, cholesky_solve};

/// Steps for a part of the polyline, and for all of it.
const STEPS: usize = 30;
/// Turning from vertex to vertex beyond which elements are held back [rad].
const MOST_TURN: f64 = 0.6;
/// Distance that counts as much as a radian too much, in edges.
const RADIAN: f64 = 30.0;
/// Turning within an element below which its twist cannot be told [rad].
const LEAST_TURN: f64 = 0.2;

/// A super-helix near a polyline.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The root: its place is the polyline's.
    pub root: Root,
    /// Curvatures of the elements [1/m].
    pub curvatures: Vec<DVec3>,
    /// Root of the mean square distance of vertices from their places on the rod [m].
    pub mean: f64,
    /// The largest distance [m].
    pub largest: f64,
}

/// A super-helix of equal elements near a polyline.
#[derive(Debug, Clone, PartialEq)]
pub struct Evenly {
    /// Where each vertex lies along the rod [m].
    pub arcs: Vec<f64>,
    /// Lengths of the elements [m].
    pub lengths: Vec<f64>,
    /// The super-helix.
    pub fit: Fit,
}

/// The super-helix nearest to a polyline with edges of these lengths [m], of so many equal elements, but no more than it has edges.
pub fn fit_evenly(points: &[DVec3], edges: &[f64], elements: usize) -> Evenly {
    let mut arcs = vec![0.0];
    arcs.extend(edges.iter().scan(0.0, |sum, length| {
        *sum += length;
        Some(*sum)
    }));
    let elements = elements.min(edges.len());
    let lengths = vec![arcs[edges.len()] / elements as f64; elements];
    let fit = fit(points, &arcs, &lengths);
    Evenly { arcs, lengths, fit }
}

/// The super-helix with elements of these `lengths` nearest to a polyline whose vertices lie at `arcs` from the root [m]. Its root
/// is at the first vertex, in any direction.
///
/// The curve is followed from the root on, one element more at a time, from curvatures that the polyline's frames without twist
/// tell: a helix shows there as curvatures that turn at the rate of its torsion. Rods that would turn far from vertex to
/// vertex, to coil up what length they have too much, are held back.
pub fn fit(points: &[DVec3], arcs: &[f64], lengths: &[f64]) -> Fit {
    let (root, curvatures) = guess(points, arcs, lengths);
    let mut search = Search { points, arcs, lengths, root, curvatures, is_clamped: false };
    let mut reach = 0.0;
    for (element, length) in lengths.iter().enumerate() {
        reach += length;
        let known = arcs.partition_point(|&arc| arc <= reach * (1.0 + 1.0e-9));
        search.polish(known, element + 1);
    }
    search.polish(points.len(), lengths.len());
    search.done()
}

/// The same with a root that is clamped, from curvatures that are nearly right.
pub fn refit(root: Root, curvatures: &[DVec3], points: &[DVec3], arcs: &[f64], lengths: &[f64]) -> Fit {
    let curvatures = curvatures.to_vec();
    let mut search = Search { points, arcs, lengths, root, curvatures, is_clamped: true };
    search.polish(points.len(), lengths.len());
    search.done()
}

struct Search<'a> {
    points: &'a [DVec3],
    arcs: &'a [f64],
    lengths: &'a [f64],
    root: Root,
    curvatures: Vec<DVec3>,
    is_clamped: bool,
}

impl Search<'_> {
    fn chain(&self) -> Chain {
        Chain::new(self.root, self.lengths, &self.curvatures)
    }

    fn square(&self, known: usize) -> f64 {
        let chain = self.chain();
        let gap = |(&point, &arc): (&DVec3, &f64)| (point - chain.position(arc)).length_squared();
        let coiled = self.curvatures.iter().map(|curvature| self.excess(curvature).0.powi(2));
        self.points[..known].iter().zip(self.arcs).map(gap).sum::<f64>() + coiled.sum::<f64>()
    }

    /// By how much an element turns too much from vertex to vertex, as a distance [m], and how that grows with the curvatures.
    fn excess(&self, curvature: &DVec3) -> (f64, DVec3) {
        let edge = self.arcs.last().copied().unwrap_or_default() / (self.arcs.len().max(2) - 1) as f64;
        let size = curvature.length();
        let excess = size * edge - MOST_TURN;
        if excess > 0.0 {
            (RADIAN * edge * excess, *curvature * (RADIAN * edge * edge / size))
        } else {
            (0.0, DVec3::ZERO)
        }
    }

    /// Levenberg and Marquardt's steps on the first `known` vertices with the first `elements`.
    fn polish(&mut self, known: usize, elements: usize) {
        let size = 3 + 3 * elements;
        let mut square = self.square(known);
        let mut damping = 1.0e-6;
        for _ in 0..STEPS {
            let (matrix, gradient) = self.normal(known, size);
            let trace: f64 = (0..size).map(|row| matrix[row * (size + 1)]).sum::<f64>();
            let mut factor = matrix.clone();
            for row in 0..size {
                // Unknowns that move nothing, such as the twist of a straight piece, stay.
                factor[row * (size + 1)] += damping * matrix[row * (size + 1)] + 1.0e-10 * trace + 1.0e-300;
            }
            if !cholesky(&mut factor, size) {
                return;
            }
            let mut step = gradient;
            cholesky_solve(&factor, &mut step);
            let before = (self.root, self.curvatures.clone());
            self.root.frame =
                (DQuat::from_scaled_axis(DVec3::from_slice(&step[..3])) * self.root.frame).normalize();
            for (curvature, part) in self.curvatures.iter_mut().zip(step[3..].chunks_exact(3)) {
                *curvature += DVec3::from_slice(part);
            }
            let next = self.square(known);
            if next < square {
                let is_settled = next > square * (1.0 - 1.0e-9);
                (square, damping) = (next, (0.1 * damping).max(1.0e-12));
                if is_settled {
                    return;
                }
            } else {
                (self.root, self.curvatures) = before;
                damping *= 10.0;
                if damping > 1.0e6 {
                    return;
                }
            }
        }
    }

    /// The normal equations: three unknowns turn the root, the others are curvatures.
    fn normal(&self, known: usize, size: usize) -> (Vec<f64>, Vec<f64>) {
        let chain = self.chain();
        let freedom = chain.freedom();
        let (mut matrix, mut gradient) = (vec![0.0; size * size], vec![0.0; size]);
        let mut row = vec![0.0; size];
        for (&point, &arc) in self.points[..known].iter().zip(self.arcs) {
            let (here, jacobian) = (chain.position(arc), chain.jacobian(arc));
            let (gap, arm) = (point - here, here - self.root.position);
            for axis in 0..3 {
                let mut unit = DVec3::ZERO;
                unit[axis] = if self.is_clamped { 0.0 } else { 1.0 };
                row[..3].copy_from_slice(&arm.cross(unit).to_array());
                row[3..].copy_from_slice(&jacobian[axis * freedom..axis * freedom + size - 3]);
                for a in 0..size {
                    gradient[a] += row[a] * gap[axis];
                    for b in 0..=a {
                        matrix[a * size + b] += row[a] * row[b];
                    }
                }
            }
        }
        for (element, curvature) in self.curvatures[..size / 3 - 1].iter().enumerate() {
            let (excess, slope) = self.excess(curvature);
            let first = 3 + 3 * element;
            for a in 0..3 {
                gradient[first + a] -= excess * slope[a];
                (0..=a).for_each(|b| matrix[(first + a) * size + first + b] += slope[a] * slope[b]);
            }
        }
        (matrix, gradient)
    }

    fn done(self) -> Fit {
        let chain = self.chain();
        let gaps =
            self.points.iter().zip(self.arcs).map(|(point, &arc)| (*point - chain.position(arc)).length());
        let gaps: Vec<f64> = gaps.collect();
        let mean = (gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len().max(1) as f64).sqrt();
        let largest = gaps.iter().copied().fold(0.0, f64::max);
        Fit { root: self.root, curvatures: self.curvatures, mean, largest }
    }
}

/// Curvatures at the vertices within, in frames without twist: places along the rod, lengths that they stand for, values.
struct Bends {
    arc: f64,
    width: f64,
    curvature: DVec2,
}

/// The root's frame and the polyline's curvatures in frames that do not twist.
fn bends(points: &[DVec3], arcs: &[f64]) -> (DQuat, Vec<Bends>) {
    let tangent = |k: usize| (points[k + 1] - points[k]).normalize_or(DVec3::Z);
    let edges = points.len().saturating_sub(1);
    let first = if edges > 0 { tangent(0) } else { DVec3::Z };
    let root = DQuat::from_rotation_arc(DVec3::Z, first);
    let mut frame = root;
    let mut all = Vec::with_capacity(edges);
    for k in 1..edges {
        let turn = DQuat::from_rotation_arc(tangent(k - 1), tangent(k));
        let width = 0.5 * (arcs[k + 1] - arcs[k - 1]);
        let local = frame.conjugate() * turn.to_scaled_axis();
        all.push(Bends { arc: arcs[k], width, curvature: local.truncate() / width.max(1.0e-12) });
        frame = (turn * frame).normalize();
    }
    (root, all)
}

/// Multiplies complex numbers, the first one's conjugate.
fn turned_back(by: DVec2, value: DVec2) -> DVec2 {
    DVec2::new(by.dot(value), by.perp_dot(value))
}

fn guess(points: &[DVec3], arcs: &[f64], lengths: &[f64]) -> (Root, Vec<DVec3>) {
    let (frame, bends) = bends(points, arcs);
    let (mut start, mut angle) = (0.0, 0.0);
    let mut curvatures = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let within = |bend: &&Bends| bend.arc >= start && bend.arc < start + length;
        let within: Vec<&Bends> = bends.iter().filter(within).collect();
        let turn: f64 = within.iter().map(|bend| bend.width * bend.curvature.length()).sum();
        let mut twist = 0.0;
        if turn > LEAST_TURN && within.len() > 2 {
            let pairs = || within.windows(2).map(|pair| (pair[0], pair[1]));
            let sum: DVec2 = pairs().map(|(a, b)| turned_back(a.curvature, b.curvature)).sum();
            let apart = pairs().map(|(a, b)| b.arc - a.arc).sum::<f64>() / (within.len() - 1) as f64;
            twist = sum.to_angle() / apart;
        }
        let seen = |bend: &&Bends| {
            let direction = DVec2::from_angle(angle + twist * (bend.arc - start));
            turned_back(direction, bend.curvature) * bend.width
        };
        let (sum, width) =
            (within.iter().map(seen).sum::<DVec2>(), within.iter().map(|b| b.width).sum::<f64>());
        let mean = if width > 0.0 { sum / width } else { DVec2::ZERO };
        curvatures.push(mean.extend(twist));
        angle += twist * length;
        start += length;
    }
    (Root { position: points.first().copied().unwrap_or_default(), frame }, curvatures)
}
