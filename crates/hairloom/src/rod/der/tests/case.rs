use glam::{DQuat, DVec3};

use crate::math::{Quaternion, Random, Vector3};
use crate::rod::der::{Bend, BendMeasure, Edge, Frame, PairGradient, holonomy};
use crate::rod::{CrossSection, Torsion};

/// Angles between two edges, from nearly straight to nearly folded [rad].
pub(super) const ANGLES: [f64; 7] = [1e-6, 1e-3, 0.1, 1.0, 2.0, 3.0, std::f64::consts::PI - 0.05];

/// Two edges with frames, bent by a given angle, in a random place; lengths are about one.
pub(super) struct Case {
    pub(super) edges: [Vector3<f64>; 2],
    pub(super) frames: [Frame<f64>; 2],
    pub(super) bend: Bend<f64>,
}

pub(super) fn vector(value: DVec3) -> Vector3<f64> {
    Vector3::splat(value)
}

pub(super) fn rotation(random: &mut Random) -> DQuat {
    let axis = random.direction().as_dvec3();
    DQuat::from_axis_angle(axis.normalize(), 6.0 * random.unit_f64())
}

fn signed(random: &mut Random) -> f64 {
    2.0 * random.unit_f64() - 1.0
}

impl Case {
    /// An elliptic section with natural curvature and twist; frames twisted by up to one radian.
    pub(super) fn new(random: &mut Random, angle: f64) -> Self {
        let (pose, spin, twist) = (rotation(random), 6.0 * random.unit_f64(), signed(random));
        let length = [0.7 + random.unit_f64(), 0.7 + random.unit_f64()];
        let tangent = [pose * DVec3::Z, pose * DVec3::new(angle.sin(), 0.0, angle.cos())];
        let first = Frame(Quaternion::splat(pose)).turned(spin);
        let second = first.transported(vector(tangent[1])).turned(twist);
        let section = CrossSection { radius: 1.0, flatness: 0.3 };
        let stiffness = section.bending_stiffness(1.0, 0.4, Torsion::Ellipse);
        let rest = DVec3::new(signed(random), signed(random), signed(random)) * 0.8;
        Self {
            edges: [vector(tangent[0] * length[0]), vector(tangent[1] * length[1])],
            frames: [first, second],
            bend: Bend { rest: vector(rest), stiffness: vector(stiffness) },
        }
    }

    /// The edges as elements see them.
    pub(super) fn pair(&self) -> [Edge<f64>; 2] {
        self.edges.map(Edge::new)
    }

    /// The case after a step in edges and twists: one transport, then the twist.
    pub(super) fn stepped(&self, step: [f64; 8]) -> Self {
        let moved = |index: usize| {
            let [x, y, z, twist] = std::array::from_fn(|part| step[4 * index + part]);
            let edge = self.edges[index] + Vector3::new(x, y, z);
            (edge, self.frames[index].transported(Edge::new(edge).tangent).turned(twist))
        };
        let ((edge_a, frame_a), (edge_b, frame_b)) = (moved(0), moved(1));
        Self { edges: [edge_a, edge_b], frames: [frame_a, frame_b], bend: self.bend }
    }

    pub(super) fn energy<M: BendMeasure>(&self, measure: M) -> f64 {
        self.bend.energy(measure, self.frames[0], self.frames[1])
    }

    /// The gradient of the energy as a function of steps from the case `from`.
    pub(super) fn gradient_from<M: BendMeasure>(&self, measure: M, from: &Self) -> [f64; 8] {
        let [a, b] = self.pair();
        let bending = self.bend.gauss_newton(measure, self.frames[0], self.frames[1]);
        let mut gradient: PairGradient<f64> = bending.gradient(a, b);
        for (part, edge, index) in [(&mut gradient.a, a, 0), (&mut gradient.b, b, 1)] {
            let turn = holonomy(Edge::new(from.edges[index]).tangent, edge).to_array();
            for axis in 0..3 {
                part[axis] += turn[axis] * part[3];
            }
        }
        gradient.edges_and_twists()
    }
}

/// The derivative of `f` at 0 along each of N axes, from four points of spacing `step`: fourth order.
pub(super) fn differences<const N: usize, const M: usize>(
    step: f64,
    f: impl Fn([f64; N]) -> [f64; M],
) -> [[f64; M]; N] {
    std::array::from_fn(|axis| {
        let at =
            |factor: f64| f(std::array::from_fn(|index| if index == axis { factor * step } else { 0.0 }));
        let (near, far) = ([at(1.0), at(-1.0)], [at(2.0), at(-2.0)]);
        std::array::from_fn(|row| {
            (8.0 * (near[0][row] - near[1][row]) - (far[0][row] - far[1][row])) / (12.0 * step)
        })
    })
}

/// Fails where two lists differ by more than `tolerance` times the largest entry of the second.
#[track_caller]
pub(super) fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(0.0f64, |scale, value| scale.max(value.abs()));
    for (index, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= tolerance * scale, "{what}, entry {index}: {x} is not {y} (scale {scale})");
    }
}
