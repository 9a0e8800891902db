use glam::DVec3;

use super::bend::Bend;
use super::expand::PairHessian;
use super::frame::{Edge, Frame};
use super::lengths::{Clamp, Tip, bending_lengths};
use super::measure::{BendMeasure, Measure};
use super::stretch::{Stretch, StretchMeasure};
use crate::math::Vector3;
use crate::rod::{CrossSection, Torsion};

/// What a rod is made of, and how its elasticity is made discrete.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elasticity {
    /// Cross-section.
    pub section: CrossSection,
    /// Young's modulus for stretching [Pa].
    pub stretch_young: f64,
    /// Young's modulus for bending and twisting [Pa].
    pub bend_young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Which constant resists twisting.
    pub torsion: Torsion,
    /// Measure of bending.
    pub measure: Measure,
    /// Measure of stretching.
    pub stretch_measure: StretchMeasure,
    /// Treatment of the root.
    pub clamp: Clamp,
    /// Treatment of the tip.
    pub tip: Tip,
}

impl Elasticity {
    /// A round section of radius R [m], one Young's modulus [Pa] and Poisson's ratio, with the default treatment.
    pub fn round(radius: f64, young: f64, poisson: f64) -> Self {
        Self {
            section: CrossSection::round(radius),
            stretch_young: young,
            bend_young: young,
            poisson,
            torsion: Torsion::default(),
            measure: Measure::default(),
            stretch_measure: StretchMeasure::default(),
            clamp: Clamp::default(),
            tip: Tip::default(),
        }
    }
}

/// Where a strand is, in double precision: the reference that lanes and solvers are checked against.
#[derive(Debug, Clone, PartialEq)]
pub struct RodShape {
    /// The frame of the clamp at the root.
    pub clamp: Frame<f64>,
    /// Edge vectors from root to tip [m].
    pub edges: Vec<Vector3<f64>>,
    /// Material frames of the edges.
    pub frames: Vec<Frame<f64>>,
}

impl RodShape {
    /// The shape through these vertices [m], with frames transported in space from `clamp`.
    pub fn through(vertices: &[DVec3], clamp: Frame<f64>) -> Self {
        let edges: Vec<_> = vertices.windows(2).map(|pair| Vector3::splat(pair[1] - pair[0])).collect();
        let mut frame = clamp;
        let frames = edges.iter().map(|&edge| {
            frame = frame.transported(Edge::new(edge).tangent);
            frame
        });
        Self { clamp, frames: frames.collect(), edges }
    }

    /// The shape after steps of edge [m] and twist [rad], as sums: frames follow by one transport and the twist.
    pub fn stepped(&self, steps: &[[f64; 4]]) -> Self {
        let mut next = self.clone();
        for ((edge, frame), &[x, y, z, twist]) in next.edges.iter_mut().zip(&mut next.frames).zip(steps) {
            *edge += Vector3::new(x, y, z);
            *frame = frame.transported(Edge::new(*edge).tangent).turned(twist);
        }
        next
    }

    /// The edge and the frame before vertex `vertex`: those of the clamp for the root.
    fn before(&self, vertex: usize) -> (Edge<f64>, Frame<f64>) {
        match vertex.checked_sub(1) {
            Some(edge) => (Edge::new(self.edges[edge]), self.frames[edge]),
            None => (Edge::fixed(self.clamp), self.clamp),
        }
    }
}

/// The elements of one strand, in double precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Rod {
    /// Measure of bending.
    pub measure: Measure,
    /// Measure of stretching.
    pub stretch_measure: StretchMeasure,
    /// One bend for each vertex but the tip; that of the root is between the clamp and the first edge.
    pub bends: Vec<Bend<f64>>,
    /// One stretch for each edge.
    pub stretches: Vec<Stretch<f64>>,
}

impl Rod {
    /// The rod that has its natural shape at `rest`.
    pub fn new(rest: &RodShape, elasticity: &Elasticity) -> Self {
        let Elasticity { section, measure, stretch_measure, .. } = *elasticity;
        let axial = section.axial_stiffness(elasticity.stretch_young);
        let stretches: Vec<_> =
            rest.edges.iter().map(|edge| Stretch { rest_length: edge.length(), stiffness: axial }).collect();
        let rest_lengths: Vec<_> = stretches.iter().map(|stretch| stretch.rest_length).collect();
        let mut lengths = Vec::new();
        bending_lengths(&rest_lengths, elasticity.clamp, elasticity.tip, &mut lengths);
        let bending =
            section.bending_stiffness(elasticity.bend_young, elasticity.poisson, elasticity.torsion);
        let bends = lengths.iter().enumerate().map(|(vertex, &length)| Bend {
            rest: Bend::strain(measure, rest.before(vertex).1, rest.frames[vertex]),
            stiffness: Vector3::splat(if length > 0.0 { bending / length } else { DVec3::ZERO }),
        });
        Self { measure, stretch_measure, bends: bends.collect(), stretches }
    }

    /// Elastic energy [J].
    pub fn energy(&self, shape: &RodShape) -> f64 {
        self.energy_with(shape, self.measure)
    }

    fn energy_with(&self, shape: &RodShape, measure: impl BendMeasure) -> f64 {
        let bending = self.bends.iter().zip(&shape.frames).enumerate();
        let bending: f64 =
            bending.map(|(vertex, (bend, &b))| bend.energy(measure, shape.before(vertex).1, b)).sum();
        let stretching = self.stretches.iter().zip(&shape.edges);
        let stretching: f64 = stretching
            .map(|(stretch, &edge)| stretch.exact(self.stretch_measure, Edge::new(edge)).energy)
            .sum();
        bending + stretching
    }

    /// Derivatives of the energy with respect to each edge [N] and twist [N m].
    pub fn gradient(&self, shape: &RodShape) -> Vec<[f64; 4]> {
        self.derivatives(shape, false).0
    }

    /// Derivatives of the energy with respect to the vertices [N], one more than there are edges.
    pub fn vertex_gradient(&self, shape: &RodShape) -> Vec<DVec3> {
        let mut vertices = vec![DVec3::ZERO; shape.edges.len() + 1];
        for (edge, [x, y, z, _]) in self.gradient(shape).into_iter().enumerate() {
            vertices[edge] -= DVec3::new(x, y, z);
            vertices[edge + 1] += DVec3::new(x, y, z);
        }
        vertices
    }

    /// Gradient and Hessian in edges and twists, exact or Gauss–Newton with the stretching of taut edges. The Hessian is
    /// one [`PairHessian`] for each vertex but the tip: bending there, and in its `bb` the stretching of the edge after it.
    pub fn derivatives(&self, shape: &RodShape, exact: bool) -> (Vec<[f64; 4]>, Vec<PairHessian<f64>>) {
        let mut gradient = vec![[0.0; 4]; shape.edges.len()];
        let mut hessian = Vec::with_capacity(shape.edges.len());
        for (vertex, (bend, stretch)) in self.bends.iter().zip(&self.stretches).enumerate() {
            let ((a, frame_a), (b, frame_b)) = (shape.before(vertex), shape.before(vertex + 1));
            let bending = match exact {
                true => bend.exact(self.measure, frame_a, frame_b),
                false => bend.gauss_newton(self.measure, frame_a, frame_b),
            };
            let mut pair = match exact {
                true => bending.exact_hessian(a, b),
                false => bending.gauss_newton_hessian(a, b),
            };
            let stretching = stretch.exact(self.stretch_measure, b);
            let stretching = if exact { stretching } else { stretching.positive() };
            stretching.add_hessian(b, &mut pair.bb);
            hessian.push(pair);

            let parts = bending.gradient(a, b);
            let pull = stretching.gradient(b).to_array();
            for row in 0..4 {
                if vertex > 0 {
                    gradient[vertex - 1][row] += parts.a[row];
                }
                gradient[vertex][row] += parts.b[row] + if row < 3 { pull[row] } else { 0.0 };
            }
        }
        (gradient, hessian)
    }
}
